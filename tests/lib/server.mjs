// Starts the real program on a free port and ends only what it started.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { startBacking } from './backing.mjs';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const program = process.env.GAMETABLE ?? path.join(root, 'build/gametable');

export function temporaryFolder() {
  const folder = mkdtempSync(path.join(tmpdir(), 'gametable-test-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// Tests whose list runs on both engines: TEST_ENGINE=dynamodb has each server keep its data in
// another gametable and its ranking in a redis-server. A data folder that is used again means the
// same two again.
const backings = new Map();
export const remoteEngine = process.env.TEST_ENGINE === 'dynamodb';
const backed = remoteEngine ? 'dynamodb' : 'local';

async function backingOf(data) {
  if (data && backings.has(data)) return backings.get(data);
  const backing = await startBacking(startServer);
  if (data) backings.set(data, backing);
  return backing;
}

// Boards of a day go on in another one at midnight: what would begin right before begins right after it.
const BEFORE_MIDNIGHT_MS = 30_000;
async function awayFromMidnight() {
  const left = 86_400_000 - (Date.now() % 86_400_000);
  if (left < BEFORE_MIDNIGHT_MS) await new Promise((done) => setTimeout(done, left + 100));
}

// Starts `gametable serve`. Without `data` it keeps everything in memory; without `game` there are
// no boards, and no table of theirs is listed. Resolves when it says where it listens; rejects with
// what it printed if it ends first. A port that a server had a moment ago may be a connection's by now,
// for the system gives those any that is free: then it is tried again until that one has gone.
export async function startServer(options = {}) {
  const fixed = !/:0$/.test(options.http ?? ':0');
  await awayFromMidnight();
  for (const end = Date.now() + 60_000; ;) {
    try {
      return await startOnce(options);
    } catch (error) {
      if (!fixed || !/is taken by another program/.test(error.message) || Date.now() > end) throw error;
      await new Promise((done) => setTimeout(done, 200));
    }
  }
}

async function startOnce({ data, http = '127.0.0.1:0', redis = '127.0.0.1:0', game = true, args = [], env = {}, engine = backed, backing } = {}) {
  const remote = engine === 'dynamodb' && game ? (backing ?? (await backingOf(data))) : undefined;
  const place = remote ? remote.args : data ? ['--data', data] : ['--memory'];
  if (!game) place.push('--game-table', '');
  const child = spawn(program, ['serve', '--http', http, '--redis', redis, ...place, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...remote?.env, ...env },
  });
  let printed = '';
  const listening = new Promise((resolve, reject) => {
    const look = (chunk) => {
      printed += chunk;
      // The last line of what it announces: by then all is printed.
      const found = /DynamoDB\s+(https?:\/\/\S+)[^]*health/.exec(printed);
      if (found) resolve(found[1]);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.on('error', reject);
    child.on('close', (code, signal) => reject(new Error(`gametable ended (${code ?? signal}): ${printed}`)));
  });
  const forget = () => child.kill('SIGKILL');
  process.on('exit', forget);
  child.on('exit', () => process.off('exit', forget));
  const endpoint = await listening;
  return {
    endpoint,
    port: Number(new URL(endpoint).port),
    // Where the Redis protocol is spoken; undefined if it is off.
    redisPort: Number(/Redis\s+\S+:(\d+)/.exec(printed)?.[1]) || undefined,
    pid: child.pid,
    printed: () => printed,
    // The test's own end need not wait for it.
    unref() {
      child.unref();
      child.stdout.unref();
      child.stderr.unref();
    },
    // Ends it with the signal and resolves to its exit code (null when killed).
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      child.ref();
      const ended = once(child, 'exit');
      child.kill(signal);
      const code = (await ended)[0];
      if (remote && !data && !backing) await remote.stop();
      return code;
    },
  };
}
