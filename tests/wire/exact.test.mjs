// Answers as recordings of the service have them, where no client's own tests reach: what the catalogue
// (tests/diff) cannot ask because it needs a setting, a second look or another operation.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { rawClient } from '../lib/raw.mjs';
import { startServer } from '../lib/server.mjs';

let server, client;
before(async () => {
  server = await startServer({ game: false });
  client = rawClient(server.endpoint);
});
after(async () => {
  client.close();
  assert.equal(await server.stop(), 0);
});

const S = (text) => ({ S: text });
const schema = (TableName, more = {}) => ({
  TableName, BillingMode: 'PAY_PER_REQUEST', AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], ...more,
});
const ranged = (TableName, more = {}) => schema(TableName, {
  AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'sk', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }], ...more,
});
// The exception's name, and its text in `message`.
const refusal = async (operation, input, at = client) => {
  const { status, json } = await at.call(operation, input);
  assert.equal(status, 400, `${operation} ${JSON.stringify(input).slice(0, 200)}: ${JSON.stringify(json)}`);
  return { name: json.__type.split('#')[1], message: json.message ?? json.Message };
};
const refused = async (operation, input, name, message) => {
  const found = await refusal(operation, input);
  assert.equal(found.name, name, found.message);
  if (message instanceof RegExp) assert.match(found.message, message);
  else if (message !== undefined) assert.equal(found.message, message);
};

test('--error-texts newest counts the faults that single-item writes have before their table', async () => {
  const newest = await startServer({ game: false, args: ['--error-texts', 'newest'] });
  const other = rawClient(newest.endpoint);
  try {
    for (const at of [client, other]) await at.must('CreateTable', schema('texts'));
    const TableName = 'texts', Key = { pk: S('a') }, counted = '1 validation error detected: ';
    const cases = [
      ['PutItem', { TableName, Item: { ...Key, v: { SS: [] } } }, true],
      ['PutItem', { TableName, Item: Key, ConditionExpression: '((pk = pk))' }, true],
      ['UpdateItem', { TableName, Key, UpdateExpression: '' }, true],
      ['DeleteItem', { TableName, Key, ConditionExpression: 'pk = :x' }, true],
      ['UpdateItem', { TableName, Key, UpdateExpression: 'SET pk = :v', ExpressionAttributeValues: { ':v': S('b') } }, false], // asks the table
      ['Query', { TableName, KeyConditionExpression: 'pk = :a', ExpressionAttributeValues: { ':a': S('a') }, Select: 'SPECIFIC_ATTRIBUTES' }, true],
      ['Query', { TableName, KeyConditionExpression: '', ExpressionAttributeValues: { ':a': S('a') } }, false],
      ['Scan', { TableName, Select: 'SPECIFIC_ATTRIBUTES' }, false],
      ['TransactWriteItems', { TransactItems: [{ Put: { TableName, Item: Key, ConditionExpression: '' } }] }, false],
    ];
    for (const [operation, input, prefixed] of cases) {
      const [common, now] = [await refusal(operation, input), await refusal(operation, input, other)];
      assert.ok(!common.message.startsWith(counted), common.message);
      assert.equal(now.message, (prefixed ? counted : '') + common.message, operation);
    }
    const bad = { TableName: '', Item: Key };
    assert.deepEqual(await refusal('PutItem', bad, other), await refusal('PutItem', bad), 'what counts already is counted once');
  } finally {
    other.close();
    assert.equal(await newest.stop(), 0);
    await client.must('DeleteTable', { TableName: 'texts' });
  }
});

