// A single-table design: entities with key templates, indexes, and what will be asked of them.
//
// A template is text with variables in it: "SCORE#${score:10}#${playerId}". A variable is an attribute of the entity;
// ":10" pads a number with zeros to ten digits, so that text sorts as the numbers do.
import type { Attribute, Item } from "./attribute";

export type FieldType = "S" | "N" | "BOOL" | "M" | "L";

export interface Field {
  name: string;
  type: FieldType;
}

export interface KeyTemplate {
  pk: string;
  sk: string;
}

export interface ModelEntity {
  name: string;
  fields: Field[];
  keys: Record<string, KeyTemplate>; // by index; TABLE is the table itself; not there: not in that index
  count: number; // how many of them there will be
  bytes: number; // how large one is
  x: number;
  y: number;
}

export const TABLE = "table";

export interface ModelIndex {
  name: string; // TABLE, or the index's
  pk: string; // attribute names
  sk: string; // "": none
  skType: "S" | "N";
}

export type PatternKind = "get" | "query" | "count" | "put" | "update" | "delete";
export const PATTERN_KINDS: { value: PatternKind; text: string }[] = [
  { value: "get", text: "Get one" },
  { value: "query", text: "List" },
  { value: "count", text: "Count, or rank" },
  { value: "put", text: "Put" },
  { value: "update", text: "Update" },
  { value: "delete", text: "Delete" },
];

export interface AccessPattern {
  name: string;
  entity: string;
  kind: PatternKind;
  given: string[]; // attributes that are known when it is asked
  from: string; // a range goes by this attribute: "more than this score", or the order of a list; "": none
  descending: boolean;
  items: number; // how many a list brings, or a count passes over
  rate: number; // a second
  hottest: number; // percent of the requests that go to the busiest partition; 0: all alike
}

export interface Model {
  name: string;
  table: string;
  indexes: ModelIndex[]; // the first is the table
  entities: ModelEntity[];
  patterns: AccessPattern[];
  values: Record<string, number>; // how many different values an attribute has
  ttl: string;
}

export interface Part {
  text?: string;
  variable?: string;
  pad?: number;
}

const PART = /\$\{([A-Za-z_]\w*)(?::(\d+))?\}/g;

/** A template taken apart. */
export function partsOf(template: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const found of template.matchAll(PART)) {
    if (found.index > at) parts.push({ text: template.slice(at, found.index) });
    parts.push({ variable: found[1], ...(found[2] ? { pad: Number(found[2]) } : {}) });
    at = found.index + found[0].length;
  }
  if (at < template.length) parts.push({ text: template.slice(at) });
  return parts;
}

export function variablesOf(template: string): string[] {
  return partsOf(template).flatMap(({ variable }) => (variable ? [variable] : []));
}

/** A template that is one variable and nothing else: then the attribute itself can be the key. */
export function isBare(template: string): boolean {
  const parts = partsOf(template);
  return parts.length === 1 && parts[0].variable !== undefined && parts[0].pad === undefined;
}

function textOf(value: Attribute | undefined, name: string): string {
  if (value && "S" in value) return value.S;
  if (value && "N" in value) return value.N;
  if (value && "BOOL" in value) return String(value.BOOL);
  throw new Error(`${name} has no value that can be in a key`);
}

/** A template with its values; throws if one is missing. */
export function fill(template: string, values: Item): string {
  return partsOf(template)
    .map(({ text, variable, pad }) => text ?? textOf(values[variable!], variable!).padStart(pad ?? 0, "0"))
    .join("");
}

export function indexOf(model: Model, name: string): ModelIndex {
  return model.indexes.find((index) => index.name === name) ?? model.indexes[0];
}

/** An item of an entity from its fields: with the keys of the table and of each index it is in. */
export function itemOf(model: Model, entity: ModelEntity, values: Item): Item {
  const keys: Item = {};
  for (const index of model.indexes) {
    const template = entity.keys[index.name];
    if (!template) continue;
    keys[index.pk] ??= { S: fill(template.pk, values) };
    if (index.sk && template.sk !== "")
      keys[index.sk] ??= index.skType === "N" ? { N: fill(template.sk, values) } : { S: fill(template.sk, values) };
  }
  return { ...keys, ...Object.fromEntries(Object.entries(values).filter(([name]) => !(name in keys))) };
}

/** What is wrong with a model, in sentences. */
export function faultsOf(model: Model): string[] {
  const faults: string[] = [];
  for (const entity of model.entities) {
    const names = entity.fields.map(({ name }) => name);
    if (!entity.keys[TABLE]) faults.push(`${entity.name} has no key of the table.`);
    for (const [index, { pk, sk }] of Object.entries(entity.keys)) {
      if (!model.indexes.some(({ name }) => name === index)) continue;
      if (pk === "") faults.push(`${entity.name} has no partition key in ${index}.`);
      if (indexOf(model, index).sk && sk === "" && index === TABLE) faults.push(`${entity.name} has no sort key.`);
      for (const variable of [...variablesOf(pk), ...variablesOf(sk)])
        if (!names.includes(variable)) faults.push(`${entity.name}: ${variable} is in a key, but is no attribute of it.`);
    }
  }
  const seen = new Map<string, string>();
  for (const entity of model.entities) {
    const key = entity.keys[TABLE];
    if (!key) continue;
    const shape = `${key.pk} ${key.sk}`.replace(PART, "*");
    const other = seen.get(shape);
    if (other) faults.push(`${entity.name} and ${other} have keys of the same form: one would overwrite the other.`);
    seen.set(shape, entity.name);
  }
  return [...new Set(faults)];
}
