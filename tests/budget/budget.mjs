// The worst wait of others behind each command and operation.
//
//   node tests/budget/budget.mjs [--members 1000000] [--bound 10] [--rounds 3] [--only REGEX] [--threads 2]
//
// One list of what takes long, of all front ends (cases.mjs). Each is run several times while other connections send
// PING and ZADD. What they waited is the longest of a round; of the rounds the best counts, because what is held up by
// the operation itself is held up in every one, and what the machine does beside it is not. Exits with 1 if one passes
// the bound.
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { startServer } from '../lib/server.mjs';
import { makeCases, fill } from './cases.mjs';

const { values: options } = parseArgs({
  options: {
    members: { type: 'string', default: '1000000' },
    bound: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    threads: { type: 'string', default: '2' },
    only: { type: 'string', default: '.' },
    data: { type: 'string' },
  },
});
const members = Number(options.members), bound = Number(options.bound), rounds = Number(options.rounds);

const server = await startServer({ data: options.data, args: ['--threads', options.threads] });
await fill(server, members);
const probe = new Worker(new URL('./probe.mjs', import.meta.url), {
  workerData: { port: server.redisPort, threads: 2 * Number(options.threads), large: 'large:a' },
});
const ask = async (message = 'worst') => {
  const answer = once(probe, 'message');
  probe.postMessage(message);
  return (await answer)[0];
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
await sleep(500);

const over = [];
console.log(`${members} members, ${rounds} rounds, bound ${bound} ms`);
console.log('ms:     PING   ZADD  ZADD to the set   took   what');
for (const one of [{ name: '(nothing)', run: () => sleep(300) }, ...makeCases(server, members)]) {
  if (one.name !== '(nothing)' && !new RegExp(options.only, 'i').test(one.name)) continue;
  const best = {};
  let took = Infinity, reply = '';
  for (let round = 0; round < rounds; round++) {
    await one.before?.();
    await sleep(50);
    await ask();
    const begin = performance.now();
    reply = await one.run();
    took = Math.min(took, performance.now() - begin);
    await sleep(20);
    for (const [name, wait] of Object.entries(await ask())) best[name] = Math.min(best[name] ?? Infinity, wait);
  }
  const allowed = one.bound ?? bound;
  const failed = Math.max(...Object.values(best)) > allowed;
  if (failed && one.name !== '(nothing)') over.push(one.name);
  const column = (name, width) => best[name].toFixed(1).padStart(width);
  console.log(`${column('PING', 12)} ${column('ZADD', 6)} ${column('ZADD large', 16)} ${took.toFixed(0).padStart(6)}   ${one.name}` +
    `${typeof reply === 'string' && reply ? ` (${reply.slice(0, 60)})` : ''}${failed ? '   <-- over' : ''}`);
}
await ask('stop');
await probe.terminate();
await server.stop();
if (over.length) {
  console.log(`over the bound: ${over.join(', ')}`);
  process.exit(1);
}
process.exit(0);
