// redis-rank, the leaderboards of its documentation: all kinds of updates, queries and matrices, most of
// which are scripts.
import Redis from 'ioredis';
import rank from 'redis-rank';

const { Leaderboard, LeaderboardMatrix, PeriodicLeaderboard } = rank;

export async function play(port) {
  const told = [];
  const note = async (name, promise) => told.push([name, await promise.catch((error) => `error: ${error.message}`)]);
  const client = new Redis(port);
  await client.flushall();
  for (const sortPolicy of ['high-to-low', 'low-to-high'])
    for (const updatePolicy of ['replace', 'aggregate', 'best']) {
      const name = `${sortPolicy} ${updatePolicy}`;
      const board = new Leaderboard(client, `lb:${name}`, { sortPolicy, updatePolicy });
      for (const [id, value] of [['ann', 10], ['bob', 30], ['cy', 20], ['ann', 25], ['bob', 5], ['dee', 1.5]])
        await note(`${name} updateOne ${id}`, board.updateOne(id, value));
      await note(`${name} update`, board.update([{ id: 'eve', value: 12 }, { id: 'cy', value: 40 }]));
      for (const id of ['ann', 'bob', 'nobody']) {
        await note(`${name} score`, board.score(id));
        await note(`${name} rank`, board.rank(id));
        await note(`${name} find`, board.find(id));
        await note(`${name} around`, board.around(id, 1));
        await note(`${name} around filled`, board.around(id, 2, true));
      }
      await note(`${name} at`, board.at(2));
      await note(`${name} top`, board.top(3));
      await note(`${name} bottom`, board.bottom(2));
      await note(`${name} list`, board.list(2, 4));
      await note(`${name} by score`, board.listByScore(5, 26));
      const rows = [];
      for await (const batch of board.exportStream(2)) rows.push(batch);
      told.push([`${name} export`, rows]);
      await note(`${name} remove`, board.remove(['ann', 'nobody']));
      await note(`${name} count`, board.count());
      const limited = new Leaderboard(client, `limited:${name}`, { sortPolicy, updatePolicy, limitTopN: 3 });
      for (let i = 0; i < 6; i++) await limited.updateOne(`p${i}`, (i * 7) % 11);
      await note(`${name} limited`, limited.top(10));
      await note(`${name} clear`, board.clear());
      await note(`${name} cleared`, board.count());
    }
  const now = () => new Date('2026-11-16T12:00:00Z');
  const periodic = new PeriodicLeaderboard(client, 'periodic', { leaderboardOptions: { sortPolicy: 'high-to-low', updatePolicy: 'best' }, cycle: 'daily', now });
  await periodic.getLeaderboardNow().updateOne('ann', 5);
  await note('periodic keys', periodic.getExistingKeys());
  await note('periodic top', periodic.getLeaderboardNow().top(5));
  const matrix = new LeaderboardMatrix(client, 'matrix', {
    dimensions: [{ name: 'global' }, { name: 'today', cycle: 'daily' }],
    features: [{ name: 'kills', options: { sortPolicy: 'high-to-low', updatePolicy: 'replace' } },
      { name: 'time', options: { sortPolicy: 'low-to-high', updatePolicy: 'best' } }],
    now,
  });
  await note('matrix update', matrix.update([{ id: 'ann', values: { kills: 5, time: 30 } }, { id: 'bob', values: { kills: 7, time: 25 } },
    { id: 'cy', values: { kills: 1, time: 90 } }]).then(() => true));
  await note('matrix find', matrix.find('bob'));
  await note('matrix top', matrix.top('global', 'kills', 2));
  await note('matrix bottom', matrix.bottom('today', 'time', 2));
  await note('matrix around', matrix.around('global', 'kills', 'ann', 1));
  await note('matrix showcase', matrix.showcase(['today', 'global'], 'kills', 3));
  await note('matrix count', matrix.count());
  await note('matrix remove', matrix.remove('bob').then(() => true));
  await note('matrix without', matrix.top('global', 'kills', 5));
  client.disconnect();
  return told;
}
