// Every limit of the service: what is just allowed is kept exactly, one more is refused in its words and changes nothing.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { rawClient } from '../lib/raw.mjs';
import { startServer } from '../lib/server.mjs';

const TableName = 'limits';
const INVALID = 'One or more parameter values were invalid: ';
const NOT_VALID = 'One or more parameter values are not valid. ';
let server, client;
before(async () => {
  server = await startServer();
  client = rawClient(server.endpoint);
  await client.must('CreateTable', table(TableName, {
    ...attributes('id', 'sk', 'g'),
    KeySchema: keys('id', 'sk'),
    GlobalSecondaryIndexes: [{ IndexName: 'byG', KeySchema: keys('g'), Projection: { ProjectionType: 'KEYS_ONLY' } }],
  }));
});
after(async () => {
  client.close();
  assert.equal(await server.stop(), 0);
});

const S = (text) => ({ S: text });
const N = (text) => ({ N: text });
const of = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const key = (id = 'a', sk = 'b') => ({ id: S(id), sk: S(sk) });
const attributes = (...names) => ({ AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })) });
const keys = (...names) => names.map((AttributeName, i) => ({ AttributeName, KeyType: i ? 'RANGE' : 'HASH' }));
const table = (name, rest = {}) => ({ TableName: name, BillingMode: 'PAY_PER_REQUEST', ...attributes('id'), KeySchema: keys('id'), ...rest });

const accepted = async (operation, input) => {
  const { status, json } = await client.call(operation, input);
  assert.equal(status, 200, `${operation}: ${json?.__type} ${String(json?.message ?? json?.Message).slice(0, 300)}`);
  return json;
};
const refused = async (operation, input, message, type = 'ValidationException') => {
  const { status, json } = await client.call(operation, input);
  assert.equal(status, 400, `${operation} should say ${message}`);
  assert.equal(json.__type.split('#')[1], type, json.message);
  if (message instanceof RegExp) assert.match(json.message, message);
  else assert.equal(json.message, message);
};
const put = (Item, rest = {}) => ['PutItem', { TableName, Item: { ...key(), ...Item }, ...rest }];
const update = (UpdateExpression, ExpressionAttributeValues, Key = key('update')) =>
  ['UpdateItem', { TableName, Key, UpdateExpression, ...(ExpressionAttributeValues ? { ExpressionAttributeValues } : {}) }];
const scan = (FilterExpression, ExpressionAttributeValues, ExpressionAttributeNames) =>
  ['Scan', { TableName, FilterExpression, ExpressionAttributeValues, ...(ExpressionAttributeNames ? { ExpressionAttributeNames } : {}) }];
const get = async (Key) => (await accepted('GetItem', { TableName, Key, ConsistentRead: true })).Item;

// An item of that many bytes, as the service counts them.
const sized = (size, Key = key()) => ({ ...Key, t: S('x'.repeat(size - 4 - Key.id.S.length - Key.sk.S.length - 1)) });

test('attribute names: 1 to 65,535 bytes, whichever parameter brings them', async () => {
  const most = 'n'.repeat(65535), more = `${most}n`;
  const large = 'Attribute name is too large, must be less than 65536 bytes', empty = 'Empty attribute name';
  const aliased = (name) => [
    ['UpdateItem', { TableName, Key: key('names'), UpdateExpression: 'SET #n = :v', ExpressionAttributeNames: { '#n': name }, ExpressionAttributeValues: { ':v': S('x') } }],
    ['PutItem', { TableName, Item: key('names'), ConditionExpression: 'attribute_not_exists(#n)', ExpressionAttributeNames: { '#n': name } }],
    ['GetItem', { TableName, Key: key('names'), ProjectionExpression: '#n', ExpressionAttributeNames: { '#n': name } }],
    ['Scan', { TableName, FilterExpression: 'attribute_exists(#n)', ExpressionAttributeNames: { '#n': name } }],
  ];
  const older = (name) => [
    ['UpdateItem', { TableName, Key: key('names'), AttributeUpdates: { [name]: { Action: 'PUT', Value: S('x') } } }],
    ['PutItem', { TableName, Item: key('names'), Expected: { [name]: { Exists: false } } }],
    ['GetItem', { TableName, Key: key('names'), AttributesToGet: [name] }],
    ['Scan', { TableName, ScanFilter: { [name]: { ComparisonOperator: 'NULL' } } }],
  ];
  for (const [operation, input] of [...aliased(more), ...older(more)]) await refused(operation, input, large);
  for (const [operation, input] of older('')) await refused(operation, input, empty);
  for (const [operation, input] of aliased('')) await refused(operation, input, 'ExpressionAttributeNames contains invalid value: Empty attribute name for key #n');
  assert.equal(await get(key('names')), undefined);
  for (const [operation, input] of aliased(most).slice(0, 1)) await accepted(operation, input);
  for (const [operation, input] of older('n').slice(0, 1)) await accepted(operation, input);
  assert.deepEqual(Object.keys(await get(key('names'))).sort(), ['id', 'n', most, 'sk'].sort());
});

