// What the server tells of four in a row, with its types.
import type { Player, RoomState } from "../../client";

export interface Move {
  n: number;
  player: string;
  column: number; // from 1, as rows are
  row: number;
  cell: number;
  byClock: boolean;
}

export interface Side {
  player: Player | undefined; // undefined: has left
  piece: "1" | "2";
}

export interface Game {
  columns: number;
  rows: number;
  board: string; // a character a cell, from the bottom row up: ".", "1" or "2"
  turn: string;
  turnNumber: number;
  turnMs: number;
  sides: Side[];
  line: Set<number>; // the cells that won
  winner: string;
  move: Move | null; // the last one of this match
  hindi: boolean;
}

export function gameOf({ room, players, round }: RoomState): Game {
  const { columns = 7, rows = 6, board = "", turn = "", turnNumber = 0, sides = [], line = [], winner = "" } = room.state as Partial<
    Omit<Game, "sides" | "line"> & { sides: string[]; line: number[] }
  >;
  // Before the first move a round is of the match before.
  const moved = /[12]/.test(board);
  return {
    columns,
    rows,
    board: board.padEnd(columns * rows, "."),
    turn,
    turnNumber,
    turnMs: Number(room.options["turnSeconds"] ?? 20) * 1000,
    sides: sides.map((id, i) => ({ player: players.find(({ player }) => player === id), piece: i === 0 ? "1" : "2" })),
    line: new Set(line),
    winner,
    move: round !== null && moved ? (round as unknown as Move) : null,
    hindi: room.options["language"] === "hi",
  };
}

/** How many more pieces a column (from 1) takes. */
export function freeIn(game: Game, column: number): number {
  let free = 0;
  for (let cell = column - 1; cell < game.board.length; cell += game.columns) if (game.board[cell] === ".") free++;
  return free;
}
