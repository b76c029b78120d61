// A server with `--engine dynamodb`: what it says when it cannot start, where its keys come from, what
// it passes on, and that an answer which was lost does not write twice.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateTableCommand, DeleteItemCommand, DynamoDBClient, GetItemCommand, ListTablesCommand, PutItemCommand, QueryCommand, ScanCommand, TransactWriteItemsCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { startBacking, startRedis } from '../lib/backing.mjs';
import { restClient } from '../lib/rest.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

let backing;
before(async () => {
  backing = await startBacking(startServer);
});
after(() => backing.stop());

// Runs `serve` until it ends by itself, and resolves to its status and what it said.
async function refusal(args, env = {}) {
  const child = spawn(program, ['serve', '--engine', 'dynamodb', '--http', '127.0.0.1:0', '--redis', 'off', ...args],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, AWS_EC2_METADATA_DISABLED: 'true', HOME: temporaryFolder(), ...env } });
  let said = '';
  child.stdout.on('data', (text) => { said += text; });
  child.stderr.on('data', (text) => { said += text; });
  const [status] = await once(child, 'close');
  return { status, said };
}

const sdk = (endpoint, credentials = { accessKeyId: 'a', secretAccessKey: 'b' }) =>
  new DynamoDBClient({ endpoint, region: 'us-east-1', credentials, maxAttempts: 1 });

// An endpoint that the test answers for.
async function startHttp(answer) {
  const server = http.createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => answer(request, response, Buffer.concat(parts)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => { server.closeAllConnections(); server.close(); } };
}

