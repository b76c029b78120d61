// Contributor insights: kept per table and index, answered as the service answers.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import {
  CreateTableCommand, DescribeContributorInsightsCommand, DescribeTableCommand, DynamoDBClient, ListContributorInsightsCommand,
  ListTagsOfResourceCommand, UpdateContributorInsightsCommand, UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { startServer, temporaryFolder } from '../lib/server.mjs';

const data = temporaryFolder();
let server;
let client;
const connect = () => {
  client = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } });
};
const GSI = (IndexName) => ({ IndexName, KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } });
const make = (TableName, sorted, gsis = []) => client.send(new CreateTableCommand({
  TableName, BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [...(sorted ? ['pk', 'sk'] : ['pk']), ...(gsis.length ? ['g'] : [])].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, ...(sorted ? [{ AttributeName: 'sk', KeyType: 'RANGE' }] : [])],
  ...(gsis.length ? { GlobalSecondaryIndexes: gsis.map(GSI) } : {}),
}));
const update = async (TableName, ContributorInsightsAction, more = {}) => plain(await client.send(new UpdateContributorInsightsCommand({ TableName, ContributorInsightsAction, ...more })));
const describe = async (TableName, IndexName) => plain(await client.send(new DescribeContributorInsightsCommand({ TableName, IndexName })));
const plain = ({ $metadata, ...rest }) => rest;
const list = async (request = {}) => {
  const all = [];
  for (let NextToken; ;) {
    const page = await client.send(new ListContributorInsightsCommand({ ...request, NextToken }));
    assert.ok(page.ContributorInsightsSummaries.length <= (request.MaxResults ?? 100));
    all.push(...page.ContributorInsightsSummaries);
    NextToken = page.NextToken;
    if (NextToken === undefined) return all.map(({ TableName, IndexName }) => (IndexName ? `${TableName}/${IndexName}` : TableName));
  }
};
const refusedAs = (name, message) => (error) => {
  assert.equal(error.name, name);
  assert.match(error.message, message);
  return true;
};

before(async () => {
  server = await startServer({ data, game: false });
  connect();
  await make('scores', true, ['by-g', 'by-h']);
  await make('plain', false);
  await make('other', false, ['by-g']);
});
after(async () => {
  client.destroy();
  await server.stop();
});

test('off until it is switched on, then told with its rules', async () => {
  assert.deepEqual(await describe('scores'), { TableName: 'scores', ContributorInsightsStatus: 'DISABLED' });
  assert.deepEqual(await update('plain', 'DISABLE'), { TableName: 'plain', ContributorInsightsStatus: 'DISABLED' });
  assert.deepEqual(await update('scores', 'ENABLE'), { TableName: 'scores', ContributorInsightsStatus: 'ENABLING', ContributorInsightsMode: 'ACCESSED_AND_THROTTLED_KEYS' });
  const on = await describe('scores');
  assert.equal(on.ContributorInsightsStatus, 'ENABLED');
  assert.equal(on.ContributorInsightsMode, 'ACCESSED_AND_THROTTLED_KEYS');
  assert.ok(Math.abs(on.LastUpdateDateTime - Date.now()) < 60000);
  const stamp = /-(\d{13})$/.exec(on.ContributorInsightsRuleList[0])[1];
  assert.deepEqual(on.ContributorInsightsRuleList, ['PKC', 'SKC', 'PKT', 'SKT'].map((rule) => `DynamoDBContributorInsights-${rule}-scores-${stamp}`));

  assert.deepEqual(await update('scores', 'ENABLE'), { TableName: 'scores', ContributorInsightsStatus: 'ENABLED', ContributorInsightsMode: 'ACCESSED_AND_THROTTLED_KEYS' });
  assert.deepEqual(await describe('scores'), on); // nothing has changed
  assert.equal((await update('scores', 'ENABLE', { ContributorInsightsMode: 'THROTTLED_KEYS' })).ContributorInsightsStatus, 'ENABLING');
  assert.deepEqual((await describe('scores')).ContributorInsightsRuleList, ['PKT', 'SKT'].map((rule) => `DynamoDBContributorInsights-${rule}-scores-${stamp}`));
  await update('scores', 'ENABLE'); // without a mode it is the usual one again
  assert.deepEqual((await describe('scores')).ContributorInsightsRuleList, on.ContributorInsightsRuleList);
});

