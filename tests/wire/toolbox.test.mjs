// dynamodb-toolbox, unchanged: entities over one table, every action that it sends.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import {
  $add, $append, $delete, $get, $remove, $subtract, any, assertConditionCheckFailed, BatchDeleteRequest, BatchGetCommand, BatchGetRequest,
  BatchPutRequest, BatchWriteCommand, ConditionCheck, DeleteItemCommand, DeletePartitionCommand, DeleteTransaction, Entity, executeBatchGet,
  executeBatchWrite, executeTransactGet, executeTransactWrite, GetItemCommand, GetTransaction, isConditionCheckFailed,
  isTransactionCancelled, item, list, map, number, PutItemCommand, PutTransaction, QueryCommand, ScanCommand, set, string, Table,
  UpdateItemCommand, UpdateTransaction,
} from 'dynamodb-toolbox';
import { startServer } from '../lib/server.mjs';

let server;
let client;
let table;
let Player;
let Score;

before(async () => {
  server = await startServer();
  client = new DynamoDBClient({
    endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' }, maxAttempts: 1,
  });
  const key = (hash, range) => [{ AttributeName: hash, KeyType: 'HASH' }, { AttributeName: range, KeyType: 'RANGE' }];
  await client.send(new CreateTableCommand({
    TableName: 'toolbox',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      ...['PK', 'SK', 'board'].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
      { AttributeName: 'score', AttributeType: 'N' },
    ],
    KeySchema: key('PK', 'SK'),
    GlobalSecondaryIndexes: [{ IndexName: 'byScore', KeySchema: key('board', 'score'), Projection: { ProjectionType: 'ALL' } }],
  }));
  table = new Table({
    name: 'toolbox',
    documentClient: DynamoDBDocumentClient.from(client),
    partitionKey: { name: 'PK', type: 'string' },
    sortKey: { name: 'SK', type: 'string' },
    indexes: {
      byScore: { type: 'global', partitionKey: { name: 'board', type: 'string' }, sortKey: { name: 'score', type: 'number' } },
    },
  });
  Player = new Entity({
    name: 'player',
    table,
    schema: item({
      id: string().key(),
      name: string(),
      level: number().default(1),
      tags: set(string()).optional(),
      history: list(string()).optional(),
      bag: map({ coins: number(), note: string().optional() }).optional(),
      extra: any().optional(),
    }),
    computeKey: ({ id }) => ({ PK: `PLAYER#${id}`, SK: 'META' }),
  });
  Score = new Entity({
    name: 'score',
    table,
    schema: item({ board: string().key(), playerId: string().key(), score: number() }),
    computeKey: ({ board, playerId }) => ({ PK: `BOARD#${board}`, SK: `PLAYER#${playerId}` }),
  });
});
after(async () => {
  client.destroy();
  await server.stop();
});

const get = async (entity, key) => (await entity.build(GetItemCommand).key(key).options({ consistent: true }).send()).Item;
const put = (entity, value, options = {}) => entity.build(PutItemCommand).item(value).options(options).send();
const refused = (promise) => assert.rejects(promise, (error) => isConditionCheckFailed(error));

describe('items', () => {
  test('put and get, with defaults, sets, lists, maps and time stamps', async () => {
    await put(Player, { id: 'a', name: 'Ann', tags: new Set(['x', 'y']), history: ['1'], bag: { coins: 3 }, extra: { deep: [null, true] } });
    const player = await get(Player, { id: 'a' });
    assert.deepEqual(player.tags, new Set(['x', 'y']));
    assert.deepEqual([player.level, player.history, player.bag, player.extra], [1, ['1'], { coins: 3 }, { deep: [null, true] }]);
    assert.equal(player.created, player.modified);
    const { Item } = await Player.build(GetItemCommand).key({ id: 'a' }).options({ attributes: ['name', 'bag.coins'] }).send();
    assert.deepEqual(Item, { name: 'Ann', bag: { coins: 3 } });
    assert.equal(await get(Player, { id: 'none' }), undefined);
  });

  test('update: set, add, append, delete from a set, remove', async () => {
    await put(Player, { id: 'u', name: 'Uma', tags: new Set(['x', 'y']), history: ['1'], bag: { coins: 3, note: 'n' } });
    const { Attributes } = await Player.build(UpdateItemCommand).item({
      id: 'u', name: 'Una', level: $add(4), tags: $delete(new Set(['x'])), history: $append(['2']), bag: { coins: $subtract($get('bag.coins'), 1), note: $remove() },
    }).options({ returnValues: 'ALL_NEW' }).send();
    assert.deepEqual([Attributes.name, Attributes.level, Attributes.history], ['Una', 5, ['1', '2']]);
    assert.deepEqual([Attributes.tags, Attributes.bag], [new Set(['y']), { coins: 2 }]);
  });

  test('conditions, and what a refusal brings back', async () => {
    await put(Player, { id: 'c', name: 'Cy' });
    const unique = { condition: { attr: 'id', exists: false } };
    await refused(put(Player, { id: 'c', name: 'Other' }, unique));
    await put(Player, { id: 'd', name: 'Di' }, unique);
    const guarded = Player.build(UpdateItemCommand).item({ id: 'c', level: 9 })
      .options({ condition: { or: [{ attr: 'level', gt: 5 }, { attr: 'name', beginsWith: 'X' }] } });
    await refused(guarded.send());
    const told = { condition: { attr: 'level', gt: 5 }, returnValuesOnConditionFalse: 'ALL_OLD' };
    await assert.rejects(Player.build(UpdateItemCommand).item({ id: 'c', level: 9 }).options(told).send(), (error) => {
      assertConditionCheckFailed(error, Player);
      return error.FormattedItem.name === 'Cy';
    });
    const { Attributes } = await Player.build(DeleteItemCommand).key({ id: 'c' })
      .options({ returnValues: 'ALL_OLD', condition: { attr: 'name', eq: 'Cy' } }).send();
    assert.equal(Attributes.level, 1);
    assert.equal(await get(Player, { id: 'c' }), undefined);
  });

  test('a schema is checked before anything is sent', async () => {
    await assert.rejects(put(Player, { id: 'w', name: 7 }), { code: 'parsing.invalidAttributeInput' });
  });
});

