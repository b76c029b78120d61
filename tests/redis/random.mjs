// Random commands, the same from the same seed.
//
//   node tests/redis/random.mjs --seed 7 [--rounds 100] [--length 60] [--seconds 600]
//
// tells the first round whose replies differ, cut down to the commands that matter; else how many were alike. With
// --seconds it goes on with the next seeds for that long.
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { connect, decode } from './resp.mjs';

// mulberry32
function generator(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  const of = (list) => list[below(list.length)];
  const chance = (p) => next() < p;
  return { below, of, chance };
}

const keys = ['a', 'b', 'c', 'd', 'key with space', 'é'];
const members = ['a', 'b', 'c', 'd', 'aa', 'ab', 'b\n', '', 'é', '日本', '😀', '{}', '*', 'zz', 'Z', '0', '-1', '~',
  Buffer.from([0]), Buffer.from([0, 0]), Buffer.from([97, 0, 98]), 'x'.repeat(100)];
const wide = Array.from({ length: 200 }, (_, i) => `m${i}`);
const scores = ['0', '-0', '1', '1', '1', '2', '2', '3', '10', '-1', '1.5', '0.1', '-2.25', '3.0', '1e3', '1e21', '123456789012',
  '9007199254740993', '-9007199254740992', '1e308', '-1e308', '1.7976931348623157e308', '5e-324', '-5e-324', '1e-131',
  '2.2250738585072014e-308', 'inf', '+inf', '-inf', '1e125', '9.9e125', '1e126', '-1e126', '1e-130', '1e-129', '0.30000000000000004'];
const badScores = ['nan', 'abc', '', ' 1', '1 ', '0x10', '1e999', '--1'];
const score = (r) => (r.chance(0.02) ? r.of(badScores) : r.of(scores));
const member = (r) => (r.chance(0.15) ? r.of(wide) : r.of(members));
const key = (r) => r.of(r.chance(0.7) ? keys.slice(0, 2) : keys);
// Hashes and sets have keys of their own, and now and then those of another type.
const hashKey = (r) => (r.chance(0.93) ? r.of(['h1', 'h1', 'h2', 'h3']) : r.of(['a', 's1', 'nokey']));
const setKey = (r) => (r.chance(0.93) ? r.of(['s1', 's1', 's2', 's3']) : r.of(['a', 'h1', 'nokey']));
const anyKey = (r) => r.of([key, hashKey, setKey])(r);
const value = (r) => (r.chance(0.4) ? r.of(['0', '1', '10', '-5', '3.5', '9223372036854775807', '1e3', '00', '']) : member(r));
// Order by members means something only where all scores are the same: such a key has them so. The other one
// is written by nobody ('nokey' may be: it is a target of RENAME).
const lexKey = (r) => (r.chance(0.9) ? 'l' : 'nolex');
const index = (r) => String(r.of([0, 0, 1, 2, 3, 5, 10, 100, -1, -1, -2, -3, -5, -100]));
const scoreEnd = (r) => (r.chance(0.3) ? r.of(['-inf', '+inf', 'inf', '(inf', '(-inf']) : (r.chance(0.3) ? '(' : '') + r.of(scores));
const lexEnd = (r) => (r.chance(0.3) ? r.of(['-', '+']) : Buffer.concat([Buffer.from(r.of(['[', '('])), Buffer.from(member(r))]));
const some = (r, most, make) => Array.from({ length: 1 + r.below(most) }, () => make(r));
const maybe = (r, p, ...words) => (r.chance(p) ? words : []);
const limit = (r, p) => maybe(r, p, 'LIMIT', String(r.of([0, 0, 1, 2, -1])), String(r.of([0, 1, 2, 5, -1])));

function pairs(r) {
  return Array.from({ length: 1 + r.below(r.chance(0.1) ? 30 : 4) }, () => [score(r), member(r)]).flat();
}

const zaddFlags = (r) => [...maybe(r, 0.12, 'NX'), ...maybe(r, 0.12, 'XX'), ...maybe(r, 0.12, 'GT'), ...maybe(r, 0.12, 'LT'),
  ...maybe(r, 0.2, 'CH')];

function zrange(r, store) {
  const by = r.below(3);
  const head = store ? ['ZRANGESTORE', key(r), key(r)] : ['ZRANGE', key(r)];
  const reverse = maybe(r, 0.4, 'REV');
  const tail = store ? [] : maybe(r, by === 1 ? 0.05 : 0.5, 'WITHSCORES');
  if (by === 0) return [...head, index(r), index(r), ...reverse, ...limit(r, 0.03), ...tail];
  if (by === 1) head[head.length - 1] = lexKey(r);
  if (by === 1) return [...head, lexEnd(r), lexEnd(r), 'BYLEX', ...reverse, ...limit(r, 0.3), ...tail];
  return [...head, scoreEnd(r), scoreEnd(r), 'BYSCORE', ...reverse, ...limit(r, 0.3), ...tail];
}

