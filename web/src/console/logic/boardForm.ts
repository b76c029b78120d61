// A board's definition as a form has it, and as REST takes it.

export interface SeasonForm {
  name: string;
  starts: string;
  ends: string;
}

export interface BoardForm {
  id: string;
  game: string;
  title: string;
  timeframe: string;
  timeZone: string;
  seasons: SeasonForm[];
  scopes: string; // by commas
  order: string;
  keep: string;
  ties: string;
  ranking: string;
  scoreMin: string;
  scoreMax: string;
  decimals: string;
  subscores: boolean;
  entryLifeSeconds: string;
  periodLifeSeconds: string;
  needsPlay: boolean;
  playMinMs: string;
  playLifeSeconds: string;
  playScoreMax: string;
  sources: string;
  combine: string;
}

export const WORDS = {
  timeframe: ["all-time", "hourly", "daily", "weekly", "monthly", "season"],
  order: ["high", "low"],
  keep: ["best", "latest", "sum", "first"],
  ties: ["earliest", "member"],
  ranking: ["ordinal", "competition", "dense"],
  combine: ["sum", "best"],
} as const;

function text(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}

function words(value: string): string[] {
  return value
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);
}

/** From what the server tells; a life of 0 is for ever, and is shown as nothing. */
export function toForm(board: any = {}): BoardForm {
  const life = (seconds: unknown) => (seconds ? String(seconds) : "");
  return {
    id: text(board.id),
    game: text(board.game),
    title: text(board.title),
    timeframe: board.timeframe ?? "all-time",
    timeZone: text(board.timeZone),
    seasons: (board.seasons ?? []).map(({ name, starts, ends }: SeasonForm) => ({ name, starts, ends })),
    scopes: (board.scopes ?? []).join(", "),
    order: board.order ?? "high",
    keep: board.keep ?? "best",
    ties: board.ties ?? "earliest",
    ranking: board.ranking ?? "ordinal",
    scoreMin: text(board.scoreMin),
    scoreMax: text(board.scoreMax),
    decimals: text(board.decimals),
    subscores: board.subscores ?? false,
    entryLifeSeconds: life(board.entryLifeSeconds),
    periodLifeSeconds: life(board.periodLifeSeconds),
    needsPlay: board.needsPlay ?? false,
    playMinMs: life(board.playMinMs),
    playLifeSeconds: text(board.playLifeSeconds),
    playScoreMax: text(board.playScoreMax),
    sources: (board.sources ?? []).join(", "),
    combine: board.combine ?? "sum",
  };
}

function count(name: string, value: string): number {
  if (!/^\d+$/.test(value.trim())) throw new Error(`${name} is a whole number`);
  return Number(value);
}

/** The body of POST or PUT; what is empty is left out, so that it is as unless told. Scores go as text: every digit counts. */
export function toBody(form: BoardForm): Record<string, unknown> {
  const seasonal = form.timeframe === "season";
  if (seasonal && form.seasons.length === 0) throw new Error("A board of seasons needs one at least");
  return {
    id: form.id,
    game: form.game,
    ...(form.title ? { title: form.title } : {}),
    timeframe: form.timeframe,
    ...(form.timeZone ? { timeZone: form.timeZone } : {}),
    ...(seasonal ? { seasons: form.seasons } : {}),
    ...(words(form.scopes).length ? { scopes: words(form.scopes) } : {}),
    order: form.order,
    keep: form.keep,
    ties: form.ties,
    ranking: form.ranking,
    ...(form.scoreMin ? { scoreMin: form.scoreMin } : {}),
    ...(form.scoreMax ? { scoreMax: form.scoreMax } : {}),
    ...(form.decimals ? { decimals: count("Decimals", form.decimals) } : {}),
    ...(form.subscores ? { subscores: true } : {}),
    ...(form.entryLifeSeconds ? { entryLifeSeconds: count("The life of an entry", form.entryLifeSeconds) } : {}),
    ...(form.periodLifeSeconds ? { periodLifeSeconds: count("The life of a period", form.periodLifeSeconds) } : {}),
    ...(form.needsPlay ? { needsPlay: true } : {}),
    ...(form.playMinMs ? { playMinMs: count("The shortest play", form.playMinMs) } : {}),
    ...(form.playLifeSeconds && form.needsPlay ? { playLifeSeconds: count("The life of a play's token", form.playLifeSeconds) } : {}),
    ...(form.playScoreMax ? { playScoreMax: form.playScoreMax } : {}),
    ...(words(form.sources).length ? { sources: words(form.sources), combine: form.combine } : {}),
  };
}
