// Access keys made, changed and revoked through a running server: in the file and in force at once.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';
import { connect } from '../redis/resp.mjs';

const folder = temporaryFolder();
const file = path.join(folder, 'keys.json');
const boss = { id: 'boss', secret: 'boss-secret-0123456789', tables: ['*'], allow: ['read', 'write', 'admin'] };
const reader = { id: 'reader', secret: 'reader-secret-0123456789', tables: ['*'], allow: ['read', 'write'] };
writeFileSync(file, JSON.stringify({ keys: [boss, reader] }), { mode: 0o644 });

let server;
before(async () => {
  server = await startServer({ args: ['--keys', file], env: { GAMETABLE_ACCESS_KEY_ID: 'fromenv', GAMETABLE_SECRET_ACCESS_KEY: 'env-secret-0123456789' } });
});
after(() => server.stop());

const send = async (method, place, { as = boss, body, headers = {} } = {}) => {
  const answer = await fetch(`${server.endpoint}/v1${place}`, {
    method, body: body === undefined ? undefined : JSON.stringify(body),
    headers: { ...(as ? { Authorization: `Bearer ${as.id}:${as.secret}` } : {}), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, json: text ? JSON.parse(text) : undefined };
};
const kept = () => JSON.parse(readFileSync(file, 'utf8')).keys;
const make = async (body) => {
  const { status, json } = await send('POST', '/keys', { body });
  assert.equal(status, 201, JSON.stringify(json));
  return json;
};

test('a key is made with its secret told once, is in the file and good at once', async () => {
  const answer = await send('POST', '/keys', { body: { name: 'phones', allow: ['read'], tables: ['gametable'] } });
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const made = answer.json;
  assert.match(made.id, /^GT[A-Z2-7]{18}$/);
  assert.match(made.secret, /^[\w-]{40}$/);
  assert.deepEqual({ ...made, id: 0, secret: 0 }, { id: 0, secret: 0, name: 'phones', role: 'server', allow: ['read'], tables: ['gametable'] });
  assert.equal(statSync(file).mode & 0o777, 0o600); // it was 644
  assert.deepEqual(kept().map(({ id }) => id), ['boss', 'reader', made.id]); // and none of the environment
  assert.equal((await send('GET', '/boards', { as: made })).status, 200);
  assert.equal((await send('POST', '/boards', { as: made, body: { id: 'x', game: 'x' } })).status, 403);
  const list = (await send('GET', '/keys')).json;
  assert.equal(list.changeable, true);
  assert.ok(list.keys.some(({ id, name }) => id === made.id && name === 'phones'));
  assert.ok(!JSON.stringify(list).includes(made.secret));
});

test('its rights become others at once, and end what it has opened', async () => {
  const made = await make({ allow: ['read', 'write'], tables: ['*'], partitions: ['USER#1', 'BOARD#*'] });
  const redis = await connect(server.redisPort);
  assert.equal(await redis.ask('AUTH', made.id, made.secret), 'OK');
  const ended = new Promise((done) => { redis.socket.once('close', done); });
  const { status, json } = await send('PATCH', `/keys/${made.id}`, { body: { allow: ['read'], partitions: null, name: 'less' } });
  assert.equal(status, 200, JSON.stringify(json));
  assert.deepEqual(json, { id: made.id, name: 'less', role: 'server', allow: ['read'], tables: ['*'] });
  await ended;
  assert.equal((await send('POST', '/boards', { as: made, body: { id: 'x', game: 'x' } })).status, 403);
  assert.deepEqual(kept().find(({ id }) => id === made.id), { id: made.id, secret: made.secret, name: 'less', tables: ['*'], allow: ['read'] });
  assert.equal((await send('DELETE', `/keys/${made.id}`)).status, 204);
  assert.equal((await send('GET', '/boards', { as: made })).status, 401);
  assert.equal((await send('DELETE', `/keys/${made.id}`)).status, 404);
  assert.equal((await send('PATCH', `/keys/${made.id}`, { body: { allow: ['read'] } })).status, 404);
});

test('what gametable keys writes meanwhile stays', async () => {
  const added = spawnSync(program, ['keys', 'add', '--keys', file, '--table', 'game'], { encoding: 'utf8' });
  const id = /access key id +(\S+)/.exec(added.stdout)[1];
  await make({ allow: ['read'], tables: ['other'] });
  assert.ok(kept().some((one) => one.id === id));
  assert.ok((await send('GET', '/keys')).json.keys.some((one) => one.id === id)); // it came in with the change
});

test('many changes at once are all carried out', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, (_, i) => make({ name: `n${i}`, allow: ['read'], tables: ['t*'] })));
  const ids = new Set(kept().map(({ id }) => id));
  assert.ok(made.every(({ id }) => ids.has(id)));
  await Promise.all(made.map(({ id }) => send('DELETE', `/keys/${id}`)));
  assert.ok(kept().every(({ name }) => !/^n\d/.test(name ?? '')));
});

