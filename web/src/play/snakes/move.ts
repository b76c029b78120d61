// What the server tells of snakes and ladders, with its types.
import type { Player, RoomState } from "../../client";

export interface Jump {
  from: number;
  to: number;
}

export interface Move {
  n: number;
  player: string;
  roll: number;
  from: number;
  landed: number;
  to: number;
  byClock: boolean;
}

export interface Game {
  turn: string;
  turnNumber: number;
  squares: number;
  board: Jump[];
  turnMs: number;
  move: Move | null; // the last one of this match
}

export function positionOf(player: Player): number {
  return Number(player.state["position"] ?? 0);
}

export function gameOf({ room, round }: RoomState): Game {
  const { turn = "", turnNumber = 1, squares = 100, board = [] } = room.state as Partial<Game>;
  // The first turn is before any move: an older round is of the match before.
  const move = round !== null && (turnNumber > 1 || room.status === "over") ? (round as unknown as Move) : null;
  const seconds = Number(room.options["turnSeconds"] ?? 15);
  return { turn, turnNumber, squares, board, turnMs: seconds * 1000, move };
}

export function tell(move: Move, name: string): string {
  const late = move.byClock ? " (too slow: rolled by the clock)" : "";
  if (move.landed === move.from) return `${name} rolled ${move.roll} and stays on ${move.from}${late}`;
  if (move.to > move.landed) return `${name} rolled ${move.roll} and climbs from ${move.landed} to ${move.to}${late}`;
  if (move.to < move.landed) return `${name} rolled ${move.roll} and slips from ${move.landed} to ${move.to}${late}`;
  return `${name} rolled ${move.roll}, now on ${move.to}${late}`;
}
