// What streams cost: reading 1,000 records, and writing to a table that has one against one that has
// not, in turn.
//
//   node bench/streams.mjs [--rounds 5] [--seconds 2]
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rawClient } from '../tests/lib/raw.mjs';
import { root, startServer, temporaryFolder } from '../tests/lib/server.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '32' },
  },
});
const folder = temporaryFolder();
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const server = await startServer({ data: path.join(folder, 'data'), args: ['--log-level', 'error'] });
const client = rawClient(server.endpoint);

const item = (n, version) => ({
  PK: { S: 'LB#daily' },
  SK: { S: `USER#${String(n).padStart(8, '0')}` },
  name: { S: `player ${n}` },
  level: { N: String(n % 100) },
  wins: { N: String(version) },
  updated: { S: '2026-01-01T00:00:00Z' },
});
async function create(TableName, StreamSpecification) {
  const { TableDescription } = await client.must('CreateTable', {
    TableName,
    StreamSpecification,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['PK', 'SK'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }],
  });
  return TableDescription.LatestStreamArn;
}
async function load(table, version) {
  for (let n = 0; n < 2000; n += 25) {
    const requests = Array.from({ length: 25 }, (_, i) => ({ PutRequest: { Item: item(n + i, version) } }));
    await client.must('BatchWriteItem', { RequestItems: { [table]: requests } });
  }
}
async function ask(operation, input) {
  const { status, json } = await client.call(operation, input, { 'X-Amz-Target': `DynamoDBStreams_20120810.${operation}` });
  if (status !== 200) throw new Error(JSON.stringify(json));
  return json;
}
// Until the last byte of the answer has come, not parsed.
async function time(operation, input) {
  const start = process.hrtime.bigint();
  const { body } = await client.send(JSON.stringify(input), {
    'Content-Type': 'application/x-amz-json-1.0',
    'X-Amz-Target': `DynamoDBStreams_20120810.${operation}`,
    'X-Amz-Date': '20260101T000000Z',
    Authorization: 'AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
  });
  return { ms: Number(process.hrtime.bigint() - start) / 1e6, body };
}

// --- reading ---

const StreamArn = await create('with', { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
await create('without');
for (let version = 1; version <= 3; version++) await load('with', version);
const { StreamDescription } = await ask('DescribeStream', { StreamArn });
for (const { ShardId } of StreamDescription.Shards) {
  let { ShardIterator } = await ask('GetShardIterator', { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
  // the first 2,000 are INSERTs; those after have both images
  for (let page = 0; page < 2; page++) ShardIterator = (await ask('GetRecords', { ShardIterator })).NextShardIterator;
  const count = (await ask('GetRecords', { ShardIterator })).Records.length;
  if (count < 1000) continue;
  const times = [];
  let body;
  for (let i = 0; i < 200; i++) {
    const timed = await time('GetRecords', { ShardIterator });
    times.push(timed.ms);
    body = timed.body;
  }
  times.sort((a, b) => a - b);
  console.log(`GetRecords of ${count} records (${Math.round(body.length / 1024)} KB): ` +
    `median ${median(times).toFixed(2)} ms, p99 ${times[197].toFixed(2)} ms`);
  break;
}

// --- writing ---

const bodies = (table) => {
  const file = path.join(folder, `${table}.txt`);
  writeFileSync(file, Array.from({ length: 20000 }, (_, i) =>
    JSON.stringify({ TableName: table, Item: item((i * 2654435761) % 2000, i) })).join('\n') + '\n');
  return file;
};
const rate = (file) => {
  const printed = execFileSync('wrk', ['-t1', `-c${options.connections}`, `-d${options.seconds}s`, '-s',
    path.join(root, 'bench/wrk.lua'), `${server.endpoint}/`, '--', 'PutItem', file], { encoding: 'utf8' });
  return Number(/RESULT (\S+)/.exec(printed)[1]);
};
const files = [bodies('without'), bodies('with')];
const rates = [[], []];
for (let round = 0; round < Number(options.rounds); round++)
  files.forEach((file, i) => rates[i].push(rate(file)));
console.log(`PutItem: ${Math.round(median(rates[0]))}/s without a stream, ${Math.round(median(rates[1]))}/s with ` +
  `NEW_AND_OLD_IMAGES (${median(rates[1].map((with_, i) => with_ / rates[0][i])).toFixed(2)})`);
client.close();
await server.stop();
