// PartiQL with the real clients: ExecuteStatement, BatchExecuteStatement, ExecuteTransaction.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  BatchExecuteStatementCommand,
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  ExecuteStatementCommand,
  ExecuteTransactionCommand,
} from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  ExecuteStatementCommand as DocumentStatement,
  PutCommand,
} from '@aws-sdk/lib-dynamodb';
import { startServer } from '../lib/server.mjs';

let server, client, documents;

before(async () => {
  server = await startServer();
  client = new DynamoDBClient({
    endpoint: server.endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
    maxAttempts: 1,
  });
  documents = DynamoDBDocumentClient.from(client);
});

after(async () => {
  client?.destroy();
  await server?.stop();
});

// Creates the tables anew: game with two players of four scores each, and solo with one item.
async function tables() {
  for (const TableName of ['game', 'solo'])
    await client.send(new DeleteTableCommand({ TableName })).catch(() => {});
  await client.send(
    new CreateTableCommand({
      TableName: 'game',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'N' },
        { AttributeName: 'board', AttributeType: 'S' },
        { AttributeName: 'score', AttributeType: 'N' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by-score',
          KeySchema: [
            { AttributeName: 'board', KeyType: 'HASH' },
            { AttributeName: 'score', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    }),
  );
  await client.send(
    new CreateTableCommand({
      TableName: 'solo',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  );
  for (const pk of ['ann', 'bob'])
    for (let sk = 1; sk <= 4; sk++)
      await documents.send(
        new PutCommand({
          TableName: 'game',
          Item: {
            pk, sk, board: 'all', score: sk * 10 + (pk === 'bob' ? 5 : 0),
            name: `${pk}-${sk}`, row: [sk, 'x'], map: { x: sk, 'c d': { deep: [true] } },
            tags: new Set(['a', 'b']), empty: null, alive: sk % 2 === 0,
          },
        }),
      );
  await documents.send(
    new PutCommand({ TableName: 'solo', Item: { id: 'one', v: 1, row: [1], tags: new Set(['a', 'b']), map: {} } }),
  );
}

async function run(Statement, Parameters, more = {}) {
  return documents.send(new DocumentStatement({ Statement, Parameters, ...more }));
}
const items = async (...given) => (await run(...given)).Items;
const keys = async (...given) => (await items(...given)).map((item) => `${item.pk}${item.sk}`);

async function refused(statement, name, message, parameters, more) {
  await assert.rejects(run(statement, parameters, more), (fault) => {
    assert.equal(fault.name, name, statement);
    if (message instanceof RegExp) assert.match(fault.message, message);
    else assert.equal(fault.message, message);
    return true;
  });
}
const invalid = (statement, message, parameters, more) =>
  refused(statement, 'ValidationException', message, parameters, more);

describe('SELECT', () => {
  before(tables);

  test('by key', async () => {
    assert.deepEqual(await items(`SELECT id, v FROM solo WHERE id = 'one'`), [{ id: 'one', v: 1 }]);
    assert.deepEqual(await items(`SELECT * FROM "solo" WHERE id = ?`, ['none']), []);
    assert.deepEqual(await keys(`SELECT * FROM game WHERE pk = ? AND sk = ?`, ['ann', 2]), ['ann2']);
    assert.deepEqual(await keys(`SELECT pk, sk FROM "game" WHERE pk = 'ann' AND sk > 2`), ['ann3', 'ann4']);
    assert.deepEqual(await keys(`select pk, sk from game where pk = 'ann' and sk between 2 and 3;`), ['ann2', 'ann3']);
    assert.deepEqual(await keys(`SELECT * FROM game WHERE pk = 'ann' AND sk > 1 AND sk < 4`), ['ann2', 'ann3']);
    assert.deepEqual(await keys(`SELECT * FROM game WHERE pk = 'ann' AND sk IN [1, 3]`), ['ann1', 'ann3']);
    assert.deepEqual(await keys(`SELECT * FROM game WHERE pk = 'ann' AND pk = 'bob'`), []);
  });

  test('several partitions', async () => {
    assert.deepEqual(await keys(`SELECT * FROM game WHERE pk IN ['bob', 'ann'] AND sk > 3`), ['bob4', 'ann4']);
    assert.deepEqual(await keys(`SELECT * FROM game WHERE pk IN ('bob', 'ann') AND sk = 1 ORDER BY pk`), ['ann1', 'bob1']);
    assert.deepEqual(await keys(`SELECT * FROM game WHERE (pk = 'ann' AND sk = 1) OR (pk = 'bob' AND sk < 3)`),
      ['ann1', 'bob1', 'bob2']);
    assert.deepEqual(await keys(`SELECT * FROM game WHERE (pk = 'ann' AND sk > 1) OR (pk = 'ann' AND sk < 3)`),
      ['ann1', 'ann2', 'ann3', 'ann4']);
  });

  test('order', async () => {
    assert.deepEqual(await keys(`SELECT * FROM game WHERE pk = 'ann' ORDER BY sk DESC`), ['ann4', 'ann3', 'ann2', 'ann1']);
    assert.deepEqual(await keys(`SELECT * FROM game WHERE pk IN ['ann', 'bob'] AND sk < 3 ORDER BY pk DESC, sk DESC`),
      ['bob2', 'bob1', 'ann2', 'ann1']);
    await invalid(`SELECT * FROM game ORDER BY sk`, 'Must have WHERE clause in the statement when using ORDER BY clause.');
    await invalid(`SELECT * FROM game WHERE sk = 1 ORDER BY sk`,
      'Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.');
    await invalid(`SELECT * FROM game WHERE pk = 'ann' ORDER BY name`,
      'Variable reference name in ORDER BY clause must be part of the primary key');
  });

  test('a query reads no more than its partition, a scan everything', async () => {
    const consumed = async (statement) =>
      (await run(statement, undefined, { ReturnConsumedCapacity: 'TOTAL' })).ConsumedCapacity;
    for (let i = 0; i < 20; i++)
      await documents.send(new PutCommand({ TableName: 'game', Item: { pk: 'big', sk: i, text: 'x'.repeat(8000) } }));
    const query = await consumed(`SELECT pk FROM game WHERE pk = 'ann' AND name = 'ann-1'`);
    assert.deepEqual(query, { TableName: 'game', CapacityUnits: 0.5 });
    assert.ok((await consumed(`SELECT pk FROM game WHERE name = 'ann-1'`)).CapacityUnits > 15);
    assert.equal((await consumed(`SELECT pk FROM game WHERE pk = 'big' AND sk = 3`)).CapacityUnits, 1);
    assert.ok((await consumed(`SELECT pk FROM game WHERE pk IN ['ann', 'big'] AND sk < 2`)).CapacityUnits < 3);
    await run(`DELETE FROM game WHERE pk = 'big' AND sk = 0`);
    for (let i = 1; i < 20; i++) await run(`DELETE FROM game WHERE pk = ? AND sk = ?`, ['big', i]);
  });

  test('an index', async () => {
    const { Items, ConsumedCapacity } = await run(
      `SELECT pk, sk, score FROM "game"."by-score" WHERE board = 'all' AND score >= 35 ORDER BY score DESC`,
      undefined, { ReturnConsumedCapacity: 'INDEXES' });
    assert.deepEqual(Items.map((item) => item.score), [45, 40, 35]);
    assert.deepEqual(ConsumedCapacity.GlobalSecondaryIndexes, { 'by-score': { CapacityUnits: 0.5 } });
    await invalid(`SELECT * FROM game."no-such" WHERE board = 'all'`, 'The table does not have the specified index: no-such');
    await invalid(`SELECT name FROM game."by-score" WHERE board = 'all'`,
      'One or more parameter values were invalid: Global secondary index by-score does not project [name]');
    await invalid(`SELECT * FROM game."by-score" WHERE board = 'all'`,
      'Consistent reads are not supported on global secondary indexes', undefined, { ConsistentRead: true });
  });

  test('paths are shown under their last name', async () => {
    const one = `FROM game WHERE pk = 'ann' AND sk = 1`;
    assert.deepEqual(await items(`SELECT map.x, row[1], map."c d".deep[0] ${one}`), [{ x: 1, 'row[1]': 'x', 'deep[0]': true }]);
    assert.deepEqual(await items(`SELECT map['x'], name, map.none ${one}`), [{ x: 1, name: 'ann-1' }]);
    await invalid(`SELECT map, map.x ${one}`, /^Two document paths overlap/);
    await invalid(`SELECT pk, pk ${one}`, 'Duplicate identifiers in select clause: pk');
    await invalid(`SELECT pk AS p ${one}`, 'Aliasing is not supported');
  });

  test('conditions', async () => {
    const of = async (condition, parameters) => keys(`SELECT pk, sk FROM game WHERE pk = 'ann' AND (${condition})`, parameters);
    assert.deepEqual(await of(`begins_with(name, 'ann-1')`), ['ann1']);
    assert.deepEqual(await of(`contains(name, '-2') OR contains(row, 3)`), ['ann2', 'ann3']);
    assert.deepEqual(await of(`contains(tags, 'a') AND size(name) = 5 AND attribute_type(name, 'S') AND sk = 4`), ['ann4']);
    assert.deepEqual(await of(`empty IS NULL AND none IS MISSING AND map.x IS NOT MISSING AND alive = true`), ['ann2', 'ann4']);
    assert.deepEqual(await of(`empty IS NOT NULL`), []);
    assert.deepEqual(await of(`NOT sk IN [1, 2] AND sk != 3`), ['ann4']);
    assert.deepEqual(await of(`sk NOT BETWEEN 1 AND 3`), ['ann4']);
    assert.deepEqual(await of(`tags = <<'b', 'a'>> AND row = [2, 'x'] AND map = {'x': 2, 'c d': {'deep': [true]}}`), ['ann2']);
    assert.deepEqual(await of(`row[0] = ? AND map."c d".deep = ?`, [3, [true]]), ['ann3']);
    assert.deepEqual(await of(`score > 10 AND (sk = 2 OR sk = 3) AND NOT name = 'ann-3'`), ['ann2']);
    await invalid(`SELECT * FROM game WHERE begins_with(name, 5)`,
      'Incorrect operand type for operator or function; operator or function: begins_with, operand type: N');
    await invalid(`SELECT * FROM game WHERE foo(name)`, 'Unrecognized function: foo');
    await invalid(`SELECT * FROM game WHERE name LIKE 'a%'`, 'Unsupported operator in Condition Expression. Operator: like');
    await invalid(`SELECT * FROM game WHERE alive`, 'WHERE clause must contain an expression that resolves to a boolean');
    await invalid(`SELECT * FROM game WHERE pk = 1`,
      "Key attribute's data type should match its data type in table's schema: Key pk");
  });

  test('pages', async () => {
    const paged = async (statement, Limit) => {
      const found = [], sizes = [];
      let NextToken;
      do {
        const page = await run(statement, undefined, { Limit, NextToken });
        found.push(...page.Items.map((item) => `${item.pk}${item.sk}`));
        sizes.push(page.Items.length);
        NextToken = page.NextToken;
        assert.ok(sizes.length < 20);
      } while (NextToken);
      return { found, sizes };
    };
    const all = ['ann1', 'ann2', 'ann3', 'ann4', 'bob1', 'bob2', 'bob3', 'bob4'];
    for (let limit = 1; limit < 10; limit++) {
      assert.deepEqual((await paged(`SELECT * FROM game WHERE pk IN ['ann', 'bob']`, limit)).found, all);
      assert.deepEqual((await paged(`SELECT * FROM game`, limit)).found.sort(), all);
      assert.deepEqual((await paged(`SELECT * FROM game WHERE pk = 'bob' ORDER BY sk DESC`, limit)).found,
        ['bob4', 'bob3', 'bob2', 'bob1']);
    }
    assert.deepEqual((await paged(`SELECT * FROM game WHERE pk = 'ann' AND name = 'ann-3'`, 1)).sizes, [0, 0, 1, 0, 0]);
    const first = await client.send(new ExecuteStatementCommand({ Statement: `SELECT pk FROM game WHERE pk = 'ann'`, Limit: 2 }));
    assert.deepEqual(first.LastEvaluatedKey, { pk: { S: 'ann' }, sk: { N: '2' } });
    await invalid(`SELECT * FROM game WHERE pk = 'ann'`, 'Invalid NextToken', undefined, { NextToken: 'abc' });
    await invalid(`SELECT * FROM game WHERE pk = 'bob'`, 'NextToken does not match request', undefined,
      { NextToken: first.NextToken });
  });

  test('a page ends at 1 MB, also over several partitions', async () => {
    for (let i = 0; i < 30; i++)
      await documents.send(new PutCommand({ TableName: 'game', Item: { pk: `wide${i % 3}`, sk: i, text: 'y'.repeat(100_000) } }));
    let pages = 0, found = 0, NextToken;
    do {
      const page = await run(`SELECT * FROM game WHERE pk IN ['wide0', 'wide1', 'wide2']`, undefined, { NextToken });
      assert.ok(page.Items.length <= 21);
      found += page.Items.length;
      pages++;
      NextToken = page.NextToken;
    } while (NextToken);
    assert.equal(found, 30);
    assert.ok(pages > 1);
  });

  test('what is refused', async () => {
    await refused(`SELECT * FROM nope`, 'ResourceNotFoundException', 'Requested resource not found');
    await invalid(`SELECT FROM game`, "Statement wasn't well formed, can't be processed: SELECT FROM game");
    await invalid(`SELECT * FROM game WHERE user = 1`, /^Statement wasn't well formed/);
    await invalid(`SELECT COUNT(*) FROM game`, 'Unexpected path component at 1:8:5');
    await invalid(`SELECT * FROM game LIMIT 2`, 'Unsupported clause: LIMIT at 1:26:1');
    await invalid(`DROP TABLE game`, 'Unsupported operation: DropTable');
    await invalid(`EXISTS(SELECT * FROM game WHERE pk = 'ann' AND sk = 1 AND name = 'x')`,
      'EXISTS can only be used in ExecuteTransaction write requests.');
    await invalid(`SELECT * FROM game WHERE pk = ?`, "Number of parameters in request and statement don't match.");
    await invalid(`SELECT * FROM game WHERE pk = ?`, "Number of parameters in request and statement don't match.", ['a', 'b']);
    await invalid(`SELECT * FROM game WHERE pk = '${'x'.repeat(8192)}'`, /Member must have length less than or equal to 8192/);
  });
});

describe('writes', () => {
  before(tables);

  test('INSERT', async () => {
    assert.deepEqual(await items(`INSERT INTO solo VALUE {'id': 'two', 'n': -1.50e2, 's': 'it''s', 'l': [1, 'b', null, true], 'set': <<'a', 'b'>>, 'm': {'k': {'z': 1}}}`), []);
    assert.deepEqual(await items(`SELECT * FROM solo WHERE id = 'two'`),
      [{ id: 'two', n: -150, s: "it's", l: [1, 'b', null, true], set: new Set(['a', 'b']), m: { k: { z: 1 } } }]);
    await refused(`INSERT INTO solo VALUE {'id': 'two'}`, 'DuplicateItemException', 'Duplicate primary key exists in table');
    await run(`INSERT INTO solo VALUE {'id': ?, 'b': ?, 'm': {'inner': ?}}`, ['three', new Uint8Array([1, 2]), { a: [1] }]);
    assert.deepEqual((await items(`SELECT m FROM solo WHERE id = 'three'`)), [{ m: { inner: { a: [1] } } }]);
    await invalid(`INSERT INTO solo VALUE {'v': 1}`, 'Key attribute should be present in the item: Key id');
    await invalid(`INSERT INTO solo VALUE {'id': 1}`, "Key attribute's data type should match its data type in table's schema: Key id");
    await invalid(`INSERT INTO solo VALUE {'id': 'x', 'id': 'y'}`, /^Duplicate keys in tuple/);
    await invalid(`INSERT INTO solo VALUE {'id': 'x', 's': <<1, 1>>}`, 'Input collection contains duplicates');
    await invalid(`INSERT INTO solo VALUE {'id': 'x'} RETURNING ALL OLD *`, 'RETURNING is not supported in INSERT');
    await invalid(`INSERT INTO solo VALUE ?`, /^Unsupported format in item expression/, [{ id: 'x' }]);
  });

  test('UPDATE', async () => {
    const update = async (rest, parameters) => items(`UPDATE solo ${rest}`, parameters);
    assert.deepEqual(await update(`SET v = v + 1 WHERE id = 'one'`), []);
    assert.deepEqual(await update(`SET v = v + 10 - ? WHERE id = 'one' RETURNING MODIFIED NEW *`, [2]), [{ v: 10 }]);
    assert.deepEqual(await update(`SET v = 3, w = 'x' WHERE id = 'one' RETURNING MODIFIED OLD *`), [{ v: 10 }]);
    assert.deepEqual(await update(`SET row = list_append(row, [2, 3]) REMOVE w WHERE id = 'one' RETURNING ALL NEW *`),
      [{ id: 'one', v: 3, row: [1, 2, 3], tags: new Set(['a', 'b']), map: {} }]);
    assert.deepEqual(await update(`SET map.deep = {'a': 1} SET row[0] = 9 REMOVE row[2] WHERE id = 'one' RETURNING ALL OLD *`),
      [{ id: 'one', v: 3, row: [1, 2, 3], tags: new Set(['a', 'b']), map: {} }]);
    assert.deepEqual(await update(`SET tags = set_add(tags, <<'c'>>) WHERE id = 'one' RETURNING MODIFIED NEW *`), [{ tags: new Set(['a', 'b', 'c']) }]);
    assert.deepEqual(await update(`SET tags = set_delete(tags, ?) WHERE id = 'one' RETURNING MODIFIED NEW *`, [new Set(['a'])]), [{ tags: new Set(['b', 'c']) }]);
    assert.deepEqual(await update(`SET q = if_not_exists(q, 5) + 1 WHERE id = 'one' RETURNING MODIFIED NEW *`), [{ q: 6 }]);
    await refused(`UPDATE solo SET v = 1 WHERE id = 'none'`, 'ConditionalCheckFailedException', 'The conditional request failed');
    await refused(`UPDATE solo SET v = 1 WHERE id = 'one' AND v = 99`, 'ConditionalCheckFailedException', 'The conditional request failed');
    assert.deepEqual(await items(`SELECT * FROM solo WHERE id = 'none'`), []);
    await invalid(`UPDATE solo SET v = 1 WHERE v = 3`, 'Where clause does not contain a mandatory equality on all key attributes');
    await invalid(`UPDATE solo SET id = 'x' WHERE id = 'one'`,
      'One or more parameter values were invalid: Cannot update attribute id. This attribute is part of the key');
    await invalid(`UPDATE solo SET v = zz WHERE id = 'one'`,
      'The provided expression refers to an attribute that does not exist in the item');
    await invalid(`UPDATE solo SET v = v * 2 WHERE id = 'one'`, 'Unsupported operator in Update Expression. Operator: *');
    await invalid(`UPDATE game."by-score" SET v = 1 WHERE board = 'all' AND score = 1`, 'This operation is not supported on an index');
  });

  test('DELETE', async () => {
    await refused(`DELETE FROM game WHERE pk = 'ann' AND sk = 1 AND name = 'zip'`, 'ConditionalCheckFailedException', 'The conditional request failed');
    const [old] = await items(`DELETE FROM game WHERE pk = 'ann' AND sk = 1 AND name = 'ann-1' RETURNING ALL OLD *`);
    assert.equal(old.name, 'ann-1');
    assert.deepEqual(await items(`DELETE FROM game WHERE pk = 'ann' AND sk = 1 RETURNING ALL OLD *`), []);
    assert.deepEqual(await items(`DELETE FROM game WHERE pk = 'ann' AND sk = 1 AND name = 'zip'`), []);
    await invalid(`DELETE FROM game WHERE pk = 'ann'`, 'Where clause does not contain a mandatory equality on all key attributes');
    await invalid(`DELETE FROM game WHERE pk = 'ann' AND sk = 2 RETURNING ALL NEW *`, /^Invalid returning clause/);
  });

  test('the item comes with a failed condition, and capacity if asked for', async () => {
    const fault = await client
      .send(new ExecuteStatementCommand({
        Statement: `UPDATE game SET v = 1 WHERE pk = 'bob' AND sk = 1 AND name = 'zip'`,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }))
      .catch((error) => error);
    assert.equal(fault.Item.name.S, 'bob-1');
    const { ConsumedCapacity } = await run(`UPDATE game SET score = 99 WHERE pk = 'bob' AND sk = 1`, undefined,
      { ReturnConsumedCapacity: 'INDEXES' });
    assert.deepEqual(ConsumedCapacity, {
      TableName: 'game', CapacityUnits: 3, Table: { CapacityUnits: 1 },
      GlobalSecondaryIndexes: { 'by-score': { CapacityUnits: 2 } },
    });
  });
});

describe('BatchExecuteStatement', () => {
  before(tables);
  const batch = (statements, more = {}) =>
    client.send(new BatchExecuteStatementCommand({
      Statements: statements.map((one) => (typeof one === 'string' ? { Statement: one } : one)), ...more,
    }));

  test('reads', async () => {
    const { Responses, ConsumedCapacity } = await batch([
      `SELECT v FROM solo WHERE id = 'one'`,
      `SELECT * FROM solo WHERE id = 'none'`,
      { Statement: `SELECT map.x FROM game WHERE pk = ? AND sk = ?`, Parameters: [{ S: 'ann' }, { N: '2' }], ConsistentRead: true },
      `SELECT * FROM nope WHERE id = 'x'`,
      `SELECT * FROM game WHERE pk = 'ann'`,
      `SELEC`,
    ], { ReturnConsumedCapacity: 'TOTAL' });
    assert.deepEqual(Responses[0], { TableName: 'solo', Item: { v: { N: '1' } } });
    assert.deepEqual(Responses[1], { TableName: 'solo' });
    assert.deepEqual(Responses[2], { TableName: 'game', Item: { x: { N: '2' } } });
    assert.equal(Responses[3].Error.Code, 'ResourceNotFound');
    assert.deepEqual(Responses[4].Error, {
      Code: 'ValidationError',
      Message: 'Select statements within BatchExecuteStatement must specify the primary key in the where clause.',
    });
    assert.equal(Responses[5].Error.Code, 'ValidationError');
    assert.deepEqual(ConsumedCapacity, [
      { TableName: 'solo', CapacityUnits: 1 },
      { TableName: 'game', CapacityUnits: 1 },
    ]);
  });

  test('writes, each by itself', async () => {
    const { Responses } = await batch([
      `INSERT INTO solo VALUE {'id': 'one'}`,
      `INSERT INTO solo VALUE {'id': 'b1', 'v': 1}`,
      `UPDATE solo SET v = 1 WHERE id = 'none'`,
      `UPDATE game SET v = 2 WHERE pk = 'ann' AND sk = 1 RETURNING MODIFIED NEW *`,
      `DELETE FROM solo WHERE id = 'xx'`,
      `UPDATE solo SET v = 1 WHERE v = 2`,
      { Statement: `DELETE FROM game WHERE pk = 'bob' AND sk = 1 AND name = 'zip'`, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
    ]);
    assert.deepEqual(Responses[0], {
      TableName: 'solo', Error: { Code: 'DuplicateItem', Message: 'Duplicate primary key exists in table' },
    });
    assert.deepEqual(Responses[1], { TableName: 'solo' });
    assert.equal(Responses[2].Error.Code, 'ConditionalCheckFailed');
    assert.deepEqual(Responses[3], { TableName: 'game', Item: { v: { N: '2' } } });
    assert.deepEqual(Responses[4], { TableName: 'solo' });
    assert.equal(Responses[5].Error.Code, 'ValidationError');
    assert.equal(Responses[6].Error.Item.name.S, 'bob-1');
    assert.deepEqual(await items(`SELECT v FROM solo WHERE id = 'b1'`), [{ v: 1 }]);
  });

  test('what is refused as a whole', async () => {
    const whole = (statements, message) =>
      assert.rejects(batch(statements), { name: 'ValidationException', message });
    await whole([`SELECT * FROM solo WHERE id = 'one'`, `DELETE FROM solo WHERE id = 'two'`],
      'Read and write requests together in the same batch is not supported.');
    await whole([`UPDATE solo SET v = 1 WHERE id = 'one'`, `DELETE FROM solo WHERE id = 'one'`],
      'Provided list of item keys contains duplicates');
    await whole(Array(26).fill(`SELECT * FROM solo WHERE id = 'one'`), /less than or equal to 25/);
  });

  test('twenty-five at once', async () => {
    const { Responses } = await batch(Array.from({ length: 25 }, (_, i) => `INSERT INTO solo VALUE {'id': 'n${i}', 'v': ${i}}`));
    assert.ok(Responses.every((one) => !one.Error));
    const read = await batch(Array.from({ length: 25 }, (_, i) => `SELECT v FROM solo WHERE id = 'n${i}'`));
    assert.deepEqual(read.Responses.map((one) => Number(one.Item.v.N)), Array.from({ length: 25 }, (_, i) => i));
  });
});

describe('ExecuteTransaction', () => {
  before(tables);
  const transact = (statements, more = {}) =>
    client.send(new ExecuteTransactionCommand({
      TransactStatements: statements.map((one) => (typeof one === 'string' ? { Statement: one } : one)), ...more,
    }));

  test('reads of one moment', async () => {
    const { Responses, ConsumedCapacity } = await transact([
      `SELECT v FROM solo WHERE id = 'one'`,
      `SELECT * FROM solo WHERE id = 'none'`,
      { Statement: `SELECT name FROM game WHERE pk = ? AND sk = ?`, Parameters: [{ S: 'ann' }, { N: '2' }] },
    ], { ReturnConsumedCapacity: 'TOTAL' });
    assert.deepEqual(Responses, [{ Item: { v: { N: '1' } } }, {}, { Item: { name: { S: 'ann-2' } } }]);
    assert.deepEqual(ConsumedCapacity.map((one) => one.TableName), ['solo', 'game']);
  });

  test('all or nothing', async () => {
    const { Responses } = await transact([
      `INSERT INTO solo VALUE {'id': 't1', 'v': 1}`,
      `UPDATE solo SET v = v + 1 WHERE id = 'one'`,
      `DELETE FROM game WHERE pk = 'ann' AND sk = 1`,
      `EXISTS(SELECT * FROM game WHERE pk = 'ann' AND sk = 2 AND name = 'ann-2')`,
    ]);
    assert.deepEqual(Responses, []);
    assert.deepEqual(await items(`SELECT v FROM solo WHERE id = 'one'`), [{ v: 2 }]);
    const fault = await transact([
      { Statement: `INSERT INTO solo VALUE {'id': 't1'}` },
      { Statement: `UPDATE solo SET v = 5 WHERE id = 'one' AND v = 99`, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
      { Statement: `DELETE FROM game WHERE pk = 'ann' AND sk = 2` },
      { Statement: `EXISTS(SELECT * FROM game WHERE pk = 'ann' AND sk = 3 AND name = 'zip')` },
    ]).catch((error) => error);
    assert.equal(fault.name, 'TransactionCanceledException');
    assert.deepEqual(fault.CancellationReasons.map((one) => one.Code),
      ['DuplicateItem', 'ConditionalCheckFailed', 'None', 'ConditionalCheckFailed']);
    assert.equal(fault.CancellationReasons[1].Item.v.N, '2');
    assert.deepEqual(await keys(`SELECT * FROM game WHERE pk = 'ann'`), ['ann2', 'ann3', 'ann4']);
  });

  test('what is refused', async () => {
    const whole = (statements, message, name = 'ValidationException') =>
      assert.rejects(transact(statements), { name, message });
    await whole([`SELECT * FROM solo WHERE id = 'one'`, `DELETE FROM solo WHERE id = 'two'`],
      'ExecuteTransaction API does not support both read and write operations in the same request.');
    await whole([`SELECT * FROM solo`],
      'Validation failed in TransactStatements[0]: Select statements within ExecuteTransaction must specify the primary key in the where clause.');
    await whole([`SELECT * FROM game."by-score" WHERE board = 'all' AND score = 1`],
      'Validation failed in TransactStatements[0]: Reads on indices are not supported within transactions.');
    await whole([`DELETE FROM solo WHERE id = 'x'`, `UPDATE solo SET v = 1 WHERE id = 'one' RETURNING ALL NEW *`],
      'Validation failed in TransactStatements[1]: RETURNING clause is not supported in ExecuteTransaction.');
    await whole([`EXISTS(SELECT * FROM solo WHERE id = 'one')`],
      'Validation failed in TransactStatements[0]: EXISTS() must contain a single item read with additional condition');
    await whole([`UPDATE solo SET v = 1 WHERE id = 'one'`, `DELETE FROM solo WHERE id = 'one'`],
      'Transaction request cannot include multiple operations on one item');
    await whole([`INSERT INTO solo VALUE {'v': 1}`], /\[ValidationError\]$/, 'TransactionCanceledException');
    await whole([`INSERT INTO nope VALUE {'v': 1}`], 'Requested resource not found', 'ResourceNotFoundException');
  });

  test('a token makes a repeat do nothing', async () => {
    await transact([`UPDATE solo SET v = 10 WHERE id = 'one'`]);
    for (let i = 0; i < 3; i++)
      await transact([`UPDATE solo SET v = v + 1 WHERE id = 'one'`], { ClientRequestToken: 'once' });
    assert.deepEqual(await items(`SELECT v FROM solo WHERE id = 'one'`), [{ v: 11 }]);
    await assert.rejects(transact([`UPDATE solo SET v = v + 2 WHERE id = 'one'`], { ClientRequestToken: 'once' }),
      { name: 'IdempotentParameterMismatchException' });
  });

  test('a hundred statements', async () => {
    await transact(Array.from({ length: 100 }, (_, i) => `INSERT INTO solo VALUE {'id': 'h${i}'}`));
    assert.equal((await items(`SELECT id FROM solo WHERE begins_with(id, 'h')`)).length, 100);
  });
});
