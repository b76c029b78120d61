// Writes through all front ends at once, and a model of what must be there: used by everything here that
// cuts, kills or fails, and by the crash test.
//
// Each request gives its items a version that no other request has. A worker sends one request at a time and has its own
// items, so an item holds the version acknowledged last or, if a request since was never answered, that one's. Items that
// are written together are always written together, and all have the same version.
import assert from 'node:assert/strict';
import { rawClient } from '../lib/raw.mjs';
import { connect } from '../redis/resp.mjs';

// mulberry32: small, seeded, good enough to choose a load.
export function randomFrom(seed) {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

export class AckModel {
  // `note` is told each mark: tests/disk/ack_model.h says which there are.
  constructor(note = () => {}) {
    this.note = note;
    this.known = new Map(); // key: version acknowledged last; 0: absent
    this.maybe = new Map(); // key: versions sent since
    this.groups = new Map(); // first key: all keys of the group
    this.acknowledged = 0;
    this.lastId = 0;
  }

  begin(version, keys) {
    const id = ++this.lastId;
    for (const key of keys) this.maybe.set(key, [...(this.maybe.get(key) ?? []), version]);
    if (keys.length > 1) this.groups.set(keys[0], keys);
    this.note(['begin', id, version, ...keys].join('\t'));
    return { id, version, keys };
  }

  done({ id, version, keys }) {
    for (const key of keys) {
      this.known.set(key, version);
      this.maybe.delete(key);
    }
    this.acknowledged++;
    this.note(`done\t${id}`);
  }

  // Refused or never answered: it may have happened all the same.
  failed({ id }) {
    this.note(`failed\t${id}`);
  }

  // Holds what was found (key: version) against what was acknowledged; what was found is what must stay.
  check(found) {
    for (const key of new Set([...this.known.keys(), ...this.maybe.keys()])) {
      const actual = found.get(key) ?? 0;
      const allowed = [this.known.get(key) ?? 0, ...(this.maybe.get(key) ?? [])];
      assert.ok(allowed.includes(actual), `${key} holds version ${actual}, it may hold ${allowed}`);
    }
    for (const keys of this.groups.values()) {
      const versions = new Set(keys.map((key) => found.get(key) ?? 0));
      assert.equal(versions.size, 1, `half of ${keys}: ${[...versions]}`);
    }
    for (const key of new Set([...this.known.keys(), ...this.maybe.keys()])) this.known.set(key, found.get(key) ?? 0);
    this.maybe.clear();
  }
}

export const table = 'crash';
export const itemKey = (name) => ({ pk: { S: name }, sk: { N: '1' } });
export const itemOf = (name, version) => ({
  ...itemKey(name),
  version: { N: String(version) },
  filler: { S: 'x'.repeat(version % 300) },
  // every fifth version is not on any board: the index is sparse
  ...(version % 5 === 0 ? {} : { board: { S: `board-${version % 3}` }, score: { N: String(version % 97) } }),
});

export const scoreIndex = (name) => ({
  IndexName: name,
  KeySchema: [
    { AttributeName: 'board', KeyType: 'HASH' },
    { AttributeName: 'score', KeyType: 'RANGE' },
  ],
  Projection: { ProjectionType: 'ALL' },
});

export const createTable = (client) => client.must('CreateTable', {
  TableName: table,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'N' },
    { AttributeName: 'board', AttributeType: 'S' },
    { AttributeName: 'score', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [scoreIndex('byScore')],
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
});

// The clients of one start of the server.
export async function clientsOf(server) {
  const raw = rawClient(server.endpoint);
  const redis = [];
  return {
    raw,
    endpoint: server.endpoint,
    async redisOf(worker) {
      redis[worker] ??= connect(server.redisPort);
      return redis[worker];
    },
    async close() {
      raw.close();
      for (const one of redis) if (one) (await one.catch(() => undefined))?.close();
    },
  };
}

// A refusal that says the disk does not take it, as every front end has it.
export class Refused extends Error {}

const batchSize = 6;

export class Load {
  constructor({ model, seed, workers = 8, keysEach = 6 }) {
    Object.assign(this, { model, workers, keysEach });
    this.random = randomFrom(seed);
    this.version = 1;
  }

  async send(keys, version, request) {
    const op = this.model.begin(version, keys);
    try {
      await request();
    } catch (error) {
      this.model.failed(op);
      throw error;
    }
    this.model.done(op);
  }

  async dynamo({ raw }, operation, input) {
    const { status, json } = await raw.call(operation, input);
    if (status === 200) return json;
    assert.ok(!json.__type.endsWith('ConditionalCheckFailedException'), `a condition failed that must hold: ${JSON.stringify(input)}`);
    throw new Refused(`${operation}: ${status} ${json.__type} ${json.message}`);
  }

  async redis(clients, worker, ...commands) {
    const client = await clients.redisOf(worker);
    let last;
    for (const command of commands) {
      last = await client.ask(...command);
      if (last?.error) throw new Refused(`${command.join(' ')}: ${last.error}`);
      if (Array.isArray(last)) for (const one of last) if (one?.error) throw new Refused(one.error);
    }
    return last;
  }

  put(clients, worker) {
    const name = `key-${worker}-${this.random(this.keysEach)}`;
    const version = this.version++;
    return this.send([`${table}/${name}/1`], version, () => this.dynamo(clients, 'PutItem', { TableName: table, Item: itemOf(name, version) }));
  }

  // A conditional update that holds only if the store has exactly what was acknowledged.
  update(clients, worker) {
    const name = `key-${worker}-${this.random(this.keysEach)}`;
    const key = `${table}/${name}/1`;
    if (this.model.maybe.has(key)) return this.put(clients, worker); // nobody knows what it holds
    const version = this.version++;
    const before = this.model.known.get(key) ?? 0;
    const item = itemOf(name, version);
    const onBoard = item.board !== undefined;
    return this.send([key], version, () => this.dynamo(clients, 'UpdateItem', {
      TableName: table,
      Key: itemKey(name),
      UpdateExpression: 'SET #v = :v, filler = :f' + (onBoard ? ', board = :b, score = :s' : ' REMOVE board, score'),
      ConditionExpression: before === 0 ? 'attribute_not_exists(pk)' : '#v = :old',
      ExpressionAttributeNames: { '#v': 'version' },
      ExpressionAttributeValues: {
        ':v': item.version,
        ':f': item.filler,
        ...(onBoard ? { ':b': item.board, ':s': item.score } : {}),
        ...(before === 0 ? {} : { ':old': { N: String(before) } }),
      },
    }));
  }

  remove(clients, worker) {
    const name = `key-${worker}-${this.random(this.keysEach)}`;
    return this.send([`${table}/${name}/1`], 0, () => this.dynamo(clients, 'DeleteItem', { TableName: table, Key: itemKey(name) }));
  }

  batch(clients, worker) {
    const version = this.version++;
    const names = Array.from({ length: batchSize }, (_, i) => `batch-${worker}-${i}`);
    return this.send(names.map((name) => `${table}/${name}/1`), version, () => this.dynamo(clients, 'BatchWriteItem', {
      RequestItems: { [table]: names.map((name) => ({ PutRequest: { Item: itemOf(name, version) } })) },
    }));
  }

  // One transaction over two tables.
  transact(clients, worker) {
    const version = this.version++;
    const names = Array.from({ length: 3 }, (_, i) => `txn-${worker}-${i}`);
    const other = `TXN#${worker}`;
    return this.send([...names.map((name) => `${table}/${name}/1`), `gametable/${other}/META`], version, () => this.dynamo(clients, 'TransactWriteItems', {
      TransactItems: [
        ...names.map((name) => ({ Put: { TableName: table, Item: itemOf(name, version) } })),
        { Put: { TableName: 'gametable', Item: { PK: { S: other }, SK: { S: 'META' }, version: { N: String(version) } } } },
      ],
    }));
  }

  zadd(clients, worker) {
    const member = `m${this.random(this.keysEach)}`;
    const version = this.version++;
    return this.send([`gametable/BOARD#z${worker}/${member}`], version, () => this.redis(clients, worker, ['ZADD', `z${worker}`, version, member]));
  }

  zrem(clients, worker) {
    const member = `m${this.random(this.keysEach)}`;
    return this.send([`gametable/BOARD#z${worker}/${member}`], 0, () => this.redis(clients, worker, ['ZREM', `z${worker}`, member]));
  }

  // Two sorted sets and a string in one step.
  multi(clients, worker) {
    const version = this.version++;
    const sets = [`multi-${worker}-a`, `multi-${worker}-b`];
    const string = `multi-${worker}-s`;
    return this.send([...sets.map((set) => `gametable/BOARD#${set}/both`), `gametable/KEY#${string}/KEY`], version, () =>
      this.redis(clients, worker, ['MULTI'], ...sets.map((set) => ['ZADD', set, version, 'both']), ['SET', string, version], ['EXEC']));
  }

  set(clients, worker) {
    const name = `s${worker}-${this.random(this.keysEach)}`;
    const version = this.version++;
    return this.send([`gametable/KEY#${name}/KEY`], version, () => this.redis(clients, worker, ['SET', name, version]));
  }

  del(clients, worker) {
    const name = `s${worker}-${this.random(this.keysEach)}`;
    return this.send([`gametable/KEY#${name}/KEY`], 0, () => this.redis(clients, worker, ['DEL', name]));
  }

  // A board keeps the best: versions only rise.
  score(clients, worker) {
    const player = `p${worker}-${this.random(this.keysEach)}`;
    const version = this.version++;
    return this.send([`gametable/BOARD#rest-${worker}/${player}`], version, async () => {
      const { status, body } = await clients.raw.send(JSON.stringify({ score: version }), { 'Content-Type': 'application/json' }, 'PUT',
        `/v1/boards/rest-${worker}/entries/${player}`);
      if (status !== 200) throw new Refused(`PUT entry: ${status} ${body}`);
    });
  }

  one(clients, worker) {
    const kinds = ['put', 'put', 'update', 'update', 'remove', 'batch', 'transact', 'zadd', 'zadd', 'zrem', 'set', 'set', 'del', 'multi', 'score', 'score'];
    return this[kinds[this.random(kinds.length)]](clients, worker);
  }

  // All workers, until run.over; a request that the end cut off is not a fault. `refused` is told of refusals, which are
  // faults unless it is there.
  async run(clients, run, refused) {
    const work = async (worker) => {
      while (!run.over) {
        try {
          await this.one(clients, worker);
        } catch (error) {
          if (run.over) return;
          if (!(error instanceof Refused) || !refused) throw error;
          await refused(error);
        }
      }
    };
    await Promise.all(Array.from({ length: this.workers }, (_, worker) => work(worker)));
  }

  // So many requests, one after the other: a script that is the same each time.
  async script(clients, count, refused) {
    for (let i = 0; i < count; i++) {
      try {
        await this.one(clients, i % this.workers);
      } catch (error) {
        if (!(error instanceof Refused) || !refused) throw error;
        refused(error);
      }
    }
  }
}

// All items of the load's tables: key to version. Fails at half an item.
export async function readAll({ raw }) {
  const found = new Map();
  for (const name of [table, 'gametable']) {
    let ExclusiveStartKey;
    do {
      const page = await raw.must('Scan', { TableName: name, ConsistentRead: true, ExclusiveStartKey });
      for (const item of page.Items) {
        const key = `${name}/${(item.pk ?? item.PK).S}/${item.sk?.N ?? item.SK.S}`;
        const version = Number((item.version ?? item.score)?.N ?? item.value?.S ?? -1);
        if (item.filler) assert.equal(item.filler.S.length, version % 300, `half of ${key}`);
        found.set(key, version);
      }
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
  }
  return found;
}
