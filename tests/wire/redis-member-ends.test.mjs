// Members of sorted sets that go by themselves: ZEXPIRE and its family, which Redis does not have.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { connect, decode, plain } from '../redis/resp.mjs';
import { restClient } from '../lib/rest.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';

const data = temporaryFolder();
let server, client;
before(async () => {
  server = await startServer({ data });
  client = await connect(server.redisPort);
});
after(async () => {
  client.close();
  assert.equal(await server.stop(), 0);
});
const many = async (commands) => (await client.pipeline(commands)).map((reply) => plain(decode(reply)));
const near = (told, expected) => assert.ok(told <= expected && told > expected - 60, `${told} is not about ${expected}`);
async function until(condition, what) {
  const end = Date.now() + 60000;
  while (!(await condition())) {
    assert.ok(Date.now() < end, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('ends are set, told, and taken away', async () => {
  assert.deepEqual(await many([['ZADD', 'z', '1', 'a', '2', 'b', '3', 'c'],
    ['ZEXPIRE', 'z', '1000', 'MEMBERS', '2', 'a', 'nobody'],
    ['ZEXPIRE', 'z', '2000', 'NX', 'MEMBERS', '2', 'a', 'b'],
    ['ZEXPIRE', 'z', '500', 'GT', 'MEMBERS', '3', 'a', 'b', 'c'],
    ['ZEXPIRE', 'z', '500', 'LT', 'MEMBERS', '2', 'a', 'c'],
    ['ZEXPIRE', 'z', '700', 'XX', 'MEMBERS', '1', 'a'],
    ['ZPERSIST', 'z', 'MEMBERS', '3', 'b', 'b', 'nobody'],
    ['ZEXPIREAT', 'z', '4102444800', 'MEMBERS', '1', 'b'],
    ['ZEXPIRETIME', 'z', 'MEMBERS', '3', 'b', 'nobody', 'b']]),
  [3, [1, -2], [0, 1], [0, 0, 0], [1, 1], [1], [1, -1, -2], [1], [4102444800, -2, 4102444800]]);
  const [a, b, c, none] = await client.ask('ZTTL', 'z', 'MEMBERS', '4', 'a', 'b', 'c', 'd');
  near(a, 700);
  assert.ok(b > 1e9);
  near(c, 500);
  assert.equal(none, -2);
  assert.deepEqual(await many([['ZPERSIST', 'z', 'MEMBERS', '1', 'c'], ['ZTTL', 'z', 'MEMBERS', '1', 'c'], ['ZTTL', 'none', 'MEMBERS', '1', 'c'], ['ZRANK', 'z', 'c']]), [[1], [-1], [-2], 2]);
  // A new score leaves the end; a member that comes again has none.
  await many([['ZADD', 'z', '9', 'a'], ['ZINCRBY', 'z', '1', 'a']]);
  near((await client.ask('ZTTL', 'z', 'MEMBERS', '1', 'a'))[0], 700);
  assert.deepEqual(await many([['ZREM', 'z', 'a'], ['ZADD', 'z', '1', 'a'], ['ZTTL', 'z', 'MEMBERS', '1', 'a'],
    ['ZEXPIRE', 'z', '0', 'MEMBERS', '2', 'a', 'a'], ['ZEXPIREAT', 'z', '1', 'MEMBERS', '1', 'b'], ['ZRANGE', 'z', '0', '-1'], ['ZEXPIRE', 'z', '0', 'MEMBERS', '1', 'c'], ['EXISTS', 'z']]),
  [1, 1, [-1], [2, -2], [2], ['c'], [2], 0]);
});

test('they are part of transactions and scripts', async () => {
  assert.deepEqual((await many([['MULTI'], ['ZADD', 't', '1', 'a', '2', 'b'], ['ZEXPIRE', 't', '100', 'MEMBERS', '2', 'a', 'b'], ['ZREM', 't', 'b'], ['ZADD', 't', '3', 'b'],
    ['ZTTL', 't', 'MEMBERS', '1', 'b'], ['ZPERSIST', 't', 'MEMBERS', '1', 'a'], ['ZEXPIREAT', 't', '4102444800', 'MEMBERS', '1', 'a'], ['ZEXPIRETIME', 't', 'MEMBERS', '2', 'a', 'b'], ['EXEC']])).at(-1),
  [2, [1, 1], 1, 1, [-1], [1], [1], [4102444800, -1]]);
  assert.deepEqual(await client.ask('ZEXPIRETIME', 't', 'MEMBERS', '2', 'a', 'b'), [4102444800, -1]);
  assert.deepEqual(await client.ask('EVAL', "return redis.call('ZEXPIREAT', KEYS[1], 4102444801, 'MEMBERS', 1, 'b')", '1', 't'), [1]);
  assert.deepEqual(await client.ask('ZEXPIRETIME', 't', 'MEMBERS', '1', 'b'), [4102444801]);
});

test('wrong arguments are refused, and change nothing', async () => {
  await client.ask('ZADD', 'w', '1', 'a');
  await client.ask('SET', 'text', 'x');
  for (const [args, error] of [
    [['ZEXPIRE', 'w', '10', 'MEMBERS', '1'], /wrong number of arguments/],
    [['ZEXPIRE', 'w', 'x', 'MEMBERS', '1', 'a'], /not an integer/],
    [['ZEXPIRE', 'w', '-1', 'MEMBERS', '1', 'a'], /invalid expire time/],
    [['ZEXPIRE', 'w', '9223372036854775807', 'MEMBERS', '1', 'a'], /invalid expire time/],
    [['ZEXPIRE', 'w', '10', 'FIELDS', '1', 'a'], /MEMBERS is missing/],
    [['ZEXPIRE', 'w', '10', 'MEMBERS', '0', 'a'], /greater than 0/],
    [['ZEXPIRE', 'w', '10', 'MEMBERS', '2', 'a'], /must match/],
    [['ZTTL', 'w', 'MEMBERS', '2', 'a'], /must match/],
    [['ZEXPIRE', 'text', '10', 'MEMBERS', '1', 'a'], /WRONGTYPE/],
    [['ZTTL', 'text', 'MEMBERS', '1', 'a'], /WRONGTYPE/],
  ]) assert.match((await client.ask(...args)).error, error, args.join(' '));
  assert.deepEqual(await client.ask('ZTTL', 'w', 'MEMBERS', '1', 'a'), [-1]);
});

test('when its time has come a member is gone for everybody, and the others move up', async () => {
  const rest = await restClient(server.endpoint);
  await client.ask('ZADD', 'r', '30', 'ann', '20', 'bob', '10', 'cy');
  await client.ask('ZEXPIRE', 'r', '3', 'MEMBERS', '1', 'ann');
  const { entry } = await rest.must('GET', '/boards/r/entries/ann');
  assert.ok(Math.abs(Date.parse(entry.ends) - Date.now()) < 60000, entry.ends);
  assert.equal((await rest.must('GET', '/boards/r/entries/bob')).entry.ends, undefined);
  await until(async () => (await client.ask('ZSCORE', 'r', 'ann')) === null, 'the member goes');
  assert.equal(await client.ask('ZREVRANK', 'r', 'bob'), 0);
  assert.equal((await rest.must('GET', '/boards/r/entries/bob')).entry.rank, 1);
  assert.equal(await client.ask('ZCARD', 'r'), 2);
  await client.ask('ZEXPIRE', 'r', '1', 'MEMBERS', '2', 'bob', 'cy');
  await until(async () => (await client.ask('EXISTS', 'r')) === 0, 'a set goes with its last member');
  rest.close();
});

test('the end is the ttl of the item, which DynamoDB clients read and set, and is there after a restart', async () => {
  const db = () => new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
  const Key = { PK: { S: 'BOARD#d' }, SK: { S: 'a' } };
  await client.ask('ZADD', 'd', '1', 'a');
  await client.ask('ZEXPIREAT', 'd', '4102444800', 'MEMBERS', '1', 'a');
  assert.equal((await db().send(new GetItemCommand({ TableName: 'gametable', Key }))).Item.ttl.N, '4102444800');
  await db().send(new UpdateItemCommand({ TableName: 'gametable', Key, UpdateExpression: 'SET #t = :t', ExpressionAttributeNames: { '#t': 'ttl' }, ExpressionAttributeValues: { ':t': { N: '4102444801' } } }));
  assert.deepEqual(await client.ask('ZEXPIRETIME', 'd', 'MEMBERS', '1', 'a'), [4102444801]);
  client.close();
  await server.stop('SIGKILL');
  server = await startServer({ data });
  client = await connect(server.redisPort);
  assert.deepEqual(await client.ask('ZEXPIRETIME', 'd', 'MEMBERS', '1', 'a'), [4102444801]);
});
