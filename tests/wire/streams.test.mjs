// Streams through the SDK's own client: views, order, shards, iterators, restarts, ends.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import * as ddb from '@aws-sdk/client-dynamodb';
import * as streams from '@aws-sdk/client-dynamodb-streams';
import { startServer, temporaryFolder } from '../lib/server.mjs';

const data = temporaryFolder();
let server, items, changes;
async function start() {
  server = await startServer({ data, args: ['--stream-shards', '4'] });
  const settings = {
    endpoint: server.endpoint,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    maxAttempts: 1,
  };
  items = new ddb.DynamoDBClient(settings);
  changes = new streams.DynamoDBStreamsClient(settings);
}
async function stop() {
  items.destroy();
  changes.destroy();
  assert.equal(await server.stop(), 0);
}
before(start);
after(stop);

const send = (name, input) => items.send(new ddb[`${name}Command`](input));
const ask = (name, input) => changes.send(new streams[`${name}Command`](input));
const refused = (promise, name, message) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.name, name);
    if (message) assert.match(error.message, message);
    return true;
  });

// Makes a table with a stream and resolves to the stream's ARN.
async function create(TableName, StreamViewType) {
  const { TableDescription } = await send('CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    StreamSpecification: { StreamEnabled: true, StreamViewType },
  });
  return TableDescription.LatestStreamArn;
}
const put = (TableName, pk, sk, more = {}) =>
  send('PutItem', { TableName, Item: { pk: { S: pk }, sk: { S: sk }, ...more } });

async function shardsOf(StreamArn) {
  const { StreamDescription } = await ask('DescribeStream', { StreamArn });
  return StreamDescription.Shards;
}
// Reads on from an iterator until there is nothing new.
async function drain(ShardIterator, Limit) {
  const records = [];
  for (;;) {
    const page = await ask('GetRecords', { ShardIterator, Limit });
    records.push(...page.Records);
    ShardIterator = page.NextShardIterator;
    if (page.Records.length === 0 || ShardIterator === undefined) return { records, next: ShardIterator };
  }
}
async function readAll(StreamArn, { type = 'TRIM_HORIZON', Limit } = {}) {
  const all = [];
  for (const { ShardId } of await shardsOf(StreamArn)) {
    const { ShardIterator } = await ask('GetShardIterator', { StreamArn, ShardId, ShardIteratorType: type });
    all.push(...(await drain(ShardIterator, Limit)).records.map((record) => ({ ...record, ShardId })));
  }
  return all.sort((a, b) => (BigInt(a.dynamodb.SequenceNumber) < BigInt(b.dynamodb.SequenceNumber) ? -1 : 1));
}

test('each view shows what it says', async () => {
  const shown = { KEYS_ONLY: '', NEW_IMAGE: 'n', OLD_IMAGE: 'o', NEW_AND_OLD_IMAGES: 'no' };
  for (const [view, images] of Object.entries(shown)) {
    const name = `view-${view}`;
    const arn = await create(name, view);
    await put(name, 'a', '1', { v: { N: '1' } });
    await put(name, 'a', '1', { v: { N: '2' } });
    await put(name, 'a', '1', { v: { N: '2' } }); // changes nothing
    await send('DeleteItem', { TableName: name, Key: { pk: { S: 'a' }, sk: { S: '1' } } });
    await send('DeleteItem', { TableName: name, Key: { pk: { S: 'a' }, sk: { S: '1' } } });
    const records = await readAll(arn);
    assert.deepEqual(records.map((r) => r.eventName), ['INSERT', 'MODIFY', 'REMOVE']);
    const keys = { pk: { S: 'a' }, sk: { S: '1' } };
    const image = (v) => ({ ...keys, v: { N: String(v) } });
    records.forEach(({ dynamodb, ...record }, i) => {
      assert.match(record.eventID, /^[0-9a-f]{32}$/);
      assert.equal(record.eventVersion, '1.1');
      assert.equal(record.eventSource, 'aws:dynamodb');
      assert.equal(record.awsRegion, 'eu-west-1');
      assert.equal(record.userIdentity, undefined);
      assert.deepEqual(dynamodb.Keys, keys);
      assert.deepEqual(dynamodb.NewImage, images.includes('n') && i < 2 ? image(i + 1) : undefined);
      assert.deepEqual(dynamodb.OldImage, images.includes('o') && i > 0 ? image(i) : undefined);
      assert.equal(dynamodb.StreamViewType, view);
      assert.match(dynamodb.SequenceNumber, /^\d{21,40}$/);
      assert.ok(dynamodb.SizeBytes >= 6);
      assert.ok(Math.abs(Date.now() - dynamodb.ApproximateCreationDateTime) < 60000);
    });
    assert.equal(new Set(records.map((r) => r.eventID)).size, 3);
  }
});

