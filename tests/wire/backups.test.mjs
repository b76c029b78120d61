// Backups, restores, exports and imports through the real SDK.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as ddb from '@aws-sdk/client-dynamodb';
import { startServer, temporaryFolder } from '../lib/server.mjs';

const data = path.join(temporaryFolder(), 'data');
const exportsFolder = path.join(temporaryFolder(), 'exports');
let server;
let client;
const connect = (endpoint) => new ddb.DynamoDBClient({
  endpoint, region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' }, maxAttempts: 1,
});
const start = async () => {
  server = await startServer({ data, args: ['--export-dir', exportsFolder] });
  client = connect(server.endpoint);
};
before(start);
after(async () => { client.destroy(); assert.equal(await server.stop(), 0); });

const send = (name, input = {}) => client.send(new ddb[`${name}Command`](input));
const refused = (name, input, exception, text = /./) =>
  assert.rejects(send(name, input), (error) => {
    assert.equal(error.name, exception, error.message);
    assert.match(error.message, text);
    return true;
  });
const until = async (look, done, seconds = 30) => {
  for (let i = 0; i < seconds * 20; i++) {
    const answer = await look();
    if (done(answer)) return answer;
    await sleep(50);
  }
  throw new Error('it takes too long');
};
const active = (name) => until(() => send('DescribeTable', { TableName: name }), (a) => a.Table.TableStatus === 'ACTIVE');

