// Many clients at once, and the server killed and started again under them. What each client asked,
// when, and what it was told is written down; in the end the histories must fit one order of
// all transactions, one that also respects which ended before which began.
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { rawClient } from '../lib/raw.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';
import { waitBeside } from '../lib/until.mjs';

const clients = 12;
const roundMs = Number(process.env.ROUND_MS ?? 1500);
const kills = Number(process.env.KILLS ?? 2);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
console.log(`SEED=${seed}`);

// mulberry32
let state = seed;
function random(below) {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % below;
}
const pick = (count, below) => {
  const chosen = new Set();
  while (chosen.size < count) chosen.add(random(below));
  return [...chosen];
};

const TableName = 'serial';
const S = (text) => ({ S: text });
const N = (number) => ({ N: String(number) });
const key = (name) => ({ pk: S(name) });

// Runs `step(client, number)` on every client, over and over; after each round the server is
// killed under them, and the next one starts from what is on the disk.
async function play(step, setUp) {
  const data = temporaryFolder();
  let server;
  for (let round = 0; round <= kills; round++) {
    server = await startServer({ data, args: ['--log-level', 'error'] });
    const client = rawClient(server.endpoint);
    if (round === 0) {
      await client.must('CreateTable', {
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      });
      if (setUp) await setUp(client);
    }
    let ending = false, steps = 0;
    const workers = Array.from({ length: clients }, async (_, number) => {
      while (!ending) await step(client, number).then(() => { steps++; }, (error) => {
        // only the kill may break a connection
        if (!ending || !['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(error.code)) throw error;
      });
    });
    // For as long as told, and until there is something to look at, however busy the machine is.
    await sleep(roundMs);
    for (const end = Date.now() + 60_000; steps < 400 && Date.now() < end;) await waitBeside(workers, 20);
    ending = true;
    if (round < kills) await server.stop('SIGKILL');
    await Promise.all(workers);
    client.close();
  }
  const client = rawClient(server.endpoint);
  return { client, end: async () => { client.close(); assert.equal(await server.stop(), 0); } };
}

// Asks, and writes down when, what, and what came of it: 'done', 'refused' or, when no answer came,
// 'unknown'.
const history = [];
async function ask(client, operation, input, about = {}) {
  const entry = { ...about, start: process.hrtime.bigint(), outcome: 'unknown' };
  history.push(entry);
  const { status, json } = await client.call(operation, input);
  entry.end = process.hrtime.bigint();
  assert.ok(status < 500, JSON.stringify(json));
  entry.outcome = status === 200 ? 'done' : 'refused';
  if (status !== 200 && !/Transaction cancelled|conditional request failed/.test(json.Message ?? json.message)) throw new Error(JSON.stringify(json));
  entry.answer = json;
  return entry;
}
const take = () => history.splice(0);

// Transactions append their number to lists or read several lists. The lists say in which order their
// writers came, the reads between which of them they stood; with "ended before it began"
// these make a graph that must have no circle.
test('appends to lists and reads of several fit one order', async () => {
  const lists = 8;
  let next = 1;
  const append = (name, id, condition) => ({
    Update: {
      TableName,
      Key: key(name),
      UpdateExpression: 'SET l = list_append(if_not_exists(l, :none), :id)',
      ...condition,
      ExpressionAttributeValues: { ':none': { L: [] }, ':id': { L: [N(id)] }, ...condition?.ExpressionAttributeValues },
    },
  });
  const step = async (client) => {
    const names = pick(1 + random(3), lists).map((n) => `list-${n}`);
    if (random(2) === 0) {
      const entry = await ask(client, 'TransactGetItems', {
        TransactItems: names.map((name) => ({ Get: { TableName, Key: key(name) } })),
      }, { reads: names });
      entry.seen = entry.answer.Responses.map(({ Item }) => (Item?.l.L ?? []).map(({ N: n }) => Number(n)));
      return;
    }
    const id = next++;
    // Now and then only if the list still has as many as it had: some of these are refused.
    let condition;
    if (random(3) === 0) {
      const before = await ask(client, 'GetItem', { TableName, Key: key(names[0]), ConsistentRead: true }, { reads: [names[0]] });
      before.seen = [(before.answer.Item?.l.L ?? []).map(({ N: n }) => Number(n))];
      const size = before.seen[0].length;
      condition = size === 0 ? { ConditionExpression: 'attribute_not_exists(l)' }
        : { ConditionExpression: 'size(l) = :size', ExpressionAttributeValues: { ':size': N(size) } };
    }
    await ask(client, 'TransactWriteItems', { TransactItems: names.map((name, i) => append(name, id, i === 0 ? condition : undefined)) },
      { id, writes: names });
  };
  const { client, end } = await play(step);
  const final = new Map();
  for (let n = 0; n < lists; n++) {
    const { Item } = await client.must('GetItem', { TableName, Key: key(`list-${n}`) });
    final.set(`list-${n}`, (Item?.l.L ?? []).map(({ N: v }) => Number(v)));
  }
  await end();

  const entries = take();
  const writers = new Map(entries.filter(({ id }) => id).map((entry) => [entry.id, entry]));
  const places = new Map(); // id -> how many lists have it
  for (const list of final.values()) {
    assert.equal(new Set(list).size, list.length, 'nothing is appended twice');
    for (const id of list) places.set(id, (places.get(id) ?? 0) + 1);
  }
  for (const entry of writers.values()) {
    const found = places.get(entry.id) ?? 0;
    if (entry.outcome === 'done') assert.equal(found, entry.writes.length, 'what was acknowledged is there');
    else if (entry.outcome === 'refused') assert.equal(found, 0, 'what was refused is not');
    else assert.ok(found === 0 || found === entry.writes.length, 'never a part of it');
  }

  const edges = new Map(); // entry or moment -> those after it
  const edge = (from, to) => {
    if (from === to) return;
    if (!edges.has(from)) edges.set(from, []);
    edges.get(from).push(to);
  };
  for (const list of final.values())
    for (let i = 1; i < list.length; i++) edge(writers.get(list[i - 1]), writers.get(list[i]));
  let reads = 0;
  for (const entry of entries) {
    if (!entry.seen) continue;
    entry.reads.forEach((name, i) => {
      const seen = entry.seen[i], list = final.get(name);
      assert.deepEqual(seen, list.slice(0, seen.length), 'a read is how the list once was');
      if (seen.length > 0) edge(writers.get(seen.at(-1)), entry);
      if (seen.length < list.length) edge(entry, writers.get(list[seen.length]));
      reads++;
    });
  }
  // Ends in the order of time, as a chain; each entry is before its end and after the last end
  // before its start.
  const there = entries.filter((entry) => entry.seen || places.has(entry.id));
  const ends = there.filter(({ end: e }) => e).sort((a, b) => (a.end < b.end ? -1 : 1)).map((entry) => ({ at: entry.end, entry }));
  ends.forEach((moment, i) => {
    edge(moment.entry, moment);
    if (i > 0) edge(ends[i - 1], moment);
  });
  for (const entry of there) {
    let low = 0, high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle].at < entry.start) low = middle + 1;
      else high = middle;
    }
    if (low > 0) edge(ends[low - 1], entry);
  }
  assertNoCircle(edges, [...there, ...ends]);
  console.log(`${writers.size} appending transactions, ${reads} reads of lists, ${there.length - places.size} reading transactions`);
  assert.ok(places.size > 100 && reads > 100);
});

