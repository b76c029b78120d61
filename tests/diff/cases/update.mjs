// Update expressions: each is put to an item of its own, then what came of it is read.
import { B, L, M, N, S, each, plain } from '../tables.mjs';

const item = {
  s: S('hello'), n: N(5), f: N('-1.50'), b: B('x'), t: { BOOL: true }, z: { NULL: true }, l: L(S('x'), N(1), L(N(2)), M({ k: S('v') })),
  m: M({ k: S('v'), n: N(1), d: M({ d: L(N(7), N(8)) }), ss: { SS: ['p'] } }), ss: { SS: ['x', 'y'] }, ns: { NS: ['1', '2'] }, bs: { BS: [B('q').B] },
};
export const tables = [plain];

const updates = [
  ['SET s = :v', { ':v': S('bye') }], ['set s = :v, x = :v', { ':v': N('1e2') }], ['SET s = n'], ['SET x = s, s = :v', { ':v': S('new') }], ['SET s = n, n = s'], ['SET x = nope'], ['SET x = m.d.d[1]'],
  ['SET n = n + :v', { ':v': N(1) }], ['SET n = n - :v', { ':v': N('0.5') }], ['SET n = :v + n', { ':v': N(-10) }], ['SET x = :v + :v', { ':v': N(1) }], ['SET x = n + f'], ['SET n = n + :v', { ':v': S('1') }], ['SET s = s + :v', { ':v': N(1) }], ['SET x = nope + :v', { ':v': N(1) }], ['SET n = n + :v + :v', { ':v': N(1) }],
  ['SET n = n +:v', { ':v': N(1) }], ['SET n = n+:v', { ':v': N(1) }], ['SET n = n * :v', { ':v': N(1) }], ['SET n = (n + :v)', { ':v': N(1) }], ['SET n = (n) + (:v)', { ':v': N(1) }], ['SET n = ((n)) + :v', { ':v': N(1) }], ['SET n = -n'],
  ['SET n = n + :v', { ':v': N('1e125') }], ['SET n = n + :v', { ':v': N('9e125') }], ['SET x = :v + :v', { ':v': N('9e125') }], ['SET x = :v + :w', { ':v': N('1e37'), ':w': N('1e-1') }], ['SET x = :v - :w', { ':v': N('0.3'), ':w': N('0.1') }], ['SET x = :v + :w', { ':v': N('99999999999999999999999999999999999999'), ':w': N('1') }], ['SET x = :v - :v', { ':v': N('1e-130') }],
  ['SET x = if_not_exists(x, :v)', { ':v': N(1) }], ['SET s = if_not_exists(s, :v)', { ':v': N(1) }], ['SET x = if_not_exists(nope, s)'], ['SET n = if_not_exists(n, :z) + :v', { ':z': N(0), ':v': N(1) }], ['SET x = if_not_exists(x, :z) + :v', { ':z': N(0), ':v': N(1) }], ['SET x = if_not_exists(m.nope, :v)', { ':v': S('d') }], ['SET m.k = if_not_exists(m.k, :v)', { ':v': S('d') }], ['SET x = if_not_exists(nope, nope2)'], ['SET x = if_not_exists(nope, if_not_exists(nope2, :v))', { ':v': S('d') }], ['SET x = if_not_exists(:v, :v)', { ':v': S('d') }], ['SET x = if_not_exists(x)'], ['SET x = if_not_exists(x, :v, :v)', { ':v': S('d') }], ['SET x = if_not_exists(l[9], :v)', { ':v': S('d') }], ['SET x = if_not_exists(a, :v)', { ':v': S('d') }],
  ['SET l = list_append(l, :v)', { ':v': L(S('y')) }], ['SET l = list_append(:v, l)', { ':v': L(S('y'), S('z')) }], ['SET x = list_append(:v, :w)', { ':v': L(), ':w': L(N(1)) }], ['SET x = list_append(nope, :v)', { ':v': L() }], ['SET l = list_append(l, :v)', { ':v': S('y') }], ['SET l = list_append(s, :v)', { ':v': L() }], ['SET x = list_append(if_not_exists(x, :e), :v)', { ':e': L(), ':v': L(N(1)) }], ['SET l = list_append(l, l)'], ['SET l = list_append(l)'], ['SET l = list_append(l, list_append(:v, :v))', { ':v': L(N(1)) }], ['SET x = list_append(ss, :v)', { ':v': L(N(1)) }], ['SET l = list_append(l, :v)', { ':v': { SS: ['a'] } }], ['SET n = list_append(l, :v) + :n', { ':v': L(), ':n': N(1) }],
  ['SET m.k = :v', { ':v': S('w') }], ['SET m.x = :v', { ':v': S('w') }], ['SET m.d.x = :v', { ':v': S('w') }], ['SET m.x.y = :v', { ':v': S('w') }], ['SET nope.x = :v', { ':v': S('w') }], ['SET s.x = :v', { ':v': S('w') }], ['SET m[0] = :v', { ':v': S('w') }], ['SET l.x = :v', { ':v': S('w') }], ['SET l[0] = :v', { ':v': S('w') }], ['SET l[9] = :v', { ':v': S('w') }], ['SET l[9] = :v, l[7] = :w', { ':v': S('w'), ':w': S('u') }], ['SET l[4] = :v, l[5] = :w', { ':v': S('w'), ':w': S('u') }], ['SET l[2][0] = :v', { ':v': S('w') }], ['SET l[2][5] = :v', { ':v': S('w') }], ['SET l[3].k = :v', { ':v': S('w') }], ['SET l[0].k = :v', { ':v': S('w') }], ['SET l[9].k = :v', { ':v': S('w') }], ['SET nope[0] = :v', { ':v': S('w') }], ['SET ss[0] = :v', { ':v': S('w') }], ['SET m.d.d[0] = m.d.d[1], m.d.d[1] = m.d.d[0]'], ['SET m.d.d[0] = m.d.d[0] + :v', { ':v': N(1) }], ['SET m = :v', { ':v': M({}) }], ['SET l = :v', { ':v': L() }], ['SET t = :v', { ':v': { BOOL: false } }], ['SET z = :v', { ':v': { NULL: true } }], ['SET e = :v', { ':v': S('') }], ['SET e = :v', { ':v': { SS: [] } }], ['SET e = :v', { ':v': { SS: ['a', 'a'] } }], ['SET e = :v', { ':v': { NS: ['1', '1.0'] } }],
  ['REMOVE s'], ['remove s, n'], ['REMOVE nope'], ['REMOVE m.k'], ['REMOVE m.nope'], ['REMOVE nope.x'], ['REMOVE m.nope.x'], ['REMOVE s.x'], ['REMOVE l[0]'], ['REMOVE l[0], l[2]'], ['REMOVE l[2], l[0]'], ['REMOVE l[9]'], ['REMOVE l[2][0]'], ['REMOVE l[3].k'], ['REMOVE m.d.d[0], m.d.d[1]'], ['REMOVE s[0]'], ['REMOVE ss'], ['REMOVE a'], ['REMOVE :v', { ':v': S('s') }], ['REMOVE m[0]'], ['REMOVE l[0] SET l[1] = :v', { ':v': S('w') }], ['SET l[0] = :v REMOVE l[0]', { ':v': S('w') }], ['REMOVE l[1] SET l[5] = :v', { ':v': S('w') }],
  ['ADD n :v', { ':v': N(2) }], ['ADD x :v', { ':v': N(2) }], ['add x :v', { ':v': N('-2.50') }], ['ADD s :v', { ':v': N(2) }], ['ADD n :v', { ':v': S('2') }], ['ADD ss :v', { ':v': { SS: ['y', 'z'] } }], ['ADD ns :v', { ':v': { NS: ['2.0', '3'] } }], ['ADD bs :v', { ':v': { BS: [B('r').B] } }], ['ADD x :v', { ':v': { SS: ['y'] } }], ['ADD ss :v', { ':v': { NS: ['1'] } }], ['ADD ss :v', { ':v': S('z') }], ['ADD l :v', { ':v': L(N(1)) }], ['ADD m.n :v', { ':v': N(1) }], ['ADD m.ss :v', { ':v': { SS: ['q'] } }], ['ADD m.x :v', { ':v': N(1) }], ['ADD m.x.y :v', { ':v': N(1) }], ['ADD l[1] :v', { ':v': N(1) }], ['ADD l[9] :v', { ':v': N(1) }], ['ADD n n'], ['ADD n nope'], ['ADD n :v, x :v', { ':v': N(1) }], ['ADD t :v', { ':v': { BOOL: true } }], ['ADD n = :v', { ':v': N(1) }], ['ADD n', {}], ['ADD n :v', { ':v': N('9e125') }], ['ADD x :v', { ':v': M({}) }], ['ADD nope.x :v', { ':v': N(1) }], ['ADD n f'],
  ['DELETE ss :v', { ':v': { SS: ['x'] } }], ['DELETE ss :v', { ':v': { SS: ['x', 'y'] } }], ['delete ss :v', { ':v': { SS: ['q'] } }], ['DELETE nope :v', { ':v': { SS: ['x'] } }], ['DELETE ns :v', { ':v': { NS: ['2.0'] } }], ['DELETE bs :v', { ':v': { BS: [B('q').B] } }], ['DELETE ss :v', { ':v': { NS: ['1'] } }], ['DELETE s :v', { ':v': { SS: ['x'] } }], ['DELETE ss :v', { ':v': S('x') }], ['DELETE m.ss :v', { ':v': { SS: ['p'] } }], ['DELETE n :v', { ':v': N(1) }], ['DELETE ss'], ['DELETE ss ss'], ['DELETE m.nope :v', { ':v': { SS: ['p'] } }], ['DELETE nope.x :v', { ':v': { SS: ['p'] } }],
  ['SET s = :v REMOVE n ADD x :n DELETE ss :d', { ':v': S('w'), ':n': N(1), ':d': { SS: ['x'] } }], ['SET s = :v SET n = :v', { ':v': S('w') }], ['REMOVE s REMOVE n'], ['ADD n :v ADD x :v', { ':v': N(1) }], ['REMOVE s SET n = :v', { ':v': S('w') }],
  ['SET s = :v, s = :v', { ':v': S('w') }], ['SET s = :v REMOVE s', { ':v': S('w') }], ['SET m.k = :v, m = :v', { ':v': S('w') }], ['SET m = :v, m.k = :v', { ':v': S('w') }], ['SET m.k = :v, m[0] = :v', { ':v': S('w') }], ['SET l[0] = :v, l[0] = :v', { ':v': S('w') }], ['REMOVE l[0], l[0]'], ['SET l[0] = :v, l = :v', { ':v': S('w') }], ['SET m.d.d = :v REMOVE m.d', { ':v': S('w') }], ['SET #m.#k = :v, m.k = :v', { ':v': S('w') }, { '#m': 'm', '#k': 'k' }], ['SET m.d.d[0] = :v REMOVE m.d.x.y', { ':v': S('w') }],
  ['SET a = :v', { ':v': S('w') }], ['SET a.x = :v', { ':v': S('w') }], ['ADD a :v', { ':v': N(1) }], ['SET #a = :v', { ':v': S('w') }, { '#a': 'a' }], ['SET x = a'],
  ['SET #s = :v', { ':v': S('w') }, { '#s': 'dot.ted' }], ['SET #s = :v', { ':v': S('w') }], ['SET s = :v', {}], ['SET s = :v'], ['SET s = :v', { ':v': S('w'), ':w': S('x') }], ['SET s = :v', { ':v': S('w') }, { '#x': 'x' }], ['SET name = :v', { ':v': S('w') }], ['SET m.name = :v', { ':v': S('w') }], ['REMOVE size'], ['SET x = value'], ['SET s = :v', { v: S('x') }],
  [''], [' '], ['s = :v', { ':v': S('w') }], ['SET'], ['SET s'], ['SET s ='], ['SET = :v', { ':v': S('w') }], ['SET s = :v,', { ':v': S('w') }], ['SET s = :v n = :v', { ':v': S('w') }], ['SET s == :v', { ':v': S('w') }], ['SET s : v'], ['SET s = "x"'], ['SET s = 5'], ['UPDATE s = :v', { ':v': S('w') }], ['REMOVE'], ['REMOVE s,'], ['REMOVE s n'], ['ADD'], ['SET s = :v;', { ':v': S('w') }], ['SET s = unknown(s)'], ['SET s = size(s)'], ['SET s = attribute_exists(s)'], ['SET s = contains(s, :v)', { ':v': S('w') }], ['SET s = LIST_APPEND(l, l)'], ['SET if_not_exists(s, :v) = :v', { ':v': S('w') }], ['SET s = :v WHERE n = :v', { ':v': S('w') }], ['SET l[01] = :v', { ':v': S('w') }], ['SET l[x] = :v', { ':v': S('w') }], ['SET :v = :v', { ':v': S('w') }], ['SET s = :v AND n = :v', { ':v': S('w') }], ['DELETE ss :v, ss :w', { ':v': { SS: ['x'] }, ':w': { SS: ['y'] } }], ['SET s = (:v)', { ':v': S('w') }], ['SET s = ((:v))', { ':v': S('w') }], ['SET x = if_not_exists((nope), :v)', { ':v': S('w') }],
];
const title = (list) => list.map((part) => (typeof part === 'string' ? part : part && JSON.stringify(part))).filter((part) => part !== undefined).join(' ');
const Key = (n) => ({ a: S(`k${n}`) });

