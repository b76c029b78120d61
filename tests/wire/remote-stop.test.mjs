// A stop while the endpoint is gone, in all the ways it can be: it ends within seconds, and who waits is answered.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import test, { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBacking } from '../lib/backing.mjs';
import { restClient } from '../lib/rest.mjs';
import { startServer } from '../lib/server.mjs';

let backing;
before(async () => {
  backing = await startBacking(startServer);
});
after(() => backing.stop());

// Stands before the endpoint, and after `fail` hangs, refuses connections or answers 500.
async function startGate(to) {
  const { hostname, port } = new URL(to);
  let how = 'well';
  const held = [];
  const server = http.createServer((request, response) => {
    if (how === 'hang') return held.push(response);
    if (how === '500') return response.writeHead(500).end('{}');
    const onward = http.request({ hostname, port, method: request.method, path: request.url, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    held,
    fail(way) {
      how = way;
      if (way === 'refuse') {
        server.close();
        server.closeAllConnections();
      }
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

for (const way of ['hang', 'refuse', '500']) {
  test(`a stop while the endpoint is gone (${way}) takes seconds, and what runs is answered`, { timeout: 60_000 }, async () => {
    const gate = await startGate(backing.endpoint.endpoint);
    const args = backing.args.map((word) => (word === backing.endpoint.endpoint ? gate.url : word));
    const server = await startServer({ engine: 'dynamodb', backing: { ...backing, args } });
    const rest = await restClient(server.endpoint);
    await rest.must('POST', '/boards', { id: `${way}:all`, game: way });
    await rest.must('POST', `/games/${way}/scores`, { player: 'ann', score: 1 });
    gate.fail(way);
    const waiting = Array.from({ length: 6 }, (_, i) => rest.call('POST', `/games/${way}/scores`, { body: { player: `p${i}`, score: 2 } }));
    if (way === 'hang') while (gate.held.length < 6) await sleep(10);
    else await Promise.race([...waiting, sleep(300)]); // they are in the pauses between attempts; sooner would be right, too
    const began = performance.now();
    const code = await server.stop();
    const took = performance.now() - began;
    for (const { status, json } of await Promise.all(waiting)) {
      assert.equal(status, 503);
      assert.match(json.detail, /stopping|does not answer|answers with an error/);
    }
    assert.equal(code, 0);
    assert.ok(took < 12_000, `${Math.round(took)} ms`);
    rest.close();
    gate.close();
  });
}

test('a stop while the endpoint answers writes what it has to, and takes less', async () => {
  const server = await startServer({ engine: 'dynamodb', backing });
  const rest = await restClient(server.endpoint);
  await rest.must('POST', '/boards', { id: 'well:all', game: 'well' });
  const waiting = Array.from({ length: 20 }, (_, i) => rest.call('POST', '/games/well/scores', { body: { player: `p${i}`, score: 2 }, headers: { Connection: 'close' } }));
  await Promise.race(waiting);
  assert.equal(await server.stop(), 0);
  for (const answer of await Promise.allSettled(waiting)) // those that were taken are done
    if (answer.status === 'fulfilled') assert.equal(answer.value.status, 200);
  rest.close();
});
