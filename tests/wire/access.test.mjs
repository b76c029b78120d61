// Who may what, on the real program with real clients: one table a protocol. Callers by letter:
//   a  a key for everything        l  a key that reads and writes, kept to "arcade" and MINE#*
//   r  a key that reads the game   c  a client's key
//   w  a key that writes to it     p  the token of the player ann      n  nobody
// tests/unit/api/test_access_control.c has every route and command; this shows that the door is where it says.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import test, { after, before } from 'node:test';
import {
  BatchGetItemCommand, BatchWriteItemCommand, CreateTableCommand, DeleteItemCommand, DescribeLimitsCommand, DescribeTableCommand,
  DynamoDBClient, ExecuteStatementCommand, ExportTableToPointInTimeCommand, GetItemCommand, ListBackupsCommand, ListExportsCommand,
  ListTablesCommand, PutItemCommand, QueryCommand, ScanCommand, TransactWriteItemsCommand, UpdateItemCommand, UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient, ListStreamsCommand } from '@aws-sdk/client-dynamodb-streams';
import { createClient } from 'redis';
import { WebSocket } from 'ws';
import { rawClient } from '../lib/raw.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

const file = path.join(temporaryFolder(), 'keys.json');
const run = (...args) => spawnSync(program, args, { encoding: 'utf8', timeout: 120_000 });
function addKey(...args) {
  const { status, stdout, stderr } = run('keys', 'add', '--keys', file, ...args);
  assert.equal(status, 0, stderr);
  const [, id, secret] = /id\s+(\S+)\nsecret access key\s+(\S+)\n/.exec(stdout);
  return { id, secret, pair: `${id}:${secret}` };
}
const keys = {
  a: addKey('--table', '*', '--allow', 'all'),
  r: addKey('--table', 'gametable', '--allow', 'read'),
  w: addKey('--table', 'gametable', '--allow', 'write'),
  l: addKey('--table', 'gametable', '--partition', 'BOARD#arcade', '--partition', 'MINE#*'),
  c: addKey('--role', 'client'),
};
const withKeys = Object.keys(keys);

let server, token, seat, room;
const ask = (who, method, place, body) => {
  const headers = body ? { 'Content-Type': 'application/json' } : {};
  if (keys[who]) headers.Authorization = `Bearer ${keys[who].pair}`;
  if (who === 'p') headers.Authorization = `Bearer ${token}`;
  return fetch(server.endpoint + place, { method, headers, body: body && JSON.stringify(body) });
};
const must = async (...request) => {
  const answer = await ask('a', ...request);
  assert.ok(answer.ok, `${request}: ${answer.status} ${await answer.clone().text()}`);
  return answer.json();
};

before(async () => {
  server = await startServer({ args: ['--keys', file, '--test-clock'] });
  ({ token } = await must('POST', '/v1/players/ann/tokens', {}));
  await must('POST', '/v1/boards', { id: 'arcade', game: 'arcade' });
  await must('PUT', '/v1/boards/arcade/entries/ann', { score: 1 });
  const made = await must('POST', '/v1/rooms', { kind: 'kauwa-udd', player: 'ann', name: 'Ann' });
  [seat, room] = [made.token, made.room.code];
});
after(async () => { assert.equal(await server.stop(), 0); });

// Tries each line with each caller; `attempt` tells whether that one was let in.
async function check(lines, callers, attempt) {
  for (const [name, may, ...what] of lines)
    for (const who of callers)
      assert.equal(await attempt(who, ...what), may.includes(who), `${name} as ${who}`);
}

