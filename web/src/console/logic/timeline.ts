// Where seasons and periods lie on a line of time, and what comes next.

export interface Span {
  name: string;
  starts: string;
  ends: string;
}

export interface Placed {
  name: string;
  left: number; // percent
  width: number;
  state: "past" | "now" | "to come";
}

export interface Timeline {
  spans: Placed[];
  now: number | null; // percent; null if it is outside
  from: string;
  to: string;
}

export function timeline(spans: Span[], now: number): Timeline | null {
  if (spans.length === 0) return null;
  const times = spans.flatMap(({ starts, ends }) => [Date.parse(starts), Date.parse(ends)]);
  const from = Math.min(...times);
  const to = Math.max(...times);
  const place = (time: number) => ((time - from) / Math.max(1, to - from)) * 100;
  return {
    spans: spans.map(({ name, starts, ends }) => {
      const a = Date.parse(starts);
      const b = Date.parse(ends);
      return { name, left: place(a), width: place(b) - place(a), state: b <= now ? "past" : a > now ? "to come" : "now" };
    }),
    now: now < from || now > to ? null : place(now),
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  };
}

/** When the board begins anew: the end of what is now, or the start of the next season. */
export function nextReset(current: Span | null | undefined, seasons: Span[], now: number): { at: string; what: string } | null {
  if (current) return { at: current.ends, what: `${current.name} ends` };
  const coming = seasons.filter(({ starts }) => Date.parse(starts) > now).sort((a, b) => Date.parse(a.starts) - Date.parse(b.starts))[0];
  return coming ? { at: coming.starts, what: `${coming.name} begins` } : null;
}

const UNITS: [number, string][] = [
  [86400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"],
];

/** "in 2 days", "3 hours ago". */
export function fromNow(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  const [size, unit] = UNITS.find(([length]) => Math.abs(seconds) >= length) ?? UNITS[3];
  const count = Math.round(Math.abs(seconds) / size);
  const words = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return seconds >= 0 ? `in ${words}` : `${words} ago`;
}
