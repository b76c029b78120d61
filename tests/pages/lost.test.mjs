// One loses the network in the middle of a match while the server is killed and started again: the
// match goes on, and everybody is where they were.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startServer, temporaryFolder } from '../lib/server.mjs';
import { joinRoom, makeRoom, newVisitor, scoresOf, startBrowser } from '../lib/browser.mjs';

let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser?.close());

test('back to the seat', { timeout: 120_000 }, async () => {
  const data = temporaryFolder();
  let server = await startServer({ data, redis: 'off' });
  const asha = await newVisitor(browser, server.endpoint);
  const ravi = await newVisitor(browser, server.endpoint);
  const code = await makeRoom(asha, 'Asha', 'Kauwa Udd', { Rounds: 8, 'Seconds a round': 1 });
  await joinRoom(ravi, code, 'Ravi');
  await asha.page.locator('button:enabled', { hasText: 'Start' }).click();
  await ravi.page.getByText('Round 2 of 8').waitFor();

  for (const visitor of [asha, ravi]) visitor.mayLoseNetwork();
  await ravi.context.setOffline(true);
  await ravi.page.getByText('The connection was lost').waitFor();
  await asha.page.getByText('Round 3 of 8').waitFor();
  await server.stop('SIGKILL');
  await asha.page.getByText('The connection was lost').waitFor();
  server = await startServer({ data, redis: 'off', http: `127.0.0.1:${server.port}` });
  await asha.page.getByText('The connection was lost').waitFor({ state: 'detached' });
  await ravi.context.setOffline(false);
  await ravi.page.getByText('The connection was lost').waitFor({ state: 'detached' });
  await ravi.page.locator('.scores li.me', { hasText: 'Ravi' }).waitFor();
  await ravi.page.locator('.target').dispatchEvent('pointerdown', { button: 0 });
  await ravi.page.locator('.target.tapped:not(.refused)').waitFor();

  for (const { page } of [asha, ravi]) await page.getByRole('button', { name: 'Rematch' }).waitFor({ timeout: 20_000 });
  const scores = await scoresOf(asha.page);
  assert.deepEqual(await scoresOf(ravi.page), scores);
  await ravi.open(`/boards/kauwa-udd:room?scope=room:${code}`);
  await ravi.page.locator('.entries tbody tr').nth(1).waitFor();
  assert.deepEqual(await scoresOf(ravi.page, '.entries tbody tr'), scores);
  for (const visitor of [asha, ravi]) {
    visitor.checkFaults();
    await visitor.close();
  }
  await server.stop();
});