test('a stream and its shards are described', async () => {
  const arn = await create('described', 'NEW_IMAGE');
  const { StreamDescription: stream } = await ask('DescribeStream', { StreamArn: arn });
  assert.match(arn, /^arn:aws:dynamodb:eu-west-1:\d{12}:table\/described\/stream\/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/);
  assert.equal(stream.StreamArn, arn);
  assert.equal(stream.StreamLabel, arn.split('/').pop());
  assert.equal(stream.StreamStatus, 'ENABLED');
  assert.equal(stream.StreamViewType, 'NEW_IMAGE');
  assert.equal(stream.TableName, 'described');
  assert.deepEqual(stream.KeySchema.map((k) => k.AttributeName), ['pk', 'sk']);
  assert.ok(stream.CreationRequestDateTime instanceof Date);
  assert.ok(stream.Shards.length > 1);
  for (const shard of stream.Shards) {
    assert.match(shard.ShardId, /^shardId-[0-9a-f-]{20,57}$/);
    assert.match(shard.SequenceNumberRange.StartingSequenceNumber, /^\d{21,40}$/);
    assert.equal(shard.SequenceNumberRange.EndingSequenceNumber, undefined);
  }
  const pages = [];
  let last;
  do {
    const { StreamDescription } = await ask('DescribeStream', { StreamArn: arn, Limit: 1, ExclusiveStartShardId: last });
    pages.push(...StreamDescription.Shards.map((s) => s.ShardId));
    last = StreamDescription.LastEvaluatedShardId;
  } while (last);
  assert.deepEqual(pages, stream.Shards.map((s) => s.ShardId));
  const { Table } = await send('DescribeTable', { TableName: 'described' });
  assert.equal(Table.LatestStreamArn, arn);
});

test('unless asked otherwise a stream has one shard, which has everything', async () => {
  const plain = await startServer();
  const options = { endpoint: plain.endpoint, region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } };
  const there = new streams.DynamoDBStreamsClient(options);
  const tables = new ddb.DynamoDBClient(options);
  const TableName = 'one-shard';
  const { TableDescription: { LatestStreamArn: StreamArn } } = await tables.send(new ddb.CreateTableCommand({
    TableName, BillingMode: 'PAY_PER_REQUEST', AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } }));
  for (let i = 0; i < 40; i++) await tables.send(new ddb.PutItemCommand({ TableName, Item: { pk: { S: `p${i}` } } }));
  const { StreamDescription: { Shards } } = await there.send(new streams.DescribeStreamCommand({ StreamArn }));
  assert.equal(Shards.length, 1);
  const { ShardIterator } = await there.send(new streams.GetShardIteratorCommand({ StreamArn, ShardId: Shards[0].ShardId, ShardIteratorType: 'TRIM_HORIZON' }));
  const { Records } = await there.send(new streams.GetRecordsCommand({ ShardIterator }));
  assert.deepEqual(Records.map(({ dynamodb }) => dynamodb.Keys.pk.S), Array.from({ length: 40 }, (_, i) => `p${i}`));
  there.destroy();
  tables.destroy();
  assert.equal(await plain.stop(), 0);
});

test('streams are listed in pages', async () => {
  for (const name of ['list-a', 'list-b', 'list-c']) await create(name, 'KEYS_ONLY');
  const names = [];
  let last;
  do {
    const page = await ask('ListStreams', { Limit: 2, ExclusiveStartStreamArn: last });
    names.push(...page.Streams.map((s) => s.TableName));
    last = page.LastEvaluatedStreamArn;
  } while (last);
  assert.deepEqual(names.filter((name) => name.startsWith('list-')), ['list-a', 'list-b', 'list-c']);
  const { Streams } = await ask('ListStreams', { TableName: 'list-b' });
  assert.equal(Streams.length, 1);
  assert.equal(Streams[0].TableName, 'list-b');
  assert.deepEqual((await ask('ListStreams', { TableName: 'nobody' })).Streams, []);
});

