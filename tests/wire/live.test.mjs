// Rooms over REST and their live lines, boards as they change. Every REST answer is held against
// /v1/openapi.json; docs/live.md and docs/rooms.md are what is tested here.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import test, { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, PutItemCommand, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { createClient } from 'redis';
import { timePasses } from '../lib/clock.mjs';
import { fullRoom, openLine, roomPath } from '../lib/live.mjs';
import { restClient } from '../lib/rest.mjs';
import { startServer } from '../lib/server.mjs';

const kauwa = 'kauwa-udd';
const snakes = 'snakes-and-ladders';
let server;
let rest;
let dynamo;
before(async () => {
  server = await startServer({ args: ['--origins', 'https://game.example'] });
  rest = await restClient(server.endpoint);
  dynamo = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } });
});
after(async () => {
  rest.close();
  dynamo.destroy();
  assert.equal(await server.stop(), 0);
});

const make = (kind, more = {}) => rest.must('POST', '/rooms', { kind, name: 'Ann', ...more });
const join = (code, name, more = {}) => rest.must('POST', `/rooms/${code}/players`, { name, ...more });
const open = (code, token, options) => openLine(server.endpoint, roomPath(code, token), options);
const room = (kind, count, more) => fullRoom(rest, server.endpoint, kind, count, more);
const items = async (pk, sk, index) => {
  const { Items } = await dynamo.send(new QueryCommand({
    TableName: 'gametable', ...(index && { IndexName: index }),
    KeyConditionExpression: '#p = :p AND begins_with(#s, :s)',
    ExpressionAttributeNames: { '#p': index ? `${index}PK` : 'PK', '#s': index ? `${index}SK` : 'SK' },
    ExpressionAttributeValues: { ':p': { S: pk }, ':s': { S: sk } },
  }));
  return Items.map((item) => unmarshall(item));
};

