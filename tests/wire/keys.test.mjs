// Who may come in: the SDK's and Debian's own signatures against access keys and their scopes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import {
  BatchGetItemCommand, BatchWriteItemCommand, CreateTableCommand, DeleteItemCommand, DeleteTableCommand, DescribeLimitsCommand,
  DescribeTableCommand, DynamoDBClient, GetItemCommand, ListTablesCommand, PutResourcePolicyCommand, PutItemCommand, QueryCommand, ScanCommand,
  TransactGetItemsCommand, TransactWriteItemsCommand, UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { Hash } from '@smithy/hash-node';
import { HttpRequest } from '@smithy/protocol-http';
import { SignatureV4 } from '@smithy/signature-v4';
import { rawClient } from '../lib/raw.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

const folder = temporaryFolder();
const file = path.join(folder, 'keys.json');
const run = (...args) => spawnSync(program, args, { encoding: 'utf8', timeout: 120_000 });

// `gametable keys add`; what it prints becomes credentials.
function addKey(...args) {
  const { status, stdout, stderr } = run('keys', 'add', '--keys', file, ...args);
  assert.equal(status, 0, stderr);
  const [, accessKeyId, secretAccessKey] = /id\s+(\S+)\nsecret access key\s+(\S+)\n/.exec(stdout);
  return { accessKeyId, secretAccessKey };
}

const all = addKey('--table', '*', '--allow', 'all', '--name', 'operator');
const reader = addKey('--table', 'game', '--allow', 'read', '--name', 'reader');
const writer = addKey('--table', 'game', '--allow', 'write');
const scores = addKey('--table', 'scores-*', '--allow', 'read,write');
const ann = addKey('--table', 'game', '--partition', 'USER#ann', '--partition', 'ROOM#*', '--name', 'ann');

let server;
const clients = [];
before(async () => { server = await startServer({ game: false, args: ['--keys', file] }); });
after(async () => {
  for (const client of clients) client.destroy();
  assert.equal(await server.stop(), 0);
});
const as = (credentials, options = {}) => {
  const client = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials, maxAttempts: 1, ...options });
  clients.push(client);
  return client;
};
const refused = (promise, name, message) => assert.rejects(promise, (error) => {
  assert.equal(error.name, name, error.message);
  if (message) assert.match(error.message, message);
  assert.equal(error.$metadata.httpStatusCode, 400);
  return true;
});
const denied = (promise, message) => refused(promise, 'AccessDeniedException', message);
const key = (pk) => ({ PK: { S: pk } });
const get = (pk, TableName = 'game') => new GetItemCommand({ TableName, Key: key(pk) });
const put = (pk, TableName = 'game') => new PutItemCommand({ TableName, Item: { ...key(pk), team: { S: 'USER#ann' } } });
const schema = (TableName) => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'PK', AttributeType: 'S' }, { AttributeName: 'team', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }],
  GlobalSecondaryIndexes: [
    { IndexName: 'teams', KeySchema: [{ AttributeName: 'team', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } },
  ],
});

test('the right secret comes in, in any region, with a session token too', async () => {
  await as(all).send(new CreateTableCommand(schema('game')));
  await as(all, { region: 'eu-west-3' }).send(new CreateTableCommand(schema('scores-daily')));
  await as({ ...all, sessionToken: 'a+token/with=signs' }).send(put('USER#ann'));
  assert.deepEqual((await as(all).send(new ListTablesCommand({}))).TableNames, ['game', 'scores-daily']);
});

test('a wrong secret, an unknown key and no key do not', async () => {
  await refused(as({ ...all, secretAccessKey: 'x'.repeat(40) }).send(new ListTablesCommand({})), 'InvalidSignatureException',
    /^The request signature we calculated does not match the signature you provided\. Check your AWS Secret Access Key and signing method\. Consult the service documentation for details\.$/);
  await refused(as({ ...all, accessKeyId: 'GTUNKNOWN' }).send(new ListTablesCommand({})), 'UnrecognizedClientException',
    /^The security token included in the request is invalid\.$/);
  const client = rawClient(server.endpoint);
  const { status, json } = await client.call('ListTables', {}, { Authorization: '' });
  assert.equal(status, 400);
  assert.deepEqual(json, { __type: 'com.amazon.coral.service#MissingAuthenticationTokenException', message: 'Request is missing Authentication Token' });
  // nothing of a stranger's body is read
  const { json: unread } = await client.call('ListTables', {}, { 'Content-Encoding': 'gzip' });
  assert.equal(unread.__type, 'com.amazon.coral.service#InvalidSignatureException');
  assert.equal((await client.send('', {}, 'GET', '/healthz')).status, 200);
  client.close();
});

