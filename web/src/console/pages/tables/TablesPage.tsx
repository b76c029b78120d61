import { useState } from "preact/hooks";
import { go, Link } from "../../../shared/address";
import { bytes, grouped } from "../../../shared/numbers";
import { awsCli } from "../../logic/shell";
import { keyText, type TableSchema } from "../../logic/tableSchema";
import { addressOf, type PageProps } from "../../pageList";
import { Change } from "../../parts/Change";
import { Grid, type Column } from "../../parts/Grid";
import { Page } from "../../parts/Page";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { allTables } from "../../tables";
import { useAnswer } from "../../useAnswer";
import { NewTableForm } from "./NewTableForm";
import { TablePage } from "./TablePage";

const columns: Column<TableSchema>[] = [
  { title: "Table", show: ({ name }) => <Link to={addressOf("tables", name)}>{name}</Link> },
  { title: "Key", mono: true, whole: true, show: keyText },
  { title: "Items", number: true, show: ({ items }) => grouped(items) },
  { title: "Size", number: true, show: (table) => bytes(table.bytes) },
  { title: "Indexes", number: true, show: ({ indexes }) => indexes.length },
  { title: "Stream", show: ({ stream }) => (stream ? stream.replaceAll("_", " ").toLowerCase() : "–") },
  {
    title: "State",
    show: ({ status, indexes }) => {
      const building = indexes.filter(({ backfilling }) => backfilling).length;
      if (building > 0) return <span class="pill warn">{building} index being built</span>;
      return <span class={`pill ${status === "ACTIVE" ? "good" : "warn"}`}>{status.toLowerCase()}</span>;
    },
  },
  {
    title: "Items of it",
    unseenTitle: true,
    show: ({ name }) => (
      <Link class="button small" to={`${addressOf("items")}?table=${encodeURIComponent(name)}`}>
        Items<span class="unseen"> of {name}</span>
      </Link>
    ),
  },
];

function TableList() {
  const tables = useAnswer(allTables, [], 5000);
  const [making, make] = useState(false);
  const total = (tables.value ?? []).reduce((sum, { items }) => sum + items, 0);
  return (
    <Page
      title="Tables"
      about={tables.value && `${tables.value.length} tables, ${grouped(total)} items. Counts and sizes are exact and of now.`}
      actions={
        <Change main onClick={() => make(true)}>
          New table
        </Change>
      }
    >
      <Panel title="All tables" how={[{ title: "AWS CLI", text: awsCli("ListTables", {}, location.origin) }]}>
        {tables.value ? (
          <Grid label="All tables" columns={columns} rows={tables.value} id={({ name }) => name} empty="There are no tables yet." />
        ) : (
          <State of={tables} />
        )}
      </Panel>
      {making && (
        <NewTableForm
          close={() => make(false)}
          made={(name) => {
            make(false);
            go(addressOf("tables", name));
          }}
        />
      )}
    </Page>
  );
}

export default function TablesPage({ id }: PageProps) {
  return id ? <TablePage name={id} /> : <TableList />;
}
