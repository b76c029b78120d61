// What takes long: commands and operations of all front ends, each behind sets of very many members.
import net from 'node:net';
import { rawClient } from '../lib/raw.mjs';
import { makeHttpCases } from './http_cases.mjs';
import { makeLargeCases } from './large_cases.mjs';

const encode = (words) => {
  const parts = [`*${words.length}\r\n`];
  for (const word of words) parts.push(`$${Buffer.byteLength(String(word))}\r\n${word}\r\n`);
  return parts.join('');
};

// Sends the commands at once, on a connection of its own, and resolves to the beginning of the first reply. A sentinel
// behind them tells where the replies end, so that large ones need not be looked at.
const END = 'the end of the replies';
export function redis(port, ...commands) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    let first, tail = '';
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server ended the connection')));
    socket.on('data', (part) => {
      first ??= part.toString('latin1', 0, 80).split('\r\n')[0];
      tail = (tail + part.toString('latin1', Math.max(0, part.length - END.length - 9))).slice(-END.length - 2);
      if (tail !== `${END}\r\n`) return;
      socket.removeAllListeners();
      socket.destroy();
      resolve(first);
    });
    socket.on('connect', () => {
      for (const command of commands) socket.write(encode(command));
      socket.write(encode(['PING', END]));
    });
  });
}

const name = (i) => `player${String(i).padStart(7, '0')}`;

async function zadd(port, key, members, first = 0) {
  for (let at = 0; at < members; at += 1000) {
    const commands = [];
    for (let i = at; i < Math.min(at + 1000, members); i += 100) {
      const words = ['ZADD', key];
      for (let j = i; j < Math.min(i + 100, members); j++) words.push((j * 7919) % 1000003, name(first + j));
      commands.push(words);
    }
    await redis(port, ...commands);
  }
}

// Two sets of `members` that overlap by half, one of 20,000, and 20,000 sets of one.
export async function fill(server, members) {
  const port = server.redisPort;
  await zadd(port, 'large:a', members);
  await zadd(port, 'large:b', members, members / 2);
  await zadd(port, 'middle', 20000);
  for (let at = 0; at < Math.min(members / 10, 100000); at += 500)
    await redis(port, ...Array.from({ length: 500 }, (_, i) => ['ZADD', `small:${at + i}`, 1, 'm']));
}

export function makeCases(server, members) {
  const port = server.redisPort;
  const many = (count, make) => Array.from({ length: count }, (_, i) => make(i)).flat();
  const words = (list, before) => ({ name: list.slice(0, 6).join(' ').slice(0, 60), run: () => redis(port, list), before }); // of any length
  const command = (...list) => words(list);
  const multi = (count, words) => ({
    name: `MULTI of ${count} ${words[0]}`,
    run: () => redis(port, ['MULTI'], ...many(count, () => [words]), ['EXEC']),
  });
  const client = rawClient(server.endpoint);
  const http = (title, run, before) => ({ name: title, run, before });
  const cases = [
    command('ZRANDMEMBER', 'large:a', String(members)),
    command('ZRANDMEMBER', 'large:a', String(-members)),
    command('ZUNION', '2', 'large:a', 'large:b'),
    command('ZINTER', '2', 'large:a', 'large:b'),
    command('ZDIFF', '2', 'large:a', 'large:b'),
    command('ZINTERCARD', '2', 'large:a', 'large:b'),
    command('ZUNIONSTORE', 'to', '2', 'large:a', 'large:b'),
    command('ZINTERSTORE', 'to', '2', 'large:a', 'middle'),
    command('ZDIFFSTORE', 'to', '2', 'middle', 'large:a'),
    command('ZRANGESTORE', 'to', 'large:a', '0', '999'),
    command('ZRANGE', 'large:a', '0', '-1'),
    command('ZREVRANGEBYSCORE', 'large:a', '+inf', '-inf', 'WITHSCORES'),
    command('ZLEXCOUNT', 'large:a', '-', '+'),
    command('MEMORY', 'USAGE', 'large:a', 'SAMPLES', '0'),
    command('ZSCAN', 'large:a', '0', 'COUNT', '1000000'),
    words(['EXISTS'].concat(many(members, (i) => `small:${i}`))),
    words(['ZMSCORE', 'large:a'].concat(many(members / 2, name))),
    words(['DEL'].concat(many(members / 10, (i) => `none:${i}`))),
    words(['COPY', 'large:b', 'copied'], () => redis(port, ['DEL', 'copied'])),
    words(['RENAME', 'copied', 'renamed'], () => redis(port, ['COPY', 'large:b', 'copied', 'REPLACE'])),
    command('KEYS', '*'),
    command('DBSIZE'),
    command('RANDOMKEY'),
    command('SCAN', '0', 'COUNT', '1000000'),
    { name: 'ZADD of 100 pairs, 500 times at once', run: () => redis(port, ...many(500, (i) => [['ZADD', 'bulk', ...many(100, (j) => [i, name(i * 100 + j)])]])) },
    { name: 'ZRANGE of 1000, 500 times at once', run: () => redis(port, ...many(500, () => [['ZRANGE', 'large:a', '5', '1004']])) },
    multi(10, ['ZINTERCARD', '2', 'large:a', 'large:b']),
    multi(60, ['ZINTERCARD', '2', 'large:a', 'large:b']),
    multi(1000, ['ZSCORE', 'large:a', name(1)]),
    multi(2000, ['ZADD', 'bulk', '1', name(1)]),
    http('JSON of 16 MB', () => client.call('PutItem', { TableName: 'x', Item: { a: { L: many(Math.floor(500000), () => [{ S: 'abcdefghijk' }]) } } }).then(({ status }) => `${status}`)),
  ];
  return [...cases, ...makeHttpCases(server, members), ...makeWrites(port), ...makeLargeCases(server, redis)];
}