let count = 0;
const each1 = each(updates, ([UpdateExpression, ExpressionAttributeValues, ExpressionAttributeNames]) => {
  const key = Key(count++);
  return [title([UpdateExpression, ExpressionAttributeValues, ExpressionAttributeNames]), [
    ['PutItem', { TableName: 'plain', Item: { ...key, ...item } }],
    ['UpdateItem', { TableName: 'plain', Key: key, UpdateExpression, ExpressionAttributeValues, ExpressionAttributeNames, ReturnValues: 'UPDATED_NEW' }],
    ['GetItem', { TableName: 'plain', Key: key }],
  ]];
});

// What each form of ReturnValues gives back.
const shown = [
  ['SET s = :v', { ':v': S('w') }], ['SET x = :v', { ':v': S('w') }], ['REMOVE s'], ['REMOVE nope'], ['SET m.k = :v', { ':v': S('w') }], ['SET m.d.d[1] = :v', { ':v': S('w') }], ['SET l[0] = :v, l[3].k = :v', { ':v': S('w') }], ['SET l[9] = :v', { ':v': S('w') }], ['REMOVE l[0]'], ['REMOVE l[0], l[1]'], ['REMOVE m.d.d[0]'], ['REMOVE m.k'], ['REMOVE m.nope'], ['ADD n :v', { ':v': N(1) }], ['ADD m.n :v', { ':v': N(1) }], ['DELETE ss :v', { ':v': { SS: ['x'] } }], ['DELETE ss :v', { ':v': { SS: ['x', 'y'] } }],
  ['SET m.k = :v, m.d.x = :v, s = :v REMOVE m.n, l[1] ADD n :n', { ':v': S('w'), ':n': N(1) }], ['SET l[2][0] = :v', { ':v': S('w') }], ['SET l[1] = :v, l[9] = :v', { ':v': S('w') }], ['SET s = s'], ['SET l[3].k = :v REMOVE l[0]', { ':v': S('w') }], ['SET m.d.d[5] = :v', { ':v': N(1) }],
];
const forms = ['NONE', 'ALL_OLD', 'UPDATED_OLD', 'ALL_NEW', 'UPDATED_NEW'];
const each2 = each(shown.flatMap((update) => forms.map((form) => [form, ...update])), ([ReturnValues, UpdateExpression, ExpressionAttributeValues]) => {
  const key = Key(count++);
  return [title([ReturnValues, UpdateExpression, ExpressionAttributeValues]), [
    ['PutItem', { TableName: 'plain', Item: { ...key, ...item } }],
    ['UpdateItem', { TableName: 'plain', Key: key, UpdateExpression, ExpressionAttributeValues, ReturnValues }],
  ]];
});

