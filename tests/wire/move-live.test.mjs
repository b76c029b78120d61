// gametable move --live: a game goes to DynamoDB and back while scores come in. Every score that was acknowledged is there
// afterwards, once; what was refused because the server was read-only is not.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { startBacking } from '../lib/backing.mjs';
import { restClient } from '../lib/rest.mjs';
import { program, startServer as start, temporaryFolder } from '../lib/server.mjs';

const started = [];
after(() => Promise.all(started.map((server) => server.stop('SIGKILL')))); // of tests that failed
async function startServer(options) {
  const server = await start(options);
  started.push(server);
  return server;
}

// Players who submit until they are told that the server is read-only; what was acknowledged is counted.
function play(rest, acknowledged, { players = 8 } = {}) {
  const refused = [];
  let plays = 0;
  const all = Promise.all(Array.from({ length: players }, async (_, i) => {
    const player = `p${i}`;
    for (;;) {
      const { status, json } = await rest.call('POST', '/games/m/scores', { body: { player, score: 1 } });
      if (status !== 200) {
        assert.equal(status, 503, JSON.stringify(json));
        assert.match(json.detail, /read-only while its game is moved/);
        refused.push(player);
        return;
      }
      acknowledged.set(player, (acknowledged.get(player) ?? 0) + 1);
      plays++;
      if (plays % 10 === 0) await rest.call('PUT', `/boards/m:best/entries/guest${plays}`, { body: { score: plays } });
      if (plays % 15 === 0) await rest.call('DELETE', `/boards/m:best/entries/guest${plays - 5}`);
    }
  }));
  return { all, refused, plays: () => plays };
}

async function check(endpoint, acknowledged) {
  const rest = await restClient(endpoint);
  for (const [player, count] of acknowledged) {
    let entry;
    for (let i = 0; i < 1200; i++) { // its ranking may be under construction
      const { status, json } = await rest.call('GET', `/boards/m:sum/entries/${player}`);
      entry = json.entry;
      if (status === 200 && entry.rank !== undefined) break;
      await sleep(50);
    }
    assert.equal(entry.score, count, player);
  }
  assert.equal((await rest.must('GET', '/boards/m:all/entries?limit=1')).total, 3000);
  rest.close();
}

