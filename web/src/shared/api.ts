// The one client of these pages.
import { ApiError, Client } from "../client";
import { key } from "./store";

export function api(): Client {
  const given = key.get();
  return new Client(given ? { key: given } : {});
}

export function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return "The server cannot be reached.";
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.problem.status === status;
}

export const TITLES: Record<string, string> = {
  "kauwa-udd": "Kauwa Udd",
  "snakes-and-ladders": "Snakes and ladders",
};

export const EMOJI: Record<string, string> = { "kauwa-udd": "🐦‍⬛", "snakes-and-ladders": "🎲" };
