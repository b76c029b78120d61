// A room is a partition: META, players, rounds and reactions stand under ROOM#<code>.
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { bucketsOf, postScore } from './boards.js';
import { key, type Player, type Reaction, type Room, type Round, type Stats, type Thing } from './entities.js';
import { inHours, type Game } from './table.js';

const roomHours = 6; // rooms, players, rounds and clicks are thrown away after this
const batchSize = 25;
const roundMs = 3000;

export type Lobby = { room: Room; players: Player[]; rounds: Round[] };

// --- content ---

export async function addThings({ ddb, table }: Game, things: Thing[]): Promise<void> {
  for (let i = 0; i < things.length; i += batchSize) {
    let waiting = things.slice(i, i + batchSize).map((thing) => ({ PutRequest: { Item: { ...key.thing(thing.id), ...thing } } }));
    while (waiting.length) {
      const { UnprocessedItems } = await ddb.batchWrite({ RequestItems: { [table]: waiting } });
      waiting = (UnprocessedItems?.[table] ?? []) as typeof waiting;
    }
  }
}

export async function things({ ddb, table }: Game, ids: string[]): Promise<Thing[]> {
  const { Responses } = await ddb.batchGet({ RequestItems: { [table]: { Keys: ids.map(key.thing) } } });
  const found = new Map((Responses?.[table] ?? []).map((item) => [item.id as string, item as Thing]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

// --- rooms ---

// False when the code is taken.
export async function createRoom({ ddb, table }: Game, code: string, hostId: string): Promise<boolean> {
  const room: Room = { code, hostId, status: 'lobby', createdAt: new Date().toISOString() };
  return unlessRefused(ddb.put({
    TableName: table,
    Item: { ...key.room(code), ...room, ttl: inHours(roomHours) },
    ConditionExpression: 'attribute_not_exists(PK)',
  }));
}

// False when this player is already in.
export async function join({ ddb, table }: Game, code: string, playerId: string, name: string): Promise<boolean> {
  const player: Player = { playerId, name, score: 0, joinedAt: new Date().toISOString() };
  return unlessRefused(ddb.put({
    TableName: table,
    Item: { ...key.player(code, playerId), ...player, ttl: inHours(roomHours) },
    ConditionExpression: 'attribute_not_exists(PK)',
  }));
}

// One round trip: META, all PLAYER# and all ROUND# items.
export async function lobby({ ddb, table }: Game, code: string): Promise<Lobby | undefined> {
  const { Items = [] } = await ddb.query({
    TableName: table,
    KeyConditionExpression: 'PK = :pk',
    ExpressionAttributeValues: { ':pk': `ROOM#${code}` },
  });
  const room = Items.find((item) => item.SK === 'META') as Room | undefined;
  const of = <T>(prefix: string) => Items.filter((item) => item.SK.startsWith(prefix)) as T[];
  return room && { room, players: of<Player>('PLAYER#'), rounds: of<Round>('ROUND#') };
}

// --- rounds ---

export async function startRound({ ddb, table }: Game, code: string, n: number, thingId: string): Promise<boolean> {
  const round: Round = { n, thingId, startedAt: Date.now() };
  const started = await unlessRefused(ddb.put({
    TableName: table,
    Item: { ...key.round(code, n), ...round, ttl: inHours(roomHours) },
    ConditionExpression: 'attribute_not_exists(PK)',
  }));
  if (started) await setStatus({ ddb, table }, code, 'playing');
  return started;
}

// The first click counts; false for those that follow.
export async function click({ ddb, table }: Game, code: string, n: number, playerId: string, atMs: number): Promise<boolean> {
  const reaction: Reaction = { n, playerId, atMs };
  return unlessRefused(ddb.put({
    TableName: table,
    Item: { ...key.reaction(code, n, playerId), ...reaction, ttl: inHours(roomHours) },
    ConditionExpression: 'attribute_not_exists(PK)',
  }));
}

// What the game loop reads at the three-second boundary.
export async function reactions({ ddb, table }: Game, code: string, n: number): Promise<Reaction[]> {
  const { Items = [] } = await ddb.query({
    TableName: table,
    KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
    ExpressionAttributeValues: { ':pk': `ROOM#${code}`, ':sk': `CLICK#${n}#` },
  });
  return Items as Reaction[];
}

// A quick click on what flies earns up to 1,000 points; a click on what does not costs 200.
export const pointsOf = (thing: Thing, { atMs }: Reaction): number =>
  thing.flies ? Math.max(0, Math.round(1000 * (1 - atMs / roundMs))) : -200;

export async function settleRound(game: Game, code: string, n: number, thing: Thing): Promise<void> {
  const clicks = await reactions(game, code, n);
  await Promise.all(clicks.map((reaction) =>
    game.ddb.update({
      TableName: game.table,
      Key: key.player(code, reaction.playerId),
      UpdateExpression: 'ADD score :points',
      ConditionExpression: 'attribute_exists(PK)',
      ExpressionAttributeValues: { ':points': pointsOf(thing, reaction) },
    })));
}

// Takes the players' totals to their statistics and to the boards.
export async function finish(game: Game, code: string, at = new Date()): Promise<Player[]> {
  await setStatus(game, code, 'done');
  const players = (await lobby(game, code))?.players ?? [];
  for (const { playerId, name, score } of players) {
    const total = Math.max(0, score);
    await addToStats(game, playerId, total);
    await Promise.all(bucketsOf(at, code).map((board) => postScore(game, board, { userId: playerId, name, score: total })));
  }
  return players;
}

// --- players' statistics ---

export async function stats({ ddb, table }: Game, userId: string): Promise<Stats> {
  const { Item } = await ddb.get({ TableName: table, Key: key.stats(userId), ConsistentRead: true });
  return { games: Item?.games ?? 0, points: Item?.points ?? 0, best: Item?.best ?? 0 };
}

async function addToStats({ ddb, table }: Game, userId: string, points: number): Promise<void> {
  await ddb.update({
    TableName: table,
    Key: key.stats(userId),
    UpdateExpression: 'ADD games :one, points :points',
    ExpressionAttributeValues: { ':one': 1, ':points': points },
  });
  await unlessRefused(ddb.update({
    TableName: table,
    Key: key.stats(userId),
    UpdateExpression: 'SET best = :points',
    ConditionExpression: 'attribute_not_exists(best) OR best < :points',
    ExpressionAttributeValues: { ':points': points },
  }));
}

async function setStatus({ ddb, table }: Pick<Game, 'ddb' | 'table'>, code: string, status: Room['status']): Promise<void> {
  await ddb.update({
    TableName: table,
    Key: key.room(code),
    UpdateExpression: 'SET #status = :status',
    ConditionExpression: 'attribute_exists(PK)',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':status': status },
  });
}

async function unlessRefused(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
