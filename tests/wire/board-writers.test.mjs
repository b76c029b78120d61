// A board's rules hold whoever writes: REST, Redis commands and DynamoDB clients on the same boards.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  BatchWriteItemCommand, DeleteItemCommand, DynamoDBClient, ExecuteStatementCommand, GetItemCommand, PutItemCommand,
  TransactWriteItemsCommand, UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { timePasses } from '../lib/clock.mjs';
import { restClient } from '../lib/rest.mjs';
import { startServer } from '../lib/server.mjs';
import { connect } from '../redis/resp.mjs';

const server = await startServer({ args: ['--test-clock'] });
const rest = await restClient(server.endpoint);
const redis = await connect(server.redisPort);
const sdk = new DynamoDBClient({
  endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
});
test.after(async () => {
  rest.close();
  redis.close();
  sdk.destroy();
  await server.stop();
});

const TableName = 'gametable';
const N = (number) => ({ N: String(number) });
const S = (text) => ({ S: text });
const key = (board, member) => ({ PK: S(`BOARD#${board}`), SK: S(member) });
const put = (board, member, attributes) => sdk.send(new PutItemCommand({ TableName, Item: { ...key(board, member), ...attributes } }));
const get = async (board, member) => (await sdk.send(new GetItemCommand({ TableName, Key: key(board, member), ConsistentRead: true }))).Item;
const standing = async (board, member) => (await rest.must('GET', `/boards/${board}/entries/${member}`)).entry;

// ---- scores with subscores, as sorted sets ----

test('a subscore is no part of the score that Redis clients see', async () => {
  await rest.must('POST', '/boards', { id: 'sub:all', game: 'sub', keep: 'latest', subscores: true });
  for (const [member, score, subscore] of [['zero', 0, 6], ['ten', 10, 3], ['less', 0, -6]]) {
    await rest.must('PUT', `/boards/sub:all/entries/${member}`, { score, subscore });
  }
  assert.equal(await redis.ask('ZSCORE', 'sub:all', 'zero'), '0');
  assert.deepEqual(await redis.ask('ZMSCORE', 'sub:all', 'zero', 'less'), ['0', '0']);
  assert.deepEqual(await redis.ask('ZRANGE', 'sub:all', '0', '-1', 'WITHSCORES'), ['less', '0', 'zero', '0', 'ten', '10']);
  assert.deepEqual(await redis.ask('ZRANGEBYSCORE', 'sub:all', '0', '0'), ['less', 'zero']);
  assert.deepEqual(await redis.ask('ZRANGEBYSCORE', 'sub:all', '(0', '+inf'), ['ten']);
  assert.equal(await redis.ask('ZCOUNT', 'sub:all', '-inf', '(0'), 0);
  assert.deepEqual(await redis.ask('ZUNION', '1', 'sub:all', 'WITHSCORES'), ['less', '0', 'zero', '0', 'ten', '10']);
  assert.equal(await redis.ask('ZADD', 'tiny', '3e-323', 'a', '-3e-323', 'b', '0', 'c'), 3);
  const tiny = await redis.ask('ZRANGE', 'tiny', '0', '-1', 'WITHSCORES');
  assert.deepEqual(tiny.map((text, at) => (at % 2 ? Number(text) : text)), ['b', -3e-323, 'c', 0, 'a', 3e-323]);
  assert.deepEqual(await redis.ask('ZRANGEBYSCORE', 'tiny', '0', '0'), ['c']);
  assert.deepEqual(await redis.ask('ZRANGEBYSCORE', 'tiny', '(0', '1'), ['a']);
});

test('adding the score that is there changes nothing', async () => {
  const before = await get('sub:all', 'ten');
  for (const how of [[], ['CH'], ['XX', 'CH'], ['GT', 'CH'], ['LT', 'CH']]) {
    assert.equal(await redis.ask('ZADD', 'sub:all', ...how, '10', 'ten'), 0, how.join(' '));
  }
  assert.equal(await redis.ask('ZINCRBY', 'sub:all', '0', 'ten'), '10');
  await redis.ask('MULTI');
  await redis.ask('ZADD', 'sub:all', 'CH', '10', 'ten');
  await redis.ask('ZADD', 'sub:all', 'GT', 'CH', '10', 'ten');
  await redis.ask('ZCARD', 'sub:all');
  assert.deepEqual(await redis.ask('EXEC'), [0, 0, 3]);
  assert.deepEqual(await get('sub:all', 'ten'), before);
  assert.equal(await redis.ask('ZADD', 'sub:all', 'CH', '11', 'ten'), 1);
  assert.equal((await get('sub:all', 'ten')).subscore.N, '0');
});

