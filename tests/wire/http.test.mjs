// The wire itself: headers, checksums, compression, CORS, and everything a broken or hostile client may send.
// After each abuse a normal request still works and nothing has changed.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import test, { after, afterEach, before } from 'node:test';
import { deflateRawSync, deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import { rawClient } from '../lib/raw.mjs';
import { startServer } from '../lib/server.mjs';

const TableName = 'things';
const schema = {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
};
const kept = { id: { S: 'kept' }, n: { N: '1' } };
let server, client;
before(async () => {
  server = await startServer();
  client = rawClient(server.endpoint);
  await client.must('CreateTable', schema);
  await client.must('PutItem', { TableName, Item: kept });
});
afterEach(async () => {
  const { Items } = await client.must('Scan', { TableName });
  assert.deepEqual(Items, [kept], 'it still answers, and nothing changed');
});
after(async () => {
  client.close();
  assert.equal(await server.stop(), 0);
});

// node:zlib has no crc32 before 22.
const crcTable = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n >>> 0;
});
const crc32 = (bytes) => (bytes.reduce((crc, byte) => (crc >>> 8) ^ crcTable[(crc ^ byte) & 255], -1) ^ -1) >>> 0;

const authorization = 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=00';
const signed = {
  'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': 'DynamoDB_20120810.ListTables', 'X-Amz-Date': '20260101T000000Z', Authorization: authorization,
};
const without = (...names) => Object.fromEntries(Object.entries(signed).filter(([name]) => !names.includes(name)));
const lines = (headers) => Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('');
// A request as text. `body` is what follows the headers; its length is told unless headers tell it.
const request = (body = '{}', headers = {}, first = 'POST / HTTP/1.1') => {
  const all = { Host: 'localhost', ...signed, ...headers };
  if (!('Content-Length' in all) && !('Transfer-Encoding' in all)) all['Content-Length'] = Buffer.byteLength(body);
  return `${first}\r\n${lines(all)}\r\n${body}`;
};

// Reads answers off the front of the bytes; what is not whole stays.
function answersIn(bytes) {
  const answers = [];
  for (;;) {
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) return answers;
    const [first, ...rest] = bytes.subarray(0, end).toString().split('\r\n');
    const headers = Object.fromEntries(rest.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]));
    const status = Number(first.split(' ')[1]);
    const size = status < 200 ? 0 : Number(headers['content-length'] ?? 0);
    if (bytes.length < end + 4 + size) return answers;
    answers.push({ status, headers, body: bytes.subarray(end + 4, end + 4 + size) });
    bytes = bytes.subarray(end + 4 + size);
  }
}
// A bare socket: write what you like, wait for answers or for the end.
function dial(port = server.port) {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let bytes = Buffer.alloc(0);
  let over = false;
  const woken = new Set();
  const wake = () => { for (const look of woken) look(); };
  socket.on('data', (part) => { bytes = Buffer.concat([bytes, part]); wake(); });
  socket.on('error', () => {});
  socket.on('end', () => { over = true; wake(); socket.end(); });
  socket.on('close', () => { over = true; wake(); });
  const until = (done, what, ms) => new Promise((resolve, reject) => {
    const timer = setTimeout(() => finish(reject, new Error(`no ${what} within ${ms} ms; got ${JSON.stringify(bytes.toString('latin1').slice(0, 300))}`)), ms);
    const finish = (settle, value) => { clearTimeout(timer); woken.delete(look); settle(value); };
    const look = () => {
      if (done()) finish(resolve, answersIn(bytes));
      else if (over) finish(reject, new Error(`it hung up before ${what}; got ${JSON.stringify(bytes.toString('latin1').slice(0, 300))}`));
    };
    woken.add(look);
    look();
  });
  return {
    socket,
    write: (data) => socket.write(data),
    answers: (count, ms = 60_000) => until(() => answersIn(bytes).length >= count, `${count} answers`, ms),
    closed: (ms = 60_000) => until(() => over, 'end', ms),
    destroy: () => socket.destroy(),
  };
}
const talk = async (text, count = 1) => {
  const line = dial();
  line.write(text);
  const answers = await line.answers(count);
  line.destroy();
  return count === 1 ? answers[0] : answers;
};

