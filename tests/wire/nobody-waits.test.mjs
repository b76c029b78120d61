// Nobody waits behind another client's command, and no client takes the server's memory. Nothing here is about
// milliseconds: what is asserted is who is answered before whom, how far the server goes, and what it needs for it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import test, { after, before } from 'node:test';
import { createClient } from 'redis';
import { startServer } from '../lib/server.mjs';

const SIZE = 20000; // members of the sets that take long
let server, redis;

before(async () => {
  server = await startServer({ args: ['--threads', '1'] }); // one loop: who holds it holds all
  redis = await connect();
  for (const key of ['a', 'b'])
    for (let at = 0; at < SIZE; at += 1000)
      await redis.zAdd(key, Array.from({ length: 1000 }, (_, i) => ({ score: (at + i) % 977, value: `m${at + i}` })));
});
after(async () => {
  await redis.quit();
  assert.equal(await server.stop(), 0);
});

const connect = () => createClient({ url: `redis://127.0.0.1:${server.redisPort}` }).connect();
const encodeAll = (words) => `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
const encode = (...words) => encodeAll(words);
// A socket that has sent all this when it is resolved, and whose replies are not read yet.
const sendRaw = (text) => new Promise((resolve, reject) => {
  const socket = net.connect(server.redisPort, '127.0.0.1');
  socket.on('error', reject);
  socket.on('connect', () => socket.write(text, () => resolve(socket)));
});
// Resolves when `count` lines that begin with the sign have come.
const lines = (socket, sign, count) => new Promise((resolve) => {
  socket.on('data', (part) => {
    for (const byte of part) if (byte === sign.charCodeAt(0)) count--;
    if (count <= 0) resolve();
  });
});
// Resolves to what `find` finds in all that has come.
const once = (socket, event, find) => new Promise((resolve, reject) => {
  let text = '';
  socket.on('close', () => reject(new Error(`closed after ${text}`)));
  socket.on(event, (part) => {
    const found = find(text += part.toString('latin1'));
    if (found) resolve(found);
  });
});
// Sends what takes long, asks meanwhile, and is content if that is answered before it is over. A machine that does not
// let this process ask in time gets twice as much to do; where others wait for the end it is over every time.
async function meanwhile({ text, sign, count, ask }) {
  for (let times = 1; ; times *= 2) {
    const socket = await sendRaw(text(count * times));
    let over = false;
    const all = lines(socket, sign, count * times).then(() => (over = true));
    await ask();
    const before = !over;
    await all;
    socket.destroy();
    if (before) return;
    assert.ok(times < 16, 'others wait until it is over');
  }
}
const peak = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'latin1'))[1]) / 1024;

test('a write gets in between the many of a pipeline', async () => {
  const one = (i) => encodeAll(['ZADD', 'many', ...Array.from({ length: 100 }, (_, j) => [`${j}`, `m${i * 100 + j}`]).flat()]);
  const socket = await sendRaw(Array.from({ length: 1000 }, (_, i) => one(i)).join(''));
  await new Promise((resolve) => socket.once('data', resolve));
  const other = await sendRaw(encode('ZCARD', 'many') + encode('ZADD', 'other', '1', 'x') + encode('ZCARD', 'many'));
  const [, before, , then] = await once(other, 'data', (text) => /^:(\d+)\r\n:(\d+)\r\n:(\d+)\r\n$/.exec(text));
  assert.ok(then - before < 5000, `${then - before} members came before it`);
  socket.destroy();
  other.destroy();
});

test('others are answered while a pipeline of long reads goes on', () => meanwhile({
  text: (count) => encode('ZINTERCARD', '2', 'a', 'b').repeat(count), sign: ':', count: 100,
  ask: async () => {
    for (let i = 0; i < 5; i++) await redis.ping();
    await redis.zAdd('other', { score: 1, value: 'x' });
  },
}));

test('a pipeline of many middling reads leaves others their turns', () => meanwhile({
  text: (count) => encode('ZRANGE', 'a', '0', '999').repeat(count), sign: '*', count: 3000,
  ask: () => redis.ping(),
}));

test('a transaction of long reads holds no writer, and takes little memory', async () => {
  await meanwhile({
    text: (count) => encode('MULTI') + encode('ZINTERCARD', '2', 'a', 'b').repeat(count) + encode('EXEC'), sign: ':', count: 100,
    ask: async () => { for (let i = 0; i < 3; i++) await redis.zAdd('other', { score: i, value: 'x' }); },
  });
  assert.ok(peak() < 700, `${peak()} MB`);
});

test("one client's writes keep their order, whichever take long", async () => {
  const [stored, popped, second, added, card, lowest] = await Promise.all([
    redis.zUnionStore('to', ['a', 'none']),
    redis.zPopMin('to'),
    redis.zPopMin('to'),
    redis.zAdd('to', { score: -5, value: 'last' }),
    redis.zCard('to'),
    redis.zRange('to', 0, 0),
  ]);
  assert.equal(stored, SIZE);
  assert.deepEqual([popped.value, second.value], ['m0', 'm10747']);
  assert.equal(added, 1);
  assert.equal(card, SIZE - 1);
  assert.deepEqual(lowest, ['last']);
});

test('a long transaction is undone by a write to what it watches', async () => {
  const other = await connect();
  await redis.watch('a');
  await other.zAdd('a', { score: 1, value: 'm1' }); // no change
  const first = await redis.multi().zInterCard(['a', 'b']).zAdd('seen', { score: 1, value: 'x' }).exec();
  assert.deepEqual(first, [SIZE, 1]);
  await redis.watch('a');
  await other.zAdd('a', { score: 5000, value: 'm1' });
  await assert.rejects(redis.multi().zInterCard(['a', 'b']).zAdd('seen', { score: 1, value: 'y' }).exec(), /watched keys/i);
  assert.equal(await redis.zCard('seen'), 1);
  await other.quit();
});

test('who does not read is not served', async () => {
  await redis.sendCommand(['CONFIG', 'RESETSTAT']);
  const COUNT = 400; // of some 300 KB each: the system's own buffers take a few of them
  const socket = await sendRaw(encode('ZRANGE', 'a', '0', '-1').repeat(COUNT));
  const calls = async () => Number(/cmdstat_zrange:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
  let before = -1, now = 0;
  while (now !== before || now === 0) {
    before = now;
    for (let i = 0; i < 200; i++) await redis.ping();
    now = await calls();
  }
  assert.ok(now < COUNT / 2, `${now} of ${COUNT} replies wait in memory`);
  await lines(socket, '*', COUNT); // all are sent to one who reads after all
  assert.equal(await calls(), COUNT);
  socket.destroy();
});

test('what will be refused is refused before the work', async () => {
  for (let at = 0; at < 101000; at += 1000)
    await redis.zAdd('huge', Array.from({ length: 1000 }, (_, i) => ({ score: i, value: `m${at + i}` })));
  // A board with a definition is written in one commit, which has a bound, by itself and in a transaction.
  const defined = await fetch(`${server.endpoint}/v1/boards`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"id":"defined","game":"g"}' });
  assert.equal(defined.status, 201);
  for (const store of [['ZUNIONSTORE', 'defined', '2', 'huge', 'b'], ['ZRANGESTORE', 'defined', 'huge', '0', '-1']]) {
    await assert.rejects(redis.sendCommand(store), /more than 100000 members cannot be stored in one step/);
    await assert.rejects(redis.multi().addCommand(store).exec(), (error) => /cannot be stored in one step/.test(error.replies?.[0]?.message ?? error.message));
  }
  assert.equal(await redis.zCard('defined'), 0);
  assert.equal(await redis.zUnionStore('to', ['huge', 'b']), 101000);
});

test('a million keys can be asked about at once', async () => {
  const names = Array.from({ length: 1_000_000 }, (_, i) => `asked:${i}`);
  await redis.zAdd('asked:7', { score: 1, value: 'x' });
  await redis.set('asked:999999', 'y');
  const socket = await sendRaw(encodeAll(['EXISTS'].concat(names)));
  const answer = once(socket, 'data', (text) => /^[:-].*\r\n/.exec(text));
  for (let i = 0; i < 5; i++) await redis.ping();
  assert.equal((await answer)[0], ':2\r\n');
  socket.destroy();
});

// What others write to unrelated keys all the while does not send it back, however many keys it has looked at; what they
// write to one of its own does.
test('very many keys are set in one step while others write', { timeout: 300_000 }, async () => {
  const pairs = Array.from({ length: 100_000 }, (_, i) => [`many:${i}`, 'v']).flat();
  const other = await connect();
  let going = true, own = false;
  const writes = (async () => {
    for (let i = 0; going; i++) await Promise.all([other.zAdd(`z${i % 5}`, { score: i, value: 'x' }), other.set(`s${i % 5}`, 'y'), own && other.set('many:50000', `${i}`)]);
  })();
  const send = async (command) => {
    const socket = await sendRaw(encodeAll([command].concat(pairs)));
    const [reply] = await once(socket, 'data', (text) => /^[:+-].*\r\n/.exec(text));
    socket.destroy();
    return reply;
  };
  assert.equal(await send('MSETNX'), ':1\r\n');
  assert.equal(await send('MSET'), '+OK\r\n');
  own = true;
  assert.match(await send('MSET'), /^(-TRYAGAIN|\+OK)/);
  going = false;
  await writes;
  await other.quit();
});
