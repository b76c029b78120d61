// A leaderboard as the demos of Redis have it: companies in hashes, their market caps in a sorted set,
// visits in strings, friends in sets.
import { createClient } from 'redis';

const companies = [['AAPL', 'Apple', 'USA', 2222], ['2222.SR', 'Saudi Aramco', 'Saudi Arabia', 2046], ['MSFT', 'Microsoft', 'USA', 1660],
  ['AMZN', 'Amazon', 'USA', 1597], ['GOOG', 'Alphabet', 'USA', 1218], ['TCEHY', 'Tencent', 'China', 742]];

export async function play(port) {
  const told = [];
  const client = createClient({ url: `redis://127.0.0.1:${port}` });
  await client.connect();
  await client.flushAll();
  const rows = async (list) => Promise.all(list.map(async ({ value, score }, i) => ({ rank: i + 1, score, ...(await client.hGetAll(`company:${value}`)) })));
  for (const [symbol, company, country, cap] of companies) {
    told.push(await client.zAdd('companies', { score: cap, value: symbol }));
    told.push(await client.hSet(`company:${symbol}`, { company, country, symbol }));
    await client.sAdd(`country:${country}`, symbol);
  }
  told.push(await rows(await client.zRangeWithScores('companies', 0, -1, { REV: true })));
  told.push(await rows(await client.zRangeWithScores('companies', 0, 2)));
  told.push(await client.hmGet('company:AAPL', ['company', 'nothing']));
  told.push(await client.zIncrBy('companies', 2000, 'TCEHY'), await client.zRevRank('companies', 'TCEHY'));
  told.push(await client.zInterWithScores(['companies', 'country:USA'], { WEIGHTS: [1, 0] }));
  told.push(await client.incr('visits'), await client.incrBy('visits', 5), await client.get('visits'));
  told.push(await client.set('seen:ann', 'today', { EX: 1000, NX: true }), await client.set('seen:ann', 'again', { NX: true }));
  told.push(await client.multi().hIncrBy('company:AAPL', 'views', 3).zScore('companies', 'AAPL').get('visits').sCard('country:USA').exec());
  told.push((await client.sInter(['country:USA', 'country:USA'])).sort(), await client.hLen('company:AAPL'));
  told.push((await client.keys('company:*')).sort(), await client.type('company:AAPL'), await client.del(['companies', 'visits']));
  const fields = [];
  for await (const { field, value } of client.hScanIterator('company:AAPL')) fields.push(`${field}=${value}`);
  told.push(fields.sort());
  await client.disconnect();
  return told;
}
