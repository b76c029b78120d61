import { useMemo } from "preact/hooks";
import type { Player } from "../../client";
import { centre, ladderShape, SIDE, snakeShape, spread } from "./geometry";
import type { Jump } from "./move";
import type { Pieces } from "./usePieces";

function Squares({ squares }: { squares: number }) {
  return (
    <g class="squares">
      {Array.from({ length: squares }, (_, i) => {
        const { x, y } = centre(i + 1);
        return (
          <g key={i}>
            <rect x={x - 5} y={y - 5} width={SIDE} height={SIDE} class={`square tint-${(i + Math.floor(i / SIDE)) % 4}`} />
            <text x={x - 4.2} y={y - 2.3}>
              {i + 1}
            </text>
          </g>
        );
      })}
    </g>
  );
}

function Ladder({ from, to }: Jump) {
  const { rails, rungs } = ladderShape(centre(from), centre(to));
  return (
    <g class="ladder">
      <path class="ladder-shade" d={rails + rungs} />
      <path class="ladder-rungs" d={rungs} />
      <path class="ladder-rails" d={rails} />
    </g>
  );
}

function Snake({ from, to, kind }: Jump & { kind: number }) {
  const head = centre(from);
  const { outline, spine, angle } = snakeShape(head, centre(to), kind % 2);
  return (
    <g class={`snake snake-${kind % 4}`}>
      <path class="snake-body" d={outline} />
      <path class="snake-marks" d={spine} />
      <g transform={`translate(${head.x} ${head.y}) rotate(${angle})`}>
        <path class="snake-tongue" d="M2.2 0h1.6m0 0l.8-.6m-.8.6l.8.6" />
        <ellipse class="snake-body" rx="2.3" ry="1.65" />
        <circle class="snake-eye" cx=".8" cy="-.75" r=".55" />
        <circle class="snake-eye" cx=".8" cy=".75" r=".55" />
        <circle class="snake-pupil" cx="1" cy="-.75" r=".26" />
        <circle class="snake-pupil" cx="1" cy=".75" r=".26" />
      </g>
    </g>
  );
}

interface PieceProps {
  player: Player;
  x: number;
  y: number;
  sliding: boolean;
  turn: boolean;
}

function Piece({ player, x, y, sliding, turn }: PieceProps) {
  return (
    <g class={`piece ${sliding ? "sliding" : ""} ${turn ? "turn" : ""}`} style={{ transform: `translate(${x}px, ${y}px)` }}>
      <ellipse class="piece-shade" cy="1.9" rx="2.2" ry=".8" />
      <circle class="piece-halo" r="3.3" />
      <circle r="2.3" style={{ fill: player.colour }} class="piece-body" />
      <text class="piece-letter" y=".1">
        {[...player.name.trim()][0]?.toUpperCase()}
      </text>
    </g>
  );
}

interface BoardProps {
  board: Jump[];
  squares: number;
  players: Player[];
  pieces: Pieces;
  turn: string;
}

export function Board({ board, squares, players, pieces, turn }: BoardProps) {
  const drawn = useMemo(() => {
    const ladders = board.filter(({ from, to }) => to > from);
    const snakes = board.filter(({ from, to }) => to < from);
    return (
      <>
        <Squares squares={squares} />
        <text class="flag" x={centre(squares).x} y={centre(squares).y + 1.6}>
          🏁
        </text>
        {ladders.map((jump) => (
          <Ladder key={jump.from} {...jump} />
        ))}
        {snakes.map((jump, i) => (
          <Snake key={jump.from} {...jump} kind={i} />
        ))}
      </>
    );
  }, [board.length, squares]);
  const seated = players.filter(({ spectator }) => !spectator);
  const where = (player: string) => pieces.at[player] ?? 0;
  const waiting = seated.some(({ player }) => where(player) <= 0);
  const label = seated.map(({ player, name }) => `${name} on ${where(player)}`).join(", ");
  return (
    <svg class="board" viewBox={`-1 -1 102 ${waiting ? 112 : 102}`} role="img" aria-label={`Board of ${squares} squares: ${label}`}>
      <rect class="board-edge" x="-1" y="-1" width="102" height="102" rx="1.5" />
      {drawn}
      {waiting && (
        <text class="start" x="99" y="107">
          start
        </text>
      )}
      {seated.map((player) => {
        const same = seated.filter((other) => where(other.player) === where(player.player));
        const start = where(player.player) <= 0;
        const { x, y } = centre(where(player.player));
        const by = spread(same.indexOf(player), same.length);
        const dx = start ? same.indexOf(player) * 7 : by.x;
        return (
          <Piece
            key={player.player}
            player={player}
            x={x + dx}
            y={y + (start ? 0 : by.y)}
            sliding={pieces.sliding === player.player}
            turn={turn === player.player}
          />
        );
      })}
    </svg>
  );
}
