// The older conditions: Expected, and how its operators compare.
import { B, L, M, N, S, each, plain } from '../tables.mjs';

const item = { a: S('1'), s: S('hello'), e: S(''), n: N(5), b: B('hello'), t: { BOOL: true }, z: { NULL: true }, l: L(S('x'), N(1)), m: M({ k: S('v') }), ss: { SS: ['x', 'y'] }, ns: { NS: ['1', '2'] }, bs: { BS: [B('q').B] } };
export const tables = [plain];
export const items = { plain: [item] };

const op = (ComparisonOperator, ...AttributeValueList) => ({ ComparisonOperator, AttributeValueList });
const tests = [
  { s: { Value: S('hello') } }, { s: { Value: S('x') } }, { s: { Exists: true, Value: S('hello') } }, { nope: { Exists: false } }, { s: { Exists: false } }, { s: { Exists: true } }, { s: { Exists: false, Value: S('x') } }, { s: {} }, { s: { Value: {} } }, { n: { Value: N('5.0') } }, { nope: { Value: S('x') } }, { z: { Value: { NULL: true } } }, { l: { Value: item.l } }, { ss: { Value: { SS: ['y', 'x'] } } },
  { s: op('EQ', S('hello')) }, { s: op('EQ', S('x')) }, { s: op('EQ', N(1)) }, { s: op('EQ') }, { s: op('EQ', S('a'), S('b')) }, { nope: op('EQ', S('x')) }, { ss: op('EQ', { SS: ['y', 'x'] }) }, { l: op('EQ', item.l) }, { m: op('EQ', item.m) }, { e: op('EQ', S('')) },
  { s: op('NE', S('x')) }, { s: op('NE', S('hello')) }, { nope: op('NE', S('x')) }, { s: op('NE', N(1)) }, { n: op('LT', N(6)) }, { n: op('LE', N(5)) }, { n: op('GT', N(5)) }, { n: op('GE', N('5.0')) }, { n: op('GT', S('1')) }, { nope: op('GT', N(1)) }, { nope: op('LT', N(1)) }, { s: op('LT', S('i')) }, { b: op('GT', B('a')) }, { t: op('LT', { BOOL: true }) }, { l: op('GT', L()) }, { ss: op('GT', { SS: ['x'] }) }, { n: op('LT') }, { n: op('LT', N(1), N(2)) }, { z: op('GE', { NULL: true }) },
  { s: op('NOT_NULL') }, { nope: op('NOT_NULL') }, { z: op('NOT_NULL') }, { nope: op('NULL') }, { s: op('NULL') }, { s: op('NULL', S('x')) }, { s: { ComparisonOperator: 'NULL' } }, { s: { ComparisonOperator: 'EQ' } }, { s: { ComparisonOperator: 'EQ', Value: S('hello') } }, { s: { ComparisonOperator: 'EQ', Value: S('hello'), AttributeValueList: [S('x')] } }, { s: { ComparisonOperator: 'EQ', AttributeValueList: [S('x')], Exists: true } }, { s: { AttributeValueList: [S('hello')] } }, { s: { AttributeValueList: [S('hello')], Value: S('x') } }, { nope: { ComparisonOperator: 'NULL', Exists: false } },
  { s: op('CONTAINS', S('ell')) }, { s: op('CONTAINS', S('x')) }, { s: op('CONTAINS', N(1)) }, { ss: op('CONTAINS', S('x')) }, { ns: op('CONTAINS', N('1.0')) }, { bs: op('CONTAINS', B('q')) }, { l: op('CONTAINS', N(1)) }, { n: op('CONTAINS', N(5)) }, { nope: op('CONTAINS', S('x')) }, { s: op('CONTAINS', L()) }, { s: op('CONTAINS', { SS: ['x'] }) }, { s: op('CONTAINS') }, { b: op('CONTAINS', B('ell')) }, { m: op('CONTAINS', S('k')) }, { s: op('CONTAINS', { BOOL: true }) },
  { s: op('NOT_CONTAINS', S('x')) }, { s: op('NOT_CONTAINS', S('ell')) }, { nope: op('NOT_CONTAINS', S('x')) }, { n: op('NOT_CONTAINS', S('x')) }, { ss: op('NOT_CONTAINS', S('q')) }, { l: op('NOT_CONTAINS', S('q')) }, { s: op('BEGINS_WITH', S('he')) }, { s: op('BEGINS_WITH', S('x')) }, { s: op('BEGINS_WITH', N(1)) }, { b: op('BEGINS_WITH', B('he')) }, { nope: op('BEGINS_WITH', S('x')) }, { s: op('BEGINS_WITH', B('he')) }, { n: op('BEGINS_WITH', S('5')) }, { s: op('BEGINS_WITH', S('')) },
  { n: op('IN', N(1), N(5)) }, { n: op('IN', N(1)) }, { n: op('IN', N(1), S('5')) }, { n: op('IN') }, { s: op('IN', S('hello')) }, { l: op('IN', L()) }, { ss: op('IN', { SS: ['x'] }) }, { n: op('BETWEEN', N(1), N(5)) }, { n: op('BETWEEN', N(6), N(5)) }, { n: op('BETWEEN', N(1)) }, { n: op('BETWEEN', N(1), S('5')) }, { n: op('BETWEEN', N(1), N(2), N(3)) }, { s: op('BETWEEN', S('a'), S('z')) }, { s: op('BETWEEN', { SS: ['a'] }, { SS: ['b'] }) }, { nope: op('BETWEEN', N(1), N(2)) }, { n: op('BETWEEN', S('a'), S('b')) },
  { s: op('nope', S('x')) }, { s: op('eq', S('x')) }, { s: op('EQ', {}) }, { s: op('EQ', { N: 'x' }) }, { s: op('EQ', { SS: [] }) }, { s: op('EQ', { S: 'a', N: '1' }) }, { s: op('EQ', 'x') }, { s: 'x' }, { s: { AttributeValueList: 'x' } }, { s: { ComparisonOperator: 1 } }, { s: { Exists: 'x' } }, { s: op('EQ', S('hello')), n: op('EQ', N(5)) }, { s: op('EQ', S('hello')), n: op('EQ', N(6)) }, {}, { 'm.k': op('EQ', S('v')) },
];
const title = (value) => JSON.stringify(value);
export const cases = {
  ...each(tests, (Expected) => [title(Expected), ['PutItem', { TableName: 'plain', Item: item, Expected }]]),
  ...each(['AND', 'OR'].flatMap((o) => [{ s: op('EQ', S('hello')), n: op('EQ', N(6)) }, { s: op('EQ', S('x')), n: op('EQ', N(6)) }, { s: op('EQ', S('hello')) }, {}].map((e) => [o, e])),
    ([ConditionalOperator, Expected]) => [`${ConditionalOperator} ${title(Expected)}`, ['PutItem', { TableName: 'plain', Item: item, Expected, ConditionalOperator }]]),
  'told on failure': ['PutItem', { TableName: 'plain', Item: item, Expected: { s: op('EQ', S('x')) }, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }],
};
