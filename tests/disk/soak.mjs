// For hours: all front ends under load, with faults of the disk, a disk that fills up, kills and orderly stops among it. After each
// start all that was acknowledged must be there; memory and waits stay within bounds.
//
//   HOURS=8 node tests/disk/soak.mjs          SEED=... repeats the choices; RSS_MB=600, WAIT_MS=10000
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { program } from '../lib/server.mjs';
import { waitBeside } from '../lib/until.mjs';
import { AckModel, clientsOf, createTable, Load, randomFrom, readAll } from './load.mjs';
import { Control, scratchFolder, startShimmed } from './shim.mjs';

const end = Date.now() + Number(process.env.HOURS ?? 1) * 3600 * 1000;
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const mostMemory = Number(process.env.RSS_MB ?? 600);
const mostWait = Number(process.env.WAIT_MS ?? 10000);
const random = randomFrom(seed);
console.log(`SEED=${seed} HOURS=${process.env.HOURS ?? 1}`);

const folder = scratchFolder();
const data = path.join(folder, 'data');
mkdirSync(data);
const control = new Control(path.join(folder, 'control'));
const model = new AckModel();
const load = new Load({ model, seed });
const count = { starts: 0, kills: 0, faults: 0, full: 0, refusals: 0, refusedStarts: 0 };
let memory = 0;
let wait = 0;

function residentMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

// A start may meet the fault that is ordered: then it says so, and the next one does not.
async function start() {
  count.starts++;
  try {
    return await startShimmed({ data, control });
  } catch (error) {
    assert.match(error.message, /^gametable ended \(1\): .*gametable: [A-Z]/s, error.message);
    count.refusedStarts++;
    control.heal();
    control.room(0);
    return startShimmed({ data, control });
  }
}

const faults = ['write', 'sync', 'allocate', 'rename', 'open', 'mkdir', 'unlink'];
// Something goes wrong with the disk for a moment.
async function meddle(run) {
  while (!run.over) {
    await sleep(50 + random(400));
    if (run.over) return;
    if (random(5) === 0) {
      count.full++;
      control.room(control.used + 1 + random(200000));
      await sleep(random(300));
      control.room(0);
    } else {
      count.faults++;
      control.fail(faults[random(faults.length)], 1 + random(20), ['EIO', 'ENOSPC'][random(2)], 1 + random(3));
    }
  }
}

// A reader that looks how long an answer takes, all the while.
async function watch(clients, run) {
  while (!run.over) {
    const from = Date.now();
    try {
      await clients.raw.call('GetItem', { TableName: 'crash', Key: { pk: { S: 'key-0-0' }, sk: { N: '1' } } });
    } catch (error) {
      if (!run.over) throw error;
      return;
    }
    wait = Math.max(wait, Date.now() - from);
    await sleep(20);
  }
}

while (Date.now() < end) {
  const server = await start();
  control.heal();
  const clients = await clientsOf(server);
  if (count.starts === 1) await createTable(clients.raw);
  else model.check(await readAll(clients));
  const run = { over: false };
  const all = [load.run(clients, run, async () => {
    count.refusals++;
    await sleep(2);
  }), meddle(run), watch(clients, run)];
  await waitBeside(all, 500 + random(9500));
  memory = Math.max(memory, residentMb(server.pid));
  const killed = random(3) !== 0;
  run.over = true;
  if (!killed) await Promise.all(all);
  const code = await server.stop(killed ? 'SIGKILL' : 'SIGTERM');
  if (killed) count.kills++;
  else assert.notEqual(code, null, 'an orderly stop ends by itself');
  await Promise.all(all);
  await clients.close();
  control.room(0);
  if (count.starts % 10 === 0) {
    control.heal();
    const { status, stdout, stderr } = spawnSync(program, ['verify', '--data', data], { encoding: 'utf8' });
    assert.equal(status, 0, `${stdout}${stderr}`);
  }
  assert.ok(memory < mostMemory, `${memory.toFixed(0)} MB resident, at most ${mostMemory} are allowed`);
  assert.ok(wait < mostWait, `a read took ${wait} ms, at most ${mostWait} are allowed`);
}
console.log(`soak: ${model.acknowledged} acknowledged writes, none lost; ${count.starts} starts (${count.refusedStarts} refused), ${count.kills} kills, ` +
  `${count.faults} faults, ${count.full} times full, ${count.refusals} refusals; at most ${memory.toFixed(0)} MB, ${wait} ms`);
