// The console with 10,000 boards, a board of a million entries and a table of each seed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startServer } from '../lib/server.mjs';
import { startBrowser } from '../lib/browser.mjs';
import { openConsole, rest } from '../lib/console.mjs';

const BOARDS = 10_000;
const ENTRIES = 1_000_000;
const LINES = 50_000;
let server;
let browser;

async function loadLines(board, from) {
  const lines = Array.from({ length: LINES }, (_, i) => `m${from + i},${((from + i) * 7919) % 9999991},Member ${from + i}`).join('\n');
  const answer = await fetch(`${server.endpoint}/v1/boards/${board}/entries:load`, { method: 'POST', headers: { 'content-type': 'text/csv' }, body: lines });
  assert.ok(answer.ok, await answer.text());
}

before(async () => {
  server = await startServer();
  browser = await startBrowser();
  for (let at = 0; at < BOARDS; at += 50)
    await Promise.all(Array.from({ length: 50 }, (_, i) => rest(server.endpoint, 'POST', '/boards', { id: `game-${at + i}:all`, game: `game-${at + i}`, title: `Board ${at + i}` })));
  for (let from = 0; from < ENTRIES; from += LINES) await loadLines('million', from);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test('every page with a great deal in it', async () => {
  const visitor = await openConsole(browser, server.endpoint);
  const { page } = visitor;
  await visitor.show('/design', 'Design');
  await visitor.unlock();
  for (const seed of ['Leaderboard', 'Kauwa Udd', 'Snakes and ladders', 'Nexus']) {
    await page.getByRole('combobox', { name: 'Start from' }).selectOption(seed);
    await page.getByRole('button', { name: 'Start from it' }).click();
    await page.getByRole('button', { name: 'Create the table' }).click();
    await visitor.titled('Items');
    await page.locator('.pill.entity').first().waitFor();
    await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Design' }).click();
  }
  await visitor.show('/boards', 'Boards and seasons');
  await page.getByLabel('Part of its name, title or game').fill('game-9998');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByRole('list', { name: 'Boards that were found' }).getByRole('link', { name: 'game-9998:all' }).waitFor({ timeout: 120_000 });
  const pages = page.getByRole('group', { name: 'Pages of defined boards' });
  await pages.getByRole('button', { name: 'Next page' }).click();
  await pages.getByText('Page 2').waitFor();
  await visitor.show('/boards/million', 'million');
  await page.getByText('1,000,000 entries of').waitFor();
  await page.getByLabel("A player's id, or part of a name").fill('m777777');
  await page.getByRole('region', { name: 'Entries' }).getByRole('button', { name: 'Find' }).click();
  await page.getByRole('row').filter({ hasText: 'Member 777777' }).waitFor();
  for (const [path, title] of [['', 'Overview'], ['/tables', 'Tables'], ['/items?table=gametable', 'Items'], ['/live', 'Live'], ['/players', 'Players'], ['/rooms', 'Rooms'], ['/copies', 'Copies and keys']]) {
    await visitor.show(path, title);
    await page.locator('.panel').first().waitFor();
  }
  await visitor.close();
});