test('DynamoDB', async () => {
  const of = (PK) => ({ PK: { S: PK }, SK: { S: 'x' } });
  const TableName = 'gametable';
  const query = (pk) => new QueryCommand({ TableName, KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': { S: pk } } });
  const set = { UpdateExpression: 'SET a = :a', ExpressionAttributeValues: { ':a': { S: 'a' } } };
  const lines = [
    ['GetItem of a partition', 'arl', () => new GetItemCommand({ TableName, Key: of('MINE#1') })],
    ['GetItem of another', 'ar', () => new GetItemCommand({ TableName, Key: of('YOURS#1') })],
    ['BatchGetItem of both', 'ar', () => new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [of('MINE#1'), of('YOURS#1')] } } })],
    ['Query', 'arl', () => query('MINE#1')],
    ['Query of another', 'ar', () => query('YOURS#1')],
    ['Scan', 'ar', () => new ScanCommand({ TableName })],
    ['SELECT', 'ar', () => new ExecuteStatementCommand({ Statement: `SELECT * FROM ${TableName}` })],
    ['PutItem', 'awl', () => new PutItemCommand({ TableName, Item: of('MINE#1') })],
    ['PutItem in another', 'aw', () => new PutItemCommand({ TableName, Item: of('YOURS#1') })],
    ['UpdateItem', 'awl', () => new UpdateItemCommand({ TableName, Key: of('MINE#1'), ...set })],
    ['DeleteItem', 'awl', () => new DeleteItemCommand({ TableName, Key: of('MINE#1') })],
    ['BatchWriteItem', 'aw', () => new BatchWriteItemCommand({ RequestItems: { [TableName]: [{ PutRequest: { Item: of('YOURS#1') } }] } })],
    ['INSERT', 'aw', () => new ExecuteStatementCommand({ Statement: `INSERT INTO ${TableName} VALUE {'PK': 'YOURS#${Math.random()}', 'SK': 'x'}` })],
    ['a check and a write', 'al', () => new TransactWriteItemsCommand({ TransactItems: [
      { ConditionCheck: { TableName, Key: of('MINE#2'), ConditionExpression: 'attribute_not_exists(PK)' } }, { Put: { TableName, Item: of('MINE#1') } }] })],
    ['DescribeTable', 'arwl', () => new DescribeTableCommand({ TableName })],
    ['DescribeLimits', 'arwlc', () => new DescribeLimitsCommand({})],
    ['ListTables', 'a', () => new ListTablesCommand({})],
    ['CreateTable', 'a', () => new CreateTableCommand({ TableName: 'gametable', BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'PK', AttributeType: 'S' }], KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }] })],
    ['UpdateTimeToLive', 'a', () => new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: { Enabled: true, AttributeName: 'ends' } })],
    ['ListBackups', 'a', () => new ListBackupsCommand({})],
    ['ListExports', 'a', () => new ListExportsCommand({})],
    ['an export', 'a', () => new ExportTableToPointInTimeCommand({ TableArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/gametable', S3Bucket: 'bucket', ClientToken: 'once' })],
  ];
  const settings = (who) => ({ endpoint: server.endpoint, region: 'us-east-1', maxAttempts: 1,
    credentials: { accessKeyId: keys[who].id, secretAccessKey: keys[who].secret } });
  const clients = Object.fromEntries(withKeys.map((who) => [who, new DynamoDBClient(settings(who))]));
  const streams = Object.fromEntries(withKeys.map((who) => [who, new DynamoDBStreamsClient(settings(who))]));
  // Whatever else may be wrong with it, who is refused hears AccessDenied.
  const isLetIn = (sent) => sent.then(() => true, (error) => {
    assert.ok(error.$metadata?.httpStatusCode, String(error));
    return error.name !== 'AccessDeniedException';
  });
  await check(lines, withKeys, (who, command) => isLetIn(clients[who].send(command())));
  await check([['ListStreams', 'a']], withKeys, (who) => isLetIn(streams[who].send(new ListStreamsCommand({}))));
  for (const client of [...Object.values(clients), ...Object.values(streams)]) client.destroy();
  const nobody = rawClient(server.endpoint);
  const { json } = await nobody.call('ListTables', {}, { Authorization: '' });
  assert.match(json.__type, /MissingAuthenticationTokenException/);
  nobody.close();
});

test('REST', async () => {
  const score = (player) => ({ player, score: 1 });
  await check([
    ['the index', 'arwlcpn', 'GET', '/v1'],
    ['a board', 'arcp', 'GET', '/v1/boards/arcade/entries'],
    ['rooms', 'arcp', 'GET', '/v1/rooms?kind=kauwa-udd'],
    ['figures', 'arcp', 'GET', '/v1/server'],
    ['an entry of ann', 'awp', 'PUT', '/v1/boards/arcade/entries/ann', { score: 2 }],
    ['an entry of bob', 'aw', 'PUT', '/v1/boards/arcade/entries/bob', { score: 2 }],
    ['a score of ann', 'awp', 'POST', '/v1/games/arcade/scores', score('ann')],
    ['a score of bob', 'aw', 'POST', '/v1/games/arcade/scores', score('bob')],
    ['all about ann', 'arp', 'GET', '/v1/players/ann/export'],
    ['all about bob', 'ar', 'GET', '/v1/players/bob/export'],
    ['a seat for ann', 'awp', 'POST', `/v1/rooms/${room}/players`, { player: 'ann', name: 'Ann' }],
    ['a seat for bob', 'aw', 'POST', `/v1/rooms/${room}/players`, { player: 'bob', name: 'Bob' }],
    ['a definition', 'aw', 'PUT', '/v1/boards/arcade', { game: 'arcade' }],
    ['hiding', 'aw', 'POST', '/v1/players/bob/hide'],
    ['looking up', 'ar', 'GET', '/v1/players?email=a@b.c'],
    ['a token', 'a', 'POST', '/v1/players/ann/tokens', {}],
  ], [...withKeys, 'p', 'n'], async (who, ...request) => {
    const { status } = await ask(who, ...request);
    if (who === 'n' && status !== 200) assert.equal(status, 401);
    return status !== 401 && status !== 403;
  });
});