test('each answer has its own request id, a checksum of its bytes, and the type it was asked in', async () => {
  const ids = new Set();
  for (const type of ['application/x-amz-json-1.0', 'application/x-amz-json-1.1', 'application/json'])
    for (const [operation, input, status] of [['ListTables', {}, 200], ['DescribeTable', { TableName: 'none' }, 400], ['GetItem', {}, 400]]) {
      const answer = await client.call(operation, input, { 'Content-Type': type });
      assert.equal(answer.status, status);
      assert.match(answer.headers['x-amzn-requestid'], /^[A-Z0-9]{52}$/);
      ids.add(answer.headers['x-amzn-requestid']);
      assert.equal(answer.headers['x-amz-crc32'], String(crc32(answer.body)));
      assert.equal(answer.headers['content-type'], type);
      assert.equal(answer.headers['content-length'], String(answer.body.length));
      assert.ok(!Number.isNaN(Date.parse(answer.headers.date)));
    }
  assert.equal(ids.size, 9);
  const charset = await client.call('ListTables', {}, { 'Content-Type': 'application/x-amz-json-1.0; charset=utf-8' });
  assert.equal(charset.status, 200);
  const put = await client.call('PutItem', { TableName, Item: kept });
  assert.equal(put.body.toString(), '{}');
  assert.equal(put.headers['x-amz-crc32'], '2745614147');
});

