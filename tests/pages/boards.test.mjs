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
  // A board without an end: at midnight a daily one begins anew.
  for (let i = 0; i < 40; i++) await put('kauwa-udd:all', `p${i}`, 100 + i * 10, `Player ${i}`);
  await visitor.open('/boards');
  await page.getByRole('link', { name: 'Kauwa Udd, of all time' }).click();
  await page.getByText('● live').waitFor();
  assert.equal((await names(page))[0], 'Player 39');
  assert.equal((await names(page)).length, 25);
  await page.getByText('1 to 25 of 40').waitFor();

  // How far somebody rose is told for some seconds only.
  await Promise.all([page.getByLabel('up 19').waitFor(), put('kauwa-udd:all', 'p20', 2000, 'Player 20')]);
  await page.locator('.rank-1 + td', { hasText: 'Player 20' }).waitFor();

  await page.getByLabel('Name or id').fill('p3');
  await page.getByRole('button', { name: 'Find' }).click();
  const standing = page.locator('.standing');
  await standing.waitFor();
  assert.match(await standing.innerText(), /Player 3 is at 37 with 130.*7\.7%/);
  await page.locator('.plot-mark text', { hasText: 'Player 3' }).waitFor();
  assert.equal(await page.locator('.plot rect').count(), 24);

  // The answer to what stood there before comes last, and is not told.
  await visitor.late(/rank\?score=77$/, 1000);
  const before = page.waitForResponse(/rank\?score=77$/);
  await page.getByLabel('Which rank would a score have?').fill('77');
  await page.getByLabel('Which rank would a score have?').fill('1000');
  await page.getByText('1000 would be at 2 of 41.').waitFor();
  await (await before).finished();
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

