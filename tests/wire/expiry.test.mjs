// Time to live through the AWS SDK, with a clock that the test moves.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test, { after, before } from 'node:test';
import * as ddb from '@aws-sdk/client-dynamodb';
import * as streams from '@aws-sdk/client-dynamodb-streams';
import { rawClient } from '../lib/raw.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';
import { until } from '../lib/until.mjs';

const data = temporaryFolder();
let server, client;
const connect = (endpoint) => new ddb.DynamoDBClient({
  endpoint, region: 'eu-west-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' }, maxAttempts: 1,
});
const start = async () => {
  server = await startServer({ data, args: ['--test-clock'] });
  client = connect(server.endpoint);
};
const send = (name, input) => client.send(new ddb[`${name}Command`](input));
const S = (text) => ({ S: text });
const N = (number) => ({ N: String(number) });
const refused = (promise, name, message) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.name, name);
    if (message instanceof RegExp) assert.match(error.message, message);
    else assert.equal(error.message, message);
    return true;
  });
// The command line, as a test script would use it.
const cli = (command, ...args) => spawnSync(program, [command, '--endpoint', server.endpoint, ...args], { encoding: 'utf8' });
const forward = (time) => {
  const { status, stdout, stderr } = cli('clock', '--forward', time);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
};
const expire = () => {
  const { status, stdout, stderr } = cli('expire');
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout).expired;
};
const serverNow = () => Math.floor(Date.parse(JSON.parse(cli('clock').stdout).now) / 1000);

