// dynamodb-onetable, unchanged: a schema of models in one table that it makes itself.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DescribeTimeToLiveCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Table } from 'dynamodb-onetable';
import { Dynamo } from 'dynamodb-onetable/Dynamo';
import { timePasses } from '../lib/clock.mjs';
import { startServer } from '../lib/server.mjs';

const schema = {
  format: 'onetable:1.1.0',
  version: '0.0.1',
  indexes: {
    primary: { hash: 'pk', sort: 'sk' },
    gs1: { hash: 'gs1pk', sort: 'gs1sk', project: 'all' },
  },
  models: {
    Account: {
      pk: { type: String, value: 'account:${id}' },
      sk: { type: String, value: 'account:' },
      id: { type: String, generate: 'ulid' },
      name: { type: String, required: true },
      status: { type: String, default: 'active', enum: ['active', 'closed'] },
    },
    Player: {
      pk: { type: String, value: 'account:${accountId}' },
      sk: { type: String, value: 'player:${email}' },
      gs1pk: { type: String, value: 'level:${rank}' },
      gs1sk: { type: String, value: 'player:${email}' },
      accountId: { type: String, required: true },
      email: { type: String, required: true, validate: /@/ },
      handle: { type: String, unique: true },
      rank: { type: String, default: 'novice' },
      score: { type: Number, default: 0 },
      joined: { type: Date },
      bag: { type: Object, default: {} },
      tags: { type: Set },
    },
    Ticket: {
      pk: { type: String, value: 'ticket:${id}' },
      sk: { type: String, value: 'ticket:' },
      id: { type: String, required: true },
      until: { type: Date, ttl: true },
    },
  },
  queries: {},
  params: { isoDates: true, timestamps: true },
};

let server;
let client;
let table;
let Account;
let Player;
before(async () => {
  server = await startServer({ game: false, args: ['--test-clock'] });
  client = new DynamoDBClient({
    endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' }, maxAttempts: 1,
  });
  table = new Table({ name: 'onetable', client: new Dynamo({ client }), schema, partial: true, logger: false });
  await table.createTable({ TimeToLiveSpecification: { AttributeName: 'until', Enabled: true } });
  Account = table.getModel('Account');
  Player = table.getModel('Player');
});
after(async () => {
  client.destroy();
  await server.stop();
});

const newPlayer = (name, more = {}) => Player.create({ accountId: 'a1', email: `${name}@x.com`, handle: name, ...more });

describe('tables', () => {
  test('made, found and described', async () => {
    assert.equal(await table.exists(), true);
    assert.deepEqual(await table.listTables(), ['onetable']);
    const keys = await table.getKeys();
    assert.deepEqual(keys.primary, { hash: 'pk', sort: 'sk' });
    assert.deepEqual([keys.gs1.hash, keys.gs1.sort], ['gs1pk', 'gs1sk']);
  });

  test('its schema is kept in the table', async () => {
    await table.saveSchema();
    const current = await table.readSchema();
    assert.equal(current.version, '0.0.1');
    assert.deepEqual(Object.keys(current.models).filter((name) => name in schema.models), Object.keys(schema.models));
  });
});

describe('items', () => {
  test('create and get, with generated ids, dates, sets and defaults', async () => {
    const account = await Account.create({ name: 'Acme' });
    assert.match(account.id, /^[0-9A-Z]{26}$/);
    assert.equal((await Account.get({ id: account.id })).status, 'active');
    const joined = new Date('2026-03-14T12:00:00Z');
    await newPlayer('ann', { joined, tags: new Set(['x', 'y']), bag: { coins: 3 } });
    const player = await Player.get({ accountId: 'a1', email: 'ann@x.com' });
    assert.deepEqual([player.joined, player.tags, player.bag, player.score], [joined, new Set(['x', 'y']), { coins: 3 }, 0]);
    assert.equal(await Player.get({ accountId: 'a1', email: 'none@x.com' }), undefined);
  });

  test('update: set, add, remove, push, and nested paths', async () => {
    await newPlayer('upd', { bag: { coins: 1, list: ['a'] } });
    const key = { accountId: 'a1', email: 'upd@x.com' };
    assert.equal((await Player.update({ ...key, rank: 'expert' }, { add: { score: 7 } })).score, 7);
    const player = await Player.update(key, { set: { 'bag.coins': '${bag.coins} + {4}' }, push: { 'bag.list': ['b'] } });
    assert.deepEqual(player.bag, { coins: 5, list: ['a', 'b'] });
    await Player.update(key, { remove: ['joined'], where: '${rank} = {expert}' });
    const found = await Player.find({ rank: 'expert' }, { index: 'gs1' });
    assert.deepEqual(found.map(({ email }) => email), ['upd@x.com'], 'the index follows');
  });

  test('refusals as it maps them', async () => {
    await newPlayer('dup');
    await assert.rejects(newPlayer('dup'), { name: 'OneTableError', code: 'UniqueError' });
    await assert.rejects(Player.create({ accountId: 'a1', email: 'other@x.com', handle: 'dup' }), { code: 'UniqueError' }, 'a handle is taken once');
    await Account.create({ id: 'one', name: 'One' });
    await assert.rejects(Account.create({ id: 'one', name: 'Two' }), { code: 'ConditionalCheckFailedException' });
    await assert.rejects(Account.update({ id: 'none', name: 'x' }), { code: 'ConditionalCheckFailedException' });
    await assert.rejects(Player.create({ accountId: 'a1', email: 'no mail', handle: 'h' }), { code: 'ValidationError' });
    await assert.rejects(
      Account.update({ id: 'one', name: 'x' }, { where: '${status} = {closed}' }), { code: 'ConditionalCheckFailedException' });
  });

  test('remove, also what was unique', async () => {
    await newPlayer('gone');
    await Player.remove({ accountId: 'a1', email: 'gone@x.com' });
    await newPlayer('gone');
    await Account.upsert({ id: 'up', name: 'Up' });
    await Account.upsert({ id: 'up', name: 'Upper' });
    assert.equal((await Account.get({ id: 'up' })).name, 'Upper');
  });
});