const post = async (path, body) => {
  const answer = await fetch(`${server.endpoint}/v1${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  assert.ok(answer.ok, await answer.text());
};

test('the first boards of a newcomer, made as README shows', async () => {
  const visitor = await newVisitor(browser, server.endpoint, { viewport: DESKTOP });
  const { page } = visitor;
  await post('/boards', { id: 'tetris:daily', game: 'tetris', timeframe: 'daily' });
  await post('/boards', { id: 'tetris:all', game: 'tetris' });
  await post('/games/tetris/scores', { player: 'ann', score: 4200, name: 'Ann' });
  await post('/games/tetris/scores', { player: 'bob', score: '9223372036854775807' });
  await visitor.open('/boards');
  const card = page.locator('.board-card', { hasText: 'tetris:all' });
  await card.getByText('9,223,372,036,854,775,807').waitFor();
  await card.getByRole('link').click();
  await page.getByText('● live').waitFor();
  assert.deepEqual(await names(page), ['bob', 'Ann']);
  await page.locator('.score', { hasText: '9,223,372,036,854,775,807' }).waitFor();
  assert.equal(await page.title(), 'tetris:all · gametable');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main', 'the focus has gone along');
  await put('tetris:all', 'cid', '9223372036854775806', 'Cid');
  await page.locator('.score', { hasText: '9,223,372,036,854,775,806' }).waitFor();
  visitor.checkFaults();
  await visitor.close();
});

test('a board to its end, and a player by name wherever they stand', async () => {
  const visitor = await newVisitor(browser, server.endpoint, { viewport: DESKTOP });
  const { page } = visitor;
  const lines = Array.from({ length: 2345 }, (_, i) => `m${i},${10_000 - i},Someone ${i}`);
  const answer = await fetch(`${server.endpoint}/v1/boards/long/entries:load`, { method: 'POST', headers: { 'content-type': 'text/csv' }, body: lines.join('\n') });
  assert.ok(answer.ok, await answer.text());
  await visitor.open('/boards/long');
  await page.getByText('1 to 25 of 2,345').waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Someone 25', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Last' }).click();
  await page.getByText('Someone 2344', { exact: true }).waitFor();
  await page.locator('.rank', { hasText: '2,345' }).waitFor();
  assert.ok(await page.getByRole('button', { name: 'Next' }).isDisabled());

  await page.getByLabel('Name or id').fill('someone 1999');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.locator('.standing', { hasText: 'Someone 1999 is at 2,000' }).waitFor();
  await page.getByRole('button', { name: 'Show there' }).click();
  await page.locator('.board-page > .card tr.marked', { hasText: 'Someone 1999' }).waitFor();
  await page.getByLabel('Name or id').fill('one 234');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByRole('list', { name: 'Players of that name' }).getByRole('button', { name: 'Someone 2340' }).click();
  await page.locator('.standing', { hasText: 'Someone 2340' }).waitFor();
  await page.getByLabel('Name or id').fill('nobody at all');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByText('Not on this board.').waitFor();
  visitor.checkFaults();
  await visitor.close();
});

test('boards that are empty, over, or between seasons say so', async () => {
  const visitor = await newVisitor(browser, server.endpoint);
  const { page } = visitor;
  const year = 1000 * 3600 * 24 * 365;
  const at = (years) => new Date(Date.now() + years * year).toISOString();
  await post('/boards', { id: 'league', game: 'leagues', timeframe: 'season', seasons: [{ name: 'first', starts: at(-2), ends: at(-1) }, { name: 'second', starts: at(1), ends: at(2) }] });
  await post('/boards', { id: 'done', game: 'leagues', timeframe: 'season', seasons: [{ name: 'only', starts: at(-2), ends: at(-1) }] });
  await post('/boards', { id: 'bare', game: 'leagues' });
  await post('/boards', { id: 'rooms-only', game: 'leagues', scopes: ['room'] });
  await visitor.open('/boards');
  await page.locator('.board-card', { hasText: 'league' }).getByText(/Between seasons: second begins/).waitFor();
  await page.locator('.board-card', { hasText: 'done' }).getByText(/Ended: only/).waitFor();
  await page.locator('.board-card', { hasText: 'bare' }).getByText('nobody yet').waitFor();
  await visitor.open('/boards/league');
  await page.getByText(/Between seasons: second begins/).waitFor();
  await page.getByRole('link', { name: 'The places of first' }).click();
  await page.getByText('This period is over, its places are final.').waitFor();
  await visitor.open('/boards/bare');
  await page.getByText('Nobody is on this board yet').waitFor();
  await visitor.open('/boards/rooms-only');
  await page.getByText('Choose whose board to see.').waitFor();
  visitor.checkFaults();
  await visitor.close();
});

test('more boards than a page, one that cannot be shown, and an outage', { timeout: 300_000 }, async () => {
  const many = await startServer({ redis: 'off' });
  const visitor = await newVisitor(browser, many.endpoint, { viewport: DESKTOP });
  const { page } = visitor;
  const make = (path, method, body) => fetch(`${many.endpoint}/v1${path}`, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  for (let i = 100; i < 230; i++) await make('/boards', 'POST', { id: `b${i}`, game: 'many' });
  for (let i = 100; i < 230; i++) await make(`/boards/plain${i}/entries/a`, 'PUT', { score: i });
  // One answer of the server is broken: the others are shown all the same.
  await page.route(/boards\/b100\/entries/, (route) => route.fulfill({ json: { total: 1, entries: [{ member: 'x' }] } }));
  await visitor.open('/boards');
  await page.getByRole('link', { name: 'b199', exact: true }).waitFor();
  await page.locator('.board-card', { hasText: 'b100' }).getByText('It cannot be shown here.').waitFor();
  // Pressed twice it brings them once: of two links of a name none would be taken.
  await visitor.late(/v1\/boards\?.*cursor=/, 500);
  await page.getByRole('button', { name: 'More boards' }).dblclick();
  await page.getByRole('link', { name: 'b229', exact: true }).waitFor();
  await page.getByRole('button', { name: 'More without a definition' }).click();
  await page.getByRole('link', { name: 'plain229', exact: true }).waitFor();
  visitor.checkFaults();

  visitor.mayLoseNetwork();
  await page.getByRole('navigation').getByRole('link', { name: 'Play' }).click();
  await page.getByRole('heading', { name: 'Who plays?' }).waitFor();
  await many.stop();
  await page.getByRole('navigation').getByRole('link', { name: 'Boards' }).click();
  await page.getByText('The server cannot be reached. Trying again').waitFor();
  const again = await startServer({ redis: 'off', http: `127.0.0.1:${many.port}` });
  await page.getByRole('link', { name: 'Kauwa Udd, today' }).waitFor();
  assert.equal(await page.getByRole('alert').filter({ hasText: 'Trying again' }).count(), 0);
  await visitor.close();
  await again.stop();
});

test('what is not there says so, and what pages may do', async () => {
  const visitor = await newVisitor(browser, server.endpoint);
  const { page } = visitor;
  const answer = await visitor.open('/no/such/page');
  assert.equal(answer.status(), 404);
  await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Boards' }).click();
  await page.getByRole('heading', { name: 'Boards', level: 1 }).waitFor();
  const room = await fetch(`${server.endpoint}/play/BCDFG`);
  const text = await room.text();
  assert.match(text, /<meta property="og:title" content="Come and play" \/>/);
  const image = /property="og:image" content="([^"]+)"/.exec(text)[1];
  assert.equal((await fetch(image)).headers.get('content-type'), 'image/png');
  const host = new URL(server.endpoint).host;
  const policy = room.headers.get('content-security-policy');
  assert.match(policy, new RegExp(`connect-src 'self' ws://${host} wss://${host};`));
  assert.doesNotMatch(policy, /ws:[ ;]/);
  // What everybody waits for, before the page they went to: boards, games and the console are files of their own.
  let weight = 0;
  for (const [file] of text.matchAll(/\/assets\/[^"]+/g)) weight += Number((await fetch(server.endpoint + file)).headers.get('content-length'));
  assert.ok(weight > 10_000 && weight < 28 * 1024, `${weight} bytes, compressed`);
  const manifest = await (await fetch(`${server.endpoint}/manifest.webmanifest`)).json();
  for (const { src } of manifest.icons) assert.equal((await fetch(server.endpoint + src)).status, 200);
  assert.equal((await fetch(`${server.endpoint}/no/such/page`)).status, 404, 'and for machines in few words');
  await visitor.close();
});

test('boards without a definition are listed, too', async () => {
  const visitor = await newVisitor(browser, server.endpoint, { viewport: DESKTOP });
  await put('arcade', 'ann', 42, 'Ann');
  await visitor.open('/boards');
  await visitor.page.getByRole('region', { name: 'Without a definition' }).getByRole('link', { name: 'arcade' }).click();
  await visitor.page.getByText('Ann', { exact: true }).first().waitFor();
  await visitor.close();
});

test('periods that were, and boards of rooms', async () => {
  const visitor = await newVisitor(browser, server.endpoint);
  const { page } = visitor;
  const body = { id: 'cup', game: 'cups', title: 'The cup', timeframe: 'monthly', scopes: ['global', 'room'] };
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
  const number = (text) => Number(text.replaceAll(',', ''));
  await page.locator('.figure', { hasText: 'items' }).locator('dd', { hasText: /\d/ }).waitFor();
  const before = number(await items.innerText());
  assert.ok(before > 40);
  for (let i = 0; i < 5; i++) await put('figures', `q${i}`, i, '');
  await page.waitForFunction((old) => Number(document.querySelector('.figure dd').textContent.replaceAll(',', '')) > old, before);
  for (const name of ['Play', 'Boards']) await page.getByRole('navigation').getByRole('link', { name }).waitFor();
  visitor.checkFaults();
  await visitor.close();
});
