// Tables, as the console's pages ask for them.
import { readTable, type TableSchema } from "./logic/tableSchema";
import { ddb } from "./server";

export async function tableNames(): Promise<string[]> {
  const names: string[] = [];
  let start: string | undefined;
  do {
    const page = await ddb<{ TableNames: string[]; LastEvaluatedTableName?: string }>("ListTables", {
      Limit: 100,
      ...(start ? { ExclusiveStartTableName: start } : {}),
    });
    names.push(...page.TableNames);
    start = page.LastEvaluatedTableName;
  } while (start);
  return names;
}

export async function describeTable(name: string): Promise<TableSchema> {
  return readTable((await ddb("DescribeTable", { TableName: name })).Table);
}

const AT_ONCE = 8;

/** All of them, a few at a time. */
export async function allTables(): Promise<TableSchema[]> {
  const names = await tableNames();
  const tables: TableSchema[] = [];
  for (let at = 0; at < names.length; at += AT_ONCE)
    tables.push(...(await Promise.all(names.slice(at, at + AT_ONCE).map(describeTable))));
  return tables;
}

export interface TimeToLive {
  on: boolean;
  attribute: string;
}

export async function timeToLive(name: string): Promise<TimeToLive> {
  const { TimeToLiveDescription: told } = await ddb("DescribeTimeToLive", { TableName: name });
  return { on: /^ENABL/.test(told?.TimeToLiveStatus ?? ""), attribute: told?.AttributeName ?? "" };
}
