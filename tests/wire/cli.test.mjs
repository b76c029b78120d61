// Debian's AWS CLI, version 2, unchanged: what a person types, what comes on stdout and stderr, the exit codes.
// It takes about a second to start, so that independent commands run side by side.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { startServer, temporaryFolder } from '../lib/server.mjs';

const folder = temporaryFolder();
let server;
before(async () => { server = await startServer({ game: false }); });
after(async () => assert.equal(await server.stop(), 0));

const environment = () => ({
  PATH: process.env.PATH,
  HOME: folder,
  AWS_ACCESS_KEY_ID: 'any',
  AWS_SECRET_ACCESS_KEY: 'any',
  AWS_DEFAULT_REGION: 'us-west-2',
  AWS_PAGER: '',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: path.join(folder, 'config'),
  AWS_SHARED_CREDENTIALS_FILE: path.join(folder, 'credentials'),
});
// Runs `aws dynamodb ...`; resolves to its exit code and what it printed. Objects become JSON.
const aws = (...args) => new Promise((resolve) => {
  const words = args.map((arg) => (typeof arg === 'object' ? JSON.stringify(arg) : String(arg)));
  execFile('/usr/bin/aws', ['dynamodb', ...words, '--endpoint-url', server.endpoint], { env: environment() }, (error, stdout, stderr) =>
    resolve({ code: error ? error.code : 0, stdout, stderr }));
});
const must = async (...args) => {
  const { code, stdout, stderr } = await aws(...args);
  assert.equal(code, 0, stderr);
  return stdout.trim() ? (/^[{[]/.test(stdout) ? JSON.parse(stdout) : stdout) : undefined;
};

test('create-table in the short syntax, wait, list-tables, describe-table', async () => {
  const made = await must('create-table', '--table-name', 'music', '--billing-mode', 'PAY_PER_REQUEST',
    '--attribute-definitions', 'AttributeName=artist,AttributeType=S', 'AttributeName=song,AttributeType=S',
    '--key-schema', 'AttributeName=artist,KeyType=HASH', 'AttributeName=song,KeyType=RANGE', '--tags', 'Key=team,Value=crow');
  assert.equal(made.TableDescription.TableName, 'music');
  const [waited, listed, described] = await Promise.all([
    must('wait', 'table-exists', '--table-name', 'music'),
    must('list-tables', '--output', 'text'),
    must('describe-table', '--table-name', 'music'),
  ]);
  assert.equal(waited, undefined);
  assert.equal(listed, 'TABLENAMES\tmusic\n');
  assert.equal(described.Table.TableStatus, 'ACTIVE');
  assert.match(described.Table.CreationDateTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);
  assert.match(described.Table.TableArn, /^arn:aws:dynamodb:us-west-2:\d{12}:table\/music$/);
});

test('put-item, get-item, update-item, batch-write-item from a file, delete-item', async () => {
  const file = path.join(folder, 'batch.json');
  writeFileSync(file, JSON.stringify({
    music: Array.from({ length: 24 }, (_, i) => ({ PutRequest: { Item: { artist: { S: 'Crow' }, song: { S: `song ${String(i).padStart(2, '0')}` }, plays: { N: String(i) } } } })),
  }));
  const key = { artist: { S: 'Ada' }, song: { S: 'Grüße' } };
  const [put, batch] = await Promise.all([
    must('put-item', '--table-name', 'music', '--item', { ...key, plays: { N: '1' }, cover: { B: 'AAH/' }, tags: { SS: ['a', 'b'] } }, '--return-consumed-capacity', 'TOTAL'),
    must('batch-write-item', '--request-items', `file://${file}`),
  ]);
  assert.deepEqual(put.ConsumedCapacity, { TableName: 'music', CapacityUnits: 1 });
  assert.deepEqual(batch.UnprocessedItems, {});
  const updated = await must('update-item', '--table-name', 'music', '--key', key, '--update-expression', 'SET plays = plays + :one', '--expression-attribute-values', { ':one': { N: '1' } },
    '--return-values', 'ALL_NEW', '--query', 'Attributes.plays.N', '--output', 'text');
  assert.equal(updated, '2\n');
  const { Item } = await must('get-item', '--table-name', 'music', '--key', key, '--consistent-read');
  assert.deepEqual({ ...Item, tags: { SS: Item.tags.SS.sort() } }, { ...key, plays: { N: '2' }, cover: { B: 'AAH/' }, tags: { SS: ['a', 'b'] } });
  const gone = await must('delete-item', '--table-name', 'music', '--key', key, '--return-values', 'ALL_OLD');
  assert.equal(gone.Attributes.plays.N, '2');
});

test('query as a table of text, scan in pages that go on from a token', async () => {
  const [query, first, all] = await Promise.all([
    must('query', '--table-name', 'music', '--key-condition-expression', 'artist = :a AND begins_with(song, :s)', '--expression-attribute-values', { ':a': { S: 'Crow' }, ':s': { S: 'song 1' } },
      '--no-scan-index-forward', '--query', 'Items[].song.S', '--output', 'text'),
    must('scan', '--table-name', 'music', '--page-size', '5', '--max-items', '7'),
    must('scan', '--table-name', 'music', '--page-size', '10', '--select', 'COUNT'),
  ]);
  assert.equal(query, `${Array.from({ length: 10 }, (_, i) => `song ${19 - i}`).join('\t')}\n`);
  assert.equal(first.Items.length, 7);
  assert.equal(all.Count, 24);
  const rest = await must('scan', '--table-name', 'music', '--page-size', '5', '--starting-token', first.NextToken);
  assert.equal(rest.NextToken, undefined);
  assert.deepEqual([...first.Items, ...rest.Items].map((item) => item.song.S).sort(), Array.from({ length: 24 }, (_, i) => `song ${String(i).padStart(2, '0')}`));
});

test('update-table adds an index; tags', async () => {
  const added = await must('update-table', '--table-name', 'music', '--attribute-definitions', 'AttributeName=artist,AttributeType=S', 'AttributeName=plays,AttributeType=N',
    '--global-secondary-index-updates', [{
      Create: { IndexName: 'byPlays', KeySchema: [{ AttributeName: 'artist', KeyType: 'HASH' }, { AttributeName: 'plays', KeyType: 'RANGE' }], Projection: { ProjectionType: 'KEYS_ONLY' } },
    }]);
  assert.equal(added.TableDescription.GlobalSecondaryIndexes[0].IndexName, 'byPlays');
  const arn = added.TableDescription.TableArn;
  assert.equal(await must('tag-resource', '--resource-arn', arn, '--tags', 'Key=stage,Value=test'), undefined);
  const [tags, top] = await Promise.all([
    must('list-tags-of-resource', '--resource-arn', arn),
    must('query', '--table-name', 'music', '--index-name', 'byPlays', '--key-condition-expression', 'artist = :a', '--expression-attribute-values', { ':a': { S: 'Crow' } },
      '--no-scan-index-forward', '--max-items', '3', '--query', 'Items[].plays.N'),
  ]);
  assert.deepEqual(tags.Tags.sort((a, b) => a.Key.localeCompare(b.Key)), [{ Key: 'stage', Value: 'test' }, { Key: 'team', Value: 'crow' }]);
  assert.deepEqual(top, ['23', '22', '21']);
});

test('errors come on stderr with exit code 254, and say which operation', async () => {
  const cases = [
    [['describe-table', '--table-name', 'none'],
      'An error occurred (ResourceNotFoundException) when calling the DescribeTable operation: Requested resource not found: Table: none not found'],
    [['put-item', '--table-name', 'music', '--item', { artist: { S: 'x' } }],
      'An error occurred (ValidationException) when calling the PutItem operation: One or more parameter values were invalid: Missing the key song in the item'],
    [['put-item', '--table-name', 'music', '--item', { artist: { S: 'Crow' }, song: { S: 'song 01' } }, '--condition-expression', 'attribute_not_exists(artist)'],
      'An error occurred (ConditionalCheckFailedException) when calling the PutItem operation: The conditional request failed'],
  ];
  const answers = await Promise.all(cases.map(([args]) => aws(...args)));
  for (const [i, [, text]] of cases.entries()) {
    assert.equal(answers[i].stderr.trim(), text);
    assert.equal(answers[i].code, 254);
    assert.equal(answers[i].stdout, '');
  }
});

test('delete-table and wait', async () => {
  const gone = await must('delete-table', '--table-name', 'music');
  assert.equal(gone.TableDescription.TableStatus, 'DELETING');
  const [, { TableNames }] = await Promise.all([must('wait', 'table-not-exists', '--table-name', 'music'), must('list-tables')]);
  assert.deepEqual(TableNames, []);
});