test('an item of 400 KB, and one byte more', async () => {
  const largest = sized(409600);
  await accepted('PutItem', { TableName, Item: largest });
  assert.deepEqual(await get(key()), largest);
  await refused('PutItem', { TableName, Item: sized(409601, key('over')) }, 'Item size has exceeded the maximum allowed size');
  await refused('BatchWriteItem', { RequestItems: { [TableName]: [{ PutRequest: { Item: key('over') } }, { PutRequest: { Item: sized(409601, key('over', '2')) } }] } },
    'Item size has exceeded the maximum allowed size');
  assert.equal(await get(key('over')), undefined);
  await refused(...update('SET u = :u', { ':u': S('') }, key()), 'Item size to update has exceeded the maximum allowed size');
  await accepted('PutItem', { TableName, Item: sized(300000) });
  await accepted(...update('SET u = :u', { ':u': S('y'.repeat(109599)) }, key()));
  await refused(...update('SET u = :u', { ':u': S('y'.repeat(109600)) }, key()), 'Item size to update has exceeded the maximum allowed size');
  assert.equal((await get(key())).u.S.length, 109599);
  // names, numbers and nested values count too
  await refused(...put({ ['n'.repeat(60000)]: S('x'.repeat(350000)) }), 'Item size has exceeded the maximum allowed size');
  await refused(...put({ list: { L: of(205000, () => ({ BOOL: true })) } }), 'Item size has exceeded the maximum allowed size');
  await refused(...put({ b: { B: Buffer.alloc(409600).toString('base64') } }), 'Item size has exceeded the maximum allowed size');
});

test('keys of 2048 and 1024 bytes, counted in UTF-8', async () => {
  const hash = `${INVALID}Size of hashkey has exceeded the maximum size limit of2048 bytes`;
  const range = `${INVALID}Aggregated size of all range keys has exceeded the size limit of 1024 bytes`;
  const longest = key('é'.repeat(1024), 'é'.repeat(512));
  await accepted('PutItem', { TableName, Item: longest });
  assert.deepEqual(await get(longest), longest);
  for (const [Key, message] of [[key('x'.repeat(2049)), hash], [key('a', 'x'.repeat(1025)), range], [key(`${'é'.repeat(1024)}x`), hash]]) {
    await refused('PutItem', { TableName, Item: Key }, message);
    for (const operation of ['GetItem', 'DeleteItem', 'UpdateItem']) await refused(operation, { TableName, Key }, message);
  }
  const query = (values) => ['Query', { TableName, KeyConditionExpression: 'id = :i AND sk = :s', ExpressionAttributeValues: values }];
  await accepted(...query({ ':i': longest.id, ':s': longest.sk }));
  await refused(...query({ ':i': S('x'.repeat(2049)), ':s': S('x') }), hash);
  await refused(...query({ ':i': S('x'), ':s': S('x'.repeat(1025)) }), range);
  await accepted(...put({ g: S('x'.repeat(2048)) }));
  await refused(...put({ g: S('x'.repeat(2049)) }), hash);
  await refused(...update('SET g = :g', { ':g': S('x'.repeat(2049)) }), /^(The update expression attempted to update the secondary index key beyond allowed size limits)$/);
  assert.equal(await get(key('update')), undefined);
});

test('empty text and binary: anywhere but in keys', async () => {
  await accepted(...put({ s: S(''), b: { B: '' }, l: { L: [S('')] }, set: { SS: [''] } }));
  assert.deepEqual((await get(key())).s, S(''));
  const empty = (name) => `${NOT_VALID}The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`;
  await refused('PutItem', { TableName, Item: key('') }, empty('id'));
  await refused('PutItem', { TableName, Item: key('a', '') }, empty('sk'));
  for (const operation of ['GetItem', 'DeleteItem', 'UpdateItem']) await refused(operation, { TableName, Key: key('a', '') }, empty('sk'));
  await refused('Query', { TableName, KeyConditionExpression: 'id = :i', ExpressionAttributeValues: { ':i': S('') } }, empty('id'));
  await refused(...put({ g: S('') }),
    `${NOT_VALID}A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: byG, IndexKey: g`);
  await refused(...update('SET g = :g', { ':g': S('') }),
    `${NOT_VALID}The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty string value.`);
});

