// The figures of the server, side by side with nginx and dynalite in one run.
//
//   node bench/serve.mjs [--rounds 5] [--seconds 3] [--large 1000000]
//
// Each round asks every contestant in turn, so that a noisy moment hits all of them; the figure is
// the median of the rounds and the ratio is the median of the rounds' ratios.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rawClient } from '../tests/lib/raw.mjs';
import { program, root, startServer, temporaryFolder } from '../tests/lib/server.mjs';
import { median, startNginx, wrk as ask } from './common.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    small: { type: 'string', default: '10000' },
    large: { type: 'string', default: '1000000' },
    connections: { type: 'string', default: '32' },
  },
});
const rounds = Number(options.rounds);
const small = Number(options.small);
const large = Number(options.large);
const folder = temporaryFolder();


// --- the data: a room with its players and clicks, and a board, at two sizes ---

const pad = (number) => String(number).padStart(8, '0');
const player = (board, n) => ({
  PK: { S: `LB#daily#${board}` },
  SK: { S: `USER#${pad(n)}` },
  GSI1PK: { S: `LB#daily#${board}` },
  GSI1SK: { N: String((n * 7919) % 1000003) },
  name: { S: `player ${n}` },
  level: { N: String(n % 100) },
  wins: { N: String(n % 1000) },
  updated: { S: '2026-01-01T00:00:00Z' },
});
const lobby = (room, n) => ({
  PK: { S: `ROOM#${room}` },
  SK: { S: `PLAYER#${pad(n)}` },
  name: { S: `player ${n}` },
  colour: { S: '#3B82F6' },
  position: { N: String(n % 100) },
  ready: { BOOL: true },
  joined: { S: '2026-01-01T00:00:00Z' },
});
// What each of ten players did in a round.
const click = (room, n) => ({
  PK: { S: `ROOM#${room}` },
  SK: { S: `CLICK#${pad(Math.floor(n / 10))}#player${n % 10}` },
  reaction: { N: String(200 + ((n * 7919) % 800)) },
  right: { BOOL: n % 3 === 0 },
  ttl: { N: '4102444800' },
});

