// A player's rank by Query with Select=COUNT over HTTP, on an index and on the table's own keys: beside one nginx
// worker that answers as many bytes, and how the cost grows with the board.
//
//   node bench/ranks.mjs [--rounds 5] [--seconds 2] [--small 10000] [--large 1000000]
//
// `--large 10000000` is the figure of docs/benchmarks.md; it loads for some minutes.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rawClient } from '../tests/lib/raw.mjs';
import { startServer, temporaryFolder } from '../tests/lib/server.mjs';
import { grouped, median, memory, startNginx, table, wrk as ask } from './common.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    small: { type: 'string', default: '10000' },
    large: { type: 'string', default: '1000000' },
    connections: { type: 'string', default: '32' },
  },
});
const sizes = [Number(options.small), Number(options.large)];
const folder = temporaryFolder();
const { row, end } = table();

// Scores are spread evenly and each is there once. The sort key has the score first, as the leaderboard
// seed has it, so that both the table and the index are in order of score.
const score = (n, size) => (n * 618033989) % size;
const padded = (number) => String(number).padStart(10, '0');
const player = (n, size) => ({
  PK: { S: `LEADERBOARD#${size}` },
  SK: { S: `SCORE#${padded(score(n, size))}#USER#${n}` },
  GSI1PK: { S: `LEADERBOARD#${size}` },
  GSI1SK: { N: String(score(n, size)) },
  name: { S: `player ${n}` },
});

async function createTable(client) {
  const key = (...names) => names.map((AttributeName, i) => ({ AttributeName, KeyType: i ? 'RANGE' : 'HASH' }));
  await client.must('CreateTable', {
    TableName: 'game',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['PK', 'SK', 'GSI1PK', 'GSI1SK'].map((AttributeName, i) => ({ AttributeName, AttributeType: i < 3 ? 'S' : 'N' })),
    KeySchema: key('PK', 'SK'),
    GlobalSecondaryIndexes: [{ IndexName: 'GSI1', KeySchema: key('GSI1PK', 'GSI1SK'), Projection: { ProjectionType: 'KEYS_ONLY' } }],
  });
}

async function load(client, size) {
  let next = 0;
  const worker = async () => {
    while (next < size) {
      const items = [];
      for (; items.length < 25 && next < size; next++) items.push({ PutRequest: { Item: player(next, size) } });
      await client.must('BatchWriteItem', { RequestItems: { game: items } });
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
}

// What stands above a score, by an index or by the table's own keys.
const above = {
  'on an index': (size, s) => ({
    TableName: 'game',
    IndexName: 'GSI1',
    KeyConditionExpression: 'GSI1PK = :pk AND GSI1SK > :s',
    ExpressionAttributeValues: { ':pk': { S: `LEADERBOARD#${size}` }, ':s': { N: String(s) } },
    Select: 'COUNT',
  }),
  "on the table's own keys": (size, s) => ({
    TableName: 'game',
    KeyConditionExpression: 'PK = :pk AND SK > :s',
    ExpressionAttributeValues: { ':pk': { S: `LEADERBOARD#${size}` }, ':s': { S: `SCORE#${padded(s)}#zzz` } },
    Select: 'COUNT',
  }),
};

function asked(name, size) {
  const file = path.join(folder, `${Object.keys(above).indexOf(name)}-${size}.txt`);
  writeFileSync(file, Array.from({ length: 20000 }, (_, i) => `${JSON.stringify(above[name](size, score((i * 7919) % size, size)))}\n`).join(''));
  return { operation: 'Query', file };
}

async function checked(client, name, size) {
  const from = process.hrtime.bigint();
  for (const s of [0, Math.floor(size / 3), size - 1]) {
    const { Count, LastEvaluatedKey } = await client.must('Query', above[name](size, s));
    if (Count !== size - 1 - s || LastEvaluatedKey) throw new Error(`${name}: ${Count} above ${s} of ${size}`);
  }
  return Number(process.hrtime.bigint() - from) / 1e6;
}

const server = await startServer({ data: path.join(folder, 'data'), args: ['--log-level', 'error', '--durability', 'none'] });
const client = rawClient(server.endpoint);
await createTable(client);
for (const size of sizes) await load(client, size);
row('loaded', `${sizes.map(grouped).join(' and ')} players, ${grouped(memory(server.pid).own)} MB of memory`);
const answer = await client.must('Query', above['on an index'](sizes[1], 0));
const nginx = await startNginx(folder, JSON.stringify(answer).length);
const wrk = (endpoint, what) => ask(endpoint, what, { seconds: options.seconds, connections: options.connections });

for (const name of Object.keys(above)) {
  for (const size of sizes) {
    const ms = await checked(client, name, size);
    if (size === sizes[1]) row(`the first three counts ${name}`, `${ms.toFixed(1)} ms among ${grouped(size)}`);
  }
  const [little, much] = sizes.map((size) => asked(name, size));
  const rates = [];
  const ratios = [];
  const growth = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    const base = wrk(nginx.endpoint, little).rate;
    const small = wrk(server.endpoint, little).rate;
    const large = wrk(server.endpoint, much).rate;
    rates.push(large);
    ratios.push(large / base);
    growth.push(small / large);
  }
  row(`a rank by COUNT ${name}`, `${grouped(median(rates))}/s, ${median(ratios).toFixed(2)} of nginx, among ${grouped(sizes[1])}`,
    '0.4 of nginx', median(ratios) >= 0.4);
  row(`its cost from ${grouped(sizes[0])} to ${grouped(sizes[1])}`, `${median(growth).toFixed(2)} times`, 'at most 1.5', median(growth) <= 1.5);
}
client.close();
nginx.stop();
await server.stop();
end();
process.exit(0);
