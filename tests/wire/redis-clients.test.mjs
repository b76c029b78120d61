// Leaderboard code as people write it, with the clients they write it with: node-redis, ioredis,
// redis-cli, redis-benchmark. And one copy of the data: what Redis clients write, the AWS SDK and
// REST see, and the reverse.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import Redis from 'ioredis';
import { createClient } from 'redis';
import { startServer, temporaryFolder } from '../lib/server.mjs';

const run = promisify(execFile);
const haveTools = spawnSync('redis-cli', ['--version']).status === 0;
let server;

before(async () => { server = await startServer(); });
after(() => server.stop());

async function nodeRedis(options = {}) {
  const client = createClient({ socket: { host: '127.0.0.1', port: server.redisPort }, ...options });
  client.on('error', (error) => { throw error; });
  return client.connect();
}

test('node-redis: a leaderboard', async () => {
  const client = await nodeRedis();
  try {
    await client.zAdd('nr:board', [{ value: 'ann', score: 120 }, { value: 'bob', score: 90 }, { value: 'cy', score: 150 }]);
    assert.equal(await client.zAdd('nr:board', { value: 'bob', score: 200 }, { GT: true, CH: true }), 1);
    assert.equal(await client.zAdd('nr:board', { value: 'bob', score: 100 }, { GT: true, CH: true }), 0);
    assert.equal(await client.zIncrBy('nr:board', 5.5, 'ann'), 125.5);
    assert.equal(await client.zRevRank('nr:board', 'bob'), 0);
    assert.equal(await client.zScore('nr:board', 'cy'), 150);
    assert.equal(await client.zCard('nr:board'), 3);
    assert.deepEqual(await client.zRangeWithScores('nr:board', 0, 1, { REV: true }),
      [{ value: 'bob', score: 200 }, { value: 'cy', score: 150 }]);
    assert.deepEqual(await client.zRange('nr:board', 100, 160, { BY: 'SCORE' }), ['ann', 'cy']);
    assert.deepEqual(await client.zmScore('nr:board', ['ann', 'nobody']), [125.5, null]);
    assert.equal(await client.zCount('nr:board', '-inf', 160), 2);
    assert.deepEqual(await client.zPopMin('nr:board'), { value: 'ann', score: 125.5 });
    const found = [];
    for await (const { value, score } of client.zScanIterator('nr:board')) found.push([value, score]);
    assert.deepEqual(found, [['cy', 150], ['bob', 200]]);
    const names = [];
    for await (const key of client.scanIterator({ MATCH: 'nr:*' })) names.push(key);
    assert.deepEqual(names, ['nr:board']);
  } finally {
    await client.quit();
  }
});

test('node-redis: transactions, and one that lost its race', async () => {
  const client = await nodeRedis();
  const other = await nodeRedis();
  try {
    const [added, rank, total] = await client.multi().zAdd('nr:tx', { value: 'a', score: 1 }).zRank('nr:tx', 'a').zCard('nr:tx').exec();
    assert.deepEqual([added, rank, total], [1, 0, 1]);
    await client.watch('nr:tx');
    await other.zAdd('nr:tx', { value: 'b', score: 2 });
    await assert.rejects(client.multi().zAdd('nr:tx', { value: 'c', score: 3 }).exec(), /watched keys has been changed/);
    assert.equal(await client.zCard('nr:tx'), 2);
    await client.expire('nr:tx', 100);
    const left = await client.ttl('nr:tx');
    assert.ok(left > 40 && left <= 100, `${left} s`);
    assert.equal(await client.persist('nr:tx'), true);
  } finally {
    await Promise.all([client.quit(), other.quit()]);
  }
});

test('node-redis: a pop that waits', async () => {
  const waiting = await nodeRedis();
  const client = await nodeRedis();
  try {
    const popped = waiting.bzPopMax('nr:queue', 60);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await client.zAdd('nr:queue', { value: 'job', score: 7 });
    assert.deepEqual(await popped, { key: 'nr:queue', value: 'job', score: 7 });
    assert.equal(await waiting.bzPopMin('nr:queue', 0.05), null);
  } finally {
    await Promise.all([client.quit(), waiting.quit()]);
  }
});

