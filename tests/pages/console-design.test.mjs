// The console's canvas: from a seed to a table with items in it, and back.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { startServer } from '../lib/server.mjs';
import { PHONE, startBrowser } from '../lib/browser.mjs';
import { ddb, openConsole } from '../lib/console.mjs';

let server;
let browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const pattern = (page, name) => page.locator('.patterns > li').filter({ hasText: name });

test('on a phone the page begins at its top, wherever its tabs are', async () => {
  const visitor = await openConsole(browser, server.endpoint, { viewport: PHONE });
  await visitor.show('/design', 'Design');
  const tabs = visitor.page.getByRole('tab', { name: 'CreateTable' });
  await tabs.waitFor();
  await visitor.page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); })); // effects have run
  assert.equal(await visitor.page.evaluate(() => scrollY), 0);
  assert.ok((await tabs.boundingBox()).y > PHONE.height, 'the tabs are further down');
  visitor.checkFaults();
  await visitor.close();
});

test('a seed is changed, its queries and its heat follow, and its table is made here', async () => {
  const visitor = await openConsole(browser, server.endpoint, { acceptDownloads: true });
  const { page } = visitor;
  await visitor.show('/design', 'Design');
  await page.getByText('12 access patterns, each with a query').waitFor();
  await pattern(page, 'AP3').getByText('Query pk = LEADERBOARD#${leaderboardId} AND begins_with(sk, SCORE#), last first').waitFor();
  await visitor.accessible('design');

  // Without padding "95" stands after "100", so no query serves the top any more.
  await page.getByRole('button', { name: 'Edit Score' }).click();
  const key = page.getByRole('group', { name: 'Key of the table' }).getByLabel('sk');
  await key.fill('SCORE#${score}#${playerId}');
  await pattern(page, 'AP3').getByText('no query').waitFor();
  await key.fill('SCORE#${score:10}#${playerId}');
  await pattern(page, 'AP3').getByText('last first').waitFor();

  // One global board: its partition is hot.
  const heats = page.getByRole('region', { name: 'Busiest partitions' });
  const hottest = heats.locator('li').first();
  await pattern(page, 'Submit a score').getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Requests a second').fill('3000');
  await hottest.getByText('hot', { exact: true }).waitFor();
  assert.match(await hottest.innerText(), /LEADERBOARD#leaderboardId/);
  assert.match(await hottest.innerText(), /shards/);
  await visitor.accessible('design, edited');
  await pattern(page, 'Submit a score').getByRole('button', { name: 'Edit' }).click();

  // An entity of one's own, laid down by keyboard, moved by arrow keys.
  await page.getByRole('button', { name: '+ Own entity' }).press('Enter');
  const card = page.getByRole('article', { name: 'Entity', exact: true });
  const left = await card.evaluate((element) => element.offsetLeft);
  await card.getByRole('button', { name: /^Move Entity/ }).press('ArrowRight');
  assert.equal(await card.evaluate((element) => element.offsetLeft), left + 20);
  const box = await card.locator('.entity-bar b').boundingBox();
  await page.mouse.move(box.x + 20, box.y + 5);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + 45, { steps: 4 });
  await page.mouse.up();
  assert.ok((await card.evaluate((element) => element.offsetLeft)) >= left + 55);
  await page.getByRole('button', { name: 'Take it off the canvas' }).click();
  await card.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: '+ Player' }).dragTo(page.getByRole('group', { name: 'Canvas' }), { targetPosition: { x: 500, y: 400 } });
  await page.getByRole('article', { name: 'Player2' }).waitFor();
  await page.getByText('Player2 and Player have keys of the same form').waitFor();
  await page.getByRole('button', { name: 'Take it off the canvas' }).click();

  await page.getByRole('tab', { name: 'NoSQL Workbench' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as a file' }).click()]);
  const file = JSON.parse(readFileSync(await download.path(), 'utf8'));
  assert.equal(file.DataModel[0].TableFacets.length, 4);
  await page.getByRole('tab', { name: 'ElectroDB' }).click();
  await page.getByText('export const Score = new Entity({').waitFor();

  await visitor.unlock();
  await page.getByRole('button', { name: 'Create the table' }).click();
  await visitor.titled('Items');
  await page.locator('.pill.entity', { hasText: 'LEADERBOARD › SCORE' }).first().waitFor();
  const { Table } = await ddb(server.endpoint, 'DescribeTable', { TableName: 'leaderboard' });
  assert.deepEqual(Table.GlobalSecondaryIndexes.map(({ IndexName }) => IndexName).sort(), ['GSI1', 'GSI2']);
  assert.ok(Table.ItemCount >= 40);

  // And back: the design is read from the table.
  await visitor.show('/design', 'Design');
  await page.getByRole('combobox', { name: 'Read from a table that is here' }).selectOption('leaderboard');
  await page.getByRole('button', { name: 'Read the design' }).click();
  const score = page.getByRole('article', { name: 'LeaderboardScore' });
  await score.waitFor();
  assert.match((await score.innerText()).replace(/\s+/g, ''), /SCORE#score10#playerId/);
  visitor.checkFaults();
  await visitor.close();
});

test('each seed on a phone in the dark', async () => {
  const visitor = await openConsole(browser, server.endpoint, { viewport: PHONE, colorScheme: 'dark' });
  const { page } = visitor;
  await visitor.show('/design', 'Design');
  for (const seed of ['Kauwa Udd', 'Snakes and ladders', 'Nexus', 'New design']) {
    await page.getByRole('combobox', { name: 'Start from' }).selectOption(seed);
    await page.getByRole('button', { name: 'Start from it' }).click();
    await page.waitForFunction((name) => [...document.querySelectorAll('input')].some((input) => input.value === name), seed);
    assert.equal(await page.locator('.pill.bad', { hasText: 'no query' }).count(), 0, seed);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), seed);
  }
  await page.getByRole('combobox', { name: 'Start from' }).selectOption('Nexus');
  await page.getByRole('button', { name: 'Start from it' }).click();
  await visitor.accessible('design on a phone');
  await visitor.close();
});
