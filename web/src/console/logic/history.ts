// What the server kept of the last hour or day, and what it means.

export interface Series {
  name: string; // "dynamodb.requests"
  unit: string;
  values: (number | null)[];
}

export interface History {
  span: "hour" | "day";
  stepSeconds: number;
  end: string;
  series: Series[];
}

export const FRONT_ENDS = ["dynamodb", "redis", "rest", "live", "pages"] as const;
export const FRONT_END_NAMES: Record<string, string> = { dynamodb: "DynamoDB", redis: "Redis", rest: "REST", live: "Live", pages: "Pages" };

export function seriesOf(history: History, name: string): (number | null)[] {
  return history.series.find((series) => series.name === name)?.values ?? [];
}

const LEAST = 30; // values: a graph of less is no graph

/** Without the time before the server was up, of which there is nothing to show. */
export function known(history: History): History {
  const count = history.series[0]?.values.length ?? 0;
  const first = Math.min(count, ...history.series.map(({ values }) => values.findIndex((value) => value !== null)).filter((at) => at >= 0));
  const from = Math.max(0, Math.min(first, count - LEAST));
  return { ...history, series: history.series.map((series) => ({ ...series, values: series.values.slice(from) })) };
}

/** Seconds since 1970 of each value. */
export function timesOf({ end, stepSeconds, series }: History): number[] {
  const count = series[0]?.values.length ?? 0;
  const last = Date.parse(end) / 1000;
  return Array.from({ length: count }, (_, i) => last - (count - 1 - i) * stepSeconds);
}

/** The mean of the last values there are. */
export function recent(values: (number | null)[], count: number): number {
  const known = values.slice(-count).filter((value): value is number => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : 0;
}

export function greatest(values: (number | null)[], count = values.length): number {
  return values.slice(-count).reduce((most: number, value) => Math.max(most, value ?? 0), 0);
}

export interface Now {
  refusingWrites: boolean;
  slow: number; // requests in the slow log of the last five minutes
  memory?: { used: number; limit: number; what: string }[];
  disk?: { used: number; free: number };
  building: string[]; // indexes that are being built
  jobsFailed: number;
}

export interface Notice {
  level: "bad" | "warn";
  text: string;
  page: string; // of the console, where one sees more
}

const WINDOW = 60;
const SLOW_MS = 100;
const FEW = 5; // failures a minute that nobody need look at: a page that is not there, a player without plays

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

/** What needs somebody's attention, the worst first; nothing if all is well. */
export function attention(history: History | undefined, now: Now): Notice[] {
  const notices: Notice[] = [];
  if (now.refusingWrites) notices.push({ level: "bad", text: "Writes are refused: the disk is full or failing. Reads go on.", page: "" });
  for (const name of history ? FRONT_ENDS : []) {
    const requests = recent(seriesOf(history!, `${name}.requests`), WINDOW);
    const errors = recent(seriesOf(history!, `${name}.errors`), WINDOW);
    const share = requests > 0 ? errors / requests : 0;
    if (requests > 1 && share > 0.01 && errors * WINDOW >= FEW)
      notices.push({ level: share > 0.1 ? "bad" : "warn", text: `${FRONT_END_NAMES[name]}: ${percent(share)} of the requests of the last minute failed.`, page: "live" });
    const p99 = greatest(seriesOf(history!, `${name}.p99`), WINDOW);
    if (p99 > SLOW_MS) notices.push({ level: "warn", text: `${FRONT_END_NAMES[name]}: one in a hundred requests took up to ${p99.toFixed(0)} ms in the last minute.`, page: "live" });
  }
  for (const { used, limit, what } of now.memory ?? [])
    if (limit > 0 && used / limit > 0.8)
      notices.push({ level: used / limit > 0.95 ? "bad" : "warn", text: `${what}: ${percent(used / limit)} of its limit is used.`, page: "copies" });
  if (now.disk && now.disk.free > 0 && now.disk.free < 0.1 * (now.disk.free + now.disk.used))
    notices.push({ level: "warn", text: "Less than a tenth of the disk is free.", page: "" });
  if (now.slow > 0) notices.push({ level: "warn", text: `${now.slow} slow ${now.slow === 1 ? "request" : "requests"} in the last five minutes.`, page: "live" });
  if (now.building.length > 0) notices.push({ level: "warn", text: `Being built: ${now.building.join(", ")}.`, page: "tables" });
  if (now.jobsFailed > 0) notices.push({ level: "warn", text: `${now.jobsFailed} ${now.jobsFailed === 1 ? "export or import has" : "exports or imports have"} failed.`, page: "copies" });
  return notices.sort((a, b) => (a.level === b.level ? 0 : a.level === "bad" ? -1 : 1));
}
