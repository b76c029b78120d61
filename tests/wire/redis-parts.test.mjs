// Commands that name very many keys, members or fields: in several commits, others in between, as if they were one in
// all but that. Nothing here is about time: commits are counted, and replies and what is left are compared.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createClient } from 'redis';
import { startServer } from '../lib/server.mjs';

const MANY = 6000; // arguments; more than 2,048 are divided,
const PART = 512; // into parts of so many
let server, redis;

before(async () => {
  server = await startServer({ args: ['--threads', '1'] });
  redis = await createClient({ url: `redis://127.0.0.1:${server.redisPort}` }).connect();
});
after(async () => {
  await redis.quit();
  assert.equal(await server.stop(), 0);
});

const send = (...words) => redis.sendCommand(words.map(String));
const names = (count = MANY) => Array.from({ length: count }, (_, i) => `n${i}`);
const pairs = (count = MANY / 2) => names(count).flatMap((name, i) => [name, String(i)]);
const scores = (count = MANY / 2) => names(count).flatMap((name, i) => [String(i), name]);
const commits = async () => Number(/\ncommits:(\d+)/.exec(await redis.info())[1]);
// Runs it, and tells how many commits there were meanwhile.
async function counted(run) {
  const begin = await commits();
  const reply = await run();
  return { reply, commits: (await commits()) - begin };
}
// The commits of a command with that many arguments that are divided.
const divided = (args) => Math.ceil(args / PART);
async function fillStrings() {
  for (let at = 0; at < MANY; at += 500) await send('MSET', ...names().slice(at, at + 500).flatMap((name) => [name, 'v']));
}

for (const command of ['DEL', 'UNLINK'])
  test(`${command} of many keys is many commits, and one reply`, async () => {
    await fillStrings();
    await send('DEL', 'n5');
    await send('ZADD', 'n7000', 1, 'm');
    await send('HSET', 'n7001', 'f', 'v');
    const { reply, commits: count } = await counted(() => send(command, ...names(), 'n0', 'n7000', 'n7001'));
    assert.equal(reply, MANY - 1 + 2);
    assert.ok(count >= divided(MANY), `${count} commits`);
    assert.equal(await send('EXISTS', ...names(), 'n7000', 'n7001'), 0);
  });

test('a few very large fields are many commits, too', async () => {
  const fields = Array.from({ length: 6 }, (_, i) => [`f${i}`, `${i}`.repeat(300_000)]).flat();
  const { reply, commits: count } = await counted(() => send('HSET', 'large', ...fields));
  assert.equal(reply, 6);
  assert.ok(count >= 6, `${count} commits`);
  assert.deepEqual((await send('HGETALL', 'large')).sort(), [...fields].sort());
  const one = await counted(() => send('HSET', 'large', ...fields.slice(0, 2)));
  assert.ok(one.commits <= 2, `${one.commits} commits`);
});

test('members and fields are added and removed in many commits', async () => {
  for (const [add, key, args, remove] of [['ZADD', 'z', scores(), 'ZREM'], ['HSET', 'h', pairs(), 'HDEL'], ['SADD', 's', names(), 'SREM']]) {
    const added = await counted(() => send(add, key, ...args));
    const size = add === 'SADD' ? MANY : MANY / 2;
    assert.equal(added.reply, size);
    assert.ok(added.commits >= divided(args.length), `${add}: ${added.commits} commits`);
    assert.equal(await send(add, key, ...args), 0);
    await send(remove, key, 'n3');
    const removed = await counted(() => send(remove, key, ...names(), 'n0'));
    assert.equal(removed.reply, size - 1);
    assert.ok(removed.commits >= divided(size), `${remove}: ${removed.commits} commits`);
    assert.equal(await send('EXISTS', key), 0);
  }
  assert.equal(await send('HMSET', 'h', ...pairs()), 'OK');
  assert.equal(await send('HLEN', 'h'), MANY / 2);
  assert.equal(await send('ZADD', 'z', 'XX', 'CH', ...scores()), 0);
  assert.equal(await send('ZADD', 'z', 'NX', 'CH', ...scores()), MANY / 2);
  assert.equal(await send('ZADD', 'z', 'GT', 'CH', ...scores().map((word, i) => (i % 2 ? word : String(Number(word) + 1)))), MANY / 2);
  assert.equal(await send('ZSCORE', 'z', `n${MANY / 2 - 1}`), String(MANY / 2));
  await send('DEL', 'z', 'h');
});

