// BatchGetItem and BatchWriteItem.
import { B, N, S, each, indexed, plain, ranged } from '../tables.mjs';

export const tables = [plain, ranged, indexed];
export const items = {
  plain: ['1', '2', '3'].map((a) => ({ a: S(a), v: N(a), w: S('w') })),
  ranged: [1, 2, 3].map((b) => ({ a: S('p'), b: N(b), v: N(b) })),
};
const text = (value) => (JSON.stringify(value) ?? 'nothing').slice(0, 160);
const k = (a) => ({ a: S(a) });
const put = (Item) => ({ PutRequest: { Item } });
const del = (Key) => ({ DeleteRequest: { Key } });
const many = (n, make) => Array.from({ length: n }, (_, i) => make(i));

const gets = [
  { plain: { Keys: [k('1')] } }, { plain: { Keys: [k('1'), k('2'), k('nope')] } }, { plain: { Keys: [k('1')] }, ranged: { Keys: [{ a: S('p'), b: N('1.0') }] } }, { plain: { Keys: [k('nope')] } }, { plain: { Keys: [k('1')], AttributesToGet: ['v'] } }, { plain: { Keys: [k('1')], ProjectionExpression: 'v, w' } }, { plain: { Keys: [k('1')], ProjectionExpression: '#v', ExpressionAttributeNames: { '#v': 'v' } } }, { plain: { Keys: [k('1')], ConsistentRead: true } }, { plain: { Keys: [k('1'), k('1')] } }, { ranged: { Keys: [{ a: S('p'), b: N(1) }, { a: S('p'), b: N('1.0') }] } },
  undefined, null, {}, [], 'x', { plain: {} }, { plain: { Keys: [] } }, { plain: { Keys: null } }, { plain: { Keys: [{}] } }, { plain: { Keys: [k('')] } }, { plain: { Keys: [{ a: N(1) }] } }, { plain: { Keys: [{ a: S('1'), b: S('1') }] } }, { plain: { Keys: [{ b: S('1') }] } }, { plain: { Keys: ['x'] } }, { plain: { Keys: [{ a: {} }] } }, { plain: { Keys: [{ a: { N: 'x' } }] } }, { nope: { Keys: [k('1')] } }, { plain: { Keys: [k('1')] }, nope: { Keys: [k('1')] } }, { ab: { Keys: [k('1')] } }, { 'a;b': { Keys: [k('1')] } }, { '': { Keys: [k('1')] } }, { plain: { Keys: [k('1')], AttributesToGet: [] } }, { plain: { Keys: [k('1')], AttributesToGet: ['v', 'v'] } }, { plain: { Keys: [k('1')], AttributesToGet: ['v'], ProjectionExpression: 'v' } }, { plain: { Keys: [k('1')], ProjectionExpression: '' } }, { plain: { Keys: [k('1')], ProjectionExpression: 'v,' } }, { plain: { Keys: [k('1')], ProjectionExpression: 'v, v' } }, { plain: { Keys: [k('1')], ExpressionAttributeNames: { '#v': 'v' } } }, { plain: { Keys: [k('1')], ProjectionExpression: 'v', ExpressionAttributeNames: { '#v': 'v' } } }, { plain: { Keys: [k('1')], ProjectionExpression: '#v' } }, { plain: { Keys: many(101, (i) => k(`m${i}`)) } }, { plain: { Keys: many(100, (i) => k(`m${i}`)) } }, { plain: { Keys: many(60, (i) => k(`m${i}`)) }, ranged: { Keys: many(60, (i) => ({ a: S('p'), b: N(i) })) } }, { plain: 'x' },
];
const writes = [
  { plain: [put({ a: S('w1') })] }, { plain: [put({ a: S('w1') }), del(k('w2'))] }, { plain: [put({ a: S('w1') })], ranged: [del({ a: S('x'), b: N(1) })] }, { plain: [del(k('nope'))] }, { plain: [put({ a: S('w1') }), put({ a: S('w1') })] }, { plain: [put({ a: S('w1') }), del(k('w1'))] }, { ranged: [put({ a: S('x'), b: N(1) }), del({ a: S('x'), b: N('1.0') })] },
  undefined, null, {}, [], 'x', { plain: [] }, { plain: null }, { plain: [{}] }, { plain: ['x'] }, { plain: [null] }, { plain: [{ PutRequest: {}, DeleteRequest: {} }] }, { plain: [{ PutRequest: { Item: { a: S('1') } }, DeleteRequest: { Key: k('1') } }] }, { plain: [{ PutRequest: {} }] }, { plain: [{ DeleteRequest: {} }] }, { plain: [put({})] }, { plain: [put({ b: S('1') })] }, { plain: [put({ a: N(1) })] }, { plain: [put(k(''))] }, { plain: [put({ a: S('1'), v: { SS: [] } })] }, { plain: [put({ a: S('1'), v: {} })] }, { plain: [put({ a: S('1'), v: { N: 'x' } })] }, { plain: [put({ a: S('1'), v: { NS: ['1', '1'] } })] }, { plain: [del({})] }, { plain: [del({ a: N(1) })] }, { plain: [del({ a: S('1'), b: S('1') })] }, { plain: [del(k(''))] }, { nope: [put(k('1'))] }, { plain: [put(k('1'))], nope: [put(k('1'))] }, { ab: [put(k('1'))] }, { 'a;b': [put(k('1'))] }, { plain: many(26, (i) => put(k(`m${i}`))) }, { plain: many(25, (i) => put(k(`m${i}`))) }, { plain: many(20, (i) => put(k(`m${i}`))), ranged: many(20, (i) => del({ a: S('p'), b: N(100 + i) })) }, { plain: [put({ a: S('1'), v: S('x'.repeat(409600)) })] }, { indexed: [put({ a: S('1'), b: S('2'), c: N(1) })] }, { indexed: [put({ a: S('1'), b: S('2'), c: S('') })] }, { plain: [put({ a: S('good') }), put({ b: S('bad') })] }, { plain: [{ UpdateRequest: {} }] },
];
export const cases = {
  ...each(gets, (RequestItems) => [`get ${text(RequestItems)}`, ['BatchGetItem', { RequestItems }]]),
  ...each(writes, (RequestItems) => [`write ${text(RequestItems)}`, ['BatchWriteItem', { RequestItems }]]),
  ...each(['TOTAL', 'INDEXES', 'NONE', 'nope'], (ReturnConsumedCapacity) => [`get ${ReturnConsumedCapacity}`, [
    ['BatchGetItem', { RequestItems: { plain: { Keys: [k('1'), k('nope')] }, ranged: { Keys: [{ a: S('p'), b: N(1) }], ConsistentRead: true } }, ReturnConsumedCapacity }]]]),
  ...each(['TOTAL', 'INDEXES', 'NONE', 'nope'], (ReturnConsumedCapacity) => [`write ${ReturnConsumedCapacity}`, [
    ['BatchWriteItem', { RequestItems: { plain: [put({ a: S('c1') }), del(k('c2'))], indexed: [put({ a: S('i'), b: S('1'), c: S('c'), d: N(1), e: B('e') })] }, ReturnConsumedCapacity, ReturnItemCollectionMetrics: 'SIZE' }]]]),
  'write metrics nope': ['BatchWriteItem', { RequestItems: { plain: [put({ a: S('c1') })] }, ReturnItemCollectionMetrics: 'nope', ReturnConsumedCapacity: 'nope' }],
  'nothing of a bad batch is done': ['GetItem', { TableName: 'plain', Key: k('good') }],
};