const zsetOrSet = (r) => (r.chance(0.8) ? key(r) : setKey(r));
function algebra(r, name, store) {
  const sources = some(r, 3, zsetOrSet);
  const weights = name !== 'ZDIFF' && r.chance(0.4) ? ['WEIGHTS', ...sources.map(() => r.of(['1', '2', '-1', '0', '0.5', 'inf', '3']))] : [];
  const aggregate = name !== 'ZDIFF' && r.chance(0.4) ? ['AGGREGATE', r.of(['SUM', 'MIN', 'MAX'])] : [];
  return [store ? `${name}STORE` : name, ...(store ? [key(r)] : []), String(sources.length), ...sources, ...weights, ...aggregate,
    ...(store ? [] : maybe(r, 0.5, 'WITHSCORES'))];
}

const text = (r) => r.of(['', '0', '1', '-1', '10', '1.5', '3.0e3', 'abc', ' 1', '01', '9223372036854775807', '-9223372036854775808', 'é',
  Buffer.from([0, 255, 254]), 'x'.repeat(50)]);
const addend = (r) => r.of(['1', '1', '2', '-1', '100', '0', '9223372036854775807', '-9223372036854775808', 'x', '1.5']);
const decimal = (r) => r.of(['1', '0.5', '-0.25', '1e3', '10', 'x', '-1.5', '0.1']);
const until = (r) => r.of([['EXAT', '4102444800'], ['PXAT', '4102444800123'], ['EX', '0'], ['PX', 'x'], ['KEEPTTL'], ['EX']]);

// Strings, on the keys that sorted sets are on as well.
const strings = [
  [6, (r) => ['SET', key(r), text(r), ...maybe(r, 0.3, r.of(['NX', 'XX'])), ...maybe(r, 0.2, 'GET'), ...(r.chance(0.3) ? until(r) : [])]],
  [5, (r) => ['GET', key(r)]],
  [1, (r) => ['SETNX', key(r), text(r)]],
  [1, (r) => ['GETSET', key(r), text(r)]],
  [1, (r) => ['GETDEL', key(r)]],
  [1, (r) => ['GETEX', key(r), ...r.of([[], ['PERSIST'], ['EXAT', '4102444800'], ['PXAT', '1'], ['EX', 'x'], ['EX', '0']])]],
  [2, (r) => ['MGET', ...some(r, 4, key)]],
  [1, (r) => [r.of(['MSET', 'MSETNX']), ...some(r, 3, key).flatMap((name) => [name, text(r)]), ...maybe(r, 0.05, 'odd')]],
  [4, (r) => [r.of(['INCR', 'DECR']), key(r)]],
  [2, (r) => [r.of(['INCRBY', 'DECRBY']), key(r), addend(r)]],
  [2, (r) => ['INCRBYFLOAT', key(r), decimal(r)]],
  [2, (r) => ['APPEND', key(r), text(r)]],
  [1, (r) => ['STRLEN', key(r)]],
  [0.5, (r) => ['LCS', key(r), key(r), ...r.of([[], ['LEN'], ['IDX'], ['IDX', 'WITHMATCHLEN', 'MINMATCHLEN', '2'], ['LEN', 'IDX']])]],
  [1, (r) => [r.of(['GETRANGE', 'SUBSTR']), key(r), index(r), index(r)]],
  [1, (r) => ['SETRANGE', key(r), r.of(['0', '1', '5', '60', '-1']), text(r)]],
  [0.5, (r) => ['MOVE', key(r), r.of(['0', '1', '2', '16'])]],
  [0.5, (r) => ['COPY', key(r), key(r), 'DB', r.of(['0', '1', '16']), ...maybe(r, 0.5, 'REPLACE')]],
  [0.5, (r) => ['SELECT', r.of(['0', '0', '1', '16'])]],
  [0.2, () => ['FLUSHDB']],
  [0.5, (r) => ['~SCAN', '0', 'COUNT', '1000', ...maybe(r, 0.5, 'TYPE', r.of(['string', 'zset', 'hash']))]],
];

