// One loses the network in the middle of a match while the server is killed and started again: the
// match goes on, and everybody is where they were.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startServer, temporaryFolder } from '../lib/server.mjs';
import { becomes } from '../lib/until.mjs';
import { joinRoom, makeRoom, newVisitor, scoresOf, startBrowser } from '../lib/browser.mjs';

let browser;
let server;
before(async () => {
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

// A round may be over just when it is tapped: then in the next one.
async function tap(page) {
  for (let tries = 0; tries < 8; tries++) {
    await page.locator('.target').dispatchEvent('pointerdown', { button: 0 });
    const taken = page.locator('.target.tapped:not(.refused)').waitFor({ timeout: 800 });
    if (await taken.then(() => true, () => false)) return;
  }
  assert.fail('no tap was taken');
}

test('back to the seat', { timeout: 300_000 }, async () => {
  const data = temporaryFolder();
  server = await startServer({ data, redis: 'off' });
  const asha = await newVisitor(browser, server.endpoint);
  const ravi = await newVisitor(browser, server.endpoint);
  const code = await makeRoom(asha, 'Asha', 'Kauwa Udd', { Rounds: 12, 'Seconds a round': 1 });
  await joinRoom(ravi, code, 'Ravi');
  await asha.page.locator('button:enabled', { hasText: 'Start' }).click();
  await ravi.page.getByText('Round 2 of 12').waitFor();

  for (const visitor of [asha, ravi]) visitor.mayLoseNetwork();
  await ravi.context.setOffline(true);
  await ravi.page.locator('.banner').waitFor();
  await asha.page.getByText('Round 3 of 12').waitFor();
  await server.stop('SIGKILL');
  await asha.page.locator('.banner').waitFor();
  server = await startServer({ data, redis: 'off', http: `127.0.0.1:${server.port}` });
  await asha.page.locator('.banner').waitFor({ state: 'detached' });
  await ravi.context.setOffline(false);
  await ravi.page.locator('.banner').waitFor({ state: 'detached' });
  await ravi.page.locator('.scores li.me', { hasText: 'Ravi' }).waitFor();
  await tap(ravi.page);

  for (const { page } of [asha, ravi]) await page.getByRole('button', { name: 'Rematch' }).waitFor();
  const scores = await scoresOf(asha.page);
  await becomes(() => scoresOf(ravi.page), scores);
  await ravi.open(`/boards/kauwa-udd:room?scope=room:${code}`);
  await becomes(() => scoresOf(ravi.page, '.entries tbody tr'), scores);
  for (const visitor of [asha, ravi]) {
    visitor.checkFaults();
    await visitor.close();
  }
});