// Commands that write very many items.
function makeWrites(port, items = 100000, members = 20000) {
  const list = (count, make) => Array.from({ length: count }, (_, i) => make(i)).flat();
  const one = (title, words, before) => ({ name: title, run: () => redis(port, words), before });
  // Puts them there beforehand, some at a time.
  const some = async (count, words, make) => {
    for (let at = 0; at < count; at += 500) await redis(port, words.concat(list(500, (i) => make(at + i))));
  };
  const strings = () => some(items, ['MSET'], (i) => [`str:${i}`, 'v']);
  const noStrings = () => some(items, ['DEL'], (i) => `str:${i}`);
  const zset = () => some(members, ['ZADD', 'wide:zset'], (i) => [i % 977, name(i)]);
  const hash = () => some(members, ['HSET', 'wide:hash'], (i) => [name(i), 'v']);
  const set = () => some(members, ['SADD', 'wide:set'], name);
  const gone = (key) => () => redis(port, ['DEL', key]);
  const names = (command, key) => [command, key].concat(list(members, name));
  const multi = (title, count, make, before) => ({
    name: title, before, run: () => redis(port, ['MULTI'], ...Array.from({ length: count }, (_, i) => make(i)), ['EXEC']),
  });
  let round = 0;
  const loop = (call) => `for i = 1, tonumber(ARGV[1]) do ${call} end return 'done'`;
  return [
    one(`DEL of ${items} strings`, ['DEL'].concat(list(items, (i) => `str:${i}`)), strings),
    one(`UNLINK of ${items} strings`, ['UNLINK'].concat(list(items, (i) => `str:${i}`)), strings),
    one(`MSET of ${items} new strings`, ['MSET'].concat(list(items, (i) => [`str:${i}`, 'w'])), noStrings),
    one(`MSET of ${items} strings`, ['MSET'].concat(list(items, (i) => [`str:${i}`, 'x'])), strings),
    one(`MSETNX of ${items} strings`, ['MSETNX'].concat(list(items, (i) => [`str:${i}`, 'w'])), noStrings),
    one(`ZADD of ${members} new pairs`, ['ZADD', 'wide:zset'].concat(list(members, (i) => [i, name(i)])), gone('wide:zset')),
    { name: `ZADD of ${members} other scores`, before: zset, run: () => redis(port, ['ZADD', 'wide:zset'].concat(list(members, (i) => [i + ++round, name(i)]))) },
    one(`ZREM of ${members} members`, names('ZREM', 'wide:zset'), zset),
    one(`ZREMRANGEBYRANK of ${members}`, ['ZREMRANGEBYRANK', 'wide:zset', '0', String(members - 2)], zset),
    one(`ZPOPMIN of ${members}`, ['ZPOPMIN', 'wide:zset', String(members - 2)], zset),
    one(`DEL of a sorted set of ${members}`, ['DEL', 'wide:zset'], zset),
    one(`HSET of ${members} new fields`, ['HSET', 'wide:hash'].concat(list(members, (i) => [name(i), 'w'])), gone('wide:hash')),
    one(`HDEL of ${members} fields`, names('HDEL', 'wide:hash'), hash),
    one(`SADD of ${members} new members`, names('SADD', 'wide:set'), gone('wide:set')),
    one(`SREM of ${members} members`, names('SREM', 'wide:set'), set),
    one(`SPOP of ${members} members`, ['SPOP', 'wide:set', String(members - 2)], set),
    multi('MULTI of 10000 DEL', 10000, (i) => ['DEL', `str:${i}`], () => some(10000, ['MSET'], (i) => [`str:${i}`, 'v'])),
    multi('MULTI of 10000 EXPIRE', 10000, (i) => ['EXPIRE', `str:${i}`, '1000'], () => some(10000, ['MSET'], (i) => [`str:${i}`, 'v'])),
    one('a script of 20000 SET', ['EVAL', loop("redis.call('SET', 'str:' .. i, ARGV[2])"), '0', '20000', 'v']),
    one('a script of 20000 ZADD', ['EVAL', loop("redis.call('ZADD', 'wide:zset', i, 'm' .. i)"), '0', '20000', 'v'], gone('wide:zset')),
    { name: `FLUSHDB of ${items} strings`, run: () => redis(port, ['SELECT', '9'], ['FLUSHDB']), before: async () => {
      for (let at = 0; at < items; at += 500) await redis(port, ['SELECT', '9'], ['MSET'].concat(list(500, (i) => [`str:${at + i}`, 'v'])));
    } },
  ];
}
