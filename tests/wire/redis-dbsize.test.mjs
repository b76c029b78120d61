// DBSIZE is a count, and KEYS looks at every key: both say the same of sorted sets that come and go, whoever writes them.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { BatchWriteItemCommand, DeleteItemCommand, DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { timePasses } from '../lib/clock.mjs';
import { restClient } from '../lib/rest.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';
import { until } from '../lib/until.mjs';
import { connect, decode, plain } from '../redis/resp.mjs';

const STAGED = 1200; // a set of more than 1,000 members is replaced by a generation,
const DROPPED = 21000; // one of more than 20,000 removed so
const TableName = 'gametable';
const S = (text) => ({ S: text });
const N = (number) => ({ N: String(number) });
const entry = (board, member, attributes) => ({ PK: S(`BOARD#${board}`), SK: S(member), ...attributes });
const garbage = { TableName, KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': S('KEYGARBAGE') }, ConsistentRead: true };
const range = (count, make) => Array.from({ length: count }, (_, i) => make(i));

const dynamo = (server) => new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
let server, client, rest, db;
before(async () => {
  server = await startServer({ args: ['--test-clock'] });
  client = await connect(server.redisPort);
  rest = await restClient(server.endpoint);
  db = dynamo(server);
});
after(async () => {
  client.close();
  rest.close();
  db.destroy();
  assert.equal(await server.stop(), 0);
});

const many = async (commands, to = client) => (await to.pipeline(commands)).map((reply) => plain(decode(reply)));
const ask = (...words) => client.ask(...words);
const put = (Item) => db.send(new PutItemCommand({ TableName, Item }));
const remove = (PK, SK) => db.send(new DeleteItemCommand({ TableName, Key: { PK: S(PK), SK: S(SK) } }));
async function addMany(key, count) {
  for (let i = 0; i < count; i += 5000) await ask('ZADD', key, ...range(Math.min(5000, count - i), (j) => [String(i + j), `m${i + j}`]).flat());
}

// In each database, also between MULTI and EXEC, where every set is looked at.
async function same(what, databases = [0, 3, 12], to = client) {
  const sizes = [];
  for (const number of databases) {
    const replies = await many([['SELECT', String(number)], ['DBSIZE'], ['KEYS', '*'], ['MULTI'], ['DBSIZE'], ['EXEC'], ['SELECT', '0']], to);
    const [, size, keys, , , [inside]] = replies;
    assert.equal(size, keys.length, `${what}, database ${number}: ${keys.slice(0, 20)}`);
    assert.equal(size, inside, `${what}, database ${number}`);
    sizes.push(size);
  }
  return sizes;
}
async function fresh() {
  assert.equal(await ask('FLUSHALL'), 'OK');
  await same('after FLUSHALL');
}

test('sets come and go, by every command that empties them', async () => {
  assert.deepEqual(await same('nothing'), [0, 0, 0]);
  for (const [words, size] of [
    [['ZADD', 'a', '1', 'x', '2', 'y'], 1], [['ZADD', 'b', '1', 'x'], 2], [['ZADD', 'a', '7', 'x'], 2], [['ZREM', 'a', 'x'], 2], [['ZREM', 'a', 'y'], 1],
    [['ZADD', 'a', '1', 'x'], 2], [['ZPOPMIN', 'a'], 1], [['ZREMRANGEBYRANK', 'b', '0', '-1'], 0], [['ZADD', 'b', '1', 'x'], 1], [['RENAME', 'b', 'c'], 1],
    [['COPY', 'c', 'd'], 2], [['COPY', 'c', 'd', 'DB', '3'], 2], [['MOVE', 'c', '12'], 1], [['ZUNIONSTORE', 'e', '1', 'd'], 2], [['ZINTERSTORE', 'e', '2', 'd', 'none'], 1],
    [['ZDIFFSTORE', 'd', '1', 'd'], 1], [['ZINTERSTORE', 'd', '2', 'd', 'none'], 0], [['ZADD', 'f', '1', 'x'], 1], [['SET', 'f', 'text'], 1], [['DEL', 'f'], 0],
    [['SET', 'g', 'text'], 1], [['ZADD', 'h', '1', 'x'], 2], [['RENAME', 'h', 'g'], 1], [['DEL', 'g'], 0], [['HSET', 'i', 'f', 'v'], 1],
  ]) {
    const reply = await ask(...words);
    assert.ok(!reply?.error, `${words.join(' ')}: ${reply?.error}`);
    assert.equal((await same(words.join(' ')))[0], size, words.join(' '));
  }
  assert.deepEqual(await same('in all'), [1, 1, 1]);
  await many([['SELECT', '3'], ['FLUSHDB'], ['SELECT', '0']]);
  assert.deepEqual(await same('one is flushed'), [1, 0, 1]);
  await fresh();
});

test('names of any kind are told apart by database', async () => {
  const names = ['a', '#3#a', '#0#b', '#12#', '#3#', '#7', '#07#x', '#16#x', '', '\0', '\0x', 'x/y', 'x@z', '\u{10ffff}', '#3#\0'].map((name) => Buffer.from(name))
    .concat([[0xff], [0x23, 0x33, 0x23, 0xff], [0x23, 0x31, 0x32, 0x23, 0xfe, 0x01], [0xfe, 0x00]].map((bytes) => Buffer.from(bytes)));
  let seed = 7;
  const random = (below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  for (let round = 0; round < 60; round++) {
    const commands = range(8, () => {
      const name = names[random(names.length)], other = names[random(names.length)];
      const command = [['ZADD', name, '1', 'm'], ['ZADD', name, '2', 'n'], ['ZREM', name, 'm'], ['ZPOPMAX', name], ['DEL', name], ['SET', name, 'v'], ['SADD', name, 'v'],
        ['RENAME', name, other], ['COPY', name, other, 'DB', ['0', '3', '12'][random(3)], 'REPLACE'], ['ZUNIONSTORE', name, '1', other]][random(10)];
      return [['SELECT', ['0', '3', '12'][random(3)]], command];
    }).flat();
    await many([...commands, ['SELECT', '0']]);
    await same(`round ${round}`);
  }
  await fresh();
});

test('a set of which other protocols add and remove entries', async () => {
  await ask('ZADD', 'set', '1', 'ann');
  await put(entry('set', 'bob', { score: N(2) }));
  await put(entry('table', 'bob', { score: N(2) }));
  await put(entry('no-score', 'bob', { text: S('none') }));
  await rest.must('PUT', '/boards/rest/entries/ann', { score: 1 });
  assert.deepEqual(await same('put'), [3, 0, 0]);
  await remove('BOARD#set', 'ann');
  await remove('BOARD#table', 'bob');
  await rest.must('DELETE', '/boards/rest/entries/ann');
  assert.deepEqual(await same('removed'), [1, 0, 0]);
  await db.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: range(20, (i) => ({ PutRequest: { Item: entry(`batch:${i % 5}`, `m${i}`, { score: N(i) }) } })) } }));
  assert.deepEqual(await same('a batch'), [6, 0, 0]);
  await remove('INSTANCE#set', 'STATE'); // its entry stays
  await remove('INSTANCE#batch:1', 'STATE');
  await same('items of instances are gone');
  await ask('ZADD', 'set', '5', 'ann');
  await ask('ZREM', 'batch:1', 'm1', 'm6', 'm11', 'm16');
  await same('and one is back');
  await fresh();
});

