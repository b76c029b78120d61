// gametable boards, top, rank, around, submit, players and load against a running server.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

let server;
const folder = temporaryFolder();
const env = () => ({ ...process.env, GAMETABLE_URL: server.endpoint });
const run = (...args) => spawnSync(program, args, { encoding: 'utf8', timeout: 120_000, env: env() });
const good = (...args) => {
  const { status, stdout, stderr } = run(...args);
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}${stdout}`);
  return stdout;
};
const lines = (text) => text.trimEnd().split('\n');

before(async () => {
  server = await startServer();
  for (const body of [
    { id: 'tetris:all', game: 'tetris', title: 'For ever' },
    { id: 'tetris:daily', game: 'tetris', timeframe: 'daily', scopes: ['global', 'room'] },
    { id: 'chess:all', game: 'chess' },
  ]) {
    const answer = await fetch(new URL('/v1/boards', server.endpoint), { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    assert.equal(answer.status, 201, await answer.text());
  }
});
after(async () => { assert.equal(await server.stop(), 0); });

test('plain boards are listed by name', async () => {
  const answer = await fetch(new URL('/v1/boards/arcade/entries/ann', server.endpoint), { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: '{"score":5}' });
  assert.equal(answer.status, 200, await answer.text());
  const [, ...rows] = lines(good('boards', '--plain'));
  assert.deepEqual(rows.map((row) => row.split(/ +/).slice(0, 2)), [['arcade', 'plain']]);
  assert.equal(JSON.parse(good('boards', '--plain', '--json')).instances[0].total, 1);
  assert.ok(!good('boards').includes('arcade'));
});

test('players are found by what they begin with', async () => {
  const make = (body) => fetch(new URL('/v1/players', server.endpoint), { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  await make({ id: 'p1', name: 'Ann Smith', email: 'ann@example.org' });
  await make({ id: 'p2', name: 'Bob' });
  const deadline = Date.now() + 60_000;
  while (lines(good('players', 'p2')).length < 2 && Date.now() < deadline) await new Promise((done) => setTimeout(done, 100));
  const [head, ...rows] = lines(good('players', 'SMI'));
  assert.match(head, /^PLAYER +NAME +E-MAIL +SINCE +HIDDEN$/);
  assert.equal(rows.length, 1);
  assert.match(rows[0], /^p1 +Ann Smith +ann@example\.org +\d{4}-/);
  assert.equal(lines(good('players')).length, 3);
  assert.deepEqual(JSON.parse(good('players', 'p', '--by', 'id', '--json')).players.map(({ id }) => id), ['p1', 'p2']);
  assert.match(good('players', '--limit', '1'), /There are more/);
  assert.equal(run('players', 'a', 'b').status, 2);
  assert.notEqual(run('players', 'a', '--by', 'luck').status, 0);
});

test('boards are listed in columns', () => {
  const [head, ...rows] = lines(good('boards'));
  assert.match(head, /^BOARD +GAME +TIMEFRAME +PERIOD +ORDER +KEEP +TITLE$/);
  const own = rows.filter((row) => /^(tetris|chess):/.test(row)); // the games that rooms play have boards, too
  assert.deepEqual(own.map((row) => row.split(/ +/)[0]), ['chess:all', 'tetris:all', 'tetris:daily']);
  const at = head.indexOf('GAME');
  for (const row of own) assert.match(row.slice(at - 1), /^ (tetris|chess)/);
  assert.equal(lines(good('boards', '--game', 'chess')).length, 2);
  assert.equal(JSON.parse(good('boards', '--json', '--game', 'tetris')).boards.length, 2);
});

test('a score is submitted to a game or to one board', () => {
  const out = lines(good('submit', '--game', 'tetris', 'ann', '9007199254740993', '--name', 'Ann'));
  assert.match(out[0], /^BOARD +ACCEPTED +SCORE +RANK/);
  assert.equal(out.length, 3);
  assert.match(out[1], /^tetris:all +yes +9007199254740993 +1 +1$/);
  good('submit', 'tetris:all', 'bob', '-5');
  const worse = good('submit', 'tetris:all', 'bob', '-6');
  assert.match(worse, /no .*better/);
  const { status, stderr } = run('submit', 'tetris:all', 'bob', 'much');
  assert.equal(status, 1);
  assert.match(stderr, /gametable submit: score must be a number/);
  assert.equal(run('submit', 'tetris:all', 'bob').status, 2);
});

test('top, rank and around', () => {
  good('submit', 'tetris:all', 'cee', '12');
  const top = lines(good('top', 'tetris:all', '-n', '2'));
  assert.equal(top[0], 'tetris:all: players 3');
  assert.match(top[1], /RANK +PLAYER +SCORE +NAME/);
  assert.match(top[2], /1 +ann +9007199254740993 +Ann$/);
  assert.match(top[3], /2 +cee +12$/);
  assert.equal(top.length, 4);
  assert.match(good('top', 'tetris:all', '--from', '3'), /3 +bob +-5/);
  assert.match(good('top', 'tetris:daily'), /^tetris:daily, \d{4}-\d\d-\d\d: players 1\n/);
  assert.match(good('rank', 'tetris:all', 'cee'), /cee: rank 2 with 12, ahead of or equal to 50 % of the others/);
  const around = lines(good('around', 'tetris:all', 'cee', '--each', '1'));
  assert.match(around[3], /^> +2 +cee/);
  assert.equal(JSON.parse(good('rank', 'tetris:all', 'cee', '--json')).entry.score, 12);
  for (const args of [['rank', 'tetris:all', 'nobody'], ['around', 'nothing', 'x'], ['top', 'nothing']]) {
    const { status, stderr } = run(...args);
    assert.equal(status, 1);
    assert.match(stderr, /nobody is not on this board|no board nothing/i);
  }
  assert.equal(run('top').status, 2);
  assert.equal(run('rank', 'a').status, 2);
  assert.equal(run('top', 'x', '--url', 'ftp://x').status, 2);
  assert.match(run('top', 'x', '--url', 'http://127.0.0.1:1').stderr, /no server answers/);
});

test('many scores are loaded, in several requests at once', () => {
  const file = path.join(folder, 'scores.csv');
  writeFileSync(file, `member,score\n${Array.from({ length: 45000 }, (_, i) => `p${i},${(i * 7919) % 100003}`).join('\n')}`);
  assert.equal(good('load', 'chess:all', file), '45000 lines: 45000 added, 0 changed, 0 kept, 0 refused\n');
  assert.equal(good('load', 'chess:all', file), '45000 lines: 0 added, 0 changed, 45000 kept, 0 refused\n');
  assert.match(good('top', 'chess:all', '-n', '1'), /players 45000/);
  const scores = Array.from({ length: 45000 }, (_, i) => (i * 7919) % 100003).sort((a, b) => b - a);
  assert.match(good('top', 'chess:all', '-n', '1', '--from', '30000'), new RegExp(` ${scores[29999]}$`, 'm'));
});

test('lines that make no sense are told by their number, and the rest is loaded', async () => {
  const file = path.join(folder, 'wrong.jsonl');
  const all = Array.from({ length: 12000 }, (_, i) => JSON.stringify({ member: `j${i}`, score: i }));
  all[11500] = '{"member":"j"}';
  writeFileSync(file, all.join('\n'));
  const { status, stdout, stderr } = run('load', 'a plain one', file);
  assert.equal(status, 1);
  assert.equal(stdout, '12000 lines: 11999 added, 0 changed, 0 kept, 1 refused\n');
  assert.match(stderr, /line 11501: score is missing/);

  const child = spawn(program, ['load', 'a plain one', '-', '--json'], { env: env(), stdio: ['pipe', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk) => { printed += chunk; });
  child.stdin.end('zed,99999\n');
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.deepEqual(JSON.parse(printed), { lines: 1, added: 1, changed: 0, kept: 0, refused: 0 });
  assert.match(good('top', 'a plain one', '-n', '1'), /zed +99999/);
  assert.match(run('load', 'x', path.join(folder, 'none')).stderr, /cannot read/);
  assert.equal(run('load', 'x').status, 2);
});

test('a key is sent along', async () => {
  const keys = path.join(folder, 'keys.json');
  const [, id, secret] = /id\s+(\S+)\nsecret access key\s+(\S+)\n/.exec(good('keys', 'add', '--keys', keys, '--table', '*', '--allow', 'read'));
  const closed = await startServer({ args: ['--keys', keys] });
  try {
    const at = ['--url', closed.endpoint];
    assert.match(run('boards', ...at).stderr, /say who you are/);
    assert.match(good('boards', ...at, '--key', `${id}:${secret}`), /^BOARD/);
    assert.match(run('submit', 'x', 'y', '1', ...at, '--key', `${id}:${secret}`).stderr, /may not write/);
  } finally {
    assert.equal(await closed.stop(), 0);
  }
});
