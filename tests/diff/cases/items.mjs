// PutItem, GetItem, DeleteItem, UpdateItem: values, keys, parameters and the faults of each.
import { B, L, M, N, S, binary, each, indexed, numbered, plain, ranged } from '../tables.mjs';

export const tables = [plain, ranged, numbered, binary, indexed];
const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 120);
const put = (Item, more = {}) => ['PutItem', { TableName: 'plain', Item, ...more }];
const get = (Key, more = {}) => ['GetItem', { TableName: 'plain', Key, ...more }];

// Values that are taken, and how they read back.
const values = [
  S('x'), S(''), S('é𝒳\u0000\n"\\'), N('0'), N('-0'), N('0.0'), N('00012'), N('1.0'), N('1.500'), N('1e3'), N('1E3'), N('1e+3'), N('1E-3'), N('.5'), N('5.'), N('-.5'), N('+5'), N(' 5'), N('5 '), N('1e2.5'), N(''), N('abc'), N('1_000'), N('0x10'), N('NaN'), N('Infinity'), N('--1'),
  N('12345678901234567890123456789012345678'), N('123456789012345678901234567890123456789'), N('1234567890123456789012345678901234567800000'), N('0.00000000000000000000000000000000000000000001'), N('1e-130'), N('1e-131'), N('9.9999999999999999999999999999999999999e125'), N('1e126'), N('-9.9999999999999999999999999999999999999e125'), N('-1e126'), N('1e-9999'), N('1e99999999999'), N('100000000000000000000000000000000000000000'), N('0.1e-129'), N('99999999999999999999e106'), N('1e125'), N('123e-5'), N('1234567890.0123456789'), N('0e999'),
  B('x'), B(''), { B: 'AA' }, { B: 'A===' }, { B: 'AA=A' }, { B: '!!!!' }, { B: 'AAAA\n' }, { B: 'AB==' }, { BOOL: true }, { BOOL: false }, { BOOL: 'true' }, { BOOL: 'no' }, { BOOL: 1 }, { NULL: true }, { NULL: false }, { NULL: 'true' }, { NULL: 'no' }, L(), L(S('a'), N('1.0'), L(L())), M({}), M({ a: M({ b: L(N('1e1')) }) }), M({ '': S('x') }),
  { SS: ['b', 'a'] }, { SS: [''] }, { SS: [] }, { SS: ['a', 'a'] }, { NS: ['2', '1.0'] }, { NS: ['1', '1.0'] }, { NS: ['1', '1'] }, { NS: [] }, { NS: ['x'] }, { NS: ['1', ''] }, { BS: [B('x').B, B('y').B] }, { BS: [] }, { BS: [B('x').B, B('x').B] }, { BS: [''] }, { BS: ['!'] },
  {}, { S: 'a', N: '1' }, { S: 'a', NULL: true }, { X: 'a' }, { s: 'a' }, { S: 1 }, { S: true }, { S: null }, { S: {} }, { S: [] }, { N: 1 }, { N: 1.5 }, { N: true }, { N: [] }, { B: 1 }, { B: true }, { SS: 'a' }, { SS: [1] }, { SS: {} }, { SS: [null] }, { NS: [1] }, { L: {} }, { L: 'a' }, { L: ['a'] }, { L: [{}] }, { L: [null] }, { M: [] }, { M: 'a' }, { M: { a: 'b' } }, { M: { a: {} } }, { M: { a: { SS: [] } } }, { L: [{ NS: ['1', '1'] }] }, 'a', 1, true, [], null, { S: 'a', X: 1 }, { L: [{ S: 'a', N: '1' }] }, M({ a: { N: 'x' } }), { NULL: null }, { BOOL: null },
];
const each1 = each(values.map((value, i) => [value, i]), ([value, i]) => [`value ${text(value)}`, [put({ a: S(`v${i}`), v: value }), get({ a: S(`v${i}`) })]]);