test('a room is made, listed, looked at, joined, left and closed', async () => {
  assert.deepEqual((await rest.must('GET', '/kinds')).kinds.map(({ kind }) => kind), [kauwa, snakes, 'four-in-a-row']);
  const made = await make(snakes, { title: 'Ours', capacity: 3, options: { turnSeconds: 5 } });
  const { code } = made.room;
  assert.match(code, /^[B-DF-HJ-KM-NP-TV-XZ2-9]{5}$/);
  assert.equal(made.room.host, made.player);
  assert.equal(made.players.length, 1);
  const bob = await join(code, 'Bob', { player: 'bob' });
  assert.equal(bob.player, 'bob');
  assert.deepEqual(bob.players.map(({ name }) => name).sort(), ['Ann', 'Bob']);
  assert.equal(new Set(bob.players.map(({ colour }) => colour)).size, 2);
  const looker = await join(code, 'Cat', { spectator: true });
  assert.equal(looker.room.players, 2);
  const listed = (await rest.must('GET', `/rooms?kind=${snakes}`)).rooms.find((each) => each.code === code);
  assert.equal(listed.title, 'Ours');
  assert.equal(listed.players, 2);
  const other = await make('four-in-a-row');
  const found = [];
  for (let cursor = '', pages = 0; cursor !== undefined && pages < 1000; pages++) {
    const page = await rest.must('GET', `/rooms?limit=1${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    found.push(...page.rooms);
    cursor = page.next;
  }
  const apart = [];
  for (const { kind } of (await rest.must('GET', '/kinds')).kinds) apart.push(...(await rest.must('GET', `/rooms?kind=${kind}&limit=100`)).rooms);
  assert.deepEqual(found.map((each) => each.code), apart.map((each) => each.code), 'all kinds, page by page');
  assert.ok([code, other.room.code].every((mine) => found.some((each) => each.code === mine)));
  assert.deepEqual((await rest.must('GET', '/rooms?limit=100')).rooms.map((each) => each.code), found.map((each) => each.code));
  await rest.refused(400, 'GET', '/rooms?cursor=bm9uZS8');
  const hidden = await make(snakes, { listed: false });
  assert.ok(!(await rest.must('GET', `/rooms?kind=${snakes}`)).rooms.some((each) => each.code === hidden.room.code));
  assert.equal((await rest.must('GET', `/rooms/${code}`)).room.version, looker.room.version + 1);

  // The lobby is one Query of the room's partition.
  const there = await items(`ROOM#${code}`, 'PLAYER#');
  assert.deepEqual(there.map(({ name }) => name).sort(), ['Ann', 'Bob', 'Cat']);
  assert.ok(there.every(({ ttl }) => ttl > Date.now() / 1000 + 80000));

  assert.equal((await rest.call('DELETE', `/rooms/${code}/players/bob`)).status, 204);
  await rest.refused(404, 'DELETE', `/rooms/${code}/players/bob`);
  assert.equal((await rest.call('DELETE', `/rooms/${code}`)).status, 204);
  assert.equal((await rest.must('GET', `/rooms/${code}`)).room.status, 'closed');
  assert.match((await rest.refused(400, 'POST', `/rooms/${code}/players`, { name: 'Dev' })).detail, /closed/);
  assert.ok(!(await rest.must('GET', `/rooms?kind=${snakes}`)).rooms.some((each) => each.code === code));
});

test('what a room cannot be is refused', async () => {
  const wrong = async (body, detail) => assert.match((await rest.refused(400, 'POST', '/rooms', body)).detail, detail);
  await wrong({ kind: 'chess', name: 'Ann' }, /no game called chess/);
  await wrong({ kind: kauwa, name: 'Ann', capacity: 17 }, /1 to 16 players/);
  await wrong({ kind: kauwa, name: 'A'.repeat(25) }, /1 to 24 characters/);
  await wrong({ kind: kauwa, name: 'A\u0007' }, /control/);
  await wrong({ kind: kauwa, name: 'Ann', options: { rounds: 2 } }, /rounds is 3 to 50/);
  await wrong({ kind: kauwa, name: 'Ann', options: { seconds: 'x' } }, /seconds is 1 to 10/);
  await wrong({ kind: kauwa, name: 'Ann', options: { language: 'fr' } }, /en or hi/);
  await wrong({ kind: snakes, name: 'Ann', options: { rounds: 5 } }, /no option rounds/);
  await rest.refused(404, 'GET', '/rooms/ZZZZZ');
  await rest.refused(404, 'GET', '/rooms/aeiou');
  await rest.refused(404, 'POST', '/rooms/ZZZZZ/players', { name: 'Ann' });
});

test('twenty who come at once find as many seats as there are', async () => {
  const { room: { code } } = await make(kauwa, { capacity: 8 });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => rest.call('POST', `/rooms/${code}/players`, { body: { name: `P${i}`, player: `p${i}` } })));
  const in_ = answers.filter(({ status }) => status === 201);
  assert.equal(in_.length, 7);
  for (const { status, json } of answers.filter((answer) => !in_.includes(answer))) {
    assert.equal(status, 400);
    assert.match(json.detail, /full: it takes 8 players/);
  }
  const seats = (await items(`ROOM#${code}`, 'PLAYER#'));
  assert.equal(seats.length, 8);
  assert.deepEqual(seats.map(({ seat }) => seat).sort(), [1, 2, 3, 4, 5, 6, 7, 8]);
  // Who is in it keeps the seat, however full it is; naming the player is not enough.
  const { player, token } = in_[0].json;
  assert.deepEqual((await join(code, 'again', { player, token })).token, token);
  for (const proof of [{}, { token: 'x' }, { token: in_[1].json.token }])
    await rest.refused(403, 'POST', `/rooms/${code}/players`, { name: 'Mallory', player, ...proof });
});

