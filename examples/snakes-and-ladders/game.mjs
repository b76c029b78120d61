// The access patterns, and the writes that settle races by their conditions.
import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { landing, standardBoard } from './board.mjs';
import { inADay, table } from './table.mjs';

const gameKey = (code) => ({ PK: `GAME#${code}`, SK: 'METADATA' });
const playerKey = (code, id) => ({ PK: `GAME#${code}`, SK: `PLAYER#${id}` });
const connectionKey = (id) => ({ PK: `CONNECTION#${id}`, SK: 'METADATA' });
const now = () => new Date().toISOString();

// --- the five access patterns ---

export async function getGame(ddb, code) {
  return (await ddb.send(new GetCommand({ TableName: table, Key: gameKey(code), ConsistentRead: true }))).Item;
}

export async function getPlayers(ddb, code) {
  const { Items } = await ddb.send(new QueryCommand({
    TableName: table,
    KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
    ExpressionAttributeValues: { ':pk': `GAME#${code}`, ':sk': 'PLAYER#' },
    ConsistentRead: true,
  }));
  return Items;
}

export async function getPlayerById(ddb, playerId) {
  const { Items } = await ddb.send(new QueryCommand({
    TableName: table,
    IndexName: 'GSI1',
    KeyConditionExpression: 'GSI1PK = :pk',
    ExpressionAttributeValues: { ':pk': `PLAYER#${playerId}` },
  }));
  return Items[0];
}

export async function getConnection(ddb, connectionId) {
  return (await ddb.send(new GetCommand({ TableName: table, Key: connectionKey(connectionId) }))).Item;
}

// Whom to tell about a move.
export async function getConnections(ddb, code) {
  const { Items } = await ddb.send(new QueryCommand({
    TableName: table,
    IndexName: 'GSI1',
    KeyConditionExpression: 'GSI1PK = :pk AND begins_with(GSI1SK, :sk)',
    ExpressionAttributeValues: { ':pk': `GAME#${code}`, ':sk': 'CONNECTION#' },
  }));
  return Items;
}

// The game and all its players in one round trip.
export async function getGameWithPlayers(ddb, code) {
  const { Items } = await ddb.send(new QueryCommand({
    TableName: table,
    KeyConditionExpression: 'PK = :pk',
    ExpressionAttributeValues: { ':pk': `GAME#${code}` },
    ConsistentRead: true,
  }));
  return { game: Items.find(({ SK }) => SK === 'METADATA'), players: Items.filter(({ SK }) => SK.startsWith('PLAYER#')) };
}

// The newest games first, through the games' own partition of the index.
export async function listGames(ddb, limit = 20) {
  const { Items } = await ddb.send(new QueryCommand({
    TableName: table,
    IndexName: 'GSI1',
    KeyConditionExpression: 'GSI1PK = :pk',
    ExpressionAttributeValues: { ':pk': 'GAMES' },
    ScanIndexForward: false,
    Limit: limit,
  }));
  return Items;
}

// --- games and players ---

// False when the code is taken.
export async function createGame(ddb, code, creatorId, board = standardBoard) {
  const at = now();
  return unlessRefused(ddb.send(new PutCommand({
    TableName: table,
    Item: {
      ...gameKey(code), code, status: 'waiting', creatorId, board, winnerId: null, turn: 0, createdAt: at, updatedAt: at,
      GSI1PK: 'GAMES', GSI1SK: at, TTL: inADay(),
    },
    ConditionExpression: 'attribute_not_exists(PK)',
  })));
}

export async function joinGame(ddb, code, { id = randomUUID(), name, color }) {
  const at = now();
  await ddb.send(new PutCommand({
    TableName: table,
    Item: {
      ...playerKey(code, id), id, gameCode: code, name, color, position: 0, isConnected: false, joinedAt: at,
      GSI1PK: `PLAYER#${id}`, GSI1SK: at, TTL: inADay(),
    },
    ConditionExpression: 'attribute_not_exists(PK)',
  }));
  return id;
}

