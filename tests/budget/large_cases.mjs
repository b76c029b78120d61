// What takes long because of the bytes in it: large items, strings and pages, one at a time and many at once.
import { rawClient } from '../lib/raw.mjs';

const list = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const LARGE = 390000;
const text = (size, letter = 'x') => letter.repeat(size);
const item = (id, size, round = 0) => ({ id: { S: id }, r: { N: `${round}` }, v: { S: text(size) } });
const told = ({ status, json }) => `${status}${status === 200 ? '' : ` ${json?.message}`}`;

async function table(client, TableName, more = {}) {
  if ((await client.call('DescribeTable', { TableName })).status === 200) return;
  await client.must('CreateTable', {
    TableName, BillingMode: 'PAY_PER_REQUEST', AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }], ...more,
  });
}

// Puts so many items there, if they are not there yet.
async function fill(client, TableName, count, size) {
  const id = (i) => `${size}-${i}`;
  const { Item } = await client.must('GetItem', { TableName, Key: { id: { S: id(count - 1) } } });
  for (let i = 0; !Item && i < count; i += 10)
    await client.must('BatchWriteItem', { RequestItems: { [TableName]: list(Math.min(10, count - i), (j) => ({ PutRequest: { Item: item(id(i + j), size) } })) } });
}

function makeItems(client) {
  let round = 0;
  const one = (name, operation, input, before) => ({ name, before, run: async () => told(await client.call(operation, typeof input === 'function' ? input() : input)) });
  const many = (name, count, operation, input, before) => ({
    name, before, run: async () => {
      round++;
      const bodies = list(count, input);
      return told((await Promise.all(bodies.map((body) => client.call(operation, body))))[0]);
    },
  });
  const empty = () => table(client, 'wide');
  const streamed = () => table(client, 'streamed', { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } });
  const filled = (count, size) => async () => { await empty(); await fill(client, 'wide', count, size); };
  const batch = (TableName) => () => ({ RequestItems: { [TableName]: list(25, (i) => ({ PutRequest: { Item: item(`b${i}`, LARGE, round++) } })) } });
  const keys = (count, size) => list(count, (i) => ({ id: { S: `${size}-${i}` } }));
  const put = (prefix) => (i) => ({ TableName: 'wide', Item: item(`${prefix}${i}`, LARGE, round) });
  const statements = (make) => () => ({ Statements: list(25, make) });
  return [
    one('BatchWriteItem of 25 items of 390 KB over others', 'BatchWriteItem', batch('wide'), empty),
    one('BatchWriteItem of 25 items of 390 KB with a stream', 'BatchWriteItem', batch('streamed'), streamed),
    one('BatchWriteItem that deletes 25 items of 390 KB', 'BatchWriteItem', { RequestItems: { wide: list(25, (i) => ({ DeleteRequest: { Key: { id: { S: `b${i}` } } } })) } },
      async () => { await empty(); await client.must('BatchWriteItem', batch('wide')()); }),
    one('BatchExecuteStatement of 25 inserts of 390 KB', 'BatchExecuteStatement', statements((i) => ({ Statement: "INSERT INTO wide VALUE {'id': ?, 'v': ?}", Parameters: [{ S: `s${i}-${round++}` }, { S: text(LARGE) }] })), empty),
    one('BatchExecuteStatement of 25 reads of 390 KB', 'BatchExecuteStatement', statements((i) => ({ Statement: `SELECT * FROM wide WHERE id = '${LARGE}-${i}'` })), filled(25, LARGE)),
    one('TransactGetItems of 100 items of 39 KB', 'TransactGetItems', { TransactItems: keys(100, 39000).map((Key) => ({ Get: { TableName: 'wide', Key } })) }, filled(100, 39000)),
    one('TransactWriteItems of 100 items of 39 KB with a stream', 'TransactWriteItems', () => ({ TransactItems: list(100, (i) => ({ Put: { TableName: 'streamed', Item: item(`t${i}`, 39000, round++) } })) }), streamed),
    one('TransactWriteItems that updates 10 items of 390 KB', 'TransactWriteItems', () => ({ TransactItems: keys(10, LARGE).map((Key) => ({ Update: { TableName: 'wide', Key, UpdateExpression: 'ADD r :n', ExpressionAttributeValues: { ':n': { N: '1' } } } })) }), filled(25, LARGE)),
    many('PutItem of 390 KB, 32 at once', 32, 'PutItem', put('p'), empty),
    many('PutItem of 100 KB, 64 at once', 64, 'PutItem', (i) => ({ TableName: 'wide', Item: item(`q${i}`, 100000, round) }), empty),
    many('UpdateItem of an item of 390 KB, 32 at once', 32, 'UpdateItem', (i) => ({ TableName: 'wide', Key: { id: { S: `${LARGE}-${i % 25}` } }, UpdateExpression: 'ADD r :n', ExpressionAttributeValues: { ':n': { N: '1' } }, ReturnValues: 'ALL_NEW' }), filled(25, LARGE)),
    many('GetItem of 390 KB, 32 at once', 32, 'GetItem', (i) => ({ TableName: 'wide', Key: keys(25, LARGE)[i % 25] }), filled(25, LARGE)),
    many('Scan of pages of 1 MB, 16 at once', 16, 'Scan', () => ({ TableName: 'wide' }), filled(25, LARGE)),
    many('Query of 390 KB, 16 at once', 16, 'Query', (i) => ({ TableName: 'wide', KeyConditionExpression: 'id = :i', ExpressionAttributeValues: { ':i': { S: `${LARGE}-${i}` } } }), filled(25, LARGE)),
    { name: 'GetRecords of 1 MB', before: async () => { await streamed(); await client.must('BatchWriteItem', batch('streamed')()); }, run: async () => {
      const { Table } = await client.must('DescribeTable', { TableName: 'streamed' });
      const streams = async (operation, input) => (await client.call(operation, input, { 'X-Amz-Target': `DynamoDBStreams_20120810.${operation}` })).json;
      const { StreamDescription } = await streams('DescribeStream', { StreamArn: Table.LatestStreamArn });
      let { ShardIterator } = await streams('GetShardIterator', { StreamArn: Table.LatestStreamArn, ShardId: StreamDescription.Shards[0].ShardId, ShardIteratorType: 'TRIM_HORIZON' });
      let records = 0;
      for (let page; ; ShardIterator = page.NextShardIterator) {
        page = await streams('GetRecords', { ShardIterator });
        if (!page.Records?.length || records >= 50) return `${records} records`;
        records += page.Records.length;
      }
    } },
    one('ListTables of 100', 'ListTables', {}, async () => { for (let i = 0; i < 100; i++) await table(client, `listed${i}`); }),
    { name: 'exporting 25 items of 390 KB and 100 of 39 KB', before: filled(100, 39000), run: async () => {
      const { Table } = await client.must('DescribeTable', { TableName: 'wide' });
      await client.call('UpdateContinuousBackups', { TableName: 'wide', PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } });
      const answer = await client.call('ExportTableToPointInTime', { TableArn: Table.TableArn, S3Bucket: 'budget' });
      const { ExportArn } = answer.json.ExportDescription ?? {};
      for (let done = !ExportArn; !done; await sleep(20))
        done = (await client.must('DescribeExport', { ExportArn })).ExportDescription.ExportStatus !== 'IN_PROGRESS';
      return told(answer);
    } },
  ];
}

