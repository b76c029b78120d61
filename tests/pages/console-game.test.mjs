// The console's pages of boards, players and rooms, on real data.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { program, startServer } from '../lib/server.mjs';
import { PHONE, startBrowser } from '../lib/browser.mjs';
import { openConsole, rest } from '../lib/console.mjs';
import { until } from '../lib/until.mjs';

let server;
let browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const { endpoint } = server;
  await rest(endpoint, 'POST', '/boards', { id: 'tetris:daily', game: 'tetris', title: 'Tetris today', timeframe: 'daily' });
  const year = new Date().getUTCFullYear();
  await rest(endpoint, 'POST', '/boards', {
    id: 'tetris:cup', game: 'tetris', timeframe: 'season',
    seasons: [{ name: 'before', starts: `${year - 2}-01-01T00:00:00Z`, ends: `${year - 1}-01-01T00:00:00Z` }, { name: 'present', starts: `${year - 1}-02-01T00:00:00Z`, ends: `${year + 2}-01-01T00:00:00Z` }],
  });
  for (let i = 0; i < 120; i++)
    await rest(endpoint, 'POST', '/games/tetris/scores', { player: `p${i}`, name: `Player ${i}`, score: 100 + i });
  await rest(endpoint, 'POST', '/games/tetris/scores', { player: 'exact', name: 'Exact', score: '9223372036854775807' });
  await rest(endpoint, 'PUT', '/boards/arcade/entries/ann', { score: 7 });
  await rest(endpoint, 'POST', '/players', { id: 'zoe', name: 'Zoë Knight', email: 'zoe@example.org' });
  for (let i = 0; i < 30; i++) await rest(endpoint, 'POST', '/players', { id: `idle${i}`, name: `Idle ${i}` });
  await until(() => rest(endpoint, 'GET', '/players?q=idle29'), ({ players }) => assert.equal(players.length, 1));
  await rest(endpoint, 'PUT', '/boards/arcade/entries/zoe', { score: 9 });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const row = (page, text) => page.getByRole('row').filter({ hasText: text });

