// The Redis face as a connection sees it: framing, order, who may come in, encryption, waiting, the end.
// What single commands answer is compared with Redis itself in redis-diff.test.mjs.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test, { after, before } from 'node:test';
import tls from 'node:tls';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { createClient } from 'redis';
import { connect, decode, encode, plain } from '../redis/resp.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

let server;
before(async () => { server = await startServer(); });
after(async () => assert.equal(await server.stop(), 0));

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const plainly = (replies) => replies.map((reply) => plain(decode(reply)));
async function withClient(run, port = server.redisPort, version = 2) {
  const client = await connect(port, version);
  try {
    await run(client);
  } finally {
    client.close();
  }
}
// Sends bytes and resolves to all that comes back until the server ends the connection.
async function exchange(bytes, { port = server.redisPort, pieces = false } = {}) {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (chunk) => { text += chunk.toString('latin1'); });
  const ended = once(socket, 'end');
  if (pieces)
    for (const byte of Buffer.from(bytes, 'latin1')) {
      socket.write(Buffer.of(byte));
      await pause(1);
    }
  else socket.write(Buffer.from(bytes, 'latin1'));
  await ended;
  socket.destroy();
  return text;
}

test('a connection that speaks HTTP is ended before its body is run', async () => {
  for (const head of ['POST / HTTP/1.1\r\n', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n', 'host: x\r\n']) {
    const heard = await exchange(`${head}\r\nZADD smuggled 1 a\r\n`);
    assert.doesNotMatch(heard, /:1/);
  }
  await withClient(async (client) => assert.equal(await client.ask('EXISTS', 'smuggled'), 0));
});

test('requests that cannot be understood end the connection, after the replies before them', async () => {
  const cases = [
    ['*x\r\n', 'invalid multibulk length'],
    ['*1\r\nPING\r\n', "expected '$', got 'P'"],
    ['*1\r\n$-1\r\n', 'invalid bulk length'],
    ['*1\r\n$999999999\r\n', 'invalid bulk length'],
    ['*99999999\r\n', 'invalid multibulk length'],
    ['PING "x\r\n', 'unbalanced quotes in request'],
    ['x'.repeat(70000), 'too big inline request'],
  ];
  for (const [bytes, fault] of cases) {
    const expected = `-ERR Protocol error: ${fault}\r\n`;
    assert.equal(await exchange(bytes), expected);
    assert.equal(await exchange(`PING\r\nZADD faults 1 a\r\n${bytes}`).then((text) => text.replace(/^\+PONG\r\n:[01]\r\n/, '')), expected);
  }
});

test('lines of words, and requests byte for byte', async () => {
  assert.equal(await exchange('PING\r\n\r\nping "a b"\nZADD inline 1 \'x y\'\r\nZRANGE inline 0 -1\r\nQUIT\r\n'),
    '+PONG\r\n$3\r\na b\r\n:1\r\n*1\r\n$3\r\nx y\r\n+OK\r\n');
  assert.equal(await exchange(`${encode(['ZADD', 'bytes', '1', 'a\r\n'])}${encode(['ZRANGE', 'bytes', '0', '-1'])}QUIT\r\n`, { pieces: true }),
    ':1\r\n*1\r\n$3\r\na\r\n\r\n+OK\r\n');
});

test('replies come in order, and a client reads what it wrote', () => withClient(async (client) => {
  const commands = [], expected = [], seen = new Set();
  for (let i = 0; i < 5000; i++) {
    const member = `m${i % 97}`;
    switch (i % 7) {
      case 0: case 1: case 2:
        commands.push(['ZADD', 'order', i, member]);
        expected.push(seen.has(member) ? 0 : 1);
        seen.add(member);
        break;
      case 3:
        commands.push(['ZADD', 'order', i, 'last'], ['ZSCORE', 'order', 'last']);
        expected.push(undefined, String(i));
        break;
      case 4:
        commands.push(['ECHO', i]);
        expected.push(String(i));
        break;
      case 5:
        commands.push(['ZADD', 'order', 'x', member]);
        expected.push({ error: 'ERR value is not a valid float' });
        break;
      default:
        commands.push(['ZINCRBY', 'counter', 1, 'n'], ['NOPE', i]);
        expected.push(undefined, { error: `ERR unknown command 'NOPE', with args beginning with: '${i}' ` });
    }
  }
  const replies = plainly(await client.pipeline(commands));
  let counted = 0;
  replies.forEach((reply, i) => {
    if (expected[i] !== undefined) assert.deepEqual(reply, expected[i], commands[i].join(' '));
    if (commands[i][0] === 'ZINCRBY') assert.equal(reply, String(++counted));
  });
}));

// Reads of a kind that follow one another are answered together: nobody can tell.
for (const version of [2, 3])
  test(`reads in a pipeline are answered as if each came alone, RESP ${version}`, () => withClient(async (client) => {
    const members = Array.from({ length: 60 }, (_, i) => `m${i}`);
    await client.pipeline(members.map((member, i) => ['ZADD', 'together', i / 4, member]));
    await client.pipeline([['ZADD', 'together-2', 7, 'm1'], ['ZADD', 'together-ends', 1, 'm2'], ['ZADD', 'together', -0.5, ''], ['ZADD', 'together', 'inf', '\0x']]);
    const names = ['ZSCORE', 'zscore', 'ZRANK', 'ZREVRANK', 'ZREVRANK', 'ZSCORE', 'ZMSCORE'];
    const asked = [...members, 'nobody', '', '\0x', 'x'.repeat(1500)];
    const commands = [];
    let dice = 7;
    const below = (n) => { dice = (dice * 1103515245 + 12345) % 2147483648; return Math.floor(dice / 65536) % n; };
    while (commands.length < 3000) {
      const name = names[below(names.length)], key = ['together', 'together', 'together-2', 'no-such', 'k'.repeat(1100)][below(5)];
      for (let run = below(3) === 0 ? 1 : below(70); run >= 0; run--) commands.push([name, key, asked[below(asked.length)]]);
      if (below(3) === 0) commands.push([['ZSCORE', 'together'], ['ZRANK', 'together', 'm1', 'x'], ['ZREVRANK', 'together', 'm5', 'WITHSCORE'], ['PING'], ['ZSCORE', 'together', 'm1', 'm2'], ['ZCARD', 'together']][below(6)]);
    }
    const replies = await client.pipeline(commands);
    assert.equal(replies.length, commands.length);
    const alone = new Map();
    for (const [i, command] of commands.entries()) {
      const text = JSON.stringify(command);
      if (!alone.has(text)) alone.set(text, (await client.send(...command)).toString('latin1'));
      assert.equal(replies[i].toString('latin1'), alone.get(text), text.slice(0, 100));
    }
    assert.deepEqual(plain(decode(replies[commands.findIndex(([name, key, member]) => name === 'ZSCORE' && key === 'together' && member === 'm9')])), '2.25');
    // Between writes, in a transaction, for nobody, in words, before what cannot be understood.
    assert.deepEqual(plainly(await client.pipeline([['ZSCORE', 'together', 'm4'], ['ZSCORE', 'together', 'm8'], ['ZADD', 'together', 5, 'm4'], ['ZSCORE', 'together', 'm4'],
      ['ZSCORE', 'together', 'm8'], ['MULTI'], ['ZSCORE', 'together', 'm4'], ['ZADD', 'together', 1, 'm4'], ['ZSCORE', 'together', 'm4'], ['ZSCORE', 'together', 'm8'], ['EXEC'],
      ['ZSCORE', 'together', 'm4'], ['ZSCORE', 'together', 'm8']])).map((reply) => JSON.stringify(reply).replaceAll('"', '')),
    ['1', '2', '0', '5', '2', 'OK', 'QUEUED', 'QUEUED', 'QUEUED', 'QUEUED', '[5,0,1,2]', '1', '2']);
    const muted = await connect(server.redisPort);
    const heard = await muted.write(Buffer.concat([['CLIENT', 'REPLY', 'SKIP'], ['ZSCORE', 'together', 'm4'], ['CLIENT', 'REPLY', 'OFF'], ['ZSCORE', 'together', 'm4'], ['ZSCORE', 'together', 'm8'], ['CLIENT', 'REPLY', 'ON']].map(encode)));
    assert.equal(heard.toString(), '+OK\r\n');
    assert.equal(await muted.ask('ZSCORE', 'together', 'm8'), '2');
    muted.close();
    assert.equal(await exchange(`ZSCORE together m4\r\nZSCORE together m8\r\n${encode(['ZSCORE', 'together', 'm4'])}${encode(['ZSCORE', 'together', 'm8'])}ZSCORE together m4\r\n*x\r\n`),
      '$1\r\n1\r\n$1\r\n2\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n1\r\n-ERR Protocol error: invalid multibulk length\r\n');
    assert.equal(await exchange(`${encode(['ZSCORE', 'together', 'm4'])}${encode(['ZSCORE', 'together', 'm8'])}*x\r\n`), '$1\r\n1\r\n$1\r\n2\r\n-ERR Protocol error: invalid multibulk length\r\n');
    // A key whose time is up has nobody, whoever asks and however many.
    assert.deepEqual(plainly(await client.pipeline([['PEXPIRE', 'together-ends', 2000], ...Array(3).fill(['ZSCORE', 'together-ends', 'm2'])])).map(String), ['1', '1', '1', '1']);
    await pause(2050);
    assert.deepEqual(plainly(await client.pipeline(Array(3).fill(['ZSCORE', 'together-ends', 'm2']))), [null, null, null]);
    await client.ask('DEL', 'together', 'together-2', 'together-ends');
  }, server.redisPort, version));

test('more writes than the engine takes at once wait, and none is refused', async () => {
  const clients = await Promise.all(Array.from({ length: 40 }, () => connect(server.redisPort)));
  const replies = await Promise.all(clients.map((client, c) =>
    client.pipeline(Array.from({ length: 1000 }, (_, i) => ['ZADD', 'flood', i, `${c}-${i}`]))));
  for (const each of replies) for (const reply of each) assert.equal(reply.toString(), ':1\r\n');
  assert.equal(await clients[0].ask('ZCARD', 'flood'), 40000);
  // Some leave in the middle of it; the others do not notice.
  const leaving = clients.slice(0, 20), staying = clients.slice(20);
  for (const client of leaving) client.pipeline(Array.from({ length: 1000 }, (_, i) => ['ZINCRBY', 'left', 1, i])).catch(() => {});
  const stayed = Promise.all(staying.map((client) => client.pipeline(Array.from({ length: 1000 }, () => ['ZINCRBY', 'stayed', 1, 'n']))));
  await pause(5);
  for (const client of leaving) client.close();
  const sums = (await stayed).flat().map((reply) => plain(decode(reply))).map(Number).sort((a, b) => a - b);
  assert.deepEqual(sums, Array.from({ length: 20000 }, (_, i) => i + 1));
  for (const client of staying) client.close();
});

test('a client that stops sending still gets its replies', async () => {
  const socket = net.connect({ port: server.redisPort, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.on('data', (chunk) => { text += chunk; });
  socket.end(Buffer.concat([encode(['ZADD', 'half', '5', 'a']), encode(['ZSCORE', 'half', 'a'])]));
  await once(socket, 'end');
  assert.equal(text, ':1\r\n$1\r\n5\r\n');
});

test('a large reply to a slow reader comes whole', () => withClient(async (client) => {
  const add = ['ZADD', 'large'];
  for (let i = 0; i < 50000; i++) add.push(i, `member-${i}-${'x'.repeat(60)}`);
  assert.deepEqual(plainly(await client.pipeline([add])), [50000]);
  client.socket.pause();
  const asked = client.pipeline(Array.from({ length: 6 }, () => ['ZRANGE', 'large', '0', '-1']));
  await pause(100);
  client.socket.resume();
  for (const reply of plainly(await asked)) {
    assert.equal(reply.length, 50000);
    assert.equal(reply[49999], `member-49999-${'x'.repeat(60)}`);
  }
}));

test('INFO commandstats counts each command, and CONFIG RESETSTAT begins again', () => withClient(async (client) => {
  const stats = async () => Object.fromEntries((await client.ask('INFO', 'commandstats')).split('\r\n').filter((line) => line.startsWith('cmdstat_')).map((line) => {
    const [, name, calls, usec, each, rejected, failed] = /^cmdstat_([^:]+):calls=(\d+),usec=(\d+),usec_per_call=(\d+\.\d\d),rejected_calls=(\d+),failed_calls=(\d+)$/.exec(line);
    assert.ok(Math.abs(each - (calls === '0' ? 0 : usec / calls)) < 0.0051, line); // 0.625 may be told as 0.62 or 0.63
    return [name, [calls, rejected, failed].map(Number)];
  }));
  assert.equal(await client.ask('CONFIG', 'RESETSTAT'), 'OK');
  assert.deepEqual(await stats(), { 'config|resetstat': [1, 0, 0] });
  assert.equal(await client.ask('CONFIG', 'RESETSTAT'), 'OK');
  const commands = [
    ['ZADD', 'counted', '1', 'a'], ['ZADD', 'counted', 'x', 'a'], ['ZADD', 'counted'], ['ZSCORE', 'counted', 'a'], ['zscore', 'counted', 'b'],
    ...Array(40).fill(['ZRANK', 'counted', 'a']), ['ZREVRANK', 'counted', 'a'], ['ZREVRANK', 'counted', 'b'], ...Array(3).fill(['ZSCORE', 'k'.repeat(1100), 'a']),
    ['NOSUCH'], ['ZRANGE', 'counted', 'x', '1'], ['ZPOPMIN', 'counted'], ['EXEC'], ['BZPOPMIN', 'counted', '0.01'], ['CONFIG', 'GET', 'port'],
    ['MULTI'], ['ZADD', 'counted', '2', 'b'], ['ZSCORE', 'counted', 'b'], ['ZINCRBY', 'counted', 'x', 'b'], ['EXEC'], // on the engine's thread,
    ['MULTI'], ['ZADD', 'counted', '3', 'c'], ['ZINCRBY', 'counted', '1', 'd'], ['EXEC'], // with others' writes,
    ['MULTI'], ['ZCARD', 'counted'], ['ZCARD'], ['EXEC'], ['MULTI'], ['ZCARD', 'counted'], ['DISCARD'], // and not at all
  ];
  await client.pipeline(commands);
  const { info, 'config|resetstat': reset, ...counted } = await stats();
  assert.deepEqual(counted, {
    zadd: [4, 1, 1], zscore: [6, 0, 3], zrank: [40, 0, 0], zrevrank: [2, 0, 0], zrange: [1, 0, 1], zpopmin: [1, 0, 0], bzpopmin: [1, 0, 0], 'config|get': [1, 0, 0],
    multi: [4, 0, 0], exec: [4, 0, 2], zincrby: [2, 0, 1], zcard: [0, 1, 0], discard: [1, 0, 0],
  });
  assert.equal(info, undefined, 'it counts itself when it is done');
  assert.deepEqual((await stats()).info, [1, 0, 0]);
  await client.ask('DEL', 'counted');
}));

test('CLIENT: names, lists, ends others, wants no replies', () => withClient(async (client) => {
  const other = await connect(server.redisPort);
  const id = await other.ask('CLIENT', 'ID');
  assert.equal(await other.ask('CLIENT', 'SETNAME', 'number-two'), 'OK');
  assert.equal(await other.ask('CLIENT', 'GETNAME'), 'number-two');
  assert.deepEqual(await other.ask('CLIENT', 'SETNAME', 'a b'), { error: 'ERR Client names cannot contain spaces, newlines or special characters.' });
  assert.equal(await other.ask('CLIENT', 'SETINFO', 'LIB-NAME', 'bare'), 'OK');
  const list = await client.ask('CLIENT', 'LIST');
  assert.match(list, new RegExp(`^id=${id} addr=127\\.0\\.0\\.1:\\d+ .*name=number-two .*lib-name=bare`, 'm'));
  assert.match(await client.ask('CLIENT', 'LIST', 'ID', id), /^id=\d+ .*cmd=client user=default redir=-1 resp=2 .*\n$/);
  assert.equal(await client.ask('CLIENT', 'KILL', 'ID', id), 1);
  await assert.rejects(async () => { for (const end = Date.now() + 60_000; Date.now() < end;) await other.ask('PING'); });
  assert.deepEqual(await client.ask('CLIENT', 'KILL', '127.0.0.1:1'), { error: 'ERR No such client' });
  assert.deepEqual(await client.ask('CLIENT', 'KILL', 'TYPE', 'nope'), { error: "ERR Unknown client type 'nope'" });
  assert.deepEqual(await client.ask('CLIENT', 'KILL', 'USER', 'nope'), { error: "ERR No such user 'nope'" });
  for (const type of ['master', 'replica', 'PubSub']) assert.equal(await client.ask('CLIENT', 'KILL', 'TYPE', type), 0);
  // Nothing comes back for what was not wanted.
  const socket = await connect(server.redisPort);
  const [last] = await Promise.all([
    socket.write(Buffer.concat([['CLIENT', 'REPLY', 'SKIP'], ['PING'], ['CLIENT', 'REPLY', 'OFF'], ['ZADD', 'muted', '1', 'a'], ['PING'],
      ['CLIENT', 'REPLY', 'ON']].map(encode))),
  ]);
  assert.equal(last.toString(), '+OK\r\n');
  assert.equal(await socket.ask('ZSCORE', 'muted', 'a'), '1');
  socket.close();
}));

test('HELLO, RESET, SELECT', () => withClient(async (client) => {
  assert.deepEqual(await client.ask('HELLO', '4'), { error: 'NOPROTO unsupported protocol version' });
  assert.equal((await client.send('HELLO', '3', 'SETNAME', 'x')).toString('latin1', 0, 4), '%7\r\n');
  assert.equal((await client.send('ZSCORE', 'nobody', 'a')).toString(), '_\r\n');
  assert.equal(await client.ask('CLIENT', 'GETNAME'), 'x');
  assert.equal(await client.ask('MULTI'), 'OK');
  assert.equal(await client.ask('RESET'), 'RESET');
  assert.equal((await client.send('ZSCORE', 'nobody', 'a')).toString(), '$-1\r\n');
  assert.equal(await client.ask('CLIENT', 'GETNAME'), null);
  assert.equal(await client.ask('SELECT', '0'), 'OK');
  assert.equal(await client.ask('SELECT', '15'), 'OK');
  assert.deepEqual(await client.ask('SELECT', '16'), { error: 'ERR DB index is out of range' });
  assert.equal(await client.ask('SELECT', '0'), 'OK');
  assert.deepEqual(await client.ask('AUTH', 'x'), {
    error: 'ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?' });
}));

// ---- waiting ----

test('who waits longest is served first, and nobody else', async () => {
  const waiting = [], client = await connect(server.redisPort);
  const untilBlocked = async (count) => {
    while (!(await client.ask('INFO', 'clients')).includes(`blocked_clients:${count}\r`)) await pause(5);
  };
  for (let i = 0; i < 4; i++) {
    waiting.push(await connect(server.redisPort));
    waiting[i].popped = waiting[i].ask('BZPOPMIN', 'queue', 'other', '0');
    await untilBlocked(i + 1);
  }
  assert.equal(await client.ask('ZADD', 'queue', '1', 'a', '2', 'b'), 2);
  assert.deepEqual(await waiting[0].popped, ['queue', 'a', '1']);
  assert.deepEqual(await waiting[1].popped, ['queue', 'b', '2']);
  // One that has gone takes nothing with it.
  waiting[2].popped.catch(() => {});
  waiting[2].close();
  await untilBlocked(1);
  assert.equal(await client.ask('ZADD', 'other', '3', 'c'), 1);
  assert.deepEqual(await waiting[3].popped, ['other', 'c', '3']);
  assert.equal(await client.ask('EXISTS', 'queue', 'other'), 0);
  for (const each of [...waiting, client]) each.close();
});

test('a wait ends: by time, by another client, by a write of another face', async () => {
  const waiting = await connect(server.redisPort), client = await connect(server.redisPort);
  const began = Date.now();
  assert.equal(await waiting.ask('BZPOPMAX', 'nothing', '0.2'), null);
  assert.ok(Date.now() - began >= 195);
  const id = await waiting.ask('CLIENT', 'ID');
  let popped = waiting.ask('BZPOPMAX', 'nothing', '0');
  // What follows in the pipeline waits, too.
  const after = waiting.ask('PING');
  const unblock = async (...how) => {
    while ((await client.ask('CLIENT', 'UNBLOCK', id, ...how)) !== 1) await pause(10); // it does not wait yet
  };
  await unblock();
  assert.equal(await popped, null);
  assert.equal(await after, 'PONG');
  popped = waiting.ask('BZPOPMAX', 'nothing', '0');
  await unblock('ERROR');
  assert.deepEqual(await popped, { error: 'UNBLOCKED client unblocked via CLIENT UNBLOCK' });
  assert.equal(await client.ask('CLIENT', 'UNBLOCK', id), 0);
  popped = waiting.ask('BZMPOP', '0', '1', 'fromoutside', 'MIN');
  await pause(50);
  const sdk = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } });
  const N = (number) => ({ N: String(number) });
  await sdk.send(new PutItemCommand({ TableName: 'gametable',
    Item: { PK: { S: 'BOARD#fromoutside' }, SK: { S: 'ann' }, score: N(7), subscore: N(0), tie: N(0) } }));
  assert.deepEqual(await popped, ['fromoutside', [['ann', '7']]]);
  sdk.destroy();
  waiting.close();
  client.close();
});

