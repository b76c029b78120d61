// The AWS SDK for JavaScript v3, low level, unchanged: tables, items, paging, indexes, conditions, errors.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import * as ddb from '@aws-sdk/client-dynamodb';
import { startServer } from '../lib/server.mjs';

let server, client;
before(async () => {
  server = await startServer({ game: false });
  client = new ddb.DynamoDBClient({
    endpoint: server.endpoint,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    maxAttempts: 1,
  });
});
after(async () => {
  client.destroy();
  assert.equal(await server.stop(), 0);
});

const send = (name, input) => client.send(new ddb[`${name}Command`](input));
const refused = (promise, name, message) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.name, name);
    if (message instanceof RegExp) assert.match(error.message, message);
    else if (message) assert.equal(error.message, message);
    return true;
  });

const game = {
  TableName: 'game',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: ['PK', 'SK', 'GSI1PK', 'created'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' }))
    .concat([{ AttributeName: 'GSI1SK', AttributeType: 'N' }]),
  KeySchema: [
    { AttributeName: 'PK', KeyType: 'HASH' },
    { AttributeName: 'SK', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'GSI1',
      KeySchema: [
        { AttributeName: 'GSI1PK', KeyType: 'HASH' },
        { AttributeName: 'GSI1SK', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['name'] },
    },
  ],
  LocalSecondaryIndexes: [
    {
      IndexName: 'byCreated',
      KeySchema: [
        { AttributeName: 'PK', KeyType: 'HASH' },
        { AttributeName: 'created', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
};

test('tables: create, describe, list in pages, refuse, delete', async () => {
  const { TableDescription: made } = await send('CreateTable', game);
  assert.equal(made.TableStatus, 'CREATING');
  await ddb.waitUntilTableExists({ client, minDelay: 1, maxWaitTime: 60 }, { TableName: 'game' });
  const { Table } = await send('DescribeTable', { TableName: 'game' });
  assert.equal(Table.TableStatus, 'ACTIVE');
  assert.equal(Table.ItemCount, 0);
  assert.match(Table.TableArn, /^arn:aws:dynamodb:eu-west-1:\d{12}:table\/game$/);
  assert.equal(Table.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST');
  assert.equal(Table.GlobalSecondaryIndexes[0].IndexStatus, 'ACTIVE');
  assert.deepEqual(Table.GlobalSecondaryIndexes[0].Projection, { ProjectionType: 'INCLUDE', NonKeyAttributes: ['name'] });
  assert.equal(Table.LocalSecondaryIndexes[0].IndexName, 'byCreated');
  assert.ok(Table.CreationDateTime instanceof Date && Math.abs(Date.now() - Table.CreationDateTime) < 60000);
  await refused(send('CreateTable', game), 'ResourceInUseException', 'Table already exists: game');
  await refused(send('DescribeTable', { TableName: 'nothing' }), 'ResourceNotFoundException',
    'Requested resource not found: Table: nothing not found');

  for (let i = 0; i < 7; i++)
    await send('CreateTable', {
      TableName: `many-${i}`,
      ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 6 },
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    });
  const names = [];
  for await (const page of ddb.paginateListTables({ client, pageSize: 3 }, {})) {
    assert.ok(page.TableNames.length <= 3);
    names.push(...page.TableNames);
  }
  assert.deepEqual(names, ['game', ...Array.from({ length: 7 }, (_, i) => `many-${i}`)]);
  const { TableDescription: gone } = await send('DeleteTable', { TableName: 'many-0' });
  assert.equal(gone.TableStatus, 'DELETING');
  await ddb.waitUntilTableNotExists({ client, minDelay: 1, maxWaitTime: 60 }, { TableName: 'many-0' });
  await send('UpdateTable', { TableName: 'many-1', DeletionProtectionEnabled: true });
  await refused(send('DeleteTable', { TableName: 'many-1' }), 'ValidationException', /deletion protection/i);
  await send('UpdateTable', { TableName: 'many-1', ProvisionedThroughput: { ReadCapacityUnits: 7, WriteCapacityUnits: 6 } });
  const { Table: many } = await send('DescribeTable', { TableName: 'many-1' });
  assert.equal(many.ProvisionedThroughput.ReadCapacityUnits, 7);
});

test('the table may be named by its ARN', async () => {
  const { Table } = await send('DescribeTable', { TableName: 'game' });
  const again = await send('DescribeTable', { TableName: Table.TableArn });
  assert.equal(again.Table.TableId, Table.TableId);
  await send('PutItem', { TableName: Table.TableArn, Item: { PK: { S: 'arn' }, SK: { S: '1' } } });
  assert.ok((await send('GetItem', { TableName: 'game', Key: { PK: { S: 'arn' }, SK: { S: '1' } } })).Item);
});

test('tags', async () => {
  const { Table } = await send('DescribeTable', { TableName: 'game' });
  const ResourceArn = Table.TableArn;
  await send('TagResource', { ResourceArn, Tags: [{ Key: 'team', Value: 'crow' }, { Key: 'stage', Value: 'test' }] });
  await send('UntagResource', { ResourceArn, TagKeys: ['stage'] });
  assert.deepEqual((await send('ListTagsOfResource', { ResourceArn })).Tags, [{ Key: 'team', Value: 'crow' }]);
});

const everything = {
  PK: { S: 'types' },
  SK: { S: 'é\u0000\u0001😀' },
  n: { N: '-12345678901234567890123456789012345.678' },
  small: { N: '1e-130' },
  large: { N: '9.9999999999999999999999999999999999999e125' },
  b: { B: new Uint8Array([0, 1, 255]) },
  ss: { SS: ['a', 'b', 'é'] },
  ns: { NS: ['-1', '0', '2.5'] },
  bs: { BS: [new Uint8Array([1]), new Uint8Array([2, 3])] },
  m: { M: { inner: { L: [{ S: '' }, { M: {} }, { L: [] }] } } },
  yes: { BOOL: true },
  no: { BOOL: false },
  nothing: { NULL: true },
  empty: { S: '' },
};

test('items: all ten types come back as they went in', async () => {
  await send('PutItem', { TableName: 'game', Item: everything });
  const { PK, SK } = everything;
  const { Item } = await send('GetItem', { TableName: 'game', Key: { PK, SK }, ConsistentRead: true });
  assert.equal(Item.n.N, '-12345678901234567890123456789012345.678');
  assert.equal(Item.large.N, '99999999999999999999999999999999999999' + '0'.repeat(88));
  assert.equal(Item.small.N, `0.${'0'.repeat(129)}1`);
  for (const name of ['SK', 'b', 'm', 'yes', 'no', 'nothing', 'empty']) assert.deepEqual(Item[name], everything[name], name);
  assert.deepEqual(new Set(Item.ss.SS), new Set(everything.ss.SS));
  assert.deepEqual(new Set(Item.ns.NS), new Set(everything.ns.NS));
  assert.equal(Item.bs.BS.length, 2);
});

test('items: return values of put, update and delete', async () => {
  const Key = { PK: { S: 'rv' }, SK: { S: '1' } };
  const TableName = 'game';
  assert.equal((await send('PutItem', { TableName, Item: { ...Key, a: { N: '1' } }, ReturnValues: 'ALL_OLD' })).Attributes, undefined);
  const update = (UpdateExpression, values, ReturnValues) =>
    send('UpdateItem', { TableName, Key, UpdateExpression, ExpressionAttributeValues: values, ReturnValues });
  assert.deepEqual((await update('SET a = a + :one, b = :b', { ':one': { N: '1' }, ':b': { S: 'x' } }, 'UPDATED_NEW')).Attributes,
    { a: { N: '2' }, b: { S: 'x' } });
  assert.deepEqual((await update('SET a = :a', { ':a': { N: '5' } }, 'UPDATED_OLD')).Attributes, { a: { N: '2' } });
  assert.deepEqual((await update('SET a = :a', { ':a': { N: '6' } }, 'ALL_OLD')).Attributes, { ...Key, a: { N: '5' }, b: { S: 'x' } });
  assert.deepEqual((await update('REMOVE b SET c = :c', { ':c': { L: [{ N: '1' }] } }, 'ALL_NEW')).Attributes, { ...Key, a: { N: '6' }, c: { L: [{ N: '1' }] } });
  assert.deepEqual((await update('SET c = list_append(c, :c) ADD tags :t', { ':c': { L: [{ N: '2' }] }, ':t': { SS: ['x'] } }, 'ALL_NEW')).Attributes,
    { ...Key, a: { N: '6' }, c: { L: [{ N: '1' }, { N: '2' }] }, tags: { SS: ['x'] } });
  assert.equal((await update('DELETE tags :t', { ':t': { SS: ['x'] } }, 'ALL_NEW')).Attributes.tags, undefined);
  assert.deepEqual((await send('DeleteItem', { TableName, Key, ReturnValues: 'ALL_OLD' })).Attributes.a, { N: '6' });
  assert.equal((await send('DeleteItem', { TableName, Key, ReturnValues: 'ALL_OLD' })).Attributes, undefined);
});

test('conditions: they hold, they fail, and the old item comes with the failure', async () => {
  const TableName = 'game';
  const Key = { PK: { S: 'cond' }, SK: { S: '1' } };
  const Item = { ...Key, score: { N: '10' } };
  await send('PutItem', { TableName, Item, ConditionExpression: 'attribute_not_exists(PK)' });
  await refused(send('PutItem', { TableName, Item, ConditionExpression: 'attribute_not_exists(PK)' }),
    'ConditionalCheckFailedException', 'The conditional request failed');
  const keepBest = (score) => send('UpdateItem', {
    TableName, Key, UpdateExpression: 'SET score = :s', ConditionExpression: 'score < :s',
    ExpressionAttributeValues: { ':s': { N: String(score) } }, ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  await keepBest(20);
  await assert.rejects(keepBest(15), (error) => {
    assert.equal(error.name, 'ConditionalCheckFailedException');
    assert.deepEqual(error.Item, { ...Key, score: { N: '20' } });
    return true;
  });
  // the older form
  await refused(send('DeleteItem', { TableName, Key, Expected: { score: { Value: { N: '1' } } } }), 'ConditionalCheckFailedException');
  await send('DeleteItem', { TableName, Key, Expected: { score: { ComparisonOperator: 'GE', AttributeValueList: [{ N: '20' }] } } });
});

test('concurrent conditional updates: each increment is counted once', async () => {
  const TableName = 'game';
  const Key = { PK: { S: 'counter' }, SK: { S: '1' } };
  await send('PutItem', { TableName, Item: { ...Key, n: { N: '0' } } });
  let won = 0;
  await Promise.all(Array.from({ length: 16 }, async () => {
    for (let i = 0; i < 20; i++) {
      const { Item } = await send('GetItem', { TableName, Key });
      try {
        await send('UpdateItem', {
          TableName, Key, UpdateExpression: 'SET n = n + :one', ConditionExpression: 'n = :seen',
          ExpressionAttributeValues: { ':one': { N: '1' }, ':seen': Item.n },
        });
        won++;
      } catch (error) {
        assert.equal(error.name, 'ConditionalCheckFailedException');
      }
    }
  }));
  assert.equal(Number((await send('GetItem', { TableName, Key })).Item.n.N), won);
  assert.ok(won >= 20);
});

async function fill(PK, count, extra = () => ({})) {
  for (let from = 0; from < count; from += 25)
    await send('BatchWriteItem', {
      RequestItems: {
        game: Array.from({ length: Math.min(25, count - from) }, (_, i) => {
          const n = from + i;
          return { PutRequest: { Item: { PK: { S: PK }, SK: { S: String(n).padStart(4, '0') }, n: { N: String(n) }, ...extra(n) } } };
        }),
      },
    });
}
const query = (input) => send('Query', { TableName: 'game', ...input });
const numbers = (items) => items.map((item) => Number(item.n.N));

test('query: every key condition, both ways, in pages', async () => {
  await fill('q', 120);
  const ask = (condition, values, rest = {}) => query({
    KeyConditionExpression: `PK = :p${condition ? ` AND ${condition}` : ''}`,
    ExpressionAttributeValues: { ':p': { S: 'q' }, ...values }, ...rest,
  });
  assert.equal((await ask('', {})).Count, 120);
  assert.deepEqual(numbers((await ask('SK = :s', { ':s': { S: '0007' } })).Items), [7]);
  assert.equal((await ask('SK < :s', { ':s': { S: '0007' } })).Count, 7);
  assert.equal((await ask('SK <= :s', { ':s': { S: '0007' } })).Count, 8);
  assert.equal((await ask('SK > :s', { ':s': { S: '0100' } })).Count, 19);
  assert.equal((await ask('SK >= :s', { ':s': { S: '0100' } })).Count, 20);
  assert.deepEqual(numbers((await ask('SK BETWEEN :a AND :b', { ':a': { S: '0010' }, ':b': { S: '0012' } })).Items), [10, 11, 12]);
  assert.deepEqual(numbers((await ask('begins_with(SK, :s)', { ':s': { S: '011' } }, { ScanIndexForward: false })).Items),
    [119, 118, 117, 116, 115, 114, 113, 112, 111, 110]);
  for (const ScanIndexForward of [true, false]) {
    const seen = [];
    for await (const page of ddb.paginateQuery({ client, pageSize: 17 }, {
      TableName: 'game', KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': { S: 'q' } }, ScanIndexForward,
    })) seen.push(...numbers(page.Items));
    const all = Array.from({ length: 120 }, (_, i) => i);
    assert.deepEqual(seen, ScanIndexForward ? all : all.reverse());
  }
  const filtered = await ask('', { ':n': { N: '100' } }, { FilterExpression: 'n >= :n', Limit: 110 });
  assert.equal(filtered.ScannedCount, 110);
  assert.equal(filtered.Count, 10);
  assert.deepEqual(filtered.LastEvaluatedKey, { PK: { S: 'q' }, SK: { S: '0109' } });
  const counted = await ask('', {}, { Select: 'COUNT', ReturnConsumedCapacity: 'TOTAL' });
  assert.equal(counted.Items, undefined);
  assert.equal(counted.Count, 120);
  assert.equal(counted.ConsumedCapacity.TableName, 'game');
});

test('query: a page holds 1 MB', async () => {
  const big = 'x'.repeat(100 * 1024);
  for (let i = 0; i < 25; i++)
    await send('PutItem', { TableName: 'game', Item: { PK: { S: 'big' }, SK: { S: String(i).padStart(4, '0') }, n: { N: String(i) }, big: { S: big } } });
  const pages = [];
  for await (const page of ddb.paginateQuery({ client }, {
    TableName: 'game', KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': { S: 'big' } },
  })) pages.push(numbers(page.Items));
  assert.deepEqual(pages.flat(), Array.from({ length: 25 }, (_, i) => i));
  assert.ok(pages.length >= 3 && pages[0].length >= 10 && pages[0].length <= 11);
});

test('indexes: sparse, projected, equal keys, order by number, local and global', async () => {
  await fill('idx', 100, (n) => ({
    ...(n % 2 ? { GSI1PK: { S: 'board' }, GSI1SK: { N: String(n % 10 - 5) }, name: { S: `player ${n}` } } : {}),
    created: { S: String(1000 - n) },
  }));
  const ask = (rest) => query({ IndexName: 'GSI1', KeyConditionExpression: 'GSI1PK = :p', ExpressionAttributeValues: { ':p': { S: 'board' } }, ...rest });
  const { Items } = await ask({});
  assert.equal(Items.length, 50);
  const scores = Items.map((item) => Number(item.GSI1SK.N));
  assert.deepEqual(scores, [...scores].sort((a, b) => a - b));
  assert.deepEqual(Object.keys(Items[0]).sort(), ['GSI1PK', 'GSI1SK', 'PK', 'SK', 'name']);
  const seen = [];
  for await (const page of ddb.paginateQuery({ client, pageSize: 7 }, {
    TableName: 'game', IndexName: 'GSI1', KeyConditionExpression: 'GSI1PK = :p', ExpressionAttributeValues: { ':p': { S: 'board' } }, ScanIndexForward: false,
  })) {
    if (page.LastEvaluatedKey) assert.deepEqual(Object.keys(page.LastEvaluatedKey).sort(), ['GSI1PK', 'GSI1SK', 'PK', 'SK']);
    seen.push(...page.Items.map((item) => item.SK.S));
  }
  assert.deepEqual(seen, Items.map((item) => item.SK.S).reverse());
  const above = await ask({
    KeyConditionExpression: 'GSI1PK = :p AND GSI1SK > :s', Select: 'COUNT',
    ExpressionAttributeValues: { ':p': { S: 'board' }, ':s': { N: '0' } },
  });
  assert.equal(above.Count, scores.filter((score) => score > 0).length);

  const local = await query({
    IndexName: 'byCreated', ConsistentRead: true, KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': { S: 'idx' } }, Limit: 1,
  });
  assert.deepEqual(local.Items, [{ PK: { S: 'idx' }, SK: { S: '0000' }, created: { S: '1000' } }]);
  const fetched = await query({
    IndexName: 'byCreated', Select: 'ALL_ATTRIBUTES', KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': { S: 'idx' } }, Limit: 1, ScanIndexForward: true,
  });
  assert.deepEqual(numbers(fetched.Items), [0]);

  await send('UpdateItem', { TableName: 'game', Key: { PK: { S: 'idx' }, SK: { S: '0001' } }, UpdateExpression: 'REMOVE GSI1PK' });
  assert.equal((await ask({ Select: 'COUNT' })).Count, 49, 'an item without the key leaves the index');
  await refused(send('PutItem', { TableName: 'game', Item: { PK: { S: 'x' }, SK: { S: 'x' }, GSI1PK: { N: '1' } } }), 'ValidationException',
    /Type mismatch for Index Key GSI1PK Expected: S Actual: N IndexName: GSI1/);
  await refused(ask({ ConsistentRead: true }), 'ValidationException', 'Consistent reads are not supported on global secondary indexes');
  await refused(ask({ IndexName: 'GSI9' }), 'ValidationException', 'The table does not have the specified index: GSI9');
});

test('scan: whole, in pages, in parallel segments that are disjoint and complete', async () => {
  const all = [];
  for await (const page of ddb.paginateScan({ client, pageSize: 40 }, { TableName: 'game' })) all.push(...page.Items);
  const name = (item) => `${item.PK.S}/${item.SK.S}`;
  const parts = await Promise.all([0, 1, 2, 3].map(async (Segment) => {
    const items = [];
    for await (const page of ddb.paginateScan({ client }, { TableName: 'game', Segment, TotalSegments: 4 })) items.push(...page.Items);
    return items.map(name);
  }));
  assert.deepEqual(parts.flat().sort(), all.map(name).sort());
  const { Table } = await send('DescribeTable', { TableName: 'game' });
  assert.equal(Table.ItemCount, all.length);
  assert.ok(Table.TableSizeBytes > 25 * 100 * 1024);
});

test('batches: get from several tables, unprocessed always there, duplicates refused', async () => {
  await send('PutItem', { TableName: 'many-2', Item: { id: { N: '1' }, name: { S: 'one' } } });
  const keys = [{ PK: { S: 'q' }, SK: { S: '0001' } }, { PK: { S: 'q' }, SK: { S: '0002' } }, { PK: { S: 'q' }, SK: { S: 'none' } }];
  const got = await send('BatchGetItem', {
    RequestItems: {
      game: { Keys: keys, ProjectionExpression: '#n', ExpressionAttributeNames: { '#n': 'n' } },
      'many-2': { Keys: [{ id: { N: '1.0' } }], ConsistentRead: true },
    },
    ReturnConsumedCapacity: 'TOTAL',
  });
  assert.deepEqual(numbers(got.Responses.game).sort(), [1, 2]);
  assert.deepEqual(got.Responses['many-2'], [{ id: { N: '1' }, name: { S: 'one' } }]);
  assert.deepEqual(got.UnprocessedKeys, {});
  assert.equal(got.ConsumedCapacity.length, 2);
  await refused(send('BatchGetItem', { RequestItems: { game: { Keys: [keys[0], keys[0]] } } }), 'ValidationException',
    'Provided list of item keys contains duplicates');
  const twice = { PutRequest: { Item: { id: { N: '7' } } } };
  await refused(send('BatchWriteItem', { RequestItems: { 'many-2': [twice, { DeleteRequest: { Key: { id: { N: '7.0' } } } }] } }), 'ValidationException',
    'Provided list of item keys contains duplicates');
  assert.equal((await send('GetItem', { TableName: 'many-2', Key: { id: { N: '7' } } })).Item, undefined, 'a refused batch changes nothing');
  await refused(send('BatchWriteItem', { RequestItems: { nowhere: [twice] } }), 'ResourceNotFoundException');
});

test('an index added later is backfilled while writes go on, then answers; and goes again', async () => {
  await fill('late', 200, (n) => ({ kind: { S: n % 2 ? 'odd' : 'even' } }));
  const added = await send('UpdateTable', {
    TableName: 'game',
    AttributeDefinitions: [{ AttributeName: 'kind', AttributeType: 'S' }, { AttributeName: 'n', AttributeType: 'N' }],
    GlobalSecondaryIndexUpdates: [{
      Create: {
        IndexName: 'byKind',
        KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }, { AttributeName: 'n', KeyType: 'RANGE' }],
        Projection: { ProjectionType: 'ALL' },
      },
    }],
  });
  assert.equal(added.TableDescription.GlobalSecondaryIndexes.find((i) => i.IndexName === 'byKind').IndexStatus, 'CREATING');
  await fill('later', 50, (n) => ({ kind: { S: n % 2 ? 'odd' : 'even' } }));
  let status;
  for (let i = 0; i < 3000 && status !== 'ACTIVE'; i++) {
    const { Table } = await send('DescribeTable', { TableName: 'game' });
    status = Table.GlobalSecondaryIndexes.find((index) => index.IndexName === 'byKind').IndexStatus;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(status, 'ACTIVE');
  const { Count } = await query({
    IndexName: 'byKind', KeyConditionExpression: 'kind = :k', ExpressionAttributeValues: { ':k': { S: 'odd' } }, Select: 'COUNT',
  });
  assert.equal(Count, 125);
  await send('UpdateTable', { TableName: 'game', GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'byKind' } }] });
  const { Table } = await send('DescribeTable', { TableName: 'game' });
  assert.equal(Table.GlobalSecondaryIndexes.length, 1);
});

test('a global index with several partition and sort attributes', async () => {
  const text = (AttributeName, AttributeType = 'S') => ({ AttributeName, AttributeType });
  await send('CreateTable', {
    TableName: 'multi',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [text('id'), text('game'), text('season', 'N'), text('score', 'N'), text('made', 'N')],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [{
      IndexName: 'board',
      KeySchema: [
        { AttributeName: 'game', KeyType: 'HASH' }, { AttributeName: 'season', KeyType: 'HASH' },
        { AttributeName: 'score', KeyType: 'RANGE' }, { AttributeName: 'made', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
    }],
  });
  for (let i = 0; i < 40; i++)
    await send('PutItem', {
      TableName: 'multi',
      Item: { id: { S: `p${i}` }, game: { S: 'crow' }, season: { N: String(i % 2) }, score: { N: String(Math.floor(i / 4)) }, made: { N: String(i) } },
    });
  const ask = (condition, values) => send('Query', {
    TableName: 'multi', IndexName: 'board', KeyConditionExpression: `game = :g AND season = :s${condition}`,
    ExpressionAttributeValues: { ':g': { S: 'crow' }, ':s': { N: '1' }, ...values },
  });
  assert.equal((await ask('', {})).Count, 20);
  assert.equal((await ask(' AND score > :x', { ':x': { N: '7' } })).Count, 4);
  assert.deepEqual((await ask(' AND score = :x AND made > :t', { ':x': { N: '3' }, ':t': { N: '13' } })).Items.map((i) => i.id.S), ['p15']);
  await refused(send('Query', {
    TableName: 'multi', IndexName: 'board', KeyConditionExpression: 'game = :g', ExpressionAttributeValues: { ':g': { S: 'crow' } },
  }), 'ValidationException', /Query condition missed key schema element: season/);
});

test('refusals: the words clients match on', async () => {
  const TableName = 'game';
  const Key = { PK: { S: 'a' }, SK: { S: 'b' } };
  for (const [attempt, message] of [
    [() => send('PutItem', { TableName, Item: { PK: { S: 'a' } } }), 'One or more parameter values were invalid: Missing the key SK in the item'],
    [() => send('PutItem', { TableName, Item: { PK: { S: 'a' }, SK: { N: '1' } } }), 'One or more parameter values were invalid: Type mismatch for key SK expected: S actual: N'],
    [() => send('GetItem', { TableName, Key: { PK: { S: 'a' } } }), 'The provided key element does not match the schema'],
    [() => send('UpdateItem', { TableName, Key, UpdateExpression: 'SET PK = :v', ExpressionAttributeValues: { ':v': { S: 'x' } } }),
      'One or more parameter values were invalid: Cannot update attribute PK. This attribute is part of the key'],
    [() => send('UpdateItem', { TableName, Key, UpdateExpression: 'SET status = :v', ExpressionAttributeValues: { ':v': { S: 'x' } } }),
      'Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: status'],
    [() => send('UpdateItem', { TableName, Key, UpdateExpression: 'SET a = :v, a.b = :v', ExpressionAttributeValues: { ':v': { S: 'x' } } }),
      'Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a, b]'],
    [() => send('Query', { TableName, KeyConditionExpression: 'SK = :v', ExpressionAttributeValues: { ':v': { S: 'x' } } }),
      'Query condition missed key schema element: PK'],
    [() => send('Scan', { TableName, FilterExpression: 'x = :y' }),
      'Invalid FilterExpression: An expression attribute value used in expression is not defined; attribute value: :y'],
    [() => send('PutItem', { TableName, Item: { ...Key, n: { N: 'ten' } } }), 'The parameter cannot be converted to a numeric value: ten'],
    [() => send('PutItem', { TableName, Item: { ...Key, s: { SS: ['a', 'a'] } } }), 'One or more parameter values were invalid: Input collection [a, a] contains duplicates.'],
    [() => send('PutItem', { TableName, Item: { ...Key, big: { S: 'x'.repeat(410 * 1024) } } }), 'Item size has exceeded the maximum allowed size'],
  ]) await refused(attempt(), 'ValidationException', message);
  await refused(send('GetItem', { TableName: 'nowhere', Key }), 'ResourceNotFoundException', 'Requested resource not found');
});
