// What the benches share: medians, rows with their goals, nginx and wrk, a Redis server, a client
// that fills a sorted set, and where a process keeps its memory.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { root } from '../tests/lib/server.mjs';

export const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export const grouped = (number) => Math.round(number).toLocaleString('en-US');

// Prints rows as they come and counts the goals that were missed.
export function table() {
  let missed = 0;
  const row = (what, figure, goal, reached) => {
    if (reached === false) missed++;
    const mark = reached === undefined ? '    ' : reached ? 'ok  ' : 'MISS';
    console.log(`${mark} ${what.padEnd(46)} ${figure}${goal ? `   (goal ${goal})` : ''}`);
  };
  const end = () => console.log(missed ? `${missed} figures missed` : 'all figures reached');
  return { row, end };
}

async function freePort() {
  const listener = net.createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address();
  listener.close();
  await once(listener, 'close');
  return port;
}

// One nginx worker that answers everything with so many bytes.
export async function startNginx(folder, size) {
  const port = await freePort();
  mkdirSync(path.join(folder, 'nginx'), { recursive: true });
  const config = path.join(folder, 'nginx.conf');
  writeFileSync(config, `daemon off; worker_processes 1; pid ${folder}/nginx/pid; error_log ${folder}/nginx/error.log;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 1000000000; keepalive_timeout 600s; default_type application/json;
  client_body_temp_path ${folder}/nginx/body; proxy_temp_path ${folder}/nginx/proxy; fastcgi_temp_path ${folder}/nginx/f;
  uwsgi_temp_path ${folder}/nginx/u; scgi_temp_path ${folder}/nginx/s;
  server { listen 127.0.0.1:${port}; location / { return 200 "${'x'.repeat(size)}"; } } }
`);
  const child = spawn('/usr/sbin/nginx', ['-p', folder, '-c', config], { stdio: 'ignore' });
  process.on('exit', () => child.kill('SIGTERM'));
  await sleep(500);
  return { endpoint: `http://127.0.0.1:${port}`, stop: () => child.kill('SIGTERM') };
}

// One run of wrk that posts the lines of a file as bodies of an operation.
export function wrk(endpoint, { operation, file }, { seconds, connections }) {
  const printed = execFileSync('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '-s',
    path.join(root, 'bench/wrk.lua'), `${endpoint}/`, '--', operation, file], { encoding: 'utf8' });
  const [, rate, p50, p99, errors] = /RESULT (\S+) (\d+) (\d+) (\d+)/.exec(printed);
  if (Number(errors) > 0) throw new Error(`${operation}: ${errors} errors\n${printed}`);
  return { rate: Number(rate), p50: Number(p50), p99: Number(p99) };
}

// Microseconds of processor time that a process has used, all its threads together, in steps of ten milliseconds.
export function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10000;
}

// Where a server that was started with --redis says it listens.
export function redisPort(server) {
  const found = /Redis\s+\S*:(\d+)/.exec(server.printed());
  if (!found) throw new Error(`no Redis port in: ${server.printed()}`);
  return Number(found[1]);
}

// Starts a redis-server (or what `command`, a list of words, names instead) on a free loopback port:
// in memory, or with every write synced.
export async function startRedis({ folder, durable, command = ['redis-server'] }) {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const log = durable
    ? ['--appendonly', 'yes', '--appendfsync', 'always', '--auto-aof-rewrite-percentage', '0']
    : ['--appendonly', 'no'];
  const child = spawn(command[0], [...command.slice(1), '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder,
    '--loglevel', 'warning', ...log], { stdio: ['ignore', 'ignore', 'inherit'] });
  const forget = () => child.kill('SIGKILL');
  process.on('exit', forget);
  child.on('exit', () => process.off('exit', forget));
  for (let tries = 0; ; tries++) {
    try {
      const client = await connect(port);
      await client.ask('PING');
      client.close();
      break;
    } catch (error) {
      if (tries === 100 || child.exitCode !== null) throw error;
      await sleep(50);
    }
  }
  return {
    port,
    pid: child.pid,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export const command = (...words) =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`).join('')}`;

// The end of the reply that begins at `at`, or -1 if it is not all there.
function replyEnd(data, at) {
  const line = data.indexOf('\r\n', at);
  if (line < 0) return -1;
  const count = Number(data.toString('latin1', at + 1, line));
  let end = line + 2;
  if (data[at] === 0x24) return count < 0 ? end : data.length >= end + count + 2 ? end + count + 2 : -1;
  if (data[at] !== 0x2a) return end;
  for (let i = 0; i < count && end >= 0; i++) end = replyEnd(data, end);
  return end;
}

// A connection that takes requests as bytes and gives back the replies as they are.
export async function connect(port) {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.setNoDelay();
  const waiting = [];
  let data = Buffer.alloc(0);
  const fail = (error) => waiting.splice(0).forEach(({ reject }) => reject(error));
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the server closed the connection')));
  socket.on('data', (chunk) => {
    data = data.length ? Buffer.concat([data, chunk]) : chunk;
    let at = 0;
    for (let end; waiting.length && at < data.length && (end = replyEnd(data, at)) >= 0; at = end) {
      const { resolve, reject } = waiting.shift();
      const reply = data.toString('utf8', at, end);
      if (reply.startsWith('-')) reject(new Error(reply.trim()));
      else resolve(reply);
    }
    data = data.subarray(at);
  });
  const send = (bytes) => new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    socket.write(bytes);
  });
  return { send, ask: (...words) => send(command(...words)), close: () => socket.destroy() };
}

// The members that redis-benchmark asks for with player:__rand_int__, and a score for each, spread
// evenly over 0 to count; no two have the same one if count is a power of ten or twice that.
export const member = (n) => `player:${String(n).padStart(12, '0')}`;
export const score = (n, count) => (n * 618033989) % count;

// Adds members 0 to count, a hundred a command.
export async function fill(port, board, count) {
  let next = 0;
  const worker = async () => {
    const client = await connect(port);
    while (next < count) {
      const words = ['ZADD', board];
      for (const end = Math.min(next + 100, count); next < end; next++) words.push(score(next, count), member(next));
      await client.ask(...words);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

// Megabytes: resident in all, of which anonymous (the process's own) and of files (the system's cache).
export function memory(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)[1]) / 1024;
  const resident = of('Rss');
  const own = of('Anonymous');
  return { resident, own, files: resident - own };
}
