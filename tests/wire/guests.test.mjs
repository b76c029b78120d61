// Guests on a server with access keys: a room's invitation lets one sit down there, and nothing else.
// Then what is new in rooms: bots, bans, options, and what proves a seat.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { openLine, roomPath } from '../lib/live.mjs';
import { restClient } from '../lib/rest.mjs';
import { startServer } from '../lib/server.mjs';

const ID = 'host';
const SECRET = 'a-secret-of-the-host';
const env = { GAMETABLE_ACCESS_KEY_ID: ID, GAMETABLE_SECRET_ACCESS_KEY: SECRET };
let server;
let shut;
let host;
let stranger;
before(async () => {
  [server, shut] = await Promise.all([startServer({ redis: 'off', args: ['--guests'], env }), startServer({ redis: 'off', env })]);
  host = await restClient(server.endpoint, { headers: { Authorization: `Bearer ${ID}:${SECRET}` } });
  stranger = await restClient(server.endpoint);
});
after(async () => {
  host.close();
  stranger.close();
  assert.equal(await server.stop(), 0);
  assert.equal(await shut.stop(), 0);
});

const made = (more = {}) => host.must('POST', '/rooms', { kind: 'kauwa-udd', name: 'Ann', ...more });
const asGuest = (invite) => ({ headers: { 'X-Room-Invite': invite } });
const come = (code, invite, name, more = {}) => stranger.call('POST', `/rooms/${code}/players`, { body: { name, ...more }, ...asGuest(invite) });

test('an invitation is good for a seat in its room, and for nothing else', async () => {
  const { room: { code, invite }, player } = await made();
  const other = await made();
  assert.ok(invite);
  assert.equal((await stranger.call('GET', `/rooms/${code}`)).status, 401);
  assert.equal((await stranger.call('GET', `/rooms/${code}`, asGuest(invite))).status, 200);
  const bob = await come(code, invite, 'Bob', { player });
  assert.equal(bob.status, 201, bob.text);
  assert.match(bob.json.player, /^guest-/, 'a guest is somebody new, whoever they say they are');
  const line = await openLine(server.endpoint, roomPath(code, bob.json.token));
  await line.ok({ do: 'ready', ready: true });
  await line.refused({ do: 'start' }, /host/);

  for (const [method, path, body] of [
    ['GET', `/rooms/${other.room.code}`], ['POST', `/rooms/${other.room.code}/players`, { name: 'Bob' }], ['GET', '/rooms?kind=kauwa-udd'],
    ['POST', '/rooms', { kind: 'kauwa-udd', name: 'Bob' }], ['GET', '/boards'], ['GET', '/server'], ['GET', '/boards/kauwa-udd:all/entries'],
    ['PUT', '/boards/arcade/entries/bob', { score: 1 }], ['GET', `/players/${player}`], ['DELETE', `/rooms/${code}`],
    ['DELETE', `/rooms/${code}/players/${player}`], ['POST', '/games/tetris/scores', { player: 'bob', score: 1 }],
  ]) {
    const answer = await stranger.call(method, path, { ...(body && { body }), ...asGuest(invite) });
    assert.equal(answer.status, 403, `${method} ${path}: ${answer.text}`);
  }
  for (const path of [`/v1/rooms/${other.room.code}/live?invite=${invite}`, `/v1/boards/kauwa-udd:all/live?invite=${invite}`])
    await assert.rejects(openLine(server.endpoint, path), /403/);
  const looks = await openLine(server.endpoint, `/v1/rooms/${code}/live?invite=${invite}`);
  await looks.state(({ room }) => room.code === code);
  await looks.refused({ do: 'close' }, /looks on/);
  await looks.end();
  await line.end();
  for (const forged of [invite.slice(0, -1), `${invite}x`, other.token, 'x'])
    assert.equal((await come(code, forged, 'Mallory')).status, 401);
});

test('names of guests are checked', async () => {
  const { room: { code, invite } } = await made();
  assert.equal((await come(code, invite, '')).status, 400);
  assert.equal((await come(code, invite, '\u200b\u202e ')).status, 400);
  assert.equal((await come(code, invite, 'x'.repeat(25))).status, 400);
  const same = await come(code, invite, ' a\u200bnn ');
  assert.equal(same.status, 400);
  assert.match(same.json.detail, /called that already/);
  const { json } = await come(code, invite, '\u202eBob\u2066');
  assert.equal(json.players.find(({ player }) => player === json.player).name, 'Bob');
});