test('error shapes: the type says whose error it is', async () => {
  for (const [operation, input, type, message] of [
    ['DescribeTable', { TableName: 'none' }, 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException', 'Requested resource not found: Table: none not found'],
    ['GetItem', { TableName: 'none', Key: { id: { S: 'a' } } }, 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException', 'Requested resource not found'],
    ['CreateTable', schema, 'com.amazonaws.dynamodb.v20120810#ResourceInUseException', 'Table already exists: things'],
    ['PutItem', { TableName, Item: kept, ConditionExpression: 'attribute_not_exists(id)' }, 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException', 'The conditional request failed'],
    ['PutItem', { TableName, Item: { n: { N: '1' } } }, 'com.amazon.coral.validate#ValidationException', 'One or more parameter values were invalid: Missing the key id in the item'],
  ]) {
    const answer = await client.call(operation, input);
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.json, { __type: type, message });
  }
});

test('answers over 4 KB are compressed when the client takes it, and only then', async () => {
  const heavy = 'heavy';
  await client.must('CreateTable', { ...schema, TableName: heavy });
  const text = 'all work and no play '.repeat(400);
  const Item = { id: { S: 'a' }, text: { S: text } };
  await client.must('PutItem', { TableName: heavy, Item });
  const ask = (headers) => client.send(JSON.stringify({ TableName: heavy, Key: { id: { S: 'a' } } }), { ...signed, 'X-Amz-Target': 'DynamoDB_20120810.GetItem', ...headers });
  const plain = await ask({});
  assert.equal(plain.headers['content-encoding'], undefined);
  assert.deepEqual(JSON.parse(plain.body), { Item });
  assert.equal(plain.headers['x-amz-crc32'], String(crc32(plain.body)));
  for (const accepted of ['gzip', 'gzip, deflate, br', 'identity, gzip;q=0.5']) {
    const packed = await ask({ 'Accept-Encoding': accepted });
    assert.equal(packed.headers['content-encoding'], 'gzip', accepted);
    assert.ok(packed.body.length < plain.body.length / 4);
    assert.equal(packed.headers['x-amz-crc32'], String(crc32(packed.body)), 'of the bytes as sent');
    assert.deepEqual(gunzipSync(packed.body), plain.body);
  }
  for (const accepted of ['identity', 'x-gzip', 'gzip;q=0', 'br'])
    assert.equal((await ask({ 'Accept-Encoding': accepted })).headers['content-encoding'], undefined, accepted);
  for (const accepted of ['deflate', 'gzip;q=0, Deflate']) {
    const packed = await ask({ 'Accept-Encoding': accepted });
    assert.equal(packed.headers['content-encoding'], 'deflate', accepted);
    assert.equal(packed.headers['x-amz-crc32'], String(crc32(packed.body)));
    assert.deepEqual(inflateSync(packed.body), plain.body);
  }
  const small = await client.call('ListTables', {}, { 'Accept-Encoding': 'gzip' });
  assert.equal(small.headers['content-encoding'], undefined);
  await client.must('DeleteTable', { TableName: heavy });
});

test('gzipped and deflated requests are read; broken, cut and exploding ones are refused', async () => {
  const input = JSON.stringify({ TableName, Key: { id: { S: 'kept' } } });
  const headers = { ...signed, 'X-Amz-Target': 'DynamoDB_20120810.GetItem', 'Content-Encoding': 'gzip' };
  const good = await client.send(gzipSync(input), headers);
  assert.deepEqual(JSON.parse(good.body), { Item: kept });
  const whole = gzipSync(input);
  const members = Buffer.concat([gzipSync(input.slice(0, 9)), gzipSync(''), gzipSync(input.slice(9))]);
  for (const [coding, body] of [['gzip', members], ['GZIP', whole], ['deflate', deflateSync(input)], ['deflate', deflateRawSync(input)], ['identity', input]])
    assert.deepEqual(JSON.parse((await client.send(body, { ...headers, 'Content-Encoding': coding })).body), { Item: kept }, coding);
  for (const coding of ['br', 'x-gzip', 'gzip, gzip', 'hello'])
    assert.equal((await client.send(whole, { ...headers, 'Content-Encoding': coding })).status, 500, coding);
  for (const bad of [Buffer.alloc(0), Buffer.concat([whole, Buffer.from('x')]), Buffer.from(input), whole.subarray(0, whole.length - 9), Buffer.concat([whole.subarray(0, 12), Buffer.alloc(20, 0xff)])]) {
    const answer = await client.send(bad, headers);
    assert.equal(answer.status, 500);
    assert.match(JSON.parse(answer.body).__type, /#InternalFailure$/);
  }
  const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, 0x20), { level: 1 });
  const answer = await client.send(bomb, { ...headers, 'X-Amz-Target': 'DynamoDB_20120810.PutItem' });
  assert.equal(answer.status, 413);
});

test('CORS: a preflight is answered, and answers to another origin may be read', async () => {
  const preflight = await client.send('', {
    Origin: 'http://localhost:5173', 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization,x-amz-target,content-type',
  }, 'OPTIONS');
  assert.equal(preflight.status, 200);
  assert.equal(preflight.headers['access-control-allow-origin'], '*');
  assert.equal(preflight.headers['access-control-allow-headers'], 'authorization,x-amz-target,content-type');
  assert.equal(preflight.headers['access-control-allow-methods'], 'POST');
  assert.equal(preflight.headers['access-control-max-age'], '172800');
  assert.match(preflight.headers['x-amzn-requestid'], /^[A-Z0-9]{52}$/);
  assert.equal(preflight.body.length, 0);
  for (const input of [{}, { Limit: 0 }]) {
    const answer = await client.call('ListTables', input, { Origin: 'http://localhost:5173' });
    assert.equal(answer.headers['access-control-allow-origin'], '*');
  }
  assert.equal((await client.call('ListTables', {})).headers['access-control-allow-origin'], undefined);
  for (const path of ['/', '/v1/boards']) {
    const { headers } = await client.send('', { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'x' }, 'OPTIONS', path);
    assert.deepEqual(Object.keys(headers).filter((name) => name.startsWith('access-control')), [], `${path} without an Origin`);
  }
});

test('every answer says what it comes from; a long line or long headers are refused', async () => {
  assert.equal((await client.call('ListTables', {})).headers.server, 'gametable');
  const ask = (path, headers = {}) => client.send('', headers, 'GET', path);
  assert.equal((await ask(`/healthz?${'x'.repeat(16000)}`)).status, 200);
  assert.equal((await ask('/healthz', { 'X-Long': 'x'.repeat(16000) })).status, 200);
  assert.equal((await ask(`/healthz?${'x'.repeat(16 * 1024)}`)).status, 400);
  assert.equal((await ask('/healthz', { 'X-Long': 'x'.repeat(16 * 1024) })).status, 400);
});

test('pages of other sites are kept out of a server without keys', async () => {
  const table = { TableName: 'kept-from-pages', BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }] };
  await client.must('CreateTable', table);
  for (const headers of [{ Origin: 'https://evil.example' }, { Origin: 'null' }, { Host: 'evil.example' },
    { Host: 'evil.example', Origin: 'http://evil.example' }, { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }]) {
    const answer = await client.call('DeleteTable', { TableName: table.TableName }, headers);
    assert.equal(answer.status, 403, JSON.stringify(headers));
    assert.match(answer.json.__type, /#AccessDeniedException$/);
    assert.match(answer.json.message, /--origins/);
    assert.equal(answer.headers['access-control-allow-origin'], undefined);
    for (const [method, path] of [['OPTIONS', '/'], ['GET', '/v1/boards'], ['POST', '/admin/clock'], ['GET', '/healthz']])
      assert.equal((await client.send('', headers, method, path)).status, 403, `${method} ${path}`);
  }
  await client.must('DescribeTable', { TableName: table.TableName });
  for (const headers of [{ Host: 'localhost' }, { Host: 'game.localhost:99' }, { Origin: 'http://localhost:5173' }])
    assert.equal((await client.call('DescribeTable', { TableName: table.TableName }, headers)).status, 200, JSON.stringify(headers));
  await client.must('DeleteTable', { TableName: table.TableName });
});