test('sets: never empty, never with the same twice; values: exactly one type', async () => {
  for (const [value, message] of [
    [{ SS: [] }, `${INVALID}An string set  may not be empty`],
    [{ NS: [] }, `${INVALID}An number set  may not be empty`],
    [{ BS: [] }, `${INVALID}Binary sets should not be empty`],
    [{ SS: ['a', 'b', 'a'] }, `${INVALID}Input collection [a, b, a] contains duplicates.`],
    [{ NS: ['1', '1.0'] }, 'Input collection contains duplicates'],
    [{ BS: ['YQ==', 'YQ=='] }, `${INVALID}Input collection [YQ==, YQ==]of type BS contains duplicates.`],
    [{}, 'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes'],
    [{ S: 'a', N: '1' }, 'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes'],
    [{ NULL: false }, `${INVALID}Null attribute value types must have the value of true`],
    [{ N: '' }, 'The parameter cannot be converted to a numeric value'],
    [{ N: 'x' }, 'The parameter cannot be converted to a numeric value: x'],
    [{ NS: ['1', 'x'] }, 'The parameter cannot be converted to a numeric value: x'],
  ]) {
    await refused(...put({ v: value }), message);
    await refused(...put({ v: { M: { inner: { L: [value] } } } }), message);
  }
});

test('numbers: 38 digits, 1e-130 to 9.99e125, both signs', async () => {
  const digits = '1'.repeat(38);
  for (const [text, back] of [
    [digits, digits], [`-${digits}`, `-${digits}`], [`0.${digits}`, `0.${digits}`], [`${digits}000`, `${digits}000`], [`000${digits}.000`, digits],
    ['1e125', `1${'0'.repeat(125)}`], ['-1E+125', `-1${'0'.repeat(125)}`], [`${'9'.repeat(38)}e88`, '9'.repeat(38) + '0'.repeat(88)],
    ['1e-130', `0.${'0'.repeat(129)}1`], ['-1e-130', `-0.${'0'.repeat(129)}1`], ['0e999', '0'], ['-0', '0'], ['1e3', '1000'], ['1.10', '1.1'], ['+5', '5'], ['.5', '0.5'],
  ]) {
    await accepted(...put({ n: N(text) }));
    assert.equal((await get(key())).n.N, back, text);
  }
  const many = 'Attempting to store more than 38 significant digits in a Number';
  const over = 'Number overflow. Attempting to store a number with magnitude larger than supported range';
  const under = 'Number underflow. Attempting to store a number with magnitude smaller than supported range';
  for (const [text, message] of [
    ['1'.repeat(39), many], [`1${'0'.repeat(37)}1`, many], [`0.${'1'.repeat(39)}`, many],
    ['1e126', over], ['-1e126', over], [`1${'0'.repeat(126)}`, over], ['1e99999', over],
    ['1e-131', under], ['-1e-131', under], ['1e-99999', under],
  ]) {
    await refused(...put({ n: N(text) }), message);
    await refused(...put({ n: { NS: ['1', text] } }), message);
  }
  // also as results
  await accepted(...update('SET n = :a', { ':a': N(`${'9'.repeat(38)}e88`) }));
  await refused(...update('SET n = n + n'), over);
  await refused(...update('ADD n :a', { ':a': N('9e125') }), over);
  await refused(...update('SET m = :a + :b', { ':a': N('1e38'), ':b': N('1') }), over);
  await accepted(...update('SET m = :a + :b', { ':a': N('1e37'), ':b': N('1') }));
  assert.equal((await get(key('update'))).m.N, `1${'0'.repeat(36)}1`);
});

