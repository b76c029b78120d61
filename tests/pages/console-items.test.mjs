// The console's pages of tables and items, on real data.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { startServer } from '../lib/server.mjs';
import { PHONE, startBrowser } from '../lib/browser.mjs';
import { ddb, makeGameTable, openConsole } from '../lib/console.mjs';
import { becomes } from '../lib/until.mjs';

let server;
let browser;
let total;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  total = await makeGameTable(server.endpoint, 'game');
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const found = (page, text) => page.locator('.found', { hasText: text }).waitFor();
const row = (page, text) => page.getByRole('row').filter({ hasText: text });

test('tables: made, changed and deleted, only when changes are unlocked', async () => {
  const visitor = await openConsole(browser, server.endpoint);
  const { page, unlock, confirm } = visitor;
  await visitor.show('/tables', 'Tables');
  assert.match(await row(page, 'PK (S) · SK (S)').filter({ hasText: 'game' }).filter({ hasNotText: 'gametable' }).innerText(), new RegExp(`\\b${total}\\b`));
  assert.ok(await page.getByRole('button', { name: 'New table' }).isDisabled());
  await visitor.accessible('tables');
  await unlock();
  await page.getByRole('button', { name: 'New table' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('scores');
  await dialog.getByRole('button', { name: 'Add an index' }).click();
  await dialog.getByLabel('Stream').selectOption('NEW_IMAGE');
  await visitor.accessible('new table');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await visitor.titled('scores');
  await page.getByText('new image', { exact: true }).waitFor();
  const { Table } = await ddb(server.endpoint, 'DescribeTable', { TableName: 'scores' });
  assert.equal(Table.GlobalSecondaryIndexes[0].IndexName, 'GSI1');

  await page.getByRole('button', { name: 'Switch on', exact: true }).click();
  await page.getByText('Items end at the time in ttl').waitFor();
  await page.getByRole('button', { name: 'Switch on insights of scores', exact: true }).click();
  const insights = page.getByRole('region', { name: 'Insights of scores', exact: true });
  await insights.getByText('Nothing was asked of it').waitFor();
  for (let i = 0; i < 20; i++) await ddb(server.endpoint, 'PutItem', { TableName: 'scores', Item: { PK: { S: i % 4 ? 'HOT' : `COLD${i}` }, SK: { S: `${i}` } } });
  await insights.getByRole('listitem').filter({ hasText: 'HOT' }).getByText('15 requests, 75 %').waitFor();
  await insights.getByText(/^DynamoDBContributorInsights-PKC-scores-\d+$/).waitFor();
  assert.equal((await ddb(server.endpoint, 'DescribeContributorInsights', { TableName: 'scores' })).ContributorInsightsStatus, 'ENABLED');
  await page.getByRole('button', { name: 'Switch on insights of scores/GSI1', exact: true }).click();
  await page.getByRole('button', { name: 'Switch off insights of scores/GSI1', exact: true }).click();
  await page.getByRole('button', { name: 'Switch on insights of scores/GSI1', exact: true }).waitFor();
  assert.deepEqual((await ddb(server.endpoint, 'ListContributorInsights', {})).ContributorInsightsSummaries.map(({ TableName, IndexName }) => [TableName, IndexName]), [['scores', undefined]]);
  await page.getByRole('button', { name: 'Add an index' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Add the index' }).click();
  await row(page, 'GSI2').getByText('active').waitFor();
  await page.getByRole('button', { name: 'Remove index GSI2' }).click();
  await confirm('GSI2', 'Remove the index');
  await row(page, 'GSI2').waitFor({ state: 'detached' });

  await page.getByLabel('Protect it from deletion').check();
  await page.getByRole('button', { name: 'Change the table' }).click();
  await page.getByText('It is protected from deletion').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Delete scores' }).isDisabled());
  await page.getByLabel('Protect it from deletion').uncheck();
  await page.getByRole('button', { name: 'Change the table' }).click();
  await visitor.accessible('a table');
  await page.getByRole('button', { name: 'Delete scores' }).click();
  const ask = page.getByRole('dialog');
  await ask.getByLabel('to confirm').fill('score');
  assert.ok(await ask.getByRole('button', { name: 'Delete the table' }).isDisabled());
  await confirm('scores', 'Delete the table');
  await visitor.titled('Tables');
  assert.ok(!(await ddb(server.endpoint, 'ListTables', {})).TableNames.includes('scores'));
  visitor.checkFaults();
  await visitor.close();
});

test('items: asked for, opened, edited, filtered, paged', async () => {
  const visitor = await openConsole(browser, server.endpoint);
  const { page, unlock, confirm } = visitor;
  await visitor.show('/items?table=game', 'Items');
  await found(page, '50 items');
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByText('Page 2, the last').waitFor();
  await found(page, `${total - 50} items`);
  await page.getByRole('button', { name: 'Previous page' }).click();
  await page.getByText('Page 1', { exact: true }).waitFor();
  await visitor.accessible('items');

  await page.getByRole('combobox', { name: 'How' }).selectOption('query');
  await page.getByLabel('PK =').fill('LB#daily#global');
  await page.getByRole('button', { name: 'Add a filter' }).click();
  await page.getByLabel('Filter 1: attribute').fill('score');
  await page.getByLabel('Filter 1: operator').selectOption('>=');
  await page.getByLabel('Filter 1: type').selectOption('N');
  await page.getByLabel('Filter 1: value').fill(String(17 * 57));
  await page.getByRole('button', { name: 'Query', exact: true }).click();
  await found(page, 'items of 50 looked at');
  await page.getByRole('combobox', { name: 'Of', exact: true }).selectOption('GSI1');
  await page.getByLabel('GSI1PK =').fill('LB#daily#global');
  await page.getByText('More: attributes, order, counting').click();
  await page.getByLabel('Last first').check();
  await page.getByRole('button', { name: 'Query', exact: true }).click();
  await found(page, '3 items of 50 looked at');
  assert.match(await page.getByRole('row').nth(1).innerText(), /u59/);
  await page.getByRole('tab', { name: 'Python' }).click();
  await page.getByText('get_paginator("query")').waitFor();

  await unlock();
  await page.getByRole('button', { name: 'Open LB#daily#global USER#u59' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('score', { exact: true }).fill('123456789012345678901234567890');
  await dialog.getByLabel('New attribute').fill('badges');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.getByLabel('Type of badges').selectOption('SS');
  await dialog.getByLabel('badges, a line each').fill('gold\nfirst');
  await visitor.accessible('an item');
  await visitor.late((url) => url.pathname === '/', 300); // what is chosen stays when the items come again
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const key = { PK: { S: 'LB#daily#global' }, SK: { S: 'USER#u59' } };
  const { Item } = await ddb(server.endpoint, 'GetItem', { TableName: 'game', Key: key });
  assert.deepEqual([Item.score, Item.badges], [{ N: '123456789012345678901234567890' }, { SS: ['first', 'gold'] }]);

  await page.getByRole('button', { name: /^Choose all/ }).click();
  await page.getByRole('button', { name: 'Edit them' }).click();
  await dialog.getByLabel('Attribute').fill('season');
  await dialog.getByRole('textbox', { name: 'Value' }).fill('autumn');
  await dialog.getByRole('button', { name: 'Change 3 items' }).click();
  await dialog.waitFor({ state: 'detached' });
  await row(page, 'USER#u58').filter({ hasText: 'autumn' }).waitFor();
  await page.getByLabel('Choose LB#daily#global').first().check();
  await page.getByRole('button', { name: 'Delete them' }).click();
  await confirm('game', 'Delete 1 items');
  await found(page, '2 items of');
  assert.equal((await ddb(server.endpoint, 'GetItem', { TableName: 'game', Key: key })).Item, undefined);
  await visitor.close();
});

test('items go to files and come from them; PartiQL; the entity map', async () => {
  const visitor = await openConsole(browser, server.endpoint, { acceptDownloads: true });
  const { page } = visitor;
  await visitor.show('/items?table=game', 'Items');
  await found(page, '50 items');
  await page.getByRole('button', { name: 'Save as a file' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'All that the question finds' }).click()]);
  const lines = readFileSync(await download.path(), 'utf8').trim().split('\r\n');
  const { Count } = await ddb(server.endpoint, 'Scan', { TableName: 'game', Select: 'COUNT' });
  assert.equal(lines.length, Count + 1);
  assert.match(lines[0], /^PK:S,SK:S,/);

  await visitor.unlock();
  await page.getByRole('button', { name: 'Load a file' }).click();
  await page.getByLabel('File').setInputFiles({ name: 'new.csv', mimeType: 'text/csv', buffer: Buffer.from(`PK,SK,score\n${Array.from({ length: 60 }, (_, i) => `NEW#n${i},META,${i}`).join('\n')}\n`) });
  await page.getByText('60 items are in it.').waitFor();
  await page.getByRole('button', { name: 'Write them' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.deepEqual((await ddb(server.endpoint, 'GetItem', { TableName: 'game', Key: { PK: { S: 'NEW#n59' }, SK: { S: 'META' } } })).Item.score, { N: '59' });

  await page.getByRole('tab', { name: 'PartiQL' }).click();
  await page.getByLabel('SELECT, INSERT, UPDATE or DELETE').fill(`SELECT * FROM "game" WHERE "PK" = 'ROOM#R101'`);
  await page.getByRole('button', { name: 'Run' }).click();
  await found(page, '5 items');
  await page.getByLabel('SELECT, INSERT, UPDATE or DELETE').fill('SELECT nonsense');
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByRole('alert').filter({ hasText: /./ }).first().waitFor();

  await page.getByRole('tab', { name: 'Entity map' }).click();
  const room = page.getByRole('region', { name: 'Partitions ROOM#<1>' });
  await room.getByText('ROOM › PLAYER').waitFor();
  await page.getByRole('region', { name: 'Partitions NEW#<1>' }).getByText('60', { exact: true }).waitFor();
  await visitor.accessible('entity map');
  await visitor.close();
});

test('a phone in the dark: nothing sticks out, all is named', async () => {
  const visitor = await openConsole(browser, server.endpoint, { viewport: PHONE, colorScheme: 'dark' });
  const { page } = visitor;
  for (const [path, title] of [['/tables', 'Tables'], ['/tables/game', 'game'], ['/items?table=game', 'Items']]) {
    await visitor.show(path, title);
    await page.getByText('The same').first().waitFor();
    await visitor.accessible(path);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path);
  }
  await page.getByRole('button', { name: /^Items/ }).click();
  await page.getByRole('navigation').getByRole('link', { name: 'Tables' }).click();
  await visitor.titled('Tables');
  await becomes(() => page.evaluate(() => document.activeElement.tagName), 'H1');
  await visitor.close();
});