function makeKeys(port, redis) {
  const large = text(LARGE, 'v');
  const one = (name, commands, before) => ({ name, before, run: () => redis(port, ...(typeof commands === 'function' ? commands() : commands)) });
  const names = (count) => list(count, (i) => `big:${i}`);
  const strings = (count) => async () => { for (const key of names(count)) await redis(port, ['SET', key, large]); };
  const loop = (call) => `for i = 1, tonumber(ARGV[1]) do ${call} end return 'done'`;
  let round = 0;
  return [
    one('SET of 390 KB, 100 in a pipeline', () => names(100).map((key) => ['SET', key, `${round++}${large}`])),
    one('MSET of 100 strings of 390 KB', () => [['MSET', ...names(100).flatMap((key) => [key, `${round++}${large}`])]]),
    one('MSET of 10 strings of 390 KB', () => [['MSET', ...names(10).flatMap((key) => [key, `${round++}${large}`])]]),
    one('MULTI of 10 SET of 390 KB', () => [['MULTI'], ...names(10).map((key) => ['SET', key, `${round++}${large}`]), ['EXEC']]),
    one('MGET of 100 strings of 390 KB', [['MGET', ...names(100)]], strings(100)),
    one('GET of 390 KB, 100 in a pipeline', names(100).map((key) => ['GET', key]), strings(100)),
    one('DEL of 100 strings of 390 KB', [['DEL', ...names(100)]], strings(100)),
    one('APPEND to 390 KB, 100 in a pipeline', list(100, () => ['APPEND', 'big:0', 'x']), strings(1)),
    one('SETRANGE in 390 KB, 100 in a pipeline', list(100, (i) => ['SETRANGE', 'big:0', i, 'yes']), strings(1)),
    one('APPEND to 100 strings of 390 KB', names(100).map((key) => ['APPEND', key, 'x']), strings(100)),
    one('HSET of 100 fields of 390 KB', () => [['HSET', 'big:hash', ...list(100, (i) => [`f${i}`, `${round++}${large}`]).flat()]]),
    one('HGETALL of 100 fields of 390 KB', [['HGETALL', 'big:hash']]),
    one('HSET of 128 fields of 60 bytes, 1000 in a pipeline', () => list(1000, (i) => ['HSET', `small-hash:${i}`, ...list(128, (j) => [`f${j}`, `${round++}`.padEnd(50)]).flat()])),
    one('HSET of one field of a hash of 8 KB, 1000 in a pipeline', () => list(1000, (i) => ['HSET', 'one-hash', `f${i % 128}`, `${round++}`.padEnd(50)])),
    one('RENAME of a string of 390 KB, 50 in a pipeline', list(50, (i) => ['RENAME', i % 2 ? 'big:away' : 'big:0', i % 2 ? 'big:0' : 'big:away']), strings(1)),
    one('LCS of two strings of 8000', [['MSET', 'lcs:a', text(4000, 'ab'), 'lcs:b', text(2666, 'abc')], ['LCS', 'lcs:a', 'lcs:b']]),
    one('a script that sets 100 strings of 390 KB', () => [['EVAL', loop("redis.call('SET', 'big:' .. i, ARGV[2] .. i)"), '0', '100', `${round++}${large}`]]),
    one('a script that sets 10 strings of 390 KB', () => [['EVAL', loop("redis.call('SET', 'big:' .. i, ARGV[2] .. i)"), '0', '10', `${round++}${large}`]]),
    one('a script that reads 100 strings of 390 KB', [['EVAL', loop("redis.call('GET', 'big:' .. i % 100)"), '0', '100']], strings(100)),
  ];
}

function makeScores(client) {
  const send = async (method, path, body) => {
    const answer = await client.send(body && Buffer.from(JSON.stringify(body)), body && { 'Content-Type': 'application/json' }, method, `/v1${path}`);
    return `${answer.status}${answer.status < 300 ? '' : ` ${answer.body}`}`;
  };
  const board = () => send('POST', '/boards', { id: 'budget:meta', game: 'budget' });
  let round = 0;
  const score = (i) => ({ board: 'budget:meta', player: `p${i}`, score: ++round, meta: { text: text(3900) } });
  return [
    { name: 'scores:batch of 500 with 4 KB each', before: board, run: () => send('POST', '/scores:batch', { scores: list(500, score) }) },
    { name: 'entries of 4 KB, a page of 1000', before: async () => { await board(); await send('POST', '/scores:batch', { scores: list(500, score) }); }, run: () => send('GET', '/boards/budget:meta/entries?limit=1000') },
  ];
}

export function makeLargeCases(server, redis) {
  const client = rawClient(server.endpoint);
  return [...makeItems(client), ...makeKeys(server.redisPort, redis), ...makeScores(client)];
}
