// One table for games, players and connections; `TTL` ends them a day after they were made.
import { CreateTableCommand, DynamoDBClient, UpdateTimeToLiveCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

export const table = process.env.TABLE_NAME ?? 'snakes-and-ladders';

// The SDK reads AWS_ENDPOINT_URL; without it, this is AWS.
export const connect = () => DynamoDBDocumentClient.from(new DynamoDBClient({}));

export async function createTable(ddb) {
  const key = (hash, range) => [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ];
  await ddb.send(new CreateTableCommand({
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['PK', 'SK', 'GSI1PK', 'GSI1SK'].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
    KeySchema: key('PK', 'SK'),
    GlobalSecondaryIndexes: [
      { IndexName: 'GSI1', KeySchema: key('GSI1PK', 'GSI1SK'), Projection: { ProjectionType: 'ALL' } },
    ],
  }));
  await waitUntilTableExists({ client: ddb, maxWaitTime: 60, minDelay: 1 }, { TableName: table });
  await ddb.send(new UpdateTimeToLiveCommand({
    TableName: table,
    TimeToLiveSpecification: { AttributeName: 'TTL', Enabled: true },
  }));
}

export const inADay = () => Math.floor(Date.now() / 1000) + 24 * 60 * 60;
