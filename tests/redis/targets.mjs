// The two that are compared: Debian's redis-server, and our program.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { startServer, temporaryFolder } from '../lib/server.mjs';
import { connect } from './resp.mjs';

export const haveRedis = spawnSync('redis-server', ['--version']).status === 0;

// Whoever ends us early ends what we started, too.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(signal, () => process.exit(1));

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

// Without persistence, on a free loopback port.
export async function startRedis(args = []) {
  const port = await freePort();
  const folder = temporaryFolder();
  const child = spawn('redis-server', ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no',
    '--dir', folder, '--daemonize', 'no', ...args], { stdio: 'ignore' });
  const forget = () => child.kill('SIGKILL');
  process.on('exit', forget);
  child.on('exit', () => process.off('exit', forget));
  for (let tries = 0; ; tries++) {
    try {
      const client = await connect(port);
      const answer = await client.ask('PING');
      client.close();
      if (answer === 'PONG') break;
    } catch (error) {
      if (tries > 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  return {
    name: 'redis',
    port,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export async function startOurs(options = {}) {
  const server = await startServer(options);
  const close = async () => {
    const code = await server.stop();
    if (code !== 0) throw new Error(`gametable ended with ${code}: ${server.printed()}`);
  };
  return { name: 'ours', port: server.redisPort, server, close };
}
