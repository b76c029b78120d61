// Writes of a pipeline that become one change (src/api/redis/write_batch.h): each is answered, counted and told of as if it
// had come by itself.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { timePasses } from '../lib/clock.mjs';
import { restClient } from '../lib/rest.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';
import { connect, encode } from '../redis/resp.mjs';

const server = await startServer({ args: ['--test-clock'] });
const rest = await restClient(server.endpoint);
test.after(async () => {
  rest.close();
  assert.equal(await server.stop(), 0);
});

const range = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const texts = (replies) => replies.map((reply) => reply.toString('latin1'));
async function withClient(run, version = 2) {
  const client = await connect(server.redisPort, version);
  try {
    await run(client);
  } finally {
    client.close();
  }
}

// What the commands are answered in one pipeline, which is what they are answered one after the other. The keys in them
// begin with 'k'. A board that is not there yet is not batched, nor are the next writes: hence those at first.
let worlds = 0;
const warm = (key) => [['ZADD', key, '0', 'first'], ...range(64, () => ['ZADD', key, '0', 'first'])];
async function answers(client, before, commands) {
  const [together, single] = ['a', 'b'].map((name) => (list) =>
    list.map((args) => args.map((arg, i) => (i > 0 && /^k\d?$/.test(arg) ? `${name}${worlds}:${arg}` : arg))));
  worlds++;
  await client.pipeline(together(before));
  for (const command of single(before)) await client.send(...command);
  const told = texts(await client.pipeline(together(commands)));
  const apart = [];
  for (const command of single(commands)) apart.push((await client.send(...command)).toString('latin1'));
  assert.deepEqual(told, apart);
  return told;
}

for (const version of [2, 3])
  test(`writes of a pipeline are answered each by itself, RESP${version}`, () => withClient(async (client) => {
    const add = (i) => ['ZADD', 'k', String(i), `m${i}`], more = (i) => ['ZINCRBY', 'k', '1.5', `m${i}`];
    const read = [['ZCARD', 'k'], ['ZRANGE', 'k', '0', '-1', 'WITHSCORES']];
    const lists = {
      'different members': [...range(40, add), ...range(40, more), ...range(40, add), ...read],
      'one member': [...range(20, () => add(1)), ...range(20, () => more(1)), ...read],
      'members that come again': [...range(60, (i) => more(i % 7)), ...range(60, (i) => add(i % 20)), ...read],
      'different keys': range(60, (i) => ['ZADD', `k${i % 3 === 0 ? i % 2 : 2}`, String(i), `m${i}`]),
      'no number in the middle': [...range(5, add), ['ZADD', 'k', 'x', 'bad'], ...range(5, more), ['ZINCRBY', 'k', 'nan', 'bad'], ...read],
      'no number anywhere': [...range(90, (i) => ['ZADD', 'k', i % 9 === 4 ? 'x' : String(i), `m${i}`]), ...read],
      'infinities': [['ZADD', 'k', 'inf', 'a'], ['ZADD', 'k', '-inf', 'b'], ...range(3, more), ['ZINCRBY', 'k', '-inf', 'a'],
        ['ZINCRBY', 'k', 'inf', 'b'], ['ZINCRBY', 'k', 'inf', 'c'], ['ZINCRBY', 'k', '-inf', 'c'], ...read],
      'names that are too long': [...range(3, add), ['ZADD', 'k', '1', 'x'.repeat(1100)], ['ZADD', 'k', '1', 'x'.repeat(5000)], ...range(3, add), ...read],
      'options that look like pairs': [...range(3, add), ['ZADD', 'k', 'nx', '1'], ['ZADD', 'k', 'nx', 'ch'], ['ZADD', 'k', '1', 'nx'], ['ZADD', 'k', '2', 'ch'],
        ['ZADD', 'k', 'CH', '1', 'm1'], ['ZADD', 'k', 'INCR', '1', 'm1'], ['ZADD', 'k', 'GT', '0', 'm1'], ['ZADD', 'k', 'XX', '7', 'm2'], ...range(3, add), ...read],
      'wrong numbers of arguments': [...range(3, add), ['ZADD', 'k', '1'], ['ZADD', 'k', '1', 'a', '2'], ['ZINCRBY', 'k', '1'], ['ZINCRBY', 'k', '1', 'a', '2', 'b'], ...range(3, more)],
      'strange members': [['ZADD', 'k', '1', ''], ['ZADD', 'k', '-0', '\0'], ['ZINCRBY', 'k', '-0', 'new'], ['ZINCRBY', 'k', '0', 'é'], ['zadd', 'k', '3', 'a'],
        ['zadd', 'k', '4', 'b'], ['ZAdd', 'k', '5', 'c'], ['ZADD', 'k', '1e308', 'd'], ['ZINCRBY', 'k', '1e308', 'd'], ...read],
      'a key that becomes another type': [...range(5, add), ['DEL', 'k'], ['SET', 'k', 'text'], ...range(5, add), ['DEL', 'k'], ...range(5, more), ...read],
      'a key that is gone': [...range(5, add), ['DEL', 'k'], ...range(5, more), ['PEXPIREAT', 'k', '1'], ...range(5, more), ...read],
      'a key of another type': [['SET', 'k1', 'text'], ...range(80, (i) => ['ZADD', 'k1', '1', `m${i}`]), ['GET', 'k1']],
      'reads in between': [...range(4, add), ['ZSCORE', 'k', 'm3'], ['ZSCORE', 'k', 'm4'], ...range(6, more), ['ZSCORE', 'k', 'm3'], ['ZSCORE', 'k', 'm4'], ...range(4, add)],
      'a transaction': [...range(4, add), ['MULTI'], ...range(4, more), ['EXEC'], ...range(4, more), ['MULTI'], ...range(4, add), ['DISCARD'], ...range(4, more), ...read],
      'other commands': [...range(4, add), ['ZREM', 'k', 'm2'], ...range(4, more), ['NOPE', 'x'], ...range(4, add), ['SELECT', '1'], ...range(4, add),
        ['SELECT', '0'], ...range(4, more), ['EVAL', "return redis.call('ZINCRBY', KEYS[1], 1, 'm1')", '1', 'k'], ...range(4, more), ...read],
    };
    for (const [name, list] of Object.entries(lists))
      await test.test(name, () => answers(client, [...warm('k'), ...warm('k0'), ...warm('k2')], list));
  }, version));