// How often, and what. `~` in front: the order of the reply is nobody's business.
const commands = [
  [12, (r) => ['ZADD', key(r), ...zaddFlags(r), ...pairs(r)]],
  [3, (r) => ['ZADD', key(r), ...zaddFlags(r), 'INCR', score(r), member(r)]],
  [4, (r) => ['ZINCRBY', key(r), score(r), member(r)]],
  [3, (r) => ['ZREM', key(r), ...some(r, 4, member)]],
  [3, (r) => ['ZADD', 'l', ...some(r, 6, member).flatMap((name) => ['0', name])]],
  [2, (r) => ['ZSCORE', key(r), member(r)]],
  [2, (r) => ['ZMSCORE', key(r), ...some(r, 4, member)]],
  [2, (r) => ['ZCARD', key(r)]],
  [2, (r) => ['ZCOUNT', key(r), scoreEnd(r), scoreEnd(r)]],
  [2, (r) => ['ZLEXCOUNT', lexKey(r), lexEnd(r), lexEnd(r)]],
  [4, (r) => [r.of(['ZRANK', 'ZREVRANK']), key(r), member(r)]],
  [6, (r) => zrange(r, false)],
  [2, (r) => zrange(r, true)],
  [2, (r) => [r.of(['ZRANGE', 'ZREVRANGE']), key(r), index(r), index(r), ...maybe(r, 0.5, 'WITHSCORES')]],
  [2, (r) => [r.of(['ZRANGEBYSCORE', 'ZREVRANGEBYSCORE']), key(r), scoreEnd(r), scoreEnd(r), ...maybe(r, 0.5, 'WITHSCORES'), ...limit(r, 0.3)]],
  [2, (r) => [r.of(['ZRANGEBYLEX', 'ZREVRANGEBYLEX']), lexKey(r), lexEnd(r), lexEnd(r), ...limit(r, 0.3)]],
  [1, (r) => ['ZREMRANGEBYRANK', key(r), index(r), index(r)]],
  [1, (r) => ['ZREMRANGEBYSCORE', key(r), scoreEnd(r), scoreEnd(r)]],
  [1, (r) => ['ZREMRANGEBYLEX', lexKey(r), lexEnd(r), lexEnd(r)]],
  [2, (r) => [r.of(['ZPOPMIN', 'ZPOPMAX']), key(r), ...maybe(r, 0.5, String(r.of([0, 1, 2, 3, 100, -1])))]],
  [1, (r) => { const list = some(r, 3, key); return ['ZMPOP', String(list.length), ...list, r.of(['MIN', 'MAX']), ...maybe(r, 0.5, 'COUNT', String(r.of([1, 2, 10, 0])))]; }],
  [1, (r) => [r.of(['BZPOPMIN', 'BZPOPMAX']), ...some(r, 3, key), '0.001']],
  [2, (r) => algebra(r, r.of(['ZUNION', 'ZINTER', 'ZDIFF']), false)],
  [2, (r) => algebra(r, r.of(['ZUNION', 'ZINTER', 'ZDIFF']), true)],
  [1, (r) => { const list = some(r, 3, key); return ['ZINTERCARD', String(list.length), ...list, ...maybe(r, 0.4, 'LIMIT', String(r.below(4)))]; }],
  [1, (r) => ['~ZSCAN', key(r), '0', 'COUNT', '1000', ...maybe(r, 0.5, 'MATCH', r.of(['*', 'm*', 'a?', '[a-c]*', '\\*', '']))]],
  [1, (r) => ['~ZRANDMEMBER', key(r), '1000', ...maybe(r, 0.5, 'WITHSCORES')]],
  [1, (r) => ['ZRANDMEMBER', key(r), '0']],
  [6, (r) => ['HSET', hashKey(r), ...some(r, r.chance(0.05) ? 60 : 3, (q) => [member(q), value(q)]).flat()]],
  [1, (r) => ['HMSET', hashKey(r), member(r), value(r)]],
  [1, (r) => ['HSETNX', hashKey(r), member(r), value(r)]],
  [3, (r) => ['HGET', hashKey(r), member(r)]],
  [2, (r) => ['HMGET', hashKey(r), ...some(r, 4, member)]],
  [2, (r) => ['HDEL', hashKey(r), ...some(r, r.chance(0.1) ? 30 : 3, member)]],
  [1, (r) => [r.of(['HEXISTS', 'HSTRLEN']), hashKey(r), member(r)]],
  [1, (r) => ['HLEN', hashKey(r)]],
  [2, (r) => [r.of(['~HGETALL', '~HKEYS', '~HVALS']), hashKey(r)]],
  [2, (r) => ['HINCRBY', hashKey(r), r.of(['a', 'n', member(r)]), r.of(['1', '-1', '100', '9223372036854775807', '1.5', 'x'])]],
  [1, (r) => ['HINCRBYFLOAT', hashKey(r), r.of(['f', 'a', member(r)]), r.of(['1.5', '-0.1', '1e10', '3', 'nan', 'x'])]],
  [1, (r) => ['~HRANDFIELD', hashKey(r), '1000', ...maybe(r, 0.5, 'WITHVALUES')]],
  [1, (r) => ['~HSCAN', hashKey(r), '0', 'COUNT', '1000', ...maybe(r, 0.5, 'MATCH', r.of(['*', 'm*', 'a?', '[a-c]*', '']))]],
  [6, (r) => ['SADD', setKey(r), ...some(r, r.chance(0.05) ? 60 : 4, member)]],
  [2, (r) => ['SREM', setKey(r), ...some(r, r.chance(0.1) ? 30 : 3, member)]],
  [2, (r) => ['SISMEMBER', setKey(r), member(r)]],
  [1, (r) => ['SMISMEMBER', setKey(r), ...some(r, 4, member)]],
  [1, (r) => ['SCARD', setKey(r)]],
  [1, (r) => ['~SMEMBERS', setKey(r)]],
  [1, (r) => ['SMOVE', setKey(r), setKey(r), member(r)]],
  [0.5, (r) => ['~SPOP', setKey(r), '1000']],
  [0.5, (r) => ['~SRANDMEMBER', setKey(r), '1000']],
  [2, (r) => [r.of(['~SINTER', '~SUNION', '~SDIFF']), ...some(r, 3, setKey)]],
  [2, (r) => [r.of(['SINTERSTORE', 'SUNIONSTORE', 'SDIFFSTORE']), r.chance(0.9) ? setKey(r) : anyKey(r), ...some(r, 3, setKey)]],
  [1, (r) => { const list = some(r, 3, setKey); return ['SINTERCARD', String(list.length), ...list, ...maybe(r, 0.4, 'LIMIT', String(r.below(4)))]; }],
  [1, (r) => ['~SSCAN', setKey(r), '0', 'COUNT', '1000', ...maybe(r, 0.5, 'MATCH', r.of(['*', 'm*', 'a?', '[a-c]*', '']))]],
  [1, (r) => ['EXISTS', ...some(r, 3, anyKey)]],
  [1, (r) => [r.of(['DEL', 'UNLINK']), ...some(r, 2, anyKey)]],
  [1, (r) => ['TYPE', anyKey(r)]],
  [1, (r) => ['~KEYS', r.of(['*', 'a*', '?', '[a-b]', '* *'])]],
  [1, () => ['DBSIZE']],
  // Moments, not durations: the two programs do not look at the clock at the same time.
  [0.3, (r) => ['EXPIRE', anyKey(r), r.of(['-1', '0']), ...maybe(r, 0.4, r.of(['NX', 'XX', 'GT', 'LT']))]],
  [1, (r) => ['EXPIREAT', anyKey(r), r.of(['4102444800', '4102444801', '4102450000']), ...maybe(r, 0.4, r.of(['NX', 'XX', 'GT', 'LT']))]],
  [1, (r) => ['PEXPIREAT', anyKey(r), String(r.of([4102444800000, 4102444900000])), ...maybe(r, 0.4, r.of(['NX', 'XX', 'GT', 'LT']))]],
  [1, (r) => [r.of(['EXPIRETIME', 'PEXPIRETIME']), anyKey(r)]],
  [1, (r) => ['PERSIST', anyKey(r)]],
  [1, (r) => ['TOUCH', ...some(r, 3, anyKey)]],
  [1, (r) => [r.of(['RENAME', 'RENAMENX']), anyKey(r), anyKey(r)]],
  [1, (r) => ['COPY', anyKey(r), anyKey(r), ...maybe(r, 0.5, 'REPLACE')]],
  [0.3, () => ['FLUSHALL']],
  [0.3, (r) => ['ZADD', key(r), ...some(r, 2, member)]],
  [0.3, (r) => [r.of(['ZADD', 'ZSCORE', 'ZRANGE', 'ZUNION', 'ZPOPMIN', 'DEL', 'EXPIRE', 'COPY']), ...some(r, 4, member)]],
  ...strings,
];
const total = commands.reduce((sum, [weight]) => sum + weight, 0);

