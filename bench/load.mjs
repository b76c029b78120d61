// Many scores: loading them from the command line, starting again with them, and counting through
// HTTP, side by side with nginx.
//
//   node bench/load.mjs [--members 200000] [--rounds 3] [--seconds 2]
//
// --members 10000000 takes some minutes and a few gigabytes of disk.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rawClient } from '../tests/lib/raw.mjs';
import { program, startServer, temporaryFolder } from '../tests/lib/server.mjs';
import { connect, grouped, median, member, memory, redisPort, score, startNginx, table, wrk } from './common.mjs';

const { values: options } = parseArgs({
  options: {
    members: { type: 'string', default: '200000' },
    small: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '32' },
  },
});
const members = Number(options.members);
const small = Number(options.small);
const rounds = Number(options.rounds);
const folder = temporaryFolder();
const data = path.join(folder, 'data');
const { row, end } = table();
const seconds = (from) => Number(process.hrtime.bigint() - from) / 1e9;

// --- the file, and loading it ---

async function writeScores(file, count) {
  const out = createWriteStream(file);
  for (let n = 0; n < count;) {
    const lines = [];
    for (const stop = Math.min(n + 20000, count); n < stop; n++) lines.push(`${member(n)},${score(n, count)}`);
    if (!out.write(lines.join('\n') + '\n')) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}

async function load(server, board, count) {
  const file = path.join(folder, `${board}.csv`);
  await writeScores(file, count);
  const from = process.hrtime.bigint();
  const child = spawn(program, ['load', board, file, '--url', server.endpoint], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`gametable load ended with ${code}`);
  const took = seconds(from);
  rmSync(file);
  return count / took;
}

// --- starting with it ---

const countAbove = (board, above) => ({
  TableName: 'gametable',
  IndexName: 'ranks',
  KeyConditionExpression: 'PK = :pk AND score > :s',
  ExpressionAttributeValues: { ':pk': { S: `BOARD#${board}` }, ':s': { N: String(above) } },
  Select: 'COUNT',
});

// Where the member stands from the top: as ZREVRANK and as Query COUNT tell it.
async function rankByRedis(server, board, n) {
  const client = await connect(redisPort(server));
  const reply = await client.ask('ZREVRANK', board, member(n));
  client.close();
  return Number(reply.slice(1));
}
async function rankByQuery(server, board, n, count) {
  const client = rawClient(server.endpoint);
  const { Count } = await client.must('Query', countAbove(board, score(n, count)));
  client.close();
  return Count;
}

const start = () => startServer({ data, args: ['--log-level', 'error', '--redis', '127.0.0.1:0', '--threads', '1'] });

// From exec to an answer, which must be right.
async function startAndAsk(ask, right) {
  const from = process.hrtime.bigint();
  const server = await start();
  const rank = await ask(server);
  const took = seconds(from);
  if (rank !== right) throw new Error(`rank ${rank}, not ${right}`);
  return { took, server };
}

async function restarts(board, count) {
  const n = Math.floor(count / 3);
  let right = 0;
  for (let other = 0; other < count; other++) right += score(other, count) > score(n, count);
  const times = { ZREVRANK: [], 'Query COUNT': [] };
  let server;
  for (let i = 0; i < 3; i++) {
    for (const [name, ask] of [['ZREVRANK', rankByRedis], ['Query COUNT', rankByQuery]]) {
      await server?.stop();
      const started = await startAndAsk((to) => ask(to, board, n, count), right);
      times[name].push(started.took);
      server = started.server;
    }
  }
  for (const [name, took] of Object.entries(times))
    row(`exec to the first right rank by ${name}`, `${median(took).toFixed(2)} s`, '3 s at 10,000,000', median(took) <= 3);
  const { resident, own, files } = memory(server.pid);
  row('memory of the whole process after that', `${grouped(resident)} MB (own ${grouped(own)}, files ${grouped(files)})`);
  return server;
}

// --- counting through HTTP ---

function bodies(board, count) {
  const file = path.join(folder, `count-${board}.txt`);
  writeFileSync(file, Array.from({ length: 20000 }, (_, i) => JSON.stringify(countAbove(board, score(i * 7919, count)))).join('\n') + '\n');
  return { operation: 'Query', file };
}

async function counting(server) {
  const nginx = await startNginx(folder, JSON.stringify({ Count: members, ScannedCount: members }).length);
  const how = { seconds: options.seconds, connections: options.connections };
  const [few, many] = [bodies('few', small), bodies('many', members)];
  for (const what of [few, many]) wrk(server.endpoint, what, { ...how, seconds: 1 });
  const seen = { rate: [], ratio: [], growth: [] };
  for (let round = 0; round < rounds; round++) {
    const base = wrk(nginx.endpoint, many, how).rate;
    const little = wrk(server.endpoint, few, how).rate;
    const much = wrk(server.endpoint, many, how).rate;
    seen.rate.push(much);
    seen.ratio.push(much / base);
    seen.growth.push(little / much);
  }
  nginx.stop();
  const ratio = median(seen.ratio);
  const growth = median(seen.growth);
  row('rank by Query COUNT over HTTP', `${grouped(median(seen.rate))}/s, ${ratio.toFixed(2)} of nginx's return 200`, '0.4', ratio >= 0.4);
  row(`its cost at ${grouped(members)} against ${grouped(small)}`, `${growth.toFixed(2)} times`, 'at most 1.5', growth <= 1.5);
}

// --- the run ---

console.log(`gametable: ${execFileSync(program, ['version'], { encoding: 'utf8' }).trim()}, ${grouped(members)} scores`);
const first = await start();
await load(first, 'few', small);
const rate = await load(first, 'many', members);
await first.stop();
const judged = members >= 1000000; // fewer are over before it has warmed up
row(`gametable load of ${grouped(members)} scores, durable`, `${grouped(rate)} a second`, '400,000', judged ? rate >= 400000 : undefined);
const server = await restarts('many', members);
await counting(server);
await server.stop();
end();
process.exit(0);
