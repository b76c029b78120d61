// Kills the real program with SIGKILL under concurrent load, again and again, and after each start
// proves: every acknowledged write is there, whichever front end took it (DynamoDB, Redis with MULTI, REST), no half of a
// batch or a transaction is, each index agrees with its table, and so does its stream.
//
//   node tests/crash/crash.mjs            KILLS=100 by default, SEED=... replays a choice of load
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { AckModel, clientsOf, createTable, itemOf, Load, randomFrom, readAll as readVersions, scoreIndex, table } from '../disk/load.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';
import { waitBeside } from '../lib/until.mjs';

const kills = Number(process.env.KILLS ?? 100);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
console.log(`SEED=${seed} KILLS=${kills}`);

const random = randomFrom(seed);
const model = new AckModel();
const load = new Load({ model, seed, workers: 16, keysEach: 8 });

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
      GlobalSecondaryIndexUpdates: [has ? { Delete: { IndexName: 'extra' } } : { Create: scoreIndex('extra') }],
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

function checkWhole(items) {
  for (const item of items)
    assert.equal(canonical(item), canonical(itemOf(item.pk.S, Number(item.version.N))), 'an item is whole');
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
  const clients = await clientsOf(server);
  const client = clients.raw;
  if (kill === 0) await createTable(client);
  else {
    const items = await readAll(client, {});
    checkWhole(items);
    model.check(await readVersions(clients));
    await checkIndexes(client, items);
    await checkStream(client, items);
  }
  if (kill === kills) {
    served = await server.stop();
    await clients.close();
    break;
  }
  const run = { over: false };
  const loaded = [load.run(clients, run)];
  if (kill % 3 === 1) loaded.push(meddle(client, run));
  // At any moment, but not before it has had something to lose, however busy the machine is.
  const before = model.acknowledged;
  await sleep(20 + random(180));
  while (model.acknowledged - before < 20) await waitBeside(loaded, 5);
  run.over = true;
  await server.stop('SIGKILL');
  await Promise.all(loaded);
  await clients.close();
  if (kill % 20 === 19) verifyOffline(data);
  if (kill % 500 === 499) console.log(`${kill + 1} kills, ${model.acknowledged} acknowledged writes`);
}
assert.equal(served, 0, 'an orderly stop exits with 0');
verifyOffline(data);
assert.ok(model.acknowledged > kills * 10, `only ${model.acknowledged} writes were acknowledged`);
console.log(`${model.acknowledged} acknowledged writes and ${records} stream records survived ${kills} kills`);
console.log(`crash: ${kills} passed, 0 failed`);
