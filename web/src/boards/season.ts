// What a board is at present, in words.
import type { Definition } from "./board";

const when = (time: string) => new Date(time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

/** Empty while a season is on, or if the board has none. */
export function betweenSeasons(board: Definition): string {
  if (board.current !== null || board.timeframe === "all") return "";
  const now = Date.now();
  const seasons = board.seasons ?? [];
  const next = seasons.filter(({ starts }) => Date.parse(starts) > now).sort((a, b) => Date.parse(a.starts) - Date.parse(b.starts))[0];
  const last = seasons.filter(({ ends }) => Date.parse(ends) <= now).sort((a, b) => Date.parse(b.ends) - Date.parse(a.ends))[0];
  if (next) return `Between seasons: ${next.name} begins ${when(next.starts)}.`;
  if (last) return `Ended: ${last.name}, the last season, was over ${when(last.ends)}.`;
  return "Between seasons: none has been set yet.";
}

/** The season that was on last. */
export function lastSeason(board: Definition): string {
  const over = (board.seasons ?? []).filter(({ ends }) => Date.parse(ends) <= Date.now());
  return over.sort((a, b) => Date.parse(b.ends) - Date.parse(a.ends))[0]?.name ?? "";
}

export { when };
