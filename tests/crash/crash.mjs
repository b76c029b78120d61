// Kills the real program with SIGKILL under concurrent load, again and again, and after each start
// proves: every acknowledged write is there, no half of a batch is, each index agrees with its table,
// and so does its stream.
//
//   node tests/crash/crash.mjs            KILLS=100 by default, SEED=... replays a choice of load
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rawClient } from '../lib/raw.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

const kills = Number(process.env.KILLS ?? 100);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const workers = 16;
const keysEach = 8;
const batchSize = 6;
console.log(`SEED=${seed} KILLS=${kills}`);

// mulberry32: small, seeded, good enough to choose a load.
let state = seed;
function random(below) {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % below;
}

const table = 'crash';
const key = (name) => ({ pk: { S: name }, sk: { N: '1' } });
const boardOf = (version) => `board-${version % 3}`;
const itemOf = (name, version) => ({
  ...key(name),
  version: { N: String(version) },
  filler: { S: 'x'.repeat(version % 300) },
  // every fifth version is not on any board: the index is sparse
  ...(version % 5 === 0 ? {} : { board: { S: boardOf(version) }, score: { N: String(version % 97) } }),
});

// What each name may hold: the last acknowledged version (0: none) and, while a request is in
// flight or after one that was never answered, what it may hold instead.
const known = new Map();
const maybe = new Map();
let nextVersion = 1;
let acknowledged = 0;

