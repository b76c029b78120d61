// Damages a closed folder at random places: bits flipped, sectors zeroed, files cut or removed, in every file of it. Then
// `gametable verify` and a start look at it: the damage is told, or it is harmless; what is served is right.
//
//   node tests/disk/damage.mjs           N=60 damages, SEED=... repeats them
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { program, startServer } from '../lib/server.mjs';
import { AckModel, clientsOf, createTable, Load, randomFrom, readAll } from './load.mjs';
import { scratchFolder } from './shim.mjs';

const count = Number(process.env.N ?? 60);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const random = randomFrom(seed);
const folder = scratchFolder();
console.log(`SEED=${seed} N=${count}`);

const args = ['--log-level', 'error'];

// Two folders: one that was stopped, one that was killed, so that it has a log to replay.
async function make(name, signal) {
  const data = path.join(folder, name);
  const model = new AckModel();
  const load = new Load({ model, seed });
  let before;
  mkdirSync(data);
  for (const end of ['SIGTERM', 'SIGKILL', signal]) {
    const server = await startServer({ data, args });
    const clients = await clientsOf(server);
    if (end === 'SIGTERM' && model.acknowledged === 0) await createTable(clients.raw);
    await load.script(clients, 119);
    before = new Map(model.known);
    await load.script(clients, 1);
    await server.stop(end);
    await clients.close();
  }
  // What the last request changed: its group is the log's last, and damage to that looks like a power cut.
  const last = new Map([...model.known].filter(([key, version]) => before.get(key) !== version).map(([key]) => [key, [before.get(key) ?? 0]]));
  return { data, model, last };
}

const bases = [await make('stopped', 'SIGTERM'), await make('killed', 'SIGKILL')];

// All files, with the folder's path left out.
function filesIn(place, inner = '') {
  return readdirSync(path.join(place, inner), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesIn(place, path.join(inner, entry.name)) : [path.join(inner, entry.name)]);
}

// Bytes of a file that are not zero, by the sector: where damage would show.
function pick(bytes) {
  const sectors = [];
  for (let at = 0; at < bytes.length; at += 512) if (bytes.subarray(at, at + 512).some((byte) => byte !== 0)) sectors.push(at);
  return sectors.length ? sectors[random(sectors.length)] : 0;
}

const ways = {
  flip(file, bytes) {
    const at = Math.min(pick(bytes) + random(512), bytes.length - 1);
    bytes[at] ^= 1 << random(8);
    writeFileSync(file, bytes);
    return `bit flipped at ${at}`;
  },
  zero(file, bytes) {
    const at = pick(bytes);
    bytes.fill(0, at, Math.min(at + 512, bytes.length));
    writeFileSync(file, bytes);
    return `512 zeros at ${at}`;
  },
  cut(file, bytes) {
    const at = random(bytes.length);
    truncateSync(file, at);
    return `cut off at ${at}`;
  },
  remove(file) {
    rmSync(file);
    return 'removed';
  },
};

const tally = { told: 0, harmless: 0 };

// Starts it and reads all; resolves to what it said if it refused.
async function serves(data, { model, last }, inLog) {
  const server = await startServer({ data, args }).catch((error) => error);
  if (server instanceof Error) {
    assert.match(server.message, /ended \([12]\)/, `the start ended badly: ${server.message}`);
    assert.match(server.message, /gametable: \S+ .*/s, `without a sentence: ${server.message}`);
    return server.message;
  }
  const clients = await clientsOf(server);
  try {
    const found = await readAll(clients).catch((error) => error);
    if (found instanceof Error && /InternalServerError|Internal server error/.test(found.message)) return found.message;
    if (found instanceof Error) throw found;
    const copy = new AckModel();
    copy.known = new Map(model.known);
    copy.groups = new Map(model.groups);
    if (inLog) copy.maybe = new Map(last);
    copy.check(found);
    return '';
  } finally {
    await clients.close();
    const code = await server.stop();
    assert.notEqual(code, null, 'a stop ends by itself');
  }
}

async function damage(number) {
  const made = bases[random(bases.length)];
  const base = made.data;
  const data = path.join(folder, `case-${number}`);
  cpSync(base, data, { recursive: true });
  const candidates = filesIn(data).filter((name) => !/LOCK$|LOG$|OPTIONS-/.test(name) && statSync(path.join(data, name)).size > 0);
  const name = candidates[random(candidates.length)];
  const names = Object.keys(ways);
  const way = names[random(names.length)];
  const file = path.join(data, name);
  const what = `${path.basename(base)}/${name}: ${ways[way](file, readFileSync(file))}`;
  const { status, signal, stdout, stderr } = spawnSync(program, ['verify', '--data', data], { encoding: 'utf8' });
  const said = `${stdout}${stderr}`.trim();
  try {
    assert.equal(signal, null, `verify was ended by ${signal}: ${said}`);
    if (status !== 0 && name.endsWith('.sst')) assert.match(said, /\d{6}\.(sst|ldb)|MANIFEST|catalogue/, 'the sentence names a file');
    const refusal = await serves(data, made, name.startsWith('log/'));
    const told = status !== 0 || refusal !== '';
    tally[told ? 'told' : 'harmless']++;
    if (process.env.SHOW) console.log(`  ${what}\n    ${told ? said || refusal : 'harmless'}`);
  } catch (error) {
    throw new Error(`${what}\n    verify (${status}): ${said}\n    ${error.message}`);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

let wrong = 0;
let next = 0;
async function work() {
  while (next < count) {
    const number = next++;
    try {
      await damage(number);
    } catch (error) {
      wrong++;
      console.log(`  ${error.message}`);
    }
  }
}
await work();
console.log(`damage: ${count} done, ${tally.told} told, ${tally.harmless} harmless, ${wrong} wrong`);
process.exitCode = wrong === 0 ? 0 : 1;
