import { useState } from "preact/hooks";
import { announce } from "../../../shared/announce";
import type { Item } from "../../logic/attribute";
import { awsCli } from "../../logic/shell";
import { keyOf, type TableSchema } from "../../logic/tableSchema";
import { Change } from "../../parts/Change";
import { ConfirmName } from "../../parts/ConfirmName";
import { writeBatches } from "./writeBatches";
import { BulkEdit } from "./BulkEdit";

interface BulkProps {
  table: TableSchema;
  picked: Item[];
  rows: Item[];
  chooseAll: () => void;
  done: () => void;
}

export function BulkActions({ table, picked, rows, chooseAll, done }: BulkProps) {
  const [asking, ask] = useState<"" | "edit" | "delete">("");
  if (rows.length === 0) return null;
  const remove = async () => {
    await writeBatches(
      table.name,
      picked.map((item) => ({ DeleteRequest: { Key: keyOf(table, item) } })),
    );
    announce(`${picked.length} items deleted`);
    done();
  };
  const request = { RequestItems: { [table.name]: picked.slice(0, 25).map((item) => ({ DeleteRequest: { Key: keyOf(table, item) } })) } };
  return (
    <div class="bulk">
      <button onClick={chooseAll}>Choose all {rows.length}</button>
      {picked.length > 0 && (
        <>
          <span>{picked.length} chosen</span>
          <Change onClick={() => ask("edit")}>Edit them</Change>
          <Change danger onClick={() => ask("delete")}>
            Delete them
          </Change>
        </>
      )}
      {asking === "delete" && (
        <ConfirmName
          title={`Delete ${picked.length} items of ${table.name}`}
          about="They are gone at once, from all indexes too."
          name={table.name}
          verb={`Delete ${picked.length} items`}
          how={[{ title: "AWS CLI", text: awsCli("BatchWriteItem", request, location.origin) }]}
          act={remove}
          close={() => ask("")}
        />
      )}
      {asking === "edit" && <BulkEdit table={table} picked={picked} close={() => ask("")} done={done} />}
    </div>
  );
}
