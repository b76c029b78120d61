// The program that asks what the page asks: JavaScript (AWS SDK v3), Python (boto3), AWS CLI.
import { isNumber, typeOf, type Attribute, type Item } from "./attribute";
import { awsCli } from "./shell";

export type Language = "JavaScript" | "Python" | "AWS CLI";
export const LANGUAGES: Language[] = ["JavaScript", "Python", "AWS CLI"];

// Members of requests that hold attributes: the SDK's document client takes these as plain values.
const HOLDS_VALUES = new Set(["ExpressionAttributeValues", "Key", "Item", "ExclusiveStartKey"]);
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

function jsName(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}

function isExact(text: string): boolean {
  return isNumber(text) && Number.isFinite(Number(text)) && String(Number(text)) === text;
}

function jsValue(attribute: Attribute): string {
  switch (typeOf(attribute)) {
    case "N": {
      const { N } = attribute as { N: string };
      return isExact(N) ? N : `NumberValue.from(${JSON.stringify(N)})`;
    }
    case "B":
      return `Buffer.from(${JSON.stringify((attribute as { B: string }).B)}, "base64")`;
    case "NULL":
      return "null";
    case "M":
      return jsItem((attribute as { M: Item }).M);
    case "L":
      return `[${(attribute as { L: Attribute[] }).L.map(jsValue).join(", ")}]`;
    case "SS":
      return `new Set(${JSON.stringify((attribute as { SS: string[] }).SS)})`;
    case "NS":
      return `new Set([${(attribute as { NS: string[] }).NS.map((N) => jsValue({ N })).join(", ")}])`;
    case "BS":
      return `new Set([${(attribute as { BS: string[] }).BS.map((B) => jsValue({ B })).join(", ")}])`;
    default:
      return JSON.stringify(Object.values(attribute)[0]);
  }
}

function jsItem(item: Item): string {
  const members = Object.entries(item).map(([name, value]) => `${jsName(name)}: ${jsValue(value)}`);
  return members.length ? `{ ${members.join(", ")} }` : "{}";
}

function jsPlain(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsPlain).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, member]) => `${jsName(name)}: ${jsPlain(member)}`)
    .join(", ")} }`;
}

const DOCUMENT_COMMANDS = new Set(["Query", "Scan", "GetItem", "PutItem", "UpdateItem", "DeleteItem", "ExecuteStatement"]);

/** lib-dynamodb drops "Item" from the names of its commands. */
function commandName(operation: string): string {
  return `${operation.replace(/^(Get|Put|Update|Delete)Item$/, "$1")}Command`;
}

function javascript(operation: string, request: Record<string, unknown>, endpoint: string): string {
  const command = commandName(operation);
  const members = Object.entries(request).map(([name, value]) => {
    const text =
      name === "Parameters"
        ? `[${(value as Attribute[]).map(jsValue).join(", ")}]`
        : HOLDS_VALUES.has(name)
          ? jsItem(value as Item)
          : jsPlain(value);
    return `  ${name}: ${text},`;
  });
  const paged = operation === "Query" || operation === "Scan";
  const pages = `paginate${operation}`;
  const names = [command, "DynamoDBDocumentClient", ...(members.join().includes("NumberValue") ? ["NumberValue"] : [])];
  const library = paged ? names.map((name) => (name === command ? pages : name)) : names;
  return [
    'import { DynamoDBClient } from "@aws-sdk/client-dynamodb";',
    `import { ${library.sort().join(", ")} } from "@aws-sdk/lib-dynamodb";`,
    "",
    `const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint: ${JSON.stringify(endpoint)}, region: "us-east-1" }));`,
    ...(paged ? [`const pages = ${pages}({ client }, {`] : [`const answer = await client.send(new ${command}({`]),
    ...members,
    ...(paged
      ? ["});", `for await (const page of pages) console.log(${request.Select === "COUNT" ? "page.Count" : "page.Items"});`]
      : ["}));", "console.log(answer);"]),
  ].join("\n");
}

function pyValue(value: unknown): string {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null) return "None";
  if (Array.isArray(value)) return `[${value.map(pyValue).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}: ${pyMember(name, member)}`)
    .join(", ")}}`;
}

/** boto3 takes binary values as bytes. */
function pyMember(name: string, value: unknown): string {
  if (name === "B" && typeof value === "string") return `base64.b64decode(${JSON.stringify(value)})`;
  if (name === "BS" && Array.isArray(value)) return `[${value.map((text) => pyMember("B", text)).join(", ")}]`;
  return pyValue(value);
}

function snake(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}

function python(operation: string, request: Record<string, unknown>, endpoint: string): string {
  const members = Object.entries(request).map(([name, value]) => `${name}=${pyValue(value)},`);
  const paged = operation === "Query" || operation === "Scan";
  const text = members.join("\n");
  return [
    ...(text.includes("base64.") ? ["import base64", ""] : []),
    "import boto3",
    "",
    `client = boto3.client("dynamodb", endpoint_url=${JSON.stringify(endpoint)}, region_name="us-east-1")`,
    ...(paged
      ? [
          `for page in client.get_paginator("${snake(operation)}").paginate(`,
          ...members.map((line) => `    ${line}`),
          "):",
          `    print(page[${request.Select === "COUNT" ? '"Count"' : '"Items"'}])`,
        ]
      : [`answer = client.${snake(operation)}(`, ...members.map((line) => `    ${line}`), ")", "print(answer)"]),
  ].join("\n");
}

export function generate(language: Language, operation: string, request: object, endpoint: string): string {
  const known = request as Record<string, unknown>;
  if (language === "AWS CLI") return awsCli(operation, known, endpoint);
  if (language === "Python") return python(operation, known, endpoint);
  if (!DOCUMENT_COMMANDS.has(operation)) return "";
  return javascript(operation, known, endpoint);
}
