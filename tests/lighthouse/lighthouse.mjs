// Every page for players under Lighthouse, in Debian's Chromium, with two hundred boards: at least 95 in performance
// and 100 in accessibility. make lighthouse runs it; it takes minutes, so make test does not.
//   node tests/lighthouse/lighthouse.mjs [FOLDER for the reports]
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as chromeLauncher from 'chrome-launcher';
import lighthouse from 'lighthouse';
import { openLine, roomPath } from '../lib/live.mjs';
import { startServer } from '../lib/server.mjs';

const LEAST = { performance: 95, accessibility: 100 };
const folder = process.argv[2];
const server = await startServer({ redis: 'off' });
const send = (method, where, body, type = 'application/json') => fetch(`${server.endpoint}/v1${where}`, { method, headers: { 'content-type': type }, body: typeof body === 'string' ? body : JSON.stringify(body) });

for (let i = 0; i < 200; i++) {
  await send('POST', '/boards', { id: `board-${i}`, game: `game-${i % 10}`, title: `Board number ${i}` });
  const lines = Array.from({ length: 40 }, (_, n) => `p${n},${(n * 7919 + i) % 10_007},Player ${n}`);
  await send('POST', `/boards/board-${i}/entries:load`, lines.join('\n'), 'text/csv');
}
const { room: { code }, token } = await (await send('POST', '/rooms', { kind: 'kauwa-udd', name: 'Ann' })).json();
const line = await openLine(server.endpoint, roomPath(code, token));

const chrome = await chromeLauncher.launch({ chromePath: process.env.CHROMIUM ?? '/usr/bin/chromium', chromeFlags: ['--headless=new', '--no-sandbox', '--disable-gpu'] });
let failed = false;
for (const where of ['/', '/boards', '/boards/board-7', '/play', `/play/${code}`, `/play/${code}/tv`]) {
  const result = await lighthouse(server.endpoint + where, { port: chrome.port, output: 'html', onlyCategories: Object.keys(LEAST), logLevel: 'error' });
  const scores = Object.entries(LEAST).map(([name, least]) => {
    const score = Math.round(100 * (result.lhr.categories[name].score ?? 0));
    failed ||= score < least;
    return `${name} ${score}${score < least ? ` (under ${least})` : ''}`;
  });
  console.log(`${where.replace(code, 'CODE').padEnd(20)} ${scores.join(', ')}`);
  const wrong = Object.values(result.lhr.audits).filter(({ score, scoreDisplayMode }) => score !== null && score < 0.9 && scoreDisplayMode !== 'informative');
  for (const { id, displayValue } of wrong) console.log(`    ${id} ${displayValue ?? ''}`);
  if (folder) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, `${where.replaceAll('/', '_')}.html`), result.report);
  }
}
await chrome.kill();
await line.end();
await server.stop();
process.exit(failed ? 1 : 0);
