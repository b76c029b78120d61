// Keyspace notifications: what a session of writes makes subscribers hear is what Redis makes them hear, message by
// message; nothing is told of what is not committed, and those of one client come in the order of its commands.
import assert from 'node:assert/strict';
import test from 'node:test';
import Redis from 'ioredis';
import { words } from '../redis/cases.mjs';
import { connect } from '../redis/resp.mjs';
import { haveRedis, startOurs, startRedis } from '../redis/targets.mjs';

const skip = haveRedis ? false : 'redis-server is not installed';
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// One who hears all messages of keys: [channel, text] in `heard`. `caughtUp` waits until it has all that was sent before,
// which a last message says; the one who sends it is not between MULTI and EXEC.
async function listen(port) {
  const client = new Redis(port, '127.0.0.1');
  const heard = [];
  let mark = null, marks = 0;
  client.on('pmessageBuffer', (pattern, channel, text) => {
    const message = [channel.toString('latin1'), text.toString('latin1')];
    if (message[0] === 'mark') mark = message[1];
    else heard.push(message);
  });
  await client.ping();
  await client.psubscribe('__key*', 'mark');
  return {
    heard,
    async caughtUp(sender) {
      const name = `${++marks}`;
      await sender.ask('PUBLISH', 'mark', name);
      for (const end = Date.now() + 60000; mark !== name;) {
        assert.ok(Date.now() < end, `no mark ${name} after ${JSON.stringify(heard.slice(-5))}`);
        await pause(2);
      }
      return heard.splice(0);
    },
    close: () => client.disconnect(),
  };
}

// What each line is answered, and what is heard of it. 'big' holds more than fits into one item.
async function play(port, lines) {
  const [sender, marker, listener] = await Promise.all([connect(port, 2), connect(port, 2), listen(port)]);
  const told = [];
  try {
    for (const line of lines) {
      const answer = await sender.ask(...(Array.isArray(line) ? line : words(line))).catch((error) => `${error.message ?? error}`);
      told.push({ line: `${line}`.slice(0, 80), answer, heard: await listener.caughtUp(marker) });
    }
    return told;
  } finally {
    sender.close();
    marker.close();
    listener.close();
  }
}

const big = (command) => [command, 'big', ...Array.from({ length: 3000 }, (_, i) => (command === 'HSET' ? [`f${i}`, 'v'.repeat(100)] : [`f${i}`])).flat()];

