// Boards, scores, players and plays over /v1. Every answer is held against /v1/openapi.json.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { timePasses } from '../lib/clock.mjs';
import { restClient } from '../lib/rest.mjs';
import { program, remoteEngine, startServer, temporaryFolder } from '../lib/server.mjs';

let server;
let rest;
before(async () => {
  server = await startServer({ args: ['--test-clock'] });
  rest = await restClient(server.endpoint);
});
after(async () => {
  rest.close();
  assert.equal(await server.stop(), 0);
});

const enc = encodeURIComponent;
const board = (id, more = {}) => rest.must('POST', '/boards', { id, game: id.split(':')[0], ...more });
const put = (id, member, score, more = {}) => rest.must('PUT', `/boards/${enc(id)}/entries/${enc(member)}`, { score, ...more });
const entries = (id, query = '') => rest.must('GET', `/boards/${enc(id)}/entries${query}`);
const members = (page) => page.entries.map(({ member }) => member);

test('the document is OpenAPI 3.1, and the index leads to it', async () => {
  const index = await rest.must('GET', '');
  assert.equal(index.links.openapi, '/v1/openapi.json');
  assert.equal((await rest.send('GET', '/')).status, 200);
  const result = await new Validator().validate(structuredClone(rest.document));
  assert.deepEqual(result.errors ?? [], []);
  assert.ok(result.valid);
  const ids = Object.values(rest.document.paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  assert.equal(new Set(ids).size, ids.length);
});

test('the document tells the answers that no handler gives', async () => {
  const { OtherMethod, ManyHeaders } = rest.document.components.responses;
  for (const operation of Object.values(rest.document.paths).flatMap((methods) => Object.values(methods))) {
    assert.equal(operation.responses[405].$ref, '#/components/responses/OtherMethod');
    assert.equal(operation.responses[431].$ref, '#/components/responses/ManyHeaders');
  }
  const other = await rest.send('DELETE', '/boards');
  assert.equal(other.status, 405);
  assert.deepEqual(Object.keys(OtherMethod.content), [other.headers['content-type']]);
  assert.ok(OtherMethod.headers.Allow && other.headers.allow);
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`X-${i}`, 'x']));
  for (const [status, headers] of [[431, many], [400, { 'X-Large': 'x'.repeat(40000) }]]) {
    const refused = await rest.send('GET', '/boards', { headers });
    assert.equal(refused.status, status);
    assert.deepEqual(Object.keys(ManyHeaders.content), [refused.headers['content-type']]);
    assert.equal(refused.headers.connection, 'close');
  }
});

