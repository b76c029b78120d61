// Hot partitions over time: which keys, when, how much.

export interface HotKey {
  key: string;
  count: number;
  error?: number;
}

export interface HotMinute {
  at: string;
  reads: HotKey[];
  writes: HotKey[];
}

export interface Hot {
  table: string; // NAME, or NAME/INDEX
  readCount: number; // of all its partitions, since the start
  writeCount: number;
  reads: HotKey[];
  writes: HotKey[];
  minutes?: HotMinute[];
}

export interface HeatRow {
  key: string;
  reads: number;
  writes: number;
  share: number; // of all that the table was asked
  cells: number[]; // a minute each
}

export interface HeatGrid {
  minutes: string[];
  rows: HeatRow[];
  most: number; // in one cell
  total: number;
}

export type Kind = "both" | "reads" | "writes";

function countOf(list: HotKey[], key: string): number {
  return list.find((one) => one.key === key)?.count ?? 0;
}

/** The heaviest keys, the first the hottest; cells are what was counted in each minute. */
export function heatGrid(hot: Hot, kind: Kind, rows = 12): HeatGrid {
  const reads = kind === "writes" ? [] : hot.reads;
  const writes = kind === "reads" ? [] : hot.writes;
  const keys = [...new Set([...reads, ...writes].map(({ key }) => key))];
  const minutes = hot.minutes ?? [];
  const total = (kind === "writes" ? 0 : hot.readCount) + (kind === "reads" ? 0 : hot.writeCount);
  const list = keys
    .map((key) => {
      const read = countOf(reads, key);
      const written = countOf(writes, key);
      const cells = minutes.map((minute) => (kind === "writes" ? 0 : countOf(minute.reads, key)) + (kind === "reads" ? 0 : countOf(minute.writes, key)));
      return { key, reads: read, writes: written, share: total > 0 ? Math.min(1, (read + written) / total) : 0, cells };
    })
    .sort((a, b) => b.reads + b.writes - (a.reads + a.writes))
    .slice(0, rows);
  return { minutes: minutes.map(({ at }) => at), rows: list, most: Math.max(1, ...list.flatMap(({ cells }) => cells)), total };
}