const keys = {
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'N' },
    { AttributeName: 'board', AttributeType: 'S' },
  ],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
  GlobalSecondaryIndexes: [{
    IndexName: 'boards',
    KeySchema: [{ AttributeName: 'board', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
    Projection: { ProjectionType: 'ALL' },
  }],
  LocalSecondaryIndexes: [{
    IndexName: 'mine',
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'board', KeyType: 'RANGE' }],
    Projection: { ProjectionType: 'KEYS_ONLY' },
  }],
  BillingMode: 'PAY_PER_REQUEST',
};
const make = (TableName, more = {}) => send('CreateTable', { TableName, ...keys, ...more });
const fill = async (TableName, count, mark) => {
  for (let from = 0; from < count; from += 25) {
    const size = Math.min(25, count - from);
    await send('BatchWriteItem', { RequestItems: { [TableName]: Array.from({ length: size }, (_, i) => ({
      PutRequest: { Item: {
        pk: { S: `p${(from + i) % 7}` }, sk: { N: String(from + i) }, board: { S: `b${i % 3}` }, mark: { S: mark },
      } },
    })) } });
  }
};
// All items of a table or an index, in an order of their own.
const all = async (TableName, IndexName) => {
  const items = [];
  let ExclusiveStartKey;
  do {
    const page = await send('Scan', { TableName, IndexName, ExclusiveStartKey });
    items.push(...page.Items);
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return items.map((item) => everything(sorted(item))).sort();
};
const sorted = (item) => Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
const everything = (value) => JSON.stringify(value, (_, v) => (v instanceof Uint8Array ? { bytes: Buffer.from(v).toString('hex') } : v));

// All ten types, with what is awkward about each.
const tenTypes = [
  { pk: { S: 'types' }, sk: { N: '1' }, text: { S: 'Grüße "quoted",\n\t\u0001 end' }, empty: { S: '' }, number: { N: '-1.5' },
    big: { N: '99999999999999999999999999999999999999' }, binary: { B: Buffer.from([0, 255, 10, 13]) }, none: { B: Buffer.alloc(0) } },
  { pk: { S: 'types' }, sk: { N: '2' }, ss: { SS: ['a', 'b', ''] }, ns: { NS: ['1', '-2', '0.5'] },
    bs: { BS: [Buffer.from([1]), Buffer.from([0, 2])] }, yes: { BOOL: true }, no: { BOOL: false }, nil: { NULL: true } },
  { pk: { S: 'types' }, sk: { N: '3' }, list: { L: [{ S: 'x' }, { N: '1' }, { L: [] }, { M: {} }, { NULL: true }] },
    map: { M: { 'a.b': { S: 'dot' }, deep: { M: { bs: { BS: [Buffer.from([7])] } } } } } },
];

test('a backup is of one moment; a table restored from it has all items and indexes', async () => {
  await make('game');
  await fill('game', 300, 'before');
  const items = await all('game'), boards = await all('game', 'boards'), mine = await all('game', 'mine');
  const { BackupDetails: made } = await send('CreateBackup', { TableName: 'game', BackupName: 'nightly' });
  assert.match(made.BackupArn, /^arn:aws:dynamodb:eu-west-1:000000000000:table\/game\/backup\/\d{14}-[0-9a-f]{8}$/);
  assert.equal(made.BackupStatus, 'AVAILABLE');
  assert.equal(made.BackupType, 'USER');
  await fill('game', 500, 'after');
  await send('DeleteItem', { TableName: 'game', Key: { pk: { S: 'p0' }, sk: { N: '0' } } });

  const { BackupDescription: told } = await send('DescribeBackup', { BackupArn: made.BackupArn });
  assert.equal(told.BackupDetails.BackupName, 'nightly');
  assert.equal(told.SourceTableDetails.TableName, 'game');
  assert.equal(told.SourceTableDetails.ItemCount, 300);
  assert.equal(told.SourceTableDetails.BillingMode, 'PAY_PER_REQUEST');
  assert.deepEqual(told.SourceTableDetails.KeySchema, keys.KeySchema);
  assert.equal(told.SourceTableFeatureDetails.GlobalSecondaryIndexes[0].IndexName, 'boards');
  assert.equal(told.SourceTableFeatureDetails.LocalSecondaryIndexes[0].IndexName, 'mine');
  assert.ok(Math.abs(told.BackupDetails.BackupCreationDateTime.getTime() - Date.now()) < 60000);

  const { TableDescription: restoring } = await send('RestoreTableFromBackup', { TargetTableName: 'again', BackupArn: made.BackupArn });
  assert.equal(restoring.TableStatus, 'CREATING');
  assert.equal(restoring.RestoreSummary.SourceBackupArn, made.BackupArn);
  assert.equal(restoring.RestoreSummary.RestoreInProgress, true);
  const { Table } = await active('again');
  assert.equal(Table.ItemCount, 300);
  assert.deepEqual(await all('again'), items);
  assert.deepEqual(await all('again', 'boards'), boards);
  assert.deepEqual(await all('again', 'mine'), mine);
  const { Count } = await send('Query', { TableName: 'again', IndexName: 'boards', KeyConditionExpression: 'board = :b', ExpressionAttributeValues: { ':b': { S: 'b1' } }, Select: 'COUNT' });
  assert.equal(Count, boards.filter((item) => item.includes('b1')).length);
  await refused('RestoreTableFromBackup', { TargetTableName: 'game', BackupArn: made.BackupArn }, 'TableAlreadyExistsException', /^Table already exists: game$/);

  // Without an index, and provisioned.
  await send('RestoreTableFromBackup', {
    TargetTableName: 'lean', BackupArn: made.BackupArn, GlobalSecondaryIndexOverride: [], BillingModeOverride: 'PROVISIONED',
    ProvisionedThroughputOverride: { ReadCapacityUnits: 3, WriteCapacityUnits: 4 },
  });
  const { Table: lean } = await active('lean');
  assert.equal(lean.GlobalSecondaryIndexes, undefined);
  assert.equal(lean.LocalSecondaryIndexes.length, 1);
  assert.equal(lean.ProvisionedThroughput.WriteCapacityUnits, 4);
  await refused('RestoreTableFromBackup', {
    TargetTableName: 'wrong', BackupArn: made.BackupArn,
    GlobalSecondaryIndexOverride: [{ IndexName: 'none', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } }],
  }, 'ValidationException');

  // The table may go: the backup stays.
  await send('DeleteTable', { TableName: 'game' });
  await send('RestoreTableFromBackup', { TargetTableName: 'game', BackupArn: made.BackupArn });
  await active('game');
  assert.deepEqual(await all('game'), items);

  const { BackupDescription: gone } = await send('DeleteBackup', { BackupArn: made.BackupArn });
  assert.equal(gone.BackupDetails.BackupStatus, 'DELETED');
  for (const name of ['DescribeBackup', 'DeleteBackup'])
    await refused(name, { BackupArn: made.BackupArn }, 'BackupNotFoundException', /^Backup not found: arn:/);
  await refused('RestoreTableFromBackup', { TargetTableName: 'nope', BackupArn: made.BackupArn }, 'BackupNotFoundException');
  assert.deepEqual(readdirSync(path.join(data, 'backups')), []);
});