// Numbers as keys are equal by value.
const each2 = each(['0', '-0', '1', '1.0', '100e-2', '1e2', '100.00', '-5', 'x', '', '1e126', '123456789012345678901234567890123456789'], (n) => [`number key ${n}`, [
  ['PutItem', { TableName: 'numbered', Item: { n: N(n), v: S(n) }, ReturnValues: 'ALL_OLD' }], ['GetItem', { TableName: 'numbered', Key: { n: N(n) } }],
]]);

// Keys that do not fit.
const key = [
  {}, { a: S('x'), z: S('y') }, { z: S('y') }, { a: N(1) }, { a: B('x') }, { a: S('') }, { a: {} }, { a: { S: 'x', N: '1' } }, { a: L() }, { a: { SS: ['x'] } }, { a: { NULL: true } }, { a: { BOOL: true } }, { a: M({}) }, { a: 'x' }, { a: null }, null, 'x', [], { a: N('x') }, { A: S('x') }, { a: S('x'.repeat(2048)) }, { a: S('x'.repeat(2049)) }, { a: S('é'.repeat(1025)) }, { a: { SS: [] } }, { a: { S: 'x' }, b: {} }, { a: { NULL: false } },
];
const onKey = (TableName, keys) => ({
  ...each(keys, (Key) => [`${TableName} get key ${text(Key)}`, ['GetItem', { TableName, Key }]]),
  ...each(keys, (Key) => [`${TableName} delete key ${text(Key)}`, ['DeleteItem', { TableName, Key }]]),
  ...each(keys, (Key) => [`${TableName} update key ${text(Key)}`, ['UpdateItem', { TableName, Key, UpdateExpression: 'SET q = :v', ExpressionAttributeValues: { ':v': S('x') } }]]),
  ...each(keys, (Item) => [`${TableName} put key ${text(Item)}`, ['PutItem', { TableName, Item }]]),
});
const rangedKey = [{ a: S('x') }, { b: N(1) }, { a: S('x'), b: S('1') }, { a: N(1), b: N(1) }, { a: N(1), b: S('1') }, { a: S(''), b: N(1) }, { a: S('x'), b: N(1), c: S('x') }, { a: S('x'), c: N(1) }, { a: S('x'), b: N('1x') }, { a: S('x'), b: {} }, { a: S('x'), b: N('') }];
const binaryKey = [{ a: B(''), b: B('x') }, { a: B('x'), b: B('') }, { a: B('x'.repeat(2049)), b: B('x') }, { a: B('x'), b: B('x'.repeat(1025)) }, { a: B('x'), b: B('x'.repeat(1024)) }, { a: S('x'), b: B('x') }, { a: B('x'), b: { B: '!' } }];
const indexKeys = [{ c: N(1) }, { c: S('') }, { d: S('1') }, { e: B('') }, { e: S('x') }, { c: { NULL: true } }, { c: L() }, { c: S('x'.repeat(2049)) }, { c: S('x'.repeat(1025)) }, { e: B('x'.repeat(1025)) }, { c: { SS: ['x'] } }, { d: N('1') }];
const each3 = {
  ...each(indexKeys, (more) => [`put index key ${text(more)}`, ['PutItem', { TableName: 'indexed', Item: { a: S('x'), b: S('y'), ...more } }]]),
  ...each(indexKeys, (more) => [`update index key ${text(more)}`, ['UpdateItem', { TableName: 'indexed', Key: { a: S('u'), b: S('y') }, UpdateExpression: 'SET #n = :v', ExpressionAttributeNames: { '#n': Object.keys(more)[0] }, ExpressionAttributeValues: { ':v': Object.values(more)[0] } }]]),
};

