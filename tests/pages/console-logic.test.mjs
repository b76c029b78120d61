// What the console works out by itself, without a page: questions, code, keys, files.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { webModule } from '../lib/web-module.mjs';

const logic = (name) => webModule(`console/logic/${name}.ts`);
const attribute = await logic('attribute');
const schema = await logic('tableSchema');
const { ask, newQuestion } = await logic('itemQuery');
const { generate } = await logic('generateCode');
const { awsCli, curl, quote } = await logic('shell');
const csv = await logic('csv');
const { readKey, entityOf, entityMap } = await logic('keyPatterns');

const part = (name, type = 'S') => ({ name, type });
const game = schema.readTable({
  TableName: 'game',
  TableStatus: 'ACTIVE',
  AttributeDefinitions: [['PK', 'S'], ['SK', 'S'], ['score', 'N'], ['a', 'S'], ['b', 'S']].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
  KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }],
  GlobalSecondaryIndexes: [
    { IndexName: 'board', KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'score', KeyType: 'RANGE' }], Projection: { ProjectionType: 'ALL' } },
    { IndexName: 'two', KeySchema: [{ AttributeName: 'a', KeyType: 'HASH' }, { AttributeName: 'b', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } },
  ],
});

test('plain JSON keeps every digit, and typed JSON is known as such', () => {
  const text = '{"n": 9223372036854775807, "s": "12 -3.5e9", "l": [1.10, null, true, {"x": -0.5}]}';
  assert.deepEqual(attribute.itemFromText(text), {
    n: { N: '9223372036854775807' },
    s: { S: '12 -3.5e9' },
    l: { L: [{ N: '1.10' }, { NULL: true }, { BOOL: true }, { M: { x: { N: '-0.5' } } }] },
  });
  assert.deepEqual(attribute.itemFromText('{"PK":{"S":"a"},"n":{"N":"1"}}'), { PK: { S: 'a' }, n: { N: '1' } });
  assert.equal(attribute.plainItemText({ n: { N: '9223372036854775807' }, b: { BOOL: false } }), '{"n": 9223372036854775807, "b": false}');
  assert.throws(() => attribute.itemFromText('{"a": }'), SyntaxError);
  assert.throws(() => attribute.itemFromText('[1]'), /JSON object/);
  assert.deepEqual(attribute.itemsFromText('{"Item":{"PK":{"S":"a"}}}\n{"PK":"b"}\n'), [{ PK: { S: 'a' } }, { PK: { S: 'b' } }]);
  assert.deepEqual(attribute.itemsFromText('[{"PK":"b","n":12345678901234567890}]'), [{ PK: { S: 'b' }, n: { N: '12345678901234567890' } }]);
});

test('a query has its key, its filter and placeholders that are used once each', () => {
  const { operation, request } = ask(game, {
    ...newQuestion(), kind: 'query', partition: ['LB#daily'], sort: [{ operator: 'begins_with', value: 'USER#', second: '' }], descending: true, limit: 10, join: 'OR',
    filters: [
      { name: 'stats.best[0]', operator: 'between', type: 'N', value: '1', second: '9' },
      { name: 'PK', operator: '=', type: 'S', value: 'LB#daily', second: '' },
      { name: 'gone', operator: 'not exists', type: 'S', value: '', second: '' },
      { name: 'kind', operator: 'in', type: 'S', value: 'a, b', second: '' },
      { name: 'tags', operator: 'size >', type: 'S', value: '2', second: '' },
    ],
  });
  assert.equal(operation, 'Query');
  assert.deepEqual(request, {
    TableName: 'game',
    KeyConditionExpression: '#n0 = :v0 AND begins_with(#n1, :v1)',
    FilterExpression: '#n2.#n3[0] BETWEEN :v2 AND :v3 OR #n0 = :v0 OR attribute_not_exists(#n4) OR #n5 IN (:v4, :v5) OR size(#n6) > :v6',
    ExpressionAttributeNames: { '#n0': 'PK', '#n1': 'SK', '#n2': 'stats', '#n3': 'best', '#n4': 'gone', '#n5': 'kind', '#n6': 'tags' },
    ExpressionAttributeValues: { ':v0': { S: 'LB#daily' }, ':v1': { S: 'USER#' }, ':v2': { N: '1' }, ':v3': { N: '9' }, ':v4': { S: 'a' }, ':v5': { S: 'b' }, ':v6': { N: '2' } },
    ScanIndexForward: false,
    Limit: 10,
  });
});