test('health: GET / and /healthz; other paths and methods are told so', async () => {
  const healthy = await client.send('', { Host: 'table.localhost:8000' }, 'GET');
  assert.equal(healthy.status, 200);
  assert.match(healthy.body.toString(), /^healthy: table\.localhost:8000\s*$/);
  const health = await client.send('', {}, 'GET', '/healthz');
  assert.equal(health.status, 200);
  assert.equal((await client.send('', {}, 'GET', '/nowhere')).status, 404);
  assert.equal((await client.send('{}', signed, 'POST', '/nowhere')).status, 404);
  assert.equal((await client.send('', {}, 'GET', '/healthz?verbose')).status, 200);
  for (const method of ['PUT', 'DELETE', 'PATCH']) assert.ok([404, 405].includes((await client.send('', {}, method)).status), method);
  assert.equal((await client.send('{}', signed, 'POST', '/?x=y')).status, 200, 'a query does not matter');
});

test('HEAD answers carry the length but no body', async () => {
  const line = dial();
  let bytes = Buffer.alloc(0);
  line.socket.on('data', (part) => { bytes = Buffer.concat([bytes, part]); });
  line.write('HEAD /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  await line.closed();
  assert.match(bytes.toString(), /^HTTP\/1\.1 200 /);
  assert.ok(bytes.toString().endsWith('\r\n\r\n'), bytes.toString());
});

test('unknown and missing targets, types and credentials', async () => {
  const unknown = { __type: 'com.amazon.coral.service#UnknownOperationException' };
  for (const target of ['DynamoDB_20120810.ListTable', 'DynamoDB_20111205.ListTables', 'whatever', '', 'DynamoDB_20120810.', 'DynamoDB_20120810.listtables']) {
    const answer = await client.send('{}', { ...signed, 'X-Amz-Target': target });
    assert.equal(answer.status, 400);
    assert.deepEqual(JSON.parse(answer.body), unknown, target);
  }
  assert.deepEqual(JSON.parse((await client.send('{}', without('X-Amz-Target'))).body), unknown);
  for (const headers of [without('Content-Type'), { ...signed, 'Content-Type': 'text/plain' }]) {
    const answer = await client.send('{}', headers);
    assert.equal(answer.status, 404);
    assert.equal(answer.body.toString(), '<UnknownOperationException/>\n');
    assert.equal(answer.headers['x-amz-crc32'], '3552371480');
  }
  for (const [headers, name, message] of [
    [without('Authorization'), 'MissingAuthenticationTokenException', 'Request is missing Authentication Token'],
    [{ ...signed, Authorization: 'AWS4' }, 'MissingAuthenticationTokenException', 'Request is missing Authentication Token'],
    [{ ...signed, Authorization: 'Basic YTpi' }, 'MissingAuthenticationTokenException', 'Request is missing Authentication Token'],
    [{ ...without('X-Amz-Date'), Authorization: 'AWS4-' }, 'IncompleteSignatureException',
      "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. " +
      "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4-"],
  ]) {
    const answer = await client.send('{}', headers);
    assert.equal(answer.status, 400);
    assert.deepEqual(JSON.parse(answer.body), { __type: `com.amazon.coral.service#${name}`, message });
  }
});

test('malformed JSON is a SerializationException without a message', async () => {
  for (const body of ['', 'hi', '{', '{"TableName":"things"', '{"TableName":"things"}}', '{"TableName":"things",}', "{'a':1}", '{"a":01}', '{"a":"\n"}', '{"a":"\\ud800"', '\u0000', '[}', 'nul',
    `${'['.repeat(100000)}`, '{"TableName":"things" "Item":{}}', '{"a":1e}', '{"a":"\\x"}', '[]', '"text"', '1', Buffer.from('{"TableName":"\xff\xfe"}', 'latin1')]) {
    const answer = await client.send(body, { ...signed, 'X-Amz-Target': 'DynamoDB_20120810.PutItem' });
    assert.equal(answer.status, 400, String(body).slice(0, 40));
    assert.deepEqual(JSON.parse(answer.body), { __type: 'com.amazon.coral.service#SerializationException' }, String(body).slice(0, 40));
  }
});

test('wrong types are SerializationExceptions with the words of the service', async () => {
  const id = { S: 'new' };
  for (const [operation, input, message] of [
    ['PutItem', { TableName: 1 }, 'NUMBER_VALUE cannot be converted to String'],
    ['PutItem', { TableName: 1.5 }, 'DECIMAL_VALUE cannot be converted to String'],
    ['PutItem', { TableName: true }, 'TRUE_VALUE cannot be converted to String'],
    ['PutItem', { TableName: [] }, 'Unrecognized collection type class java.lang.String'],
    ['PutItem', { TableName: {} }, 'Start of structure or map found where not expected'],
    ['PutItem', { TableName, Item: 'a' }, 'Unexpected field type'],
    ['PutItem', { TableName, Item: [] }, 'Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>'],
    ['PutItem', { TableName, Item: { id: 'new' } }, 'Unexpected value type in payload'],
    ['PutItem', { TableName, Item: { id, n: { N: 123 } } }, 'NUMBER_VALUE cannot be converted to String'],
    ['PutItem', { TableName, Item: { id, n: { S: false } } }, 'FALSE_VALUE cannot be converted to String'],
    ['PutItem', { TableName, Item: { id, n: { BOOL: 'maybe' } } }, 'Unexpected token received from parser'],
    ['PutItem', { TableName, Item: { id, n: { SS: 'a' } } }, 'Unexpected field type'],
    ['PutItem', { TableName, Item: { id, n: { L: {} } } }, 'Start of structure or map found where not expected'],
    ['Scan', { TableName, Limit: 'ten' }, 'STRING_VALUE cannot be converted to Integer'],
    ['Scan', { TableName, ConsistentRead: 'maybe' }, 'Unexpected token received from parser'],
    ['CreateTable', { ...schema, KeySchema: { AttributeName: 'id' } }, 'Start of structure or map found where not expected'],
  ]) {
    const answer = await client.call(operation, input);
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.json, { __type: 'com.amazon.coral.service#SerializationException', Message: message }, JSON.stringify(input));
  }
  const base64 = await client.call('PutItem', { TableName, Item: { id, b: { B: '####' } } });
  assert.equal(base64.status, 400);
  assert.match(base64.json.__type, /#SerializationException$/);
});

test('bodies over the limit: 413, told or chunked, without taking them in', async () => {
  const told = await talk(request('', { 'Content-Length': 1024 * 1024 * 1024 }));
  assert.equal(told.status, 413);
  const line = dial();
  line.write(request('', { 'Transfer-Encoding': 'chunked' }));
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000, 0x20), Buffer.from('\r\n')]);
  for (let i = 0; i < 20 && !line.socket.destroyed; i++)
    if (!line.write(chunk)) await new Promise((resolve) => { line.socket.once('drain', resolve); line.socket.once('close', resolve); line.socket.once('end', resolve); setTimeout(resolve, 500); });
  const [answer] = await line.answers(1);
  assert.equal(answer.status, 413);
  line.destroy();
  // the largest that is allowed is read: it is only not what a request looks like
  const largest = await client.send(Buffer.alloc(16 * 1024 * 1024, 0x20), { ...signed, 'X-Amz-Target': 'DynamoDB_20120810.PutItem' });
  assert.equal(largest.status, 400);
});

