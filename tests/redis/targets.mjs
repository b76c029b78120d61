// The two that are compared: Debian's redis-server, and our program.
import { spawnSync } from 'node:child_process';
import { startRedis as startBare } from '../lib/backing.mjs';
import { startServer } from '../lib/server.mjs';

export const haveRedis = spawnSync('redis-server', ['--version']).status === 0;

// Whoever ends us early ends what we started, too.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(signal, () => process.exit(1));

// Without persistence, on a free loopback port.
export async function startRedis(args = []) {
  const { port, stop } = await startBare({ args });
  return { name: 'redis', port, close: stop };
}

export async function startOurs(options = {}) {
  const server = await startServer(options);
  const close = async () => {
    const code = await server.stop();
    if (code !== 0) throw new Error(`gametable ended with ${code}: ${server.printed()}`);
  };
  return { name: 'ours', port: server.redisPort, server, close };
}
