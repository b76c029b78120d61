// What stands behind a server with `--engine dynamodb`: an endpoint that speaks DynamoDB's protocol
// (another gametable, or Amazon's DynamoDB Local if DDB_LOCAL names the folder with its jars) and Debian's
// redis-server for the ranking.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

process.setMaxListeners(100); // each process that is started is ended with this one

function folder() {
  const made = mkdtempSync(path.join(tmpdir(), 'gametable-backing-'));
  process.on('exit', () => rmSync(made, { recursive: true, force: true }));
  return made;
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

// Whether the redis-server that answers there is the process `pid`: a port that was free a moment ago may be another one's now.
async function answersAs(pid, port) {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  try {
    await once(socket, 'connect');
    socket.write('INFO server\r\n');
    for await (const part of socket) {
      text += part;
      const found = /^process_id:(\d+)\r$/m.exec(text);
      if (found) return Number(found[1]) === pid;
    }
    return false;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function keep(child) {
  const forget = () => child.kill('SIGKILL');
  process.on('exit', forget);
  child.on('exit', () => process.off('exit', forget));
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref(); // its end is waited for
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

// An empty redis-server that keeps nothing on disk. `port` starts one again where another was; `args` are its own.
export async function startRedis({ port, args = [] } = {}) {
  for (let tries = 0; ; tries++) {
    const at = port ?? (await freePort());
    const child = spawn('redis-server', ['--port', String(at), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no',
      '--dir', folder(), ...args], { stdio: 'ignore' });
    keep(child);
    child.unref();
    for (let waited = 0; waited < 600 && child.exitCode === null; waited++) {
      if (await answersAs(child.pid, at)) return { port: at, address: `127.0.0.1:${at}`, pid: child.pid, stop: () => end(child), kill: () => child.kill('SIGKILL') };
      await pause(50);
    }
    if (tries === 5) throw new Error('redis-server does not start');
  }
}

async function takesConnections(port) {
  const socket = connect(port, '127.0.0.1');
  const open = await new Promise((resolve) => {
    socket.on('connect', () => resolve(true));
    socket.on('error', () => resolve(false));
  });
  socket.destroy();
  return open;
}

// DynamoDB Local, in memory, of the folder that has its jars and libraries. Each access key has tables of its own,
// unless `shared`.
export async function startDynamoLocal(jars, { shared = false } = {}) {
  const port = await freePort();
  const main = 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner';
  const child = spawn('java', [`-Djava.library.path=${jars}`, '-cp', path.join(jars, '*'), main,
    '-inMemory', '-disableTelemetry', '-port', String(port), ...(shared ? ['-sharedDb'] : [])], { stdio: 'ignore', cwd: folder() });
  keep(child);
  child.unref();
  for (let waited = 0; !(await takesConnections(port)); waited++) {
    if (child.exitCode !== null || waited === 600) throw new Error(`DynamoDB Local of ${jars} does not start`);
    await pause(100);
  }
  return { endpoint: `http://127.0.0.1:${port}`, stop: () => end(child) };
}

let localStarted; // one for all servers of a process

async function localEndpoint(jars) {
  localStarted ??= startDynamoLocal(jars);
  return { endpoint: (await localStarted).endpoint, stop: async () => {} }; // it ends with the process
}

// `startServer` is tests/lib/server.mjs's own: the endpoint is a server with the embedded engine.
export async function startBacking(startServer, { args = [] } = {}) {
  const redis = await startRedis();
  const local = process.env.DDB_LOCAL;
  const endpoint = local ? await localEndpoint(local) : await startServer({ engine: 'local', game: false, redis: 'off', args });
  const secret = path.join(folder(), 'secret');
  writeFileSync(secret, 'the same thirty-two bytes or more on all servers');
  endpoint.unref?.();
  return {
    redis,
    endpoint,
    args: ['--engine', 'dynamodb', '--dynamodb-endpoint', endpoint.endpoint, '--dynamodb-region', 'us-east-1', '--rank-redis', redis.address,
      '--token-secret', secret],
    env: { AWS_ACCESS_KEY_ID: local ? `test${randomUUID().replaceAll('-', '')}` : 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_EC2_METADATA_DISABLED: 'true' },
    async stop() {
      await Promise.all([endpoint.stop(), redis.stop()]);
    },
  };
}
