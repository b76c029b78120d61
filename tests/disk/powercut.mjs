// Records one run of the real program under the shim, then cuts the power at places of it and opens what is left.
//
//   node tests/disk/powercut.mjs         N=300 disks, SEED=... repeats the choice of places
//
// The run has several starts, some after a kill and some after an orderly stop, so that recoveries are cut
// as well. A journal whose disks are wrong is kept in build/disk/failed.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../lib/server.mjs';
import { waitBeside } from '../lib/until.mjs';
import { AckModel, clientsOf, createTable, Load, randomFrom, readAll } from './load.mjs';
import { Control, created, diesBetween, Journal, kinds, scratchFolder, shimmed, startShimmed } from './shim.mjs';

const disks = Number(process.env.N ?? 300);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const starts = Number(process.env.STARTS ?? 6);
console.log(`SEED=${seed} N=${disks}`);

// Records a run in a folder of its own; resolves to that folder.
async function record({ count, args = [], stop, faults = false }) {
  const random = randomFrom(seed);
  const folder = scratchFolder();
  const data = path.join(folder, 'data');
  mkdirSync(data);
  const journal = new Journal(path.join(folder, 'journal'));
  const control = new Control(path.join(folder, 'control'));
  const model = new AckModel((text) => journal.mark(text));
  const load = new Load({ model, seed });
  let refusals = 0;
  for (let start = 0; start < count; start++) {
    const server = await startShimmed({ data, journal, control, args });
    const clients = await clientsOf(server);
    if (start === 0) await createTable(clients.raw);
    else model.check(await readAll(clients));
    const run = { over: false };
    const loaded = load.run(clients, run, faults ? () => { refusals++; return sleep(1); } : undefined);
    if (faults) control.fail('sync', 1 + random(30), 'EIO', 1 + random(2));
    const enough = model.acknowledged + 40 + random(160);
    while (model.acknowledged < enough) await waitBeside([loaded], 5);
    run.over = true;
    const signal = stop ?? (start % 3 === 2 ? 'SIGTERM' : 'SIGKILL');
    if (signal === 'SIGTERM') await loaded;
    else await diesBetween(server.pid, control, 1 + random(8));
    await server.stop(signal);
    await loaded;
    await clients.close();
    control.heal();
  }
  journal.close();
  console.log(`recorded: ${model.acknowledged} acknowledged writes in ${count} starts${args.length ? ` with ${args.join(' ')}` : ''}` +
    (faults ? `, ${control.fired} failed syncs, ${refusals} refused writes` : ''));
  control.close();
  return folder;
}

function cut(folder, count, settings) {
  mkdirSync(path.join(folder, 'disks'));
  return spawnSync(path.join(root, 'build/disk/powercut'), [path.join(folder, 'journal'), '--disks', String(count), '--seed', String(seed),
    '--folder', path.join(folder, 'disks'), '--same', path.join(folder, 'data')], { encoding: 'utf8', ...settings });
}

// A run may leave a file whose sync failed, such as a draft that RocksDB gave up: whoever reads it while the power is on
// finds all of it, though the disk may have any part. The proof that the journal has everything must not call that a hole.
function leaveUnsynced() {
  const folder = scratchFolder();
  const text = 'x'.repeat(64 * 512);
  mkdirSync(path.join(folder, 'data'));
  writeFileSync(path.join(folder, 'data', 'draft'), text);
  const journal = new Journal(path.join(folder, 'journal'));
  journal.record(kinds.open, { text: 'draft', flags: created, file: 1 });
  journal.record(kinds.write, { text, file: 1 });
  journal.record(kinds.syncBegun, { file: 1, offset: 1 });
  journal.record(kinds.syncLost, { file: 1, offset: 1 });
  journal.close();
  return folder;
}
const unsynced = cut(leaveUnsynced(), 0);
assert.equal(unsynced.status, 0, `a failed sync counts as a hole in the journal: ${unsynced.stdout}${unsynced.stderr}`);

// A process that is killed has written down all that it did, whenever that is.
async function killRenaming(after) {
  const folder = scratchFolder();
  const data = path.join(folder, 'data');
  mkdirSync(data);
  const journal = new Journal(path.join(folder, 'journal'));
  const control = new Control(path.join(folder, 'control'));
  const renaming = "const fs = require('node:fs'); fs.writeFileSync('a', ''); for (;;) { fs.renameSync('a', 'b'); fs.renameSync('b', 'a'); }";
  const child = spawn(process.execPath, ['-e', renaming], { cwd: data, env: { ...process.env, ...shimmed({ data, journal, control }) } });
  const ended = once(child, 'exit');
  while (!existsSync(path.join(data, 'a')) && !existsSync(path.join(data, 'b'))) await sleep(1);
  await diesBetween(child.pid, control, after);
  child.kill('SIGKILL');
  await ended;
  journal.close();
  control.close();
  return folder;
}
for (let i = 1; i <= 12; i++) {
  const killed = cut(await killRenaming(i), 0);
  assert.equal(killed.status, 0, `killed between an operation and its record: ${killed.stdout}${killed.stderr}`);
}

// Without a single sync the same disks must be found wanting: else this test would prove nothing.
const careless = cut(await record({ count: 1, args: ['--durability', 'none'], stop: 'SIGKILL' }), 40);
assert.equal(careless.status, 1, `lost writes went unseen: ${careless.stdout}${careless.stderr}`);
assert.match(careless.stderr, /acknowledged was/);

// Opens the disks of a run; a journal that fails is kept.
function prove(folder, count, name) {
  const { status } = cut(folder, count, { stdio: 'inherit' });
  if (status === 0) return;
  const kept = path.join(root, 'build/disk/failed', `${name}-${seed}`);
  cpSync(path.join(folder, 'journal'), path.join(kept, 'journal'));
  console.log(`kept: build/disk/powercut ${kept}/journal --seed ${seed} --disks ${count}`);
  process.exitCode = 1;
}

prove(await record({ count: starts }), Math.ceil(disks * 2 / 3), 'run');
// The same with syncs that fail now and then: what such a sync left out must not be believed later.
prove(await record({ count: starts, faults: true }), Math.floor(disks / 3), 'failed-syncs');
