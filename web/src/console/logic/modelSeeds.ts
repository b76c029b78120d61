// The four designs to start from, and an empty one.
import { TABLE, type AccessPattern, type Field, type FieldType, type KeyTemplate, type Model, type ModelEntity, type PatternKind } from "./model";

function fields(text: string): Field[] {
  return text.split(" ").map((word) => {
    const [name, type = "S"] = word.split(":");
    return { name, type: type as FieldType };
  });
}

interface EntitySketch {
  fields: string;
  key: [string, string];
  more?: Record<string, [string, string]>;
  count: number;
  bytes: number;
}

const COLUMN = 310;
const ROW = 270;

function entity(name: string, at: number, sketch: EntitySketch): ModelEntity {
  const keys: Record<string, KeyTemplate> = { [TABLE]: { pk: sketch.key[0], sk: sketch.key[1] } };
  for (const [index, [pk, sk]] of Object.entries(sketch.more ?? {})) keys[index] = { pk, sk };
  return {
    name,
    fields: fields(sketch.fields),
    keys,
    count: sketch.count,
    bytes: sketch.bytes,
    x: 20 + (at % 3) * COLUMN,
    y: 20 + Math.floor(at / 3) * ROW,
  };
}

type Asked = [name: string, kind: PatternKind, entity: string, given: string, rate: number, more?: Partial<AccessPattern>];

function pattern([name, kind, of, given, rate, more]: Asked): AccessPattern {
  return {
    name,
    kind,
    entity: of,
    given: given === "" ? [] : given.split(" "),
    from: "",
    descending: false,
    items: 1,
    rate,
    hottest: 0,
    ...more,
  };
}

const single = { name: TABLE, pk: "PK", sk: "SK", skType: "S" as const };

export const leaderboard: Model = {
  name: "Leaderboard",
  table: "leaderboard",
  ttl: "",
  indexes: [
    { name: TABLE, pk: "pk", sk: "sk", skType: "S" },
    { name: "GSI1", pk: "gsi1pk", sk: "gsi1sk", skType: "S" },
    { name: "GSI2", pk: "gsi2pk", sk: "gsi2sk", skType: "S" },
  ],
  entities: [
    entity("Player", 0, {
      fields: "playerId name email lifetimeScore:N gamesPlayed:N",
      key: ["PLAYER#${playerId}", "#METADATA"],
      more: { GSI1: ["PLAYER_EMAIL#${email}", "PLAYER#${playerId}"] },
      count: 100000,
      bytes: 320,
    }),
    entity("Leaderboard", 1, {
      fields: "leaderboardId name kind startsAt endsAt",
      key: ["LEADERBOARD#${leaderboardId}", "#METADATA"],
      count: 40,
      bytes: 220,
    }),
    entity("Score", 2, {
      fields: "leaderboardId playerId score:N attainedAt",
      key: ["LEADERBOARD#${leaderboardId}", "SCORE#${score:10}#${playerId}"],
      more: { GSI1: ["PLAYER#${playerId}", "SCORE#${leaderboardId}"] },
      count: 1000000,
      bytes: 260,
    }),
    entity("Session", 3, {
      fields: "playerId sessionId gameId score:N durationSec:N",
      key: ["PLAYER#${playerId}", "SESSION#${sessionId}"],
      more: { GSI2: ["GAME#${gameId}", "SESSION#${sessionId}"] },
      count: 5000000,
      bytes: 300,
    }),
  ],
  patterns: (
    [
      ["AP1 Player by id", "get", "Player", "playerId", 200],
      ["AP2 Player by e-mail", "query", "Player", "email", 5],
      ["AP3 Top scores of a board", "query", "Score", "leaderboardId", 300, { from: "score", descending: true, items: 100, hottest: 60 }],
      ["AP4 Player's score on a board", "query", "Score", "playerId leaderboardId", 50],
      ["AP5 Player's scores on all boards", "query", "Score", "playerId", 20, { items: 12 }],
      ["AP6 Player's recent sessions", "query", "Session", "playerId", 30, { items: 20, descending: true }],
      ["AP7 Sessions of a game", "query", "Session", "gameId", 2, { items: 50 }],
      ["AP8 One session", "get", "Session", "playerId sessionId", 10],
      ["AP9 A board", "get", "Leaderboard", "leaderboardId", 300, { hottest: 60 }],
      ["AP10 Rank on a board", "count", "Score", "leaderboardId", 20, { from: "score", descending: true, items: 5000, hottest: 60 }],
      ["Submit a score", "put", "Score", "leaderboardId playerId score", 400, { hottest: 60 }],
      ["Record a session", "put", "Session", "playerId sessionId gameId", 400],
    ] as Asked[]
  ).map(pattern),
  values: { playerId: 100000, email: 100000, leaderboardId: 40, gameId: 8, sessionId: 5000000 },
};