test('what is wrong with one of the arguments leaves all undone', async () => {
  const long = 'x'.repeat(5000);
  await send('SET', 'n0', 'v');
  await assert.rejects(send('DEL', ...names(), long), /name of a key/);
  assert.equal(await send('GET', 'n0'), 'v');
  await assert.rejects(send('ZADD', 'z', ...scores(), 'x', 'm'), /not a valid float/);
  await assert.rejects(send('ZADD', 'z', ...scores(), '1'), /syntax error/);
  await assert.rejects(send('ZADD', 'z', 'NX', 'XX', ...scores()), /not compatible/);
  await assert.rejects(send('ZADD', 'z', ...scores(), '1', long), /too long/);
  await assert.rejects(send('HSET', 'h', ...pairs(), 'f'), /wrong number of arguments/);
  await assert.rejects(send('SADD', 's', ...names(), long), /name of a field or member/);
  assert.equal(await send('EXISTS', 'z', 'h', 's'), 0);
  for (const command of [['ZADD', 'n0', ...scores()], ['ZREM', 'n0', ...names()], ['SADD', 'n0', ...names()], ['HDEL', 'n0', ...names()]])
    await assert.rejects(send(...command), /WRONGTYPE/);
  assert.equal(await send('GET', 'n0'), 'v');
});

test("a client's commands keep their order around one in parts", async () => {
  const replies = await Promise.all([
    send('SET', 'n1', 'a'), send('ZUNIONSTORE', 'n2', 1, 'none'), send('ZADD', 'n2', 1, 'm'), send('INCR', 'n3'),
    send('DEL', ...names()), send('EXISTS', 'n1', 'n2', 'n3'), send('SET', 'n1', 'b'), send('INCR', 'n3'), send('GET', 'n1'),
  ]);
  assert.deepEqual(replies, ['OK', 0, 1, 1, 4, 0, 'OK', 1, 'b']); // n0 was left
  // Behind one that takes long itself.
  const sets = await Promise.all([
    send('ZADD', 'wide', ...scores()), send('ZUNIONSTORE', 'to', 1, 'wide'), send('ZREM', 'to', ...names(MANY / 2 - 1)), send('ZCARD', 'to'),
    send('ZADD', 'to', 1, 'last'), send('DEL', 'to', 'wide', ...names()), send('EXISTS', 'to', 'wide'),
  ]);
  assert.deepEqual(sets, [MANY / 2, MANY / 2, MANY / 2 - 1, 1, 1, 4, 0]);
});

test('between MULTI and EXEC, and in a script, it is one commit', async () => {
  await fillStrings();
  const multi = await counted(() => redis.multi().addCommand(['DEL', ...names(4000)]).exec());
  assert.deepEqual(multi.reply, [4000]);
  assert.ok(multi.commits < 4, `${multi.commits} commits`);
  const script = "local t = {} for i = 4000, 5999 do t[#t + 1] = 'n' .. i end return redis.call('DEL', unpack(t))";
  const scripted = await counted(() => send('EVAL', script, 0));
  assert.equal(scripted.reply, 2000);
  assert.ok(scripted.commits < 4, `${scripted.commits} commits`);
});

test('a board with a definition is written in one commit, or not at all', async () => {
  const made = await fetch(`${server.endpoint}/v1/boards`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"id":"ruled","game":"g"}' });
  assert.equal(made.status, 201);
  const { reply, commits: count } = await counted(() => send('ZADD', 'ruled', ...scores()));
  assert.equal(reply, MANY / 2);
  assert.ok(count < 4, `${count} commits`);
  assert.equal(await send('ZREM', 'ruled', ...names()), MANY / 2);
});

test('others who write to the same keys meanwhile lose nothing', async () => {
  await fillStrings();
  const other = await createClient({ url: `redis://127.0.0.1:${server.redisPort}` }).connect();
  let going = true, written = 0;
  const writes = (async () => {
    for (; going; written++) await Promise.all([other.zAdd('both', { score: written, value: 'own' }), other.incr('mine'), other.hSet('hash', 'own', written)]);
  })();
  assert.equal(await send('ZADD', 'both', ...scores()), MANY / 2);
  assert.equal(await send('HSET', 'hash', ...pairs()), MANY / 2);
  assert.equal(await send('ZREM', 'both', ...names()), MANY / 2);
  assert.equal(await send('DEL', ...names()), MANY);
  going = false;
  await writes;
  assert.equal(await send('GET', 'mine'), String(written));
  assert.deepEqual([await send('ZRANGE', 'both', 0, -1), await send('HLEN', 'hash')], [['own'], MANY / 2 + 1]);
  await other.quit();
});

test('each key that goes is told of once', async () => {
  const events = [];
  const listener = await redis.duplicate().connect();
  await redis.configSet('notify-keyspace-events', 'Eg');
  await fillStrings();
  await listener.subscribe('__keyevent@0__:del', (key) => events.push(key));
  assert.equal(await send('DEL', ...names()), MANY);
  while (events.length < MANY) await redis.ping();
  assert.deepEqual(events, names());
  await redis.configSet('notify-keyspace-events', '');
  await listener.quit();
});