test('ready, start, kick, rematch, leave and close, by those who may', async () => {
  const { code, lines: [ann, bob, cat], host } = await room(kauwa, 3, { ready: false, options: { rounds: 3, seconds: 1 } });
  const looker = await open(code);
  assert.equal((await looker.state(() => true)).room.code, code);
  await looker.refused({ do: 'ready', ready: true }, /looks on/);
  await looker.ok({ do: 'sync' });
  await bob.refused({ do: 'start' }, /host/);
  await host.refused({ do: 'start' }, /not ready/);
  await bob.ok({ do: 'ready', ready: true });
  await ann.state(({ players }) => players.find(({ player }) => player === bob.player).ready);
  await bob.refused({ do: 'kick', player: cat.player }, /host/);
  await host.refused({ do: 'kick', player: 'nobody' }, /not in room/);
  await host.refused({ do: 'kick', player: ann.player }, /leaves, or closes/);
  await host.ok({ do: 'kick', player: cat.player });
  assert.deepEqual(await cat.over(), { code: 4001, reason: 'you are not in the room any more' });
  const again = await open(code, cat.token);
  assert.equal((await again.over()).code, 4001);
  await bob.refused({ do: 'rematch' }, /not over/);
  await bob.refused({ do: 'roll', turn: 1 }, /no match/);
  await host.ok({ do: 'start' });
  await host.refused({ do: 'start' }, /begun/);
  await bob.refused({ do: 'ready', ready: false }, /lobby/);
  const late = await join(code, 'Late');
  assert.deepEqual(late.players.filter(({ player }) => player === late.player).map(({ spectator, waiting }) => [spectator, waiting]), [[true, true]]);
  await looker.state((state) => state.room.status === 'over');
  await bob.ok({ do: 'rematch' });
  await ann.state((state) => state.room.status === 'over' && state.players.find(({ player }) => player === bob.player).ready);
  await host.ok({ do: 'rematch' });
  const lobby = await ann.state((state) => state.room.status === 'lobby' && state.room.match === 1, { from: ann.heard.length - 1 });
  assert.equal(lobby.players.find(({ player }) => player === late.player).spectator, false, 'who waited plays the next one');
  await ann.ok({ do: 'leave' });
  assert.equal((await ann.over()).code, 4001);
  assert.equal((await bob.state((state) => state.room.host === bob.player)).room.status, 'lobby');
  await bob.ok({ do: 'close' });
  assert.equal((await bob.over()).code, 4000);
  assert.equal((await looker.over()).code, 4000);
  await assert.rejects(open('ZZZZZ').then((line) => line.state(() => true)), /4000|404/);
});

// The rules of docs/rooms.md, once more.
function points(flies, afterMs, streak, lengthMs) {
  const more = 10 * Math.min(streak, 5);
  if (flies) return afterMs === undefined ? -50 : 100 + Math.trunc((100 * (lengthMs - afterMs)) / lengthMs) + more;
  return afterMs === undefined ? 50 + more : -75;
}

test('a whole match of Kauwa Udd, judged as documented', async () => {
  const rounds = 6; // each is open for longer than a busy machine takes for what is done in it
  const { code, lines: [ann, bob, cat] } = await room(kauwa, 3, { options: { rounds, seconds: 3 } });
  const looker = await open(code);
  await ann.ok({ do: 'start' });
  const taken = new Map();
  let from = 0;
  for (let n = 1; n <= rounds; n++) {
    const state = await ann.state((each) => each.round?.n === n && each.round.status === 'open', { from });
    from = ann.heard.indexOf(state);
    assert.equal(state.round.flies, undefined, 'whether it flies is a secret');
    assert.equal(JSON.stringify(state).includes('deck'), false);
    assert.ok(state.round.emoji && state.round.en && state.round.hi);
    await ann.ok({ do: 'react', round: n }); // whatever it is
    if (n % 2) {
      await sleep(150);
      await bob.ok({ do: 'react', round: n });
    }
    if (n === 3) {
      await ann.refused({ do: 'react', round: n }, /already/);
      await looker.refused({ do: 'react', round: n }, /looks on/);
      await ann.refused({ do: 'react', round: n - 1 }, /over/);
      await ann.refused({ do: 'react', round: n + 1 }, /no such round/);
    }
    const clicks = await items(`ROOM#${code}`, `CLICK#${String(n).padStart(4, '0')}#`);
    assert.equal(clicks.length, n % 2 ? 2 : 1);
    for (const { player, at } of clicks) taken.set(`${n} ${player}`, at - state.round.startsAt);
  }
  const over = await looker.state((state) => state.room.status === 'over');
  const seen = Object.fromEntries([ann, bob, cat].map(({ player }) => [player, { points: 0, streak: 0 }]));
  for (const round of await items(`ROOM#${code}`, 'ROUND#')) {
    assert.equal(round.status, 'done');
    for (const line of [ann, bob, cat]) {
      const { player } = line;
      const afterMs = taken.get(`${round.n} ${player}`);
      const right = round.flies === (afterMs !== undefined);
      const result = round.results[player];
      assert.equal(result.right, right);
      assert.equal(result.afterMs, afterMs);
      assert.equal(result.points, points(round.flies, afterMs, seen[player].streak, round.endsAt - round.startsAt));
      seen[player].points += result.points;
      seen[player].streak = right ? seen[player].streak + 1 : 0;
    }
  }
  for (const { player, points: sum } of over.players) assert.equal(sum, seen[player].points);
  // The match's record, the boards and the players' records say the same.
  const [match] = await items(`MATCHES#${code}`, '0', 'GSI1');
  assert.deepEqual(Object.fromEntries(match.results.map((each) => [each.player, each.points])), Object.fromEntries(Object.entries(seen).map(([player, each]) => [player, each.points])));
  const scope = `?scope=room:${code}`;
  const board = await rest.must('GET', `/boards/${kauwa}:room/entries${scope}`);
  assert.deepEqual(board.entries.map(({ member, score }) => [member, score]).sort(), Object.entries(seen).map(([player, each]) => [player, each.points]).sort());
  for (const which of ['daily', 'weekly', 'all']) {
    const { entries } = await rest.must('GET', `/boards/${kauwa}:${which}/entries?limit=100`);
    for (const [player, each] of Object.entries(seen)) assert.equal(entries.find(({ member }) => member === player)?.score, each.points, which);
  }
  const best = Math.max(...Object.values(seen).map((each) => each.points));
  for (const [player, each] of Object.entries(seen)) {
    const [record] = await items(`PLAYER#${player}`, `RECORD#${kauwa}`);
    assert.deepEqual([record.matches, record.points, record.best, record.wins], [1, each.points, each.points, each.points === best ? 1 : 0]);
  }
  // After the match nothing can be changed any more.
  await ann.refused({ do: 'react', round: rounds }, /over/);
});