async function move(from, to, args, env, { interrupt } = {}) {
  const child = spawn(program, ['move', from, to, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (text) => { said += text; });
  child.stderr.on('data', (text) => { said += text; });
  const ended = once(child, 'close');
  if (interrupt) {
    while (child.exitCode === null && !existsSync(interrupt)) await sleep(5);
    child.kill('SIGKILL');
  }
  const [status] = await ended;
  return { status, said };
}

test('a game moves there and back while it is played, and no acknowledged score is lost', { timeout: 300_000 }, async () => {
  const data = path.join(temporaryFolder(), 'data');
  const home = path.join(temporaryFolder(), 'data');
  const backing = await startBacking(startServer);
  const env = { ...process.env, ...backing.env };
  const options = backing.args.filter((word, i, all) => word !== '--engine' && all[i - 1] !== '--engine');
  const acknowledged = new Map();

  const server = await startServer({ data, engine: 'local' });
  let rest = await restClient(server.endpoint);
  for (const id of ['m:all', 'm:best', 'm:sum']) await rest.must('POST', '/boards', { id, game: id === 'm:all' ? 'other' : 'm', ...(id === 'm:sum' && { keep: 'sum' }) });
  const lines = Array.from({ length: 3000 }, (_, i) => `q${i},${i}`).join('\n');
  await rest.must('POST', '/boards/m:all/entries:load', lines, { type: 'text/csv' });
  let players = play(rest, acknowledged);
  while (players.plays() < 50) await sleep(10);
  // killed on the way, and started again
  await move('local', 'dynamodb', ['--data', data, '--live', server.endpoint, ...options], env, { interrupt: path.join(data, 'move-to-dynamodb.json') });
  const there = await move('local', 'dynamodb', ['--data', data, '--live', server.endpoint, ...options], env);
  assert.equal(there.status, 0, there.said);
  assert.match(there.said, /both sides are the same: \d+ items were compared, and \d+ of them while nothing was written\n.*read-only for [\d.]+ s/);
  await players.all;
  assert.equal(players.refused.length, 8);
  assert.ok((await fetch(new URL('/v1/boards/m:sum/entries', server.endpoint))).ok, 'it can be read');
  assert.ok(!existsSync(path.join(data, 'move-since')) && !existsSync(path.join(data, 'move-to-dynamodb.json')));
  rest.close();
  assert.equal(await server.stop(), 0);

  const nodes = [await startServer({ engine: 'dynamodb', backing }), await startServer({ engine: 'dynamodb', backing })];
  await check(nodes[0].endpoint, acknowledged);
  rest = await restClient(nodes[1].endpoint);
  players = play(rest, acknowledged);
  const already = players.plays();
  while (players.plays() < already + 50) await sleep(10);
  const back = await move('dynamodb', 'local', ['--data', home, '--live', nodes.map(({ endpoint }) => endpoint).join(','), ...options], env);
  assert.equal(back.status, 0, back.said);
  await players.all;
  rest.close();
  await Promise.all(nodes.map((node) => node.stop()));
  const again = await startServer({ data: home, engine: 'local' });
  await check(again.endpoint, acknowledged);
  assert.equal(await again.stop(), 0);
  await backing.stop();
});

test('a move that fails leaves its servers as they were', async () => {
  const data = path.join(temporaryFolder(), 'data');
  const backing = await startBacking(startServer);
  const server = await startServer({ data, engine: 'local' });
  const env = { ...process.env, ...backing.env };
  const options = backing.args.filter((word, i, all) => word !== '--engine' && all[i - 1] !== '--engine');
  const rest = await restClient(server.endpoint);
  await rest.must('POST', '/boards', { id: 'm:all', game: 'm' });
  // two servers of one folder: there cannot be
  const two = await move('local', 'dynamodb', ['--data', data, '--live', `${server.endpoint},${server.endpoint}`, ...options], env);
  assert.equal(two.status, 1, two.said);
  assert.match(two.said, /a data folder has one server/);
  // one of two nodes is not there to be told
  const node = await startServer({ engine: 'dynamodb', backing });
  const lost = await move('dynamodb', 'local', ['--data', path.join(temporaryFolder(), 'data'), '--live', `${node.endpoint},http://127.0.0.1:9`, ...options], env);
  assert.equal(lost.status, 1, lost.said);
  assert.match(lost.said, /127\.0\.0\.1:9/);
  const at = await restClient(node.endpoint);
  await at.must('POST', '/boards', { id: 'n:all', game: 'n' });
  await at.must('POST', '/games/n/scores', { player: 'ann', score: 1 });
  await rest.must('POST', '/games/m/scores', { player: 'ann', score: 1 });
  rest.close();
  at.close();
  await Promise.all([server.stop(), node.stop()]);
  await backing.stop();
});

test('a read-only server says so on every face, and not any more when it is switched off', async () => {
  const server = await startServer({ engine: 'local' });
  const rest = await restClient(server.endpoint);
  const tell = async (body, method = 'POST') => (await fetch(new URL('/admin/read-only', server.endpoint), { method, ...(body && { body: JSON.stringify(body) }) })).json();
  await rest.must('POST', '/boards', { id: 'r:all', game: 'r' });
  assert.deepEqual(await tell(undefined, 'GET'), { read_only: false, waiting: 0 });
  assert.match((await tell({ on: 'yes' })).error, /"on":true/);
  const { read_only: on } = await tell({ on: true });
  assert.equal(on, true);
  assert.match((await rest.refused(503, 'POST', '/games/r/scores', { player: 'ann', score: 1 })).detail, /read-only/);
  assert.equal((await rest.must('GET', '/boards/r:all/entries')).total, 0);
  const client = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' }, maxAttempts: 1 });
  const put = new PutItemCommand({ TableName: 'gametable', Item: { PK: { S: 'MINE' }, SK: { S: 'x' } } });
  await assert.rejects(client.send(put), (error) => error.name === 'InternalServerError');
  assert.equal((await tell({ on: false })).read_only, false);
  await rest.must('POST', '/games/r/scores', { player: 'ann', score: 1 });
  await client.send(put);
  client.destroy();
  rest.close();
  assert.equal(await server.stop(), 0);
});
