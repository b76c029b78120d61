import { useEffect, useState } from "preact/hooks";
import { bytes, grouped } from "../../../shared/numbers";
import { brief, itemSize, type Item } from "../../logic/attribute";
import { entityMap, type EntityGroup } from "../../logic/keyPatterns";
import { awsCli } from "../../logic/shell";
import { keyNames, type TableSchema } from "../../logic/tableSchema";
import { Choice } from "../../parts/Field";
import { Panel } from "../../parts/Panel";
import { useDoing } from "../../useAnswer";
import { allItems } from "./useItems";

const SAMPLES = ["1000", "10000", "100000"].map((value) => ({ value, text: `${grouped(Number(value))} items` }));

/** Groups that share the pattern of their partition key stand in one box: they are read by one query. */
function collections(groups: EntityGroup[]): [string, EntityGroup[]][] {
  const found = new Map<string, EntityGroup[]>();
  for (const group of groups) found.set(group.partition, [...(found.get(group.partition) ?? []), group]);
  return [...found];
}

function GroupBox({ table, group, total }: { table: TableSchema; group: EntityGroup; total: number }) {
  const others = group.attributes.filter((name) => !keyNames(table).includes(name));
  return (
    <li class="entity-box">
      <div class="entity-head">
        <b>{group.name}</b>
        <span>{grouped(group.count)}</span>
      </div>
      <meter min={0} max={total} value={group.count} aria-label={`${group.name}: share of the items`} />
      {group.sort && <code>{group.sort}</code>}
      <p class="quiet">
        {bytes(group.bytes / group.count)} each · {grouped(group.partitions)} {group.partitions === 1 ? "partition" : "partitions"} · at most {grouped(group.largest.count)} in{" "}
        <code>{brief({ S: group.largest.partition }, 40)}</code>
      </p>
      <p class="names">{others.slice(0, 12).join(", ")}</p>
    </li>
  );
}

export function EntityMap({ table }: { table: TableSchema }) {
  const [most, choose] = useState("1000");
  const [items, set] = useState<Item[]>();
  const [came, tell] = useState(0);
  const doing = useDoing();
  const request = { TableName: table.name };
  useEffect(() => {
    void doing.run(async () => set(await allItems({ operation: "Scan", request }, tell, Number(most))));
  }, [most]);
  const groups = items ? entityMap(table, items, itemSize) : [];
  return (
    <Panel
      title="Entities by their keys"
      actions={<Choice label="Look at" value={most} set={choose} choices={SAMPLES} />}
      how={[{ title: "AWS CLI", text: awsCli("Scan", { ...request, Limit: Number(most) }, location.origin) }]}
    >
      {doing.problem && (
        <p class="problem" role="alert">
          {doing.problem}
        </p>
      )}
      {doing.busy && <p aria-live="polite">{grouped(came)} items looked at</p>}
      {items && (
        <p class="quiet">
          {grouped(items.length)} of {grouped(table.items)} items. A box is an item collection: what one query of a partition reads together.
        </p>
      )}
      <div class="collections">
        {collections(groups).map(([partition, list]) => (
          <section key={partition} class="collection" aria-label={`Partitions ${partition}`}>
            <h3>
              <code>{partition || "(no text)"}</code>
            </h3>
            <ul>
              {list.map((group) => (
                <GroupBox key={group.name + group.sort} table={table} group={group} total={items?.length ?? 1} />
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Panel>
  );
}