export const kauwaUdd: Model = {
  name: "Kauwa Udd",
  table: "kauwa-udd",
  ttl: "ttl",
  indexes: [single, { name: "GSI1", pk: "GSI1PK", sk: "GSI1SK", skType: "S" }],
  entities: [
    entity("Thing", 0, { fields: "id emoji en hi flies:BOOL", key: ["OBJ#${id}", "META"], count: 60, bytes: 120 }),
    entity("Room", 1, { fields: "code status host ttl:N", key: ["ROOM#${code}", "META"], count: 500, bytes: 400 }),
    entity("RoomPlayer", 2, { fields: "code playerId name points:N ttl:N", key: ["ROOM#${code}", "PLAYER#${playerId}"], count: 4000, bytes: 200 }),
    entity("Round", 3, { fields: "code n:N object ttl:N", key: ["ROOM#${code}", "ROUND#${n}"], count: 10000, bytes: 160 }),
    entity("Reaction", 4, { fields: "code n:N playerId at:N ttl:N", key: ["ROOM#${code}", "CLICK#${n}#${playerId}"], count: 80000, bytes: 140 }),
    entity("UserStats", 5, { fields: "id plays:N best:N", key: ["USER#${id}", "STATS"], count: 20000, bytes: 180 }),
    entity("BoardEntry", 6, {
      fields: "period scope id score:N name",
      key: ["LB#${period}#${scope}", "USER#${id}"],
      more: { GSI1: ["LB#${period}#${scope}", "${score:10}"] },
      count: 60000,
      bytes: 220,
    }),
  ],
  patterns: (
    [
      ["A room with all in it", "query", "RoomPlayer", "code", 80, { items: 30 }],
      ["Reactions of a round", "query", "Reaction", "code n", 60, { items: 8 }],
      ["A reaction", "put", "Reaction", "code n playerId", 500],
      ["Open a round", "put", "Round", "code n", 60],
      ["Top of a board", "query", "BoardEntry", "period scope", 50, { from: "score", descending: true, items: 20, hottest: 50 }],
      ["Keep a player's best", "update", "BoardEntry", "period scope id", 60, { hottest: 30 }],
      ["A user's statistics", "get", "UserStats", "id", 40],
      ["What flies", "get", "Thing", "id", 60],
    ] as Asked[]
  ).map(pattern),
  values: { id: 20000, code: 500, playerId: 4000, n: 20, period: 3, scope: 500 },
};

export const snakes: Model = {
  name: "Snakes and ladders",
  table: "snakes",
  ttl: "TTL",
  indexes: [single, { name: "GSI1", pk: "GSI1PK", sk: "GSI1SK", skType: "S" }],
  entities: [
    entity("Game", 0, {
      fields: "code status creatorId createdAt TTL:N",
      key: ["GAME#${code}", "METADATA"],
      more: { GSI1: ["GAMES", "${createdAt}"] },
      count: 2000,
      bytes: 900,
    }),
    entity("Player", 1, {
      fields: "code playerId name colour position:N joinedAt TTL:N",
      key: ["GAME#${code}", "PLAYER#${playerId}"],
      more: { GSI1: ["PLAYER#${playerId}", "${joinedAt}"] },
      count: 8000,
      bytes: 300,
    }),
    entity("Connection", 2, {
      fields: "connectionId playerId code connectedAt TTL:N",
      key: ["CONNECTION#${connectionId}", "METADATA"],
      more: { GSI1: ["GAME#${code}", "CONNECTION#${connectionId}"] },
      count: 3000,
      bytes: 220,
    }),
  ],
  patterns: (
    [
      ["A game", "get", "Game", "code", 50],
      ["Players of a game", "query", "Player", "code", 50, { items: 4 }],
      ["A player by id", "query", "Player", "playerId", 10],
      ["A connection", "get", "Connection", "connectionId", 30],
      ["Connections of a game", "query", "Connection", "code", 50, { items: 4 }],
      ["Games, the newest first", "query", "Game", "", 5, { from: "createdAt", descending: true, items: 20 }],
      ["Move a piece", "update", "Player", "code playerId", 50],
      ["Connect", "put", "Connection", "connectionId code playerId", 5],
    ] as Asked[]
  ).map(pattern),
  values: { code: 2000, playerId: 8000, connectionId: 3000 },
};

export const nexus: Model = {
  name: "Nexus",
  table: "LeaderboardService",
  ttl: "",
  indexes: [
    single,
    { name: "RankIndex", pk: "PK", sk: "Score", skType: "N" },
    { name: "UserIndex", pk: "UserID", sk: "PK", skType: "S" },
  ],
  entities: [
    entity("Entry", 0, {
      fields: "GameID TimeFrame UserID Score:N PlayerName Timestamp",
      key: ["LEADERBOARD#${GameID}#${TimeFrame}", "USER#${UserID}"],
      more: {
        RankIndex: ["LEADERBOARD#${GameID}#${TimeFrame}", "${Score}"],
        UserIndex: ["${UserID}", "LEADERBOARD#${GameID}#${TimeFrame}"],
      },
      count: 2000000,
      bytes: 280,
    }),
  ],
  patterns: (
    [
      ["Submit a score", "put", "Entry", "GameID TimeFrame UserID Score", 300, { hottest: 40 }],
      ["Top players", "query", "Entry", "GameID TimeFrame", 200, { from: "Score", descending: true, items: 50, hottest: 50 }],
      ["A user's score", "get", "Entry", "GameID TimeFrame UserID", 100, { hottest: 40 }],
      ["A user's rank", "count", "Entry", "GameID TimeFrame", 40, { from: "Score", descending: true, items: 20000, hottest: 50 }],
      ["All boards of a user", "query", "Entry", "UserID", 20, { items: 12 }],
    ] as Asked[]
  ).map(pattern),
  values: { GameID: 6, TimeFrame: 4, UserID: 200000 },
};

export const empty: Model = {
  name: "New design",
  table: "game",
  ttl: "",
  indexes: [single],
  entities: [],
  patterns: [],
  values: {},
};

export const SEEDS: Model[] = [leaderboard, kauwaUdd, snakes, nexus];

/** Entities that can be laid on the canvas as they are. */
export const PALETTE: ModelEntity[] = leaderboard.entities;
