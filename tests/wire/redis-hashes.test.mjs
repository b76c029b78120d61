// Hashes and sets: what cannot be compared with Debian's redis-server. Fields that expire (Redis 7.4),
// large keys, many clients on one key, and what is there after a restart.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { DynamoDBClient, GetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { connect, decode, plain } from '../redis/resp.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';

let server;
let client;
before(async () => {
  server = await startServer();
  client = await connect(server.redisPort);
});
after(async () => {
  client.close();
  assert.equal(await server.stop(), 0);
});

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function until(condition, what) {
  const end = Date.now() + 60_000;
  while (!(await condition())) {
    assert.ok(Date.now() < end, what);
    await pause(20);
  }
}
const range = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const pairs = (list) => Object.fromEntries(range(list.length / 2, (i) => [list[2 * i], list[2 * i + 1]]));
const near = (told, expected) => assert.ok(told <= expected && told > expected - 60000, `${told} is not about ${expected}`);

// Small and large hashes are kept in different ways.
for (const [kind, more] of [['small', 0], ['large', 400]]) {
  const fill = async (key) => {
    await client.ask('DEL', key);
    await client.ask('HSET', key, 'a', '1', 'b', '2', 'c', '3', ...range(more, (i) => [`f${i}`, 'x']).flat());
  };

  test(`fields of a ${kind} hash expire one by one`, async () => {
    const key = `expiry:${kind}`;
    await fill(key);
    assert.deepEqual(await client.ask('HTTL', key, 'FIELDS', '3', 'a', 'nobody', 'b'), [-1, -2, -1]);
    assert.deepEqual(await client.ask('HEXPIRE', key, '1000', 'FIELDS', '2', 'a', 'nobody'), [1, -2]);
    near((await client.ask('HTTL', key, 'FIELDS', '1', 'a'))[0] * 1000, 1000000);
    near((await client.ask('HPTTL', key, 'FIELDS', '1', 'a'))[0], 1000000);
    const at = Date.now() + 500000;
    assert.deepEqual(await client.ask('HPEXPIREAT', key, String(at), 'FIELDS', '1', 'b'), [1]);
    assert.deepEqual(await client.ask('HPEXPIRETIME', key, 'FIELDS', '2', 'b', 'c'), [at, -1]);
    assert.deepEqual(await client.ask('HEXPIRETIME', key, 'FIELDS', '1', 'b'), [Math.ceil(at / 1000)]);
    assert.deepEqual(await client.ask('HEXPIREAT', key, '4102444800', 'FIELDS', '1', 'c'), [1]);
    assert.deepEqual(await client.ask('HEXPIRETIME', key, 'FIELDS', '1', 'c'), [4102444800]);
    assert.deepEqual(await client.ask('HPERSIST', key, 'FIELDS', '3', 'c', 'nobody', 'c'), [1, -2, -1]);
    assert.deepEqual(await client.ask('HPERSIST', key, 'FIELDS', '1', 'c'), [-1]);
    // Conditions: a field without an end is taken to end last.
    for (const [word, without, later, earlier] of [['NX', 1, 0, 0], ['XX', 0, 1, 1], ['GT', 0, 1, 0], ['LT', 1, 0, 1]]) {
      assert.deepEqual(await client.ask('HPERSIST', key, 'FIELDS', '1', 'a'), [1]);
      assert.deepEqual(await client.ask('HEXPIREAT', key, '4102444800', word, 'FIELDS', '1', 'a'), [without], word);
      await client.ask('HEXPIREAT', key, '4102444800', 'FIELDS', '1', 'a');
      assert.deepEqual(await client.ask('HEXPIREAT', key, '4102444900', word, 'FIELDS', '1', 'a'), [later], word);
      await client.ask('HEXPIREAT', key, '4102444800', 'FIELDS', '1', 'a');
      assert.deepEqual(await client.ask('HEXPIREAT', key, '4102444700', word, 'FIELDS', '1', 'a'), [earlier], word);
    }
    // Setting a field takes its end away, adding to it does not.
    assert.equal(await client.ask('HINCRBY', key, 'a', '1'), 2);
    assert.equal((await client.ask('HTTL', key, 'FIELDS', '1', 'a'))[0] > 0, true);
    await client.ask('HSET', key, 'a', '5');
    assert.deepEqual(await client.ask('HTTL', key, 'FIELDS', '1', 'a'), [-1]);
  });

  test(`an expired field of a ${kind} hash is not there, and the hash goes with its last one`, async () => {
    const key = `gone:${kind}`;
    await fill(key);
    assert.deepEqual(await client.ask('HPEXPIRE', key, '1500', 'FIELDS', '2', 'a', 'b'), [1, 1]);
    await until(async () => (await client.ask('HEXISTS', key, 'a')) === 0, 'the field expires');
    assert.equal(await client.ask('HGET', key, 'b'), null);
    assert.equal(await client.ask('HLEN', key), 1 + more);
    assert.equal((await client.ask('HGETALL', key)).length, 2 * (1 + more));
    assert.equal((await client.ask('HRANDFIELD', key, '1000')).length, 1 + more);
    assert.equal((await client.ask('HKEYS', key)).includes('a'), false);
    assert.deepEqual(await client.ask('HTTL', key, 'FIELDS', '1', 'a'), [-2]);
    assert.deepEqual(await client.ask('HPERSIST', key, 'FIELDS', '1', 'a'), [-2]);
    assert.equal(await client.ask('HDEL', key, 'a'), 0);
    assert.equal(await client.ask('HSETNX', key, 'a', 'new'), 1);
    assert.equal(await client.ask('HINCRBY', key, 'b', '7'), 7);
    assert.equal(await client.ask('HLEN', key), 3 + more);
    assert.deepEqual(await client.ask('HEXPIRE', key, '0', 'FIELDS', '1', 'a'), [2]);
    assert.equal(await client.ask('HEXISTS', key, 'a'), 0);
    const names = await client.ask('HKEYS', key);
    assert.deepEqual(await client.ask('HPEXPIREAT', key, '1', 'FIELDS', String(names.length), ...names), names.map(() => 2));
    assert.equal(await client.ask('EXISTS', key), 0);
    assert.deepEqual(await client.ask('HTTL', key, 'FIELDS', '1', 'b'), [-2]);
    await client.ask('SADD', key, 'x');
    assert.equal(await client.ask('TYPE', key), 'set');
  });

  test(`a transaction sees the ends of fields of a ${kind} hash`, async () => {
    const key = `multi:${kind}`;
    await fill(key);
    const told = await client.pipeline([['MULTI'], ['HEXPIREAT', key, '4102444800', 'FIELDS', '1', 'a'],
      ['HEXPIRETIME', key, 'FIELDS', '2', 'a', 'b'], ['HPEXPIREAT', key, '1', 'FIELDS', '1', 'b'], ['HEXISTS', key, 'b'], ['HLEN', key],
      ['HPERSIST', key, 'FIELDS', '1', 'a'], ['HEXPIRETIME', key, 'FIELDS', '1', 'a'], ['EXEC']]);
    assert.deepEqual(plain(decode(told.at(-1))), [[1], [4102444800, -1], [2], 0, 2 + more, [1], [-1]]);
    assert.equal(await client.ask('HLEN', key), 2 + more);
  });
}

