import { useState } from "preact/hooks";
import { announce } from "../../../shared/announce";
import { grouped } from "../../../shared/numbers";
import { itemsFromText, type Item, type Type } from "../../logic/attribute";
import { itemsFromCsv } from "../../logic/csv";
import { keyNames, type TableSchema } from "../../logic/tableSchema";
import { Change } from "../../parts/Change";
import { Dialog } from "../../parts/Dialog";
import { messageOf } from "../../server";
import { useDoing } from "../../useAnswer";
import { writeBatches } from "./writeBatches";

const MOST = 200_000;

function read(table: TableSchema, name: string, text: string): Item[] {
  const types = Object.fromEntries([...table.partition, ...table.sort].map((part) => [part.name, part.type as Type]));
  const items = /\.csv$/i.test(name) ? itemsFromCsv(text, types) : itemsFromText(text);
  const missing = items.findIndex((item) => keyNames(table).some((key) => item[key] === undefined));
  if (missing !== -1) throw new Error(`Item ${missing + 1} does not have the whole key: ${keyNames(table).join(", ")}`);
  if (items.length > MOST) throw new Error(`${grouped(items.length)} items are too many for a page: use ImportTable`);
  return items;
}

export function ImportItems({ table, done }: { table: TableSchema; done: () => void }) {
  const [open, show] = useState(false);
  const [items, set] = useState<Item[]>([]);
  const [problem, fail] = useState("");
  const [written, tell] = useState(0);
  const doing = useDoing();
  const pick = async (event: Event) => {
    const file = (event.currentTarget as HTMLInputElement).files?.[0];
    set([]);
    fail("");
    if (!file) return;
    try {
      set(read(table, file.name, await file.text()));
    } catch (error) {
      fail(messageOf(error));
    }
  };
  const load = async () => {
    const requests = items.map((item) => ({ PutRequest: { Item: item } }));
    if (await doing.run(() => writeBatches(table.name, requests, tell))) {
      announce(`${items.length} items written`);
      show(false);
      set([]);
      done();
    }
  };
  return (
    <>
      <Change onClick={() => show(true)}>Load a file</Change>
      {open && (
        <Dialog title={`Load items into ${table.name}`} close={() => show(false)}>
          <p class="quiet">
            CSV with a line of names (<code>score:N</code> says a type), a JSON array, or lines of JSON, plain or typed. An item of the same key is
            replaced.
          </p>
          <label>
            File
            <input type="file" accept=".csv,.json,.jsonl,.ndjson,.txt" onChange={pick} />
          </label>
          {(problem || doing.problem) && (
            <p class="problem" role="alert">
              {problem || doing.problem}
            </p>
          )}
          {items.length > 0 && <p>{grouped(items.length)} items are in it.</p>}
          {doing.busy && <progress max={items.length} value={written} aria-label="Written" />}
          <div class="actions">
            <Change main disabled={items.length === 0} busy={doing.busy} onClick={load}>
              Write them
            </Change>
          </div>
        </Dialog>
      )}
    </>
  );
}
