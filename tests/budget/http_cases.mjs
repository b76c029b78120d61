// What takes long over HTTP: requests with much in them, tables that come and go, and scores by the thousand.
import { rawClient } from '../lib/raw.mjs';

const list = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const index = (name, attribute) => ({ IndexName: name, KeySchema: [{ AttributeName: attribute, KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } });
const definition = (TableName, indexed) => ({
  TableName, BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }, ...(indexed ? [{ AttributeName: 'colour', AttributeType: 'S' }] : [])],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  ...(indexed && { GlobalSecondaryIndexes: [index('by-colour', 'colour')] }),
});
const item = (i, size) => ({ id: { S: `item${i}` }, colour: { S: `c${i % 1000}` }, v: { S: 'x'.repeat(size) } });

// Deletes a table if it is there.
const drop = (client, TableName) => client.call('DeleteTable', { TableName });

async function fillTable(client, TableName, count) {
  const batches = list(Math.ceil(count / 25), (i) => i);
  await Promise.all(list(16, async () => {
    for (let at; (at = batches.pop()) !== undefined;)
      await client.must('BatchWriteItem', { RequestItems: { [TableName]: list(25, (i) => ({ PutRequest: { Item: item(at * 25 + i, 20) } })) } });
  }));
}

async function untilActive(client, TableName) {
  for (;;) {
    const { Table } = await client.must('DescribeTable', { TableName });
    if (Table.TableStatus === 'ACTIVE' && (Table.GlobalSecondaryIndexes ?? []).every(({ IndexStatus }) => IndexStatus === 'ACTIVE')) return;
    await sleep(20);
  }
}

function makeDynamoDb(client, count) {
  const has = (name, indexed) => async () => {
    if ((await client.call('DescribeTable', { TableName: name })).status !== 200) {
      await client.must('CreateTable', definition(name, indexed));
      await fillTable(client, name, count);
    }
    await untilActive(client, name);
  };
  const indexed = async (wanted) => {
    await has('filled', true)();
    const { Table } = await client.must('DescribeTable', { TableName: 'filled' });
    if ((Table.GlobalSecondaryIndexes !== undefined) === wanted) return;
    await client.must('UpdateTable', { TableName: 'filled', ...change(wanted) });
    await untilActive(client, 'filled');
  };
  const change = (adds) => ({
    AttributeDefinitions: definition('', true).AttributeDefinitions,
    GlobalSecondaryIndexUpdates: [adds ? { Create: index('by-colour', 'colour') } : { Delete: { IndexName: 'by-colour' } }],
  });
  const told = ({ status, json }) => `${status}${status === 200 ? '' : ` ${json?.message}`}`;
  const one = (name, operation, input, before) => ({ name, before, run: async () => told(await client.call(operation, typeof input === 'function' ? input() : input)) });
  const empty = async () => {
    if ((await client.call('DescribeTable', { TableName: 'items' })).status !== 200) await client.must('CreateTable', definition('items', true));
  };
  let round = 0;
  return [
    one('BatchWriteItem of 25 items of 390 KB', 'BatchWriteItem', () => ({ RequestItems: { items: list(25, (i) => ({ PutRequest: { Item: item(`${i}-${round++}`, 390000) } })) } }), empty),
    one('BatchGetItem of 100 items of 100 KB', 'BatchGetItem', { RequestItems: { items: { Keys: list(100, (i) => ({ id: { S: `itemg${i}` } })) } } }, async () => {
      await empty();
      for (let i = 0; i < 100; i += 25) await client.must('BatchWriteItem', { RequestItems: { items: list(25, (j) => ({ PutRequest: { Item: item(`g${i + j}`, 100000) } })) } });
    }),
    one('TransactWriteItems of 100 items of 39 KB', 'TransactWriteItems', () => ({ TransactItems: list(100, (i) => ({ Put: { TableName: 'items', Item: item(`t${i}-${round++}`, 39000) } })) }), empty),
    one('TransactWriteItems of 100 updates', 'TransactWriteItems', () => ({ TransactItems: list(100, (i) => ({ Update: { TableName: 'items', Key: { id: { S: `u${i}` } }, UpdateExpression: 'SET #c = :c ADD n :n', ExpressionAttributeNames: { '#c': 'colour' }, ExpressionAttributeValues: { ':c': { S: `c${round++}` }, ':n': { N: '1' } } } })) }), empty),
    one('PutItem of 400 KB in 40,000 attributes', 'PutItem', () => ({ TableName: 'items', Item: { id: { S: 'wide' }, r: { N: `${round++}` }, ...Object.fromEntries(list(30000, (i) => [`a${i}`, { N: '1' }])) } }), empty),
    one('UpdateItem of an item of 300 KB', 'UpdateItem', { TableName: 'items', Key: { id: { S: 'itemlarge' } }, UpdateExpression: 'ADD n :n', ExpressionAttributeValues: { ':n': { N: '1' } } }, async () => {
      await empty();
      await client.must('PutItem', { TableName: 'items', Item: { id: { S: 'itemlarge' }, l: { L: list(60000, () => ({ N: '1' })) } } });
    }),
    one('ExecuteStatement that looks at all items', 'ExecuteStatement', { Statement: "SELECT * FROM filled WHERE v = 'none'" }, has('filled', true)),
    one('BatchExecuteStatement of 25 inserts of 100 KB', 'BatchExecuteStatement', () => ({ Statements: list(25, (i) => ({ Statement: `INSERT INTO items VALUE {'id': 'p${i}-${round++}', 'v': '${'x'.repeat(7000)}'}` })) }), empty),
    one('ExecuteTransaction of 100 updates', 'ExecuteTransaction', () => ({ TransactStatements: list(100, (i) => ({ Statement: `UPDATE items SET n = ${round++} WHERE id = 'q${i}'` })) }), async () => {
      await empty();
      for (let i = 0; i < 100; i++) await client.must('PutItem', { TableName: 'items', Item: item(0, 10), ...{ Item: { ...item(0, 10), id: { S: `q${i}` } } } });
    }),
    one('Scan with a filter', 'Scan', { TableName: 'filled', FilterExpression: 'v = :v', ExpressionAttributeValues: { ':v': { S: 'none' } } }, has('filled', true)),
    one('Scan that counts', 'Scan', { TableName: 'filled', Select: 'COUNT' }, has('filled', true)),
    one('CreateTable with an index', 'CreateTable', definition('made', true), () => drop(client, 'made')),
    { name: `UpdateTable that adds an index of ${count}`, before: () => indexed(false), run: async () => {
      const answer = told(await client.call('UpdateTable', { TableName: 'filled', ...change(true) }));
      await untilActive(client, 'filled');
      return answer;
    } },
    one(`UpdateTable that drops an index of ${count}`, 'UpdateTable', { TableName: 'filled', ...change(false) }, () => indexed(true)),
    one(`DeleteTable of ${count} items`, 'DeleteTable', { TableName: 'filled' }, () => indexed(true)),
  ];
}