test('boards: found, defined, paged, searched, loaded, cleared of one', async () => {
  const visitor = await openConsole(browser, server.endpoint);
  const { page } = visitor;
  await visitor.show('/boards', 'Boards and seasons');
  await row(page, 'tetris:cup').getByText('present ends').waitFor();
  await row(page, 'arcade').waitFor();
  await visitor.accessible('boards');
  await page.getByLabel('Part of its name, title or game').fill('CUP');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByRole('list', { name: 'Boards that were found' }).getByRole('link', { name: 'tetris:cup' }).click();
  await visitor.titled('tetris:cup');
  await page.getByRole('img', { name: 'before: past, present: now' }).waitFor();
  await row(page, 'Exact').getByText('9223372036854775807', { exact: true }).waitFor();
  await visitor.accessible('a board');
  const entries = page.getByRole('region', { name: 'Entries' });
  await entries.getByRole('button', { name: 'Next page' }).click();
  await entries.getByText('Page 2').waitFor();
  await row(entries, 'Player 65').waitFor();
  await row(entries, 'Player 119').waitFor({ state: 'detached' });
  await entries.getByLabel("A player's id, or part of a name").fill('player 11');
  await entries.getByRole('button', { name: 'Find' }).click();
  await row(entries, 'Player 119').waitFor();
  assert.equal(await entries.getByRole('row').count(), 12); // 11, 110 to 119, and the head

  await visitor.unlock();
  await entries.getByLabel("A player's id, or part of a name").fill('p7');
  await entries.getByRole('button', { name: 'Find' }).click();
  await entries.getByRole('button', { name: 'Remove Player 7', exact: true }).click();
  await visitor.confirm('p7', 'Take it off');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const gone = await fetch(`${server.endpoint}/v1/boards/tetris:cup/entries/p7`);
  assert.equal(gone.status, 404);
  await entries.getByRole('button', { name: 'Load CSV' }).click();
  await page.getByLabel('File').setInputFiles({ name: 's.csv', mimeType: 'text/csv', buffer: Buffer.from('new1,5000,New one\nnew2,6000\nbad,xyz\n') });
  await page.getByRole('button', { name: 'Load it' }).click();
  await page.getByText('3 lines: 2 added, 0 changed, 0 kept, 1 refused.').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await row(entries, 'New one').waitFor();

  const cup = page.getByRole('region', { name: 'Seasons' });
  await cup.getByRole('button', { name: 'Seal now tetris:cup@present' }).click();
  await page.getByRole('dialog').getByText('It cannot be undone').waitFor();
  await visitor.accessible('sealing');
  assert.ok(await page.getByRole('dialog').getByRole('button', { name: 'Seal it now' }).isDisabled());
  await visitor.confirm('tetris:cup@present', 'Seal it now');
  await row(cup, 'present').getByText('sealed').waitFor();
  const late = await fetch(`${server.endpoint}/v1/boards/tetris:cup/entries/late`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"score":1}' });
  assert.equal(late.status, 409);
  assert.equal(await cup.getByRole('button', { name: 'Seal now' }).count(), 0);

  await visitor.show('/boards', 'Boards and seasons');
  await visitor.unlock();
  await page.getByRole('button', { name: 'Define a board' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Id').fill('golf:season');
  await dialog.getByLabel('Game').fill('golf');
  await dialog.getByRole('combobox', { name: 'Begins anew' }).selectOption('season');
  await dialog.getByRole('combobox', { name: 'First is the' }).selectOption('low');
  await dialog.getByRole('button', { name: 'Define it' }).click();
  await dialog.getByRole('alert').getByText('A board of seasons needs one at least').waitFor();
  await dialog.getByRole('button', { name: 'Add a season' }).click();
  await dialog.getByRole('button', { name: 'Define it' }).click();
  await visitor.titled('golf:season');
  await page.getByRole('button', { name: 'Change it' }).click();
  await dialog.getByLabel('Title').fill('Golf');
  await dialog.getByRole('button', { name: 'Change the board' }).click();
  await visitor.titled('Golf');
  const board = await rest(server.endpoint, 'GET', '/boards/golf:season');
  assert.deepEqual([board.order, board.title, board.seasons.length], ['low', 'Golf', 1]);
  await page.getByRole('button', { name: 'Remove the board' }).click();
  await visitor.confirm('golf:season', 'Remove it');
  await visitor.titled('Boards and seasons');
  await visitor.close();
});

test('players: found, hidden, exported, erased', async () => {
  const visitor = await openConsole(browser, server.endpoint, { acceptDownloads: true });
  const { page } = visitor;
  await visitor.show('/players', 'Players');
  // All of them come by pages; whoever stands on no board, too.
  await row(page, 'Idle 17').waitFor();
  await page.getByRole('group', { name: 'Pages of players' }).getByRole('button', { name: 'Next page' }).click();
  await row(page, 'Zoë').waitFor();
  const find = async (by, words) => {
    await page.getByRole('combobox', { name: 'By' }).selectOption({ label: by });
    await page.getByLabel('Begins with').fill(words);
    await page.getByRole('button', { name: 'Find' }).click();
    // Who was found before is gone by then.
    await page.getByRole('link', { name: `open the id ${words}`, exact: true }).waitFor();
  };
  await find('Id, name or e-mail', 'nobody');
  await page.getByText('No player with a profile is like that.').waitFor();
  await find('A word of the name', 'GHT');
  await page.getByText('No player with a profile is like that.').waitFor();
  await find('A word of the name', 'KNIGHT');
  await row(page, 'zoe@example.org').waitFor();
  assert.equal(await page.getByRole('group', { name: 'Players', exact: true }).getByRole('row').count(), 2);
  await visitor.accessible('players');
  await find('E-mail', 'Zoe@');
  await row(page, 'Zoë').getByRole('link', { name: 'zoe' }).click();
  await visitor.titled('Zoë Knight');
  await row(page, 'arcade').getByText('1 of 2').waitFor();
  await visitor.accessible('a player');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save all that is kept' }).click()]);
  assert.match(readFileSync(await download.path(), 'utf8'), /zoe@example\.org/);
  await visitor.unlock();
  await page.getByRole('button', { name: 'Hide from all rankings' }).click();
  await page.getByRole('button', { name: 'Show again' }).waitFor();
  assert.equal((await rest(server.endpoint, 'GET', '/boards/arcade/entries')).total, 1);
  await page.getByRole('button', { name: 'Make a token' }).click();
  await page.getByText('Token of this player, shown once').waitFor();
  await page.getByRole('button', { name: 'Erase' }).click();
  await visitor.confirm('zoe', 'Erase the player');
  await visitor.titled('Players');
  assert.equal((await fetch(`${server.endpoint}/v1/players/zoe`)).status, 404);
  await visitor.close();
});

test('rooms: listed, watched, replayed, kicked, closed', async () => {
  const { endpoint } = server;
  const seat = await rest(endpoint, 'POST', '/rooms', { kind: 'snakes-and-ladders', name: 'Ann', player: 'ann' });
  await rest(endpoint, 'POST', `/rooms/${seat.room.code}/players`, { name: 'Bob', player: 'bob' });
  const bots = spawn(program, ['play', '--url', endpoint, '--game', 'kauwa-udd', '--bots', '3', '--rounds', '3', '--seconds', '1'], { stdio: 'ignore' });
  await once(bots, 'exit');
  const visitor = await openConsole(browser, endpoint);
  const { page } = visitor;
  await visitor.show('/rooms', 'Rooms');
  await row(page, 'kauwa-udd').getByText('over').waitFor();
  await page.getByRole('combobox', { name: 'State' }).selectOption('lobby');
  await row(page, 'kauwa-udd').waitFor({ state: 'detached' });
  await row(page, seat.room.code).waitFor();
  await visitor.accessible('rooms');
  await row(page, seat.room.code).getByRole('link', { name: seat.room.code }).click();
  await visitor.titled(`Room ${seat.room.code}`);
  await visitor.unlock();
  await page.getByRole('button', { name: 'Kick Bob' }).click();
  await visitor.confirm('Bob', 'Kick');
  await page.getByRole('button', { name: 'Kick Bob' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Close the room' }).click();
  await visitor.confirm(seat.room.code, 'Close the room');
  await visitor.titled('Rooms');
  await page.getByRole('combobox', { name: 'State' }).selectOption('over');
  await page.getByText('1 rooms', { exact: true }).waitFor();
  await row(page, 'kauwa-udd').getByRole('link').first().click();
  const replay = page.getByRole('region', { name: /replayed/ });
  await replay.getByText('1 of 3').waitFor();
  await replay.getByRole('button', { name: 'On', exact: true }).click();
  await replay.getByRole('heading', { name: 'Round 2' }).waitFor();
  await page.getByRole('region', { name: 'Matches that ended' }).getByText('1.').first().waitFor();
  await visitor.accessible('a room');
  await visitor.close();
});

test('a server that is slower than the page would ask again', async () => {
  const { room } = await rest(server.endpoint, 'POST', '/rooms', { kind: 'snakes-and-ladders', name: 'Ann' });
  const visitor = await openConsole(browser, server.endpoint);
  await visitor.late((url) => url.pathname === `/v1/rooms/${room.code}`, 2500); // it asks every 1.5 seconds
  await visitor.show(`/rooms/${room.code}`, `Room ${room.code}`);
  await row(visitor.page, 'Ann').waitFor();
  await visitor.close();
});

test('a phone in the dark', async () => {
  const visitor = await openConsole(browser, server.endpoint, { viewport: PHONE, colorScheme: 'dark' });
  const { page } = visitor;
  for (const [path, title] of [['/boards', 'Boards and seasons'], ['/boards/tetris:cup', 'tetris:cup'], ['/players', 'Players'], ['/players/p3', 'p3'], ['/rooms', 'Rooms']]) {
    await visitor.show(path, title);
    await page.locator('.panel').first().waitFor();
    await visitor.accessible(path);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path);
  }
  await visitor.close();
});