test('whom the host bans needs another invitation', async () => {
  const { room: { code, invite }, token } = await made();
  const line = await openLine(server.endpoint, roomPath(code, token));
  const { json: bob } = await come(code, invite, 'Bob');
  const bobs = await openLine(server.endpoint, roomPath(code, bob.token));
  await line.ok({ do: 'kick', player: bob.player, ban: true });
  assert.equal((await bobs.over()).code, 4001);
  assert.equal((await come(code, invite, 'Bob')).status, 403);
  const { room } = await line.state((state) => state.room.invite !== invite);
  assert.equal((await come(code, room.invite, 'Cat')).status, 201, 'others come by the new one');
  await line.end();
});

test('guests come only so fast', async () => {
  const { room: { code, invite } } = await made({ capacity: 2 });
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => come(code, invite, `G${i}`)));
  const count = (status) => answers.filter((answer) => answer.status === status).length;
  assert.equal(count(201), 1);
  assert.ok(count(429) >= 10, `${count(429)} had to wait`);
  assert.equal(count(201) + count(429) + count(400), 60);
});

test('without --guests nobody is one', async () => {
  const operator = await restClient(shut.endpoint, { headers: { Authorization: `Bearer ${ID}:${SECRET}` } });
  const room = await operator.must('POST', '/rooms', { kind: 'kauwa-udd', name: 'Ann' });
  assert.equal(room.room.invite, undefined);
  const { room: { invite } } = await made();
  const answer = await fetch(`${shut.endpoint}/v1/rooms/${room.room.code}`, asGuest(invite));
  assert.equal(answer.status, 401);
  assert.match(await answer.text(), /no guests/);
  operator.close();
});

test('a token keeps the seat that was taken, not the next one of that name', async () => {
  const { room: { code }, token } = await made();
  const line = await openLine(server.endpoint, roomPath(code, token));
  const first = await host.must('POST', `/rooms/${code}/players`, { name: 'Bob', player: 'bob' });
  await (await openLine(server.endpoint, roomPath(code, first.token))).ok({ do: 'leave' });
  await line.state(({ players }) => players.length === 1, { from: line.heard.length - 1 });
  const second = await host.must('POST', `/rooms/${code}/players`, { name: 'Bob', player: 'bob' });
  assert.notEqual(second.token, first.token);
  await assert.rejects(openLine(server.endpoint, roomPath(code, first.token)), /403.*given up/);
  await (await openLine(server.endpoint, roomPath(code, second.token))).end();
  await line.end();
});

test('bots by the host, another game, other options, and from watching to playing', async () => {
  const { room: { code, invite }, token, player } = await made({ options: { rounds: 3, seconds: 1 } });
  const line = await openLine(server.endpoint, roomPath(code, token));
  const { json: eve } = await come(code, invite, 'Eve', { spectator: true });
  const eves = await openLine(server.endpoint, roomPath(code, eve.token));
  await eves.refused({ do: 'bot' }, /host/);
  await eves.refused({ do: 'change', kind: 'four-in-a-row' }, /host/);
  await line.refused({ do: 'change', options: { rounds: 1 } }, /rounds is 3 to 50/);
  await line.ok({ do: 'change', kind: 'four-in-a-row', options: { turnSeconds: 60 } });
  await eves.state(({ room }) => room.kind === 'four-in-a-row' && room.capacity === 2 && room.options.turnSeconds === 60);
  await line.ok({ do: 'bot' });
  await line.refused({ do: 'bot' }, /full/);
  await eves.refused({ do: 'play' }, /full/);
  const { players } = await eves.state((state) => state.players.some(({ bot }) => bot));
  const bot = players.find((each) => each.bot);
  assert.ok(bot.ready && bot.connected);
  await line.ok({ do: 'start' });
  // The bot makes its moves by itself, whoever began.
  await eves.state(({ room, round }) => room.status === 'playing' && round === null);
  await line.ask({ do: 'drop', column: 1 });
  await eves.state(({ round }) => round?.player === bot.player && round.byClock === false);
  await line.refused({ do: 'change', kind: 'kauwa-udd' }, /lobby/);
  await line.ok({ do: 'kick', player: bot.player });
  await eves.state(({ room }) => room.status === 'over');
  await line.ok({ do: 'rematch' });
  await eves.ok({ do: 'play' });
  await eves.state((state) => state.room.status === 'lobby' && state.players.some((each) => each.player === eve.player && !each.spectator));
  await eves.ok({ do: 'play', play: false });
  assert.equal((await host.must('GET', '/boards/four-in-a-row:daily/entries')).entries.some(({ member }) => member === bot.player), false);
  assert.ok(player);
  await eves.end();
  await line.end();
});
