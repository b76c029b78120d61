// Messages: a session of subscribers and publishers is answered byte for byte as Redis answers it; with real clients over
// several loops nothing is lost, doubled or out of order; who does not read is cut off and nobody else notices.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import test, { after, before } from 'node:test';
import Redis from 'ioredis';
import { createClient } from 'redis';
import { words } from '../redis/cases.mjs';
import { connect, encode } from '../redis/resp.mjs';
import { haveRedis, startOurs, startRedis } from '../redis/targets.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

let server;
before(async () => { server = await startServer({ args: ['--threads', '3'] }); });
after(async () => assert.equal(await server.stop(), 0));

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
// Resolves when it holds; fails after a minute.
async function until(holds, what) {
  for (const end = Date.now() + 60_000; !holds();) {
    assert.ok(Date.now() < end, what());
    await pause(5);
  }
}

// A connection of which only the bytes are looked at.
async function openRaw(port) {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.setNoDelay(true);
  const raw = { heard: '', gone: false, socket, send: (...args) => socket.write(encode(args)), close: () => socket.destroy() };
  socket.on('data', (chunk) => { raw.heard += chunk.toString('latin1'); });
  socket.on('error', () => {});
  socket.on('close', () => { raw.gone = true; });
  return raw;
}

// What each connection hears, step by step. `expected` has how many bytes to wait for; without it the server is Redis,
// which has one thread: when another connection was answered a few times, it has done what was sent before.
async function play(port, steps, expected) {
  const open = new Map();
  const told = [];
  const other = await connect(port, 2);
  try {
    for (const [i, [who, line]] of steps.entries()) {
      if (!open.has(who)) open.set(who, await openRaw(port));
      open.get(who).send(...words(line));
      if (expected) {
        for (const [name, length] of expected[i].lengths)
          await until(() => open.get(name).heard.length >= length, () => `${who} ${line}: ${name} has heard ${JSON.stringify(open.get(name).heard.slice(-300))}`);
      } else for (let n = 0; n < 4; n++) {
        await other.ask('PING');
        await new Promise((resolve) => setImmediate(resolve));
      }
      told.push({ lengths: [...open].map(([name, { heard }]) => [name, heard.length]) });
    }
    for (const who of ['a', 'b', 'p']) {
      open.get(who).send('ECHO', 'the end');
      await until(() => open.get(who).heard.endsWith('the end\r\n'), () => open.get(who).heard.slice(-300));
    }
    return { told, heard: Object.fromEntries([...open].map(([name, { heard }]) => [name, heard])) };
  } finally {
    for (const { close } of open.values()) close();
    other.close();
  }
}

const session = (hello) => [
  ...['a', 'b', 'p'].map((who) => [who, hello]),
  ['a', 'SUBSCRIBE news'], ['a', 'SUBSCRIBE news sport news'], ['a', 'PING'], ['a', 'PING hi'],
  ['p', 'PUBLISH news one'], ['p', 'PUBLISH nobody x'], ['p', 'PUBLISH sport "two words"'],
  ['b', 'PSUBSCRIBE n* s?ort'], ['p', 'PUBLISH news three'], ['p', 'PUBLISH "" empty'], ['p', 'PUBLISH news ""'],
  ['p', 'PUBSUB CHANNELS n*'], ['p', 'PUBSUB NUMSUB news sport x'], ['p', 'PUBSUB NUMSUB'], ['p', 'PUBSUB NUMPAT'], ['p', 'PUBSUB CHANNELS zzz'],
  ['p', 'PUBSUB'], ['p', 'PUBSUB NOPE'], ['p', 'PUBLISH news'], ['p', 'SUBSCRIBE'], ['p', 'PSUBSCRIBE'],
  ['a', 'UNSUBSCRIBE x'], ['a', 'UNSUBSCRIBE sport'], ['p', 'PUBLISH sport gone'], ['b', 'PUNSUBSCRIBE n*'], ['p', 'PUBLISH news four'],
  ['b', 'PUNSUBSCRIBE'], ['b', 'PUNSUBSCRIBE'], ['b', 'UNSUBSCRIBE'], ['b', 'ECHO free'],
  ['a', 'SSUBSCRIBE shard'], ['p', 'SPUBLISH shard s'], ['p', 'PUBLISH shard s'], ['p', 'PUBSUB SHARDCHANNELS'], ['p', 'PUBSUB SHARDNUMSUB shard'],
  ['a', 'SUNSUBSCRIBE'], ['a', 'SUNSUBSCRIBE'],
  ['p', 'MULTI'], ['p', 'PUBLISH news queued'], ['p', 'ZADD z 1 m'], ['p', 'PUBLISH news last'], ['p', 'EXEC'],
  ['p', 'EVAL "return redis.call(\'PUBLISH\', \'news\', ARGV[1])" 0 fromscript'], ['p', 'EVAL "return redis.call(\'SUBSCRIBE\', \'news\')" 0'],
  ['a', 'ECHO busy'], ['a', 'MULTI'], ['a', 'nonsense'], ['a', 'RESET'], ['p', 'PUBLISH news afterreset'], ['a', 'ECHO again'],
  ['b', 'SUBSCRIBE \\x00\\xff "a b"'], ['p', 'PUBLISH "a b" "\\x00\\xff\\r\\n"'], ['b', 'UNSUBSCRIBE "a b"'], ['b', 'UNSUBSCRIBE'],
  ['b', 'CLIENT REPLY OFF'], ['b', 'SUBSCRIBE q'], ['p', 'PUBLISH q quiet'], ['b', 'UNSUBSCRIBE'], ['b', 'CLIENT REPLY ON'],
];

