// Boards as the console asks for them. Scores come as text, with every digit.
import { queryText, rest } from "./server";

export interface Season {
  name: string;
  starts: string;
  ends: string;
}

export interface Board {
  id: string;
  game?: string;
  title?: string;
  timeframe: string;
  timeZone?: string;
  seasons?: Season[];
  scopes?: string[];
  order?: string;
  keep?: string;
  ties?: string;
  ranking?: string;
  scoreMin?: string | number | null;
  scoreMax?: string | number | null;
  decimals?: number | null;
  subscores?: boolean;
  entryLifeSeconds?: number;
  periodLifeSeconds?: number;
  needsPlay?: boolean;
  playMinMs?: number;
  playLifeSeconds?: number;
  playScoreMax?: string | number | null;
  sources?: string[];
  combine?: string;
  current?: { name: string; starts: string; ends: string } | null;
  createdAt?: string;
  changedAt?: string;
}

export interface Instance {
  board: string;
  instance: string;
  instanceEncoded?: string;
  scope?: string;
  period?: string;
  starts?: string;
  ends?: string;
  sealed: boolean;
  sealedAt?: string;
  plain?: boolean;
  total: number;
}

export interface Standing {
  member: string;
  memberEncoded?: string;
  rank: number;
  position: number;
  score: string;
  subscore?: string;
  percentile: number;
  name?: string;
  at?: string;
  plays?: number;
  hidden?: boolean;
}

export interface EntriesPage {
  instance: string;
  total: number;
  entries: Standing[];
  next?: string;
  previous?: string;
  sealed: boolean;
}

export function boardPath(id: string, rest_ = ""): string {
  return `/boards/${encodeURIComponent(id)}${rest_}`;
}

export function listBoards(cursor: string, game = ""): Promise<{ boards: Board[]; next?: string }> {
  return rest("GET", `/boards${queryText({ limit: 100, cursor, game, numbers: "string" })}`);
}

export function listInstances(cursor: string, plain: boolean, limit = 100): Promise<{ instances: Instance[]; next?: string }> {
  return rest("GET", `/instances${queryText({ plain, cursor, limit })}`);
}

export function getBoard(id: string): Promise<Board> {
  return rest("GET", `${boardPath(id)}?numbers=string`);
}

export function listPeriods(id: string, cursor = ""): Promise<{ periods: Instance[]; next?: string }> {
  return rest("GET", `${boardPath(id, "/periods")}${queryText({ limit: 100, cursor })}`);
}

export function entries(instance: string, where: { cursor?: string; from?: number }): Promise<EntriesPage> {
  return rest("GET", `${boardPath(instance, "/entries")}${queryText({ limit: 50, numbers: "string", ...where })}`);
}

export function around(instance: string, member: string): Promise<EntriesPage> {
  return rest("GET", `${boardPath(instance, `/entries/${encodeURIComponent(member)}/around`)}${queryText({ each: 10, numbers: "string" })}`);
}
