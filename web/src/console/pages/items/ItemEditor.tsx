import { useState } from "preact/hooks";
import { announce } from "../../../shared/announce";
import { grouped } from "../../../shared/numbers";
import { emptyOf, itemFromText, itemSize, type Item } from "../../logic/attribute";
import { awsCli } from "../../logic/shell";
import { keyNames, keyOf, sameKey, type TableSchema } from "../../logic/tableSchema";
import { Change } from "../../parts/Change";
import { ConfirmName } from "../../parts/ConfirmName";
import { Dialog } from "../../parts/Dialog";
import { How } from "../../parts/How";
import { Tabs } from "../../parts/Tabs";
import { ddb, messageOf } from "../../server";
import { useDoing } from "../../useAnswer";
import { MapEditor } from "./MapEditor";

interface EditorProps {
  table: TableSchema;
  item: Item | null; // null: a new one
  close: () => void;
  done: () => void;
}

const FORMS = ["Fields", "JSON"] as const;

function fresh(table: TableSchema): Item {
  return Object.fromEntries([...table.partition, ...table.sort].map(({ name, type }) => [name, type === "N" ? { N: "0" } : emptyOf(type)]));
}

/** A new item does not overwrite one that is there; a changed one does not come back after it was deleted. */
function putRequest(table: TableSchema, item: Item, isNew: boolean): Record<string, unknown> {
  return {
    TableName: table.name,
    Item: item,
    ConditionExpression: isNew ? "attribute_not_exists(#k)" : "attribute_exists(#k)",
    ExpressionAttributeNames: { "#k": keyNames(table)[0] },
  };
}

function firstName(table: TableSchema, item: Item): string {
  const value = item[keyNames(table).at(-1)!];
  return value ? String(Object.values(value)[0]) : "";
}

export function ItemEditor({ table, item, close, done }: EditorProps) {
  const [edited, set] = useState<Item>(() => item ?? fresh(table));
  const [form, choose] = useState<(typeof FORMS)[number]>("Fields");
  const [text, write] = useState("");
  const [wrong, tellWrong] = useState("");
  const [deleting, askDelete] = useState(false);
  const doing = useDoing();
  const moved = item === null || !sameKey(table, item, edited);
  const request = putRequest(table, edited, moved);
  const turn = (next: (typeof FORMS)[number]) => {
    if (next === "JSON") write(JSON.stringify(edited, null, 2));
    choose(next);
  };
  const type = (value: string) => {
    write(value);
    try {
      set(itemFromText(value));
      tellWrong("");
    } catch (error) {
      tellWrong(messageOf(error));
    }
  };
  const save = async (event: Event) => {
    event.preventDefault();
    if (wrong || !(await doing.run(() => ddb("PutItem", request)))) return;
    announce("Saved");
    close();
    done();
  };
  const remove = { TableName: table.name, Key: keyOf(table, item ?? edited) };
  return (
    <Dialog title={item ? "Item" : "New item"} close={close} wide>
      <form onSubmit={save}>
        <Tabs label="Form" tabs={FORMS} chosen={form} choose={turn} />
        {form === "Fields" ? (
          <MapEditor value={edited} set={set} fixed={keyNames(table)} label="Item" />
        ) : (
          <label>
            JSON, typed or plain
            <textarea class="mono" rows={16} value={text} spellcheck={false} onInput={(event) => type(event.currentTarget.value)} />
          </label>
        )}
        <p class="quiet">{grouped(itemSize(edited))} bytes of at most 409,600.</p>
        {item && moved && <p class="note">The key has changed: this makes another item, and the one that was opened stays.</p>}
        {(wrong || doing.problem) && (
          <p class="problem" role="alert">
            {wrong || doing.problem}
          </p>
        )}
        <div class="actions">
          {item && (
            <Change danger onClick={() => askDelete(true)}>
              Delete
            </Change>
          )}
          <Change main submit busy={doing.busy} disabled={wrong !== ""}>
            Save
          </Change>
        </div>
        <How
          about="This item"
          told={[
            { title: "AWS CLI: read it", text: awsCli("GetItem", remove, location.origin) },
            { title: "AWS CLI: write it", text: awsCli("PutItem", request, location.origin) },
          ]}
        />
      </form>
      {deleting && item && (
        <ConfirmName
          title="Delete this item"
          about="It is gone at once, from all indexes too."
          name={firstName(table, item)}
          verb="Delete the item"
          how={[{ title: "AWS CLI", text: awsCli("DeleteItem", remove, location.origin) }]}
          act={async () => {
            await ddb("DeleteItem", remove);
            close();
            done();
          }}
          close={() => askDelete(false)}
        />
      )}
    </Dialog>
  );
}