for (const hello of ['HELLO 2', 'HELLO 3'])
  test(`a session after ${hello} is what Redis makes of it`, { skip: haveRedis ? false : 'redis-server is not installed' }, async () => {
    const targets = await Promise.all([startRedis(), startOurs()]);
    const clean = (text) => text.replace(/(\$2\r\nid\r\n:)\d+/g, '$1N').replace(/\$\d+\r\n7\.\d+\.\d+/g, 'VERSION');
    try {
      // The number of a connection is in what HELLO says: both have few, so lengths agree.
      const theirs = await play(targets[0].port, session(hello));
      const ours = await play(targets[1].port, session(hello), theirs.told);
      for (const who of Object.keys(theirs.heard)) assert.equal(clean(ours.heard[who]), clean(theirs.heard[who]), who);
    } finally {
      await Promise.all(targets.map((target) => target.close()));
    }
  });

test('node-redis and ioredis: every message once, in order, on every loop', async () => {
  const url = `redis://127.0.0.1:${server.redisPort}`;
  const publishers = await Promise.all(Array.from({ length: 4 }, () => createClient({ url }).connect()));
  const listeners = await Promise.all(Array.from({ length: 6 }, (_, i) => createClient({ url, RESP: i % 2 ? 3 : 2 }).connect()));
  const io = new Redis(server.redisPort, '127.0.0.1');
  const heard = listeners.map(() => []), matched = [];
  await Promise.all(listeners.map((client, i) => client.subscribe('chat', (text) => heard[i].push(text))));
  await io.ping(); // it asks for INFO first, which a subscriber may not
  await io.psubscribe('ch?t');
  io.on('pmessage', (pattern, channel, text) => matched.push(text));
  const count = 300;
  const received = await Promise.all(publishers.map(async (client, n) => {
    const counts = [];
    for (let i = 0; i < count; i += 10)
      counts.push(...await Promise.all(Array.from({ length: 10 }, (_, j) => client.publish('chat', `${n}:${i + j}`))));
    return counts;
  }));
  assert.deepEqual([...new Set(received.flat().map(Number))], [listeners.length + 1]);
  await until(() => [...heard, matched].every((list) => list.length >= publishers.length * count), () => `${heard.map(({ length }) => length)} ${matched.length}`);
  for (const list of [...heard, matched]) {
    assert.equal(list.length, publishers.length * count);
    for (let n = 0; n < publishers.length; n++)
      assert.deepEqual(list.filter((text) => text.startsWith(`${n}:`)), Array.from({ length: count }, (_, i) => `${n}:${i}`));
  }
  await Promise.all([...publishers, ...listeners].map((client) => client.quit?.() ?? client.close()));
  io.disconnect();
});