test('Redis', async () => {
  const clients = {};
  for (const who of withKeys) {
    clients[who] = createClient({ socket: { host: '127.0.0.1', port: server.redisPort }, username: keys[who].id, password: keys[who].secret });
    await clients[who].connect();
  }
  await check([
    ['PING', 'arwlc', 'PING'],
    ['ZSCORE', 'arl', 'ZSCORE', 'arcade', 'ann'],
    ['ZSCORE of another', 'ar', 'ZSCORE', 'other', 'ann'],
    ['ZADD', 'awl', 'ZADD', 'arcade', '3', 'carl'],
    ['ZADD to another', 'aw', 'ZADD', 'other', '3', 'carl'],
    ['ZUNION of both', 'ar', 'ZUNION', '2', 'arcade', 'other'],
    ['WATCH', 'arl', 'WATCH', 'arcade'],
    ['WATCH of another', 'ar', 'WATCH', 'other'],
    ['KEYS', 'ar', 'KEYS', '*'],
    ['SCAN', 'ar', 'SCAN', '0'],
    ['INFO', 'arw', 'INFO'],
    ['CLIENT ID', 'arwlc', 'CLIENT', 'ID'],
    ['CLIENT LIST', 'a', 'CLIENT', 'LIST'],
    ['CONFIG GET', 'a', 'CONFIG', 'GET', 'maxmemory'],
    ['FLUSHALL', 'aw', 'FLUSHALL'],
  ], withKeys, (who, ...command) => clients[who].sendCommand(command).then(() => true, (error) => {
    assert.match(error.message, /^NOPERM /);
    return false;
  }));
  for (const client of Object.values(clients)) await client.disconnect();
  const nobody = createClient({ socket: { host: '127.0.0.1', port: server.redisPort, reconnectStrategy: false } });
  nobody.on('error', () => {});
  await assert.rejects(nobody.connect().then(() => nobody.sendCommand(['ZSCORE', 'arcade', 'ann'])), /NOAUTH/);
  if (nobody.isOpen) await nobody.disconnect();
});

test('live lines', async () => {
  // The status that a WebSocket is refused with; 101 when it opens.
  const open = (place, headers = {}) => new Promise((resolve, reject) => {
    const socket = new WebSocket(server.endpoint.replace(/^http/, 'ws') + place, { headers });
    socket.on('open', () => { socket.terminate(); resolve(101); });
    socket.on('unexpected-response', (request, answer) => { request.destroy(); resolve(answer.statusCode); });
    socket.on('error', (error) => { if (!/before the connection|socket hang up/.test(error.message)) reject(error); });
  });
  const shown = (who) => (who === 'p' ? `?player=${token}` : keys[who] ? `?key=${encodeURIComponent(keys[who].pair)}` : '');
  const callers = [...withKeys, 'p', 'n'];
  for (const place of ['/v1/boards/arcade/live', `/v1/rooms/${room}/live`])
    await check([[place, 'arcp']], callers, async (who) => {
      const status = await open(place + shown(who));
      assert.equal(status, 'arcp'.includes(who) ? 101 : who === 'n' ? 401 : 403, `${place} as ${who}`);
      return status === 101;
    });
  assert.equal(await open('/v1/boards/arcade/live', { Authorization: `Basic ${Buffer.from(keys.r.pair).toString('base64')}` }), 101);
  assert.equal(await open('/v1/boards/arcade/live', { Authorization: `Bearer ${token}` }), 101);
  // What is shown and wrong is refused, whatever else is shown.
  assert.equal(await open(`/v1/boards/arcade/live?key=${keys.r.id}:wrong`), 401);
  assert.equal(await open(`/v1/boards/arcade/live?key=${keys.r.id}:wrong&player=${token}`), 401);
  // A seat's token is for its room, and a player's token is none.
  assert.equal(await open(`/v1/rooms/${room}/live?token=${seat}`), 101);
  assert.equal(await open(`/v1/rooms/${room}/live?token=${token}`), 403);
  const other = await must('POST', '/v1/rooms', { kind: 'kauwa-udd', player: 'ann', name: 'Ann' });
  assert.equal(await open(`/v1/rooms/${other.room.code}/live?token=${seat}`), 403);
});

test('the server itself', async () => {
  await check([
    ['the clock', 'a', 'GET', '/admin/clock'],
    ['moving it', 'a', 'POST', '/admin/clock', { forward: '1ms' }],
    ['expiry', 'a', 'POST', '/admin/expire'],
    ['health', 'arwlcpn', 'GET', '/healthz'],
  ], [...withKeys, 'p', 'n'], async (who, ...request) => {
    const { status } = await ask(who, ...request);
    if (status !== 200) assert.equal(status, 'pn'.includes(who) ? 401 : 403);
    return status === 200;
  });
  const refused = run('clock', '--endpoint', server.endpoint);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /say who you are/);
  assert.equal(run('clock', '--endpoint', server.endpoint, '--key', keys.a.pair).status, 0);
  assert.equal(run('expire', '--endpoint', server.endpoint, '--key', keys.a.pair).status, 0);
});
