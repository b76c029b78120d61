// The game's answers against those worked out here from what was put in.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { randomNumbers, runProgram, startForExample, timePasses } from '../../lib/server.mjs';
import { adapter, authHandler } from '../dist/auth.js';
import { bucket, bucketsOf, ownBest, period, postScore, rank, scope, scoreKey, top } from '../dist/boards.js';
import { key } from '../dist/entities.js';
import {
  addThings, click, createRoom, finish, join, lobby, reactions, settleRound, startRound, stats, things,
} from '../dist/game.js';
import { connect, createTable } from '../dist/table.js';

let server;
let game;
before(async () => {
  server = await startForExample();
  game = connect('kauwa');
  await createTable(game);
});
after(async () => {
  game.ddb.destroy();
  await server.stop();
});

const item = async (itemKey) => (await game.ddb.get({ TableName: game.table, Key: itemKey })).Item;
const nowSeconds = () => Math.floor(Date.now() / 1000);

const catalogue = Array.from({ length: 40 }, (_, i) => ({ id: `thing-${i}`, name: `Thing ${i}`, flies: i % 3 !== 0 }));

describe('a match', () => {
  test('content comes by id, in the order asked for', async () => {
    await addThings(game, catalogue);
    assert.deepEqual((await things(game, ['thing-31', 'thing-2', 'none'])).map(({ name }) => name), ['Thing 31', 'Thing 2']);
    assert.equal((await item(key.thing('thing-0'))).flies, false);
  });

  test('a lobby is one query; a code and a seat are taken once', async () => {
    assert.equal(await createRoom(game, 'LOBBY', 'p0'), true);
    assert.equal(await createRoom(game, 'LOBBY', 'p1'), false);
    const joined = await Promise.all(Array.from({ length: 12 }, (_, i) => join(game, 'LOBBY', `p${i % 8}`, `Player ${i % 8}`)));
    assert.equal(joined.filter(Boolean).length, 8);
    await startRound(game, 'LOBBY', 1, 'thing-1');
    const { room, players, rounds } = await lobby(game, 'LOBBY');
    assert.equal(room.hostId, 'p0');
    assert.equal(room.status, 'playing');
    assert.deepEqual(players.map(({ playerId }) => playerId), Array.from({ length: 8 }, (_, i) => `p${i}`));
    assert.deepEqual(rounds.map(({ n, thingId }) => [n, thingId]), [[1, 'thing-1']]);
    assert.equal(await lobby(game, 'NOWHERE'), undefined);
  });

  test('a round has its own reactions, also past the ninth', async () => {
    for (const n of [1, 10, 11])
      await Promise.all(['a', 'b', 'c'].map((player, i) => click(game, 'CLICKS', n, player, 100 * n + i)));
    assert.deepEqual((await reactions(game, 'CLICKS', 1)).map(({ playerId, atMs }) => [playerId, atMs]), [['a', 100], ['b', 101], ['c', 102]]);
    assert.deepEqual((await reactions(game, 'CLICKS', 10)).map(({ atMs }) => atMs), [1000, 1001, 1002]);
    assert.deepEqual(await reactions(game, 'CLICKS', 2), []);
    assert.equal(await click(game, 'CLICKS', 1, 'a', 5), false, 'the first click counts');
  });

  test('points, statistics and boards after many rounds are those of the clicks', async () => {
    const random = randomNumbers();
    const code = 'MATCH';
    const at = new Date('2026-03-14T12:00:00Z');
    const players = Array.from({ length: 15 }, (_, i) => `m${i}`);
    const expected = new Map(players.map((player) => [player, 0]));
    await createRoom(game, code, 'm0');
    await Promise.all(players.map((player) => join(game, code, player, player.toUpperCase())));
    for (let n = 1; n <= 12; n++) {
      const thing = catalogue[random(catalogue.length)];
      await startRound(game, code, n, thing.id);
      const clicking = players.filter(() => random(3) > 0).map((player) => [player, random(3000)]);
      await Promise.all(clicking.map(([player, atMs]) => click(game, code, n, player, atMs)));
      await settleRound(game, code, n, thing);
      for (const [player, atMs] of clicking)
        expected.set(player, expected.get(player) + (thing.flies ? Math.round(1000 - atMs / 3) : -200));
    }
    const state = await lobby(game, code);
    assert.equal(state.rounds.length, 12);
    assert.deepEqual(new Map(state.players.map(({ playerId, score }) => [playerId, score])), expected);

    await finish(game, code, at);
    assert.equal((await lobby(game, code)).room.status, 'done');
    for (const [player, score] of expected) {
      const total = Math.max(0, score);
      assert.deepEqual(await stats(game, player), { games: 1, points: total, best: total });
    }
    const boards = bucketsOf(at, code);
    assert.deepEqual(boards, [
      'LB#daily:2026-03-14#global', 'LB#daily:2026-03-14#room#MATCH', 'LB#weekly:2026-W11#global',
      'LB#weekly:2026-W11#room#MATCH', 'LB#all#global', 'LB#all#room#MATCH',
    ]);
    const order = [...expected.values()].map((score) => Math.max(0, score)).sort((a, b) => b - a);
    for (const board of boards) assert.deepEqual((await top(game, board)).map(({ score }) => score), order);
  });
});

