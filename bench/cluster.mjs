// The engine over DynamoDB and Redis: what a submission costs at the endpoint, what it adds to the endpoint's own
// time, how nodes add up, and how quickly and in how much memory a ranking is built.
//
//   node bench/cluster.mjs [--entries 200000] [--latency 10] [--seconds 5] [--only building] [--rounds 1]
//
// --only building leaves out what comes before it; --rounds builds the ranking so many times, and tells the best and
// the processor time of all.
// The endpoint is a gametable in memory behind a stub that answers each request so many milliseconds later; the
// ranking is Debian's redis-server. All of it runs on this machine.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { parseArgs } from 'node:util';
import { rawClient } from '../tests/lib/raw.mjs';
import { startServer } from '../tests/lib/server.mjs';
import { startFaultProxy } from '../tests/cluster/fault_proxy.mjs';
import { startRedis, temporarySecret } from '../tests/cluster/services.mjs';
import { grouped, sleep, table } from './common.mjs';

const { values } = parseArgs({ options: {
  entries: { type: 'string', default: '200000' },
  latency: { type: 'string', default: '10' },
  seconds: { type: 'string', default: '5' },
  only: { type: 'string' },
  rounds: { type: 'string', default: '1' },
} });
const entries = Number(values.entries);
const latency = Number(values.latency);
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const { row, end } = table();

const redis = await startRedis();
const store = await startServer({ engine: 'local', game: false, redis: 'off' });
const stub = await startFaultProxy(store.endpoint, { units: true });
const secret = temporarySecret();
const startNode = (endpoint) => startServer({
  engine: 'local',
  redis: 'off',
  args: ['--engine', 'dynamodb', '--dynamodb-endpoint', endpoint, '--dynamodb-region', 'us-east-1', '--rank-redis', redis.address, '--token-secret', secret],
  env: { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_EC2_METADATA_DISABLED: 'true' },
});

function client(endpoint, connections) {
  const { hostname, port } = new URL(endpoint);
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  return (path, body) => new Promise((resolve, reject) => {
    const text = body && JSON.stringify(body);
    const request = http.request({ hostname, port, agent, path: `/v1${path}`, method: body ? 'POST' : 'GET',
      headers: body && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) } }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () => resolve({ status: answer.statusCode, body: JSON.parse(Buffer.concat(parts)) }));
    });
    request.on('error', reject);
    request.end(text);
  });
}

async function askRedis(line) {
  const socket = net.connect(redis.port, '127.0.0.1');
  socket.write(`${line}\r\n`);
  let text = '';
  for (;;) {
    text += (await once(socket, 'data'))[0];
    if (text.endsWith('\r\n')) break;
  }
  socket.destroy();
  return text;
}

// Seconds of the processor that a process has used.
const busy = (pid) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').slice(13, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0);
const percentile = (times, share) => [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))];

// So many at a time, for a while; resolves to the times in milliseconds.
async function run(once_, { at, ms }) {
  const times = [];
  const stop = performance.now() + ms;
  await Promise.all(Array.from({ length: at }, async (_, worker) => {
    for (let i = 0; performance.now() < stop; i++) {
      const began = performance.now();
      await once_(worker, i);
      times.push(performance.now() - began);
    }
  }));
  return times;
}

let rising = 1000;

// --- what a submission costs ---

async function cost(ask, game, goal) {
  const number = 200;
  let score = 1;
  const submit = async (player) => {
    const { status, body } = await ask(`/games/${game}/scores`, { player, score: score++ });
    if (status !== 200 && status !== 201) throw new Error(JSON.stringify(body));
  };
  for (let i = 0; i < 20; i++) await submit(`p${i}`);
  await sleep(300);
  const before = { counts: new Map(stub.counts), units: new Map(stub.units) };
  for (let i = 0; i < number; i++) await submit(`p${i % 20}`);
  const of = (map, was, name) => ((map.get(name) ?? 0) - (was.get(name) ?? 0)) / number;
  const told = ['PutItem', 'UpdateItem', 'TransactWriteItems', 'GetItem', 'BatchGetItem', 'TransactGetItems', 'Query']
    .map((name) => [name, of(stub.counts, before.counts, name), of(stub.units, before.units, name)]).filter(([, count]) => count > 0.005);
  const writes = told.filter(([name]) => /^(Put|Update|Transact)(Item|WriteItems)/.test(name)).reduce((sum, [, count]) => sum + count, 0);
  row(`requests of an improvement on ${game} board${game === 'one' ? '' : 's'}`, told.map(([name, count]) => `${count.toFixed(2)} ${name}`).join(', '),
    goal, writes <= 1.02 && (game !== 'one' || of(stub.counts, before.counts, 'TransactWriteItems') === 0));
  row('  its capacity units', told.map(([name, , units]) => `${units.toFixed(2)} ${name}`).join(', '));
}

// --- what it adds ---

async function added(ask) {
  stub.latency = latency;
  const raw = rawClient(stub.endpoint);
  await raw.must('CreateTable', { TableName: 'plain', BillingMode: 'PAY_PER_REQUEST', AttributeDefinitions: [{ AttributeName: 'k', AttributeType: 'S' }], KeySchema: [{ AttributeName: 'k', KeyType: 'HASH' }] });
  const own = await run((worker, i) => raw.must('PutItem', { TableName: 'plain', Item: { k: { S: `${worker}-${i}` } } }), { at: 4, ms: seconds * 1000 });
  await run((worker) => ask('/games/one/scores', { player: `w${worker}`, score: rising++ }), { at: 4, ms: 500 });
  const submitted = await run((worker) => ask('/games/one/scores', { player: `w${worker}`, score: rising++ }), { at: 4, ms: seconds * 1000 });
  row(`a PutItem at the endpoint (${latency} ms)`, `p50 ${percentile(own, 0.5).toFixed(1)} ms, p99 ${percentile(own, 0.99).toFixed(1)} ms`);
  row('a submission with ranks, two reads and a write', `p50 ${percentile(submitted, 0.5).toFixed(1)} ms, p99 ${percentile(submitted, 0.99).toFixed(1)} ms`);
  const more = (share) => percentile(submitted, share) - 3 * percentile(own, share);
  row('  added to three requests of the endpoint', `p50 ${more(0.5).toFixed(1)} ms, p99 ${more(0.99).toFixed(1)} ms`);
  raw.close();
}

