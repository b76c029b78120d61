import { bytes, compact } from "../../../shared/numbers";
import { FRONT_END_NAMES, FRONT_ENDS, known, seriesOf, timesOf, type History } from "../../logic/history";
import { Graph, type GraphLine } from "../../parts/Graph";
import { Panel } from "../../parts/Panel";

function lines(history: History, names: [string, string][]): GraphLine[] {
  return names.flatMap(([name, label]) => {
    const values = seriesOf(history, name);
    return values.length > 0 ? [{ label, values }] : [];
  });
}

const ofFrontEnds = (part: string): [string, string][] => FRONT_ENDS.map((name) => [`${name}.${part}`, FRONT_END_NAMES[name]]);

export function Graphs({ history: whole }: { history: History }) {
  const history = known(whole);
  const times = timesOf(history);
  const ms = (value: number) => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`;
  const all: [string, GraphLine[], (value: number) => string][] = [
    ["Requests a second", lines(history, ofFrontEnds("requests")), compact],
    ["p99 of requests", lines(history, ofFrontEnds("p99")), ms],
    ["Errors a second", lines(history, ofFrontEnds("errors")), compact],
    [
      "Writer",
      lines(history, [
        ["writer.commits", "Commits /s"],
        ["writer.writes", "Writes /s"],
      ]),
      compact,
    ],
    [
      "Memory",
      lines(history, [
        ["memory.rss", "Process"],
        ["memory.index", "Indexes"],
        ["memory.cache", "Cache"],
        ["memory.store", "Store"],
      ]),
      bytes,
    ],
    [
      "Connections",
      lines(history, [
        ["connections.http", "HTTP"],
        ["connections.redis", "Redis"],
        ["live.subscriptions", "Live"],
      ]),
      compact,
    ],
  ];
  return (
    <div class="panels">
      {all
        .filter(([, list]) => list.length > 0)
        .map(([title, list, show]) => (
          <Panel key={title} title={title}>
            <Graph title={title} times={times} lines={list} show={show} />
          </Panel>
        ))}
    </div>
  );
}
