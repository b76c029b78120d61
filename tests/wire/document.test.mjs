// The SDK's document client: plain JavaScript values in and out, its paginators, and the older parameters.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { CreateTableCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import * as lib from '@aws-sdk/lib-dynamodb';
import { startServer } from '../lib/server.mjs';

const TableName = 'game';
let server, documents;
const clients = [];
// A document client keeps its options in the client under it, so that each has its own.
function connect(options) {
  clients.push(new DynamoDBClient({
    endpoint: server.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    maxAttempts: 1,
  }));
  return lib.DynamoDBDocumentClient.from(clients.at(-1), options);
}
before(async () => {
  server = await startServer();
  documents = connect({ marshallOptions: { removeUndefinedValues: true } });
  await documents.send(new CreateTableCommand({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'PK', AttributeType: 'S' }, { AttributeName: 'SK', AttributeType: 'S' },
      { AttributeName: 'board', AttributeType: 'S' }, { AttributeName: 'score', AttributeType: 'N' },
    ],
    KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }],
    GlobalSecondaryIndexes: [{
      IndexName: 'byScore',
      KeySchema: [{ AttributeName: 'board', KeyType: 'HASH' }, { AttributeName: 'score', KeyType: 'RANGE' }],
      Projection: { ProjectionType: 'ALL' },
    }],
  }));
});
after(async () => {
  for (const client of clients) client.destroy();
  assert.equal(await server.stop(), 0);
});

const send = (name, input) => documents.send(new lib[`${name}Command`]({ TableName, ...input }));
const get = async (Key, rest = {}) => (await send('Get', { Key, ...rest })).Item;
const refused = (promise, name, message) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.name, name, error.message);
    if (message instanceof RegExp) assert.match(error.message, message);
    else if (message) assert.equal(error.message, message);
    return true;
  });
const key = (PK, SK = 'x') => ({ PK, SK });

test('plain values: text, numbers, lists, maps, null, booleans come back equal', async () => {
  const Item = {
    ...key('values'),
    text: 'Grüße, 世界 😀 "quoted" \\ \u0000 \u2028',
    empty: '',
    zero: 0,
    negative: -273.15,
    tiny: 5e-100,
    large: 2 ** 52,
    integer: Number.MAX_SAFE_INTEGER,
    yes: true,
    no: false,
    nothing: null,
    list: [1, 'two', [3, [null, {}]], { four: [] }],
    map: { 'with space': { deep: { deeper: [{ deepest: 1 }] } }, __proto: 'p' },
  };
  await send('Put', { Item });
  assert.deepEqual(await get(key('values')), Item);
  assert.deepEqual(await get(key('values'), { ConsistentRead: true }), Item);
});

test('undefined is left out, at every depth', async () => {
  await send('Put', { Item: { ...key('undefined'), gone: undefined, map: { kept: 1, gone: undefined }, list: [1, undefined, 2] } });
  assert.deepEqual(await get(key('undefined')), { ...key('undefined'), map: { kept: 1 }, list: [1, 2] });
});

test('sets: of text, of numbers, of binaries; empty ones are refused', async () => {
  const Item = {
    ...key('sets'),
    texts: new Set(['b', 'a', 'é', '']),
    numbers: new Set([3, -1, 2.5, 0]),
    bytes: new Set([new Uint8Array([2]), new Uint8Array([1, 0])]),
    inside: { list: [new Set(['only'])] },
  };
  await send('Put', { Item });
  const back = await get(key('sets'));
  assert.deepEqual(back.texts, Item.texts);
  assert.deepEqual(back.numbers, Item.numbers);
  assert.ok(back.bytes instanceof Set);
  assert.deepEqual([...back.bytes].map((b) => [...b]).sort(), [[1, 0], [2]]);
  assert.deepEqual(back.inside, Item.inside);
  await refused(documents.send(new PutItemCommand({ TableName, Item: { PK: { S: 'sets' }, SK: { S: 'none' }, none: { SS: [] } } })), 'ValidationException',
    'One or more parameter values were invalid: An string set  may not be empty');
});

