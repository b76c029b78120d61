import { useState } from "preact/hooks";
import { awsCli } from "../../logic/shell";
import { createTable, type KeyPart, type NewIndex, type NewTable } from "../../logic/tableSchema";
import { Change } from "../../parts/Change";
import { Dialog } from "../../parts/Dialog";
import { Check, Choice, TextField } from "../../parts/Field";
import { How } from "../../parts/How";
import { ddb } from "../../server";
import { useDoing } from "../../useAnswer";
import { IndexFields, newIndex } from "./IndexFields";
import { KeyField } from "./KeyField";

const fresh: NewTable = {
  name: "",
  partition: { name: "PK", type: "S" },
  sort: { name: "SK", type: "S" },
  indexes: [],
  billing: "PAY_PER_REQUEST",
  reads: 5,
  writes: 5,
  stream: "",
  protected: false,
};

const BILLING = [
  { value: "PAY_PER_REQUEST" as const, text: "On demand" },
  { value: "PROVISIONED" as const, text: "Provisioned" },
];
export const STREAMS = [
  { value: "", text: "No stream" },
  { value: "NEW_AND_OLD_IMAGES", text: "New and old images" },
  { value: "NEW_IMAGE", text: "New image" },
  { value: "OLD_IMAGE", text: "Old image" },
  { value: "KEYS_ONLY", text: "Keys only" },
];

interface NewTableProps {
  close: () => void;
  made: (name: string) => void;
}

export function NewTableForm({ close, made }: NewTableProps) {
  const [table, set] = useState(fresh);
  const doing = useDoing();
  const change = (part: Partial<NewTable>) => set({ ...table, ...part });
  const changeIndex = (at: number, index: NewIndex | null) =>
    change({ indexes: table.indexes.flatMap((old, i) => (i === at ? (index ? [index] : []) : [old])) });
  const request = createTable(table);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await doing.run(() => ddb("CreateTable", request))) made(table.name);
  };
  const sort: KeyPart = table.sort ?? { name: "", type: "S" };
  return (
    <Dialog title="New table" close={close} wide>
      <form onSubmit={submit}>
        <TextField label="Name" value={table.name} set={(name) => change({ name })} required placeholder="game" />
        <div class="columns">
          <KeyField label="Partition key" part={table.partition} set={(partition) => change({ partition })} required />
          <KeyField
            label="Sort key (may be left empty)"
            part={sort}
            set={(part) => change({ sort: part.name === "" ? null : part })}
          />
        </div>
        {table.indexes.map((index, i) => (
          <IndexFields key={i} index={index} set={(next) => changeIndex(i, next)} tablePartition={table.partition} local />
        ))}
        <p>
          <button type="button" onClick={() => change({ indexes: [...table.indexes, newIndex(table.indexes.length + 1)] })}>
            Add an index
          </button>
        </p>
        <div class="columns">
          <Choice label="Capacity" value={table.billing} set={(billing) => change({ billing })} choices={BILLING} />
          <Choice label="Stream" value={table.stream} set={(stream) => change({ stream })} choices={STREAMS} />
        </div>
        {table.billing === "PROVISIONED" && (
          <div class="columns">
            <TextField label="Reads a second" type="number" value={String(table.reads)} set={(text) => change({ reads: Number(text) })} />
            <TextField label="Writes a second" type="number" value={String(table.writes)} set={(text) => change({ writes: Number(text) })} />
          </div>
        )}
        <Check label="Protect it from deletion" value={table.protected} set={(value) => change({ protected: value })} />
        {doing.problem && (
          <p class="problem" role="alert">
            {doing.problem}
          </p>
        )}
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <Change main submit busy={doing.busy}>
            Create
          </Change>
        </div>
        <How about="New table" told={[{ title: "AWS CLI", text: awsCli("CreateTable", request, location.origin) }]} />
      </form>
    </Dialog>
  );
}