// Parameters.
const ok = { a: S('p') };
const mixes = {
  PutItem: [{ Item: ok }, [
    {}, { TableName: undefined }, { TableName: '' }, { TableName: 'ab' }, { TableName: 'a;b' }, { TableName: 'x'.repeat(256) }, { TableName: 'nope' }, { TableName: null }, { TableName: 1 }, { TableName: {} }, { TableName: 'arn:aws:dynamodb:us-east-1:000000000000:table/plain' }, { Item: undefined }, { Item: 'x' }, { ReturnValues: 'NONE' }, { ReturnValues: 'ALL_OLD' }, { ReturnValues: 'ALL_NEW' }, { ReturnValues: 'UPDATED_OLD' }, { ReturnValues: 'nope' }, { ReturnValues: '' }, { ReturnValues: 1 },
    { ReturnConsumedCapacity: 'TOTAL' }, { ReturnConsumedCapacity: 'INDEXES' }, { ReturnConsumedCapacity: 'NONE' }, { ReturnConsumedCapacity: 'nope' }, { ReturnItemCollectionMetrics: 'SIZE' }, { ReturnItemCollectionMetrics: 'nope' }, { ReturnValues: 'x', ReturnConsumedCapacity: 'y', ReturnItemCollectionMetrics: 'z', TableName: '' }, { ReturnValuesOnConditionCheckFailure: 'nope' }, { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
    { ConditionExpression: '' }, { ConditionExpression: 'attribute_exists(a)', Expected: { a: { Exists: false } } }, { ConditionExpression: 'attribute_exists(a)', ConditionalOperator: 'OR' }, { ConditionalOperator: 'OR' }, { ConditionalOperator: 'AND', Expected: {} }, { ConditionalOperator: 'nope', Expected: { a: { Exists: false } } }, { ExpressionAttributeNames: { '#a': 'a' } }, { ExpressionAttributeValues: { ':a': S('a') } }, { ExpressionAttributeNames: {} }, { ExpressionAttributeValues: {} }, { ExpressionAttributeNames: {}, ConditionExpression: 'attribute_exists(a)' }, { ExpressionAttributeValues: {}, ConditionExpression: 'attribute_exists(a)' },
    { ExpressionAttributeValues: { ':v': {} }, ConditionExpression: 'a = :v' }, { ExpressionAttributeValues: { ':v': { N: 'x' } }, ConditionExpression: 'a = :v' }, { ExpressionAttributeValues: { ':v': { SS: [] } }, ConditionExpression: 'a = :v' }, { ExpressionAttributeValues: { ':v': { S: 'a', N: '1' } }, ConditionExpression: 'a = :v' }, { ExpressionAttributeValues: { ':v': { NS: ['1', '1'] } }, ConditionExpression: 'a = :v' }, { ExpressionAttributeValues: { ':v': 'x' }, ConditionExpression: 'a = :v' }, { ExpressionAttributeNames: { '#a': 1 }, ConditionExpression: '#a = :v' }, { ConditionExpression: 1 }, { ConditionExpression: 'x'.repeat(4097) },
    { ConditionExpression: 'a = :v', ExpressionAttributeValues: { ':v': S('other') }, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }, { ConditionExpression: 'a = :v', ExpressionAttributeValues: { ':v': S('other') }, ReturnValuesOnConditionCheckFailure: 'NONE' }, { ConditionExpression: 'a = :v', ExpressionAttributeValues: { ':v': S('p') }, ReturnValues: 'ALL_OLD' }, { Unknown: 1 }, { Item: { a: S('big'), v: S('x'.repeat(409601)) } }, { Item: { a: S('b'), v: S('x'.repeat(409597)) } }, { Item: { a: S('b'), v: S('x'.repeat(409598)) } },
  ]],
  GetItem: [{ Key: ok }, [
    {}, { TableName: undefined }, { TableName: '' }, { TableName: 'ab' }, { TableName: 'a;b' }, { TableName: 'nope' }, { Key: undefined }, { ConsistentRead: true }, { ConsistentRead: 'true' }, { ConsistentRead: 'no' }, { ConsistentRead: 1 }, { ReturnConsumedCapacity: 'TOTAL' }, { ReturnConsumedCapacity: 'INDEXES' }, { ReturnConsumedCapacity: 'TOTAL', ConsistentRead: true }, { ReturnConsumedCapacity: 'nope' }, { AttributesToGet: ['a'] }, { AttributesToGet: [] }, { AttributesToGet: ['a', 'a'] }, { AttributesToGet: [''] }, { AttributesToGet: ['nope'] }, { AttributesToGet: 'a' }, { AttributesToGet: ['a'], ProjectionExpression: 'a' }, { ProjectionExpression: 'a' }, { ProjectionExpression: 'nope' }, { ProjectionExpression: '' }, { ProjectionExpression: 'a, a' }, { ProjectionExpression: 'm, m.k' }, { ProjectionExpression: 'm.k, m[0]' }, { ProjectionExpression: 'l[0], l[0]' }, { ProjectionExpression: 'a,' }, { ProjectionExpression: 'a b' }, { ProjectionExpression: 'name' }, { ProjectionExpression: '#n' }, { ProjectionExpression: '#n', ExpressionAttributeNames: { '#n': 'a' } }, { ProjectionExpression: 'a', ExpressionAttributeNames: { '#n': 'a' } }, { ExpressionAttributeNames: { '#n': 'a' } }, { ProjectionExpression: 'a', ExpressionAttributeValues: { ':v': S('x') } }, { ProjectionExpression: ':v' }, { ProjectionExpression: 'size(a)' }, { TableName: 'nope', Key: {} }, { TableName: 'nope', ProjectionExpression: '(' }, { TableName: '', Key: {}, ReturnConsumedCapacity: 'x', AttributesToGet: [] },
  ]],
  DeleteItem: [{ Key: ok }, [
    {}, { ReturnValues: 'ALL_OLD' }, { ReturnValues: 'ALL_NEW' }, { ReturnValues: 'nope' }, { TableName: undefined }, { TableName: 'nope' }, { Key: undefined }, { ReturnConsumedCapacity: 'TOTAL' }, { ReturnItemCollectionMetrics: 'SIZE' }, { ConditionExpression: 'attribute_exists(a)' }, { ConditionExpression: 'attribute_exists(a)', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }, { Expected: { a: { Exists: true } } }, { Expected: { a: { Value: S('x') } } }, { ConditionExpression: '' }, { ExpressionAttributeNames: { '#a': 'a' } }, { ReturnValues: 'x', ReturnConsumedCapacity: 'y' }, { ReturnValues: 'UPDATED_NEW', ConditionExpression: '(' }, { ExpressionAttributeValues: { ':a': S('x') } },
  ]],
  UpdateItem: [{ Key: ok }, [
    {}, { ReturnValues: 'nope' }, { TableName: undefined }, { TableName: 'nope' }, { Key: undefined }, { ReturnConsumedCapacity: 'TOTAL' }, { ReturnConsumedCapacity: 'x', ReturnValues: 'y' }, { ReturnItemCollectionMetrics: 'SIZE' }, { UpdateExpression: '' }, { UpdateExpression: 'SET x = :v', AttributeUpdates: { x: { Value: S('x') } }, ExpressionAttributeValues: { ':v': S('x') } }, { AttributeUpdates: { x: { Value: S('x') } }, ConditionExpression: 'attribute_exists(a)' }, { UpdateExpression: 'REMOVE x', Expected: { x: { Exists: false } } }, { ExpressionAttributeNames: { '#a': 'a' } }, { ExpressionAttributeValues: { ':a': S('x') } }, { ConditionExpression: 'attribute_exists(nope)', UpdateExpression: 'REMOVE x' }, { ConditionExpression: 'attribute_exists(nope)', UpdateExpression: 'REMOVE x', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }, { ConditionExpression: 'attribute_exists(nope)' }, { UpdateExpression: 'SET x = :v', ConditionExpression: 'y = :w', ExpressionAttributeValues: { ':v': S('x') } }, { UpdateExpression: 'SET x = :v', ConditionExpression: 'y = :v', ExpressionAttributeValues: { ':v': S('x'), ':u': S('x') } }, { UpdateExpression: 'SET a = :v', ConditionExpression: 'attribute_exists(nope)', ExpressionAttributeValues: { ':v': S('x') } }, { UpdateExpression: 'SET x = :v', ExpressionAttributeValues: { ':v': S('x'.repeat(409600)) } }, { UpdateExpression: 'SET x = :v', ExpressionAttributeValues: { ':v': S('x'.repeat(400000)) }, ReturnConsumedCapacity: 'TOTAL' }, { UpdateExpression: 'SET x = x + :v', ConditionExpression: 'attribute_exists(nope)', ExpressionAttributeValues: { ':v': N(1) } }, { TableName: 'nope', UpdateExpression: 'SET a = :v', ExpressionAttributeValues: { ':v': S('x') } }, { UpdateExpression: 'SET a = :v', Key: { b: S('x') }, ExpressionAttributeValues: { ':v': S('x') } },
  ]],
};
const each4 = Object.entries(mixes).reduce((cases, [operation, [base, list]]) => ({
  ...cases, ...each(list, (more) => [`${operation} ${text(more)}`, [operation, { TableName: 'plain', ...base, ...more }]]),
}), {});

// Text that is not the JSON it should be.
const broken = ['', '{', '[]', '"x"', 'null', '1', '{"TableName":"plain","TableName":"nope","Key":{"a":{"S":"1"}}}', '{"TableName":"plain","Key":{"a":{"S":"1"}},}', "{'TableName':'plain'}", '{"TableName":"plain","Key":{"a":{"S":"\\ud800"}}}', '{"TableName":"plain","Key":{"a":{"S":"1"}}} x', '{"TableName":"plain","Key":{"a":{"S":"1","S":"2"}}}', '{"TableName":"plain","Key":{"a":{"S":"1"},"a":{"S":"2"}}}'];
const each5 = each(broken, (body) => [`body ${body}`, ['GetItem', body]]);

// Depth.
const nest = (depth) => (depth ? { L: [nest(depth - 1)] } : { S: 'x' });
const nestMap = (depth) => (depth ? { M: { a: nestMap(depth - 1) } } : { S: 'x' });
const each6 = each([30, 31, 32, 33, 40], (depth) => [`depth ${depth}`, [put({ a: S('d'), v: nest(depth) }), put({ a: S('d'), v: nestMap(depth) }), ['UpdateItem', { TableName: 'plain', Key: { a: S('d') }, UpdateExpression: 'SET x = :v', ExpressionAttributeValues: { ':v': nest(depth) } }]]]);

export const cases = {
  ...each1, ...each2, ...onKey('plain', key), ...onKey('ranged', rangedKey), ...onKey('binary', binaryKey), ...each3, ...each4, ...each5, ...each6,
  ...each([['PutItem', { Item: { a: S('x'), b: S('y') } }], ['DeleteItem', { Key: { a: S('x'), b: S('y') } }], ['UpdateItem', { Key: { a: S('x'), b: S('y') } }]].flatMap(([operation, base]) => ['a.k', 'b[0]', 'c.k', 'd[1].x', 'x.c'].map((path) => [operation, base, path])),
    ([operation, base, path]) => [`${operation} inside ${path}`, [operation, { TableName: 'indexed', ...base, ConditionExpression: `attribute_not_exists(${path})` }]]),
  'old values': [put({ a: S('o'), x: N(1) }, { ReturnValues: 'ALL_OLD' }), put({ a: S('o'), x: N(2) }, { ReturnValues: 'ALL_OLD' }), ['DeleteItem', { TableName: 'plain', Key: { a: S('o') }, ReturnValues: 'ALL_OLD' }], ['DeleteItem', { TableName: 'plain', Key: { a: S('o') }, ReturnValues: 'ALL_OLD' }]],
  'projections in shape': [
    put({ a: S('pr'), m: M({ k: S('v'), d: M({ x: N(1), y: N(2) }) }), l: L(S('0'), S('1'), M({ q: N(9), r: N(8) }), L(N(1), N(2))), s: S('s') }),
    ...['m.k', 'm.d.x, m.k', 'l[1]', 'l[2], l[0]', 'l[2].q', 'l[3][1], l[0], l[2].r', 'm.nope', 'l[9]', 'm[0]', 'l.k', 's.k', 'm.d.x, l[2].q, s', 'm.d.x, m.d.y', 'nope, a', 'l[3][1], l[3][0]', 'l[2].q, l[2].r'].map((ProjectionExpression) => get({ a: S('pr') }, { ProjectionExpression })),
    get({ a: S('pr') }, { AttributesToGet: ['m', 's'] }), get({ a: S('pr') }, { AttributesToGet: ['m.k'] }),
  ],
};
