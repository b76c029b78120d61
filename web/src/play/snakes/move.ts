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
  turnAt: number; // when the turn's clock begins to run
  move: Move | null; // the last one of this match
}

export function positionOf(player: Player): number {
  return Number(player.state["position"] ?? 0);
}

export function gameOf({ room, round }: RoomState): Game {
  const { turn = "", turnNumber = 1, squares = 100, board = [], turnAt = 0 } = room.state as Partial<Game>;
  // The first turn is before any move: an older round is of the match before.
  const move = round !== null && (turnNumber > 1 || room.status === "over") ? (round as unknown as Move) : null;
  return { turn, turnNumber, squares, board, turnAt, move };
}

/** In words; `name` is empty if it was us. */
export function tell(move: Move, name: string): string {
  const who = name || "You";
  const verb = (plain: string) => (name ? `${plain}s` : plain);
  const late = move.byClock ? " (by the clock)" : "";
  const rolled = `${who} rolled ${move.roll}${late}`;
  if (move.landed === move.from) return `${rolled} and ${verb("stay")} on ${move.from}`;
  if (move.to > move.landed) return `${rolled} and ${verb("climb")} from ${move.landed} to ${move.to}`;
  if (move.to < move.landed) return `${rolled} and ${verb("slip")} from ${move.landed} to ${move.to}`;
  return `${rolled}, now on ${move.to}`;
}
