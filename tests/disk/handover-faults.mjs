// Makes one file operation of a start fail, for each in turn, where that start has to hand over so many items that they become
// a table of their own (src/store/table_writer.c).
//
//   node tests/disk/handover-faults.mjs   ALL=1: every one; ONLY="sync 3,read 7": these; else CASES=16 drawn by SEED
//
// The start may be refused with a sentence. Reading the table's end is the one place where Debian's build of the database ends
// the process instead: that is counted and told. The next start, in any case, must have all items, and so must the one after it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { program } from '../lib/server.mjs';
import { rawClient } from '../lib/raw.mjs';
import { createTable, itemOf, randomFrom, table } from './load.mjs';
import { Control, scratchFolder, startShimmed } from './shim.mjs';

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const only = process.env.ONLY?.split(',').map((one) => one.trim());
const random = randomFrom(seed);
const folder = scratchFolder();
const items = 10000; // more than LIMIT_TABLE_FROM
const each = 25;
const version = 7;
const assertion = /BlockBasedTableIterator::key\(\) const: Assertion `Valid\(\)' failed/;
console.log(`SEED=${seed} ${process.env.ALL ? 'ALL=1' : only ? `ONLY=${only}` : `CASES=${process.env.CASES ?? 16}`}`);

// What is only in the log: the server was killed before its write buffer was full.
const base = path.join(folder, 'base');
async function makeBase() {
  mkdirSync(base);
  const server = await startShimmed({ data: base });
  const client = rawClient(server.endpoint);
  await createTable(client);
  for (let from = 0; from < items; from += each)
    await client.must('BatchWriteItem', { RequestItems: { [table]: Array.from({ length: each }, (_, i) =>
      ({ PutRequest: { Item: itemOf(`item-${from + i}`, version) } })) } });
  await server.stop('SIGKILL');
  client.close();
}

async function countAll(client) {
  let count = 0;
  for (let key; ;) {
    const page = await client.must('Scan', { TableName: table, Select: 'COUNT', ...(key ? { ExclusiveStartKey: key } : {}) });
    count += page.Count;
    key = page.LastEvaluatedKey;
    if (!key) return count;
  }
}

async function checkAll(server) {
  const client = rawClient(server.endpoint);
  assert.equal(await countAll(client), items);
  for (let i = 0; i < items; i += items / 10) {
    const item = itemOf(`item-${i}`, version);
    const { Item } = await client.must('GetItem', { TableName: table, Key: { pk: item.pk, sk: item.sk } });
    assert.deepEqual(Item, item);
  }
  client.close();
}

let places = 0;
let aborted = 0;
let refused = 0;
async function run(fault) {
  const place = path.join(folder, `case-${++places}`);
  const data = path.join(place, 'data');
  mkdirSync(place);
  cpSync(base, data, { recursive: true });
  const control = new Control(path.join(place, 'control'));
  if (fault) control.fail(fault.kind, fault.at, fault.error);
  try {
    const server = await startShimmed({ data, control });
    await server.stop('SIGKILL');
  } catch (error) {
    if (assertion.test(error.message)) aborted++;
    else assert.match(error.message, /^gametable ended \([12]\): .*gametable: \w.*/s, error.message);
    refused++;
  }
  const counts = control.counts();
  control.heal();
  for (let i = 0; i < 2; i++) {
    const server = await startShimmed({ data, control });
    await checkAll(server);
    await server.stop();
  }
  const verified = spawnSync(program, ['verify', '--data', data], { encoding: 'utf8' });
  assert.equal(verified.status, 0, `${verified.stdout}${verified.stderr}`);
  control.close();
  rmSync(place, { recursive: true });
  return counts;
}

await makeBase();
const counts = await run();
const cases = Object.entries(counts).flatMap(([kind, count]) =>
  Array.from({ length: count + 1 }, (_, i) => ({ kind, at: i + 1, error: 'EIO' })));
console.log(`${cases.length} faults in a start with ${Object.entries(counts).map(([kind, count]) => `${kind} ${count}`).join(', ')}`);
const chosen = process.env.ALL ? cases
  : only ? cases.filter(({ kind, at }) => only.includes(`${kind} ${at}`))
    : Array.from({ length: Number(process.env.CASES ?? 16) }, () => cases[random(cases.length)]);
let next = 0;
let wrong = 0;
async function work() {
  while (next < chosen.length) {
    const fault = chosen[next++];
    try {
      await run(fault);
    } catch (error) {
      wrong++;
      console.log(`  ${fault.kind} ${fault.at}: ${error.message}`);
    }
  }
}
await Promise.all([work(), work()]);
console.log(`handover-faults: ${chosen.length} made, ${refused} starts refused, ${aborted} of them ended by the database's assertion, ${wrong} wrong`);
process.exitCode = wrong === 0 ? 0 : 1;
