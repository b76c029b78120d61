// Keys of all types: what other protocols see of them, what holds while many write, what is told of limits.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { createClient } from 'redis';
import Redis from 'ioredis';
import { connect } from '../redis/resp.mjs';
import { startServer } from '../lib/server.mjs';

let server;
let game;
before(async () => {
  server = await startServer();
  game = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } }));
});
after(async () => {
  game.destroy();
  await server.stop();
});

const withClient = async (use) => {
  const client = await connect(server.redisPort);
  try {
    await use(client);
  } finally {
    client.close();
  }
};
const get = async (PK, SK) => (await game.send(new GetCommand({ TableName: 'gametable', Key: { PK, SK }, ConsistentRead: true }))).Item;

test('a key is an item that DynamoDB clients read', () => withClient(async (client) => {
  assert.equal(await client.ask('SET', 'seen', 'text', 'PXAT', '4102444800123'), 'OK');
  assert.deepEqual(await get('KEY#seen', 'KEY'), {
    PK: 'KEY#seen', SK: 'KEY', type: 'string', value: 'text', expiresAt: 4102444800123, ttl: 4102444801, GSI1PK: 'KEYS#0', GSI1SK: 'seen',
  });
  assert.equal(await client.ask('SET', 'seen', Buffer.from([255, 0])), 'OK');
  assert.deepEqual(Buffer.from((await get('KEY#seen', 'KEY')).value), Buffer.from([255, 0]));
  assert.equal(await client.ask('SELECT', '3'), 'OK');
  assert.equal(await client.ask('INCR', 'seen'), 1);
  assert.equal((await get('KEY3#seen', 'KEY')).value, '1');
  assert.equal(await client.ask('ZADD', 'board', '5', 'ann'), 1);
  assert.equal((await get('BOARD##3#board', 'ann')).score, 5);
  assert.equal(await client.ask('DEL', 'seen'), 1);
  assert.equal(await get('KEY3#seen', 'KEY'), undefined);
}));

test('what a DynamoDB client writes as a key is one, and what is none is refused', () => withClient(async (client) => {
  const put = (Item) => game.send(new PutCommand({ TableName: 'gametable', Item }));
  await put({ PK: 'KEY#theirs', SK: 'KEY', type: 'string', value: '41' });
  assert.equal(await client.ask('INCR', 'theirs'), 42);
  await put({ PK: 'KEY#odd', SK: 'KEY', type: 'list' });
  for (const command of [['GET', 'odd'], ['INCR', 'odd'], ['TYPE', 'odd'], ['DEL', 'odd'], ['ZADD', 'odd', '1', 'm']])
    assert.match((await client.ask(...command)).error, /was not written by a Redis command/, command.join(' '));
  assert.ok(Array.isArray(await client.ask('KEYS', '*')));
}));

// One name, written as a string and as a sorted set by many at once: each reply is what some order explains, and the
// name never is both.
test('a name is a string or a sorted set, whoever is first', async () => {
  const clients = await Promise.all(Array.from({ length: 8 }, () => connect(server.redisPort)));
  try {
    for (let round = 0; round < 60; round++) {
      const key = `either:${round}`;
      const told = await Promise.all(clients.map((client, i) => client.ask(...(i % 2 ? ['INCR', key] : ['ZADD', key, String(i), `m${i}`]))));
      const wrong = told.map((reply) => /^WRONGTYPE/.test(reply?.error ?? ''));
      const type = await clients[0].ask('TYPE', key);
      assert.ok(['string', 'zset'].includes(type), type);
      told.forEach((reply, i) => assert.equal(wrong[i], (i % 2 === 1) !== (type === 'string'), `${type} ${i}: ${JSON.stringify(reply)}`));
      if (type === 'string') assert.equal(await clients[1].ask('GET', key), '4');
      else assert.equal(await clients[1].ask('ZCARD', key), 4);
      const [head, state] = await Promise.all([get(`KEY#${key}`, 'KEY'), get(`INSTANCE#${key}`, 'STATE')]);
      assert.equal(head === undefined, type === 'zset');
      assert.equal(state === undefined, type === 'string');
    }
  } finally {
    for (const client of clients) client.close();
  }
});