for (const form of ['padded', 'numeric']) {
  describe(`boards with ${form} scores`, () => {
    let own;
    before(async () => {
      own = connect(`boards-${form}`, form);
      await createTable(own);
    });
    after(() => own.ddb.destroy());

    test('the index holds the form', async () => {
      const board = bucket(period.all(), 'form');
      await postScore(own, board, { userId: 'u', name: 'U', score: 95 });
      const { Item } = await own.ddb.get({ TableName: own.table, Key: key.entry(board, 'u') });
      assert.deepEqual([Item.GSI1PK, Item.GSI1SK], [board, form === 'padded' ? '0000000095' : 95]);
      assert.equal(scoreKey('padded', 1500), '0000001500');
    });

    test('every period and scope is the order of the best scores', async () => {
      const random = randomNumbers();
      const days = ['2025-12-28', '2025-12-29', '2026-01-01', '2026-01-04', '2026-01-05'].map((day) => new Date(`${day}T10:00:00Z`));
      const posts = Array.from({ length: 200 }, () => ({
        at: days[random(days.length)], room: `R${random(3)}`, userId: `u${random(60)}`, score: random(10 ** (1 + random(6))),
      }));
      const best = new Map(); // board -> user -> score
      for (const { at, room, userId, score } of posts) {
        for (const board of bucketsOf(at, room)) {
          if (!best.has(board)) best.set(board, new Map());
          best.get(board).set(userId, Math.max(score, best.get(board).get(userId) ?? -1));
        }
      }
      await inParallel(32, posts, ({ at, room, userId, score }) =>
        Promise.all(bucketsOf(at, room).map((board) => postScore(own, board, { userId, name: userId, score }))));
      for (const [board, scores] of best) {
        const order = [...scores.values()].sort((a, b) => b - a);
        const page = await top(own, board);
        assert.deepEqual(page.map(({ score }) => score), order.slice(0, 20), board);
        for (const { userId, score } of page) assert.equal(scores.get(userId), score);
        const { userId, score } = page.at(-1);
        assert.equal(await rank(own, board, score), 1 + order.filter((other) => other > score).length);
        assert.equal(await ownBest(own, board, userId), score);
      }
      // a week starts on Monday and belongs to the year of its Thursday
      assert.ok(best.has(bucket('weekly:2025-W52', scope.global)));
      assert.ok(best.has(bucket('weekly:2026-W01', scope.room('R0'))));
      assert.ok(best.has(bucket('weekly:2026-W02', scope.global)));
    });
  });
}

