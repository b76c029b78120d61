// Makes one file operation of a short scripted run fail, for each in turn: each write, sync, allocation, rename, open, mkdir,
// unlink and read, with EIO or ENOSPC, writes also cut short.
//
//   node tests/disk/faults.mjs            ALL=1: every one; ONLY="sync 11,read 28": these; else CASES=24 drawn by SEED
//
// The program may refuse: a start with a sentence, a request with an error. It must not end, must go on reading, must take
// writes again by itself when the fault is gone, and must have all that was acknowledged, then and after a kill.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { program } from '../lib/server.mjs';
import { AckModel, clientsOf, createTable, Load, randomFrom, readAll } from './load.mjs';
import { Control, scratchFolder, startShimmed } from './shim.mjs';

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const only = process.env.ONLY?.split(',').map((one) => one.trim());
const wanted = process.env.ALL ? Infinity : Number(process.env.CASES ?? 24);
const seconds = 60; // for what must happen, on any machine
const requests = 24;
const random = randomFrom(seed);
const folder = scratchFolder();
console.log(`SEED=${seed} ${process.env.ALL ? 'ALL=1' : `CASES=${wanted}`}`);

// A folder to begin with: tables, some items, killed in the middle so that a start has something to recover.
const base = path.join(folder, 'base');
const baseModel = new AckModel();
const load = () => new Load({ model: baseModel, seed, workers: 4 });
{
  mkdirSync(base);
  const server = await startShimmed({ data: base });
  const clients = await clientsOf(server);
  await createTable(clients.raw);
  await load().script(clients, 40);
  await server.stop('SIGKILL');
  await clients.close();
}

// A copy of the model, so that each case begins from the same.
function modelFrom(model) {
  const copy = new AckModel();
  copy.known = new Map(model.known);
  copy.groups = new Map(model.groups);
  return copy;
}

async function until(what, truth) {
  const end = Date.now() + seconds * 1000;
  while (!(await truth())) {
    assert.ok(Date.now() < end, `${what}: not within ${seconds} s`);
    await sleep(10);
  }
}

// Starts it; a start may be refused, with a sentence and exit code 1.
async function start(settings) {
  try {
    return await startShimmed(settings);
  } catch (error) {
    assert.match(error.message, /^gametable ended \([12]\): .*gametable: \w.*/s, error.message);
    return undefined;
  }
}

// One run with the fault; resolves to how many of each kind of operation it had.
let places = 0;
async function run(number, fault) {
  const place = path.join(folder, `case-${++places}`);
  const data = path.join(place, 'data');
  mkdirSync(place);
  cpSync(base, data, { recursive: true });
  const control = new Control(path.join(place, 'control'));
  const model = modelFrom(baseModel);
  const script = new Load({ model, seed: seed + 1, workers: 4 });
  script.version = 1000000;
  if (fault) control.fail(fault.kind, fault.at, fault.error);
  let server = await start({ data, control });
  if (!server) {
    control.heal();
    server = await startShimmed({ data, control });
  }
  let clients = await clientsOf(server);
  let refusals = 0;
  await script.script(clients, requests, () => { refusals++; });
  // Reading: it may fail where a read was to fail, but only so often.
  if (fault?.kind !== 'read') await readAll(clients);
  control.heal();
  await until('writes again', async () => {
    let refused = false;
    await script.script(clients, 1, () => { refused = true; });
    return !refused;
  });
  model.check(await readAll(clients));
  if (fault) control.fail(fault.kind, fault.at, fault.error); // now at the end of the run
  const killed = number % 2 === 0;
  const code = await server.stop(killed ? 'SIGKILL' : 'SIGTERM');
  if (!killed) assert.notEqual(code, null, 'an orderly stop ends by itself');
  await clients.close();
  const counts = control.counts();
  control.heal();
  server = await startShimmed({ data, control });
  clients = await clientsOf(server);
  model.check(await readAll(clients));
  await server.stop();
  await clients.close();
  const verified = spawnSync(program, ['verify', '--data', data], { encoding: 'utf8' });
  assert.equal(verified.status, 0, `${verified.stdout}${verified.stderr}`);
  control.close();
  rmSync(place, { recursive: true });
  return { counts, refusals };
}

const { counts } = await run(0);
const cases = [];
for (const [kind, count] of Object.entries(counts))
  for (let at = 1; at <= count + 2; at++)
    for (const error of kind === 'write' ? ['EIO', 'ENOSPC', 'short'] : ['sync', 'read', 'unlink'].includes(kind) ? ['EIO'] : ['EIO', 'ENOSPC'])
      cases.push({ kind, at, error });
console.log(`${cases.length} faults in a run with ${Object.entries(counts).map(([kind, count]) => `${kind} ${count}`).join(', ')}`);

// A kind first, so that the rare ones are met, too.
function draw() {
  const kinds = Object.keys(counts).filter((kind) => counts[kind] > 0);
  const kind = kinds[random(kinds.length)];
  const some = cases.filter((one) => one.kind === kind);
  return some[random(some.length)];
}
// Each keeps its number, by which it is ended one way or the other.
cases.forEach((one, i) => { one.number = i + 1; });
const chosen = only ? cases.filter(({ kind, at }) => only.includes(`${kind} ${at}`))
  : wanted >= cases.length ? cases : Array.from({ length: wanted }, draw);

let next = 0;
let refused = 0;
const failures = [];
async function work() {
  while (next < chosen.length) {
    const fault = chosen[next++];
    try {
      refused += (await run(fault.number, fault)).refusals;
    } catch (error) {
      failures.push(fault);
      console.log(`  ${fault.kind} ${fault.at} ${fault.error}: ${error.message}`);
    }
  }
}
await Promise.all([work(), work()]);
console.log(`faults: ${chosen.length} made, ${refused} requests refused, ${failures.length} wrong`);
process.exitCode = failures.length === 0 ? 0 : 1;
