// The ten access patterns, and the two writes: a score that must be the best, a session that is kept.
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { ulid } from 'ulid';
import { LeaderboardEntity, PlayerEntity, ScoreEntity, service, SessionEntity } from './entities.mjs';
import { client } from './table.mjs';

const dataOf = async (answer) => (await answer).data;

// AP1 player by id
export const getPlayer = (playerId) => dataOf(PlayerEntity.get({ playerId }).go({ consistent: true }));

// AP2 player by email
export const getPlayerByEmail = async (email) => (await dataOf(PlayerEntity.query.byEmail({ email }).go()))[0];

// AP3 the top of a board
export const topScores = (leaderboardId, limit) =>
  dataOf(ScoreEntity.query.board({ leaderboardId }).go({ order: 'desc', limit }));

// AP4 a player's best on a board
export const bestScore = async (playerId, leaderboardId) =>
  (await dataOf(ScoreEntity.query.byPlayer({ playerId, leaderboardId }).go()))[0];

// AP5 a player's scores on all boards
export const scoresOf = (playerId) => dataOf(ScoreEntity.query.byPlayer({ playerId }).go({ pages: 'all' }));

// AP6 a player's recent sessions, the newest first: their ids are ordered by time
export const recentSessions = (playerId, limit = 20) =>
  dataOf(SessionEntity.query.primary({ playerId }).go({ order: 'desc', limit }));

// AP7 all sessions of a game
export const sessionsIn = (gameId) => dataOf(SessionEntity.query.byGame({ gameId }).go({ pages: 'all' }));

// AP8 one session
export const getSession = (playerId, sessionId) => dataOf(SessionEntity.get({ playerId, sessionId }).go());

// AP9 what a board is
export const getLeaderboard = (leaderboardId) => dataOf(LeaderboardEntity.get({ leaderboardId }).go());

// AP10 a player's rank: the scores above theirs, and one. ElectroDB makes the query, the count is the SDK's.
export async function rankOf(playerId, leaderboardId) {
  const own = await bestScore(playerId, leaderboardId);
  if (!own) return undefined;
  const above = ScoreEntity.query.board({ leaderboardId }).gt({ score: own.score, playerId: 'zzz' }).params();
  let rank = 1;
  let from;
  do {
    const page = await client.send(new QueryCommand({ ...above, Select: 'COUNT', ExclusiveStartKey: from }));
    rank += page.Count;
    from = page.LastEvaluatedKey;
  } while (from);
  return rank;
}

// Keeps the best score of a player on a board; tells whether this was it. A better score is another key, so
// the old item goes and the new one comes in one transaction. The condition on the player's own record
// decides: whoever lost reads again.
export async function submitScore(playerId, leaderboardId, score) {
  for (let attempt = 0; attempt < 20; attempt++) {
    const player = await getPlayer(playerId);
    if (!player) throw new Error(`no player ${playerId}`);
    const old = player.best[leaderboardId];
    if (old !== undefined && old >= score) return false;
    const { canceled } = await service.transaction.write((entities) => [
      setBest(entities.player, playerId, leaderboardId, old, score),
      ...(old === undefined ? [] : [entities.score.remove({ leaderboardId, playerId, score: old }).commit()]),
      entities.score.create({ leaderboardId, playerId, score }).commit(),
    ]).go();
    if (!canceled) return true;
  }
  throw new Error(`${playerId} submits too much at once`);
}

function setBest(players, playerId, leaderboardId, old, score) {
  return players.patch({ playerId })
    .data(({ best }, { set }) => set(best[leaderboardId], score))
    .where(({ best }, { eq, notExists }) =>
      old === undefined ? notExists(best[leaderboardId]) : eq(best[leaderboardId], old))
    .commit();
}

// The record of one play. Lifetime figures follow from it, through the stream (projection.mjs).
export const recordSession = (playerId, gameId, score, durationSec) =>
  dataOf(SessionEntity.create({ playerId, gameId, sessionId: ulid(), score, durationSec }).go());
