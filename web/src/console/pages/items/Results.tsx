import { useEffect, useState } from "preact/hooks";
import { compact, grouped } from "../../../shared/numbers";
import { brief, itemSize, type Item } from "../../logic/attribute";
import { entityOf } from "../../logic/keyPatterns";
import { keyNames, keyOf, type TableSchema } from "../../logic/tableSchema";
import { Change } from "../../parts/Change";
import { Grid, type Column } from "../../parts/Grid";
import { Panel } from "../../parts/Panel";
import { BulkActions } from "./BulkActions";
import { ExportItems } from "./ExportItems";
import { ImportItems } from "./ImportItems";
import { ItemEditor } from "./ItemEditor";
import type { Items } from "./useItems";

interface ResultsProps {
  table: TableSchema;
  items: Items;
  ask?: (partition: string) => void;
}

const COLUMNS_MAX = 8;

/** Attributes in the order of how many items have them, keys first. */
function attributeNames(items: Item[], keys: string[]): string[] {
  const counts = new Map<string, number>();
  for (const item of items) for (const name of Object.keys(item)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const others = [...counts].filter(([name]) => !keys.includes(name)).sort((a, b) => b[1] - a[1]);
  return [...keys, ...others.map(([name]) => name)];
}

function idOf(table: TableSchema, item: Item): string {
  return JSON.stringify(keyOf(table, item));
}

function summary({ found }: Items): string {
  if (!found) return "";
  const scanned = found.scanned !== found.count ? ` of ${grouped(found.scanned)} looked at` : "";
  return `${grouped(found.count)} items${scanned} · ${compact(found.units)} read units · ${found.ms.toFixed(0)} ms`;
}

export function Results({ table, items, ask }: ResultsProps) {
  const [chosen, choose] = useState<Set<string>>(new Set());
  const [edited, edit] = useState<Item | "new" | null>(null);
  const rows = items.found?.items ?? [];
  const none = () => choose(new Set());
  // Another question or another page has other items; the same one again keeps what is chosen and still there.
  useEffect(none, [items.asked, items.found?.page]);
  useEffect(() => {
    const here = rows.map((row) => idOf(table, row));
    choose((old) => new Set(here.filter((id) => old.has(id))));
  }, [items.found]);
  const keys = keyNames(table);
  const names = attributeNames(rows, keys).slice(0, COLUMNS_MAX);
  const whole = rows.every((row) => keys.every((name) => row[name] !== undefined));
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    choose(next);
  };
  const columns: Column<Item>[] = [
    ...(whole
      ? [
          {
            title: "Choose",
            unseenTitle: true,
            show: (item: Item) => (
              <label class="tick">
                <input type="checkbox" checked={chosen.has(idOf(table, item))} onChange={() => toggle(idOf(table, item))} />
                <span class="unseen">Choose {brief(item[keys[0]], 30)}</span>
              </label>
            ),
          },
          {
            title: "Open",
            unseenTitle: true,
            show: (item: Item) => (
              <button class="small" onClick={() => edit(item)}>
                Open<span class="unseen"> {keys.map((name) => brief(item[name], 30)).join(" ")}</span>
              </button>
            ),
          },
          { title: "Entity", show: (item: Item) => <span class="pill entity">{entityOf(table, item).name}</span> },
        ]
      : []),
    ...names.map((name) => ({
      title: name,
      mono: true,
      show: (item: Item) => {
        const value = item[name];
        const text = brief(value, 48);
        return name === keys[0] && ask && value && "S" in value ? (
          <button class="link" title="Query this partition" onClick={() => ask(value.S)}>
            {text}
          </button>
        ) : (
          text
        );
      },
    })),
  ];
  const picked = rows.filter((item) => chosen.has(idOf(table, item)));
  return (
    <Panel
      title="Items"
      actions={
        <>
          <Change onClick={() => edit("new")}>New item</Change>
          <ImportItems table={table} done={items.again} />
          <ExportItems table={table} asked={items.asked} page={picked.length ? picked : rows} chosen={picked.length > 0} />
        </>
      }
    >
      {items.found && (
        <>
          <p class="quiet found">{summary(items)}</p>
          <BulkActions table={table} picked={picked} rows={rows} chooseAll={() => choose(new Set(rows.map((row) => idOf(table, row))))} done={() => (none(), void items.again())} />
          <Grid
            label="Items"
            columns={columns}
            rows={rows}
            id={(item) => (whole ? idOf(table, item) : JSON.stringify(item))}
            empty={items.found.last ? "No items." : "None on this page: go on to the next one."}
          />
          <div class="paging">
            <button disabled={items.busy || items.found.page === 0} onClick={() => items.turn(-1)}>
              Previous page
            </button>
            <span>
              Page {items.found.page + 1}
              {items.found.last ? ", the last" : ""}
            </span>
            <button disabled={items.busy || items.found.last} onClick={() => items.turn(1)}>
              Next page
            </button>
            <span class="quiet">{grouped(rows.reduce((sum, row) => sum + itemSize(row), 0))} bytes</span>
          </div>
        </>
      )}
      {edited && <ItemEditor table={table} item={edited === "new" ? null : edited} close={() => edit(null)} done={items.again} />}
    </Panel>
  );
}