test('a whole match of snakes and ladders; of two rolls at once one is told', async () => {
  const { code, lines } = await room(snakes, 3, { options: { turnSeconds: 10 } });
  const by = Object.fromEntries(lines.map((line) => [line.player, line]));
  await lines[0].ok({ do: 'start' });
  const positions = Object.fromEntries(lines.map(({ player }) => [player, 0]));
  let jumps;
  let state = await lines[0].state((each) => each.room.status === 'playing');
  let raced = false;
  for (let moves = 1; state.room.status === 'playing'; moves++) {
    assert.ok(moves < 2000);
    if (moves > 100) await sleep(20); // a line takes 20 messages a second for long
    const { turn, turnNumber } = state.room.state;
    jumps ??= Object.fromEntries(state.room.state.board.map(({ from, to }) => [from, to]));
    const other = lines.find(({ player }) => player !== turn);
    if (moves === 2) await other.refused({ do: 'roll', turn: turnNumber }, /not your turn/);
    if (moves === 3) {
      const twice = await Promise.all([by[turn].ask({ do: 'roll', turn: turnNumber }), by[turn].ask({ do: 'roll', turn: turnNumber })]);
      assert.deepEqual(twice.map(({ type }) => type).sort(), ['ok', 'refused']);
      assert.match(twice.find(({ type }) => type === 'refused').reason, /played|not your turn/);
      raced = true;
    } else await by[turn].ok({ do: 'roll', turn: turnNumber });
    state = await lines[0].state((each) => each.room.round === moves);
    const { round } = state;
    assert.equal(round.player, turn);
    assert.ok(round.roll >= 1 && round.roll <= 6);
    assert.equal(round.from, positions[turn]);
    const landed = round.from + round.roll <= 100 ? round.from + round.roll : round.from;
    assert.equal(round.landed, landed, 'past the last square one stays');
    assert.equal(round.to, jumps[landed] ?? landed);
    positions[turn] = round.to;
    for (const each of state.players) assert.equal(each.state.position, positions[each.player]);
  }
  assert.ok(raced);
  assert.equal(state.room.status, 'over');
  const winner = Object.entries(positions).find(([, position]) => position === 100)[0];
  const [match] = await items(`MATCHES#${code}`, '0', 'GSI1');
  assert.deepEqual([match.results[0].player, match.results[0].points, match.results[0].place], [winner, 200, 1]);
  const board = await rest.must('GET', `/boards/${snakes}:room/entries?scope=room:${code}`);
  assert.equal(board.entries[0].member, winner);
  await lines[0].ok({ do: 'rematch' });
  assert.equal((await lines[0].state((each) => each.room.status === 'lobby' && each.room.match === 1)).players.length, 3);
});

