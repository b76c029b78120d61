// Cases: commands as one types them, one a line, sent to both programs and compared byte by byte.
//
//   == a title                begins a case; both begin with no keys
//   # a comment
//   ZADD z 1 "a b" "\x00"     on the first connection; quotes and escapes as in redis-cli
//   @2 ZCARD z                on the second
//   @2& BZPOPMIN z 0          sent, not waited for
//   @2? 50                    whether its reply has come after so many milliseconds, and the reply: few where none may come,
//                             many where one must, since who waits goes on at once when it has
//   blocked 2                 waits until so many clients are blocked
//   ~ KEYS *                  the reply's strings in any order
//   * HGETALL h               its pairs in any order
//   ^ TTL z                   what is left of a time may differ a little
//   % RANDOMKEY               only types and lengths of arrays are compared
//   @2 close                  the client goes away
//   sleep 20                  milliseconds
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, decode } from './resp.mjs';

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), 'cases');
const escapes = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' };

// Words of a line, as bytes.
export function words(line) {
  const out = [];
  let at = 0;
  while (at < line.length) {
    if (line[at] === ' ') {
      at++;
      continue;
    }
    const bytes = [];
    const quote = line[at] === '"' || line[at] === "'" ? line[at++] : null;
    while (at < line.length && (quote ? line[at] !== quote : line[at] !== ' ')) {
      if (quote === '"' && line[at] === '\\') {
        const hex = /^\\x([0-9a-f]{2})/i.exec(line.slice(at, at + 4));
        if (hex) {
          bytes.push(Buffer.from([parseInt(hex[1], 16)]));
          at += 4;
        } else {
          bytes.push(Buffer.from(escapes[line[at + 1]] ?? line[at + 1]));
          at += 2;
        }
        continue;
      }
      const [point] = line.slice(at);
      bytes.push(Buffer.from(point));
      at += point.length;
    }
    if (quote) at++;
    out.push(Buffer.concat(bytes));
  }
  return out;
}

function step(line) {
  const sleep = /^sleep (\d+)$/.exec(line);
  if (sleep) return { line, sleep: Number(sleep[1]) };
  const blocked = /^blocked (\d+)$/.exec(line);
  if (blocked) return { line, blocked: Number(blocked[1]) };
  const [, client, later, how, rest] = /^(?:@(\d)([&?]?) ?)?([~^%*] )?(.*)$/.exec(line);
  return { line, client: client ?? '1', later, how: how?.[0], close: rest === 'close', args: words(rest), rest };
}

export function loadCases(only) {
  const cases = [];
  for (const file of readdirSync(folder).sort()) {
    if (only && !file.includes(only)) continue;
    for (const line of readFileSync(path.join(folder, file), 'utf8').split('\n')) {
      if (line.startsWith('== ')) cases.push({ file, title: line.slice(3), steps: [] });
      else if (line && !line.startsWith('#')) cases.at(-1).steps.push(step(line));
    }
  }
  return cases;
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const late = Symbol('late');
const longest = 60000; // for what must come: a machine that is busy with other things may take seconds

// Until the server at the port has so many blocked clients.
async function untilBlocked(client, count) {
  for (const end = Date.now() + longest; !(await client.ask('INFO', 'clients')).includes(`\nblocked_clients:${count}\r`);) {
    if (Date.now() > end) throw new Error(`there are not ${count} blocked clients`);
    await pause(2);
  }
}

// Resolves to the reply of each step, in bytes; null where there is none.
export async function runCase(port, version, { steps }) {
  const clients = new Map();
  const pending = new Map();
  const get = async (name) => {
    if (!clients.has(name)) clients.set(name, await connect(port, version));
    return clients.get(name);
  };
  const within = (reply, ms) => {
    let timer;
    const end = new Promise((resolve) => { timer = setTimeout(resolve, ms, late); });
    return Promise.race([reply, end]).finally(() => clearTimeout(timer));
  };
  try {
    await (await get('1')).send('FLUSHALL');
    const looks = steps.some(({ blocked }) => blocked !== undefined) && await get('looks');
    if (looks) await untilBlocked(looks, 0); // those of the case before have gone
    const replies = [];
    for (const { client: name, later, args, sleep, blocked, close, rest } of steps) {
      let reply = null;
      if (sleep) await pause(sleep);
      else if (blocked !== undefined) await untilBlocked(looks, blocked);
      else if (close) clients.get(name).close();
      else if (later === '&') pending.set(name, (await get(name)).send(...args));
      else if (later === '?') reply = await within(pending.get(name), Number(rest));
      else reply = await within((await get(name)).send(...args), longest);
      replies.push(reply === late ? Buffer.from('(no reply)\r\n') : reply);
    }
    return replies;
  } finally {
    for (const client of clients.values()) client.close();
  }
}

const leaves = (tree) => (tree.list ? tree.list.flatMap(leaves) : [`${tree.kind}${tree.text}`]);
const shape = (tree) =>
  tree.list ? `${tree.kind}[${tree.list.map(shape)}]` : tree.text === null ? '$null' : tree.kind;

// Pairs of a list, or lists of two as RESP 3 has them.
const pairs = ({ list, text }) => {
  if (!list) return [text];
  const flat = list.flatMap(leaves);
  return Array.from({ length: flat.length / 2 }, (_, i) => JSON.stringify(flat.slice(2 * i, 2 * i + 2)));
};

// What is left of a reply to compare.
export function comparable(reply, how) {
  if (reply === null || how === '^') return reply?.toString('latin1');
  const text = reply.toString('latin1');
  if (!how || !replyIsWhole(text)) return text;
  const tree = decode(reply);
  if (how === '%') return shape(tree);
  if (how === '*') return tree.kind + JSON.stringify(pairs(tree).sort());
  return JSON.stringify(leaves(tree).sort());
}
const replyIsWhole = (text) => '+-:$*_,#(=~%>'.includes(text[0]) && text !== '(no reply)\r\n';

export function same(a, b, how) {
  if (how !== '^' || a === null || b === null || a[0] !== 58 || b[0] !== 58) return comparable(a, how) === comparable(b, how);
  const [x, y] = [a, b].map((reply) => Number(reply.toString('latin1').slice(1)));
  return x === y || (x > 0 && y > 0 && Math.abs(x - y) <= (x < 10000 ? 20 : 20000)); // ends are a hundred seconds apart
}
