// Players and plays where things meet: many requests at once, other faces, a server that is killed.
import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { timePasses } from '../lib/clock.mjs';
import { restClient } from '../lib/rest.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';
import { connect } from '../redis/resp.mjs';

async function withServer(options, work) {
  const server = await startServer(options);
  const rest = await restClient(server.endpoint);
  try {
    await work({ server, rest });
  } finally {
    rest.close();
    await server.stop();
  }
}

// One inline command, its first line of answer.
const redis = (server, line) => new Promise((resolve, reject) => {
  const socket = net.connect(server.redisPort, '127.0.0.1', () => socket.write(`${line}\r\n`));
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
    if (!text.includes('\r\n')) return;
    socket.end();
    resolve(text.split('\r\n')[0]);
  });
  socket.on('error', reject);
});

const dynamo = (server) => new DynamoDBClient({
  endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
});

const statsOf = async (rest, player) => {
  const { status, json } = await rest.call('GET', `/players/${player}/stats`);
  return status === 404 ? { plays: 0 } : json.stats;
};

async function playOnce(rest, player, game, score) {
  const { id } = await rest.must('POST', '/plays', { player, game });
  await rest.must('POST', `/plays/${id}:end`, { player, score });
}

const until = async (right, what) => {
  for (let i = 0; i < 100; i++) {
    if (await right()) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  assert.fail(what);
};

test('of many submissions with one token one counts', () => withServer({}, async ({ rest }) => {
  await rest.must('POST', '/boards', { id: 'race:all', game: 'race', needsPlay: true, keep: 'sum' });
  for (let round = 0; round < 5; round++) {
    const { token } = await rest.must('POST', '/plays', { player: 'ann', game: 'race' });
    const answers = await Promise.all(Array.from({ length: 40 }, () =>
      rest.call('POST', '/games/race/scores', { body: { player: 'ann', score: 1, playToken: token } })));
    assert.equal(answers.filter(({ status }) => status < 300).length, 1);
    for (const { json } of answers.filter(({ status }) => status >= 300)) {
      assert.equal(json.status, 403);
      assert.match(json.detail, /already used/);
    }
  }
  assert.equal((await rest.must('GET', '/boards/race:all/entries/ann')).entry.score, 5);
}));

test('of many players who want one e-mail address one gets it', () => withServer({}, async ({ rest }) => {
  const ids = Array.from({ length: 30 }, (_, i) => `p${i}`);
  const answers = await Promise.all(ids.map((id) => rest.call('POST', '/players', { body: { id, email: 'one@example.org' } })));
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.ok(answers.every(({ status }) => status === 201 || status === 409));
  const [{ id }] = (await rest.must('GET', '/players?email=one@example.org')).players;
  assert.equal(answers[ids.indexOf(id)].status, 201);
}));

test('who is hidden while submitting is hidden, on every face', () => withServer({}, async ({ server, rest }) => {
  await rest.must('POST', '/boards', { id: 'h:all', game: 'h' });
  await rest.must('POST', '/boards', { id: 'h:day', game: 'h', timeframe: 'daily' });
  await redis(server, 'ZADD plain 5 eve 6 ann');
  await rest.must('POST', '/games/h/scores', { player: 'ann', score: 1 });
  const scores = [];
  for (let i = 0; i < 200; i++) {
    scores.push(rest.must('POST', '/games/h/scores', { player: 'eve', score: i }));
    if (i === 100) scores.push(rest.call('POST', '/players/eve/hide'));
  }
  await Promise.all(scores);
  for (const board of ['h:all', 'h:day']) {
    assert.deepEqual((await rest.must('GET', `/boards/${board}/entries`)).entries.map(({ member }) => member), ['ann']);
  }
  assert.equal(await redis(server, 'ZCARD plain'), ':1');
  assert.equal(await redis(server, 'ZCARD h:all'), ':1');
  // A first score on a board that comes later is hidden, too.
  await rest.must('POST', '/boards', { id: 'h:late', game: 'h', timeframe: 'weekly' });
  await rest.must('POST', '/games/h/scores', { player: 'eve', score: 1000 });
  assert.deepEqual((await rest.must('GET', '/boards/h:late/entries')).entries, []);
  assert.equal((await rest.call('POST', '/players/eve/show')).status, 204);
  const shown = await rest.must('GET', '/boards/h:all/entries/eve');
  assert.equal(shown.entry.score, 1000);
  assert.equal(shown.entry.rank, 1);
  assert.equal(await redis(server, 'ZCARD plain'), ':2');
  assert.equal((await rest.must('GET', '/boards/h:late/entries')).entries.length, 1);
}));

test('what the Redis face writes for who is hidden is hidden from the start, after a kill too', async () => {
  const data = temporaryFolder();
  const server = await startServer({ data });
  const rest = await restClient(server.endpoint);
  const client = await connect(server.redisPort);
  const boards = Array.from({ length: 400 }, (none, i) => `many${i}`);
  let hiding;
  const writes = boards.map((board, i) => {
    if (i === 200) hiding = rest.call('POST', '/players/eve/hide');
    return client.send(i % 2 ? 'ZINCRBY' : 'ZADD', board, '1', 'eve');
  });
  await Promise.all(writes);
  assert.equal((await hiding).status, 204);
  for (const board of boards) assert.equal(await client.ask('ZSCORE', board, 'eve'), null, board);
  await client.ask('ZADD', 'all', '1', 'eve', '2', 'ann');
  for (const command of [['MULTI'], ['ZADD', 'tx', '3', 'eve'], ['ZADD', 'tx', '4', 'bob'], ['ZCARD', 'all'], ['EXEC']]) await client.ask(...command);
  assert.deepEqual(await client.ask('ZRANGE', 'all', '0', '-1'), ['ann']);
  assert.deepEqual(await client.ask('ZRANGE', 'tx', '0', '-1'), ['bob']);
  client.close();
  rest.close();
  await server.stop('SIGKILL');

  await withServer({ data }, async ({ server: again, rest: later }) => {
    assert.equal(await redis(again, 'ZADD late 5 eve 6 ann'), ':2');
    assert.equal(await redis(again, 'ZCARD late'), ':1');
    assert.equal((await later.call('POST', '/players/eve/show')).status, 204);
    for (const board of ['late', 'all', 'tx', ...boards]) assert.match(await redis(again, `ZSCORE ${board} eve`), /^\$1/, board);
    assert.equal(await redis(again, 'ZADD later 5 eve'), ':1');
    assert.equal(await redis(again, 'ZCARD later'), ':1');
  });
});

test('an export has what was written by any face, and erasing leaves nothing of it', () => withServer({}, async ({ server, rest }) => {
  const client = dynamo(server);
  await rest.must('POST', '/boards', { id: 'x:day', game: 'x', timeframe: 'daily' });
  await rest.must('POST', '/players', { id: 'zoe', name: 'Zoe', email: 'zoe@example.org' });
  await rest.must('POST', '/games/x/scores', { player: 'zoe', score: 1, name: 'Zoe' });
  for (let i = 0; i < 5; i++) await playOnce(rest, 'zoe', 'x', i);
  await redis(server, 'ZADD a:set 5 zoe');
  await client.send(new PutItemCommand({
    TableName: 'gametable',
    Item: { PK: { S: 'PLAYER#zoe' }, SK: { S: 'INVENTORY' }, coins: { N: '5' } },
  }));
  await until(async () => (await statsOf(rest, 'zoe')).plays === 5, 'the plays are counted');
  const all = async () => {
    const items = [];
    for (let query = '', page; query !== undefined; query = page.next && `?cursor=${page.next}`) {
      page = await rest.must('GET', `/players/zoe/export${query}`);
      items.push(...page.items);
    }
    return items.map(({ PK, SK }) => `${PK.replace(/@.*/, '@')} ${SK.replace(/#.*/, '#')}`).sort();
  };
  assert.deepEqual(await all(), [
    'BOARD#a:set zoe', 'BOARD#x:day@ zoe', 'EMAIL#zoe@ OWNER', 'PLAYER#zoe INVENTORY',
    ...Array(5).fill('PLAYER#zoe PLAY#'), 'PLAYER#zoe PROFILE', 'PLAYER#zoe STATS',
  ]);
  assert.equal((await rest.must('DELETE', '/players/zoe')).items, 11);
  assert.deepEqual(await all(), []);
  const { Item } = await client.send(new GetItemCommand({ TableName: 'gametable', Key: { PK: { S: 'PLAYER#zoe' }, SK: { S: 'STATS' } } }));
  assert.equal(Item, undefined);
  client.destroy();
}));

test('what a closed period ends with has nobody in it who was erased', () => withServer({ args: ['--test-clock'] }, async ({ server, rest }) => {
  await rest.must('POST', '/boards', { id: 'f:day', game: 'f', timeframe: 'daily' });
  for (const [player, score] of [['ann', 3], ['bob', 2]]) await rest.must('POST', '/games/f/scores', { player, score, name: player });
  await timePasses(server, '1d');
  const first = async () => (await rest.must('GET', '/boards/f:day/periods')).periods.find(({ sealedAt }) => sealedAt !== undefined);
  assert.match(JSON.stringify(await first()), /ann/);
  await rest.must('DELETE', '/players/ann');
  const left = await first();
  assert.doesNotMatch(JSON.stringify(left), /ann/);
  assert.match(JSON.stringify(left), /bob/);
}));

test('killed again and again, each play is counted once', async () => {
  const data = temporaryFolder();
  let ended = 0;
  let sum = 0;
  for (let life = 0; life < 6; life++) {
    const server = await startServer({ data });
    const rest = await restClient(server.endpoint);
    for (let i = 0; i < 25; i++) {
      await playOnce(rest, 'ann', 'tetris', i);
      ended++;
      sum += i;
      // The last ones usually are not counted yet when it ends.
      if (i === 12) await new Promise((done) => setTimeout(done, 1200 * (life % 2)));
    }
    rest.close();
    await server.stop('SIGKILL');
  }
  await withServer({ data }, async ({ rest }) => {
    await until(async () => (await statsOf(rest, 'ann')).plays >= ended, 'all plays are counted');
    await new Promise((done) => setTimeout(done, 1500));
    const stats = await statsOf(rest, 'ann');
    assert.equal(stats.plays, ended);
    assert.equal(stats.totalScore, sum);
    assert.equal(stats.games.tetris.bestScore, 24);
  });
});
