// dynamodb-admin, the table browser people use: its own program, driven through its pages.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { root, startServer } from '../lib/server.mjs';

let server, admin, base;
before(async () => {
  server = await startServer({ game: false });
  admin = spawn(process.execPath, [path.join(root, 'tests/node_modules/dynamodb-admin/dist/dynamodb-admin.js'), '--host', '127.0.0.1', '--port', '0'], {
    env: { ...process.env, DYNAMO_ENDPOINT: server.endpoint, AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const forget = () => admin.kill('SIGKILL');
  process.on('exit', forget);
  admin.on('exit', () => process.off('exit', forget));
  let printed = '';
  base = await new Promise((resolve, reject) => {
    const look = (part) => {
      printed += part;
      const found = /listening on (http:\/\/\S+)/.exec(printed);
      if (found) resolve(found[1]);
    };
    admin.stdout.on('data', look);
    admin.stderr.on('data', look);
    admin.on('exit', () => reject(new Error(`dynamodb-admin ended: ${printed}`)));
  });
});
after(async () => {
  const ended = once(admin, 'exit');
  admin.kill();
  await ended;
  assert.equal(await server.stop(), 0);
});

const visit = async (place, { method = 'GET', json, status = 200 } = {}) => {
  const answer = await fetch(`${base}${place}`, {
    method, ...(json ? { body: JSON.stringify(json), headers: { 'Content-Type': 'application/json' } } : {}),
  });
  const text = await answer.text();
  assert.equal(answer.status, status, `${method} ${place}: ${text.slice(0, 500)}`);
  return /json/.test(answer.headers.get('content-type')) ? JSON.parse(text) : text;
};
const items = (query = {}) => visit(`/tables/scores/items?${new URLSearchParams(query)}`);

test('no tables, then one made through its form, with indexes', async () => {
  assert.deepEqual(await visit('/api/tables'), []);
  assert.match(await visit('/'), /<html/);
  await visit('/create-table');
  await visit('/create-table', {
    method: 'POST', status: 204,
    json: {
      TableDefinition: { TableName: 'scores', HashAttributeName: 'player', HashAttributeType: 'S', RangeAttributeName: 'round', RangeAttributeType: 'N', ReadCapacityUnits: 3, WriteCapacityUnits: 3 },
      SecondaryIndexes: [
        { IndexName: 'byBoard', IndexType: 'global', HashAttributeName: 'board', HashAttributeType: 'S', RangeAttributeName: 'points', RangeAttributeType: 'N', ReadCapacityUnits: 3, WriteCapacityUnits: 3 },
        { IndexName: 'byPoints', IndexType: 'local', HashAttributeName: 'player', HashAttributeType: 'S', RangeAttributeName: 'points', RangeAttributeType: 'N' },
      ],
    },
  });
  const [table] = await visit('/api/tables');
  assert.equal(table.TableName, 'scores');
  assert.equal(table.GlobalSecondaryIndexes[0].IndexName, 'byBoard');
  assert.equal(table.LocalSecondaryIndexes[0].IndexName, 'byPoints');
  assert.match(await visit('/'), /scores/);
  assert.match(await visit('/tables/scores/meta'), /byBoard/);
  assert.match(await visit('/tables/scores/ttl'), /DISABLED/);
});

test('making the same table again shows the error', async () => {
  const answer = await visit('/create-table', {
    method: 'POST', status: 500,
    json: { TableDefinition: { TableName: 'scores', HashAttributeName: 'player', HashAttributeType: 'S', ReadCapacityUnits: 3, WriteCapacityUnits: 3 } },
  });
  assert.match(answer.message, /Table already exists: scores/);
});

test('add items, see them in pages, look one up, change it, delete it', async () => {
  assert.match(await visit('/tables/scores/add-item'), /player/);
  for (let i = 0; i < 30; i++)
    assert.deepEqual(await visit('/tables/scores/add-item', { method: 'PUT', json: { player: `p${i % 3}`, round: i, board: i % 2 ? 'odd' : 'even', points: i * 10, deep: { list: [i, null] } } }),
      { player: `p${i % 3}`, round: i });
  assert.match(await visit('/tables/scores'), /scores/);
  const seen = [];
  let page = await items({ pageSize: 12 });
  for (let number = 2; ; number++) {
    seen.push(...page.Items.map((item) => item.round));
    if (!page.nextKey) break;
    page = await items({ pageSize: 12, startKey: decodeURIComponent(page.nextKey), pageNum: number });
  }
  assert.deepEqual(seen.sort((a, b) => a - b), Array.from({ length: 30 }, (_, i) => i));
  assert.match(await visit('/tables/scores/get'), /player/);
  assert.match(await visit('/tables/scores/get?hash=p1&range=7'), /&#34;points&#34;: ?70|"points": ?70|points/);
  const changed = await visit('/tables/scores/items/p1,7', { method: 'PUT', json: { player: 'p1', round: 7, board: 'odd', points: 7.5, note: 'changed' } });
  assert.deepEqual(changed, { player: 'p1', round: 7, board: 'odd', points: 7.5, note: 'changed' });
  await visit('/tables/scores/items/p1,7', { method: 'DELETE', status: 204 });
  await visit('/tables/scores/items/p1,7', { status: 404 });
});

test('filters and queries, of the table and of an index', async () => {
  const filters = (object) => JSON.stringify(object);
  const filtered = await items({ filters: filters({ points: { type: 'N', value: '250', operator: '>' } }), pageSize: 100 });
  assert.deepEqual(filtered.Items.map((item) => item.round).sort(), [26, 27, 28, 29]);
  const queried = await items({ operationType: 'query', filters: filters({ player: { type: 'S', value: 'p2', operator: '=' }, round: { type: 'N', value: '20', operator: '>=' } }) });
  assert.deepEqual(queried.Items.map((item) => item.round), [20, 23, 26, 29]);
  const indexed = await items({
    operationType: 'query', queryableSelection: 'byBoard', filters: filters({ board: { type: 'S', value: 'odd', operator: '=' }, points: { type: 'N', value: '200', operator: '<' } }), pageSize: 100,
  });
  assert.deepEqual(indexed.Items.map((item) => item.round), [1, 3, 5, 9, 11, 13, 15, 17, 19]);
  const wrong = await visit(`/tables/scores/items?${new URLSearchParams({ operationType: 'query', filters: filters({ points: { type: 'N', value: '1', operator: '=' } }) })}`, { status: 500 });
  assert.match(wrong.message, /KeyConditions or KeyConditionExpression/);
});

test('purge empties the table, delete removes it', async () => {
  await visit('/tables/scores/all', { method: 'DELETE' });
  assert.deepEqual((await items()).Items, []);
  assert.equal((await visit('/api/tables'))[0].ItemCount, 0);
  await visit('/tables/scores', { method: 'DELETE', status: 204 });
  assert.deepEqual(await visit('/api/tables'), []);
  const gone = await visit('/tables/scores/meta', { status: 500 });
  assert.match(gone.message, /Requested resource not found/);
});
