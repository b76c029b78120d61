// For the examples' tests: the real program in memory, and the environment an AWS SDK reads.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startServer } from '../../tests/lib/server.mjs';

export { timePasses } from '../../tests/lib/clock.mjs';

// Starts it and points the SDKs of this process, and of those it starts, at it. Its clock can be moved.
export async function startForExample() {
  const server = await startServer({ args: ['--test-clock'] });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: server.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'any',
    AWS_SECRET_ACCESS_KEY: 'any',
  });
  return server;
}

// Runs a program of the example as a person would; resolves to what it printed.
export async function runProgram(file) {
  const { stdout } = await promisify(execFile)(process.execPath, [file], { timeout: 120_000 });
  return stdout;
}

// Numbers from a printed seed, the same in each run with it (mulberry32).
export function randomNumbers(seed = Number(process.env.SEED ?? Date.now() % 1_000_000)) {
  console.log(`SEED=${seed}`);
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 * below);
  };
}
