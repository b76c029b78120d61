import type { HeatGrid } from "../../logic/heatGrid";

const CELL = 12;
const ROW = 26;
const LABEL = 210;
const HOUR = 60; // columns, also while there are fewer

function clock(at: string): string {
  return new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

/** A row a partition, a column a minute; the darker, the hotter. The table below it says the same in numbers. */
export function HeatMap({ grid }: { grid: HeatGrid }) {
  if (grid.minutes.length === 0) return null;
  const width = LABEL + Math.max(HOUR, grid.minutes.length) * CELL + 10;
  const height = grid.rows.length * ROW + 26;
  const heat = (count: number) => (count === 0 ? 0 : 0.15 + 0.85 * Math.sqrt(count / grid.most));
  return (
    <div class="scroll heat-map" role="group" aria-label="Heat over time" tabIndex={0}>
      <svg width={width} height={height} role="img" aria-label={`Heat of ${grid.rows.length} partitions over ${grid.minutes.length} minutes`}>
        {grid.rows.map(({ key, cells }, y) => (
          <g key={key}>
            <text x={LABEL - 10} y={y * ROW + 18} text-anchor="end">
              {key.length > 27 ? `${key.slice(0, 26)}…` : key}
            </text>
            {cells.map((count, x) => (
              <rect key={x} x={LABEL + x * CELL} y={y * ROW + 3} width={CELL - 2} height={ROW - 6} rx={3} class={count > 0 ? "hot" : "cold"} fill-opacity={count > 0 ? heat(count) : 1}>
                <title>
                  {key}, {clock(grid.minutes[x])}: {count}
                </title>
              </rect>
            ))}
          </g>
        ))}
        {grid.minutes.map((at, x) =>
          x % 10 === 0 ? (
            <text key={at} x={LABEL + x * CELL} y={height - 6} class="clock">
              {clock(at)}
            </text>
          ) : null,
        )}
      </svg>
    </div>
  );
}