test('backups are listed by table and time, in pages, after a restart too', async () => {
  await make('one');
  await make('two');
  const arns = [];
  for (let i = 0; i < 5; i++) {
    const { BackupDetails } = await send('CreateBackup', { TableName: i % 2 ? 'two' : 'one', BackupName: `b-${i}` });
    arns.push(BackupDetails);
    await sleep(5);
  }
  client.destroy();
  assert.equal(await server.stop(), 0);
  await start();
  const names = async (input) => (await send('ListBackups', input)).BackupSummaries.map((b) => b.BackupName);
  assert.deepEqual(await names({}), ['b-0', 'b-1', 'b-2', 'b-3', 'b-4']);
  assert.deepEqual(await names({ TableName: 'two' }), ['b-1', 'b-3']);
  assert.deepEqual(await names({ TableName: 'none' }), []);
  assert.deepEqual(await names({ BackupType: 'SYSTEM' }), []);
  assert.deepEqual(await names({ TimeRangeLowerBound: arns[3].BackupCreationDateTime }), ['b-3', 'b-4']);
  assert.deepEqual(await names({ TimeRangeUpperBound: arns[3].BackupCreationDateTime }), ['b-0', 'b-1', 'b-2']);
  const paged = [];
  let ExclusiveStartBackupArn;
  do {
    const page = await send('ListBackups', { Limit: 2, ExclusiveStartBackupArn });
    assert.ok(page.BackupSummaries.length <= 2);
    paged.push(...page.BackupSummaries.map((b) => b.BackupName));
    ExclusiveStartBackupArn = page.LastEvaluatedBackupArn;
  } while (ExclusiveStartBackupArn);
  assert.deepEqual(paged, ['b-0', 'b-1', 'b-2', 'b-3', 'b-4']);
  for (const { BackupArn } of arns) await send('DeleteBackup', { BackupArn });
});

test('what is wrong is told in the words of the service', async () => {
  await refused('CreateBackup', { TableName: 'missing', BackupName: 'abc' }, 'TableNotFoundException', /^Table not found: missing$/);
  await refused('CreateBackup', { TableName: 'one', BackupName: 'a' }, 'ValidationException', /backupName/);
  await refused('DescribeBackup', { BackupArn: 'arn:aws:dynamodb:eu-west-1:000000000000:table/one/backup/01700000000000-00000000' }, 'BackupNotFoundException');
  for (const arn of ['../../../../etc/passwd', `arn:aws:dynamodb:eu-west-1:000000000000:table/one/stream/x`])
    await refused('DeleteBackup', { BackupArn: arn.padEnd(40, 'x') }, 'ValidationException');
  await refused('DeleteBackup', { BackupArn: 'arn:aws:dynamodb:eu-west-1:000000000000:table/one/backup/../../db' }, 'BackupNotFoundException');
  const { ContinuousBackupsDescription } = await send('DescribeContinuousBackups', { TableName: 'one' });
  assert.equal(ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus, 'DISABLED');
  await refused('DescribeContinuousBackups', { TableName: 'missing' }, 'TableNotFoundException');
  await send('UpdateContinuousBackups', { TableName: 'one', PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false } });
  await refused('RestoreTableToPointInTime', { SourceTableName: 'one', TargetTableName: 'two-again' }, 'PointInTimeRecoveryUnavailableException', /not enabled for table 'one'/);
});

const arnOf = (name) => `arn:aws:dynamodb:eu-west-1:000000000000:table/${name}`;
const exported = async (input) => {
  const { ExportDescription } = await send('ExportTableToPointInTime', input);
  assert.equal(ExportDescription.ExportStatus, 'IN_PROGRESS');
  return until(async () => (await send('DescribeExport', { ExportArn: ExportDescription.ExportArn })).ExportDescription,
    (e) => e.ExportStatus !== 'IN_PROGRESS');
};
const imported = async (input) => {
  const { ImportTableDescription } = await send('ImportTable', input);
  assert.equal(ImportTableDescription.ImportStatus, 'IN_PROGRESS');
  return until(async () => (await send('DescribeImport', { ImportArn: ImportTableDescription.ImportArn })).ImportTableDescription,
    (i) => i.ImportStatus !== 'IN_PROGRESS');
};
const { LocalSecondaryIndexes: _, ...importable } = keys;
let exportArn;