test('a resource policy is refused: keys decide', async () => {
  const ResourceArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/game';
  await refused(as(all).send(new PutResourcePolicyCommand({ ResourceArn, Policy: '{"Statement":[]}' })), 'ValidationException', /not obeyed here/);
});

test('a clock that is wrong is told so, and the SDK then corrects it', async () => {
  for (const [offset, text] of [
    [-20 * 60e3, /^Signature expired: \d{8}T\d{6}Z is now earlier than \d{8}T\d{6}Z \(\d{8}T\d{6}Z - 15 min\.\)$/],
    [20 * 60e3, /^Signature not yet current: \d{8}T\d{6}Z is still later than \d{8}T\d{6}Z \(\d{8}T\d{6}Z \+ 15 min\.\)$/],
  ]) {
    await refused(as(all, { systemClockOffset: offset }).send(new ListTablesCommand({})), 'InvalidSignatureException', text);
    await as(all, { systemClockOffset: offset, maxAttempts: 3 }).send(new ListTablesCommand({}));
    await as(all, { systemClockOffset: offset * 0.7 }).send(new ListTablesCommand({}));
  }
});

test('reading and writing are apart, and so are tables', async () => {
  await as(reader).send(get('USER#ann'));
  await as(reader).send(new ScanCommand({ TableName: 'game' }));
  await as(reader).send(new DescribeTableCommand({ TableName: 'game' }));
  await as(reader).send(new DescribeLimitsCommand({}));
  await as(reader).send(new QueryCommand({ TableName: 'game', IndexName: 'teams', KeyConditionExpression: 'team = :t', ExpressionAttributeValues: { ':t': { S: 'x' } } }));
  await denied(as(reader).send(put('USER#bob')),
    /^User: arn:aws:iam::000000000000:user\/reader is not authorized to perform: dynamodb:PutItem on resource: arn:aws:dynamodb:us-east-1:000000000000:table\/game because no identity-based policy allows the dynamodb:PutItem action$/);
  await denied(as(reader).send(new DeleteTableCommand({ TableName: 'game' })), /dynamodb:DeleteTable/);
  await denied(as(reader).send(get('USER#ann', 'scores-daily')), /table\/scores-daily because/);
  await denied(as(reader).send(get('USER#ann', 'nothing-there')));
  await denied(as(reader).send(new ListTablesCommand({})), /resource: arn:aws:dynamodb:us-east-1:000000000000:table\/\* because/);

  await as(writer).send(put('USER#bob'));
  await as(writer).send(new DeleteItemCommand({ TableName: 'game', Key: key('USER#bob') }));
  await denied(as(writer).send(get('USER#ann')), new RegExp(`user/${writer.accessKeyId} is not`));
  await denied(as(writer).send(new CreateTableCommand(schema('another'))));

  await as(scores).send(put('x', 'scores-daily'));
  await denied(as(scores).send(put('x')));
  await denied(as(scores).send(new BatchWriteItemCommand({ RequestItems: {
    'scores-daily': [{ PutRequest: { Item: key('y') } }], game: [{ PutRequest: { Item: key('y') } }] } })));
  assert.equal((await as(scores).send(get('y', 'scores-daily'))).Item, undefined);
  await denied(as(scores).send(new CreateTableCommand(schema('scores-weekly'))));
});

