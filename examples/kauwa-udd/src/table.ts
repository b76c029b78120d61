// The one table: PK and SK, one index for the boards, `ttl` for what passes.
import { DynamoDBClient, CreateTableCommand, UpdateTimeToLiveCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';

export type Game = { ddb: DynamoDBDocument; table: string; scores: ScoreForm };

// How a score becomes the index's sort key: digits padded to one width, so that the order of
// strings is that of numbers, or a number as it is.
export type ScoreForm = 'padded' | 'numeric';

// Nothing here names an endpoint: the SDK reads AWS_ENDPOINT_URL, and without it talks to AWS.
export function connect(table = 'kauwa-udd', scores: ScoreForm = 'padded'): Game {
  const ddb = DynamoDBDocument.from(new DynamoDBClient({}), {
    marshallOptions: { convertEmptyValues: true, removeUndefinedValues: true, convertClassInstanceToMap: true },
  });
  return { ddb, table, scores };
}

// `expiry` names the attribute with the second in which an item ends.
export async function createTable({ ddb, table, scores }: Game, expiry = 'ttl'): Promise<void> {
  await ddb.send(new CreateTableCommand({
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'PK', AttributeType: 'S' },
      { AttributeName: 'SK', AttributeType: 'S' },
      { AttributeName: 'GSI1PK', AttributeType: 'S' },
      { AttributeName: 'GSI1SK', AttributeType: scores === 'padded' ? 'S' : 'N' },
    ],
    KeySchema: [
      { AttributeName: 'PK', KeyType: 'HASH' },
      { AttributeName: 'SK', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [{
      IndexName: 'GSI1',
      KeySchema: [
        { AttributeName: 'GSI1PK', KeyType: 'HASH' },
        { AttributeName: 'GSI1SK', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
    }],
  }));
  await waitUntilTableExists({ client: ddb, maxWaitTime: 60, minDelay: 1 }, { TableName: table });
  await ddb.send(new UpdateTimeToLiveCommand({
    TableName: table,
    TimeToLiveSpecification: { AttributeName: expiry, Enabled: true },
  }));
}

export const inHours = (hours: number): number => Math.floor(Date.now() / 1000) + hours * 3600;
