// Takes the pictures of the console for docs/screenshots: node tests/take-console-screenshots.mjs [FOLDER]
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { root, startServer, temporaryFolder } from './lib/server.mjs';
import { DESKTOP, newVisitor, PHONE, startBrowser } from './lib/browser.mjs';
import { ddb, makeGameTable, rest } from './lib/console.mjs';

const folder = process.argv[2] ?? path.join(root, 'docs/screenshots');
mkdirSync(folder, { recursive: true });
const server = await startServer({ data: path.join(temporaryFolder(), 'data') });
const { endpoint } = server;
const browser = await startBrowser();

const PEOPLE = ['Asha', 'Ravi', 'Meena', 'Kabir', 'Zoya', 'Ishaan', 'Tara', 'Dev'];
await makeGameTable(endpoint, 'game');
const year = new Date().getUTCFullYear();
const season = (name, from, to) => ({ name, starts: `${year}-${from}-01T00:00:00Z`, ends: `${to === '13' ? year + 1 : year}-${to === '13' ? '01' : to}-01T00:00:00Z` });
await rest(endpoint, 'POST', '/boards', {
  id: 'tetris:cup', game: 'tetris', title: 'The Tetris cup', timeframe: 'season',
  seasons: [season('winter', '01', '04'), season('spring', '04', '07'), season('summer', '07', '10'), season('autumn', '10', '13')],
});
for (let i = 0; i < 40; i++)
  await rest(endpoint, 'POST', '/games/tetris/scores', { player: `p${i}`, name: `${PEOPLE[i % PEOPLE.length]} ${i}`, score: ((i * 7919) % 9973) + 27 });

for (let i = 0; i < 12; i++)
  await rest(endpoint, 'POST', '/players', { id: `p${i}`, name: `${PEOPLE[i % PEOPLE.length]} ${PEOPLE[(3 * i + 1) % PEOPLE.length]}`, ...(i % 3 ? { email: `p${i}@example.org` } : {}) });
await rest(endpoint, 'POST', '/players/p7/hide');
await ddb(endpoint, 'UpdateContributorInsights', { TableName: 'game', ContributorInsightsAction: 'ENABLE' });

// A load with one hot partition, for some seconds, so that graphs and heat have something to show.
async function load(seconds) {
  const end = Date.now() + seconds * 1000;
  for (let i = 0; Date.now() < end; i++) {
    const hot = i % 3 === 0;
    const key = hot ? { PK: { S: 'LB#daily#global' }, SK: { S: `USER#u${i % 60}` } } : { PK: { S: `ROOM#R${100 + (i % 6)}` }, SK: { S: `PLAYER#p${i % 4}` } };
    await Promise.all([
      ddb(endpoint, 'GetItem', { TableName: 'game', Key: key }),
      hot && ddb(endpoint, 'UpdateItem', { TableName: 'game', Key: key, UpdateExpression: 'ADD plays :one', ExpressionAttributeValues: { ':one': { N: '1' } } }),
      rest(endpoint, 'GET', '/boards/tetris:cup/entries?limit=10'),
    ]);
  }
}

const pages = [
  ['overview', '', 'Requests a second'],
  ['items', '/items?table=game', 'Page 1'],
  ['design', '/design', 'What will be asked'],
  ['board', '/boards/tetris:cup', 'entries of'],
  ['live', '/live', 'The hottest partition'],
  ['table', '/tables/game', 'DynamoDBContributorInsights-PKC'],
  ['players', '/players', 'p11@example.org'],
];
await load(25);
for (const [tag, viewport, colorScheme] of [['desktop', DESKTOP, 'light'], ['desktop-dark', DESKTOP, 'dark'], ['phone', PHONE, 'light'], ['phone-dark', PHONE, 'dark']]) {
  const visitor = await newVisitor(browser, endpoint, { viewport, colorScheme });
  for (const [name, address, sign] of pages) {
    await visitor.open(`/console${address}`);
    await visitor.page.getByText(sign).first().waitFor();
    await visitor.page.waitForTimeout(600);
    await visitor.page.screenshot({ path: path.join(folder, `console-${name}-${tag}.png`) });
  }
  await visitor.close();
}
await browser.close();
await server.stop();
