// What tests order of a server: throttled and slow requests, small pages, enforced capacity.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { BatchWriteItemCommand, CreateTableCommand, DynamoDBClient, PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb';
import { rawClient } from '../lib/raw.mjs';
import { startServer } from '../lib/server.mjs';

let server, client, sdk;
before(async () => {
  server = await startServer({ game: false, args: ['--test-faults', 'throttle begun PutItem 1'] });
  client = rawClient(server.endpoint);
  sdk = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' }, maxAttempts: 1 });
  for (const TableName of ['begun', 'other']) await sdk.send(new CreateTableCommand(schema(TableName)));
});
after(async () => {
  client.close();
  sdk.destroy();
  assert.equal(await server.stop(), 0);
});

const schema = (TableName, more = { BillingMode: 'PAY_PER_REQUEST' }) => ({
  TableName, AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }], KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], ...more,
});
const put = (TableName, pk = 'a', more = {}) => client.call('PutItem', { TableName, Item: { pk: { S: pk }, ...more } });
const outcome = async (asked) => {
  const { status, json } = await asked;
  return status === 200 ? 'done' : json.__type.split('#')[1];
};
const throttled = 'ProvisionedThroughputExceededException';
const admin = async (method, body) => {
  const answer = await client.send(body === undefined ? '' : JSON.stringify(body), { 'Content-Type': 'application/json' }, method, '/admin/faults');
  return { status: answer.status, json: JSON.parse(answer.body) };
};
const order = async (faults) => assert.deepEqual(await admin('POST', { faults }), { status: 200, json: { faults } });

test('the setting gives the first orders, the admin call others', async () => {
  assert.deepEqual((await admin('GET')).json, { faults: 'throttle begun PutItem 1' });
  assert.equal(await outcome(put('begun')), throttled);
  assert.equal(await outcome(put('other')), 'done');
  await order('');
  assert.equal(await outcome(put('begun')), 'done');
  for (const faults of ['slow x', 'throttle begun PutItem', 'throttle begun PutItem 0', 'delay * * 5', 'delay * * 61s', 'page * Query 1 2', 'capacity']) {
    const { status, json } = await admin('POST', { faults });
    assert.equal(status, 400);
    assert.match(json.error, /is no order/);
  }
  assert.equal((await admin('POST', {})).status, 400);
  assert.equal((await admin('DELETE')).status, 405);
  assert.deepEqual((await admin('GET')).json, { faults: '' }, 'a refused order changes nothing');
});

test('every Nth request to a table is throttled, and SDKs try again', async () => {
  await order('throttle begun PutItem 3');
  const found = [];
  for (let i = 0; i < 6; i++) found.push(await outcome(put('begun')));
  assert.deepEqual(found, ['done', 'done', throttled, 'done', 'done', throttled]);
  assert.equal(await outcome(client.call('GetItem', { TableName: 'begun', Key: { pk: { S: 'a' } } })), 'done', 'another operation');
  await order('throttle other * 2');
  const again = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' }, maxAttempts: 3 });
  for (let i = 0; i < 4; i++) await again.send(new PutItemCommand({ TableName: 'other', Item: { pk: { S: String(i) } } }));
  again.destroy();
  await order('throttle other BatchWriteItem 1; throttle begun TransactWriteItems 1');
  const Item = { pk: { S: 'x' } };
  await assert.rejects(sdk.send(new BatchWriteItemCommand({ RequestItems: { begun: [{ PutRequest: { Item } }], other: [{ PutRequest: { Item } }] } })), { name: throttled });
  assert.equal(await outcome(client.call('TransactWriteItems', { TransactItems: [{ Put: { TableName: 'begun', Item } }] })), throttled);
  assert.equal(await outcome(client.call('TransactWriteItems', { TransactItems: [{ Put: { TableName: 'other', Item } }] })), 'done');
  await order('');
});

test('pages are as small as ordered, and all is still found', async () => {
  for (let i = 0; i < 7; i++) await put('other', `p${i}`);
  const whole = (await client.call('Scan', { TableName: 'other' })).json.Count;
  await order('page other Scan 3\npage * Query 1');
  const counts = [];
  for await (const page of paginateScan({ client: sdk }, { TableName: 'other' })) counts.push(page.Count);
  assert.ok(counts.length > 2 && counts.every((count) => count <= 3), String(counts));
  assert.equal(counts.reduce((a, b) => a + b), whole);
  assert.equal((await client.call('Scan', { TableName: 'other', Limit: 2 })).json.Count, 2);
  await order('');
});

test('answers come as late as ordered, and others do not wait', async () => {
  await order('delay begun * 300ms');
  const begin = performance.now();
  const slow = put('begun').then(() => performance.now() - begin);
  assert.equal(await outcome(put('other')), 'done');
  assert.ok(await slow >= 300);
  assert.equal(await outcome(client.call('GetItem', { TableName: 'begun', Key: {} })), 'ValidationException', 'a late fault is a fault');
  await order('');
});

test('provisioned capacity is enforced', async () => {
  await client.must('CreateTable', schema('small', { BillingMode: 'PROVISIONED', ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 } }));
  await order('capacity *');
  const large = { text: { S: 'x'.repeat(300 * 1024) } }; // 301 units of a table that has one a second
  assert.equal(await outcome(put('small', 'a', large)), 'done', 'what is left may be overdrawn once');
  assert.equal(await outcome(put('small')), throttled);
  const get = () => outcome(client.call('GetItem', { TableName: 'small', Key: { pk: { S: 'a' } }, ConsistentRead: true }));
  assert.equal(await get(), 'done', 'reads have units of their own');
  assert.equal(await get(), throttled);
  assert.equal(await outcome(put('other')), 'done', 'a table on demand has no end');
  await order('');
  assert.equal(await outcome(put('small')), 'done');
});

test('a server that was not started for it takes no orders', async () => {
  const plain = await startServer({ game: false });
  const other = rawClient(plain.endpoint);
  const answer = await other.send('{"faults":""}', { 'Content-Type': 'application/json' }, 'POST', '/admin/faults');
  assert.equal(answer.status, 403);
  assert.match(JSON.parse(answer.body).error, /--test-faults/);
  other.close();
  assert.equal(await plain.stop(), 0);
});
