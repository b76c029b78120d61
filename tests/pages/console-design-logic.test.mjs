// Designs: templates, which query serves what, heat and cost, exports, and a model read back from a table.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webModule } from '../lib/web-module.mjs';

const logic = (name) => webModule(`console/logic/${name}.ts`);
const { fill, faultsOf, itemOf, partsOf, TABLE } = await logic('model');
const { serve, servingText } = await logic('modelQueries');
const { billOf, heats, loadOf, partitionsOf, tableBytes } = await logic('modelCost');
const { SEEDS, leaderboard, nexus, kauwaUdd, snakes } = await logic('modelSeeds');
const { toCreateTable, toElectroDb, toWorkbench } = await logic('modelExport');
const { allSamples, samples } = await logic('modelSamples');
const { inferModel } = await logic('modelInfer');
const { readTable } = await logic('tableSchema');

const pattern = (model, name) => model.patterns.find((one) => one.name.startsWith(name));
const told = (model, name) => servingText(model, serve(model, pattern(model, name)), pattern(model, name));

test('templates are taken apart, filled and padded', () => {
  assert.deepEqual(partsOf('SCORE#${score:10}#${playerId}'), [{ text: 'SCORE#' }, { variable: 'score', pad: 10 }, { text: '#' }, { variable: 'playerId' }]);
  assert.equal(fill('SCORE#${score:10}#${p}', { score: { N: '95' }, p: { S: 'x' } }), 'SCORE#0000000095#x');
  assert.throws(() => fill('A#${b}', {}), /b has no value/);
  const score = leaderboard.entities.find(({ name }) => name === 'Score');
  assert.deepEqual(itemOf(leaderboard, score, { leaderboardId: { S: 's3' }, playerId: { S: 'bob' }, score: { N: '9850' }, attainedAt: { S: 'x' } }), {
    pk: { S: 'LEADERBOARD#s3' }, sk: { S: 'SCORE#0000009850#bob' }, gsi1pk: { S: 'PLAYER#bob' }, gsi1sk: { S: 'SCORE#s3' },
    leaderboardId: { S: 's3' }, playerId: { S: 'bob' }, score: { N: '9850' }, attainedAt: { S: 'x' },
  });
});

test('the ten access patterns of the leaderboard are served as its author says', () => {
  assert.equal(told(leaderboard, 'AP1 '), 'GetItem pk = PLAYER#${playerId}, sk = #METADATA');
  assert.equal(told(leaderboard, 'AP2'), 'Query GSI1 gsi1pk = PLAYER_EMAIL#${email} AND begins_with(gsi1sk, PLAYER#)');
  assert.equal(told(leaderboard, 'AP3'), 'Query pk = LEADERBOARD#${leaderboardId} AND begins_with(sk, SCORE#), last first');
  assert.equal(told(leaderboard, 'AP4'), 'Query GSI1 gsi1pk = PLAYER#${playerId} AND gsi1sk = SCORE#${leaderboardId}');
  assert.equal(told(leaderboard, 'AP5'), 'Query GSI1 gsi1pk = PLAYER#${playerId} AND begins_with(gsi1sk, SCORE#)');
  assert.equal(told(leaderboard, 'AP6'), 'Query pk = PLAYER#${playerId} AND begins_with(sk, SESSION#), last first');
  assert.equal(told(leaderboard, 'AP7'), 'Query GSI2 gsi2pk = GAME#${gameId} AND begins_with(gsi2sk, SESSION#)');
  assert.equal(told(leaderboard, 'AP8'), 'GetItem pk = PLAYER#${playerId}, sk = SESSION#${sessionId}');
  assert.equal(told(leaderboard, 'AP9'), 'GetItem pk = LEADERBOARD#${leaderboardId}, sk = #METADATA');
  assert.equal(told(leaderboard, 'AP10'), 'Query pk = LEADERBOARD#${leaderboardId} AND sk > SCORE#${score}, Select=COUNT');
});

