// The engine over DynamoDB and Redis with everything that is secret: HTTPS and signatures checked by the endpoint, TLS and
// an ACL user at Redis, credentials that end and are renewed, and what is said when any of it is wrong.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import test, { after, before } from 'node:test';
import tls from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../lib/backing.mjs';
import { restClient } from '../lib/rest.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

const folder = temporaryFolder();
const at = (name) => path.join(folder, name);
const keyFile = at('keys.json');

function makeCertificate(name) {
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', at(`${name}.key`),
    '-out', at(`${name}.crt`), '-days', '2', '-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'], { stdio: 'ignore' });
}

function addKey(...args) {
  const said = execFileSync(program, ['keys', 'add', '--keys', keyFile, ...args], { encoding: 'utf8' });
  const [, id, secret] = /id\s+(\S+)\nsecret access key\s+(\S+)\n/.exec(said);
  return { id, secret };
}

// The commands and keys that docs/scale-out.md says the user needs, and nothing else.
const acl = 'user game on >open-sesame ~gt:* &gt:* -@all +eval +evalsha +@sortedset +@hash +@string +del +expire +pexpire +persist '
  + '+publish +psubscribe +ping +scan +info +cluster|slots';
const reader = 'user reader on >open-sesame ~gt:* &gt:* -@all +@read +eval +evalsha +ping +info +cluster|slots';

async function takes(port) {
  const socket = net.connect(port, '127.0.0.1');
  const open = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(() => false);
  socket.destroy();
  return open;
}

async function startSecretRedis(tries = 5) {
  const port = await freePort();
  writeFileSync(at('users.acl'), `user default off\n${acl}\n${reader}\n`);
  const child = spawn('redis-server', ['--port', '0', '--tls-port', String(port), '--bind', '127.0.0.1', '--tls-cert-file', at('redis.crt'),
    '--tls-key-file', at('redis.key'), '--tls-auth-clients', 'no', '--save', '', '--appendonly', 'no', '--dir', folder, '--aclfile', at('users.acl')],
  { stdio: 'ignore' });
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  while (child.exitCode === null && !(await takes(port))) await sleep(50);
  await sleep(100); // one that could not have the port ends; another's would take connections there
  if (child.exitCode !== null) {
    process.off('exit', kill);
    assert.ok(tries > 0, 'redis-server ended: is it built with TLS?');
    return startSecretRedis(tries - 1);
  }
  return { port, child, async stop() { process.off('exit', kill); child.kill(); await once(child, 'exit'); } };
}

let store, redis, keys, secretArgs;
before(async () => {
  for (const name of ['store', 'redis', 'other']) makeCertificate(name);
  keys = { one: addKey('--table', '*', '--allow', 'all'), two: addKey('--table', '*', '--allow', 'all') };
  store = await startServer({ engine: 'local', game: false, redis: 'off', args: ['--tls-cert', at('store.crt'), '--tls-key', at('store.key'), '--keys', keyFile] });
  redis = await startSecretRedis();
  writeFileSync(at('secret'), 'the same thirty-two bytes or more on all servers');
  secretArgs = ['--token-secret', at('secret')];
});
after(async () => {
  await Promise.all(nodes.map((node) => node.stop('SIGKILL'))); // of tests that failed
  await store.stop();
  await redis.stop();
});

const address = () => `127.0.0.1:${redis.port}`;
// The settings of a node with some of them changed.
const settings = (changes = {}) => Object.entries({ '--dynamodb-endpoint': store.endpoint.replace('127.0.0.1', 'localhost'), '--dynamodb-region': 'us-east-1',
  '--dynamodb-ca': at('store.crt'), '--rank-redis': address(), '--rank-redis-user': 'game', '--rank-redis-password': 'open-sesame', '--rank-redis-ca': at('redis.crt'),
  ...changes }).filter(([, value]) => value !== undefined).flat();
const environment = (key) => ({ AWS_ACCESS_KEY_ID: key.id, AWS_SECRET_ACCESS_KEY: key.secret, AWS_EC2_METADATA_DISABLED: 'true', HOME: folder });
const none = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', HOME: folder, AWS_EC2_METADATA_DISABLED: 'true' };
const nodes = [];
const startNode = async (env, changes) => {
  const node = await startServer({ engine: 'dynamodb', backing: { args: ['--engine', 'dynamodb', '--rank-redis-tls', ...settings(changes), ...secretArgs], env: {} }, env, redis: 'off' });
  nodes.push(node);
  return node;
};

async function refusal(env, changes, flags = ['--rank-redis-tls']) {
  const child = spawn(program, ['serve', '--engine', 'dynamodb', '--http', '127.0.0.1:0', '--redis', 'off', ...flags, ...settings(changes), ...secretArgs],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, ...env } });
  let said = '';
  child.stdout.on('data', (text) => { said += text; });
  child.stderr.on('data', (text) => { said += text; });
  const [status] = await once(child, 'close');
  assert.ok(status === 1 || status === 2, said);
  const lines = said.trim().split('\n');
  assert.equal(lines.length, 1, said);
  return lines[0];
}