test('a wait is for a bounded number of keys', async () => {
  const client = await connect(server.redisPort);
  const keys = Array.from({ length: 2049 }, (_, i) => `awaited${i}`);
  assert.deepEqual(await client.ask('BZPOPMIN', ...keys, '0'), { error: 'ERR a command that waits takes at most 2048 keys' });
  assert.match((await client.ask('BZMPOP', '0', '2049', ...keys, 'MIN')).error, /at most 2048 keys/);
  assert.equal(await client.ask('BZPOPMAX', ...keys.slice(1), '0.01'), null);
  assert.equal(await client.ask('ZMPOP', '2049', ...keys, 'MIN'), null); // does not wait
  client.close();
});

test('a server stops while clients wait and idle', async () => {
  const other = await startServer();
  const idle = await connect(other.redisPort), waiting = await connect(other.redisPort);
  await idle.ask('PING');
  const popped = waiting.ask('BZPOPMIN', 'x', '0');
  popped.catch(() => {});
  await pause(50);
  const began = Date.now();
  assert.equal(await other.stop(), 0); // neither would end by itself
  assert.ok(Date.now() - began < 10_000, `it took ${Date.now() - began} ms`);
  await assert.rejects(popped);
});

// ---- who may come in ----

const folder = temporaryFolder();
const keyFile = path.join(folder, 'keys.json');
function addKey(...args) {
  const { status, stdout, stderr } = spawnSync(program, ['keys', 'add', '--keys', keyFile, ...args], { encoding: 'utf8', timeout: 120_000 });
  assert.equal(status, 0, stderr);
  const [, id, secret] = /id\s+(\S+)\nsecret access key\s+(\S+)\n/.exec(stdout);
  return { id, secret };
}

