import { useState } from "preact/hooks";
import { Link } from "../../../shared/address";
import { compact, grouped } from "../../../shared/numbers";
import { heatGrid, type HeatRow, type Hot, type Kind } from "../../logic/heatGrid";
import { curl } from "../../logic/shell";
import { addressOf } from "../../pageList";
import { Choice } from "../../parts/Field";
import { Grid, type Column } from "../../parts/Grid";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { queryText, rest } from "../../server";
import { useAnswer } from "../../useAnswer";
import { HeatMap } from "./HeatMap";

const KINDS: { value: Kind; text: string }[] = [
  { value: "both", text: "Reads and writes" },
  { value: "reads", text: "Reads" },
  { value: "writes", text: "Writes" },
];

interface HotAnswer {
  sampledEvery: number;
  tables: Hot[];
}

/** Tables and indexes, the one where most happens first. */
function byRequests(tables: Hot[]): Hot[] {
  return [...tables].sort((a, b) => b.readCount + b.writeCount - (a.readCount + a.writeCount));
}

function itemsAddress(name: string, partition: string): string {
  const [table, index = ""] = name.split("/");
  return `${addressOf("items")}${queryText({ table, index, partition })}`;
}

function columnsOf(table: string): Column<HeatRow>[] {
  return [
    { title: "Partition", mono: true, show: ({ key }) => <b>{key}</b> },
    { title: "Reads", number: true, show: ({ reads }) => compact(reads) },
    { title: "Writes", number: true, show: ({ writes }) => compact(writes) },
    {
      title: "Share",
      show: ({ share }) => (
        <span class="share">
          <span class="heat-bar">
            <span style={{ width: `${share * 100}%` }} />
          </span>
          {(share * 100).toFixed(1)} %
        </span>
      ),
    },
    {
      title: "Items of it",
      unseenTitle: true,
      show: ({ key }) => (
        <Link class="button small" to={itemsAddress(table, key)}>
          Items<span class="unseen"> of {key}</span>
        </Link>
      ),
    },
  ];
}

/** The heaviest keys of a table or index; at first of the one where most happens. */
export function HotPartitions() {
  const all = useAnswer(() => rest<HotAnswer>("GET", "/hot?limit=1"), [], 5000);
  const [chosen, choose] = useState("");
  const [kind, show] = useState<Kind>("both");
  const names = byRequests(all.value?.tables ?? []).map((hot) => hot.table);
  const table = chosen || names[0] || "";
  const hot = useAnswer(() => (table ? rest<HotAnswer>("GET", `/hot${queryText({ table, limit: 20 })}`) : Promise.resolve(undefined)), [table], 3000);
  const found = hot.value?.tables[0];
  const grid = found && heatGrid(found, kind);
  const every = hot.value?.sampledEvery ?? 1;
  return (
    <Panel
      title="Hot partitions"
      actions={
        <>
          <Choice label="Table" value={table} set={choose} choices={names} />
          <Choice label="Of" value={kind} set={show} choices={KINDS} />
        </>
      }
      how={[{ title: "curl", text: curl({ method: "GET", path: `/v1/hot${queryText({ table })}` }, location.origin) }]}
    >
      {grid && grid.rows.length > 0 ? (
        <>
          <p class="verdict">
            The hottest partition of {table} is <code>{grid.rows[0].key}</code>: {(grid.rows[0].share * 100).toFixed(0)} % of what it was asked.
          </p>
          <HeatMap grid={grid} />
          <Grid label="Heaviest partitions" columns={columnsOf(table)} rows={grid.rows} id={({ key }) => key} />
          <p class="quiet">
            {grouped(grid.total)} requests since the start
            {every > 1 ? `; one in ${every} is looked at, so small counts are rough` : ""}.
          </p>
        </>
      ) : all.problem || hot.problem ? (
        <State of={all.problem ? all : hot} />
      ) : (
        <p class="quiet">{all.value ? "Nothing was asked yet." : "Loading"}</p>
      )}
    </Panel>
  );
}
