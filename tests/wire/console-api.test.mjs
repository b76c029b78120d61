// What the console's pages ask: a session, history, operations, slow log, tail, audit, keys, settings, clients.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { gunzipSync, inflateSync } from 'node:zlib';
import { createClient } from 'redis';
import { restClient } from '../lib/rest.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';

const secret = '0123456789abcdef';
const keyFile = path.join(temporaryFolder(), 'keys.json');
const key = (id, tables, allow, more = {}) => ({ id, secret: secret + id, tables, allow, ...more });
const writeKeys = (...keys) => writeFileSync(keyFile, JSON.stringify({ keys }), { mode: 0o600 });
const boss = key('boss', ['*'], ['all'], { name: 'the operator' });
const reader = key('reader', ['*'], ['read', 'write']);
const idle = key('idle', ['game'], ['read']);
writeKeys(boss, reader, idle);

let open, closed, rest;
before(async () => {
  open = await startServer({ args: ['--slow', '0ms', '--region', 'eu-test-1'] });
  closed = await startServer({ args: ['--keys', keyFile] });
  rest = await restClient(open.endpoint);
});
after(async () => {
  rest.close();
  assert.equal(await open.stop(), 0);
  assert.equal(await closed.stop(), 0);
});

const send = async (server, method, place, { body, headers = {} } = {}) => {
  const answer = await fetch(`${server.endpoint}${place}`, {
    method, body: body === undefined ? undefined : JSON.stringify(body),
    headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text && /json/.test(answer.headers.get('content-type')) ? JSON.parse(text) : text };
};
const until = async (what, look) => {
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    const seen = await look();
    if (seen) return seen;
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  return assert.fail(`it did not happen: ${what}`);
};
const login = async (id = 'boss', headers = {}) => {
  const answer = await send(closed, 'POST', '/v1/console/session', { body: { id, secret: secret + id }, headers });
  const cookie = /^(gametable-console=[0-9a-f]{64});/.exec(answer.headers.get('set-cookie') ?? '')?.[1];
  return { ...answer, cookie, token: answer.body.csrf };
};
const ddb = (server, operation, body, headers) => send(server, 'POST', '/', {
  body, headers: { 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': `DynamoDB_20120810.${operation}`, ...headers },
});

test('a session is opened by a key that may administer, and by no other', async () => {
  assert.equal((await send(closed, 'GET', '/v1/console/session')).status, 401);
  assert.equal((await send(closed, 'GET', '/v1/history')).status, 401);
  const wrong = await send(closed, 'POST', '/v1/console/session', { body: { id: 'boss', secret: 'no' } });
  assert.equal(wrong.status, 403);
  assert.equal((await login('reader')).status, 403);
  assert.equal((await login('boss', { Origin: 'https://elsewhere.example' })).status, 403);
  const session = await login();
  assert.equal(session.status, 201);
  assert.match(session.headers.get('set-cookie'), /HttpOnly; SameSite=Strict/);
  assert.deepEqual(session.body.key, { id: 'boss', name: 'the operator', role: 'server', allow: ['read', 'write', 'admin'], tables: ['*'] });
  const again = await send(closed, 'GET', '/v1/console/session', { headers: { Cookie: `a=b; ${session.cookie}` } });
  assert.equal(again.status, 200);
  assert.equal(again.body.csrf, session.token);
  assert.doesNotMatch(JSON.stringify([session.body, again.body]), new RegExp(secret));
});

test('the cookie reads; what changes something carries the token; other pages get nothing', async () => {
  const { cookie, token } = await login();
  const Cookie = cookie;
  const made = { id: 'made', game: 'made' };
  assert.equal((await send(closed, 'GET', '/v1/boards', { headers: { Cookie } })).status, 200);
  assert.equal((await send(closed, 'POST', '/v1/boards', { body: made, headers: { Cookie } })).status, 401);
  assert.equal((await send(closed, 'POST', '/v1/boards', { body: made, headers: { Cookie, 'X-Console-Token': 'x'.repeat(64) } })).status, 401);
  assert.equal((await send(closed, 'POST', '/v1/boards', { body: made, headers: { Cookie, 'X-Console-Token': token } })).status, 201);
  for (const headers of [{ Origin: 'https://elsewhere.example' }, { 'Sec-Fetch-Site': 'same-site' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
    const other = await send(closed, 'GET', '/v1/boards', { headers: { Cookie, ...headers } });
    assert.equal(other.status, 401, JSON.stringify(headers));
    assert.equal(other.headers.get('access-control-allow-credentials'), null);
  }
  assert.equal((await send(closed, 'GET', '/v1/boards', { headers: { Cookie, Origin: closed.endpoint, 'Sec-Fetch-Site': 'same-origin' } })).status, 200);
  assert.equal((await ddb(closed, 'ListTables', {}, { Cookie, 'X-Console-Token': token })).status, 200);
  assert.equal((await ddb(closed, 'ListTables', {}, { Cookie })).status, 400);
  assert.equal((await ddb(closed, 'ListTables', {}, { 'X-Console-Token': token })).status, 400);
  assert.equal((await ddb(open, 'ListTables', {}, { 'X-Console-Token': 'open' })).status, 200);
  assert.equal((await send(closed, 'DELETE', '/v1/console/session', { headers: { Cookie } })).status, 403);
  assert.equal((await send(closed, 'DELETE', '/v1/console/session', { headers: { Cookie, 'X-Console-Token': token } })).status, 204);
  assert.equal((await send(closed, 'GET', '/v1/boards', { headers: { Cookie } })).status, 401);
});

test('a key that is taken away ends its sessions and its tail', async () => {
  const { cookie: Cookie } = await login();
  assert.equal((await send(closed, 'GET', '/v1/keys', { headers: { Cookie } })).status, 200);
  const tail = await new Promise((resolve, reject) => {
    http.get(`${closed.endpoint}/v1/tail`, { headers: { Cookie } }, resolve).on('error', reject);
  });
  assert.equal(tail.statusCode, 200);
  const ended = new Promise((resolve) => { tail.on('close', resolve); tail.on('error', () => {}); tail.resume(); });
  writeKeys({ ...boss, secret: `${secret}another` }, reader, idle);
  process.kill(closed.pid, 'SIGHUP');
  await until('the session ends', async () => (await send(closed, 'GET', '/v1/keys', { headers: { Cookie } })).status === 401);
  await ended;
  writeKeys(boss, reader, idle);
  process.kill(closed.pid, 'SIGHUP');
  await until('the key is back', async () => (await login()).status === 201);
});

test('without keys there is nothing to open, and pages of other origins get nothing', async () => {
  assert.deepEqual((await send(open, 'GET', '/v1/console/session')).body, { session: 'open', csrf: '' });
  assert.deepEqual((await send(open, 'POST', '/v1/console/session', { body: { id: 'a', secret: 'b' } })).body, { session: 'open', csrf: '' });
  for (const place of ['/v1/history', '/v1/tail', '/v1/keys', '/v1/console/session', '/metrics', '/console'])
    assert.equal((await send(open, 'GET', place, { headers: { Origin: 'https://elsewhere.example' } })).status, 403, place);
});

test('history by the second and by the minute', async () => {
  const day = await rest.must('GET', '/history?span=day&points=1440');
  assert.equal(day.stepSeconds, 60);
  assert.equal(day.series[0].values.length, 1440);
  const count = () => rest.must('GET', '/boards');
  const found = await until('a second with requests', async () => {
    await count();
    const hour = await rest.must('GET', '/history?points=3600&names=rest.requests,rest.p99,memory.rss');
    assert.deepEqual(hour.series.map(({ name }) => name), ['rest.requests', 'rest.p99', 'memory.rss']);
    assert.equal(hour.series[0].values.length, 3600);
    return hour.series.every(({ values }) => values.some((value) => value > 0)) && hour;
  });
  assert.equal(found.stepSeconds, 1);
  assert.equal((await rest.must('GET', '/history')).series[0].values.length, 360);
  assert.equal((await rest.send('GET', '/history?span=year')).status, 400);
});

test('operations, with percentiles that rise', async () => {
  await rest.must('GET', '/boards');
  const { operations } = await rest.must('GET', '/operations');
  const boards = operations.find(({ frontEnd, operation }) => frontEnd === 'rest' && operation === 'listBoards');
  assert.ok(boards.requests > 0 && boards.bytesOut > 0);
  assert.ok(boards.p50Ms <= boards.p90Ms && boards.p90Ms <= boards.p99Ms && boards.p99Ms <= boards.maxMs);
});

test('the slow log has what all front ends were asked, and no values', async () => {
  const redis = createClient({ url: `redis://127.0.0.1:${open.redisPort}` });
  await redis.connect();
  await rest.must('DELETE', '/slow');
  await redis.zAdd('slow board', { score: 12345, value: 'a member' });
  await redis.quit();
  await ddb(open, 'GetItem', { TableName: 'nothing', Key: { k: { S: 'hidden-value' } } }, { 'X-Console-Token': 'open' });
  let slow;
  const of = (frontEnd, operation) => slow.requests.find((one) => one.frontEnd === frontEnd && one.operation === operation);
  await until('both are noted', async () => {
    slow = await rest.must('GET', '/slow?limit=50');
    return of('redis', 'zadd') && of('dynamodb', 'GetItem');
  });
  assert.equal(slow.thresholdMs, 0);
  assert.equal(of('redis', 'zadd').subject, 'slow board');
  assert.deepEqual([of('dynamodb', 'GetItem').subject, of('dynamodb', 'GetItem').reason], ['nothing', 'ResourceNotFoundException']);
  assert.doesNotMatch(JSON.stringify(slow), /hidden-value|12345|a member/);
});

test('the tail tells requests as they are answered', async () => {
  const tail = await new Promise((resolve, reject) => {
    http.get(`${open.endpoint}/v1/tail`, resolve).on('error', reject);
  });
  assert.match(tail.headers['content-type'], /^text\/event-stream/);
  let text = '';
  tail.setEncoding('utf8').on('data', (part) => { text += part; });
  await until('the first event', () => text.includes('data: '));
  await until('the request is told', async () => {
    await rest.send('GET', '/players/tail-me');
    return text.includes('"subject":"/v1/players/tail-me"');
  });
  const events = text.split('\n\n').filter(Boolean).map((event) => JSON.parse(event.replace(/^data: /, '')));
  const told = events.flatMap(({ requests }) => requests).find(({ subject }) => subject === '/v1/players/tail-me');
  assert.deepEqual([told.frontEnd, told.operation, told.status, told.reason], ['rest', 'getPlayer', 404, 'not-found']);
  tail.destroy();
});

test('the audit log has what operators changed, and not what players did', async () => {
  await rest.must('POST', '/boards', { id: 'audited', game: 'audited' });
  await rest.must('PUT', '/boards/audited/entries/ann', { score: 1 });
  await ddb(open, 'CreateTable', {
    TableName: 'audited-table', BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'k', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'k', AttributeType: 'S' }],
  }, { 'X-Console-Token': 'open' });
  const { entries } = await until('it is noted', async () => {
    const page = await rest.must('GET', '/audit');
    return page.entries[0]?.operation === 'CreateTable' && page;
  });
  assert.deepEqual(entries.slice(0, 2).map(({ operation, subject, status }) => [operation, subject, status]), [
    ['CreateTable', 'audited-table', 200], ['createBoard', '/v1/boards', 201],
  ]);
});

test('the hot partition of a load is found, by reads and by writes', async () => {
  const redis = createClient({ url: `redis://127.0.0.1:${open.redisPort}` });
  await redis.connect();
  for (let i = 0; i < 200; i++) await redis.zAdd(i % 4 === 0 ? `cool${i}` : 'hottest', { score: i, value: `m${i}` });
  await redis.quit();
  const table = { TableName: 'hot-table', BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'k', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'k', AttributeType: 'N' }] };
  assert.equal((await ddb(open, 'CreateTable', table, { 'X-Console-Token': 'open' })).status, 200);
  for (let i = 0; i < 60; i++) await ddb(open, 'GetItem', { TableName: 'hot-table', Key: { k: { N: i % 3 === 0 ? `${i}` : '-1.5' } } }, { 'X-Console-Token': 'open' });
  const { tables } = await rest.must('GET', '/hot');
  assert.match(tables.find((one) => one.table === 'gametable').writes[0].key, /hottest/);
  const [own] = (await rest.must('GET', '/hot?table=hot-table&limit=3')).tables;
  assert.deepEqual([own.reads[0].key, own.reads.length, own.writes.length], ['-1.5', 3, 0]);
  assert.ok(own.reads[0].count >= 20 && own.minutes.length >= 1);
  assert.equal(own.minutes.flatMap(({ reads }) => reads).filter(({ key: name }) => name === '-1.5').length > 0, true);
});