describe('many items', () => {
  const scores = Array.from({ length: 30 }, (_, i) => ({ board: 'main', playerId: `p${String(i).padStart(2, '0')}`, score: (i * 7) % 30 }));
  before(async () => {
    for (let i = 0; i < scores.length; i += 25) {
      const { UnprocessedItems } = await executeBatchWrite(
        table.build(BatchWriteCommand).requests(...scores.slice(i, i + 25).map((score) => Score.build(BatchPutRequest).item(score))));
      assert.deepEqual(UnprocessedItems, {});
    }
  });

  test('query: a range of the table, the index backwards, pages, a filter', async () => {
    const range = await table.build(QueryCommand).entities(Score)
      .query({ partition: 'BOARD#main', range: { between: ['PLAYER#p05', 'PLAYER#p07'] } }).send();
    assert.deepEqual(range.Items.map(({ playerId }) => playerId), ['p05', 'p06', 'p07']);
    const top = await table.build(QueryCommand).entities(Score)
      .query({ index: 'byScore', partition: 'main', range: { gte: 20 } }).options({ reverse: true, limit: 4 }).send();
    assert.deepEqual(top.Items.map(({ score }) => score), [29, 28, 27, 26]);
    assert.ok(top.LastEvaluatedKey);
    const all = await table.build(QueryCommand).entities(Score).query({ partition: 'BOARD#main' })
      .options({ limit: 7, maxPages: Infinity, filters: { score: { attr: 'score', lt: 10 } } }).send();
    assert.deepEqual(all.Items.map(({ score }) => score).sort((a, b) => a - b), Array.from({ length: 10 }, (_, i) => i));
    const counted = await table.build(QueryCommand).query({ partition: 'BOARD#main' }).options({ select: 'COUNT' }).send();
    assert.equal(counted.Count, 30);
  });

  test('scan, also in segments', async () => {
    const found = [];
    for (const segment of [0, 1, 2]) {
      const { Items } = await table.build(ScanCommand).entities(Score).options({ segment, totalSegments: 3, maxPages: Infinity }).send();
      found.push(...Items.filter(({ board }) => board === 'main'));
    }
    assert.equal(new Set(found.map(({ playerId }) => playerId)).size, 30);
  });

  test('batches get and delete', async () => {
    const ask = (ids) => executeBatchGet(table.build(BatchGetCommand).requests(
      ...ids.map((playerId) => Score.build(BatchGetRequest).key({ board: 'main', playerId }))));
    const { Responses: [found] } = await ask(['p03', 'none', 'p01']);
    assert.deepEqual(found.map((one) => one?.score), [21, undefined, 7]);
    await put(Score, { board: 'gone', playerId: 'x', score: 1 });
    await executeBatchWrite(table.build(BatchWriteCommand).requests(Score.build(BatchDeleteRequest).key({ board: 'gone', playerId: 'x' })));
    assert.equal(await get(Score, { board: 'gone', playerId: 'x' }), undefined);
  });

  test('a partition is deleted as a whole', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, i) => put(Score, { board: 'drop', playerId: `p${i}`, score: i })));
    await table.build(DeletePartitionCommand).entities(Score).query({ partition: 'BOARD#drop' }).send();
    const left = await table.build(QueryCommand).query({ partition: 'BOARD#drop' }).options({ select: 'COUNT' }).send();
    assert.equal(left.Count, 0);
  });
});

describe('transactions', () => {
  test('all or nothing, with the reasons in order', async () => {
    await Promise.all(['t1', 't2', 't3'].map((id) => put(Player, { id, name: id, level: 5 })));
    await executeTransactWrite(
      Player.build(PutTransaction).item({ id: 't4', name: 't4' }).options({ condition: { attr: 'id', exists: false } }),
      Player.build(UpdateTransaction).item({ id: 't1', level: $add(1) }),
      Player.build(DeleteTransaction).key({ id: 't2' }),
      Player.build(ConditionCheck).key({ id: 't3' }).condition({ attr: 'level', eq: 5 }),
    );
    assert.deepEqual([(await get(Player, { id: 't1' })).level, await get(Player, { id: 't2' })], [6, undefined]);
    await assert.rejects(
      executeTransactWrite(
        Player.build(UpdateTransaction).item({ id: 't1', level: $add(1) }),
        Player.build(ConditionCheck).key({ id: 't3' }).condition({ attr: 'level', eq: 6 })),
      (error) => {
        assert.ok(isTransactionCancelled(error));
        assert.deepEqual(error.CancellationReasons.map(({ Code }) => Code), ['None', 'ConditionalCheckFailed']);
        return true;
      });
    const { Responses } = await executeTransactGet(...['t1', 't2', 't3'].map((id) => Player.build(GetTransaction).key({ id })));
    assert.deepEqual(Responses.map(({ Item }) => Item?.level), [6, undefined, 5]);
  });
});