function one(r) {
  let at = (r.below(1e9) / 1e9) * total;
  for (const [weight, make] of commands) {
    at -= weight;
    if (at < 0) return make(r);
  }
  return ['PING'];
}

// Writes to one sorted set that follow one another: what a pipeline may make one of.
function burst(r) {
  const name = key(r);
  const usual = r.of(['ZADD', 'ZINCRBY']);
  return Array.from({ length: 2 + r.below(30) }, () => [r.chance(0.95) ? usual : r.of(['ZADD', 'ZINCRBY']), name, score(r), member(r)]);
}

export function sequence(seed, length) {
  const r = generator(seed);
  const list = [];
  while (list.length < length) {
    if (r.chance(0.06)) {
      if (r.chance(0.3)) list.push(['WATCH', key(r)]);
      list.push(['MULTI'], ...Array.from({ length: 1 + r.below(8) }, () => one(r)), [r.chance(0.9) ? 'EXEC' : 'DISCARD']);
    } else if (r.chance(0.03)) list.push(...burst(r));
    else list.push(one(r));
  }
  return list;
}

const leaves = (tree) => (tree.list ? tree.list.flatMap(leaves) : [`${tree.kind}${tree.text}`]);
// A queued command whose reply has no order makes that of EXEC have none.
function loose(list) {
  let inside = false;
  let any = false;
  return list.map(([name]) => {
    if (name === 'MULTI') [inside, any] = [true, false];
    if (inside && name[0] === '~') any = true;
    const answer = name[0] === '~' || (name === 'EXEC' && any);
    if (name === 'EXEC' || name === 'DISCARD') inside = false;
    return answer;
  });
}
// The table has one zero: a score of -0 comes back as 0 (docs/redis.md).
const oneZero = (reply) => Buffer.from(reply.toString('latin1').replaceAll('$2\r\n-0\r\n', '$1\r\n0\r\n')
  .replaceAll(',-0\r\n', ',0\r\n'), 'latin1');
