// HTTPS: the SDK with a certificate of its own authority, large bodies both ways, rude clients, faults at the start.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import path from 'node:path';
import test, { after, before } from 'node:test';
import tls from 'node:tls';
import {
  BatchWriteItemCommand, CreateTableCommand, DynamoDBClient, GetItemCommand, ListTablesCommand, PutItemCommand, ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { rawClient } from '../lib/raw.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

const folder = temporaryFolder();
const at = (name) => path.join(folder, name);
const openssl = (...args) => execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
function makeCertificate(name, ...kind) {
  openssl('req', '-x509', '-newkey', ...kind, '-nodes', '-keyout', at(`${name}.key`), '-out', at(`${name}.crt`), '-days', '2',
    '-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1');
}
makeCertificate('one', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1');
makeCertificate('two', 'rsa:2048');
const ca = readFileSync(at('one.crt'));

let server, client, agent;
before(async () => {
  server = await startServer({ args: ['--tls-cert', at('one.crt'), '--tls-key', at('one.key')] });
  agent = new https.Agent({ ca, keepAlive: true });
  client = new DynamoDBClient({
    endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' }, maxAttempts: 1,
    requestHandler: new NodeHttpHandler({ httpsAgent: agent }),
  });
});
after(async () => {
  client.destroy();
  agent.destroy();
  assert.equal(await server.stop(), 0);
});
const connect = async (options = {}) => {
  const socket = tls.connect({ host: '127.0.0.1', port: server.port, ca, ...options });
  await once(socket, 'secureConnect');
  return socket;
};
const healthy = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
// Reads until the text has come `count` times.
const read = (socket, pattern, count = 1) => new Promise((resolve, reject) => {
  let text = '';
  const look = (chunk) => {
    text += chunk;
    if ([...text.matchAll(pattern)].length < count) return;
    socket.off('data', look);
    resolve(text);
  };
  socket.on('data', look);
  socket.on('error', reject);
  socket.on('close', () => reject(new Error(`closed after: ${text}`)));
});

test('a private key that others may read is warned of', async () => {
  for (const [mode, warned] of [['644', true], ['600', false]]) {
    execFileSync('chmod', [mode, at('two.key')]);
    const other = await startServer({ args: ['--tls-cert', at('two.crt'), '--tls-key', at('two.key')] });
    assert.equal(/two\.key may be read by others on this machine: chmod 600 it/.test(other.printed()), warned);
    assert.equal(await other.stop(), 0);
  }
});

test('the SDK, with the authority and without', async () => {
  assert.match(server.endpoint, /^https:/);
  await client.send(new CreateTableCommand({
    TableName: 'game', BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }], KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  }));
  await assert.rejects(new DynamoDBClient({
    endpoint: server.endpoint, region: 'x', credentials: { accessKeyId: 'any', secretAccessKey: 'any' }, maxAttempts: 1,
  }).send(new ListTablesCommand({})), /self-signed certificate/);
});

test('large bodies both ways', async () => {
  const text = 'x'.repeat(380_000);
  for (let batch = 0; batch < 3; batch++)
    await client.send(new BatchWriteItemCommand({ RequestItems: { game: Array.from({ length: 20 }, (_, i) => (
      { PutRequest: { Item: { id: { N: String(batch * 20 + i) }, text: { S: text } } } })) } }));
  let count = 0, start;
  do {
    const page = await client.send(new ScanCommand({ TableName: 'game', ExclusiveStartKey: start }));
    for (const item of page.Items) assert.equal(item.text.S.length, text.length);
    count += page.Count;
    start = page.LastEvaluatedKey;
  } while (start);
  assert.equal(count, 60);
});

test('a client that reads slowly gets all of a large answer', async () => {
  const socket = await connect();
  const body = JSON.stringify({ RequestItems: { game: { Keys: Array.from({ length: 40 }, (_, i) => ({ id: { N: String(i) } })) } } });
  socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.BatchGetItem\r\n` +
    `X-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=0\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`);
  let size = 0, wanted;
  for await (const chunk of socket) {
    if (wanted === undefined) {
      const head = chunk.toString('latin1').split('\r\n\r\n')[0];
      wanted = head.length + 4 + Number(/Content-Length: (\d+)/.exec(head)[1]);
      assert(wanted > 15_000_000);
    }
    if (size < 1_000_000) await new Promise((resolve) => setTimeout(resolve, 5));
    size += chunk.length;
    if (size === wanted) break;
  }
  assert.equal(size, wanted);
  socket.destroy();
});

test('requests that come in one record, in pieces, and many at once', async () => {
  const socket = await connect({ ALPNProtocols: ['http/1.1'] });
  assert.equal(socket.alpnProtocol, 'http/1.1');
  assert.match(socket.getProtocol(), /TLSv1\.3/);
  socket.write(healthy.repeat(500));
  await read(socket, /200 OK/g, 500);
  const part = read(socket, /200 OK/g);
  for (const byte of healthy) socket.write(byte);
  await part;
  socket.write(healthy.repeat(3000)); // more than a request's buffer holds
  await read(socket, /200 OK/g, 3000);
  socket.destroy();
});

test('requests pipelined behind a write, more than there is room for', async () => {
  const socket = await connect();
  const body = JSON.stringify({ TableName: 'game', Item: { id: { N: '1000' } } });
  const put = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\n` +
    `X-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=0\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`;
  const done = read(socket, /200 OK/g, 400);
  socket.write(put.repeat(400));
  await done;
  socket.destroy();
});

