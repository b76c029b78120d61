// gametable move: a game from a data folder to another engine and back, interrupted on the way.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startBacking } from '../lib/backing.mjs';
import { restClient } from '../lib/rest.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

const MEMBERS = 6000;

async function fill(rest) {
  await rest.must('POST', '/boards', { id: 'm:all', game: 'm' });
  await rest.must('POST', '/boards', { id: 'm:sum', game: 'm', keep: 'sum' });
  await rest.must('PUT', '/players/ann', { name: 'Ann', email: 'ann@example.com' });
  for (const score of [3, 9, 4]) await rest.must('POST', '/games/m/scores', { player: 'ann', score });
  const lines = Array.from({ length: MEMBERS }, (_, i) => `p${i},${i * 7 % MEMBERS}`).join('\n');
  assert.equal((await rest.must('POST', '/boards/m:all/entries:load', lines, { type: 'text/csv' })).added, MEMBERS);
}

// What a game shows of itself.
async function look(endpoint) {
  const rest = await restClient(endpoint);
  const shown = {
    top: (await rest.must('GET', '/boards/m:all/entries?limit=20')).entries,
    total: (await rest.must('GET', '/boards/m:all/entries?limit=1')).total,
    ann: [(await rest.must('GET', '/boards/m:all/entries/ann')).entry, (await rest.must('GET', '/boards/m:sum/entries/ann')).entry],
    player: await rest.must('GET', '/players/ann'),
    boards: (await rest.must('GET', '/boards?game=m')).boards,
  };
  rest.close();
  return shown;
}

test('a game moves to DynamoDB and back, goes on after an interruption, and is the same', async () => {
  const data = path.join(temporaryFolder(), 'data');
  let server = await startServer({ data, engine: 'local' });
  const rest = await restClient(server.endpoint);
  await fill(rest);
  rest.close();
  const before = await look(server.endpoint);
  assert.equal(await server.stop(), 0);

  const backing = await startBacking(startServer);
  const env = { ...process.env, ...backing.env };
  const options = backing.args.filter((word, i, all) => word !== '--engine' && all[i - 1] !== '--engine');
  const move = (from, to, folder) => spawnSync(program, ['move', from, to, '--data', folder, ...options], { env, encoding: 'utf8' });

  // interrupted as soon as it has written down how far it is
  const child = spawn(program, ['move', 'local', 'dynamodb', '--data', data, ...options], { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  for (let i = 0; i < 3000 && child.exitCode === null && !existsSync(path.join(data, 'move-to-dynamodb.json')); i++) await pause(10);
  child.kill('SIGKILL');
  await ended;
  const there = move('local', 'dynamodb', data);
  assert.equal(there.status, 0, there.stderr);
  assert.match(there.stdout, /^\d+ items are on both sides, and are the same\n$/);
  assert.ok(!existsSync(path.join(data, 'move-to-dynamodb.json')));
  const twice = move('local', 'dynamodb', data);
  assert.equal(twice.status, 1);
  assert.match(twice.stderr, /is there already, and has items/);

  server = await startServer({ engine: 'dynamodb', backing });
  let after;
  for (let i = 0; i < 600; i++) { // the ranking of a board that is first looked at may be under construction
    after = await look(server.endpoint).catch(() => undefined);
    if (after?.total === before.total && after.top[0]?.rank === 1) break;
    await pause(100);
  }
  assert.deepEqual(after, before);
  assert.equal(await server.stop(), 0);

  const home = path.join(temporaryFolder(), 'data');
  const back = move('dynamodb', 'local', home);
  assert.equal(back.status, 0, back.stderr);
  server = await startServer({ data: home, engine: 'local' });
  assert.deepEqual(await look(server.endpoint), before);
  assert.equal(await server.stop(), 0);
  await backing.stop();
});

test('a move that cannot be says why', () => {
  const run = (...words) => spawnSync(program, ['move', ...words], { encoding: 'utf8' });
  assert.equal(run('local', 'local').status, 2);
  const none = run('local', 'dynamodb', '--data', path.join(temporaryFolder(), 'data'));
  assert.equal(none.status, 1);
  assert.match(none.stderr, /needs --rank-redis/);
});
