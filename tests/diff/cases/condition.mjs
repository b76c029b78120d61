// Condition expressions: each is put to a PutItem that changes nothing.
import { B, L, M, N, S, each, plain } from '../tables.mjs';

const item = {
  a: S('1'), s: S('hello'), u: S('é𝒳z'), e: S(''), n: N(5), f: N('-1.50'), b: B('hello'), t: { BOOL: true },
  z: { NULL: true }, l: L(S('x'), N(1), L(N(2)), M({ k: S('v') }), B('q')), m: M({ k: S('v'), d: M({ d: L(N(7)) }) }),
  ss: { SS: ['x', 'y'] }, ns: { NS: ['1', '2.0'] }, bs: { BS: [B('q').B, B('r').B] }, el: L(), em: M({}),
  t2: S('S'), 'dot.ted': S('d'), 'sp ace': N(1),
};
export const tables = [plain];
export const items = { plain: [item] };

const conditions = [
  // Existence and type.
  ['attribute_exists(a)'], ['attribute_exists(nope)'], ['attribute_not_exists(nope)'], ['attribute_not_exists(a)'],
  ['attribute_exists(m.k)'], ['attribute_exists(m.d.d[0])'], ['attribute_exists(m.d.d[1])'], ['attribute_exists(s.k)'],
  ['attribute_exists(l[3].k)'], ['attribute_exists(s[0])'], ['attribute_exists(l.k)'], ['attribute_exists(z)'],
  ['attribute_type(s, :v)', { ':v': S('S') }], ['attribute_type(n, :v)', { ':v': S('N') }], ['attribute_type(b, :v)', { ':v': S('B') }],
  ['attribute_type(t, :v)', { ':v': S('BOOL') }], ['attribute_type(z, :v)', { ':v': S('NULL') }], ['attribute_type(l, :v)', { ':v': S('L') }],
  ['attribute_type(m, :v)', { ':v': S('M') }], ['attribute_type(ss, :v)', { ':v': S('SS') }], ['attribute_type(ns, :v)', { ':v': S('NS') }],
  ['attribute_type(bs, :v)', { ':v': S('BS') }], ['attribute_type(s, :v)', { ':v': S('N') }], ['attribute_type(nope, :v)', { ':v': S('N') }],
  ['attribute_type(s, :v)', { ':v': S('X') }], ['attribute_type(s, :v)', { ':v': S('') }], ['attribute_type(s, :v)', { ':v': N(1) }],
  ['attribute_type(s, t2)'], ['attribute_type(:v, :v)', { ':v': S('S') }], ['attribute_type(m.k, :v)', { ':v': S('S') }],
  ['attribute_exists(:v)', { ':v': S('a') }], ['attribute_exists(size(a))'], ['attribute_exists(a, s)'], ['attribute_exists()'],
  ['attribute_type(s)'], ['begins_with(s)'], ['contains(s)'], ['contains(s, s, s)'], ['size()'], ['size(s)'], ['size(s, s) > :v', { ':v': N(1) }],
  // Equality between and within types.
  ['s = :v', { ':v': S('hello') }], ['s = :v', { ':v': B('hello') }], ['n = :v', { ':v': N('5.00') }], ['n = :v', { ':v': S('5') }],
  ['f = :v', { ':v': N('-15e-1') }], ['b = :v', { ':v': B('hello') }], ['t = :v', { ':v': { BOOL: true } }], ['t = :v', { ':v': { BOOL: false } }],
  ['z = :v', { ':v': { NULL: true } }], ['z = t'], ['l = :v', { ':v': item.l }], ['m = :v', { ':v': M({ d: M({ d: L(N('7.0')) }), k: S('v') }) }],
  ['l = :v', { ':v': L(S('x')) }], ['ss = :v', { ':v': { SS: ['y', 'x'] } }], ['ns = :v', { ':v': { NS: ['2', '1.0'] } }],
  ['ss = :v', { ':v': { SS: ['x'] } }], ['el = :v', { ':v': L() }], ['em = :v', { ':v': M({}) }], ['e = :v', { ':v': S('') }],
  ['nope = :v', { ':v': S('') }], ['nope <> :v', { ':v': S('') }], ['s <> :v', { ':v': N(1) }], ['s <> s'], ['nope = nope2'], ['nope <> nope2'],
  ['s <> nope'], ['s = s'], [':v = :v', { ':v': S('x') }], [':v = :w', { ':v': S('x'), ':w': S('x') }], [':v <> s', { ':v': S('x') }],
  // Order.
  ['n > :v', { ':v': N(4) }], ['n > :v', { ':v': N(5) }], ['n >= :v', { ':v': N('5e0') }], ['n < :v', { ':v': N('5.0000000000000000000000000000000000001') }],
  ['n <= :v', { ':v': N('4.9') }], ['f < :v', { ':v': N(0) }], ['f > :v', { ':v': N('-1.51') }], ['s > :v', { ':v': S('Hello') }],
  ['s < :v', { ':v': S('hello!') }], ['e < s'], ['u > :v', { ':v': S('z') }], ['b > :v', { ':v': B('hell') }], ['b < :v', { ':v': B('hello\0') }],
  ['n > :v', { ':v': S('1') }], ['s > :v', { ':v': N(1) }], ['t > :v', { ':v': { BOOL: false } }], ['l > :v', { ':v': L() }],
  ['m < :v', { ':v': M({}) }], ['ss >= :v', { ':v': { SS: ['x'] } }], ['z <= :v', { ':v': { NULL: true } }], ['nope > :v', { ':v': N(1) }], ['nope < :v', { ':v': N(1) }],
  [':v < n', { ':v': N(1) }], [':v < :w', { ':v': N(1), ':w': N(2) }], ['t > t'], ['n < nope'],
  ['n BETWEEN :v AND :w', { ':v': N(5), ':w': N(5) }], ['n BETWEEN :v AND :w', { ':v': N(6), ':w': N(5) }], ['n BETWEEN :v AND :w', { ':v': N(1), ':w': S('5') }],
  ['n between :v and :w', { ':v': N(1), ':w': N(9) }], ['s BETWEEN :v AND :w', { ':v': S('a'), ':w': S('z') }], ['s BETWEEN e AND u'], ['n BETWEEN f AND n'],
  [':v BETWEEN f AND n', { ':v': N(0) }], [':x BETWEEN :v AND :w', { ':x': N(2), ':v': N(1), ':w': N(3) }], ['b BETWEEN :v AND :w', { ':v': B('a'), ':w': B('z') }],
  ['t BETWEEN :v AND :w', { ':v': { BOOL: false }, ':w': { BOOL: true } }], ['nope BETWEEN :v AND :w', { ':v': N(1), ':w': N(2) }], ['n BETWEEN nope AND n'],
  ['n BETWEEN :v AND :w', { ':v': L(), ':w': L() }], ['n BETWEEN :v AND f', { ':v': N(1) }],
  ['n IN (:v)', { ':v': N('5.0') }], ['n IN (:v, :w)', { ':v': N(1), ':w': N(5) }], ['n IN (:v, :w)', { ':v': N(1), ':w': S('5') }], ['s IN (n, s)'], ['s in (e, u)'],
  ['l IN (:v)', { ':v': item.l }], ['nope IN (:v)', { ':v': N(1) }], ['t IN (:v)', { ':v': { BOOL: true } }], ['n IN ()'], ['n IN :v', { ':v': L(N(5)) }], [':v IN (n)', { ':v': N(5) }],
  // Functions.
  ['begins_with(s, :v)', { ':v': S('he') }], ['begins_with(s, :v)', { ':v': S('') }], ['begins_with(s, :v)', { ':v': S('hello!') }], ['begins_with(b, :v)', { ':v': B('he') }],
  ['begins_with(b, :v)', { ':v': S('he') }], ['begins_with(s, :v)', { ':v': B('he') }], ['begins_with(n, :v)', { ':v': N(5) }], ['begins_with(s, :v)', { ':v': N(5) }],
  ['begins_with(n, :v)', { ':v': S('5') }], ['begins_with(nope, :v)', { ':v': S('5') }], ['begins_with(s, s)'], ['begins_with(:v, s)', { ':v': S('hello world') }], ['begins_with(s, e)'],
  ['begins_with(:v, :w)', { ':v': S('ab'), ':w': S('a') }], ['begins_with(l, :v)', { ':v': S('x') }],
  ['contains(s, :v)', { ':v': S('ell') }], ['contains(s, :v)', { ':v': S('') }], ['contains(s, :v)', { ':v': S('x') }], ['contains(b, :v)', { ':v': B('ell') }], ['contains(s, :v)', { ':v': B('ell') }],
  ['contains(ss, :v)', { ':v': S('x') }], ['contains(ss, :v)', { ':v': S('z') }], ['contains(ns, :v)', { ':v': N('2') }], ['contains(ns, :v)', { ':v': S('2') }], ['contains(bs, :v)', { ':v': B('q') }],
  ['contains(ss, :v)', { ':v': { SS: ['x'] } }], ['contains(l, :v)', { ':v': N('1.0') }], ['contains(l, :v)', { ':v': L(N(2)) }], ['contains(l, :v)', { ':v': M({ k: S('v') }) }], ['contains(l, :v)', { ':v': B('q') }],
  ['contains(l, :v)', { ':v': S('y') }], ['contains(m, :v)', { ':v': S('k') }], ['contains(n, :v)', { ':v': N(5) }], ['contains(s, :v)', { ':v': N(5) }], ['contains(nope, :v)', { ':v': S('x') }], ['contains(s, s)'],
  ['contains(:v, s)', { ':v': S('oh hello') }], ['contains(:v, n)', { ':v': { NS: ['5', '6'] } }], ['contains(s, e)'], ['contains(ss, m.k)'], ['contains(t, :v)', { ':v': { BOOL: true } }],
  ['contains(l[2], :v)', { ':v': N(2) }], ['contains(s, :v)', { ':v': { SS: ['h'] } }], ['contains(s, :v)', { ':v': L(S('h')) }],
  ['size(s) = :v', { ':v': N(5) }], ['size(u) = :v', { ':v': N(4) }], ['size(u) = :v', { ':v': N(7) }], ['size(u) = :v', { ':v': N(3) }], ['size(e) = :v', { ':v': N(0) }], ['size(b) = :v', { ':v': N(5) }], ['size(ss) = :v', { ':v': N(2) }], ['size(ns) = :v', { ':v': N(2) }],
  ['size(l) = :v', { ':v': N(5) }], ['size(m) = :v', { ':v': N(2) }], ['size(em) = :v', { ':v': N(0) }], ['size(n) = :v', { ':v': N(1) }], ['size(t) = :v', { ':v': N(1) }], ['size(z) = :v', { ':v': N(1) }], ['size(nope) = :v', { ':v': N(0) }],
  ['size(n) <> :v', { ':v': N(1) }], ['size(nope) <> :v', { ':v': N(0) }], ['size(:v) = :w', { ':v': S('abc'), ':w': N(3) }], ['size(:v) = :w', { ':v': N(3), ':w': N(3) }], ['size(s) > :v', { ':v': S('1') }], ['size(s) BETWEEN :v AND :w', { ':v': N(1), ':w': N(9) }], ['size(s) IN (:v)', { ':v': N(5) }],
  ['size(l) > size(m)'], ['size(size(s)) > :v', { ':v': N(1) }], ['size(l[2]) = :v', { ':v': N(1) }], [':v = size(s)', { ':v': N(5) }], ['size(s) = n'], ['size(s)'], ['begins_with(size(s), :v)', { ':v': S('5') }], ['contains(s, size(s))'],
  // Logic.
  ['s = s AND n = n'], ['s = :v OR n = :w', { ':v': S('x'), ':w': N(5) }], ['NOT s = :v', { ':v': S('x') }], ['not (s = :v)', { ':v': S('hello') }], ['NOT NOT s = :v', { ':v': S('hello') }],
  ['s = :v OR s = :v AND n = :w', { ':v': S('hello'), ':w': N(6) }], ['(s = :v OR s = :v) AND n = :w', { ':v': S('hello'), ':w': N(6) }], ['NOT s = :v AND n = :w', { ':v': S('x'), ':w': N(5) }],
  ['(s = :v)', { ':v': S('hello') }], ['((s = :v))', { ':v': S('hello') }], ['(((s = :v)))', { ':v': S('hello') }], ['((s = :v) AND n = :w)', { ':v': S('hello'), ':w': N(5) }], ['(s) = :v', { ':v': S('hello') }], ['((s)) = :v', { ':v': S('hello') }],
  ['(s = :v) AND ((n = :w))', { ':v': S('hello'), ':w': N(5) }], ['attribute_exists((s))'], ['((s) = :v)', { ':v': S('hello') }],
  ['n = :v and (attribute_exists(s) or attribute_exists(nope))', { ':v': N(5) }],
  // Names.
  ['#n = :v', { ':v': S('d') }, { '#n': 'dot.ted' }], ['#n = :v', { ':v': N(1) }, { '#n': 'sp ace' }], ['dot.ted = :v', { ':v': S('d') }], ['#n.#k = :v', { ':v': S('v') }, { '#n': 'm', '#k': 'k' }], ['#n[0] = :v', { ':v': S('x') }, { '#n': 'l' }],
  ['m.#k = :v', { ':v': S('v') }, { '#k': 'k' }], ['#n = :v', { ':v': S('v') }], ['#n = :v', { ':v': S('v') }, {}], ['s = :v', { ':v': S('v') }, { '#n': 'n' }], ['s = :v', { ':v': S('v'), ':w': S('w') }], ['s = :v'], ['s = :v', {}], ['s = :w', { ':v': S('v') }],
  ['attribute_exists(a)', undefined, { n: 'a' }], ['attribute_exists(a)', undefined, { '#': 'a' }], ['attribute_exists(#n)', undefined, { '#n': '' }], ['s = :v', { v: S('v') }], ['s = :v', { ':': S('v') }], ['s = :v', { ':v ': S('v') }], ['attribute_exists(a)', undefined, { '#n-': 'a' }],
  ['#n = :v', { ':v': S('hello') }, { '#n': 's', '#m': 'x', '#l': 'y' }], ['s = :v', { ':v': S('v'), ':w': S('w'), ':x': S('x') }], ['#1 = :1', { ':1': S('hello') }, { '#1': 's' }], ['#_a1 = :_A', { ':_A': S('hello') }, { '#_a1': 's' }],
  ['name = :v', { ':v': S('v') }], ['SIZE = :v', { ':v': S('v') }], ['Status = :v', { ':v': S('v') }], ['m.name = :v', { ':v': S('v') }], ['m.k.size = :v', { ':v': S('v') }], ['attribute_exists(data)'], ['attribute_exists(ttl)'], ['count > :v', { ':v': N(1) }],
  // Grammar.
  [''], [' '], ['s'], ['s ='], ['= s'], ['s == :v', { ':v': S('v') }], ['s != :v', { ':v': S('v') }], ['s = :v AND', { ':v': S('v') }], ['AND s = :v', { ':v': S('v') }], ['s = :v AND AND s = :v', { ':v': S('v') }], ['(s = :v', { ':v': S('v') }], ['s = :v)', { ':v': S('v') }],
  ['s = "hello"'], ["s = 'hello'"], ['n = 5'], ['n > -1'], ['s = :v;', { ':v': S('v') }], ['s = :v s = :v', { ':v': S('v') }], ['s = :v, n = :v', { ':v': S('v') }], ['NOT'], ['NOT s'], ['()'], ['l[a] = :v', { ':v': S('v') }], ['l[-1] = :v', { ':v': S('v') }], ['l[] = :v', { ':v': S('v') }], ['l[0 = :v', { ':v': S('v') }],
  ['l[01] = :v', { ':v': S('v') }], ['l[1.5] = :v', { ':v': S('v') }], ['l[99999999999999] = :v', { ':v': S('v') }], ['l[:v] = :v', { ':v': N(0) }], ['.s = :v', { ':v': S('v') }], ['s. = :v', { ':v': S('v') }], ['s..k = :v', { ':v': S('v') }], ['m . k = :v', { ':v': S('v') }], ['l [0] = :v', { ':v': S('x') }], ['l[ 0 ] = :v', { ':v': S('x') }],
  ['unknown(s)'], ['unknown(s, :v)', { ':v': S('v') }], ['Attribute_Exists(s)'], ['ATTRIBUTE_EXISTS(s)'], ['if_not_exists(s, :v)', { ':v': S('v') }], ['list_append(l, :v) = :v', { ':v': L() }], ['if_not_exists(s, :v) = :v', { ':v': S('v') }], ['s = :v + :v', { ':v': N(1) }], ['n + :v = :v', { ':v': N(1) }],
  ['attribute_exists(s) = :v', { ':v': { BOOL: true } }], ['contains(s, :v) = :v', { ':v': S('v') }], ['begins_with(s, :v) AND', { ':v': S('v') }], ['size(s) AND s = :v', { ':v': S('v') }], [':v', { ':v': { BOOL: true } }], ['t'], ['s BETWEEN :v', { ':v': S('v') }], ['s BETWEEN :v AND', { ':v': S('v') }], ['s BETWEEN :v OR :v', { ':v': S('v') }], ['s IN (:v,)', { ':v': S('v') }], ['s IN (:v :v)', { ':v': S('v') }],
  ['s < :v < :v', { ':v': S('v') }], ['s <>= :v', { ':v': S('v') }], ['s => :v', { ':v': S('v') }], ['s =', { ':v': S('v') }], ['$ = :v', { ':v': S('v') }], ['é = :v', { ':v': S('v') }], ['s\n=\t:v', { ':v': S('hello') }], ['s-x = :v', { ':v': S('v') }], ['1s = :v', { ':v': S('v') }], ['_s = :v', { ':v': S('v') }], ['s_ = :v', { ':v': S('v') }],
  ['a = :v or (b = :v', { ':v': S('v') }], ['# = :v', { ':v': S('v') }], ['s = :', { ':v': S('v') }], ['contains(s :v)', { ':v': S('v') }], ['s IN (:v, :w', { ':v': S('v'), ':w': S('w') }], ['m.k[0].x = :v', { ':v': S('v') }], ['s = :v AND (n = :v OR )', { ':v': S('v') }], ['set = :v', { ':v': S('v') }], ['SET s = :v', { ':v': S('v') }],
];

export const cases = each(conditions, ([ConditionExpression, ExpressionAttributeValues, ExpressionAttributeNames]) => [
  [ConditionExpression, JSON.stringify(ExpressionAttributeValues), JSON.stringify(ExpressionAttributeNames)].filter(Boolean).join(' '),
  ['PutItem', { TableName: 'plain', Item: item, ConditionExpression, ExpressionAttributeValues, ExpressionAttributeNames }],
]);