test('an index with several partition attributes wants all of them; numbers are checked', () => {
  assert.throws(() => ask(game, { ...newQuestion(), kind: 'query', index: 'two', partition: ['x', ''] }), /needs a value of b/);
  const { request } = ask(game, { ...newQuestion(), kind: 'query', index: 'two', partition: ['x', 'y'], count: true });
  assert.equal(request.KeyConditionExpression, '#n0 = :v0 AND #n1 = :v1');
  assert.equal(request.Select, 'COUNT');
  assert.ok(!('Limit' in request));
  const board = { ...newQuestion(), kind: 'query', index: 'board', partition: ['x'], sort: [{ operator: '>', value: 'ten', second: '' }] };
  assert.throws(() => ask(game, board), /ten is not a number/);
});

test('code says the same in each language', () => {
  const asked = ask(game, { ...newQuestion(), kind: 'query', partition: ["it's"], sort: [{ operator: '>', value: 'a', second: '' }], descending: true });
  const cli = generate('AWS CLI', asked.operation, asked.request, 'http://127.0.0.1:8000');
  assert.match(cli, /^aws dynamodb query --endpoint-url http:\/\/127\.0\.0\.1:8000 \\\n {2}--table-name game/);
  assert.match(cli, /--no-scan-index-forward/);
  // A shell reads back what was meant.
  const words = execFileSync('sh', ['-c', cli.replace('aws dynamodb', 'printf "%s\\n"')], { encoding: 'utf8' }).split('\n');
  assert.deepEqual(JSON.parse(words[words.indexOf('--expression-attribute-values') + 1]), asked.request.ExpressionAttributeValues);

  const js = generate('JavaScript', 'PutItem', { TableName: 'game', Item: { PK: { S: 'a' }, n: { N: '12345678901234567890' }, m: { N: '5' }, set: { SS: ['x'] } } }, 'http://h');
  assert.match(js, /import \{ DynamoDBDocumentClient, NumberValue, PutCommand \} from "@aws-sdk\/lib-dynamodb"/);
  assert.match(js, /Item: \{ PK: "a", n: NumberValue\.from\("12345678901234567890"\), m: 5, set: new Set\(\["x"\]\) \}/);
  const python = generate('Python', 'Query', { TableName: 'game', ScanIndexForward: false, ExpressionAttributeValues: { ':b': { B: 'AAE=' } } }, 'http://h');
  assert.match(python, /get_paginator\("query"\)/);
  assert.match(python, /ScanIndexForward=False,/);
  assert.match(python, /base64\.b64decode\("AAE="\)/);
  execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: python });
  execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: generate('Python', asked.operation, asked.request, 'http://h') });
});

test('commands are safe to paste', () => {
  for (const text of ["a'b", '$HOME `id` \\', 'plain', '', 'नाम "x"'])
    assert.equal(execFileSync('sh', ['-c', `printf %s ${quote(text) || "''"}`], { encoding: 'utf8' }), text);
  assert.equal(curl({ method: 'POST', path: '/v1/boards', body: { id: 'a' } }, 'http://h'), "curl -X POST http://h/v1/boards \\\n  -H 'Content-Type: application/json' \\\n  -d '{\"id\":\"a\"}'");
  assert.match(awsCli('CreateTable', schema.createTable({ name: 't', partition: part('PK'), sort: null, indexes: [], billing: 'PAY_PER_REQUEST', stream: '', protected: false }), 'http://h'), /create-table/);
});

test('tables are made with each attribute defined once', () => {
  const request = schema.createTable({
    name: 't', partition: part('PK'), sort: part('SK'), billing: 'PROVISIONED', reads: 3, writes: 4, stream: 'NEW_IMAGE', protected: true,
    indexes: [
      { name: 'g', local: false, partition: [part('PK')], sort: [part('score', 'N')], projection: 'INCLUDE', included: ['name'] },
      { name: 'l', local: true, partition: [part('PK')], sort: [part('score', 'N')], projection: 'ALL', included: [] },
    ],
  });
  assert.deepEqual(request.AttributeDefinitions.map(({ AttributeName }) => AttributeName), ['PK', 'SK', 'score']);
  assert.deepEqual(request.GlobalSecondaryIndexes[0].Projection, { ProjectionType: 'INCLUDE', NonKeyAttributes: ['name'] });
  assert.ok(request.GlobalSecondaryIndexes[0].ProvisionedThroughput);
  assert.ok(!request.LocalSecondaryIndexes[0].ProvisionedThroughput);
  assert.equal(request.StreamSpecification.StreamViewType, 'NEW_IMAGE');
});

