// Boards: one partition of GSI1 for each period and scope, its sort key the score.
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { key, type Entry } from './entities.js';
import type { Game, ScoreForm } from './table.js';

const digits = 10;

export const scoreKey = (form: ScoreForm, score: number): string | number =>
  form === 'padded' ? String(score).padStart(digits, '0') : score;

// The day or the week is part of the period's name, so a board ends with it and stays readable.
export const period = {
  daily: (at: Date) => `daily:${at.toISOString().slice(0, 10)}`,
  weekly: (at: Date) => `weekly:${isoWeek(at)}`,
  all: () => 'all',
};

export const scope = { global: 'global', room: (code: string) => `room#${code}` };

export const bucket = (periodName: string, scopeName: string): string => `LB#${periodName}#${scopeName}`;

// The six boards that a match in this room counts for.
export const bucketsOf = (at: Date, code: string): string[] =>
  [period.daily(at), period.weekly(at), period.all()].flatMap((p) =>
    [bucket(p, scope.global), bucket(p, scope.room(code))]);

// Keeps the better score; the condition decides between writers. Tells whether it was better.
export async function postScore({ ddb, table, scores }: Game, board: string, entry: Entry): Promise<boolean> {
  try {
    await ddb.update({
      TableName: table,
      Key: key.entry(board, entry.userId),
      UpdateExpression: 'SET score = :score, GSI1SK = :sort, GSI1PK = :board, userId = :id, #name = :name',
      ConditionExpression: 'attribute_not_exists(score) OR score < :score',
      ExpressionAttributeNames: { '#name': 'name' },
      ExpressionAttributeValues: {
        ':score': entry.score, ':sort': scoreKey(scores, entry.score), ':board': board,
        ':id': entry.userId, ':name': entry.name,
      },
    });
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

export async function top({ ddb, table }: Game, board: string, limit = 20): Promise<Entry[]> {
  const { Items = [] } = await ddb.query({
    TableName: table,
    IndexName: 'GSI1',
    KeyConditionExpression: 'GSI1PK = :pk',
    ExpressionAttributeValues: { ':pk': board },
    ScanIndexForward: false, // highest score first
    Limit: limit,
  });
  return Items.map(({ userId, name, score }) => ({ userId, name, score }) as Entry);
}

// How many are better: on this server a count on an index costs as much as a look-up.
export async function rank({ ddb, table, scores }: Game, board: string, score: number): Promise<number> {
  const { Count = 0 } = await ddb.query({
    TableName: table,
    IndexName: 'GSI1',
    KeyConditionExpression: 'GSI1PK = :pk AND GSI1SK > :sk',
    ExpressionAttributeValues: { ':pk': board, ':sk': scoreKey(scores, score) },
    Select: 'COUNT',
  });
  return Count + 1;
}

export async function ownBest({ ddb, table }: Game, board: string, userId: string): Promise<number | undefined> {
  const { Item } = await ddb.get({ TableName: table, Key: key.entry(board, userId) });
  return Item?.score;
}

function isoWeek(at: Date): string {
  const thursday = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()));
  thursday.setUTCDate(thursday.getUTCDate() + 4 - (thursday.getUTCDay() || 7));
  const days = (thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / 86_400_000;
  return `${thursday.getUTCFullYear()}-W${String(Math.floor(days / 7) + 1).padStart(2, '0')}`;
}
