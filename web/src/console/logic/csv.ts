// CSV (RFC 4180), and items as rows of it.
import { isNumber, scalar, TYPES, typeOf, valueOf, type Attribute, type Item, type Type } from "./attribute";

const FIELD = /("(?:[^"]|"")*"|[^",\r\n][^,\r\n]*|)(,|\r\n|\n|\r|$)/y;

/** Rows of fields; lines with nothing are passed over. Throws when a quote is not closed. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    FIELD.lastIndex = at;
    const found = FIELD.exec(text);
    if (!found) throw new Error(`A quote is not closed, or something follows it, in row ${rows.length + 1}`);
    at = FIELD.lastIndex;
    const [, field, end] = found;
    row.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
    if (end === "," && at < text.length) continue;
    if (end === ",") row.push("");
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return rows;
}

export function csvField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvText(rows: string[][]): string {
  return rows.map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";
}

function cell(attribute: Attribute): string {
  const type = typeOf(attribute);
  if (type === "S" || type === "N" || type === "B") return String(valueOf(attribute));
  if (type === "BOOL") return String(valueOf(attribute));
  if (type === "NULL") return "null";
  return JSON.stringify(valueOf(attribute));
}

/** A column for each name and type there is, "score:N": types survive the way there and back. An empty string is
 * told from nothing by being written as typed JSON. */
export function itemsToCsv(items: Item[], first: string[] = []): string {
  const columns: string[] = [];
  for (const item of items)
    for (const [name, value] of Object.entries(item)) {
      const column = `${name}:${typeOf(value)}`;
      if (!columns.includes(column)) columns.push(column);
    }
  const place = (column: string) => {
    const at = first.indexOf(column.slice(0, column.lastIndexOf(":")));
    return at === -1 ? first.length : at;
  };
  columns.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
  const rows = items.map((item) =>
    columns.map((column) => {
      const name = column.slice(0, column.lastIndexOf(":"));
      const value = item[name];
      if (value === undefined || typeOf(value) !== column.slice(name.length + 1)) return "";
      return "S" in value && value.S === "" ? '{"S":""}' : cell(value);
    }),
  );
  return csvText([columns, ...rows]);
}

function typedColumn(header: string): { name: string; type: Type | "" } {
  const at = header.lastIndexOf(":");
  const type = header.slice(at + 1) as Type;
  return at > 0 && TYPES.includes(type) ? { name: header.slice(0, at), type } : { name: header, type: "" };
}

function read(type: Type | "", text: string): Attribute {
  if (text === '{"S":""}') return { S: "" };
  if (type === "") return isNumber(text) && !/^[+-]?0\d/.test(text) ? { N: text } : { S: text };
  if (type === "M" || type === "L") return { [type]: JSON.parse(text) } as Attribute;
  if (type === "SS" || type === "NS" || type === "BS") return { [type]: JSON.parse(text) } as Attribute;
  return scalar(type, text);
}

/** A header without a type takes what its keys are (`types`), else numbers where they look it, else strings. */
export function itemsFromCsv(text: string, types: Record<string, Type> = {}): Item[] {
  const [header, ...rows] = parseCsv(text);
  if (!header) return [];
  const columns = header.map(typedColumn);
  return rows.map((row, line) => {
    const item: Item = {};
    columns.forEach(({ name, type }, i) => {
      const field = row[i] ?? "";
      if (field === "") return;
      try {
        item[name] = read(type || types[name] || "", field);
      } catch (error) {
        throw new Error(`Line ${line + 2}, ${name}: ${(error as Error).message}`);
      }
    });
    return item;
  });
}

