// What DescribeTable tells, in the shape the pages use; and the requests that make and change tables.
import type { Item } from "./attribute";

export type KeyType = "S" | "N" | "B";

export interface KeyPart {
  name: string;
  type: KeyType;
}

export interface KeySchema {
  partition: KeyPart[]; // one, or of a global index up to four
  sort: KeyPart[];
}

export interface IndexSchema extends KeySchema {
  name: string;
  local: boolean;
  projection: string; // ALL, KEYS_ONLY, INCLUDE
  included: string[];
  status: string;
  backfilling: boolean;
  items: number;
  bytes: number;
}

export interface TableSchema extends KeySchema {
  name: string;
  arn: string;
  status: string;
  created: number; // seconds
  items: number;
  bytes: number;
  billing: string;
  reads: number;
  writes: number;
  stream: string; // view type; "": none
  streamArn: string;
  protected: boolean;
  tableClass: string;
  indexes: IndexSchema[];
}

interface RawKey {
  AttributeName: string;
  KeyType: "HASH" | "RANGE";
}

function keysOf(raw: RawKey[], types: Map<string, KeyType>): KeySchema {
  const part = (kind: string) =>
    raw
      .filter(({ KeyType }) => KeyType === kind)
      .map(({ AttributeName: name }) => ({ name, type: types.get(name) ?? ("S" as const) }));
  return { partition: part("HASH"), sort: part("RANGE") };
}

function indexOf(raw: any, local: boolean, types: Map<string, KeyType>): IndexSchema {
  return {
    ...keysOf(raw.KeySchema, types),
    name: raw.IndexName,
    local,
    projection: raw.Projection?.ProjectionType ?? "ALL",
    included: raw.Projection?.NonKeyAttributes ?? [],
    status: raw.IndexStatus ?? "ACTIVE",
    backfilling: raw.Backfilling === true,
    items: raw.ItemCount ?? 0,
    bytes: raw.IndexSizeBytes ?? 0,
  };
}

/** From the `Table` of DescribeTable. */
export function readTable(raw: any): TableSchema {
  const types = new Map<string, KeyType>((raw.AttributeDefinitions ?? []).map((a: any) => [a.AttributeName, a.AttributeType]));
  return {
    ...keysOf(raw.KeySchema ?? [], types),
    name: raw.TableName,
    arn: raw.TableArn ?? "",
    status: raw.TableStatus,
    created: raw.CreationDateTime ?? 0,
    items: raw.ItemCount ?? 0,
    bytes: raw.TableSizeBytes ?? 0,
    billing: raw.BillingModeSummary?.BillingMode ?? "PROVISIONED",
    reads: raw.ProvisionedThroughput?.ReadCapacityUnits ?? 0,
    writes: raw.ProvisionedThroughput?.WriteCapacityUnits ?? 0,
    stream: raw.StreamSpecification?.StreamEnabled ? raw.StreamSpecification.StreamViewType : "",
    streamArn: raw.LatestStreamArn ?? "",
    protected: raw.DeletionProtectionEnabled === true,
    tableClass: raw.TableClassSummary?.TableClass ?? "STANDARD",
    indexes: [
      ...(raw.GlobalSecondaryIndexes ?? []).map((index: any) => indexOf(index, false, types)),
      ...(raw.LocalSecondaryIndexes ?? []).map((index: any) => indexOf(index, true, types)),
    ],
  };
}

/** The keys of a table, or of one of its indexes. */
export function keysFor(table: TableSchema, index: string): KeySchema {
  return table.indexes.find(({ name }) => name === index) ?? table;
}

export function keyNames(keys: KeySchema): string[] {
  return [...keys.partition, ...keys.sort].map(({ name }) => name);
}

/** The primary key of an item. */
export function keyOf(table: KeySchema, item: Item): Item {
  return Object.fromEntries(keyNames(table).map((name) => [name, item[name]]));
}

export function sameKey(table: KeySchema, a: Item, b: Item): boolean {
  return JSON.stringify(keyOf(table, a)) === JSON.stringify(keyOf(table, b));
}

