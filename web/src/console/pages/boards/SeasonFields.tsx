import type { SeasonForm } from "../../logic/boardForm";

interface SeasonFieldsProps {
  seasons: SeasonForm[];
  set: (seasons: SeasonForm[]) => void;
}

/** As a field of the browser takes it, in UTC. */
function local(at: string): string {
  const time = Date.parse(at);
  return Number.isNaN(time) ? "" : new Date(time).toISOString().slice(0, 16);
}

function utc(text: string): string {
  return text ? `${text}:00Z` : "";
}

function following(seasons: SeasonForm[]): SeasonForm {
  const from = seasons.at(-1)?.ends ? Date.parse(seasons.at(-1)!.ends) : Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), 1);
  return {
    name: `season-${seasons.length + 1}`,
    starts: new Date(from).toISOString().replace(".000", ""),
    ends: new Date(from + 30 * 86400000).toISOString().replace(".000", ""),
  };
}

export function SeasonFields({ seasons, set }: SeasonFieldsProps) {
  const change = (at: number, part: Partial<SeasonForm>) => set(seasons.map((old, i) => (i === at ? { ...old, ...part } : old)));
  return (
    <fieldset>
      <legend>Seasons (UTC)</legend>
      {seasons.map((season, i) => (
        <div class="season-row" key={i}>
          <input aria-label={`Season ${i + 1}: name`} value={season.name} required onInput={(event) => change(i, { name: event.currentTarget.value })} />
          <input
            aria-label={`Season ${i + 1}: starts`}
            type="datetime-local"
            value={local(season.starts)}
            required
            onInput={(event) => change(i, { starts: utc(event.currentTarget.value) })}
          />
          <input
            aria-label={`Season ${i + 1}: ends`}
            type="datetime-local"
            value={local(season.ends)}
            required
            onInput={(event) => change(i, { ends: utc(event.currentTarget.value) })}
          />
          <button type="button" aria-label={`Remove season ${i + 1}`} onClick={() => set(seasons.filter((_, j) => i !== j))}>
            ✕
          </button>
        </div>
      ))}
      <button type="button" onClick={() => set([...seasons, following(seasons)])}>
        Add a season
      </button>
    </fieldset>
  );
}
