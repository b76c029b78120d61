// Dynamoose, unchanged: a model that makes its own table and changes it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import dynamoose from 'dynamoose';
import { timePasses } from '../lib/clock.mjs';
import { startServer } from '../lib/server.mjs';

let server;
let client;
let Player;
before(async () => {
  server = await startServer({ args: ['--test-clock'] });
  client = new dynamoose.aws.ddb.DynamoDB({
    endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' }, maxAttempts: 1,
  });
  dynamoose.aws.ddb.set(client);
  Player = dynamoose.model('Player', new dynamoose.Schema({
    board: { type: String, hashKey: true },
    id: { type: String, rangeKey: true },
    score: { type: Number, default: 0, index: { name: 'byScore', type: 'local' } },
    team: { type: String, index: { name: 'byTeam', type: 'global', rangeKey: 'score' } },
    name: { type: String, required: true },
    active: Boolean,
    tags: { type: Set, schema: [String] },
    history: { type: Array, schema: [Number] },
    bag: { type: Object, schema: { coins: Number } },
  }, { timestamps: true }));
  await new dynamoose.Table('players', [Player], { initialize: false, throughput: 'ON_DEMAND', waitForActive: { enabled: true, check: { frequency: 20 } } }).initialize();
});
after(async () => {
  client.destroy();
  await server.stop();
});

const scores = (list) => [...list].map(({ score }) => score);

describe('items', () => {
  test('create and get, with every type', async () => {
    await Player.create({
      board: 'b', id: 'ann', name: 'Ann', score: 5, active: true, tags: new Set(['x', 'y']), history: [1, 2], bag: { coins: 3 },
    });
    const player = await Player.get({ board: 'b', id: 'ann' });
    assert.deepEqual([player.name, player.score, player.active, player.history, player.bag], ['Ann', 5, true, [1, 2], { coins: 3 }]);
    assert.deepEqual(player.tags, new Set(['x', 'y']));
    assert.ok(player.createdAt instanceof Date);
    assert.equal(await Player.get({ board: 'b', id: 'none' }), undefined);
  });

  test('refusals as it passes them on', async () => {
    await Player.create({ board: 'b', id: 'once', name: 'Once' });
    await assert.rejects(Player.create({ board: 'b', id: 'once', name: 'Twice' }), { name: 'ConditionalCheckFailedException' });
    await assert.rejects(Player.create({ board: 'b', id: 'nameless' }), { name: 'ValidationError' });
    await assert.rejects(Player.create({ board: 'b', id: 'x', name: 7 }), { name: 'TypeMismatch' });
    const unless = new dynamoose.Condition().where('score').gt(100);
    await assert.rejects(
      Player.update({ board: 'b', id: 'once' }, { name: 'Never' }, { condition: unless }), { name: 'ConditionalCheckFailedException' });
    assert.equal((await Player.get({ board: 'b', id: 'once' })).name, 'Once');
  });

  test('update: set, add, delete, remove; save; delete', async () => {
    await Player.create({ board: 'b', id: 'upd', name: 'Upd', score: 1, tags: new Set(['x', 'y']), history: [1] });
    const changed = await Player.update({ board: 'b', id: 'upd' }, {
      $SET: { name: 'Updated' }, $ADD: { score: 4, history: [2] }, $DELETE: { tags: new Set(['x']) }, $REMOVE: ['active'],
    });
    assert.deepEqual([changed.name, changed.score, changed.history, changed.tags], ['Updated', 5, [1, 2], new Set(['y'])]);
    const player = await Player.get({ board: 'b', id: 'upd' });
    player.name = 'Saved';
    await player.save();
    assert.equal((await Player.get({ board: 'b', id: 'upd' })).name, 'Saved');
    await player.delete();
    assert.equal(await Player.get({ board: 'b', id: 'upd' }), undefined);
    await Player.delete({ board: 'b', id: 'upd' });
  });
});