test('an index has a state of its own', async () => {
  assert.deepEqual(await describe('scores', 'by-g'), { TableName: 'scores', IndexName: 'by-g', ContributorInsightsStatus: 'DISABLED' });
  assert.equal((await update('scores', 'ENABLE', { IndexName: 'by-g' })).IndexName, 'by-g');
  const { ContributorInsightsRuleList: rules } = await describe('scores', 'by-g');
  assert.equal(rules.length, 2); // it has no sort key
  assert.match(rules[0], /^DynamoDBContributorInsights-PKC-scores-by-g-\d{13}$/);
  assert.match(rules[1], /^DynamoDBContributorInsights-PKT-scores-by-g-\d{13}$/);
  assert.equal((await describe('scores', 'by-h')).ContributorInsightsStatus, 'DISABLED');
});

test('lists have what is on, the table before its indexes, in pages of any size', async () => {
  await update('other', 'ENABLE', { IndexName: 'by-g' });
  await update('scores', 'ENABLE', { IndexName: 'by-h' });
  assert.deepEqual(await list(), ['other/by-g', 'scores', 'scores/by-g', 'scores/by-h']);
  for (const MaxResults of [1, 2, 3, 4, 5]) {
    assert.deepEqual(await list({ MaxResults }), ['other/by-g', 'scores', 'scores/by-g', 'scores/by-h']);
    assert.deepEqual(await list({ MaxResults, TableName: 'scores' }), ['scores', 'scores/by-g', 'scores/by-h']);
  }
  assert.deepEqual(await list({ TableName: 'plain' }), []);
  assert.equal((await update('scores', 'DISABLE')).ContributorInsightsStatus, 'DISABLING');
  assert.deepEqual(await list({ TableName: 'scores' }), ['scores/by-g', 'scores/by-h']);
  const off = await describe('scores');
  assert.equal(off.ContributorInsightsStatus, 'DISABLED');
  assert.equal(off.ContributorInsightsMode, 'ACCESSED_AND_THROTTLED_KEYS'); // as the service remembers it
  assert.ok(off.LastUpdateDateTime && !off.ContributorInsightsRuleList);
});

test('it is kept over a restart, is no tag to clients, and goes with its index', async () => {
  client.destroy();
  await server.stop();
  server = await startServer({ data, game: false });
  connect();
  assert.deepEqual(await list({ TableName: 'scores' }), ['scores/by-g', 'scores/by-h']);
  const { Table } = await client.send(new DescribeTableCommand({ TableName: 'scores' }));
  assert.deepEqual((await client.send(new ListTagsOfResourceCommand({ ResourceArn: Table.TableArn }))).Tags, []);
  await client.send(new UpdateTableCommand({ TableName: 'scores', GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'by-g' } }] }));
  await assert.rejects(describe('scores', 'by-g'), refusedAs('ResourceNotFoundException', /Index: by-g not found for table: scores/));
  assert.deepEqual(await list({ TableName: 'scores' }), ['scores/by-h']);
  await client.send(new UpdateTableCommand({ TableName: 'scores', AttributeDefinitions: [{ AttributeName: 'g', AttributeType: 'S' }], GlobalSecondaryIndexUpdates: [{ Create: GSI('by-g') }] }));
  assert.equal((await describe('scores', 'by-g')).ContributorInsightsStatus, 'DISABLED'); // another index of the same name
});

test('what cannot be is refused in the service\'s words', async () => {
  await assert.rejects(describe('missing'), refusedAs('ResourceNotFoundException', /^Requested resource not found: Table: missing not found$/));
  await assert.rejects(update('missing', 'ENABLE'), refusedAs('ResourceNotFoundException', /Table: missing not found/));
  await assert.rejects(list({ TableName: 'missing' }), refusedAs('ResourceNotFoundException', /./));
  await assert.rejects(update('plain', 'ENABLE', { IndexName: 'none' }), refusedAs('ResourceNotFoundException', /^Requested resource not found: Index: none not found for table: plain$/));
  await assert.rejects(update('plain', 'PERHAPS'), refusedAs('ValidationException', /contributorInsightsAction.*\[ENABLE, DISABLE\]/));
  await assert.rejects(update('plain', 'ENABLE', { ContributorInsightsMode: 'ALL' }), refusedAs('ValidationException', /contributorInsightsMode/));
});
