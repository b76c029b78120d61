// A season in short: three players, some games, the board, and what the stream made of it. Started again, it goes on.
import { LeaderboardEntity, PlayerEntity } from './entities.mjs';
import { getPlayer, rankOf, recordSession, submitScore, topScores } from './leaderboard.mjs';
import { Projection } from './projection.mjs';
import { createTable } from './table.mjs';

// What an earlier start made stays as it is: the table, the board, the players and what they have.
const unlessThere = (made) => made.catch((error) => {
  const name = error.cause?.name ?? error.name;
  if (name !== 'ResourceInUseException' && name !== 'ConditionalCheckFailedException') throw error;
});

await unlessThere(createTable());
await unlessThere(LeaderboardEntity.create({ leaderboardId: 'season_3', name: 'Season 3', type: 'season', startsAt: '2026-03-01' }).go());
for (const name of ['alice', 'bob', 'carol'])
  await unlessThere(PlayerEntity.create({ playerId: `p_${name}`, name, email: `${name}@example.com` }).go());

for (const [playerId, score] of [['p_alice', 95], ['p_bob', 9850], ['p_alice', 8420], ['p_carol', 5100], ['p_alice', 100]]) {
  await recordSession(playerId, 'tetris', score, 285);
  await submitScore(playerId, 'season_3', score);
}

for (const { playerId, score } of await topScores('season_3', 10))
  console.log(`${await rankOf(playerId, 'season_3')}. ${playerId.padEnd(10)}${score}`);

const projection = new Projection();
await projection.catchUp();
const { lifetimeScore, gamesPlayed } = await getPlayer('p_alice');
console.log(`alice: ${gamesPlayed} games, ${lifetimeScore} points in all`);
