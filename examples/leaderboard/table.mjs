// The table: pk and sk, two indexes, a stream of both images for the projection.
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

export const table = process.env.TABLE_NAME ?? 'leaderboard';

// The SDK reads AWS_ENDPOINT_URL; without it, this is AWS.
export const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export async function createTable() {
  const key = (hash, range) => [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ];
  const index = (IndexName, hash, range) => ({ IndexName, KeySchema: key(hash, range), Projection: { ProjectionType: 'ALL' } });
  await client.send(new CreateTableCommand({
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk', 'gsi1pk', 'gsi1sk', 'gsi2pk', 'gsi2sk']
      .map((name) => ({ AttributeName: name, AttributeType: 'S' })),
    KeySchema: key('pk', 'sk'),
    GlobalSecondaryIndexes: [index('GSI1', 'gsi1pk', 'gsi1sk'), index('GSI2', 'gsi2pk', 'gsi2sk')],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  }));
}