describe('many items', () => {
  before(async () => {
    const list = Array.from({ length: 30 }, (_, i) => ({
      board: 'main', id: `p${String(i).padStart(2, '0')}`, name: `Player ${i}`, score: (i * 7) % 30, team: i % 2 ? 'odd' : 'even',
    }));
    for (let i = 0; i < list.length; i += 25) {
      const { unprocessedItems } = await Player.batchPut(list.slice(i, i + 25));
      assert.deepEqual(unprocessedItems, []);
    }
  });

  test('query on the table and on both kinds of index', async () => {
    assert.equal((await Player.query('board').eq('main').where('id').between('p05', 'p07').exec()).length, 3);
    assert.deepEqual(scores(await Player.query('board').eq('main').where('score').ge(25).using('byScore').exec()), [25, 26, 27, 28, 29]);
    const top = await Player.query('team').eq('even').using('byTeam').sort('descending').limit(3).exec();
    assert.deepEqual(scores(top), [28, 26, 24]);
    assert.ok(top.lastKey);
    const next = await Player.query('team').eq('even').using('byTeam').sort('descending').limit(3).startAt(top.lastKey).exec();
    assert.deepEqual(scores(next), [22, 20, 18]);
    assert.equal((await Player.query('board').eq('main').count().exec()).count, 30);
    const some = await Player.query('board').eq('main').filter('name').contains('er 1').attributes(['id']).all().exec();
    assert.deepEqual([...some].map((player) => player.toJSON()), ['p01', ...Array.from({ length: 10 }, (_, i) => `p1${i}`)].map((id) => ({ id })));
  });

  test('scan, in one and in parallel', async () => {
    const found = await Player.scan().filter('board').eq('main').and().where('score').lt(10).exec();
    assert.deepEqual(scores(found).sort((a, b) => a - b), Array.from({ length: 10 }, (_, i) => i));
    assert.equal((await Player.scan('board').eq('main').parallel(4).exec()).length, 30);
  });

  test('batches get and delete', async () => {
    const keys = ['p01', 'p02', 'none'].map((id) => ({ board: 'main', id }));
    const found = await Player.batchGet(keys);
    assert.deepEqual(scores(found).sort((a, b) => a - b), [7, 14]);
    assert.deepEqual(found.unprocessedKeys, []);
    await Player.create({ board: 'gone', id: 'x', name: 'X' });
    await Player.batchDelete([{ board: 'gone', id: 'x' }]);
    assert.equal(await Player.get({ board: 'gone', id: 'x' }), undefined);
  });
});

describe('transactions', () => {
  test('all or nothing', async () => {
    await Player.create({ board: 't', id: '1', name: 'One', score: 5 });
    await dynamoose.transaction([
      Player.transaction.create({ board: 't', id: '2', name: 'Two' }),
      Player.transaction.update({ board: 't', id: '1' }, { score: 6 }),
      Player.transaction.condition({ board: 't', id: '3' }, new dynamoose.Condition('id').not().exists()),
    ]);
    assert.equal((await Player.get({ board: 't', id: '1' })).score, 6);
    await assert.rejects(
      dynamoose.transaction([
        Player.transaction.update({ board: 't', id: '1' }, { score: 7 }),
        Player.transaction.create({ board: 't', id: '2', name: 'Again' }),
      ]),
      (error) => {
        assert.equal(error.name, 'TransactionCanceledException');
        assert.deepEqual(error.CancellationReasons.map(({ Code }) => Code), ['None', 'ConditionalCheckFailed']);
        return true;
      });
    const found = await dynamoose.transaction([
      Player.transaction.get({ board: 't', id: '1' }), Player.transaction.get({ board: 't', id: '2' }),
    ]);
    assert.deepEqual([...found].map(({ name }) => name), ['One', 'Two']);
  });
});

test('a table is brought to what the model has become', async () => {
  const make = (schema) =>
    new dynamoose.Table('grown', [dynamoose.model(`Grown${Object.keys(schema).length}`, new dynamoose.Schema(schema))], {
      initialize: false, throughput: 'ON_DEMAND', update: ['indexes', 'tags'], tags: { game: 'chess' }, waitForActive: { enabled: true, check: { frequency: 20 } },
    });
  await make({ id: { type: String, hashKey: true } }).initialize();
  await make({ id: { type: String, hashKey: true }, mail: { type: String, index: { name: 'byMail', type: 'global' } } }).initialize();
  const { Table } = await client.describeTable({ TableName: 'grown' });
  assert.deepEqual(Table.GlobalSecondaryIndexes.map(({ IndexName, IndexStatus }) => [IndexName, IndexStatus]), [['byMail', 'ACTIVE']]);
  const { Tags } = await client.listTagsOfResource({ ResourceArn: Table.TableArn });
  assert.deepEqual(Tags, [{ Key: 'game', Value: 'chess' }]);
});

test('a model whose items expire', async () => {
  const Ticket = dynamoose.model('Ticket', new dynamoose.Schema({ id: String, note: String }));
  const options = { initialize: false, throughput: 'ON_DEMAND', expires: { ttl: 3_600_000, attribute: 'until' }, update: true };
  await new dynamoose.Table('tickets', [Ticket], options).initialize();
  const { TimeToLiveDescription } = await client.describeTimeToLive({ TableName: 'tickets' });
  assert.deepEqual(TimeToLiveDescription, { AttributeName: 'until', TimeToLiveStatus: 'ENABLED' });
  await Ticket.create({ id: 't', note: 'an hour' });
  const left = (await Ticket.get('t')).until - Date.now();
  // it rounds to whole seconds
  assert.ok(left > 3_580_000 && left <= 3_601_000);
  await timePasses(server, '59m');
  assert.ok(await Ticket.get('t'));
  await timePasses(server, '2m');
  assert.equal(await Ticket.get('t'), undefined);
});
