// Two people play snakes and ladders in two browsers, a third one looks on.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startServer } from '../lib/server.mjs';
import { becomes } from '../lib/until.mjs';
import { joinRoom, makeRoom, newVisitor, scoresOf, startBrowser } from '../lib/browser.mjs';

let server;
let browser;
before(async () => {
  server = await startServer({ redis: 'off' });
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

// The first turns by hand, one with the mouse and the other with the keyboard; the rest by the page
// itself, as soon as it may.
async function play(page, roll) {
  for (let rolls = 0; rolls < 3; rolls++) {
    await page.locator('.die-button:enabled').waitFor();
    await roll(page);
    await page.locator('.log li', { hasText: 'You rolled' }).nth(rolls).waitFor();
  }
  await page.emulateMedia({ reducedMotion: 'reduce' }); // nothing is waited for any more
  await page.evaluate(() => setInterval(() => document.querySelector('.die-button:enabled')?.click(), 30));
  await page.getByRole('button', { name: 'Rematch' }).waitFor({ timeout: 250_000 });
}

test('a whole match', { timeout: 400_000 }, async () => {
  // One of them would rather have things not move.
  const asha = await newVisitor(browser, server.endpoint, { reducedMotion: 'reduce' });
  const ravi = await newVisitor(browser, server.endpoint);
  const eve = await newVisitor(browser, server.endpoint);
  const code = await makeRoom(asha, 'Asha', 'Snakes and ladders', { 'Seconds a turn': 15 });
  assert.ok(await asha.page.getByRole('button', { name: 'Start' }).isDisabled(), 'it takes two');
  await joinRoom(ravi, code, 'Ravi');
  await eve.open(`/play/${code}`);
  await eve.page.getByRole('button', { name: 'Just watch' }).click();
  await eve.page.getByText('You look on').waitFor();
  await asha.page.locator('button:enabled', { hasText: 'Start' }).click();
  await eve.page.locator('.board').waitFor();
  assert.equal(await eve.page.locator('.die-button:enabled').count(), 0, 'who looks on cannot roll');
  await Promise.all([
    play(asha.page, (page) => page.locator('.die-button').click({ force: true })),
    play(ravi.page, (page) => page.keyboard.press('Enter')),
  ]);
  const scores = await scoresOf(asha.page);
  for (const { page } of [ravi, eve]) {
    await page.locator('.podium').waitFor();
    await becomes(() => scoresOf(page), scores, 'all see the same result');
  }
  assert.equal(Math.max(...Object.values(scores)), 200, 'the winner stands on 100 and has 100 besides');
  await eve.open(`/boards/snakes-and-ladders:room?scope=room:${code}`);
  await eve.page.getByText('● live').waitFor();
  await becomes(() => scoresOf(eve.page, '.entries tbody tr'), scores);
  for (const visitor of [asha, ravi, eve]) {
    visitor.checkFaults();
    await visitor.close();
  }
});
