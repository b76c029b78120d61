// Takes the pictures of docs/screenshots: node tests/take-screenshots.mjs [FOLDER [phone|desktop]]
// Debian's fonts-noto-color-emoji and fonts-lohit-deva make them look as they do on a phone.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { program, root, startServer } from './lib/server.mjs';
import { DESKTOP, makeRoom, newVisitor, PHONE, startBrowser } from './lib/browser.mjs';

const folder = process.argv[2] ?? path.join(root, 'docs/screenshots');
mkdirSync(folder, { recursive: true });
const server = await startServer();
const browser = await startBrowser();

async function room(visitor, kind, options, { others = 3, errors = 15 } = {}) {
  const code = await makeRoom(visitor, 'Meera', kind, options);
  const bots = spawn(program, ['play', '--url', server.endpoint, '--join', code, '--bots', String(others), '--slow', '600', '--errors', String(errors)], { stdio: 'ignore' });
  await visitor.page.getByText(new RegExp(`^${others + 1} (of|/)`)).waitFor();
  await visitor.page.locator('button.main:enabled').waitFor();
  return { code, bots };
}

const shot = (visitor, name) => visitor.page.screenshot({ path: path.join(folder, `${name}.png`) });
const start = (visitor) => visitor.page.locator('button.main:enabled').click();

async function kauwa(visitor, tag, language) {
  const { page } = visitor;
  const { code, bots } = await room(visitor, 'Kauwa Udd', { Rounds: 4, 'Seconds a round': 3, 'The caller speaks': language });
  await page.waitForTimeout(300);
  await shot(visitor, `lobby-${tag}`);
  const screen = tag.startsWith('desktop') ? await newVisitor(browser, server.endpoint, { viewport: DESKTOP, colorScheme: tag.endsWith('dark') ? 'dark' : 'light' }) : null;
  await screen?.open(`/play/${code}/tv`);
  await start(visitor);
  for (let n = 1; n <= 2; n++) {
    await page.locator('.called').waitFor();
    await page.keyboard.press('Space');
    await page.locator('.beat').waitFor();
  }
  await page.waitForTimeout(500);
  await shot(visitor, `beat-${tag}`);
  await page.locator('.called').waitFor();
  await page.waitForTimeout(500);
  await shot(visitor, `kauwa-udd-${tag}`);
  if (screen) await shot(screen, `tv-${tag}`);
  await screen?.close();
  await page.locator('.results').waitFor({ timeout: 60_000 });
  await page.waitForTimeout(1200);
  await shot(visitor, `results-${tag}`);
  bots.kill();
}

async function snakes(visitor, tag) {
  const { page } = visitor;
  const { bots } = await room(visitor, 'Snakes and ladders', { 'Seconds a turn': 10 });
  await start(visitor);
  for (let rolls = 0; rolls < 3; rolls++) {
    await page.locator('.die-button:enabled').click();
    await page.locator('.log li', { hasText: 'You rolled' }).nth(rolls).waitFor();
  }
  await page.getByText('Your turn').waitFor();
  await page.waitForTimeout(2500);
  await shot(visitor, `snakes-${tag}`);
  bots.kill();
}

async function four(visitor, tag, language) {
  const { page } = visitor;
  const { bots } = await room(visitor, 'Four in a row', { 'Seconds a turn': 30, 'The board speaks': language }, { others: 1, errors: 100 });
  await start(visitor);
  for (const column of [4, 4, 3, 5, 4]) {
    await page.locator('.four-board.mine').waitFor();
    const pieces = await page.locator('.four-cell .four-piece').count();
    await page.locator(`[data-column="${column}"]`).click();
    await page.locator('.four-cell .four-piece').nth(pieces).waitFor();
  }
  await page.locator('.four-board.mine').waitFor();
  await page.waitForTimeout(700);
  await shot(visitor, `four-${tag}`);
  bots.kill();
}

async function board(visitor, tag) {
  const people = ['Asha', 'Ravi', 'Meena', 'Kabir', 'Zoya', 'Ishaan', 'Tara', 'Dev', 'Noor', 'Leela', 'Arjun', 'Sita', 'Omar', 'Ria'];
  const lines = Array.from({ length: 400 }, (_, i) => {
    const spread = [3, 5, 7].reduce((sum, by) => sum + ((i * 7919 * by) % 1009) / 1009, 0);
    return `p${i},${Math.round(spread * 800)},${people[i % people.length]} ${1 + Math.floor(i / people.length)}`;
  });
  await fetch(`${server.endpoint}/v1/boards/kauwa-udd:daily/entries:load`, { method: 'POST', headers: { 'content-type': 'text/csv' }, body: lines.join('\n') });
  await visitor.open('/play');
  await visitor.page.evaluate(() => localStorage.setItem('gametable.player', '"p211"'));
  await visitor.open('/boards/kauwa-udd:daily');
  await visitor.page.getByRole('button', { name: 'Around me' }).click();
  await visitor.page.locator('.standing').waitFor();
  await visitor.page.waitForTimeout(500);
  await shot(visitor, `board-${tag}`);
}

async function home(visitor, tag) {
  await visitor.open('/');
  await visitor.page.waitForTimeout(9000);
  await shot(visitor, `home-${tag}`);
}

for (const [tag, viewport, colorScheme, language] of [
  ['phone', PHONE, 'light', 'en'],
  ['phone-dark', PHONE, 'dark', 'hi'],
  ['desktop', DESKTOP, 'light', 'hi'],
  ['desktop-dark', DESKTOP, 'dark', 'en'],
]) {
  if (!tag.startsWith(process.argv[3] ?? '')) continue;
  const visitor = await newVisitor(browser, server.endpoint, { viewport, colorScheme });
  await kauwa(visitor, tag, language);
  await snakes(visitor, tag);
  await four(visitor, tag, language);
  await board(visitor, tag);
  await home(visitor, tag);
  visitor.checkFaults();
  await visitor.close();
}
await browser.close();
await server.stop();