test('nesting: 32 levels with the value itself', async () => {
  const nest = (depth) => of(depth, (i) => i).reduce((value, i) => (i % 2 ? { L: [value] } : { M: { a: value } }), S('x'));
  const deep = 'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit';
  await accepted(...put({ n: nest(31), m: { M: {} } }));
  assert.deepEqual((await get(key())).n, nest(31));
  await refused(...put({ n: nest(32) }), deep);
  await refused(...put({ n: nest(200) }), deep);
  await accepted(...update('SET m.b = :v', { ':v': nest(30) }, key()));
  await refused(...update('SET m.b = :v', { ':v': nest(31) }, key()), 'Nesting Levels have exceeded supported limits');
  await refused(...update('SET n = :v', { ':v': nest(32) }, key()), /Nesting Levels have exceeded supported limits/);
  assert.deepEqual((await get(key())).m, { M: { b: nest(30) } });
  const path = (length) => Array(length).fill('a').join('.');
  await accepted('GetItem', { TableName, Key: key(), ProjectionExpression: path(32) });
  await refused('GetItem', { TableName, Key: key(), ProjectionExpression: path(33) },
    'Invalid ProjectionExpression: The document path has too many nesting levels; nesting levels: 33');
});

test('expressions: 4096 bytes, 300 operators, 100 operands of IN', async () => {
  const pad = (text, size) => text + ' '.repeat(size - text.length);
  const size = (name) => `Invalid ${name}: Expression size has exceeded the maximum allowed size; expression size: 4097`;
  const one = { ':a': S('a') };
  for (const [name, operation, text, rest] of [
    ['ConditionExpression', 'DeleteItem', 'attribute_not_exists(id)', { Key: key('none') }],
    ['UpdateExpression', 'UpdateItem', 'SET a = :a', { Key: key('expression'), ExpressionAttributeValues: one }],
    ['ProjectionExpression', 'GetItem', 'a', { Key: key() }],
    ['FilterExpression', 'Scan', 'a = :a', { ExpressionAttributeValues: one }],
    ['KeyConditionExpression', 'Query', 'id = :a', { ExpressionAttributeValues: one }],
  ]) {
    await accepted(operation, { TableName, [name]: pad(text, 4096), ...rest });
    await refused(operation, { TableName, [name]: pad(text, 4097), ...rest }, size(name));
    await refused(operation, { TableName, [name]: '', ...(rest.Key ? { Key: rest.Key } : {}) }, `Invalid ${name}: The expression can not be empty;`);
  }
  const any = (count) => of(count, () => 'a=:a').join(' OR ');
  await accepted(...scan(any(150), one));
  await accepted(...scan(`NOT ${any(150)}`, one));
  await refused(...scan(any(151), one), 'Invalid FilterExpression: The expression contains too many operators; operator count: 301');
  await refused(...scan(`${'NOT '.repeat(300)}a=:a`, one), 'Invalid FilterExpression: The expression contains too many operators; operator count: 301');

  const list = (count) => [`a IN (${of(count, (i) => `:v${i}`).join(', ')})`, Object.fromEntries(of(count, (i) => [`:v${i}`, N(String(i))]))];
  await accepted(...scan(...list(100)));
  await refused(...scan(...list(101)), 'Invalid FilterExpression: The IN operator is provided with too many operands; number of operands: 101');

  for (const [mark, make] of [['#', (alias) => scan(`${alias} = :a`, one, { [alias]: 'x' })], [':', (alias) => scan(`a = ${alias}`, { [alias]: S('x') })]]) {
    await accepted(...make(mark + 'a'.repeat(254)));
    await refused(...make(mark + 'a'.repeat(255)), /contains invalid key: The expression attribute map contains a key that is too long/);
  }
});

test('batches: 25 writes, 100 gets', async () => {
  const writes = (from, count) => of(count, (i) => ({ PutRequest: { Item: key('batch', String(from + i)) } }));
  const gets = (from, count) => ({ Keys: of(count, (i) => key('batch', String(from + i))) });
  const other = 'limits2';
  await accepted('CreateTable', table(other, { ...attributes('id', 'sk'), KeySchema: keys('id', 'sk') }));
  await refused('BatchWriteItem', { RequestItems: { [TableName]: writes(0, 26) } },
    /^1 validation error detected: Value '.*' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: \[Member must have length less than or equal to 25, Member must have length greater than or equal to 1\]$/);
  await refused('BatchWriteItem', { RequestItems: { [TableName]: writes(0, 13), [other]: writes(0, 13) } }, 'Too many items requested for the BatchWriteItem call');
  assert.equal(await get(key('batch', '0')), undefined, 'a refused batch writes nothing');
  await accepted('BatchWriteItem', { RequestItems: { [TableName]: writes(0, 25) } });
  await accepted('BatchWriteItem', { RequestItems: { [TableName]: writes(25, 13), [other]: writes(0, 12) } });
  assert.equal((await accepted('BatchGetItem', { RequestItems: { [TableName]: gets(0, 100) } })).Responses[TableName].length, 38);
  await refused('BatchGetItem', { RequestItems: { [TableName]: gets(0, 101) } },
    /^1 validation error detected: Value at 'RequestItems\.limits\.member\.Keys' failed to satisfy constraint: Member must have length less than or equal to 100$/);
  await refused('BatchGetItem', { RequestItems: { [TableName]: gets(0, 51), [other]: gets(0, 50) } }, 'Too many items requested for the BatchGetItem call');
  for (const operation of ['BatchGetItem', 'BatchWriteItem'])
    await refused(operation, { RequestItems: {} }, `The requestItems parameter is required for ${operation}`);
  await refused('BatchGetItem', { RequestItems: { [TableName]: { Keys: [] } } },
    "1 validation error detected: Value at 'RequestItems.limits.member.Keys' failed to satisfy constraint: Member must have length greater than or equal to 1");
  // the heaviest batch of writes: 25 items of 400 KB
  await accepted('BatchWriteItem', { RequestItems: { [TableName]: of(25, (i) => ({ PutRequest: { Item: sized(409600, key('heavy', String(i))) } })) } });
});