test('access keys: AUTH, HELLO, what a key may do', async () => {
  const all = addKey('--table', '*', '--allow', 'all');
  const reader = addKey('--table', 'gametable', '--allow', 'read');
  const elsewhere = addKey('--table', 'other', '--allow', 'all');
  const scoped = addKey('--table', 'gametable', '--partition', 'BOARD#ann:*', '--allow', 'read,write');
  const ofStrings = addKey('--table', 'gametable', '--partition', 'KEY#ann:*', '--allow', 'read,write');
  const guarded = await startServer({ args: ['--keys', keyFile] });
  const as = async ({ id, secret }) => {
    const client = await connect(guarded.redisPort);
    assert.equal(await client.ask('AUTH', id, secret), 'OK');
    return client;
  };
  try {
    const stranger = await connect(guarded.redisPort);
    const noauth = { error: 'NOAUTH Authentication required.' };
    for (const command of [['PING'], ['ZADD', 'k', '1', 'a'], ['CLIENT', 'LIST'], ['MULTI'], ['COMMAND']])
      assert.deepEqual(await stranger.ask(...command), noauth, command.join(' '));
    const wrong = { error: 'WRONGPASS invalid username-password pair or user is disabled.' };
    assert.deepEqual(await stranger.ask('AUTH', 'wrong'), wrong);
    assert.deepEqual(await stranger.ask('AUTH', all.id, reader.secret), wrong);
    assert.deepEqual(await stranger.ask('AUTH', 'default', ''), wrong);
    assert.match((await stranger.ask('HELLO', '3')).error, /^NOAUTH HELLO must be called with the client already authenticated/);
    assert.deepEqual(await stranger.ask('HELLO', '3', 'AUTH', all.id, 'wrong'), wrong);
    assert.equal(await exchange('*11\r\n', { port: guarded.redisPort }), '-ERR Protocol error: unauthenticated multibulk length\r\n');
    assert.equal(await exchange('*1\r\n$20000\r\n', { port: guarded.redisPort }), '-ERR Protocol error: unauthenticated bulk length\r\n');
    assert.equal(await stranger.ask('AUTH', all.secret), 'OK');
    assert.equal(await stranger.ask('ZADD', 'k', '1', 'a'), 1);
    assert.equal(await stranger.ask('RESET'), 'RESET');
    assert.deepEqual(await stranger.ask('ZSCORE', 'k', 'a'), noauth);
    assert.deepEqual(plainly(await stranger.pipeline(Array(3).fill(['ZSCORE', 'k', 'a']))), [noauth, noauth, noauth]);
    stranger.close();

    const reading = await as(reader);
    assert.equal(await reading.ask('ZSCORE', 'k', 'a'), '1');
    assert.deepEqual(await reading.ask('ZADD', 'k', '2', 'a'), { error: "NOPERM this user has no permissions to run the 'zadd' command" });
    assert.equal(await reading.ask('MULTI'), 'OK');
    assert.match((await reading.ask('ZREM', 'k', 'a')).error, /^NOPERM/);
    assert.match((await reading.ask('EXEC')).error, /^EXECABORT/);
    const other = await as(elsewhere);
    assert.match((await other.ask('ZSCORE', 'k', 'a')).error, /^NOPERM/);
    assert.equal(await other.ask('PING'), 'PONG');
    const ann = await as(scoped);
    const keyed = { error: 'NOPERM this user has no permissions to access one of the keys used as arguments' };
    assert.equal(await ann.ask('ZADD', 'ann:1', '1', 'a'), 1);
    assert.deepEqual(await ann.ask('ZADD', 'k', '1', 'a'), keyed);
    assert.deepEqual(await ann.ask('ZUNION', '2', 'ann:1', 'k'), keyed);
    assert.deepEqual(await ann.ask('KEYS', '*'), keyed);
    assert.deepEqual(await ann.ask('ZUNION', '1', 'ann:1'), ['a']);
    // A board's partition is not a key's, and a database has partitions of its own.
    assert.deepEqual(await ann.ask('SET', 'ann:2', 'x'), keyed);
    assert.equal(await ann.ask('SELECT', '1'), 'OK');
    assert.deepEqual(await ann.ask('ZADD', 'ann:1', '1', 'a'), keyed);
    assert.equal(await ann.ask('SELECT', '0'), 'OK');
    assert.deepEqual(await ann.ask('COPY', 'ann:1', 'ann:1', 'DB', '1'), keyed);
    assert.deepEqual(await ann.ask('MOVE', 'ann:1', '1'), keyed);
    const everywhere = await as(all);
    for (const key of ['ann:s', 'k:s']) assert.equal(await everywhere.ask('SET', key, 'v'), 'OK');
    for (const command of [['DEL', 'ann:s'], ['TYPE', 'ann:s'], ['RENAME', 'ann:1', 'ann:s'], ['EXPIRE', 'ann:s', '1'], ['ZADD', 'ann:s', '1', 'm']])
      assert.deepEqual(await ann.ask(...command), keyed, command.join(' '));
    assert.equal(await ann.ask('RENAME', 'ann:1', 'ann:3'), 'OK');
    const strings = await as(ofStrings);
    assert.equal(await strings.ask('GET', 'ann:s'), 'v');
    assert.deepEqual(await strings.ask('GET', 'k:s'), keyed);
    assert.deepEqual(plainly(await strings.pipeline([['GET', 'ann:s'], ['GET', 'k:s'], ['GET', 'ann:s']])), ['v', keyed, 'v']);
    assert.deepEqual(await strings.ask('MGET', 'ann:s', 'k:s'), keyed);
    for (const command of [['SET', 'ann:3', 'x'], ['DEL', 'ann:3'], ['TYPE', 'ann:3'], ['ZCARD', 'ann:3'], ['COPY', 'ann:s', 'ann:3', 'REPLACE']])
      assert.deepEqual(await strings.ask(...command), keyed, command.join(' '));
    assert.equal(await strings.ask('MULTI'), 'OK');
    assert.equal(await strings.ask('DEL', 'ann:3'), 'QUEUED');
    assert.equal(await strings.ask('INCR', 'ann:n'), 'QUEUED');
    assert.deepEqual(await strings.ask('EXEC'), [keyed, 1]);
    assert.equal(await everywhere.ask('ZCARD', 'ann:3'), 1);
    assert.equal(await strings.ask('DEL', 'ann:s'), 1);
    for (const client of [other, ann, strings, everywhere]) client.close();

    // node-redis, with the key's id as the user.
    const client = createClient({ socket: { host: '127.0.0.1', port: guarded.redisPort }, username: all.id, password: all.secret });
    await client.connect();
    assert.equal(await client.zScore('k', 'a'), 1);
    await client.quit();

    // A key that is taken away ends what it has opened (revoked.test.mjs).
    const { keys } = JSON.parse(readFileSync(keyFile, 'utf8'));
    writeFileSync(keyFile, JSON.stringify({ keys: keys.filter(({ id }) => id !== reader.id) }), { mode: 0o600 });
    const ended = once(reading.socket, 'close');
    process.kill(guarded.pid, 'SIGHUP');
    await ended;
  } finally {
    assert.equal(await guarded.stop(), 0);
  }
});