const norm = (told, any, reply = oneZero(told)) => (any ? JSON.stringify(leaves(decode(reply)).sort()) : reply.toString('latin1'));

// Runs the sequence on all ports; resolves to the first step whose replies differ, or null.
export async function compare(ports, version, list) {
  const bare = list.map(([name, ...rest]) => [name.replace('~', ''), ...rest]);
  const answers = await Promise.all(ports.map(async (port) => {
    const client = await connect(port, version);
    try {
      await client.send('FLUSHALL');
      return await client.pipeline(bare);
    } finally {
      client.close();
    }
  }));
  const any = loose(list);
  for (let i = 0; i < list.length; i++) {
    const told = answers.map((replies) => replies[i]);
    if (norm(told[0], any[i]) !== norm(told[1], any[i])) return { step: i, command: bare[i], told };
  }
  return null;
}

// Leaves out commands as long as the replies still differ.
export async function shrink(ports, version, list) {
  let found = await compare(ports, version, list);
  if (!found) return { list }; // only sometimes: a race
  list = list.slice(0, found.step + 1);
  for (let size = Math.max(1, list.length >> 1); size >= 1; size >>= 1)
    for (let at = 0; at + 1 < list.length;) {
      const less = [...list.slice(0, at), ...list.slice(at + size)];
      const still = less.length ? await compare(ports, version, less) : null;
      if (still) [list, found] = [less.slice(0, still.step + 1), still];
      else at += size;
    }
  return { list, found };
}

export const tell = (list) =>
  list.map((args) => args.map((arg) => JSON.stringify(Buffer.from(arg).toString('latin1'))).join(' ')).join('\n');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { startOurs, startRedis } = await import('./targets.mjs');
  const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' }, rounds: { type: 'string', default: '1' }, length: { type: 'string', default: '60' }, seconds: { type: 'string' } } });
  const end = values.seconds && Date.now() + Number(values.seconds) * 1000;
  let alike = 0;
  const targets = await Promise.all([startRedis(), startOurs()]);
  const ports = targets.map(({ port }) => port);
  try {
    for (let seed = Number(values.seed); end ? Date.now() < end : alike < Number(values.rounds); seed++, alike++) {
      const version = 2 + (seed & 1);
      const list = sequence(seed, Number(values.length));
      const first = await compare(ports, version, list);
      if (!first) continue;
      const { list: least, found = first } = await shrink(ports, version, list);
      console.log(`seed ${seed}, RESP${version}\n${tell(least)}`);
      console.log(`step ${found.step}: ${tell([found.command])}`);
      found.told.forEach((reply, i) => console.log(`${targets[i].name.padEnd(6)}${JSON.stringify(reply.toString('latin1'))}`));
      process.exitCode = 1;
      break;
    }
  } finally {
    console.log(`${alike} rounds of ${values.length} commands were answered alike`);
    await Promise.all(targets.map((target) => target.close()));
  }
}
