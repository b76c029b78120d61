// Readers of streams that people use, npm's dynamodb-streams-readable and dynamodb-stream: each finds all
// records of a table, though the first of them looks at one shard only.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreams } from '@aws-sdk/client-dynamodb-streams';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import DynamoDBStream from 'dynamodb-stream';
import readable from 'dynamodb-streams-readable';
import { startServer } from '../lib/server.mjs';

let server, items, changes;
before(async () => {
  server = await startServer({ game: false });
  const settings = { endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } };
  items = new DynamoDB(settings);
  changes = new DynamoDBStreams(settings);
});
after(async () => {
  items.destroy();
  changes.destroy();
  assert.equal(await server.stop(), 0);
});

const names = Array.from({ length: 200 }, (_, i) => `player-${String(i).padStart(3, '0')}`);
async function create(TableName) {
  const { TableDescription } = await items.createTable({
    TableName, BillingMode: 'PAY_PER_REQUEST', AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
  return TableDescription.LatestStreamArn;
}
const write = async (TableName) => {
  for (const name of names) await items.putItem({ TableName, Item: { pk: { S: name }, score: { N: '1' } } });
};

test('dynamodb-streams-readable reads all records of the first shard', async () => {
  const arn = await create('readable');
  await write('readable');
  const found = [];
  const reader = readable(changes, arn, { limit: 30, readInterval: 1 });
  await new Promise((resolve, reject) => {
    reader.on('error', reject);
    reader.on('data', (records) => {
      found.push(...records.map(({ dynamodb }) => dynamodb.Keys.pk.S));
      if (found.length >= names.length) resolve();
    });
  });
  reader.close();
  assert.deepEqual(found, names, 'all of them, in the order they were written');
});

test('dynamodb-stream tells what was made, changed and removed since it began', async () => {
  const arn = await create('watched');
  await write('watched');
  const stream = new DynamoDBStream(changes, arn, unmarshall);
  const seen = { insert: [], modify: [], remove: [] };
  stream.on('insert record', (item) => seen.insert.push(item.pk));
  stream.on('modify record', (now, then) => seen.modify.push([now.pk, then.score, now.score]));
  stream.on('remove record', (item) => seen.remove.push(item.pk));
  await stream.fetchStreamState();
  assert.deepEqual(seen, { insert: [], modify: [], remove: [] }, 'what was before is not news');
  await items.putItem({ TableName: 'watched', Item: { pk: { S: 'new' } } });
  for (const pk of names.slice(0, 50)) await items.updateItem({ TableName: 'watched', Key: { pk: { S: pk } }, UpdateExpression: 'ADD score :one', ExpressionAttributeValues: { ':one': { N: '1' } } });
  await items.deleteItem({ TableName: 'watched', Key: { pk: { S: names[0] } } });
  await stream.fetchStreamState();
  assert.deepEqual(seen, { insert: ['new'], modify: names.slice(0, 50).map((pk) => [pk, 1, 2]), remove: [names[0]] });
});
