// The program as an operator meets it: starting, stopping, refusing, recovering.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { rawClient } from '../lib/raw.mjs';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

const run = (...args) => spawnSync(program, args, { encoding: 'utf8', timeout: 120_000 });

const schema = {
  TableName: 'players',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'id', AttributeType: 'S' },
    { AttributeName: 'team', AttributeType: 'S' },
  ],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  GlobalSecondaryIndexes: [
    { IndexName: 'byTeam', KeySchema: [{ AttributeName: 'team', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } },
  ],
};
const player = (n, extra = {}) => ({ id: { S: `p${n}` }, team: { S: `t${n % 3}` }, ...extra });
const put = (client, n, extra) => client.call('PutItem', { TableName: 'players', Item: player(n, extra) });

test('what is written is its owner\'s alone, whatever the umask and the folder allow', async () => {
  const data = temporaryFolder();
  execFileSync('chmod', ['755', data]);
  const before = process.umask(0o022);
  const server = await startServer({ data: path.join(data, 'deep/data') }).finally(() => process.umask(before));
  const client = rawClient(server.endpoint);
  await client.must('CreateTable', schema);
  for (let i = 0; i < 10; i++) await put(client, i);
  await client.must('CreateBackup', { TableName: 'players', BackupName: 'kept' });
  client.close();
  assert.equal(await server.stop(), 0);
  const files = readdirSync(path.join(data, 'deep'), { recursive: true }).map((name) => path.join(data, 'deep', name));
  assert.ok(files.length > 10);
  for (const file of files) assert.equal(statSync(file).mode & 0o077, 0, file);
});

test('version and help', () => {
  assert.match(run('version').stdout, /^gametable \d+\.\d+\.\d+\n$/);
  assert.match(run('--help').stdout, /usage: gametable COMMAND/);
  assert.match(run('help', 'serve').stdout, /--durability commit\|interval\|none/);
  assert.match(run('serve', '--help').stdout, /--cache-memory/);
  assert.equal(run().status, 2);
});

test('wrong usage is told in a sentence, with exit status 2', () => {
  for (const [args, text] of [
    [['fly'], /there is no command 'fly'/],
    [['serve', '--wings'], /there is no option --wings/],
    [['serve', '--cache-memory', 'lots'], /'lots' is not a value for cache-memory: expected a size such as 64M/],
    [['serve', '--http', '8000'], /expected HOST:PORT/],
    [['serve', '--durability', 'maybe'], /expected commit\|interval\|none/],
    [['serve', '--data'], /--data needs a value/],
    [['serve', '--config', '/nonexistent/gametable.conf'], /cannot read the config file/],
    [['verify', 'a', 'b', 'c'], /usage: gametable verify/],
  ]) {
    const { status, stderr } = run(...args);
    assert.match(stderr, text);
    assert.equal(status, 2, args.join(' '));
  }
});

