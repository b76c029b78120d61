// DynamoDB's typed values: what they are, as text, as plain JSON, and how large.

export type Item = { [name: string]: Attribute };
export type Attribute =
  | { S: string }
  | { N: string }
  | { B: string }
  | { BOOL: boolean }
  | { NULL: true }
  | { M: Item }
  | { L: Attribute[] }
  | { SS: string[] }
  | { NS: string[] }
  | { BS: string[] };

export const TYPES = ["S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"] as const;
export type Type = (typeof TYPES)[number];

export const TYPE_NAMES: Record<Type, string> = {
  S: "String",
  N: "Number",
  B: "Binary",
  BOOL: "Boolean",
  NULL: "Null",
  M: "Map",
  L: "List",
  SS: "String set",
  NS: "Number set",
  BS: "Binary set",
};

export function typeOf(attribute: Attribute): Type {
  return Object.keys(attribute)[0] as Type;
}

/** The value without its type. */
export function valueOf(attribute: Attribute): unknown {
  return Object.values(attribute)[0];
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

export function isNumber(text: string): boolean {
  return NUMBER.test(text.trim());
}

function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0;
}

/** A scalar of a type from what a person typed; throws with a sentence that says what is wrong. */
export function scalar(type: Type, text: string): Attribute {
  if (type === "S") return { S: text };
  if (type === "N") {
    if (!isNumber(text)) throw new Error(`${text === "" ? "Nothing" : text} is not a number`);
    return { N: text.trim() };
  }
  if (type === "B") {
    if (!isBase64(text)) throw new Error("Binary values are written in base64");
    return { B: text };
  }
  if (type === "BOOL") return { BOOL: text === "true" };
  if (type === "NULL") return { NULL: true };
  throw new Error(`A ${TYPE_NAMES[type].toLowerCase()} is not a scalar`);
}

/** What an attribute of a new type begins as. */
export function emptyOf(type: Type): Attribute {
  if (type === "M") return { M: {} };
  if (type === "L") return { L: [] };
  if (type === "SS") return { SS: [""] };
  if (type === "NS") return { NS: ["0"] };
  if (type === "BS") return { BS: ["AA=="] };
  if (type === "N") return { N: "0" };
  return scalar(type, type === "BOOL" ? "false" : "");
}

/** Plain JSON with every digit of its numbers: what lib-dynamodb's users are used to see. */
export function plainText(attribute: Attribute): string {
  if ("N" in attribute) return attribute.N;
  if ("NULL" in attribute) return "null";
  if ("M" in attribute) return plainItemText(attribute.M);
  if ("L" in attribute) return `[${attribute.L.map(plainText).join(", ")}]`;
  if ("NS" in attribute) return `[${attribute.NS.join(", ")}]`;
  return JSON.stringify(valueOf(attribute));
}

export function plainItemText(item: Item): string {
  const members = Object.entries(item).map(([name, value]) => `${JSON.stringify(name)}: ${plainText(value)}`);
  return `{${members.join(", ")}}`;
}

const MARK = "\u0001number";
const TOKEN = /"(?:\\.|[^"\\])*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function fromValue(value: unknown): Attribute {
  if (value === null) return { NULL: true };
  if (typeof value === "string") return { S: value };
  if (typeof value === "boolean") return { BOOL: value };
  if (Array.isArray(value)) return { L: value.map(fromValue) };
  const object = value as Record<string, unknown>;
  if (typeof object[MARK] === "string") return { N: object[MARK] };
  return { M: Object.fromEntries(Object.entries(object).map(([name, member]) => [name, fromValue(member)])) };
}

/** Reads plain JSON. Numbers keep every digit: they are marked before the text is parsed. */
export function fromPlainText(text: string): Attribute {
  const marked = text.replace(TOKEN, (token) => (token[0] === '"' ? token : `{${JSON.stringify(MARK)}:"${token}"}`));
  JSON.parse(text); // so that what is wrong is told of the text as it was typed
  return fromValue(JSON.parse(marked));
}

function isTyped(value: unknown): value is Attribute {
  if (typeof value !== "object" || value === null) return false;
  const names = Object.keys(value);
  return names.length === 1 && (TYPES as readonly string[]).includes(names[0]);
}

/** An item from JSON of either kind: typed if every member is, else plain. */
export function itemFromText(text: string): Item {
  const value = JSON.parse(text) as unknown;
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("An item is a JSON object");
  if (Object.keys(value).length > 0 && Object.values(value).every(isTyped)) return value as Item;
  return (fromPlainText(text) as { M: Item }).M;
}

/** Items from a JSON array, or from lines of JSON, each typed, plain, or {"Item": ...} as an export has them. */
export function itemsFromText(text: string): Item[] {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  if (trimmed.startsWith("[")) {
    const list = JSON.parse(trimmed) as unknown[];
    const plain = (fromPlainText(trimmed) as { L: Attribute[] }).L;
    return list.map((value, i) => itemOf(value, plain[i]));
  }
  return trimmed
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "")
    .map((line) => itemOf(JSON.parse(line), fromPlainText(line)));
}

function itemOf(value: unknown, plain: Attribute): Item {
  const object = value as Record<string, unknown>;
  if (Object.keys(object).length === 1 && typeof object.Item === "object") return itemFromText(JSON.stringify(object.Item));
  if (Object.values(object).every(isTyped)) return object as Item;
  return (plain as { M: Item }).M;
}

const encoder = new TextEncoder();

export function textSize(text: string): number {
  return encoder.encode(text).length;
}

function numberSize(text: string): number {
  const digits = text.replace(/e.*$/i, "").replace(/[^0-9]/g, "").replace(/^0+|0+$/g, "").length;
  return Math.min(21, Math.ceil(digits / 2) + 1 + (text.trim().startsWith("-") ? 1 : 0));
}

function bytesSize(base64: string): number {
  return (base64.length / 4) * 3 - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Bytes of a value, as the service counts them: for capacity. */
export function sizeOf(attribute: Attribute): number {
  if ("S" in attribute) return textSize(attribute.S);
  if ("N" in attribute) return numberSize(attribute.N);
  if ("B" in attribute) return bytesSize(attribute.B);
  if ("M" in attribute) return 3 + itemSize(attribute.M) + Object.keys(attribute.M).length;
  if ("L" in attribute) return 3 + sum(attribute.L.map((value) => 1 + sizeOf(value)));
  if ("SS" in attribute) return sum(attribute.SS.map(textSize));
  if ("NS" in attribute) return sum(attribute.NS.map(numberSize));
  if ("BS" in attribute) return sum(attribute.BS.map(bytesSize));
  return 1;
}

export function itemSize(item: Item): number {
  return sum(Object.entries(item).map(([name, value]) => textSize(name) + sizeOf(value)));
}

/** One line for a cell of a table. */
export function brief(attribute: Attribute | undefined, longest = 80): string {
  if (attribute === undefined) return "";
  const text = "S" in attribute ? attribute.S : "B" in attribute ? attribute.B : plainText(attribute);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