test('what is malformed, too large or too much is refused and changes nothing', async () => {
  const { code, lines: [ann, bob] } = await room(kauwa, 2);
  // Both connections are known, and whatever their coming has written to the room is there.
  let before_, later = await rest.must('GET', `/rooms/${code}`);
  do {
    before_ = later;
    await sleep(1000);
    later = await rest.must('GET', `/rooms/${code}`);
  } while (!before_.players.every(({ connected }) => connected) || JSON.stringify(later.room) !== JSON.stringify(before_.room));
  const say = async (text, reason) => {
    const from = ann.heard.length;
    ann.socket.send(text);
    const answer = await ann.until(({ type }) => type === 'refused', { from });
    assert.match(answer.reason, reason);
  };
  await say('{', /JSON object/);
  await say('[]', /JSON object/);
  await say('"react"', /JSON object/);
  await say('{}', /"do" is/);
  await say('{"do":7}', /"do" is/);
  await say('{"do":"fly"}', /"do" is/);
  await say('{"do":"react"}', /no such round/);
  await say('{"do":"react","round":-1}', /no such round/);
  await say('{"do":"react","round":1e3}', /no such round/);
  await say('{"do":"react","round":"1"}', /no such round/);
  await say('{"do":"react","round":1}', /no such round/);
  await say('{"do":"kick"}', /not in room/);
  await say(`{"do":"kick","player":"${'x'.repeat(3900)}"}`, /not in room/);
  assert.deepEqual((await rest.must('GET', `/rooms/${code}`)).room, before_.room);

  await sleep(1200); // the bucket fills again
  const from = bob.heard.length;
  const began = performance.now();
  for (let i = 0; i < 200; i++) bob.socket.send(JSON.stringify({ do: 'kick', player: 'x', id: i }));
  await bob.until(() => bob.heard.slice(from).filter(({ type }) => type === 'refused').length === 200);
  const slow = bob.heard.slice(from).filter(({ reason }) => /slow down/.test(reason));
  // Sixty at once, and twenty more in each second that it took.
  const allowed = 61 + Math.ceil((20 * (performance.now() - began)) / 1000);
  assert.ok(slow.length >= 200 - allowed && slow.length > 0 && slow.length < 200, `${slow.length} of 200 were too many, not ${200 - allowed}`);
  assert.ok(slow.every(({ id }) => Number.isInteger(id)), 'each is told which');

  const big = await open(code, ann.token);
  big.socket.send(JSON.stringify({ do: 'kick', player: 'x'.repeat(5000) }));
  assert.equal((await big.over()).code, 1009);
  const binary = await open(code, ann.token);
  binary.socket.send(Buffer.from('{"do":"sync"}'));
  assert.equal((await binary.over()).code, 1003);
  assert.deepEqual((await rest.must('GET', `/rooms/${code}`)).players.map(({ connected }) => connected), [true, true]);
});

test('who may open a line, and from which pages', async () => {
  const { room: { code }, token } = await make(kauwa);
  const { room: { code: other } } = await make(kauwa);
  const refused = (status, promise) => assert.rejects(promise, (error) => error.status === status);
  await refused(403, open(other, token));
  await refused(403, open(code, `${token.slice(0, -2)}xx`));
  await refused(403, open(code, token, { origin: 'https://evil.example' }));
  await refused(403, open(code, token, { origin: 'null' }));
  await (await open(code, token, { origin: 'https://game.example' })).end();
  await (await open(code, token, { origin: server.endpoint })).end();
  await (await open(code, token)).end();
  const plain = await fetch(`${server.endpoint}/v1/rooms/${code}/live`);
  assert.equal(plain.status, 426);
  assert.equal((await fetch(`${server.endpoint}/v1/rooms/${code}/live`, { method: 'POST' })).status, 405);
  await refused(404, openLine(server.endpoint, '/v1/boards/nothing:here/live'));
});

test('a connection is an item that is found by its room, and a seat tells whether one is open', async () => {
  const { code, lines: [ann, bob] } = await room(snakes, 2);
  const connections = () => items(`ROOM#${code}`, 'CONNECTION#', 'GSI1');
  const become = async (count) => { for (const end = Date.now() + 60_000; (await connections()).length !== count;) assert.ok(await sleep(20, Date.now() < end), `not ${count}`); };
  await ann.state(({ players }) => players.every(({ connected }) => connected));
  assert.deepEqual((await connections()).map(({ player }) => player).sort(), [ann.player, bob.player].sort());
  const second = await open(code, bob.token);
  await second.state(() => true);
  await become(3);
  let from = ann.heard.length;
  await bob.end();
  await become(2);
  assert.ok((await rest.must('GET', `/rooms/${code}`)).players.every(({ connected }) => connected), 'the other one is still open');
  from = ann.heard.length;
  await second.end();
  await ann.state(({ players }) => players.find(({ player }) => player === bob.player).connected === false, { from });
  await become(1);
  assert.deepEqual((await connections()).map(({ player }) => player), [ann.player]);
  // Open and gone at once: nothing stays behind.
  for (let i = 0; i < 10; i++) (await open(code, bob.token)).socket.terminate();
  await become(1);
});