test('only who may administer everything changes keys', async () => {
  const tables = await make({ allow: ['all'], tables: ['game*'] });
  for (const as of [reader, tables, null])
    for (const [method, place, body] of [['POST', '/keys', { allow: ['read'], tables: ['*'] }], ['PATCH', '/keys/reader', { allow: ['all'] }], ['DELETE', '/keys/reader']])
      assert.equal((await send(method, place, { as, body })).status, as ? 403 : 401, `${method} ${place}`);
});

test('what cannot be says why, and changes nothing', async () => {
  const before = readFileSync(file, 'utf8');
  for (const body of [{ tables: ['*'] }, { allow: ['read'] }, { allow: [], tables: ['*'] }, { allow: ['fly'], tables: ['*'] }, { allow: ['read'], tables: ['no blanks'] }, { allow: ['read'], tables: ['*'], secret: 'my own choice 123' }])
    assert.equal((await send('POST', '/keys', { body })).status, 400, JSON.stringify(body));
  const env = await send('DELETE', '/keys/fromenv');
  assert.equal(env.status, 409);
  assert.match(env.json.detail, /environment/);
  assert.equal(readFileSync(file, 'utf8'), before);
});

test('the last key that may administer everything stays', async () => {
  const other = path.join(folder, 'other.json');
  writeFileSync(other, JSON.stringify({ keys: [boss, reader] }), { mode: 0o600 });
  const alone = await startServer({ args: ['--keys', other] });
  const ask = (method, place, body) => fetch(`${alone.endpoint}/v1${place}`, {
    method, body: body && JSON.stringify(body), headers: { Authorization: `Bearer ${boss.id}:${boss.secret}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
  });
  for (const [method, body] of [['DELETE'], ['PATCH', { allow: ['read'] }], ['PATCH', { tables: ['game'] }], ['PATCH', { partitions: ['A'] }]]) {
    const answer = await ask(method, '/keys/boss', body);
    assert.equal(answer.status, 409);
    assert.match((await answer.json()).detail, /make another one first/);
  }
  await ask('POST', '/keys', { allow: ['all'], tables: ['*'] });
  assert.equal((await ask('DELETE', '/keys/boss')).status, 204);
  assert.equal((await ask('GET', '/keys')).status, 401);
  await alone.stop();
});

test('a server without a key file says what to do', async () => {
  for (const env of [{}, { GAMETABLE_ACCESS_KEY_ID: boss.id, GAMETABLE_SECRET_ACCESS_KEY: boss.secret }]) {
    const without = await startServer({ env });
    const headers = { Authorization: `Bearer ${boss.id}:${boss.secret}`, 'Content-Type': 'application/json' };
    const answer = await fetch(`${without.endpoint}/v1/keys`, { method: 'POST', headers, body: JSON.stringify({ allow: ['read'], tables: ['*'] }) });
    assert.equal(answer.status, 409);
    assert.match((await answer.json()).detail, /gametable keys add .* --keys keys\.json/);
    assert.equal((await (await fetch(`${without.endpoint}/v1/keys`, { headers })).json()).changeable, false);
    await without.stop();
  }
});

test('a session of the console shows its secret again, and what it did is in the audit log', async () => {
  const opened = await send('POST', '/console/session', { as: null, body: { id: boss.id, secret: boss.secret } });
  const headers = { Cookie: /^[^;]+/.exec(opened.headers.get('set-cookie'))[0], 'X-Console-Token': opened.json.csrf };
  const body = { name: 'by console', allow: ['read'], tables: ['*'] };
  const before = kept().length;
  for (const more of [{}, { 'X-Key-Secret': 'wrong-secret-0123456789' }, { 'X-Key-Secret': reader.secret }]) {
    const refused = await send('POST', '/keys', { as: null, body, headers: { ...headers, ...more } });
    assert.equal(refused.status, 403);
    assert.match(refused.json.detail, /X-Key-Secret/);
  }
  assert.equal(kept().length, before);
  const made = await send('POST', '/keys', { as: null, body, headers: { ...headers, 'X-Key-Secret': boss.secret } });
  assert.equal(made.status, 201);
  assert.equal((await send('DELETE', `/keys/${made.json.id}`, { as: null, headers: { ...headers, 'X-Key-Secret': boss.secret } })).status, 204);
  let entries = [];
  for (const end = Date.now() + 60_000; entries[0]?.operation !== 'revokeKey' && Date.now() < end;) ({ entries } = (await send('GET', '/audit')).json);
  assert.ok(entries.some(({ operation, who, status }) => operation === 'createKey' && who === 'boss' && status === 201));
  assert.ok(entries.some(({ operation, subject }) => operation === 'revokeKey' && subject.endsWith(made.json.id)));
  assert.ok(!JSON.stringify(entries).includes(made.json.secret));
});

test('a file that cannot be written is told, and the keys stay', async () => {
  mkdirSync(`${file}.new`); // where the new one would be written
  const before = readFileSync(file, 'utf8');
  const answer = await send('POST', '/keys', { body: { allow: ['read'], tables: ['*'] } });
  rmdirSync(`${file}.new`);
  assert.equal(answer.status, 409);
  assert.match(answer.json.detail, /cannot write the key file/);
  assert.equal(readFileSync(file, 'utf8'), before);
  assert.equal((await send('GET', '/keys')).status, 200);
});