test('CSV: quotes, line ends, and types there and back', () => {
  assert.deepEqual(csv.parseCsv('a,b\r\n"x ""y""","1\n2"\n\n,\n"",z\n'), [['a', 'b'], ['x "y"', '1\n2'], ['', ''], ['', 'z']]);
  assert.deepEqual(csv.parseCsv('a,'), [['a', '']]);
  assert.throws(() => csv.parseCsv('a,"b'), /quote/);
  const items = [
    { PK: { S: 'a,b' }, n: { N: '007' }, m: { M: { x: { L: [{ N: '1' }] } } }, set: { NS: ['1', '2'] }, yes: { BOOL: true }, none: { NULL: true }, empty: { S: '' }, b: { B: 'AAE=' } },
    { PK: { S: 'c' }, n: { S: '7' } },
  ];
  assert.deepEqual(csv.itemsFromCsv(csv.itemsToCsv(items, ['PK'])), items);
  assert.match(csv.itemsToCsv(items, ['PK']), /^PK:S,/);
  assert.deepEqual(csv.itemsFromCsv('PK,score,zip,padded\na,12,x1,0012\n', { PK: 'S' }), [{ PK: { S: 'a' }, score: { N: '12' }, zip: { S: 'x1' }, padded: { S: '0012' } }]);
  assert.throws(() => csv.itemsFromCsv('PK,n:N\na,b\n'), /Line 2, n: b is not a number/);
});

test('keys are read back into entities', () => {
  for (const [text, pattern] of [
    ['ROOM#AB12', 'ROOM#<1>'],
    ['ROOM#ABC', 'ROOM#<1>'], // a code that looks like a word is still the room's
    ['CLICK#3#p7', 'CLICK#<1>#<2>'],
    ['#METADATA', '#METADATA'],
    ['META', 'META'],
    ['LB#daily#global', 'LB#<1>#<2>'],
    ['LEADERBOARD#CyberClash#2025-W28', 'LEADERBOARD#<1>#<2>'],
    ['SCORE#0000009850#p_bob', 'SCORE#<1>#<2>'],
    ['PLAYER_EMAIL#a@x.com', 'PLAYER_EMAIL#<1>'],
    ['p_alice', '<1>'],
  ])
    assert.equal(readKey(text).text, pattern);
  const of = (PK, SK) => entityOf(game, { PK: { S: PK }, SK: { S: SK } }).name;
  assert.equal(of('ROOM#AB12', 'META'), 'ROOM');
  assert.equal(of('ROOM#AB12', 'PLAYER#p1'), 'ROOM › PLAYER');
  assert.equal(of('PLAYER#p1', '#METADATA'), 'PLAYER');
  assert.equal(of('LEADERBOARD#x#ALL-TIME', 'USER#u1'), 'LEADERBOARD › USER');
  assert.equal(of('0a9f', '12'), 'item');
  const groups = entityMap(game, [['R#1', 'META'], ['ROOM#1', 'META'], ['ROOM#1', 'PLAYER#a'], ['ROOM#2', 'PLAYER#a'], ['ROOM#2', 'PLAYER#b']].map(([PK, SK]) => ({ PK: { S: PK }, SK: { S: SK } })), attribute.itemSize);
  assert.equal(groups[0].name, 'ROOM › PLAYER');
  assert.deepEqual([groups[0].count, groups[0].partitions, groups[0].largest], [3, 2, { partition: 'ROOM#2', count: 2 }]);
});

test('sizes are counted as the service does', () => {
  assert.equal(attribute.itemSize({ PK: { S: 'abc' } }), 5);
  assert.equal(attribute.itemSize({ n: { N: '12345' } }), 1 + 4);
  assert.equal(attribute.itemSize({ b: { B: 'AAE=' }, t: { BOOL: true } }), 1 + 2 + 1 + 1);
});

const { attention, known, recent, timesOf } = await logic('history');
const { itemDiff } = await logic('itemDiff');
const { timeline, nextReset, fromNow } = await logic('timeline');
const { toBody, toForm } = await logic('boardForm');

const quiet = { refusingWrites: false, slow: 0, building: [], jobsFailed: 0 };
const history = (series) => ({ span: 'hour', stepSeconds: 1, end: '2026-11-17T00:00:10.000Z', series: Object.entries(series).map(([name, values]) => ({ name, unit: '', values })) });