test('binary: Buffer and Uint8Array, every byte, empty, in keys order by bytes', async () => {
  const every = Uint8Array.from({ length: 256 }, (_, i) => i);
  await send('Put', { Item: { ...key('binary'), every, buffer: Buffer.from('crow'), none: new Uint8Array(0) } });
  const back = await get(key('binary'));
  assert.deepEqual(Uint8Array.from(back.every), every);
  assert.equal(Buffer.from(back.buffer).toString(), 'crow');
  assert.equal(back.none.length, 0);
  const { Count } = await send('Query', {
    KeyConditionExpression: 'PK = :p', FilterExpression: 'every > :b AND size(every) = :n',
    ExpressionAttributeValues: { ':p': 'binary', ':b': every.slice(0, 255), ':n': 256 },
  });
  assert.equal(Count, 1);
});

test('numbers beyond JavaScript: BigInt and NumberValue keep all 38 digits', async () => {
  const exact = connect({ unmarshallOptions: { wrapNumbers: true } });
  const digits = '12345678901234567890123456789012345678';
  await send('Put', {
    Item: {
      ...key('numbers'), big: BigInt(digits), negative: -BigInt(digits), long: lib.NumberValue.from(`0.${digits}`),
      set: new Set([2n ** 100n, 1n]),
    },
  });
  const { Item } = await exact.send(new lib.GetCommand({ TableName, Key: key('numbers') }));
  assert.equal(Item.big.value, digits);
  assert.equal(Item.negative.value, `-${digits}`);
  assert.equal(Item.long.value, `0.${digits}`);
  assert.deepEqual(new Set([...Item.set].map((n) => n.value)), new Set([(2n ** 100n).toString(), '1']));
  const { Attributes } = await exact.send(new lib.UpdateCommand({
    TableName, Key: key('numbers'), UpdateExpression: 'SET big = big + :one, negative = negative - :one',
    ExpressionAttributeValues: { ':one': 1 }, ReturnValues: 'UPDATED_NEW',
  }));
  assert.equal(Attributes.big.value, (BigInt(digits) + 1n).toString());
  assert.equal(Attributes.negative.value, (-BigInt(digits) - 1n).toString());
  await refused(send('Put', { Item: { ...key('numbers', 'over'), big: 10n ** 38n + 1n } }), 'ValidationException',
    'Attempting to store more than 38 significant digits in a Number');
  assert.equal(await get(key('numbers', 'over')), undefined);
});

