// Two people play Kauwa Udd in two browsers.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import jsQR from 'jsqr';
import { startServer } from '../lib/server.mjs';
import { becomes } from '../lib/until.mjs';
import { DESKTOP, joinRoom, makeRoom, newVisitor, scoresOf, startBrowser } from '../lib/browser.mjs';

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

async function decodeQr(page) {
  const picture = await page.locator('.qr').screenshot();
  const { data, width, height } = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    return { data: [...context.getImageData(0, 0, bitmap.width, bitmap.height).data], width: bitmap.width, height: bitmap.height };
  }, picture.toString('base64'));
  return jsQR(Uint8ClampedArray.from(data), width, height)?.data;
}

// What is called in that round: between rounds there is nothing to tap.
const target = (page, n) => page.locator('.kauwa', { hasText: `Round ${n} of 3` }).locator('.target');

test('a whole match, a rematch, and the board of the room', async () => {
  const asha = await newVisitor(browser, server.endpoint);
  const ravi = await newVisitor(browser, server.endpoint, { viewport: DESKTOP, colorScheme: 'dark' });
  const code = await makeRoom(asha, 'Asha', 'Kauwa Udd', { Rounds: 3, 'Seconds a round': 3 });

  assert.equal(await decodeQr(asha.page), `${server.endpoint}/play/${code}`, 'a phone gets here by the QR code');
  await ravi.open('/play');
  await ravi.page.getByRole('list', { name: 'Open rooms' }).getByText(code).waitFor();
  assert.ok(await asha.page.getByRole('button', { name: 'Start' }).isEnabled(), 'one may play alone');
  await joinRoom(ravi, code, 'Ravi');
  await asha.page.getByText('2 of 16').waitFor();
  await asha.page.locator('button:enabled', { hasText: 'Start' }).click();

  // Asha taps whatever is called, with the finger; Ravi once, with the space bar.
  const tap = async (n, page, press) => {
    await target(page, n).waitFor();
    await press();
    await target(page, n).and(page.locator('.tapped:not(.refused)')).waitFor();
  };
  const taps = async () => {
    for (let n = 1; n <= 3; n++) await tap(n, asha.page, () => target(asha.page, n).dispatchEvent('pointerdown', { button: 0 }));
  };
  await Promise.all([taps(), tap(2, ravi.page, () => ravi.page.keyboard.press('Space'))]);

  for (const { page } of [asha, ravi]) await page.getByRole('button', { name: 'Rematch' }).waitFor();
  const scores = await scoresOf(asha.page);
  await becomes(() => scoresOf(ravi.page), scores, 'both see the same result');
  assert.deepEqual(Object.keys(scores).sort(), ['Asha', 'Ravi']);
  assert.match(await asha.page.locator('h1').innerText(), /won|share|came second/);

  // The public board of the room tells the same, to whoever has the link.
  await ravi.page.getByRole('link', { name: 'The board of this room' }).click();
  await ravi.page.getByText('● live').waitFor();
  await becomes(() => scoresOf(ravi.page, '.entries tbody tr'), scores);

  // And back for a rematch, which the board adds to by itself.
  await asha.page.getByRole('button', { name: 'Rematch' }).click();
  await asha.page.getByText('Waiting for Ravi').waitFor();
  const third = await newVisitor(browser, server.endpoint);
  await joinRoom(third, code, 'Zoya');
  const ravis = await ravi.context.newPage();
  await ravis.goto(`${server.endpoint}/play/${code}`);
  await ravis.getByRole('button', { name: 'I am ready' }).click();
  await asha.page.locator('button:enabled', { hasText: 'Start' }).click();
  await asha.page.getByRole('button', { name: 'Rematch' }).waitFor();
  const again = await scoresOf(asha.page);
  const sums = Object.fromEntries(Object.entries(again).map(([name, points]) => [name, points + (scores[name] ?? 0)]));
  await becomes(() => scoresOf(ravi.page, '.entries tbody tr'), sums, 'the open board has moved on');

  for (const visitor of [asha, ravi, third]) {
    visitor.checkFaults();
    await visitor.close();
  }
});

test('taken out, left, closed, not there', async () => {
  const host = await newVisitor(browser, server.endpoint);
  const guest = await newVisitor(browser, server.endpoint);
  const code = await makeRoom(host, 'Host', 'Kauwa Udd');
  // Who presses twice sits down once.
  const joins = [];
  await guest.late(/\/players$/, 1000, (request) => joins.push(request.method()));
  await guest.open(`/play/${code}`);
  await guest.page.locator('#name').fill('Guest');
  await guest.page.getByRole('button', { name: 'Join', exact: true }).dblclick();
  await guest.page.getByRole('button', { name: 'I am ready' }).click();
  await host.page.getByText('2 of 16').waitFor();
  assert.deepEqual(joins, ['POST']);
  await host.page.getByRole('button', { name: 'Take Guest out of the room' }).click();
  await host.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await host.page.getByRole('dialog').waitFor({ state: 'detached' });
  await host.page.getByRole('button', { name: 'Take Guest out of the room' }).click();
  await host.page.getByRole('dialog').getByRole('button', { name: 'Take out', exact: true }).click();
  await guest.page.getByText('You are not in the room any more').waitFor();
  await joinRoom(guest, code, 'Guest again');
  await host.page.getByText('Guest again', { exact: true }).waitFor();
  await host.page.getByRole('button', { name: 'Close the room' }).click();
  await host.page.getByRole('dialog').getByRole('button', { name: 'Close the room' }).click();
  for (const { page } of [host, guest]) await page.getByText('The room was closed').waitFor();
  host.checkFaults();
  guest.checkFaults();
  guest.mayLoseNetwork(); // the browser itself reports the 404
  await guest.open('/play/BCDFG');
  await guest.page.getByRole('link', { name: 'Other rooms' }).waitFor();
  await host.close();
  await guest.close();
});
