// Rooms over a killed server, with access keys, and by the typed client of web/.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { DeleteItemCommand, DynamoDBClient, GetItemCommand, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { WebSocket } from 'ws';
import { fullRoom, openLine, roomPath } from '../lib/live.mjs';
import { restClient } from '../lib/rest.mjs';
import { program, root, startServer, temporaryFolder } from '../lib/server.mjs';

const kauwa = 'kauwa-udd';
const snakes = 'snakes-and-ladders';

test('after SIGKILL a room goes on where it was, by its clock, and seats are kept by their tokens', async () => {
  const data = path.join(temporaryFolder(), 'data');
  let server = await startServer({ data });
  const http = `127.0.0.1:${server.port}`;
  const rest = await restClient(server.endpoint);
  const { code, seats, lines: [ann] } = await fullRoom(rest, server.endpoint, kauwa, 2, { options: { rounds: 3, seconds: 3 } });
  const table = await fullRoom(rest, server.endpoint, snakes, 2, { options: { turnSeconds: 3 } });
  await ann.ok({ do: 'start' });
  await table.host.ok({ do: 'start' });
  const { room: { state: { turn, turnNumber } } } = await table.host.state((state) => state.room.status === 'playing');
  await table.lines.find(({ player }) => player === turn).ok({ do: 'roll', turn: turnNumber });
  const rolled = await table.host.state((state) => state.room.round === 1);
  await ann.state(({ round }) => round?.n === 2 && round.status === 'open');
  await ann.ok({ do: 'react', round: 2 });
  await server.stop('SIGKILL');
  await ann.over();

  server = await startServer({ data, http });
  const back = await openLine(server.endpoint, roomPath(code, seats[0].token));
  const first = await back.state(() => true);
  assert.equal(first.room.match, 1);
  assert.ok(first.room.round >= 2);
  assert.equal(first.players.length, 2);
  assert.ok(first.players.some(({ player }) => player === seats[0].player));
  const over = await back.state((state) => state.room.status === 'over');
  assert.equal(over.room.round, 3, 'no round twice, none left out');
  assert.ok(over.room.state.last);
  // The reaction that was acknowledged before the end was judged after it.
  const dynamo = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } });
  const { Item } = await dynamo.send(new GetItemCommand({ TableName: 'gametable', Key: { PK: { S: `ROOM#${code}` }, SK: { S: 'ROUND#0002' } } }));
  assert.ok(Item.results.M[seats[0].player].M.afterMs, 'what was tapped before the end counts after it');

  // The turn that stood still is played by the clock; then by hand again.
  const bob = await openLine(server.endpoint, roomPath(table.code, table.lines[1].token));
  const moved = await bob.state((state) => state.room.round >= 2);
  assert.equal(moved.room.match, 1);
  const { Items } = await dynamo.send(new QueryCommand({
    TableName: 'gametable', KeyConditionExpression: 'PK = :p AND begins_with(SK, :s)', ExpressionAttributeValues: { ':p': { S: `ROOM#${table.code}` }, ':s': { S: 'ROUND#' } },
  }));
  dynamo.destroy();
  const moves = Items.map((item) => unmarshall(item));
  assert.equal(moves[0].to, rolled.round.to);
  const positions = {};
  for (const [i, { player, from, to, byClock }] of moves.entries()) {
    assert.equal(byClock, i > 0);
    assert.notEqual(player, moves[i - 1]?.player, 'by turns');
    assert.equal(from, positions[player] ?? 0);
    positions[player] = to;
  }
  rest.close();
  await back.end();
  await bob.end();
  assert.equal(await server.stop(), 0);
});

test('after SIGKILL who does not come back is shown as not connected, within seconds', async () => {
  const data = path.join(temporaryFolder(), 'data');
  let server = await startServer({ data });
  const rest = await restClient(server.endpoint);
  const { code, seats, lines: [ann] } = await fullRoom(rest, server.endpoint, kauwa, 3);
  rest.close();
  const here = ({ players }) => players.filter(({ connected }) => connected).map(({ player }) => player);
  await ann.state((state) => here(state).length === 3);
  await server.stop('SIGKILL');
  const killed = Date.now();
  await ann.over();

  server = await startServer({ data });
  const back = await openLine(server.endpoint, roomPath(code, seats[0].token));
  const first = await back.state(() => true);
  if (Date.now() - killed < 3500) // a lease has six seconds and is renewed after two
    assert.equal(here(first).length, 3, 'their server may still be alive, as far as the table tells');
  const state = await back.state((each) => here(each).length === 1);
  assert.deepEqual(here(state), [seats[0].player]);
  const bob = await openLine(server.endpoint, roomPath(code, seats[1].token));
  await back.state((each) => here(each).length === 2, { from: back.heard.indexOf(state) });
  const dynamo = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } });
  const { Items } = await dynamo.send(new QueryCommand({
    TableName: 'gametable', IndexName: 'GSI1', KeyConditionExpression: 'GSI1PK = :r', ExpressionAttributeValues: { ':r': { S: `ROOM#${code}` } },
  }));
  assert.equal(Items.length, 2, 'connections');
  assert.equal(new Set(Items.map((item) => item.server.S)).size, 1);
  dynamo.destroy();
  assert.equal(await server.stop(), 0);
  await bob.over();

  // An orderly stop leaves none, and nobody who is shown as there.
  server = await startServer({ data });
  const { players } = await (await fetch(`${server.endpoint}/v1/rooms/${code}`)).json();
  assert.deepEqual(players.map(({ connected }) => connected), [false, false, false]);
  assert.equal(await server.stop(), 0);
});