test('a truncated body changes nothing', async () => {
  const put = JSON.stringify({ TableName, Item: { id: { S: 'half' } } });
  const target = { 'X-Amz-Target': 'DynamoDB_20120810.PutItem' };
  for (const text of [
    request(put.slice(0, -5), { ...target, 'Content-Length': put.length }),
    request(`${put.length.toString(16)}\r\n${put.slice(0, 20)}`, { ...target, 'Transfer-Encoding': 'chunked' }),
    request(`${put.length.toString(16)}\r\n${put}\r\n`, { ...target, 'Transfer-Encoding': 'chunked' }),
    request(put, target).slice(0, 60),
  ]) {
    const line = dial();
    line.write(text);
    line.socket.end();
    const answers = await line.closed();
    assert.ok(answers.every(({ status }) => status === 400 || status === 408), JSON.stringify(answers));
    line.destroy();
    const reset = dial();
    reset.write(text);
    await new Promise((resolve) => setTimeout(resolve, 20));
    reset.socket.resetAndDestroy();
  }
});

test('slow senders are cut off, and do not hold up others', async () => {
  const slow = await startServer({ args: ['--request-timeout', '5s', '--idle-timeout', '6s'] });
  const other = rawClient(slow.endpoint);
  let cut = 0;
  const halves = Array.from({ length: 50 }, (_, i) => {
    const line = dial(slow.port);
    line.write(i % 2 ? request('{"a":', { 'Content-Length': 100 }) : 'POST / HTTP/1.1\r\nHost: localhost\r\nX-A');
    line.socket.on('end', () => { cut++; });
    return line;
  });
  const drip = dial(slow.port);
  const timer = setInterval(() => drip.write('x'), 50);
  drip.write('POST / HTTP/1.1\r\nHost: localhost\r\nX-Drip: ');
  await other.must('ListTables', {});
  assert.ok(cut < halves.length, 'it was answered before they were cut off');
  for (const line of [...halves, drip]) { // that would never end by themselves
    const answers = await line.closed();
    assert.equal(answers[0]?.status, 408);
    line.destroy();
  }
  clearInterval(timer);
  const idle = dial(slow.port);
  assert.deepEqual(await idle.closed(), [], 'a connection that never speaks is closed without a word');
  idle.destroy();
  await other.must('ListTables', {});
  other.close();
  assert.equal(await slow.stop(), 0);
});

