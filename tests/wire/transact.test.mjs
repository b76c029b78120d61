// Transactions through the AWS SDK: all or nothing over several tables, reasons in order, tokens.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import * as ddb from '@aws-sdk/client-dynamodb';
import { rawClient } from '../lib/raw.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';

const data = temporaryFolder();
let server, client;
const start = async () => {
  server = await startServer({ data });
  client = new ddb.DynamoDBClient({
    endpoint: server.endpoint,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    maxAttempts: 1,
  });
};
const send = (name, input) => client.send(new ddb[`${name}Command`](input));
const S = (text) => ({ S: text });
const N = (number) => ({ N: String(number) });

before(async () => {
  await start();
  await send('CreateTable', {
    TableName: 'users',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  });
  await send('CreateTable', {
    TableName: 'games',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['room', 'seat', 'name'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [
      { AttributeName: 'room', KeyType: 'HASH' },
      { AttributeName: 'seat', KeyType: 'RANGE' },
    ],
    LocalSecondaryIndexes: [
      {
        IndexName: 'byName',
        KeySchema: [
          { AttributeName: 'room', KeyType: 'HASH' },
          { AttributeName: 'name', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  });
});
after(async () => {
  client.destroy();
  assert.equal(await server.stop(), 0);
});

const user = async (id) => (await send('GetItem', { TableName: 'users', Key: { id: S(id) } })).Item;
const write = (TransactItems, more = {}) => send('TransactWriteItems', { TransactItems, ...more });
const putUser = (item, more = {}) => ({ Put: { TableName: 'users', Item: item, ...more } });
const cancelled = (promise, codes) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.name, 'TransactionCanceledException');
    assert.deepEqual(error.CancellationReasons.map(({ Code }) => Code), codes);
    assert.equal(error.message,
      `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`);
    return true;
  });
const refused = (promise, name, message) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.name, name);
    if (message instanceof RegExp) assert.match(error.message, message);
    else assert.equal(error.message, message);
    return true;
  });

test('all four kinds over two tables, in one commit', async () => {
  await send('PutItem', { TableName: 'users', Item: { id: S('old'), coins: N(3) } });
  await send('PutItem', { TableName: 'users', Item: { id: S('judge') } });
  const answer = await write([
    putUser({ id: S('new'), coins: N(1) }, { ConditionExpression: 'attribute_not_exists(id)' }),
    { Delete: { TableName: 'users', Key: { id: S('old') }, ConditionExpression: 'coins = :c', ExpressionAttributeValues: { ':c': N(3) } } },
    { ConditionCheck: { TableName: 'users', Key: { id: S('judge') }, ConditionExpression: 'attribute_exists(id)' } },
    {
      Update: {
        TableName: 'games',
        Key: { room: S('r1'), seat: S('1') },
        UpdateExpression: 'SET #n = :n',
        ExpressionAttributeNames: { '#n': 'name' },
        ExpressionAttributeValues: { ':n': S('new') },
      },
    },
  ]);
  assert.equal(answer.ConsumedCapacity, undefined);
  assert.deepEqual(await user('new'), { id: S('new'), coins: N(1) });
  assert.equal(await user('old'), undefined);
  const { Items } = await send('Query', {
    TableName: 'games', IndexName: 'byName', KeyConditionExpression: 'room = :r', ExpressionAttributeValues: { ':r': S('r1') },
  });
  assert.deepEqual(Items, [{ room: S('r1'), seat: S('1'), name: S('new') }]);
});

