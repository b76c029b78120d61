// Two people play four in a row in two browsers, one with the finger and one with the keyboard; a third
// one looks on.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { root, startServer } from '../lib/server.mjs';
import { becomes, until } from '../lib/until.mjs';
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

const pieces = (page, piece = '') => page.locator(`.four-cell .four-piece${piece && `-${piece}`}`);
const column = (page, n) => page.locator(`.four-column[data-column="${n}"]`);

// The four in a row, as soon as they are seen: the results follow in a moment.
async function seen(page) {
  const found = await page.waitForFunction(() => {
    const count = document.querySelectorAll('.four-cell.won').length;
    const column = document.querySelector('.four-column[data-column="4"]')?.getAttribute('aria-label');
    return count > 0 && { count, column, whose: document.querySelector('.four-whose').textContent };
  });
  return found.jsonValue();
}

test('every kind of game has the page that it names', async () => {
  const { kinds } = await (await fetch(`${server.endpoint}/v1/kinds`)).json();
  assert.ok(kinds.length >= 3);
  for (const { kind, page } of kinds) assert.ok(existsSync(path.join(root, 'web/src/play', page, 'page.tsx')), kind);
});

// What the server tells of options is what the form asks for, with the range that it takes.
test('the form of a new room is built from the kinds', async () => {
  const visitor = await newVisitor(browser, server.endpoint);
  const { page } = visitor;
  const { kinds } = await (await fetch(`${server.endpoint}/v1/kinds`)).json();
  await visitor.open('/play');
  for (const { title, options } of kinds) {
    await page.getByRole('radio', { name: title }).check();
    for (const { name, labels, type, ...rest } of options) {
      const field = page.getByLabel(labels.en);
      assert.equal(await field.getAttribute('name'), name);
      assert.equal(await field.inputValue(), String(rest.default));
      if (type === 'number') assert.deepEqual([await field.getAttribute('min'), await field.getAttribute('max')], [String(rest.min), String(rest.max)]);
      else assert.equal(await field.locator('option').count(), rest.choices.length);
    }
    assert.equal(await page.locator('.options label').count(), options.length);
  }
  visitor.checkFaults();
  await visitor.close();
});

test('a whole match, a rematch in which the other one begins, and who leaves', { timeout: 300_000 }, async () => {
  const asha = await newVisitor(browser, server.endpoint, { hasTouch: true });
  const ravi = await newVisitor(browser, server.endpoint, { viewport: DESKTOP, colorScheme: 'dark', reducedMotion: 'reduce' });
  const eve = await newVisitor(browser, server.endpoint);
  const code = await makeRoom(asha, 'Asha', 'Four in a row', { 'Seconds a turn': 60, 'The board speaks': 'hi' });
  await asha.page.locator('.lobby[lang=hi]').waitFor();
  assert.ok(await asha.page.getByRole('button', { name: 'शुरू करें' }).isDisabled(), 'it takes two');
  await joinRoom(ravi, code, 'Ravi');
  await eve.open(`/play/${code}`);
  await eve.page.getByRole('button', { name: 'सिर्फ़ देखें' }).click();
  await eve.page.getByText('आप देख रहे हैं').waitFor();
  await asha.page.locator('button:enabled', { hasText: 'शुरू करें' }).click();

  await asha.page.locator('.four-whose', { hasText: 'आपकी बारी' }).waitFor();
  await ravi.page.locator('.four-whose', { hasText: 'Asha की बारी' }).waitFor();
  await ravi.page.keyboard.press('1'); // not yet
  await eve.page.locator('.four-board').waitFor();
  assert.equal(await eve.page.locator('.four-column[aria-disabled="false"]').count(), 0, 'who looks on cannot drop');
  assert.equal(await pieces(asha.page).count(), 0, 'what is not its turn to do was not done');
  for (let n = 1; n <= 3; n++) {
    await column(asha.page, 4).tap();
    await pieces(asha.page, '1').nth(n - 1).waitFor();
    await ravi.page.locator('.four-board.mine').waitFor();
    if (n === 1) { // by the arrows to the first column, then by its digit
      for (let steps = 0; steps < 4; steps++) await ravi.page.keyboard.press('ArrowLeft');
      assert.equal(await ravi.page.evaluate(() => document.activeElement.dataset.column), '1');
      await ravi.page.keyboard.press('Enter');
    } else await ravi.page.keyboard.press('1');
    await asha.page.locator('.four-board.mine').waitFor();
  }
  const looks = [asha, ravi, eve].map(({ page }) => seen(page));
  const [won] = await Promise.all([Promise.all(looks), column(asha.page, 4).tap()]);
  for (const { count } of won) assert.equal(count, 4);
  assert.match(won[2].whose, /Asha की चार एक कतार में!/);
  assert.match(won[2].column, /4, 2 .*Asha, Asha, Asha, Asha$/);
  for (const { page } of [asha, ravi, eve]) {
    await page.locator('.podium').waitFor();
    await becomes(() => scoresOf(page), { Asha: 3, Ravi: 0 });
  }
  await eve.open(`/boards/four-in-a-row:room?scope=room:${code}`);
  await eve.page.getByText('● live').waitFor();
  await becomes(() => scoresOf(eve.page, '.entries tbody tr'), { Asha: 3, Ravi: 0 });

  await asha.page.getByRole('button', { name: 'फिर से' }).click();
  await ravi.page.getByRole('button', { name: 'मैं तैयार हूँ' }).click();
  await asha.page.locator('button:enabled', { hasText: 'शुरू करें' }).click();
  await ravi.page.locator('.four-whose', { hasText: 'आपकी बारी' }).waitFor();
  await becomes(() => pieces(ravi.page).count(), 0);
  await column(ravi.page, 7).click();
  await asha.page.locator('.four-board.mine').waitFor();
  await ravi.page.evaluate(async (room) => {
    const { token } = JSON.parse(localStorage.getItem('gametable.seats'))[room];
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/v1/rooms/${room}/live?token=${encodeURIComponent(token)}`);
    socket.onopen = () => socket.send('{"do":"leave"}');
  }, code);
  await asha.page.locator('h1', { hasText: 'आप जीत गए!' }).waitFor();
  for (const visitor of [asha, ravi, eve]) {
    visitor.checkFaults();
    await visitor.close();
  }
});

// On every screen people have, the whole board is there without scrolling, and nothing hangs over.
test('the board fits', async () => {
  const host = await newVisitor(browser, server.endpoint);
  const guest = await newVisitor(browser, server.endpoint);
  const code = await makeRoom(host, 'Host', 'Four in a row');
  await joinRoom(guest, code, 'Guest');
  await host.page.locator('button:enabled', { hasText: 'Start' }).click();
  for (const [width, height] of [[390, 844], [844, 390], [320, 568], [640, 400], [560, 330], [768, 1024], [1280, 800], [1920, 1080]]) {
    await host.page.setViewportSize({ width, height });
    const boxes = () => Promise.all(['.four-board', '.four-sides'].map((one) => host.page.locator(one).boundingBox()));
    await until(boxes, ([box, sides]) => {
      assert.ok(box.x >= 0 && box.x + box.width <= width && box.y + box.height <= height, `${width} x ${height}: ${JSON.stringify(box)}`);
      assert.ok(sides.x >= box.x + box.width || sides.y + sides.height <= box.y, `${width} x ${height}: who plays stands beside it`);
      assert.ok(box.width >= 0.5 * Math.min(width, height), `${width} x ${height}: it is large enough`);
    });
    await becomes(() => host.page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
  }
  host.checkFaults();
  guest.checkFaults();
  await host.close();
  await guest.close();
});
