// Rooms on the pages: guests, bots, options, bans, hosts that go, television, Hindi, and the way back.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startServer } from '../lib/server.mjs';
import { becomes, until } from '../lib/until.mjs';
import { DESKTOP, joinRoom, makeRoom, newVisitor, startBrowser } from '../lib/browser.mjs';

const ID = 'host';
const SECRET = 'a-secret-of-the-host';
let open;
let keyed;
let browser;
before(async () => {
  [open, keyed, browser] = await Promise.all([
    startServer({ redis: 'off' }),
    startServer({ redis: 'off', args: ['--guests'], env: { GAMETABLE_ACCESS_KEY_ID: ID, GAMETABLE_SECRET_ACCESS_KEY: SECRET } }),
    startBrowser(),
  ]);
});
after(async () => {
  await browser?.close();
  await open?.stop();
  await keyed?.stop();
});

const dialog = (page) => page.getByRole('dialog');

test('a guest plays on a server with keys, by the link alone', { timeout: 300_000 }, async () => {
  const host = await newVisitor(browser, keyed.endpoint);
  const guest = await newVisitor(browser, keyed.endpoint, { viewport: { width: 844, height: 390 } });
  for (const visitor of [host, guest]) visitor.mayBeRefused();
  await host.open('/play');
  await host.page.getByLabel('Access key').fill(`${ID}:${SECRET}`);
  await host.page.getByRole('button', { name: 'Come in' }).click();
  await host.page.getByRole('heading', { name: 'Who plays?' }).waitFor();
  const code = await makeRoom(host, 'Asha', 'Kauwa Udd', { Rounds: 3, 'Seconds a round': 1 });
  await host.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await host.page.getByRole('button', { name: 'Copy the link' }).click();
  const link = await until(
    () => host.page.evaluate(() => navigator.clipboard.readText()),
    (text) => assert.match(text, new RegExp(`/play/${code}#i=[\\w.-]+$`)),
  );

  await guest.open('/play');
  await guest.page.getByRole('heading', { name: 'This server asks who you are' }).waitFor();
  assert.equal(await guest.page.getByText('Authorization').count(), 0, 'that is for programs');
  await guest.page.goto(link);
  await guest.page.getByLabel('Your name').fill('Asha');
  await guest.page.getByRole('button', { name: 'Join', exact: true }).click();
  await guest.page.getByText('called that already').waitFor();
  await guest.page.getByLabel('Your name').fill('\u202eRavi\u200b');
  await guest.page.getByRole('button', { name: 'Join', exact: true }).click();
  await guest.page.getByRole('button', { name: 'I am ready' }).click();
  const row = host.page.locator('.seats li', { hasText: 'Ravi' });
  assert.equal(await row.locator('bdi').innerText(), 'Ravi', 'a name with nothing hidden in it');
  await host.page.getByRole('button', { name: 'Start' }).click();
  await guest.page.locator('.called').waitFor();
  // On a phone on its side all of it is to be seen, in whichever round this is.
  await until(() => guest.page.locator('.target').boundingBox(), (box) => assert.ok(box.y >= 0 && box.y + box.height <= 390, 'the target is in sight'));
  await guest.page.getByRole('heading', { name: /won|came|share|draw/i }).waitFor();
  assert.equal(await guest.page.getByRole('link', { name: 'The board of this room' }).count(), 0, 'boards are not for guests');
  await guest.page.getByRole('button', { name: 'I want a rematch' }).click();
  await host.page.getByText('Ravi want a rematch').waitFor();
  await guest.open('/play'); // away and back, without a key
  await guest.page.getByRole('link', { name: new RegExp(code) }).click();
  await guest.page.getByText('The host begins it').waitFor();

  // Out for good: neither the seat nor the link is worth anything now.
  await host.page.getByRole('button', { name: 'Rematch', exact: true }).click();
  await host.page.getByRole('button', { name: 'Take Ravi out of the room' }).click();
  await dialog(host.page).getByRole('button', { name: 'Take out for good' }).click();
  await guest.page.getByText('You are not in the room any more').waitFor();
  await guest.page.goto('about:blank');
  await guest.page.goto(link);
  await guest.page.getByText('not good any more').waitFor();
  for (const visitor of [host, guest]) {
    visitor.checkFaults();
    await visitor.close();
  }
});

