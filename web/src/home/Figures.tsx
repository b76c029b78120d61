import { bytes, compact } from "../shared/numbers";
import type { Server } from "../shared/server";
import { Spark } from "./Spark";
import { rates, useFigures } from "./useFigures";

interface FigureProps {
  name: string;
  value: string;
  values: number[];
}

function Figure({ name, value, values }: FigureProps) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
      <Spark values={values} />
    </div>
  );
}

const NAMES = [
  "items",
  "commits a second",
  "live lines",
  "messages a second",
  "index entries",
  "memory of indexes",
  "found in the cache",
  "on disk",
];

/** As much room as the figures will take, so that nothing moves when they come. */
function NotYet({ reached }: { reached: boolean }) {
  return (
    <>
      {!reached && <p class="problem">The server cannot be reached.</p>}
      <dl class="figures">
        {NAMES.map((name) => (
          <Figure key={name} name={name} value="–" values={[]} />
        ))}
      </dl>
    </>
  );
}

export function Figures() {
  const { samples, reached } = useFigures();
  const now = samples[samples.length - 1]?.server;
  if (!now) return <NotYet reached={reached} />;
  const all = (read: (server: Server) => number) => samples.map(({ server }) => read(server));
  const last = (list: number[]) => list[list.length - 1] ?? 0;
  const commits = rates(samples, "commits");
  const messages = rates(samples, "messages");
  const asked = now.cacheHits + now.cacheMisses;
  return (
    <>
      {!reached && <p class="problem">The server cannot be reached: these are the last figures.</p>}
      {now.refusingWrites && <p class="problem">The disk refuses writes at present.</p>}
      <dl class="figures">
        <Figure name="items" value={compact(now.items)} values={all(({ items }) => items)} />
        <Figure name="commits a second" value={compact(last(commits))} values={commits} />
        <Figure name="live lines" value={compact(now.lines)} values={all(({ lines }) => lines)} />
        <Figure name="messages a second" value={compact(last(messages))} values={messages} />
        <Figure name="index entries" value={compact(now.indexEntries)} values={all(({ indexEntries }) => indexEntries)} />
        <Figure name="memory of indexes" value={bytes(now.indexMemory)} values={all(({ indexMemory }) => indexMemory)} />
        <Figure
          name="found in the cache"
          value={asked === 0 ? "–" : `${((100 * now.cacheHits) / asked).toFixed(1)}%`}
          values={all(({ cacheHits, cacheMisses }) => cacheHits / Math.max(1, cacheHits + cacheMisses))}
        />
        <Figure name="on disk" value={bytes(now.disk)} values={all(({ disk }) => disk)} />
      </dl>
    </>
  );
}