// On nothing there.
const fresh = [
  [undefined], ['SET s = :v', { ':v': S('w') }], ['REMOVE s'], ['ADD n :v', { ':v': N(1) }], ['DELETE ss :v', { ':v': { SS: ['x'] } }], ['SET s = n'], ['SET m.k = :v', { ':v': S('w') }], ['SET n = n + :v', { ':v': N(1) }], ['SET n = if_not_exists(n, :z) + :v', { ':z': N(0), ':v': N(1) }], ['SET l = list_append(if_not_exists(l, :e), :v)', { ':e': L(), ':v': L(S('x')) }], ['SET x = a'], ['SET l[0] = :v', { ':v': S('w') }],
];
const each3 = each(fresh.flatMap((update) => forms.map((form) => [form, ...update])), ([ReturnValues, UpdateExpression, ExpressionAttributeValues]) => {
  const key = Key(count++);
  return [`fresh ${title([ReturnValues, UpdateExpression, ExpressionAttributeValues])}`, [
    ['UpdateItem', { TableName: 'plain', Key: key, UpdateExpression, ExpressionAttributeValues, ReturnValues }],
    ['GetItem', { TableName: 'plain', Key: key }],
  ]];
});

// The older form.
const older = [
  { s: { Value: S('w') } }, { s: { Action: 'PUT', Value: S('w') } }, { s: { Action: 'DELETE' } }, { nope: { Action: 'DELETE' } }, { n: { Action: 'ADD', Value: N(1) } }, { x: { Action: 'ADD', Value: N(1) } }, { x: { Action: 'ADD', Value: { SS: ['x'] } } }, { ss: { Action: 'ADD', Value: { SS: ['z'] } } }, { ss: { Action: 'DELETE', Value: { SS: ['x'] } } }, { ss: { Action: 'DELETE', Value: { SS: ['x', 'y'] } } }, { ns: { Action: 'DELETE', Value: { NS: ['1.0'] } } }, { l: { Action: 'ADD', Value: L(N(9)) } }, { x: { Action: 'ADD', Value: L(N(9)) } }, { m: { Action: 'ADD', Value: M({}) } }, { s: { Action: 'ADD', Value: S('x') } }, { s: { Action: 'ADD', Value: N(1) } }, { n: { Action: 'ADD', Value: { NS: ['1'] } } }, { ss: { Action: 'ADD', Value: { NS: ['1'] } } }, { ss: { Action: 'DELETE', Value: { NS: ['1'] } } }, { ss: { Action: 'DELETE', Value: S('x') } }, { s: { Action: 'DELETE', Value: { SS: ['x'] } } }, { s: { Action: 'PUT' } }, { s: {} }, { s: { Action: 'ADD' } }, { s: { Action: 'NOPE', Value: S('w') } }, { a: { Value: S('w') } }, { a: { Action: 'DELETE' } }, {}, { s: { Value: {} } }, { s: { Value: S('') } }, { s: { Value: { SS: [] } } }, { 'm.k': { Value: S('w') } }, { s: { Value: S('w') }, n: { Action: 'DELETE' }, ss: { Action: 'ADD', Value: { SS: ['q'] } } }, { nope: { Action: 'DELETE', Value: { SS: ['x'] } } }, { t: { Action: 'ADD', Value: { BOOL: true } } }, { n: { Action: 'DELETE', Value: N(1) } },
];
const each4 = each(older.flatMap((update) => ['UPDATED_NEW', 'UPDATED_OLD'].map((form) => [form, update])), ([ReturnValues, AttributeUpdates]) => {
  const key = Key(count++);
  return [`older ${title([ReturnValues, AttributeUpdates])}`, [
    ['PutItem', { TableName: 'plain', Item: { ...key, ...item } }],
    ['UpdateItem', { TableName: 'plain', Key: key, AttributeUpdates, ReturnValues }],
    ['GetItem', { TableName: 'plain', Key: key }],
  ]];
});
const each5 = each(older, (AttributeUpdates) => {
  const key = Key(count++);
  return [`older fresh ${title([AttributeUpdates])}`, [
    ['UpdateItem', { TableName: 'plain', Key: key, AttributeUpdates, ReturnValues: 'ALL_NEW' }],
    ['GetItem', { TableName: 'plain', Key: key }],
  ]];
});

export const cases = { ...each1, ...each2, ...each3, ...each4, ...each5 };