test('tags: their characters, their number, and whose they are', async () => {
  await client.must('CreateTable', schema('tagged'));
  const arn = (name) => `arn:aws:dynamodb:us-east-1:000000000000:table/${name}`;
  const ResourceArn = arn('tagged');
  const tags = (from, count) => Array.from({ length: count }, (_, i) => ({ Key: `k${from + i}`, Value: '' }));
  for (const [Key, Value] of [['hi!', 'ok'], ['ok', '#!%%^$$&'], ['->>;-)])', 'ok'], ['aws:mine', 'ok'], ['AWS:mine', 'ok']])
    await refused('TagResource', { ResourceArn, Tags: [{ Key, Value }] }, 'ValidationException');
  await refused('CreateTable', schema('untagged', { Tags: [{ Key: 'hi!', Value: '' }] }), 'ValidationException');
  await refused('CreateTable', schema('untagged', { Tags: tags(0, 51) }), 'ValidationException');
  await refused('DescribeTable', { TableName: 'untagged' }, 'ResourceNotFoundException');
  const legal = [{ Key: ' a-b_c.d:e/f=g+h@i', Value: ' ' }, { Key: 'законные буквы', Value: 'Ѯ' }];
  assert.equal((await client.call('TagResource', { ResourceArn, Tags: legal })).status, 200);
  assert.deepEqual((await client.call('ListTagsOfResource', { ResourceArn })).json, { Tags: legal });
  assert.equal((await client.call('TagResource', { ResourceArn, Tags: tags(0, 48) })).status, 200);
  await refused('TagResource', { ResourceArn, Tags: tags(48, 1) }, 'ValidationException', /50/);
  for (const operation of ['TagResource', 'UntagResource', 'ListTagsOfResource'])
    for (const bad of ['not-a-valid-arn', 'arn:not/a/good/format', ':/:/', ' '])
      await refused(operation, { ResourceArn: bad, Tags: tags(0, 1), TagKeys: ['a'] }, 'ValidationException');
  await refused('TagResource', { ResourceArn: arn('nobody'), Tags: tags(0, 1) }, 'ResourceNotFoundException');
  await refused('ListTagsOfResource', { ResourceArn: arn('nobody') }, 'AccessDeniedException');
  await client.must('DeleteTable', { TableName: 'tagged' });
});