test('alone with bots: another game, other options, from watching to playing, on television', { timeout: 300_000 }, async () => {
  const asha = await newVisitor(browser, open.endpoint);
  const eve = await newVisitor(browser, open.endpoint);
  const tv = await newVisitor(browser, open.endpoint, { viewport: DESKTOP, colorScheme: 'dark' });
  const code = await makeRoom(asha, 'Asha', 'Snakes and ladders');
  await eve.open(`/play/${code}`);
  await eve.page.getByRole('button', { name: 'Just watch' }).click();
  await eve.page.getByText('You look on.').waitFor();
  await asha.page.getByText('Game and options').click();
  await asha.page.locator('select[name=kind]').selectOption('kauwa-udd');
  await asha.page.getByRole('heading', { name: 'Kauwa Udd' }).waitFor();
  // What is being typed stays when somebody comes and goes.
  await asha.page.getByLabel('Rounds').fill('7');
  const zoya = await newVisitor(browser, open.endpoint);
  await joinRoom(zoya, code, 'Zoya');
  await asha.page.getByText('2 of 16').waitFor();
  await zoya.page.getByRole('button', { name: 'Leave' }).click();
  await asha.page.getByText('1 of 16').waitFor();
  await zoya.close();
  assert.equal(await asha.page.getByLabel('Rounds').inputValue(), '7');
  await asha.page.getByLabel('Rounds').blur();
  await eve.page.locator('.room-options', { hasText: /Rounds\s*7/ }).waitFor();
  await asha.page.getByLabel('Seconds a round').fill('1');
  await asha.page.getByLabel('Seconds a round').blur();
  await eve.page.locator('.room-options', { hasText: /Seconds a round\s*1/ }).waitFor();
  await asha.page.getByRole('button', { name: 'Add a bot' }).click();
  await asha.page.getByText('2 of 16').waitFor();
  await asha.page.getByRole('button', { name: 'Add a bot' }).click();
  await asha.page.getByText('3 of 16').waitFor();
  await asha.page.getByRole('link', { name: 'Show it on a TV' }).waitFor();

  await tv.open(`/play/${code}/tv`);
  await tv.page.getByRole('heading', { name: 'Join with your phone' }).waitFor();
  await tv.page.getByRole('list', { name: 'Players' }).getByText('Asha').waitFor();
  await tv.page.locator('.qr').waitFor();
  await eve.page.getByRole('button', { name: 'Play too' }).click();
  await eve.page.getByLabel('Your name').fill('Eve');
  await eve.page.getByRole('button', { name: 'Join', exact: true }).click();
  await eve.page.getByRole('button', { name: 'I am ready' }).click();
  await asha.page.evaluate(() => scrollTo(0, 500));
  const begin = async () => {
    await asha.page.locator('button:enabled', { hasText: 'Start' }).click();
    await asha.page.locator('.target').waitFor();
    await becomes(() => asha.page.evaluate(() => scrollY), 0, 'a match begins at the top of the page');
  };
  // Rounds come and go: what each has is looked for from the beginning on.
  const onTv = ['.called', '.beat', '.scores .sign >> nth=3'].map((what) => tv.page.locator(what).waitFor());
  await Promise.all([begin(), ...onTv]);
  await tv.page.getByText(code, { exact: true }).waitFor();

  // Away and back: the match goes on, and the page knows the way.
  await eve.page.getByRole('navigation').getByRole('link', { name: 'Play' }).click();
  await eve.page.getByText('Your match goes on').click();
  await eve.page.getByText(/Round \d of 7/).waitFor();
  for (const { page } of [asha, eve, tv]) await page.getByRole('heading', { name: /won|came|share|draw/i }).waitFor();
  await asha.page.getByRole('button', { name: 'Another game' }).click();
  await asha.page.getByText('Game and options').waitFor();
  await eve.page.getByRole('button', { name: 'I am ready' }).waitFor();
  for (const visitor of [asha, eve, tv]) {
    visitor.checkFaults();
    await visitor.close();
  }
});