test('a pipeline may begin with a set that is not there', () => withClient(async (client) => {
  for (let round = 0; round < 5; round++)
    await answers(client, [], [...range(100, (i) => ['ZINCRBY', 'k', '1', `m${i % 50}`]), ['ZRANGE', 'k', '0', '-1', 'WITHSCORES']]);
}));

test('replies that are not wanted are not sent', () => withClient(async (client) => {
  await client.pipeline(warm('quiet'));
  const socket = net.connect(server.redisPort, '127.0.0.1');
  await once(socket, 'connect');
  let heard = '';
  socket.on('data', (chunk) => { heard += chunk; });
  const list = [['CLIENT', 'REPLY', 'SKIP'], ...range(4, (i) => ['ZADD', 'quiet', '1', `a${i}`]), ['CLIENT', 'REPLY', 'OFF'], ...range(4, (i) => ['ZADD', 'quiet', '1', `b${i}`]),
    ['CLIENT', 'REPLY', 'ON'], ...range(4, (i) => ['ZADD', 'quiet', '1', `c${i}`]), ['QUIT']];
  socket.end(Buffer.concat(list.map(encode)));
  await once(socket, 'close');
  assert.equal(heard, `${':1\r\n'.repeat(3)}+OK\r\n${':1\r\n'.repeat(4)}+OK\r\n`);
  assert.equal(await client.ask('ZCARD', 'quiet'), 13);
}));

test('writes before what cannot be understood are done and answered', () => withClient(async (client) => {
  for (const key of ['new', 'there']) {
    if (key === 'there') await client.pipeline(warm(key));
    const socket = net.connect(server.redisPort, '127.0.0.1');
    await once(socket, 'connect');
    let heard = '';
    socket.on('data', (chunk) => { heard += chunk; });
    socket.end(Buffer.concat([...range(20, (i) => encode(['ZADD', key, '1', `m${i}`])), Buffer.from('*x\r\n')]));
    await once(socket, 'close');
    assert.equal(heard, `${':1\r\n'.repeat(20)}-ERR Protocol error: invalid multibulk length\r\n`);
  }
}));

