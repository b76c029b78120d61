// A start on a machine whose clock does not fit what the data folder last saw: nothing expires by it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { startServer, temporaryFolder } from '../lib/server.mjs';
import { rawClient } from '../lib/raw.mjs';

const HOUR = 3600_000;
const record = (data) => path.join(data, 'clock');
const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
const uptimeMs = () => Math.round(Number(fs.readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000);
const serverTime = async (server) => Date.parse((await (await fetch(`${server.endpoint}/admin/clock`)).json()).now);
const near = (a, b) => assert.ok(Math.abs(a - b) < 120_000, `${new Date(a).toISOString()} is not about ${new Date(b).toISOString()}`);

const begin = async (data) => {
  const server = await startServer({ data, args: ['--test-clock'] });
  return { server, must: rawClient(server.endpoint).must };
};

const data = temporaryFolder();

test('the folder remembers the time, and a start goes on from it', async () => {
  const { server } = await begin(data);
  near(await serverTime(server), Date.now());
  await server.stop();
  const [wall, steady, start] = fs.readFileSync(record(data), 'utf8').trim().split(' ');
  near(Number(wall), Date.now());
  near(Number(steady), uptimeMs());
  assert.equal(start, boot);
});

const cases = {
  // what the record says, and where the believed time then begins
  'the same start of the machine, 25 hours ahead': () => [`${Date.now() - 25 * HOUR} ${uptimeMs()} ${boot}`, -25 * HOUR, /2[45] h \d+ min ahead/],
  'the same start of the machine, 10 minutes behind': () => [`${Date.now() + HOUR / 6} ${uptimeMs()} ${boot}`, HOUR / 6, /behind/],
  'the machine was restarted, and its clock has gone back': () => [`${Date.now() + 50 * HOUR} 1000 other`, 50 * HOUR, /days behind/],
  'the machine was restarted, years later': () => [`${Date.now() - 9000 * HOUR} 1000 other`, -9000 * HOUR, /days ahead/],
  'the machine was restarted a week later': () => [`${Date.now() - 168 * HOUR} 1000 other`, 0, null],
  'a record that is none': () => ['what is this', 0, null],
};

for (const [name, make] of Object.entries(cases))
  test(`a start: ${name}`, async () => {
    const [line, apart, warns] = make();
    fs.writeFileSync(record(data), `${line}\n`);
    const { server } = await begin(data);
    try {
      near(await serverTime(server), Date.now() + apart);
      const log = server.printed();
      if (warns === null) assert.doesNotMatch(log, /the clock is/);
      else assert.match(log, warns);
    } finally {
      await server.stop();
    }
  });

test('what had an hour to live is there after a start whose clock is 25 hours ahead', async () => {
  fs.rmSync(record(data));
  let { server, must } = await begin(data);
  const TableName = 'rooms';
  const put = (pk, ms) => must('PutItem', { TableName, Item: { pk: { S: pk }, ttl: { N: String(Math.floor(ms / 1000)) } } });
  await must('CreateTable', {
    TableName, BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }], KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  });
  await must('UpdateTimeToLive', { TableName, TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true } });
  await server.stop();
  // The machine's clock is right, so the folder is made to remember what it was 25 hours ago.
  const then = Date.now() - 25 * HOUR;
  fs.writeFileSync(record(data), `${then} ${uptimeMs()} ${boot}\n`);
  ({ server, must } = await begin(data));
  await put('an hour to live', then + HOUR);
  await put('over', then - HOUR);
  await fetch(`${server.endpoint}/admin/expire`, { method: 'POST' });
  const { Items } = await must('Scan', { TableName });
  assert.deepEqual(Items.map(({ pk }) => pk.S), ['an hour to live']);
  await server.stop();
});