test('fields that have expired are removed from the table', async () => {
  const dynamo = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
  const head = async (key) => (await dynamo.send(new GetItemCommand({ TableName: 'gametable', Key: { PK: { S: `KEY#${key}` }, SK: { S: 'KEY' } } }))).Item;
  const items = async (key) => (await dynamo.send(new QueryCommand({ TableName: 'gametable', KeyConditionExpression: 'PK = :p AND begins_with(SK, :f)',
    ExpressionAttributeValues: { ':p': { S: `KEY#${key}` }, ':f': { S: 'F#' } } }))).Items;
  await client.ask('HSET', 'swept', 'a', '1', 'b', '2');
  await client.ask('HEXPIREAT', 'swept', '4102444800', 'FIELDS', '1', 'b');
  await client.ask('HPEXPIRE', 'swept', '1', 'FIELDS', '1', 'a');
  await until(async () => (await head('swept')).fields.M.a === undefined, 'a field of a small hash is removed');
  assert.deepEqual(Object.keys((await head('swept')).fields.M), ['b']);
  await client.ask('HSET', 'swept:only', 'a', '1');
  await client.ask('HPEXPIRE', 'swept:only', '1', 'FIELDS', '1', 'a');
  await until(async () => (await head('swept:only')) === undefined, 'a small hash goes with its last field');
  const names = range(700, (i) => `f${i}`);
  await client.ask('HSET', 'swept:large', ...names.flatMap((name) => [name, 'x']));
  await client.ask('HEXPIREAT', 'swept:large', '4102444800', 'FIELDS', '1', 'f699');
  await client.ask('HPEXPIRE', 'swept:large', '1', 'FIELDS', '600', ...names.slice(0, 600));
  await until(async () => (await items('swept:large')).length === 100, 'fields of a large hash are removed');
  await until(async () => (await head('swept:large')).fieldsEndAt?.N === '4102444800000', 'the next end is known');
  assert.equal((await head('swept:large')).count.N, '100');
  assert.equal(await client.ask('HLEN', 'swept:large'), 100);
  await client.ask('HPEXPIRE', 'swept:large', '1', 'FIELDS', '100', ...names.slice(600));
  await until(async () => (await client.ask('EXISTS', 'swept:large')) === 0, 'a large hash goes with its last field');
  assert.equal(await client.ask('SADD', 'swept:large', 'x'), 1);
  await until(async () => (await items('swept:large')).length === 0, 'and leaves nothing behind');
  assert.deepEqual(await client.ask('SMEMBERS', 'swept:large'), ['x']);
  dynamo.destroy();
});

