// ConsumedCapacity and ItemCollectionMetrics of writes, and index entries that come, move and go.
import { B, N, S, each, indexed, plain } from '../tables.mjs';

export const tables = [plain, indexed];
const key = { a: S('p'), b: S('1') };
const C = { ReturnConsumedCapacity: 'INDEXES' };
const put = (more, extra = {}) => ['PutItem', { TableName: 'indexed', Item: { ...key, ...more }, ...C, ...extra }];
const update = (UpdateExpression, values) => ['UpdateItem', { TableName: 'indexed', Key: key, UpdateExpression, ExpressionAttributeValues: values, ...C }];
const del = ['DeleteItem', { TableName: 'indexed', Key: key, ...C }];
const big = (n) => S('x'.repeat(n));
const plainPut = (n, more = {}) => ['PutItem', { TableName: 'plain', Item: { a: S('s'), v: big(n) }, ReturnConsumedCapacity: 'TOTAL', ...more }];
const full = { c: S('c'), d: N(1), e: B('e'), x: N(1), y: N(1), z: N(1) };

export const cases = {
  'sizes of puts': [0, 100, 1020, 1021, 1022, 1023, 2045, 2046, 2047, 409597].map((n) => plainPut(n)),
  'smaller over larger': [plainPut(5000), plainPut(10), plainPut(10)],
  'sizes of gets': [0, 4000, 4093, 4094, 4095, 8189, 8190].flatMap((n) => [plainPut(n), ...[true, false].map((ConsistentRead) => ['GetItem', { TableName: 'plain', Key: { a: S('s') }, ReturnConsumedCapacity: 'TOTAL', ConsistentRead, ProjectionExpression: 'a' }])]),
  'get of nothing': ['GetItem', { TableName: 'plain', Key: { a: S('nope') }, ReturnConsumedCapacity: 'TOTAL' }],
  'delete of nothing': ['DeleteItem', { TableName: 'plain', Key: { a: S('nope') }, ReturnConsumedCapacity: 'TOTAL' }],
  'delete by size': [plainPut(3000), ['DeleteItem', { TableName: 'plain', Key: { a: S('s') }, ReturnConsumedCapacity: 'TOTAL' }]],
  'update by size': [plainPut(3000), ['UpdateItem', { TableName: 'plain', Key: { a: S('s') }, UpdateExpression: 'SET v = :v', ExpressionAttributeValues: { ':v': S('x') }, ReturnConsumedCapacity: 'TOTAL' }], ['UpdateItem', { TableName: 'plain', Key: { a: S('s') }, UpdateExpression: 'SET v = :v', ExpressionAttributeValues: { ':v': big(5000) }, ReturnConsumedCapacity: 'TOTAL' }]],
  'sizes of values': [{ n: N(1) }, { n: N('-1') }, { n: N('12345678901234567890') }, { l: { L: [] } }, { m: { M: {} } }, { t: { BOOL: true } }, { z: { NULL: true } }, { ss: { SS: ['a', 'bb'] } }, { ns: { NS: ['1', '100'] } }].map((more) => ['PutItem', { TableName: 'plain', Item: { a: S('s'), v: big(1000), ...more }, ReturnConsumedCapacity: 'TOTAL' }]),
  'index: only the table': [put({ z: N(1) }), put({ z: N(1) }), put({ z: N(2) }), del, del],
  'index: all': [put(full), put(full), put({ ...full, z: N(2) }), put({ ...full, x: N(2) }), del],
  'index: comes and goes': [put({}), update('SET c = :v', { ':v': S('c') }), update('SET d = :v', { ':v': N(1) }), update('SET e = :v', { ':v': B('e') }), update('SET c = :v', { ':v': S('d') }), update('SET c = :v', { ':v': S('d') }), update('SET d = :v', { ':v': N('1.0') }), update('SET x = :v', { ':v': N(1) }), update('SET z = :v', { ':v': N(1) }), update('REMOVE c'), update('REMOVE d'), del],
  'index: projected sizes': [put({ ...full, x: big(3000) }), put({ ...full, x: big(10), z: big(3000) }), update('SET z = :v', { ':v': big(10) }), update('SET c = :v', { ':v': S('moved') }), del],
  'total level': ['TOTAL', 'NONE', 'INDEXES'].flatMap((level) => [put(full, { ReturnConsumedCapacity: level }), put({}, { ReturnConsumedCapacity: level })]),
  'metrics': [put({}, { ReturnItemCollectionMetrics: 'SIZE' }), put({}, { ReturnItemCollectionMetrics: 'NONE' }), ['PutItem', { TableName: 'plain', Item: { a: S('1') }, ReturnItemCollectionMetrics: 'SIZE' }], ['UpdateItem', { TableName: 'indexed', Key: key, ReturnItemCollectionMetrics: 'SIZE' }], ['DeleteItem', { TableName: 'indexed', Key: key, ReturnItemCollectionMetrics: 'SIZE' }]],
  'failed condition': [put({}), put({}, { ConditionExpression: 'attribute_not_exists(a)' })],
  'counts and sizes': [...[1, 2, 3].map((i) => ['PutItem', { TableName: 'indexed', Item: { ...full, a: S('q'), b: S(`${i}`) } }]), ['PutItem', { TableName: 'indexed', Item: { a: S('q'), b: S('4'), c: S('only') } }]],
};