test('beyond loopback only with keys; off is off; a taken port is told', async () => {
  const start = (...args) => spawnSync(program, ['serve', '--memory', '--http', '127.0.0.1:0', ...args], { encoding: 'utf8', timeout: 120_000 });
  let { status, stderr } = start('--redis', '0.0.0.0:0');
  assert.equal(status, 2);
  assert.match(stderr, /0\.0\.0\.0 is not a loopback address/);
  ({ status, stderr } = start('--redis', 'nowhere'));
  assert.equal(status, 2);
  assert.match(stderr, /HOST:PORT such as 127\.0\.0\.1:6380, or off/);
  ({ status, stderr } = start('--redis', `127.0.0.1:${server.redisPort}`));
  assert.equal(status, 1);
  assert.match(stderr, /is taken by another program/);
  ({ status, stderr } = start('--redis', '127.0.0.1:0', '--redis-tls'));
  assert.equal(status, 2);
  assert.match(stderr, /--redis-tls needs --tls-cert and --tls-key/);
  const without = await startServer({ redis: 'off' });
  assert.equal(without.redisPort, undefined);
  assert.equal(await without.stop(), 0);
});

test('one connection too many hears why', async () => {
  const small = await startServer({ args: ['--max-connections', '2'] });
  const clients = [await connect(small.redisPort), await connect(small.redisPort)];
  for (const client of clients) assert.equal(await client.ask('PING'), 'PONG');
  assert.equal(await exchange('', { port: small.redisPort }), '-ERR max number of clients reached\r\n');
  clients[0].close();
  let answer;
  for (const end = Date.now() + 60_000; answer !== 'PONG' && Date.now() < end;)
    await withClient(async (client) => { answer = await client.ask('PING').catch(() => pause(20)); }, small.redisPort);
  assert.equal(answer, 'PONG', 'there is room again');
  clients[1].close();
  assert.equal(await small.stop(), 0);
});