test('wrong ends of fields are refused', async () => {
  await client.ask('HSET', 'wrong', 'a', '1');
  await client.ask('ZADD', 'ranked', '1', 'a');
  const end = 'ERR The `numfields` parameter must match the number of arguments';
  for (const [words, error] of [
    [['HEXPIRE', 'wrong', '-1', 'FIELDS', '1', 'a'], 'ERR invalid expire time, must be >= 0'],
    [['HEXPIRE', 'wrong', 'x', 'FIELDS', '1', 'a'], 'ERR value is not an integer or out of range'],
    [['HEXPIRE', 'wrong', '9223372036854775807', 'FIELDS', '1', 'a'], "ERR invalid expire time in 'hexpire' command"],
    [['HPEXPIRE', 'wrong', '70368744177664', 'FIELDS', '1', 'a'], "ERR invalid expire time in 'hpexpire' command"],
    [['HEXPIRE', 'wrong', '10', 'FIELD', '1', 'a'], 'ERR Mandatory argument FIELDS is missing or not at the right position'],
    [['HEXPIRE', 'wrong', '10', 'NX', 'GT', 'FIELDS', '1', 'a'], 'ERR Mandatory argument FIELDS is missing or not at the right position'],
    [['HEXPIRE', 'wrong', '10', 'FIELDS', '0', 'a'], 'ERR Parameter `numFields` should be greater than 0'],
    [['HEXPIRE', 'wrong', '10', 'FIELDS', '2', 'a'], end],
    [['HEXPIRE', 'wrong', '10', 'FIELDS', '1', 'a', 'b'], end],
    [['HEXPIRE', 'wrong', '10', 'FIELDS', '1'], "ERR wrong number of arguments for 'hexpire' command"],
    [['HTTL', 'wrong', 'FIELDS', '0', 'a'], 'ERR Number of fields must be a positive integer'],
    [['HTTL', 'wrong', 'FIELDS', '2', 'a'], end],
    [['HPERSIST', 'wrong', 'FIELDS', 'x', 'a'], 'ERR Number of fields must be a positive integer'],
    [['HTTL', 'wrong', 'a', '1', 'a'], 'ERR Mandatory argument FIELDS is missing or not at the right position'],
    [['HEXPIRE', 'ranked', '10', 'FIELDS', '1', 'a'], 'WRONGTYPE Operation against a key holding the wrong kind of value'],
    [['HTTL', 'ranked', 'FIELDS', '1', 'a'], 'WRONGTYPE Operation against a key holding the wrong kind of value'],
  ])
    assert.deepEqual(await client.ask(...words), { error }, words.join(' '));
  assert.deepEqual(await client.ask('HEXPIRE', 'nokey', '10', 'FIELDS', '2', 'a', 'b'), [-2, -2]);
  assert.deepEqual(await client.ask('HGETALL', 'wrong'), ['a', '1']);
});

