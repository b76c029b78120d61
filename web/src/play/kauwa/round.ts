// What the server tells of Kauwa Udd, with its types.
import type { RoomState } from "../../client";

export interface Called {
  n: number;
  emoji: string;
  en: string;
  hi: string;
}

export interface OpenRound extends Called {
  status: "open" | "done";
  startsAt: number;
  endsAt: number;
}

export interface Verdict {
  points: number;
  right: boolean;
  afterMs?: number;
  away?: boolean;
}

export interface LastRound extends Called {
  flies: boolean;
  results: Record<string, Verdict>;
  void?: boolean; // no server judged it in time
}

export interface Match {
  first: number;
  rounds: number;
  startsAt: number;
  last: LastRound | undefined;
  round: OpenRound | null; // of this match
  hindi: boolean;
}

export function matchOf({ room, round }: RoomState): Match {
  const { first = 1, rounds = 0, startsAt = 0, last } = room.state as Partial<Match>;
  const open = round !== null && round.n >= first ? (round as unknown as OpenRound) : null;
  return { first, rounds, startsAt, last, round: open, hindi: room.options["language"] === "hi" };
}

export function nameOf(called: Called, hindi: boolean): string {
  return hindi ? called.hi : called.en;
}
