// The board: a button for each column, so that fingers, keys and screen readers all find them.
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Game } from "./game";
import { freeIn } from "./game";
import { Piece } from "./Piece";
import type { Words } from "./words";

interface BoardProps {
  game: Game;
  words: Words;
  mine: string; // our piece, while it is our turn; empty otherwise
  onDrop(column: number): void;
}

interface ColumnProps extends BoardProps {
  column: number;
}

function Column({ game, words, mine, onDrop, column }: ColumnProps) {
  const free = freeIn(game, column);
  const names = game.sides.map(({ player }) => player?.name ?? words.gone);
  const cells = Array.from({ length: game.rows }, (_, row) => row * game.columns + column - 1);
  const inside = cells.map((cell) => names[Number(game.board[cell]) - 1]).filter(Boolean);
  return (
    <button
      class="four-column"
      data-column={column}
      aria-disabled={mine === "" || free === 0}
      aria-label={[words.column(column, free), ...inside].join(", ")}
      onClick={() => onDrop(column)}
    >
      <span class="four-above">{mine !== "" && free > 0 && <Piece piece={mine} />}</span>
      {cells.reverse().map((cell, fromTop) => {
        const piece = game.board[cell]!;
        const fresh = game.move?.cell === cell;
        const won = game.line.has(cell);
        return (
          <span key={cell} class={`four-cell ${won ? "won" : ""}`} style={{ "--fall": fromTop + 1 }}>
            {piece !== "." && <Piece key={`${piece}${game.turnNumber > 0}`} piece={piece} class={fresh ? "fresh" : ""} />}
          </span>
        );
      })}
    </button>
  );
}

/** Digits drop, arrows go from column to column. */
function useKeys(columns: number, onDrop: (column: number) => void) {
  const ref = useRef<HTMLDivElement>(null);
  const latest = useRef(onDrop);
  latest.current = onDrop;
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
      const digit = Number(event.key);
      if (digit >= 1 && digit <= columns) latest.current(digit);
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (step === 0) return;
      const buttons = [...ref.current!.querySelectorAll("button")];
      const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
      const next = at < 0 ? Math.floor(columns / 2) : (at + step + columns) % columns;
      buttons[next]!.focus();
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [columns]);
  return ref;
}

export function Board(props: BoardProps) {
  const { columns, hindi } = props.game;
  const ref = useKeys(columns, props.onDrop);
  return (
    <div class={`four-board ${props.mine ? "mine" : ""}`} ref={ref} role="group" aria-label={hindi ? "बोर्ड" : "Board"}>
      {Array.from({ length: columns }, (_, i) => (
        <Column key={i} column={i + 1} {...props} />
      ))}
    </div>
  );
}
