// The access patterns against answers worked out from plain lists.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { randomNumbers, runProgram, startForExample } from '../lib/server.mjs';
import { LeaderboardEntity, PlayerEntity, ScoreEntity } from './entities.mjs';
import * as boards from './leaderboard.mjs';
import { Projection } from './projection.mjs';
import { client, createTable, table } from './table.mjs';

const random = randomNumbers();
const players = Array.from({ length: 25 }, (_, i) => `p_${i}`);
const boardIds = ['daily_2026_03_14', 'weekly_2026_W11', 'season_3', 'global'];
const games = ['tetris', 'snake'];
const submitted = []; // { playerId, leaderboardId, score }
const sessions = []; // as recordSession answered

let server;
before(async () => {
  server = await startForExample();
  await createTable();
  await PlayerEntity.put(players.map((playerId) => ({ playerId, name: playerId.toUpperCase(), email: `${playerId}@x.com` }))).go();
  for (const leaderboardId of boardIds)
    await LeaderboardEntity.create({ leaderboardId, name: leaderboardId, type: 'season', startsAt: '2026-03-01' }).go();
  for (let i = 0; i < 120; i++) {
    submitted.push({
      playerId: players[random(players.length)], leaderboardId: boardIds[random(boardIds.length)], score: random(10 ** (1 + random(5))),
    });
  }
  await inParallel(12, submitted, ({ playerId, leaderboardId, score }) => boards.submitScore(playerId, leaderboardId, score));
  for (let i = 0; i < 60; i++)
    sessions.push(await boards.recordSession(players[random(5)], games[random(2)], random(1000), 60 + random(300)));
});
after(async () => {
  client.destroy();
  await server.stop();
});

// The best by player, as they should stand on a board.
function standing(leaderboardId) {
  const best = new Map();
  for (const { playerId, score } of submitted.filter((one) => one.leaderboardId === leaderboardId))
    best.set(playerId, Math.max(score, best.get(playerId) ?? 0));
  return best;
}

const byId = (a, b) => (a.sessionId < b.sessionId ? -1 : 1);

describe('access patterns', () => {
  test('1, 2: a player by id and by email', async () => {
    const player = await boards.getPlayer('p_3');
    assert.deepEqual([player.name, player.email, player.countedTo], ['P_3', 'p_3@x.com', undefined]);
    assert.equal((await boards.getPlayerByEmail('p_3@x.com')).playerId, 'p_3');
    assert.equal(await boards.getPlayer('nobody'), null);
    assert.equal(await boards.getPlayerByEmail('nobody@x.com'), undefined);
  });

  test('3: the top of a board', async () => {
    for (const leaderboardId of boardIds) {
      const best = standing(leaderboardId);
      const expected = [...best].sort(([a, x], [b, y]) => y - x || (a < b ? 1 : -1)).slice(0, 10);
      assert.deepEqual((await boards.topScores(leaderboardId, 10)).map(({ playerId, score }) => [playerId, score]), expected);
    }
    assert.deepEqual(await boards.topScores('none', 10), []);
  });

  test('4, 5: a player\'s scores on one board and on all', async () => {
    for (const playerId of players.slice(0, 8)) {
      const expected = boardIds.map((id) => [id, standing(id).get(playerId)]).filter(([, score]) => score !== undefined).sort();
      assert.deepEqual((await boards.scoresOf(playerId)).map(({ leaderboardId, score }) => [leaderboardId, score]), expected);
      for (const [leaderboardId, score] of expected)
        assert.equal((await boards.bestScore(playerId, leaderboardId)).score, score);
    }
    assert.equal(await boards.bestScore('p_1', 'none'), undefined);
  });

  test('6, 7, 8: sessions of a player, of a game, and one', async () => {
    const own = sessions.filter(({ playerId }) => playerId === 'p_2').sort(byId).reverse();
    assert.deepEqual(await boards.recentSessions('p_2', 5), own.slice(0, 5));
    for (const game of games)
      assert.deepEqual(await boards.sessionsIn(game), sessions.filter(({ gameId }) => gameId === game).sort(byId));
    const one = sessions[7];
    assert.deepEqual(await boards.getSession(one.playerId, one.sessionId), one);
    assert.equal(await boards.getSession('nobody', one.sessionId), null);
  });

  test('9: what a board is, beside its scores', async () => {
    assert.equal((await boards.getLeaderboard('season_3')).type, 'season');
    const { Items } = await client.send(new QueryCommand({
      TableName: table, KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': 'LEADERBOARD#season_3' },
    }));
    assert.equal(Items[0].sk, '#METADATA');
    assert.equal(Items.length, 1 + standing('season_3').size);
  });

  test('10: the rank of every player', async () => {
    for (const leaderboardId of boardIds) {
      const best = standing(leaderboardId);
      for (const [playerId, score] of best)
        assert.equal(await boards.rankOf(playerId, leaderboardId), 1 + [...best.values()].filter((other) => other > score).length);
    }
    assert.equal(await boards.rankOf('nobody', 'season_3'), undefined);
  });
});

