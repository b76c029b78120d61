// The disk fills up under load: writes are refused, reads go on, and when there is room again it goes on by itself; a start
// without room says how much is needed. Nothing that was acknowledged is lost, and the process never ends.
//
//   node tests/disk/full.mjs          ROUNDS=6, SEED=... repeats the choice of room
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AckModel, clientsOf, createTable, Load, randomFrom, readAll } from './load.mjs';
import { Control, scratchFolder, startShimmed } from './shim.mjs';

const rounds = Number(process.env.ROUNDS ?? 6);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
console.log(`SEED=${seed} ROUNDS=${rounds}`);
const random = randomFrom(seed);

const folder = scratchFolder();
const data = path.join(folder, 'data');
mkdirSync(data);
const control = new Control(path.join(folder, 'control'));
const model = new AckModel();
const load = new Load({ model, seed });
const seconds = 60; // for what must happen, on any machine

async function until(what, truth) {
  const end = Date.now() + seconds * 1000;
  while (!(await truth())) {
    assert.ok(Date.now() < end, `${what}: not within ${seconds} s`);
    await sleep(20);
  }
}

// Starts it, or resolves to what it said.
const start = () => startShimmed({ data, control }).catch((error) => error.message);

// Large items, to use up soon what the program has reserved beforehand.
async function ballast(clients, run) {
  for (let i = 0; !run.over; i++) {
    const Item = { pk: { S: `ballast-${i % 8}` }, sk: { N: '1' }, version: { N: String(i) }, heavy: { S: `${i}`.repeat(100000).slice(0, 300000) } };
    const answer = await clients.raw.call('PutItem', { TableName: 'crash', Item }).catch(() => undefined);
    if (answer?.status !== 200) return;
  }
}

let server = await start();
assert.equal(typeof server, 'object', String(server));
let clients = await clientsOf(server);
await createTable(clients.raw);
let refusals = 0;
let starts = 0;
for (let round = 0; round < rounds; round++) {
  // From nothing at all to a few pages, or some hundred kilobytes.
  control.room(control.used + (round % 2 === 0 ? random(20000) : random(400000)) + 1);
  let told = '';
  const run = { over: false };
  const loaded = load.run(clients, run, async (error) => {
    refusals++;
    told ||= error.message;
    await sleep(1);
  });
  const heavy = ballast(clients, run);
  await Promise.race([loaded, until('a refusal', () => told !== '')]);
  assert.match(told, /refuses writes at present|InternalServerError|No space left|disk is full/, 'the refusal says why');
  await heavy;
  await readAll(clients); // reading goes on
  await sleep(random(150));
  if (round % 3 === 2) { // a start on a full disk
    run.over = true;
    await server.stop('SIGKILL');
    await loaded;
    await clients.close();
    control.room(round % 2 === 0 ? 1 : control.used + random(30000) + 1); // no room at all, or hardly any
    const said = await start();
    if (typeof said === 'string') {
      starts++;
      assert.match(said, /ended \(1\)/, said);
      assert.match(said, /disk is full.* needs about \d+ MB/, said);
      control.room(0);
      server = await start();
    } else server = said; // it had enough
    control.room(0);
    assert.equal(typeof server, 'object', String(server));
    clients = await clientsOf(server);
  } else {
    control.room(0);
    const before = model.acknowledged;
    await Promise.race([loaded, until('writes again', () => model.acknowledged > before + 10)]);
    run.over = true;
    await loaded;
  }
  model.check(await readAll(clients));
}
await clients.close();
assert.equal(await server.stop(), 0);
console.log(`full: ${rounds} times full, ${refusals} refusals, ${starts} starts refused, ${model.acknowledged} acknowledged writes, none lost`);
