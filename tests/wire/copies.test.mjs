// gametable backup, restore, export, import: what a person types, exit codes, and what is left behind.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import * as ddb from '@aws-sdk/client-dynamodb';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

const folder = temporaryFolder();
const at = (...parts) => path.join(folder, ...parts);
const data = at('data');
const run = (...args) => new Promise((resolve) => {
  execFile(program, args, { cwd: folder }, (error, stdout, stderr) =>
    resolve({ code: error ? error.code : 0, stdout, stderr }));
});
const must = async (...args) => {
  const { code, stdout, stderr } = await run(...args);
  assert.equal(code, 0, stderr);
  return stdout;
};
const refused = async (code, text, ...args) => {
  const answer = await run(...args);
  assert.equal(answer.code, code, answer.stderr + answer.stdout);
  assert.match(answer.stderr, text);
};
// Runs `use` against a server on the folder.
const serving = async (place, use) => {
  const server = await startServer({ game: false, data: place });
  const client = new ddb.DynamoDBClient({
    endpoint: server.endpoint, region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' }, maxAttempts: 1,
  });
  try {
    return await use((name, input = {}) => client.send(new ddb[`${name}Command`](input)));
  } finally {
    client.destroy();
    assert.equal(await server.stop(), 0);
  }
};
const keys = {
  AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'sk', AttributeType: 'N' }],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
  BillingMode: 'PAY_PER_REQUEST',
  GlobalSecondaryIndexes: [{ IndexName: 'by-sk', KeySchema: [{ AttributeName: 'sk', KeyType: 'HASH' }], Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['v'] } }],
};
const item = (i) => ({ pk: { S: `p${i}` }, sk: { N: String(i) }, v: { L: [{ B: Buffer.from([i]) }, { SS: ['a', 'b'] }] } });
const scan = (send, TableName) => send('Scan', { TableName }).then(({ Items }) =>
  Items.map((i) => JSON.stringify({ pk: i.pk, sk: i.sk, v: i.v })).sort());
let items;

before(() => serving(data, async (send) => {
  await send('CreateTable', { TableName: 'game', ...keys });
  await send('CreateTable', { TableName: 'other', ...keys });
  for (let i = 0; i < 50; i++) await send('PutItem', { TableName: 'game', Item: item(i) });
  items = await scan(send, 'game');
}));

test('backup and restore: a whole folder, never over another', async () => {
  assert.match(await must('backup', '--data', data, at('copy')), /copy: /);
  assert.ok(!existsSync(at('copy.partial')));
  assert.match(await must('verify', '--data', at('copy')), /2 tables, 50 items.*all is well/);
  await refused(1, /is there already/, 'backup', '--data', data, at('copy'));
  await refused(1, /no gametable data/, 'backup', '--data', at('nowhere'), at('copy2'));
  assert.ok(!existsSync(at('copy2')) && !existsSync(at('copy2.partial')));
  await must('restore', `--data=${at('restored')}`, at('copy'));
  await refused(1, /is there already/, 'restore', '--data', at('restored'), at('copy'));
  mkdirSync(at('empty'));
  await must('restore', '--data', at('empty'), at('copy'));
  await refused(1, /./, 'restore', '--data', at('none'), at('nowhere'));
  await serving(at('restored'), async (send) => assert.deepEqual(await scan(send, 'game'), items));
  for (const args of [['backup'], ['backup', 'a', 'b'], ['restore'], ['backup', '--what', 'x'], ['backup', '--data'], ['backup', '--id', '../x', 'y']])
    assert.equal((await run(...args)).code, 2, args.join(' '));
});

test('what is left of an interrupted backup does no harm', async () => {
  mkdirSync(at('again.partial', 'db'), { recursive: true });
  writeFileSync(at('again.partial', 'db', '000001.sst'), 'half');
  await must('backup', '--data', data, at('again'));
  assert.match(await must('verify', '--data', at('again')), /all is well/);
  assert.ok(!existsSync(at('again.partial')));
});

test('a damaged backup is not restored', async () => {
  await must('backup', '--data', data, at('damaged'));
  const manifest = readdirSync(at('damaged', 'db')).find((name) => name.startsWith('MANIFEST'));
  const bytes = readFileSync(at('damaged', 'db', manifest));
  bytes[20] ^= 0xff;
  writeFileSync(at('damaged', 'db', manifest), bytes);
  await refused(1, /damaged/, 'restore', '--data', at('from-damaged'), at('damaged'));
  assert.ok(!existsSync(at('from-damaged')));
});

test('while a server runs: refused, but for the backups it made', async () => {
  await serving(data, async (send) => {
    await refused(1, /in use/, 'backup', '--data', data, at('online'));
    await refused(1, /in use/, 'export', '--data', data, 'game', at('online-export'));
    await refused(1, /in use/, 'import', '--data', data, '--keys', 'pk:S', 'new', at('copy', 'FORMAT'));
    const { BackupDetails } = await send('CreateBackup', { TableName: 'game', BackupName: 'online' });
    const id = BackupDetails.BackupArn.split('/').at(-1);
    await send('DeleteItem', { TableName: 'game', Key: { pk: { S: 'p1' }, sk: { N: '1' } } });
    await must('backup', '--data', data, '--id', id, at('online'));
    await must('export', '--data', data, '--id', id, 'game', at('online-export'));
    await send('DeleteBackup', { BackupArn: BackupDetails.BackupArn });
    await send('PutItem', { TableName: 'game', Item: item(1) });
  });
  await serving(at('online'), async (send) => assert.deepEqual(await scan(send, 'game'), items));
});

