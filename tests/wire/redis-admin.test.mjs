// Commands for those who run the server: pauses, MONITOR, the slow log, who one is, what is on the disk; and what tools ask
// when they connect.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { connect, encode } from '../redis/resp.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

let server;
before(async () => { server = await startServer({ args: ['--threads', '2'] }); });
after(async () => assert.equal(await server.stop(), 0));

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function until(holds, what) {
  for (const end = Date.now() + 60_000; !(await holds());) {
    assert.ok(Date.now() < end, what);
    await pause(5);
  }
}
async function withClients(count, run, port = server.redisPort) {
  const clients = await Promise.all(Array.from({ length: count }, () => connect(port, 2)));
  try {
    return await run(...clients);
  } finally {
    for (const client of clients) client.close();
  }
}

test('who is held by CLIENT PAUSE costs others nothing, while earlier writes come back', () => withClients(5, async (admin, writer, ...readers) => {
  for (let round = 0; round < 5; round++) {
    const written = writer.pipeline(Array.from({ length: 20000 }, (_, i) => ['SET', `held${i}`, 'v']));
    await admin.ask('PING'); // the first of them are under way, on whichever loop
    assert.equal(await admin.ask('CLIENT', 'PAUSE', 3600000, 'WRITE'), 'OK');
    const late = new Promise((resolve) => setTimeout(resolve, 20000, 'nobody is answered').unref());
    assert.deepEqual(await Promise.race([Promise.all([admin, ...readers].map((client) => client.ask('PING'))), late]), Array(4).fill('PONG'));
    assert.equal(await admin.ask('CLIENT', 'UNPAUSE'), 'OK');
    assert.ok((await written).every((reply) => `${reply}` === '+OK\r\n'));
  }
}));

test('CLIENT PAUSE holds commands until it ends', () => withClients(4, async (admin, writer, reader, other) => {
  await writer.ask('ZADD', 'paused', 1, 'a');
  assert.equal(await admin.ask('CLIENT', 'PAUSE', 3600000, 'WRITE'), 'OK');
  let written = false;
  const write = writer.ask('ZADD', 'paused', 2, 'b').then((reply) => { written = true; return reply; });
  for (let i = 0; i < 50; i++) assert.equal(await reader.ask('ZCARD', 'paused'), 1);
  assert.equal(written, false);
  assert.equal(await admin.ask('CLIENT', 'UNPAUSE'), 'OK');
  assert.equal(await write, 1);
  assert.equal(await admin.ask('CLIENT', 'PAUSE', 3600000), 'OK');
  let answered = false;
  const ping = other.ask('PING').then((reply) => { answered = true; return reply; });
  for (let i = 0; i < 50; i++) assert.match(await admin.ask('CLIENT', 'GETNAME').then(String), /null/);
  assert.equal(answered, false);
  assert.equal(await admin.ask('CLIENT', 'UNPAUSE'), 'OK');
  assert.equal(await ping, 'PONG');
  const begin = Date.now();
  assert.equal(await admin.ask('CLIENT', 'PAUSE', 200), 'OK');
  assert.equal(await other.ask('PING'), 'PONG');
  assert.ok(Date.now() - begin >= 150, 'it waited for the end');
}));

test('MONITOR tells commands as they come, and no secrets', async () => {
  const socket = net.connect(server.redisPort, '127.0.0.1');
  await once(socket, 'connect');
  let heard = '';
  socket.on('data', (chunk) => { heard += chunk.toString('latin1'); });
  socket.write(encode(['MONITOR']));
  await until(() => heard.startsWith('+OK\r\n'), 'no answer');
  await withClients(1, async (client) => {
    await client.ask('ZADD', 'watched', 1, 'a "b"\n\x01');
    await client.ask('AUTH', 'default', 'secret-word');
    await client.ask('ZSCORE', 'watched', 'x');
    await client.ask('EVAL', 'return 1', 0);
  });
  await until(() => heard.includes('"EVAL"'), heard);
  assert.match(heard, /\+\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] "ZADD" "watched" "1" "a \\"b\\"\\n\\x01"\r\n/);
  assert.match(heard, /"ZSCORE" "watched" "x"/);
  assert.doesNotMatch(heard, /secret-word/);
  socket.destroy();
});

test('SLOWLOG has what took long', () => withClients(2, async (client, admin) => {
  assert.equal(await admin.ask('SLOWLOG', 'RESET'), 'OK');
  await client.ask('CLIENT', 'SETNAME', 'sluggard');
  await client.ask('EVAL', "local n = 0 for i = 1, 3000000 do n = n + i end return redis.call('ZADD', 'slow', 1, ARGV[1])", 0, 'x'.repeat(300));
  // On a busy machine others may have taken long as well.
  const noted = async () => (await admin.ask('SLOWLOG', 'GET', '-1')).find(([, , , [word]]) => word === 'EVAL');
  await until(noted, 'it is not noted');
  const [, at, usec, args, address, name] = await noted();
  assert.ok(await admin.ask('SLOWLOG', 'LEN') >= 1);
  assert.ok(Math.abs(at - Date.now() / 1000) < 120);
  assert.ok(usec >= 10000);
  assert.equal(args[0], 'EVAL');
  assert.match(args.at(-1), /^x{128}\.\.\. \(172 more bytes\)$/);
  assert.match(address, /^127\.0\.0\.1:\d+$/);
  assert.equal(name, 'sluggard');
}));

