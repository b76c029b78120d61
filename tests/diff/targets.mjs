// The programs a request can be sent to: ours, dynalite, and DynamoDB Local where a machine has it.
//
//   DDB_LOCAL=<folder with DynamoDBLocal.jar and the libraries beside it>
//
// Each target is { name, call(operation, input), close() }; input may be text to be sent as it is.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDynamoLocal } from '../lib/backing.mjs';
import { rawClient } from '../lib/raw.mjs';
import { root, startServer } from '../lib/server.mjs';

const headers = {
  'Content-Type': 'application/x-amz-json-1.0',
  'X-Amz-Date': '20260101T000000Z',
  Authorization:
    'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, ' +
    'SignedHeaders=host;x-amz-date, Signature=00',
};

function target(name, endpoint, end) {
  const client = rawClient(endpoint, { connections: 4 });
  const call = async (operation, input) => {
    const body = typeof input === 'string' ? input : JSON.stringify(input);
    const sent = client.send(body, { ...headers, 'X-Amz-Target': `DynamoDB_20120810.${operation}` });
    const answer = await Promise.race([sent.catch((error) => error), sleep(5000, new Error('no answer'), { ref: false })]);
    if (answer instanceof Error) return { status: 0, json: { __type: 'Died', message: answer.code ?? answer.message } };
    const text = answer.body.toString();
    let json;
    try {
      json = text ? JSON.parse(text) : null;
    } catch {
      json = { unreadable: text };
    }
    return { status: answer.status, json };
  };
  const close = async () => {
    client.close();
    await end();
  };
  return { name, call, close };
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

// Starts a child, kills it with us, and resolves to an ender once `ready(port)` answers.
async function startChild(command, args, port, options = {}) {
  const child = spawn(command, args, { stdio: 'ignore', ...options });
  child.unref(); // it ends with us, however we end
  const forget = () => child.kill('SIGKILL');
  process.on('exit', forget);
  const ended = once(child, 'exit');
  for (let tries = 0; ; tries++) {
    const socket = net.connect(port, '127.0.0.1');
    const open = await new Promise((resolve) => {
      socket.on('connect', () => resolve(true));
      socket.on('error', () => resolve(false));
    });
    socket.destroy();
    if (open) break;
    if (child.exitCode !== null || tries > 300) throw new Error(`${command} did not start`);
    await sleep(100);
  }
  return async () => {
    child.ref();
    child.kill('SIGKILL');
    await ended;
    process.off('exit', forget);
  };
}

export async function startOurs() {
  const server = await startServer({ game: false });
  return target('ours', server.endpoint, () => server.stop());
}

// Some requests end it: it can be started anew, empty.
export async function startDynalite() {
  const one = await startOneDynalite();
  one.restart = async () => {
    await one.close();
    Object.assign(one, await startOneDynalite());
  };
  return one;
}

async function startOneDynalite() {
  const port = await freePort();
  const program = path.join(root, 'tests/node_modules/dynalite/cli.js');
  const times = ['--createTableMs', '0', '--deleteTableMs', '0', '--updateTableMs', '0'];
  const end = await startChild(process.execPath, [program, '--host', '127.0.0.1', '--port', String(port), ...times], port);
  return target('dynalite', `http://127.0.0.1:${port}`, end);
}

export async function startLocal(folder) {
  const { endpoint, stop } = await startDynamoLocal(folder, { shared: true });
  return target('local', endpoint, stop);
}

// Starts what `names` asks for; `local` is left out where DDB_LOCAL is not set.
export async function startTargets(names) {
  const starters = {
    ours: startOurs,
    dynalite: startDynalite,
    local: () => process.env.DDB_LOCAL && startLocal(process.env.DDB_LOCAL),
  };
  const started = await Promise.all(names.map((name) => starters[name]()));
  return started.filter(Boolean);
}
