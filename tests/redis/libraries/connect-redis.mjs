// connect-redis: the sessions of an express server, by either client.
import { promisify } from 'node:util';
import connectRedis from 'connect-redis';
import Redis from 'ioredis';
import { createClient } from 'redis';

const RedisStore = connectRedis.default ?? connectRedis;

async function live(client, ttlOf) {
  const told = [];
  const store = new RedisStore({ client, prefix: 'sess:', scanCount: 10 });
  const ask = (name, ...args) => promisify(store[name]).call(store, ...args);
  const in_ = (seconds) => new Date(Date.now() + seconds * 1000).toISOString();
  await ask('clear');
  await ask('set', '123', { foo: 'bar', names: ['é', '日本'] });
  told.push(await ask('get', '123'), await ask('get', 'nobody') ?? null);
  told.push((await ttlOf('sess:123')) > 86000);
  await ask('set', '456', { cookie: { expires: in_(60) } });
  told.push((await ttlOf('sess:456')) <= 60);
  await ask('touch', '456', { cookie: { expires: in_(90) } });
  told.push((await ttlOf('sess:456')) > 60, await ask('length'), (await ask('ids')).sort());
  told.push((await ask('all')).map(({ id, foo }) => `${id} ${foo}`).sort());
  await ask('destroy', '456');
  told.push(await ask('length'));
  for (let i = 0; i < 200; i++) await ask('set', `s${i}`, { i });
  told.push(await ask('length'), (await ask('ids')).length, (await ask('all')).length);
  await ask('set', '123', { cookie: { expires: in_(-60) } });
  told.push(await ask('length'));
  await ask('clear');
  told.push(await ask('length'));
  return told;
}

export async function play(port) {
  const node = createClient({ url: `redis://127.0.0.1:${port}` });
  await node.connect();
  await node.flushAll();
  const told = [['node-redis', await live(node, (key) => node.ttl(key))]];
  await node.disconnect();
  const io = new Redis(port);
  told.push(['ioredis', await live(io, (key) => io.ttl(key))]);
  io.disconnect();
  return told;
}
