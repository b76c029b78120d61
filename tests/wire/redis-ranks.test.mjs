// What Redis does not have: ranks that equal scores share, and the ranks of many members at once.
// All of it is compared with ranks that are counted here.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { connect, decode, plain } from '../redis/resp.mjs';
import { startServer } from '../lib/server.mjs';

let server;
let client;
before(async () => {
  server = await startServer();
  client = await connect(server.redisPort);
});
after(async () => {
  client.close();
  assert.equal(await server.stop(), 0);
});

// The ranks of all members by the definition of each kind.
function ranksOf(scores, kind, reverse) {
  const better = (a, b) => (reverse ? a > b : a < b);
  const distinct = [...new Set(scores.values())];
  const order = [...scores].sort(([m, a], [n, b]) => a - b || (m < n ? -1 : 1)).map(([member]) => member);
  if (reverse) order.reverse();
  return new Map([...scores].map(([member, score]) => [member, {
    ordinal: () => order.indexOf(member),
    shared: () => [...scores.values()].filter((other) => better(other, score)).length,
    dense: () => distinct.filter((other) => better(other, score)).length,
  }[kind]()]));
}
const options = { ordinal: [], shared: ['TIES', 'SHARED'], dense: ['TIES', 'DENSE'] };

async function fill(key, count, different) {
  const scores = new Map();
  for (let i = 0; i < count; i++) scores.set(`m${i}`, (i * 7919) % different);
  await client.ask('ZADD', key, ...[...scores].flatMap(([member, score]) => [score, member]));
  return scores;
}

test('equal scores share a rank where that is asked for', async () => {
  const scores = await fill('few', 40, 9);
  for (const [kind, words] of Object.entries(options))
    for (const reverse of [false, true]) {
      const ranks = ranksOf(scores, kind, reverse);
      for (const [member, rank] of ranks) {
        const name = reverse ? 'ZREVRANK' : 'ZRANK';
        assert.equal(await client.ask(name, 'few', member, ...words), rank, `${name} ${member} ${words}`);
        assert.deepEqual(await client.ask(name, 'few', member, 'WITHSCORE', ...words), [rank, String(scores.get(member))]);
        assert.deepEqual(await client.ask(name, 'few', member, ...words, 'withscore'), [rank, String(scores.get(member))]);
      }
      assert.equal(await client.ask('ZRANK', 'few', 'nobody', ...words), null);
    }
});

test('the ranks of many members in one command, of a set of thousands of scores', async () => {
  const scores = await fill('many', 5000, 2500);
  const asked = ['nobody', ...Array.from({ length: 100 }, (_, i) => `m${i * 41}`)];
  for (const [kind, words] of Object.entries(options))
    for (const reverse of [false, true]) {
      const ranks = ranksOf(scores, kind, reverse);
      const turn = reverse ? ['REV'] : [];
      assert.deepEqual(await client.ask('ZMRANK', 'many', ...turn, ...words, 'MEMBERS', asked.length, ...asked),
        asked.map((member) => ranks.get(member) ?? null), `${kind} ${turn}`);
      assert.deepEqual(await client.ask('ZMRANK', 'many', 'WITHSCORE', ...words, ...turn, 'MEMBERS', 2, 'm3', 'nobody'),
        [[ranks.get('m3'), String(scores.get('m3'))], null]);
    }
  assert.deepEqual(await client.ask('ZMRANK', 'nokey', 'MEMBERS', 2, 'a', 'b'), [null, null]);
});

test('a transaction reads its own writes in them', async () => {
  for (const different of [5, 1500]) {
    const key = `txn${different}`;
    const scores = await fill(key, 2000, different);
    const changes = [['m1', 2], ['m2', 2], ['new', 2.5], ['m3', -1], ['m4', 9999]];
    const asked = ['m1', 'm2', 'new', 'm3', 'm4', 'm5', 'm6', 'm1999'];
    const questions = Object.values(options).flatMap((words) => [false, true].map((reverse) =>
      ['ZMRANK', key, ...(reverse ? ['REV'] : []), ...words, 'MEMBERS', asked.length, ...asked]));
    const answers = (await client.pipeline([['MULTI'], ['ZADD', key, ...changes.flatMap(([m, s]) => [s, m])], ['ZREM', key, 'm6'],
      ...questions, ['EXEC']])).at(-1);
    for (const [member, score] of changes) scores.set(member, score);
    scores.delete('m6');
    const told = plain(decode(answers)).slice(2);
    let i = 0;
    for (const kind of Object.keys(options))
      for (const reverse of [false, true]) {
        const ranks = ranksOf(scores, kind, reverse);
        assert.deepEqual(told[i], asked.map((member) => ranks.get(member) ?? null), questions[i].join(' '));
        assert.deepEqual(await client.ask(...questions[i]), told[i]);
        i++;
      }
  }
});

test('wrong ranks are refused', async () => {
  await client.ask('ZADD', 'z', 1, 'a');
  for (const [words, text] of [
    [['ZRANK', 'z', 'a', 'TIES'], "wrong number of arguments for 'zrank' command"],
    [['ZRANK', 'z', 'a', 'TIES', 'LOOSE'], "wrong number of arguments for 'zrank' command"],
    [['ZMRANK', 'z', 'a', 'b'], "wrong number of arguments for 'zmrank' command"],
    [['ZMRANK', 'z', 'a', 'b', 'c'], 'syntax error'],
    [['ZMRANK', 'z', 'TIES', 'DENSE', 'MEMBERS'], 'syntax error'],
    [['ZMRANK', 'z', 'MEMBERS', '0', 'a'], 'nummembers should be greater than 0'],
    [['ZMRANK', 'z', 'MEMBERS', 'x', 'a'], 'nummembers should be greater than 0'],
    [['ZMRANK', 'z', 'MEMBERS', '2', 'a'], 'The `nummembers` parameter must match the number of arguments'],
  ])
    assert.deepEqual(await client.ask(...words), { error: `ERR ${text}` }, words.join(' '));
});