test('encrypted', async () => {
  const at = (name) => path.join(folder, name);
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', at('key'),
    '-out', at('crt'), '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'], { stdio: 'ignore' });
  const encrypted = await startServer({ args: ['--tls-cert', at('crt'), '--tls-key', at('key'), '--redis-tls'] });
  try {
    assert.match(encrypted.printed(), /Redis\s+127\.0\.0\.1:\d+, encrypted/);
    const socket = tls.connect({ host: '127.0.0.1', port: encrypted.redisPort, ca: readFileSync(at('crt')) });
    await once(socket, 'secureConnect');
    const count = 20000;
    let text = '';
    socket.on('data', (chunk) => { text += chunk; });
    for (let i = 0; i < count; i++) socket.write(encode([i % 10 === 0 ? 'ZADD' : 'ECHO', ...(i % 10 === 0 ? ['k', '1', `m${i}`] : [i])]));
    for (let i = 0; i < 3000 && !text.endsWith(`${count - 1}\r\n`); i++) await pause(20);
    let expected = '';
    for (let i = 0; i < count; i++) expected += i % 10 === 0 ? ':1\r\n' : `$${String(i).length}\r\n${i}\r\n`;
    assert.equal(text, expected);
    socket.destroy();
    // A client that does not encrypt is shut out, and harms nobody.
    const plainSocket = net.connect(encrypted.redisPort, '127.0.0.1');
    plainSocket.on('error', () => {});
    plainSocket.write('PING\r\n');
    await once(plainSocket, 'close');
  } finally {
    assert.equal(await encrypted.stop(), 0);
  }
});

