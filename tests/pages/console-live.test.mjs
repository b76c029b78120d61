// The console's pages of the server itself: overview, live, copies and keys, and its session.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { createClient } from 'redis';
import { startServer, temporaryFolder } from '../lib/server.mjs';
import { PHONE, startBrowser } from '../lib/browser.mjs';
import { ddb, makeGameTable, openConsole } from '../lib/console.mjs';

let server;
let browser;
before(async () => {
  server = await startServer({ data: path.join(temporaryFolder(), 'data') });
  browser = await startBrowser();
  await makeGameTable(server.endpoint, 'game');
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const row = (page, text) => page.getByRole('row').filter({ hasText: text });

test('overview: what runs here, over an hour and a day, and whether all is well', async () => {
  const visitor = await openConsole(browser, server.endpoint);
  const { page } = visitor;
  await visitor.show('', 'Overview');
  await page.getByRole('region', { name: 'What needs attention' }).getByRole('heading').waitFor();
  await page.getByRole('img', { name: /^Requests a second\. DynamoDB: now .* at most [1-9]/ }).waitFor();
  await row(page, 'DynamoDB').first().waitFor();
  await row(page, 'BatchWriteItem').first().waitFor();
  const costs = page.getByRole('region', { name: 'What this traffic would cost on AWS' });
  await costs.getByText(/^\$[\d,]+\.\d\d a month$/).waitFor();
  await row(costs, 'game').filter({ hasText: 'BatchWriteItem' }).waitFor();
  await visitor.accessible('overview');
  await page.getByRole('tab', { name: 'Day' }).click();
  await page.getByRole('img', { name: /^Memory\. Process/ }).waitFor();
  visitor.checkFaults();
  await visitor.close();
});

test('live: slow log, tail, clients, streams', async () => {
  const visitor = await openConsole(browser, server.endpoint);
  const { page } = visitor;
  const redis = await createClient({ url: `redis://127.0.0.1:${server.redisPort}`, name: 'the-console-test' }).connect();
  await redis.zAdd('arcade', { score: 1, value: 'ann' });
  await visitor.show('/live?tab=Clients', 'Live');
  await row(page, 'the-console-test').waitFor();
  await visitor.accessible('clients');

  await page.getByRole('tab', { name: 'Tail' }).click();
  await page.getByLabel('Only with these words').fill('zrevrank');
  const asking = setInterval(() => redis.zRevRank('arcade', 'ann'), 200);
  await row(page, /zrevrank/i).first().waitFor().finally(() => clearInterval(asking));
  await visitor.accessible('tail');
  await page.getByRole('button', { name: 'Hold' }).click();
  await redis.quit();

  await page.getByRole('tab', { name: 'Slow log' }).click();
  await page.getByText('ms and more, the newest first').waitFor();
  await visitor.accessible('slow log');

  await page.getByRole('tab', { name: 'Streams' }).click();
  await page.getByRole('combobox', { name: 'Table' }).selectOption('game');
  await ddb(server.endpoint, 'UpdateItem', {
    TableName: 'game', Key: { PK: { S: 'LB#daily#global' }, SK: { S: 'USER#u3' } }, UpdateExpression: 'SET score = :s REMOVE GSI1SK', ExpressionAttributeValues: { ':s': { N: '987654321' } },
  });
  const record = page.locator('.record').filter({ hasText: '987654321' });
  await record.locator('tr.changed').filter({ hasText: '51' }).waitFor();
  await record.locator('tr.removed').filter({ hasText: 'GSI1SK' }).waitFor();
  await visitor.accessible('streams');
  visitor.checkFaults();
  await visitor.close();
});

test('copies: a backup is made, restored and deleted; an export; settings', async () => {
  const visitor = await openConsole(browser, server.endpoint);
  const { page } = visitor;
  await visitor.show('/copies?tab=Access keys', 'Copies and keys');
  await page.getByText('This server was started without a key file').waitFor();
  assert.equal(await page.getByRole('button', { name: 'New key' }).count(), 0);
  await visitor.show('/copies', 'Copies and keys');
  await visitor.unlock();
  await page.getByRole('region', { name: 'Make a backup' }).getByRole('combobox', { name: 'Table' }).selectOption('game');
  await page.getByLabel('Name').fill('before-the-cup');
  await page.getByRole('button', { name: 'Make it' }).click();
  await row(page, 'before-the-cup').getByText('available').waitFor();
  await visitor.accessible('backups');
  await page.getByRole('button', { name: 'Restore before-the-cup' }).click();
  await page.getByRole('dialog').getByLabel('As the table').fill('game-then');
  await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
  await visitor.titled('game-then');
  await page.getByText('active', { exact: true }).first().waitFor();
  await visitor.show('/copies', 'Copies and keys');
  await visitor.unlock();
  await page.getByRole('button', { name: 'Delete before-the-cup' }).click();
  await visitor.confirm('before-the-cup', 'Delete the backup');
  await row(page, 'before-the-cup').waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'Exports' }).click();
  await page.getByRole('combobox', { name: 'Table' }).selectOption('game');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await row(page, 'game').getByText('completed').waitFor();
  await visitor.accessible('exports');
  await page.getByRole('tab', { name: 'Imports' }).click();
  await page.getByText('Nothing was imported yet.').waitFor();
  await page.getByLabel('As the table').fill('game-again');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await row(page, 'game-again').getByText('completed').waitFor();
  await visitor.accessible('imports');
  await page.getByRole('tab', { name: 'Settings' }).click();
  await page.getByLabel('Only with these words').fill('durability');
  await row(page, 'durability').first().waitFor();
  await visitor.accessible('settings');
  visitor.checkFaults();
  await visitor.close();
});

