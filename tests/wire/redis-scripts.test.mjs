// Scripts with real clients: atomic beside everybody else, durable when they are answered, bounded, and no way around
// access keys. What single scripts answer is compared with Redis itself (tests/redis/cases/scripts.redis).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import test, { after, before } from 'node:test';
import Redis from 'ioredis';
import { createClient, defineScript } from 'redis';
import { connect, encode } from '../redis/resp.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

let server;
before(async () => { server = await startServer({ args: ['--threads', '2'] }); });
after(async () => assert.equal(await server.stop(), 0));

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function withClients(count, run, port = server.redisPort) {
  const clients = await Promise.all(Array.from({ length: count }, () => connect(port, 2)));
  for (const client of clients) {
    const { ask } = client;
    client.ask = async (...args) => {
      const reply = await ask(...args);
      if (reply?.error) throw new Error(reply.error);
      return reply;
    };
  }
  try {
    return await run(...clients);
  } finally {
    for (const client of clients) client.close();
  }
}
// Asks until the answer is as wanted.
async function until(ask, wanted, ms = 30000) {
  const end = Date.now() + ms;
  for (;;) {
    const answer = await ask().catch((error) => error.message);
    if (wanted(answer) || Date.now() > end) return answer;
    await pause(20);
  }
}

const move = `
local from = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
if from < tonumber(ARGV[3]) then return 0 end
redis.call('ZINCRBY', KEYS[1], -ARGV[3], ARGV[1])
redis.call('ZINCRBY', KEYS[2], ARGV[3], ARGV[2])
return 1`;

test('scripts of many clients and their readers see whole moves only', () => withClients(9, async (reader, ...movers) => {
  for (let i = 0; i < 4; i++) await reader.ask('ZADD', `purse:${i}`, 1000, 'gold');
  let ending = false, moved = 0;
  const work = movers.map(async (client, n) => {
    for (let i = 0; !ending; i++) moved += await client.ask('EVAL', move, 2, `purse:${(n + i) % 4}`, `purse:${(n * 3 + i + 1) % 4}`, 'gold', 'gold', 1 + (i % 7));
  });
  const total = "local sum = 0 for i = 1, 4 do sum = sum + redis.call('ZSCORE', KEYS[i], 'gold') end return sum";
  const purses = [0, 1, 2, 3].map((i) => `purse:${i}`);
  for (let i = 0; i < 300; i++) {
    assert.equal(await reader.ask(i % 2 ? 'EVAL' : 'EVAL_RO', total, 4, ...purses), 4000);
    const { length } = await reader.ask('ZUNION', 4, ...purses);
    assert.equal(length, 1);
  }
  ending = true;
  await Promise.all(work);
  assert.ok(moved > 0);
  assert.equal(await reader.ask('EVAL', total, 4, ...purses), 4000);
}));

test('a script that never ends is killed, and nobody waits for it', () => withClients(3, async (one, other, third) => {
  await other.ask('ZADD', 'quick', 1, 'a');
  const endless = assert.rejects(
    one.ask('EVAL', "redis.call('ZADD', 'endless', 1, 'a') while true do pcall(function() while true do end end) end", 0), /Script killed by user/);
  for (let i = 0; i < 20; i++) assert.equal(await third.ask('ZADD', 'quick', i, 'b'), i === 0 ? 1 : 0);
  assert.equal(await until(() => other.ask('SCRIPT', 'KILL'), (answer) => answer === 'OK'), 'OK');
  await endless;
  assert.equal(await other.ask('EXISTS', 'endless'), 0, 'nothing of it is kept');
  await assert.rejects(other.ask('SCRIPT', 'KILL'), /NOTBUSY/);
}));

test('a script that only reads and never ends is killed, too; so is one in a transaction', () => withClients(2, async (one, other) => {
  const reading = assert.rejects(one.ask('EVAL_RO', 'while true do end', 0), /Script killed by user/);
  assert.equal(await until(() => other.ask('SCRIPT', 'KILL'), (answer) => answer === 'OK'), 'OK');
  await reading;
  await one.ask('MULTI');
  await one.ask('EVAL', 'while true do end', 0);
  const exec = one.send('EXEC');
  assert.equal(await until(() => other.ask('SCRIPT', 'KILL'), (answer) => answer === 'OK'), 'OK');
  assert.match((await exec).toString(), /Script killed by user/);
  assert.equal(await one.ask('PING'), 'PONG');
}));

test('time and memory end a script with a sentence that says so', () => withClients(2, async (one, other) => {
  const late = assert.rejects(one.ask('EVAL', "redis.call('ZADD', 'late', 1, 'a') while true do end", 0), /more than 5000 ms/);
  await assert.rejects(other.ask('EVAL', "redis.call('ZADD', 'large', 1, 'a') local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end", 0), /OOM .*64 MB|ms and was ended/);
  await assert.rejects(other.ask('EVAL', "local t = {} for i = 1, 40 do t = {t, t} end return t", 0), /OOM|ms and was ended/);
  await late;
  assert.equal(await other.ask('EXISTS', 'late', 'large'), 0);
}));

