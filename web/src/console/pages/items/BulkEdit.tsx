import { useState } from "preact/hooks";
import { announce } from "../../../shared/announce";
import { scalar, TYPE_NAMES, type Item, type Type } from "../../logic/attribute";
import { awsCli } from "../../logic/shell";
import { keyNames, keyOf, type TableSchema } from "../../logic/tableSchema";
import { Change } from "../../parts/Change";
import { Dialog } from "../../parts/Dialog";
import { Choice, TextField } from "../../parts/Field";
import { How } from "../../parts/How";
import { ddb, messageOf } from "../../server";
import { useDoing } from "../../useAnswer";

interface BulkEditProps {
  table: TableSchema;
  picked: Item[];
  close: () => void;
  done: () => void;
}

type Act = "set" | "add" | "remove";
const ACTS = [
  { value: "set" as const, text: "Set it to a value" },
  { value: "add" as const, text: "Add a number to it" },
  { value: "remove" as const, text: "Take it away" },
];
const SCALARS = (["S", "N", "BOOL", "NULL", "B"] as const).map((value) => ({ value: value as Type, text: TYPE_NAMES[value] }));

interface Edit {
  name: string;
  act: Act;
  type: Type;
  value: string;
}

function update(table: TableSchema, key: Item, { name, act, type, value }: Edit): Record<string, unknown> {
  const guard = { "#k": keyNames(table)[0], "#a": name };
  const expression = { set: "SET #a = :v", add: "ADD #a :v", remove: "REMOVE #a" }[act];
  return {
    TableName: table.name,
    Key: key,
    UpdateExpression: expression,
    ConditionExpression: "attribute_exists(#k)", // one that is gone does not come back as a stub
    ExpressionAttributeNames: guard,
    ...(act === "remove" ? {} : { ExpressionAttributeValues: { ":v": scalar(act === "add" ? "N" : type, value) } }),
  };
}

export function BulkEdit({ table, picked, close, done }: BulkEditProps) {
  const [edit, set] = useState<Edit>({ name: "", act: "set", type: "S", value: "" });
  const doing = useDoing();
  const change = (part: Partial<Edit>) => set({ ...edit, ...part });
  const run = async () => {
    if (edit.name === "" || keyNames(table).includes(edit.name)) throw new Error("Name an attribute that is not of the key");
    for (const item of picked) await ddb("UpdateItem", update(table, keyOf(table, item), edit));
    announce(`${picked.length} items changed`);
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await doing.run(run)) {
      close();
      done();
    }
  };
  let command = "";
  try {
    command = awsCli("UpdateItem", update(table, keyOf(table, picked[0]), edit), location.origin);
  } catch (error) {
    command = `# ${messageOf(error)}`;
  }
  return (
    <Dialog title={`Edit ${picked.length} items`} close={close}>
      <form onSubmit={submit}>
        <TextField label="Attribute" value={edit.name} set={(name) => change({ name })} required />
        <Choice label="What to do" value={edit.act} set={(act) => change({ act })} choices={ACTS} />
        {edit.act === "set" && <Choice label="Type" value={edit.type} set={(type) => change({ type })} choices={SCALARS} />}
        {edit.act !== "remove" && edit.type !== "NULL" && <TextField label="Value" value={edit.value} set={(value) => change({ value })} />}
        {doing.problem && (
          <p class="problem" role="alert">
            {doing.problem}
          </p>
        )}
        <div class="actions">
          <Change main submit busy={doing.busy}>
            Change {picked.length} items
          </Change>
        </div>
        <How about="Edit items" told={[{ title: "AWS CLI, for each", text: command }]} />
      </form>
    </Dialog>
  );
}