test('consumed capacity by table and operation, and what it would cost', async () => {
  const headers = { 'X-Console-Token': 'open' };
  const table = { TableName: 'cost-table', BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'k', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'k', AttributeType: 'S' }] };
  assert.equal((await ddb(open, 'CreateTable', table, headers)).status, 200);
  for (let i = 0; i < 3; i++) await ddb(open, 'PutItem', { TableName: 'cost-table', Item: { k: { S: 'a' }, v: { S: 'x'.repeat(1500) } } }, headers);
  for (let i = 0; i < 4; i++) await ddb(open, 'GetItem', { TableName: 'cost-table', Key: { k: { S: 'a' } } }, headers);
  const costs = await rest.must('GET', '/costs?writePrice=2&readPrice=1&storagePrice=0');
  const of = (operation) => costs.uses.find((use) => use.table === 'cost-table' && use.operation === operation);
  assert.deepEqual([of('PutItem').writeUnits, of('PutItem').readUnits], [6, 0]);
  assert.deepEqual([of('GetItem').writeUnits, of('GetItem').readUnits], [0, 2]);
  assert.ok(costs.month.total > 0 && Math.abs(costs.month.total - costs.month.reads - costs.month.writes) < 0.01 * costs.month.total);
  assert.equal((await rest.must('GET', '/costs')).prices.region, 'us-east-1');
});