async function submissions() {
  const node = await startNode(stub.endpoint);
  const ask = client(node.endpoint, 64);
  const boards = { one: ['one:a'], four: ['four:a', 'four:b', 'four:c', 'four:d'] };
  for (const [game, ids] of Object.entries(boards)) for (const id of ids) await ask('/boards', { id, game });
  await cost(ask, 'one', 'one write, no transaction');
  await cost(ask, 'four', 'one transaction');
  await added(ask);
  await node.stop();
}

// --- nodes ---

async function manyNodes() {
  const nodes = [];
  const base = {};
  for (let count = 1; count <= 3; count++) {
    nodes.push(await startNode(stub.endpoint));
    stub.latency = 50; // each node has 24 submissions under way: what bounds it is waiting, not this machine
    const asks = nodes.map(({ endpoint }) => client(endpoint, 24));
    const times = await run((worker) => asks[worker % count]('/games/one/scores', { player: `n${worker}`, score: rising++ }), { at: 24 * count, ms: seconds * 1000 });
    const rate = times.length / seconds;
    base.rate ??= rate;
    row(`${count} node${count > 1 ? 's' : ''}, 24 under way each, endpoint at 50 ms`, `${grouped(rate)} submissions/s`, count > 1 ? `${(count * 0.85).toFixed(2)} times one` : undefined,
      count > 1 ? rate >= base.rate * count * 0.85 : undefined);
  }
  await Promise.all(nodes.map((node) => node.stop()));
  stub.latency = 0;
  const node = await startNode(store.endpoint);
  const ask = client(node.endpoint, 8);
  const spent = { node: busy(node.pid), redis: busy(redis.pid) };
  const quick = await run((worker) => ask('/games/one/scores', { player: `q${worker}`, score: rising++ }), { at: 8, ms: seconds * 1000 });
  row('processor time of a submission', `node ${((busy(node.pid) - spent.node) / quick.length * 1e3).toFixed(2)} ms, Redis ${((busy(redis.pid) - spent.redis) / quick.length * 1e3).toFixed(2)} ms`);
  await node.stop();
}

// --- building ---

async function fill(direct) {
  for (let i = 0; i < entries; i += 25 * 40)
    await Promise.all(Array.from({ length: 40 }, (_, part) => {
      const from = i + part * 25;
      if (from >= entries) return undefined;
      const items = Array.from({ length: Math.min(25, entries - from) }, (__, at) => ({ PutRequest: { Item: {
        PK: { S: 'BOARD#large:all' }, SK: { S: `player-${from + at}` }, score: { N: String((from + at) * 7919 % 1000003) }, subscore: { N: '0' }, tie: { N: String(-1_790_000_000_000 - from - at) },
        at: { N: '1790000000000' }, plays: { N: '1' }, v: { S: `${1_790_000_000_000_000 + from + at}-00000000` } } } }));
      return direct.must('BatchWriteItem', { RequestItems: { gametable: items } });
    }));
}

// How long until the ranking that Redis has lost is whole again, in seconds.
async function rebuilt(look) {
  const began = performance.now();
  for (;;) {
    const { body } = await look('/boards/large:all/entries?limit=1');
    if (body.total === entries) return (performance.now() - began) / 1000;
    await sleep(10);
  }
}

// Waits until the stream has told the nodes of all that was written: none of it is applied while a ranking is built.
async function quiet(pid) {
  for (let before = busy(pid), still = 0; still < 3;) {
    await sleep(500);
    still = busy(pid) - before < 0.03 ? still + 1 : 0;
    before = busy(pid);
  }
}

async function building() {
  const direct = rawClient(store.endpoint);
  const node = await startNode(store.endpoint);
  const look = client(node.endpoint, 8);
  await look('/boards', { id: 'large:all', game: 'large' });
  await fill(direct);
  await quiet(node.pid);
  const memory = async () => Number(/used_memory:(\d+)/.exec(await askRedis('INFO memory'))[1]);
  const processes = { node: node.pid, endpoint: store.pid, Redis: redis.pid };
  const spent = { node: 0, endpoint: 0, Redis: 0 };
  const times = [];
  let used;
  for (let round = 0; round < rounds; round++) {
    await askRedis('FLUSHALL SYNC');
    used = await memory();
    const idle = Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, busy(pid)]));
    times.push(await rebuilt(look));
    for (const [name, pid] of Object.entries(processes)) spent[name] += busy(pid) - idle[name];
  }
  const rate = entries / Math.min(...times);
  row(`a ranking of ${grouped(entries)} built from its items`, `${grouped(rate)} entries/s`, '100,000', rate >= 100_000);
  row('  processor time for a million', Object.entries(spent).map(([name, seconds_]) => `${name} ${(seconds_ / rounds / entries * 1e6).toFixed(1)} s`).join(', '));
  await quiet(redis.pid);
  row('memory a member in Redis', `${(((await memory()) - used) / entries).toFixed(0)} bytes`);
  await node.stop();
  direct.close();
}

if (values.only !== 'building') {
  await submissions();
  await manyNodes();
}
await building();
stub.stop();
await store.stop();
await redis.stop();
end();
process.exit(0);