test('with access keys: a session, held by a cookie that script cannot read', async () => {
  const folder = temporaryFolder();
  const keys = path.join(folder, 'keys.json');
  const pair = (id, allow, tables = ['*']) => ({ id, secret: `${id}-secret-0123456789`, name: id, tables, allow });
  writeFileSync(keys, JSON.stringify({ keys: [pair('operator', ['read', 'write', 'admin']), pair('reader', ['read'])] }), { mode: 0o600 });
  const guarded = await startServer({ args: ['--keys', keys] });
  const visitor = await openConsole(browser, guarded.endpoint);
  const { page } = visitor;
  try {
    await visitor.open('/console');
    await visitor.titled('gametable console');
    await visitor.accessible('sign in');
    await page.getByLabel('Access key id').fill('reader');
    await page.getByLabel('Secret').fill('reader-secret-0123456789');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: /./ }).first().waitFor();
    await page.getByLabel('Access key id').fill('operator');
    await page.getByLabel('Secret').fill('operator-secret-0123456789');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await visitor.titled('Overview');
    assert.equal(await page.evaluate(() => document.cookie), '');
    assert.ok(!(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).includes('secret'));
    await visitor.show('/tables', 'Tables');
    await visitor.unlock();
    await page.getByRole('button', { name: 'New table' }).click();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('made');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await visitor.titled('made');
    await visitor.show('/copies?tab=Access keys', 'Copies and keys');
    await row(page, 'operator').getByText('read, write, admin').waitFor();
    await visitor.accessible('access keys');

    // A key is made, seen once, changed and revoked; each takes the secret of one's own key again.
    const dialog = page.getByRole('dialog');
    assert.ok(await page.getByRole('button', { name: 'New key' }).isDisabled());
    await visitor.unlock();
    // By keyboard alone: Enter opens, Escape closes, and the focus comes back to where it was.
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await page.getByRole('button', { name: 'New key' }).focus();
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await focused(), 'New key');
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Name', { exact: true }).fill('game server');
    await dialog.getByLabel('Tables', { exact: true }).fill('game scores-*');
    await dialog.getByLabel('Partitions', { exact: true }).fill('USER#42\nROOM#*\n');
    await visitor.accessible('a new key');
    await dialog.getByLabel('Secret of your own key').fill('wrong-secret-0123456789');
    await dialog.getByRole('button', { name: 'Make the key' }).click();
    await dialog.getByRole('alert').getByText('takes the secret of the key').waitFor();
    await dialog.getByLabel('Secret of your own key').fill('operator-secret-0123456789');
    await dialog.getByRole('button', { name: 'Make the key' }).click();
    await dialog.getByText('The secret is shown this once.').waitFor();
    await visitor.accessible('a key that was made');
    const [id, secret] = await dialog.locator('pre').allInnerTexts();
    const kept = () => JSON.parse(readFileSync(keys, 'utf8')).keys.find((one) => one.id === id);
    assert.deepEqual(kept(), { id, secret, name: 'game server', tables: ['game', 'scores-*'], allow: ['read', 'write'], partitions: ['USER#42', 'ROOM#*'] });
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await focused(), 'New key');
    await row(page, id).getByText('game, scores-*').waitFor();
    assert.ok(!(await page.content()).includes(secret));
    await page.getByRole('button', { name: `Change ${id}` }).click();
    await dialog.getByLabel('write: Write them').uncheck();
    await dialog.getByLabel('Partitions', { exact: true }).fill('');
    await dialog.getByLabel('Secret of your own key').fill('operator-secret-0123456789');
    await dialog.getByRole('button', { name: 'Change the key' }).click();
    await row(page, id).getByRole('cell', { name: 'all', exact: true }).waitFor();
    assert.deepEqual(kept(), { id, secret, name: 'game server', tables: ['game', 'scores-*'], allow: ['read'] });
    await page.getByRole('button', { name: `Revoke ${id}` }).click();
    await dialog.getByLabel('Secret of your own key').fill('operator-secret-0123456789');
    await visitor.confirm(id, 'Revoke it');
    await row(page, id).waitFor({ state: 'detached' });
    assert.equal(kept(), undefined);
    await page.getByRole('button', { name: 'Revoke operator' }).click();
    await dialog.getByLabel('Secret of your own key').fill('operator-secret-0123456789');
    await visitor.confirm('operator', 'Revoke it');
    await dialog.getByRole('alert').getByText('make another one first').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await visitor.titled('gametable console');
  } finally {
    await visitor.close();
    await guarded.stop();
  }
});

test('a phone in the dark, and twice as large', async () => {
  for (const viewport of [PHONE, { width: 640, height: 400 }]) {
    const visitor = await openConsole(browser, server.endpoint, { viewport, colorScheme: 'dark' });
    const { page } = visitor;
    for (const [where, title] of [['', 'Overview'], ['/live', 'Live'], ['/live?tab=Streams', 'Live'], ['/copies', 'Copies and keys'], ['/copies?tab=Settings', 'Copies and keys']]) {
      await visitor.show(where, title);
      await page.locator('.panel').first().waitFor();
      await visitor.accessible(where);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), where);
    }
    await visitor.close();
  }
});