test('ioredis: a leaderboard, pipelines, scans, transactions', async () => {
  const client = new Redis(server.redisPort, '127.0.0.1');
  try {
    await client.zadd('io:board', 10, 'ann', 20, 'bob', 20, 'abe');
    assert.deepEqual(await client.zrevrange('io:board', 0, -1, 'WITHSCORES'), ['bob', '20', 'abe', '20', 'ann', '10']);
    const results = await client.pipeline().zincrby('io:board', 15, 'ann').zrevrank('io:board', 'ann').zscore('io:board', 'nobody').exec();
    assert.deepEqual(results, [[null, '25'], [null, 0], [null, null]]);
    assert.deepEqual(await client.multi().zrem('io:board', 'abe').zrange('io:board', 0, -1).exec(), [[null, 1], [null, ['bob', 'ann']]]);
    const many = Array.from({ length: 500 }, (_, i) => [i, `m${i}`]).flat();
    assert.equal(await client.zadd('io:many', ...many), 500);
    const seen = new Set();
    for await (const part of client.zscanStream('io:many', { count: 50 })) for (let i = 0; i < part.length; i += 2) seen.add(part[i]);
    assert.equal(seen.size, 500);
    assert.deepEqual(await client.zunion(2, 'io:board', 'io:none', 'WITHSCORES'), ['bob', '20', 'ann', '25']);
    await assert.rejects(client.zadd('io:board', 'x', 'y'), /ERR value is not a valid float/);
    await assert.rejects(client.get('io:board'), /WRONGTYPE/);
    await assert.rejects(client.lpush('io:list', 'x'), /ERR unknown command 'lpush': there are strings, hashes, sets and sorted sets/);
    assert.match(await client.info('server'), /redis_version:7/);
    assert.equal(await client.del('io:board', 'io:many'), 2);
  } finally {
    client.disconnect();
  }
});

test('redis-cli asks and prints', { skip: !haveTools }, async () => {
  const cli = async (...args) => (await run('redis-cli', ['-p', server.redisPort, ...args])).stdout;
  assert.equal(await cli('ZADD', 'cli', '1', 'a', '2', 'b'), '2\n');
  assert.equal(await cli('-3', 'ZRANGE', 'cli', '0', '-1', 'WITHSCORES'), 'a\n1\nb\n2\n');
  assert.match(await cli('COMMAND', 'DOCS', 'zadd'), /summary/);
  assert.match(await cli('INFO', 'keyspace'), /db0:keys=\d+/);
  assert.match(await cli('--scan', '--pattern', 'cl*'), /^cli\n$/);
  assert.match(await cli('--bigkeys'), /Biggest\s+zset found/);
});

test('redis-benchmark runs', { skip: !haveTools }, async () => {
  const { stdout } = await run('redis-benchmark', ['-p', server.redisPort, '-n', '2000', '-c', '20', '-P', '4', '-q', '-t', 'ping,zadd']);
  assert.match(stdout, /ZADD: [\d.]+ requests per second/);
  const own = await run('redis-benchmark', ['-p', server.redisPort, '-n', '1000', '-r', '1000', '-q', 'ZREVRANK', 'myzset', 'element:__rand_int__']);
  assert.match(own.stdout, /requests per second/);
});

