// The four entities. Keys are made by ElectroDB from the templates, never by hand.
import electrodb from 'electrodb';
import { client, table } from './table.mjs';

const { Entity, Service } = electrodb;
const config = { client, table };
const now = () => new Date().toISOString();
const created = { type: 'string', required: true, default: now, readOnly: true };

// ElectroDB writes keys in lower case unless told to keep them as the templates have them.
const key = (field, composite, template) => ({ field, composite, template, casing: 'none' });

// Wide enough for ten billion; it cannot be changed while a board lives.
const digits = 10;

export const PlayerEntity = new Entity({
  model: { entity: 'player', version: '1', service: 'leaderboard' },
  attributes: {
    playerId: { type: 'string', required: true },
    name: { type: 'string', required: true },
    email: { type: 'string', required: true },
    lifetimeScore: { type: 'number', required: true, default: 0 },
    gamesPlayed: { type: 'number', required: true, default: 0 },
    // The best score by board: the item whose condition decides which submission stands.
    best: { type: 'any', required: true, default: () => ({}) },
    // How far the stream has been counted in; see projection.mjs.
    countedTo: { type: 'string', hidden: true },
    createdAt: created,
    updatedAt: { type: 'string', required: true, default: now, set: now, watch: '*' },
  },
  indexes: {
    primary: {
      pk: key('pk', ['playerId'], 'PLAYER#${playerId}'),
      sk: key('sk', [], '#METADATA'),
    },
    byEmail: {
      index: 'GSI1',
      pk: key('gsi1pk', ['email'], 'PLAYER_EMAIL#${email}'),
      sk: key('gsi1sk', ['playerId'], 'PLAYER#${playerId}'),
    },
  },
}, config);

export const LeaderboardEntity = new Entity({
  model: { entity: 'leaderboard', version: '1', service: 'leaderboard' },
  attributes: {
    leaderboardId: { type: 'string', required: true },
    name: { type: 'string', required: true },
    type: { type: ['daily', 'weekly', 'season', 'global'], required: true },
    startsAt: { type: 'string', required: true },
    endsAt: { type: 'string' },
    createdAt: created,
  },
  indexes: {
    primary: {
      pk: key('pk', ['leaderboardId'], 'LEADERBOARD#${leaderboardId}'),
      sk: key('sk', [], '#METADATA'),
    },
  },
}, config);

export const ScoreEntity = new Entity({
  model: { entity: 'score', version: '1', service: 'leaderboard' },
  attributes: {
    leaderboardId: { type: 'string', required: true },
    playerId: { type: 'string', required: true },
    // In keys ElectroDB writes it with leading zeroes, so that the order of strings is that of numbers.
    score: {
      type: 'number',
      required: true,
      padding: { length: digits, char: '0' },
      validate: (score) => Number.isInteger(score) && score >= 0 && score < 10 ** digits,
    },
    attainedAt: { type: 'string', required: true, default: now },
  },
  indexes: {
    board: {
      pk: key('pk', ['leaderboardId'], 'LEADERBOARD#${leaderboardId}'),
      sk: key('sk', ['score', 'playerId'], 'SCORE#${score}#${playerId}'),
    },
    byPlayer: {
      index: 'GSI1',
      pk: key('gsi1pk', ['playerId'], 'PLAYER#${playerId}'),
      sk: key('gsi1sk', ['leaderboardId'], 'SCORE#${leaderboardId}'),
    },
  },
}, config);

export const SessionEntity = new Entity({
  model: { entity: 'session', version: '1', service: 'leaderboard' },
  attributes: {
    sessionId: { type: 'string', required: true },
    playerId: { type: 'string', required: true },
    gameId: { type: 'string', required: true },
    score: { type: 'number', required: true },
    durationSec: { type: 'number', required: true },
    createdAt: created,
  },
  indexes: {
    primary: {
      pk: key('pk', ['playerId'], 'PLAYER#${playerId}'),
      sk: key('sk', ['sessionId'], 'SESSION#${sessionId}'),
    },
    byGame: {
      index: 'GSI2',
      pk: key('gsi2pk', ['gameId'], 'GAME#${gameId}'),
      sk: key('gsi2sk', ['sessionId'], 'SESSION#${sessionId}'),
    },
  },
}, config);

export const service = new Service(
  { player: PlayerEntity, leaderboard: LeaderboardEntity, score: ScoreEntity, session: SessionEntity }, config);