test('answers end with a line, and large ones are packed for who takes them so', async () => {
  assert.ok((await rest.send('GET', '/boards')).text.endsWith('}\n'));
  assert.ok((await rest.send('GET', '/players/nobody')).text.endsWith('}\n'));
  const raw = (accept) => new Promise((resolve, reject) => {
    http.get(`${open.endpoint}/v1/settings`, { headers: accept ? { 'Accept-Encoding': accept } : {} }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part)).on('end', () => resolve({ coding: answer.headers['content-encoding'], body: Buffer.concat(parts) }));
    }).on('error', reject);
  });
  const plain = await raw();
  assert.equal(plain.coding, undefined);
  for (const [accept, unpack] of [['gzip', gunzipSync], ['deflate', inflateSync]]) {
    const packed = await raw(accept);
    assert.equal(packed.coding, accept);
    assert.ok(packed.body.length < plain.body.length / 2);
    assert.deepEqual(unpack(packed.body), plain.body);
  }
});

test('the audit log outlives the server, comes by pages and is nobody\'s to write', async () => {
  const data = temporaryFolder();
  let server = await startServer({ data });
  const ask = (method, place, body) => send(server, method, `/v1${place}`, { body });
  for (let i = 0; i < 7; i++) assert.equal((await ask('POST', '/boards', { id: `kept-${i}`, game: 'kept' })).status, 201);
  assert.equal((await ask('POST', '/players', { id: 'ann' })).status, 201); // what a game's server does all day
  assert.equal((await ask('POST', '/players/ann/tokens', {})).status, 201);
  assert.equal((await ask('DELETE', '/boards/kept-6')).status, 204);
  const all = async (limit) => {
    const entries = [];
    for (let cursor = '', page; cursor !== undefined; cursor = page.next && `&cursor=${page.next}`) {
      page = (await ask('GET', `/audit?limit=${limit}${cursor}`)).body;
      assert.ok(page.entries.length <= limit);
      entries.push(...page.entries);
    }
    return entries;
  };
  const before = await until('the last is noted', async () => {
    const entries = await all(100);
    return entries[0]?.operation === 'deleteBoard' && entries;
  });
  assert.deepEqual(before.map(({ operation, subject }) => `${operation} ${subject}`), ['deleteBoard /v1/boards/kept-6', ...Array(7).fill('createBoard /v1/boards')]);
  await server.stop();
  server = await startServer({ data });
  for (const limit of [1, 3, 8, 50]) assert.deepEqual(await all(limit), before);
  assert.equal((await ask('GET', '/audit?cursor=bm9uc2Vuc2U')).status, 400);
  const { Items } = (await ddb(server, 'Scan', { TableName: 'gametable', FilterExpression: 'begins_with(PK, :a)', ExpressionAttributeValues: { ':a': { S: 'AUDIT#' } } }, { 'X-Console-Token': 'open' })).body;
  assert.equal(Items.length, 8);
  const [{ PK, SK, ttl }] = Items;
  assert.ok(Math.abs(Number(ttl.N) - Date.now() / 1000 - 90 * 86400) < 3600);
  for (const [operation, body] of [
    ['PutItem', { TableName: 'gametable', Item: { PK, SK, who: { S: 'nobody' } } }],
    ['DeleteItem', { TableName: 'gametable', Key: { PK, SK } }],
    ['UpdateItem', { TableName: 'gametable', Key: { PK, SK }, UpdateExpression: 'REMOVE who' }],
  ]) {
    const refused = await ddb(server, operation, body, { 'X-Console-Token': 'open' });
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, /written by the server alone/);
  }
  await server.stop();
});