function makeRest(client, lines = 50000) {
  const send = async (method, path, body, type = 'application/json') => {
    const answer = await client.send(body === undefined ? undefined : Buffer.from(body), { ...(body !== undefined && { 'Content-Type': type }) }, method, `/v1${path}`);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    return `${answer.status}`;
  };
  const board = (id, rules = {}) => async () => {
    if ((await client.send(undefined, {}, 'GET', `/v1/boards/${id}`)).status === 200) return;
    await send('POST', '/boards', JSON.stringify({ id, game: 'budget', ...rules }));
  };
  let round = 0;
  const text = (count, part = '') => list(count, (i) => `p${part}${i},${(i * 7919 + ++round) % 1000003}`).join('\n');
  const load = (id, count, part) => send('POST', `/boards/${id}/entries:load`, text(count, part), 'text/csv');
  const afresh = (id, rules) => async () => {
    await client.send(undefined, {}, 'DELETE', `/v1/boards/${id}`);
    await board(id, rules)();
  };
  return [
    { name: `entries:load of ${lines} new scores`, before: afresh('budget:fresh'), run: () => load('budget:fresh', lines) },
    { name: `entries:load of ${lines} other scores`, before: board('budget:load'), run: () => load('budget:load', lines) },
    { name: '4 times entries:load of 10000 scores', before: board('budget:load'), run: () => Promise.all(list(4, (i) => load('budget:load', 10000, `${i}-`))).then(([first]) => first) },
    { name: 'scores:batch of 500', before: board('budget:batch'), run: () => send('POST', '/scores:batch', JSON.stringify({ scores: list(500, (i) => ({ board: 'budget:batch', player: `p${i}`, score: ++round })) })) },
    { name: `a histogram of ${lines}`, before: board('budget:load'), run: () => send('GET', '/boards/budget:load/histogram') },
    { name: `clearing ${lines} entries`, before: async () => { await board('budget:load')(); await load('budget:load', lines); }, run: () => send('DELETE', '/boards/budget:load/entries') },
    { name: `deleting a board of ${lines}`, before: async () => { await board('budget:load')(); await load('budget:load', lines); }, run: () => send('DELETE', '/boards/budget:load') },
    { name: `sealing a period of ${lines}`, before: async () => { await afresh('budget:daily', { timeframe: 'daily' })(); await load('budget:daily', lines); }, run: () => send('POST', '/boards/budget:daily/seal') },
  ];
}

export function makeHttpCases(server, members) {
  const client = rawClient(server.endpoint);
  return [...makeDynamoDb(client, Math.min(members, 200000)), ...makeRest(client)];
}