test('the other seeds', () => {
  assert.equal(told(nexus, 'Top'), 'Query RankIndex PK = LEADERBOARD#${GameID}#${TimeFrame}, last first');
  assert.equal(told(nexus, "A user's rank"), 'Query RankIndex PK = LEADERBOARD#${GameID}#${TimeFrame} AND Score > ${Score}, Select=COUNT');
  assert.equal(told(nexus, 'All boards'), 'Query UserIndex UserID = ${UserID} AND begins_with(PK, LEADERBOARD#)');
  assert.match(told(kauwaUdd, 'Reactions'), /^Query PK = ROOM#\$\{code\} AND begins_with\(SK, CLICK#\$\{n\}#\)/);
  assert.match(told(snakes, 'Connections'), /^Query GSI1 GSI1PK = GAME#\$\{code\} AND begins_with\(GSI1SK, CONNECTION#\)/);
  assert.match(told(snakes, 'Games'), /^Query GSI1 GSI1PK = GAMES, last first/);
  for (const model of SEEDS) {
    assert.deepEqual(faultsOf(model), [], model.name);
    for (const one of model.patterns) assert.notEqual(serve(model, one).how, 'none', `${model.name}: ${one.name}`);
  }
});

test('what no key serves is said, and so is a score that is not padded', () => {
  const asked = { ...pattern(leaderboard, 'AP3'), given: ['attainedAt'], from: '' };
  assert.match(serve(leaderboard, asked).note, /only a scan would find it/);
  const bare = structuredClone(leaderboard);
  bare.entities.find(({ name }) => name === 'Score').keys[TABLE].sk = 'SCORE#${score}#${playerId}';
  assert.equal(serve(bare, pattern(bare, 'AP3')).how, 'none');
  const moved = { ...pattern(leaderboard, 'Submit'), kind: 'update', given: ['leaderboardId', 'playerId'] };
  assert.match(serve(leaderboard, moved).note, /score is part of the key: a change is a delete and a put/);
  const twice = structuredClone(leaderboard);
  twice.entities.push({ ...twice.entities[0], name: 'Twin' });
  assert.match(faultsOf(twice).join(), /Twin and Player have keys of the same form/);
});

test('heat: one global board is hot, forty are warm, and writes reach their indexes', () => {
  const loads = (model) => model.patterns.map((one) => loadOf(model, one));
  const busy = structuredClone(leaderboard);
  for (const one of busy.patterns) one.hottest = 0;
  const submit = pattern(busy, 'Submit');
  submit.rate = 1500;
  busy.values.leaderboardId = 1;
  const [hot] = heats(busy, loads(busy));
  assert.deepEqual([hot.index, hot.partition], [TABLE, 'LEADERBOARD#${leaderboardId}']);
  assert.ok(hot.writes === 1500 && hot.heat >= 1.5);
  assert.match(hot.advice, /2 shards/);
  busy.values.leaderboardId = 40;
  const cooler = heats(busy, loads(busy)).find(({ partition, index }) => partition.startsWith('LEADERBOARD') && index === TABLE);
  assert.ok(cooler.writes === 1500 / 40);
  const byPlayer = heats(busy, loads(busy)).find(({ index, partition }) => index === 'GSI1' && partition.startsWith('PLAYER#'));
  assert.ok(Math.abs(byPlayer.writes - 1500 / 100000) < 1e-9);
  assert.equal(partitionsOf(leaderboard, 'LEADERBOARD#${leaderboardId}'), 40);
});

test('cost: units are rounded as the service rounds, and a month has 730 hours', () => {
  const top = loadOf(leaderboard, pattern(leaderboard, 'AP3'));
  assert.equal(top.reads, Math.ceil((100 * 260) / 4096) / 2); // 7 units of 4 KB, eventually consistent
  const put = loadOf(leaderboard, { ...pattern(leaderboard, 'Submit'), rate: 1 });
  assert.equal(put.writes, 2); // the item and its place in GSI1
  assert.ok(Math.abs(put.month - (2 * 0.625 * 730 * 3600) / 1e6) < 1e-9);
  const bill = billOf(leaderboard, [put]);
  assert.ok(Math.abs(bill.storage - (tableBytes(leaderboard) / 1024 ** 3) * 0.25) < 1e-9);
  assert.equal(bill.total, bill.requests + bill.storage);
});

test('exports', () => {
  const request = toCreateTable(nexus);
  assert.deepEqual(request.AttributeDefinitions, [['PK', 'S'], ['SK', 'S'], ['Score', 'N'], ['UserID', 'S']].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })));
  assert.equal(request.GlobalSecondaryIndexes.length, 2);
  const code = toElectroDb(leaderboard, 'http://h');
  assert.match(code, /score: \{ type: "number", required: true, padding: \{ length: 10, char: "0" \} \}/);
  assert.match(code, /sk: \{ field: "sk", composite: \["score","playerId"\], template: "SCORE#\$\{score\}#\$\{playerId\}", casing: "none" \}/);
  assert.match(code, /index: "GSI1"/);
  const file = toWorkbench(leaderboard, [], '2026-11-17');
  assert.equal(file.ModelMetadata.Version, '3.0');
  assert.deepEqual(file.DataModel[0].KeyAttributes.SortKey, { AttributeName: 'sk', AttributeType: 'S' });
  assert.equal(file.DataModel[0].TableFacets[2].KeyAttributeAlias.SortKeyAlias, 'SCORE#<score>#<playerId>');
  const names = file.DataModel[0].NonKeyAttributes.map(({ AttributeName }) => AttributeName);
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.includes('gsi1pk') && !names.includes('pk'));
});

test('samples have keys of their own, and a model is read back from them', () => {
  for (const model of SEEDS) {
    const items = allSamples(model, 12);
    const keys = items.map((item) => JSON.stringify([item[model.indexes[0].pk], item[model.indexes[0].sk]]));
    assert.equal(new Set(keys).size, keys.length, model.name);
    for (const entity of model.entities) assert.ok(samples(model, entity, 12).length > 3, entity.name);
    const table = readTable({ ...toCreateTable(model), TableStatus: 'ACTIVE', ItemCount: items.length * 10 });
    const read = inferModel(table, items);
    assert.equal(read.entities.length, model.entities.length, model.name);
    const shapes = ({ entities }) => entities.map(({ keys: { [TABLE]: key } }) => `${key.pk} ${key.sk}`.replace(/\$\{\w+(:\d+)?\}/g, '*')).sort();
    assert.deepEqual(shapes(read), shapes(model), model.name);
    assert.deepEqual(faultsOf(read), [], model.name);
  }
  const items = allSamples(leaderboard, 12);
  const read = inferModel(readTable({ ...toCreateTable(leaderboard), ItemCount: items.length }), items);
  const score = read.entities.find(({ name }) => name === 'LeaderboardScore');
  assert.deepEqual(score.keys[TABLE], { pk: 'LEADERBOARD#${leaderboardId}', sk: 'SCORE#${score:10}#${playerId}' });
  assert.deepEqual(score.keys.GSI1, { pk: 'PLAYER#${playerId}', sk: 'SCORE#${leaderboardId}' });
});
