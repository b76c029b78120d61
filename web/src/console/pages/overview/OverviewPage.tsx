import { useState } from "preact/hooks";
import { Link } from "../../../shared/address";
import { bytes, compact, grouped } from "../../../shared/numbers";
import { attention, FRONT_END_NAMES, FRONT_ENDS, greatest, recent, seriesOf, type History } from "../../logic/history";
import { curl } from "../../logic/shell";
import { addressOf } from "../../pageList";
import { Page } from "../../parts/Page";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { Tabs } from "../../parts/Tabs";
import { isMissing, rest } from "../../server";
import { useAnswer } from "../../useAnswer";
import "../../styles/overview.css";
import { Costs } from "./Costs";
import { Graphs } from "./Graphs";
import { Operations } from "./Operations";
import { nowOf, type ServerNow } from "./serverNow";

const SPANS = ["Hour", "Day"] as const;

function uptime(seconds: number): string {
  const days = Math.floor(seconds / 86400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  return [days && `${days} d`, (days || hours) && `${hours} h`, `${minutes} min`].filter(Boolean).join(" ");
}

/** Rates move too much for more digits. */
function rate(value: number): string {
  return `${value >= 10 ? compact(Math.round(value)) : value.toFixed(1)} /s`;
}

function Tile({ name, value, about }: { name: string; value: string; about: string }) {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>
        <b>{value}</b>
        <span class="quiet">{about}</span>
      </dd>
    </div>
  );
}

function Tiles({ server, history }: { server: ServerNow; history: History | undefined }) {
  const sum = (part: string) => (history ? FRONT_ENDS.reduce((total, name) => total + recent(seriesOf(history, `${name}.${part}`), 5), 0) : 0);
  const looks = server.cacheHits + server.cacheMisses;
  return (
    <dl class="tiles">
      <Tile name="Requests" value={rate(sum("requests"))} about={`${rate(sum("errors"))} errors`} />
      <Tile name="Items" value={compact(server.items)} about={`${server.tables} tables, ${bytes(server.itemBytes)}`} />
      <Tile name="Writes" value={compact(server.writes)} about={`${compact(server.commits)} commits`} />
      <Tile name="Memory" value={history ? bytes(recent(seriesOf(history, "memory.rss"), 3)) : "–"} about={`${bytes(server.indexMemory)} of it indexes`} />
      <Tile name="Disk" value={bytes(server.disk)} about={server.disk === 0 ? "all in memory" : "of the data folder"} />
      <Tile name="Cache" value={looks ? `${Math.round((100 * server.cacheHits) / looks)} %` : "–"} about="of reads found in memory" />
    </dl>
  );
}

function FrontEnds({ history }: { history: History }) {
  return (
    <div class="scroll" role="group" aria-label="Front ends" tabIndex={0}>
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">Front end</th>
            <th scope="col" class="number">Requests</th>
            <th scope="col" class="number">Errors</th>
            <th scope="col" class="number">p50</th>
            <th scope="col" class="number">p99</th>
          </tr>
        </thead>
        <tbody>
          {FRONT_ENDS.map((name) => (
            <tr key={name}>
              <th scope="row">{FRONT_END_NAMES[name]}</th>
              <td class="number">{rate(recent(seriesOf(history, `${name}.requests`), 5))}</td>
              <td class="number">{rate(recent(seriesOf(history, `${name}.errors`), 5))}</td>
              <td class="number">{recent(seriesOf(history, `${name}.p50`), 10).toFixed(2)} ms</td>
              <td class="number">{greatest(seriesOf(history, `${name}.p99`), 10).toFixed(2)} ms</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export default function OverviewPage() {
  const [span, choose] = useState<(typeof SPANS)[number]>("Hour");
  const server = useAnswer(() => rest<ServerNow>("GET", "/server"), [], 2000);
  const short = useAnswer(() => rest<History>("GET", "/history?span=hour&points=3600"), [], 2000);
  const long = useAnswer(() => rest<History>("GET", `/history?span=${span.toLowerCase()}&points=600`), [span], span === "Hour" ? 2000 : 30000);
  const now = useAnswer(nowOf, [], 10000);
  const notices = now.value ? attention(short.value, now.value) : [];
  return (
    <Page
      title="Overview"
      about={server.value && `gametable ${server.value.version}, up for ${uptime(server.value.uptimeSeconds)}, ${grouped(server.value.lines)} live lines`}
    >
      <section class={`health ${notices.some(({ level }) => level === "bad") ? "bad" : notices.length ? "warn" : "good"}`} aria-label="What needs attention">
        <h2>{notices.length === 0 ? "All is well" : `${notices.length} ${notices.length === 1 ? "thing needs" : "things need"} attention`}</h2>
        <ul>
          {notices.map(({ text, page }) => (
            <li key={text}>
              {text} {page && <Link to={addressOf(page)}>Look</Link>}
            </li>
          ))}
        </ul>
        {notices.length === 0 && <p>Nothing is refused, nothing is slow, nothing is near its limit.</p>}
      </section>
      {server.value ? <Tiles server={server.value} history={short.value} /> : <State of={server} />}
      {!isMissing(long.error) && (
        <>
          <Tabs label="Span" tabs={SPANS} chosen={span} choose={choose} />
          {long.value ? <Graphs history={long.value} /> : <State of={long} />}
        </>
      )}
      {short.value && (
        <Panel
          title="Front ends"
          how={[
            { title: "curl", text: curl({ method: "GET", path: "/v1/history?span=hour" }, location.origin) },
            { title: "Prometheus", text: `curl ${location.origin}/metrics` },
          ]}
        >
          <FrontEnds history={short.value} />
        </Panel>
      )}
      <Operations />
      <Costs stored={server.value?.itemBytes ?? 0} />
    </Page>
  );
}
