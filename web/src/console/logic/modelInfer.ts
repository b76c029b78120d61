// A design read back from a table and some of its items.
import { itemSize, typeOf, type Attribute, type Item } from "./attribute";
import { entityOf, readKey } from "./keyPatterns";
import { TABLE, type Field, type FieldType, type KeyTemplate, type Model, type ModelEntity, type ModelIndex } from "./model";
import type { TableSchema } from "./tableSchema";

function textOf(value: Attribute | undefined): string | undefined {
  if (value === undefined) return undefined;
  return "S" in value ? value.S : "N" in value ? value.N : undefined;
}

function title(name: string): string {
  const words = name.split(/[^A-Za-z]+/).filter(Boolean);
  return words.map((word) => word[0].toUpperCase() + word.slice(1).toLowerCase()).join("") || "Item";
}

/** The attribute that a part of a key is, if one has that value in all items; numbers may be padded there. */
function attributeFor(items: Item[], parts: string[], keys: Set<string>): string | undefined {
  const names = Object.keys(items[0]).filter((name) => !keys.has(name));
  for (const name of names) {
    const same = items.every((item, i) => {
      const value = textOf(item[name]);
      return value !== undefined && (value === parts[i] || ("N" in item[name] && /^0*\d+$/.test(parts[i]) && value === parts[i].replace(/^0+(?=\d)/, "")));
    });
    if (same) return name;
  }
  return undefined;
}

function padOf(parts: string[]): string {
  const width = parts[0].length;
  const padded = parts.every((part) => /^\d+$/.test(part) && part.length === width) && parts.some((part) => part.startsWith("0") && width > 1);
  return padded ? `:${width}` : "";
}

/** "ROOM#<1>" with its values becomes "ROOM#${code}". */
function templateOf(items: Item[], attribute: string, keys: Set<string>, found: Map<string, FieldType>): string | null {
  const texts = items.map((item) => textOf(item[attribute]));
  if (texts.some((text) => text === undefined)) return null;
  const read = texts.map((text) => readKey(text!));
  if (!read.every(({ text }) => text === read[0].text)) return null;
  return read[0].text.replace(/<(\d+)>/g, (mark, number: string) => {
    const at = Number(number) - 1;
    const parts = read.map(({ values }) => values[at]);
    const before = read[0].text.slice(0, read[0].text.indexOf(mark)).match(/([A-Z_]+)[^A-Z_]*$/)?.[1];
    const name = attributeFor(items, parts, keys) ?? (before ? `${before.toLowerCase().replace(/_(\w)/g, (_, c: string) => c.toUpperCase())}${at > 0 ? at + 1 : "Id"}` : `part${number}`);
    if (!found.has(name)) found.set(name, items[0][name] && typeOf(items[0][name]) === "N" ? "N" : "S");
    return `\${${name}${padOf(parts)}}`;
  });
}

function fieldType(value: Attribute): FieldType {
  const type = typeOf(value);
  if (type === "N" || type === "BOOL" || type === "M") return type;
  return type === "L" || type === "SS" || type === "NS" || type === "BS" ? "L" : "S";
}

function indexesOf(table: TableSchema): ModelIndex[] {
  const of = (name: string, keys: Pick<TableSchema, "partition" | "sort">): ModelIndex => ({
    name,
    pk: keys.partition[0].name,
    sk: keys.sort[0]?.name ?? "",
    skType: keys.sort[0]?.type === "N" ? "N" : "S",
  });
  return [of(TABLE, table), ...table.indexes.filter(({ local }) => !local).map((index) => of(index.name, index))];
}

function inferEntity(model: Pick<Model, "indexes">, name: string, items: Item[], share: number, at: number): ModelEntity {
  const keys = new Set(model.indexes.flatMap(({ pk, sk }) => [pk, sk]).filter(Boolean));
  const found = new Map<string, FieldType>();
  const templates: Record<string, KeyTemplate> = {};
  for (const index of model.indexes) {
    const direct = (attribute: string) => {
      // A key that is no template of its own, such as a score: the attribute itself.
      const own = attribute !== model.indexes[0].pk && attribute !== model.indexes[0].sk && !/pk$|sk$/i.test(attribute);
      if (own && items.every((item) => item[attribute] !== undefined)) {
        found.set(attribute, fieldType(items[0][attribute]));
        return `\${${attribute}}`;
      }
      return templateOf(items, attribute, keys, found);
    };
    const pk = direct(index.pk);
    const sk = index.sk ? direct(index.sk) : "";
    if (pk !== null && sk !== null) templates[index.name] = { pk, sk };
  }
  const fields = new Map<string, FieldType>(found);
  for (const item of items) for (const [field, value] of Object.entries(item)) if (!fields.has(field) && !keys.has(field)) fields.set(field, fieldType(value));
  return {
    name,
    fields: [...fields].map(([field, type]): Field => ({ name: field, type })),
    keys: templates,
    count: Math.max(1, Math.round(items.length * share)),
    bytes: Math.max(1, Math.round(items.reduce((sum, item) => sum + itemSize(item), 0) / items.length)),
    x: 20 + (at % 3) * 320,
    y: 20 + Math.floor(at / 3) * 270,
  };
}

/** Entities by the form of their keys; counts are of the whole table, by the share of those seen. */
export function inferModel(table: TableSchema, items: Item[]): Model {
  const indexes = indexesOf(table);
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const { name, partition, sort } = entityOf(table, item);
    const id = `${name} ${partition} ${sort}`;
    groups.set(id, [...(groups.get(id) ?? []), item]);
  }
  const share = items.length > 0 ? Math.max(1, table.items / items.length) : 1;
  const names = new Set<string>();
  const entities = [...groups.values()]
    .sort((a, b) => b.length - a.length)
    .map((list, at) => {
      let name = title(entityOf(table, list[0]).name);
      while (names.has(name)) name += "2";
      names.add(name);
      return inferEntity({ indexes }, name, list, share, at);
    });
  const values: Record<string, number> = {};
  for (const entity of entities) {
    const list = [...groups.values()].sort((a, b) => b.length - a.length)[entities.indexOf(entity)];
    for (const { name } of entity.fields) {
      const different = new Set(list.map((item) => textOf(item[name]))).size;
      values[name] = Math.max(values[name] ?? 0, different);
    }
  }
  return { name: table.name, table: table.name, indexes, entities, patterns: [], values, ttl: "" };
}
