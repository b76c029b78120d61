// Sorted sets, side by side with Debian's redis-server in one run.
//
//   node bench/redis.mjs [--members 1000000] [--rounds 3] [--seconds 1] [--only zadd] [--threads N]
//                        [--store-memory SIZE]
//
// Reads are held against Redis in memory, writes (which gametable syncs before it answers) against
// Redis with appendfsync always; all in the same file system. Each round asks both in turn, so
// that a noisy moment hits both; a figure is the median of the rounds, a ratio that of their
// ratios. The load comes from redis-benchmark over 50 connections, members and scores at random over
// the whole set. gametable has one loop (--threads), as Redis has one thread.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { program, startServer, temporaryFolder } from '../tests/lib/server.mjs';
import { connect, fill, grouped, median, memory, redisPort, startRedis, table } from './common.mjs';

const { values: options } = parseArgs({
  options: {
    members: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '50' },
    only: { type: 'string', default: '' },
    threads: { type: 'string', default: '1' },
    'store-memory': { type: 'string', default: '0' },
  },
});
const members = Number(options.members);
const rounds = Number(options.rounds);
const folder = temporaryFolder();
const board = 'bench';
const any = 'player:__rand_int__';

// What is asked, of which Redis, and the goals unpipelined and at pipeline 16.
const asked = [
  { name: 'ZREVRANK', words: ['ZREVRANK', board, any], against: 'memory', goals: [1.0, 0.8] },
  { name: 'ZSCORE', words: ['ZSCORE', board, any], against: 'memory', goals: [1.0, 0.8] },
  { name: 'ZCOUNT', words: ['ZCOUNT', board, '__rand_int__', '+inf'], against: 'memory', goals: [1.0, 0.8] },
  { name: 'top 10', words: ['ZREVRANGE', board, '0', '9', 'WITHSCORES'], against: 'memory', goals: [1.0, 0.8] },
  { name: 'ZADD', words: ['ZADD', board, '__rand_int__', any], against: 'always', goals: [1.5, 1.0] },
  { name: 'ZINCRBY', words: ['ZINCRBY', board, '1', any], against: 'always', goals: [1.5, 1.0] },
].filter(({ name }) => name.toLowerCase().includes(options.only.toLowerCase()));

// One run of redis-benchmark: requests a second and the median and 99th percentile in microseconds.
function ask(port, words, pipeline, requests) {
  const printed = execFileSync('redis-benchmark', ['-h', '127.0.0.1', '-p', String(port), '-c', options.connections,
    '-P', String(pipeline), '-r', String(members), '-n', String(requests), '--csv', ...words],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 60000 });
  const figures = /^"[^"]*","([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)","([\d.]+)"/m.exec(printed.split('\n').slice(1).join('\n'));
  if (!figures) throw new Error(`redis-benchmark ${words.join(' ')}: ${printed}`);
  const [rate, , , p50, , p99] = figures.slice(1).map(Number);
  return { rate, p50: p50 * 1000, p99: p99 * 1000 };
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

async function contest({ row }, ours, theirs, { name, words, against, goals }) {
  for (const [i, pipeline] of [1, 16].entries()) {
    const contestants = [[theirs[against].port, []], [ours.redis, []]];
    const expected = contestants.map(([port]) => ask(port, words, pipeline, 20000).rate); // warms up, too
    const ratios = [];
    for (let round = 0; round < rounds; round++) {
      for (const [which, [port, seen]] of contestants.entries()) {
        seen.push(ask(port, words, pipeline, Math.max(5000, Math.round(expected[which] * Number(options.seconds)))));
        expected[which] = seen.at(-1).rate;
      }
      ratios.push(contestants[1][1].at(-1).rate / contestants[0][1].at(-1).rate);
    }
    const of = (which, figure) => median(contestants[which][1].map((seen) => seen[figure]));
    const ratio = median(ratios);
    row(`${name}${pipeline > 1 ? `, pipeline ${pipeline}` : ''}`,
      `${grouped(of(1, 'rate')).padStart(9)}/s against ${grouped(of(0, 'rate')).padStart(9)}/s: ${ratio.toFixed(2)}` +
      `   p50 ${of(1, 'p50').toFixed(0)} and ${of(0, 'p50').toFixed(0)} us, p99 ${of(1, 'p99').toFixed(0)} and ${of(0, 'p99').toFixed(0)} us`,
      goals[i].toFixed(1), ratio >= goals[i]);
  }
}

async function memories({ row }, ours, theirs) {
  const mine = await info(ours.redis, 'memory', 'used_memory_dataset') / members;
  const dataset = await info(theirs.memory.port, 'memory', 'used_memory_dataset') / members;
  row('memory a member, for ranking', `${mine.toFixed(1)} bytes against ${dataset.toFixed(1)}: ${(mine / dataset).toFixed(2)}`, '0.5', mine / dataset <= 0.5);
  const [a, b] = [memory(ours.pid), memory(theirs.memory.pid)];
  const split = ({ resident, own, files }) => `${grouped(resident)} MB (own ${grouped(own)}, files ${grouped(files)})`;
  const judged = members >= 10000000;
  row('whole process, resident', `${split(a)} against ${split(b)}: ${(a.resident / b.resident).toFixed(2)}; own memory ${(a.own / b.own).toFixed(2)}`,
    judged ? '0.8' : '0.8 at 10,000,000 members', judged ? a.resident / b.resident <= 0.8 : undefined);
}

const rows = table();
console.log(`gametable: ${execFileSync(program, ['version'], { encoding: 'utf8' }).trim()} and ` +
  `${execFileSync('redis-server', ['--version'], { encoding: 'utf8' }).split(' ').slice(0, 3).join(' ')}; ` +
  `${grouped(members)} members, ${options.connections} connections, median of ${rounds} alternating rounds of ${options.seconds} s`);
const theirs = {
  memory: await startRedis({ folder: path.join(folder, 'redis-memory'), durable: false }),
  always: await startRedis({ folder: path.join(folder, 'redis-always'), durable: true }),
};
const ours = await startOurs();
for (const [name, port] of [['Redis in memory', theirs.memory.port], ['Redis, appendfsync always', theirs.always.port], ['gametable', ours.redis]]) {
  const from = process.hrtime.bigint();
  await fill(port, board, members);
  rows.row(`filled: ${name}`, `${grouped(members / (Number(process.hrtime.bigint() - from) / 1e9))} members a second`);
}
for (const one of asked) await contest(rows, ours, theirs, one);
await memories(rows, ours, theirs);
rows.end();
await Promise.all([ours.stop(), theirs.memory.stop(), theirs.always.stop()]);
process.exit(0);