test('hashes and sets of 100,000 work, by pages, at random and as a whole', async () => {
  const count = 100000;
  const names = range(count, (i) => `player:${i}`);
  for (let i = 0; i < count; i += 10000) {
    const some = names.slice(i, i + 10000);
    assert.equal(await client.ask('HSET', 'large', ...some.flatMap((name, j) => [name, String(i + j)])), some.length);
    assert.equal(await client.ask('SADD', 'larges', ...some), some.length);
  }
  assert.equal(await client.ask('HLEN', 'large'), count);
  assert.equal(await client.ask('SCARD', 'larges'), count);
  assert.equal(await client.ask('HGET', 'large', 'player:77777'), '77777');
  assert.deepEqual(await client.ask('SMISMEMBER', 'larges', 'player:99999', 'player:100000'), [1, 0]);
  assert.equal(await client.ask('HSET', 'large', 'player:5', 'five', 'one more', 'x'), 1);
  assert.equal(await client.ask('HDEL', 'large', 'one more', 'nobody'), 1);
  assert.equal(await client.ask('HINCRBY', 'large', 'player:6', '4'), 10);
  const all = pairs(await client.ask('HGETALL', 'large'));
  assert.equal(Object.keys(all).length, count);
  assert.equal(all['player:5'], 'five');
  for (const [command, step] of [['HSCAN', 2], ['SSCAN', 1]]) {
    const seen = new Set();
    let cursor = '0';
    do {
      const [next, list] = await client.ask(command, step === 2 ? 'large' : 'larges', cursor, 'COUNT', '5000');
      for (let i = 0; i < list.length; i += step) seen.add(list[i]);
      cursor = next;
    } while (cursor !== '0');
    assert.equal(seen.size, count, command);
  }
  const drawn = new Set();
  for (let i = 0; i < 20; i++) for (const name of await client.ask('SRANDMEMBER', 'larges', '50')) drawn.add(name);
  assert.ok(drawn.size > 900, `${drawn.size} of 1,000 draws are different`);
  assert.ok([...drawn].every((name) => names.includes(name)));
  // Each part of the set is drawn from.
  for (let part = 0; part < 10; part++)
    assert.ok([...drawn].some((name) => Math.floor(Number(name.slice(7)) / 10000) === part), `none of part ${part}`);
  const taken = await client.ask('SPOP', 'larges', '100');
  assert.equal(new Set(taken).size, 100);
  assert.equal(await client.ask('SCARD', 'larges'), count - 100);
  assert.deepEqual(await client.ask('SMISMEMBER', 'larges', ...taken), taken.map(() => 0));
  assert.equal(await client.ask('SADD', 'larges', ...taken), 100);
  await client.ask('SADD', 'few', 'player:1', 'player:2', 'nobody');
  assert.deepEqual((await client.ask('SINTER', 'larges', 'few')).sort(), ['player:1', 'player:2']);
  assert.deepEqual(await client.ask('SDIFF', 'few', 'larges'), ['nobody']);
  assert.equal(await client.ask('SINTERCARD', '2', 'larges', 'larges'), count);
  assert.equal((await client.ask('SUNION', 'larges', 'few')).length, count + 1);
  await client.ask('ZADD', 'scores', ...range(1000, (i) => [i, `player:${i}`]).flat());
  assert.deepEqual(await client.ask('ZINTERSTORE', 'ranks', '2', 'scores', 'few', 'WEIGHTS', '1', '0'), 2);
  assert.deepEqual(await client.ask('ZREVRANGE', 'ranks', '0', '-1', 'WITHSCORES'), ['player:2', '2', 'player:1', '1']);
  assert.equal(await client.ask('DEL', 'large'), 1);
  assert.equal(await client.ask('HLEN', 'large'), 0);
  assert.equal(await client.ask('HSET', 'large', 'a', 'b'), 1);
  assert.deepEqual(await client.ask('HGETALL', 'large'), ['a', 'b']);
});

