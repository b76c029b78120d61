// Tables the cases are about, and short ways to say things.

const attributes = (types) =>
  Object.entries(types).map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
export const keys = (HASH, RANGE) => [
  { AttributeName: HASH, KeyType: 'HASH' }, ...(RANGE ? [{ AttributeName: RANGE, KeyType: 'RANGE' }] : []),
];
export const throughput = { ReadCapacityUnits: 5, WriteCapacityUnits: 5 };
export const all = { ProjectionType: 'ALL' };
export const keysOnly = { ProjectionType: 'KEYS_ONLY' };
export const include = (...NonKeyAttributes) => ({ ProjectionType: 'INCLUDE', NonKeyAttributes });
export const local = (IndexName, HASH, RANGE, Projection = all) => ({ IndexName, KeySchema: keys(HASH, RANGE), Projection });
export const global = (IndexName, HASH, RANGE, Projection = all, ProvisionedThroughput = throughput) => ({
  IndexName, KeySchema: keys(HASH, RANGE), Projection, ...(ProvisionedThroughput && { ProvisionedThroughput }),
});
export const table = (TableName, types, KeySchema, more = {}) => ({
  TableName, AttributeDefinitions: attributes(types), KeySchema, ProvisionedThroughput: throughput, ...more,
});

export const plain = table('plain', { a: 'S' }, keys('a'));
export const ranged = table('ranged', { a: 'S', b: 'N' }, keys('a', 'b'));
export const numbered = table('numbered', { n: 'N' }, keys('n'));
export const binary = table('binary', { a: 'B', b: 'B' }, keys('a', 'b'));
export const indexed = table('indexed', { a: 'S', b: 'S', c: 'S', d: 'N', e: 'B' }, keys('a', 'b'), {
  LocalSecondaryIndexes: [
    local('lAll', 'a', 'c'), local('lKeys', 'a', 'd', keysOnly), local('lSome', 'a', 'c', include('x', 'y')),
  ],
  GlobalSecondaryIndexes: [
    global('gAll', 'c', 'd'), global('gKeys', 'd', undefined, keysOnly), global('gSome', 'c', 'e', include('x')),
  ],
});

export const S = (text) => ({ S: text });
export const N = (number) => ({ N: String(number) });
export const B = (text) => ({ B: Buffer.from(text).toString('base64') });
export const L = (...list) => ({ L: list });
export const M = (map) => ({ M: map });

// { name: step } for each element, `make` gives [name, step or steps]. Equal names get a number.
export function each(list, make) {
  const cases = {};
  for (const element of list) {
    const [name, steps] = make(element);
    let free = name;
    for (let i = 2; free in cases; i++) free = `${name} (${i})`;
    cases[free] = steps;
  }
  return cases;
}