test('a board shows what Redis, REST and the table itself write, over WebSocket and as events', async () => {
  await rest.must('POST', '/boards', { id: 'live:all', game: 'live' });
  const line = await openLine(server.endpoint, '/v1/boards/live:all/live?limit=3');
  const cut = new AbortController();
  const answer = await fetch(`${server.endpoint}/v1/boards/live:all/live?limit=3`, { signal: cut.signal });
  assert.equal(answer.headers.get('content-type'), 'text/event-stream');
  const events = [];
  const reading = (async () => {
    let text = '';
    try {
      for await (const part of answer.body) {
        text += Buffer.from(part);
        for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
          if (text.startsWith('data: ')) events.push(JSON.parse(text.slice(6, end)));
        }
      }
    } catch { /* it is cut below */ }
  })();
  const shows = async (entries) => {
    const fits = (message) => message.type === 'board' && JSON.stringify(message.entries.map(({ member, score }) => [member, score])) === JSON.stringify(entries);
    await line.until(fits);
    for (const end = Date.now() + 60_000; !events.some(fits);) assert.ok(await sleep(20, Date.now() < end), `events: ${JSON.stringify(events.at(-1))}`);
  };
  await shows([]);
  const redis = createClient({ url: `redis://127.0.0.1:${server.redisPort}` });
  await redis.connect();
  await redis.zAdd('live:all', { score: 5, value: 'ann' });
  await shows([['ann', 5]]);
  await rest.must('PUT', '/boards/live:all/entries/bob', { score: 7 });
  await shows([['bob', 7], ['ann', 5]]);
  await dynamo.send(new PutItemCommand({ TableName: 'gametable', Item: {
    PK: { S: 'BOARD#live:all' }, SK: { S: 'cat' }, score: { N: '6' }, subscore: { N: '0' }, tie: { N: '0' },
  } }));
  await shows([['bob', 7], ['cat', 6], ['ann', 5]]);
  await dynamo.send(new UpdateItemCommand({
    TableName: 'gametable', Key: { PK: { S: 'BOARD#live:all' }, SK: { S: 'ann' } },
    UpdateExpression: 'SET score = :s', ExpressionAttributeValues: { ':s': { N: '9' } },
  }));
  await shows([['ann', 9], ['bob', 7], ['cat', 6]]);
  await redis.zRem('live:all', 'bob');
  await shows([['ann', 9], ['cat', 6]]);
  await redis.quit();
  line.socket.send('{"do":"sync"}');
  assert.equal((await line.over()).code, 1008);
  cut.abort();
  await reading;
});

