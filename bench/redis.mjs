// Sorted sets and strings, side by side with a redis-server in one run: Debian's, or another one, such as Valkey's.
//
//   node bench/redis.mjs [--members 1000000] [--rounds 3] [--seconds 1] [--only zadd] [--threads N]
//                        [--store-memory SIZE] [--server "COMMAND [ARGUMENT...]"]
//
// Reads are held against Redis in memory, writes (which gametable syncs before it answers) against
// Redis with appendfsync always; all in the same file system. Each round asks both in turn, so
// that a noisy moment hits both; a figure is the median of the rounds, a ratio that of their
// ratios. The load comes from redis-benchmark over 50 connections, members and scores at random over
// the whole set. gametable has its default settings, unless --threads or --store-memory say otherwise. --server names the program that
// is held against gametable; docs/benchmarks.md tells how to get newer ones than Debian 12 has.
//
// Beside each rate stands the processor time that a request took: the server's, of all its threads, and
// redis-benchmark's, which has one thread. Where that is all of a second for the requests of a second, the client is
// what is measured.
import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { program, startServer, temporaryFolder } from '../tests/lib/server.mjs';
import { connect, fill, grouped, median, memory, processorTime, redisPort, startRedis, table } from './common.mjs';

const { values: options } = parseArgs({
  options: {
    members: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '50' },
    only: { type: 'string', default: '' },
    threads: { type: 'string', default: '0' },
    'store-memory': { type: 'string', default: '64M' },
    server: { type: 'string', default: 'redis-server' },
  },
});
const members = Number(options.members);
const rounds = Number(options.rounds);
const command = options.server.split(' ');
const folder = temporaryFolder();
const board = 'bench';
const any = 'player:__rand_int__';
const text = 'text:__rand_int__';
const value = 'a value of some thirty bytes';

// What is asked, of which Redis, and the goals unpipelined and at pipeline 16.
const asked = [
  { name: 'ZREVRANK', words: ['ZREVRANK', board, any], against: 'memory', goals: [1.0, 3.5] },
  { name: 'ZSCORE', words: ['ZSCORE', board, any], against: 'memory', goals: [1.0, 1.5] },
  { name: 'ZCOUNT', words: ['ZCOUNT', board, '__rand_int__', '+inf'], against: 'memory', goals: [1.0, 2.3] },
  { name: 'top 10', words: ['ZREVRANGE', board, '0', '9', 'WITHSCORES'], against: 'memory', goals: [1.0, 1.3] },
  { name: 'ZADD', words: ['ZADD', board, '__rand_int__', any], against: 'always', goals: [1.5, 2.0] },
  { name: 'ZINCRBY', words: ['ZINCRBY', board, '1', any], against: 'always', goals: [1.5, 2.0] },
  { name: 'SET', words: ['SET', text, value], against: 'always', goals: [1.5, 2.0] },
  { name: 'INCR', words: ['INCR', 'counter:__rand_int__'], against: 'always', goals: [1.5, 2.0] },
  { name: 'GET', words: ['GET', text], against: 'memory', goals: [1.0, 1.0], strings: true },
  { name: 'HSET', words: ['HSET', 'hash:__rand_int__', 'coins', '__rand_int__'], against: 'always', goals: [1.5, 2.0] },
  { name: 'HGET', words: ['HGET', 'hash:__rand_int__', 'name'], against: 'memory', goals: [1.0, 1.0], hashes: true },
].filter(({ name }) => name.toLowerCase().includes(options.only.toLowerCase()));

// One run of redis-benchmark: requests a second, the median and 99th percentile, and the processor time that a request
// took the server and the client, in microseconds.
function ask({ port, pid }, words, pipeline, requests, timeout = 60000) {
  const before = processorTime(pid);
  const { stdout, stderr } = spawnSync('bash', ['-c', 'TIMEFORMAT="busy %U %S"; time "$0" "$@"', 'redis-benchmark',
    '-h', '127.0.0.1', '-p', String(port), '-c', options.connections,
    '-P', String(pipeline), '-r', String(members), '-n', String(requests), '--csv', ...words],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout });
  const server = (processorTime(pid) - before) / requests;
  const figures = /^"[^"]*","([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)"/m.exec(stdout.split('\n').slice(1).join('\n'));
  const busy = /busy ([\d.]+) ([\d.]+)/.exec(stderr);
  if (!figures || !busy) throw new Error(`redis-benchmark ${words.join(' ')}: ${stdout}${stderr}`);
  const [rate, , , p50, , p99] = figures.slice(1).map(Number);
  return { rate, p50: p50 * 1000, p99: p99 * 1000, server, client: (Number(busy[1]) + Number(busy[2])) * 1e6 / requests };
}

async function startOurs() {
  const tuning = ['--threads', options.threads, '--store-memory', options['store-memory']];
  const server = await startServer({ data: path.join(folder, 'data'), args: ['--log-level', 'error', '--redis', '127.0.0.1:0', ...tuning] });
  return { ...server, redis: redisPort(server) };
}

async function info(port, section, name) {
  const client = await connect(port);
  const text = await client.ask('INFO', section);
  client.close();
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1]);
}