test('a key for some partitions touches no others, whatever the operation', async () => {
  const client = as(ann);
  await client.send(put('USER#ann'));
  await client.send(put('ROOM#1'));
  await client.send(get('ROOM#1'));
  await client.send(new UpdateItemCommand({ TableName: 'game', Key: key('ROOM#1'), UpdateExpression: 'SET a = :a', ExpressionAttributeValues: { ':a': { N: '1' } } }));
  await client.send(new BatchGetItemCommand({ RequestItems: { game: { Keys: [key('ROOM#1'), key('USER#ann')] } } }));
  const query = (value, index) => new QueryCommand({ TableName: 'game', IndexName: index, KeyConditionExpression: '#k = :k',
    ExpressionAttributeNames: { '#k': index ? 'team' : 'PK' }, ExpressionAttributeValues: { ':k': { S: value } } });
  assert.equal((await client.send(query('ROOM#1'))).Count, 1);
  assert.equal((await client.send(query('USER#ann', 'teams'))).Count, 2);
  const other = 'USER#annabel';
  for (const command of [
    get(other), put(other), new DeleteItemCommand({ TableName: 'game', Key: key(other) }), query(other),
    new UpdateItemCommand({ TableName: 'game', Key: key(other) }),
    new BatchGetItemCommand({ RequestItems: { game: { Keys: [key('ROOM#1'), key(other)] } } }),
    new BatchWriteItemCommand({ RequestItems: { game: [{ DeleteRequest: { Key: key('ROOM#1') } }, { DeleteRequest: { Key: key(other) } }] } }),
    new TransactWriteItemsCommand({ TransactItems: [
      { Delete: { TableName: 'game', Key: key('ROOM#1') } }, { Put: { TableName: 'game', Item: key(other) } }] }),
    new TransactWriteItemsCommand({ TransactItems: [
      { Delete: { TableName: 'game', Key: key('ROOM#1') } },
      { ConditionCheck: { TableName: 'game', Key: key(other), ConditionExpression: 'attribute_exists(PK)' } }] }),
    new TransactGetItemsCommand({ TransactItems: [{ Get: { TableName: 'game', Key: key(other) } }] }),
    new ScanCommand({ TableName: 'game' }), new ScanCommand({ TableName: 'game', IndexName: 'teams' }),
    new DeleteTableCommand({ TableName: 'game' }),
  ]) await denied(client.send(command));
  await denied(client.send(query('TEAM#x', 'teams')), /table\/game\/index\/teams because/);
  assert.equal((await client.send(query('ROOM#1'))).Count, 1);
});

test('presigned requests: for as long as they say, with or without their body signed', async () => {
  const signer = new SignatureV4({ credentials: all, region: 'us-east-1', service: 'dynamodb', sha256: Hash.bind(null, 'sha256') });
  const { hostname, port } = new URL(server.endpoint);
  const headers = { host: `${hostname}:${port}`, 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'DynamoDB_20120810.ListTables' };
  const client = rawClient(server.endpoint);
  const ask = async (signed, body) => {
    const query = Object.entries(signed.query).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
    const { status, body: text } = await client.send(body, { ...signed.headers, 'Content-Type': 'application/x-amz-json-1.0' }, 'POST', `/?${query}`);
    return { status, json: JSON.parse(text) };
  };
  const request = (more = {}) => new HttpRequest({ protocol: 'http:', hostname, port: Number(port), method: 'POST', path: '/', headers, body: '{}', ...more });
  const signed = await signer.presign(request(), { expiresIn: 60 });
  assert.equal((await ask(signed, '{}')).status, 200);
  assert.equal((await ask(signed, '{"Limit":1}')).json.__type, 'com.amazon.coral.service#InvalidSignatureException');
  const open = await signer.presign(request({ headers: { ...headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } }), { expiresIn: 60 });
  assert.equal((await ask(open, '{"Limit":1}')).status, 200);
  const unhoisted = await signer.presign(request(), { expiresIn: 60, unhoistableHeaders: new Set(['x-amz-target']) });
  assert.equal((await ask(unhoisted, '{}')).status, 200);
  const old = await signer.presign(request(), { expiresIn: 60, signingDate: new Date(Date.now() - 61e3) });
  const { json } = await ask(old, '{}');
  assert.match(json.message, /^Signature expired: /);
  client.close();
});

test('boto3 and the AWS CLI of Debian', () => {
  const env = { ...process.env, AWS_ACCESS_KEY_ID: reader.accessKeyId, AWS_SECRET_ACCESS_KEY: reader.secretAccessKey,
    AWS_DEFAULT_REGION: 'us-west-2', AWS_EC2_METADATA_DISABLED: 'true', HOME: folder };
  const python = `
import boto3, botocore
client = boto3.client('dynamodb', endpoint_url='${server.endpoint}')
assert 'Item' in client.get_item(TableName='game', Key={'PK': {'S': 'USER#ann'}})
try:
    client.put_item(TableName='game', Item={'PK': {'S': 'x'}})
except botocore.exceptions.ClientError as error:
    print(error.response['Error']['Code'])
`;
  const boto = spawnSync('/usr/bin/python3', ['-c', python], { encoding: 'utf8', env });
  assert.equal(boto.stdout, 'AccessDeniedException\n', boto.stderr);
  const aws = (...args) => spawnSync('/usr/bin/aws', ['dynamodb', ...args, '--endpoint-url', server.endpoint], { encoding: 'utf8', env });
  assert.equal(aws('get-item', '--table-name', 'game', '--key', '{"PK":{"S":"USER#ann"}}').status, 0);
  assert.match(aws('list-tables').stderr, /AccessDeniedException.*not authorized to perform: dynamodb:ListTables/);
});