async function createTable(client) {
  await client.must('CreateTable', {
    TableName: 'game',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'PK', AttributeType: 'S' },
      { AttributeName: 'SK', AttributeType: 'S' },
      { AttributeName: 'GSI1PK', AttributeType: 'S' },
      { AttributeName: 'GSI1SK', AttributeType: 'N' },
    ],
    KeySchema: [
      { AttributeName: 'PK', KeyType: 'HASH' },
      { AttributeName: 'SK', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'GSI1',
        KeySchema: [
          { AttributeName: 'GSI1PK', KeyType: 'HASH' },
          { AttributeName: 'GSI1SK', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  });
}

async function load(client, make, count) {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const items = [];
      for (; items.length < 25 && next < count; next++) items.push({ PutRequest: { Item: make(next) } });
      await client.must('BatchWriteItem', { RequestItems: { game: items } });
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
}

// --- what is asked ---

function bodies(name, make, count = 20000) {
  const file = path.join(folder, `${name}.txt`);
  writeFileSync(file, Array.from({ length: count }, (_, i) => JSON.stringify(make(i))).join('\n') + '\n');
  return file;
}
const any = (n, of) => (n * 2654435761) % of;
const getItem = (size) => ({
  operation: 'GetItem',
  file: bodies(`get-${size}`, (i) => {
    const { PK, SK } = player(size, any(i, size));
    return { TableName: 'game', Key: { PK, SK } };
  }),
});
const queryRoom = (name, size, prefix) => ({
  operation: 'Query',
  file: bodies(`${name}-${size}`, (i) => ({
    TableName: 'game',
    KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
    ExpressionAttributeValues: { ':pk': { S: `ROOM#${size}` }, ':sk': { S: prefix(i) } },
  })),
});
const queryLobby = (size) => queryRoom('lobby', size, (i) => `PLAYER#${pad(any(i, size)).slice(0, 7)}`);
const queryClicks = (size) => queryRoom('clicks', size, (i) => `CLICK#${pad(any(i, size / 10))}#`);
const queryTop = (size) => ({
  operation: 'Query',
  file: bodies(`top-${size}`, () => ({
    TableName: 'game',
    IndexName: 'GSI1',
    KeyConditionExpression: 'GSI1PK = :pk',
    ExpressionAttributeValues: { ':pk': { S: `LB#daily#${size}` } },
    ScanIndexForward: false,
    Limit: 20,
  }), 1),
});
const countAbove = (size) => ({
  operation: 'Query',
  file: bodies(`rank-${size}`, (i) => ({
    TableName: 'game',
    IndexName: 'GSI1',
    KeyConditionExpression: 'GSI1PK = :pk AND GSI1SK > :s',
    ExpressionAttributeValues: { ':pk': { S: `LB#daily#${size}` }, ':s': { N: String(any(i, 1000003)) } },
    Select: 'COUNT',
  })),
});
// Each player is put twice in turn with another figure: a put that changes nothing is not written.
const putItem = (size) => ({
  operation: 'PutItem',
  file: bodies(`put-${size}`, (i) => ({
    TableName: 'game',
    Item: { ...player(size, any(i % 10000, size)), wins: { N: String(i) } },
  })),
});
// Every player counts as known and every score as better, so that the condition holds each time.
const updateItem = (size) => ({
  operation: 'UpdateItem',
  file: bodies(`update-${size}`, (i) => {
    const { PK, SK } = player(size, any(i, size));
    return {
      TableName: 'game',
      Key: { PK, SK },
      UpdateExpression: 'SET GSI1SK = :s ADD wins :one',
      ConditionExpression: 'attribute_exists(PK) AND #l <= :max',
      ExpressionAttributeNames: { '#l': 'level' },
      ExpressionAttributeValues: { ':s': { N: String(any(i, 1000003)) }, ':one': { N: '1' }, ':max': { N: '100' } },
    };
  }),
});

// A player is paid, the room takes note, and a third item must be there.
const transact = (size) => ({
  operation: 'TransactWriteItems',
  file: bodies(`transact-${size}`, (i) => {
    const { PK, SK } = player(size, any(i, size));
    const room = lobby(size, any(i + 7, size));
    const other = player(size, any(i + 1, size));
    return {
      ClientRequestToken: '@'.repeat(36),
      TransactItems: [
        {
          Update: {
            TableName: 'game',
            Key: { PK, SK },
            UpdateExpression: 'ADD wins :one',
            ConditionExpression: 'attribute_exists(PK)',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
        },
        { Put: { TableName: 'game', Item: { ...room, position: { N: String(i) } } } },
        { ConditionCheck: { TableName: 'game', Key: { PK: other.PK, SK: other.SK }, ConditionExpression: 'attribute_exists(PK)' } },
      ],
    };
  }),
});

const wrk = (endpoint, what, seconds = options.seconds) => ask(endpoint, what, { seconds, connections: options.connections });

// --- the contestants ---

async function startDynalite() {
  const { default: dynalite } = await import(path.join(root, 'tests/node_modules/dynalite/index.js')).catch(() => ({}));
  if (!dynalite) return undefined;
  const script = `const d=require('${root}/tests/node_modules/dynalite')({createTableMs:0});d.listen(0,'127.0.0.1',()=>console.log(d.address().port))`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => child.kill('SIGTERM'));
  const port = await new Promise((resolve) => child.stdout.once('data', (data) => resolve(Number(data))));
  return { endpoint: `http://127.0.0.1:${port}`, stop: () => child.kill('SIGTERM') };
}

const residentMb = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

// From exec to the first answer of /healthz.
async function startTime(data) {
  const from = process.hrtime.bigint();
  const server = await startServer({ data, args: ['--log-level', 'error'] });
  const client = rawClient(server.endpoint);
  const { status } = await client.send('', {}, 'GET', '/healthz');
  const ms = Number(process.hrtime.bigint() - from) / 1e6;
  if (status !== 200) throw new Error('not healthy');
  client.close();
  return { ms, server };
}

// --- the run ---

const rows = [];
const row = (what, figure, wanted, ok) => {
  rows.push({ what, figure, wanted, ok });
  console.log(`${ok === undefined ? '    ' : ok ? 'ok  ' : 'MISS'} ${what.padEnd(58)} ${figure}${wanted ? `   (wanted ${wanted})` : ''}`);
};

async function idle() {
  const times = [];
  let memory;
  for (let i = 0; i < 5; i++) {
    const { ms, server } = await startTime(temporaryFolder());
    memory = residentMb(server.pid);
    times.push(ms);
    await server.stop();
  }
  row('start on an empty folder, exec to first answer', `${median(times).toFixed(0)} ms`, 'under 150 ms', median(times) < 150);
  row('resident memory of an empty server', `${memory.toFixed(1)} MB`, 'under 40 MB', memory < 40);
}

async function main() {
  console.log(`gametable: ${execFileSync(program, ['version'], { encoding: 'utf8' }).trim()}, ${options.connections} connections, ` +
    `median of ${rounds} alternating rounds of ${options.seconds} s`);
  await idle();

  const data = path.join(folder, 'data');
  let server = await startServer({ data, args: ['--log-level', 'error'] });
  let client = rawClient(server.endpoint);
  await createTable(client);
  let from = Date.now();
  const board = 100000;
  for (const size of new Set([small, board, large])) await load(client, (n) => player(size, n), size);
  for (const size of [small, large]) await load(client, (n) => lobby(size, n), size);
  await load(client, (n) => click(small, n), small);
  const items = small + board + large + small + large + small;
  row('load over BatchWriteItem, durable', `${Math.round(items / ((Date.now() - from) / 1000))} items a second`);

  const sample = (await client.must('GetItem', JSON.parse(readFileSync(getItem(small).file, 'utf8').split('\n')[0])));
  const nginx = await startNginx(folder, JSON.stringify(sample).length);
  const ping = { operation: 'GetItem', file: getItem(small).file };

  const asked = [
    ['GetItem of a 200-byte item', getItem(small), 0.8],
    ['Query of a lobby (10 items)', queryLobby(small), 0.5],
    ["Query of a round's clicks in a room (10 items)", queryClicks(small), 0.5],
    ['PutItem, durable', putItem(small), 0.45],
    ['UpdateItem with a condition, durable', updateItem(small), 0.45],
    ['TransactWriteItems of three items, durable', transact(small), 0.3],
    ['Query of the top 20 of 100,000 on a global index', queryTop(board), 0.55],
    ['Query COUNT above a score among 100,000', countAbove(board), 0.75],
  ];
  for (const [, what] of asked) wrk(server.endpoint, what, 1); // warm up
  const seen = asked.map(() => ({ rate: [], ratio: [], p50: [], p99: [] }));
  const base = [];
  for (let round = 0; round < rounds; round++) {
    for (const [i, [, what]] of asked.entries()) {
      const reference = wrk(nginx.endpoint, ping);
      const mine = wrk(server.endpoint, what);
      base.push(reference.rate);
      seen[i].rate.push(mine.rate);
      seen[i].ratio.push(mine.rate / reference.rate);
      seen[i].p50.push(mine.p50);
      seen[i].p99.push(mine.p99);
    }
  }
  row("one nginx worker, return 200 of GetItem's size", `${Math.round(median(base))}/s`);
  for (const [i, [name, , wanted]] of asked.entries()) {
    const ratio = median(seen[i].ratio);
    row(name, `${Math.round(median(seen[i].rate))}/s, ${ratio.toFixed(2)} of nginx, p50 ${median(seen[i].p50)} us, p99 ${median(seen[i].p99)} us`,
      wanted && `${wanted} of nginx`, wanted === undefined ? undefined : ratio >= wanted);
  }

  const growth = [
    ['GetItem', getItem], ['Query of a lobby', queryLobby], ['PutItem', putItem],
    ['UpdateItem', updateItem], ['Query of the top 20', queryTop], ['Query COUNT', countAbove],
  ];
  for (const [name, make] of growth) {
    const ratios = [];
    wrk(server.endpoint, make(large), 1);
    for (let round = 0; round < rounds; round++) {
      const little = wrk(server.endpoint, make(small));
      const much = wrk(server.endpoint, make(large));
      ratios.push(little.rate / much.rate);
    }
    row(`${name}: cost at ${large} items against ${small}`, `${median(ratios).toFixed(2)} times`, 'under 1.33', median(ratios) < 1.33);
  }

  const rival = await startDynalite();
  if (rival) {
    const rivalClient = rawClient(rival.endpoint);
    await createTable(rivalClient);
    await load(rivalClient, (n) => player(small, n), 2000);
    for (const [name, what] of [['PutItem', putItem(small)], ['UpdateItem', { ...updateItem(small), file: bodies('update-known', (i) => {
      const { PK, SK } = player(small, i % 2000);
      return { TableName: 'game', Key: { PK, SK }, UpdateExpression: 'SET GSI1SK = :s ADD wins :one', ConditionExpression: 'attribute_exists(PK) AND #l <= :max', ExpressionAttributeNames: { '#l': 'level' }, ExpressionAttributeValues: { ':s': { N: String(any(i, 1000003)) }, ':one': { N: '1' }, ':max': { N: '100' } } };
    }) }]]) {
      const ratios = [];
      for (let round = 0; round < 3; round++) {
        const theirs = wrk(rival.endpoint, what);
        ratios.push(wrk(server.endpoint, what).rate / theirs.rate);
      }
      row(`${name}, durable, against dynalite in memory`, `${median(ratios).toFixed(1)} times`, '10 times', median(ratios) >= 10);
    }
    rivalClient.close();
    rival.stop();
  }

  row('resident memory with the data loaded', `${residentMb(server.pid).toFixed(0)} MB for ${items} items`);
  client.close();
  await server.stop();
  nginx.stop();

  // Starting with 1,000,000 items and one index is measured on a folder that holds just that.
  for (const size of [large / 4, large]) {
    const only = path.join(folder, `only-${size}`);
    server = await startServer({ data: only, args: ['--log-level', 'error'] });
    client = rawClient(server.endpoint);
    await createTable(client);
    await load(client, (n) => player(size, n), size);
    client.close();
    await server.stop();
    const times = [];
    for (let i = 0; i < 3; i++) {
      const { ms, server: again } = await startTime(only);
      times.push(ms);
      await again.stop();
    }
    row(`start with ${size} items and one global index`, `${median(times).toFixed(0)} ms`,
      size === large ? 'under 1500 ms' : undefined, size === large ? median(times) < 1500 : undefined);
  }
  const missed = rows.filter(({ ok }) => ok === false).length;
  console.log(missed ? `${missed} figures missed` : 'all figures reached');
}

await main();
process.exit(0);
