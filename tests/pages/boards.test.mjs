// The pages of boards, and the first page.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { startServer } from '../lib/server.mjs';
import { DESKTOP, newVisitor, startBrowser } from '../lib/browser.mjs';

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

async function put(board, member, score, name) {
  const answer = await fetch(`${server.endpoint}/v1/boards/${board}/entries/${member}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ score, name }),
  });
  assert.ok(answer.ok, await answer.text());
}

const names = (page) => page.locator('.board-page > .card .entries tbody tr td:nth-child(2)').evaluateAll((cells) => cells.map((cell) => cell.firstChild.textContent.trim()));

test('a board lives', async () => {
  const visitor = await newVisitor(browser, server.endpoint, { viewport: DESKTOP });
  const { page } = visitor;
  for (let i = 0; i < 40; i++) await put('kauwa-udd:daily', `p${i}`, 100 + i * 10, `Player ${i}`);
  await visitor.open('/boards');
  await page.getByRole('link', { name: 'Kauwa Udd, today' }).click();
  await page.getByText('● live').waitFor();
  assert.equal((await names(page))[0], 'Player 39');
  assert.equal((await names(page)).length, 25);
  await page.getByText('and 15 more').waitFor();

  await put('kauwa-udd:daily', 'p20', 2000, 'Player 20');
  await page.locator('.rank-1 + td', { hasText: 'Player 20' }).waitFor();
  await page.getByLabel('up 19').waitFor();

  await page.getByLabel('Name in sight, or id').fill('p3');
  await page.getByRole('button', { name: 'Find' }).click();
  const standing = page.locator('.standing');
  await standing.waitFor();
  assert.match(await standing.innerText(), /Player 3 is at 37 with 130.*7\.7%/);
  await page.locator('.plot-mark text', { hasText: 'Player 3' }).waitFor();
  assert.equal(await page.locator('.plot rect').count(), 24);

  await page.getByLabel('Which rank would a score have?').fill('1000');
  await page.getByText('1000 would be at 2 of 41.').waitFor();

  await page.evaluate(() => localStorage.setItem('gametable.player', '"p5"'));
  await page.reload();
  await page.getByRole('button', { name: 'Around me' }).click();
  await page.locator('.entries tr.me', { hasText: 'Player 5' }).first().waitFor();

  // What is to be copied works.
  const command = await page.locator('.command', { hasText: 'REST' }).locator('code').innerText();
  const told = JSON.parse(execFileSync('sh', ['-c', command.replace('curl', 'curl -s')]));
  assert.equal(told.entries[0].member, 'p20');
  visitor.checkFaults();
  await visitor.close();
});

test('periods that were, and boards of rooms', async () => {
  const visitor = await newVisitor(browser, server.endpoint);
  const { page } = visitor;
  const body = { id: 'cup', game: 'cups', title: 'The cup', timeframe: 'hourly', scopes: ['global', 'room'] };
  await fetch(`${server.endpoint}/v1/boards`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  await fetch(`${server.endpoint}/v1/games/cups/scores`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ player: 'ann', name: 'Ann', score: 7, scopes: ['room:BCDFG'] }),
  });
  await visitor.open('/boards/cup');
  await page.locator('.entries td', { hasText: 'Ann' }).waitFor();
  await page.getByRole('link', { name: /room:BCDFG/ }).click();
  await page.locator('.facts .pill', { hasText: 'room:BCDFG' }).waitFor();
  await page.locator('.entries td', { hasText: 'Ann' }).waitFor();
  visitor.checkFaults();
  await visitor.close();
});

test('the first page tells what runs here', async () => {
  const visitor = await newVisitor(browser, server.endpoint, { colorScheme: 'dark' });
  const { page } = visitor;
  await visitor.open('/');
  await page.getByText(/gametable \d+\.\d+\.\d+, up for/).waitFor();
  const items = page.locator('.figure', { hasText: 'items' }).locator('dd');
  const before = Number(await items.innerText());
  assert.ok(before > 40);
  for (let i = 0; i < 5; i++) await put('kauwa-udd:all', `q${i}`, i, '');
  await page.waitForFunction((old) => Number(document.querySelector('.figure dd').textContent) > old, before);
  for (const name of ['Play', 'Boards']) await page.getByRole('navigation').getByRole('link', { name }).waitFor();
  visitor.checkFaults();
  await visitor.close();
});