test('what systemd starts: its settings are known, and a reload without keys changes nothing', async () => {
  const file = new URL('../../tools/gametable.conf', import.meta.url).pathname;
  const known = run('help', 'serve').stdout;
  const named = [...readFileSync(file, 'utf8').matchAll(/^#([a-z-]+) = /gm)].map(([, name]) => name);
  assert.ok(named.length > 5);
  for (const name of named) assert.ok(known.includes(`\n  --${name} `), name);
  const unit = readFileSync(new URL('../../tools/gametable.service', import.meta.url), 'utf8');
  assert.match(unit, /^ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
  const server = await startServer({ args: ['--config', file] });
  process.kill(server.pid, 'SIGHUP');
  assert.equal(await server.stop(), 0);
  // Of signals that wait the lower number comes first, so that SIGHUP has been taken: what ended it was the other one.
  for (let i = 0; i < 1200 && !server.printed().includes('finishing what runs'); i++) await sleep(50);
  assert.match(server.printed(), /Terminated: finishing what runs/);
});

test('a flag wins over the environment, the environment over the file', async () => {
  const config = path.join(temporaryFolder(), 'gametable.conf');
  writeFileSync(config, '# a comment\nlog-level = debug\n\nthreads=1\n');
  const server = await startServer({ args: ['--config', config], env: { GAMETABLE_LOG_LEVEL: 'error' } });
  await server.stop();
  writeFileSync(config, 'colour = red\n');
  const { status, stderr } = run('serve', '--memory', '--config', config);
  assert.match(stderr, /gametable\.conf line 1: there is no setting colour/);
  assert.equal(status, 2);
});

test('it refuses to listen beyond loopback unless told to trust the network', async () => {
  const { status, stderr } = run('serve', '--memory', '--http', '0.0.0.0:0');
  assert.equal(status, 2);
  assert.match(stderr, /--trust-network/);
});

test('it answers health, and stops in order on SIGTERM and SIGINT', async () => {
  for (const signal of ['SIGTERM', 'SIGINT']) {
    const server = await startServer();
    const client = rawClient(server.endpoint);
    assert.equal((await client.send('', {}, 'GET', '/healthz')).status, 200);
    assert.equal(await server.stop(signal), 0);
    client.close();
  }
});

test('what was acknowledged before SIGTERM is there after a restart, indexes and all', async () => {
  const data = temporaryFolder();
  let server = await startServer({ data });
  let client = rawClient(server.endpoint);
  await client.must('CreateTable', schema);
  // Writes are under way when the signal comes: each either succeeds and stays, or was cut off.
  const answered = [];
  let over = false;
  const writers = Array.from({ length: 8 }, async (_, w) => {
    for (let n = w; !over; n += 8) {
      try {
        const { status } = await put(client, n);
        if (status === 200) answered.push(n);
      } catch {
        return;
      }
    }
  });
  for (const end = Date.now() + 60_000; answered.length < 100; await sleep(5)) assert.ok(Date.now() < end, `${answered.length} writes in a minute`);
  over = true;
  assert.equal(await server.stop(), 0);
  await Promise.all(writers);
  client.close();

  server = await startServer({ data });
  client = rawClient(server.endpoint);
  const found = new Set();
  for (const t of ['t0', 't1', 't2'])
    for (const item of (await client.must('Query', {
      TableName: 'players', IndexName: 'byTeam', KeyConditionExpression: 'team = :t', ExpressionAttributeValues: { ':t': { S: t } },
    })).Items) found.add(item.id.S);
  for (const n of answered) assert.ok(found.has(`p${n}`), `p${n} is lost`);
  await server.stop();
  client.close();
});

test('a file of the store that cannot be read fails requests, not the process; --store-memory is a cache of that size', async () => {
  const data = temporaryFolder();
  let server = await startServer({ data });
  let client = rawClient(server.endpoint);
  await client.must('CreateTable', schema);
  for (let n = 0; n < 300; n++) await put(client, n, { text: { S: `filler ${n} `.repeat(20) } });
  client.close();
  await server.stop();
  for (const args of [[], ['--store-memory', '8M']]) {
    server = await startServer({ data, args: ['--cache-memory', '0', ...args] });
    client = rawClient(server.endpoint);
    for (let n = 0; n < 300; n += 7) {
      const { Item } = await client.must('GetItem', { TableName: 'players', Key: { id: { S: `p${n}` } } });
      assert.equal(Item.text.S, `filler ${n} `.repeat(20));
    }
    const maps = readFileSync(`/proc/${server.pid}/maps`, 'utf8');
    assert.doesNotMatch(maps, /\.sst$/m);
    client.close();
    await server.stop();
  }
  // A file that ends too early is what a mapped page without a disk behind it would be.
  server = await startServer({ data, args: ['--cache-memory', '0', '--store-memory', '64K'] });
  client = rawClient(server.endpoint);
  for (const name of readdirSync(data, { recursive: true }).filter((file) => file.endsWith('.sst'))) truncateSync(path.join(data, name), 100);
  const statuses = [];
  for (let n = 0; n < 300; n++) {
    const { status, json } = await client.call('GetItem', { TableName: 'players', Key: { id: { S: `p${n}` } } });
    if (status === 200) assert.equal(json.Item.text.S, `filler ${n} `.repeat(20));
    statuses.push(status);
  }
  assert.ok(statuses.includes(500), 'some of it was not in memory');
  assert.ok(statuses.every((status) => status === 200 || status === 500));
  assert.equal((await fetch(`${server.endpoint}/healthz`)).ok, true);
  client.close();
  await server.stop();
});

test('a folder or port in use, a folder of a newer format or of something else is refused with what to do', async () => {
  const data = temporaryFolder();
  const server = await startServer({ data });
  let refused = run('serve', '--data', data, '--http', '127.0.0.1:0');
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /in use|another process/i);
  refused = run('verify', '--data', data);
  assert.equal(refused.status, 1);
  refused = run('serve', '--memory', '--redis', 'off', '--http', new URL(server.endpoint).host);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /taken by another program/);
  await server.stop();

  writeFileSync(path.join(data, 'FORMAT'), 'gametable 999\n');
  refused = run('serve', '--data', data, '--http', '127.0.0.1:0');
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /newer/);

  const other = temporaryFolder();
  writeFileSync(path.join(other, 'holiday.jpg'), 'not ours');
  refused = run('serve', '--data', other, '--http', '127.0.0.1:0');
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /gametable/);
  assert.deepEqual(readdirSync(other), ['holiday.jpg'], 'nothing was written there');
});