async function setUp(client) {
  await client.must('CreateTable', {
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'N' },
      { AttributeName: 'board', AttributeType: 'S' },
      { AttributeName: 'score', AttributeType: 'N' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [index('byScore')],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
}

function index(name) {
  return {
    IndexName: name,
    KeySchema: [
      { AttributeName: 'board', KeyType: 'HASH' },
      { AttributeName: 'score', KeyType: 'RANGE' },
    ],
    Projection: { ProjectionType: 'ALL' },
  };
}

// Sends one write of `names` to `version` (0 deletes); known and maybe follow what was answered.
async function write(client, names, version, operation, input) {
  for (const name of names) maybe.set(name, version);
  const { status, json } = await client.call(operation, input);
  if (status === 200) {
    for (const name of names) known.set(name, version);
    acknowledged++;
  } else if (json.__type.endsWith('ConditionalCheckFailedException')) {
    assert.fail(`a condition failed that must hold: ${JSON.stringify(input)}`);
  } else {
    throw new Error(`${operation}: ${json.__type} ${json.message}`);
  }
  for (const name of names) maybe.delete(name);
}

function put(client, name) {
  const version = nextVersion++;
  return write(client, [name], version, 'PutItem', { TableName: table, Item: itemOf(name, version) });
}

// A conditional update that holds only if the store has exactly what was acknowledged.
function update(client, name) {
  const version = nextVersion++;
  const before = known.get(name) ?? 0;
  const item = itemOf(name, version);
  const onBoard = item.board !== undefined;
  return write(client, [name], version, 'UpdateItem', {
    TableName: table,
    Key: key(name),
    UpdateExpression: 'SET #v = :v, filler = :f' +
      (onBoard ? ', board = :b, score = :s' : ' REMOVE board, score'),
    ConditionExpression: before === 0 ? 'attribute_not_exists(pk)' : '#v = :old',
    ExpressionAttributeNames: { '#v': 'version' },
    ExpressionAttributeValues: {
      ':v': item.version,
      ':f': item.filler,
      ...(onBoard ? { ':b': item.board, ':s': item.score } : {}),
      ...(before === 0 ? {} : { ':old': { N: String(before) } }),
    },
  });
}

function remove(client, name) {
  return write(client, [name], 0, 'DeleteItem', { TableName: table, Key: key(name) });
}

function batch(client, worker) {
  const version = nextVersion++;
  const names = Array.from({ length: batchSize }, (_, i) => `batch-${worker}-${i}`);
  return write(client, names, version, 'BatchWriteItem', {
    RequestItems: { [table]: names.map((name) => ({ PutRequest: { Item: itemOf(name, version) } })) },
  });
}

async function work(client, worker, run) {
  while (!run.over) {
    const name = `key-${worker}-${random(keysEach)}`;
    const dice = random(10);
    try {
      if (dice < 4) await put(client, name);
      else if (dice < 7) await update(client, name);
      else if (dice < 8) await remove(client, name);
      else await batch(client, worker);
    } catch (error) {
      if (!run.over) throw error;
      return; // the request that the kill cut off
    }
  }
}

// Adds and drops a second index while the load runs, so that kills meet backfills.
async function meddle(client, run) {
  try {
    const { Table } = await client.must('DescribeTable', { TableName: table });
    const has = Table.GlobalSecondaryIndexes.some((i) => i.IndexName === 'extra');
    await client.must('UpdateTable', {
      TableName: table,
      AttributeDefinitions: [
        { AttributeName: 'board', AttributeType: 'S' },
        { AttributeName: 'score', AttributeType: 'N' },
      ],
      GlobalSecondaryIndexUpdates: [has ? { Delete: { IndexName: 'extra' } } : { Create: index('extra') }],
    });
  } catch (error) {
    if (!run.over && !/LimitExceeded|ResourceInUse/.test(error.message)) throw error;
  }
}

async function readAll(client, input) {
  const items = [];
  let start;
  do {
    const page = await client.must('Scan', { TableName: table, ...input, ExclusiveStartKey: start });
    items.push(...page.Items);
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
}

const canonical = (item) =>
  JSON.stringify(Object.keys(item).sort().map((name) => [name, item[name]]));

function checkItems(items) {
  const found = new Map(items.map((item) => [item.pk.S, Number(item.version.N)]));
  for (const name of new Set([...known.keys(), ...maybe.keys(), ...found.keys()])) {
    const actual = found.get(name) ?? 0;
    const allowed = [known.get(name) ?? 0];
    if (maybe.has(name)) allowed.push(maybe.get(name));
    assert.ok(allowed.includes(actual), `${name} holds version ${actual}, acknowledged was ${allowed}`);
  }
  for (const item of items)
    assert.equal(canonical(item), canonical(itemOf(item.pk.S, Number(item.version.N))), 'an item is whole');
  for (let worker = 0; worker < workers; worker++) {
    const versions = new Set();
    for (let i = 0; i < batchSize; i++) versions.add(found.get(`batch-${worker}-${i}`) ?? 0);
    assert.equal(versions.size, 1, `half of a batch: ${[...versions]}`);
  }
  for (const name of new Set([...known.keys(), ...maybe.keys()])) known.set(name, found.get(name) ?? 0);
  maybe.clear();
}

async function checkIndexes(client, items) {
  const expected = items.filter((item) => item.board !== undefined).map(canonical).sort();
  const { Table } = await client.must('DescribeTable', { TableName: table });
  assert.equal(Table.ItemCount, items.length);
  for (const { IndexName, IndexStatus, ItemCount } of Table.GlobalSecondaryIndexes) {
    assert.equal(IndexStatus, 'ACTIVE', 'a start finishes what a backfill began');
    const entries = await readAll(client, { IndexName });
    assert.deepEqual(entries.map(canonical).sort(), expected, `${IndexName} agrees with its table`);
    assert.equal(ItemCount, expected.length);
  }
}

// Replays what the stream tells, from where the last start left off, over what it told before: that
// makes the table, and each record fits what was before it.
const told = new Map();
const iterators = new Map();
let records = 0;
async function checkStream(client, items) {
  const ask = async (operation, input) => {
    const { status, json } = await client.call(operation, input, { 'X-Amz-Target': `DynamoDBStreams_20120810.${operation}` });
    assert.equal(status, 200, `${operation}: ${JSON.stringify(json)}`);
    return json;
  };
  const { Table } = await client.must('DescribeTable', { TableName: table });
  const StreamArn = Table.LatestStreamArn;
  const { StreamDescription } = await ask('DescribeStream', { StreamArn });
  for (const { ShardId } of StreamDescription.Shards) {
    let next = iterators.get(ShardId) ??
      (await ask('GetShardIterator', { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' })).ShardIterator;
    for (let more = true; more; ) {
      const page = await ask('GetRecords', { ShardIterator: next });
      for (const { dynamodb } of page.Records) {
        const name = dynamodb.Keys.pk.S;
        assert.deepEqual(dynamodb.OldImage, told.get(name), `${name}: a record that does not follow the one before`);
        if (dynamodb.NewImage) told.set(name, dynamodb.NewImage);
        else told.delete(name);
      }
      records += page.Records.length;
      more = page.Records.length > 0;
      next = page.NextShardIterator;
    }
    iterators.set(ShardId, next);
  }
  assert.deepEqual([...told.values()].map(canonical).sort(), items.map(canonical).sort(), 'the stream makes the table');
}

function verifyOffline(data) {
  const { status, stdout, stderr } = spawnSync(program, ['verify', '--data', data], { encoding: 'utf8' });
  assert.equal(status, 0, `gametable verify: ${stdout}${stderr}`);
}

const data = temporaryFolder();
let served = 0;
for (let kill = 0; kill <= kills; kill++) {
  const server = await startServer({ data, args: ['--log-level', 'error'] });
  const client = rawClient(server.endpoint);
  if (kill === 0) await setUp(client);
  else {
    const items = await readAll(client, {});
    checkItems(items);
    await checkIndexes(client, items);
    await checkStream(client, items);
  }
  if (kill === kills) {
    served = await server.stop();
    client.close();
    break;
  }
  const run = { over: false };
  const load = Array.from({ length: workers }, (_, worker) => work(client, worker, run));
  if (kill % 3 === 1) load.push(meddle(client, run));
  await new Promise((resolve) => setTimeout(resolve, 20 + random(180)));
  run.over = true;
  await server.stop('SIGKILL');
  await Promise.all(load);
  client.close();
  if (kill % 20 === 19) verifyOffline(data);
}
assert.equal(served, 0, 'an orderly stop exits with 0');
verifyOffline(data);
assert.ok(acknowledged > kills * 10, `only ${acknowledged} writes were acknowledged`);
console.log(`${acknowledged} acknowledged writes and ${records} stream records survived ${kills} kills`);
console.log(`crash: ${kills} passed, 0 failed`);
