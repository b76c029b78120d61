// A million items end within a minute, evenly, while GetItem goes on: how much of its rate it keeps,
// and how late items go.
//
//   node bench/expire.mjs [--items 1000000] [--minute 60] [--seconds 5]
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rawClient } from '../tests/lib/raw.mjs';
import { root, startServer, temporaryFolder } from '../tests/lib/server.mjs';

const { values: options } = parseArgs({
  options: {
    items: { type: 'string', default: '1000000' },
    minute: { type: 'string', default: '60' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
  },
});
const items = Number(options.items);
const minute = Number(options.minute);
const readable = 10000;
const folder = temporaryFolder();
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

const server = await startServer({ data: path.join(folder, 'data'), args: ['--log-level', 'error', '--test-clock'] });
const client = rawClient(server.endpoint);
const table = 'game';
await client.must('CreateTable', {
  TableName: table,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: ['PK', 'SK', 'GSI1PK', 'GSI1SK'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'GSI1',
      KeySchema: [{ AttributeName: 'GSI1PK', KeyType: 'HASH' }, { AttributeName: 'GSI1SK', KeyType: 'RANGE' }],
      Projection: { ProjectionType: 'ALL' },
    },
  ],
});
await client.must('UpdateTimeToLive', { TableName: table, TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true } });

const start = Math.floor(Date.now() / 1000) + 7 * 24 * 3600; // the first ends a week from now
const click = (n) => ({
  PK: { S: `ROOM#${n % 50000}` },
  SK: { S: `CLICK#${n}` },
  GSI1PK: { S: `USER#${n % 20000}` },
  GSI1SK: { S: `CLICK#${n}` },
  reaction: { N: String(n % 1000) },
  ttl: { N: String(start + Math.floor((n * minute) / items)) },
});
const player = (n) => ({ PK: { S: `USER#${n}` }, SK: { S: 'PROFILE' }, name: { S: `player ${n}` }, bio: { S: 'x'.repeat(120) } });

async function load(make, count) {
  let next = 0;
  await Promise.all(Array.from({ length: 32 }, async () => {
    while (next < count) {
      const requests = [];
      for (; requests.length < 25 && next < count; next++) requests.push({ PutRequest: { Item: make(next) } });
      await client.must('BatchWriteItem', { RequestItems: { [table]: requests } });
    }
  }));
}

const file = path.join(folder, 'gets.txt');
writeFileSync(file, Array.from({ length: 2000 }, (_, i) => {
  const { PK, SK } = player((i * 2654435761) % readable);
  return JSON.stringify({ TableName: table, Key: { PK, SK } });
}).join('\n') + '\n');
// The rate of GetItem over some seconds; the rest of this program goes on meanwhile.
const getItem = () => new Promise((resolve, reject) => {
  const child = spawn('wrk', ['-t1', `-c${options.connections}`, `-d${options.seconds}s`, '-s', path.join(root, 'bench/wrk.lua'),
    `${server.endpoint}/`, '--', 'GetItem', file]);
  let printed = '';
  child.stdout.on('data', (part) => { printed += part; });
  child.on('error', reject);
  child.on('exit', () => {
    const found = /RESULT (\S+) (\d+) (\d+) (\d+)/.exec(printed);
    if (!found || Number(found[4]) > 0) reject(new Error(`GetItem failed\n${printed}`));
    else resolve({ rate: Number(found[1]), p99: Number(found[3]) });
  });
});

const from = Date.now();
await load(player, readable);
await load(click, items);
console.log(`${items} items loaded in ${((Date.now() - from) / 1000).toFixed(0)} s`);
await getItem();
const quiet = [];
for (let i = 0; i < 3; i++) quiet.push(await getItem());

// To two seconds before the first ends.
const admin = async (what, body) => {
  const answer = await client.send(body, {}, 'POST', `/admin/${what}`);
  if (answer.status !== 200) throw new Error(answer.body.toString());
  return JSON.parse(answer.body);
};
const shift = start * 1000 - Date.now() - 2000;
const { forward_ms: moved } = await admin('clock', JSON.stringify({ forward: `${shift}ms` }));
const serverSecond = () => (Date.now() + moved) / 1000;

let late = 0, watching = true;
const watch = (async () => {
  while (watching) {
    const due = Math.floor(serverSecond() - 1); // what ended a whole second ago must be gone
    const gone = Math.max(0, Math.min(items, Math.floor(((due - start + 1) * items) / minute)));
    const { Table } = await client.must('DescribeTable', { TableName: table });
    late = Math.max(late, Table.ItemCount - readable - (items - gone));
    await sleep(200);
  }
})();
const busy = [];
while (serverSecond() < start + minute - Number(options.seconds)) busy.push(await getItem());
while (serverSecond() < start + minute + 1) await sleep(50);
const { Table } = await client.must('DescribeTable', { TableName: table });
watching = false;
await watch;

const rate = (runs) => median(runs.map((run) => run.rate));
const kept = rate(busy) / rate(quiet);
const row = (what, figure, wanted, ok) => console.log(`${ok ? 'ok  ' : 'MISS'} ${what.padEnd(58)} ${figure}   (wanted ${wanted})`);
row(`GetItem while ${items} items expire in ${minute} s`,
  `${Math.round(rate(busy))}/s of ${Math.round(rate(quiet))}/s, ${kept.toFixed(2)}, p99 ${median(busy.map((run) => run.p99))} us of ${median(quiet.map((run) => run.p99))} us`,
  '0.5', kept >= 0.5);
row('items still there a second after their time, at most', String(late), '0', late <= 0);
row('items left a second after the last one', String(Table.ItemCount - readable), '0', Table.ItemCount === readable);
client.close();
await server.stop();
process.exit(0);