test('records of an item are in one shard, in order, and replaying them makes the table', async () => {
  const arn = await create('replay', 'NEW_AND_OLD_IMAGES');
  const history = new Map();
  await Promise.all(Array.from({ length: 16 }, async (_, worker) => {
    for (let i = 0; i < 30; i++) {
      const pk = `p${worker}`;
      const sk = String(i % 5);
      if (i % 7 === 6) await send('DeleteItem', { TableName: 'replay', Key: { pk: { S: pk }, sk: { S: sk } } });
      else await put('replay', pk, sk, { n: { N: String(i) } });
    }
  }));
  const records = await readAll(arn, { Limit: 7 });
  const shardOf = new Map();
  for (const { dynamodb, ShardId } of records) {
    const pk = dynamodb.Keys.pk.S;
    assert.equal(shardOf.get(pk) ?? ShardId, ShardId);
    shardOf.set(pk, ShardId);
    const key = `${pk}/${dynamodb.Keys.sk.S}`;
    assert.deepEqual(dynamodb.OldImage, history.get(key));
    if (dynamodb.NewImage) history.set(key, dynamodb.NewImage);
    else history.delete(key);
  }
  assert.ok(new Set(shardOf.values()).size > 1, 'several shards are in use');
  const { Items } = await send('Scan', { TableName: 'replay' });
  assert.equal(Items.length, history.size);
  for (const item of Items) assert.deepEqual(history.get(`${item.pk.S}/${item.sk.S}`), item);
});

test('transactions and batches are told item by item; those that fail are not', async () => {
  const arn = await create('several', 'NEW_IMAGE');
  const Put = (sk) => ({ Put: { TableName: 'several', Item: { pk: { S: 'a' }, sk: { S: sk } } } });
  await send('TransactWriteItems', { TransactItems: [Put('1'), Put('2')] });
  await refused(send('TransactWriteItems', {
    TransactItems: [
      Put('3'),
      { ConditionCheck: { TableName: 'several', Key: { pk: { S: 'x' }, sk: { S: 'x' } }, ConditionExpression: 'attribute_exists(pk)' } },
    ],
  }), 'TransactionCanceledException');
  await send('BatchWriteItem', {
    RequestItems: { several: ['4', '5'].map((sk) => ({ PutRequest: { Item: { pk: { S: 'a' }, sk: { S: sk } } } })) },
  });
  assert.deepEqual((await readAll(arn)).map((r) => r.dynamodb.Keys.sk.S), ['1', '2', '4', '5']);
});

test('iterators begin where they are asked to', async () => {
  const StreamArn = await create('places', 'KEYS_ONLY');
  const shards = await shardsOf(StreamArn);
  const latest = await Promise.all(shards.map(({ ShardId }) =>
    ask('GetShardIterator', { StreamArn, ShardId, ShardIteratorType: 'LATEST' })));
  for (const sk of ['1', '2', '3', '4']) await put('places', 'a', sk);
  const after = (await Promise.all(latest.map(({ ShardIterator }) => drain(ShardIterator)))).flatMap((r) => r.records);
  assert.deepEqual(after.map((r) => r.dynamodb.Keys.sk.S), ['1', '2', '3', '4']);
  assert.deepEqual(await readAll(StreamArn, { type: 'LATEST' }), []);
  const [, second] = await readAll(StreamArn);
  const from = async (ShardIteratorType) => {
    const { ShardIterator } = await ask('GetShardIterator', {
      StreamArn, ShardId: second.ShardId, ShardIteratorType, SequenceNumber: second.dynamodb.SequenceNumber });
    return (await drain(ShardIterator)).records.map((r) => r.dynamodb.Keys.sk.S);
  };
  assert.deepEqual(await from('AT_SEQUENCE_NUMBER'), ['2', '3', '4']);
  assert.deepEqual(await from('AFTER_SEQUENCE_NUMBER'), ['3', '4']);
  for (const { ShardId, SequenceNumberRange } of shards) {
    const { ShardIterator } = await ask('GetShardIterator', {
      StreamArn, ShardId, ShardIteratorType: 'AT_SEQUENCE_NUMBER', SequenceNumber: SequenceNumberRange.StartingSequenceNumber });
    assert.ok(ShardIterator);
  }
});