test('export and import: a table with its indexes, into another folder', async () => {
  assert.match(await must('export', '--data', data, 'game', at('exported')), /50 items of table game/);
  assert.ok(!existsSync(at('exported.partial')));
  await refused(1, /is there already/, 'export', '--data', data, 'game', at('exported'));
  await refused(1, /not found: missing/, 'export', '--data', data, 'missing', at('exported2'));
  assert.match(await must('import', '--data', at('fresh'), 'game', at('exported')), /50 items imported/);
  await refused(1, /--append/, 'import', '--data', at('fresh'), 'game', at('exported'));
  await must('import', '--data', at('fresh'), '--append', 'game', at('exported'));
  assert.match(await must('verify', '--data', at('fresh')), /1 tables, 50 items, 1 indexes with 50 entries: all is well/);
  await must('import', '--data', at('fresh'), 'second', at('exported'));
  await serving(at('fresh'), async (send) => {
    assert.deepEqual(await scan(send, 'game'), items);
    assert.deepEqual(await scan(send, 'second'), items);
    const { Table } = await send('DescribeTable', { TableName: 'second' });
    assert.deepEqual(Table.GlobalSecondaryIndexes[0].Projection, keys.GlobalSecondaryIndexes[0].Projection);
    assert.equal((await send('Scan', { TableName: 'second', IndexName: 'by-sk' })).Count, 50);
  });
  for (const args of [['export', 'x'], ['export', '--format', 'xml', 'a', 'b'], ['import', 'x'], ['import', '--format', 'x', 'a', 'b'], ['import', '--delimiter', '--', 'a', 'b']])
    assert.equal((await run(...args)).code, 2, args.join(' '));
});

test('CSV: out and in, by the name of the file, keys from the command line', async () => {
  writeFileSync(at('in.csv'), 'id\tn\ttext\nx\t1\t"tab\there"\ny\t2\t\nz\toops\tbad\n');
  const answer = await run('import', '--data', at('csv'), '--keys', 'id:S,n:N', '--delimiter', '\\t', 'rows', at('in.csv'));
  assert.equal(answer.code, 1);
  assert.match(answer.stdout, /2 items imported, 1 records passed over \(The field n is not a number\)/);
  await must('export', '--data', at('csv'), '--format', 'csv', 'rows', at('csv-out'));
  await must('import', '--data', at('csv'), '--format', 'csv', 'rows2', at('csv-out'));
  await serving(at('csv'), async (send) => {
    const { Items } = await send('Scan', { TableName: 'rows2' });
    assert.deepEqual(Items.sort((a, b) => (a.id.S < b.id.S ? -1 : 1)),
      [{ id: { S: 'x' }, n: { N: '1' }, text: { S: 'tab\there' } }, { id: { S: 'y' }, n: { N: '2' } }]);
  });
  await refused(2, /not a table's name/, 'import', '--data', at('csv'), '--keys', 'id:S,n:N', 'x', at('in.csv'));
  await refused(2, /not a table's name/, 'import', '--data', at('csv'), '--keys', 'id:S,n:N', 'a/b', at('in.csv'));
  await refused(1, /--keys/, 'import', '--data', at('csv'), 'unknown', at('in.csv'));
  await refused(1, /--keys wants/, 'import', '--data', at('csv'), '--keys', 'id', 'unknown', at('in.csv'));
  await refused(1, /Cannot read/, 'import', '--data', at('csv'), '--keys', 'id:S', 'unknown', at('nothing.csv'));
});

test('an import that fails or is killed leaves no table', async () => {
  const lines = Array.from({ length: 150000 }, (_, i) => JSON.stringify({ Item: { id: { S: `i${i}` }, pad: { S: 'x'.repeat(80) } } })).join('\n');
  const packed = gzipSync(lines, { level: 1 });
  writeFileSync(at('cut.json.gz'), packed.subarray(0, packed.length - 1000));
  writeFileSync(at('large.json.gz'), packed);
  await refused(1, /ends too early/, 'import', '--data', at('killed'), '--keys', 'id:S', 'table', at('cut.json.gz'));
  assert.match(await must('verify', '--data', at('killed')), /0 tables, 0 items/);
  // One that is done before it could be killed is begun again, and killed sooner.
  const interrupt = async (signal, ms) => {
    const child = spawn(program, ['import', '--data', at('killed'), '--keys', 'id:S', 'table', at('large.json.gz')], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    await Promise.race([ended, sleep(ms)]);
    child.kill(signal);
    const [code] = await ended;
    if (code !== 0) return;
    assert.ok(ms > 1, 'it was always done first');
    rmSync(at('killed'), { recursive: true });
    await interrupt(signal, ms / 2);
  };
  for (const signal of ['SIGKILL', 'SIGINT']) {
    await interrupt(signal, 200);
    await serving(at('killed'), async (send) => assert.deepEqual((await send('ListTables')).TableNames, []));
  }
  assert.match(await must('import', '--data', at('killed'), '--keys', 'id:S', 'table', at('large.json.gz')), /150000 items imported/);
  rmSync(at('killed'), { recursive: true });
});

test('help says how', async () => {
  for (const command of ['backup', 'restore', 'export', 'import']) {
    assert.match(await must('help', command), new RegExp(`^usage: gametable ${command} `));
    assert.equal(await must(command, '--help'), await must('help', command));
  }
});