function assertNoCircle(edges, nodes) {
  const before = new Map(nodes.map((node) => [node, 0]));
  for (const targets of edges.values()) for (const to of targets) before.set(to, before.get(to) + 1);
  const free = nodes.filter((node) => before.get(node) === 0);
  let placed = 0;
  for (let node; (node = free.pop()) !== undefined; placed++)
    for (const to of edges.get(node) ?? []) {
      const left = before.get(to) - 1;
      before.set(to, left);
      if (left === 0) free.push(to);
    }
  assert.equal(placed, before.size, 'there is an order of all transactions');
}

test('the check itself finds a circle', () => {
  const [a, b, c] = [{}, {}, {}];
  assertNoCircle(new Map([[a, [b]], [b, [c]]]), [a, b, c]);
  assert.throws(() => assertNoCircle(new Map([[a, [b]], [b, [c]], [c, [a]]]), [a, b, c]));
});

test('a counter, and compare and set', async () => {
  let number = 0;
  const step = async (client, worker) => {
    if (worker % 2 === 0) {
      const entry = await ask(client, 'UpdateItem', {
        TableName, Key: key('counter'), UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': N(1) }, ReturnValues: 'UPDATED_NEW',
      }, { counter: true });
      entry.value = Number(entry.answer.Attributes.n.N);
      return;
    }
    const { json } = await client.call('GetItem', { TableName, Key: key('register'), ConsistentRead: true });
    const version = Number(json.Item?.v.N ?? 0);
    await ask(client, 'PutItem', {
      TableName,
      Item: { ...key('register'), v: N(version + 1), by: N(number++) },
      ...(version === 0 ? { ConditionExpression: 'attribute_not_exists(pk)' }
        : { ConditionExpression: 'v = :v', ExpressionAttributeValues: { ':v': N(version) } }),
    }, { from: version });
  };
  const { client, end } = await play(step);
  const total = Number((await client.must('GetItem', { TableName, Key: key('counter') })).Item.n.N);
  const version = Number((await client.must('GetItem', { TableName, Key: key('register') })).Item.v.N);
  await end();
  const entries = take();
  const counted = entries.filter(({ counter }) => counter);
  const told = counted.filter(({ value }) => value);
  const unknown = counted.length - told.length;
  assert.equal(new Set(told.map(({ value }) => value)).size, told.length, 'no number twice');
  assert.ok(total >= told.length && total <= told.length + unknown, `${told.length} told, ${unknown} unknown, ${total} counted`);
  told.sort((a, b) => a.value - b.value);
  let latest = 0n; // what ended before another began has the smaller number
  for (const entry of told) {
    assert.ok(entry.end > latest);
    if (entry.start > latest) latest = entry.start;
  }
  const set = entries.filter(({ from, outcome }) => from !== undefined && outcome === 'done');
  const lost = entries.filter(({ from, outcome }) => from !== undefined && outcome === 'unknown').length;
  assert.equal(new Set(set.map(({ from }) => from)).size, set.length, 'each version is followed once');
  assert.ok(version >= set.length && version <= set.length + lost);
  console.log(`counted to ${total}, version ${version}`);
});