// Sets all strings that GET may ask for.
async function fillStrings(port) {
  const client = await connect(port);
  for (let from = 0; from < members; from += 500) {
    const words = ['MSET'];
    for (let i = from; i < Math.min(from + 500, members); i++) words.push(`text:${String(i).padStart(12, '0')}`, value);
    await client.ask(...words);
  }
  client.close();
}

// Sets all hashes that HGET may ask for, each of a few fields.
async function fillHashes(port) {
  const client = await connect(port);
  for (let from = 0; from < members; from += 500)
    await Promise.all(Array.from({ length: Math.min(500, members - from) }, (_, i) =>
      client.ask('HSET', `hash:${String(from + i).padStart(12, '0')}`, 'name', `player ${from + i}`, 'level', '7', 'coins', '100')));
  client.close();
}

async function contest({ row }, ours, theirs, { name, words, against, goals, strings, hashes }) {
  const servers = [theirs[against], { port: ours.redis, pid: ours.pid }];
  for (const server of servers) {
    if (strings) await fillStrings(server.port);
    if (hashes) await fillHashes(server.port);
    if (strings || hashes) ask(server, words, 16, 2 * members, 60000 + members / 10); // a first read is from the disk: not what is compared here
  }
  for (const [i, pipeline] of [1, 16].entries()) {
    const contestants = servers.map((server) => [server, []]);
    const expected = contestants.map(([server]) => ask(server, words, pipeline, 20000).rate); // warms up, too
    const ratios = [];
    for (let round = 0; round < rounds; round++) {
      for (const [which, [server, seen]] of contestants.entries()) {
        seen.push(ask(server, words, pipeline, Math.max(5000, Math.round(expected[which] * Number(options.seconds)))));
        expected[which] = seen.at(-1).rate;
      }
      ratios.push(contestants[1][1].at(-1).rate / contestants[0][1].at(-1).rate);
    }
    const of = (which, figure) => median(contestants[which][1].map((seen) => seen[figure]));
    const ratio = median(ratios);
    row(`${name}${pipeline > 1 ? `, pipeline ${pipeline}` : ''}`,
      `${grouped(of(1, 'rate')).padStart(9)}/s against ${grouped(of(0, 'rate')).padStart(9)}/s: ${ratio.toFixed(2)}` +
      `   p50 ${of(1, 'p50').toFixed(0)} and ${of(0, 'p50').toFixed(0)} us, p99 ${of(1, 'p99').toFixed(0)} and ${of(0, 'p99').toFixed(0)} us` +
      `   processor ${of(1, 'server').toFixed(1)} and ${of(0, 'server').toFixed(1)} us, client ${of(1, 'client').toFixed(1)} and ${of(0, 'client').toFixed(1)} us`,
      goals[i].toFixed(1), ratio >= goals[i]);
  }
}

async function memories({ row }, ours, theirs) {
  const mine = await info(ours.redis, 'memory', 'used_memory_dataset') / members;
  const dataset = await info(theirs.memory.port, 'memory', 'used_memory_dataset') / members;
  row('memory a member, for ranking', `${mine.toFixed(1)} bytes against ${dataset.toFixed(1)}: ${(mine / dataset).toFixed(2)}`, '0.5', mine / dataset <= 0.5);
  const [a, b] = [memory(ours.pid), memory(theirs.memory.pid)];
  const split = ({ resident, own, files }) => `${grouped(resident)} MB (own ${grouped(own)}, files ${grouped(files)})`;
  const goal = members >= 10000000 ? 0.7 : 1.0;
  row('whole process, resident', `${split(a)} against ${split(b)}: ${(a.resident / b.resident).toFixed(2)}; own memory ${(a.own / b.own).toFixed(2)}`,
    goal.toFixed(1), a.resident / b.resident <= goal);
}

const rows = table();
console.log(`gametable: ${execFileSync(program, ['version'], { encoding: 'utf8' }).trim()} and ` +
  `${execFileSync(command[0], [...command.slice(1), '--version'], { encoding: 'utf8' }).split(' ').slice(0, 3).join(' ')}; ` +
  `${grouped(members)} members, ${options.connections} connections, median of ${rounds} alternating rounds of ${options.seconds} s`);
const theirs = {
  memory: await startRedis({ folder: path.join(folder, 'redis-memory'), durable: false, command }),
  always: await startRedis({ folder: path.join(folder, 'redis-always'), durable: true, command }),
};
const ours = await startOurs();
for (const [name, port] of [['the other in memory', theirs.memory.port], ['the other, appendfsync always', theirs.always.port], ['gametable', ours.redis]]) {
  const from = process.hrtime.bigint();
  await fill(port, board, members);
  rows.row(`filled: ${name}`, `${grouped(members / (Number(process.hrtime.bigint() - from) / 1e9))} members a second`);
}
for (const one of asked.filter(({ words }) => words.includes(board))) await contest(rows, ours, theirs, one);
// Of the board alone: only one of the three servers gets all strings and hashes.
await memories(rows, ours, theirs);
for (const one of asked.filter(({ words }) => !words.includes(board))) await contest(rows, ours, theirs, one);
rows.end();
await Promise.all([ours.stop(), theirs.memory.stop(), theirs.always.stop()]);
process.exit(0);
