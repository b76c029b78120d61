// redlock: locks that expire, by scripts that are sent by their hash.
import Redis from 'ioredis';
import Redlock from 'redlock';

export async function play(port) {
  const told = [];
  const clients = [0, 1, 2].map((db) => new Redis({ port, db }));
  for (const [name, servers] of [['one server', clients.slice(0, 1)], ['three databases', clients]]) {
    await clients[0].flushall();
    const locks = new Redlock(servers, { retryCount: 1, retryDelay: 20, retryJitter: 5 });
    locks.on('clientError', () => {});
    const fails = (promise) => promise.then(() => 'done', (error) => error.name);
    const lock = await locks.lock('resource', 10000);
    told.push([name, 'taken', await fails(locks.lock('resource', 10000))]);
    const longer = await lock.extend(20000);
    told.push([name, 'extended', (await servers[0].pttl('resource')) > 10000, longer.value === lock.value]);
    await longer.unlock();
    told.push([name, 'unlocked', await servers[0].exists('resource'), await fails(longer.unlock())]);
    const both = await locks.lock(['a', 'b'], 10000);
    told.push([name, 'one of two is taken', await fails(locks.lock(['b', 'c'], 10000)), await servers[0].exists('c')]);
    await both.unlock();
    const short = await locks.lock('short', 30000);
    for (const server of servers) await server.pexpire('short', 1);
    while ((await servers.at(-1).exists('short')) === 1) await new Promise((resolve) => setTimeout(resolve, 5));
    told.push([name, 'expired', await fails(short.extend(1000))]);
    // One at a time: a counter that is read and written under the lock loses nothing.
    const patient = new Redlock(servers, { retryCount: 2000, retryDelay: 5, retryJitter: 5 });
    await Promise.all(Array.from({ length: 5 }, async () => {
      for (let i = 0; i < 4; i++) {
        const held = await patient.lock('counter lock', 30000);
        await clients[0].set('counter', Number(await clients[0].get('counter')) + 1);
        await held.unlock();
      }
    }));
    told.push([name, 'counter', await clients[0].get('counter')]);
  }
  for (const client of clients) client.disconnect();
  return told;
}