test('AGGREGATE COUNT adds up the weights of the sets that have the member', () => withClient(async (client) => {
  await client.ask('ZADD', 'count:a', '10', 'x', '20', 'y');
  await client.ask('ZADD', 'count:b', '-5', 'x', '7', 'z');
  assert.deepEqual(await client.ask('ZUNION', '2', 'count:a', 'count:b', 'AGGREGATE', 'COUNT', 'WITHSCORES'), ['y', '1', 'z', '1', 'x', '2']);
  assert.deepEqual(await client.ask('ZUNION', '2', 'count:a', 'count:b', 'AGGREGATE', 'count', 'WEIGHTS', '3', '2', 'WITHSCORES'), ['z', '2', 'y', '3', 'x', '5']);
  assert.deepEqual(await client.ask('ZINTER', '2', 'count:a', 'count:b', 'WEIGHTS', '3', '2', 'AGGREGATE', 'COUNT', 'WITHSCORES'), ['x', '5']);
  assert.equal(await client.ask('ZUNIONSTORE', 'count:c', '2', 'count:a', 'count:b', 'AGGREGATE', 'COUNT'), 3);
  assert.equal(await client.ask('ZSCORE', 'count:c', 'x'), '2');
  assert.deepEqual(await client.ask('ZDIFF', '2', 'count:a', 'count:b', 'AGGREGATE', 'COUNT'), { error: 'ERR syntax error' });
}));