test('a server that stood still for a while is taken for gone, and its players come back with it', async () => {
  const data = path.join(temporaryFolder(), 'data');
  const server = await startServer({ data });
  const rest = await restClient(server.endpoint);
  const { code, seats, lines: [ann] } = await fullRoom(rest, server.endpoint, kauwa, 2);
  const all = ({ players }) => players.every(({ connected }) => connected);
  await ann.state(all);
  const dynamo = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } });
  const query = async (index, pk) => (await dynamo.send(new QueryCommand({
    TableName: 'gametable', IndexName: index, KeyConditionExpression: `${index}PK = :p`, ExpressionAttributeValues: { ':p': { S: pk } },
  }))).Items;
  // What another server would have done meanwhile: the connections go, the seats say so, the lease is marked.
  const update = (PK, SK, UpdateExpression, ExpressionAttributeNames, ExpressionAttributeValues) => dynamo.send(new UpdateItemCommand({
    TableName: 'gametable', Key: { PK: { S: PK }, SK: { S: SK } }, UpdateExpression, ExpressionAttributeNames, ExpressionAttributeValues,
  }));
  for (const { PK, SK } of await query('GSI1', `ROOM#${code}`)) await dynamo.send(new DeleteItemCommand({ TableName: 'gametable', Key: { PK, SK } }));
  for (const { player } of seats) await update(`ROOM#${code}`, `PLAYER#${player}`, 'SET #c = :f', { '#c': 'connected' }, { ':f': { BOOL: false } });
  const [{ owner }] = await query('GSI2', 'SERVERS');
  const from = ann.heard.length;
  await update(`SERVER#${owner.S}`, 'META', 'SET #c = :t', { '#c': 'cleared' }, { ':t': { BOOL: true } });
  await ann.state(all, { from });
  assert.equal((await query('GSI1', `ROOM#${code}`)).length, 2);
  dynamo.destroy();
  rest.close();
  assert.equal(await server.stop(), 0);
});

test('the server stops while lines are open: each is told, and comes back', async () => {
  const data = path.join(temporaryFolder(), 'data');
  let server = await startServer({ data });
  const rest = await restClient(server.endpoint);
  const { lines, seats, code } = await fullRoom(rest, server.endpoint, kauwa, 3);
  rest.close();
  assert.equal(await server.stop(), 0);
  for (const line of lines) assert.deepEqual(await line.over(), { code: 1001, reason: 'the server stops' });
  server = await startServer({ data });
  const again = await openLine(server.endpoint, roomPath(code, seats[1].token));
  const state = await again.state(({ players }) => players.find(({ player }) => player === seats[1].player).connected);
  assert.deepEqual(state.players.filter(({ connected }) => connected).map(({ player }) => player), [seats[1].player]);
  await again.end();
  assert.equal(await server.stop(), 0);
});

