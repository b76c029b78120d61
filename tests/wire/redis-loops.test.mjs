// On few cores Redis clients are together on one loop while that one manages, and change their loop when it does not: which
// none of them notices. Load comes and goes, so that they do.
import assert from 'node:assert/strict';
import net from 'node:net';
import test, { after, before } from 'node:test';
import { connect, encode } from '../redis/resp.mjs';
import { becomes } from '../lib/until.mjs';
import { startServer } from '../lib/server.mjs';

let server;
before(async () => {
  server = await startServer();
  const client = await connect(server.redisPort, 2);
  const members = Array.from({ length: 2000 }, (_, i) => [i, `m${i}`]).flat();
  await client.ask('ZADD', 'wide', ...members);
  client.close();
});
after(async () => assert.equal(await server.stop(), 0));

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Clients that ask for more than one loop can do, with so little work of their own that a core has time left.
async function loadFor(ms) {
  const BATCH = 3000, REPLY = ':10\r\n'.length;
  const batch = Buffer.concat(Array.from({ length: BATCH }, () => encode(['ZCOUNT', 'wide', '10', '19'])));
  let on = true;
  const sockets = Array.from({ length: 4 }, () => net.connect(server.redisPort, '127.0.0.1'));
  for (const socket of sockets) {
    const send = () => on && socket.write(batch);
    let bytes = 0;
    socket.on('connect', send);
    socket.on('error', () => {});
    socket.on('data', (data) => { if ((bytes += data.length) === BATCH * REPLY) { bytes = 0; send(); } });
  }
  await pause(ms);
  on = false;
  for (const socket of sockets) socket.destroy();
}

// Does something over and over beside load that comes and goes; resolves to how often.
async function beside(run, phases = 3) {
  let over = false, times = 0;
  const work = (async () => { for (; !over; times++) await run(times); })();
  for (let i = 0; i < phases; i++) {
    await Promise.race([work, loadFor(500)]);
    await Promise.race([work, pause(400)]);
  }
  over = true;
  await work;
  assert.ok(times > 0);
  return times;
}

async function withClients(count, run) {
  const clients = await Promise.all(Array.from({ length: count }, () => connect(server.redisPort, 2)));
  try {
    return await run(...clients);
  } finally {
    for (const client of clients) client.close();
  }
}

test('each client reads what it wrote, in order', () => withClients(8, async (...clients) => {
  const times = await beside((i) => Promise.all(clients.map(async (client, n) => {
    const replies = client.pipeline([['INCR', `count:${n}`], ['GET', `count:${n}`], ['ZADD', 'places', i, `p${n}`], ['ZSCORE', 'places', `p${n}`]]);
    assert.deepEqual((await replies).map(String), [`:${i + 1}\r\n`, `$${`${i + 1}`.length}\r\n${i + 1}\r\n`, i === 0 ? ':1\r\n' : ':0\r\n', `$${`${i}`.length}\r\n${i}\r\n`]);
  })));
  for (let n = 0; n < clients.length; n++) assert.equal(await clients[n].ask('GET', `count:${n}`), `${times}`);
}));

test('what a client has said stays said: name, database, MULTI, WATCH', () => withClients(2, async (client, other) => {
  await client.ask('CLIENT', 'SETNAME', 'wanderer');
  await client.ask('SELECT', '3');
  await beside(async (i) => {
    await client.ask('WATCH', 'watched');
    if (i % 2 === 1) await other.ask('SELECT', '3').then(() => other.ask('SET', 'watched', i));
    await client.ask('MULTI');
    await client.ask('INCR', 'inside');
    await pause(1);
    const reply = await client.ask('EXEC');
    assert.equal(Array.isArray(reply), i % 2 === 0);
    assert.equal(await client.ask('CLIENT', 'GETNAME'), 'wanderer');
    assert.match(await client.ask('CLIENT', 'INFO'), / db=3 /);
  });
}));

test('messages come in the order in which they were sent, from wherever', () => withClients(1, async (speaker) => {
  const listener = net.connect(server.redisPort, '127.0.0.1');
  let heard = '';
  listener.on('data', (data) => { heard += data.toString('latin1'); });
  listener.write(encode(['SUBSCRIBE', 'news']));
  const times = await beside(async (i) => { while (await speaker.ask('PUBLISH', 'news', `<${i}>`) !== 1) assert.equal(i, 0); });
  const wanted = Array.from({ length: times }, (_, i) => i);
  await becomes(() => [...heard.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number)), wanted);
  listener.destroy();
}));

test('a client is found by CLIENT KILL wherever it is', () => withClients(1, (admin) => beside(() => withClients(6, async (...victims) => {
  const ids = await Promise.all(victims.map((victim) => victim.ask('CLIENT', 'ID')));
  for (const victim of victims) await victim.ask('PING');
  for (const id of ids) assert.equal(await admin.ask('CLIENT', 'KILL', 'ID', id), 1);
  await Promise.all(victims.map((victim) => assert.rejects(async () => { for (;;) await victim.ask('PING'); })));
}))));