test('pages: 1 MB of items before filter and projection; Limit counts what was looked at', async () => {
  const pages = async (id, rest = {}) => {
    const found = [];
    let ExclusiveStartKey;
    do {
      const page = await accepted('Query', {
        TableName, KeyConditionExpression: 'id = :i', ExpressionAttributeValues: { ':i': S(id), ...rest.values }, ...rest.input, ...(ExclusiveStartKey ? { ExclusiveStartKey } : {}),
      });
      found.push(page.ScannedCount);
      ({ LastEvaluatedKey: ExclusiveStartKey } = page);
    } while (ExclusiveStartKey);
    return found;
  };
  for (let i = 0; i < 17; i++) await accepted('PutItem', { TableName, Item: sized(131072, key('eighth', String(i).padStart(2, '0'))) });
  assert.deepEqual(await pages('eighth'), [8, 8, 1], 'eight eighths fill a page');
  assert.deepEqual(await pages('eighth', { values: { ':none': S('x') }, input: { FilterExpression: 'absent = :none', ProjectionExpression: 'sk' } }), [8, 8, 1]);
  assert.deepEqual(await pages('eighth', { input: { ScanIndexForward: false, Limit: 5 } }), [5, 5, 5, 2]);
  for (let i = 0; i < 20; i++) await accepted('PutItem', { TableName, Item: sized(100000, key('tenth', String(i).padStart(2, '0'))) });
  assert.deepEqual(await pages('tenth'), [11, 9], 'the item that crosses the line is in the page');
  await refused('Scan', { TableName, Limit: 0 }, "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1");
  await refused('Scan', { TableName, Segment: 4, TotalSegments: 4 },
    'The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 4 is not less than TotalSegments: 4');
  await refused('Scan', { TableName, Segment: 0, TotalSegments: 1000001 },
    "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy constraint: Member must have value less than or equal to 1000000");
  await accepted('Scan', { TableName, Segment: 999999, TotalSegments: 1000000 });
});

test('names: tables and indexes 3 to 255, attributes 1 to 65535 bytes, key attributes 255', async () => {
  await refused('CreateTable', table('ab'), "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3");
  await refused('CreateTable', table('a'.repeat(256)), /^1 validation error detected: Value 'a+' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255$/);
  for (const name of ['a.c', 'a'.repeat(255), '-_-']) {
    await accepted('CreateTable', table(name));
    await accepted('DeleteTable', { TableName: name });
  }
  await refused('CreateTable', table('a b;c'),
    "1 validation error detected: Value 'a b;c' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+");
  await refused('GetItem', { TableName: '', Key: key() }, "1 validation error detected: Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1");
  await refused('Scan', { TableName, IndexName: 'ab' }, "1 validation error detected: Value 'ab' at 'indexName' failed to satisfy constraint: Member must have length greater than or equal to 3");
  await refused('ListTables', { Limit: 101 }, "1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100");

  const long = 'n'.repeat(65535);
  await accepted(...put({ [long]: S('x') }));
  assert.deepEqual((await get(key()))[long], S('x'));
  await refused(...put({ [`${long}n`]: S('x') }), /Attribute name is too large, must be less than 65536 bytes/);
  await refused(...put({ '': S('x') }), /Empty attribute name/);
  const named = (name) => table('named', { ...attributes(name), KeySchema: keys(name) });
  await refused('CreateTable', named('k'.repeat(256)), /Member must have length less than or equal to 255/);
  await accepted('CreateTable', named('k'.repeat(255)));
});

