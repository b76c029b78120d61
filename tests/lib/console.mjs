// The console in a browser, and data for it.
import assert from 'node:assert/strict';
import { DESKTOP, newVisitor } from './browser.mjs';
import { checkAccessibility } from './axe.mjs';

export async function ddb(endpoint, operation, request) {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      'x-amz-date': '20260101T000000Z',
      authorization: 'AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    },
    body: JSON.stringify(request),
  });
  const value = await answer.json();
  assert.ok(answer.ok, `${operation}: ${JSON.stringify(value)}`);
  return value;
}

export async function rest(endpoint, method, path, body) {
  const answer = await fetch(`${endpoint}/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${text}`);
  return text ? JSON.parse(text) : undefined;
}

export async function putAll(endpoint, table, items) {
  for (let at = 0; at < items.length; at += 25)
    await ddb(endpoint, 'BatchWriteItem', { RequestItems: { [table]: items.slice(at, at + 25).map((Item) => ({ PutRequest: { Item } })) } });
}

// A table of the seeds' most usual shape, with rooms, players and a board in it.
export async function makeGameTable(endpoint, name) {
  await ddb(endpoint, 'CreateTable', {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['PK', 'SK', 'GSI1PK', 'GSI1SK'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }],
    GlobalSecondaryIndexes: [{ IndexName: 'GSI1', KeySchema: [{ AttributeName: 'GSI1PK', KeyType: 'HASH' }, { AttributeName: 'GSI1SK', KeyType: 'RANGE' }], Projection: { ProjectionType: 'ALL' } }],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
  const items = [];
  for (let room = 0; room < 6; room++) {
    const PK = { S: `ROOM#R${100 + room}` };
    items.push({ PK, SK: { S: 'META' }, status: { S: room % 2 ? 'playing' : 'lobby' }, options: { M: { rounds: { N: '20' } } }, ttl: { N: '4000000000' } });
    for (let player = 0; player < 4; player++)
      items.push({ PK, SK: { S: `PLAYER#p${player}` }, name: { S: `Player ${player}` }, points: { N: String(player * 50) } });
  }
  for (let user = 0; user < 60; user++)
    items.push({
      PK: { S: 'LB#daily#global' }, SK: { S: `USER#u${user}` }, score: { N: String(user * 17) },
      GSI1PK: { S: 'LB#daily#global' }, GSI1SK: { S: String(user * 17).padStart(10, '0') },
    });
  await putAll(endpoint, name, items);
  return items.length;
}

// A visitor with the console open; `show(path)` goes to one of its pages by its address.
export async function openConsole(browser, endpoint, options = {}) {
  const visitor = await newVisitor(browser, endpoint, { viewport: DESKTOP, ...options });
  const { page } = visitor;
  // The page of just that title: "Golf" is not "golf:season", which stood there before.
  visitor.titled = (title) => page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
  return {
    ...visitor,
    async show(path, title) {
      await visitor.open(`/console${path}`);
      await visitor.titled(title);
    },
    unlock: () => page.getByRole('button', { name: 'Unlock changes' }).click(),
    // Types the name in the dialog that asks for it.
    async confirm(name, verb) {
      const dialog = page.getByRole('dialog').filter({ has: page.getByLabel('to confirm') });
      await dialog.getByLabel('to confirm').fill(name);
      await dialog.getByRole('button', { name: verb, exact: true }).click();
    },
    // With all in it that it asks for: a page that still waits would pass with less.
    async accessible(where) {
      await page.waitForFunction(() => !document.querySelector('main .wait'));
      await checkAccessibility(page, where);
    },
  };
}
