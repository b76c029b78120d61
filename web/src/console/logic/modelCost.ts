// What a design would take: units a second, the busiest partition, and dollars a month.
import { TABLE, variablesOf, type AccessPattern, type Model, type ModelEntity } from "./model";
import { serve, type Serving } from "./modelQueries";

/** Dollars, on demand, standard class, us-east-1, as they have been since November 2024. */
export interface Prices {
  readMillion: number;
  writeMillion: number;
  storageGb: number;
}
export const PRICES: Prices = { readMillion: 0.125, writeMillion: 0.625, storageGb: 0.25 };

export const PARTITION_READS = 3000; // units a second that one partition gives
export const PARTITION_WRITES = 1000;
const READ_BYTES = 4096;
const WRITE_BYTES = 1024;
const MONTH_SECONDS = 730 * 3600;

export interface Load {
  pattern: AccessPattern;
  serving: Serving;
  reads: number; // units for one request
  writes: number;
  readsASecond: number;
  writesASecond: number;
  month: number; // dollars
  partition: string; // the template of the partition it goes to
  partitions: number; // how many of these there are
  share: number; // of its requests that go to the busiest
}

function entityOf(model: Model, pattern: AccessPattern): ModelEntity | undefined {
  return model.entities.find(({ name }) => name === pattern.entity);
}

/** Different partitions of a template, by how many values its variables have. */
export function partitionsOf(model: Model, template: string): number {
  return variablesOf(template).reduce((product, name) => product * Math.max(1, model.values[name] ?? 1), 1);
}

/** Reads of an eventually consistent request; a query's items are added up before they are rounded. */
function readUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / READ_BYTES)) / 2;
}

function unitsOf(model: Model, pattern: AccessPattern, entity: ModelEntity): { reads: number; writes: number } {
  const size = entity.bytes;
  if (pattern.kind === "get") return { reads: readUnits(size), writes: 0 };
  if (pattern.kind === "query" || pattern.kind === "count") return { reads: readUnits(size * Math.max(1, pattern.items)), writes: 0 };
  const indexes = model.indexes.filter(({ name }) => name !== TABLE && entity.keys[name]).length;
  // An index is written when its item is; a key that changes is a delete and a put there.
  return { reads: 0, writes: Math.ceil(size / WRITE_BYTES) * (1 + indexes) };
}

export function loadOf(model: Model, pattern: AccessPattern, prices: Prices = PRICES): Load {
  const serving = serve(model, pattern);
  const entity = entityOf(model, pattern);
  const units = entity ? unitsOf(model, pattern, entity) : { reads: 0, writes: 0 };
  // A scan reads the whole table.
  const reads = serving.how === "none" && entity && pattern.kind !== "put" ? readUnits(tableBytes(model)) : units.reads;
  const partition = serving.how === "none" ? "" : serving.pk;
  const partitions = partition ? partitionsOf(model, partition) : 1;
  return {
    pattern,
    serving,
    reads,
    writes: units.writes,
    readsASecond: reads * pattern.rate,
    writesASecond: units.writes * pattern.rate,
    month: ((reads * prices.readMillion + units.writes * prices.writeMillion) * pattern.rate * MONTH_SECONDS) / 1e6,
    partition,
    partitions,
    share: Math.max(pattern.hottest / 100, 1 / partitions),
  };
}

export function tableBytes(model: Model): number {
  const copies = (entity: ModelEntity) => Object.keys(entity.keys).filter((name) => model.indexes.some((index) => index.name === name)).length;
  return model.entities.reduce((sum, entity) => sum + entity.count * entity.bytes * Math.max(1, copies(entity)), 0);
}

export interface Heat {
  index: string;
  partition: string; // template
  reads: number; // units a second on the busiest one
  writes: number;
  heat: number; // 1: all that a partition gives
  patterns: string[];
  advice: string;
}

function adviceFor({ partition, reads, writes, heat, index }: Omit<Heat, "advice">): string {
  if (heat < 0.5) return "";
  const shards = Math.max(Math.ceil(writes / PARTITION_WRITES), Math.ceil(reads / PARTITION_READS));
  const limit = writes / PARTITION_WRITES >= reads / PARTITION_READS ? `${PARTITION_WRITES} writes` : `${PARTITION_READS} reads`;
  const what = heat >= 1 ? "is past" : "comes near";
  const cut = shards > 1 ? ` Cut it into ${shards} shards (${partition}#\${shard}), or make its boards smaller: one a day, a game, a room.` : "";
  return `The busiest ${partition}${index === TABLE ? "" : ` of ${index}`} ${what} the ${limit} a second that a partition of DynamoDB gives.${cut} Here a partition has no such limit.`;
}

/** Where the load goes: each kind of partition, the hottest first. Writes heat the indexes they reach too. */
export function heats(model: Model, loads: Load[]): Heat[] {
  const found = new Map<string, Omit<Heat, "advice">>();
  const add = (index: string, partition: string, reads: number, writes: number, pattern: string) => {
    const id = `${index} ${partition}`;
    const old = found.get(id) ?? { index, partition, reads: 0, writes: 0, heat: 0, patterns: [] };
    const next = { ...old, reads: old.reads + reads, writes: old.writes + writes, patterns: [...old.patterns, pattern] };
    found.set(id, { ...next, heat: Math.max(next.reads / PARTITION_READS, next.writes / PARTITION_WRITES) });
  };
  for (const { serving, pattern, readsASecond, share } of loads) {
    if (serving.how === "none") continue;
    if (serving.how === "GetItem" || serving.how === "Query") add(serving.index, serving.pk, readsASecond * share, 0, pattern.name);
    else addWrites(model, pattern, share, add);
  }
  return [...found.values()].map((heat) => ({ ...heat, advice: adviceFor(heat) })).sort((a, b) => b.heat - a.heat);
}

function addWrites(
  model: Model,
  pattern: AccessPattern,
  share: number,
  add: (index: string, partition: string, reads: number, writes: number, pattern: string) => void,
): void {
  const entity = entityOf(model, pattern);
  if (!entity) return;
  const each = Math.ceil(entity.bytes / WRITE_BYTES) * pattern.rate;
  for (const { name } of model.indexes) {
    const template = entity.keys[name];
    if (!template) continue;
    const spread = 1 / partitionsOf(model, template.pk);
    const sameVariables = variablesOf(template.pk).join() === variablesOf(entity.keys[TABLE]?.pk ?? "").join();
    add(name, template.pk, 0, each * (sameVariables ? share : spread), pattern.name);
  }
}

export interface Bill {
  requests: number;
  storage: number;
  total: number;
}

export function billOf(model: Model, loads: Load[], prices: Prices = PRICES): Bill {
  const requests = loads.reduce((sum, { month }) => sum + month, 0);
  const storage = (tableBytes(model) / 1024 ** 3) * prices.storageGb;
  return { requests, storage, total: requests + storage };
}