describe('submitting', () => {
  test('keys are as designed', async () => {
    await PlayerEntity.create({ playerId: 'p_keys', name: 'k', email: 'k@x.com' }).go();
    await boards.submitScore('p_keys', 'keys', 95);
    const { Items } = await client.send(new ScanCommand({
      TableName: table, FilterExpression: 'playerId = :id', ExpressionAttributeValues: { ':id': 'p_keys' },
    }));
    const keys = ({ pk, sk, gsi1pk, gsi1sk }) => [pk, sk, gsi1pk, gsi1sk];
    assert.deepEqual(Items.map(keys).sort(), [
      ['LEADERBOARD#keys', 'SCORE#0000000095#p_keys', 'PLAYER#p_keys', 'SCORE#keys'],
      ['PLAYER#p_keys', '#METADATA', 'PLAYER_EMAIL#k@x.com', 'PLAYER#p_keys'],
    ]);
  });

  test('a worse score changes nothing, a better one moves the item', async () => {
    assert.equal(await boards.submitScore('p_keys', 'keys', 94), false);
    assert.equal(await boards.submitScore('p_keys', 'keys', 95), false);
    assert.equal(await boards.submitScore('p_keys', 'keys', 1500), true);
    assert.deepEqual((await boards.topScores('keys', 10)).map(({ score }) => score), [1500]);
    await assert.rejects(boards.submitScore('p_keys', 'keys', 1e10), /Invalid value provided/);
    await assert.rejects(boards.submitScore('nobody', 'keys', 1), /no player nobody/);
  });

  test('of many at once, the best stands alone', async () => {
    const scores = Array.from({ length: 8 }, (_, i) => 10 * (i + 1));
    await Promise.all(scores.map((score) => boards.submitScore('p_0', 'crowded', score)));
    assert.deepEqual((await boards.topScores('crowded', 10)).map(({ playerId, score }) => [playerId, score]), [['p_0', 80]]);
  });

  test('an entry made twice is refused, and told as ElectroDB tells it', async () => {
    const entry = { leaderboardId: 'twice', playerId: 'p_1', score: 5 };
    await ScoreEntity.create(entry).go();
    await assert.rejects(ScoreEntity.create(entry).go(), (error) =>
      error.isElectroError && error.cause.name === 'ConditionalCheckFailedException');
  });
});

test('lifetime figures follow from the stream, whoever reads it and however often', async () => {
  const first = new Projection();
  const second = new Projection();
  try {
    assert.equal(await first.catchUp(), sessions.length);
    sessions.push(await boards.recordSession('p_0', 'tetris', 77, 60), await boards.recordSession('p_20', 'snake', 5, 60));
    assert.equal(await second.catchUp(), 2, 'it reads all again and counts what is new');
    assert.equal(await first.catchUp(), 0);
  } finally {
    first.close();
    second.close();
  }
  for (const playerId of players) {
    const own = sessions.filter((session) => session.playerId === playerId);
    const { lifetimeScore, gamesPlayed } = await boards.getPlayer(playerId);
    assert.deepEqual([gamesPlayed, lifetimeScore], [own.length, own.reduce((sum, { score }) => sum + score, 0)]);
  }
});

test('the program plays a season, and goes on when it is started again', async () => {
  process.env.TABLE_NAME = 'season';
  for (const sum of ['3 games, 8615', '6 games, 17230']) {
    const printed = await runProgram(fileURLToPath(new URL('main.mjs', import.meta.url)));
    assert.equal(printed, `1. p_bob     9850\n2. p_alice   8420\n3. p_carol   5100\nalice: ${sum} points in all\n`);
  }
});

async function inParallel(width, list, work) {
  const waiting = list.values();
  await Promise.all(Array.from({ length: width }, async () => {
    for (const one of waiting) await work(one);
  }));
}