const writes = [
  // strings
  'SET a 1', 'SET a 2 EX 100', 'SET a 3 KEEPTTL', 'SET a 4 NX', 'SET b 1 XX', 'SET a 5 GET', 'SETEX a 100 x', 'PSETEX a 100000 x', 'SETNX a y', 'SETNX b y',
  'GETSET a 7', 'MSET a 1 c 2 a 3', 'MSETNX a 1 d 2', 'MSETNX d 2 e 3', 'APPEND a x', 'APPEND a ""', 'APPEND new ""', 'SETRANGE a 3 zz', 'SETRANGE a 0 ""',
  'SETRANGE f 2 x', 'INCR a', 'SET n 1', 'INCR n', 'INCRBY n 5', 'DECR n', 'DECRBY n 2', 'INCRBYFLOAT n 1.5', 'INCRBYFLOAT n x', 'GETEX n', 'GETEX n EX 100',
  'GETEX n PERSIST', 'GETEX n PERSIST', 'GETEX n PXAT 1', 'GETEX n EX 10', 'GETDEL a', 'GETDEL a', 'SET "with space\\x00\\xff" v',
  // hashes
  'HSET h a 1 b 2', 'HSET h a 1', 'HMSET h c 3', 'HSETNX h c 4', 'HSETNX h d 4', 'HINCRBY h a 5', 'HINCRBYFLOAT h a 0.5', 'HINCRBY h a x', 'HDEL h x', 'HDEL h a b x',
  'HDEL h c d', 'HDEL h c', 'HSET b a 1', 'GET h',
  big('HSET'), 'HSET big f1 other', 'HSETNX big f1 x', 'HSETNX big g x', 'HINCRBY big number 2', 'HDEL big f1 f2', 'HDEL big f1 f2', big('HDEL'), 'HDEL big g', 'HDEL big number',
  // sets
  'SADD s a b c', 'SADD s a', 'SADD s a d', 'SREM s x', 'SREM s a x', 'SMOVE s t b', 'SMOVE s t x', 'SADD s b', 'SMOVE s t b', 'SMOVE s s c', 'SREM s c d', 'SMOVE t u b',
  'SADD s a b c', 'SADD t b c', 'SINTERSTORE i s t', 'SUNIONSTORE i s t', 'SDIFFSTORE i s t', 'SDIFFSTORE i t s', 'SDIFFSTORE i t s', 'SINTERSTORE i s none',
  'SPOP one', 'SPOP s 0', 'SPOP s 2', 'SPOP s', 'SPOP t 10', big('SADD'), 'SADD big f1', 'SADD big new', 'SREM big new', big('SREM'),
  // sorted sets
  'ZADD z 1 a 2 b 3 c', 'ZADD z 1 a', 'ZADD z 2 a', 'ZADD z NX 2 a', 'ZADD z XX 2 q', 'ZADD z GT 1 a', 'ZADD z INCR 1 a', 'ZADD z XX INCR 1 q', 'ZADD z INCR 0 a', 'ZINCRBY z 2 b', 'ZINCRBY z 0 b',
  'ZADD z CH 9 c', 'ZREM z x', 'ZREM z a x', 'ZREM z b c', 'ZREM z b', 'ZADD z 1 a 2 b 3 c 4 d 5 e', 'ZREMRANGEBYRANK z 0 0', 'ZREMRANGEBYSCORE z 2 2', 'ZREMRANGEBYSCORE z 2 2',
  'ZPOPMIN z', 'ZPOPMAX z 1', 'ZPOPMAX z 0', 'ZREMRANGEBYRANK z 0 -1', 'ZPOPMIN z', 'ZADD z 0 a 0 b 0 c', 'ZREMRANGEBYLEX z [a [a', 'ZREMRANGEBYLEX z - +', 'ZADD z 1 a 2 b', 'ZMPOP 2 none z MIN',
  'ZMPOP 2 none z MAX COUNT 5', 'ZMPOP 1 z MAX', 'ZADD z 1 a 2 b', 'BZPOPMIN z 1', 'BZPOPMAX none z 1', 'ZADD z 1 a 2 b', 'BZMPOP 1 1 z MIN', 'ZADD y 1 b', 'ZUNIONSTORE o 2 z y', 'ZINTERSTORE o 2 z y',
  'ZDIFFSTORE o 2 z y', 'ZDIFFSTORE o 2 z y', 'ZDIFFSTORE o 1 z', 'ZRANGESTORE o z 0 -1', 'ZRANGESTORE o z 5 6', 'ZRANGESTORE o z 5 6', 'SET o x', 'ZINTERSTORE o 2 z none', 'ZADD b 1 x',
  // keys
  'SET a 1', 'SET b 2', 'ZADD z 1 a', 'EXPIRE a 100', 'EXPIRE z 100', 'EXPIRE none 100', 'EXPIRE a 100 NX', 'PEXPIRE a 100000', 'EXPIREAT a 33177117420', 'PEXPIREAT a 33177117420000', 'PERSIST a', 'PERSIST a', 'PERSIST z', 'EXPIRE a -1',
  'EXPIRE z 0', 'EXPIRE a 0', 'SET a 1', 'ZADD z 1 a', 'DEL a b none z', 'DEL a', 'SET a 1', 'DEL a', 'SET a 1', 'UNLINK a a', 'SET a 1', 'SET b 1', 'RENAME a c', 'RENAME c c', 'RENAME none c', 'RENAMENX c b', 'RENAMENX c d2',
  'ZADD z 1 a', 'RENAME z zz', 'COPY zz z', 'COPY zz z', 'COPY zz z REPLACE', 'COPY b b2 DB 3', 'MOVE b 2', 'MOVE b 2', 'MOVE z 2', 'SELECT 2', 'SET b 1', 'INCR b', 'DEL b z', 'SELECT 0', 'SET gone 1', 'FLUSHDB',
  // several in one commit
  'MULTI', 'SET a 1', 'INCR a', 'ZADD z 1 a', 'GET a', 'HSET h f v', 'INCR h', 'DEL z', 'SELECT 1', 'SET a 1', 'EXEC', 'MULTI', 'SET x 1', 'DISCARD', 'SELECT 0',
  'MULTI', 'SET a 1', 'SET b 2', 'INCR a', 'EXEC', 'MULTI', 'ZADD z 1 a', 'ZADD z2 1 a', 'EXEC', 'MULTI', 'ZREM z a', 'HDEL h f', 'EXEC',
  `EVAL "redis.call('SET', KEYS[1], 1); redis.call('INCR', KEYS[1]); redis.call('DEL', KEYS[1])" 1 s1`,
  `EVAL "redis.call('SET', KEYS[1], 1); return redis.call('HSET', KEYS[1], 'f', 1)" 1 s1`, `EVAL "return redis.pcall('INCR', KEYS[1])" 1 s1`,
  'GET s1',
];

