// The game's answers against a model played beside it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { randomNumbers, runProgram, startForExample, timePasses } from '../lib/server.mjs';
import { standardBoard } from './board.mjs';
import * as play from './game.mjs';
import { connect, createTable, table } from './table.mjs';

let server;
let ddb;
before(async () => {
  server = await startForExample();
  ddb = connect();
  await createTable(ddb);
});
after(async () => {
  ddb.destroy();
  await server.stop();
});

async function newGame(code, names) {
  assert.equal(await play.createGame(ddb, code, names[0]), true);
  for (const name of names) await play.joinGame(ddb, code, { id: `${code}-${name}`, name, color: '#3B82F6' });
  assert.equal(await play.startGame(ddb, code), true);
}

describe('access patterns', () => {
  before(async () => {
    await newGame('ABC123', ['alice', 'bob', 'carol']);
    await newGame('XYZ789', ['dave']);
    for (const [player, connection] of [['ABC123-alice', 'c1'], ['ABC123-bob', 'c2'], ['ABC123-bob', 'c3'], ['XYZ789-dave', 'c4']])
      await play.connectPlayer(ddb, player.slice(0, 6), player, connection);
  });

  test('a game by its code', async () => {
    const game = await play.getGame(ddb, 'ABC123');
    assert.deepEqual(
      [game.code, game.status, game.creatorId, game.winnerId, game.GSI1PK, game.GSI1SK === game.createdAt],
      ['ABC123', 'playing', 'alice', null, 'GAMES', true],
    );
    assert.deepEqual(game.board, standardBoard);
    assert.equal(await play.getGame(ddb, 'NOGAME'), undefined);
    assert.equal(await play.createGame(ddb, 'ABC123', 'eve'), false, 'a code is taken once');
  });

  test('all players of a game', async () => {
    assert.deepEqual((await play.getPlayers(ddb, 'ABC123')).map(({ name }) => name), ['alice', 'bob', 'carol']);
    assert.deepEqual((await play.getPlayers(ddb, 'XYZ789')).map(({ name }) => name), ['dave']);
  });

  test('a player by id', async () => {
    const player = await play.getPlayerById(ddb, 'ABC123-bob');
    assert.deepEqual([player.gameCode, player.name, player.position, player.connectionId], ['ABC123', 'bob', 0, 'c3']);
    assert.equal(await play.getPlayerById(ddb, 'nobody'), undefined);
  });

  test('a connection by id', async () => {
    const { playerId, gameCode } = await play.getConnection(ddb, 'c1');
    assert.deepEqual([playerId, gameCode], ['ABC123-alice', 'ABC123']);
  });

  test('all connections of a game; one that ends leaves the others', async () => {
    const ids = async () => (await play.getConnections(ddb, 'ABC123')).map(({ connectionId }) => connectionId);
    assert.deepEqual(await ids(), ['c1', 'c2', 'c3']);
    await play.disconnect(ddb, 'c2');
    assert.deepEqual(await ids(), ['c1', 'c3']);
    assert.equal((await play.getPlayerById(ddb, 'ABC123-bob')).isConnected, true, 'bob came back by c3');
    await play.disconnect(ddb, 'c1');
    const alice = await play.getPlayerById(ddb, 'ABC123-alice');
    assert.deepEqual([alice.isConnected, alice.connectionId], [false, undefined]);
    await play.disconnect(ddb, 'c1');
    assert.deepEqual(await ids(), ['c3']);
  });

  test('a game and its players in one query, and the newest games', async () => {
    const { game, players } = await play.getGameWithPlayers(ddb, 'ABC123');
    assert.deepEqual([game.code, players.length], ['ABC123', 3]);
    const games = (await play.listGames(ddb)).map(({ createdAt }) => createdAt);
    assert.deepEqual(games, [...games].sort().reverse());
    assert.ok(games.length >= 2);
  });
});