test('many clients write to one key at once, and nothing is lost', async () => {
  const clients = await Promise.all(range(16, () => connect(server.redisPort)));
  try {
    await Promise.all(clients.map(async (each, number) => {
      for (let round = 0; round < 20; round++)
        await each.pipeline(range(20, (i) => [['HINCRBY', 'busy', 'count', '1'], ['HSET', 'busy', `f${number}:${round}:${i}`, 'x'],
          ['SADD', 'busys', `m${number}:${round}:${i}`, 'all'], ['HDEL', 'busy', `f${number}:${round - 1}:${i}`]]).flat());
    }));
    assert.equal(await client.ask('HGET', 'busy', 'count'), '6400');
    assert.equal(await client.ask('HLEN', 'busy'), 1 + 16 * 20);
    assert.equal((await client.ask('HKEYS', 'busy')).length, 1 + 16 * 20);
    assert.equal(await client.ask('SCARD', 'busys'), 1 + 6400);
    assert.equal((await client.ask('SMEMBERS', 'busys')).length, 1 + 6400);
  } finally {
    for (const each of clients) each.close();
  }
});

test('what was acknowledged is there after SIGKILL', async () => {
  const data = temporaryFolder();
  let other = await startServer({ data });
  let asks = await connect(other.redisPort);
  const field = (i) => `f${String(i).padStart(4, '0')}`;
  assert.equal(await asks.ask('HSET', 'small', 'a', '1', 'b', '2'), 2);
  for (let i = 0; i < 1000; i += 100)
    await asks.pipeline(range(100, (j) => ['HSET', 'large', field(i + j), String(i + j)]));
  await asks.ask('SADD', 'set', 'x', 'y');
  await asks.ask('HEXPIREAT', 'small', '4102444800', 'FIELDS', '1', 'b');
  await asks.ask('HPEXPIRE', 'large', '1', 'FIELDS', '1', field(7));
  await asks.ask('HDEL', 'large', field(8));
  await other.stop('SIGKILL');
  asks.close();
  other = await startServer({ data });
  asks = await connect(other.redisPort);
  try {
    assert.deepEqual(pairs(await asks.ask('HGETALL', 'small')), { a: '1', b: '2' });
    assert.deepEqual(await asks.ask('HEXPIRETIME', 'small', 'FIELDS', '2', 'a', 'b'), [-1, 4102444800]);
    assert.deepEqual((await asks.ask('SMEMBERS', 'set')).sort(), ['x', 'y']);
    await until(async () => (await asks.ask('HLEN', 'large')) === 998, 'the field has expired');
    const all = pairs(await asks.ask('HGETALL', 'large'));
    assert.deepEqual(Object.keys(all).sort(), range(1000, field).filter((name) => name !== field(7) && name !== field(8)));
    assert.ok(Object.entries(all).every(([name, value]) => Number(name.slice(1)) === Number(value)));
  } finally {
    asks.close();
    assert.equal(await other.stop(), 0);
  }
});
