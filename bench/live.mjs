// Open sockets in rooms: how long a round takes to reach its players, and what a socket costs.
//
//   node bench/live.mjs [--sockets 2000] [--room 8] [--rounds 20] [--seconds 3] [--spread S] [--data DIR]
//
// The server has one core and one loop (taskset, --threads 1), the bots (gametable play) the other.
// A tap is late if the bots handed it to the system after the round's end: bots that are themselves kept waiting are late.
// Every room calls a thing every three seconds and every player taps each time; each
// reaction is synced before it is acknowledged. A bot notes how long after a round's beginning, as
// the room's clock stamped it, its state arrived, so writing the round to the disk is in the figure.
// Rooms begin one after the other over --spread seconds (one for each 1,000 sockets), as people come;
// rounds count while all bots are in a match. Memory: the server's own (RssAnon) with all sockets open and
// playing, the median and the most of samples every half second, less what it was
// with the same rooms and seats before the first socket opened, by socket. What was written meanwhile
// and is still in the store's memory is in it.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { program, startServer, temporaryFolder } from '../tests/lib/server.mjs';
import { median } from './common.mjs';

const { values: options } = parseArgs({ options: {
  sockets: { type: 'string', default: '2000' },
  room: { type: 'string', default: '8' },
  rounds: { type: 'string', default: '20' },
  seconds: { type: 'string', default: '3' },
  spread: { type: 'string' },
  data: { type: 'string' },
} });
// Each side is one process: no more sockets than it may have files, less some for its own.
const files = Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' })) || Infinity;
const sockets = Math.min(Number(options.sockets), Math.floor((files - 400) / 8) * 8);
if (sockets < Number(options.sockets)) console.log(`a process may have ${files} files here: ${sockets} sockets`);
const rooms = Math.ceil(sockets / Number(options.room));
const pinned = cpus().length > 1;

const figure = (pid, name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
const ticks = (pid) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13).reduce((sum, each) => sum + Number(each), 0);
const pin = async (pid, core) => {
  if (pinned) await once(spawn('taskset', ['-a', '-p', '-c', String(core), String(pid)], { stdio: 'ignore' }), 'exit');
};

const server = await startServer({
  data: path.join(options.data ?? temporaryFolder(), 'data'),
  args: ['--threads', '1', '--max-connections', String(sockets + 1000), '--log-level', 'error'],
});
await pin(server.pid, 0);
const bare = figure(server.pid, 'RssAnon');
const bots = spawn(program, ['play', '--url', server.endpoint, '--bots', String(sockets), '--rooms', String(rooms), '--rounds', options.rounds,
  '--seconds', options.seconds, '--eager', '--limit', '900', '--spread', options.spread ?? String(Math.max(3, Math.ceil(sockets / 1000)))], { stdio: ['ignore', 'pipe', 'pipe'] });
process.on('exit', () => bots.kill('SIGKILL'));
await pin(bots.pid, 1);
let printed = '';
bots.stdout.on('data', (part) => { printed += part; });
bots.stderr.on('data', (part) => { printed += part; });
const ended = once(bots, 'exit');

// What it costs while all are there: sampled until the first bots leave.
const open = async () => (await (await fetch(`${server.endpoint}/v1/server`)).json()).lines;
let seated = 0;
const samples = [];
let most = 0;
let busy = { ticks: 0, ms: 0 };
let began;
for (let done = false; !done;) {
  const lines = await open();
  if (lines === 0 && most === 0) seated = figure(server.pid, 'RssAnon');
  if (lines >= sockets) {
    samples.push(figure(server.pid, 'RssAnon'));
    most = Math.max(...samples);
    const now = { ticks: ticks(server.pid), ms: Date.now() };
    began ??= now;
    busy = { ticks: now.ticks - began.ticks, ms: now.ms - began.ms };
  }
  done = await Promise.race([ended.then(() => true), sleep(most === 0 ? 100 : 500, false)]);
}
const [code] = await ended;
if (code !== 0) throw new Error(`the bots ended with ${code}: ${printed}`);
const [, half, nearly, all, counted] = /within (\d+) ms \(half\), (\d+) ms \(99%\), (\d+) ms .*, (\d+) times/.exec(printed)
  ?? (() => { throw new Error(`never were all bots in a match: more --rounds, or less --spread: ${printed}`); })();
console.log(`${sockets} sockets in ${rooms} rooms, a round every ${options.seconds} s, ${options.rounds} rounds${pinned ? ', server and bots on a core each' : ''}`);
const [, moves, refused] = /states (\d+), moves (\d+), refused (\d+)/.exec(printed).slice(1).map(Number);
const [early, late] = (/late (\d+) were sent before .*, (\d+) after/.exec(printed) ?? [0, 0, 0]).slice(1).map(Number);
console.log(/states.*/.exec(printed)[0]);
console.log(`of ${moves} taps ${early} were refused as late that were sent in time; goal: 0 (${late} were sent too late, ${refused - early - late} requests were refused for other reasons)`);
console.log(`a round reached its players within ${half} ms (half), ${nearly} ms (99 %), ${all} ms (99.9 %), ${counted} times; goal: 99 % within 100 ms`);
console.log(`the server was busy ${Math.round((busy.ticks * 10 * 100) / busy.ms)} % of its core while all were connected`);
console.log(`memory: ${Math.round(bare / 1024)} MB bare, ${Math.round(seated / 1024)} MB with the rooms, ${Math.round(median(samples) / 1024)} MB with all sockets open and playing (${Math.round(most / 1024)} MB at the most): ${((median(samples) - seated) / sockets).toFixed(1)} KB a socket, ${((most - seated) / sockets).toFixed(1)} KB at the most; goal: under 16 KB`);
await server.stop();