// ---- items written by DynamoDB clients ----

const refused = (work, text) => assert.rejects(work, (error) => {
  assert.equal(error.name, 'ValidationException', error.message);
  assert.match(error.message, text);
  return true;
});

test('an item with a score is an entry of its board', async () => {
  await put('raw:plain', 'ann', { score: N(7) });
  assert.deepEqual(await get('raw:plain', 'ann'), { ...key('raw:plain', 'ann'), score: N(7), subscore: N(0), tie: N(0) });
  assert.equal((await standing('raw:plain', 'ann')).rank, 1);
  assert.ok((await redis.ask('KEYS', 'raw:*')).includes('raw:plain'));
  assert.equal(await redis.ask('ZSCORE', 'raw:plain', 'ann'), '7');
  const { Attributes } = await sdk.send(new UpdateItemCommand({
    TableName, Key: key('raw:plain', 'ann'), UpdateExpression: 'ADD score :n', ExpressionAttributeValues: { ':n': N(5) }, ReturnValues: 'ALL_NEW',
  }));
  assert.equal(Attributes.score.N, '12');
  await sdk.send(new DeleteItemCommand({ TableName, Key: key('raw:plain', 'ann') }));
  assert.equal(await redis.ask('ZCARD', 'raw:plain'), 0);
});

test('items of other keys, and without a score, are as they were written', async () => {
  for (const Item of [
    { PK: S('BOARD#raw:plain'), SK: S('META'), title: S('mine') },
    { PK: S('MYBOARD#raw'), SK: S('ann'), score: N(5) },
    { PK: S('BOARDS'), SK: S('ann'), score: N(5), hidden: { BOOL: true } },
  ]) {
    await sdk.send(new PutItemCommand({ TableName, Item }));
    const { Item: back } = await sdk.send(new GetItemCommand({ TableName, Key: { PK: Item.PK, SK: Item.SK }, ConsistentRead: true }));
    assert.deepEqual(back, Item);
  }
  await refused(put('raw:plain', 'bad', { score: S('many') }), /score/);
});

