// Rooms full of bots, and the server killed in the middle.
//
//   node tests/crash/rooms.mjs [--rooms 100] [--bots 400] [--rounds 4] [--seconds 1] [--kills 1] [--game kauwa-udd]
//
// The bots are `gametable play`. The server is ended by SIGKILL while they play and started again
// on the same folder and port; the bots come back by themselves. Then every match must have ended
// once, and every board must add up to what the matches' records say: the daily, weekly and all-time
// boards keep each player's best, a room's board the sum, and so do the players' own records.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { program, startServer, temporaryFolder } from '../lib/server.mjs';

const { values: options } = parseArgs({ options: {
  rooms: { type: 'string', default: '100' },
  bots: { type: 'string', default: '400' },
  rounds: { type: 'string', default: '4' },
  seconds: { type: 'string', default: '1' },
  kills: { type: 'string', default: '2' },
  game: { type: 'string', default: 'kauwa-udd' },
} });
const rooms = Number(options.rooms);
const bots = Number(options.bots);
const kills = Number(options.kills);
const data = path.join(temporaryFolder(), 'data');
const serve = (http) => startServer({ data, ...(http && { http }), args: ['--max-connections', String(bots + 1000)] });

let server = await serve();
const http = `127.0.0.1:${server.port}`;
const dynamo = new DynamoDBClient({ endpoint: server.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } });

// All items whose partition begins so.
async function scan(prefix) {
  const found = [];
  let ExclusiveStartKey;
  do {
    const page = await dynamo.send(new ScanCommand({
      TableName: 'gametable', FilterExpression: 'begins_with(PK, :p)', ExpressionAttributeValues: { ':p': { S: prefix } }, ExclusiveStartKey,
    }));
    for (const item of page.Items) found.push(unmarshall(item));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return found;
}

async function playing() {
  const answer = await fetch(`${server.endpoint}/v1/rooms?kind=${options.game}&status=playing&limit=1`);
  return (await answer.json()).rooms.length > 0;
}

const player = spawn(program, ['play', '--url', server.endpoint, '--game', options.game, '--bots', options.bots, '--rooms', options.rooms,
  '--rounds', options.rounds, '--seconds', options.seconds, '--limit', '600'], { stdio: ['ignore', 'pipe', 'pipe'] });
process.on('exit', () => player.kill('SIGKILL'));
let printed = '';
player.stdout.on('data', (part) => { printed += part; });
player.stderr.on('data', (part) => { printed += part; });
const ended = once(player, 'exit');
while (!(await playing())) {
  assert.equal(player.exitCode, null, printed);
  await sleep(50);
}
const matchMs = 3000 + Number(options.rounds) * Number(options.seconds) * 1000;
for (let i = 0; i < kills; i++) {
  await sleep((matchMs / (kills + 1)) * (0.7 + 0.6 * Math.random()));
  await server.stop('SIGKILL');
  console.log(`killed in the middle${player.exitCode === null ? '' : ' (too late: the bots are done)'}`);
  server = await serve(http);
}
const [code] = await ended;
console.log(printed.replace(/^.*\r/gm, '').trim());
assert.equal(code, 0, 'every bot has seen its match end');

const matches = await scan('MATCH#');
const metas = (await scan('ROOM#')).filter(({ SK }) => SK === 'META');
assert.equal(metas.length, rooms);
assert.ok(metas.every(({ status, match, GSI2PK }) => status === 'over' && match === 1 && GSI2PK === undefined), 'every match has ended, no clock runs');
assert.equal(matches.length, rooms, 'each was recorded once');
assert.equal(new Set(matches.map((match) => match.code)).size, rooms);
if (options.game === 'kauwa-udd') assert.ok(metas.every(({ round }) => round === Number(options.rounds)), 'no round twice, none left out');

const best = new Map();
const sum = new Map();
const wins = new Map();
const inRoom = new Map();
for (const match of matches) {
  for (const { player: who, points, place } of match.results) {
    best.set(who, Math.max(best.get(who) ?? -Infinity, points));
    sum.set(who, (sum.get(who) ?? 0) + points);
    wins.set(who, (wins.get(who) ?? 0) + (place === 1 ? 1 : 0));
    inRoom.set(`${match.code} ${who}`, (inRoom.get(`${match.code} ${who}`) ?? 0) + points);
  }
}
assert.equal(best.size, bots);

const found = { daily: new Map(), weekly: new Map(), all: new Map(), room: new Map() };
for (const { PK, SK, score } of await scan(`BOARD#${options.game}:`)) {
  const [, which] = PK.slice('BOARD#'.length).split(/[:@{|/]/);
  if (score === undefined || found[which] === undefined) continue;
  if (which === 'room') found.room.set(`${/room:([A-Z0-9]{5})/.exec(PK)[1]} ${SK}`, score);
  else found[which].set(SK, Math.max(found[which].get(SK) ?? -Infinity, score));
}
const same = (a, b, what) => assert.deepEqual([...a].sort(), [...b].sort(), `${what} adds up to the matches' records`);
for (const which of ['daily', 'weekly', 'all']) same(found[which], best, which);
same(found.room, inRoom, 'the rooms\' boards');
const records = (await scan('PLAYER#')).filter(({ SK }) => SK === `RECORD#${options.game}`);
same(records.map(({ PK, points, best: most, wins: won, matches: count }) => [PK, points, most, won, count].join(' ')),
  [...best.keys()].map((who) => [`PLAYER#${who}`, sum.get(who), best.get(who), wins.get(who), 1].join(' ')), 'what players did');
dynamo.destroy();
assert.equal(await server.stop(), 0);
console.log(`${rooms} rooms, ${bots} bots, ${kills} kills: every match ended once, and the boards add up`);