test('no secret is ever printed again', async () => {
  const listed = run('keys', 'list', '--keys', file).stdout;
  assert.match(listed, new RegExp(`${ann.accessKeyId}  read, write on game, partitions USER#ann, ROOM#\\*  \\(ann\\)`));
  for (const { secretAccessKey } of [all, reader, writer, scores, ann]) {
    assert(!listed.includes(secretAccessKey));
    assert(!server.printed().includes(secretAccessKey));
  }
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('SIGHUP reads the file again; one that cannot be read changes nothing', async () => {
  const said = async (text) => {
    for (let i = 0; i < 1200 && !text.test(server.printed()); i++) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.match(server.printed(), text);
  };
  const late = addKey('--table', 'game');
  await refused(as(late).send(get('USER#ann')), 'UnrecognizedClientException');
  assert.match(run('keys', 'remove', scores.accessKeyId, '--keys', file).stdout, /removed/);
  process.kill(server.pid, 'SIGHUP');
  await said(/read the access keys again: 5/);
  await as(late).send(get('USER#ann'));
  await refused(as(scores).send(put('x', 'scores-daily')), 'UnrecognizedClientException');
  const kept = readFileSync(file);
  writeFileSync(file, '{"keys": [{"id": "x"}]}');
  process.kill(server.pid, 'SIGHUP');
  await said(/the access keys stay as they were: .*keys\.json: key 1: a secret is/);
  await as(late).send(get('USER#ann'));
  writeFileSync(file, kept);
});

test('keys from the environment, and what cannot be', async () => {
  const pair = { GAMETABLE_ACCESS_KEY_ID: 'local', GAMETABLE_SECRET_ACCESS_KEY: 'a-secret-of-some-length' };
  const json = { GAMETABLE_KEYS_JSON: JSON.stringify({ keys: [{ id: 'other', secret: 'another-secret-16', tables: ['*'], allow: ['read'] }] }) };
  // an address that is this machine's own, but that the program does not know to be
  const mine = await startServer({ http: '0x7f.1:0', env: { ...pair, ...json } });
  const client = (accessKeyId, secretAccessKey) => as({ accessKeyId, secretAccessKey }, { endpoint: `http://127.0.0.1:${mine.port}` });
  await client('local', pair.GAMETABLE_SECRET_ACCESS_KEY).send(new CreateTableCommand(schema('game')));
  await denied(client('other', 'another-secret-16').send(put('x')));
  assert.match(mine.printed(), /what crosses the network to and from port \d+ is not encrypted/);
  await mine.stop();

  const start = (env, ...args) => spawnSync(program, ['serve', '--memory', ...args], { encoding: 'utf8', timeout: 120_000, env: { ...process.env, ...env } });
  for (const [env, args, text] of [
    [{}, ['--http', '0x7f.1:0'], /not a loopback address.*gametable keys add --table '\*'.*--keys gametable-keys\.json.*--trust-network/],
    [{ GAMETABLE_ACCESS_KEY_ID: 'x' }, [], /go together/],
    [{ ...pair, GAMETABLE_SECRET_ACCESS_KEY: 'short' }, [], /a secret is 16 to 256/],
    [{ GAMETABLE_KEYS_JSON: 'x' }, [], /GAMETABLE_KEYS_JSON: it is not JSON/],
    [{}, ['--keys', path.join(folder, 'none.json')], /there is no key file .*none\.json: make one with gametable keys add/],
  ]) {
    const { status, stderr } = start(env, ...args);
    assert.equal(status, 2);
    assert.match(stderr, text);
    assert(!stderr.includes('short\n'));
  }
});

test('a key file that others can read is warned of', async () => {
  const open = path.join(folder, 'open.json');
  writeFileSync(open, readFileSync(file));
  chmodSync(open, 0o644);
  const mine = await startServer({ args: ['--keys', open] });
  assert.match(mine.printed(), /open\.json may be read by others on this machine: chmod 600 it/);
  await mine.stop();
});

test('keys: wrong usage', () => {
  for (const args of [[], ['add'], ['fly'], ['remove'], ['list', 'x'], ['add', '--table'], ['add', '--table', 'game', '--allow', 'fly']])
    assert.equal(run('keys', ...args).status, 2, args.join(' '));
  assert.equal(run('keys', 'remove', 'GTNONE', '--keys', file).status, 1);
  const { status, stderr } = run('keys', 'add', '--table', 'a b', '--keys', file);
  assert.equal(status, 2);
  assert.match(stderr, /a table is a name/);
});