test('counts of a pipeline are answered each by itself, whatever is wrong with others', () => withClient(async (client) => {
  await client.pipeline([['DEL', 'counted', 'other'], ['ZADD', 'counted', '1', 'a', '2', 'b', '3', 'c', '3', 'd'], ['SET', 'other', 'x']]);
  const replies = await client.pipeline([
    ['ZCOUNT', 'counted', '1', '2'], ['ZCOUNT', 'counted', '(1', '+inf'], ['ZCOUNT', 'counted', 'x', '2'], ['ZCOUNT', 'counted', '3', '1'],
    ['ZCOUNT', 'counted', '3', '3'], ['ZCOUNT', 'other', '1', '2'], ['ZCOUNT', 'other', '1', 'y'], ['ZCOUNT', 'nothing', '1', '2'],
    ['ZADD', 'counted', '3', 'e'], ['ZCOUNT', 'counted', '3', '3']]);
  const notFloat = '-ERR min or max is not a float';
  assert.deepEqual(replies.map((reply) => String(reply).trim()), [':2', ':3', notFloat, ':0', ':2',
    '-WRONGTYPE Operation against a key holding the wrong kind of value', notFloat, ':0', ':1', ':3']);
}));

test('a pipeline that changes a key\'s type again and again is done in order', () => withClient(async (client) => {
  const commands = [];
  for (let i = 0; i < 200; i++)
    commands.push(['ZADD', 'turns', String(i), 'm'], ['SET', 'turns', String(i)], ['INCR', 'turns'], ['ZADD', 'turns', '1', 'm'], ['GETDEL', 'turns'],
      ['ZADD', 'turns', '2', 'n'], ['ZCARD', 'turns'], ['DEL', 'turns']);
  const replies = (await client.pipeline(commands)).map(String);
  for (let i = 0; i < 200; i++) {
    const text = String(i + 1);
    assert.deepEqual(replies.slice(i * 8, i * 8 + 8), [':1\r\n', '+OK\r\n', `:${text}\r\n`,
      '-WRONGTYPE Operation against a key holding the wrong kind of value\r\n', `$${text.length}\r\n${text}\r\n`, ':1\r\n', ':1\r\n', ':1\r\n'], `round ${i}`);
  }
}));

test('counters of many clients add up', async () => {
  const clients = await Promise.all(Array.from({ length: 6 }, () => connect(server.redisPort)));
  try {
    await Promise.all(clients.map((client) => client.pipeline(Array.from({ length: 100 }, () => ['INCR', 'sum']))));
    assert.equal(await clients[0].ask('GET', 'sum'), '600');
  } finally {
    for (const client of clients) client.close();
  }
});

test('a value has a limit that is told', () => withClient(async (client) => {
  const large = Buffer.alloc(396 * 1024, 'x');
  assert.equal(await client.ask('SET', 'large', large), 'OK');
  assert.equal(await client.ask('STRLEN', 'large'), large.length);
  const error = 'ERR string exceeds maximum allowed size (396 KB)';
  assert.equal((await client.ask('APPEND', 'large', 'y')).error, error);
  assert.equal((await client.ask('SETRANGE', 'large', String(396 * 1024), 'y')).error, error);
  assert.equal((await client.ask('SET', 'large', Buffer.alloc(396 * 1024 + 1, 'x'))).error, error);
  assert.match((await client.ask('SET', 'n'.repeat(1001), 'x')).error, /^ERR The name of a key has 1001 bytes: at most 1000 can be/);
  assert.equal(await client.ask('DEL', 'large'), 1);
}));

test('node-redis and ioredis: a database by number, strings, scans of a type', async () => {
  const node = createClient({ url: `redis://127.0.0.1:${server.redisPort}/5` });
  await node.connect();
  const io = new Redis({ port: server.redisPort, host: '127.0.0.1', db: 5 });
  try {
    assert.equal(await node.set('a', 'x', { EX: 100, NX: true }), 'OK');
    assert.equal(await io.get('a'), 'x');
    assert.deepEqual(await io.mget('a', 'none'), ['x', null]);
    assert.equal(await node.incrBy('n', 5), 5);
    assert.equal(await io.incrbyfloat('n', 0.5), '5.5');
    await node.zAdd('z', { score: 1, value: 'm' });
    const found = [];
    for await (const part of io.scanStream({ type: 'string' })) found.push(...part);
    assert.deepEqual(found.sort(), ['a', 'n']);
    assert.equal(await node.dbSize(), 3);
    assert.equal(await node.sendCommand(['FLUSHDB']), 'OK');
    assert.equal(await io.dbsize(), 0);
  } finally {
    await node.disconnect();
    io.disconnect();
  }
});
