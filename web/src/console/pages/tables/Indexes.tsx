import { useState } from "preact/hooks";
import { bytes, grouped } from "../../../shared/numbers";
import { awsCli } from "../../logic/shell";
import { addIndex, keyText, removeIndex, type IndexSchema, type NewIndex, type TableSchema } from "../../logic/tableSchema";
import { Change } from "../../parts/Change";
import { ConfirmName } from "../../parts/ConfirmName";
import { Dialog } from "../../parts/Dialog";
import { Grid, type Column } from "../../parts/Grid";
import { How } from "../../parts/How";
import { Panel } from "../../parts/Panel";
import { ddb } from "../../server";
import { useDoing } from "../../useAnswer";
import { IndexFields, newIndex } from "./IndexFields";

interface IndexesProps {
  table: TableSchema;
  again: () => void;
}

function AddIndex({ table, close }: { table: TableSchema; close: () => void }) {
  const [index, set] = useState<NewIndex>(() => newIndex(table.indexes.length + 1));
  const doing = useDoing();
  const request = addIndex(table, index);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await doing.run(() => ddb("UpdateTable", request))) close();
  };
  return (
    <Dialog title={`Add an index to ${table.name}`} close={close} wide>
      <form onSubmit={submit}>
        <p class="quiet">It is built while everything else goes on.</p>
        <IndexFields index={index} set={(next) => (next ? set(next) : close())} tablePartition={table.partition[0]} local={false} />
        {doing.problem && (
          <p class="problem" role="alert">
            {doing.problem}
          </p>
        )}
        <div class="actions">
          <Change main submit busy={doing.busy}>
            Add the index
          </Change>
        </div>
        <How about="Add an index" told={[{ title: "AWS CLI", text: awsCli("UpdateTable", request, location.origin) }]} />
      </form>
    </Dialog>
  );
}

export function Indexes({ table, again }: IndexesProps) {
  const [adding, add] = useState(false);
  const [removing, remove] = useState("");
  const columns: Column<IndexSchema>[] = [
    { title: "Index", show: ({ name }) => <b>{name}</b> },
    { title: "Kind", show: ({ local }) => (local ? "local" : "global") },
    { title: "Key", mono: true, whole: true, show: keyText },
    { title: "Projection", show: ({ projection, included }) => [projection.replaceAll("_", " ").toLowerCase(), ...included].join(", ") },
    { title: "Entries", number: true, show: ({ items }) => grouped(items) },
    { title: "Size", number: true, show: (index) => bytes(index.bytes) },
    {
      title: "State",
      show: (index) => (
        <span class={`pill ${index.status === "ACTIVE" ? "good" : "warn"}`}>
          {index.backfilling ? `being built: ${table.items ? Math.floor((100 * index.items) / table.items) : 0} %` : index.status.toLowerCase()}
        </span>
      ),
    },
    {
      title: "Remove",
      unseenTitle: true,
      show: ({ name, local }) =>
        !local && (
          <Change danger label={`Remove index ${name}`} onClick={() => remove(name)}>
            Remove
          </Change>
        ),
    },
  ];
  return (
    <Panel title="Indexes" actions={<Change onClick={() => add(true)}>Add an index</Change>}>
      <Grid label="Indexes" columns={columns} rows={table.indexes} id={({ name }) => name} empty="It has no indexes." />
      {adding && (
        <AddIndex
          table={table}
          close={() => {
            add(false);
            again();
          }}
        />
      )}
      {removing && (
        <ConfirmName
          title={`Remove index ${removing}`}
          about="Queries of this index will fail. The items stay."
          name={removing}
          verb="Remove the index"
          how={[{ title: "AWS CLI", text: awsCli("UpdateTable", removeIndex(table, removing), location.origin) }]}
          act={() => ddb("UpdateTable", removeIndex(table, removing))}
          close={() => {
            remove("");
            again();
          }}
        />
      )}
    </Panel>
  );
}