describe('many items', () => {
  before(async () => {
    for (let i = 0; i < 24; i++) {
      const name = `m${String(i).padStart(2, '0')}`;
      await newPlayer(name, { accountId: 'many', rank: i % 2 ? 'odd' : 'even', score: i });
    }
  });

  test('find by prefix, between, on the index, with a filter, a limit and pages', async () => {
    const scores = (list) => list.map(({ score }) => score);
    assert.deepEqual(scores(await Player.find({ accountId: 'many', sk: { begins: 'player:m0' } })), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.deepEqual(scores(await Player.find({ accountId: 'many', sk: { between: ['player:m10', 'player:m12~'] } })), [10, 11, 12]);
    assert.deepEqual(scores(await Player.find({ rank: 'odd' }, { index: 'gs1', reverse: true, limit: 3 })), [23, 21, 19]);
    assert.deepEqual(scores(await Player.find({ accountId: 'many' }, { where: '${score} >= {20}' })), [20, 21, 22, 23]);
    const seen = [];
    let next;
    do {
      const page = await Player.find({ accountId: 'many' }, { limit: 7, next });
      seen.push(...scores(page));
      next = page.next;
    } while (next);
    assert.deepEqual(seen, Array.from({ length: 24 }, (_, i) => i));
    assert.equal((await Player.find({ accountId: 'many' }, { count: true })).count, 24);
  });

  test('scan, and fetch of several models', async () => {
    assert.equal((await Player.scan({}, { where: '${accountId} = {many}' })).length, 24);
    const found = await table.fetch(['Account', 'Player'], { pk: 'account:many' });
    assert.equal(found.Player.length, 24);
  });

  test('batches', async () => {
    const batch = {};
    for (let i = 0; i < 10; i++) await Account.create({ id: `b${i}`, name: `B${i}` }, { batch });
    await table.batchWrite(batch);
    const wanted = {};
    for (let i = 0; i < 12; i++) await Account.get({ id: `b${i}` }, { batch: wanted });
    const found = await table.batchGet(wanted, { parse: true, hidden: false });
    assert.deepEqual(found.map(({ name }) => name).sort(), Array.from({ length: 10 }, (_, i) => `B${i}`));
  });
});

describe('transactions', () => {
  test('all or nothing', async () => {
    await Account.create({ id: 't1', name: 'T1' });
    const transaction = {};
    await Account.update({ id: 't1', name: 'T1 again' }, { transaction });
    await Account.create({ id: 't2', name: 'T2' }, { transaction });
    await table.transact('write', transaction);
    assert.deepEqual([(await Account.get({ id: 't1' })).name, (await Account.get({ id: 't2' })).name], ['T1 again', 'T2']);

    const failing = {};
    await Account.update({ id: 't1', name: 'never' }, { transaction: failing });
    await Account.create({ id: 't2', name: 'twice' }, { transaction: failing });
    await assert.rejects(table.transact('write', failing), { name: 'OneTableError', code: 'TransactionCanceledException' });
    assert.equal((await Account.get({ id: 't1' })).name, 'T1 again');

    const reading = {};
    await Account.get({ id: 't1' }, { transaction: reading });
    await Account.get({ id: 't2' }, { transaction: reading });
    const found = await table.transact('get', reading, { parse: true, hidden: false });
    assert.deepEqual(found.map(({ name }) => name), ['T1 again', 'T2']);
  });
});

test('a field for the time to live ends the item', async () => {
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: 'onetable' }));
  assert.deepEqual(TimeToLiveDescription, { AttributeName: 'until', TimeToLiveStatus: 'ENABLED' });
  const Ticket = table.getModel('Ticket');
  const until = new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000);
  await Ticket.create({ id: 't', until });
  assert.deepEqual((await Ticket.get({ id: 't' })).until, until);
  await timePasses(server, '59m');
  assert.ok(await Ticket.get({ id: 't' }));
  await timePasses(server, '2m');
  assert.equal(await Ticket.get({ id: 't' }), undefined);
  assert.ok(await Account.get({ id: 'one' }));
});
