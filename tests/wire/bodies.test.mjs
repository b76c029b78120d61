// With keys, a body is taken only from whom its head admits: strangers cannot fill the memory.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { DynamoDBClient, ListTablesCommand, PutItemCommand, CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { Hash } from '@smithy/hash-node';
import { HttpRequest } from '@smithy/protocol-http';
import { SignatureV4 } from '@smithy/signature-v4';
import { startServer, temporaryFolder } from '../lib/server.mjs';

const file = path.join(temporaryFolder(), 'keys.json');
const credentials = { accessKeyId: 'game', secretAccessKey: 'game-secret-0123456789' };
const player = { accessKeyId: 'page', secretAccessKey: 'page-secret-0123456789' };
writeFileSync(file, JSON.stringify({ keys: [
  { id: credentials.accessKeyId, secret: credentials.secretAccessKey, tables: ['*'], allow: ['read', 'write', 'admin'] },
  { id: player.accessKeyId, secret: player.secretAccessKey, tables: ['*'], allow: ['read'] },
] }), { mode: 0o600 });

let server;
before(async () => { server = await startServer({ args: ['--keys', file, '--test-clock'] }); });
after(async () => assert.equal(await server.stop(), 0));

const LARGE = 15_000_000;
const peakMB = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024;

// Sends a head and the beginning of its body, and resolves to the answer; the rest is never sent.
async function begin(line, headers, some = Buffer.alloc(100_000)) {
  const socket = net.connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  let text = '';
  const ended = new Promise((resolve) => {
    socket.on('data', (part) => { text += part; });
    socket.on('error', () => {});
    socket.on('close', resolve);
  });
  const lines = Object.entries({ Host: `127.0.0.1:${server.port}`, 'Content-Length': LARGE, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${line} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.write(some);
  socket.end();
  await ended;
  return { status: Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]), text };
}

async function signed(body, { as = credentials, hash = true } = {}) {
  const signer = new SignatureV4({ credentials: as, region: 'us-east-1', service: 'dynamodb', sha256: Hash.bind(null, 'sha256'), applyChecksum: hash });
  const request = new HttpRequest({
    method: 'POST', protocol: 'http:', hostname: '127.0.0.1', port: server.port, path: '/',
    headers: { host: `127.0.0.1:${server.port}`, 'x-amz-target': 'DynamoDB_20120810.PutItem', 'content-type': 'application/x-amz-json-1.0' },
    body,
  });
  const { headers } = await signer.sign(request);
  delete headers.host;
  return headers;
}

test('150 unsigned requests of 15 MB take next to nothing', async () => {
  const before = peakMB();
  const type = { 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': 'DynamoDB_20120810.PutItem' };
  const answers = await Promise.all(Array.from({ length: 150 }, () => begin('POST /', type, Buffer.alloc(4_000_000))));
  for (const { status, text } of answers) {
    if (text === '') continue; // the system threw it away with what was still being sent
    assert.equal(status, 400);
    assert.match(text, /MissingAuthenticationTokenException/);
  }
  assert.ok(answers.some(({ text }) => text !== ''));
  assert.ok(peakMB() - before < 300, `${peakMB() - before} MB`);
});

test('what is refused by its head is refused before its body, in the words of its protocol', async () => {
  const json = { 'Content-Type': 'application/json' };
  const bearer = ({ accessKeyId, secretAccessKey }) => ({ Authorization: `Bearer ${accessKeyId}:${secretAccessKey}` });
  const body = Buffer.alloc(LARGE, ' ');
  const wrong = { accessKeyId: 'game', secretAccessKey: 'another-secret-0123456789' };
  const stranger = { accessKeyId: 'nobody', secretAccessKey: 'another-secret-0123456789' };
  for (const [line, headers, status, text] of [
    ['POST /', await signed(body, { as: wrong }), 400, /InvalidSignatureException/],
    ['POST /', await signed(body, { as: stranger }), 400, /UnrecognizedClientException/],
    ['POST /', await signed(body, { as: stranger, hash: false }), 400, /UnrecognizedClientException/],
    ['POST /v1/boards', json, 401, /say who you are/],
    ['POST /v1/boards', { ...json, ...bearer(stranger) }, 401, /there is no such key/],
    ['POST /v1/boards', { ...json, ...bearer(player) }, 403, /may not write/],
    ['GET /v1/boards', { ...json, ...bearer(player) }, 400, /takes no body/],
    ['POST /v1/nothing', json, 404, /nothing at this path/],
    ['GET /v1/boards/x/live', json, 400, /takes no body/],
    ['POST /admin/clock', json, 401, /say who you are/],
    ['POST /admin/clock', { ...json, ...bearer(player) }, 403, /may not administer/],
    ['GET /healthz', {}, 200, /ok/],
    ['PUT /nothing', {}, 404, /nothing here/],
  ]) {
    const answer = await begin(line, headers);
    assert.equal(answer.status, status, `${line}: ${answer.text}`);
    assert.match(answer.text, text, line);
    assert.match(answer.text, /Connection: close/, line);
  }
});

test('a signature that the head alone cannot prove is judged by the whole, and a wrong one refused', async () => {
  const headers = await signed(Buffer.alloc(200_000, ' '), { hash: false });
  assert.equal(headers['x-amz-content-sha256'], undefined);
  const other = await begin('POST /', { ...headers, 'Content-Length': 200_000 }, Buffer.alloc(200_000, 'x'));
  assert.match(other.text, /InvalidSignatureException/);
  const same = await begin('POST /', { ...headers, 'Content-Length': 200_000 }, Buffer.alloc(200_000, ' '));
  assert.match(same.text, /SerializationException/);
});

test('a body that is not the one that was signed is refused', async () => {
  const headers = await signed(Buffer.alloc(200_000, ' '));
  assert.equal(headers['x-amz-content-sha256'], createHash('sha256').update(Buffer.alloc(200_000, ' ')).digest('hex'));
  const answer = await begin('POST /', { ...headers, 'Content-Length': 200_000 }, Buffer.alloc(200_000, 'x'));
  assert.match(answer.text, /InvalidSignatureException/);
});

test('large requests of those who may are taken', async () => {
  const client = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials, maxAttempts: 1 });
  await client.send(new CreateTableCommand({
    TableName: 'items', BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }], KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  }));
  await Promise.all(Array.from({ length: 20 }, (_, i) =>
    client.send(new PutItemCommand({ TableName: 'items', Item: { pk: { S: `${i}` }, text: { S: 'x'.repeat(390_000) } } }))));
  assert.ok((await client.send(new ListTablesCommand({}))).TableNames.includes('items'));
  client.destroy();
  const scores = Array.from({ length: 20_000 }, (_, i) => `p${i},${i}`).join('\n');
  const headers = { Authorization: `Bearer ${credentials.accessKeyId}:${credentials.secretAccessKey}` };
  const made = await fetch(`${server.endpoint}/v1/boards`, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: '{"id":"b","game":"g"}' });
  assert.equal(made.status, 201);
  const loaded = await fetch(`${server.endpoint}/v1/boards/b/entries:load`, { method: 'POST', headers: { ...headers, 'Content-Type': 'text/csv' }, body: `player,score\n${scores}\n` });
  assert.equal(loaded.status, 200, await loaded.text());
});