test('scores and ranks over HTTPS, signatures, TLS and an ACL user', async () => {
  const node = await startNode(environment(keys.one));
  const rest = await restClient(node.endpoint);
  await rest.must('POST', '/boards', { id: 'tls:all', game: 'tls', ranking: 'dense' });
  for (const [player, score] of [['ann', 10], ['bob', 30], ['cy', 10]]) await rest.must('POST', '/games/tls/scores', { player, score });
  const { entries } = await rest.must('GET', '/boards/tls:all/entries');
  assert.deepEqual(entries.map(({ member, rank }) => `${rank} ${member}`).sort(), ['1 bob', '2 ann', '2 cy']);
  await rest.must('DELETE', '/boards/tls:all/entries/bob');
  assert.equal((await rest.must('GET', '/boards/tls:all/entries/ann')).entry.rank, 1);
  // Redis knew no command that its user may not: a refusal would show here as a score without ranks
  const { results } = await rest.must('POST', '/games/tls/scores', { player: 'dan', score: 99 });
  assert.equal(results[0].unranked, undefined);
  rest.close();
  assert.equal(await node.stop(), 0);
});

test('what is wrong with a certificate, a password or a key is one sentence', async () => {
  const good = environment(keys.one);
  const cases = [
    [good, { '--dynamodb-ca': at('other.crt') }, /certificate of https:\/\/localhost:\d+ is not trusted .*--dynamodb-ca FILE/],
    [good, { '--dynamodb-ca': undefined }, /certificate of https:.* is not trusted .*--dynamodb-ca FILE/],
    [good, { '--dynamodb-ca': at('none.crt') }, /none\.crt.*--dynamodb-ca|--dynamodb-ca.*none\.crt/],
    [good, { '--dynamodb-endpoint': store.endpoint.replace('https', 'http') }, /--dynamodb-endpoint/],
    [good, { '--rank-redis-ca': at('other.crt') }, /certificate of Redis at 127\.0\.0\.1:\d+ is not trusted .*--rank-redis-ca/],
    [good, { '--rank-redis-ca': undefined }, /certificate of Redis .* is not trusted .*--rank-redis-ca/],
    [good, { '--rank-redis-ca': at('none.crt') }, /none\.crt/],
    [good, { '--rank-redis-password': 'wrong' }, /refuses the user or the password: WRONGPASS/],
    [good, { '--rank-redis-user': 'nobody' }, /refuses the user or the password: WRONGPASS/],
    [good, { '--rank-redis-password': undefined, '--rank-redis-user': undefined }, /wants a password: give it by --rank-redis-password/],
    [good, { '--rank-redis-user': 'reader' }, /the ranking does not work in this Redis .*(NOPERM|can't run this command).*docs\/scale-out\.md/],
    [environment({ id: keys.one.id, secret: 'wrong' }), {}, /refuses these credentials .*check the access key/],
    [environment({ id: 'GTUNKNOWN', secret: 'wrong' }), {}, /refuses these credentials .*check the access key/],
  ];
  for (const [env, changes, text] of cases) assert.match(await refusal(env, changes), text);
  assert.match(await refusal(good, {}, []), /Redis at 127\.0\.0\.1:\d+ does not answer.*--rank-redis-tls/); // its encrypted port without TLS
  const plain = net.createServer((socket) => socket.on('data', () => socket.end('-ERR\r\n'))).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  assert.match(await refusal(good, { '--rank-redis': `127.0.0.1:${plain.address().port}` }), /does not answer with TLS: is that its encrypted port\?/);
  plain.close();
});

test('a clock that is wrong is told as such', async () => {
  for (const [type, message] of [['InvalidSignatureException', 'Signature expired: 20261117T000000Z is now earlier than 20261117T010000Z (20261117T011500Z - 15 min.)'],
    ['InvalidSignatureException', 'Signature not yet current: 20261117T020000Z is still later than 20261117T010000Z (20261117T004500Z + 15 min.)']]) {
    const stub = http.createServer((request, response) => response.writeHead(400).end(JSON.stringify({ __type: `com.amazon.coral.service#${type}`, message }))).listen(0, '127.0.0.1');
    await once(stub, 'listening');
    assert.match(await refusal(environment(keys.one), { '--dynamodb-endpoint': `http://127.0.0.1:${stub.address().port}` }), /clock and the endpoint's differ by minutes; set it/);
    stub.closeAllConnections();
    stub.close();
  }
});

// Credentials of a container or an instance, as the test says they are.
async function startGiver() {
  const given = { now: undefined, asked: 0 };
  const server = http.createServer((request, response) => {
    if (request.url === '/latest/api/token') return response.end('imds');
    if (request.url.endsWith('/security-credentials/')) return response.end('role');
    given.asked++;
    if (!given.now) return response.writeHead(500).end();
    const { key, seconds } = given.now;
    return response.end(JSON.stringify({ AccessKeyId: key.id, SecretAccessKey: key.secret, Expiration: new Date(Date.now() + seconds * 1000).toISOString() }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return Object.assign(given, { url: `http://127.0.0.1:${server.address().port}`, close() { server.closeAllConnections(); server.close(); } });
}

// Stands before the endpoint, notes which keys sign, and refuses some as Amazon refuses what has ended.
async function startNoting() {
  const noted = { seen: new Map(), ended: new Set(), type: 'ExpiredTokenException' };
  const server = http.createServer((request, response) => {
    const key = /Credential=([^/]+)/.exec(request.headers.authorization)?.[1];
    noted.seen.set(key, (noted.seen.get(key) ?? 0) + 1);
    if (noted.ended.has(key)) {
      request.resume();
      return response.writeHead(400).end(JSON.stringify({ __type: `com.amazon.coral.service#${noted.type}`, message: 'The security token included in the request is expired' }));
    }
    const onward = tlsRequest(request, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    return request.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return Object.assign(noted, { url: `http://127.0.0.1:${server.address().port}`, close() { server.closeAllConnections(); server.close(); } });
}

// The same request over TLS: its Host header is signed and stays.
function tlsRequest(request, then) {
  return http.request({ method: request.method, path: request.url, headers: request.headers, createConnection: () => tls.connect({ host: '127.0.0.1', port: store.port, rejectUnauthorized: false }) }, then);
}

const places = {
  container: (giver) => ({ ...none, AWS_CONTAINER_CREDENTIALS_FULL_URI: `${giver.url}/task` }),
  instance: (giver) => ({ ...none, AWS_EC2_METADATA_DISABLED: 'false', AWS_EC2_METADATA_SERVICE_ENDPOINT: giver.url }),
};
for (const [place, env] of Object.entries(places)) {
  test(`credentials of the ${place} are renewed before and after their end`, { timeout: 120_000 }, async () => {
    const giver = await startGiver();
    const noted = await startNoting();
    giver.now = { key: keys.one, seconds: 302 }; // it is renewed 300 seconds before its end
    const node = await startNode(env(giver), { '--dynamodb-endpoint': noted.url, '--dynamodb-ca': undefined });
    const rest = await restClient(node.endpoint);
    await rest.must('POST', '/boards', { id: `${place}:all`, game: place });
    assert.ok(noted.seen.get(keys.one.id) > 0 && !noted.seen.has(keys.two.id));
    giver.now = { key: keys.two, seconds: 3600 };
    while (!noted.seen.has(keys.two.id)) await sleep(50); // the projector asks all the time
    await rest.must('POST', `/games/${place}/scores`, { player: 'ann', score: 1 });

    giver.now = { key: keys.one, seconds: 3600 };
    noted.ended.add(keys.two.id); // before its time: revoked
    await rest.must('POST', `/games/${place}/scores`, { player: 'ann', score: 2 });

    giver.now = undefined; // and now nobody has any
    noted.ended.add(keys.one.id);
    const { status, json } = await rest.call('POST', `/games/${place}/scores`, { body: { player: 'ann', score: 3 } });
    assert.equal(status, 503);
    assert.match(json.detail, /this server cannot use its DynamoDB endpoint/);
    giver.now = { key: keys.one, seconds: 3600 };
    noted.ended.clear();
    for (;;) {
      const answer = await rest.call('POST', `/games/${place}/scores`, { body: { player: 'ann', score: 4 } });
      if (answer.status === 200) break;
      assert.equal(answer.status, 503);
      await sleep(50);
    }
    rest.close();
    assert.equal(await node.stop(), 0);
    noted.close();
    giver.close();
  });
}

test('keys of a profile that were replaced in the shared file are found', { timeout: 60_000 }, async () => {
  const noted = await startNoting();
  const file = at('shared/credentials');
  mkdirSync(path.dirname(file), { recursive: true });
  const write = (key) => writeFileSync(file, `[default]\naws_access_key_id = NOT_THIS\naws_secret_access_key = x\n\n[game]\naws_access_key_id = ${key.id}\naws_secret_access_key = ${key.secret}\n`);
  write(keys.one);
  const node = await startNode({ ...none, AWS_SHARED_CREDENTIALS_FILE: file, AWS_PROFILE: 'game' }, { '--dynamodb-endpoint': noted.url, '--dynamodb-ca': undefined });
  const rest = await restClient(node.endpoint);
  await rest.must('POST', '/boards', { id: 'file:all', game: 'file' });
  write(keys.two);
  noted.type = 'UnrecognizedClientException';
  noted.ended.add(keys.one.id);
  await rest.must('POST', '/games/file/scores', { player: 'ann', score: 1 });
  assert.deepEqual([...noted.seen.keys()].sort(), [keys.one.id, keys.two.id].sort());
  rest.close();
  assert.equal(await node.stop(), 0);
  noted.close();
});
