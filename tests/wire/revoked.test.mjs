// A key that is revoked, or has other rights now, ends what it has opened: at SIGHUP, whatever waits.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { openLine } from '../lib/live.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';
import { connect } from '../redis/resp.mjs';

const file = path.join(temporaryFolder(), 'keys.json');
const key = (id, more = {}) => ({ id, secret: `${id}-secret-0123456789`, tables: ['*'], allow: ['read', 'write'], ...more });
const writeKeys = (...keys) => writeFileSync(file, JSON.stringify({ keys }), { mode: 0o600 });

// Everything that a key can open and keep open; each resolves when it has ended.
async function openAll(server, { id, secret }) {
  const headers = { Authorization: `Bearer ${id}:${secret}` };
  const made = await fetch(`${server.endpoint}/v1/rooms`, {
    method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify({ kind: 'kauwa-udd', player: 'ann', name: 'Ann' }),
  });
  const text = await made.text();
  assert.equal(made.status, 201, text);
  const { code } = JSON.parse(text).room;
  const idle = await connect(server.redisPort), blocked = await connect(server.redisPort);
  for (const client of [idle, blocked]) assert.equal(await client.ask('AUTH', id, secret), 'OK');
  assert.equal(await idle.ask('PING'), 'PONG');
  await blocked.ask('PING');
  blocked.ask('BZPOPMIN', `nothing-${id}`, '0').catch(() => {});
  const board = await openLine(server.endpoint, '/v1/boards/all/live', { headers });
  const room = await openLine(server.endpoint, `/v1/rooms/${code}/live`, { headers });
  const events = await new Promise((resolve, reject) => {
    http.get(`${server.endpoint}/v1/boards/all/live`, { headers }, resolve).on('error', reject);
  });
  events.resume();
  await once(events, 'data');
  const lines = { idle: once(idle.socket, 'close'), blocked: once(blocked.socket, 'close'), events: once(events, 'close') };
  const over = { board: board.over(60_000), room: room.over(60_000) };
  for (const waits of Object.values(over)) waits.catch(() => {});
  return { idle, blocked, board, room, events, lines, over };
}

test('SIGHUP ends what revoked and changed keys have opened, and nothing else', async () => {
  const [kept, revoked, changed, renewed, operator] = ['kept', 'revoked', 'changed', 'renewed', 'operator'].map((id) => key(id));
  operator.allow = ['read', 'write', 'admin'];
  writeKeys(kept, revoked, changed, renewed, operator);
  const server = await startServer({ args: ['--keys', file] });
  const headers = { Authorization: `Bearer ${operator.id}:${operator.secret}`, 'Content-Type': 'application/json' };
  await fetch(`${server.endpoint}/v1/boards`, { method: 'POST', headers, body: '{"id":"all","game":"g"}' });
  const opened = {};
  for (const each of [kept, revoked, changed, renewed]) opened[each.id] = await openAll(server, each);
  // All four wait before the keys change.
  const watcher = await connect(server.redisPort);
  assert.equal(await watcher.ask('AUTH', operator.id, operator.secret), 'OK');
  while (!/blocked_clients:4\r/.test(await watcher.ask('INFO', 'clients')));

  writeKeys(kept, key('changed', { allow: ['read'] }), { ...renewed, secret: 'another-secret-0123456789' }, operator);
  process.kill(server.pid, 'SIGHUP');
  for (const id of ['revoked', 'changed', 'renewed']) {
    const { lines, over } = opened[id];
    await Promise.all(Object.values(lines));
    for (const waits of Object.values(over)) assert.equal((await waits).code, 4002);
  }
  const { idle, blocked, board, room, events } = opened.kept;
  assert.equal(await idle.ask('ZADD', 'nothing-kept', '1', 'a'), 1);
  assert.equal(board.closed, undefined);
  assert.equal(room.closed, undefined);
  assert.equal(events.closed, false);
  while (!/connected_clients:3\r[^]*blocked_clients:0\r/.test(await watcher.ask('INFO', 'clients')));
  for (const client of [idle, blocked, watcher]) client.close();
  events.destroy();
  await board.end();
  await room.end();
  assert.equal(await server.stop(), 0);
});