test('what was answered is in the audit log, whatever happens the moment after', async () => {
  const data = temporaryFolder();
  for (let i = 0; i < 8; i++) {
    const server = await startServer({ data });
    try {
      const { entries } = (await send(server, 'GET', '/v1/audit')).body;
      assert.deepEqual(entries.map(({ operation, status }) => `${operation} ${status}`), Array(i).fill(['CreateTable 200', 'createBoard 201']).flat());
      assert.equal((await send(server, 'POST', '/v1/boards', { body: { id: `b${i}`, game: 'killed' } })).status, 201);
      const made = await ddb(server, 'CreateTable', { TableName: `table-${i}`, BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }], KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] }, { 'X-Console-Token': 'open' });
      assert.equal(made.status, 200);
    } finally {
      await server.stop('SIGKILL');
    }
  }
});

test('keys without secrets, with their last use; settings; clients', async () => {
  const { cookie: Cookie } = await login();
  const { keys } = (await send(closed, 'GET', '/v1/keys', { headers: { Cookie } })).body;
  assert.deepEqual(keys.map(({ id }) => id), ['boss', 'reader', 'idle']);
  assert.ok(Date.parse(keys[0].lastUsed) > Date.now() - 3600_000);
  assert.equal(keys[2].lastUsed, undefined);
  await send(closed, 'GET', '/v1/boards', { headers: { Authorization: `Bearer idle:${secret}idle` } });
  const later = (await send(closed, 'GET', '/v1/keys', { headers: { Cookie } })).body;
  assert.ok(later.keys[2].lastUsed);
  assert.doesNotMatch(JSON.stringify(later), new RegExp(secret));
  const { settings } = await rest.must('GET', '/settings');
  const region = settings.find(({ name }) => name === 'region');
  assert.deepEqual([region.value, region.from], ['eu-test-1', 'command line']);
  const redis = createClient({ url: `redis://127.0.0.1:${open.redisPort}`, name: 'looked-at' });
  await redis.connect();
  const { clients } = await rest.must('GET', '/clients');
  assert.ok(clients.some(({ name, address }) => name === 'looked-at' && address.startsWith('127.0.0.1:')));
  await redis.quit();
});