// Only one of those who press the button starts it.
export async function startGame(ddb, code) {
  return unlessRefused(ddb.send(new UpdateCommand({
    TableName: table,
    Key: gameKey(code),
    UpdateExpression: 'SET #status = :playing, updatedAt = :now',
    ConditionExpression: '#status = :waiting',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':playing': 'playing', ':waiting': 'waiting', ':now': now() },
  })));
}

// --- a move ---

// Whose turn it is, players taking turns in the order of their ids.
export const atTurn = ({ game, players }) => players[game.turn % players.length];

// Moves the player who is at turn in `seen` (from getGameWithPlayers) and tells where to; undefined when
// another move was first. The turn's number on the game decides: one writer can take it on.
export async function move(ddb, seen, roll) {
  const { game, players } = seen;
  const player = atTurn({ game, players });
  if (!await takeTurn(ddb, game)) return undefined;
  const position = landing(game.board, player.position, roll);
  await ddb.send(new UpdateCommand({
    TableName: table,
    Key: playerKey(game.code, player.id),
    UpdateExpression: 'SET #position = :to',
    ConditionExpression: '#position = :from',
    ExpressionAttributeNames: { '#position': 'position' },
    ExpressionAttributeValues: { ':from': player.position, ':to': position },
  }));
  const won = position === game.board.size && await claimVictory(ddb, game.code, player.id);
  return { playerId: player.id, position, won };
}

function takeTurn(ddb, { code, turn }) {
  return unlessRefused(ddb.send(new UpdateCommand({
    TableName: table,
    Key: gameKey(code),
    UpdateExpression: 'SET turn = turn + :one, updatedAt = :now',
    ConditionExpression: '#status = :playing AND turn = :turn',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':one': 1, ':turn': turn, ':playing': 'playing', ':now': now() },
  })));
}

// There is one winner, however many ask.
export function claimVictory(ddb, code, playerId) {
  return unlessRefused(ddb.send(new UpdateCommand({
    TableName: table,
    Key: gameKey(code),
    UpdateExpression: 'SET #status = :finished, winnerId = :me, updatedAt = :now',
    ConditionExpression: '#status = :playing AND winnerId = :nobody',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':finished': 'finished', ':playing': 'playing', ':me': playerId, ':nobody': null, ':now': now() },
  })));
}

// --- connections ---

export async function connectPlayer(ddb, code, playerId, connectionId) {
  await ddb.send(new PutCommand({
    TableName: table,
    Item: {
      ...connectionKey(connectionId), connectionId, playerId, gameCode: code, connectedAt: now(),
      GSI1PK: `GAME#${code}`, GSI1SK: `CONNECTION#${connectionId}`, TTL: inADay(),
    },
  }));
  await ddb.send(new UpdateCommand({
    TableName: table,
    Key: playerKey(code, playerId),
    UpdateExpression: 'SET connectionId = :id, isConnected = :yes',
    ConditionExpression: 'attribute_exists(PK)',
    ExpressionAttributeValues: { ':id': connectionId, ':yes': true },
  }));
}

// A player who has come back by another connection meanwhile stays connected.
export async function disconnect(ddb, connectionId) {
  const { Attributes } = await ddb.send(new DeleteCommand({
    TableName: table, Key: connectionKey(connectionId), ReturnValues: 'ALL_OLD',
  }));
  if (!Attributes) return;
  await unlessRefused(ddb.send(new UpdateCommand({
    TableName: table,
    Key: playerKey(Attributes.gameCode, Attributes.playerId),
    UpdateExpression: 'SET isConnected = :no REMOVE connectionId',
    ConditionExpression: 'connectionId = :id',
    ExpressionAttributeValues: { ':id': connectionId, ':no': false },
  })));
}

async function unlessRefused(write) {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