describe('races', () => {
  test('of many that move at once, one does', async () => {
    await newGame('RACE01', ['alice', 'bob']);
    for (let round = 0; round < 10; round++) {
      const seen = await play.getGameWithPlayers(ddb, 'RACE01');
      const made = (await Promise.all(Array.from({ length: 8 }, (_, i) => play.move(ddb, seen, 1 + (i % 6))))).filter(Boolean);
      assert.equal(made.length, 1);
      assert.equal(made[0].playerId, ['RACE01-alice', 'RACE01-bob'][round % 2]);
      const { game, players } = await play.getGameWithPlayers(ddb, 'RACE01');
      assert.equal(game.turn, round + 1);
      assert.equal(players.find(({ id }) => id === made[0].playerId).position, made[0].position);
    }
  });

  test('one starts it and one wins it', async () => {
    await play.createGame(ddb, 'RACE02', 'a');
    assert.equal(await play.claimVictory(ddb, 'RACE02', 'a'), false, 'not before it began');
    const started = await Promise.all(Array.from({ length: 10 }, () => play.startGame(ddb, 'RACE02')));
    assert.equal(started.filter(Boolean).length, 1);
    const won = await Promise.all(Array.from({ length: 10 }, (_, i) => play.claimVictory(ddb, 'RACE02', `p${i}`)));
    assert.equal(won.filter(Boolean).length, 1);
    const game = await play.getGame(ddb, 'RACE02');
    assert.deepEqual([game.status, game.winnerId], ['finished', `p${won.indexOf(true)}`]);
  });
});

test('a whole game goes as on a board of wood', async () => {
  const random = randomNumbers();
  await newGame('WHOLE1', ['a', 'b', 'c', 'd']);
  const positions = [0, 0, 0, 0];
  const jumps = new Map(standardBoard.snakesAndLadders.map(({ from, to }) => [from, to]));
  for (let turn = 0; !positions.includes(100); turn++) {
    const roll = 1 + random(6);
    const who = turn % 4;
    const met = positions[who] + roll;
    const square = met > 100 ? positions[who] : jumps.get(met) ?? met;
    positions[who] = square;
    const made = await play.move(ddb, await play.getGameWithPlayers(ddb, 'WHOLE1'), roll);
    assert.deepEqual(made, { playerId: `WHOLE1-${'abcd'[who]}`, position: square, won: square === 100 });
  }
  const { game, players } = await play.getGameWithPlayers(ddb, 'WHOLE1');
  assert.deepEqual(players.map(({ position }) => position), positions);
  assert.equal(game.winnerId, `WHOLE1-${'abcd'[positions.indexOf(100)]}`);
  assert.equal(await play.move(ddb, { game, players }, 1), undefined, 'nobody moves after the end');
});

test('the program plays a game to its end, each time it is started', async () => {
  process.env.TABLE_NAME = 'main';
  for (const number of ['', '2', '3']) {
    const printed = await runProgram(fileURLToPath(new URL('main.mjs', import.meta.url)));
    assert.match(printed, new RegExp(`^2 connections to tell of each move\\nfinished after \\d+ moves: (alice|bob)${number} is on 100\\n$`));
  }
});

test('everything ends a day after it was made', async () => {
  const everything = async () => (await ddb.send(new ScanCommand({ TableName: table }))).Items;
  const items = await everything();
  const left = items.map(({ TTL }) => TTL - Date.now() / 1000);
  assert.ok(left.length > 10 && left.every((seconds) => seconds > 86_400 - 3600 && seconds <= 86_400));
  await timePasses(server, '23h');
  assert.deepEqual(await everything(), items);
  await timePasses(server, '2h');
  assert.deepEqual(await everything(), []);
  assert.equal(await play.getPlayerById(ddb, 'ABC123-bob'), undefined);
  assert.deepEqual(await play.getConnections(ddb, 'ABC123'), []);
  assert.deepEqual(await play.listGames(ddb), []);
});
