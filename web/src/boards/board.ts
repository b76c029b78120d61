// What the server tells of boards, and how to ask it.
import type { BoardPage, Entry } from "../client";
import { api } from "../shared/api";

export interface Definition {
  id: string;
  game?: string;
  title: string;
  timeframe: string;
  timeZone: string;
  scopes: string[];
  order: "high" | "low";
  keep: string;
  current?: { name: string; starts: string; ends: string };
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

export function listBoards(): Promise<{ boards: Definition[] }> {
  return api().ask("GET", "/v1/boards");
}

export function definition(id: string): Promise<Definition> {
  return api().ask("GET", `/v1/boards/${encodeURIComponent(id)}`);
}

export function first(place: Place, limit: number): Promise<BoardPage> {
  return api().ask("GET", below(place, `/entries${query({ scope: place.scope, period: place.period, limit })}`));
}

export function entry(place: Place, member: string): Promise<{ entry: Entry; total: number }> {
  const { scope, period } = place;
  return api().ask("GET", below(place, `/entries/${encodeURIComponent(member)}${query({ scope, period })}`));
}

export function around(place: Place, member: string): Promise<BoardPage> {
  const { scope, period } = place;
  return api().ask("GET", below(place, `/entries/${encodeURIComponent(member)}/around${query({ scope, period, each: 4 })}`));
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
  return api().ask("GET", `/v1/boards/${encodeURIComponent(id)}/periods?limit=50`);
}

/** The address of a board on these pages. */
export function addressOf(id: string, scope = "", period = ""): string {
  return `/boards/${encodeURIComponent(id)}${query({ scope, period })}`;
}

export function nameOf(entry: Entry): string {
  return entry.name || entry.member;
}
