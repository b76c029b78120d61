// Random sequences: a table of some shape, then writes, reads and pages of it, put to our program and
// to another, comparing each answer. A failure is replayed by its seed.
//
//   node tests/diff/random.mjs [--seed N] [--rounds N] [--steps N] [--seconds N] [--against dynalite,local]
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { known } from './known.mjs';
import { comparable, normalAnswer, normalValue } from './normal.mjs';
import { startTargets } from './targets.mjs';
import { global, include, keys, keysOnly, all, local, table } from './tables.mjs';

// --- chance ---

export function chance(seed) {
  let state = seed >>> 0;
  const next = () => { // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  const one = (list) => list[below(list.length)];
  const maybe = (p = 0.5) => next() < p;
  const some = (most, make) => Array.from({ length: below(most + 1) }, make);
  return { below, one, maybe, some };
}

// --- values ---

const texts = ['', 'a', 'ab', 'abc', 'b', 'é', '𝒳', 'z', 'A', '10', '9'];
const numbers = ['0', '-0.0', '1', '1.0', '-1', '2', '10', '1e1', '0.5', '-2.5', '1e20', '123456789.123456789', '-1e-5', '12345678901234567890'];
const names = ['v', 'w', 'm', 'l', 's', 't', 'c', 'd', 'e'];
const b64 = (text) => Buffer.from(text).toString('base64');
const distinct = (list) => [...new Set(list)];
const byValue = (list) => [...new Map(list.map((n) => [Number(n), n])).values()];

function scalar(r, type, empty = true) {
  if (type === 'N') return { N: r.one(numbers) };
  const text = r.one(empty && r.falsy ? texts : texts.slice(1));
  return type === 'B' ? { B: b64(text) } : { S: text };
}

function value(r, depth = 2) {
  const kind = r.one(['S', 'N', 'B', 'S', 'N', 'BOOL', 'NULL', 'SS', 'NS', 'BS', ...(depth ? ['L', 'M', 'L', 'M'] : [])]);
  switch (kind) {
    case 'BOOL': return { BOOL: r.maybe() || !r.falsy };
    case 'NULL': return { NULL: true };
    case 'SS': return { SS: distinct([r.one(texts), r.one(texts)]) };
    case 'NS': return { NS: byValue([r.one(numbers), r.one(numbers)]) };
    case 'BS': return { BS: distinct([b64(r.one(texts)), b64(r.one(texts))]) };
    case 'L': return { L: r.some(3, () => value(r, depth - 1)) };
    case 'M': return { M: Object.fromEntries(r.some(3, () => [r.one(['k', 'v', 'x y']), value(r, depth - 1)])) };
    default: return scalar(r, kind);
  }
}

// --- a table ---

function shape(r) {
  const type = () => r.one(['S', 'N', 'B']);
  const types = { a: type() };
  const ranged = r.maybe(0.7);
  if (ranged) types.b = type();
  const projection = () => r.one([all, all, keysOnly, include('v', 'w')]);
  const more = {};
  const indexes = [];
  if (ranged && r.maybe()) {
    types.c = type();
    more.LocalSecondaryIndexes = [local('lc1', 'a', 'c', projection())];
    indexes.push({ name: 'lc1', hash: 'a', range: 'c' });
  }
  if (r.maybe(0.7)) {
    types.d = type();
    const range = r.maybe() ? 'e' : undefined;
    if (range) types.e = type();
    more.GlobalSecondaryIndexes = [global('gd1', 'd', range, projection())];
    indexes.push({ name: 'gd1', hash: 'd', range, global: true });
  }
  return { types, indexes, input: table('random', types, keys('a', ranged ? 'b' : undefined), more), hash: 'a', range: ranged ? 'b' : undefined };
}

const keyOf = (r, s) => Object.fromEntries([s.hash, s.range].filter(Boolean).map((name) => [name, scalar(r, s.types[name], false)]));
const valueOf = (r, s, name) => (s.types[name] && r.maybe(0.9) ? scalar(r, s.types[name], false) : value(r));

function item(r, s) {
  const made = keyOf(r, s);
  for (const name of names) if (!(name in made) && r.maybe(0.6)) made[name] = valueOf(r, s, name);
  return made;
}

// --- expressions ---

class Binder {
  constructor(types) { this.types = types; this.names = {}; this.values = {}; }
  name(text) { const alias = `#n${Object.keys(this.names).length}`; this.names[alias] = text; return alias; }
  value(v) { const alias = `:v${Object.keys(this.values).length}`; this.values[alias] = v; return alias; }
  path(r, name = r.one(names)) {
    let path = r.maybe(0.3) ? this.name(name) : name;
    while (!this.types[name] && r.maybe(0.2)) path += r.maybe() ? `.${r.one(['k', 'v'])}` : `[${r.below(3)}]`;
    return path;
  }
  into(input) {
    if (Object.keys(this.names).length) input.ExpressionAttributeNames = this.names;
    if (Object.keys(this.values).length) input.ExpressionAttributeValues = this.values;
    return input;
  }
}

function condition(r, bind, depth = 2) {
  if (depth && r.maybe(0.4)) {
    const parts = [condition(r, bind, depth - 1), condition(r, bind, depth - 1)];
    return r.one([`${parts[0]} AND ${parts[1]}`, `(${parts[0]} OR ${parts[1]})`, `NOT (${parts[0]} AND ${parts[1]})`]);
  }
  const path = () => bind.path(r);
  const operand = () => bind.value(value(r, 0)); // not every program can tell equal maps and lists
  const simple = (types = ['S', 'N', 'B']) => bind.value(scalar(r, r.one(types)));
  return r.one([
    () => `attribute_exists(${path()})`, () => `attribute_not_exists(${path()})`,
    () => `attribute_type(${path()}, ${bind.value({ S: r.one(['S', 'N', 'B', 'SS', 'L', 'M', 'BOOL', 'NULL']) })})`,
    () => `${path()} ${r.one(['=', '<>'])} ${operand()}`, () => `${path()} ${r.one(['<', '<=', '>', '>='])} ${simple()}`,
    () => { const type = r.one(['S', 'N', 'B']); const [x, y] = [scalar(r, type), scalar(r, type)]; return `${path()} BETWEEN ${bind.value(x)} AND ${bind.value(y)}`; },
    () => `${path()} IN (${operand()}, ${operand()})`, () => `begins_with(${path()}, ${simple(['S', 'B'])})`,
    () => `contains(${path()}, ${simple()})`, () => `size(${path()}) ${r.one(['=', '<', '>'])} ${bind.value({ N: String(r.below(4)) })}`,
  ])();
}

function update(r, s, bind) {
  const free = names.filter((name) => name !== s.range && name !== s.hash);
  const taken = new Set();
  const target = (word) => {
    const name = r.one(free);
    if (taken.has(name) || (word && s.types[name])) return null; // keys of an index are only set
    taken.add(name);
    return s.types[name] ? name : bind.path(r, name);
  };
  const set = () => {
    const to = target();
    if (!to) return null;
    const from = r.one(free);
    if (s.types[to]) return `${to} = ${bind.value(scalar(r, s.types[to], false))}`;
    return r.one([
      () => `${to} = ${bind.value(value(r))}`, () => `${to} = if_not_exists(${from}, ${bind.value(value(r, 1))})`,
      () => `${to} = ${from} + ${bind.value(scalar(r, 'N'))}`, () => `${to} = if_not_exists(${from}, ${bind.value({ N: '1' })}) - ${bind.value({ N: '3' })}`,
      () => `${to} = list_append(if_not_exists(${from}, ${bind.value({ L: [] })}), ${bind.value({ L: [value(r, 0)] })})`, () => `${to} = ${r.falsy ? from : bind.value(value(r))}`, // dynalite's copy of a set is the set
    ])();
  };
  const clause = (word, make) => { const parts = r.some(2, make).filter(Boolean); return parts.length ? `${word} ${parts.join(', ')}` : ''; };
  const sets = () => ({ [r.one(['SS'])]: [r.one(texts.slice(1))] });
  const text = [
    clause('SET', set), clause('REMOVE', () => target()),
    clause('ADD', () => { const to = target('ADD'); return to && `${to} ${bind.value(r.maybe() ? scalar(r, 'N') : sets())}`; }),
    clause('DELETE', () => { const to = target('DELETE'); return to && `${to} ${bind.value(sets())}`; }),
  ].filter(Boolean).join(' ');
  // One that only takes away makes no item; the others think it does (cases/update.mjs has it).
  return /SET|ADD/.test(text) || !text ? text || `SET v = ${bind.value({ N: '7' })}` : `SET n = ${bind.value({ N: '7' })} ${text}`;
}

// --- steps: each is [operation, input] or a page walk ---

const usage = (r, input) => (r.maybe(0.2) ? { ...input, ReturnConsumedCapacity: r.one(['TOTAL', 'INDEXES']) } : input);
const compare = (r) => r.one(['EQ', 'NE', 'LT', 'GE', 'NOT_NULL', 'NULL', 'BEGINS_WITH', 'CONTAINS']);
function oldTest(r) {
  const ComparisonOperator = compare(r);
  if (ComparisonOperator.endsWith('NULL')) return { ComparisonOperator };
  return { ComparisonOperator, AttributeValueList: [scalar(r, ComparisonOperator === 'BEGINS_WITH' ? 'S' : r.one(['S', 'N']))] };
}

function write(r, s) {
  const TableName = 'random';
  const bind = new Binder(s.types);
  switch (r.below(8)) {
    case 0: case 1: case 2: {
      const input = { TableName, Item: item(r, s), ...(r.maybe() && { ReturnValues: 'ALL_OLD' }) };
      if (r.maybe(0.3)) input.ConditionExpression = condition(r, bind);
      else if (r.maybe(0.2)) input.Expected = { [r.one(names)]: oldTest(r) };
      return ['PutItem', usage(r, bind.into(input))];
    }
    case 3: {
      const input = { TableName, Key: keyOf(r, s), ...(r.maybe() && { ReturnValues: 'ALL_OLD' }) };
      if (r.maybe(0.3)) input.ConditionExpression = condition(r, bind);
      return ['DeleteItem', usage(r, bind.into(input))];
    }
    case 4: {
      const AttributeUpdates = { n: { Value: scalar(r, 'N') } };
      for (const name of ['v', 'w', 's'])
        if (r.maybe())
          AttributeUpdates[name] = r.one([() => ({ Action: 'PUT', Value: value(r) }), () => ({ Action: 'DELETE' }), () => ({ Action: 'ADD', Value: r.maybe() ? scalar(r, 'N') : { SS: ['q'] } })])();
      return ['UpdateItem', usage(r, { TableName, Key: keyOf(r, s), AttributeUpdates, ReturnValues: r.one(['ALL_NEW', 'UPDATED_NEW', 'ALL_OLD']) })];
    }
    default: {
      const input = { TableName, Key: keyOf(r, s), ReturnValues: r.one(['NONE', 'ALL_OLD', 'UPDATED_OLD', 'ALL_NEW', 'UPDATED_NEW']) };
      input.UpdateExpression = update(r, s, bind);
      if (r.maybe(0.2)) input.ConditionExpression = condition(r, bind);
      return ['UpdateItem', usage(r, bind.into(input))];
    }
  }
}

function keyTest(r, type, name, bind) {
  const v = () => bind.value(scalar(r, type, false));
  const tests = [() => `${name} = ${v()}`, () => `${name} < ${v()}`, () => `${name} >= ${v()}`, () => `${name} > ${v()}`,
    ...(type === 'N' ? [] : [() => `begins_with(${name}, ${v()})`])];
  return r.one(tests)();
}

function query(r, s) {
  const bind = new Binder(s.types);
  const at = s.indexes.length && r.maybe() ? r.one(s.indexes) : null;
  const { hash, range } = at ?? s;
  const input = { TableName: 'random', ...(at && { IndexName: at.name }) };
  input.KeyConditionExpression = `${hash} = ${bind.value(scalar(r, s.types[hash], false))}`;
  if (range && r.maybe(0.4)) input.KeyConditionExpression += ` AND ${keyTest(r, s.types[range], range, bind)}`;
  if (r.maybe(0.3)) {
    const filter = `${r.one(['v', 'w', 's'])} ${r.one(['=', '<>', '>'])} ${bind.value(scalar(r, r.one(['S', 'N'])))}`;
    if (!at) input.FilterExpression = filter;
    else delete bind.values[`:v${Object.keys(bind.values).length - 1}`];
  }
  if (!at && r.maybe(0.2)) input.ProjectionExpression = 'a, v, m.k, l[0]';
  if (r.maybe(0.3)) input.ScanIndexForward = false;
  if (r.maybe(0.2)) input.Select = 'COUNT', delete input.ProjectionExpression;
  return ['Query', bind.into(input), at];
}

function read(r, s) {
  if (r.maybe(0.4)) return ['GetItem', usage(r, { TableName: 'random', Key: keyOf(r, s), ...(r.maybe(0.3) && { ProjectionExpression: 'a, v, m.k, l[1]' }), ConsistentRead: true })];
  if (r.maybe(0.7)) return query(r, s);
  const bind = new Binder(s.types);
  const input = { TableName: 'random', ...(s.indexes.length && r.maybe(0.3) && { IndexName: r.one(s.indexes).name }) };
  if (!input.IndexName && r.maybe()) input.FilterExpression = condition(r, bind);
  return ['Scan', bind.into(input)];
}

// All pages of a reading, joined: where a page ends, and in what order equal keys of an index come,
// is not for two programs to agree on.
async function walk(target, operation, input, limit, at) {
  const items = [];
  let Count = 0;
  let ScannedCount = 0;
  let ExclusiveStartKey;
  for (let pages = 0; pages < 500; pages++) {
    const answer = await target.call(operation, { ...input, ...(limit && { Limit: limit }), ...(ExclusiveStartKey && { ExclusiveStartKey }) });
    if (answer.status !== 200) return normalAnswer(operation, answer);
    items.push(...(answer.json.Items ?? []));
    Count += answer.json.Count;
    ScannedCount += answer.json.ScannedCount;
    ExclusiveStartKey = answer.json.LastEvaluatedKey;
    if (!ExclusiveStartKey) break;
  }
  let told = items.map((found) => normalValue(found));
  const order = at?.range ? told.map((found) => found[at.range]) : undefined;
  if (operation === 'Scan' || at) told = told.sort((x, y) => (comparable({ x }) < comparable({ x: y }) ? -1 : 1));
  return { status: 200, answer: { Items: told, order, Count, ScannedCount } };
}

async function ask(target, [operation, input, at], limit) {
  if (operation === 'Query' || operation === 'Scan') return walk(target, operation, input, limit, at);
  return normalAnswer(operation, await target.call(operation, input));
}

// What must agree in random requests: of a fault only its name (the words are the catalogue's
// business), and no capacity where indexes take part, of which each has its own idea.
function essence({ status, type, answer }, s, [, input]) {
  if (status !== 200) return { status, type };
  const { ConsumedCapacity, ...rest } = answer;
  const asked = input.ReturnConsumedCapacity && !s.indexes.length;
  return { status, answer: asked ? { ...rest, ConsumedCapacity } : rest };
}

// --- rounds ---

async function makeTable(target, input) {
  await target.call('DeleteTable', { TableName: input.TableName });
  for (let made = false; !made; made || (await sleep(5))) made = (await target.call('CreateTable', input)).status === 200;
  while ((await target.call('DescribeTable', { TableName: input.TableName })).json.Table.TableStatus !== 'ACTIVE') await sleep(5);
}

// One round from a seed; resolves to the differences: [{ step, answers }].
export async function round(targets, seed, steps) {
  const r = chance(seed);
  // To functions of dynalite's conditions an empty text and false are not there.
  r.falsy = !targets.some((target) => target.name === 'dynalite');
  const s = shape(r);
  await Promise.all(targets.map((target) => makeTable(target, s.input)));
  const found = [];
  for (let i = 0; i < steps; i++) {
    const step = r.maybe(0.6) ? write(r, s) : read(r, s);
    const limit = r.maybe(0.6) ? 1 + r.below(4) : undefined;
    const answers = await Promise.all(targets.map((target) => ask(target, step, limit)));
    const told = answers.map((answer) => comparable(essence(answer, s, step)));
    const differ = targets.slice(1).filter((target, n) => told[n + 1] !== told[0]);
    if (!differ.length) continue;
    const reasons = differ.map((target) => known(target.name, step[0], answers[0], answers[targets.indexOf(target)], step[1]));
    if (reasons.some((reason) => !reason))
      found.push({ step, limit, answers: targets.map((target, n) => [target.name, answers[n]]) });
    // What was written differs from here on, unless only what was told of it does.
    const reading = ['Query', 'Scan', 'GetItem'].includes(step[0]);
    if (!reading && answers.some((answer) => answer.status !== answers[0].status)) break;
  }
  return { table: s.input, found };
}

async function main() {
  const { values: options } = parseArgs({
    options: {
      seed: { type: 'string' }, rounds: { type: 'string', default: '20' }, steps: { type: 'string', default: '150' },
      seconds: { type: 'string', default: '60' }, against: { type: 'string', default: 'dynalite' }, all: { type: 'boolean' },
    },
  });
  const first = Number(options.seed ?? Date.now() % 1000000);
  const targets = await startTargets(['ours', ...options.against.split(',')]);
  const end = Date.now() + 1000 * Number(options.seconds);
  let failures = 0;
  try {
    for (let seed = first; seed < first + Number(options.rounds) && Date.now() < end; seed++) {
      const { table: made, found } = await round(targets, seed, Number(options.steps));
      for (const { step, limit, answers } of found) {
        failures++;
        console.log(`\nseed ${seed}: ${JSON.stringify(made.AttributeDefinitions.map((d) => d.AttributeName + d.AttributeType))}`);
        console.log(`  ${step[0]} ${JSON.stringify(step[1])}${limit ? ` by ${limit}` : ''}`);
        for (const [name, answer] of answers) console.log(`  ${name.padEnd(9)}${JSON.stringify(answer).slice(0, 1500)}`);
      }
    }
    console.log(`\nfrom seed ${first}: ${failures} differences`);
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
  process.exitCode = failures ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
