// rate-limiter-flexible: points that are consumed in a window of time, by scripts and transactions.
import Redis from 'ioredis';
import limiters from 'rate-limiter-flexible';
import { createClient } from 'redis';

const { BurstyRateLimiter, RateLimiterRedis, RateLimiterUnion } = limiters;

// What is left of a time is not compared to the millisecond.
const shown = (result) => (result === null || typeof result !== 'object' || result instanceof Error || Array.isArray(result)
  ? String(result) : { consumed: result.consumedPoints, remaining: result.remainingPoints, first: result.isFirstInDuration,
    left: result.msBeforeNext > 0 && result.msBeforeNext <= 60000 });

async function live(storeClient, useRedisPackage) {
  const told = [];
  const note = async (name, promise) => {
    let result;
    try {
      result = shown(await promise);
    } catch (error) {
      result = ['refused', shown(error)];
    }
    told.push([name, result]);
  };
  const kind = useRedisPackage ? 'node' : 'io';
  const options = { storeClient, useRedisPackage, points: 3, duration: 60, keyPrefix: kind };
  const limiter = new RateLimiterRedis(options);
  for (let i = 0; i < 5; i++) await note(`consume ${i}`, limiter.consume('ann'));
  await note('get', limiter.get('ann'));
  await note('get nobody', limiter.get('nobody'));
  await note('penalty', limiter.penalty('bob', 2));
  await note('reward', limiter.reward('bob', 1));
  await note('consume two', limiter.consume('bob', 2));
  await note('block', limiter.block('cy', 30));
  await note('blocked', limiter.consume('cy'));
  await note('set', limiter.set('dee', 2, 60));
  await note('after set', limiter.get('dee'));
  await note('delete', limiter.delete('ann'));
  await note('deleted', limiter.consume('ann'));
  const forever = new RateLimiterRedis({ ...options, duration: 0, keyPrefix: `${kind}:forever` });
  told.push(['forever', (await forever.consume('ann')).consumedPoints]);
  const blocking = new RateLimiterRedis({ ...options, points: 1, blockDuration: 50, keyPrefix: `${kind}:blocking` });
  await note('first', blocking.consume('ann'));
  await note('then blocked', blocking.consume('ann'));
  const many = await Promise.allSettled(Array.from({ length: 50 }, () => limiter.consume('crowd')));
  told.push(['of 50 at once', many.filter(({ status }) => status === 'fulfilled').length]);
  const union = new RateLimiterUnion(limiter, new RateLimiterRedis({ ...options, points: 1, keyPrefix: `${kind}:union` }));
  await union.consume('eve');
  told.push(['union', Object.keys(await union.consume('eve').catch((refused) => refused)).sort()]);
  const bursty = new BurstyRateLimiter(limiter, new RateLimiterRedis({ ...options, points: 2, keyPrefix: `${kind}:burst` }));
  const burst = [];
  for (let i = 0; i < 6; i++) burst.push(await bursty.consume('flo').then(() => true, () => false));
  told.push(['bursty', burst]);
  return told;
}

export async function play(port) {
  const io = new Redis(port, { enableOfflineQueue: true });
  await io.flushall();
  const told = [['ioredis', await live(io, false)]];
  io.disconnect();
  const node = createClient({ url: `redis://127.0.0.1:${port}` });
  await node.connect();
  told.push(['node-redis', await live(node, true)]);
  await node.disconnect();
  return told;
}