describe('sign-in', () => {
  const secret = 'only for tests, and long enough';
  const site = 'http://localhost:3000';

  // A browser, as far as Auth.js needs one.
  const browser = (handle) => {
    const cookies = new Map();
    return async (path, form) => {
      const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
      const body = form && new URLSearchParams(form);
      const answer = await handle(new Request(new URL(path, site), { method: form ? 'POST' : 'GET', headers, body }));
      for (const line of answer.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
        if (value) cookies.set(name, value);
        else cookies.delete(name);
      }
      return answer;
    };
  };

  test('a mailed link makes a user and a session, both in the game\'s table', async (t) => {
    t.mock.method(console, 'error', () => {}); // Auth.js tells of the link used twice
    const mails = [];
    const visit = browser(authHandler(game, secret, (to, url) => mails.push({ to, url })));
    assert.equal(await (await visit('/auth/session')).json(), null);
    const { csrfToken } = await (await visit('/auth/csrf')).json();
    await visit('/auth/signin/email', { csrfToken, email: 'asha@example.com', callbackUrl: `${site}/lobby` });
    assert.equal(mails.length, 1);
    assert.equal(mails[0].to, 'asha@example.com');

    const back = await visit(mails[0].url);
    assert.equal(back.headers.get('location'), `${site}/lobby`);
    const session = await (await visit('/auth/session')).json();
    assert.equal(session.user.email, 'asha@example.com');

    const { Items } = await game.ddb.query({
      TableName: game.table, KeyConditionExpression: 'PK = :pk', ExpressionAttributeValues: { ':pk': `USER#${session.userId}` },
    });
    assert.deepEqual(Items.map(({ type }) => type).sort(), ['SESSION', 'USER']);

    const again = await visit(mails[0].url);
    assert.match(again.headers.get('location'), /error/, 'a link works once');

    await visit('/auth/signout', { csrfToken });
    assert.equal(await (await visit('/auth/session')).json(), null);
    assert.equal((await item({ PK: `USER#${session.userId}`, SK: `USER#${session.userId}` })).email, 'asha@example.com');
  });

  test('the adapter keeps accounts, sessions and statistics side by side', async () => {
    const store = adapter(game);
    const user = await store.createUser({ email: 'bilal@example.com', emailVerified: null, name: 'Bilal' });
    assert.equal((await store.getUserByEmail('bilal@example.com')).id, user.id);
    await store.linkAccount({ provider: 'github', providerAccountId: '42', type: 'oauth', userId: user.id });
    assert.equal((await store.getUserByAccount({ provider: 'github', providerAccountId: '42' })).name, 'Bilal');
    assert.equal((await store.updateUser({ id: user.id, name: 'Bilal K' })).name, 'Bilal K');

    const expires = new Date(Date.now() + 3_600_123);
    await store.createSession({ sessionToken: 'token-1', userId: user.id, expires });
    assert.equal((await item({ PK: `USER#${user.id}`, SK: 'SESSION#token-1' })).expires, expires.getTime() / 1000, 'with its fraction');
    const found = await store.getSessionAndUser('token-1');
    assert.deepEqual([found.user.id, found.session.expires.getTime()], [user.id, expires.getTime()]);
    const later = new Date(Date.now() + 7_200_456);
    assert.equal((await store.updateSession({ sessionToken: 'token-1', expires: later })).expires.getTime(), later.getTime());

    await createRoom(game, 'SIGNED', user.id);
    await join(game, 'SIGNED', user.id, 'Bilal');
    await finish(game, 'SIGNED');
    assert.equal((await stats(game, user.id)).games, 1);
    const { Items } = await game.ddb.query({
      TableName: game.table, KeyConditionExpression: 'PK = :pk', ExpressionAttributeValues: { ':pk': `USER#${user.id}` },
    });
    assert.deepEqual(Items.map(({ SK }) => SK), ['ACCOUNT#github#42', 'SESSION#token-1', 'STATS', `USER#${user.id}`]);

    await store.deleteSession('token-1');
    assert.equal(await store.getSessionAndUser('token-1'), null);
    await store.unlinkAccount({ provider: 'github', providerAccountId: '42' });
    assert.equal(await store.getUserByAccount({ provider: 'github', providerAccountId: '42' }), null);
  });
});