test('TLS 1.2 and up, sessions are resumed', async () => {
  for (const version of ['TLSv1.2', 'TLSv1.3']) {
    const first = await connect({ maxVersion: version, minVersion: version });
    let session = first.getSession();
    first.on('session', (given) => { session = given; });
    first.write(healthy);
    await read(first, /200 OK/g);
    first.destroy();
    const second = await connect({ maxVersion: version, minVersion: version, session });
    assert(second.isSessionReused(), version);
    second.destroy();
  }
  await assert.rejects(connect({ maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }));
});

test('plain HTTP is told so and closed', async () => {
  const plain = rawClient(server.endpoint.replace('https', 'http'));
  const { status, body } = await plain.send('{}', {}, 'POST', '/');
  assert.equal(status, 400);
  assert.match(body.toString(), /this port is encrypted: use https/);
  plain.close();
  const noise = net.connect(server.port, '127.0.0.1');
  noise.on('error', () => {});
  noise.write(Buffer.alloc(5000, 0xff));
  await once(noise, 'close');
});

test('a client that never finishes its greeting is let go', async () => {
  const hasty = await startServer({ args: ['--tls-cert', at('one.crt'), '--tls-key', at('one.key'), '--request-timeout', '500ms', '--idle-timeout', '1h'] });
  const silent = net.connect(hasty.port, '127.0.0.1');
  silent.write(Buffer.from([0x16, 0x03, 0x01]));
  await once(silent.resume(), 'close');
  assert.equal(await hasty.stop(), 0);
});

test('clients that vanish at any moment leave the rest alone', async () => {
  const work = Array.from({ length: 60 }, async (_, i) => {
    const raw = net.connect(server.port, '127.0.0.1');
    raw.on('error', () => {});
    await once(raw, 'connect');
    const socket = tls.connect({ socket: raw, ca, servername: 'localhost' });
    socket.on('error', () => {});
    if (i % 3 === 0) {
      setTimeout(() => raw.resetAndDestroy(), i % 7);
      return;
    }
    await once(socket, 'secureConnect').catch(() => {});
    socket.write(healthy.slice(0, i) + (i % 2 ? healthy.repeat(50) : ''));
    setTimeout(() => (i % 3 === 1 ? raw.resetAndDestroy() : raw.destroy()), i % 5);
  });
  await Promise.all(work);
  await client.send(new PutItemCommand({ TableName: 'game', Item: { id: { N: '1' } } }));
  assert.deepEqual((await client.send(new GetItemCommand({ TableName: 'game', Key: { id: { N: '1' } } }))).Item, { id: { N: '1' } });
});

test('SIGHUP reads the certificate again', async () => {
  const copy = (from) => execFileSync('sh', ['-c', `cp ${at(from)}.crt ${at('live')}.crt && cp ${at(from)}.key ${at('live')}.key`]);
  copy('one');
  const mine = await startServer({ args: ['--tls-cert', at('live.crt'), '--tls-key', at('live.key')] });
  const subject = async () => {
    const socket = await connect({ port: mine.port, rejectUnauthorized: false });
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return CN;
  };
  assert.equal(await subject(), 'one');
  copy('two');
  process.kill(mine.pid, 'SIGHUP');
  for (let i = 0; i < 1200 && (await subject()) !== 'two'; i++) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(await subject(), 'two');
  execFileSync('sh', ['-c', `echo broken > ${at('live.crt')}`]);
  process.kill(mine.pid, 'SIGHUP');
  for (let i = 0; i < 1200 && !/the certificate stays as it was/.test(mine.printed()); i++) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.match(mine.printed(), /the certificate stays as it was: there is no usable certificate in .*live\.crt/);
  assert.equal(await subject(), 'two');
  assert.equal(await mine.stop(), 0);
});

test('what is wrong with the files is told at the start', () => {
  openssl('genpkey', '-algorithm', 'RSA', '-aes256', '-pass', 'pass:secret', '-out', at('locked.key'));
  for (const [args, text] of [
    [['--tls-cert', at('one.crt')], /--tls-cert and --tls-key go together/],
    [['--tls-cert', at('none.crt'), '--tls-key', at('one.key')], /cannot read .*none\.crt: No such file/],
    [['--tls-cert', at('one.key'), '--tls-key', at('one.key')], /there is no usable certificate in .*one\.key/],
    [['--tls-cert', at('one.crt'), '--tls-key', at('one.crt')], /there is no usable private key .* in .*one\.crt/],
    [['--tls-cert', at('one.crt'), '--tls-key', at('two.key')], /the private key in .*two\.key is not that of the certificate in .*one\.crt/],
    [['--tls-cert', at('two.crt'), '--tls-key', at('locked.key')], /there is no usable private key \(PEM, without a password\)/],
  ]) {
    const { status, stderr } = spawnSync(program, ['serve', '--memory', '--http', '127.0.0.1:0', ...args], { encoding: 'utf8', timeout: 120_000 });
    assert.equal(status, 2, args.join(' '));
    assert.match(stderr, text);
  }
});
