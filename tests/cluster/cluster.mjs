// Three nodes over one endpoint and one Redis, while all of these fail in turn.
//
//   node tests/cluster/cluster.mjs [--seconds 1] [--workers 6] [--players 40] [--rooms 2] [--bots 6] [--rounds 10] [--times 1]
//
// Scores come in through a balancer, each with an idempotency key and sent again until it is answered, while bots
// play in rooms whose players are on different nodes. Meanwhile a node is killed, Redis is killed and
// comes back empty, and the endpoint refuses, throttles, is slow, and answers 500 after having written. A season ends while one
// node's clock is two seconds ahead; at last Redis hangs. Then: nothing acknowledged is lost or counted twice, every match has ended
// once, the season was sealed once and holds what was acknowledged for it, and after two quiet seconds each node
// tells every board's ranking as a sort of its items has it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand, ListStreamsCommand } from '@aws-sdk/client-dynamodb-streams';
import { rawClient } from '../lib/raw.mjs';
import { program, startServer } from '../lib/server.mjs';
import { startRedis, startStore, temporarySecret } from './services.mjs';
import { startBalancer } from './balancer.mjs';
import { startFaultProxy } from './fault_proxy.mjs';

const { values } = parseArgs({ options: {
  seconds: { type: 'string', default: '1' },
  workers: { type: 'string', default: '6' },
  players: { type: 'string', default: '40' },
  rooms: { type: 'string', default: '2' },
  bots: { type: 'string', default: '6' },
  rounds: { type: 'string', default: '10' },
  times: { type: 'string', default: '1' },
} });
const options = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]));
const phase = () => sleep(options.seconds * 1000);
const log = (text) => console.log(`${new Date().toISOString().slice(11, 23)} ${text}`);

// --- what runs ---

let redis = await startRedis();
const store = await startStore();
const proxy = await startFaultProxy(store.endpoint);
const secret = temporarySecret();
const startNode = (http = '127.0.0.1:0') => startServer({
  engine: 'local', // as the test's own library sees it: the arguments say where the data is
  http,
  redis: 'off',
  args: ['--engine', 'dynamodb', '--dynamodb-endpoint', proxy.endpoint, '--dynamodb-region', 'us-east-1', '--rank-redis', redis.address,
    '--token-secret', secret, '--test-clock'],
  env: { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_EC2_METADATA_DISABLED: 'true' },
});
const nodes = [await startNode()];
nodes.push(await startNode(), await startNode());
const balancer = await startBalancer(nodes.map(({ port }) => port));
log(`three nodes at ${nodes.map(({ port }) => port).join(', ')}, balanced at ${balancer.endpoint}`);