export function keyText(keys: KeySchema): string {
  const words = (parts: KeyPart[]) => parts.map(({ name, type }) => `${name} (${type})`).join(" + ");
  return keys.sort.length > 0 ? `${words(keys.partition)} · ${words(keys.sort)}` : words(keys.partition);
}

export interface NewIndex {
  name: string;
  local: boolean;
  partition: KeyPart[];
  sort: KeyPart[];
  projection: string;
  included: string[];
}

export interface NewTable {
  name: string;
  partition: KeyPart;
  sort: KeyPart | null;
  indexes: NewIndex[];
  billing: "PAY_PER_REQUEST" | "PROVISIONED";
  reads: number;
  writes: number;
  stream: string;
  protected: boolean;
}

function schemaOf(keys: { partition: KeyPart[]; sort: KeyPart[] }): RawKey[] {
  return [
    ...keys.partition.map(({ name }) => ({ AttributeName: name, KeyType: "HASH" as const })),
    ...keys.sort.map(({ name }) => ({ AttributeName: name, KeyType: "RANGE" as const })),
  ];
}

function definitions(parts: KeyPart[]): { AttributeName: string; AttributeType: KeyType }[] {
  const types = new Map<string, KeyType>();
  for (const { name, type } of parts) if (!types.has(name)) types.set(name, type);
  return [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
}

function projectionOf(index: NewIndex): object {
  return index.projection === "INCLUDE"
    ? { ProjectionType: "INCLUDE", NonKeyAttributes: index.included }
    : { ProjectionType: index.projection };
}

function indexRequest(index: NewIndex, table: Pick<NewTable, "billing" | "reads" | "writes">): object {
  return {
    IndexName: index.name,
    KeySchema: schemaOf(index),
    Projection: projectionOf(index),
    ...(table.billing === "PROVISIONED" && !index.local
      ? { ProvisionedThroughput: { ReadCapacityUnits: table.reads, WriteCapacityUnits: table.writes } }
      : {}),
  };
}

/** The request of CreateTable. */
export function createTable(table: NewTable): Record<string, unknown> {
  const sort = table.sort ? [table.sort] : [];
  const keys = { partition: [table.partition], sort };
  const all = [table.partition, ...sort, ...table.indexes.flatMap((index) => [...index.partition, ...index.sort])];
  const global = table.indexes.filter(({ local }) => !local);
  const local = table.indexes.filter((index) => index.local);
  return {
    TableName: table.name,
    AttributeDefinitions: definitions(all),
    KeySchema: schemaOf(keys),
    BillingMode: table.billing,
    ...(table.billing === "PROVISIONED"
      ? { ProvisionedThroughput: { ReadCapacityUnits: table.reads, WriteCapacityUnits: table.writes } }
      : {}),
    ...(global.length ? { GlobalSecondaryIndexes: global.map((index) => indexRequest(index, table)) } : {}),
    ...(local.length ? { LocalSecondaryIndexes: local.map((index) => indexRequest(index, table)) } : {}),
    ...(table.stream ? { StreamSpecification: { StreamEnabled: true, StreamViewType: table.stream } } : {}),
    ...(table.protected ? { DeletionProtectionEnabled: true } : {}),
  };
}

/** The request of UpdateTable that adds a global index. */
export function addIndex(table: TableSchema, index: NewIndex): Record<string, unknown> {
  const known = [...table.partition, ...table.sort, ...table.indexes.flatMap((other) => [...other.partition, ...other.sort])];
  const billing = table.billing === "PAY_PER_REQUEST" ? "PAY_PER_REQUEST" : "PROVISIONED";
  return {
    TableName: table.name,
    AttributeDefinitions: definitions([...index.partition, ...index.sort, ...known]).filter(({ AttributeName }) =>
      keyNames(index).includes(AttributeName),
    ),
    GlobalSecondaryIndexUpdates: [{ Create: indexRequest(index, { billing, reads: table.reads, writes: table.writes }) }],
  };
}

export function removeIndex(table: TableSchema, name: string): Record<string, unknown> {
  return { TableName: table.name, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: name } }] };
}
