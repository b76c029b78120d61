// Too many requests at once: those that would wait are refused and may be tried again, the rest keeps working.
import assert from 'node:assert/strict';
import test from 'node:test';
import { rawClient } from '../lib/raw.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';

test('writes past --max-in-flight are throttled, reads are not', async () => {
  const server = await startServer({ data: temporaryFolder(), args: ['--max-in-flight', '2'] });
  const client = rawClient(server.endpoint, { connections: 64 });
  await client.must('CreateTable', {
    TableName: 'game', BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }], KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  });
  const answers = { 200: 0, 400: 0 };
  const work = Array.from({ length: 64 }, async (_, n) => {
    // How many are refused hangs on how long the disk takes: until there are some of both.
    for (let i = 0; i < 40 || (i < 4000 && (answers[200] < 100 || answers[400] === 0)); i++) {
      const put = await client.call('PutItem', { TableName: 'game', Item: { id: { S: `${n}-${i}` } } });
      answers[put.status]++;
      if (put.status !== 200)
        assert.deepEqual(put.json, { __type: 'com.amazon.coral.availability#ThrottlingException',
          message: 'Too many requests are waiting for their answer. Try again soon.' });
      const { status, json } = await client.call('GetItem', { TableName: 'game', Key: { id: { S: `${n}-${i}` } } });
      assert.equal(status, 200);
      assert.equal(json.Item !== undefined, put.status === 200);
    }
  });
  await Promise.all(work);
  assert(answers[200] >= 100, JSON.stringify(answers));
  assert(answers[400] > 0, JSON.stringify(answers));
  await client.must('PutItem', { TableName: 'game', Item: { id: { S: 'after' } } });
  client.close();
  assert.equal(await server.stop(), 0);
});