// Past the budget of the writer's thread it is worked out on another, and committed if nobody wrote to its keys.
test('a long script is one step as well', () => withClients(3, async (one, two, reader) => {
  const long = `for i = 1, 4000 do redis.call('ZADD', KEYS[1], i, ARGV[1] .. i) end
    return redis.call('ZCARD', KEYS[1])`;
  const [first, second] = await Promise.all([one.ask('EVAL', long, 1, 'long', 'a'), two.ask('EVAL', long, 1, 'long', 'b')]);
  assert.deepEqual([first, second].sort((a, b) => a - b), [4000, 8000]);
  let ending = false;
  const readers = (async () => {
    while (!ending) assert.equal(await reader.ask('ZCARD', 'long') % 4000, 0);
  })();
  await one.ask('EVAL', long, 1, 'long', 'c');
  ending = true;
  await readers;
  assert.equal(await reader.ask('ZCARD', 'long'), 12000);
}));

test('replies of a pipeline with scripts come in order', () => withClients(1, async (client) => {
  const replies = await Promise.all(Array.from({ length: 300 }, (_, i) =>
    (i % 3 === 0 ? client.ask('EVAL', 'return redis.call("ZINCRBY", KEYS[1], 1, "n")', 1, 'order')
      : i % 3 === 1 ? client.ask('ZSCORE', 'order', 'n') : client.ask('ZADD', 'order', 'CH', 'INCR', 0, 'n'))));
  replies.forEach((reply, i) => assert.equal(Number(reply), Math.floor(i / 3) + 1));
}));

const commits = async () => Number(/^gametable_commits_total (\d+)/m.exec(await (await fetch(`${server.endpoint}/metrics`)).text())[1]);

test('scripts that wait for each other share commits', async () => {
  const scripts = 400, before = await commits();
  const socket = net.connect(server.redisPort, '127.0.0.1');
  const script = encode(['EVAL', "return redis.call('INCR', KEYS[1])", '1', 'shared']);
  socket.write(Buffer.concat(Array(scripts).fill(script))); // all at once
  let replies = '';
  for await (const chunk of socket) {
    replies += chunk;
    if (replies.split('\r\n').length > scripts) break;
  }
  assert.equal(replies, Array.from({ length: scripts }, (_, i) => `:${i + 1}\r\n`).join(''));
  const risen = await commits() - before;
  assert.ok(risen < scripts / 4, `${scripts} scripts took ${risen} commits`); // each has one of its own otherwise
});

test('a script that fails takes nobody along, and keeps what it would keep alone', () => withClients(16, async (...clients) => {
  const count = "local n = redis.call('INCR', KEYS[1]) redis.call('ZINCRBY', KEYS[2], 1, 'n') ";
  const kinds = [
    { body: `${count}return n`, kept: true },
    { body: `${count}error('enough')`, kept: true, error: /enough/ },
    { body: 'this is no script', error: /compiling/ },
    { body: `${count}redis.call('INCR', 'group:zset')`, kept: true, error: /WRONGTYPE/ },
    { body: `${count}local t = {} while true do t[#t + 1] = string.rep('x', 1048576) .. #t end`, error: /nothing that it did is kept|TRYAGAIN/, rare: true },
  ];
  let kept = 0;
  await Promise.all(clients.map(async (client, n) => {
    let last = 0;
    for (let i = 0; i < 40; i++) {
      const at = (i * 7 + n) % kinds.length;
      const kind = kinds[kinds[at].rare && (n > 1 || i > 20) ? 0 : at];
      const asked = [client.ask('EVAL', kind.body, 2, 'group:string', 'group:zset'), client.ask('EVAL', "return {redis.call('GET', KEYS[1]), redis.call('ZSCORE', KEYS[2], 'n')}", 2, 'group:string', 'group:zset')];
      const [counted, seen] = await Promise.allSettled(asked);
      kept += kind.kept ? 1 : 0;
      if (kind.error) assert.match(counted.reason.message, kind.error);
      assert.equal(seen.value[0], seen.value[1]); // both or neither
      assert.ok(Number(seen.value[0] ?? 0) >= last);
      if (!kind.error) assert.ok(counted.value > last && counted.value <= Number(seen.value[0]));
      last = Number(seen.value[0] ?? 0);
    }
  }));
  assert.equal(Number(await clients[0].ask('GET', 'group:string')), kept);
  assert.equal(Number(await clients[0].ask('ZSCORE', 'group:zset', 'n')), kept);
}));

