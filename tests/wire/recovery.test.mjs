// Point-in-time recovery through the real SDK, over a restart, and from the command line.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as ddb from '@aws-sdk/client-dynamodb';
import { timePasses } from '../lib/clock.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

const data = path.join(temporaryFolder(), 'data');
const secondMs = 1000;
const dayMs = 24 * 60 * 60 * secondMs;
let server;
let client;
const connect = (endpoint) => new ddb.DynamoDBClient({
  endpoint, region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' }, maxAttempts: 1,
});
const start = async (folder = data, args = ['--test-clock']) => {
  server = await startServer({ data: folder, args });
  client = connect(server.endpoint);
};
const stop = async () => { client.destroy(); assert.equal(await server.stop(), 0); };
before(() => start());
after(stop);

const send = (name, input = {}) => client.send(new ddb[`${name}Command`](input));
const refused = (name, input, exception, text = /./) =>
  assert.rejects(send(name, input), (error) => {
    assert.equal(error.name, exception, error.message);
    assert.match(error.message, text);
    return true;
  });
const forward = (ms) => timePasses(server, `${ms}ms`);
const put = (TableName, pk, n) => send('PutItem', { TableName, Item: { pk: { S: pk }, n: { N: String(n) } } });
const scan = async (TableName) =>
  Object.fromEntries((await send('Scan', { TableName, ConsistentRead: true })).Items.map((item) => [item.pk.S, Number(item.n.N)]));
const active = async (TableName) => {
  for (let i = 0; i < 1200; i++) {
    const { Table } = await send('DescribeTable', { TableName });
    if (Table.TableStatus === 'ACTIVE') return Table;
    await sleep(50);
  }
  throw new Error('it takes too long');
};
const recovery = async (TableName) =>
  (await send('DescribeContinuousBackups', { TableName })).ContinuousBackupsDescription.PointInTimeRecoveryDescription;
const enable = async (TableName, PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true }) =>
  (await send('UpdateContinuousBackups', { TableName, PointInTimeRecoverySpecification })).ContinuousBackupsDescription;
// What the server's clock says, which is moved by these tests.
const now = async () => (await recovery('game')).LatestRestorableDateTime;
const restored = async (TargetTableName, RestoreDateTime) => {
  const { TableDescription } = await send('RestoreTableToPointInTime', { SourceTableName: 'game', TargetTableName, RestoreDateTime });
  assert.equal(TableDescription.TableStatus, 'CREATING');
  assert.equal(TableDescription.RestoreSummary.RestoreInProgress, true);
  assert.equal(+TableDescription.RestoreSummary.RestoreDateTime, +RestoreDateTime);
  assert.match(TableDescription.RestoreSummary.SourceTableArn, /:table\/game$/);
  await active(TargetTableName);
  return scan(TargetTableName);
};