test('Hindi all through, and a caller who is heard', { timeout: 300_000 }, async () => {
  const asha = await newVisitor(browser, open.endpoint);
  const { page } = asha;
  await page.addInitScript(() => {
    window.said = [];
    const speech = { cancel() {}, speak: ({ text, lang }) => window.said.push([text, lang]) };
    Object.defineProperty(window, 'speechSynthesis', { value: speech });
  });
  const code = await makeRoom(asha, 'आशा', 'Kauwa Udd', { Rounds: 3, 'Seconds a round': 1, 'The caller speaks': 'hi' });
  const english = async (what) => {
    // Of what is called the English name stands below the Hindi one.
    const text = await page.evaluate(() => {
      const others = [...document.querySelectorAll('.called-other')].map((element) => element.innerText);
      return others.reduce((rest, other) => rest.replace(other, ''), document.querySelector('main').innerText);
    });
    const left = text.replaceAll(/https?:\S+|This page is at an address[^]*?network\.|[A-Z0-9]{5}/g, '').match(/[a-z]{3,}/gi) ?? [];
    assert.deepEqual(left.filter((word) => !['Maina'].includes(word)), [], what);
  };
  await page.getByRole('button', { name: 'बॉट जोड़ें' }).click();
  await page.getByText('2 / 16').waitFor();
  await page.getByText('खेल और विकल्प').waitFor();
  await english('the lobby');
  await page.getByRole('button', { name: 'शुरू करें' }).click();
  await page.locator('.called').waitFor();
  assert.match(await page.locator('.called-name').innerText(), /[ऀ-ॿ]/);
  await page.getByText(/दौर [1-3] \/ 3/).waitFor();
  await page.locator('.beat').waitFor();
  await english('the beat');
  const said = await page.evaluate(() => window.said);
  assert.ok(said.length > 0 && said.every(([text, lang]) => /[ऀ-ॿ]/.test(text) && lang === 'hi-IN'), JSON.stringify(said));
  await page.getByRole('button', { name: "The caller's voice" }).click();
  await page.locator('.called').waitFor();
  const before_ = await page.evaluate(() => window.said.length);
  await page.getByRole('button', { name: 'फिर से', exact: true }).waitFor();
  assert.equal(await page.evaluate(() => window.said.length), before_, 'muted');
  await english('the results');
  assert.equal(await page.locator('.results').getAttribute('lang'), 'hi');
  assert.match(await page.title(), new RegExp(`कौआ उड़ · ${code}`));
  asha.checkFaults();
  await asha.close();
});

test('a host who has gone is followed by another; who is away is shown so; full rooms leave the list', { timeout: 300_000 }, async () => {
  const host = await newVisitor(browser, open.endpoint);
  const ravi = await newVisitor(browser, open.endpoint);
  const late = await newVisitor(browser, open.endpoint);
  const code = await makeRoom(host, 'Asha', 'Four in a row');
  await late.open('/play');
  const listed = late.page.getByRole('list', { name: 'Open rooms' }).getByText(code);
  await listed.waitFor();
  await joinRoom(ravi, code, 'Ravi');
  await listed.waitFor({ state: 'detached' });
  await host.close();
  await ravi.page.locator('.seats li.away', { hasText: 'Asha' }).waitFor();
  await ravi.page.getByRole('button', { name: 'Close the room' }).waitFor();
  await ravi.page.getByRole('button', { name: 'Take Asha out of the room' }).click();
  await dialog(ravi.page).getByRole('button', { name: 'Take out', exact: true }).click();
  await listed.waitFor();
  ravi.checkFaults();
  late.checkFaults();
  await ravi.close();
  await late.close();
});