test('UpdateTable: an index comes with its definitions, alone in its map, of the types there are', async () => {
  const TableName = 'altered';
  await client.must('CreateTable', ranged(TableName));
  const create = (IndexName, name, Projection = { ProjectionType: 'ALL' }) => ({ Create: { IndexName, KeySchema: [{ AttributeName: name, KeyType: 'HASH' }], Projection } });
  const define = (name, type = 'S') => [{ AttributeName: name, AttributeType: type }];
  const without = /^One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions\. Keys: \[sk\], AttributeDefinitions: \[(x)?\]$/;
  await refused('UpdateTable', { TableName, GlobalSecondaryIndexUpdates: [create('known', 'sk')] }, 'ValidationException', without);
  await refused('UpdateTable', { TableName, AttributeDefinitions: define('x'), GlobalSecondaryIndexUpdates: [create('known', 'sk')] }, 'ValidationException', without);
  await refused('UpdateTable', { TableName, AttributeDefinitions: define('x'), GlobalSecondaryIndexUpdates: [{ ...create('one', 'x'), Delete: { IndexName: 'two' } }] },
    'ValidationException', /Only one of /);
  await refused('UpdateTable', { TableName, AttributeDefinitions: define('sk', 'N'), GlobalSecondaryIndexUpdates: [create('known', 'sk')] }, 'ValidationException',
    'One or more parameter values were invalid: Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. ' +
    'Existing schema: Schema:[SchemaElement: key{sk:S:RANGE}] New schema: Schema:[SchemaElement: key{sk:N:HASH}]');
  const included = (name) => ({ ProjectionType: 'INCLUDE', NonKeyAttributes: [name] });
  await refused('UpdateTable', { TableName, AttributeDefinitions: define('x'), GlobalSecondaryIndexUpdates: [create('long', 'x', included('n'.repeat(256)))] },
    'ValidationException', /nonKeyAttributes' failed to satisfy constraint: Member must satisfy constraint: \[Member must have length less than or equal to 255, /);
  await refused('CreateTable', ranged('longer', { LocalSecondaryIndexes: [{ IndexName: 'long', KeySchema: ranged('x').KeySchema, Projection: included('n'.repeat(256)) }] }),
    'ValidationException', /nonKeyAttributes/);
  await client.must('UpdateTable', { TableName, AttributeDefinitions: define('sk'), GlobalSecondaryIndexUpdates: [create('known', 'sk', included('n'.repeat(255)))] });
  for (let built = false; !built;) built = (await client.call('DescribeTable', { TableName })).json.Table.GlobalSecondaryIndexes[0].IndexStatus === 'ACTIVE';
  await client.must('DeleteTable', { TableName });
});

test('keys of encryption are told by their own ARN', async () => {
  const described = async (SSESpecification) => {
    const { json } = await client.call('UpdateTable', { TableName: 'sealed', SSESpecification });
    return json.TableDescription.SSEDescription.KMSMasterKeyArn;
  };
  await client.must('CreateTable', schema('sealed'));
  const given = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
  assert.equal(await described({ Enabled: true, SSEType: 'KMS', KMSMasterKeyId: given }), given);
  assert.equal(await described({ Enabled: true, SSEType: 'KMS', KMSMasterKeyId: '1234abcd-12ab-34cd-56ef-1234567890ab' }),
    'arn:aws:kms:us-east-1:000000000000:key/1234abcd-12ab-34cd-56ef-1234567890ab');
  const own = await described({ Enabled: true });
  assert.match(own, /^arn:aws:kms:us-east-1:000000000000:key\/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(await described({ Enabled: true }), own, 'the same each time');
  await client.must('DeleteTable', { TableName: 'sealed' });
});

test('taking a path away from an item that is not there does nothing', async () => {
  const TableName = 'absent', Key = { pk: S('a') };
  await client.must('CreateTable', schema(TableName));
  for (const path of ['x.y', 'x[0]', 'x.y[1].z, w']) {
    const { status, json } = await client.call('UpdateItem', { TableName, Key, UpdateExpression: `REMOVE ${path}` });
    assert.equal(status, 200, JSON.stringify(json));
  }
  assert.deepEqual((await client.call('GetItem', { TableName, Key })).json, {});
  const bad = 'The document path provided in the update expression is invalid for update';
  const set = { UpdateExpression: 'SET z = :z REMOVE x.y', ExpressionAttributeValues: { ':z': S('z') } };
  await refused('UpdateItem', { TableName, Key, ...set }, 'ValidationException', bad);
  await client.must('PutItem', { TableName, Item: Key });
  await refused('UpdateItem', { TableName, Key, UpdateExpression: 'REMOVE x.y' }, 'ValidationException', bad);
  await client.must('DeleteTable', { TableName });
});

test('an empty key is a fault of a whole transaction, a wrong type a reason to cancel it', async () => {
  const TableName = 'transacted';
  await client.must('CreateTable', schema(TableName, {
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'g', AttributeType: 'S' }],
    GlobalSecondaryIndexes: [{ IndexName: 'gsi', KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } }],
  }));
  const of = (key) => [
    { Put: { TableName, Item: { pk: key } } }, { Delete: { TableName, Key: { pk: key } } },
    { Update: { TableName, Key: { pk: key }, UpdateExpression: 'REMOVE x' } },
    { ConditionCheck: { TableName, Key: { pk: key }, ConditionExpression: 'attribute_not_exists(pk)' } },
  ];
  const good = { Put: { TableName, Item: { pk: S('good') } } };
  const empty = 'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk';
  for (const item of of(S(''))) await refused('TransactWriteItems', { TransactItems: [good, item] }, 'ValidationException', empty);
  await refused('TransactGetItems', { TransactItems: [{ Get: { TableName, Key: { pk: S('') } } }] }, 'ValidationException', empty);
  await refused('TransactWriteItems', { TransactItems: [{ Put: { TableName, Item: { pk: S('a'), g: S('') } } }] }, 'ValidationException', /secondary index key.* IndexName: gsi, IndexKey: g$/);
  for (const item of of({ N: '5' })) await refused('TransactWriteItems', { TransactItems: [good, item] }, 'TransactionCanceledException', /\[None, ValidationError\]$/);
  assert.equal((await client.call('Scan', { TableName })).json.Count, 0);
  await client.must('DeleteTable', { TableName });
});