test('pipelined requests are answered in order, also when they come byte by byte', async () => {
  const get = request(JSON.stringify({ TableName, Key: { id: { S: 'kept' } } }), { 'X-Amz-Target': 'DynamoDB_20120810.GetItem' });
  const bad = request('{', {});
  const list = request('{}');
  const answers = await talk([get, bad, list, get, get, list].join(''), 6);
  assert.deepEqual(answers.map(({ status }) => status), [200, 400, 200, 200, 200, 200]);
  assert.ok(JSON.parse(answers[0].body).Item && JSON.parse(answers[2].body).TableNames && JSON.parse(answers[5].body).TableNames);
  const many = await talk(get.repeat(500), 500);
  assert.ok(many.every(({ status }) => status === 200));
  const line = dial();
  line.socket.setNoDelay(true);
  for (const byte of get + list) {
    line.write(byte);
    await new Promise(setImmediate);
  }
  assert.deepEqual((await line.answers(2)).map(({ status }) => status), [200, 200]);
  line.destroy();
});

test('chunked bodies, 100-continue, HTTP/1.0, Connection: close', async () => {
  const input = JSON.stringify({ TableName, Key: { id: { S: 'kept' } } });
  const chunks = [...input].map((c) => `1;ext=1\r\n${c}\r\n`).join('') + '0\r\nTrailer: x\r\n\r\n';
  const target = { 'X-Amz-Target': 'DynamoDB_20120810.GetItem' };
  const chunked = await talk(request(chunks, { ...target, 'Transfer-Encoding': 'chunked' }));
  assert.deepEqual(JSON.parse(chunked.body), { Item: kept });

  const line = dial();
  line.write(request('', { ...target, Expect: '100-continue', 'Content-Length': input.length }));
  assert.equal((await line.answers(1))[0].status, 100);
  line.write(input);
  assert.equal((await line.answers(2))[1].status, 200);
  line.destroy();

  for (const [first, headers] of [['POST / HTTP/1.0', {}], ['POST / HTTP/1.1', { Connection: 'close' }]]) {
    const last = dial();
    last.write(request(input, { ...target, ...headers }, first));
    const answers = await last.closed();
    assert.equal(answers.length, 1);
    assert.equal(answers[0].status, 200);
    assert.equal(answers[0].headers.connection, 'close');
    last.destroy();
  }
});