async function ask(endpoint, path, { method, body, headers } = {}) {
  const answer = await fetch(`${endpoint}/v1${path}`, {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: { ...(body && { 'Content-Type': 'application/json' }), ...headers },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: answer.status, body: await answer.json().catch(() => ({})) };
}

async function until(what, condition, limit = 120_000) {
  const end = Date.now() + limit;
  for (;;) {
    const found = await condition().catch((error) => (Date.now() > end ? Promise.reject(error) : undefined));
    if (found) return found;
    assert.ok(Date.now() < end, `${what}: not within ${limit / 1000} s`);
    await sleep(50);
  }
}

// --- boards ---

const seasonStarts = new Date(Date.now() - 3600_000);
let seasonEnds; // the season is made when its turn has come
const boards = [
  { id: 'race:best', game: 'race' },
  { id: 'race:sum', game: 'race', keep: 'sum', ranking: 'dense' },
  { id: 'race:low', game: 'race', order: 'low', ranking: 'competition', ties: 'member' },
];
for (const board of boards) assert.equal((await ask(nodes[0].endpoint, '/boards', { body: board })).status, 201);

// --- scores ---

const best = new Map();
const sum = new Map();
const low = new Map();
const inSeason = new Map(); // what was acknowledged for the season, by player
let acknowledged = 0;
let again = 0;
let stopping = false;

function take(player, score, results) {
  acknowledged++;
  best.set(player, Math.max(best.get(player) ?? -Infinity, score));
  sum.set(player, (sum.get(player) ?? 0) + score);
  low.set(player, Math.min(low.get(player) ?? Infinity, score));
  if (results.some(({ board, accepted, reason }) => board === 'race:cup' && (accepted || reason === 'not better')))
    inSeason.set(player, Math.max(inSeason.get(player) ?? -Infinity, score));
}

// Sends the same submission until it is answered: whoever answered it before, it counts once.
async function submit(key, player, score) {
  for (;;) {
    try {
      const { status, body } = await ask(balancer.endpoint, '/games/race/scores', { body: { player, score }, headers: { 'Idempotency-Key': key } });
      if (status === 200 || status === 201) return take(player, score, body.results);
      // A cup that is sealed between two looks refuses all of it: then it is sent again, without the cup.
      assert.ok(status >= 500 || status === 429 || status === 409 || / has ended/.test(body.detail), `${status} ${JSON.stringify(body)}`);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
    }
    again++;
    await sleep(20 + 80 * Math.random());
  }
}

async function work(worker) {
  for (let i = 0; !stopping; i++) await submit(`${worker}-${i}`, `p${Math.floor(Math.random() * options.players)}`, Math.floor(Math.random() * 1000));
}

// --- bots ---

let bots;
let botsPrinted = '';
if (options.rooms) {
  bots = spawn(program, ['play', '--url', balancer.endpoint, '--game', 'kauwa-udd', '--bots', String(options.bots), '--rooms', String(options.rooms),
    '--rounds', String(options.rounds), '--seconds', '1', '--limit', '300'], { stdio: ['ignore', 'pipe', 'pipe'] });
  process.on('exit', () => bots.kill('SIGKILL'));
  bots.stdout.on('data', (part) => { botsPrinted += part; });
  bots.stderr.on('data', (part) => { botsPrinted += part; });
  bots.ended = once(bots, 'exit');
  // Bots come back when a connection ends, but rooms have to be made first, however slow the machine is.
  await until('the bots play', async () => {
    assert.equal(bots.exitCode, null, botsPrinted);
    return (await ask(nodes[0].endpoint, `/rooms?kind=kauwa-udd&status=playing&limit=${options.rooms}`)).body.rooms.length === options.rooms;
  });
  log(`${options.bots} bots play in ${options.rooms} rooms`);
}

// --- bad days ---

async function killNode(at) {
  log(`node ${at} is killed`);
  await nodes[at].stop('SIGKILL');
  await phase();
  nodes[at] = await startNode(`127.0.0.1:${nodes[at].port}`);
  log('and is back');
}

async function killRedis() {
  log('Redis is killed');
  redis.kill();
  await phase();
  redis = await startRedis({ port: redis.port });
  log('and is back, empty');
  await phase();
}

async function badEndpoint(mode) {
  log(`the endpoint: ${mode}`);
  proxy.mode = mode;
  await phase();
  proxy.mode = 'ok';
  await phase();
}

// A season ends while one node's clock is two seconds ahead.
async function endSeason() {
  const ahead = await fetch(`${nodes[2].endpoint}/admin/clock`, { method: 'POST', body: JSON.stringify({ forward: '2s' }) });
  assert.equal(ahead.status, 200);
  seasonEnds = new Date(Date.now() + 10_000 + options.seconds * 1000);
  const cup = { id: 'race:cup', game: 'race', timeframe: 'season', seasons: [{ name: 'one', starts: seasonStarts.toISOString(), ends: seasonEnds.toISOString() }] };
  // A node may still be busy with the endpoint's last fault; what it could not answer it may have done.
  await until('the cup is made', async () => [201, 409].includes((await ask(nodes[0].endpoint, '/boards', { body: cup })).status));
  log(`the cup ends at ${seasonEnds.toISOString()}, one node is 2 s ahead`);
  await sleep(seasonEnds - Date.now() + 1000);
  log('the cup has ended');
}

const workers = Array.from({ length: options.workers }, (_, worker) => work(worker));
Promise.all(workers).catch((error) => { // fails at once
  console.error(error);
  process.exit(1);
});
await phase();
for (let i = 0; i < options.times; i++) {
  await killNode(i % 3);
  await killRedis();
  for (const mode of ['refuse', 'throttle', 'slow', 'fail']) await badEndpoint(mode);
}
await endSeason();

// At last Redis hangs, and nothing is submitted after it goes on: what could not be told it meanwhile only the
// projector can tell it.
log('Redis hangs');
process.kill(redis.pid, 'SIGSTOP');
await phase();
stopping = true;
await Promise.all(workers);
process.kill(redis.pid, 'SIGCONT');
const quiet = Date.now();
log(`and goes on; ${acknowledged} submissions acknowledged, ${again} sent again`);

// --- what is true now ---

const { must } = rawClient(store.endpoint);
async function items(PK) {
  const found = [];
  let ExclusiveStartKey;
  do {
    const page = await must('Query', { TableName: 'gametable', KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': { S: PK } }, ConsistentRead: true, ExclusiveStartKey });
    found.push(...page.Items);
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return found;
}
async function scan(prefix) {
  const found = [];
  let ExclusiveStartKey;
  do {
    const page = await must('Scan', { TableName: 'gametable', FilterExpression: 'begins_with(PK, :p)', ExpressionAttributeValues: { ':p': { S: prefix } }, ConsistentRead: true, ExclusiveStartKey });
    found.push(...page.Items);
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return found;
}

// The entries of a board as its items say, in its order, with ranks.
async function sorted({ id, order = 'high', ranking = 'ordinal' }) {
  const rows = (await items(`BOARD#${id}`)).filter(({ score }) => score).map(({ SK, score, subscore, tie }) => ({
    member: SK.S, score: Number(score.N), subscore: Number(subscore.N), tie: Number(tie.N) }));
  const up = (a, b) => a.score - b.score || a.subscore - b.subscore || a.tie - b.tie || (a.member < b.member ? -1 : 1);
  rows.sort((a, b) => (order === 'high' ? -up(a, b) : up(a, b)));
  let rank = 0;
  rows.forEach((row, i) => {
    const equal = i > 0 && rows[i - 1].score === row.score && rows[i - 1].subscore === row.subscore;
    if (ranking === 'ordinal') rank = i + 1;
    else if (!equal) rank = ranking === 'dense' ? rank + 1 : i + 1;
    row.rank = rank;
  });
  return rows.map(({ member, score, rank: place }) => ({ member, score, rank: place }));
}

async function told(node, id) {
  const rows = [];
  let next = '';
  do {
    const { status, body } = await ask(node.endpoint, `/boards/${encodeURIComponent(id)}/entries?limit=100${next && `&cursor=${encodeURIComponent(next)}`}`);
    assert.equal(status, 200, JSON.stringify(body));
    rows.push(...body.entries.map(({ member, score, rank }) => ({ member, score, rank })));
    next = body.next ?? '';
  } while (next);
  return rows;
}

const boardsNow = [...boards, { id: 'race:cup@one' }];
let right;
for (const board of boardsNow) {
  const expected = await sorted(board);
  assert.ok(expected.length > 0, `${board.id} has entries`);
  for (const [i, node] of nodes.entries()) {
    // Two seconds are promised; a machine that is busy with other tests may take longer.
    for (;;) {
      try {
        assert.deepEqual(await told(node, board.id), expected, `${board.id} at node ${i}`);
        break;
      } catch (error) {
        if (Date.now() - quiet > 120_000) throw error;
        await sleep(50);
      }
    }
  }
  right = Date.now() - quiet;
}
const scoresOf = async (id) => new Map((await sorted({ id })).map(({ member, score }) => [member, score]));
const same = (found, expected, what) => assert.deepEqual([...found].sort(), [...expected].sort(), what);
same(await scoresOf('race:best'), best, 'the best of each player is the best that was acknowledged');
same(await scoresOf('race:low'), low, 'the least likewise');
same(await scoresOf('race:sum'), sum, 'every score counts once');
same(await scoresOf('race:cup@one'), inSeason, 'the cup holds what was acknowledged for it');
log(`${boardsNow.length} boards are as their items say, at each node, ${right} ms after Redis went on`);

// --- the season, by the table's own stream: all that was ever written, in order ---

const changes = new DynamoDBStreamsClient({ endpoint: store.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } });
const { Streams: [{ StreamArn }] } = await changes.send(new ListStreamsCommand({ TableName: 'gametable' }));
const { StreamDescription: { Shards } } = await changes.send(new DescribeStreamCommand({ StreamArn }));
assert.equal(Shards.length, 1, 'one order of all writes');
async function readSeason() {
  const found = { seals: 0, late: 0, final: [] };
  let { ShardIterator } = await changes.send(new GetShardIteratorCommand({ StreamArn, ShardId: Shards[0].ShardId, ShardIteratorType: 'TRIM_HORIZON' }));
  for (let read = 1; read > 0;) {
    const { Records, NextShardIterator } = await changes.send(new GetRecordsCommand({ ShardIterator, Limit: 1000 }));
    for (const { dynamodb: { Keys, NewImage, OldImage } } of Records) {
      if (NewImage?.sealedAt && !OldImage?.sealedAt && JSON.stringify(Keys).includes('race:cup@one')) {
        found.seals++;
        found.final = NewImage.final.L.map(({ M }) => ({ member: M.member.S, score: Number(M.score.N), rank: Number(M.rank.N) }));
      }
      if (found.seals && Keys.PK.S === 'BOARD#race:cup@one' && NewImage?.score?.N !== OldImage?.score?.N) found.late++;
    }
    read = Records.length;
    ShardIterator = NextShardIterator;
  }
  return found;
}
await until('the cup is sealed', async () => (await readSeason()).seals);
await sleep(1000); // for one that would come twice
const { seals, late, final } = await readSeason();
changes.destroy();
assert.equal(seals, 1, 'the cup was sealed once');
assert.equal(late, 0, 'no score slipped in behind the seal');
assert.deepEqual(final, (await sorted({ id: 'race:cup@one' })).slice(0, final.length), 'its final standings are those of its items');
log('the cup was sealed once, with its final standings, and nothing came after');

if (bots) {
  const [code] = await bots.ended;
  assert.equal(code, 0, `every bot has seen its match end: ${botsPrinted.replace(/^.*\r/gm, '').trim()}`);
  const matches = await scan('MATCH#');
  const metas = (await scan('ROOM#')).filter(({ SK }) => SK.S === 'META');
  assert.equal(metas.length, options.rooms);
  assert.equal(matches.length, options.rooms, 'each match was recorded once');
  assert.ok(metas.every(({ status, match }) => status.S === 'over' && match.N === '1'), 'every match has ended, once');
  log(`${options.rooms} rooms with ${options.bots} bots over three nodes: every match ended once`);
}
balancer.stop();
await Promise.all(nodes.map((node) => node.stop()));
proxy.stop();
await redis.stop();
assert.equal((await store.stop()) ?? 0, 0);
log('ok');