test('attention: quiet when all is well, the worst first when not', () => {
  assert.deepEqual(attention(history({ 'dynamodb.requests': [100, 100], 'dynamodb.errors': [0, 0.5], 'dynamodb.p99': [3, 4] }), quiet), []);
  const notices = attention(history({ 'redis.requests': [100], 'redis.errors': [20], 'rest.requests': [5], 'rest.p99': [250] }), { ...quiet, refusingWrites: true, memory: [{ what: 'Memory of indexes', used: 85, limit: 100 }], slow: 3 });
  assert.deepEqual(notices.map(({ level }) => level), ['bad', 'bad', 'warn', 'warn', 'warn']);
  assert.match(notices[1].text, /^Redis: 20 % of the requests/);
  assert.match(notices.map(({ text }) => text).join(), /REST: one in a hundred requests took up to 250 ms.*Memory of indexes: 85 %.*3 slow requests/);
  assert.deepEqual(attention(undefined, quiet), []);
  const few = { 'rest.requests': Array(60).fill(2), 'rest.errors': [...Array(56).fill(0), 1, 1, 1, 1] }; // more than 1 %, and nothing to look at
  assert.deepEqual(attention(history(few), quiet), []);
  assert.equal(attention(history({ ...few, 'rest.errors': [...Array(50).fill(0), ...Array(10).fill(1)] }), quiet).length, 1);
  assert.match(attention(history({}), { ...quiet, slow: 1, jobsFailed: 1 }).map(({ text }) => text).join(), /^1 slow request in .*1 export or import has failed/);
  assert.equal(recent([1, null, 3, null], 4), 2);
  const young = known(history({ a: [...Array(100).fill(null), ...Array(40).fill(1)], b: Array(140).fill(null) }));
  assert.deepEqual(young.series.map(({ values }) => values.length), [40, 40]);
  assert.equal(known(history({ a: [...Array(99).fill(null), 1] })).series[0].values.length, 30);
  assert.deepEqual(timesOf(history({ a: [1, 2, 3] })), [8, 9, 10].map((s) => Date.UTC(2026, 10, 17) / 1000 + s));
});

test('what a change did, changes first', () => {
  assert.deepEqual(itemDiff({ a: { S: 'x' }, b: { N: '1' }, c: { BOOL: true } }, { a: { S: 'x' }, b: { N: '2' }, d: { S: 'new' } }), [
    { name: 'b', old: '1', new: '2', state: 'changed' },
    { name: 'c', old: 'true', new: '', state: 'removed' },
    { name: 'd', old: '', new: 'new', state: 'added' },
    { name: 'a', old: 'x', new: 'x', state: 'same' },
  ]);
});

test('seasons on a line, and what comes next', () => {
  const now = Date.parse('2026-11-17T00:00:00Z');
  const seasons = [{ name: 'a', starts: '2026-01-01T00:00:00Z', ends: '2026-04-01T00:00:00Z' }, { name: 'b', starts: '2026-12-01T00:00:00Z', ends: '2027-01-01T00:00:00Z' }];
  const line = timeline(seasons, now);
  assert.deepEqual(line.spans.map(({ state }) => state), ['past', 'to come']);
  assert.ok(line.now > 80 && line.now < 92 && line.spans[0].left === 0);
  assert.deepEqual(nextReset(null, seasons, now), { at: '2026-12-01T00:00:00Z', what: 'b begins' });
  assert.equal(nextReset(null, [], now), null);
  assert.equal(fromNow(now + 2 * 86400000, now), 'in 2 days');
  assert.equal(fromNow(now - 3600000, now), '1 hour ago');
});

test('a board comes from the server and goes back as it was; scores keep their digits', () => {
  const board = { id: 'a', game: 'g', title: 'T', timeframe: 'season', seasons: [{ name: 's', starts: '2026-01-01T00:00:00Z', ends: '2026-02-01T00:00:00Z' }], scopes: ['global', 'room'], order: 'low', keep: 'sum', ties: 'member', ranking: 'dense', scoreMax: '9223372036854775807', decimals: 2, subscores: true, periodLifeSeconds: 60, entryLifeSeconds: 0 };
  const { entryLifeSeconds: _, ...kept } = board;
  assert.deepEqual(toBody(toForm(board)), kept);
  assert.throws(() => toBody({ ...toForm(board), seasons: [] }), /needs one at least/);
  assert.throws(() => toBody({ ...toForm(board), decimals: 'x' }), /whole number/);
});

const { heatGrid } = await logic('heatGrid');

test('heat: the heaviest first, shares of all that was asked, a cell a minute', () => {
  const hot = {
    table: 'game', readCount: 100, writeCount: 100,
    reads: [{ key: 'a', count: 60 }, { key: 'b', count: 20 }], writes: [{ key: 'b', count: 90 }],
    minutes: [{ at: '2026-11-17T00:00:00Z', reads: [{ key: 'a', count: 10 }], writes: [] }, { at: '2026-11-17T00:01:00Z', reads: [], writes: [{ key: 'b', count: 30 }] }],
  };
  const both = heatGrid(hot, 'both');
  assert.deepEqual(both.rows.map(({ key, reads, writes, share, cells }) => [key, reads, writes, share, cells]), [['b', 20, 90, 0.55, [0, 30]], ['a', 60, 0, 0.3, [10, 0]]]);
  assert.equal(both.most, 30);
  assert.deepEqual(heatGrid(hot, 'reads').rows.map(({ key, share }) => [key, share]), [['a', 0.6], ['b', 0.2]]);
});
