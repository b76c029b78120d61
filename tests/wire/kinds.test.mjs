// The kinds of games as they describe themselves, four in a row over its live line, and bots of every
// kind. Every REST answer is held against /v1/openapi.json.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test, { after, before } from 'node:test';
import { fullRoom, openLine, roomPath } from '../lib/live.mjs';
import { restClient } from '../lib/rest.mjs';
import { program, startServer } from '../lib/server.mjs';

const four = 'four-in-a-row';
let server;
let rest;
let kinds;
before(async () => {
  server = await startServer({ redis: 'off' });
  rest = await restClient(server.endpoint);
  ({ kinds } = await rest.must('GET', '/kinds'));
});
after(async () => {
  rest.close();
  assert.equal(await server.stop(), 0);
});

const room = (count, options) => fullRoom(rest, server.endpoint, four, count, { options });

async function runBots(...args) {
  const bots = spawn(program, ['play', '--url', server.endpoint, '--limit', '300', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [bots.stdout, bots.stderr]) stream.on('data', (part) => { printed += part; });
  const [code] = await once(bots, 'exit');
  return { code, printed };
}

// A game as a program would write it that knows none of them.
test('what a kind says of itself is what its rooms take', async () => {
  for (const { kind, options, playersMin, playersMax, boards, titles, about, emoji, page, verbs } of kinds) {
    const given = {};
    for (const option of options) given[option.name] = option.type === 'number' ? option.max : option.choices.at(-1).word;
    const made = await rest.must('POST', '/rooms', { kind, name: 'Ann', options: given });
    assert.deepEqual(made.room.options, given);
    assert.equal(made.room.capacity, playersMax);
    assert.ok(playersMin >= 1 && playersMin <= playersMax);
    for (const text of [titles, about, ...options.map(({ labels }) => labels)]) assert.ok(text.en && text.hi, kind);
    assert.ok(emoji && page && verbs.length > 0);
    for (const option of options) {
      const wrong = option.type === 'number' ? option.max + 1 : 'no such word';
      const { detail } = await rest.refused(400, 'POST', '/rooms', { kind, name: 'Ann', options: { [option.name]: wrong } });
      assert.match(detail, new RegExp(`^${option.name} is `));
      assert.ok(option.type === 'number' ? option.default >= option.min && option.default <= option.max
        : option.choices.some(({ word }) => word === option.default));
    }
    for (const { board, scope } of boards) assert.equal((await rest.must('GET', `/boards/${board}`)).scopes[0], scope);
  }
});

test('four in a row: turns, columns, a win, a rematch, and who looks on', async () => {
  const { code, lines: [ann, bob] } = await room(2, { turnSeconds: 60 });
  const eve = await openLine(server.endpoint, roomPath(code));
  await ann.refused({ do: 'drop', column: 1 }, /no match/);
  await ann.ok({ do: 'start' });
  await bob.refused({ do: 'drop', column: 1 }, /not your turn/);
  await eve.refused({ do: 'drop', column: 1 }, /looks on/);
  await ann.refused({ do: 'drop' }, /column is 1 to 7/);
  await ann.refused({ do: 'drop', column: 8 }, /column is 1 to 7/);
  await ann.refused({ do: 'drop', column: '4' }, /column is 1 to 7/);
  await ann.refused({ do: 'roll' }, /In Four in a row one can drop/);
  const twice = await Promise.all([ann.ask({ do: 'drop', column: 4, turn: 1 }), ann.ask({ do: 'drop', column: 4, turn: 1 })]);
  assert.deepEqual(twice.map(({ type }) => type).sort(), ['ok', 'refused'], 'of two moves at once one counts');
  for (let i = 0; i < 3; i++) {
    await bob.ok({ do: 'drop', column: 1 });
    await ann.ok({ do: 'drop', column: 4 });
  }
  const { room: { state }, players, round } = await eve.state((each) => each.room.status === 'over');
  assert.equal(state.winner, ann.player);
  assert.deepEqual(state.line, [3, 10, 17, 24]);
  assert.equal(state.board, '2..1...2..1...2..1......1...'.padEnd(42, '.'));
  assert.deepEqual([round.player, round.column, round.row, round.byClock], [ann.player, 4, 4, false]);
  assert.deepEqual(players.map(({ points }) => points), [3, 0]);
  await ann.ok({ do: 'rematch' });
  await bob.ok({ do: 'ready', ready: true });
  await ann.ok({ do: 'start' });
  assert.equal((await eve.state((each) => each.room.match === 2)).room.state.turn, bob.player, 'the other one begins');
  await bob.ok({ do: 'leave' });
  await eve.state((each) => each.room.match === 2 && each.room.status === 'over' && each.room.state.winner === ann.player);
  for (const board of [`${four}:room`, `${four}:daily`]) {
    const scope = board.endsWith('room') ? `?scope=room:${code}` : '';
    const { entries } = await rest.must('GET', `/boards/${board}/entries${scope}`);
    assert.equal(entries.find(({ member }) => member === ann.player).score, 6, 'points add up');
  }
});

test('bots play every kind to its end', async () => {
  for (const { kind, playersMin } of kinds) {
    const { code, printed } = await runBots('--game', kind, '--bots', String(3 * Math.max(2, playersMin)), '--rooms', '3', '--rounds', '3', '--seconds', '1',
      '--slow', '20');
    assert.equal(code, 0, printed);
    assert.match(printed, /moves [1-9]\d*, .*lines lost 0/, kind);
    assert.match(printed, new RegExp(`rooms of ${kind}: .* 0 bots not done`));
  }
});

// The bot sees three of ours in a row, and that we see three of its own: it blocks, then wins.
test('a bot that is not wrong blocks, and wins', async () => {
  const { code, lines: [ann] } = await room(1, { turnSeconds: 60 });
  const playing = runBots('--join', code, '--bots', '1', '--slow', '1', '--errors', '0');
  await ann.state((each) => each.players.length === 2 && each.players.every(({ ready, player }) => ready || player === ann.player));
  await ann.ok({ do: 'start' });
  let state = await ann.state((each) => each.room.status === 'playing');
  for (let turn = 1; state.room.status === 'playing'; turn += 2) {
    const { board } = state.room.state;
    // We only ever pile up on the left, which any player sees coming.
    const column = [1, 2, 3, 4, 5, 6, 7].find((each) => board[35 + each - 1] === '.');
    await ann.ok({ do: 'drop', column, turn });
    state = await ann.state((each) => each.room.status === 'over' || each.room.state.turnNumber === turn + 2);
  }
  assert.notEqual(state.room.state.winner, ann.player);
  assert.equal((await playing).code, 0);
});

test('bots are told what they cannot play', async () => {
  const none = await runBots('--game', 'chess');
  assert.equal(none.code, 2);
  for (const { kind } of kinds) assert.match(none.printed, new RegExp(kind));
  const option = await runBots('--game', four, '--options', 'rounds=3');
  assert.equal(option.code, 2);
  assert.match(option.printed, /four-in-a-row has no rounds/);
  const range = await runBots('--game', four, '--options', 'turnSeconds=4,language=hi');
  assert.equal(range.code, 1);
  assert.match(range.printed, /turnSeconds is 5 to 120/);
});