test('updates: nested paths, lists, counters, sets, defaults, return values', async () => {
  const Key = key('update');
  const update = async (UpdateExpression, values = {}, rest = {}) =>
    (await send('Update', {
      Key, UpdateExpression, ReturnValues: 'ALL_NEW',
      ...(Object.keys(values).length ? { ExpressionAttributeValues: values } : {}), ...rest,
    })).Attributes;
  await update('SET hp = if_not_exists(hp, :start), bag = :bag, stats = :stats, badges = :badges', {
    ':start': 100, ':bag': ['sword', 'rope', 'map'], ':stats': { wins: 1, by: { week: { 1: 7 } } }, ':badges': new Set(['new']),
  });
  let now = await update('SET hp = if_not_exists(hp, :start) - :hit, bag[1] = :torch, stats.wins = stats.wins + :one, #s.#b.#w.#1 = :one REMOVE bag[0] ADD badges :more, seen :one', {
    ':start': 1, ':hit': 30, ':torch': 'torch', ':one': 1, ':more': new Set(['brave', 'new']),
  }, { ExpressionAttributeNames: { '#s': 'stats', '#b': 'by', '#w': 'week', '#1': '1' } });
  assert.deepEqual(now, {
    ...Key, hp: 70, bag: ['torch', 'map'], stats: { wins: 2, by: { week: { 1: 1 } } }, badges: new Set(['new', 'brave']), seen: 1,
  });
  now = await update('SET bag = list_append(:first, bag), bag2 = list_append(bag, :first), bag3 = bag DELETE badges :new', { ':first': ['key'], ':new': new Set(['new']) });
  assert.deepEqual([now.bag, now.bag2, now.bag3], [['key', 'torch', 'map'], ['torch', 'map', 'key'], ['torch', 'map']], 'right sides see the old item');
  assert.deepEqual(now.badges, new Set(['brave']));
  now = await update('SET bag[99] = :late', { ':late': 'late' });
  assert.deepEqual(now.bag, ['key', 'torch', 'map', 'late'], 'past the end is the end');
  now = await update('SET a = b, b = a', {}, {}).catch((error) => error);
  assert.match(now.message, /The provided expression refers to an attribute that does not exist in the item/);
  await update('SET a = :1, b = :2', { ':1': 1, ':2': 2 });
  now = await update('SET a = b, b = a');
  assert.deepEqual([now.a, now.b], [2, 1]);
  assert.deepEqual((await send('Update', {
    Key, UpdateExpression: 'SET stats.wins = :n, bag[0] = :k REMOVE bag2', ExpressionAttributeValues: { ':n': 9, ':k': 'gold key' }, ReturnValues: 'UPDATED_NEW',
  })).Attributes, { stats: { wins: 9 }, bag: ['gold key'] });
  assert.deepEqual((await send('Update', {
    Key, UpdateExpression: 'SET stats.wins = :n REMOVE bag3', ExpressionAttributeValues: { ':n': 10 }, ReturnValues: 'UPDATED_OLD',
  })).Attributes, { stats: { wins: 9 }, bag3: ['torch', 'map'] });

  const before = await get(Key);
  await refused(update('SET hp = hp + :s', { ':s': 'a' }), 'ValidationException', /Incorrect operand type for operator or function; operator or function: \+, operand type: S/);
  await refused(update('SET bag = bag + :s', { ':s': 1 }), 'ValidationException', 'An operand in the update expression has an incorrect data type');
  await refused(update('SET nowhere.x = :s', { ':s': 1 }), 'ValidationException', 'The document path provided in the update expression is invalid for update');
  await refused(update('SET PK = :s', { ':s': 'other' }), 'ValidationException', 'One or more parameter values were invalid: Cannot update attribute PK. This attribute is part of the key');
  await refused(update('SET hp = :s, hp = :s', { ':s': 1 }), 'ValidationException',
    'Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [hp], path two: [hp]');
  await refused(update('ADD bag :s', { ':s': 1 }), 'ValidationException', 'An operand in the update expression has an incorrect data type');
  assert.deepEqual(await get(Key), before, 'a refused update changes nothing');
});

