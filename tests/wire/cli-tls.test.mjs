// The commands that ask a server, over HTTPS: whom they trust, what they say when they do not, and how long they wait.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

const folder = temporaryFolder();
const at = (name) => path.join(folder, name);
function makeCertificate(name, names) {
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', at(`${name}.key`),
    '-out', at(`${name}.crt`), '-days', '2', '-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`], { stdio: 'ignore' });
}
makeCertificate('ours', 'DNS:localhost,IP:127.0.0.1');
makeCertificate('another', 'DNS:localhost,IP:127.0.0.1');
makeCertificate('elsewhere', 'DNS:example.com');

let server;
before(async () => {
  server = await startServer({ args: ['--tls-cert', at('ours.crt'), '--tls-key', at('ours.key'), '--test-clock'] });
});
after(async () => assert.equal(await server.stop(), 0));

const run = (args, env = {}) => new Promise((resolve) => {
  execFile(program, args, { encoding: 'utf8', env: { ...process.env, ...env } }, (error, stdout, stderr) => resolve({ status: error?.code ?? 0, stdout, stderr }));
});
const trusting = (...args) => run([...args, '--url', server.endpoint, '--cacert', at('ours.crt')]);
async function good(...args) {
  const { status, stdout, stderr } = await trusting(...args);
  assert.equal(status, 0, stderr);
  return stdout;
}

test('each command asks over TLS', async () => {
  assert.match(server.endpoint, /^https:/);
  writeFileSync(at('scores.csv'), Array.from({ length: 25000 }, (_, i) => `p${i},${i}`).join('\n'));
  assert.equal(await good('load', 'arcade', at('scores.csv')), '25000 lines: 25000 added, 0 changed, 0 kept, 0 refused\n');
  assert.match(await good('submit', 'arcade', 'ann', '30000', '--name', 'Ann'), /arcade +yes +30000/);
  assert.match(await good('top', 'arcade', '-n', '2'), /players 25001[^]*1 +ann +30000 +Ann[^]*2 +p24999/);
  assert.match(await good('rank', 'arcade', 'ann'), /ann: rank 1 with 30000/);
  assert.match(await good('around', 'arcade', 'ann', '--each', '1'), /> +1 +ann/);
  assert.match(await good('boards'), /BOARD/);
  for (const command of [['clock', '--forward', '1h'], ['clock'], ['expire']]) assert.notEqual(await good(...command), '');
});

test('bots play over TLS, and without', async () => {
  const play = ['play', '--bots', '2', '--game', 'snakes-and-ladders', '--slow', '1', '--limit', '300'];
  const plain = await startServer();
  for (const { status, stdout, stderr } of [await trusting(...play), await run([...play, '--url', plain.endpoint])]) {
    assert.equal(status, 0, stderr);
    assert.match(stdout, /2 matches seen to their ends, 0 bots not done/);
    assert.match(stdout, /refused 0, lines lost 0/);
  }
  assert.equal(await plain.stop(), 0);
});

test('the authority may come from the environment, and the address may be a name', async () => {
  const env = { GAMETABLE_URL: server.endpoint.replace('127.0.0.1', 'localhost') + '/', GAMETABLE_CACERT: at('ours.crt') };
  assert.equal((await run(['top', 'arcade'], env)).status, 0);
  // No proxy is asked, whatever the environment names.
  assert.equal((await run(['top', 'arcade'], { ...env, https_proxy: 'http://127.0.0.1:1', HTTPS_PROXY: 'http://127.0.0.1:1' })).status, 0);
});

test('who is not trusted is not told anything', async () => {
  for (const [command, ...cacert] of [['top'], ['top', '--cacert', at('another.crt')], ['rank', '--cacert', at('another.crt')]]) {
    const { status, stdout, stderr } = await run([command, 'arcade', ...(command === 'rank' ? ['ann'] : []), '--url', server.endpoint, ...cacert]);
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /the certificate of https:\S+ is not trusted \(.*self.signed certificate.*\): --cacert FILE or GAMETABLE_CACERT/);
  }
  const other = await startServer({ args: ['--tls-cert', at('elsewhere.crt'), '--tls-key', at('elsewhere.key')] });
  const { status, stderr } = await run(['top', 'arcade', '--url', other.endpoint, '--cacert', at('elsewhere.crt')]);
  assert.equal(status, 1);
  assert.match(stderr, /is not trusted \(.*127\.0\.0\.1/);
  assert.equal(await other.stop(), 0);
});

test('an authority that cannot be read is wrong usage', async () => {
  writeFileSync(at('nothing.crt'), 'nothing\n');
  for (const file of ['missing.crt', 'nothing.crt'])
    for (const command of [['top', 'arcade'], ['play', '--bots', '2']]) {
      const { status, stderr } = await run([...command, '--url', server.endpoint, '--cacert', at(file)]);
      assert.equal(status, 2, stderr);
      assert.match(stderr, /there are no usable certificates in/);
      assert.ok(stderr.includes(file));
    }
});

test('a server that does not answer is waited for as long as --timeout says', async () => {
  const silent = net.createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  for (const scheme of ['http', 'https']) {
    const { status, stderr } = await run(['top', 'arcade', '--url', `${scheme}://127.0.0.1:${silent.address().port}`, '--timeout', '1']);
    assert.equal(status, 1);
    assert.match(stderr, /did not answer in time/);
  }
  silent.close();
  for (const wrong of ['0', '-1', 'x', '1s', '86401'])
    assert.equal((await run(['top', 'arcade', '--timeout', wrong])).status, 2, wrong);
});

test('plain HTTP to an encrypted port, and TLS to a plain one', async () => {
  const plain = await startServer();
  for (const url of [server.endpoint.replace('https', 'http'), plain.endpoint.replace('http', 'https')]) {
    const { status, stderr } = await run(['top', 'arcade', '--url', url]);
    assert.equal(status, 1);
    assert.notEqual(stderr, '');
  }
  assert.equal(await plain.stop(), 0);
});
