// From a form to the request of Query or Scan.
import { scalar, type Attribute, type Item, type Type } from "./attribute";
import type { KeyPart, TableSchema } from "./tableSchema";
import { keysFor } from "./tableSchema";

export const KEY_OPERATORS = ["=", "<", "<=", ">", ">=", "between", "begins_with"] as const;
export type KeyOperator = (typeof KEY_OPERATORS)[number];

export const FILTER_OPERATORS = [
  "=",
  "<>",
  "<",
  "<=",
  ">",
  ">=",
  "between",
  "in",
  "begins_with",
  "contains",
  "not contains",
  "exists",
  "not exists",
  "is of type",
  "size =",
  "size <",
  "size >",
] as const;
export type FilterOperator = (typeof FILTER_OPERATORS)[number];

export interface SortCondition {
  operator: KeyOperator;
  value: string;
  second: string;
}

export interface Filter {
  name: string; // a path: "stats.best", "tags[0]"
  operator: FilterOperator;
  type: Type;
  value: string;
  second: string;
}

export interface Question {
  kind: "query" | "scan";
  index: string; // "": the table itself
  partition: string[]; // a value for each partition attribute
  sort: SortCondition[]; // one for each sort attribute; an empty value is no condition
  filters: Filter[];
  join: "AND" | "OR";
  descending: boolean;
  limit: number; // 0: as much as the service gives
  projection: string[];
  count: boolean;
  consistent: boolean;
}

export interface Asked {
  operation: "Query" | "Scan";
  request: Record<string, unknown>;
}

export function newQuestion(): Question {
  return {
    kind: "scan",
    index: "",
    partition: [""],
    sort: [],
    filters: [],
    join: "AND",
    descending: false,
    limit: 50,
    projection: [],
    count: false,
    consistent: false,
  };
}

export function newFilter(): Filter {
  return { name: "", operator: "=", type: "S", value: "", second: "" };
}

/** Whether an operator takes a value, and a second one. */
export function operands(operator: string): 0 | 1 | 2 {
  if (operator === "exists" || operator === "not exists") return 0;
  return operator === "between" ? 2 : 1;
}

/** Gives names and values their placeholders; the same one twice gets one placeholder. */
class Placeholders {
  readonly names: Record<string, string> = {};
  readonly values: Item = {};

  /** A path: each part by itself, with its positions. */
  path(path: string): string {
    return path
      .split(".")
      .map((part) => {
        const [, name, positions] = /^([^[]*)((?:\[\d+\])*)$/.exec(part) ?? [];
        if (name === undefined || name === "") throw new Error(`"${path}" is not the path of an attribute`);
        return this.name(name) + positions;
      })
      .join(".");
  }

  name(name: string): string {
    const found = Object.entries(this.names).find(([, known]) => known === name);
    if (found) return found[0];
    const placeholder = `#n${Object.keys(this.names).length}`;
    this.names[placeholder] = name;
    return placeholder;
  }

  value(value: Attribute): string {
    const text = JSON.stringify(value);
    const found = Object.entries(this.values).find(([, known]) => JSON.stringify(known) === text);
    if (found) return found[0];
    const placeholder = `:v${Object.keys(this.values).length}`;
    this.values[placeholder] = value;
    return placeholder;
  }
}

function keyCondition(part: KeyPart, condition: SortCondition, holders: Placeholders): string {
  const name = holders.name(part.name);
  const value = holders.value(scalar(part.type, condition.value));
  if (condition.operator === "between")
    return `${name} BETWEEN ${value} AND ${holders.value(scalar(part.type, condition.second))}`;
  if (condition.operator === "begins_with") return `begins_with(${name}, ${value})`;
  return `${name} ${condition.operator} ${value}`;
}

function keyConditions(table: TableSchema, question: Question, holders: Placeholders): string {
  const keys = keysFor(table, question.index);
  const partition = keys.partition.map((part, i) => {
    const value = question.partition[i] ?? "";
    if (value === "") throw new Error(`A query needs a value of ${part.name}`);
    return keyCondition(part, { operator: "=", value, second: "" }, holders);
  });
  const sort = keys.sort.flatMap((part, i) => {
    const condition = question.sort[i];
    return condition && condition.value !== "" ? [keyCondition(part, condition, holders)] : [];
  });
  return [...partition, ...sort].join(" AND ");
}

function filterText(filter: Filter, holders: Placeholders): string {
  const path = holders.path(filter.name);
  const one = (text = filter.value) => holders.value(scalar(filter.type, text));
  switch (filter.operator) {
    case "between":
      return `${path} BETWEEN ${one()} AND ${one(filter.second)}`;
    case "in":
      return `${path} IN (${filter.value.split(",").map((text) => one(text.trim())).join(", ")})`;
    case "begins_with":
      return `begins_with(${path}, ${one()})`;
    case "contains":
      return `contains(${path}, ${one()})`;
    case "not contains":
      return `NOT contains(${path}, ${one()})`;
    case "exists":
      return `attribute_exists(${path})`;
    case "not exists":
      return `attribute_not_exists(${path})`;
    case "is of type":
      return `attribute_type(${path}, ${holders.value({ S: filter.value })})`;
    case "size =":
    case "size <":
    case "size >":
      return `size(${path}) ${filter.operator.slice(5)} ${holders.value(scalar("N", filter.value))}`;
    default:
      return `${path} ${filter.operator} ${one()}`;
  }
}

/** Throws with a sentence for a person when the form is not whole. */
export function ask(table: TableSchema, question: Question): Asked {
  const holders = new Placeholders();
  const query = question.kind === "query";
  const condition = query ? keyConditions(table, question, holders) : "";
  const filter = question.filters
    .filter(({ name }) => name !== "")
    .map((one) => filterText(one, holders))
    .join(` ${question.join} `);
  const projection = question.projection.map((path) => holders.path(path)).join(", ");
  return {
    operation: query ? "Query" : "Scan",
    request: {
      TableName: table.name,
      ...(question.index ? { IndexName: question.index } : {}),
      ...(query ? { KeyConditionExpression: condition } : {}),
      ...(filter ? { FilterExpression: filter } : {}),
      ...(projection && !question.count ? { ProjectionExpression: projection } : {}),
      ...(Object.keys(holders.names).length ? { ExpressionAttributeNames: holders.names } : {}),
      ...(Object.keys(holders.values).length ? { ExpressionAttributeValues: holders.values } : {}),
      ...(query && question.descending ? { ScanIndexForward: false } : {}),
      ...(question.limit > 0 && !question.count ? { Limit: question.limit } : {}),
      ...(question.count ? { Select: "COUNT" } : {}),
      ...(question.consistent ? { ConsistentRead: true } : {}),
    },
  };
}
