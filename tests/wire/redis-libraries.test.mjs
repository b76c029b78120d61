// Libraries that keep their things in Redis do here what they do there: each is used as its documentation
// shows, on Debian's redis-server and on our program, and is told the same (tests/redis/libraries).
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { haveRedis, startOurs, startRedis } from '../redis/targets.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const folder = path.join(here, '../redis/libraries');
const python = path.join(here, '../../build/python-leaderboard'); // tests/run-wire puts it there
const skip = haveRedis ? false : 'redis-server is not installed';

async function onBoth(play) {
  const targets = await Promise.all([startRedis(), startOurs()]);
  try {
    const [theirs, ours] = await Promise.all(targets.map(({ port }) => play(port)));
    assert.ok(theirs.length > 0);
    assert.deepEqual(ours, theirs);
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
}

for (const file of readdirSync(folder).filter((name) => name.endsWith('.mjs')))
  test(file.replace('.mjs', ''), { skip, timeout: 120000 }, async () => {
    const { play } = await import(path.join(folder, file));
    await onBoth(play);
  });

test("agoragames' leaderboard", { skip: skip || (existsSync(path.join(python, '.done')) ? false : 'pip could not install it') }, () => onBoth(async (port) => {
  const { stdout } = await promisify(execFile)('/usr/bin/python3', [path.join(folder, 'agoragames.py'), String(port)],
    { env: { ...process.env, PYTHONPATH: python }, timeout: 120000, maxBuffer: 1 << 26 });
  return JSON.parse(stdout);
}));