test('one refusal undoes all, and each item has its reason', async () => {
  await send('PutItem', { TableName: 'users', Item: { id: S('taken'), coins: N(5) } });
  const promise = write([
    putUser({ id: S('half') }),
    putUser({ id: S('taken') }, { ConditionExpression: 'attribute_not_exists(id)', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
    { ConditionCheck: { TableName: 'users', Key: { id: S('nobody') }, ConditionExpression: 'attribute_exists(id)' } },
    { Update: { TableName: 'users', Key: { id: S('taken2') }, UpdateExpression: 'SET a = b' } },
  ]);
  await cancelled(promise, ['None', 'ConditionalCheckFailed', 'ConditionalCheckFailed', 'ValidationError']);
  const { CancellationReasons: reasons } = await promise.catch((error) => error);
  assert.deepEqual(reasons[1], { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed', Item: { id: S('taken'), coins: N(5) } });
  assert.equal(reasons[2].Item, undefined);
  assert.equal(reasons[3].Message, 'The provided expression refers to an attribute that does not exist in the item');
  assert.equal(await user('half'), undefined);
});

test('a key that does not fit its table is a reason; a table that is not there is not', async () => {
  await cancelled(write([putUser({ id: S('half') }), { Delete: { TableName: 'users', Key: { name: S('x') } } }]), ['None', 'ValidationError']);
  await refused(write([putUser({ id: S('half') }), { Delete: { TableName: 'nowhere', Key: { id: S('x') } } }]),
    'ResourceNotFoundException', 'Requested resource not found');
  assert.equal(await user('half'), undefined);
});

test('what can be seen in the request alone', async () => {
  const invalid = (items, message) => refused(write(items), 'ValidationException', message);
  await invalid([], "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1");
  await invalid([{}], 'Invalid Request: TransactWriteRequest should contain Delete or Put or Update request');
  await invalid([{ ...putUser({ id: S('1') }), Delete: { TableName: 'users', Key: { id: S('1') } } }],
    'TransactItems can only contain one of Check, Put, Update or Delete');
  await invalid([putUser({ id: S('1') }), { Delete: { TableName: 'users', Key: { id: S('1') } } }],
    'Transaction request cannot include multiple operations on one item');
  await invalid(Array.from({ length: 101 }, (_, i) => putUser({ id: S(String(i)) })), /Member must have length less than or equal to 100$/);
  await invalid(Array.from({ length: 12 }, (_, i) => putUser({ id: S(String(i)), filler: S('x'.repeat(380000)) })),
    /^Transaction payload size cannot exceed 4MB/);
  await invalid([putUser({ id: S('1') }, { ConditionExpression: 'id = :x' })],
    'Invalid ConditionExpression: An expression attribute value used in expression is not defined; attribute value: :x');
  await refused(write([putUser({ id: S('1') })], { ClientRequestToken: 'x'.repeat(37) }), 'ValidationException',
    /'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36$/);
});

test('a hundred items', async () => {
  await write(Array.from({ length: 100 }, (_, i) => putUser({ id: S(`many-${i}`), n: N(i) })));
  const { Responses } = await send('TransactGetItems', {
    TransactItems: Array.from({ length: 100 }, (_, i) => ({ Get: { TableName: 'users', Key: { id: S(`many-${i}`) } } })),
  });
  assert.deepEqual(Responses.map(({ Item }) => Number(Item.n.N)), Array.from({ length: 100 }, (_, i) => i));
});

test('capacity is double and told by table', async () => {
  const answer = await write([
    putUser({ id: S('c1') }),
    putUser({ id: S('c2'), filler: S('x'.repeat(1500)) }),
    { Put: { TableName: 'games', Item: { room: S('r2'), seat: S('1'), name: S('c') } } },
  ], { ReturnConsumedCapacity: 'INDEXES', ReturnItemCollectionMetrics: 'SIZE' });
  assert.deepEqual(answer.ConsumedCapacity, [
    { TableName: 'users', CapacityUnits: 6, WriteCapacityUnits: 6, Table: { CapacityUnits: 6, WriteCapacityUnits: 6 } },
    {
      TableName: 'games', CapacityUnits: 4, WriteCapacityUnits: 4, Table: { CapacityUnits: 2, WriteCapacityUnits: 2 },
      LocalSecondaryIndexes: { byName: { CapacityUnits: 2, WriteCapacityUnits: 2 } },
    },
  ]);
  assert.deepEqual(answer.ItemCollectionMetrics, { games: [{ ItemCollectionKey: { room: S('r2') }, SizeEstimateRangeGB: [0, 1] }] });
});

test('TransactGetItems: in order, projected, with holes', async () => {
  await send('PutItem', { TableName: 'users', Item: { id: S('g1'), a: N(1), b: N(2) } });
  await send('PutItem', { TableName: 'games', Item: { room: S('g'), seat: S('1') } });
  const get = (TransactItems, more = {}) => send('TransactGetItems', { TransactItems, ...more });
  const answer = await get([
    { Get: { TableName: 'games', Key: { room: S('g'), seat: S('1') } } },
    { Get: { TableName: 'users', Key: { id: S('nobody') } } },
    { Get: { TableName: 'users', Key: { id: S('g1') }, ProjectionExpression: '#a', ExpressionAttributeNames: { '#a': 'a' } } },
  ], { ReturnConsumedCapacity: 'TOTAL' });
  assert.deepEqual(answer.Responses, [{ Item: { room: S('g'), seat: S('1') } }, {}, { Item: { a: N(1) } }]);
  assert.deepEqual(answer.ConsumedCapacity, [
    { TableName: 'games', CapacityUnits: 2, ReadCapacityUnits: 2 },
    { TableName: 'users', CapacityUnits: 4, ReadCapacityUnits: 4 },
  ]);
  const one = { Get: { TableName: 'users', Key: { id: S('g1') } } };
  await refused(get([one, one]), 'ValidationException', 'Transaction request cannot include multiple operations on one item');
  await refused(get([one, { Get: { TableName: 'nowhere', Key: { id: S('g1') } } }]), 'ResourceNotFoundException', 'Requested resource not found');
  await cancelled(get([one, { Get: { TableName: 'users', Key: { id: N(1) } } }]), ['None', 'ValidationError']);
});

test('a token makes a repeat harmless, also after a restart', async () => {
  const pay = (amount) => write([
    {
      Update: {
        TableName: 'users', Key: { id: S('payee') }, UpdateExpression: 'ADD coins :c', ExpressionAttributeValues: { ':c': N(amount) },
      },
    },
  ], { ClientRequestToken: 'pay-once', ReturnConsumedCapacity: 'TOTAL' });
  const first = await pay(5);
  assert.equal(first.ConsumedCapacity[0].WriteCapacityUnits, 2);
  const second = await pay(5);
  assert.deepEqual(second.ConsumedCapacity, [{ TableName: 'users', CapacityUnits: 2, ReadCapacityUnits: 2 }]);
  await refused(pay(6), 'IdempotentParameterMismatchException', /token/);
  client.destroy();
  await server.stop('SIGKILL');
  await start();
  await pay(5);
  await refused(pay(6), 'IdempotentParameterMismatchException', /token/);
  assert.deepEqual(await user('payee'), { id: S('payee'), coins: N(5) });
});

test('the order of members makes no other request', async () => {
  const raw = rawClient(server.endpoint);
  const body = (item) => ({ ClientRequestToken: 'order', TransactItems: [{ Put: { TableName: 'users', Item: item } }] });
  assert.equal((await raw.call('TransactWriteItems', body({ id: S('o'), a: N(1) }))).status, 200);
  assert.equal((await raw.call('TransactWriteItems', body({ a: N(1), id: S('o') }))).status, 200);
  const { json } = await raw.call('TransactWriteItems', body({ a: N(2), id: S('o') }));
  assert.equal(json.__type, 'com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException');
  raw.close();
});
