import { useEffect, useRef, useState } from "preact/hooks";
import type { Entry } from "../client";
import { useFlip } from "../shared/flip";
import { exact, grouped } from "../shared/numbers";
import { nameOf } from "./board";

const TOLD_MS = 4000;

/** How many places each has moved lately; up is more than 0. */
function useMoves(entries: Entry[]): Map<string, number> {
  const before = useRef<Map<string, number> | null>(null);
  const [moves, set] = useState(new Map<string, number>());
  const order = entries.map(({ member, position }) => `${member}:${position}`).join();
  useEffect(() => {
    const old = before.current;
    before.current = new Map(entries.map(({ member, position }) => [member, position]));
    if (old === null) return;
    const moved = entries
      .map(({ member, position }) => [member, (old.get(member) ?? position) - position] as const)
      .filter(([, by]) => by !== 0);
    set(new Map(moved));
    const timer = setTimeout(() => set(new Map()), TOLD_MS);
    return () => clearTimeout(timer);
  }, [order]);
  return moves;
}

interface BoardTableProps {
  entries: Entry[];
  me: string;
  marked?: string;
}

export function BoardTable({ entries, me, marked }: BoardTableProps) {
  const moves = useMoves(entries);
  const ref = useFlip<HTMLTableSectionElement>(entries.map(({ member }) => member).join());
  return (
    <table class="entries">
      <thead>
        <tr>
          <th scope="col">Rank</th>
          <th scope="col">Player</th>
          <th scope="col">Score</th>
        </tr>
      </thead>
      <tbody ref={ref}>
        {entries.map((entry) => {
          const by = moves.get(entry.member) ?? 0;
          const state = `${entry.member === me ? "me" : ""} ${entry.member === marked ? "marked" : ""} ${by > 0 ? "rose" : ""}`;
          return (
            <tr key={entry.member} data-flip={entry.member} class={state} title={entry.member}>
              <td class={`rank rank-${entry.rank}`}>{grouped(entry.rank)}</td>
              <td>
                <bdi>{nameOf(entry)}</bdi> {entry.member === me && <small>you</small>}
                {by !== 0 && (
                  <small class={by > 0 ? "by good" : "by bad"} aria-label={by > 0 ? `up ${by}` : `down ${-by}`}>
                    {by > 0 ? `▲${by}` : `▼${-by}`}
                  </small>
                )}
              </td>
              <td class="score">{exact(entry.score)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