test('one copy: Redis, the AWS SDK and REST', async () => {
  const redis = new Redis(server.redisPort, '127.0.0.1');
  const table = DynamoDBDocumentClient.from(new DynamoDBClient({
    endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  }));
  const ranks = async (name) => (await table.send(new QueryCommand({
    TableName: 'gametable', IndexName: 'ranks', ScanIndexForward: false,
    KeyConditionExpression: 'PK = :board', ExpressionAttributeValues: { ':board': `BOARD#${name}` },
  }))).Items.map(({ SK, score }) => [SK, score]);
  try {
    await redis.zadd('one:board', 5, 'ann', 7.25, 'bob');
    assert.deepEqual(await ranks('one:board'), [['bob', 7.25], ['ann', 5]]);
    const page = await (await fetch(new URL('/v1/boards/one:board/entries', server.endpoint))).json();
    assert.deepEqual(page.entries.map(({ member, score }) => [member, Number(score)]), [['bob', 7.25], ['ann', 5]]);
    // the reverse
    await table.send(new PutCommand({ TableName: 'gametable', Item: { PK: 'BOARD#one:board', SK: 'cy', score: 9, subscore: 0, tie: 0 } }));
    await table.send(new UpdateCommand({
      TableName: 'gametable', Key: { PK: 'BOARD#one:board', SK: 'ann' }, UpdateExpression: 'SET score = :s',
      ExpressionAttributeValues: { ':s': 8 },
    }));
    assert.deepEqual(await redis.zrevrange('one:board', 0, -1, 'WITHSCORES'), ['cy', '9', 'ann', '8', 'bob', '7.25']);
    assert.equal(await redis.zrevrank('one:board', 'cy'), 0);
    const put = await fetch(new URL('/v1/boards/one:board/entries/dee', server.endpoint),
      { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ score: 11 }) });
    assert.ok(put.ok, await put.text());
    assert.equal(await redis.zrevrank('one:board', 'dee'), 0);
    // a board that only the SDK made
    await table.send(new PutCommand({ TableName: 'gametable', Item: { PK: 'BOARD#one:bare', SK: 'eve', score: 3, subscore: 0, tie: 0 } }));
    assert.deepEqual(await redis.zrange('one:bare', 0, -1, 'WITHSCORES'), ['eve', '3']);
    assert.equal(await redis.zincrby('one:bare', 2, 'eve'), '5');
    // a pop waits for whoever writes
    const popped = redis.bzpopmin('one:queue', 60);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await table.send(new PutCommand({ TableName: 'gametable', Item: { PK: 'BOARD#one:queue', SK: 'job', score: 1, subscore: 0, tie: 0 } }));
    assert.deepEqual(await popped, ['one:queue', 'job', '1']);
    assert.equal(await redis.del('one:board'), 1);
    assert.deepEqual(await ranks('one:board'), []);
  } finally {
    redis.disconnect();
    table.destroy();
  }
});

test('what was answered is there after a restart', async () => {
  const data = temporaryFolder();
  const first = await startServer({ data });
  const client = new Redis(first.redisPort, '127.0.0.1');
  await client.multi().zadd('kept', 1, 'a', 2, 'b').expire('kept', 1000).exec();
  await client.zadd('gone', 1, 'a');
  await client.del('gone');
  client.disconnect();
  await first.stop('SIGKILL');
  const second = await startServer({ data });
  const again = new Redis(second.redisPort, '127.0.0.1');
  try {
    assert.deepEqual(await again.zrange('kept', 0, -1, 'WITHSCORES'), ['a', '1', 'b', '2']);
    assert.ok((await again.ttl('kept')) > 900);
    assert.deepEqual(await again.keys('*'), ['kept']);
  } finally {
    again.disconnect();
    await second.stop();
  }
});

test('a set too large for one commit goes at once for all, and can be made again', async () => {
  const client = new Redis(server.redisPort, '127.0.0.1');
  try {
    const load = async (from) => {
      for (let i = from; i < from + 25000; i += 5000)
        await client.zadd('large', ...Array.from({ length: 5000 }, (_, k) => [i + k, `member:${i + k}`]).flat());
    };
    await load(0);
    assert.equal(await client.zcard('large'), 25000);
    // A scan tells all that is there throughout, whatever comes and goes.
    const seen = new Set();
    let cursor = '0';
    do {
      const [next, part] = await client.zscan('large', cursor, 'COUNT', 3000);
      for (let i = 0; i < part.length; i += 2) seen.add(part[i]);
      await client.zrem('large', `member:${seen.size}`, `member:${24999 - seen.size}`);
      await client.zincrby('large', -100000, `member:${seen.size + 2}`);
      cursor = next;
    } while (cursor !== '0');
    const stayed = await client.zrange('large', 0, -1);
    assert.deepEqual(stayed.filter((member) => !seen.has(member)), []);
    assert.equal(await client.del('large'), 1);
    assert.equal(await client.exists('large'), 0);
    assert.equal(await client.zcard('large'), 0);
    assert.equal(await client.zadd('large', 1, 'new'), 1);
    assert.deepEqual(await client.zrange('large', 0, -1), ['new']);
  } finally {
    client.disconnect();
  }
});
