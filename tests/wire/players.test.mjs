// Players and plays where things meet: many requests at once, other faces, a server that is killed.
import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { DeleteItemCommand, DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
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
  for (const end = Date.now() + 60_000; Date.now() < end;) {
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
  const client = dynamo(server);
  const { Item } = await client.send(new GetItemCommand({ TableName: 'gametable', Key: { PK: { S: `INSTANCE#f:day@${left.period}` }, SK: { S: 'STATE' } } }));
  assert.equal(Item.total.N, '1');
  assert.deepEqual(Item.final.L.map(({ M }) => [M.rank.N, M.member.S]), [['1', 'bob']]);
  const page = await rest.must('GET', `/boards/f:day/entries?period=${left.period}`);
  assert.deepEqual(page.entries.map(({ rank, member }) => [rank, member]), [[1, 'bob']]);
  client.destroy();
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

test('a member of any name is hidden, exported and erased', () => withServer({}, async ({ server, rest }) => {
  const client = await connect(server.redisPort);
  const names = [Buffer.from('é'.repeat(500)), Buffer.from(Array.from({ length: 892 }, (_, i) => 255 - (i % 128))), Buffer.from('a b/c?\n')];
  for (const name of names) {
    const path = `/players/${[...name].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')}`;
    await client.ask('ZADD', 'any', '7', name);
    await client.ask('ZADD', 'any', '5', 'bob');
    await rest.must('POST', `${path}/hide`);
    assert.equal(await client.ask('ZSCORE', 'any', name), null);
    const { items } = await rest.must('GET', `${path}/export?limit=1`);
    assert.ok(items.some(({ SK }) => SK === 'PROFILE'));
    await rest.must('POST', `${path}/show`);
    assert.equal(await client.ask('ZREVRANK', 'any', name), 0);
    assert.equal((await rest.must('DELETE', path)).items, 1);
    assert.equal(await client.ask('ZCARD', 'any'), 1);
  }
  client.close();
}));

test('the rooms of a player are found by its id, on every face, and left when it is erased', () => withServer({}, async ({ server, rest }) => {
  const codes = [];
  for (let i = 0; i < 3; i++) {
    const { room } = await rest.must('POST', '/rooms', { kind: 'snakes-and-ladders', player: 'ann', name: 'Ann' });
    codes.unshift(room.code);
    await rest.must('POST', `/rooms/${room.code}/players`, { player: 'bob', name: 'Bob' });
  }
  const page = await rest.must('GET', '/players/ann/rooms?limit=2');
  assert.equal(page.rooms.length, 2);
  assert.equal(page.rooms[0].seat.name, 'Ann');
  const rest2 = await rest.must('GET', `/players/ann/rooms?limit=2&cursor=${page.next}`);
  assert.deepEqual([...page.rooms, ...rest2.rooms].map(({ room }) => room.code).sort(), codes.sort());
  assert.equal(rest2.next, undefined);
  const client = dynamo(server);
  const { Items } = await client.send(new QueryCommand({
    TableName: 'gametable', IndexName: 'GSI1', KeyConditionExpression: 'GSI1PK = :p', ExpressionAttributeValues: { ':p': { S: 'PLAYER#bob' } },
  }));
  assert.deepEqual(Items.map(({ PK }) => PK.S).sort(), codes.map((code) => `ROOM#${code}`).sort());
  client.destroy();
  await rest.must('DELETE', '/players/ann');
  assert.deepEqual((await rest.must('GET', '/players/ann/rooms')).rooms, []);
  const { room, players } = await rest.must('GET', `/rooms/${codes[0]}`);
  assert.equal(room.host, 'bob');
  assert.deepEqual(players.map(({ player, id }) => player ?? id), ['bob']);
}));

test('what is taken off a source is off the boards made of it, whichever way it goes', () => withServer({}, async ({ server, rest }) => {
  const client = await connect(server.redisPort);
  for (const id of ['x:one', 'x:two']) await rest.must('POST', '/boards', { id, game: 'x' });
  await rest.must('POST', '/boards', { id: 'x:both', game: 'both', sources: ['x:one', 'x:two'], combine: 'sum' });
  const ways = {
    'DELETE of the entry': () => rest.must('DELETE', '/boards/x:one/entries/ann'),
    ZREM: () => client.ask('ZREM', 'x:one', 'ann', 'nobody'),
    ZPOPMAX: () => client.ask('ZPOPMAX', 'x:one'),
    ZREMRANGEBYRANK: () => client.ask('ZREMRANGEBYRANK', 'x:one', '0', '0'),
    DEL: () => client.ask('DEL', 'x:one'),
    'DELETE of all entries': () => rest.must('DELETE', '/boards/x:one/entries'),
    MULTI: async () => {
      await client.ask('MULTI');
      await client.ask('ZADD', 'x:one', '1', 'ann');
      await client.ask('ZREM', 'x:one', 'ann');
      await client.ask('EXEC');
    },
  };
  const both = async () => (await rest.call('GET', '/boards/x:both/entries/ann')).json.entry?.score;
  const submit = () => rest.must('POST', '/games/x/scores', { player: 'ann', score: 5 });
  for (const [name, remove] of Object.entries(ways)) {
    await submit();
    assert.equal(await both(), 10, name);
    await remove();
    assert.equal(await both(), 5, name);
  }
  await submit();
  await client.ask('MULTI');
  await client.ask('DEL', 'x:one', 'x:two');
  await client.ask('EXEC');
  assert.equal(await both(), undefined);
  await submit();
  await rest.must('DELETE', '/players/ann');
  assert.equal(await both(), undefined);
  client.close();
}));

test("a player's new name shows on its boards, live and to who has the page already", () => withServer({ args: ['--test-clock'] }, async ({ server, rest }) => {
  await rest.must('POST', '/boards', { id: 'n:all', game: 'n' });
  await rest.must('PUT', '/players/ann', { name: 'Ann' });
  await rest.must('POST', '/games/n/scores', { player: 'ann', score: 3 });
  const before = await rest.call('GET', '/boards/n:all/entries');
  assert.equal(before.json.entries[0].name, 'Ann');
  await rest.must('PATCH', '/players/ann', { name: 'Anna' });
  await timePasses(server, '1s');
  await until(async () => {
    const { status, json } = await rest.call('GET', '/boards/n:all/entries', { headers: { 'If-None-Match': before.headers.etag } });
    return status === 200 && json.entries[0].name === 'Anna';
  }, 'the new name is shown');
}));

test('players are found by the beginning of an id, a word of a name or an e-mail address, whoever wrote the profile', async () => {
  const data = temporaryFolder();
  let server = await startServer({ data });
  let rest = await restClient(server.endpoint);
  const ids = async (query) => (await rest.must('GET', `/players?${query}`)).players.map(({ id }) => id);
  for (const [id, name, email] of [['ann', 'Ann Smith', 'a.smith@example.org'], ['Anton', 'Bob'], ['bob', 'Ärger van Berg', 'zed@example.org'], ['zz', 'Anna']])
    await rest.must('POST', '/players', { id, name, email });
  const client = dynamo(server);
  await client.send(new PutItemCommand({
    TableName: 'gametable',
    Item: { PK: { S: 'PLAYER#raw' }, SK: { S: 'PROFILE' }, id: { S: 'raw' }, name: { S: 'Anders Raw' } },
  }));
  client.destroy();
  await until(async () => (await ids('q=raw')).length === 1, 'what PutItem wrote is found');
  assert.deepEqual(await ids('q=AN'), ['ann', 'Anton', 'raw', 'zz']); // by id, then by name
  assert.deepEqual(await ids('q=an&by=id'), ['ann', 'Anton']);
  assert.deepEqual(await ids('q=smith'), ['ann']);
  assert.deepEqual(await ids(`q=${encodeURIComponent('ÄRGER V')}`), ['bob']);
  assert.deepEqual(await ids('q=zed@&by=email'), ['bob']);
  assert.deepEqual(await ids(''), ['ann', 'Anton', 'bob', 'raw', 'zz']);
  const pages = [];
  for (let cursor = '', page; cursor !== undefined; cursor = page.next && `&cursor=${page.next}`) {
    page = await rest.must('GET', `/players?q=a&limit=1${cursor}`);
    assert.ok(page.players.length <= 1);
    pages.push(...page.players.map(({ id }) => id));
  }
  assert.deepEqual(pages, ['ann', 'Anton', 'raw', 'zz']);
  const { next } = await rest.must('GET', '/players?q=a&limit=1');
  const { status } = await rest.call('GET', `/players?q=b&limit=1&cursor=${next}`);
  assert.equal(status, 400);
  await rest.must('PATCH', '/players/ann', { name: 'Zoe', email: null });
  await until(async () => (await ids('q=zoe')).length === 1, 'a new name is found');
  await until(async () => (await ids('q=smith')).length === 0, 'and the old one is not');
  rest.close();

  // Profiles of an earlier version have nothing that they are found by: a scan in the background makes it.
  const forget = dynamo(server);
  const { Items } = await forget.send(new QueryCommand({
    TableName: 'gametable', IndexName: 'GSI2', KeyConditionExpression: 'GSI2PK = :p', ExpressionAttributeValues: { ':p': { S: 'PLAYERS' } },
  }));
  assert.ok(Items.length >= 5);
  for (const { PK, SK } of [...Items, { PK: { S: 'KEEPER' }, SK: { S: 'FINDERS' } }])
    await forget.send(new DeleteItemCommand({ TableName: 'gametable', Key: { PK, SK } }));
  forget.destroy();
  await server.stop();
  server = await startServer({ data });
  rest = await restClient(server.endpoint);
  await until(async () => (await ids('')).length === 5, 'all are found again');
  await until(async () => (await ids('q=zed')).join() === 'bob', 'by their addresses as well');
  rest.close();
  await server.stop();
});
