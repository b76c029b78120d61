// Takes the pictures of docs/screenshots: node tests/take-screenshots.mjs [FOLDER]
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

async function room(visitor, kind, options) {
  const code = await makeRoom(visitor, 'Meera', kind, options);
  const bots = spawn(program, ['play', '--url', server.endpoint, '--join', code, '--bots', '3', '--slow', '600'], { stdio: 'ignore' });
  await visitor.page.getByText('4 of').waitFor();
  await visitor.page.locator('button.main:enabled').waitFor();
  return { code, bots };
}

const shot = (visitor, name) => visitor.page.screenshot({ path: path.join(folder, `${name}.png`) });
const start = (visitor) => visitor.page.getByRole('button', { name: 'Start' }).click();

async function kauwa(visitor, tag, language) {
  const { page } = visitor;
  const { bots } = await room(visitor, 'Kauwa Udd', { Rounds: 4, 'Seconds a round': 3, 'The caller speaks': language });
  await page.waitForTimeout(300);
  await shot(visitor, `lobby-${tag}`);
  await start(visitor);
  for (const n of [1, 2]) {
    await page.getByText(`Round ${n} of`).waitFor();
    await page.keyboard.press('Space');
  }
  await page.getByText('Round 3 of').waitFor();
  await page.waitForTimeout(500);
  await shot(visitor, `kauwa-udd-${tag}`);
  await page.getByRole('button', { name: 'Rematch' }).waitFor();
  await page.waitForTimeout(1200);
  await shot(visitor, `results-${tag}`);
  bots.kill();
}

async function snakes(visitor, tag) {
  const { page } = visitor;
  const { bots } = await room(visitor, 'Snakes and ladders', { 'Seconds a turn': 10 });
  await start(visitor);
  for (let rolls = 0; rolls < 5; rolls++) {
    await page.locator('.die-button:enabled').click();
    await page.locator('.log li', { hasText: 'You rolled' }).nth(rolls).waitFor();
  }
  await page.getByText('Your turn').waitFor();
  await page.waitForTimeout(2500);
  await shot(visitor, `snakes-${tag}`);
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
  const visitor = await newVisitor(browser, server.endpoint, { viewport, colorScheme });
  await kauwa(visitor, tag, language);
  await snakes(visitor, tag);
  await board(visitor, tag);
  await home(visitor, tag);
  visitor.checkFaults();
  await visitor.close();
}
await browser.close();
await server.stop();