test('conditions: functions and operators decide, and the old item comes with a failure', async () => {
  const Key = key('condition');
  await send('Put', { Item: { ...Key, name: 'Ada', level: 7, tags: new Set(['a', 'b']), list: [1, 2], nested: { on: true } }, ConditionExpression: 'attribute_not_exists(PK)' });
  const touch = (ConditionExpression, values, names) => send('Update', {
    Key, UpdateExpression: 'SET touched = :t', ConditionExpression,
    ExpressionAttributeValues: { ':t': 1, ...values }, ...(names ? { ExpressionAttributeNames: names } : {}),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  for (const [holds, values, names] of [
    ['#n = :n', { ':n': 'Ada' }, { '#n': 'name' }],
    ['begins_with(#n, :n) AND contains(#n, :d)', { ':n': 'A', ':d': 'da' }, { '#n': 'name' }],
    ['#l BETWEEN :a AND :b', { ':a': 7, ':b': 8 }, { '#l': 'level' }],
    ['#l IN (:a, :b)', { ':a': 1, ':b': 7 }, { '#l': 'level' }],
    ['contains(tags, :a) AND NOT contains(tags, :c)', { ':a': 'a', ':c': 'c' }],
    ['contains(#l, :two) AND #l[0] = :one', { ':two': 2, ':one': 1 }, { '#l': 'list' }],
    ['nested.#o = :true AND attribute_type(nested, :m)', { ':true': true, ':m': 'M' }, { '#o': 'on' }],
    ['size(#n) = :three OR attribute_exists(absent)', { ':three': 3 }, { '#n': 'name' }],
    ['absent <> :x', { ':x': 1 }],
    ['NOT absent = :x AND NOT (absent < :x)', { ':x': 1 }],
  ]) await touch(holds, values, names);
  for (const [fails, values, names] of [
    ['#n < :n', { ':n': 'Ada' }, { '#n': 'name' }],
    ['#l > :s', { ':s': '1' }, { '#l': 'level' }],
    ['absent < :x', { ':x': 1 }],
    ['attribute_not_exists(nested.#o)', {}, { '#o': 'on' }],
  ]) {
    await assert.rejects(touch(fails, values, names), (error) => {
      assert.equal(error.name, 'ConditionalCheckFailedException', `${fails}: ${error.message}`);
      assert.ok(error.Item, 'the item is told');
      return true;
    });
  }
  await refused(send('Delete', { Key, ConditionExpression: 'attribute_not_exists(PK)' }), 'ConditionalCheckFailedException', 'The conditional request failed');
  assert.equal((await send('Delete', { Key, ConditionExpression: 'touched = :t', ExpressionAttributeValues: { ':t': 1 }, ReturnValues: 'ALL_OLD' })).Attributes.name, 'Ada');
});

// What everyone writes around BatchWrite: send what was not processed until nothing is left.
async function writeAll(requests) {
  let rounds = 0;
  for (let from = 0; from < requests.length; from += 25) {
    let RequestItems = { [TableName]: requests.slice(from, from + 25) };
    while (Object.keys(RequestItems).length) {
      assert.ok(rounds++ < 100, 'it ends');
      RequestItems = (await documents.send(new lib.BatchWriteCommand({ RequestItems }))).UnprocessedItems;
      assert.ok(RequestItems, 'UnprocessedItems is always there');
    }
  }
}
async function readAll(Keys, rest = {}) {
  const items = [];
  let rounds = 0;
  for (let from = 0; from < Keys.length; from += 100) {
    let RequestItems = { [TableName]: { Keys: Keys.slice(from, from + 100), ...rest } };
    while (Object.keys(RequestItems).length) {
      rounds++;
      const { Responses, UnprocessedKeys } = await documents.send(new lib.BatchGetCommand({ RequestItems }));
      assert.ok(Responses[TableName].length > 0, 'each round brings something');
      items.push(...Responses[TableName]);
      RequestItems = UnprocessedKeys;
    }
  }
  return { items, rounds };
}

test('batches: the usual loops write, read and delete all', async () => {
  const count = 230;
  const keys = Array.from({ length: count }, (_, i) => key('batch', String(i).padStart(4, '0')));
  await writeAll(keys.map((Key, i) => ({ PutRequest: { Item: { ...Key, i, board: `b${i % 2}`, score: i % 50 } } })));
  const { items } = await readAll(keys, { ProjectionExpression: 'SK, i', ConsistentRead: true });
  assert.equal(items.length, count);
  for (const item of items) assert.deepEqual(item, { SK: String(item.i).padStart(4, '0'), i: item.i });
  await writeAll(keys.slice(200).map((Key) => ({ DeleteRequest: { Key } })));
  const { Count } = await send('Query', { KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': 'batch' }, Select: 'COUNT' });
  assert.equal(Count, 200);
});

test('a batch get past 16 MB leaves keys for the next round', async () => {
  const filler = 'x'.repeat(390 * 1024);
  const keys = Array.from({ length: 50 }, (_, i) => key('heavy', String(i)));
  await Promise.all(keys.map((Key) => send('Put', { Item: { ...Key, filler } })));
  const { items, rounds } = await readAll(keys);
  assert.ok(rounds >= 2, `${rounds} rounds`);
  assert.deepEqual(items.map((item) => item.SK).sort(), keys.map(({ SK }) => SK).sort());
  await writeAll(keys.map((Key) => ({ DeleteRequest: { Key } })));
});

test('paginators: query, query of an index, scan, with filters and page sizes', async () => {
  const all = async (paginate, input, pageSize, startingToken) => {
    const items = [];
    let pages = 0;
    for await (const page of paginate({ client: documents, pageSize, startingToken }, { TableName, ...input })) {
      pages++;
      if (pageSize) assert.ok(page.ScannedCount <= pageSize);
      items.push(...page.Items);
    }
    return { items, pages };
  };
  const inBatch = { KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': 'batch' } };
  const walked = await all(lib.paginateQuery, inBatch, 30);
  assert.deepEqual(walked.items.map((item) => item.i), Array.from({ length: 200 }, (_, i) => i));
  assert.equal(walked.pages, 7);
  const filtered = await all(lib.paginateQuery, {
    ...inBatch, FilterExpression: 'i IN (:a, :b) OR i > :c', ExpressionAttributeValues: { ':p': 'batch', ':a': 3, ':b': 77, ':c': 197 },
  }, 50);
  assert.deepEqual(filtered.items.map((item) => item.i), [3, 77, 198, 199]);
  const resumed = await all(lib.paginateQuery, inBatch, 100, key('batch', '0149'));
  assert.equal(resumed.items.length, 50);

  const top = await all(lib.paginateQuery, {
    IndexName: 'byScore', KeyConditionExpression: 'board = :b AND score BETWEEN :low AND :high',
    ExpressionAttributeValues: { ':b': 'b1', ':low': 10, ':high': 49 }, ScanIndexForward: false,
  }, 7);
  assert.equal(top.items.length, 80);
  assert.ok(top.items.every((item, n) => n === 0 || item.score <= top.items[n - 1].score));
  assert.equal(new Set(top.items.map((item) => item.SK)).size, 80, 'equal scores are neither lost nor doubled across pages');

  const scanned = await all(lib.paginateScan, { FilterExpression: 'PK = :p', ExpressionAttributeValues: { ':p': 'batch' } }, 33);
  assert.equal(scanned.items.length, 200);
  const index = await all(lib.paginateScan, { IndexName: 'byScore', ProjectionExpression: 'i' }, 64);
  assert.deepEqual(index.items.map((item) => item.i).sort((a, b) => a - b), Array.from({ length: 200 }, (_, i) => i));
});

test('the older parameters: KeyConditions, filters, Expected, AttributeUpdates, AttributesToGet', async () => {
  const is = (ComparisonOperator, ...AttributeValueList) => ({ ComparisonOperator, ...(AttributeValueList.length ? { AttributeValueList } : {}) });
  const { Items } = await send('Query', {
    KeyConditions: { PK: is('EQ', 'batch'), SK: is('BETWEEN', '0010', '0019') }, QueryFilter: { i: is('GT', 12), score: is('NE', 15) }, AttributesToGet: ['i'],
  });
  assert.deepEqual(Items, [13, 14, 16, 17, 18, 19].map((i) => ({ i })));
  const either = await send('Scan', { ScanFilter: { i: is('IN', 1, 2), SK: is('BEGINS_WITH', '019') }, ConditionalOperator: 'OR' });
  assert.equal(either.Count, 12);
  assert.deepEqual(await get(key('batch', '0001'), { AttributesToGet: ['i', 'absent'] }), { i: 1 });

  const Key = key('older');
  const { Attributes: made } = await send('Update', {
    Key, ReturnValues: 'ALL_NEW', Expected: { PK: { Exists: false } },
    AttributeUpdates: { name: { Action: 'PUT', Value: 'Ada' }, n: { Action: 'ADD', Value: 5 }, tags: { Value: new Set(['a', 'b']) }, list: { Action: 'ADD', Value: [1] } },
  });
  assert.deepEqual(made, { ...Key, name: 'Ada', n: 5, tags: new Set(['a', 'b']), list: [1] });
  const { Attributes: changed } = await send('Update', {
    Key, ReturnValues: 'ALL_NEW', Expected: { n: is('GE', 5), tags: is('CONTAINS', 'a'), gone: is('NULL') },
    AttributeUpdates: { n: { Action: 'ADD', Value: -7 }, tags: { Action: 'DELETE', Value: new Set(['a']) }, name: { Action: 'DELETE' }, list: { Action: 'ADD', Value: [2] } },
  });
  assert.deepEqual(changed, { ...Key, n: -2, tags: new Set(['b']), list: [1, 2] });
  await refused(send('Delete', { Key, Expected: { n: { Value: 3 } } }), 'ConditionalCheckFailedException');
  await refused(send('Put', { Item: Key, Expected: { PK: { Exists: false } } }), 'ConditionalCheckFailedException');
  await send('Delete', { Key, Expected: { n: is('LT', 0), tags: is('NOT_CONTAINS', 'b') }, ConditionalOperator: 'OR' });
  assert.equal(await get(Key), undefined);
  await refused(send('Put', { Item: Key, Expected: { PK: { Exists: false } }, ConditionExpression: 'attribute_not_exists(PK)' }), 'ValidationException',
    'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}');
});