test('a message of a transaction comes when it is committed', async () => {
  const [listener, publisher] = await Promise.all([openRaw(server.redisPort), connect(server.redisPort, 2)]);
  listener.send('SUBSCRIBE', 'moves');
  await until(() => listener.heard.includes('subscribe'), () => 'not subscribed');
  await publisher.ask('MULTI');
  await publisher.ask('ZADD', 'moved', 1, 'a');
  await publisher.ask('PUBLISH', 'moves', 'committed');
  assert.deepEqual(await publisher.ask('EXEC'), [1, 1]);
  await until(() => listener.heard.includes('committed'), () => listener.heard);
  await publisher.ask('WATCH', 'moved');
  await publisher.ask('MULTI');
  await publisher.ask('PUBLISH', 'moves', 'never');
  const other = await connect(server.redisPort, 2);
  await other.ask('ZADD', 'moved', 2, 'b');
  assert.equal(await publisher.ask('EXEC'), null);
  assert.equal(await publisher.ask('PUBLISH', 'moves', 'end'), 1);
  await until(() => listener.heard.includes('\r\nend\r\n'), () => listener.heard);
  assert.ok(!listener.heard.includes('never'));
  other.close(); publisher.close(); listener.close();
});

test('who does not read is cut off; others hear all', async () => {
  const slow = await openRaw(server.redisPort), quick = await openRaw(server.redisPort), publisher = await connect(server.redisPort, 2);
  slow.send('SUBSCRIBE', 'flood');
  quick.send('SUBSCRIBE', 'flood');
  await until(() => slow.heard.includes('subscribe') && quick.heard.includes('subscribe'), () => 'not subscribed');
  quick.heard = '';
  let bytes = 0;
  quick.socket.on('data', () => { bytes += quick.heard.length; quick.heard = ''; });
  slow.socket.pause();
  const text = 'x'.repeat(256 * 1024);
  let receivers = 2, sent = 0;
  for (const end = Date.now() + 60000; receivers === 2 && Date.now() < end; sent++) receivers = await publisher.ask('PUBLISH', 'flood', text);
  assert.equal(receivers, 1, 'it was cut off');
  await until(() => bytes >= sent * text.length, () => `${bytes} of ${sent * text.length}`);
  assert.equal(quick.gone, false);
  quick.close(); publisher.close(); slow.close();
});

test('CLIENT KILL ends a connection at once', async () => {
  const victim = await openRaw(server.redisPort), killer = await connect(server.redisPort, 2);
  victim.send('CLIENT', 'ID');
  await until(() => victim.heard.includes('\r\n'), () => 'no number');
  const id = victim.heard.slice(1).trim();
  assert.equal(await killer.ask('CLIENT', 'KILL', 'ID', id), 1);
  await until(() => victim.gone, () => 'it is still there');
  for (const end = Date.now() + 60_000; ;) { // lists are a second old at most
    const list = await killer.ask('CLIENT', 'LIST');
    if (!list.includes(`id=${id} `)) break;
    assert.ok(Date.now() < end, 'it is still listed');
  }
  killer.close();
});

test('messages are for keys without partitions; sending takes the right to write', async () => {
  const file = path.join(temporaryFolder(), 'keys.json');
  const add = (...args) => {
    const { status, stdout, stderr } = spawnSync(program, ['keys', 'add', '--keys', file, ...args], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return /id\s+(\S+)\nsecret access key\s+(\S+)\n/.exec(stdout).slice(1);
  };
  const keys = { all: add('--table', '*'), reads: add('--table', '*', '--allow', 'read'), limited: add('--table', '*', '--partition', 'BOARD#mine') };
  const guarded = await startServer({ args: ['--keys', file] });
  const as = async (who) => {
    const client = await connect(guarded.redisPort, 3);
    if (keys[who]) assert.equal(await client.ask('AUTH', ...keys[who]), 'OK');
    return client;
  };
  const [all, reads, limited] = await Promise.all(Object.keys(keys).map(as));
  assert.equal(await all.ask('PUBLISH', 'c', 'x'), 0);
  assert.match((await reads.ask('PUBLISH', 'c', 'x')).error, /NOPERM/);
  assert.match((await limited.ask('PUBLISH', 'c', 'x')).error, /NOPERM/);
  assert.match((await limited.ask('SUBSCRIBE', 'c')).error, /NOPERM/);
  assert.match((await limited.ask('EVAL', "return redis.call('PUBLISH', 'c', 'x')", 0)).error, /can't/);
  assert.deepEqual(await reads.ask('SUBSCRIBE', 'c'), ['subscribe', 'c', 1]);
  for (const client of [all, reads, limited]) client.close();
  assert.equal(await guarded.stop(), 0);
});
