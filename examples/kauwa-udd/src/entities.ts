// The seven entities and their keys. Sign-in adds its own (USER#, ACCOUNT#, SESSION#, VT#).
export type Thing = { id: string; name: string; flies: boolean };
export type Room = { code: string; hostId: string; status: 'lobby' | 'playing' | 'done'; createdAt: string };
export type Player = { playerId: string; name: string; score: number; joinedAt: string };
export type Round = { n: number; thingId: string; startedAt: number };
export type Reaction = { n: number; playerId: string; atMs: number };
export type Stats = { games: number; points: number; best: number };
export type Entry = { userId: string; name: string; score: number };

export const key = {
  thing: (id: string) => ({ PK: `OBJ#${id}`, SK: 'META' }),
  room: (code: string) => ({ PK: `ROOM#${code}`, SK: 'META' }),
  player: (code: string, playerId: string) => ({ PK: `ROOM#${code}`, SK: `PLAYER#${playerId}` }),
  round: (code: string, n: number) => ({ PK: `ROOM#${code}`, SK: `ROUND#${n}` }),
  reaction: (code: string, n: number, playerId: string) => ({ PK: `ROOM#${code}`, SK: `CLICK#${n}#${playerId}` }),
  stats: (userId: string) => ({ PK: `USER#${userId}`, SK: 'STATS' }),
  entry: (bucket: string, userId: string) => ({ PK: bucket, SK: `USER#${userId}` }),
};
