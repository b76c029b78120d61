// Lifetime figures of a player, counted from the table's stream as sessions are written.
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { PlayerEntity } from './entities.mjs';
import { client, table } from './table.mjs';

export class Projection {
  constructor() {
    this.streams = new DynamoDBStreamsClient({});
    this.iterators = new Map(); // shard to where to read on; null at the end of a closed one
  }

  // Reads every shard from where it stood to its present end; resolves to the number of sessions counted.
  async catchUp() {
    let counted = 0;
    for (const { ShardId } of await this.shards()) {
      let records;
      do {
        records = await this.read(ShardId);
        for (const record of records) counted += await count(record);
      } while (records.length);
    }
    return counted;
  }

  // Parents come before their children, so that what happened to an item is seen in order.
  async shards() {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
    this.arn = Table.LatestStreamArn;
    const found = [];
    let after;
    do {
      const { StreamDescription } = await this.streams.send(
        new DescribeStreamCommand({ StreamArn: this.arn, ExclusiveStartShardId: after }));
      found.push(...StreamDescription.Shards);
      after = StreamDescription.LastEvaluatedShardId;
    } while (after);
    return found;
  }

  async read(ShardId) {
    if (!this.iterators.has(ShardId)) {
      const { ShardIterator } = await this.streams.send(
        new GetShardIteratorCommand({ StreamArn: this.arn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }));
      this.iterators.set(ShardId, ShardIterator);
    }
    const ShardIterator = this.iterators.get(ShardId);
    if (!ShardIterator) return [];
    const { Records, NextShardIterator } = await this.streams.send(new GetRecordsCommand({ ShardIterator }));
    this.iterators.set(ShardId, NextShardIterator ?? null);
    return Records;
  }

  close() {
    this.streams.destroy();
  }
}

// One record into its player's figures: 1 if it was counted. A stream may be read twice (after a crash, by a
// second reader), so the player's record remembers how far it got; records of one partition come in order.
async function count({ eventName, dynamodb }) {
  if (eventName !== 'INSERT') return 0;
  const session = unmarshall(dynamodb.NewImage);
  if (session.__edb_e__ !== 'session') return 0;
  const sequence = dynamodb.SequenceNumber.padStart(40, '0');
  try {
    await PlayerEntity.patch({ playerId: session.playerId })
      .add({ lifetimeScore: session.score, gamesPlayed: 1 })
      .set({ countedTo: sequence })
      .where(({ countedTo }, { lt, notExists }) => `(${notExists(countedTo)} OR ${lt(countedTo, sequence)})`)
      .go();
    return 1;
  } catch (error) {
    if (error.cause?.name === 'ConditionalCheckFailedException') return 0;
    throw error;
  }
}
