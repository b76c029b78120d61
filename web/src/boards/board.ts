// What the server tells of boards, and how to ask it.
import type { BoardPage, Entry } from "../client";
import { api } from "../shared/api";

export interface Definition {
  id: string;
  game?: string;
  title?: string;
  timeframe: string;
  timeZone: string;
  scopes?: string[]; // not there: everybody's only
  seasons?: { name: string; starts: string; ends: string }[];
  order: "high" | "low";
  keep: string;
  current?: { name: string; starts: string; ends: string } | null; // null: between seasons
}

export interface Place {
  id: string;
  scope: string;
  period: string;
}

export interface Bucket {
  from: number;
  to: number;
  count: number;
}

export interface Period {
  instance: string;
  scope?: string;
  period?: string;
  starts?: string;
  ends?: string;
  sealed: boolean;
  total: number;
  first: Entry[];
}

function query(values: Record<string, string | number>): string {
  const given = Object.entries(values).filter(([, value]) => value !== "");
  return given.length ? `?${given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}` : "";
}

function below({ id }: Place, rest: string): string {
  return `/v1/boards/${encodeURIComponent(id)}${rest}`;
}

/** Whether there is a list of everybody, beside those of rooms and the like. */
export function isForAll(board: Definition): boolean {
  return board.scopes === undefined || board.scopes.includes("global");
}

export interface Boards {
  boards: Definition[];
  next?: string;
}

export function listBoards(cursor = ""): Promise<Boards> {
  return api().ask("GET", `/v1/boards${query({ limit: 100, cursor })}`);
}

/** A board without a definition: its first entry made it. */
export interface PlainBoard {
  instance: string;
  total: number;
}

/** Only for those who may ask for it: a client's key may not. */
export function listPlainBoards(cursor = ""): Promise<{ instances: PlainBoard[]; next?: string }> {
  return api().ask("GET", `/v1/instances${query({ plain: "true", limit: 100, cursor })}`);
}

export function definition(id: string): Promise<Definition> {
  return api().ask("GET", `/v1/boards/${encodeURIComponent(id)}`);
}

const EXACT = { numbers: "string" };

export interface Span {
  from?: number;
  limit: number;
  cursor?: string;
}

export function entries({ id, scope, period }: Place, { from = 1, limit, cursor = "" }: Span): Promise<BoardPage> {
  const start: Record<string, string | number> = cursor ? { cursor } : { from };
  return api().ask("GET", below({ id, scope, period }, `/entries${query({ scope, period, limit, ...start, ...EXACT })}`));
}

/** A member's entry; null: it is not on the board. */
export async function entry(place: Place, member: string): Promise<Entry | null> {
  const { scope, period } = place;
  const path = below(place, `/entries:query${query({ scope, period, ...EXACT })}`);
  const { entries } = await api().ask<{ entries: Entry[] }>("POST", path, { members: [member] });
  return entries[0] ?? null;
}

export function around(place: Place, member: string): Promise<BoardPage> {
  const { scope, period } = place;
  return api().ask("GET", below(place, `/entries/${encodeURIComponent(member)}/around${query({ scope, period, each: 4, ...EXACT })}`));
}

export function rankOf(place: Place, score: string): Promise<{ rank: number; total: number }> {
  const { scope, period } = place;
  return api().ask("GET", below(place, `/rank${query({ scope, period, score })}`));
}

export function histogram(place: Place): Promise<{ total: number; buckets: Bucket[] }> {
  const { scope, period } = place;
  return api().ask("GET", below(place, `/histogram${query({ scope, period, buckets: 24 })}`));
}

export function periods(id: string): Promise<{ periods: Period[] }> {
  return api().ask("GET", `/v1/boards/${encodeURIComponent(id)}/periods?limit=50&numbers=string`);
}

/** The address of a board on these pages. */
export function addressOf(id: string, scope = "", period = ""): string {
  return `/boards/${encodeURIComponent(id)}${query({ scope, period })}`;
}

export function nameOf(entry: Entry): string {
  return entry.name || entry.member;
}