test('the definition in docs/boards.md can be made, and its words are the document\'s', async () => {
  const docs = readFileSync(new URL('../../docs/boards.md', import.meta.url), 'utf8');
  const { properties } = rest.document.components.schemas.BoardNew;
  const section = docs.slice(docs.indexOf('## Defined boards'), docs.indexOf('## Instances'));
  const words = section.split('\n').filter((line) => /^\| `/.test(line)).flatMap((line) => [...line.split('|')[1].matchAll(/`(\w+)`/g)].map(([, word]) => word));
  assert.deepEqual([...new Set(words)].sort(), Object.keys(properties).sort());
  const [example] = [...section.matchAll(/```json\n([^]*?)```/g)].map(([, text]) => JSON.parse(text));
  const { status, json } = await rest.call('POST', '/boards', { body: example });
  assert.equal(status, 201, JSON.stringify(json));
  const plain = (value) => JSON.parse(JSON.stringify(value, (name, inner) => (/^(starts|ends)$/.test(name) ? Date.parse(inner) : inner)));
  for (const [word, value] of Object.entries(example)) assert.deepEqual(plain(json[word]), plain(value), word);
  await rest.must('DELETE', `/boards/${example.id}`);
});

test('the server tells its version and figures', async () => {
  const before = await rest.must('GET', '/server');
  assert.match(before.version, /^\d+\.\d+\.\d+$/);
  assert.equal(before.refusingWrites, false);
  await rest.must('PUT', '/boards/figures', { id: 'figures', game: 'figures' });
  const after = await rest.must('GET', '/server');
  assert.ok(after.commits > before.commits);
  if (!remoteEngine) assert.ok(after.items > before.items); // the endpoint counts them now and then
  await rest.call('DELETE', '/boards/figures');
});

test('a board is made, looked at, changed, listed and removed', async () => {
  const made = await rest.call('POST', '/boards', { body: {
    id: 'chess:weekly', game: 'chess', title: 'Chess of the week', timeframe: 'weekly', timeZone: 'Europe/Berlin', order: 'low',
    keep: 'sum', ties: 'member', ranking: 'dense', scoreMin: -5, scoreMax: '900719925474099312345', decimals: 2, subscores: true,
    entryLifeSeconds: 60, periodLifeSeconds: 3600, needsPlay: true, playMinMs: 1000, playLifeSeconds: 600, playScoreMax: 10, scopes: ['global', 'room'],
  } });
  assert.equal(made.status, 201);
  assert.equal(made.headers.location, '/v1/boards/chess:weekly');
  assert.match(made.text, /"scoreMax":900719925474099312345[,}]/);
  assert.match(made.json.current.name, /^\d{4}-W\d\d$/);
  const { status, json } = await rest.call('GET', '/boards/chess:weekly');
  assert.equal(status, 200);
  assert.deepEqual(json, made.json);
  assert.match((await rest.refused(409, 'POST', '/boards', { id: 'chess:weekly', game: 'chess' })).detail, /chess:weekly|already/);

  const changed = await rest.must('PATCH', '/boards/chess:weekly', { title: 'Chess', scoreMin: null, keep: null });
  assert.equal(changed.title, 'Chess');
  assert.equal(changed.scoreMin, undefined);
  assert.equal(changed.keep, 'best');
  assert.equal(changed.ranking, 'dense');
  assert.equal(changed.createdAt, json.createdAt);
  const replaced = await rest.call('PUT', '/boards/chess:weekly', { body: { game: 'chess', timeframe: 'weekly', timeZone: 'Europe/Berlin', order: 'low', ties: 'member' } });
  assert.equal(replaced.status, 200);
  assert.equal(replaced.json.ranking, 'ordinal');
  assert.equal((await rest.call('PUT', '/boards/chess:all', { body: { game: 'chess' } })).status, 201);

  await board('other:x');
  assert.deepEqual((await rest.must('GET', '/boards?game=chess')).boards.map(({ id }) => id), ['chess:all', 'chess:weekly']);
  const first = await rest.must('GET', '/boards?game=chess&limit=1');
  assert.deepEqual(first.boards.map(({ id }) => id), ['chess:all']);
  const second = await rest.must('GET', `/boards?game=chess&limit=1&cursor=${first.next}`);
  assert.deepEqual(second.boards.map(({ id }) => id), ['chess:weekly']);
  assert.equal(second.next, undefined);

  await put('chess:all', 'ann', 1);
  assert.equal((await rest.call('DELETE', '/boards/chess:all')).status, 204);
  await rest.refused(404, 'GET', '/boards/chess:all');
  await rest.refused(404, 'GET', '/boards/chess:all/entries');
  await rest.refused(404, 'DELETE', '/boards/chess:all');
  await rest.must('DELETE', '/boards/chess:weekly');
  await rest.must('DELETE', '/boards/other:x');
});

test('a definition that cannot be says which member is wrong', async () => {
  const wrong = async (body, member, detail) => {
    const problem = await rest.refused(400, 'POST', '/boards', body);
    assert.equal(problem.type, 'urn:gametable:problem:invalid');
    if (member) assert.equal(problem.member, member, problem.detail);
    if (detail) assert.match(problem.detail, detail);
  };
  await wrong({ game: 'g' }, 'id', /missing/);
  await wrong({ id: 'x' }, 'game');
  await wrong({ id: 'x', game: 'g', order: 'up' }, 'order', /high, low/);
  await wrong({ id: 'x', game: 'g', oder: 'low' }, 'oder', /not known/);
  await wrong({ id: 'x', game: 'g', decimals: 1.5 }, 'decimals');
  await wrong({ id: 'x', game: 'g', decimals: 99 }, 'decimals', /0 to 38/);
  await wrong({ id: 'x', game: 'g', scoreMax: 'lots' }, 'scoreMax');
  await wrong({ id: 'x', game: 'g', subscores: 'yes' }, 'subscores');
  await wrong({ id: 'x', game: 'g', timeframe: 'season', seasons: [{ name: 'a', starts: '2026-01-01', ends: '2026-02-01T00:00:00Z' }] }, 'seasons[0].starts');
  await wrong({ id: 'x', game: 'g', timeframe: 'season', seasons: [{ name: 'a', starts: '2026-01-01T00:00:00Z' }] }, 'seasons[0].ends');
  await wrong({ id: 'x', game: 'g', seasons: {} }, 'seasons', /list/);
  await wrong({ id: 'a b', game: 'g' });
  await wrong({ id: 'x', game: 'g', timeZone: 'Mars/Olympus' }, undefined, /Mars/);
  await wrong([], undefined, /object/);
  await rest.refused(404, 'GET', '/boards/x');
  // what entries hang on stays once there are some
  await board('fixed:one');
  await put('fixed:one', 'ann', 5);
  await rest.refused(400, 'PATCH', '/boards/fixed:one', { order: 'low' });
  assert.equal((await rest.must('PATCH', '/boards/fixed:one', { title: 'still' })).title, 'still');
});

test('one submission reaches all boards of a game and says what came of it on each', async () => {
  await board('tetris:all', { ranking: 'competition' });
  await board('tetris:daily', { timeframe: 'daily', scopes: ['global', 'room'] });
  const first = await rest.must('POST', '/games/tetris/scores', { player: 'ann', score: 100, name: 'Ann', meta: { level: 3, tags: ['a', null, true, 1.5] }, scopes: ['room:AB12'] });
  assert.equal(first.results.length, 3);
  for (const result of first.results) {
    assert.equal(result.accepted, true);
    assert.equal(result.before, undefined);
    assert.deepEqual(result.after, { score: 100 });
    assert.equal(result.rankAfter, 1);
    assert.equal(result.total, 1);
  }
  assert.deepEqual(first.results.map(({ board: id, scope }) => [id, scope]).sort(), [['tetris:all', undefined], ['tetris:daily', 'room:AB12'], ['tetris:daily', undefined]].sort());
  await rest.must('POST', '/games/tetris/scores', { player: 'bob', score: 200 });
  const worse = await rest.must('POST', '/games/tetris/scores', { player: 'ann', score: 50 });
  const all = worse.results.find(({ board: id }) => id === 'tetris:all');
  assert.equal(all.accepted, false);
  assert.match(all.reason, /better/);
  assert.deepEqual(all.before, { score: 100 });
  assert.equal(all.rankBefore, 2);
  const better = await rest.must('POST', '/games/tetris/scores', { player: 'ann', score: 300 });
  const up = better.results.find(({ board: id }) => id === 'tetris:all');
  assert.deepEqual([up.rankBefore, up.rankAfter, up.before.score, up.after.score, up.total], [2, 1, 100, 300, 2]);

  const page = await entries('tetris:daily', '?scope=room:AB12');
  assert.equal(page.instance, `tetris:daily/room:AB12@${page.period}`);
  assert.deepEqual(members(page), ['ann']);
  const [entry] = (await entries('tetris:all')).entries;
  assert.deepEqual(entry.meta, { level: 3, tags: ['a', null, true, 1.5] });
  assert.equal(entry.name, 'Ann');
  await rest.refused(404, 'POST', '/games/nobody/scores', { player: 'ann', score: 1 });
});

test('scores are exact: 64-bit integers and 38 digits keep every digit', async () => {
  await board('exact:all');
  const values = ['9223372036854775807', '9223372036854775806', '-9223372036854775808', '12345678901234567890.123456789012345678', '0.1'];
  for (const [i, value] of values.entries()) {
    const { status, text } = await rest.call('PUT', `/boards/exact:all/entries/p${i}`, { body: `{"score":${value}}` });
    assert.equal(status, 200, text);
    assert.ok(text.includes(`"score":${value}`), text);
  }
  await rest.must('PUT', '/boards/exact:all/entries/text', { score: '9223372036854775805' });
  const { text } = await rest.call('GET', '/boards/exact:all/entries');
  const order = [...text.matchAll(/"score":(-?[\d.]+)/g)].map(([, number]) => number);
  assert.deepEqual(order, ['12345678901234567890.123456789012345678', '9223372036854775807', '9223372036854775806', '9223372036854775805', '0.1', '-9223372036854775808']);
  const strings = await rest.must('GET', '/boards/exact:all/entries?numbers=string&limit=2');
  assert.deepEqual(strings.entries.map(({ score }) => score), ['12345678901234567890.123456789012345678', '9223372036854775807']);
  assert.match((await rest.refused(400, 'PUT', '/boards/exact:all/entries/x', `{"score":1${'2'.repeat(38)}}`)).detail, /38/);
  assert.equal((await rest.refused(400, 'PUT', '/boards/exact:all/entries/x', '{"score":1e999}')).member, 'score');
});

test('pages: the top, from a position, by cursor, a window of scores', async () => {
  await board('page:all', { ties: 'member' });
  await rest.must('POST', '/boards/page:all/entries:load', Array.from({ length: 100 }, (_, i) => `m${String(i).padStart(3, '0')},${i}`).join('\n'), { type: 'text/csv' });
  const top = await entries('page:all', '?limit=3');
  assert.deepEqual(top.entries.map(({ member, rank, score }) => [member, rank, score]), [['m099', 1, 99], ['m098', 2, 98], ['m097', 3, 97]]);
  assert.equal(top.total, 100);
  assert.equal(top.previous, undefined);
  const later = await entries('page:all', '?from=51&limit=2&detail=ranks');
  assert.deepEqual(later.entries.map(({ position, score }) => [position, score]), [[51, 49], [52, 48]]);
  assert.equal(later.entries[0].at, undefined);

  const all = [];
  let query = '?limit=7';
  for (let page; query; query = page.next && `?limit=7&cursor=${page.next}`) {
    page = await entries('page:all', query);
    all.push(...page.entries);
  }
  assert.deepEqual(all.map(({ position }) => position), Array.from({ length: 100 }, (_, i) => i + 1));
  const middle = await entries('page:all', '?from=11&limit=5');
  const back = await entries('page:all', `?limit=5&cursor=${middle.previous}`);
  assert.deepEqual(back.entries.map(({ position }) => position), [6, 7, 8, 9, 10]);

  const window = await entries('page:all', '?min=10&max=12');
  assert.deepEqual(window.entries.map(({ score }) => score), [12, 11, 10]);
  const half = await entries('page:all', '?min=10&max=20&limit=4');
  const rest4 = await entries('page:all', `?limit=100&cursor=${half.next}`);
  assert.deepEqual([...half.entries, ...rest4.entries].map(({ score }) => score), [20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10]);
  assert.deepEqual((await entries('page:all', '?from=1000')).entries, []);
});

test('a cursor goes on after its entry while others write', async () => {
  await board('busy:all', { keep: 'latest' });
  const scores = new Map(Array.from({ length: 300 }, (_, i) => [`p${i}`, i * 10]));
  await rest.must('POST', '/boards/busy:all/entries:load', [...scores].map(([m, s]) => `${m},${s}`).join('\n'), { type: 'text/csv' });
  let writing = true;
  const writer = (async () => {
    for (let i = 0; writing; i++) {
      await put('busy:all', `new${i % 50}`, (i * 37) % 3000);
      await put('busy:all', `p${i % 100}`, (i % 100) * 10); // as it was
    }
  })();
  const got = [];
  let query = '?limit=10';
  for (let page; query; query = page.next && `?limit=10&cursor=${page.next}`) {
    page = await entries('busy:all', query);
    got.push(...page.entries);
  }
  writing = false;
  await writer;
  for (let i = 1; i < got.length; i++) assert.ok(got[i - 1].score >= got[i].score, 'in order over all pages');
  const still = got.filter(({ member }) => member.startsWith('p')).map(({ member }) => member);
  assert.deepEqual(still, [...scores.keys()].reverse(), 'each that stayed is there once');
});

test('cursors of others, or of nothing at all, are refused', async () => {
  await board('cur:a');
  await board('cur:b');
  for (const member of ['x', 'y']) for (const id of ['cur:a', 'cur:b']) await put(id, member, 1);
  const { next } = await entries('cur:a', '?limit=1');
  assert.equal((await rest.refused(400, 'GET', `/boards/cur:b/entries?cursor=${next}`)).member, 'cursor');
  for (const cursor of ['x', '!!', 'AAAA', `${next}A`, next.slice(0, -3), 'A'.repeat(4000)])
    assert.equal((await rest.refused(400, 'GET', `/boards/cur:a/entries?cursor=${cursor}`)).member, 'cursor');
});

test('a member, those around it, friends, ranks of scores, percentiles, the histogram', async () => {
  await board('read:all', { ranking: 'competition', ties: 'member' });
  for (const [member, score] of [['a', 50], ['b', 40], ['c', 40], ['d', 30], ['e', 10]]) await put('read:all', member, score);
  const one = await rest.must('GET', '/boards/read:all/entries/d');
  assert.deepEqual([one.entry.rank, one.entry.position, one.entry.score, one.total], [4, 4, 30, 5]);
  assert.equal(one.entry.percentile, 25);
  assert.deepEqual((await entries('read:all')).entries.map(({ rank }) => rank), [1, 2, 2, 4, 5]);
  assert.match((await rest.refused(404, 'GET', '/boards/read:all/entries/nobody')).detail, /nobody/);

  const around = await rest.must('GET', '/boards/read:all/entries/c/around?each=1');
  assert.equal(around.entries.length, 3);
  assert.equal(around.entries[1].member, 'c');
  await rest.refused(404, 'GET', '/boards/read:all/entries/nobody/around');

  const friends = await rest.must('POST', '/boards/read:all/entries:query', { members: ['e', 'nobody', 'c', 'b'] });
  assert.deepEqual(friends.entries.map(({ member, rank, among }) => [member, rank, among]).sort(), [['b', 2, 1], ['c', 2, 1], ['e', 5, 3]]);
  assert.equal((await rest.refused(400, 'POST', '/boards/read:all/entries:query', { members: [] })).member, 'members');
  assert.equal((await rest.refused(400, 'POST', '/boards/read:all/entries:query', { members: ['a', 5] })).member, 'members[1]');

  assert.equal((await rest.must('GET', '/boards/read:all/rank?score=45')).rank, 2);
  assert.equal((await rest.must('GET', '/boards/read:all/rank?score=5')).rank, 6);
  assert.equal((await rest.refused(400, 'GET', '/boards/read:all/rank')).member, 'score');
  assert.equal((await rest.must('GET', '/boards/read:all/percentiles/100')).entry.member, 'a');
  assert.equal((await rest.must('GET', '/boards/read:all/percentiles/0')).entry.member, 'e');
  assert.equal((await rest.refused(400, 'GET', '/boards/read:all/percentiles/101')).member, 'percentile');
  assert.equal((await rest.refused(400, 'GET', '/boards/read:all/percentiles/most')).member, 'percentile');

  const histogram = await rest.must('GET', '/boards/read:all/histogram?buckets=4');
  assert.equal(histogram.buckets.length, 4);
  assert.deepEqual(histogram.buckets.map(({ count }) => count), [1, 0, 1, 3]);
  assert.equal(histogram.total, 5);

  assert.equal((await rest.call('DELETE', '/boards/read:all/entries/e')).status, 204);
  await rest.refused(404, 'DELETE', '/boards/read:all/entries/e');
  assert.equal((await rest.call('DELETE', '/boards/read:all/entries')).status, 204);
  assert.equal((await entries('read:all')).total, 0);
  await rest.refused(404, 'GET', '/boards/read:all/percentiles/50');
  assert.equal((await put('read:all', 'z', 1)).results[0].rankAfter, 1);
});

test('subscores are part of the score', async () => {
  await board('sub:all', { subscores: true });
  await put('sub:all', 'slow', 10, { subscore: -90 });
  await put('sub:all', 'fast', 10, { subscore: -30 });
  const page = await entries('sub:all');
  assert.deepEqual(page.entries.map(({ member, score, subscore }) => [member, score, subscore]), [['fast', 10, -30], ['slow', 10, -90]]);
  assert.equal((await rest.must('GET', '/boards/sub:all/rank?score=10&subscore=-60')).rank, 2);
  await board('nosub:all');
  await rest.refused(400, 'PUT', '/boards/nosub:all/entries/a', { score: 1, subscore: 1 });
});

test('members are any text', async () => {
  await board('odd:all');
  for (const member of ['a/b', 'ünï', 'with space', '%', '?', 'a+b', '日本', ':query', '..']) {
    const made = await rest.call('PUT', `/boards/odd:all/entries/${enc(member)}`, { body: { score: 1 } });
    assert.equal(made.status, 200, made.text);
    assert.equal((await rest.must('GET', `/boards/odd:all/entries/${enc(member)}`)).entry.member, member);
  }
  assert.equal((await entries('odd:all')).total, 9);
  await rest.refused(404, 'GET', '/boards/odd:all/entries/%zz');
});

test('an idempotency key makes a retry harmless', async () => {
  await board('idem:all', { keep: 'sum' });
  const headers = { 'Idempotency-Key': 'round-1' };
  const once = await rest.must('POST', '/games/idem/scores', { player: 'ann', score: 10 }, { headers });
  assert.equal(once.repeated, false);
  const again = await rest.must('POST', '/games/idem/scores', { player: 'ann', score: 10 }, { headers });
  assert.equal(again.repeated, true);
  assert.equal(again.results[0].after.score, 10);
  const problem = await rest.refused(422, 'POST', '/games/idem/scores', { player: 'ann', score: 11 }, { headers });
  assert.equal(problem.type, 'urn:gametable:problem:repeated-key');
  assert.equal((await rest.refused(400, 'POST', '/plays', { player: 'a', game: 'g' }, { headers })).member, 'Idempotency-Key');
  assert.equal((await rest.refused(400, 'POST', '/games/idem/scores', { player: 'a', score: 1 }, { headers: { 'Idempotency-Key': 'x'.repeat(201) } })).member, 'Idempotency-Key');
  const made = { id: 'idem:made', game: 'idem2' };
  assert.equal((await rest.call('POST', '/boards', { body: made, headers: { 'Idempotency-Key': 'b' } })).status, 201);
  assert.equal((await rest.call('POST', '/boards', { body: made, headers: { 'Idempotency-Key': 'b' } })).status, 201);
});

test('a batch does each by itself, in order', async () => {
  await board('bat:all', { keep: 'sum', scoreMax: 1000 });
  const scores = Array.from({ length: 500 }, (_, i) => ({ game: 'bat', player: `p${i % 250}`, score: 1 }));
  scores[3] = { game: 'nothing', player: 'x', score: 1 };
  scores[4] = { board: 'bat:all', game: 'bat', player: 'x', score: 1 };
  scores[5] = { board: 'bat:all', player: 'over', score: 1001 };
  const { results } = await rest.must('POST', '/scores:batch', { scores });
  assert.equal(results.length, 500);
  assert.equal(results[3].problem.status, 404);
  assert.equal(results[4].problem.status, 400);
  assert.ok(results[5].problem || results[5].submitted.results[0].accepted === false);
  assert.equal(results[499].submitted.player, 'p249');
  assert.equal((await rest.must('GET', '/boards/bat:all/entries/p100')).entry.score, 2);
  const headers = { 'Idempotency-Key': 'batch-1' };
  const two = { scores: [{ game: 'bat', player: 'q', score: 1 }, { game: 'bat', player: 'q', score: 2, idempotencyKey: 'own' }] };
  for (const repeated of [false, true]) {
    const done = await rest.must('POST', '/scores:batch', two, { headers });
    assert.deepEqual(done.results.map(({ submitted }) => submitted.repeated), [repeated, repeated]);
  }
  assert.equal((await rest.must('GET', '/boards/bat:all/entries/q')).entry.score, 3);
  assert.equal((await rest.refused(400, 'POST', '/scores:batch', { scores: [...scores, scores[0]] })).member, 'scores');
  assert.equal((await rest.refused(400, 'POST', '/scores:batch', { scores: [{ game: 'bat', player: 'x' }] })).member, 'scores[0].score');
});

test('a batch in another order is the same batch, and ranks are those of each commit', async () => {
  await board('order:all', { keep: 'sum' });
  const headers = { 'Idempotency-Key': 'mixed' };
  const scores = [['ann', 1], ['bob', 5], ['ann', 3], ['ann', 1], ['cy', 2]].map(([player, score]) => ({ game: 'order', player, score }));
  const send = (list) => rest.must('POST', '/scores:batch', { scores: list }, { headers });
  const first = await send(scores);
  assert.deepEqual(first.results.map(({ submitted }) => submitted.repeated), Array(5).fill(false));
  const ranks = first.results.map(({ submitted: { results: [{ rankBefore, rankAfter, total }] } }) => [rankBefore, rankAfter, total]);
  // a ranking that begins with these scores may not have counted the first of them by itself
  const counted = [[undefined, 1, 1], [undefined, 1, 2], [2, 2, 2], [2, 2, 2], [undefined, 3, 3]];
  if (remoteEngine) assert.deepEqual(ranks.at(-1), counted.at(-1));
  else assert.deepEqual(ranks, counted);
  for (const order of [[4, 3, 2, 1, 0], [2, 0, 4, 1, 3]]) {
    const again = await send(order.map((i) => scores[i]));
    assert.deepEqual(again.results.map(({ submitted }) => submitted.repeated), Array(5).fill(true));
  }
  assert.equal((await rest.must('GET', '/boards/order:all/entries/ann')).entry.score, 5);
  const other = await send([{ game: 'order', player: 'cy', score: 3 }]);
  assert.equal(other.results[0].problem.status, 422);
});

test('one board by its scope: a score for that room alone', async () => {
  await board('rooms:all', { scopes: ['room'] });
  const to = (query, body) => rest.must('PUT', `/boards/rooms:all/entries/ann${query}`, body);
  assert.deepEqual((await to('?scope=room:A', { score: 1 })).results.map(({ instance }) => instance), ['rooms:all/room:A']);
  assert.deepEqual((await to('', { score: 2, scopes: ['room:B', 'room:C'] })).results.map(({ instance }) => instance).sort(), ['rooms:all/room:B', 'rooms:all/room:C']);
  assert.equal((await rest.must('PUT', `/boards/${enc('rooms:all/room:A')}/entries/bob`, { score: 5 })).results[0].rankAfter, 1);
  assert.deepEqual(members(await entries('rooms:all', '?scope=room:A')), ['bob', 'ann']);
  await rest.refused(400, 'PUT', '/boards/rooms:all/entries/ann', { score: 1 });
  await rest.refused(400, 'PUT', '/boards/rooms:all/entries/ann?scope=club:A', { score: 1 });
  await board('rooms:both', { scopes: ['global', 'room'] });
  await rest.must('PUT', '/boards/rooms:both/entries/ann?scope=room:A', { score: 1 });
  assert.deepEqual(members(await entries('rooms:both')), []);
  assert.deepEqual(members(await entries('rooms:both', '?scope=room:A')), ['ann']);
});

test('nothing is written anywhere when one board of a game refuses', async () => {
  await board('limits:best', { subscores: true });
  await board('limits:sum', { keep: 'sum', scoreMax: 10 });
  const submit = { player: 'ann', score: 6, subscore: 2 };
  const { results } = await rest.must('POST', '/games/limits/scores', submit);
  assert.deepEqual(results.map(({ board: id, after }) => [id, after]), [['limits:best', { score: 6, subscore: 2 }], ['limits:sum', { score: 6 }]]);
  assert.match((await rest.refused(400, 'POST', '/games/limits/scores', { player: 'ann', score: 7 })).detail, /limits:sum/);
  assert.equal((await rest.must('GET', '/boards/limits:best/entries/ann')).entry.score, 6);
});

test('many lines are loaded at once, as the board keeps them', async () => {
  await board('load:all', { scoreMax: 100, decimals: 1 });
  const csv = ['member,score,name', 'ann,10,Ann', '"a,b",20,"Q ""x"""', '', 'bob,nope', 'cee,101', 'dee,1.25', 'ann,30', 'ann,20', 'eve,5,', 'onlyone'].join('\r\n');
  const done = await rest.must('POST', '/boards/load:all/entries:load', csv, { type: 'text/csv' });
  assert.deepEqual([done.lines, done.added, done.changed, done.kept, done.refused], [9, 3, 1, 1, 4]);
  assert.deepEqual(done.reasons.map(({ line }) => line).sort((a, b) => a - b), [5, 6, 7, 11]);
  const page = await entries('load:all');
  assert.deepEqual(page.entries.map(({ member, score, name }) => [member, score, name]), [['ann', 30, 'Ann'], ['a,b', 20, 'Q "x"'], ['eve', 5, undefined]]);
  const lines = ['{"member":"zoe","score":99.5,"name":"Zoe","meta":{"a":1}}', '{"member":"zoe","scor":1}', '{'].join('\n');
  const json = await rest.must('POST', '/boards/load:all/entries:load', lines, { type: 'application/x-ndjson' });
  assert.deepEqual([json.lines, json.added, json.refused], [3, 1, 2]);
  assert.deepEqual((await rest.must('GET', '/boards/load:all/entries/zoe')).entry.meta, { a: 1 });
  // a board that nobody defined is made by it
  await rest.must('POST', '/boards/plain%20one/entries:load', 'x,1\ny,2\n', { type: 'text/csv' });
  assert.deepEqual(members(await entries('plain one')), ['y', 'x']);
  await rest.refused(415, 'POST', '/boards/load:all/entries:load', 'x,1');
  assert.equal((await rest.must('POST', '/boards/load:all/entries:load', '\n\n', { type: 'text/csv' })).lines, 0);
});

test('a load is few commits, and one on a board that sums', async () => {
  const load = (id, lines, type = 'text/csv') => rest.must('POST', `/boards/${id}/entries:load`, lines.join('\n'), { type });
  const commits = async () => (await rest.must('GET', '/server')).commits;
  await board('bulk:sum', { keep: 'sum', scoreMax: 1000 });
  const before = await commits();
  const many = await load('bulk:sum', [...Array.from({ length: 300 }, () => 'ann,3'), 'bob,1', ...Array.from({ length: 50 }, () => 'ann,2')]);
  // The audit log may have written that the board was made, and that it was loaded; leases are renewed and players found
  // meanwhile. A line each would be 351.
  const more = (await commits()) - before;
  assert.ok(more >= 1 && more <= 20, `${more} commits`);
  assert.deepEqual([many.lines, many.added, many.changed, many.refused], [351, 2, 349, 0]);
  assert.equal((await rest.must('GET', '/boards/bulk:sum/entries/ann')).entry.score, 1000);
  const over = await load('bulk:sum', ['ann,1', 'ann,-5', 'ann,1']); // each line by itself meets the limit
  assert.deepEqual([over.changed, over.refused, over.reasons.map(({ line }) => line)], [2, 1, [1]]);
  assert.equal((await rest.must('GET', '/boards/bulk:sum/entries/ann')).entry.score, 996);

  // as many as documented, a header not counted, on a board that is defined
  await board('bulk:all', { ties: 'member' });
  const lines = ['member,score', ...Array.from({ length: 50000 }, (_, i) => `player${i},${i}`)];
  const atFirst = await commits();
  const all = await load('bulk:all', lines);
  // 256 members each, at most two of such, so that others do not wait for all of them
  if (!remoteEngine) assert.ok((await commits()) - atFirst >= 50000 / 514, 'several commits');
  assert.deepEqual([all.lines, all.added, all.refused], [50000, 50000, 0]);
  assert.equal((await rest.must('GET', '/boards/bulk:all/entries/player49999')).entry.rank, 1);
  await rest.refused(400, 'POST', '/boards/bulk:all/entries:load', [...lines, 'one,1'].join('\n'), { type: 'text/csv' });
  await rest.refused(404, 'GET', '/boards/bulk:all/entries/one');
  const same = await load('bulk:all', Array.from({ length: 50000 }, (_, i) => `same,${i}`));
  assert.deepEqual([same.added, same.changed], [1, 49999]);

  // a subscore is refused where a submission's is, and kept where that is
  const json = ['{"member":"cy","score":1,"subscore":2}', '{"member":"dee","score":1}'];
  const refused = await load('bulk:all', json, 'application/x-ndjson');
  assert.deepEqual([refused.added, refused.refused, refused.reasons[0].line], [1, 1, 1]);
  assert.match(refused.reasons[0].reason, /subscore/);
  await rest.refused(400, 'PUT', '/boards/bulk:all/entries/cy', { score: 1, subscore: 2 });
  await board('bulk:sub', { subscores: true });
  assert.equal((await load('bulk:sub', json, 'application/x-ndjson')).added, 2);
  assert.equal((await rest.must('GET', '/boards/bulk:sub/entries/cy')).entry.subscore, 2);

  // who is hidden stays so
  await rest.must('POST', '/players/hid/hide');
  await load('bulk:all', ['hid,1000000', 'hid,1000001']);
  await rest.refused(404, 'GET', '/boards/bulk:all/entries/hid');
});

// A page's ETag, and what it answers to who has it. Over DynamoDB every partition counts as changed every ten
// seconds, in case a message was lost: if that was just now, it is asked once more.
async function askedAgain(url) {
  for (let tries = 0; ; tries++) {
    const { headers: { etag } } = await rest.call('GET', url);
    const same = await rest.call('GET', url, { headers: { 'If-None-Match': etag } });
    const among = await rest.call('GET', url, { headers: { 'If-None-Match': `"a", ${etag}` } });
    if (!remoteEngine || tries === 4 || (same.status === 304 && among.status === 304)) return { etag, same, among };
  }
}

test('ETags: an unchanged board is 304, a changed one is not', async () => {
  await board('tag:all');
  await put('tag:all', 'ann', 1);
  for (const way of ['/entries', '/entries/ann', '/entries/ann/around', '/rank?score=1', '/percentiles/50', '/histogram', '']) {
    const url = `/boards/tag:all${way}`;
    const { etag, same, among } = await askedAgain(url);
    assert.match(etag, /^W\/"[^"]+"$/);
    assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', etag]);
    assert.equal(among.status, 304);
    assert.equal((await rest.call('GET', url, { headers: { 'If-None-Match': '"other"' } })).status, 200);
    await put('tag:all', 'ann', Number(Date.now()) * 1000 + Math.floor(Math.random() * 1000));
    if (way !== '') assert.equal((await rest.call('GET', url, { headers: { 'If-None-Match': etag } })).status, 200);
  }
  const { headers: { etag } } = await rest.call('GET', '/boards/tag:all/entries');
  assert.equal((await rest.call('GET', '/boards/tag:all/entries?limit=1', { headers: { 'If-None-Match': etag } })).status, 200, 'another question');
  await rest.must('PATCH', '/boards/tag:all', { ranking: 'dense' });
  assert.equal((await rest.call('GET', '/boards/tag:all/entries', { headers: { 'If-None-Match': etag } })).status, 200, 'another rule');
});

test('methods, types and sizes', async () => {
  const head = await rest.call('HEAD', '/boards');
  assert.deepEqual([head.status, head.text], [200, '']);
  assert.ok(Number(head.headers['content-length']) > 0);
  const other = await rest.call('DELETE', '/boards');
  assert.equal(other.status, 405);
  assert.equal(other.headers.allow, 'GET, HEAD, POST, OPTIONS');
  const options = await rest.call('OPTIONS', '/boards/x', { headers: { Origin: 'http://localhost:5173', 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'content-type' } });
  assert.equal(options.status, 204);
  assert.match(options.headers['access-control-allow-methods'], /PUT/);
  assert.equal(options.headers['access-control-allow-headers'], 'content-type');
  const cors = await rest.call('GET', '/boards', { headers: { Origin: 'http://localhost:5173' } });
  assert.equal(cors.headers['access-control-allow-origin'], '*');
  assert.match(cors.headers['access-control-expose-headers'], /ETag/);
  for (const path of ['/nothing', '/boards/x/y', '/boards/x/entries/y/z', '/boards//entries', '/boards/x/entries:nothing']) await rest.refused(404, 'GET', path);
  await rest.refused(415, 'POST', '/boards', '{}', { type: 'text/plain' });
  await rest.refused(415, 'POST', '/boards', '{}', { headers: { 'Content-Encoding': 'gzip' } });
  await rest.refused(413, 'POST', '/boards', `{"id":"${'x'.repeat(5e6)}"}`);
  assert.match((await rest.refused(400, 'POST', '/boards', '{"id":')).detail, /byte 6/);
  assert.equal((await rest.refused(400, 'GET', '/boards?limit=0')).member, 'limit');
  assert.equal((await rest.refused(400, 'GET', '/boards?limt=1')).member, 'limt');
  assert.equal((await rest.refused(400, 'GET', '/boards?limit=1&limit=2')).member, 'limit');
  await rest.refused(400, 'GET', '/boards?game=%f');
  await rest.refused(400, 'DELETE', '/boards/x', { a: 1 });
  assert.equal((await rest.call('GET', '/boards', { headers: { 'X-Request-Id': 'mine-1' } })).headers['x-request-id'], 'mine-1');
});

test('a period is sealed before its end, and the next one begins all the same', async () => {
  await board('end:weekly', { timeframe: 'weekly' });
  await board('end:all');
  assert.match((await rest.refused(409, 'POST', '/boards/end:weekly/seal')).detail, /no scores yet/);
  for (const [player, score] of [['ann', 30], ['bob', 20]]) await rest.must('POST', '/games/end/scores', { player, score });
  assert.match((await rest.refused(400, 'POST', '/boards/end:all/seal')).detail, /no periods/);
  await rest.refused(404, 'POST', '/boards/end:none/seal');
  await rest.refused(409, 'POST', '/boards/end:weekly/seal?period=2099-W02');
  await rest.refused(409, 'POST', '/boards/end:weekly/seal?period=2020-W02');
  await rest.must('POST', '/boards/end:weekly/seal');
  await rest.refused(409, 'POST', '/boards/end:weekly/seal');

  const now = await entries('end:weekly');
  assert.deepEqual([now.sealed, now.total, members(now)], [true, 2, ['ann', 'bob']]);
  const { periods } = await rest.must('GET', '/boards/end:weekly/periods');
  assert.deepEqual(periods.map(({ period, sealed, total, first }) => [period, sealed, total, first.map(({ member }) => member)]), [[now.period, true, 2, ['ann', 'bob']]]);
  assert.ok(periods[0].sealedAt);
  assert.match((await rest.refused(409, 'PUT', '/boards/end:weekly/entries/cee', { score: 99 })).detail, /has ended/);
  const both = await rest.must('POST', '/games/end/scores', { player: 'cee', score: 99 }); // the others take it
  assert.deepEqual(both.results.map(({ board: id, accepted }) => [id, accepted]), [['end:all', true]]);
  assert.deepEqual(members(await entries('end:weekly')), ['ann', 'bob']);

  await timePasses(server, '168h');
  const next = await entries('end:weekly');
  assert.deepEqual([next.sealed, next.total], [false, 0]);
  await rest.must('PUT', '/boards/end:weekly/entries/cee', { score: 99 });
  assert.deepEqual(members(await entries('end:weekly', `?period=${now.period}`)), ['ann', 'bob']);
});

test('seasons: a period ends by itself, is sealed, and still answers', async () => {
  await board('sea:daily', { timeframe: 'daily', ranking: 'competition' });
  for (const [member, score] of [['ann', 30], ['bob', 20]]) await rest.must('POST', '/games/sea/scores', { player: member, score });
  const today = await entries('sea:daily');
  assert.equal(today.sealed, false);
  const first = await entries('sea:daily', '?limit=1');
  await timePasses(server, '24h');
  const next = await entries('sea:daily');
  assert.equal(next.total, 0);
  assert.notEqual(next.period, today.period);
  assert.equal(next.starts, today.ends);
  const after1 = await rest.must('POST', '/games/sea/scores', { player: 'cee', score: 1 });
  assert.equal(after1.results[0].period, next.period);
  assert.equal(after1.results[0].rankAfter, 1);

  const old = await entries('sea:daily', `?period=${today.period}`);
  assert.equal(old.sealed, true);
  assert.deepEqual(members(old), ['ann', 'bob']);
  assert.deepEqual(members(await entries(`sea:daily@${today.period}`)), ['ann', 'bob']);
  assert.deepEqual(members(await entries('sea:daily', `?cursor=${first.next}`)), ['bob'], 'a cursor stays in its period');
  assert.equal((await rest.must('GET', `/boards/sea:daily/entries/bob?period=${today.period}`)).entry.rank, 2);
  assert.equal((await rest.must('GET', `/boards/sea:daily/entries/bob/around?period=${today.period}`)).entries.length, 2);
  assert.equal((await rest.must('GET', `/boards/sea:daily/rank?score=25&period=${today.period}`)).rank, 2);
  assert.equal((await rest.must('GET', `/boards/sea:daily/histogram?period=${today.period}`)).total, 2);
  assert.match((await rest.refused(409, 'PUT', `/boards/sea:daily/entries/zed?period=${today.period}`, { score: 9 })).detail, /seal|end/i);
  await rest.refused(409, 'DELETE', `/boards/sea:daily/entries/ann?period=${today.period}`);
  await rest.refused(409, 'DELETE', `/boards/sea:daily/entries?period=${today.period}`);
  await rest.refused(409, 'POST', `/boards/sea:daily/entries:load?period=${today.period}`, 'x,1', { type: 'text/csv' });

  // housekeeping has done it, or, where a server may have to wait for others, does it soon
  let { periods } = await rest.must('GET', '/boards/sea:daily/periods');
  for (let i = 0; i < 600 && remoteEngine && !periods[0].sealedAt; i++) {
    await pause(100);
    ({ periods } = await rest.must('GET', '/boards/sea:daily/periods'));
  }
  const { instances } = await rest.must('GET', '/instances?plain=false&limit=1000');
  assert.deepEqual(instances.filter(({ board: id }) => id === 'sea:daily').map(({ instance }) => instance).sort(), periods.map(({ instance }) => instance).sort());
  await rest.refused(400, 'GET', '/instances?plain=perhaps');
  assert.deepEqual(periods.map(({ period, sealed, total }) => [period, sealed, total]), [[today.period, true, 2], [next.period, false, 1]]);
  assert.ok(periods[0].sealedAt);
  assert.deepEqual(periods[0].first.map(({ member, rank }) => [member, rank]), [['ann', 1], ['bob', 2]]);
  const page = await rest.must('GET', '/boards/sea:daily/periods?limit=1');
  assert.equal((await rest.must('GET', `/boards/sea:daily/periods?limit=1&cursor=${page.next}`)).periods[0].period, next.period);
  assert.equal((await rest.refused(400, 'GET', '/boards/sea:daily/entries?period=yesterday')).member, 'period');
  const empty = await entries('sea:daily', '?period=2020-02-29'); // over, and nobody was there
  assert.deepEqual([empty.sealed, empty.total], [true, 0]);
  await rest.refused(409, 'PUT', '/boards/sea:daily/entries/zed?period=2020-02-29', { score: 9 });
});

test('a season with a name, and the time between two', async () => {
  const now = Date.parse((await (await fetch(new URL('/admin/clock', server.endpoint))).json()).now);
  const at = (hours) => new Date(now + hours * 3600e3).toISOString();
  await board('cup:season', { timeframe: 'season', seasons: [{ name: 'spring', starts: at(-1), ends: at(1) }, { name: 'summer', starts: at(2), ends: at(9) }] });
  assert.equal((await rest.must('GET', '/boards/cup:season')).current.name, 'spring');
  await put('cup:season', 'ann', 1);
  await timePasses(server, '90m');
  const between = await rest.must('GET', '/boards/cup:season');
  assert.equal(between.current, null);
  await rest.refused(400, 'GET', '/boards/cup:season/entries');
  assert.deepEqual(members(await entries('cup:season', '?period=spring')), ['ann']);
  await timePasses(server, '1h');
  assert.equal((await put('cup:season', 'bob', 1)).results[0].period, 'summer');
});

test('cross-game boards', async () => {
  await board('one:all');
  await board('two:all');
  await rest.must('POST', '/boards', { id: 'both', game: 'hall', sources: ['one:all', 'two:all'], combine: 'sum' });
  await rest.must('POST', '/games/one/scores', { player: 'ann', score: 10 });
  await rest.must('POST', '/games/two/scores', { player: 'ann', score: 5 });
  await rest.must('POST', '/games/two/scores', { player: 'bob', score: 12 });
  assert.deepEqual((await entries('both')).entries.map(({ member, score }) => [member, score]), [['ann', 15], ['bob', 12]]);
  await rest.refused(400, 'POST', '/boards/one:all/entries:load', 'x,1', { type: 'text/csv' });
});

test('players: profile, e-mail, boards, hiding, export, erasing', async () => {
  await board('pl:all');
  const made = await rest.call('POST', '/players', { body: { id: 'u1', name: 'Ann', email: 'Ann@Example.com', meta: { lang: 'de' } } });
  assert.equal(made.status, 201);
  assert.equal(made.json.email, 'ann@example.com');
  assert.deepEqual((await rest.must('GET', '/players?email=ANN%40example.com')).players.map(({ id }) => id), ['u1']);
  assert.deepEqual((await rest.must('GET', '/players?email=nobody%40example.com')).players, []);
  const found = async (query) => (await rest.must('GET', `/players?${query}`)).players.map(({ id }) => id);
  const deadline = Date.now() + 60_000;
  for (const query of ['q=u1&by=id', 'q=ANN', 'q=ann%40ex&by=email']) {
    while ((await found(query)).length === 0 && Date.now() < deadline) await pause(50);
    assert.deepEqual(await found(query), ['u1'], query);
  }
  assert.deepEqual(await found('q=nn'), []);
  await rest.refused(400, 'GET', '/players?q=a&by=luck');
  await rest.refused(400, 'GET', '/players?q=a&cursor=bm9uc2Vuc2U');
  await rest.refused(409, 'POST', '/players', { id: 'u1' });
  await rest.refused(409, 'POST', '/players', { id: 'u2', email: 'ann@example.com' });
  assert.equal((await rest.call('PUT', '/players/u2', { body: { name: 'Bob' } })).status, 201);
  assert.equal((await rest.must('PATCH', '/players/u1', { name: 'Anna', meta: null })).name, 'Anna');
  const patched = await rest.must('GET', '/players/u1');
  assert.equal(patched.email, 'ann@example.com');
  assert.equal(patched.meta, undefined);
  await rest.refused(404, 'GET', '/players/u9');
  await rest.refused(404, 'PATCH', '/players/u9', { name: 'x' });

  for (const [player, score] of [['u1', 10], ['u2', 20], ['u3', 5]]) await rest.must('POST', '/games/pl/scores', { player, score });
  const { boards } = await rest.must('GET', '/players/u1/boards');
  assert.deepEqual(boards.map(({ board: id, entry, total }) => [id, entry.rank, entry.score, total]), [['pl:all', 2, 10, 3]]);

  assert.equal((await rest.call('POST', '/players/u2/hide')).status, 204);
  assert.deepEqual(members(await entries('pl:all')), ['u1', 'u3']);
  assert.equal((await rest.must('GET', '/players/u2')).hidden, true);
  const hidden = (await rest.must('GET', '/players/u2/boards')).boards;
  assert.equal(hidden[0].entry.hidden, true);
  await rest.must('POST', '/boards/pl:all/entries:load', 'u2,30\nu4,1', { type: 'text/csv' });
  assert.deepEqual(members(await entries('pl:all')), ['u1', 'u3', 'u4'], 'loading does not show it');
  assert.equal((await rest.call('POST', '/players/u2/show')).status, 204);
  assert.deepEqual(members(await entries('pl:all')), ['u2', 'u1', 'u3', 'u4']);

  const items = [];
  for (let query = '', page; query !== undefined; query = page.next && `?cursor=${page.next}`) {
    page = await rest.must('GET', `/players/u1/export${query}`);
    items.push(...page.items);
  }
  assert.ok(items.some(({ SK }) => SK === 'PROFILE'));
  assert.ok(items.some(({ PK }) => PK === 'BOARD#pl:all'));
  const erased = await rest.must('DELETE', '/players/u1');
  assert.ok(erased.items >= 2);
  await rest.refused(404, 'GET', '/players/u1');
  assert.deepEqual(members(await entries('pl:all')), ['u2', 'u3', 'u4']);
  assert.equal((await rest.call('POST', '/players', { body: { id: 'u5', email: 'ann@example.com' } })).status, 201, 'the address is free again');
});

test('plays and fair play: a token serves once, for whom it was given, after a time', async () => {
  await board('fair:all', { needsPlay: true, playMinMs: 60_000, playScoreMax: 500 });
  const submit = (status, body) => rest.refused(status, 'POST', '/games/fair/scores', { player: 'ann', ...body });
  assert.match((await submit(403, { score: 1 })).detail, /token/);
  assert.match((await submit(403, { score: 1, playToken: 'made.up.token' })).detail, /./);
  const { token, id } = await rest.must('POST', '/plays', { player: 'ann', game: 'fair', meta: { map: 'x' } });
  assert.match(id, /^[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.match((await submit(403, { score: 1, playToken: token })).detail, /60000/);
  await timePasses(server, '62s');
  assert.match((await submit(403, { score: 501, playToken: token })).detail, /500/);
  assert.match((await submit(403, { score: 1, player: 'bob', playToken: token })).detail, /another player/);
  const done = await rest.must('POST', '/games/fair/scores', { player: 'ann', score: 400, playToken: token });
  assert.equal(done.results[0].accepted, true);
  assert.match((await submit(403, { score: 450, playToken: token })).detail, /used/);
  assert.equal((await rest.must('GET', '/boards/fair:all')).playLifeSeconds, 86400);
  await rest.must('PATCH', '/boards/fair:all', { playLifeSeconds: 60, playMinMs: null });
  const late = await rest.must('POST', '/plays', { player: 'ann', game: 'fair' });
  await timePasses(server, '61s');
  assert.match((await submit(403, { score: 450, playToken: late.token })).detail, /^The play began 6\d seconds ago.*for 60 seconds$/);
  await rest.must('POST', `/plays/${late.id}:end`, { player: 'ann', score: 3 });
  const play = await rest.must('GET', `/plays/${id}?player=ann`);
  assert.deepEqual([play.status, play.score, play.game], ['ended', 400, 'fair']);
  assert.ok(play.durationMs >= 2000);

  const other = await rest.must('POST', '/plays', { player: 'ann', game: 'fair' });
  const ended = await rest.must('POST', `/plays/${other.id}:end`, { player: 'ann', score: 7, meta: { end: true } });
  assert.equal(ended.status, 'ended');
  await rest.refused(409, 'POST', `/plays/${other.id}:end`, { player: 'ann' });
  await rest.refused(404, 'GET', `/plays/${other.id}?player=bob`);
  assert.equal((await rest.refused(400, 'GET', `/plays/${other.id}`)).member, 'player');
  assert.deepEqual((await rest.must('GET', '/players/ann/plays')).plays.map((one) => one.id), [other.id, late.id, id]);
  assert.deepEqual((await rest.must('GET', '/games/fair/plays')).plays.map((one) => one.id), [other.id, late.id, id]);
  const page = await rest.must('GET', '/players/ann/plays?limit=2');
  assert.deepEqual((await rest.must('GET', `/players/ann/plays?cursor=${page.next}`)).plays.map((one) => one.id), [id]);
  await timePasses(server, '1s');
  const plays = async () => (await rest.call('GET', '/players/ann/stats')).json.stats?.plays;
  for (const end = Date.now() + 60_000; await plays() !== 3 && Date.now() < end;) await pause(50);
  assert.equal(await plays(), 3);
  await rest.refused(404, 'GET', '/players/nobody/stats');
});

test('keys: a server may do everything, a client what a player may', async () => {
  const folder = temporaryFolder();
  const file = path.join(folder, 'keys.json');
  const add = (...args) => {
    const { status, stdout, stderr } = spawnSync(program, ['keys', 'add', '--keys', file, ...args], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const [, id, secret] = /id\s+(\S+)\nsecret access key\s+(\S+)\n/.exec(stdout);
    return `${id}:${secret}`;
  };
  const all = add('--table', '*', '--allow', 'all');
  const reader = add('--table', 'gametable', '--allow', 'read');
  const elsewhere = add('--table', 'other');
  const parts = add('--table', 'gametable', '--partition', 'USER#1');
  const client = add('--role', 'client');
  assert.match(readFileSync(file, 'utf8'), /"role": "client"/);
  assert.match(spawnSync(program, ['keys', 'list', '--keys', file], { encoding: 'utf8' }).stdout, /as a client/);

  const closed = await startServer({ args: ['--keys', file] });
  const bearer = (token) => ({ headers: { Authorization: `Bearer ${token}` } });
  const api = await restClient(closed.endpoint);
  try {
    const problem = await api.refused(401, 'GET', '/boards');
    assert.match(problem.detail, /Bearer/);
    assert.match((await api.call('GET', '/boards')).headers['www-authenticate'], /Bearer.*Basic/);
    await api.refused(401, 'GET', '/boards', undefined, bearer(`${all}x`));
    await api.refused(401, 'GET', '/boards', undefined, bearer('GTNOBODY:secret'));
    await api.refused(401, 'GET', '/boards', undefined, { headers: { Authorization: `Basic ${Buffer.from(`${all}x`).toString('base64')}` } });
    await api.must('GET', '/boards', undefined, { headers: { Authorization: `Basic ${Buffer.from(all).toString('base64')}` } });
    assert.equal((await api.call('GET', '')).status, 200, 'the index is for anybody');

    await api.must('POST', '/boards', { id: 'g:all', game: 'g' }, bearer(all));
    await api.must('POST', '/games/g/scores', { player: 'ann', score: 3 }, bearer(all));
    await api.must('GET', '/boards/g:all/entries', undefined, bearer(reader));
    await api.refused(403, 'POST', '/games/g/scores', { player: 'ann', score: 9 }, bearer(reader));
    await api.refused(403, 'GET', '/boards', undefined, bearer(elsewhere));
    assert.match((await api.refused(403, 'GET', '/boards', undefined, bearer(parts))).detail, /partitions/);

    // a client reads boards, and that is all without a player
    await api.must('GET', '/boards/g:all/entries', undefined, bearer(client));
    await api.must('POST', '/boards/g:all/entries:query', { members: ['ann'] }, bearer(client));
    await api.refused(403, 'POST', '/boards', { id: 'x', game: 'g' }, bearer(client));
    await api.refused(403, 'DELETE', '/boards/g:all', undefined, bearer(client));
    await api.refused(403, 'GET', '/players/ann', undefined, bearer(client));
    assert.match((await api.refused(403, 'POST', '/games/g/scores', { player: 'ann', score: 9 }, bearer(client))).detail, /X-Player-Token/);
    await api.refused(403, 'POST', '/players/ann/tokens', {}, bearer(client));

    const { token } = await api.must('POST', '/players/ann/tokens', undefined, bearer(all));
    const short = await api.must('POST', '/players/ann/tokens', { lifeSeconds: 1 }, bearer(all));
    for (const as of [{ headers: { Authorization: `Bearer ${client}`, 'X-Player-Token': token } }, bearer(token)]) {
      await api.must('PUT', '/players/ann', { name: 'Ann' }, as);
      assert.equal((await api.must('GET', '/players/ann', undefined, as)).name, 'Ann');
      assert.equal((await api.must('POST', '/games/g/scores', { score: 5 }, as)).player, 'ann');
      await api.must('PUT', '/boards/g:all/entries/ann', { score: 6 }, as);
      await api.must('POST', '/plays', { game: 'g' }, as);
      await api.must('GET', '/players/ann/export', undefined, as);
      const batch = await api.must('POST', '/scores:batch', { scores: [{ game: 'g', score: 1 }, { game: 'g', player: 'bob', score: 1 }] }, as);
      assert.equal(batch.results[1].problem.status, 403);
      await api.refused(403, 'POST', '/games/g/scores', { player: 'bob', score: 5 }, as);
      await api.refused(403, 'PUT', '/boards/g:all/entries/bob', { score: 6 }, as);
      await api.refused(403, 'GET', '/players/bob', undefined, as);
      await api.refused(403, 'POST', '/plays', { game: 'g', player: 'bob' }, as);
      await api.refused(403, 'DELETE', '/players/ann', undefined, as);
      await api.refused(403, 'DELETE', '/boards/g:all/entries/ann', undefined, as);
      await api.refused(403, 'POST', '/boards/g:all/entries:load', 'x,1', { ...as, type: 'text/csv' });
      await api.refused(403, 'GET', '/players?email=a@b.c', undefined, as);
    }
    await api.refused(401, 'GET', '/boards', undefined, { headers: { Authorization: `Bearer ${client}`, 'X-Player-Token': `${token.slice(0, -2)}xx` } });
    await new Promise((resolve) => { setTimeout(resolve, 1100); });
    assert.match((await api.refused(401, 'GET', '/boards', undefined, bearer(short.token))).detail, /end|expired|over/i);

    // in the table's own protocol a client's key is good for nothing
    const [accessKeyId, secretAccessKey] = client.split(':');
    const { DynamoDBClient, ListTablesCommand, GetItemCommand } = await import('@aws-sdk/client-dynamodb');
    const raw = new DynamoDBClient({ endpoint: closed.endpoint, region: 'us-east-1', credentials: { accessKeyId, secretAccessKey }, maxAttempts: 1 });
    await assert.rejects(raw.send(new ListTablesCommand({})), { name: 'AccessDeniedException' });
    await assert.rejects(raw.send(new GetItemCommand({ TableName: 'gametable', Key: { PK: { S: 'a' }, SK: { S: 'b' } } })), { name: 'AccessDeniedException' });
    raw.destroy();
  } finally {
    api.close();
    assert.equal(await closed.stop(), 0);
  }
});

test('over a restart: scores, idempotency keys, tokens', async () => {
  const data = path.join(temporaryFolder(), 'data');
  let kept = await startServer({ data });
  let api = await restClient(kept.endpoint);
  const headers = { 'Idempotency-Key': 'once' };
  await api.must('POST', '/boards', { id: 'r:all', game: 'r', keep: 'sum' });
  await api.must('POST', '/games/r/scores', { player: 'ann', score: 5 }, { headers });
  const { token } = await api.must('POST', '/players/ann/tokens', {});
  const { headers: { etag } } = await api.call('GET', '/boards/r:all/entries');
  if (!remoteEngine) assert.equal(statSync(path.join(data, 'token-secret')).mode & 0o777, 0o600);
  api.close();
  assert.equal(await kept.stop('SIGKILL'), null);

  kept = await startServer({ data });
  api = await restClient(kept.endpoint);
  try {
    const again = await api.must('POST', '/games/r/scores', { player: 'ann', score: 5 }, { headers });
    assert.equal(again.repeated, true);
    assert.equal((await api.must('GET', '/boards/r:all/entries/ann')).entry.score, 5);
    assert.equal((await api.call('GET', '/boards/r:all/entries', { headers: { 'If-None-Match': etag } })).status, 200);
    await api.must('PUT', '/players/ann', { name: 'A' }, { headers: { 'X-Player-Token': token } });
    await api.refused(403, 'PUT', '/players/bob', { name: 'A' }, { headers: { 'X-Player-Token': token } });
  } finally {
    api.close();
    assert.equal(await kept.stop(), 0);
  }
});

test('what operators ask for is as the document says', async () => {
  await rest.must('POST', '/console/session', { id: 'any', secret: 'any' });
  await rest.must('DELETE', '/console/session');
  await rest.must('DELETE', '/slow');
  for (const [method, path, body] of [['POST', '/keys', { allow: ['read'], tables: ['*'] }], ['PATCH', '/keys/some', { allow: ['read'] }], ['DELETE', '/keys/some']])
    await rest.refused(409, method, path, body);
  for (const path of ['/console/session', '/history?points=10', '/operations', '/slow', '/hot', '/hot?table=game', '/costs', '/audit', '/keys', '/settings', '/clients'])
    await rest.must('GET', path);
});

test('what is in the document was asked for here', () => {
  const ids = Object.values(rest.document.paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  const rooms = ids.filter((id) => /room|kinds/i.test(id)); // rooms have tests of their own
  const elsewhere = new Set(['openapi', 'createToken', 'tailRequests', ...rooms]);
  assert.deepEqual(ids.filter((id) => !rest.seen.has(id) && !elsewhere.has(id)), []);
});