// Opens a line by hand, reads its answer's head, and then nothing until told to.
async function deafLine(path) {
  const socket = net.connect({ port: server.port, host: '127.0.0.1' });
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`);
  socket.pause();
  return socket;
}

test('a line of a daily board goes on in the next day, unless it asked for one', async () => {
  const own = await startServer({ args: ['--test-clock'] });
  const there = await restClient(own.endpoint);
  await there.must('POST', '/boards', { id: 'day', game: 'g', timeframe: 'daily', scopes: ['global', 'room'] });
  const at = (message) => [message.instance, message.entries.map(({ member, score }) => [member, score])];
  const shows = (line, ...what) => line.until((message) => message.type === 'board' && JSON.stringify(at(message)) === JSON.stringify(what));
  const line = await openLine(own.endpoint, '/v1/boards/day/live');
  const { period: today } = await line.until(({ type }) => type === 'board');
  const room = await openLine(own.endpoint, '/v1/boards/day/live?scope=room:a');
  const fixed = [await openLine(own.endpoint, `/v1/boards/day/live?period=${today}`), await openLine(own.endpoint, `/v1/boards/day@${today}/live`)];
  await there.must('PUT', '/boards/day/entries/ann', { score: 5 });
  for (const each of [line, ...fixed]) await shows(each, `day@${today}`, [['ann', 5]]);
  const tomorrow = new Date(Date.parse(today) + 86400000).toISOString().slice(0, 10);
  await timePasses(own, '24h');
  await shows(line, `day@${tomorrow}`, []);
  await shows(room, `day/room:a@${tomorrow}`, []);
  await there.must('PUT', '/boards/day/entries/bob', { score: 7 });
  await shows(line, `day@${tomorrow}`, [['bob', 7]]);
  await there.must('PUT', '/boards/day/entries/cat', { score: 8, scopes: ['room:a'] });
  await shows(room, `day/room:a@${tomorrow}`, [['cat', 8]]);
  const late = await openLine(own.endpoint, '/v1/boards/day/live');
  await late.until(({ instance }) => instance === `day@${tomorrow}`);
  for (const each of fixed) assert.ok(each.heard.every(({ instance }) => instance === `day@${today}`));
  for (const each of [line, room, late, ...fixed]) await each.end();
  there.close();
  assert.equal(await own.stop(), 0);
});

test('who does not read gets the newest state afterwards, and the others do not wait', async () => {
  await rest.must('POST', '/boards', { id: 'slow:all', game: 'slow' });
  const name = (i) => `player-${String(i).padStart(3, '0')}-${'x'.repeat(80)}`;
  await rest.must('POST', '/scores:batch', { scores: Array.from({ length: 100 }, (_, i) => ({ board: 'slow:all', player: name(i), score: 0, meta: { text: 'm'.repeat(3500) } })) });
  const deaf = await deafLine('/v1/boards/slow:all/live?limit=100');
  const line = await openLine(server.endpoint, '/v1/boards/slow:all/live?limit=100');
  await line.until(({ type }) => type === 'board');
  let slowest = 0;
  // More than the kernel takes: what a sender's buffer grows to, and what a receiver's has before anything is read. A
  // state has some 360 KB.
  const buffer = (name, which) => Number(readFileSync(`/proc/sys/net/ipv4/${name}`, 'utf8').trim().split(/\s+/)[which]);
  const rounds = 12 + Math.ceil((buffer('tcp_wmem', 2) + 2 * buffer('tcp_rmem', 1)) / 360_000);
  for (let i = 1; i <= rounds; i++) {
    await rest.must('PUT', `/boards/slow:all/entries/${name(0)}`, { score: i });
    const began = Date.now();
    await line.until(({ entries }) => entries?.[0].score === i, { from: Math.max(0, line.heard.length - 2) });
    slowest = Math.max(slowest, Date.now() - began);
  }
  assert.ok(slowest < 60_000, `the slowest took ${slowest} ms`); // the deaf one reads only afterwards
  const sent = line.heard.length;
  let text = '';
  deaf.on('data', (part) => { text += part.toString('latin1'); });
  deaf.resume();
  const last = `"score":${rounds},`;
  for (const end = Date.now() + 60_000; !text.includes(last);) assert.ok(await sleep(50, Date.now() < end), 'the newest state comes');
  const got = text.split('"type":"board"').length - 1;
  assert.ok(got < sent, `it was fed ${got} of ${sent}: the kernel took them all`);
  deaf.destroy();
  await line.end();
});

test('ping is answered, and one who pings and never reads is cut off', async () => {
  const { room: { code }, token } = await make(kauwa);
  const line = await open(code, token);
  line.socket.ping('hello');
  const [data] = await once(line.socket, 'pong');
  assert.equal(String(data), 'hello');
  await line.end();
  const deaf = await deafLine(roomPath(code, token));
  const ping = Buffer.concat(Array.from({ length: 500 }, () => Buffer.concat([Buffer.from([0x89, 0xfd, 0, 0, 0, 0]), Buffer.alloc(125, 65)])));
  let gone = false;
  deaf.on('error', () => { gone = true; });
  deaf.on('close', () => { gone = true; });
  // Who does not wait for the answer is told goodbye instead, which one that does not read would not see.
  deaf.resume();
  await once(deaf, 'data');
  deaf.pause();
  for (let i = 0; !gone && i < 6000; i++) { // only who writes finds out
    if (deaf.writableLength < ping.length) deaf.write(ping);
    await sleep(5);
  }
  assert.ok(gone, 'its pongs are not kept for ever');
});