test('a board\'s limits, subscores and partitions hold for items', async () => {
  await rest.must('POST', '/boards', { id: 'lim:all', game: 'lim', scoreMin: 0, scoreMax: 100, decimals: 1 });
  await rest.must('POST', '/boards', { id: 'lim:daily', game: 'lim', timeframe: 'daily' });
  await refused(put('lim:all', 'ann', { score: N(101) }), /lim:all does not take that score/);
  await refused(put('lim:all', 'ann', { score: N(-1) }), /limits/);
  await refused(put('lim:all', 'ann', { score: N('1.25') }), /decimals/);
  await refused(put('lim:all', 'ann', { score: N(1), subscore: N(2) }), /has no subscores/);
  await refused(put('lim:daily', 'ann', { score: N(1) }), /partition BOARD#lim:daily@\d{4}-\d\d-\d\d/);
  await refused(put('lim:daily@2020-13-01', 'ann', { score: N(1) }), /is not a period/);
  await refused(put('lim:daily@2020-01-01', 'ann', { score: N(1) }), /has ended/);
  await refused(put('lim:daily@2999-01-01', 'ann', { score: N(1) }), /has not begun/);
  await put('lim:all', 'ann', { score: N('99.5'), own: S('kept') });
  await refused(sdk.send(new UpdateItemCommand({
    TableName, Key: key('lim:all', 'ann'), UpdateExpression: 'SET score = score + :n', ExpressionAttributeValues: { ':n': N(1) },
  })), /limits/);
  const item = await get('lim:all', 'ann');
  assert.equal(item.own.S, 'kept');
  assert.equal(item.GSI1PK.S, 'PLAYER#ann');
  assert.ok(Math.abs(Number(item.tie.N)) > 1.7e12, 'the earliest stands first');
});

test('a sealed period takes no items, in whatever way they come', async () => {
  await rest.must('POST', '/boards', { id: 'seal:daily', game: 'seal', timeframe: 'daily' });
  const { instance: name } = await rest.must('GET', '/boards/seal:daily/entries');
  const batch = (...requests) => sdk.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: requests } }));
  await batch({ PutRequest: { Item: { ...key(name, 'ann'), score: N(5) } } }, { PutRequest: { Item: { ...key(name, 'bob'), score: N(6) } } });
  assert.equal((await standing('seal:daily', 'ann')).rank, 2);
  const { periods } = await rest.must('GET', '/boards/seal:daily/periods');
  assert.equal(periods.length, 1);
  const { boards } = await rest.must('GET', '/players/ann/boards');
  assert.ok(boards.some((one) => JSON.stringify(one).includes(name)), JSON.stringify(boards));
  await timePasses(server, '2d');
  await refused(put(name, 'ann', { score: N(50) }), /has ended: it can be read, not written/);
  await refused(put(name, 'new', { score: N(50) }), /has ended/);
  await refused(sdk.send(new DeleteItemCommand({ TableName, Key: key(name, 'ann') })), /has ended/);
  await refused(sdk.send(new UpdateItemCommand({
    TableName, Key: key(name, 'ann'), UpdateExpression: 'REMOVE score',
  })), /has ended/);
  await refused(batch({ DeleteRequest: { Key: key(name, 'bob') } }), /has ended/);
  await refused(sdk.send(new ExecuteStatementCommand({
    Statement: `UPDATE "${TableName}" SET score = 9 WHERE PK = 'BOARD#${name}' AND SK = 'ann'`,
  })), /has ended/);
  await assert.rejects(sdk.send(new TransactWriteItemsCommand({
    TransactItems: [
      { Put: { TableName, Item: { PK: S('mine'), SK: S('1') } } },
      { Put: { TableName, Item: { ...key(name, 'ann'), score: N(50) } } },
    ],
  })), (error) => {
    assert.equal(error.name, 'TransactionCanceledException');
    assert.deepEqual(error.CancellationReasons.map(({ Code }) => Code), ['None', 'ValidationError']);
    assert.match(error.CancellationReasons[1].Message, /has ended/);
    return true;
  });
  const { Item } = await sdk.send(new GetItemCommand({ TableName, Key: { PK: S('mine'), SK: S('1') } }));
  assert.equal(Item, undefined);
  const { entries } = await rest.must('GET', `/boards/${name}/entries`);
  assert.deepEqual(entries.map(({ member, score }) => [member, Number(score)]), [['bob', 6], ['ann', 5]]);
  const state = { PK: S(`INSTANCE#${name}`), SK: S('STATE') };
  await refused(sdk.send(new DeleteItemCommand({ TableName, Key: state })), /stays as it is/);
});

test('a hidden player stays hidden, whoever writes', async () => {
  await rest.must('POST', '/boards', { id: 'hide:all', game: 'hide' });
  await rest.must('POST', '/players/mallory/hide');
  await put('hide:all', 'mallory', { score: N(9), subscore: N(0), tie: N(0) });
  await put('hide:plain', 'mallory', { score: N(9) });
  assert.equal((await get('hide:all', 'mallory')).score, undefined);
  assert.equal((await rest.must('GET', '/boards/hide:all/entries')).total, 0);
  assert.equal(await redis.ask('ZCARD', 'hide:plain'), 0);
  await sdk.send(new UpdateItemCommand({
    TableName, Key: key('hide:all', 'mallory'), UpdateExpression: 'SET score = :n', ExpressionAttributeValues: { ':n': N(11) },
  }));
  assert.equal((await rest.must('GET', '/boards/hide:all/entries')).total, 0);
  await rest.must('POST', '/players/mallory/show');
  assert.equal(Number((await standing('hide:all', 'mallory')).score), 11);
  assert.equal(await redis.ask('ZSCORE', 'hide:plain', 'mallory'), '9');
  const { items } = await rest.must('GET', '/players/mallory/export');
  assert.ok(items, 'an export has items');
});

// ---- boards that nobody defined ----

const allPages = async (path, what) => {
  const all = [];
  let cursor = '';
  for (let pages = 0; pages < 100; pages++) {
    const page = await rest.must('GET', `${path}${path.includes('?') ? '&' : '?'}${cursor && `cursor=${cursor}`}`);
    all.push(...page[what]);
    if (!page.next) return all;
    cursor = encodeURIComponent(page.next);
  }
  return assert.fail(`${path} does not end`);
};