// Looks at keys that are there and at others, alone and among others, of the right type and of others; and keys that are made where
// the list above does not make one, or makes it only in passing.
const looks = [
  'FLUSHALL', 'SET str v', 'HSET hash f v', 'SADD set a b', 'ZADD zset 1 a 2 b',
  'GET none', 'GET str', 'GET hash', 'STRLEN none', 'GETRANGE none 0 1', 'SUBSTR none 0 1', 'GETRANGE none x 1', 'MGET none str hash none', 'LCS none str', 'LCS none none2 LEN', 'LCS hash none', 'LCS none str BAD',
  'GETEX none', 'GETEX none EX 10', 'GETEX none EX x', 'GETEX hash', 'GETDEL none', 'GETDEL hash', 'GETSET made 1', 'GETSET made 2', 'GETSET hash 1', 'SET made2 1 GET', 'SET made2 1 GET', 'SET none 1 XX GET', 'SET none 1 XX',
  'SET hash 1 GET', 'SET made3 1 NX GET', 'SET made3 1 NX GET', 'APPEND none2 x', 'SETRANGE none3 0 x', 'SETRANGE none 0 ""', 'INCR none4', 'INCRBYFLOAT none5 1', 'INCR hash', 'SETNX none6 1', 'MSET none7 1 str 2 none8 3 none7 4',
  'MSETNX none9 1 none10 2', 'MSETNX none9 1 none 2', 'PSETEX none11 100000 v', 'SET none12 v EX 100', 'SET hash string', 'DEL hash', 'HSET hash f v',
  'HGET none f', 'HGET hash f', 'HGET hash none', 'HGET str f', 'HMGET none a b', 'HGETALL none', 'HKEYS none', 'HVALS none', 'HLEN none', 'HEXISTS none f', 'HSTRLEN none f', 'HRANDFIELD none', 'HRANDFIELD none 3', 'HRANDFIELD none x',
  'HSCAN none 0', 'HSCAN none x', 'HSCAN none 0 COUNT x', 'HSCAN str 0', 'HDEL none f', 'HSETNX newhash f v', 'HINCRBY newhash2 f 1', 'HINCRBYFLOAT newhash3 f 1.5', 'HMSET newhash4 f v', 'HINCRBY none f x',
  'SCARD none', 'SMEMBERS none', 'SISMEMBER none a', 'SMISMEMBER none a b', 'SRANDMEMBER none', 'SRANDMEMBER none 3', 'SSCAN none 0', 'SINTER none set none2x', 'SINTER set none', 'SINTER none str set', 'SINTER str none', 'SUNION none nope', 'SDIFF none set nope',
  'SINTERCARD 2 none set', 'SINTERCARD 0 none', 'SPOP none', 'SPOP none 2', 'SREM none a', 'SMOVE none set a', 'SMOVE set newset a', 'SMOVE newset newset2 a', 'SUNIONSTORE made5 none set', 'SUNIONSTORE made5 none set', 'SINTERSTORE made6 none set',
  'SDIFFSTORE made5 none nope', 'SDIFFSTORE made5 set none str', 'SADD newset3 x', 'SADD str x',
  'ZCARD none', 'ZSCORE none a', 'ZMSCORE none a b', 'ZRANK none a', 'ZREVRANK none a', 'ZRANGE none 0 -1', 'ZRANGE none x -1', 'ZRANGEBYSCORE none 0 1', 'ZREVRANGE none 0 -1', 'ZRANGEBYLEX none - +', 'ZCOUNT none 0 1', 'ZCOUNT none x 1', 'ZLEXCOUNT none - +',
  'ZRANDMEMBER none', 'ZRANDMEMBER none 2', 'ZSCAN none 0', 'ZSCORE str a', 'ZUNION 2 none zset', 'ZINTER 3 none set zset', 'ZDIFF 2 zset none', 'ZINTERCARD 2 none none', 'ZUNION 3 none str none', 'ZUNION 2 none zset WEIGHTS 1', 'ZREM none a', 'ZPOPMIN none', 'ZMPOP 1 none MIN', 'ZREMRANGEBYRANK none 0 1',
  'ZUNIONSTORE made7 2 none zset', 'ZUNIONSTORE made7 2 none zset', 'ZINTERSTORE made8 2 none zset', 'ZDIFFSTORE made8 2 zset none', 'ZRANGESTORE made9 none 0 -1', 'ZRANGESTORE made9 zset 0 -1', 'ZRANGESTORE made9 none 0 -1', 'ZRANGESTORE made9 none x -1', 'ZADD newz 1 a', 'ZADD newz2 XX 1 a', 'ZADD newz2 INCR 1 a', 'ZINCRBY newz3 1 a', 'ZADD str 1 a',
  'ZREM newz a', 'ZADD newz 1 a', 'ZADD newz 2 a',
  'EXISTS none str none', 'TOUCH none str', 'TYPE none', 'TTL none', 'PTTL none', 'EXPIRETIME none', 'PEXPIRETIME none', 'OBJECT ENCODING none', 'OBJECT REFCOUNT none', 'MEMORY USAGE none', 'DEL none', 'UNLINK none', 'EXPIRE none 1', 'PERSIST none', 'KEYS none', 'SCAN 0 MATCH none COUNT 1000',
  'RANDOMKEY', 'RENAME none x', 'RENAMENX none x', 'RENAME str str2', 'SET str v', 'RENAME str str2', 'RENAMENX str2 str', 'COPY none x', 'COPY str str3', 'COPY str str3', 'COPY str str3 REPLACE', 'COPY str str3 DB 4', 'MOVE none 4', 'MOVE str3 5', 'SELECT 5', 'GET none', 'EXISTS str3', 'SELECT 0', 'WATCH none', 'UNWATCH',
  big('HSET'), 'HGET big f1', 'HGET big none', 'HDEL big f1', 'HSET big again v',
  'MULTI', 'GET none', 'SET tx v', 'GET tx', 'DEL tx', 'INCR tx', 'ZADD tz 1 a', 'ZADD tz 1 b', 'ZREM tz a b', 'ZADD tz 1 c', 'HGET none f', 'HGET str f', 'SELECT 1', 'GET str', 'SET str v', 'EXEC', 'SELECT 0',
  'MULTI', 'SET ta 1', 'INCR tb', 'SET ta 2', 'HSET th f v', 'SADD ts a', 'EXEC', 'MULTI', 'GET none', 'EXISTS none', 'EXEC',
  `EVAL "redis.call('GET', KEYS[1]); redis.call('SET', KEYS[1], 1); redis.call('GET', KEYS[1]); redis.pcall('HGET', KEYS[1], 'f'); return redis.call('ZSCORE', KEYS[2], 'm')" 2 sa none`, `EVAL_RO "return redis.call('GET', KEYS[1])" 1 none`, 'EVAL "return 1" 1 none',
];
writes.push(...looks);

