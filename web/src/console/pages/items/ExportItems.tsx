import { useState } from "preact/hooks";
import { grouped } from "../../../shared/numbers";
import { plainItemText, type Item } from "../../logic/attribute";
import { itemsToCsv } from "../../logic/csv";
import { keyNames, type TableSchema } from "../../logic/tableSchema";
import { Dialog } from "../../parts/Dialog";
import { Choice } from "../../parts/Field";
import { save } from "../../parts/files";
import { useDoing } from "../../useAnswer";
import { allItems, type AskedItems } from "./useItems";

interface ExportProps {
  table: TableSchema;
  asked: AskedItems | undefined;
  page: Item[];
  chosen: boolean;
}

const FORMATS = [
  { value: "csv" as const, text: "CSV: a column for each attribute" },
  { value: "typed" as const, text: "DynamoDB JSON, a line each" },
  { value: "plain" as const, text: "Plain JSON" },
];
type Format = (typeof FORMATS)[number]["value"];

function write(table: TableSchema, items: Item[], format: Format): void {
  if (format === "csv") save(`${table.name}.csv`, "text/csv", itemsToCsv(items, keyNames(table)));
  else if (format === "typed") save(`${table.name}.jsonl`, "application/x-ndjson", items.map((Item) => JSON.stringify({ Item })).join("\n") + "\n");
  else save(`${table.name}.json`, "application/json", `[\n${items.map((item) => `  ${plainItemText(item)}`).join(",\n")}\n]\n`);
}

export function ExportItems({ table, asked, page, chosen }: ExportProps) {
  const [open, show] = useState(false);
  const [format, choose] = useState<Format>("csv");
  const [came, tell] = useState(0);
  const doing = useDoing();
  const whole = () =>
    doing.run(async () => {
      if (asked) write(table, await allItems(asked, tell), format);
      show(false);
    });
  return (
    <>
      <button onClick={() => show(true)} disabled={!asked}>
        Save as a file
      </button>
      {open && (
        <Dialog title="Save items as a file" close={() => show(false)}>
          <Choice label="Format" value={format} set={choose} choices={FORMATS} />
          {doing.problem && (
            <p class="problem" role="alert">
              {doing.problem}
            </p>
          )}
          {doing.busy && <p aria-live="polite">{grouped(came)} items so far</p>}
          <div class="actions">
            <button
              onClick={() => {
                write(table, page, format);
                show(false);
              }}
            >
              {chosen ? `The ${page.length} chosen` : `This page: ${page.length} items`}
            </button>
            <button class="main" disabled={doing.busy} onClick={whole}>
              All that the question finds
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