test('plain boards are made by the first write of any kind, and listed', async () => {
  await redis.ask('ZADD', 'made:zadd', '1', 'dora');
  await put('made:item', 'dora', { score: N(2) });
  await rest.must('PUT', '/boards/made:put/entries/dora', { score: 3 });
  await rest.must('POST', '/boards/made:load/entries:load', 'dora,4\n', { type: 'text/csv' });
  const { results } = await rest.must('POST', '/scores:batch', { scores: [{ board: 'made:batch', player: 'dora', score: 5 }] });
  assert.equal(results.length, 1);
  await redis.ask('ZADD', Buffer.from([0x6d, 0xff]), '1', 'dora');
  const instances = await allPages('/instances?plain=true&limit=2', 'instances');
  const own = instances.filter(({ instance }) => instance.startsWith('made:'));
  assert.deepEqual(own.map(({ instance, total, plain }) => [instance, total, plain]),
    ['made:batch', 'made:item', 'made:load', 'made:put', 'made:zadd'].map((name) => [name, 1, true]));
  assert.ok(instances.every(({ plain }) => plain));
  assert.ok(instances.some(({ instanceEncoded }) => instanceEncoded === '%6D%FF'));
  const defined = await allPages('/instances?plain=false&limit=3', 'instances');
  assert.ok(defined.some(({ board }) => board === 'lim:all') && defined.every(({ plain }) => !plain));
  await redis.ask('ZREM', 'made:zadd', 'dora');
  assert.ok(!(await allPages('/instances', 'instances')).some(({ instance }) => instance === 'made:zadd'));
  await redis.ask('ZADD', 'made:zadd', '1', 'dora');
});

test('a player is found on plain boards, and taken off them', async () => {
  const boards = await allPages('/players/dora/boards?limit=2', 'boards');
  assert.deepEqual(boards.map(({ instance }) => instance).filter((name) => name.startsWith('made:')).sort(),
    ['made:batch', 'made:item', 'made:load', 'made:put', 'made:zadd']);
  assert.ok(boards.every(({ entry }) => entry.rank === 1));
  const items = await allPages('/players/dora/export', 'items');
  assert.equal(items.filter((item) => JSON.stringify(item).includes('BOARD#made:')).length, 5);
  await rest.must('POST', '/players/dora/hide');
  assert.equal(await redis.ask('ZCARD', 'made:zadd'), 0);
  assert.equal(await redis.ask('ZCARD', 'made:item'), 0);
  await rest.must('POST', '/players/dora/show');
  assert.equal(await redis.ask('ZSCORE', 'made:item', 'dora'), '2');
  await rest.must('DELETE', '/players/dora');
  for (const name of ['batch', 'item', 'load', 'put', 'zadd']) assert.equal(await redis.ask('ZCARD', `made:${name}`), 0, name);
});

test('an entry of a source that a DynamoDB client deletes takes its part off cross-game boards', async () => {
  for (const id of ['src:one', 'src:two']) await rest.must('POST', '/boards', { id, game: id });
  for (const id of ['hall:a', 'hall:b']) await rest.must('POST', '/boards', { id, game: 'hall', sources: ['src:one', 'src:two'], combine: 'sum' });
  for (const player of ['ann', 'bob', 'eve']) {
    await rest.must('POST', '/games/src:one/scores', { player, score: 10 });
    await rest.must('POST', '/games/src:two/scores', { player, score: 5 });
  }
  const scores = async (player) => Promise.all(['hall:a', 'hall:b'].map(async (id) => (await rest.call('GET', `/boards/${id}/entries/${player}`)).json.entry?.score));
  assert.deepEqual(await scores('ann'), [15, 15]);
  await sdk.send(new DeleteItemCommand({ TableName, Key: key('src:one', 'ann') }));
  assert.deepEqual(await scores('ann'), [5, 5], 'of every board that it feeds');
  await sdk.send(new DeleteItemCommand({ TableName, Key: key('src:two', 'ann') }));
  assert.deepEqual(await scores('ann'), [undefined, undefined], 'the last part takes the entry along');
  await sdk.send(new TransactWriteItemsCommand({ TransactItems: ['src:one', 'src:two'].map((id) => ({ Delete: { TableName, Key: key(id, 'bob') } })) }));
  assert.deepEqual(await scores('bob'), [undefined, undefined], 'two parts of one entry in one change');
  await sdk.send(new UpdateItemCommand({ TableName, Key: key('src:one', 'eve'), UpdateExpression: 'REMOVE score' }));
  assert.deepEqual(await scores('eve'), [5, 5], 'what is no entry any more is gone');
});