test('a stream that is switched off can be read to its end; switching on makes a new one', async () => {
  const first = await create('switched', 'NEW_IMAGE');
  await put('switched', 'a', '1');
  await send('UpdateTable', { TableName: 'switched', StreamSpecification: { StreamEnabled: false } });
  await put('switched', 'a', '2');
  const records = await readAll(first);
  assert.deepEqual(records.map((r) => r.dynamodb.Keys.sk.S), ['1']);
  const { StreamDescription } = await ask('DescribeStream', { StreamArn: first });
  assert.equal(StreamDescription.StreamStatus, 'DISABLED');
  for (const { ShardId, SequenceNumberRange } of StreamDescription.Shards) {
    assert.ok(BigInt(SequenceNumberRange.EndingSequenceNumber) >= BigInt(SequenceNumberRange.StartingSequenceNumber));
    const { ShardIterator } = await ask('GetShardIterator', { StreamArn: first, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
    assert.equal((await drain(ShardIterator)).next, undefined, 'a closed shard ends');
  }
  const { TableDescription } = await send('UpdateTable', {
    TableName: 'switched',
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
  });
  assert.notEqual(TableDescription.LatestStreamArn, first);
  await put('switched', 'a', '3');
  assert.deepEqual((await readAll(TableDescription.LatestStreamArn)).map((r) => r.dynamodb.Keys.sk.S), ['3']);
  await send('DeleteTable', { TableName: 'switched' });
  assert.equal((await ask('ListStreams', { TableName: 'switched' })).Streams.length, 2);
  assert.equal((await readAll(first)).length, 1, 'a deleted table is still told of');
});

test('iterators and records survive a restart', async () => {
  const StreamArn = await create('restarted', 'NEW_AND_OLD_IMAGES');
  for (let i = 0; i < 10; i++) await put('restarted', `p${i}`, '1', { n: { N: '1' } });
  const before = await readAll(StreamArn);
  const open = await Promise.all((await shardsOf(StreamArn)).map(async ({ ShardId }) => {
    const { ShardIterator } = await ask('GetShardIterator', { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
    return (await drain(ShardIterator)).next;
  }));
  await stop();
  await start();
  assert.deepEqual(await readAll(StreamArn), before);
  await put('restarted', 'p3', '1', { n: { N: '2' } });
  const fresh = (await Promise.all(open.map((iterator) => drain(iterator)))).flatMap((r) => r.records);
  assert.equal(fresh.length, 1);
  assert.equal(fresh[0].dynamodb.NewImage.n.N, '2');
  assert.ok(before.every((r) => BigInt(r.dynamodb.SequenceNumber) < BigInt(fresh[0].dynamodb.SequenceNumber)));
});

test('what cannot be is refused in the words clients know', async () => {
  const StreamArn = await create('refused', 'KEYS_ONLY');
  const [{ ShardId }] = await shardsOf(StreamArn);
  const other = StreamArn.replace('table/refused', 'table/missing');
  const iterator = (more) => ask('GetShardIterator', { StreamArn, ShardId, ...more });
  await refused(ask('DescribeStream', { StreamArn: other }), 'ResourceNotFoundException', /Stream: .*missing.* not found/);
  await refused(ask('DescribeStream', { StreamArn: 'x' }), 'ValidationException', /at 'streamArn' .* greater than or equal to 37/);
  const garbage = 'arn:aws:dynamodb:eu-west-1:000000000000:nonsense';
  await refused(ask('DescribeStream', { StreamArn: garbage }), 'ValidationException', /Invalid StreamArn/);
  await refused(iterator({ StreamArn: garbage, ShardIteratorType: 'LATEST' }), 'ValidationException', /Invalid StreamArn/);
  for (const ShardFilter of [{}, { Type: 'CHILD_SHARDS' }, { ShardId }]) await refused(ask('DescribeStream', { StreamArn, ShardFilter }), 'ValidationException', /shardFilter/);
  await refused(ask('DescribeStream', { StreamArn, Limit: 101 }), 'ValidationException', /Limit cannot be greater/);
  await refused(iterator({ StreamArn: other, ShardIteratorType: 'LATEST' }), 'ResourceNotFoundException');
  await refused(iterator({ ShardId: `shardId-${'0'.repeat(20)}-00000000`, ShardIteratorType: 'LATEST' }), 'ResourceNotFoundException');
  await refused(iterator({ ShardIteratorType: 'NOWHERE' }), 'ValidationException', /enum value set/);
  await refused(iterator({ ShardIteratorType: 'AT_SEQUENCE_NUMBER' }), 'ValidationException', /Invalid SequenceNumber/);
  await refused(iterator({ ShardIteratorType: 'AT_SEQUENCE_NUMBER', SequenceNumber: '9'.repeat(21) }), 'ValidationException', /Invalid SequenceNumber/);
  await refused(iterator({ ShardIteratorType: 'LATEST', SequenceNumber: '1'.repeat(21) }), 'ValidationException', /should not be passed/);
  await refused(ask('GetRecords', { ShardIterator: 'nonsense' }), 'ValidationException', /Invalid ShardIterator/);
  const { ShardIterator } = await iterator({ ShardIteratorType: 'LATEST' });
  await refused(ask('GetRecords', { ShardIterator: ShardIterator.replace('refused', 'missing') }), 'ValidationException');
  await refused(ask('GetRecords', { ShardIterator, Limit: 1001 }), 'ValidationException', /1000/);
});
