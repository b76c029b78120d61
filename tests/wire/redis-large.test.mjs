// Sets of any size: STORE forms, RENAME, COPY, MOVE and DEL replace them in one step as readers see it, other front ends find
// them where the table says, and what a SIGKILL interrupts is the old key or the new one, with nothing left behind.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import test, { after, before } from 'node:test';
import { DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { connect, decode, encode, plain, replyEnd } from '../redis/resp.mjs';
import { restClient } from '../lib/rest.mjs';
import { remoteEngine, startServer, temporaryFolder } from '../lib/server.mjs';

const LARGE = 101000; // one commit has at most 100,000,
const MID = 5000; // and removes at most 4,000
const skip = remoteEngine ? 'the engine has no generations' : false;
const range = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function until(condition, what) {
  const end = Date.now() + 120000;
  while (!(await condition())) {
    assert.ok(Date.now() < end, what);
    await pause(50);
  }
}
const dynamo = (server) => new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
async function fill(client, key, count, command = 'ZADD') {
  const names = range(count, (i) => `m${i}`);
  for (let i = 0; i < count; i += 5000)
    await client.ask(command, key, ...names.slice(i, i + 5000).flatMap((name, j) => (command === 'SADD' ? [name] : [String(i + j), name])));
}
// How many items there are in each partition that begins so, once what belongs to no key is deleted.
async function partitions(db, ...prefixes) {
  await until(async () => (await db.send(new QueryCommand({ TableName: 'gametable', KeyConditionExpression: 'PK = :p', ConsistentRead: true,
    ExpressionAttributeValues: { ':p': { S: 'KEYGARBAGE' } } }))).Count === 0, 'notes of garbage are left');
  const found = new Map();
  let ExclusiveStartKey;
  do {
    const page = await db.send(new ScanCommand({ TableName: 'gametable', ProjectionExpression: 'PK', ExclusiveStartKey }));
    for (const { PK } of page.Items)
      if (!PK.S.startsWith('BOARDDEF#') && prefixes.some((prefix) => PK.S.startsWith(prefix))) found.set(PK.S, (found.get(PK.S) ?? 0) + 1);
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return found;
}
const many = async (each, commands) => (await each.pipeline(commands)).map((reply) => plain(decode(reply)));
const state = async (db, name) => (await db.send(new GetItemCommand({
  TableName: 'gametable', Key: { PK: { S: `INSTANCE#${name}` }, SK: { S: 'STATE' } }, ConsistentRead: true }))).Item;

let server, client, db;
before(async () => {
  server = await startServer();
  client = await connect(server.redisPort);
  db = dynamo(server);
  await fill(client, 'big', LARGE);
  await client.ask('ZRANGESTORE', 'mid', 'big', '0', String(MID - 1));
});
after(async () => {
  client.close();
  db.destroy();
  assert.equal(await server.stop(), 0);
});

// Has `ask` run while others read the key: they see one of two sizes, and never the old one after the new one.
async function whileRead(key, sizes, ask) {
  const reader = await connect(server.redisPort);
  let over = false;
  const watch = (async () => {
    let at = 0;
    while (!over) {
      const size = await reader.ask('ZCARD', key);
      const now = sizes.indexOf(size, at);
      assert.ok(now >= 0, `${key} has ${size} members, which is none of ${sizes} from ${at} on`);
      at = now;
    }
  })();
  const answer = await ask();
  over = true;
  await watch;
  assert.equal(await reader.ask('ZCARD', key), sizes[sizes.length - 1]);
  reader.close();
  return answer;
}

test('COPY, RENAME, RENAMENX and MOVE carry sets of any size, and replace such', { skip }, async () => {
  await client.ask('ZADD', 'target', '1', 'old');
  assert.equal(await whileRead('target', [1, LARGE], () => client.ask('COPY', 'big', 'target', 'REPLACE')), 1);
  assert.equal(await client.ask('ZREVRANK', 'target', 'm7'), LARGE - 8);
  assert.deepEqual(await client.ask('ZRANGE', 'target', '-2', '-1', 'WITHSCORES'),
    [`m${LARGE - 2}`, String(LARGE - 2), `m${LARGE - 1}`, String(LARGE - 1)]);
  assert.equal(await client.ask('ZADD', 'big', '-5', 'one more'), 1);
  assert.equal(await whileRead('target', [LARGE, LARGE + 1], () => client.ask('COPY', 'big', 'target', 'REPLACE')), 1);
  assert.equal(await client.ask('ZREM', 'big', 'one more'), 1);
  await client.ask('PEXPIREAT', 'target', '4102444800000');
  assert.equal(await client.ask('RENAMENX', 'target', 'big'), 0);
  assert.equal(await client.ask('RENAME', 'target', 'renamed'), 'OK');
  assert.deepEqual(await many(client, [['EXISTS', 'target'], ['ZCARD', 'renamed'], ['PEXPIRETIME', 'renamed'], ['TYPE', 'renamed']]),
    [0, LARGE + 1, 4102444800000, 'zset']);
  assert.equal(await client.ask('ZADD', 'target', '3', 'new'), 1);
  assert.deepEqual(await client.ask('ZRANGE', 'target', '0', '-1', 'WITHSCORES'), ['new', '3']);
  assert.equal(await client.ask('MOVE', 'renamed', '3'), 1);
  assert.deepEqual(await many(client, [['EXISTS', 'renamed'], ['SELECT', '3'], ['ZCARD', 'renamed'], ['DBSIZE'], ['FLUSHDB'], ['DBSIZE'], ['SELECT', '0']]),
    [0, 'OK', LARGE + 1, 1, 'OK', 0, 'OK']);
  assert.deepEqual((await client.ask('KEYS', '*')).sort(), ['big', 'mid', 'target']);
  await client.ask('DEL', 'target');
});

test('STORE forms write and replace sets of any size', { skip }, async () => {
  await client.ask('ZADD', 'few', '5', 'm1', '6', 'nobody');
  assert.equal(await client.ask('ZUNIONSTORE', 'union', '2', 'big', 'few'), LARGE + 1);
  assert.deepEqual(await client.ask('ZMSCORE', 'union', 'm1', 'nobody', 'm9'), ['6', '6', '9']);
  assert.equal(await client.ask('ZINTERSTORE', 'union', '2', 'big', 'union', 'AGGREGATE', 'MAX'), LARGE);
  assert.equal(await client.ask('ZDIFFSTORE', 'union', '2', 'big', 'few'), LARGE - 1);
  assert.equal(await client.ask('ZRANGESTORE', 'union', 'big', '10', '-1'), LARGE - 10);
  assert.equal(await client.ask('ZRANK', 'union', 'm10'), 0);
  assert.equal(await client.ask('ZUNIONSTORE', 'union', '1', 'few'), 2);
  assert.deepEqual(await client.ask('ZRANGE', 'union', '0', '-1'), ['m1', 'nobody']);
  assert.equal(await client.ask('ZUNIONSTORE', 'union', '1', 'nothing'), 0);
  assert.equal(await client.ask('EXISTS', 'union'), 0);
  await fill(client, 'set', LARGE, 'SADD');
  assert.equal(await client.ask('SADD', 'some', 'a', 'm5'), 2);
  assert.equal(await client.ask('SUNIONSTORE', 'sets', 'set', 'some'), LARGE + 1);
  assert.equal(await client.ask('SDIFFSTORE', 'sets', 'sets', 'some'), LARGE - 1);
  assert.deepEqual(await client.ask('SMISMEMBER', 'sets', 'a', 'm5', 'm6'), [0, 0, 1]);
  assert.equal(await client.ask('RENAME', 'sets', 'others'), 'OK');
  assert.deepEqual(await many(client, [['SCARD', 'others'], ['EXISTS', 'sets'], ['SREM', 'others', 'm6'], ['SCARD', 'others']]), [LARGE - 1, 0, 1, LARGE - 2]);
  assert.equal(await client.ask('ZINTERSTORE', 'others', '2', 'big', 'others', 'WEIGHTS', '1', '0'), LARGE - 2);
  assert.equal(await client.ask('TYPE', 'others'), 'zset');
  await client.ask('DEL', 'others', 'set', 'some', 'few');
});

test('between MULTI and EXEC, and in scripts, large keys are replaced as well, and later commands see and change what was written', { skip }, async () => {
  const exec = async (...commands) => (await many(client, [['MULTI'], ...commands, ['EXEC']])).at(-1);
  const last = `m${LARGE - 1}`;
  await client.ask('ZADD', 'target', '1', 'old');
  assert.deepEqual(await whileRead('target', [1, LARGE], () => exec(['ZUNIONSTORE', 'tmp', '1', 'big'], ['ZCARD', 'tmp'], ['ZADD', 'tmp', '-1', 'new', '2.5', 'm1'], ['ZREM', 'tmp', 'm0', 'nobody'],
    ['ZRANGE', 'tmp', '0', '2', 'WITHSCORES'], ['ZREVRANK', 'tmp', last], ['RENAME', 'tmp', 'target'], ['EXISTS', 'tmp'], ['ZSCORE', 'target', 'm1'], ['ZEXPIRE', 'target', '5000', 'MEMBERS', '1', 'm3'],
    ['EXPIRE', 'target', '1000'], ['TYPE', 'target'], ['SET', 'done', 'yes'])),
  [LARGE, LARGE, 1, 1, ['new', '-1', 'm2', '2', 'm1', '2.5'], 0, 'OK', 0, '2.5', [1], 1, 'zset', 'OK']);
  assert.deepEqual(await many(client, [['ZCARD', 'target'], ['ZMSCORE', 'target', 'm0', 'm1', 'm3', 'new', last], ['EXISTS', 'tmp'], ['GET', 'done'], ['ZTTL', 'target', 'MEMBERS', '1', 'm4']]),
    [LARGE, [null, '2.5', '3', '-1', String(LARGE - 1)], 0, 'yes', [-1]]);
  const [[ends], ttl] = await many(client, [['ZTTL', 'target', 'MEMBERS', '1', 'm3'], ['TTL', 'target']]);
  assert.ok(ends > 4900 && ends <= 5000 && ttl > 900 && ttl <= 1000, `${ends} ${ttl}`);
  // Nothing is left of what a later command has removed again.
  assert.deepEqual(await exec(['COPY', 'big', 'never'], ['DEL', 'never'], ['COPY', 'mid', 'never'], ['UNLINK', 'never'], ['ZADD', 'never', '1', 'a'], ['DEL', 'target']), [1, 1, 1, 1, 1, 1]);
  assert.deepEqual(await many(client, [['ZRANGE', 'never', '0', '-1'], ['DEL', 'never'], ['EXISTS', 'target']]), [['a'], 1, 0]);
  // Sets and hashes.
  await fill(client, 'set', LARGE, 'SADD');
  await client.ask('HSET', 'hash', ...range(MID, (i) => [`f${i}`, `v${i}`]).flat());
  assert.deepEqual(await exec(['SUNIONSTORE', 'copy', 'set'], ['SADD', 'copy', 'more', 'm1'], ['SREM', 'copy', 'm0'], ['SISMEMBER', 'copy', 'm0'], ['SCARD', 'copy'], ['RENAME', 'copy', 'copied'],
    ['SMISMEMBER', 'copied', 'm0', last, 'more'], ['COPY', 'hash', 'hash2'], ['HSET', 'hash2', 'f1', 'other', 'g', '1'], ['HDEL', 'hash2', 'f2'], ['HLEN', 'hash2'], ['HGET', 'hash2', 'f1']),
  [LARGE, 1, 1, 0, LARGE, 'OK', [0, 1, 1], 1, 1, 1, MID, 'other']);
  assert.deepEqual(await many(client, [['SCARD', 'copied'], ['SMISMEMBER', 'copied', 'm0', last, 'more'], ['EXISTS', 'copy'], ['HMGET', 'hash2', 'f0', 'f1', 'f2', 'g'], ['HLEN', 'hash2'], ['HGET', 'hash', 'f1']]),
    [LARGE, [0, 1, 1], 0, ['v0', 'other', null, '1'], MID, 'v1']);
  // A script; of a smaller set, since its time is bounded.
  assert.equal(await client.ask('EVAL', `redis.call('ZUNIONSTORE', KEYS[2], 1, KEYS[1]); redis.call('ZADD', KEYS[2], 9e9, 'top')
    redis.call('RENAME', KEYS[2], KEYS[3]); return redis.call('ZREVRANGE', KEYS[3], 0, 0)[1] .. redis.call('ZCARD', KEYS[3])`, '3', 'mid', 'tmp', 'scripted'), `top${MID + 1}`);
  assert.deepEqual(await many(client, [['ZCARD', 'scripted'], ['EXISTS', 'tmp'], ['DEL', 'scripted', 'copied', 'hash2', 'hash', 'set', 'done']]), [MID + 1, 0, 6]);
  assert.deepEqual([...(await partitions(db, 'BOARD', 'KEY#')).keys()].filter((pk) => !/^BOARD(~[0-9a-f]+)?#(big|mid)$/.test(pk)), []);
});

test('a large set that is written to all the time is renamed: its writers wait for a moment, and no write is lost', { skip }, async () => {
  assert.equal(await client.ask('COPY', 'big', 'live'), 1);
  const script = "return redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])";
  const ways = [(c, n) => c.ask('ZADD', 'live', String(n), `plain${n}`), (c, n) => c.ask('EVAL', script, '1', 'live', String(n), `script${n}`),
    async (c, n) => (await many(c, [['MULTI'], ['ZADD', 'live', String(n), `multi${n}`], ['EXEC']])).at(-1)[0]];
  let over = false, longest = 0;
  const writers = ways.map(async (write) => {
    const own = await connect(server.redisPort);
    let count = 0;
    for (; !over; count++) {
      const begin = performance.now();
      assert.equal(await write(own, count), 1);
      longest = Math.max(longest, performance.now() - begin);
    }
    own.close();
    return count;
  });
  // What is changed and removed counts as well, up to the moment when the set is another.
  const edits = [async (c) => { for (let sum = 5, next; ; sum = next) if ((next = Number(await c.ask('ZINCRBY', 'live', '1000000', 'm5'))) !== sum + 1000000) return sum; },
    async (c) => { for (let n = 10; ; n++) if (await c.ask('ZREM', 'live', `m${n}`) === 0) return n - 10; }]
    .map(async (edit) => { const own = await connect(server.redisPort); const end = await edit(own); own.close(); return end; });
  await until(async () => await client.ask('ZCOUNT', 'live', '1000000', '+inf') > 0 && await client.ask('ZSCORE', 'live', 'plain20') !== null, 'the writers have begun');
  assert.equal(await client.ask('RENAME', 'live', 'was live'), 'OK');
  await until(async () => await client.ask('ZCARD', 'live') > 20, 'they go on');
  over = true;
  const written = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
  const [before, now] = [await client.ask('ZCARD', 'was live'), await client.ask('ZCARD', 'live')];
  const [sum, removed] = await Promise.all(edits);
  assert.equal(before + now, LARGE + written - removed + 1); // m5 is in both
  assert.equal(await client.ask('ZINTERCARD', '2', 'live', 'was live'), 1);
  assert.ok(sum > 5 && removed > 0);
  assert.deepEqual(await client.ask('ZMSCORE', 'was live', 'm5', `m${10 + removed}`, `m${9 + removed}`), [String(sum), String(10 + removed), null]);
  assert.ok(longest < 20000, `a writer has waited ${longest} ms`); // 2,000, and what a busy machine adds
  await client.ask('DEL', 'live', 'was live');
});

// Sends all of it in pieces of that size, and resolves to the replies.
async function sendInPieces(port, commands, size) {
  const socket = net.connect(port, '127.0.0.1');
  const all = Buffer.concat(commands.map(encode));
  const replies = [];
  let bytes = Buffer.alloc(0);
  socket.on('data', (part) => { bytes = Buffer.concat([bytes, part]); });
  for (let at = 0; at < all.length; at += size)
    if (!socket.write(all.subarray(at, at + size))) await once(socket, 'drain');
  while (replies.length < commands.length) {
    const end = replyEnd(bytes);
    if (end > 0) {
      replies.push(plain(decode(bytes.subarray(0, end))));
      bytes = bytes.subarray(end);
    } else await once(socket, 'data');
  }
  socket.destroy();
  return replies;
}

test('large requests are not copied, and what is behind them is answered in its turn, however it all arrives', async () => {
  const value = 'v'.repeat(200000);
  const pairs = range(3000, (i) => [`taken:${i}`, 'x'.repeat(40) + i]);
  const names = pairs.map(([name]) => name);
  const members = range(4000, (i) => [String(i), `taken member ${i}`]);
  const commands = [
    ['SET', 'taken', value], ['STRLEN', 'taken'], ['GETRANGE', 'taken', '199990', '-1'],
    ['MSET', ...pairs.flat()], ['PING', 'a'], ['MGET', ...names, 'absent'.repeat(10)],
    ['EXISTS', ...names, ...names, 'absent'], ['GET', 'taken:2999'],
    ['DEL', 'takenboard'], ['ZADD', 'takenboard', ...members.flat()], ['ZCARD', 'takenboard'],
    ['ZMSCORE', 'takenboard', ...members.map(([, member]) => member), 'absent'], ['PING', 'b'],
    ['MULTI'], ['MSET', ...pairs.flat()], ['PING', 'c'], ['EXEC'], ['NOSUCH', value], ['PING', 'd'],
  ];
  const expected = ['OK', 200000, 'v'.repeat(10), 'OK', 'a', [...pairs.map(([, text]) => text), null], 6000, `${'x'.repeat(40)}2999`,
    undefined, 4000, 4000, [...members.map(([score]) => score), null], 'b', 'OK', 'QUEUED', 'QUEUED', ['OK', 'c'], undefined, 'd'];
  for (const size of [Infinity, 70000, 5000, 100003]) {
    const replies = await sendInPieces(server.redisPort, commands, size === Infinity ? 1 << 30 : size);
    for (const [i, want] of expected.entries()) if (want !== undefined) assert.deepEqual(replies[i], want, `${commands[i][0]} in pieces of ${size}`);
  }
  assert.equal(await client.ask('DEL', 'taken', 'takenboard', ...names), 3002);
});

test('very many names of which most are not there', async () => {
  const none = range(5000, (i) => `no such ${i}`);
  const [board, text] = ['many board', 'many text'];
  assert.equal(await client.ask('ZADD', board, '1', 'a', '2', 'b', '3', 'c'), 3);
  assert.equal(await client.ask('SET', text, 'x'), 'OK');
  assert.equal(await client.ask('ZREM', board, ...none, 'a', 'c', 'a'), 2);
  assert.deepEqual(await client.ask('ZRANGE', board, '0', '-1'), ['b']);
  assert.deepEqual(await client.ask('MGET', ...none, text, board), [...none.map(() => null), 'x', null]);
  assert.equal(await client.ask('ZUNIONSTORE', 'many to', String(none.length + 1), ...none, board), 1);
  assert.equal(await client.ask('MSETNX', ...none.flatMap((name) => [name, 'v']), text, 'y'), 0);
  assert.equal(await client.ask('DEL', ...none, board, text, 'many to'), 3);
  assert.equal(await client.ask('EXISTS', ...none, board, text, 'many to'), 0);
});

test('a large set that is deleted can be written to at once, by those who follow in a pipeline too', { skip }, async () => {
  for (const remove of [['DEL', 'gone'], ['UNLINK', 'gone'], ['ZUNIONSTORE', 'gone', '1', 'nothing'], ['SET', 'gone', 'x']]) {
    assert.equal(await client.ask('COPY', 'mid', 'gone', 'REPLACE'), 1);
    const replies = await many(client, [remove, ['DEL', 'gone'], ['ZADD', 'gone', '1', 'a'], ['ZINCRBY', 'gone', '5', 'a'], ['ZADD', 'gone', '2', 'b'], ['ZREM', 'gone', 'b'],
      ['ZRANGE', 'gone', '0', '-1', 'WITHSCORES'], ['EXPIRE', 'gone', '1000'], ['TYPE', 'gone']]);
    assert.deepEqual(replies.slice(2), [1, '6', 1, 1, ['a', '6'], 1, 'zset'], remove.join(' '));
  }
  // WATCH sees that it was replaced.
  const other = await connect(server.redisPort);
  assert.equal(await client.ask('COPY', 'mid', 'gone', 'REPLACE'), 1);
  await client.ask('WATCH', 'gone');
  assert.equal(await other.ask('DEL', 'gone'), 1);
  assert.deepEqual(await many(client, [['MULTI'], ['ZADD', 'gone', '1', 'a'], ['EXEC']]), ['OK', 'QUEUED', null]);
  // Who waits for it is served when it has members again.
  const waits = other.ask('BZPOPMIN', 'gone', '60');
  assert.equal(await client.ask('COPY', 'mid', 'gone'), 1);
  assert.deepEqual(await waits, ['gone', 'm0', '0']);
  const again = (async () => { await client.ask('DEL', 'gone'); return other.ask('BZPOPMIN', 'gone', '60'); })();
  await pause(20);
  await client.ask('ZADD', 'gone', '4', 'z');
  assert.deepEqual(await again, ['gone', 'z', '4']);
  other.close();
});

test('REST and DynamoDB clients find the entries where the instance says', { skip }, async () => {
  const rest = await restClient(server.endpoint);
  await client.ask('COPY', 'mid', 'seen', 'REPLACE');
  const { generation } = await state(db, 'seen');
  const partition = `BOARD~${generation.S}#seen`;
  const entry = await rest.must('GET', '/boards/seen/entries/m9');
  assert.equal(entry.entry.rank, MID - 9);
  const top = await db.send(new QueryCommand({ TableName: 'gametable', IndexName: 'ranks', KeyConditionExpression: 'PK = :p',
    ExpressionAttributeValues: { ':p': { S: partition } }, ScanIndexForward: false, Limit: 1 }));
  assert.equal(top.Items[0].SK.S, `m${MID - 1}`);
  await db.send(new PutItemCommand({ TableName: 'gametable', Item: { PK: { S: partition }, SK: { S: 'put' }, score: { N: '1e9' } } }));
  assert.equal(await client.ask('ZREVRANK', 'seen', 'put'), 0);
  await assert.rejects(db.send(new PutItemCommand({ TableName: 'gametable', Item: { PK: { S: 'BOARD#seen' }, SK: { S: 'put' }, score: { N: '1' } } })),
    (error) => error.name === 'ValidationException' && error.message.includes(partition));
  const changed = { ...(await state(db, 'seen')) };
  delete changed.generation;
  await assert.rejects(db.send(new PutItemCommand({ TableName: 'gametable', Item: changed })), /generation/);
  // Hidden players are found there, and are hidden in what is made of it.
  await rest.must('PUT', '/players/m9', { name: 'Nine' });
  await rest.must('POST', '/players/m9/hide');
  assert.equal(await client.ask('ZSCORE', 'seen', 'm9'), null);
  assert.equal(await client.ask('ZADD', 'again', '1', 'm9'), 1);
  assert.equal(await client.ask('ZSCORE', 'again', 'm9'), null);
  await rest.must('POST', '/players/m9/show');
  assert.equal(await client.ask('ZSCORE', 'seen', 'm9'), '9');
  await client.ask('DEL', 'seen', 'again');
  rest.close();
});

test('what was replaced and removed is deleted from the table', { skip }, async () => {
  assert.deepEqual((await client.ask('KEYS', '*')).sort(), ['big', 'mid']);
  assert.deepEqual([...await partitions(db, 'BOARD', 'KEY')].sort(), [['BOARD#big', LARGE], [`BOARD~${(await state(db, 'mid')).generation.S}#mid`, MID]]);
  assert.equal(await client.ask('ZCARD', 'big'), LARGE);
  assert.equal((await state(db, 'gone'))?.littered, undefined);
});

test('a SIGKILL while a large set is renamed or stored leaves the old one or the new one, and nothing else', { skip }, async () => {
  const data = temporaryFolder();
  const count = 21000;
  let killed = await startServer({ data });
  let user = await connect(killed.redisPort);
  await fill(user, 'a', count);
  await user.ask('ZADD', 'b', '1', 'old');
  let whole = 0, kept = 0;
  for (let round = 0; round < 8 || (kept === 0 && round < 40); round++) { // how far it comes hangs on the machine
    const [from, to] = round % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
    // Whichever the last kill has left: `from` is large.
    if (await user.ask('ZCARD', from) < count) {
      assert.equal(await user.ask('COPY', to, from, 'REPLACE'), 1);
      await user.ask('DEL', to);
      await user.ask('ZADD', to, '1', 'old');
    }
    const asked = user.ask(...(round < 4 ? ['RENAME', from, to] : ['ZUNIONSTORE', to, '1', from, 'WEIGHTS', '1'])).then(() => true, () => false);
    await Promise.race([asked, pause(round < 8 ? round * 40 : 0)]);
    await killed.stop('SIGKILL');
    const acknowledged = await asked;
    user.close();
    killed = await startServer({ data });
    user = await connect(killed.redisPort);
    const [sizeFrom, sizeTo] = [await user.ask('ZCARD', from), await user.ask('ZCARD', to)];
    const done = sizeTo === count;
    assert.ok(done || sizeTo === 1 || sizeTo === 0, `${to} has ${sizeTo}`);
    assert.equal(sizeFrom, round < 4 && done ? 0 : count);
    assert.ok(done || !acknowledged, 'an acknowledged one is there');
    if (done) {
      whole++;
      assert.equal(await user.ask('ZRANK', to, `m${count - 1}`), count - 1);
    } else kept++;
  }
  assert.ok(kept > 0, 'some were interrupted');
  const left = dynamo(killed);
  const live = new Set();
  for (const name of ['a', 'b']) {
    const now = await state(left, name);
    if (now) live.add(now.generation ? `BOARD~${now.generation.S}#${name}` : `BOARD#${name}`);
  }
  for (const key of (await partitions(left, 'BOARD', 'KEY')).keys()) assert.ok(live.has(key), `${key} is left`);
  left.destroy();
  user.close();
  assert.equal(await killed.stop(), 0);
});

test('an orderly stop does not wait for a large set, and leaves the key as it was', { skip }, async () => {
  const data = temporaryFolder();
  let stopped = await startServer({ data });
  let user = await connect(stopped.redisPort);
  await fill(user, 'a', LARGE);
  await user.ask('ZADD', 'b', '1', 'old');
  const asked = user.ask('ZUNIONSTORE', 'b', '1', 'a').then((size) => size === LARGE, () => false);
  await Promise.race([asked, pause(100)]);
  assert.equal(await stopped.stop(), 0);
  const acknowledged = await asked;
  user.close();
  stopped = await startServer({ data });
  user = await connect(stopped.redisPort);
  const size = await user.ask('ZCARD', 'b');
  assert.ok(size === LARGE || (size === 1 && !acknowledged), `${size}, ${acknowledged}`);
  user.close();
  assert.equal(await stopped.stop(), 0);
});
