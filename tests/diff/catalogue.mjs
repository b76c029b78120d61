// The catalogue: hand-made requests in cases/*.mjs, the answers we stand by in golden/*.json.
//
// A file of cases exports
//   tables   CreateTable inputs, made before its first case,
//   items    { table: [item, ...] }, put there,
//   cases    { name: [operation, input] or [[operation, input], ...] }, run in their order.
// An input that is text is sent as it stands.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { normalAnswer } from './normal.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));

export async function loadFiles(only) {
  const names = readdirSync(path.join(here, 'cases')).filter((name) => name.endsWith('.mjs')).sort()
    .map((name) => name.slice(0, -4)).filter((name) => !only || name === only);
  return Promise.all(names.map(async (name) => ({ name, ...(await import(`./cases/${name}.mjs`)) })));
}

const goldenPath = (name) => path.join(here, 'golden', `${name}.json`);
export const readGolden = (name) => JSON.parse(readFileSync(goldenPath(name), 'utf8'));
export function writeGolden(name, answers) {
  const lines = Object.entries(answers).map(([title, steps]) =>
    `  ${JSON.stringify(title)}: [\n${steps.map((step) => `    ${JSON.stringify(step)}`).join(',\n')}\n  ]`);
  writeFileSync(goldenPath(name), `{\n${lines.join(',\n')}\n}\n`);
}

export const stepsOf = (found) => (Array.isArray(found[0]) ? found : [found]);

async function must(target, operation, input) {
  const { status, json } = await target.call(operation, input);
  if (status !== 200) throw new Error(`${target.name}: ${operation}: ${JSON.stringify(json)}`);
  return json;
}

// A change of a table has come to its end: it and its indexes are there, or it is gone.
async function settled(target, TableName) {
  for (;;) {
    const { status, json } = await target.call('DescribeTable', { TableName });
    if (status !== 200) return;
    const { TableStatus, GlobalSecondaryIndexes = [] } = json.Table;
    if (TableStatus === 'ACTIVE' && GlobalSecondaryIndexes.every((index) => index.IndexStatus === 'ACTIVE')) return;
    await sleep(5);
  }
}

async function prepare(target, { tables = [], items = {} }) {
  for (const input of tables) {
    await must(target, 'CreateTable', input);
    await settled(target, input.TableName);
  }
  for (const [TableName, list] of Object.entries(items))
    for (const Item of list) await must(target, 'PutItem', { TableName, Item });
}

async function clear(target) {
  const { TableNames } = await must(target, 'ListTables', {});
  for (const TableName of TableNames) {
    await target.call('UpdateTable', { TableName, DeletionProtectionEnabled: false });
    await target.call('DeleteTable', { TableName });
  }
  while ((await must(target, 'ListTables', {})).TableNames.length) await sleep(20);
}

const changes = new Set(['CreateTable', 'UpdateTable', 'DeleteTable']);

// Runs a file's cases against a target; resolves to { name: [answer, ...] }.
export async function runFile(target, file) {
  await clear(target);
  await prepare(target, file);
  const answers = {};
  for (const [name, found] of Object.entries(file.cases)) {
    answers[name] = [];
    for (const [operation, input] of stepsOf(found)) {
      const answer = await target.call(operation, input);
      answers[name].push(normalAnswer(operation, answer));
      if (answer.status === 200 && changes.has(operation)) await settled(target, answer.json.TableDescription.TableName);
      if (answer.status !== 0) continue;
      if (!target.restart) throw new Error(`${target.name} did not survive ${operation} ${JSON.stringify(input)}`);
      await target.restart();
      await prepare(target, file);
    }
  }
  return answers;
}