test('node-redis and ioredis: scripts by name, EVALSHA with its fallback', async () => {
  const node = await createClient({
    url: `redis://127.0.0.1:${server.redisPort}`,
    scripts: { raise: defineScript({ NUMBER_OF_KEYS: 1, SCRIPT: "return redis.call('ZINCRBY', KEYS[1], ARGV[1], ARGV[2])",
      parseCommand(parser, key, by, member) { parser.pushKey(key); parser.push(String(by), member); }, transformReply: (reply) => reply,
      transformArguments: (key, by, member) => [key, String(by), member] }) },
  }).connect();
  assert.equal(Number(await node.raise('named', 5, 'ann')), 5);
  await node.scriptFlush();
  assert.equal(Number(await node.raise('named', 5, 'ann')), 10);
  assert.deepEqual(await node.scriptExists(['0'.repeat(40)]).then((list) => list.map(Number)), [0]);
  await node.quit();
  const io = new Redis(server.redisPort, '127.0.0.1');
  io.defineCommand('raise', { numberOfKeys: 1, lua: "return redis.call('ZINCRBY', KEYS[1], ARGV[1], ARGV[2])" });
  assert.equal(await io.raise('named', 1, 'ann'), '11');
  const [[, a], [, b]] = await io.multi().raise('named', 1, 'ann').zscore('named', 'ann').exec();
  assert.deepEqual([a, b], ['12', '12']);
  await io.quit();
});

test('a script may do what its caller may', async () => {
  const file = path.join(temporaryFolder(), 'keys.json');
  const add = (...args) => {
    const { status, stdout, stderr } = spawnSync(program, ['keys', 'add', '--keys', file, ...args], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return /id\s+(\S+)\nsecret access key\s+(\S+)\n/.exec(stdout).slice(1);
  };
  const all = add('--table', '*'), reads = add('--table', '*', '--allow', 'read');
  const limited = add('--table', '*', '--partition', 'BOARD#mine');
  const guarded = await startServer({ args: ['--keys', file] });
  try {
    await withClients(4, async (stranger, owner, reader, mine) => {
      await assert.rejects(stranger.ask('EVAL', 'return 1', 0), /NOAUTH/);
      for (const [client, [id, secret]] of [[owner, all], [reader, reads], [mine, limited]]) assert.equal(await client.ask('AUTH', id, secret), 'OK');
      const write = "return redis.call('ZADD', KEYS[1], 1, 'a')", look = "return redis.call('ZCARD', KEYS[1])";
      assert.equal(await owner.ask('EVAL', write, 1, 'theirs'), 1);
      await assert.rejects(reader.ask('EVAL', write, 1, 'theirs'), /can't run this command/);
      assert.equal(await reader.ask('EVAL', look, 1, 'theirs'), 1);
      assert.equal(await mine.ask('EVAL', write, 1, 'mine'), 1);
      await assert.rejects(mine.ask('EVAL', write, 1, 'theirs'), /can't access at least one of the keys/);
      await assert.rejects(mine.ask('EVAL', look, 0), /ERR/);
      await assert.rejects(mine.ask('EVAL_RO', "return redis.call('ZCARD', 'theirs')", 0), /can't access at least one of the keys/);
      await assert.rejects(mine.ask('EVAL', "return redis.call('KEYS', '*')", 0), /can't (access|run)/);
      assert.equal(await mine.ask('EVAL', "return redis.acl_check_cmd('ZCARD', 'theirs')", 0), null);
      await assert.rejects(mine.ask('SCRIPT', 'FLUSH'), /NOPERM/);
    }, guarded.redisPort);
  } finally {
    assert.equal(await guarded.stop(), 0);
  }
});

test('what a script wrote is there after the process was killed, whole', async () => {
  const data = temporaryFolder();
  let durable = await startServer({ data });
  const told = [0, 0, 0];
  await withClients(3, (...clients) => Promise.all(clients.map(async (client, n) => {
    try {
      for (;;) {
        told[n] = Number(await client.ask('EVAL', "redis.call('ZINCRBY', KEYS[1], 1, ARGV[1]) return redis.call('ZINCRBY', KEYS[2], 1, ARGV[1])", 2, 'first', 'second', `c${n}`));
        if (told.every((count) => count >= 50)) durable.stop('SIGKILL'); // the others are at it
      }
    } catch { /* the process is gone */ }
  })), durable.redisPort);
  await durable.stop('SIGKILL');
  durable = await startServer({ data });
  await withClients(1, async (client) => {
    for (const [n, count] of told.entries()) {
      const [first, second] = [Number(await client.ask('ZSCORE', 'first', `c${n}`)), Number(await client.ask('ZSCORE', 'second', `c${n}`))];
      assert.equal(first, second);
      assert.ok(first === count || first === count + 1, `${first} of ${count}`);
      assert.ok(count > 0);
    }
  }, durable.redisPort);
  assert.equal(await durable.stop(), 0);
});