test('tables: 20 global and 5 local indexes, 2 key attributes, 100 projected attributes', async () => {
  const globals = (count, Projection = () => ({ ProjectionType: 'ALL' })) => ({
    ...attributes('id', 'g'), GlobalSecondaryIndexes: of(count, (i) => ({ IndexName: `global-${i}`, KeySchema: keys('g'), Projection: Projection(i) })),
  });
  const locals = (count) => ({
    ...attributes('id', 'sk', 'g'), KeySchema: keys('id', 'sk'),
    LocalSecondaryIndexes: of(count, (i) => ({ IndexName: `local-${i}`, KeySchema: keys('id', 'g'), Projection: { ProjectionType: 'ALL' } })),
  });
  await accepted('CreateTable', table('globals', globals(20)));
  await refused('CreateTable', table('globals2', globals(21)), `${INVALID}GlobalSecondaryIndex count exceeds the per-table limit of 20`);
  await accepted('CreateTable', table('locals', locals(5)));
  await refused('CreateTable', table('locals2', locals(6)), `${INVALID}Number of LocalSecondaryIndexes exceeds per-table limit of 5`);
  const included = (each) => (i) => ({ ProjectionType: 'INCLUDE', NonKeyAttributes: of(each, (n) => `a${i}-${n}`) });
  await accepted('CreateTable', table('included', globals(5, included(20))));
  await refused('CreateTable', table('included2', globals(6, included(20))), `${INVALID}Number of attributes projected into all of the secondary indexes exceeds the limit of 100`);
  await refused('CreateTable', table('keys', { ...attributes('a', 'b', 'c'), KeySchema: keys('a', 'b', 'c') }),
    /^1 validation error detected: Value '\[.*\]' at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2$/);

  // an item in twenty indexes at once, and out of them
  await accepted('PutItem', { TableName: 'globals', Item: { id: S('a'), g: S('x') } });
  const count = async (i) => (await accepted('Scan', { TableName: 'globals', IndexName: `global-${i}` })).Count;
  assert.deepEqual(await Promise.all(of(20, count)), of(20, () => 1));
  await accepted('UpdateItem', { TableName: 'globals', Key: { id: S('a') }, UpdateExpression: 'REMOVE g' });
  assert.deepEqual(await Promise.all(of(20, count)), of(20, () => 0));
});

test('a global index has at most four partition and four sort attributes', async () => {
  const parts = (hashes, ranges) => {
    const names = of(hashes + ranges, (i) => `p${i}`);
    return {
      ...attributes('id', ...names),
      GlobalSecondaryIndexes: [{ IndexName: 'wide', KeySchema: names.map((AttributeName, i) => ({ AttributeName, KeyType: i < hashes ? 'HASH' : 'RANGE' })), Projection: { ProjectionType: 'ALL' } }],
    };
  };
  await accepted('CreateTable', table('wide', parts(4, 4)));
  await refused('CreateTable', table('wide2', parts(5, 3)), /./);
  await refused('CreateTable', table('wide2', parts(3, 5)), /./);
  await refused('CreateTable', table('wide2', parts(4, 5)), /./);
});

test('tags: 50 a table, keys 128, values 256', async () => {
  const { Table } = await accepted('DescribeTable', { TableName });
  const ResourceArn = Table.TableArn;
  const tag = (Tags) => client.call('TagResource', { ResourceArn, Tags });
  assert.equal((await tag(of(50, (i) => ({ Key: `k${i}`, Value: 'v' })))).status, 200);
  assert.equal((await tag([{ Key: 'k0', Value: 'changed' }])).status, 200);
  assert.equal((await tag([{ Key: 'one more', Value: 'v' }])).status, 400);
  assert.equal((await tag([{ Key: 'k'.repeat(129), Value: 'v' }])).status, 400);
  assert.equal((await tag([{ Key: 'k0', Value: 'v'.repeat(257) }])).status, 400);
  const tags = [];
  let NextToken;
  do {
    const page = await accepted('ListTagsOfResource', { ResourceArn, ...(NextToken ? { NextToken } : {}) });
    tags.push(...page.Tags);
    ({ NextToken } = page);
  } while (NextToken);
  assert.equal(tags.length, 50);
  assert.equal(tags.find(({ Key }) => Key === 'k0').Value, 'changed');
});