test('a bank keeps its sum, seen by transactions and scans', async () => {
  const accounts = 10, each = 100;
  const balances = (items) => items.reduce((sum, item) => sum + Number(item.balance.N), 0);
  let sums = 0;
  const check = (items) => {
    assert.equal(items.length, accounts);
    assert.equal(balances(items), accounts * each);
    assert.ok(items.every(({ balance }) => Number(balance.N) >= 0));
    sums++;
  };
  const scan = (client) => client.must('Scan', { TableName, FilterExpression: 'begins_with(pk, :a)', ExpressionAttributeValues: { ':a': S('account') } });
  const step = async (client) => {
    const kind = random(4);
    if (kind === 0) {
      const { Responses } = await client.must('TransactGetItems', {
        TransactItems: Array.from({ length: accounts }, (_, i) => ({ Get: { TableName, Key: key(`account-${i}`) } })),
      });
      return check(Responses.map(({ Item }) => Item));
    }
    if (kind === 1) return check((await scan(client)).Items);
    const [from, to] = pick(2, accounts);
    const amount = { ':n': N(1 + random(40)) };
    await ask(client, 'TransactWriteItems', {
      TransactItems: [
        { Update: { TableName, Key: key(`account-${from}`), UpdateExpression: 'SET balance = balance - :n', ConditionExpression: 'balance >= :n', ExpressionAttributeValues: amount } },
        { Update: { TableName, Key: key(`account-${to}`), UpdateExpression: 'SET balance = balance + :n', ExpressionAttributeValues: amount } },
      ],
    });
  };
  const { client, end } = await play(step, async (first) => {
    for (let i = 0; i < accounts; i++) await first.must('PutItem', { TableName, Item: { ...key(`account-${i}`), balance: N(each) } });
  });
  check((await scan(client)).Items);
  await end();
  const entries = take();
  const refused = entries.filter(({ outcome }) => outcome === 'refused').length;
  console.log(`${entries.length} transfers, ${refused} refused, ${sums} sums`);
  assert.ok(refused > 0 && sums > 50);
});

// A name is taken by whoever first puts both items. Whoever has no answer asks again with the same
// token until there is one: then it has happened once, and the count of its registrations is exact.
test('names are registered once, and a repeat counts once', async () => {
  const names = 3000, winners = new Map(), pending = new Map();
  let next = 0, paid = 0;
  const step = async (client, worker) => {
    const again = pending.get(worker);
    const work = again ?? { name: `name-${random(names)}`, id: `user-${next++}`, token: `token-${seed}-${next}` };
    pending.set(worker, work);
    const { status, json } = await client.call('TransactWriteItems', {
      ClientRequestToken: work.token,
      TransactItems: [
        { Put: { TableName, Item: { ...key(work.name), owner: S(work.id) }, ConditionExpression: 'attribute_not_exists(pk)' } },
        { Put: { TableName, Item: { ...key(work.id), name: S(work.name) }, ConditionExpression: 'attribute_not_exists(pk)' } },
        { Update: { TableName, Key: key('registered'), UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': N(1) } } },
      ],
    });
    pending.delete(worker);
    if (status === 200) {
      assert.ok(!winners.has(work.name), 'a name is given once');
      winners.set(work.name, work.id);
      paid++;
    } else assert.match(json.Message ?? json.message, /ConditionalCheckFailed/);
  };
  const { client, end } = await play(step);
  // Those the last kill left without an answer.
  for (const worker of [...pending.keys()]) await step(client, worker);
  const { Items } = await client.must('Scan', { TableName });
  const owners = Items.filter(({ owner }) => owner), users = Items.filter(({ name }) => name);
  assert.equal(owners.length, winners.size);
  assert.equal(users.length, winners.size);
  for (const { pk, owner } of owners) assert.equal(winners.get(pk.S), owner.S);
  assert.equal(Number(Items.find(({ pk }) => pk.S === 'registered').n.N), paid);
  await end();
  console.log(`${winners.size} names for ${next} who asked`);
});