test('boards with the names of keys', async () => {
  for (const [name, words] of [['string', ['SET', 'string', 'v']], ['hash', ['HSET', 'hash', 'f', 'v']], ['#3#other', ['SET', '#3#other', 'v']]]) {
    await ask(...words);
    await same(`a key ${name}`);
  }
  await put(entry('string', 'ann', { score: N(1) }));
  await put(entry('hash', 'ann', { score: N(1) }));
  await put(entry('#0##3#other', 'ann', { score: N(1) })); // of the key "#3#other"
  await put(entry('#3#third', 'ann', { score: N(1) })); // the set "third" of database 3
  await put(entry('free', 'ann', { score: N(1) }));
  await many([['SELECT', '3'], ['SET', 'string', 'v'], ['SET', 'third', 'v'], ['SELECT', '0']]);
  await put(entry('#3#string', 'ann', { score: N(1) }));
  await put(entry('#3#third', 'bob', { score: N(1) }));
  await same('boards beside keys');
  await ask('DEL', 'string');
  await remove('KEY#hash', 'KEY');
  await remove('KEY3#third', 'KEY');
  await same('without the keys');
  await fresh();
});

test('large sets: generations that are staged, replaced and removed', async () => {
  await addMany('big', DROPPED);
  await addMany('mid', STAGED);
  assert.deepEqual(await same('large'), [2, 0, 0]);
  for (let round = 0; round < 3; round++) {
    await ask('ZRANGESTORE', 'stored', 'big', '0', String(STAGED - 1));
    await ask('ZUNIONSTORE', 'mid', '1', 'stored');
    assert.deepEqual(await same(`stored ${round}`), [3, 0, 0]);
  }
  const staging = ask('ZUNIONSTORE', 'later', '1', 'big');
  for (let i = 0; i < 20; i++) {
    const size = await (async () => { const other = await connect(server.redisPort); try { return await other.ask('DBSIZE'); } finally { other.close(); } })();
    assert.ok(size === 3 || size === 4, `${size} keys while one is stored`);
  }
  assert.equal(await staging, DROPPED);
  assert.deepEqual(await same('after it'), [4, 0, 0]);
  await ask('DEL', 'big'); // BOARD#big has entries until they are collected
  assert.deepEqual(await same('removed'), [3, 0, 0]);
  await ask('ZADD', 'big', '1', 'again'); // in a generation, beside them
  assert.deepEqual(await same('again'), [4, 0, 0]);
  await ask('ZREM', 'big', 'again');
  await ask('DEL', 'later');
  await ask('RENAME', 'stored', 'renamed');
  await ask('COPY', 'mid', 'mid', 'DB', '12');
  assert.deepEqual(await same('and so on'), [2, 0, 1]);
  await timePasses(server, '60s');
  await until(async () => (await db.send(new QueryCommand(garbage))).Count, (left) => assert.equal(left, 0));
  assert.deepEqual(await same('without garbage'), [2, 0, 1]);
  await fresh();
});

