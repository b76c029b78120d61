// A script of two calls against the same two calls between MULTI and EXEC, over 50 connections, in memory and durable.
//
//   node bench/scripts.mjs [--rounds 3] [--seconds 1] [--connections 50]
//
// What is compared is the server's processor time for each, which says the same on a busy machine, and the rate. Each
// round asks for both in turn; a figure is the median of the rounds.
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { parseArgs } from 'node:util';
import { startServer, temporaryFolder } from '../tests/lib/server.mjs';
import { connect, encode } from '../tests/redis/resp.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '50' },
  },
});
const members = 100000;
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

// Microseconds of processor time so far.
function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10000;
}

// The last reply of each unit is that of ECHO.
const unit = (...requests) => Buffer.concat([...requests, ['ECHO', '~']].map((words) => encode(words)));

async function load(port, make) {
  let [done, ending] = [0, false];
  setTimeout(() => { ending = true; }, 1000 * Number(options.seconds));
  const begin = process.hrtime.bigint();
  await Promise.all(Array.from({ length: Number(options.connections) }, (_, n) => new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    let i = 0;
    const next = () => (ending ? (socket.destroy(), resolve()) : socket.write(make(`p${(n * 7919 + i++) % members}`)));
    socket.setNoDelay(true);
    socket.on('connect', next);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      if (!chunk.includes('~')) return;
      done++;
      next();
    });
  })));
  return { done, seconds: Number(process.hrtime.bigint() - begin) / 1e9 };
}

const pairs = [
  ['ZINCRBY and ZREVRANK', 'EVALSHA', [['ZINCRBY', 'b', '1'], ['ZREVRANK', 'b']]],
  ['ZINCRBY on two sets', 'EVALSHA', [['ZINCRBY', 'b', '1'], ['ZINCRBY', 'c', '1']]],
  ['ZSCORE and ZREVRANK', 'EVALSHA_RO', [['ZSCORE', 'b'], ['ZREVRANK', 'b']]],
];

async function contest(server, client, durable, [name, run, calls]) {
  const body = `return {${calls.map((words) => `redis.call(${words.map((word) => `'${word}'`)}, ARGV[1])`)}}`;
  const sha = await client.ask('SCRIPT', 'LOAD', body);
  const contestants = [
    (member) => unit(['MULTI'], ...calls.map((words) => [...words, member]), ['EXEC']),
    (member) => unit([run, sha, '0', member]),
  ].map((make) => ({ make, cost: [], rate: [] }));
  for (let round = 0; round < Number(options.rounds); round++)
    for (const { make, cost, rate } of contestants) {
      const before = processorTime(server.pid);
      const { done, seconds } = await load(server.redisPort, make);
      cost.push((processorTime(server.pid) - before) / done);
      rate.push(done / seconds);
    }
  const [multi, script] = contestants.map(({ cost, rate }) => ({ cost: median(cost), rate: median(rate) }));
  console.log(`${durable ? 'durable  ' : 'in memory'}  ${name.padEnd(22)} script ${script.cost.toFixed(1)} us of processor, ${Math.round(script.rate)}/s; ` +
    `MULTI ${multi.cost.toFixed(1)} us, ${Math.round(multi.rate)}/s: ${(script.cost / multi.cost).toFixed(2)} times the processor, ${(multi.rate / script.rate).toFixed(2)} times as long`);
}

for (const durable of [false, true]) {
  const server = await startServer({ data: durable ? temporaryFolder() : undefined, args: ['--threads', '1', '--log-level', 'error'] });
  const client = await connect(server.redisPort, 2);
  for (let i = 0; i < members; i += 500)
    await client.ask('ZADD', 'b', ...Array.from({ length: 500 }, (_, j) => [String(i + j), `p${i + j}`]).flat());
  for (const pair of pairs) await contest(server, client, durable, pair);
  client.close();
  await server.stop();
}
