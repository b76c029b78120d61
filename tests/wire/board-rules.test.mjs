// What a definition may become, and what one that cannot be read does to the rest: by REST, Redis and
// DynamoDB clients of one server.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { createClient } from 'redis';
import { timePasses } from '../lib/clock.mjs';
import { restClient } from '../lib/rest.mjs';
import { remoteEngine, startServer } from '../lib/server.mjs';

let server;
let rest;
let redis;
let table;
before(async () => {
  server = await startServer({ args: ['--test-clock'] });
  rest = await restClient(server.endpoint);
  redis = await createClient({ socket: { host: '127.0.0.1', port: server.redisPort } }).connect();
  table = DynamoDBDocumentClient.from(new DynamoDBClient({
    endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } }));
});
after(async () => {
  await redis.quit();
  rest.close();
  assert.equal(await server.stop(), 0);
});

const put = (id, member, body) => rest.must('PUT', `/boards/${encodeURIComponent(id)}/entries/${member}`, body);
const now = async () => Date.parse((await (await fetch(new URL('/admin/clock', server.endpoint))).json()).now);

test('seasons and scopes with entries stay, and a sealed season does not come back', async () => {
  const start = await now();
  const at = (hours) => new Date(start + hours * 3600e3).toISOString();
  const season = (name, from, to) => ({ name, starts: at(from), ends: at(to) });
  await rest.must('POST', '/boards', { id: 'cup', game: 'cup', timeframe: 'season', scopes: ['global', 'room'],
    seasons: [season('spring', -1, 1), season('summer', 2, 9)] });
  await put('cup', 'ann', { score: 1, scopes: ['room:A'] });
  const refused = async (body) => {
    const problem = await rest.refused(409, 'PATCH', '/boards/cup', body);
    assert.equal(problem.type, 'urn:gametable:problem:conflict');
    return problem.detail;
  };
  assert.match(await refused({ seasons: [season('summer', 2, 9)] }), /spring/);
  assert.match(await refused({ seasons: [season('primavera', -1, 1), season('summer', 2, 9)] }), /spring/);
  assert.match(await refused({ scopes: ['global'] }), /room/);
  assert.match(await refused({ scopes: ['room'] }), /global/);
  await rest.refused(409, 'PUT', '/boards/cup', { game: 'cup', timeframe: 'season', seasons: [season('spring', -1, 1)] });
  await rest.must('PATCH', '/boards/cup', { scopes: ['*', 'global'] });
  await timePasses(server, '90m');
  assert.match(await refused({ seasons: [season('spring', -1, 5)] }), /live again/);
  const { periods } = await rest.must('GET', '/boards/cup/periods');
  assert.deepEqual(periods.map(({ instance, total }) => [instance, total]), [['cup@spring', 1], ['cup/room:A@spring', 1]]);
  assert.deepEqual((await redis.keys('cup*')).sort(), ['cup/room:A@spring', 'cup@spring']);
});

test('subscores are not switched off while entries have one', async () => {
  await rest.must('POST', '/boards', { id: 'sub', game: 'sub', subscores: true });
  await put('sub', 'ann', { score: 1 });
  await rest.must('PATCH', '/boards/sub', { subscores: false });
  await rest.must('PATCH', '/boards/sub', { subscores: true });
  await put('sub', 'bob', { score: 1, subscore: 3 });
  assert.match((await rest.refused(409, 'PATCH', '/boards/sub', { subscores: false })).detail, /subscores/);
  await rest.must('DELETE', '/boards/sub/entries/bob');
  await rest.must('PATCH', '/boards/sub', { subscores: false });
});

test('a definition that cannot be read is passed over by all that walk', async () => {
  for (const [id, definition] of [['bad:order', { order: 'sideways' }], ['bad:zone', { zone: 'Mars/Olympus' }], ['bad:seasons', { timeframe: 'season' }]]) {
    await rest.must('POST', '/boards', { id, game: 'bad' });
    await put(id, 'ann', { score: 1 });
    await table.send(new PutCommand({ TableName: 'gametable', Item: {
      PK: `BOARDDEF#${id}`, SK: 'META', GSI1PK: 'BOARDS', GSI1SK: id, GSI2PK: 'GAME#bad', GSI2SK: `BOARD#${id}`, id, game: 'bad', ...definition } }));
  }
  await rest.must('POST', '/boards', { id: 'bad:not', game: 'bad' });
  const done = await rest.must('POST', '/games/bad/scores', { player: 'ann', score: 1 });
  assert.deepEqual(done.results.map(({ board }) => board), ['bad:not']);
  await redis.zAdd('plain', { score: 1, value: 'ann' });
  assert.deepEqual((await redis.keys('*a*')).filter((key) => /^(bad|plain)/.test(key)).sort(), ['bad:not', 'plain']);
  assert.ok(await redis.dbSize() >= 2);
  const scanned = [];
  for await (const keys of redis.scanIterator()) scanned.push(...[keys].flat());
  assert.ok(scanned.includes('plain') && !scanned.includes('bad:order'));
  assert.ok(await redis.randomKey());
  assert.ok((await rest.must('GET', '/boards')).boards.some(({ id }) => id === 'bad:not'));
  for (const id of ['bad:order', 'bad:zone', 'bad:seasons']) assert.deepEqual((await rest.must('GET', `/boards/${id}/periods`)).periods, []);
  assert.deepEqual((await rest.must('GET', '/players/ann/boards')).boards.map(({ board }) => board).filter((id) => /bad/.test(id)), ['bad:not']);
  if (remoteEngine) { // whose commits are too small for all sets at once
    await assert.rejects(redis.flushAll(), /at most 100 members/);
    assert.equal(await redis.del(['plain', 'bad:not']), 2);
  } else assert.equal(await redis.flushAll(), 'OK');
  assert.deepEqual((await redis.keys('*')).filter((key) => /^(bad|plain)/.test(key)), []);
  // it can be mended, and removed
  assert.equal((await rest.call('PUT', '/boards/bad:order', { body: { game: 'bad' } })).status, 200);
  assert.equal((await rest.must('GET', '/boards/bad:order')).order, 'high');
  for (const id of ['bad:zone', 'bad:seasons']) assert.equal((await rest.call('DELETE', `/boards/${id}`)).status, 204);
});
