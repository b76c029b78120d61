// A board larger than one Redis node, simulated: ranges of the order, each a sorted set in a slot of its own.
//
//   node bench/ranges.mjs [--entries 500000] [--bound 50000] [--servers 3]
//
// The directory is the first key of each range and where it is; nodes keep it in memory and read it again when a
// range says that a key is not its own. A range that passes the bound is split at its median: the upper half goes to
// the server with the fewest entries, piece by piece. A rank is the sum of the sizes of the ranges before, asked of all
// servers at once, and the rank within its own. Everything is checked against a sort at the end.
import assert from 'node:assert/strict';
import net from 'node:net';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { startRedis } from '../tests/cluster/services.mjs';
import { grouped, table } from './common.mjs';

const { values } = parseArgs({ options: {
  entries: { type: 'string', default: '500000' },
  bound: { type: 'string', default: '50000' },
  servers: { type: 'string', default: '3' },
} });
const entries = Number(values.entries);
const bound = Number(values.bound);
const { row, end } = table();

// --- a client that pipelines: integers, strings and flat arrays are all that is asked for ---

function parse(text, at) {
  const lineEnd = text.indexOf('\r\n', at);
  if (lineEnd < 0) return undefined;
  const rest = text.slice(at + 1, lineEnd);
  switch (text[at]) {
    case ':': return [Number(rest), lineEnd + 2];
    case '+': return [rest, lineEnd + 2];
    case '-': throw new Error(rest);
    case '$': {
      const size = Number(rest);
      if (size < 0) return [null, lineEnd + 2];
      const stop = lineEnd + 2 + size;
      return text.length >= stop + 2 ? [text.slice(lineEnd + 2, stop), stop + 2] : undefined;
    }
    default: {
      const list = [];
      let next = lineEnd + 2;
      for (let i = 0; i < Number(rest); i++) {
        const one = parse(text, next);
        if (!one) return undefined;
        list.push(one[0]);
        [, next] = one;
      }
      return [list, next];
    }
  }
}

async function connect(port) {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.setNoDelay(true).setEncoding('latin1');
  const waiting = [];
  let text = '';
  socket.on('data', (part) => {
    text += part;
    let at = 0;
    for (let one; waiting.length && (one = parse(text, at)); [, at] = one) waiting.shift()(one[0]);
    text = text.slice(at);
  });
  const send = (commands) => {
    socket.write(commands.map((words) => `*${words.length}\r\n${words.map((word) => `$${String(word).length}\r\n${word}\r\n`).join('')}`).join(''), 'latin1');
    return Promise.all(commands.map(() => new Promise((resolve) => waiting.push(resolve))));
  };
  return { send, close: () => socket.destroy() };
}

const servers = [];
for (let i = 0; i < Number(values.servers); i++) {
  const redis = await startRedis();
  servers.push({ redis, entries: 0, ...(await connect(redis.port)) });
}

// --- ranges ---

let made = 0;
let splits = 0;
let shifted = 0;
const newRange = (low, server) => ({ low, server, name: `range:${made++}`, count: 0 });
let ranges = [newRange('', servers[0])];

// The range that a key belongs to: the last one that begins at or before it.
function rangeOf(key) {
  let from = 0;
  let to = ranges.length;
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (ranges[middle].low <= key) from = middle;
    else to = middle;
  }
  return ranges[from];
}

async function split(range) {
  const keep = range.count >> 1;
  const [[median]] = await range.server.send([['ZRANGE', range.name, keep, keep]]);
  const target = servers.reduce((least, server) => (server.entries < least.entries ? server : least));
  const upper = newRange(median, target);
  splits++;
  while (range.count > keep) {
    const size = Math.min(2000, range.count - keep);
    const [keys] = await range.server.send([['ZRANGE', range.name, -size, -1]]); // from the end, so that none is in neither
    await target.send([['ZADD', upper.name, ...keys.flatMap((key) => [0, key])]]);
    await range.server.send([['ZREMRANGEBYRANK', range.name, -size, -1]]);
    range.count -= size;
    upper.count += size;
    range.server.entries -= size;
    target.entries += size;
    shifted += size;
  }
  ranges.splice(ranges.indexOf(range) + 1, 0, upper);
}

const keys = Array.from({ length: entries }, (_, i) => `${String((i * 7919) % 1000003).padStart(9, '0')}:player-${i}`);
const began = performance.now();
for (let i = 0; i < entries; i += 2000) {
  const batches = new Map();
  for (const key of keys.slice(i, i + 2000)) {
    const range = rangeOf(key);
    if (!batches.has(range)) batches.set(range, []);
    batches.get(range).push(0, key);
  }
  await Promise.all([...batches].map(([range, pairs]) => range.server.send([['ZADD', range.name, ...pairs]])));
  for (const [range, pairs] of batches) {
    range.count += pairs.length / 2;
    range.server.entries += pairs.length / 2;
  }
  for (const range of [...batches.keys()]) if (range.count > bound) await split(range);
}
row(`${grouped(entries)} entries, ranges of ${grouped(bound)} at most, ${servers.length} servers`, `${ranges.length} ranges, ${splits} splits`);
row('  entries moved by splits, for each that was added', (shifted / entries).toFixed(2));
row('  fullest server over the average', (Math.max(...servers.map((server) => server.entries)) / (entries / servers.length)).toFixed(2));
row('  added, splits and all', `${grouped(entries / ((performance.now() - began) / 1000))} entries/s`);

// --- ranks: sizes of all ranges before, from all servers at once, and the rank within its own ---

async function rankOf(key) {
  const own = rangeOf(key);
  const before = ranges.slice(0, ranges.indexOf(own));
  const answers = await Promise.all(servers.map((server) => {
    const commands = before.filter((range) => range.server === server).map((range) => ['ZCARD', range.name]);
    if (own.server === server) commands.push(['ZRANK', own.name, key]);
    return commands.length ? server.send(commands) : [];
  }));
  return answers.flat().reduce((sum, number) => sum + number, 0);
}

const sorted = [...keys].sort();
const samples = Array.from({ length: 2000 }, (_, i) => Math.floor((i * entries) / 2000));
for (const at of samples) assert.equal(await rankOf(sorted[at]), at);
const time = async (what) => {
  const times = [];
  for (const at of samples) {
    const start = performance.now();
    await what(sorted[at]);
    times.push((performance.now() - start) * 1000);
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
};
row('a rank over all ranges, one round to each server', `${(await time(rankOf)).toFixed(0)} us (half)`, 'as a sort has it', true);
const whole = servers[0];
for (let i = 0; i < entries; i += 2000) await whole.send([['ZADD', 'whole', ...keys.slice(i, i + 2000).flatMap((key) => [0, key])]]);
row('the same in one sorted set', `${(await time((key) => whole.send([['ZRANK', 'whole', key]]))).toFixed(0)} us (half)`);
for (const server of servers) {
  server.close();
  await server.redis.stop();
}
end();
process.exit(0);