const moments = [];
test('a table is had as it was', async () => {
  await send('CreateTable', {
    TableName: 'game',
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'n', AttributeType: 'N' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [{ IndexName: 'byN', KeySchema: [{ AttributeName: 'n', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } }],
    BillingMode: 'PAY_PER_REQUEST',
  });
  await put('game', 'before', 0);
  assert.deepEqual(await recovery('game'), { PointInTimeRecoveryStatus: 'DISABLED' });
  const { ContinuousBackupsStatus, PointInTimeRecoveryDescription } = await enable('game');
  assert.equal(ContinuousBackupsStatus, 'ENABLED');
  assert.equal(PointInTimeRecoveryDescription.PointInTimeRecoveryStatus, 'ENABLED');
  assert.equal(PointInTimeRecoveryDescription.RecoveryPeriodInDays, 35);
  assert.ok(PointInTimeRecoveryDescription.EarliestRestorableDateTime <= PointInTimeRecoveryDescription.LatestRestorableDateTime);
  for (let i = 1; i <= 3; i++) {
    await put('game', 'hero', i);
    await put('game', `only-${i}`, i);
    if (i === 2) await send('DeleteItem', { TableName: 'game', Key: { pk: { S: 'only-1' } } });
    await forward(2 * secondMs);
    moments.push(new Date(Math.floor(+(await now()) / secondMs) * secondMs));
    await forward(2 * secondMs);
  }
  assert.deepEqual(await restored('first', moments[0]), { before: 0, hero: 1, 'only-1': 1 });
  assert.deepEqual(await restored('second', moments[1]), { before: 0, hero: 2, 'only-2': 2 });
  const { Items } = await send('Query', { TableName: 'second', IndexName: 'byN', KeyConditionExpression: 'n = :n', ExpressionAttributeValues: { ':n': { N: '2' } } });
  assert.deepEqual(Items.map((item) => item.pk.S).sort(), ['hero', 'only-2']);
  await send('RestoreTableToPointInTime', { SourceTableName: 'game', TargetTableName: 'latest', UseLatestRestorableTime: true });
  await active('latest');
  assert.deepEqual(await scan('latest'), await scan('game'));
  assert.deepEqual(await recovery('latest'), { PointInTimeRecoveryStatus: 'DISABLED' });
});

test('also after a restart', async () => {
  const { EarliestRestorableDateTime } = await recovery('game');
  await stop();
  await start();
  await forward(dayMs);
  assert.deepEqual((await recovery('game')).EarliestRestorableDateTime, EarliestRestorableDateTime);
  await put('game', 'hero', 4);
  assert.deepEqual(await restored('first-again', moments[0]), { before: 0, hero: 1, 'only-1': 1 });
});

test('what cannot be had is refused in the words of the service', async () => {
  const order = { SourceTableName: 'game', TargetTableName: 'other' };
  await refused('RestoreTableToPointInTime', { ...order, RestoreDateTime: new Date(+moments[0] - 3600 * secondMs) }, 'InvalidRestoreTimeException', /EarliestRestorableDateTime/);
  await refused('RestoreTableToPointInTime', { ...order, RestoreDateTime: new Date(+(await now()) + 3600 * secondMs) }, 'InvalidRestoreTimeException');
  await refused('RestoreTableToPointInTime', order, 'ValidationException', /RestoreDateTime/);
  await refused('RestoreTableToPointInTime', { ...order, UseLatestRestorableTime: true, RestoreDateTime: moments[0] }, 'ValidationException');
  await refused('RestoreTableToPointInTime', { ...order, SourceTableName: 'missing', UseLatestRestorableTime: true }, 'TableNotFoundException');
  await refused('RestoreTableToPointInTime', { ...order, SourceTableName: 'first', UseLatestRestorableTime: true }, 'PointInTimeRecoveryUnavailableException', /'first'/);
  await refused('RestoreTableToPointInTime', { ...order, TargetTableName: 'first', UseLatestRestorableTime: true }, 'TableAlreadyExistsException');
  await refused('UpdateContinuousBackups', { TableName: 'missing', PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }, 'TableNotFoundException');
  for (const RecoveryPeriodInDays of [0, 36])
    await refused('UpdateContinuousBackups', { TableName: 'game', PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays } }, 'ValidationException');
});

test('the whole folder is had as it was, from the command line', async () => {
  const target = path.join(temporaryFolder(), 'past');
  const run = (...args) => spawnSync(program, args, { encoding: 'utf8', timeout: 120_000 });
  await stop();
  const early = run('restore', '--data', target, '--at', '2001-01-01T00:00:00Z', data);
  assert.equal(early.status, 1, early.stderr);
  assert.match(early.stderr, /does not reach back/);
  assert.equal(run('restore', '--data', target, '--at', 'yesterday', data).status, 2);
  const made = run('restore', '--data', target, '--at', moments[1].toISOString(), data);
  assert.equal(made.status, 0, made.stderr);
  assert.equal(run('restore', '--data', target, '--at', moments[1].toISOString(), data).status, 1); // nothing is overwritten
  const verified = run('verify', '--data', target);
  assert.equal(verified.status, 0, verified.stdout + verified.stderr);
  await start(target);
  assert.deepEqual(await scan('game'), { before: 0, hero: 2, 'only-2': 2 });
  await stop();
  await start();
  assert.equal((await scan('game')).hero, 4);
});

test('the days are kept, and switching it off forgets', async () => {
  await enable('game', { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 1 });
  await forward(3 * dayMs);
  const { RecoveryPeriodInDays, EarliestRestorableDateTime, LatestRestorableDateTime } = await recovery('game');
  assert.equal(RecoveryPeriodInDays, 1);
  assert.ok(LatestRestorableDateTime - EarliestRestorableDateTime <= dayMs);
  await refused('RestoreTableToPointInTime', { SourceTableName: 'game', TargetTableName: 'gone', RestoreDateTime: moments[0] }, 'InvalidRestoreTimeException');
  await enable('game', { PointInTimeRecoveryEnabled: false });
  assert.deepEqual(await recovery('game'), { PointInTimeRecoveryStatus: 'DISABLED' });
  await refused('RestoreTableToPointInTime', { SourceTableName: 'game', TargetTableName: 'gone', UseLatestRestorableTime: true }, 'PointInTimeRecoveryUnavailableException');
  assert.deepEqual((await send('ListTagsOfResource', { ResourceArn: 'arn:aws:dynamodb:eu-west-1:000000000000:table/game' })).Tags, []);
});
