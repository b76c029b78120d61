// Somebody who has only the README finds the hot partition of a load, by clicks, in under a minute. A server of a
// hundred partitions is asked by a load that comes back to one of them; nothing of it is told to the page.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startServer } from '../lib/server.mjs';
import { DESKTOP, newVisitor, startBrowser } from '../lib/browser.mjs';
import { ddb, makeGameTable, putAll } from '../lib/console.mjs';

const HOT = 'ROOM#R103';
let server;
let browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  await makeGameTable(server.endpoint, 'game');
  await makeGameTable(server.endpoint, 'other');
  await putAll(server.endpoint, 'game', Array.from({ length: 100 }, (_, i) => ({ PK: { S: `USER#u${i}` }, SK: { S: 'STATS' } })));
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

// Every second read and write is of one room; the others are spread over all users.
async function load(requests) {
  const one = (i) => {
    const key = i % 2 === 0 ? { PK: { S: HOT }, SK: { S: 'META' } } : { PK: { S: `USER#u${i % 100}` }, SK: { S: 'STATS' } };
    return i % 3 === 0
      ? ddb(server.endpoint, 'UpdateItem', { TableName: 'game', Key: key, UpdateExpression: 'ADD seen :one', ExpressionAttributeValues: { ':one': { N: '1' } } })
      : ddb(server.endpoint, 'GetItem', { TableName: 'game', Key: key });
  };
  for (let at = 0; at < requests; at += 20) await Promise.all(Array.from({ length: 20 }, (_, i) => one(at + i)));
}

test('the hot partition is found in under a minute of clicks', async () => {
  await load(1000);
  const visitor = await newVisitor(browser, server.endpoint, { viewport: DESKTOP });
  const { page } = visitor;
  const began = Date.now();
  let clicks = 0;
  const click = async (target) => {
    clicks++;
    await target.click();
  };
  await visitor.open('/'); // the address that the server prints
  await click(page.getByRole('link', { name: 'Console' }).first());
  await click(page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Live' }));
  const verdict = page.locator('.verdict');
  await verdict.waitFor();
  assert.match(await verdict.innerText(), /The hottest partition of game is ROOM#R103/);
  const top = page.getByRole('table').getByRole('row').nth(1);
  assert.match(await top.innerText(), /ROOM#R103/);
  await page.getByRole('img', { name: /^Heat of \d+ partitions over \d+ minutes/ }).waitFor();
  await click(top.getByRole('link', { name: `Items of ${HOT}` }));
  await page.locator('.found', { hasText: '5 items' }).waitFor(); // what lies in it
  assert.ok(clicks <= 3 && Date.now() - began < 60_000, `${clicks} clicks, ${Date.now() - began} ms`);
  visitor.checkFaults();
  await visitor.close();
});