test('an export in the layout of the service comes back the same through an import', async () => {
  await make('types');
  for (const Item of tenTypes) await send('PutItem', { TableName: 'types', Item });
  await fill('types', 100, 'x');
  const told = await exported({ TableArn: arnOf('types'), S3Bucket: 'my-bucket', S3Prefix: 'some/prefix', ExportFormat: 'DYNAMODB_JSON' });
  exportArn = told.ExportArn;
  assert.equal(told.ExportStatus, 'COMPLETED', told.FailureMessage);
  assert.equal(told.ItemCount, 103);
  assert.ok(told.BilledSizeBytes > 0);
  assert.equal(told.S3Bucket, 'my-bucket');
  const id = told.ExportArn.split('/').at(-1);
  assert.equal(told.ExportManifest, `some/prefix/AWSDynamoDB/${id}/manifest-summary.json`);
  const bucket = path.join(exportsFolder, 'my-bucket');
  const summary = JSON.parse(readFileSync(path.join(bucket, told.ExportManifest)));
  assert.equal(summary.itemCount, 103);
  assert.equal(summary.exportArn, told.ExportArn);
  assert.equal(summary.outputFormat, 'DYNAMODB_JSON');
  const files = readFileSync(path.join(bucket, summary.manifestFilesS3Key), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(files.reduce((sum, file) => sum + file.itemCount, 0), 103);
  const lines = files.flatMap((file) => gunzipSync(readFileSync(path.join(bucket, file.dataFileS3Key))).toString().trim().split('\n'));
  assert.equal(lines.length, 103);
  assert.deepEqual(Object.keys(JSON.parse(lines[0])), ['Item']);
  assert.deepEqual(readdirSync(path.dirname(path.join(bucket, told.ExportManifest))).sort(),
    ['data', 'manifest-files.json', 'manifest-files.md5', 'manifest-summary.json', 'manifest-summary.md5', 'table.json']);

  const back = await imported({
    S3BucketSource: { S3Bucket: 'my-bucket', S3KeyPrefix: `some/prefix/AWSDynamoDB/${id}/data/` },
    InputFormat: 'DYNAMODB_JSON', InputCompressionType: 'GZIP', TableCreationParameters: { TableName: 'types-again', ...importable },
  });
  assert.equal(back.ImportStatus, 'COMPLETED', back.FailureMessage);
  assert.equal(back.ImportedItemCount, 103);
  assert.equal(back.ErrorCount, 0);
  assert.equal(back.TableCreationParameters.TableName, 'types-again');
  assert.deepEqual(await all('types-again'), await all('types'));
  assert.deepEqual(await all('types-again', 'boards'), await all('types', 'boards'));
  await refused('ImportTable', {
    S3BucketSource: { S3Bucket: 'my-bucket' }, InputFormat: 'DYNAMODB_JSON', TableCreationParameters: { TableName: 'types', ...importable },
  }, 'ResourceInUseException', /already exists/);
});

const plainKeys = {
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }, { AttributeName: 'n', AttributeType: 'N' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }, { AttributeName: 'n', KeyType: 'RANGE' }],
  BillingMode: 'PAY_PER_REQUEST',
};
const put = (name, text) => {
  const file = path.join(exportsFolder, 'in', name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};

test('CSV: quotes, newlines, delimiters, given headers, empty fields; rows that are wrong are counted', async () => {
  put('csv/a.csv', '\ufeffid,n,text,more\r\na,1,"one, ""two""\nthree",\r\nb,2,,"" \r\nc,x,not a number,\nd,4,too few\n\ne,5,"",Grüße\n');
  const told = await imported({
    S3BucketSource: { S3Bucket: 'in', S3KeyPrefix: 'csv/' }, InputFormat: 'CSV', TableCreationParameters: { TableName: 'csv', ...plainKeys },
  });
  assert.equal(told.ImportStatus, 'COMPLETED', told.FailureMessage);
  assert.equal(told.ImportedItemCount, 2);
  assert.equal(told.ErrorCount, 3);
  assert.equal(told.ProcessedItemCount, 5);
  const { Items } = await send('Scan', { TableName: 'csv' });
  assert.deepEqual(Items.sort((a, b) => (a.id.S < b.id.S ? -1 : 1)), [
    { id: { S: 'a' }, n: { N: '1' }, text: { S: 'one, "two"\nthree' } },
    { id: { S: 'e' }, n: { N: '5' }, text: { S: '' }, more: { S: 'Grüße' } },
  ]);
  put('semi/a.csv.gz', gzipSync('x;1;"a;b"\ny;2;c\n'));
  const semi = await imported({
    S3BucketSource: { S3Bucket: 'in', S3KeyPrefix: 'semi' }, InputFormat: 'CSV', InputCompressionType: 'GZIP',
    InputFormatOptions: { Csv: { Delimiter: ';', HeaderList: ['id', 'n', 'v'] } },
    TableCreationParameters: { TableName: 'semi', ...plainKeys },
  });
  assert.equal(semi.ImportedItemCount, 2, semi.FailureMessage);
  const { Item } = await send('GetItem', { TableName: 'semi', Key: { id: { S: 'x' }, n: { N: '1' } } });
  assert.equal(Item.v.S, 'a;b');
});

test('a table exported as CSV comes back with its strings', async () => {
  const told = await exported({ TableArn: arnOf('csv'), S3Bucket: 'in', S3Prefix: 'out', ExportFormat: 'CSV' });
  assert.equal(told.ExportStatus, 'COMPLETED', told.FailureMessage);
  const back = await imported({
    S3BucketSource: { S3Bucket: 'in', S3KeyPrefix: 'out/' }, InputFormat: 'CSV', TableCreationParameters: { TableName: 'csv-again', ...plainKeys },
  });
  assert.equal(back.ErrorCount, 0);
  assert.deepEqual(await all('csv-again'), await all('csv'));
});

test('files that are broken: bad lines are counted, a cut-off file leaves no table', async () => {
  const good = (i) => JSON.stringify({ Item: { id: { S: `g${i}` }, n: { N: String(i) } } });
  put('bad/a.json', [good(1), '{"Item":', '[]', '{"Item":{"id":{"S":"x"}}}', '{"Item":{"id":{"S":"x"},"n":{"N":"ten"}}}',
    '{"Item":{"id":{"S":1},"n":{"N":"1"}}}', `{"Item":{"id":{"S":"${'x'.repeat(5 << 20)}"}}}`, '', good(2), good(2)].join('\n'));
  const told = await imported({
    S3BucketSource: { S3Bucket: 'in', S3KeyPrefix: 'bad/' }, InputFormat: 'DYNAMODB_JSON', TableCreationParameters: { TableName: 'bad', ...plainKeys },
  });
  assert.equal(told.ImportStatus, 'COMPLETED', told.FailureMessage);
  assert.equal(told.ErrorCount, 6);
  assert.equal((await all('bad')).length, 2);

  const packed = gzipSync(Array.from({ length: 5000 }, (_, i) => good(i)).join('\n'));
  put('cut/a.json.gz', packed.subarray(0, packed.length - 2000));
  const cut = await imported({
    S3BucketSource: { S3Bucket: 'in', S3KeyPrefix: 'cut/' }, InputFormat: 'DYNAMODB_JSON', InputCompressionType: 'GZIP', TableCreationParameters: { TableName: 'cut', ...plainKeys },
  });
  assert.equal(cut.ImportStatus, 'FAILED');
  assert.match(cut.FailureMessage, /ends too early/);
  await refused('DescribeTable', { TableName: 'cut' }, 'ResourceNotFoundException');

  const nothing = await imported({
    S3BucketSource: { S3Bucket: 'in', S3KeyPrefix: 'nothing/' }, InputFormat: 'CSV', TableCreationParameters: { TableName: 'nothing', ...plainKeys },
  });
  assert.equal(nothing.ImportStatus, 'FAILED');
  await refused('DescribeTable', { TableName: 'nothing' }, 'ResourceNotFoundException');
});

test('an import names its table as CreateTable does', async () => {
  const order = (TableName) => ({ S3BucketSource: { S3Bucket: 'in', S3KeyPrefix: 'csv/' }, InputFormat: 'CSV', TableCreationParameters: { ...plainKeys, TableName } });
  for (const name of ['x', undefined, 'a b c', 'x'.repeat(256), '../../x', arnOf('name')])
    await refused('ImportTable', order(name), 'ValidationException', /'tableCreationParameters.tableName'/);
});

test('nothing outside of the export folder can be reached', async () => {
  const parameters = { InputFormat: 'CSV', TableCreationParameters: { TableName: 'escape', ...plainKeys } };
  for (const S3Bucket of ['..', '.', '/etc', 'a/../..', '../data', '.hidden', 'a\u0000b', '-x'])
    await refused('ImportTable', { S3BucketSource: { S3Bucket }, ...parameters }, 'ValidationException', /S3Bucket/);
  for (const S3KeyPrefix of ['../', '../../etc/passwd', 'a/../../b', '/etc', 'a//b', './a', 'a/\u0001'])
    await refused('ImportTable', { S3BucketSource: { S3Bucket: 'in', S3KeyPrefix }, ...parameters }, 'ValidationException', /S3KeyPrefix/);
  for (const S3Prefix of ['../out', 'a/..', '/tmp', 'x\u0000y'])
    await refused('ExportTableToPointInTime', { TableArn: arnOf('csv'), S3Bucket: 'in', S3Prefix }, 'ValidationException', /S3Prefix/);
  await refused('ExportTableToPointInTime', { TableArn: arnOf('csv'), S3Bucket: '../in' }, 'ValidationException', /S3Bucket/);
  // A link that leads outside is not followed.
  const outside = temporaryFolder();
  writeFileSync(path.join(outside, 'secret.csv'), 'id,n\na,1\n');
  mkdirSync(path.join(exportsFolder, 'links'));
  symlinkSync(outside, path.join(exportsFolder, 'links', 'out'));
  symlinkSync(path.join(outside, 'secret.csv'), path.join(exportsFolder, 'links', 'file.csv'));
  const told = await imported({ S3BucketSource: { S3Bucket: 'links' }, ...parameters });
  assert.equal(told.ImportStatus, 'FAILED');
});

test('exports and imports: what cannot be, tokens, lists, and a memory over restarts', async () => {
  await refused('ExportTableToPointInTime', { TableArn: arnOf('missing'), S3Bucket: 'in' }, 'TableNotFoundException');
  await refused('ExportTableToPointInTime', { TableArn: arnOf('csv'), S3Bucket: 'in', ExportFormat: 'ION' }, 'ValidationException', /ION/);
  await refused('ExportTableToPointInTime', { TableArn: arnOf('csv'), S3Bucket: 'in', ExportTime: new Date(Date.now() - 86400000) }, 'InvalidExportTimeException');
  await refused('DescribeExport', { ExportArn: `${arnOf('csv')}/export/01700000000000-00000000` }, 'ExportNotFoundException');
  await refused('DescribeImport', { ImportArn: `${arnOf('csv')}/import/01700000000000-00000000` }, 'ImportNotFoundException');
  const order = { TableArn: arnOf('csv'), S3Bucket: 'tokens', ClientToken: 'token-1' };
  const first = await exported(order);
  const second = await send('ExportTableToPointInTime', order);
  assert.equal(second.ExportDescription.ExportArn, first.ExportArn);
  await refused('ExportTableToPointInTime', { ...order, S3Prefix: 'other' }, 'ExportConflictException');
  const before = await send('ListImports', { PageSize: 2 });
  assert.equal(before.ImportSummaryList.length, 2);
  assert.equal(before.ImportSummaryList[0].S3BucketSource.S3Bucket, 'my-bucket');
  assert.ok(before.NextToken);
  const rest = await send('ListImports', { NextToken: before.NextToken });
  assert.ok(rest.ImportSummaryList.length >= 2);

  client.destroy();
  assert.equal(await server.stop(), 0);
  await start();
  const { ExportDescription } = await send('DescribeExport', { ExportArn: exportArn });
  assert.equal(ExportDescription.ExportStatus, 'COMPLETED');
  assert.equal(ExportDescription.ItemCount, 103);
  const { ExportSummaries } = await send('ListExports', { TableArn: arnOf('types') });
  assert.deepEqual(ExportSummaries.map((e) => e.ExportArn), [exportArn]);
  assert.deepEqual((await send('ListImports', { PageSize: 2 })).ImportSummaryList.map((i) => i.ImportArn), before.ImportSummaryList.map((i) => i.ImportArn));
});

test('a restore and an import that a kill interrupts leave nothing', async () => {
  const lines = Array.from({ length: 120000 }, (_, i) => JSON.stringify({ Item: { id: { S: `g${i}` }, n: { N: String(i) }, pad: { S: 'x'.repeat(100) } } }));
  put('large/a.json', lines.join('\n'));
  const large = await imported({
    S3BucketSource: { S3Bucket: 'in', S3KeyPrefix: 'large/' }, InputFormat: 'DYNAMODB_JSON', TableCreationParameters: { TableName: 'large', ...plainKeys },
  });
  assert.equal(large.ImportedItemCount, lines.length);
  const { BackupDetails: { BackupArn } } = await send('CreateBackup', { TableName: 'large', BackupName: 'large' });
  const tables = (await send('ListTables')).TableNames;
  // What was done before the server ended is whole, and is taken away.
  const removed = async (name) => {
    if (!(await send('ListTables')).TableNames.includes(name)) return false;
    assert.equal((await active(name)).Table.ItemCount, lines.length, `${name} is there in part`);
    await send('DeleteTable', { TableName: name });
    return true;
  };
  // Ends the server while both are at it: one that is done sooner than we could look is begun again.
  const interrupted = async (signal) => {
    for (let tries = 0; tries < 20; tries++) {
      const importing = await send('ImportTable', {
        S3BucketSource: { S3Bucket: 'in', S3KeyPrefix: 'large/' }, InputFormat: 'DYNAMODB_JSON', TableCreationParameters: { TableName: 'half-import', ...plainKeys },
      });
      await send('RestoreTableFromBackup', { TargetTableName: 'half', BackupArn });
      // Not to be used before it is whole. All are asked at once, and then whether it still was not.
      const looks = await Promise.allSettled([
        refused('GetItem', { TableName: 'half', Key: { id: { S: 'g1' }, n: { N: '1' } } }, 'ResourceNotFoundException'),
        refused('DeleteTable', { TableName: 'half' }, 'ResourceInUseException'),
        refused('DeleteBackup', { BackupArn }, 'BackupInUseException'),
      ]);
      const { Table } = await send('DescribeTable', { TableName: 'half' }).catch(() => ({ Table: undefined }));
      client.destroy();
      assert.equal(await server.stop(signal), signal === 'SIGKILL' ? null : 0);
      await start();
      const done = [await removed('half'), await removed('half-import')];
      if (Table?.TableStatus === 'CREATING') for (const look of looks) assert.equal(look.status, 'fulfilled', String(look.reason));
      const { ImportTableDescription: told } = await send('DescribeImport', { ImportArn: importing.ImportTableDescription.ImportArn });
      assert.equal(told.ImportStatus, done[1] ? 'COMPLETED' : 'FAILED');
      if (!done[1]) assert.match(told.FailureMessage, /stopped/);
      assert.deepEqual((await send('ListTables')).TableNames, tables);
      if (Table?.TableStatus === 'CREATING' && !done[0] && !done[1]) return;
    }
    assert.fail('it was always done first');
  };
  await interrupted('SIGKILL');
  await interrupted('SIGTERM'); // a stop in the middle is no different
  await send('RestoreTableFromBackup', { TargetTableName: 'half', BackupArn });
  assert.equal((await active('half')).Table.ItemCount, lines.length);
  await send('DeleteBackup', { BackupArn });
  assert.ok(!existsSync(path.join(data, 'backups')) || readdirSync(path.join(data, 'backups')).length === 0);
});

test('features that are not in use are told so', async () => {
  assert.deepEqual((await send('DescribeKinesisStreamingDestination', { TableName: 'one' })).KinesisDataStreamDestinations, []);
  assert.deepEqual((await send('ListGlobalTables', {})).GlobalTables, []);
  await refused('DescribeGlobalTable', { GlobalTableName: 'one' }, 'GlobalTableNotFoundException');
  await refused('DescribeGlobalTableSettings', { GlobalTableName: 'one' }, 'GlobalTableNotFoundException');
  assert.equal((await send('DescribeTableReplicaAutoScaling', { TableName: 'one' })).TableAutoScalingDescription.TableName, 'one');
  await refused('GetResourcePolicy', { ResourceArn: arnOf('one') }, 'PolicyNotFoundException');
  await refused('EnableKinesisStreamingDestination', { TableName: 'one', StreamArn: 'arn:aws:kinesis:eu-west-1:000000000000:stream/x' }, 'UnknownOperationException', /EnableKinesisStreamingDestination/);
  await refused('CreateGlobalTable', { GlobalTableName: 'one', ReplicationGroup: [] }, 'UnknownOperationException', /CreateGlobalTable/);
});

test('in memory there are no backups, and it says so', async () => {
  const memory = await startServer();
  const other = connect(memory.endpoint);
  await other.send(new ddb.CreateTableCommand({ TableName: 'one', ...keys }));
  await assert.rejects(other.send(new ddb.CreateBackupCommand({ TableName: 'one', BackupName: 'abc' })), /in memory only/);
  assert.deepEqual((await other.send(new ddb.ListBackupsCommand({}))).BackupSummaries, []);
  other.destroy();
  assert.equal(await memory.stop(), 0);
});

test('keys: copies are for those who may do all to the table, imports for those who may to all tables', async () => {
  const folder = temporaryFolder();
  const secret = 'a-secret-that-is-long-enough-0123456789';
  const file = path.join(folder, 'keys.json');
  const key = (id, tables, allow, more = {}) => ({ id, secret, name: id, tables, allow, ...more });
  writeFileSync(file, JSON.stringify({ keys: [
    key('OWNEROWNEROWNER1', ['*'], ['read', 'write', 'admin']),
    key('MINEMINEMINEMINE', ['mine'], ['read', 'write', 'admin']),
    key('READREADREADREAD', ['*'], ['read', 'write']),
    key('PARTPARTPARTPART', ['*'], ['read', 'write', 'admin'], { partitions: ['p1'] }),
  ] }), { mode: 0o600 });
  const guarded = await startServer({ data: path.join(folder, 'data'), game: false, args: ['--keys', file] });
  const as = (accessKeyId) => {
    const own = new ddb.DynamoDBClient({ endpoint: guarded.endpoint, region: 'eu-west-1', credentials: { accessKeyId, secretAccessKey: secret }, maxAttempts: 1 });
    return (name, input = {}) => own.send(new ddb[`${name}Command`](input)).finally(() => own.destroy());
  };
  const denied = (asking) => assert.rejects(asking, (error) => error.name === 'AccessDeniedException' || assert.fail(`${error.name}: ${error.message}`));
  const owner = as('OWNEROWNEROWNER1');
  const made = {}, exportsMade = {};
  for (const TableName of ['mine', 'theirs']) {
    await owner('CreateTable', { TableName, ...keys });
    made[TableName] = (await owner('CreateBackup', { TableName, BackupName: 'one' })).BackupDetails.BackupArn;
    exportsMade[TableName] = (await owner('ExportTableToPointInTime', { TableArn: arnOf(TableName), S3Bucket: 'out', ClientToken: TableName })).ExportDescription.ExportArn;
  }
  const mine = as('MINEMINEMINEMINE');
  await mine('CreateBackup', { TableName: 'mine', BackupName: 'two' });
  await mine('DescribeBackup', { BackupArn: made.mine });
  await mine('DescribeExport', { ExportArn: exportsMade.mine });
  assert.equal((await mine('ListBackups', { TableName: 'mine' })).BackupSummaries.length, 2);
  await denied(mine('RestoreTableFromBackup', { BackupArn: made.mine, TargetTableName: 'another' }));
  // The name in an ARN is not what counts: the backup's own table is.
  await denied(mine('DescribeBackup', { BackupArn: made.theirs.replace('theirs', 'mine') }));
  await denied(mine('DescribeExport', { ExportArn: exportsMade.theirs }));
  await assert.rejects(mine('DescribeExport', { ExportArn: exportsMade.theirs.replace('theirs', 'mine') }), { name: 'ExportNotFoundException' });
  for (const send of [mine, as('READREADREADREAD'), as('PARTPARTPARTPART')]) {
    await denied(send('CreateBackup', { TableName: 'theirs', BackupName: 'two' }));
    await denied(send('DescribeBackup', { BackupArn: made.theirs }));
    await denied(send('DeleteBackup', { BackupArn: made.theirs }));
    await denied(send('RestoreTableFromBackup', { BackupArn: made.theirs, TargetTableName: 'mine2' }));
    await denied(send('ExportTableToPointInTime', { TableArn: arnOf('theirs'), S3Bucket: 'out' }));
    await denied(send('ExportTableToPointInTime', { TableArn: arnOf('theirs'), S3Bucket: 'out', ClientToken: 'theirs' })); // told as it was asked for
    await denied(send('ImportTable', { S3BucketSource: { S3Bucket: 'out' }, InputFormat: 'DYNAMODB_JSON', TableCreationParameters: { TableName: 'mine', ...importable } }));
    await denied(send('ListExports'));
    await denied(send('ListImports'));
  }
  await denied(mine('ListBackups'));
  assert.equal((await owner('ListBackups')).BackupSummaries.length, 3);
  assert.deepEqual((await owner('ListTables')).TableNames, ['mine', 'theirs']);
  assert.equal(await guarded.stop(), 0);
});