test('sets that expire', async () => {
  await many(range(50, (i) => ['ZADD', `e:${i}`, '1', 'm']));
  await many(range(50, (i) => ['PEXPIRE', `e:${i}`, String(i < 30 ? 5000 : 500000)]));
  await many([['SELECT', '3'], ['ZADD', 'e', '1', 'm'], ['EXPIRE', 'e', '5'], ['SELECT', '0'], ['ZADD', 'stays', '1', 'm']]);
  assert.deepEqual(await same('before'), [51, 1, 0]);
  const moved = timePasses(server, '6s');
  for (let i = 0; i < 20; i++) { // they only go
    const [first, keys, last] = await many([['DBSIZE'], ['KEYS', '*'], ['DBSIZE']]);
    assert.ok(first >= keys.length && keys.length >= last && last >= 21, `${first}, ${keys.length}, ${last}`);
  }
  await moved;
  assert.deepEqual(await same('after'), [21, 0, 0]);
  await ask('PERSIST', 'e:40');
  await ask('ZADD', 'e:3', '1', 'm');
  await timePasses(server, '600s');
  assert.deepEqual(await same('all'), [3, 0, 0]);
  await fresh();
});

test('boards with definitions', async () => {
  await rest.must('POST', '/boards', { id: 'daily', game: 'g', timeframe: 'daily' });
  await rest.must('POST', '/boards', { id: 'all', game: 'g' });
  await rest.must('POST', '/boards', { id: 'rooms', game: 'g', scopes: ['global', 'room'] });
  await ask('ZADD', 'all', '1', 'ann');
  await ask('ZADD', 'daily', '1', 'ann');
  await ask('ZADD', 'rooms/room:1', '1', 'ann');
  await ask('ZADD', 'rooms', '1', 'ann');
  await ask('ZADD', 'rooms2', '1', 'ann');
  await ask('ZADD', 'plain@x', '1', 'ann');
  assert.deepEqual(await same('defined'), [6, 0, 0]);
  await ask('ZREM', 'rooms', 'ann');
  assert.deepEqual(await same('one without entries'), [5, 0, 0]);
  const definition = { PK: S('BOARDDEF#rooms'), SK: S('META'), GSI1PK: S('BOARDS'), GSI1SK: S('rooms'), id: S('rooms'), game: S('g') };
  await put({ ...definition, order: S('sideways') });
  assert.deepEqual(await same('one cannot be read'), [4, 0, 0]);
  await put({ ...definition, timeframe: S('daily') }); // rooms/room:1 is no period of it
  await same('one that has other names');
  await put({ PK: S('BOARDDEF#plain'), SK: S('META'), GSI1PK: S('BOARDS'), GSI1SK: S('plain'), id: S('plain'), game: S('g') });
  await same('a plain one that is none any more');
  await remove('BOARDDEF#plain', 'META');
  await remove('BOARDDEF#rooms', 'META');
  assert.deepEqual(await same('without them'), [5, 0, 0]);
  assert.equal((await rest.call('DELETE', '/boards/daily')).status, 204);
  await same('removed');
  await fresh();
});

test('hidden members are no members', async () => {
  await ask('ZADD', 'h', '1', 'ann');
  await ask('ZADD', 'both', '1', 'ann', '2', 'bob');
  await rest.must('POST', '/players/ann/hide');
  assert.deepEqual(await same('hidden'), [1, 0, 0]);
  await rest.must('POST', '/players/ann/show');
  await same('shown');
  await fresh();
});

test('very many sets, over a restart', async () => {
  const data = temporaryFolder();
  let own = await startServer({ data });
  let redis = await connect(own.redisPort);
  const add = (from, to) => many(range(to - from, (i) => ['ZADD', `s:${from + i}`, '1', 'm']), redis);
  await add(0, 3000);
  await many(range(1000, (i) => ['ZREM', `s:${i * 3}`, 'm']), redis);
  assert.deepEqual(await same('many', [0], redis), [2000]);
  // while the first count is being made others write
  await redis.ask('DEL', ...range(500, (i) => `s:${i}`));
  const [, size] = await Promise.all([add(3000, 4000), same('while they come', [3], redis).then(() => 0)]);
  assert.equal(size, 0);
  const [now] = await same('many more', [0], redis);
  redis.close();
  assert.equal(await own.stop(), 0);
  own = await startServer({ data });
  redis = await connect(own.redisPort);
  assert.deepEqual(await same('again', [0], redis), [now]);
  await redis.ask('FLUSHDB');
  assert.deepEqual(await same('none', [0], redis), [0]);
  redis.close();
  assert.equal(await own.stop(), 0);
});