test('what is missing or wrong is one sentence that says what to do', async () => {
  const secret = backing.args[backing.args.indexOf('--token-secret') + 1];
  const redis = ['--rank-redis', backing.redis.address, '--token-secret', secret];
  const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  const cases = [
    [[], {}, 2, /needs --rank-redis .*docs\/scale-out\.md/],
    [redis, keys, 2, /which DynamoDB\? Give --dynamodb-region/],
    [[...redis, '--dynamodb-region', 'Mars!'], keys, 2, /no region/],
    [[...redis, '--dynamodb-endpoint', 'localhost:8000'], keys, 2, /--dynamodb-endpoint is a URL/],
    [[...redis, '--dynamodb-endpoint', backing.endpoint.endpoint], {}, 1, /no credentials .*AWS_ACCESS_KEY_ID/],
    [[...redis, '--dynamodb-endpoint', backing.endpoint.endpoint], { AWS_PROFILE: 'game', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' }, 1, /profile game/],
  ];
  for (const [args, env, status, text] of cases) {
    const refused = await refusal(args, env);
    assert.match(refused.said, text);
    assert.equal(refused.status, status, refused.said);
  }
  const bare = await startHttp((request, response) => {
    const transact = /Transact/.test(request.headers['x-amz-target']);
    response.writeHead(400).end(JSON.stringify({ __type: transact ? 'x#UnknownOperationException' : 'x#ResourceNotFoundException', message: 'no' }));
  });
  assert.match((await refusal([...redis, '--dynamodb-endpoint', bare.url], keys)).said, /has no transactions/);
  bare.close();
  const strict = await startHttp((request, response) => response.writeHead(400).end(JSON.stringify({ __type: 'x#AccessDeniedException', message: 'not you' })));
  assert.match((await refusal([...redis, '--dynamodb-endpoint', strict.url], keys)).said, /refuses these credentials \(not you\)/);
  strict.close();
});

test('keys are found in the shared file, a container and an instance', async () => {
  const seen = [];
  const answer = (request, response) => {
    if (request.url === '/task') {
      response.end(request.headers.authorization === 'letmein'
        ? JSON.stringify({ AccessKeyId: 'CONTAINER', SecretAccessKey: 's', Token: 'session', Expiration: new Date(Date.now() + 3600e3).toISOString() }) : '{}');
    } else if (request.url === '/latest/api/token') {
      response.end(request.method === 'PUT' ? 'imds' : '');
    } else if (request.url === '/latest/meta-data/iam/security-credentials/') {
      response.end('role\n');
    } else if (request.url.endsWith('/role')) {
      response.end(request.headers['x-aws-ec2-metadata-token'] === 'imds' ? JSON.stringify({ AccessKeyId: 'INSTANCE', SecretAccessKey: 's', Token: 't' }) : '{}');
    } else {
      seen.push([/Credential=([^/]+)/.exec(request.headers.authorization)?.[1], request.headers['x-amz-security-token']]);
      response.writeHead(400).end(JSON.stringify({ __type: 'x#AccessDeniedException', message: 'seen' }));
    }
  };
  const endpoint = await startHttp(answer);
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, '.aws'));
  writeFileSync(path.join(folder, '.aws/credentials'), '[default]\naws_access_key_id = DEFAULT\naws_secret_access_key = x\n[game] \naws_access_key_id=GAME\naws_secret_access_key=y\naws_session_token=z\n');
  const args = [...backing.args.slice(2), '--dynamodb-endpoint', endpoint.url].filter((word, i, all) => word !== '--dynamodb-endpoint' || all[i + 1] === endpoint.url)
    .filter((word) => word !== backing.endpoint.endpoint);
  for (const env of [
    { HOME: folder },
    { HOME: folder, AWS_PROFILE: 'game' },
    { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${endpoint.url}/task`, AWS_CONTAINER_AUTHORIZATION_TOKEN: 'letmein' },
    { AWS_EC2_METADATA_DISABLED: 'false', AWS_EC2_METADATA_SERVICE_ENDPOINT: endpoint.url },
  ]) assert.match((await refusal(args, env)).said, /seen/);
  assert.deepEqual(seen, [['DEFAULT', undefined], ['GAME', 'z'], ['CONTAINER', 'session'], ['INSTANCE', 't']]);
  endpoint.close();
});

test('other tables are passed on, the game table is not', async () => {
  const server = await startServer({ engine: 'dynamodb', backing });
  const client = sdk(server.endpoint);
  await client.send(new CreateTableCommand({ TableName: 'other', BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }], KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] }));
  await client.send(new PutItemCommand({ TableName: 'other', Item: { id: { S: 'x' }, n: { N: '1' } } }));
  assert.deepEqual((await sdk(backing.endpoint.endpoint).send(new ScanCommand({ TableName: 'other' }))).Items, [{ id: { S: 'x' }, n: { N: '1' } }]);
  assert.deepEqual((await client.send(new ListTablesCommand({}))).TableNames, ['gametable', 'other']);
  await assert.rejects(client.send(new PutItemCommand({ TableName: 'nothing', Item: { id: { S: 'x' } } })), { name: 'ResourceNotFoundException' });

  const rest = await restClient(server.endpoint);
  await rest.must('POST', '/boards', { id: 'f:all', game: 'f' });
  for (let i = 0; i < 5; i++) await rest.must('POST', '/games/f/scores', { player: `p${i}`, score: i });
  const count = await client.send(new QueryCommand({ TableName: 'gametable', IndexName: 'ranks', Select: 'COUNT',
    KeyConditionExpression: 'PK = :p AND score > :s', ExpressionAttributeValues: { ':p': { S: 'BOARD#f:all' }, ':s': { N: '-2' } } }));
  assert.ok(count.Count > 0 && count.Count <= 5);
  const items = (await client.send(new QueryCommand({ TableName: 'gametable', KeyConditionExpression: 'PK = :p',
    ExpressionAttributeValues: { ':p': { S: 'BOARD#f:all' } } }))).Items;
  assert.equal(items.length, 5);
  assert.ok(items.every((item) => item.v === undefined), 'versions are the engine\'s own');
  await assert.rejects(client.send(new TransactWriteItemsCommand({ TransactItems: [
    { Put: { TableName: 'other', Item: { id: { S: 'y' } } } }, { Put: { TableName: 'gametable', Item: { PK: { S: 'MINE' }, SK: { S: 'x' } } } }] })),
  /cannot be written in one request with other tables/);
  rest.close();
  assert.equal(await server.stop(), 0);
});

// Streams tell when something was written to the second (DynamoDB Local: to the minute), which does not tell
// such writes apart.
test('what is written past the nodes is ranked, however soon one write follows another', async () => {
  const server = await startServer({ engine: 'dynamodb', backing });
  const rest = await restClient(server.endpoint);
  const past = sdk(backing.endpoint.endpoint, { accessKeyId: backing.env.AWS_ACCESS_KEY_ID, secretAccessKey: 'test' });
  await rest.must('POST', '/boards', { id: 'past:all', game: 'past' });
  const key = (member) => ({ PK: { S: 'BOARD#past:all' }, SK: { S: member } });
  const entry = (member) => rest.must('GET', `/boards/past:all/entries/${member}`);
  const set = (member, score) => past.send(new UpdateItemCommand({ TableName: 'gametable', Key: key(member),
    UpdateExpression: 'SET score = :s', ExpressionAttributeValues: { ':s': { N: String(score) } } }));
  const place = async (member, rank) => {
    for (let i = 0; i < 600 && (await entry(member)).entry.rank !== rank; i++) await sleep(50);
    assert.equal((await entry(member)).entry.rank, rank);
  };
  for (const [member, score] of [['ann', 1], ['bob', 100], ['cy', 200]]) await rest.must('PUT', `/boards/past:all/entries/${member}`, { score });
  await place('ann', 3);
  await set('ann', 150); // `v` is left alone
  await place('ann', 2);
  await set('ann', 250);
  await place('ann', 1);
  const { Item: { v, ...item } } = await past.send(new GetItemCommand({ TableName: 'gametable', Key: key('ann'), ConsistentRead: true }));
  assert.ok(v);
  for (const [score, rank] of [[50, 3], [150, 2], [300, 1]]) { // `v` is left out
    await past.send(new PutItemCommand({ TableName: 'gametable', Item: { ...item, score: { N: String(score) } } }));
    await place('ann', rank);
  }
  await past.send(new DeleteItemCommand({ TableName: 'gametable', Key: key('ann') }));
  await place('cy', 1);
  await past.send(new PutItemCommand({ TableName: 'gametable', Item: { ...item, score: { N: '400' } } }));
  await place('cy', 2);
  await rest.must('PUT', '/boards/past:all/entries/ann', { score: 500 }); // and a node's own write counts after all of them
  await rest.must('PUT', '/boards/past:all/entries/cy', { score: 600 });
  await place('cy', 1);
  rest.close();
  assert.equal(await server.stop(), 0);
});

test('what is passed on is asked of the key first', async () => {
  const file = path.join(temporaryFolder(), 'keys.json');
  const [, accessKeyId, secretAccessKey] = /id\s+(\S+)\nsecret access key\s+(\S+)\n/.exec(
    spawnSync(program, ['keys', 'add', '--keys', file, '--table', 'mine', '--table', 'gametable', '--allow', 'read,admin'], { encoding: 'utf8' }).stdout);
  const server = await startServer({ engine: 'dynamodb', backing, args: ['--keys', file] });
  const client = sdk(server.endpoint, { accessKeyId, secretAccessKey });
  const table = (TableName) => new CreateTableCommand({ TableName, BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }], KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] });
  const denied = { name: 'AccessDeniedException' };
  await client.send(table('mine'));
  await assert.rejects(client.send(table('theirs')), denied);
  assert.deepEqual((await client.send(new ScanCommand({ TableName: 'mine' }))).Items, []);
  await assert.rejects(client.send(new ScanCommand({ TableName: 'theirs' })), denied);
  await assert.rejects(client.send(new PutItemCommand({ TableName: 'mine', Item: { id: { S: 'x' } } })), denied);
  await assert.rejects(client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName: 'theirs', Item: { id: { S: 'y' } } } }] })), denied);
  await assert.rejects(client.send(new PutItemCommand({ TableName: 'gametable', Item: { PK: { S: 'MINE' }, SK: { S: 'x' } } })), denied);
  await assert.rejects(client.send(new ListTablesCommand({})), denied);
  const stranger = sdk(server.endpoint, { accessKeyId: 'nobody', secretAccessKey: 'x' });
  await assert.rejects(stranger.send(new ScanCommand({ TableName: 'mine' })), { name: 'UnrecognizedClientException' });
  assert.equal(await server.stop(), 0);
});

// Between the server and its endpoint: every so many writes are carried out and answered with an error.
async function startFaults(target, every) {
  const { hostname, port } = new URL(target);
  let writes = 0;
  const faults = await startHttp((request, response, body) => {
    const write = /PutItem|TransactWriteItems/.test(request.headers['x-amz-target']);
    const lose = write && ++writes % every === 0;
    const onward = http.request({ hostname, port, method: 'POST', path: '/', headers: request.headers }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () => {
        if (lose) response.writeHead(500).end('{}');
        else response.writeHead(answer.statusCode, { 'content-type': 'application/x-amz-json-1.0' }).end(Buffer.concat(parts));
      });
    });
    onward.on('error', () => response.destroy());
    onward.end(body);
  });
  return { ...faults, writes: () => writes };
}

test('an answer that was lost after the write does not write twice', async () => {
  const faults = await startFaults(backing.endpoint.endpoint, 3);
  const args = backing.args.map((word) => (word === backing.endpoint.endpoint ? faults.url : word));
  const redis = await startRedis();
  args[args.indexOf('--rank-redis') + 1] = redis.address;
  const server = await startServer({ engine: 'dynamodb', backing: { ...backing, args: [...args, '--game-table', 'lossy'] } });
  const rest = await restClient(server.endpoint);
  await rest.must('POST', '/boards', { id: 'l:sum', game: 'l', keep: 'sum' });
  await rest.must('POST', '/boards', { id: 'l:two', game: 'l', keep: 'sum' });
  await rest.must('POST', '/boards', { id: 'k:sum', game: 'k', keep: 'sum' });
  // several at once on the same entries: others write between a write and its second attempt
  await Promise.all(Array.from({ length: 4 }, async () => {
    for (let i = 0; i < 10; i++) {
      await rest.must('POST', '/games/l/scores', { player: 'ann', score: 1 });
      await rest.must('POST', '/games/k/scores', { player: 'ann', score: 1 });
    }
  }));
  for (const id of ['l:sum', 'l:two', 'k:sum']) assert.equal((await rest.must('GET', `/boards/${id}/entries/ann`)).entry.score, 40, id);
  assert.ok(faults.writes() > 80);
  rest.close();
  assert.equal(await server.stop(), 0);
  faults.close();
  await redis.stop();
});
