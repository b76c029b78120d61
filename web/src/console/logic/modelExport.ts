// A design as others read it: CreateTable, ElectroDB, NoSQL Workbench.
import type { Item } from "./attribute";
import { isBare, partsOf, TABLE, variablesOf, type Model, type ModelEntity, type ModelIndex } from "./model";
import { createTable, type KeyPart, type NewIndex } from "./tableSchema";

function partsOfIndex(index: ModelIndex): { partition: KeyPart[]; sort: KeyPart[] } {
  return { partition: [{ name: index.pk, type: "S" }], sort: index.sk ? [{ name: index.sk, type: index.skType }] : [] };
}

export function toCreateTable(model: Model): Record<string, unknown> {
  const [table, ...others] = model.indexes;
  const own = partsOfIndex(table);
  const indexes: NewIndex[] = others.map((index) => ({ ...partsOfIndex(index), name: index.name, local: false, projection: "ALL", included: [] }));
  return createTable({
    name: model.table,
    partition: own.partition[0],
    sort: own.sort[0] ?? null,
    indexes,
    billing: "PAY_PER_REQUEST",
    reads: 0,
    writes: 0,
    stream: "",
    protected: false,
  });
}

const ELECTRO_TYPES = { S: "string", N: "number", BOOL: "boolean", M: "any", L: "any" } as const;

/** ElectroDB writes "${name}" as we do; it pads by the attribute, not by the template. */
function electroTemplate(template: string): string {
  return template.replace(/\$\{(\w+):\d+\}/g, "${$1}");
}

function electroKey(field: string, template: string, index: ModelIndex, sort: boolean): string {
  const composite = JSON.stringify(variablesOf(template));
  const text = isBare(template) || (sort && index.skType === "N") ? "" : `, template: ${JSON.stringify(electroTemplate(template))}`;
  return `{ field: ${JSON.stringify(field)}, composite: ${composite}${text}, casing: "none" }`;
}

function padsOf(entity: ModelEntity): Map<string, number> {
  const pads = new Map<string, number>();
  for (const { pk, sk } of Object.values(entity.keys))
    for (const { variable, pad } of [...partsOf(pk), ...partsOf(sk)]) if (variable && pad) pads.set(variable, pad);
  return pads;
}

function identifier(name: string): string {
  return name.replace(/\W+/g, "_").replace(/^(\d)/, "_$1");
}

function electroEntity(model: Model, entity: ModelEntity): string {
  const pads = padsOf(entity);
  const keyed = new Set(variablesOf(Object.values(entity.keys).map(({ pk, sk }) => pk + sk).join("")));
  const attributes = entity.fields.map(({ name, type }) => {
    const padding = pads.has(name) ? `, padding: { length: ${pads.get(name)}, char: "0" }` : "";
    return `    ${name}: { type: "${ELECTRO_TYPES[type]}"${keyed.has(name) ? ", required: true" : ""}${padding} },`;
  });
  const indexes = model.indexes
    .filter(({ name }) => entity.keys[name])
    .map((index) => {
      const { pk, sk } = entity.keys[index.name];
      const name = index.name === TABLE ? "primary" : `by${identifier(index.name)}`;
      return [
        `    ${name}: {`,
        ...(index.name === TABLE ? [] : [`      index: ${JSON.stringify(index.name)},`]),
        `      pk: ${electroKey(index.pk, pk, index, false)},`,
        ...(index.sk ? [`      sk: ${electroKey(index.sk, sk, index, true)},`] : []),
        "    },",
      ].join("\n");
    });
  return [
    `export const ${identifier(entity.name)} = new Entity({`,
    `  model: { entity: ${JSON.stringify(entity.name.toLowerCase())}, version: "1", service: ${JSON.stringify(identifier(model.table))} },`,
    "  attributes: {",
    ...attributes,
    "  },",
    "  indexes: {",
    ...indexes,
    "  },",
    "}, { client, table });",
  ].join("\n");
}

export function toElectroDb(model: Model, endpoint: string): string {
  return [
    'import { DynamoDBClient } from "@aws-sdk/client-dynamodb";',
    'import { Entity } from "electrodb";',
    "",
    `const client = new DynamoDBClient({ endpoint: ${JSON.stringify(endpoint)}, region: "us-east-1" });`,
    `const table = ${JSON.stringify(model.table)};`,
    "",
    ...model.entities.map((entity) => `${electroEntity(model, entity)}\n`),
  ].join("\n");
}

function workbenchKeys(index: ModelIndex): object {
  return {
    PartitionKey: { AttributeName: index.pk, AttributeType: "S" },
    ...(index.sk ? { SortKey: { AttributeName: index.sk, AttributeType: index.skType } } : {}),
  };
}

/** The file that NoSQL Workbench opens (version 3.0), with sample data if there is some. */
export function toWorkbench(model: Model, data: Item[], today: string): Record<string, unknown> {
  const [table, ...others] = model.indexes;
  const keyNames = new Set(model.indexes.flatMap(({ pk, sk }) => [pk, sk]));
  const types = new Map<string, string>();
  for (const index of others) {
    types.set(index.pk, "S");
    if (index.sk) types.set(index.sk, index.skType);
  }
  for (const { fields } of model.entities) for (const { name, type } of fields) if (!types.has(name)) types.set(name, type);
  types.delete(table.pk);
  types.delete(table.sk);
  return {
    ModelName: model.name,
    ModelMetadata: {
      Author: "gametable",
      DateCreated: today,
      DateLastModified: today,
      Description: "",
      AWSService: "Amazon DynamoDB",
      Version: "3.0",
    },
    DataModel: [
      {
        TableName: model.table,
        KeyAttributes: workbenchKeys(table),
        NonKeyAttributes: [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
        TableFacets: model.entities.map((entity) => ({
          FacetName: entity.name,
          KeyAttributeAlias: {
            PartitionKeyAlias: entity.keys[TABLE]?.pk.replace(/\$\{(\w+)(:\d+)?\}/g, "<$1>") ?? "",
            ...(table.sk ? { SortKeyAlias: entity.keys[TABLE]?.sk.replace(/\$\{(\w+)(:\d+)?\}/g, "<$1>") ?? "" } : {}),
          },
          TableData: [],
          NonKeyAttributes: [
            ...others.filter(({ name }) => entity.keys[name]).flatMap(({ pk, sk }) => [pk, sk]),
            ...entity.fields.map(({ name }) => name).filter((name) => !keyNames.has(name)),
          ].filter((name) => name !== "" && name !== table.pk && name !== table.sk),
          DataAccess: { MySql: {} },
        })),
        GlobalSecondaryIndexes: others.map((index) => ({
          IndexName: index.name,
          KeyAttributes: workbenchKeys(index),
          Projection: { ProjectionType: "ALL" },
        })),
        TableData: data,
        DataAccess: { MySql: {} },
        BillingMode: "PAY_PER_REQUEST",
      },
    ],
  };
}
