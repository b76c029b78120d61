// Pages that everybody can use: axe in both themes, large enough targets, a heading and a name for everything, at
// twice the size and on a phone on its side.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkAccessibility } from '../lib/axe.mjs';
import { startServer } from '../lib/server.mjs';
import { DESKTOP, makeRoom, newVisitor, PHONE, startBrowser } from '../lib/browser.mjs';

let server;
let browser;
before(async () => {
  [server, browser] = await Promise.all([startServer({ redis: 'off' }), startBrowser()]);
  const lines = Array.from({ length: 60 }, (_, i) => `p${i},${1000 - i},Player ${i}`);
  await fetch(`${server.endpoint}/v1/boards/kauwa-udd:all/entries:load`, { method: 'POST', headers: { 'content-type': 'text/csv' }, body: lines.join('\n') });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

// What one presses has 44 by 44, but for links within a sentence.
async function checkTargets(page, where) {
  const small = await page.evaluate(() => [...document.querySelectorAll('main button, main a[href], main input, main select, main summary, header a, header button')]
    .filter((element) => element.checkVisibility() && !element.closest('p:not(.crumb):not(.hero-links):not(.link):not(.row)'))
    .map((element) => {
      // A box to tick is pressed by its label.
      const target = element.matches('[type=checkbox], [type=radio]') ? element.closest('label') : element;
      const { width, height } = target.getBoundingClientRect();
      return { what: element.outerHTML.slice(0, 80), width: Math.round(width), height: Math.round(height) };
    })
    .filter(({ width, height }) => width < 44 || height < 44));
  assert.deepEqual(small, [], where);
}

async function checkPage(page, where) {
  await checkAccessibility(page, where);
  await checkTargets(page, where);
  assert.equal(await page.locator('h1').count(), 1, `${where}: one first heading`);
  assert.ok((await page.title()).length > 3, where);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, `${where}: nothing hangs over`);
}

for (const [tag, viewport, colorScheme] of [
  ['phone, light', PHONE, 'light'],
  ['on its side, dark', { width: 740, height: 360 }, 'dark'],
  ['desktop at 200 %, light', { width: DESKTOP.width / 2, height: DESKTOP.height / 2 }, 'light'],
]) {
  test(`every page: ${tag}`, { timeout: 300_000 }, async () => {
    const visitor = await newVisitor(browser, server.endpoint, { viewport, colorScheme, reducedMotion: 'reduce' });
    const { page } = visitor;
    visitor.mayBeRefused();
    for (const [path, there] of [['/', 'dl.figures'], ['/boards', '.board-card'], ['/boards/kauwa-udd:all', '.entries'], ['/play', '.kinds'], ['/play/BCDFG', '.problem'], ['/nowhere', 'h1']]) {
      await visitor.open(path);
      await page.locator(there).first().waitFor();
      await checkPage(page, `${tag} ${path}`);
    }
    const code = await makeRoom(visitor, 'Asha', 'Kauwa Udd', { Rounds: 3, 'Seconds a round': 1 });
    await page.locator('.qr').waitFor();
    await page.getByText('Game and options').click();
    await checkPage(page, `${tag} lobby`);
    if (tag.includes('200')) return visitor.close();
    await page.getByRole('button', { name: 'Add a bot' }).click();
    await page.getByRole('button', { name: /Take .* out/ }).click();
    await page.getByRole('dialog').waitFor();
    await checkAccessibility(page, `${tag} dialog`);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Start' }).click();
    await page.locator('.called').waitFor();
    await checkPage(page, `${tag} a round`);
    await page.locator('.beat, .results').first().waitFor(); // on a slow machine it is over by then
    await checkPage(page, `${tag} the beat`);
    await page.locator('.results').waitFor();
    await checkPage(page, `${tag} results`);
    await visitor.open(`/play/${code}/tv`);
    await page.locator('.qr').waitFor();
    await checkPage(page, `${tag} tv`);
    visitor.checkFaults();
    await visitor.close();
  });
}

test('snakes and four in a row, in both themes', { timeout: 300_000 }, async () => {
  for (const [kind, board, colorScheme] of [['Snakes and ladders', '.board', 'dark'], ['Four in a row', '.four-board', 'light']]) {
    const visitor = await newVisitor(browser, server.endpoint, { viewport: { width: 844, height: 390 }, colorScheme, reducedMotion: 'reduce' });
    await makeRoom(visitor, 'Asha', kind, { 'Seconds a turn': 60 });
    await visitor.page.getByRole('button', { name: 'Add a bot' }).click();
    await visitor.page.locator('button:enabled', { hasText: 'Start' }).click();
    await visitor.page.locator(board).waitFor();
    await checkPage(visitor.page, kind);
    visitor.checkFaults();
    await visitor.close();
  }
});
