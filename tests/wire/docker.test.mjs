// The Dockerfile, where there is no Docker: whether its packages bring every library that the program links, and
// whether the program takes the settings, the command line and the health check that the image gives it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { program, root, startServer, temporaryFolder } from '../lib/server.mjs';

// The instructions of the last stage, [name, rest] each; lines that go on are joined, comments are left out.
function lastStage() {
  const text = readFileSync(path.join(root, 'Dockerfile'), 'utf8').replace(/^\s*#.*\n/gm, '').replace(/\\\n/g, ' ');
  const lines = text.split('\n').filter((line) => line.trim()).map((line) => /^([A-Z]+)\s+(.*)$/.exec(line).slice(1));
  return lines.slice(lines.findLastIndex(([name]) => name === 'FROM'));
}
const stage = lastStage();
const only = (name) => {
  const found = stage.filter(([each]) => each === name);
  assert.equal(found.length, 1, `${name} is there ${found.length} times`);
  return found[0][1];
};
const words = (text) => text.trim().split(/\s+/);

function installedPackages() {
  const command = words(/apt-get install ([^&]*)/.exec(only('RUN'))[1]);
  return command.filter((word) => !word.startsWith('-'));
}
const settings = () => Object.fromEntries(words(only('ENV')).map((pair) => pair.split('=')));

// What this machine's dpkg knows: the packages, what each needs, and which are in every Debian.
function debian() {
  const text = execFileSync('dpkg-query', ['-W', '-f', '${Package}\t${Essential}\t${Pre-Depends}, ${Depends}\t${Provides}\n'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  const needs = new Map(), essential = [], provided = new Map();
  for (const [name, is, needed, provides] of text.split('\n').filter(Boolean).map((line) => line.split('\t'))) {
    needs.set(name, needed.split(',').flatMap((each) => each.split('|')).map((each) => each.trim().split(/[ :(]/)[0]).filter(Boolean));
    if (is === 'yes') essential.push(name);
    for (const each of provides.split(',').map((one) => one.trim().split(/[ (]/)[0]).filter(Boolean)) provided.set(each, name);
  }
  return { needs, essential, provided };
}

// The packages that installing these brings along.
function closure(packages, { needs, provided }) {
  const all = new Set();
  const add = (name) => {
    const known = needs.has(name) ? name : provided.get(name);
    if (known === undefined || all.has(known)) return;
    all.add(known);
    needs.get(known).forEach(add);
  };
  packages.forEach(add);
  return all;
}

// Package and file of each library, by what the loader would load.
function librariesOf(file) {
  const lines = execFileSync('ldd', [file], { encoding: 'utf8' }).split('\n').filter((line) => line.includes('=>'));
  return lines.map((line) => {
    const [, name, found] = /^\s*(\S+) => (\S+)/.exec(line);
    assert.notEqual(found, 'not', `${name} is not on this machine`);
    // A package names its file by /lib or by /usr/lib, which are one folder.
    const places = [found, found.replace(/^\/usr/, ''), `/usr${found}`];
    const owners = spawnSync('dpkg', ['-S', ...new Set(places)], { encoding: 'utf8' }).stdout;
    return { name, owner: owners.split('\n')[0].split(':')[0] };
  });
}
function directlyNeeded(file) {
  const text = execFileSync('objdump', ['-p', file], { encoding: 'utf8' });
  return [...text.matchAll(/NEEDED\s+(\S+)/g)].map(([, name]) => name);
}

// Libraries that are loaded while the program runs (dlopen): their names stand in it, and nothing links them. What stands
// before a name may be another constant, without a zero between.
function loadedLater(file) {
  const linked = new Set(librariesOf(file).map(({ name }) => name));
  const names = new Set(readFileSync(file, 'latin1').match(/lib[a-z]+\.so\.\d+(?=\0)/g)?.filter((name) => !linked.has(name)));
  return [...names].map((name) => {
    const found = new RegExp(`${name} .*=> (\\S+)`).exec(execFileSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' }));
    assert(found, `${name} is not on this machine`);
    const places = [found[1], found[1].replace(/^\/usr/, ''), `/usr${found[1]}`];
    return { name, owner: spawnSync('dpkg', ['-S', ...new Set(places)], { encoding: 'utf8' }).stdout.split('\n')[0].split(':')[0] };
  });
}

test('the packages of the image bring every library that the program loads', () => {
  const known = debian();
  const there = closure([...installedPackages(), ...known.essential], known);
  const libraries = [...librariesOf(program), ...loadedLater(program)];
  assert(libraries.some(({ name }) => name.startsWith('libcurl')), 'what dlopen loads is not seen');
  assert(libraries.some(({ name }) => name.startsWith('librocksdb')), 'ldd tells nothing');
  for (const { name, owner } of libraries) {
    assert(owner, `${name} belongs to no package`);
    assert(there.has(owner), `the Dockerfile installs nothing that brings ${name}, of the package ${owner}`);
  }
  for (const name of installedPackages()) assert(known.needs.has(name), `there is no package ${name} here to compare with`);
});

test('what is linked is named, and nothing else but what the program reads at run time', () => {
  const known = debian();
  const base = closure(known.essential, known);
  const direct = directlyNeeded(program);
  const owners = new Set(librariesOf(program).filter(({ name }) => direct.includes(name)).map(({ owner }) => owner));
  const later = loadedLater(program);
  later.forEach(({ owner }) => owners.add(owner));
  const readAtRunTime = new Set(['tzdata']);
  if (later.some(({ name }) => name.startsWith('libcurl'))) readAtRunTime.add('ca-certificates');
  const listed = installedPackages();
  for (const owner of owners) assert(listed.includes(owner) || base.has(owner), `${owner} is linked and only there by chance`);
  for (const name of readAtRunTime) assert(listed.includes(name), `${name} is read at run time`);
  for (const name of listed) assert(owners.has(name) || readAtRunTime.has(name), `${name} is installed for nothing`);
});

test('ports, volume and user are those that the program is told', () => {
  const { GAMETABLE_DATA: data, GAMETABLE_HTTP: http, GAMETABLE_REDIS: redis } = settings();
  assert.equal(only('VOLUME'), data);
  assert.deepEqual(words(only('EXPOSE')), [http, redis].map((address) => address.split(':')[1]));
  assert.match(only('RUN'), new RegExp(`useradd .*${only('USER')}`));
  assert.notEqual(only('USER'), 'root');
});

test('without keys the image says what is missing and ends before it listens', () => {
  const [command, ...entry] = JSON.parse(only('ENTRYPOINT'));
  assert.equal(command, 'gametable');
  const { status, stderr } = spawnSync(program, [...entry, ...JSON.parse(only('CMD'))], { encoding: 'utf8', timeout: 120_000, env: settings() });
  assert.equal(status, 2, stderr);
  assert.match(stderr, /0\.0\.0\.0 is not a loopback address.*GAMETABLE_ACCESS_KEY_ID and GAMETABLE_SECRET_ACCESS_KEY.*--trust-network/);
});

test('with a key it serves, and its health check tells so', async () => {
  const folder = temporaryFolder();
  const env = { ...settings(), GAMETABLE_DATA: path.join(folder, 'data'), GAMETABLE_ACCESS_KEY_ID: 'game', GAMETABLE_SECRET_ACCESS_KEY: 'a-secret-of-some-length' };
  const server = await startServer({ data: env.GAMETABLE_DATA, env });
  const [check, ...args] = JSON.parse(/CMD (\[.*\])/.exec(only('HEALTHCHECK'))[1]);
  assert.equal(check, 'gametable');
  const ask = (url) => spawnSync(program, args, { encoding: 'utf8', timeout: 120_000, env: { GAMETABLE_URL: url } });
  const healthy = ask(server.endpoint);
  assert.deepEqual([healthy.status, healthy.stdout], [0, `${server.endpoint} is healthy\n`], healthy.stderr);
  assert.equal(await server.stop(), 0);
  const gone = ask(server.endpoint);
  assert.equal(gone.status, 1);
  assert.match(gone.stderr, /gametable health: /);
  assert.equal(ask('nonsense').status, 2);
});
