// What a player's token must not decide: the scores of matches, and the boards of rooms it is not in.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { restClient } from '../lib/rest.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';

const file = path.join(temporaryFolder(), 'keys.json');
const secret = 'operator-secret-0123456789';
writeFileSync(file, JSON.stringify({ keys: [
  { id: 'operator', secret, tables: ['*'], allow: ['read', 'write', 'admin'] },
  { id: 'page', secret: 'page-secret-0123456789', tables: ['*'], allow: ['read', 'write'], role: 'client' },
] }), { mode: 0o600 });

for (const keys of [true, false]) test(`with${keys ? '' : 'out'} keys`, async (t) => {
  const as = keys ? { headers: { Authorization: `Bearer operator:${secret}` } } : {};
  const server = await startServer({ args: keys ? ['--keys', file] : [] });
  const rest = await restClient(server.endpoint);
  const { token } = await rest.must('POST', '/players/ann/tokens', undefined, as);
  const ways = [{ headers: { Authorization: `Bearer ${token}` } }];
  if (keys) ways.push({ headers: { Authorization: 'Bearer page:page-secret-0123456789', 'X-Player-Token': token } },
    { headers: { ...as.headers, 'X-Player-Token': token } });
  const match = /has the scores of matches in rooms/, scope = /a player submits for rooms in which it has a seat/i;

  await t.test('boards of matches take no score of a player', async () => {
    for (const ann of ways) {
      for (const board of ['kauwa-udd:all', 'kauwa-udd:daily', 'four-in-a-row:all', 'snakes-and-ladders:weekly'])
        assert.match((await rest.refused(403, 'PUT', `/boards/${board}/entries/ann`, { score: 1e9 }, ann)).detail, match);
      assert.match((await rest.refused(403, 'POST', '/games/kauwa-udd/scores', { score: 1e9 }, ann)).detail, match);
      const { results } = await rest.must('POST', '/scores:batch', { scores: [{ board: 'kauwa-udd:all', score: 1e9 }, { game: 'four-in-a-row', score: 1 }] }, ann);
      for (const { problem } of results) assert.deepEqual([problem.status, match.test(problem.detail)], [403, true]);
    }
    assert.equal((await rest.must('GET', '/boards/kauwa-udd:all/entries', undefined, as)).entries.length, 0);
    await rest.must('PUT', '/boards/kauwa-udd:all/entries/ann', { score: 7 }, as); // an operator may
  });

  await t.test('scoped boards take a player’s score for a room with a seat', async () => {
    await rest.must('POST', '/boards', { id: 'mine:all', game: 'mine', scopes: ['global', 'room', 'club'] }, as);
    const { room: mine } = await rest.must('POST', '/rooms', { kind: 'four-in-a-row', player: 'ann', name: 'Ann' }, as);
    const { room: others } = await rest.must('POST', '/rooms', { kind: 'four-in-a-row', player: 'bob', name: 'Bob' }, as);
    for (const ann of ways) {
      await rest.must('PUT', '/boards/mine:all/entries/ann', { score: 1 }, ann);
      await rest.must('PUT', '/boards/mine:all/entries/ann', { score: 2, scopes: [`room:${mine.code}`] }, ann);
      await rest.must('POST', '/games/mine/scores', { score: 3, scopes: [`room:${mine.code}`] }, ann);
      for (const wrong of [`room:${others.code}`, 'room:ZZZZ', 'club:chess']) {
        assert.match((await rest.refused(403, 'PUT', '/boards/mine:all/entries/ann', { score: 9, scopes: [wrong] }, ann)).detail, scope);
        assert.match((await rest.refused(403, 'PUT', `/boards/mine:all/entries/ann?scope=${wrong}`, { score: 9 }, ann)).detail, scope);
        assert.match((await rest.refused(403, 'POST', '/games/mine/scores', { score: 9, scopes: [`room:${mine.code}`, wrong] }, ann)).detail, scope);
        assert.equal((await rest.must('GET', `/boards/mine:all/entries?scope=${wrong}`, undefined, as)).entries.length, 0);
      }
    }
    await rest.must('PUT', '/boards/mine:all/entries/ann', { score: 9, scopes: ['club:chess', `room:${others.code}`] }, as);
  });
  rest.close();
  assert.equal(await server.stop(), 0);
});
