// Rankings that Redis has lost are built from their partitions, which are read from both ends, page by page: of one
// page, of a few and of many, while scores go on coming in.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import test, { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { startBacking } from '../lib/backing.mjs';
import { restClient } from '../lib/rest.mjs';
import { startServer } from '../lib/server.mjs';

let backing;
before(async () => {
  backing = await startBacking(startServer);
});
after(() => backing.stop());

async function flush() {
  const socket = connect(backing.redis.port, '127.0.0.1');
  socket.write('FLUSHALL SYNC\r\n');
  await once(socket, 'data');
  socket.destroy();
}

const scoreOf = (i) => (i * 7919) % 1009;

// Entries as a node would write them, each so large that a page of the endpoint has about fifty.
async function fill(client, id, count) {
  const ballast = { S: 'x'.repeat(20_000) };
  for (let from = 0; from < count; from += 25) {
    const items = Array.from({ length: Math.min(25, count - from) }, (_, at) => ({ PutRequest: { Item: {
      PK: { S: `BOARD#${id}` }, SK: { S: `p${from + at}` }, score: { N: String(scoreOf(from + at)) }, subscore: { N: '0' },
      tie: { N: String(-from - at) }, at: { N: '1790000000000' }, plays: { N: '1' }, ballast, v: { S: `${1_790_000_000_000_000 + from + at}-00000000` } } } }));
    let left = { gametable: items };
    while (Object.keys(left).length !== 0) ({ UnprocessedItems: left } = await client.send(new BatchWriteItemCommand({ RequestItems: left })));
  }
}

async function standings(rest, id) {
  const all = [];
  for (let next = `/boards/${id}/entries?limit=100&detail=ranks`; next;) {
    const { status, json: body } = await rest.call('GET', next);
    if (status === 503) {
      await sleep(20);
      continue;
    }
    assert.equal(status, 200, JSON.stringify(body));
    all.push(...body.entries);
    next = body.next ? `/boards/${id}/entries?limit=100&detail=ranks&cursor=${encodeURIComponent(body.next)}` : undefined;
  }
  return all;
}

test('a ranking that was lost is built again, whatever its size', async () => {
  const server = await startServer({ engine: 'dynamodb', backing });
  const rest = await restClient(server.endpoint);
  const client = new DynamoDBClient({ endpoint: backing.endpoint.endpoint, region: 'us-east-1', credentials: { accessKeyId: backing.env.AWS_ACCESS_KEY_ID, secretAccessKey: 'test' } });
  const sizes = { 'big:one': 1, 'big:page': 40, 'big:two': 60, 'big:three': 130, 'big:many': 600 };
  for (const [id, count] of Object.entries(sizes)) {
    await rest.must('POST', '/boards', { id, game: 'big' });
    await fill(client, id, count);
  }
  await flush();
  const scored = {};
  let going = true;
  const submitting = (async () => { // players come and improve while it is built
    for (let i = 0; going; i++) {
      const player = i % 3 === 0 ? `new${i}` : `p${(i * 37) % 40}`;
      await rest.must('PUT', `/boards/big:many/entries/${player}`, { score: 5000 + i });
      scored[player] = 5000 + i;
    }
  })();
  try {
    for (const [id, count] of Object.entries(sizes)) {
      const all = await standings(rest, id);
      if (id !== 'big:many') {
        assert.equal(all.length, count, id);
        continue;
      }
      // Who improves between two pages may move past the cursor and be missed; the others are there, once.
      const still = all.map(({ member }) => member).filter((member) => /^p/.test(member) && Number(member.slice(1)) >= 40);
      assert.equal(new Set(still).size, still.length, id);
      assert.equal(still.length, count - 40, id);
    }
  } finally {
    going = false;
    await submitting;
  }
  for (const [id, count] of Object.entries(sizes)) {
    const scores = new Map(Array.from({ length: count }, (_, i) => [`p${i}`, scoreOf(i)]));
    if (id === 'big:many') for (const [player, score] of Object.entries(scored)) scores.set(player, score);
    const sorted = [...scores.values()].sort((a, b) => b - a);
    const all = await standings(rest, id);
    assert.equal(all.length, scores.size, id);
    all.forEach((entry, i) => {
      assert.equal(entry.rank, i + 1, id);
      assert.equal(entry.score, sorted[i], id);
      assert.equal(entry.score, scores.get(entry.member), `${id} ${entry.member}`);
    });
  }
  rest.close();
  client.destroy();
  assert.equal(await server.stop(), 0);
});