test('verify says all is well, and finds damage', async () => {
  const data = temporaryFolder();
  const server = await startServer({ data, args: ['--game-table', ''] });
  const client = rawClient(server.endpoint);
  await client.must('CreateTable', schema);
  for (let n = 0; n < 500; n++) await put(client, n, { text: { S: `filler ${n} `.repeat(20) } });
  client.close();
  await server.stop();
  const well = run('verify', '--data', data);
  assert.equal(well.status, 0, well.stderr);
  assert.match(well.stdout, /1 tables, 500 items, 1 indexes with 500 entries: all is well/);

  const folder = path.join(data, 'db');
  const tables = readdirSync(folder).filter((name) => name.endsWith('.sst') || name.endsWith('.log'));
  const largest = tables.map((name) => path.join(folder, name)).sort((a, b) => statSync(b).size - statSync(a).size)[0];
  const bytes = readFileSync(largest);
  for (let i = 0; i < 64; i++) bytes[Math.floor(bytes.length / 4) + i] ^= 0x5a;
  writeFileSync(largest, bytes);
  const damaged = run('verify', '--data', data);
  assert.equal(damaged.status, 1, damaged.stdout);
  assert.equal(damaged.signal, null);
});

test('a disk that refuses writes: reads go on, nothing acknowledged is lost, and it recovers', async () => {
  const data = temporaryFolder();
  let server = await startServer({ data });
  let client = rawClient(server.endpoint);
  await client.must('CreateTable', schema);
  const filler = { text: { S: 'x'.repeat(3000) } };
  const acknowledged = new Set();
  const tryPut = async (n) => {
    const { status, json } = await put(client, n, filler);
    if (status === 200) acknowledged.add(n);
    return { status, json };
  };
  for (let n = 0; n < 50; n++) assert.equal((await tryPut(n)).status, 200);

  // No file of the process may grow past this: the log's next write fails as on a full disk.
  execFileSync('prlimit', ['--pid', String(server.pid), '--fsize=200000:unlimited']);
  let refused;
  for (let n = 50; n < 400 && !refused; n++) {
    const answer = await tryPut(n);
    if (answer.status !== 200) refused = answer;
  }
  assert.ok(refused, 'a write was refused');
  assert.equal(refused.status, 500);
  assert.match(refused.json.__type, /InternalServerError$/);
  for (const n of acknowledged)
    assert.ok((await client.must('GetItem', { TableName: 'players', Key: { id: { S: `p${n}` } } })).Item, 'reads go on');

  execFileSync('prlimit', ['--pid', String(server.pid), '--fsize=unlimited:unlimited']);
  let recovered = false;
  for (let attempt = 0; attempt < 600 && !recovered; attempt++) {
    recovered = (await tryPut(1000)).status === 200;
    if (!recovered) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.ok(recovered, 'writes work again once there is room');
  const check = async () => {
    for (const n of acknowledged)
      assert.ok((await client.must('GetItem', { TableName: 'players', Key: { id: { S: `p${n}` } } })).Item, `p${n} is lost`);
    const { Table } = await client.must('DescribeTable', { TableName: 'players' });
    const { Count } = await client.must('Scan', { TableName: 'players', Select: 'COUNT' });
    const indexed = await client.must('Scan', { TableName: 'players', IndexName: 'byTeam', Select: 'COUNT' });
    assert.equal(Table.ItemCount, Count);
    assert.equal(indexed.Count, Count);
  };
  await check();
  assert.equal(await server.stop(), 0);
  client.close();
  server = await startServer({ data });
  client = rawClient(server.endpoint);
  await check();
  await server.stop();
  client.close();
  assert.equal(run('verify', '--data', data).status, 0);
});

test('logs are one line an event, JSON on request', async () => {
  const server = await startServer({ args: ['--log-json'] });
  await server.stop();
  const lines = server.printed().split('\n').filter((line) => line.startsWith('{'));
  assert.ok(lines.length > 0);
  for (const line of lines) {
    const { time, level, event } = JSON.parse(line);
    assert.match(time, /^\d{4}-\d\d-\d\dT/);
    assert.ok(level && event);
  }
});