test('requests may come in pieces', () => withClient(async (client) => {
  for (const [round, first] of [[0, []], [1, warm('pieces1')]]) {
    await client.pipeline(first);
    const socket = net.connect({ port: server.redisPort, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    let heard = '';
    socket.on('data', (chunk) => { heard += chunk; });
    const bytes = Buffer.concat([...range(60, (i) => encode(['ZADD', `pieces${round}`, '1', `m${i}`])), Buffer.from('\r\n'), encode(['ZADD', `pieces${round}`, '2', 'm1'])]);
    for (let at = 0; at < bytes.length; at += 97) {
      socket.write(bytes.subarray(at, at + 97));
      await new Promise(setImmediate);
    }
    socket.end();
    await once(socket, 'close');
    assert.equal(heard, `${':1\r\n'.repeat(60)}:0\r\n`);
  }
}));

test('what a board does not take is refused by itself', async () => {
  await rest.must('POST', '/boards', { id: 'bound:all', game: 'bound', scoreMin: 0, scoreMax: 100 });
  await withClient(async (client) => {
    await client.pipeline(warm('bound:all'));
    const replies = texts(await client.pipeline(range(40, (i) => ['ZADD', 'bound:all', String(i * 5), `m${i}`])));
    replies.forEach((reply, i) => assert.match(reply, i <= 20 ? /^:1\r\n$/ : /^-ERR the score is outside of what board bound:all takes/));
    const sums = texts(await client.pipeline(range(20, (i) => ['ZINCRBY', 'bound:all', '10', `m${i + 1}`])));
    sums.forEach((reply, i) => assert.match(reply, i <= 17 ? /^\$/ : /^-ERR the score is outside/));
    assert.equal(await client.ask('ZCARD', 'bound:all'), 22);
    assert.equal(await client.ask('ZSCORE', 'bound:all', 'm20'), '100');
  });
});

test('a sealed board takes nothing', async () => {
  await rest.must('POST', '/boards', { id: 'sealing:daily', game: 'sealing', timeframe: 'daily' });
  const { instance } = await rest.must('GET', '/boards/sealing:daily/entries');
  await withClient(async (client) => {
    await client.pipeline(warm(instance));
    const list = range(40, (i) => ['ZADD', instance, '1', `m${i}`]);
    assert.deepEqual(new Set(texts(await client.pipeline(list))), new Set([':1\r\n']));
    await timePasses(server, '2d');
    for (const reply of texts(await client.pipeline(list))) assert.match(reply, /^-ERR .*has ended/);
    assert.equal(await client.ask('ZCARD', instance), 41);
  });
});

test('each is counted, logged, and told of', () => withClient(async (client) => {
  const list = (key) => [...range(20, (i) => ['ZADD', key, String(i), `m${i}`]), ['ZADD', key, 'inf', 'far'], ...range(5, (i) => ['ZINCRBY', key, '-inf', i === 3 ? 'far' : `x${i}`])];
  await client.pipeline(warm('counted'));
  await client.ask('CONFIG', 'RESETSTAT');
  await client.pipeline(list('counted'));
  const stats = await client.ask('INFO', 'commandstats');
  assert.match(stats, /cmdstat_zadd:calls=21,.*rejected_calls=0,failed_calls=0/);
  assert.match(stats, /cmdstat_zincrby:calls=5,.*rejected_calls=0,failed_calls=1/);
  assert.match(await client.ask('INFO', 'stats'), /total_commands_processed:28\r\n/);
  await client.pipeline([['CONFIG', 'SET', 'slowlog-log-slower-than', '0'], ['SLOWLOG', 'RESET']]);
  await client.pipeline(list('counted'));
  const log = await client.ask('SLOWLOG', 'GET', '100');
  await client.ask('CONFIG', 'SET', 'slowlog-log-slower-than', '10000');
  assert.deepEqual(log.map((entry) => entry[3]).filter(([name]) => name[0] === 'Z').reverse(), list('counted'));
}));

test('a client that waits is served by a pipeline', () => withClient(async (client) => {
  await client.pipeline([...warm('awaited'), ['ZREM', 'awaited', 'first']]);
  const waiter = await connect(server.redisPort);
  const served = waiter.ask('BZPOPMIN', 'awaited', '30');
  while (!/blocked_clients:1/.test(await client.ask('INFO', 'clients')));
  const replies = texts(await client.pipeline(range(20, (i) => ['ZADD', 'awaited', String(20 - i), `m${i}`])));
  assert.deepEqual(new Set(replies), new Set([':1\r\n']));
  const [key, member] = await served;
  assert.equal(key, 'awaited');
  assert.match(member, /^m\d+$/);
  waiter.close();
  assert.equal(await client.ask('ZCARD', 'awaited'), 19);
}));

// The set is replaced, or is of another type, between what a loop sees and the commit: then each write is decided by itself,
// and none of a client goes before one that came earlier.
test('others replace the set all the time', async () => {
  const key = 'contended', own = (c) => range(16, (i) => `c${c}m${i}`);
  const [other, ...clients] = await Promise.all(range(4, () => connect(server.redisPort)));
  await other.ask('ZADD', 'source', ...range(2000, (i) => ['5', `x${i}`]).flat());
  let busy = true, replaced = 0;
  const changes = (async () => {
    for (; busy; replaced++) {
      await other.ask('COPY', 'source', key, 'REPLACE');
      await other.pipeline([['DEL', key], ['SET', key, 'x'], ['DEL', key], ['ZADD', key, '-1', 'z'], ['COPY', 'source', key, 'REPLACE']]);
    }
  })();
  await Promise.all(clients.map(async (client, c) => {
    const members = own(c);
    for (let round = 0; round < 400; round++) {
      const list = ['1', '2', '3'].flatMap((score) => members.map((name) => ['ZADD', key, score, name]));
      const replies = texts(await client.pipeline([...list, ['ZMSCORE', key, ...members]]));
      for (const reply of replies.slice(0, list.length)) assert.match(reply, /^:[01]\r\n$|^-WRONGTYPE/);
      assert.match(replies[list.length], /^-WRONGTYPE|^\*16\r\n(\$-1\r\n|\$1\r\n3\r\n)+$/);
    }
  }));
  busy = false;
  await changes;
  assert.ok(replaced > 0);
  await clients[0].pipeline([['DEL', key], ...warm(key)]);
  for (let round = 1; round <= 2; round++)
    assert.deepEqual(new Set(texts(await clients[0].pipeline(own(0).map((name) => ['ZINCRBY', key, '1', name])))), new Set([`$1\r\n${round}\r\n`]));
  for (const client of [...clients, other]) client.close();
});

// The set was removed when a loop looked, and the writer finds that it may have moved: these writes are decided again, and
// those behind them wait until they are.
test('no write goes before one of its client that is decided again', async () => {
  for (let round = 0; round < 300; round++)
    await withClient(async (client) => {
      await client.ask('FLUSHALL');
      const replies = texts(await client.pipeline([
        ['ZADD', 'over', '1', 'x'], ['SET', 'over', 'y'], ...range(6, (i) => ['ZADD', 'over', '1', `m${i}`]), ['ZADD', 'several', '1', 'a', '2', 'b'],
        ...range(30 + (round % 40), (i) => ['ZINCRBY', 'sums', '1', i % 3 === 0 ? 'a' : `m${i}`])])).slice(9);
      const sums = replies.filter((_, i) => i % 3 === 0).map((reply) => Number(reply.split('\r\n')[1]));
      assert.deepEqual(sums, sums.map((_, i) => i + 1), `round ${round}`);
    });
});

test('an access key for some partitions is asked for each key that a pipeline names', async () => {
  const file = path.join(temporaryFolder(), 'keys.json');
  const secret = '0123456789abcdef-some';
  writeFileSync(file, JSON.stringify({ keys: [{ id: 'some', secret, tables: ['gametable'], allow: ['read', 'write'], partitions: ['BOARD#mine'] }] }), { mode: 0o600 });
  const guarded = await startServer({ args: ['--keys', file] });
  const client = await connect(guarded.redisPort, 2);
  try {
    assert.equal(await client.ask('AUTH', 'some', secret), 'OK');
    const add = (key) => range(40, (i) => ['ZADD', key, String(i), `m${i}`]);
    await client.pipeline(add('mine')); // now it is there, so that what follows is batched
    for (let round = 0; round < 3; round++) {
      const told = texts(await client.pipeline([...add('mine'), ...add('theirs'), ...range(40, (i) => ['ZINCRBY', 'mine', '0', `m${i}`])]));
      assert.deepEqual(new Set(told.slice(0, 40)), new Set([':0\r\n']));
      assert.deepEqual(new Set(told.slice(40, 80).map((reply) => reply.slice(0, 8))), new Set(['-NOPERM ']));
      assert.deepEqual(told.slice(80), range(40, (i) => `$${`${i}`.length}\r\n${i}\r\n`));
    }
  } finally {
    client.close();
    await guarded.stop();
  }
});