test('with access keys: a seat\'s token, a key, a player\'s token', async () => {
  const file = path.join(temporaryFolder(), 'keys.json');
  const printed = execFileSync(program, ['keys', 'add', '--keys', file, '--table', '*', '--allow', 'all'], { encoding: 'utf8' });
  const [, id, secret] = /id\s+(\S+)\nsecret access key\s+(\S+)\n/.exec(printed);
  const server = await startServer({ args: ['--keys', file] });
  const asServer = { headers: { authorization: `Bearer ${id}:${secret}` } };
  const rest = await restClient(server.endpoint, asServer);
  await rest.must('POST', '/players', { id: 'ann', name: 'Ann' });
  const { token: playerToken } = await rest.must('POST', '/players/ann/tokens', {});
  const asAnn = { headers: { authorization: `Bearer ${playerToken}` } };
  const seat = await rest.must('POST', '/rooms', { kind: kauwa, name: 'Ann' }, asAnn);
  assert.equal(seat.player, 'ann');
  await rest.refused(403, 'POST', `/rooms/${seat.room.code}/players`, { name: 'Bob', player: 'bob' }, asAnn);
  await rest.refused(401, 'GET', `/rooms/${seat.room.code}`, undefined, { headers: { authorization: '' } });
  const refused = (status, promise) => assert.rejects(promise, (error) => error.status === status);
  const line = (query) => openLine(server.endpoint, `/v1/rooms/${seat.room.code}/live${query}`);
  await refused(401, line(''));
  await refused(401, line('?key=a:b'));
  await refused(401, line(`?key=${id}:x`));
  await refused(401, line('?player=x'));
  await refused(403, line(`?token=${playerToken}`));
  for (const query of [`?key=${encodeURIComponent(`${id}:${secret}`)}`, `?player=${encodeURIComponent(playerToken)}`]) {
    const looker = await line(query);
    await looker.state(({ room }) => room.code === seat.room.code);
    await looker.refused({ do: 'start' }, /looks on/);
    await looker.end();
  }
  const ann = await line(`?token=${encodeURIComponent(seat.token)}`);
  await ann.ok({ do: 'start' });
  await ann.end();
  await rest.must('POST', '/boards', { id: 'k:all', game: 'k' });
  await refused(401, openLine(server.endpoint, '/v1/boards/k:all/live'));
  await (await openLine(server.endpoint, `/v1/boards/k:all/live?key=${id}:${secret}`)).end();
  assert.equal((await fetch(`${server.endpoint}/v1/boards/k:all/live`)).status, 401);
  rest.close();
  assert.equal(await server.stop(), 0);
});

// The client as Node can take it: without its types.
async function typedClient() {
  const out = path.join(temporaryFolder(), 'client.mjs');
  execFileSync(path.join(root, 'web/node_modules/.bin/esbuild'), [path.join(root, 'web/src/client.ts'), '--format=esm', `--outfile=${out}`], { stdio: 'pipe' });
  return import(pathToFileURL(out));
}

async function becomes(what, ms = 60_000) {
  for (const end = Date.now() + ms; !what(); ) {
    assert.ok(Date.now() < end, `waited in vain for ${what}`);
    await sleep(10);
  }
}

test('the typed client plays, comes back by itself and is brought up to date', async () => {
  const { Client, ApiError } = await typedClient();
  const data = path.join(temporaryFolder(), 'data');
  let server = await startServer({ data });
  const http = `127.0.0.1:${server.port}`;
  const client = new Client({ url: server.endpoint, WebSocket });
  await assert.rejects(client.room('ZZZZZ'), (error) => error instanceof ApiError && error.problem.status === 404);
  const seat = await client.createRoom({ kind: snakes, name: 'Ann', options: { turnSeconds: 60 } });
  const { code } = seat.room;
  const bob = await client.joinRoom(code, { name: 'Bob' });
  const seen = [];
  const told = [];
  const line = client.watchRoom(code, { state: (state) => seen.push(state), status: (status) => told.push(status) }, seat.token);
  const other = client.watchRoom(code, {}, bob.token);
  await becomes(() => line.status === 'open' && other.status === 'open' && seen.length);
  assert.deepEqual(await line.do({ do: 'start' }), { ok: false, reason: 'Bob is not ready yet' });
  assert.deepEqual(await other.do({ do: 'ready', ready: true }), { ok: true, reason: undefined });
  assert.equal((await line.do({ do: 'sync' })).ok, true);
  assert.equal((await line.do({ do: 'start' })).ok, true);
  await becomes(() => seen.at(-1).room.status === 'playing');
  const before = seen.length;
  await server.stop('SIGKILL');
  await becomes(() => line.status === 'lost');
  assert.equal((await line.do({ do: 'sync' })).ok, false);
  server = await startServer({ data, http });
  await becomes(() => line.status === 'open' && other.status === 'open');
  const { turn, turnNumber } = seen.at(-1).room.state;
  await becomes(() => seen.length > before);
  const roller = turn === seat.player ? line : other;
  assert.equal((await roller.do({ do: 'roll', turn: turnNumber })).ok, true);
  await becomes(() => seen.at(-1).room.round === 1);
  assert.deepEqual(told.filter((each) => each !== 'connecting').slice(0, 3), ['open', 'lost', 'open']);
  const boards = [];
  const board = client.watchBoard(`${snakes}:all`, { state: (state) => boards.push(state) }, { limit: 5 });
  await becomes(() => boards.length);
  assert.equal(boards[0].board, `${snakes}:all`);
  assert.equal((await other.do({ do: 'leave' })).ok, true);
  await becomes(() => other.status === 'ended');
  await becomes(() => seen.at(-1).room.status === 'over');
  await becomes(() => boards.at(-1).entries.length);
  line.close();
  board.close();
  assert.equal(await server.stop(), 0);
});
