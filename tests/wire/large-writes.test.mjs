// Writes of many bytes: others go before them, one client's stay in order, and what need not be one step is several.
import assert from 'node:assert/strict';
import net from 'node:net';
import test, { after, before } from 'node:test';
import { createClient } from 'redis';
import { rawClient } from '../lib/raw.mjs';
import { startServer } from '../lib/server.mjs';

const SIZE = 390_000;
const text = (letter, size = SIZE) => letter.repeat(size);
const list = (count, make) => Array.from({ length: count }, (_, i) => make(i));
let server, redis, client;

before(async () => {
  server = await startServer({ args: ['--threads', '2'] });
  redis = await createClient({ url: `redis://127.0.0.1:${server.redisPort}` }).connect();
  client = rawClient(server.endpoint);
  await client.must('CreateTable', {
    TableName: 'large', BillingMode: 'PAY_PER_REQUEST', AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  });
});
after(async () => {
  client.close();
  await redis.quit();
  assert.equal(await server.stop(), 0);
});

const encode = (...words) => `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;

// The small commands of a pipeline that each write a large value anew are all waiting when the other client's comes. A
// machine that lets this process ask too late gets more to do.
test('a small write gets in between the large ones of a pipeline', async () => {
  await redis.set('big', text('a'));
  for (let count = 100; ; count *= 2) {
    const socket = net.connect(server.redisPort, '127.0.0.1');
    let replies = 0;
    socket.on('data', (part) => { for (const byte of part) replies += byte === 58; });
    socket.write(list(count, (i) => encode('SETRANGE', 'big', `${i}`, `${count}`)).join(''));
    while (replies === 0) await redis.ping();
    await redis.zAdd('other', { score: count, value: 'x' });
    const before = replies;
    while (replies < count) await redis.ping();
    socket.destroy();
    if (before < count / 2) return;
    assert.ok(count < 400, `${before} of ${count} writes went before it`);
  }
});

test("one client's writes keep their order, whichever are large", async () => {
  const client = await redis.duplicate().connect();
  const script = "redis.call('APPEND', KEYS[1], ARGV[1]) return redis.call('STRLEN', KEYS[1])";
  for (let round = 0; round < 5; round++) {
    const replies = await Promise.all([
      client.set('k', 'small'),
      client.set('k', text('b')),
      client.append('k', 'cc'),
      client.eval(script, { keys: ['k'], arguments: ['ddd'] }),
      client.multi().append('k', 'e').strLen('k').exec(),
      client.rename('k', 'l'),
      client.append('l', 'f'),
      client.set('k', 'first'),
      client.mSet({ k: 'second', m: text('g') }),
      client.append('m', 'h'),
      client.set('m', 'third'),
      client.get('l'),
      client.get('k'),
      client.get('m'),
    ]);
    assert.deepEqual(replies.slice(2, 7), [SIZE + 2, SIZE + 5, [SIZE + 6, SIZE + 6], 'OK', SIZE + 7]);
    assert.equal(replies[11], `${text('b')}ccdddef`);
    assert.deepEqual(replies.slice(12), ['second', 'third']);
  }
  await client.quit();
});

test('clients that write large and small values to the same keys see their own', async () => {
  await Promise.all(list(4, async (number) => {
    const client = await redis.duplicate().connect();
    for (let i = 0; i < 20; i++) {
      const value = i % 2 ? `${number}-${i}` : text(`${number}`, 100_000 + i);
      const [, field] = await Promise.all([client.hSet('shared', `f${number}`, value), client.hGet('shared', `f${number}`)]);
      assert.equal(field, value);
    }
    await client.quit();
  }));
});

test('many large values are read', async () => {
  const values = list(8, (i) => text(String.fromCharCode(97 + i)));
  await redis.mSet(values.flatMap((value, i) => [`v${i}`, value]));
  await redis.hSet('hash', Object.fromEntries(values.map((value, i) => [`f${i}`, value])));
  assert.deepEqual(await redis.mGet(values.map((_, i) => `v${i}`)), values);
  assert.deepEqual(Object.values(await redis.hGetAll('hash')).sort(), values);
  assert.deepEqual(await redis.hmGet('hash', values.map((_, i) => `f${i}`)), values);
  assert.deepEqual(await Promise.all(values.map((_, i) => redis.get(`v${i}`))), values);
});

const put = (id, letter, size = SIZE) => ({ PutRequest: { Item: { id: { S: id }, v: { S: text(letter, size) } } } });
const read = async (id) => (await client.must('GetItem', { TableName: 'large', Key: { id: { S: id } } })).Item?.v.S;

test('a BatchWriteItem of large items, and what reads them', async () => {
  await client.must('BatchWriteItem', { RequestItems: { large: list(25, (i) => put(`b${i}`, 'a')) } });
  const answer = await client.must('BatchWriteItem', {
    ReturnConsumedCapacity: 'TOTAL', RequestItems: { large: [...list(20, (i) => put(`b${i}`, 'b')), { DeleteRequest: { Key: { id: { S: 'b24' } } } }] },
  });
  assert.deepEqual(answer.UnprocessedItems, {});
  assert.ok(answer.ConsumedCapacity[0].CapacityUnits > 20 * 380);
  assert.equal(await read('b19'), text('b'));
  assert.equal(await read('b20'), text('a'));
  assert.equal(await read('b24'), undefined);
  const { Responses } = await client.must('BatchGetItem', { RequestItems: { large: { Keys: list(25, (i) => ({ id: { S: `b${i}` } })) } } });
  assert.equal(Responses.large.length, 24);
  const { Items, LastEvaluatedKey } = await client.must('Scan', { TableName: 'large' });
  assert.equal(Items.length, 3); // that is 1 MB
  assert.ok(LastEvaluatedKey);
  const { Responses: got } = await client.must('TransactGetItems', { TransactItems: list(10, (i) => ({ Get: { TableName: 'large', Key: { id: { S: `b${i}` } } } })) });
  assert.deepEqual(got.map(({ Item }) => Item.v.S.length), list(10, () => SIZE));
  const { Responses: rows } = await client.must('BatchExecuteStatement', { Statements: list(25, (i) => ({ Statement: `SELECT * FROM large WHERE id = 'b${i}'` })) });
  assert.deepEqual(rows.map(({ Item }) => Item?.v.S.length), list(25, (i) => (i < 24 ? SIZE : undefined)));
});

test('a BatchWriteItem with a fault changes nothing, however large', async () => {
  const faulty = list(10, (i) => put(`w${i}`, 'a'));
  faulty.push({ PutRequest: { Item: { id: { N: '1' } } } });
  assert.equal((await client.call('BatchWriteItem', { RequestItems: { large: faulty } })).status, 400);
  assert.equal(await read('w0'), undefined);
});