test('what is not HTTP, or bad HTTP, is refused with a 4xx and a closed connection', async () => {
  const input = '{}';
  for (const text of [
    'hello\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    '*1\r\n$4\r\nPING\r\n',
    'GET\r\n\r\n',
    'POST / HTTP/9.9\r\nHost: localhost\r\n\r\n',
    'POST / HTTP/1.1\r\nno colon here\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: localhost\r\nHost: y\r\nContent-Length: 0\r\n\r\n',
    request(input, { 'Content-Length': '-1' }),
    request(input, { 'Content-Length': '2, 3' }),
    request(input, { 'Content-Length': '99999999999999999999999' }),
    request(input, { 'Content-Length': 2, 'Transfer-Encoding': 'chunked' }),
    request('zz\r\n{}\r\n0\r\n\r\n', { 'Transfer-Encoding': 'chunked' }),
    request('ffffffffffffffffff\r\n{}\r\n0\r\n\r\n', { 'Transfer-Encoding': 'chunked' }),
    request(input, { 'X-Long': 'x'.repeat(64 * 1024) }),
    request(input, Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`X-${i}`, '1']))),
    `POST /${'x'.repeat(64 * 1024)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    request(input, { 'X-Fold': 'a\r\n b' }),
    request(input, { 'X-Null': 'a\u0000b' }),
  ]) {
    const line = dial();
    line.write(Buffer.from(text, 'latin1'));
    const answers = await line.closed().catch((error) => { throw new Error(`${JSON.stringify(text.slice(0, 80))}: ${error.message}`); });
    assert.equal(answers.length, 1, JSON.stringify(text.slice(0, 80)));
    assert.ok(answers[0].status >= 400 && answers[0].status < 600, JSON.stringify(text.slice(0, 80)));
    assert.equal(answers[0].headers.connection, 'close');
    line.destroy();
  }
});

test('hundreds of connections at once', async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 400 });
  const body = JSON.stringify({ TableName, Key: { id: { S: 'kept' } } });
  const one = () => new Promise((resolve, reject) => {
    const sent = http.request(server.endpoint, { agent, method: 'POST', headers: { ...signed, 'X-Amz-Target': 'DynamoDB_20120810.GetItem' } }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
    });
    sent.on('error', reject);
    sent.end(body);
  });
  const statuses = await Promise.all(Array.from({ length: 2000 }, one));
  assert.ok(statuses.every((status) => status === 200));
  agent.destroy();
});

test('past the limit of connections one more is told 503, and there is room again after', async () => {
  const small = await startServer({ args: ['--max-connections', '5'] });
  const open = Array.from({ length: 5 }, () => dial(small.port));
  for (const line of open) {
    line.write(request());
    assert.equal((await line.answers(1))[0].status, 200);
  }
  for (let i = 0; i < 3; i++) {
    const more = dial(small.port);
    more.write(request());
    assert.equal((await more.closed())[0].status, 503);
    more.destroy();
  }
  open[0].write(request());
  assert.equal((await open[0].answers(2))[1].status, 200, 'those inside go on');
  open.pop().destroy();
  let status = 503;
  for (let i = 0; i < 3000 && status === 503; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const next = dial(small.port);
    next.write(request());
    status = (await next.answers(1))[0].status;
    next.destroy();
  }
  assert.equal(status, 200);
  for (const line of open) line.destroy();
  assert.equal(await small.stop(), 0);
});

test('clients that vanish in the middle of answers do no harm', async () => {
  const get = request(JSON.stringify({ TableName, Key: { id: { S: 'kept' } } }), { 'X-Amz-Target': 'DynamoDB_20120810.GetItem' });
  for (let i = 0; i < 40; i++) {
    const line = dial();
    line.write(get.repeat(50));
    if (i % 2) await line.answers(1);
    line.socket.resetAndDestroy();
  }
});