test('the program plays a match, and another one when it is started again', async () => {
  for (const code of ['K4UWA', 'K4UW2']) {
    const printed = await runProgram(fileURLToPath(new URL('../dist/main.js', import.meta.url)));
    assert.ok(printed.includes(`room ${code}: 3 players, 3 rounds`), printed);
    assert.match(printed, new RegExp(`LB#all#room#${code}\\n {2}1\\. bilal +1550\\n {2}2\\. asha +1500\\n {2}3\\. chen +500\\n`));
  }
});

describe('expiry', () => {
  test('all of a room carries a time, what lasts does not', async () => {
    await createRoom(game, 'EPHEM', 'e');
    await join(game, 'EPHEM', 'e', 'E');
    await startRound(game, 'EPHEM', 1, 'thing-1');
    await click(game, 'EPHEM', 1, 'e', 10);
    await finish(game, 'EPHEM');
    for (const itemKey of [key.room('EPHEM'), key.player('EPHEM', 'e'), key.round('EPHEM', 1), key.reaction('EPHEM', 1, 'e')]) {
      const { ttl } = await item(itemKey);
      assert.ok(Number.isInteger(ttl) && ttl > nowSeconds() && ttl <= nowSeconds() + 24 * 3600);
    }
    for (const itemKey of [key.stats('e'), key.entry('LB#all#room#EPHEM', 'e'), key.thing('thing-1')])
      assert.equal((await item(itemKey)).ttl, undefined);
  });

  test('a room is gone after its hours, what lasts is not', async () => {
    const store = adapter(game);
    const { id: userId } = await store.createUser({ email: 'chen@example.com', emailVerified: null });
    await store.createSession({ sessionToken: 'kept', userId, expires: new Date(Date.now() + 1000) });
    const everything = async () => (await game.ddb.scan({ TableName: game.table })).Items;
    const before = await everything();
    await timePasses(server, '5h');
    assert.equal((await everything()).length, before.length);
    await timePasses(server, '2h');
    assert.equal(await lobby(game, 'EPHEM'), undefined);
    assert.deepEqual(await reactions(game, 'EPHEM', 1), []);
    assert.deepEqual(await everything(), before.filter(({ PK }) => !PK.startsWith('ROOM#')));
    assert.equal((await stats(game, 'e')).games, 1);
    assert.equal((await top(game, 'LB#all#room#EPHEM')).length, 1);
    assert.ok(await store.getSessionAndUser('kept'), 'it does not end by `ttl`');
  });

  test('in a table of their own, sessions end by `expires`, with its fraction', async () => {
    const own = connect('sessions');
    await createTable(own, 'expires');
    const store = adapter(own);
    const { id: userId } = await store.createUser({ email: 'dina@example.com', emailVerified: null });
    const inHoursFromThere = (hours) => new Date(Date.now() + (7 + hours) * 3_600_000 + 123);
    await store.createSession({ sessionToken: 'short', userId, expires: inHoursFromThere(1) });
    await store.createSession({ sessionToken: 'long', userId, expires: inHoursFromThere(3) });
    await store.createVerificationToken({ identifier: 'dina@example.com', token: 'vt', expires: inHoursFromThere(1) });
    assert.ok(await store.getSessionAndUser('short'));
    await timePasses(server, '2h');
    assert.equal(await store.getSessionAndUser('short'), null);
    assert.equal(await store.useVerificationToken({ identifier: 'dina@example.com', token: 'vt' }), null);
    assert.equal((await store.getSessionAndUser('long')).user.id, userId);
    own.ddb.destroy();
  });
});

async function inParallel(width, list, work) {
  const waiting = list.values();
  await Promise.all(Array.from({ length: width }, async () => {
    for (const one of waiting) await work(one);
  }));
}
