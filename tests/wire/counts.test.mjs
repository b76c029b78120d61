// A player's rank by Query with Select=COUNT on the table's own keys, as single-table designs do it: whole and
// right among 200,000, while writes go on, after a crash, and paged when that is asked for.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { rawClient } from '../lib/raw.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';

const players = 200000;
const board = 'LEADERBOARD#season_3';
const data = temporaryFolder();
const padded = (score) => String(score).padStart(10, '0');
const sk = (score, player) => `SCORE#${padded(score)}#player-${player}`;
// Every score once, so that the rank of each is known.
const scoreOf = (player) => (player * 7919) % players;

let server, raw, client;

async function connect() {
  raw = rawClient(server.endpoint);
  client = DynamoDBDocumentClient.from(new DynamoDBClient({
    endpoint: server.endpoint,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    maxAttempts: 1,
  }));
}
const disconnect = () => (raw.close(), client.destroy());

before(async () => {
  server = await startServer({ data, args: ['--durability', 'none', '--threads', '1'] });
  await connect();
  await raw.must('CreateTable', {
    TableName: 'game',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
  });
  let next = 0;
  const load = async () => {
    while (next < players) {
      const items = [];
      for (; items.length < 25 && next < players; next++)
        items.push({ PutRequest: { Item: { pk: { S: board }, sk: { S: sk(scoreOf(next), next) }, score: { N: `${scoreOf(next)}` } } } });
      await raw.must('BatchWriteItem', { RequestItems: { game: items } });
    }
  };
  await Promise.all(Array.from({ length: 16 }, load));
});
after(async () => {
  disconnect();
  assert.equal(await server.stop(), 0);
});

const count = async (condition, values, more = {}) => {
  const answer = await client.send(new QueryCommand({
    TableName: 'game',
    KeyConditionExpression: `pk = :pk${condition ? ` AND ${condition}` : ''}`,
    ExpressionAttributeValues: { ':pk': board, ...values },
    Select: 'COUNT',
    ...more,
  }));
  assert.equal(answer.Items, undefined);
  assert.equal(answer.ScannedCount, answer.Count);
  return answer;
};
// AP10: the scores above, and one.
const rankOf = async (score) => {
  const { Count, LastEvaluatedKey } = await count('sk > :above', { ':above': `SCORE#${padded(score)}#zzz` });
  assert.equal(LastEvaluatedKey, undefined);
  return Count + 1;
};

// Moves players between scores that nobody has, each move in one transaction, until it is told to stop.
function moveAbout(range) {
  let moving = true;
  const at = new Map();
  const move = async () => {
    for (let i = 0; moving; i++) {
      const player = range.from + (i % range.count);
      const old = at.get(player) ?? scoreOf(player);
      const next = players + ((old * 31 + i) % players);
      await raw.must('TransactWriteItems', {
        TransactItems: [
          { Delete: { TableName: 'game', Key: { pk: { S: board }, sk: { S: sk(old, player) } } } },
          { Put: { TableName: 'game', Item: { pk: { S: board }, sk: { S: sk(next, player) }, score: { N: `${next}` } } } },
        ],
      });
      at.set(player, next);
    }
  };
  const done = move();
  return { at, stop: () => ((moving = false), done) };
}

test('the number is whole and right while writes go on and its tree is made', async () => {
  assert.equal((await count('', {}, { Limit: 1 })).Count, 1); // a connection is there
  const writers = [{ from: 0, count: 50 }, { from: 100, count: 50 }].map(moveAbout);
  // Who asks for something else does not wait for the tree of a first count, though there is one thread.
  const order = [];
  await Promise.all([
    count().then(({ Count }) => order.push(Count)),
    raw.must('GetItem', { TableName: 'game', Key: { pk: { S: board }, sk: { S: sk(scoreOf(7), 7) } } }).then(() => order.push('item')),
  ]);
  assert.deepEqual(order, ['item', players]);
  for (let i = 0; i < 200; i++) {
    const { Count, LastEvaluatedKey } = await count();
    assert.equal(LastEvaluatedKey, undefined);
    assert.equal(Count, players); // a transaction takes one away and puts one: never less, never more
  }
  for (const writer of writers) await writer.stop();
  const scores = Array.from({ length: players }, (_, player) =>
    writers[0].at.get(player) ?? writers[1].at.get(player) ?? scoreOf(player));
  for (let i = 0; i < 50; i++) {
    const score = scores[(i * 4001) % players];
    assert.equal(await rankOf(score), scores.filter((other) => other > score).length + 1);
  }
  assert.equal((await count('sk BETWEEN :low AND :high', { ':low': 'SCORE#0000001000', ':high': 'SCORE#0000001999~' })).Count,
    scores.filter((score) => score >= 1000 && score < 2000).length);
  assert.equal((await count('begins_with(sk, :prefix)', { ':prefix': 'SCORE#00001' })).Count,
    scores.filter((score) => padded(score).startsWith('00001')).length);
  assert.equal((await count('sk <= :last', { ':last': 'SCORE#0000000499~' })).Count, scores.filter((score) => score < 500).length);
  const start = { pk: board, sk: sk(scores[7000], 7000) };
  assert.equal((await count('', {}, { ExclusiveStartKey: start })).Count, scores.filter((score) => score > scores[7000]).length);
  assert.equal((await count('', {}, { ExclusiveStartKey: start, ScanIndexForward: false })).Count,
    scores.filter((score) => score < scores[7000]).length);
  const { ConsumedCapacity } = await count('', {}, { ReturnConsumedCapacity: 'TOTAL' });
  assert.ok(ConsumedCapacity.CapacityUnits > 1000); // what the service would have charged for reading them
});

test('a limit or a filter is read for, as anywhere', async () => {
  const { Count, LastEvaluatedKey } = await count('', {}, { Limit: 10 });
  assert.equal(Count, 10);
  assert.equal(LastEvaluatedKey.pk, board);
  const { ScannedCount, Count: kept } = await client.send(new QueryCommand({
    TableName: 'game',
    KeyConditionExpression: 'pk = :pk',
    FilterExpression: 'score < :few',
    ExpressionAttributeValues: { ':pk': board, ':few': 5 },
    Select: 'COUNT',
  }));
  assert.ok(kept <= 5 && ScannedCount > 5 && ScannedCount < players);
});

test('after a crash the number is right from the first answer on', async () => {
  await count();
  await new Promise((resolve) => setTimeout(resolve, 3500)); // until it has been noted which partitions are counted
  disconnect();
  await server.stop('SIGKILL');
  server = await startServer({ data });
  await connect();
  assert.equal((await count()).Count, players);
  await raw.must('PutItem', { TableName: 'game', Item: { pk: { S: board }, sk: { S: 'SCORE#9999999999#last' } } });
  assert.equal((await count()).Count, players + 1);
  assert.equal(await rankOf(2 * players), 2);
  await raw.must('DeleteItem', { TableName: 'game', Key: { pk: { S: board }, sk: { S: 'SCORE#9999999999#last' } } });
  assert.equal((await count()).Count, players);
});

test('--strict-paging pages it as the service does', async () => {
  disconnect();
  assert.equal(await server.stop(), 0);
  server = await startServer({ data, args: ['--strict-paging'] });
  await connect();
  let pages = 0;
  let sum = 0;
  let from;
  do {
    const page = await count('', {}, { ExclusiveStartKey: from });
    sum += page.Count;
    from = page.LastEvaluatedKey;
    pages++;
  } while (from);
  assert.equal(sum, players);
  assert.ok(pages > 5);
});
