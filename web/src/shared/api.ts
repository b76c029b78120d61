// The one client of these pages.
import { ApiError, Client } from "../client";
import { inviteTo, key } from "./store";

/** With the invitation to the room, if we came by one and have nothing better. */
export function api(room = ""): Client {
  const given = key.get();
  const invite = inviteTo(room);
  if (given) return new Client({ key: given });
  return new Client(invite ? { invite } : {});
}

export function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return "The server cannot be reached.";
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.problem.status === status;
}
