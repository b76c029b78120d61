import { useState } from "preact/hooks";
import { go, Link } from "../../../shared/address";
import { bytes, grouped } from "../../../shared/numbers";
import { awsCli } from "../../logic/shell";
import { keyText, type TableSchema } from "../../logic/tableSchema";
import { addressOf } from "../../pageList";
import { Change } from "../../parts/Change";
import { ConfirmName } from "../../parts/ConfirmName";
import { Facts } from "../../parts/Facts";
import { Page } from "../../parts/Page";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { ddb } from "../../server";
import { describeTable } from "../../tables";
import { useAnswer } from "../../useAnswer";
import { Indexes } from "./Indexes";
import { Insights } from "./Insights";
import { TableSettings } from "./TableSettings";

function When({ seconds }: { seconds: number }) {
  return <time dateTime={new Date(seconds * 1000).toISOString()}>{new Date(seconds * 1000).toLocaleString()}</time>;
}

function DeleteTable({ table }: { table: TableSchema }) {
  const [asking, ask] = useState(false);
  const request = { TableName: table.name };
  return (
    <Panel title="Delete this table">
      <p>
        {table.protected
          ? "It is protected from deletion: take the protection away first."
          : `Its ${grouped(table.items)} items and all indexes are gone at once. Backups of it stay.`}
      </p>
      <Change danger disabled={table.protected} onClick={() => ask(true)}>
        Delete {table.name}
      </Change>
      {asking && (
        <ConfirmName
          title={`Delete ${table.name}`}
          about={`This deletes the table with its ${grouped(table.items)} items. It cannot be undone.`}
          name={table.name}
          verb="Delete the table"
          how={[{ title: "AWS CLI", text: awsCli("DeleteTable", request, location.origin) }]}
          act={async () => {
            await ddb("DeleteTable", request);
            go(addressOf("tables"));
          }}
          close={() => ask(false)}
        />
      )}
    </Panel>
  );
}

export function TablePage({ name }: { name: string }) {
  const table = useAnswer(() => describeTable(name), [name], 3000);
  const { value } = table;
  return (
    <Page
      title={name}
      about={
        <>
          <Link to={addressOf("tables")}>All tables</Link>
        </>
      }
      actions={
        <Link class="button main" to={`${addressOf("items")}?table=${encodeURIComponent(name)}`}>
          Look at its items
        </Link>
      }
    >
      {!value ? (
        <State of={table} />
      ) : (
        <>
          <Panel title="Table" how={[{ title: "AWS CLI", text: awsCli("DescribeTable", { TableName: name }, location.origin) }]}>
            <Facts
              facts={[
                ["Key", <code>{keyText(value)}</code>],
                ["Items", grouped(value.items)],
                ["Size", bytes(value.bytes)],
                ["State", value.status.toLowerCase()],
                ["Capacity", value.billing === "PAY_PER_REQUEST" ? "on demand" : `${value.reads} reads, ${value.writes} writes a second`],
                ["Stream", value.stream ? value.stream.replaceAll("_", " ").toLowerCase() : "none"],
                ["Class", value.tableClass.replaceAll("_", " ").toLowerCase()],
                ["Made", <When seconds={value.created} />],
                ["ARN", <code>{value.arn}</code>],
              ]}
            />
          </Panel>
          <Indexes table={value} again={table.again} />
          <Insights table={value} />
          <TableSettings key={JSON.stringify([value.billing, value.stream, value.protected])} table={value} again={table.again} />
          <DeleteTable table={value} />
        </>
      )}
    </Page>
  );
}