test('what tools ask when they connect is answered', () => withClients(1, async (client) => {
  const asked = [['INFO'], ['INFO', 'server'], ['MODULE', 'LIST'], ['COMMAND'], ['COMMAND', 'DOCS'], ['ACL', 'WHOAMI'], ['CLIENT', 'SETNAME', 'tool'],
    ['CLIENT', 'SETINFO', 'lib-name', 'x'], ['CONFIG', 'GET', 'databases'], ['DBSIZE'], ['SCAN', '0'], ['CLIENT', 'LIST'], ['SLOWLOG', 'GET', '50'],
    ['LATENCY', 'LATEST'], ['MEMORY', 'STATS'], ['MEMORY', 'DOCTOR'], ['ROLE'], ['LASTSAVE'], ['PUBSUB', 'CHANNELS'], ['ACL', 'LIST'], ['ACL', 'CAT', 'sortedset'],
    ['CLIENT', 'TRACKINGINFO'], ['SCRIPT', 'EXISTS', '0'.repeat(40)], ['CLIENT', 'NO-TOUCH', 'on']];
  for (const words of asked) {
    const reply = await client.ask(...words);
    assert.equal(reply?.error, undefined, words.join(' '));
  }
  assert.deepEqual(await client.ask('CONFIG', 'GET', 'databases'), ['databases', '16']);
  assert.match((await client.ask('CLUSTER', 'INFO')).error, /cluster support disabled/);
  assert.ok((await client.ask('ACL', 'CAT', 'sortedset')).includes('zadd'));
  assert.match((await client.ask('SHUTDOWN')).error, /SIGTERM/);
  assert.match((await client.ask('DEBUG', 'SLEEP', '0')).error, /not allowed/);
  assert.match((await client.ask('ACL', 'SETUSER', 'x')).error, /gametable keys/);
  for (const words of [['SAVE'], ['BGSAVE'], ['BGREWRITEAOF']]) assert.match((await client.ask(...words)).error, /nothing is stored/);
  assert.match((await client.ask('WAITAOF', 1, 0, 0)).error, /appendonly is disabled/);
  assert.deepEqual(await client.ask('WAITAOF', 0, 0, 0), [0, 0]);
}));

test('what is stored is told so', async () => {
  const stored = await startServer({ data: temporaryFolder() });
  await withClients(1, async (client) => {
    await client.ask('ZADD', 'z', 1, 'a');
    assert.deepEqual(await client.ask('WAITAOF', 1, 0, 100), [1, 0]);
    assert.match((await client.ask('WAITAOF', 2, 0, 0)).error, /out of range/);
    assert.equal(await client.ask('SAVE'), 'OK');
    assert.match(await client.ask('BGSAVE'), /on the disk/);
    assert.ok(Math.abs(await client.ask('LASTSAVE') - Date.now() / 1000) < 120);
  }, stored.redisPort);
  assert.equal(await stored.stop(), 0);
});

test('ACL tells of access keys, and of no secret', async () => {
  const file = path.join(temporaryFolder(), 'keys.json');
  const add = (...args) => {
    const { status, stdout, stderr } = spawnSync(program, ['keys', 'add', '--keys', file, ...args], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return /id\s+(\S+)\nsecret access key\s+(\S+)\n/.exec(stdout).slice(1);
  };
  const all = add('--table', '*', '--allow', 'all'), limited = add('--table', '*', '--allow', 'read', '--partition', 'BOARD#mine');
  const guarded = await startServer({ args: ['--keys', file] });
  await withClients(2, async (admin, mine) => {
    assert.equal(await admin.ask('AUTH', ...all), 'OK');
    assert.equal(await mine.ask('AUTH', ...limited), 'OK');
    assert.equal(await admin.ask('ACL', 'WHOAMI'), all[0]);
    assert.equal(await mine.ask('ACL', 'WHOAMI'), limited[0]);
    assert.deepEqual(new Set(await admin.ask('ACL', 'USERS')), new Set([all[0], limited[0]]));
    const list = (await admin.ask('ACL', 'LIST')).join('\n');
    assert.match(list, new RegExp(`user ${all[0]} on ~\\* &\\* \\+@all`));
    assert.match(list, new RegExp(`user ${limited[0]} on ~mine -@all \\+@read`));
    for (const [, secret] of [all, limited]) assert.ok(!list.includes(secret));
    const user = await admin.ask('ACL', 'GETUSER', limited[0]);
    assert.equal(user[user.indexOf('keys') + 1], '~mine');
    assert.equal(user[user.indexOf('channels') + 1], '');
    for (const words of [['ACL', 'LIST'], ['SLOWLOG', 'GET'], ['MONITOR'], ['CLIENT', 'PAUSE', '1']]) assert.match((await mine.ask(...words)).error, /NOPERM/);
  }, guarded.redisPort);
  assert.equal(await guarded.stop(), 0);
});