const createTable = (TableName, more = {}) => send('CreateTable', {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: ['pk', 'board'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  GlobalSecondaryIndexes: [
    { IndexName: 'byBoard', KeySchema: [{ AttributeName: 'board', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } },
  ],
  ...more,
});
const setTtl = (TableName, Enabled, AttributeName = 'ttl') =>
  send('UpdateTimeToLive', { TableName, TimeToLiveSpecification: { AttributeName, Enabled } });
const put = (pk, ttl, TableName = 'rooms') =>
  send('PutItem', { TableName, Item: { pk: S(pk), board: S('b'), ...(ttl === undefined ? {} : { ttl }) } });
const names = async (TableName = 'rooms') => (await send('Scan', { TableName })).Items.map(({ pk }) => pk.S).sort();
// Expires again and again, for the tree of a table may still be in the making; resolves to the names that are left.
const expireUntil = (holds, table) => until(() => { expire(); return names(table); }, (left) => assert.ok(holds(left), left.join(' ')));

before(async () => {
  await start();
  await createTable('rooms');
});
after(async () => {
  client.destroy();
  assert.equal(await server.stop(), 0);
});

test('settings are kept and told', async () => {
  const describe = async () => (await send('DescribeTimeToLive', { TableName: 'rooms' })).TimeToLiveDescription;
  assert.deepEqual(await describe(), { TimeToLiveStatus: 'DISABLED' });
  await refused(setTtl('rooms', false), 'ValidationException', 'TimeToLive is already disabled');
  const { TimeToLiveSpecification } = await setTtl('rooms', true, 'other');
  assert.deepEqual(TimeToLiveSpecification, { AttributeName: 'other', Enabled: true });
  assert.deepEqual(await describe(), { AttributeName: 'other', TimeToLiveStatus: 'ENABLED' });
  await refused(setTtl('rooms', true, 'other'), 'ValidationException', 'TimeToLive is already enabled');
  const active = 'TimeToLive is active on a different AttributeName: current AttributeName is other';
  await refused(setTtl('rooms', true, 'ttl'), 'ValidationException', active);
  await refused(setTtl('rooms', false, 'ttl'), 'ValidationException', active);
  await setTtl('rooms', false, 'other');
  assert.deepEqual(await describe(), { TimeToLiveStatus: 'DISABLED' });
  await setTtl('rooms', true);
  await refused(setTtl('nowhere', true), 'ResourceNotFoundException', 'Requested resource not found: Table: nowhere not found');
  await refused(setTtl('rooms', true, ''), 'ValidationException',
    "1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must have length greater than or equal to 1");
  await refused(setTtl('rooms', undefined), 'ValidationException', /'timeToLiveSpecification.enabled' failed to satisfy constraint: Member must not be null/);
});

test('an item goes at its time, from table, index and counts', async () => {
  const now = serverNow();
  await put('stays');
  await put('text', S(String(now)));
  await put('long-ago', N(now - 6 * 365 * 24 * 3600));
  await put('in-an-hour', N(now + 3600));
  await put('in-a-day', N(now + 24 * 3600));
  await put('fraction', N(now + 3600.5));
  expire();
  assert.equal((await names()).length, 6);
  forward('3602s');
  expire();
  assert.deepEqual(await names(), ['in-a-day', 'long-ago', 'stays', 'text']);
  const { Items } = await send('Query', {
    TableName: 'rooms', IndexName: 'byBoard', KeyConditionExpression: 'board = :b', ExpressionAttributeValues: { ':b': S('b') },
  });
  assert.equal(Items.length, 4);
  const { Table } = await send('DescribeTable', { TableName: 'rooms' });
  assert.equal(Table.ItemCount, 4);
  assert.equal(Table.GlobalSecondaryIndexes[0].ItemCount, 4);
  forward('24h');
  expire();
  assert.deepEqual(await names(), ['long-ago', 'stays', 'text']);
});

test('soon, without being asked', async () => {
  await put('soon', N(serverNow() + 3600));
  assert.ok((await names()).includes('soon'));
  forward('1h');
  // docs/dynamodb.md promises a second (bench/expire.mjs); a busy machine may take some
  await until(names, (left) => assert.ok(!left.includes('soon'), 'it should be gone'));
});

test('a new time counts, also after a kill', async () => {
  const now = serverNow();
  await put('renewed', N(now + 60));
  await put('not-renewed', N(now + 60));
  await send('UpdateItem', {
    TableName: 'rooms', Key: { pk: S('renewed') }, UpdateExpression: 'SET #t = :t', ExpressionAttributeNames: { '#t': 'ttl' },
    ExpressionAttributeValues: { ':t': N(now + 600) },
  });
  client.destroy();
  await server.stop('SIGKILL');
  await start();
  // a new process, whose clock has not been moved
  forward(`${Math.max(0, now - serverNow()) + 70}s`);
  const left = await expireUntil((there) => !there.includes('not-renewed'));
  assert.ok(left.includes('renewed'));
  assert.deepEqual((await send('DescribeTimeToLive', { TableName: 'rooms' })).TimeToLiveDescription,
    { AttributeName: 'ttl', TimeToLiveStatus: 'ENABLED' });
});

test('switched on for items that are there, and a table that goes at once', async () => {
  await createTable('late');
  const now = serverNow();
  for (let i = 0; i < 30; i++) await put(`p${i}`, N(now + (i % 2 ? 10 : 1000)), 'late');
  await setTtl('late', true);
  forward('20s');
  assert.equal((await expireUntil((there) => there.length <= 15, 'late')).length, 15);
  await setTtl('late', false);
  await setTtl('late', true);
  await send('DeleteTable', { TableName: 'late' });
});

test('the stream says who removed it', async () => {
  await createTable('told', { StreamSpecification: { StreamEnabled: true, StreamViewType: 'OLD_IMAGE' } });
  await setTtl('told', true);
  await put('ended', N(serverNow() + 600), 'told');
  await put('deleted', N(serverNow() + 600), 'told');
  await send('DeleteItem', { TableName: 'told', Key: { pk: S('deleted') } });
  forward('700s');
  await expireUntil((there) => there.length === 0, 'told');
  const reader = new streams.DynamoDBStreamsClient({
    endpoint: server.endpoint, region: 'eu-west-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' }, maxAttempts: 1,
  });
  const ask = (name, input) => reader.send(new streams[`${name}Command`](input));
  const { Table: { LatestStreamArn: StreamArn } } = await send('DescribeTable', { TableName: 'told' });
  const removed = [];
  for (const { ShardId } of (await ask('DescribeStream', { StreamArn })).StreamDescription.Shards) {
    const { ShardIterator } = await ask('GetShardIterator', { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
    removed.push(...(await ask('GetRecords', { ShardIterator })).Records.filter(({ eventName }) => eventName === 'REMOVE'));
  }
  reader.destroy();
  const by = (pk) => removed.find(({ dynamodb }) => dynamodb.Keys.pk.S === pk);
  assert.equal(removed.length, 2);
  assert.deepEqual(by('ended').userIdentity, { PrincipalId: 'dynamodb.amazonaws.com', Type: 'Service' });
  assert.equal(by('ended').dynamodb.OldImage.board.S, 'b');
  assert.equal(by('deleted').userIdentity, undefined);
});

test('many at once', async () => {
  const raw = rawClient(server.endpoint);
  const now = serverNow();
  for (let i = 0; i < 3000; i += 25)
    await raw.must('BatchWriteItem', {
      RequestItems: { rooms: Array.from({ length: 25 }, (_, j) => ({ PutRequest: { Item: { pk: S(`many-${i + j}`), ttl: N(now + 100) } } })) },
    });
  forward('200s');
  expire();
  const { Table } = await raw.must('DescribeTable', { TableName: 'rooms' });
  assert.ok(Table.ItemCount < 100, `${Table.ItemCount} are left`);
  raw.close();
});

test('who asks for expiry while the times of a table are still being collected is told when all is gone', async () => {
  const raw = rawClient(server.endpoint), past = serverNow() - 100, count = 30000;
  await createTable('late');
  for (let i = 0; i < count; i += 500)
    await Promise.all(Array.from({ length: 20 }, (_, k) => raw.must('BatchWriteItem', {
      RequestItems: { late: Array.from({ length: 25 }, (_, j) => ({ PutRequest: { Item: { pk: S(`late-${i + 25 * k + j}`), ttl: N(past) } } })) },
    })));
  await raw.must('UpdateTimeToLive', { TableName: 'late', TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true } });
  const { status, body } = await raw.send('', {}, 'POST', '/admin/expire');
  assert.equal(status, 200, body);
  assert.deepEqual((await raw.must('Scan', { TableName: 'late', Select: 'COUNT' })).Count, 0, body);
  await raw.must('DeleteTable', { TableName: 'late' });
  raw.close();
});

test('the clock is only for those who asked for it at the start', async () => {
  const plain = await startServer();
  const raw = rawClient(plain.endpoint);
  for (const path of ['/admin/clock', '/admin/expire']) {
    const { status, body } = await raw.send('{"forward":"1h"}', {}, 'POST', path);
    assert.equal(status, 403);
    assert.match(JSON.parse(body).error, /--test-clock/);
  }
  const { status, stderr } = spawnSync(program, ['clock', '--forward', '1h', '--endpoint', plain.endpoint], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /--test-clock/);
  raw.close();
  assert.equal(await plain.stop(), 0);
  const open = spawnSync(program, ['serve', '--memory', '--test-clock', '--http', '0.0.0.0:0'], { encoding: 'utf8', timeout: 120_000 });
  assert.equal(open.status, 2);
  assert.match(open.stderr, /--test-clock is for tests/);
});

test('what the clock does not take', async () => {
  const raw = rawClient(server.endpoint);
  for (const body of ['', '{}', '{"forward":1}', '{"forward":"1 h"}', '{"forward":"h"}', '{"forward":"-1h"}', '{"forward":"99999999999999999999h"}', '{"forward":"40000d"}'])
    assert.equal((await raw.send(body, {}, 'POST', '/admin/clock')).status, 400, body);
  assert.equal((await raw.send('', {}, 'GET', '/admin/expire')).status, 405);
  raw.close();
  assert.equal(spawnSync(program, ['clock', '--nonsense']).status, 2);
  assert.equal(spawnSync(program, ['expire', '--endpoint', 'ftp://127.0.0.1:1']).status, 2);
  assert.equal(spawnSync(program, ['expire', '--endpoint', 'https://127.0.0.1:1']).status, 1);
  assert.equal(spawnSync(program, ['expire', '--endpoint', 'http://127.0.0.1:1']).status, 1);
});
