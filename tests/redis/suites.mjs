// The test suites that libraries carry in their packages, unchanged, against redis-server and against our program: each test
// has to end in the same way on both. tests/redis/run-suites fetches the packages into build/suites.
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startOurs, startRedis } from './targets.mjs';

const folder = fileURLToPath(new URL('../../build/suites/', import.meta.url));
const ports = fileURLToPath(new URL('./suite-ports.cjs', import.meta.url));

// connect-redis starts a redis-server of its own, whose port leads to the one that is tested.
mkdirSync(`${folder}bin`, { recursive: true });
writeFileSync(`${folder}bin/redis-server`, '#!/bin/sh\nexec sleep 600\n');
chmodSync(`${folder}bin/redis-server`, 0o755);

// The output of a test program, however it ends, within five minutes.
function output(suite, port) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--require', ports, ...suite.run], {
      cwd: `${folder}${suite.folder}`, timeout: 300000, stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, PATH: `${folder}bin:${process.env.PATH}`, SUITE_PORT: String(port) },
    });
    let text = '';
    child.stdout.on('data', (part) => { text += part; });
    child.on('error', reject);
    child.on('close', () => resolve(text));
  });
}

// Some of the tests measure time (locks of 200 ms, sessions of a second) and fail, on either, where a busy machine takes
// longer: a test has passed if it does in one of so many runs.
const RUNS = 5;

// Results as [name, passed]. A program that dies has fewer of them on that side, or none.
const ofTap = (text) => [...text.matchAll(/^(not )?ok \d+ (.*)$/gm)].map(([, not, name]) => [name, !not]);
const ofMocha = (text) => {
  const report = JSON.parse(text.slice(text.indexOf('{')));
  return [...report.passes.map(({ fullTitle }) => [fullTitle, true]), ...report.failures.map(({ fullTitle }) => [fullTitle, false])];
};
const suites = [
  { name: 'redlock 4.2.0', folder: 'redlock', run: ['node_modules/mocha/bin/_mocha', '--exit', '--reporter', 'json', 'suite/test.js'], read: ofMocha },
  { name: 'connect-redis 6.1.3', folder: 'connect-redis', run: ['suite/test/connect-redis-test.js'], read: ofTap },
];

// Whether each test of the suite has passed, by its name and which of that name it is.
async function results(suite, port) {
  const passed = new Map();
  for (let run = 0; run < RUNS && (run === 0 || [...passed.values()].includes(false)); run++) {
    const seen = new Map();
    for (const [name, good] of suite.read(await output(suite, port))) {
      seen.set(name, (seen.get(name) ?? 0) + 1);
      const key = `${name} (${seen.get(name)})`;
      passed.set(key, good || (passed.get(key) ?? false));
    }
  }
  return passed;
}

let differs = false;
const targets = await Promise.all([startRedis(), startOurs()]);
try {
  for (const suite of suites) {
    const [theirs, ours] = [await results(suite, targets[0].port), await results(suite, targets[1].port)];
    const count = (map) => `${[...map.values()].filter(Boolean).length} of ${map.size} pass`;
    const other = [...new Set([...theirs.keys(), ...ours.keys()])].filter((name) => theirs.get(name) !== ours.get(name));
    console.log(`${suite.name}: redis-server ${count(theirs)}, gametable ${count(ours)}`);
    for (const name of other) console.log(`  differs: ${name}`);
    differs ||= other.length !== 0 || theirs.size === 0;
  }
} finally {
  await Promise.all(targets.map((target) => target.close()));
}
process.exit(differs ? 1 : 0);