test('reads of a pipeline, which are batched else, tell of each miss; and so does what takes long', { skip }, async () => {
  const targets = await Promise.all([startRedis(), startOurs()]);
  try {
    const told = await Promise.all(targets.map(async ({ port }) => {
      const [sender, listener, client] = [await connect(port, 2), await listen(port), new Redis(port, '127.0.0.1')];
      try {
        await sender.ask('CONFIG', 'SET', 'notify-keyspace-events', 'KEmn');
        const pipeline = client.pipeline();
        for (let i = 0; i < 50; i++) pipeline.get(`none${i % 3}`).zscore('nozset', `m${i}`).hget('nohash', `f${i}`).set(`made${i}`, i);
        pipeline.mget(...Array.from({ length: 3000 }, (_, i) => `made${i}`)).exists(...Array.from({ length: 3000 }, (_, i) => `made${i}`));
        pipeline.sadd('large', ...Array.from({ length: 5000 }, (_, i) => `m${i}`)).sunionstore('stored', 'nothing', 'large').rename('stored', 'renamed');
        await pipeline.exec();
        return await listener.caughtUp(sender);
      } finally {
        sender.close();
        listener.close();
        client.disconnect();
      }
    }));
    assert.deepEqual(told[1], told[0]);
    assert.ok(told[0].length > 12000);
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
});

for (const classes of ['KEA', 'K$g', 'Ez', 'Ehs', 'A', 'KEAmn', 'Km', 'En', 'mn'])
  test(`a session with notify-keyspace-events ${classes} is heard as Redis tells it`, { skip }, async () => {
    const targets = await Promise.all([startRedis(), startOurs()]);
    try {
      const lines = [`CONFIG SET notify-keyspace-events ${classes}`, ...writes];
      const [theirs, ours] = await Promise.all(targets.map(({ port }) => play(port, lines)));
      for (const [i, { line }] of theirs.entries()) {
        if (/^(SPOP|HINCRBYFLOAT|RANDOMKEY|SUNION|SMEMBERS|HSCAN|MEMORY)/.test(line)) ours[i].answer = theirs[i].answer; // members at random
        assert.deepEqual(ours[i], theirs[i], line);
      }
      assert.ok(theirs.some(({ heard }) => heard.length !== 0) === /[KE]/.test(classes));
    } finally {
      await Promise.all(targets.map((target) => target.close()));
    }
  });

test('fields that expire, which Redis has since 7.4', async () => {
  const target = await startOurs();
  try {
    const told = await play(target.port, ['CONFIG SET notify-keyspace-events Egh', 'HSET h a 1 b 2', 'HEXPIRE h 100 FIELDS 2 a x', 'HEXPIRE h 100 NX FIELDS 1 a', 'HPERSIST h FIELDS 1 a',
      'HPERSIST h FIELDS 1 a', 'HPEXPIREAT h 1 FIELDS 1 a', 'HEXPIRE h 0 FIELDS 1 b', 'HEXPIRE h 0 FIELDS 1 b']);
    const events = told.map(({ heard }) => heard.map(([event]) => event.replace('__keyevent@0__:', '')).join());
    assert.deepEqual(events, ['', 'hset', 'hexpire', '', 'hpersist', '', 'hdel', 'hdel,del', '']);
  } finally {
    await target.close();
  }
});

test('what has ended by its time is told of within a second or so, whatever removes it', async () => {
  const target = await startOurs();
  const [sender, listener] = await Promise.all([connect(target.port, 2), listen(target.port)]);
  const ask = (line) => sender.ask(...(Array.isArray(line) ? line : words(line)));
  // Each of these is heard once, in whichever order, and nothing else of its kind.
  const expected = ['__keyevent@0__:expired|string', '__keyevent@0__:expired|hash', '__keyevent@0__:expired|big', '__keyevent@0__:expired|zset',
    '__keyevent@0__:expired|written', '__keyevent@0__:hexpired|fields', '__keyevent@0__:hexpired|manyfields', '__keyevent@0__:zexpired|members',
    '__keyevent@3__:expired|string', '__keyevent@3__:expired|zset', '__keyspace@0__:string|expired', '__keyspace@3__:zset|expired'];
  try {
    await ask('CONFIG SET notify-keyspace-events KEA');
    for (const line of ['SET string v PX 30', 'HSET hash f v', 'PEXPIRE hash 30', big('HSET'), 'PEXPIRE big 30', 'ZADD zset 1 a', 'PEXPIRE zset 30', 'SET written 1 PX 30', 'HSET fields a 1 b 2',
      'HPEXPIRE fields 30 FIELDS 1 a', ['HSET', 'manyfields', ...big('HSET').slice(2)], 'HPEXPIRE manyfields 30 FIELDS 2 f1 f2', 'ZADD members 1 a 2 b', 'ZEXPIRE members 1 MEMBERS 1 a',
      'SELECT 3', 'SET string v PX 30', 'ZADD zset 1 a', 'PEXPIRE zset 30', 'SELECT 0', 'SET stays v PX 60000', 'SET persists v PX 60000', 'PERSIST persists', 'SET deleted v PX 60000', 'DEL deleted'])
      await ask(line);
    const heard = [];
    let over = null;
    for (const end = Date.now() + 60000; !over || !expected.every((event) => heard.includes(event));) {
      assert.ok(Date.now() < end, `not heard of: ${expected.filter((event) => !heard.includes(event))}`);
      heard.push(...(await listener.caughtUp(sender)).map((message) => message.join('|')));
      if (!over && await ask('EXISTS written') === 0) over = await ask('SET written again'); // maybe before it is removed
      await pause(20);
    }
    const ends = heard.filter((event) => /^__keyevent@\d+__:h?z?expired\|/.test(event)).sort();
    assert.deepEqual(ends, expected.filter((event) => event.startsWith('__keyevent')).sort());
    assert.deepEqual(await ask('ZRANGE members 0 -1'), ['b']);
    assert.equal(await ask('EXISTS string hash big zset'), 0);
    assert.deepEqual(await ask('HGETALL fields'), ['b', '2']);
    assert.equal(await ask('HLEN manyfields'), 2998);
    assert.equal(await ask('EXISTS stays persists written'), 3);
    // Nothing is told once nobody wants it.
    await ask('CONFIG SET notify-keyspace-events Eg');
    await ask('SET quiet v PX 1');
    for (const end = Date.now() + 60000; await ask('DBSIZE') !== 6;) assert.ok(Date.now() < end, 'it is removed');
    await pause(300);
    assert.ok(!(await listener.caughtUp(sender)).some(([channel]) => channel.endsWith(':expired')));
  } finally {
    sender.close();
    listener.close();
    await target.close();
  }
});

test('CONFIG reads and writes the classes as Redis does', { skip }, async () => {
  const targets = await Promise.all([startRedis(), startOurs()]);
  const clients = await Promise.all(targets.map(({ port }) => connect(port, 2)));
  try {
    for (const letters of ['', 'K', 'KE', 'KEA', 'AKE', 'Ex', 'g$lshzxetd', 'g$lshzxetdK', 'KEAn', 'KEAm', 'mKE', 'nKg', 'KEmn', 'tdEl', 'Q', 'KEa', 'K E', 'ggKK', 'Ag$lshzxeKEtmdn', '']) {
      const answers = await Promise.all(clients.map(async (client) => [
        await client.ask('CONFIG', 'SET', 'notify-keyspace-events', letters).catch((error) => `${error.message ?? error}`),
        await client.ask('CONFIG', 'GET', 'notify-keyspace-*')]));
      assert.deepEqual(answers[1], answers[0], letters);
    }
  } finally {
    clients.forEach((client) => client.close());
    await Promise.all(targets.map((target) => target.close()));
  }
});

test('pipelines of many clients: each change is told once, in the order of its client, and none that was not made', async () => {
  const target = await startOurs({ args: ['--threads', '3'] });
  const clients = 4, count = 200;
  const senders = Array.from({ length: clients }, () => new Redis(target.port, '127.0.0.1'));
  const [asker, listener] = await Promise.all([connect(target.port, 2), listen(target.port)]);
  try {
    await asker.ask('CONFIG', 'SET', 'notify-keyspace-events', 'EA');
    await Promise.all(senders.map((sender, n) => {
      const pipeline = sender.pipeline();
      for (let i = 0; i < count; i++) pipeline.set(`p${n}:${i}`, 1).zadd(`z${n}`, 1, `m${i % 2}`).hset('shared', `f${n}`, i).set(`p${n}:${i}`, 2, 'NX');
      return pipeline.exec();
    }));
    await asker.ask('WATCH', 'shared');
    await senders[0].hset('shared', 'last', 1);
    await asker.ask('MULTI');
    await asker.ask('SET', 'never', 1);
    assert.equal(await asker.ask('EXEC'), null);
    // Its own loop tells it after what each of them was answered.
    const heard = await listener.caughtUp(asker);
    for (let n = 0; n < clients; n++) {
      const own = heard.filter(([, key]) => key.startsWith(`p${n}:`));
      assert.deepEqual(own, Array.from({ length: count }, (_, i) => ['__keyevent@0__:set', `p${n}:${i}`]));
      assert.equal(heard.filter(([, key]) => key === `z${n}`).length, 2);
    }
    assert.equal(heard.filter(([event, key]) => event === '__keyevent@0__:hset' && key === 'shared').length, clients * count + 1);
    assert.ok(!heard.some(([, key]) => key === 'never'));
    await asker.ask('CONFIG', 'SET', 'notify-keyspace-events', '');
    await asker.ask('SET', 'silent', 1);
    assert.deepEqual(await listener.caughtUp(asker), []);
  } finally {
    senders.forEach((sender) => sender.disconnect());
    asker.close();
    listener.close();
    await target.close();
  }
});