test('a table may be named by its ARN, and a scan of all of one on demand costs four units', async () => {
  const arn = 'arn:aws:dynamodb:us-east-1:000000000000:table/priced';
  await client.must('CreateTable', schema('priced'));
  await client.must('CreateTable', schema('prepaid', { BillingMode: 'PROVISIONED', ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 5 } }));
  const scan = async (TableName, more) => (await client.call('Scan', { TableName, ReturnConsumedCapacity: 'TOTAL', ...more })).json.ConsumedCapacity.CapacityUnits;
  for (const TableName of [arn, 'prepaid']) await client.must('PutItem', { TableName, Item: { pk: S('a') } });
  assert.deepEqual(await Promise.all([scan(arn), scan(arn, { ConsistentRead: true }), scan('priced', { Segment: 0, TotalSegments: 4 }), scan('priced', { Limit: 1 })]), [2, 4, 0.5, 0.5]);
  assert.deepEqual(await Promise.all([scan('prepaid'), scan('prepaid', { ConsistentRead: true })]), [0.5, 1]);
  assert.equal((await client.call('Query', { TableName: arn, KeyConditionExpression: 'pk = :a', ExpressionAttributeValues: { ':a': S('a') } })).json.Count, 1);
  assert.deepEqual((await client.call('BatchGetItem', { RequestItems: { [arn]: { Keys: [{ pk: S('a') }] } } })).json.Responses, { [arn]: [{ pk: S('a') }] });
  for (const TableName of [arn, 'prepaid']) await client.must('DeleteTable', { TableName });
});

test('resource policies are kept, by revision, and with keys refused plainly', async () => {
  await client.must('CreateTable', schema('ruled', { StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } }));
  const { Table } = (await client.call('DescribeTable', { TableName: 'ruled' })).json;
  const policy = (action) => JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Principal: '*', Action: action, Resource: Table.TableArn }] });
  for (const ResourceArn of [Table.TableArn, Table.LatestStreamArn]) {
    await refused('GetResourcePolicy', { ResourceArn }, 'PolicyNotFoundException');
    await refused('PutResourcePolicy', { ResourceArn, Policy: policy('x'), ExpectedRevisionId: '1' }, 'PolicyNotFoundException');
    const { json: { RevisionId } } = await client.call('PutResourcePolicy', { ResourceArn, Policy: policy('dynamodb:GetItem'), ExpectedRevisionId: 'NO_POLICY' });
    assert.match(RevisionId, /^\d+$/);
    assert.deepEqual((await client.call('GetResourcePolicy', { ResourceArn })).json, { Policy: policy('dynamodb:GetItem'), RevisionId });
    assert.equal((await client.call('PutResourcePolicy', { ResourceArn, Policy: policy('dynamodb:GetItem') })).json.RevisionId, RevisionId, 'the same policy is the same revision');
    const next = (await client.call('PutResourcePolicy', { ResourceArn, Policy: policy('dynamodb:Query'), ExpectedRevisionId: RevisionId })).json.RevisionId;
    assert.ok(Number(next) > Number(RevisionId));
    await refused('DeleteResourcePolicy', { ResourceArn, ExpectedRevisionId: RevisionId }, 'PolicyNotFoundException');
  }
  const ResourceArn = Table.TableArn;
  for (const Policy of ['{', '[]', '{}', JSON.stringify({ Statement: 'x'.repeat(20 * 1024) })]) await refused('PutResourcePolicy', { ResourceArn, Policy }, 'ValidationException');
  await refused('PutResourcePolicy', { ResourceArn: ResourceArn.replace('ruled', 'nobody'), Policy: policy('x') }, 'ResourceNotFoundException');
  // they are no tags
  const Tags = Array.from({ length: 50 }, (_, i) => ({ Key: `k${i}`, Value: '' }));
  assert.equal((await client.call('TagResource', { ResourceArn, Tags })).status, 200);
  assert.deepEqual((await client.call('ListTagsOfResource', { ResourceArn })).json.Tags, Tags);
  await client.call('UntagResource', { ResourceArn, TagKeys: ['\0policy'] });
  assert.equal((await client.call('GetResourcePolicy', { ResourceArn })).status, 200);
  assert.equal((await client.call('DeleteResourcePolicy', { ResourceArn })).status, 200);
  assert.deepEqual((await client.call('DeleteResourcePolicy', { ResourceArn })).json, {});
  await refused('GetResourcePolicy', { ResourceArn }, 'PolicyNotFoundException');
  assert.equal((await client.call('GetResourcePolicy', { ResourceArn: Table.LatestStreamArn })).status, 200, 'the stream has one of its own');
  await client.must('DeleteTable', { TableName: 'ruled' });
});
