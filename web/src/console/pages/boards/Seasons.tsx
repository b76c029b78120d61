import { useState } from "preact/hooks";
import { announce } from "../../../shared/announce";
import { grouped } from "../../../shared/numbers";
import { boardPath, type Board, type Instance } from "../../boards";
import { curl } from "../../logic/shell";
import { timeline, type Span } from "../../logic/timeline";
import { Change } from "../../parts/Change";
import { ConfirmName } from "../../parts/ConfirmName";
import { Grid, type Column } from "../../parts/Grid";
import { Panel } from "../../parts/Panel";
import { When } from "../../parts/When";
import { rest } from "../../server";

interface SeasonsProps {
  board: Board;
  periods: Instance[];
  chosen: string;
  choose: (instance: string) => void;
  again: () => void; // after a period was sealed
}

/** The seasons of the definition, or the periods that have entries. */
function spansOf(board: Board, periods: Instance[]): Span[] {
  if (board.seasons?.length) return board.seasons;
  const known = new Map<string, Span>();
  for (const { period, starts, ends } of periods) if (period && starts && ends) known.set(period, { name: period, starts, ends });
  if (board.current) known.set(board.current.name, board.current);
  return [...known.values()].sort((a, b) => Date.parse(a.starts) - Date.parse(b.starts)).slice(-14);
}

function Line({ spans }: { spans: Span[] }) {
  const line = timeline(spans, Date.now());
  if (!line) return null;
  return (
    <figure class="timeline">
      <div class="timeline-bar" role="img" aria-label={line.spans.map(({ name, state }) => `${name}: ${state}`).join(", ")}>
        {line.spans.map(({ name, left, width, state }) => (
          <span key={name} class={`season ${state.replace(" ", "-")}`} style={{ left: `${left}%`, width: `${width}%` }} title={name}>
            {name}
          </span>
        ))}
        {line.now !== null && <span class="timeline-now" style={{ left: `${line.now}%` }} />}
      </div>
      <figcaption class="quiet">
        <When at={line.from} /> to <When at={line.to} />
        {line.now !== null && " · the line is now"}
      </figcaption>
    </figure>
  );
}

function SealNow({ instance, close, again }: { instance: string; close: () => void; again: () => void }) {
  const path = boardPath(instance, "/seal");
  return (
    <ConfirmName
      title={`Seal ${instance}`}
      about="It takes no more scores from now on and its final standings are written down, as at its end. The next period begins at its own time. It cannot be undone."
      name={instance}
      verb="Seal it now"
      how={[{ title: "curl", text: curl({ method: "POST", path: `/v1${path}` }, location.origin) }]}
      act={async () => {
        await rest("POST", path);
        announce("Sealed");
        again();
      }}
      close={close}
    />
  );
}

export function Seasons({ board, periods, chosen, choose, again }: SeasonsProps) {
  const [sealing, seal] = useState("");
  const columns: Column<Instance>[] = [
    {
      title: "Period",
      show: ({ instance, period, scope }) => (
        <button class="link" aria-pressed={chosen === instance} onClick={() => choose(instance)}>
          {period ?? "all time"}
          {scope ? `, ${scope}` : ""}
        </button>
      ),
    },
    { title: "Starts", show: ({ starts }) => <When at={starts} /> },
    { title: "Ends", show: ({ ends }) => <When at={ends} /> },
    { title: "Entries", number: true, show: ({ total }) => grouped(total) },
    { title: "State", show: ({ sealed }) => <span class={`pill ${sealed ? "" : "good"}`}>{sealed ? "sealed" : "open"}</span> },
    {
      title: "Seal",
      unseenTitle: true,
      show: ({ instance, sealed }) =>
        !sealed && (
          <Change danger label={`Seal now ${instance}`} onClick={() => seal(instance)}>
            Seal now
          </Change>
        ),
    },
  ];
  return (
    <Panel title={board.timeframe === "season" ? "Seasons" : "Periods"}>
      <Line spans={spansOf(board, periods)} />
      <Grid label="Periods with entries" columns={columns} rows={periods} id={({ instance }) => instance} chosen={chosen} empty="No period has entries yet." />
      {sealing && <SealNow instance={sealing} close={() => seal("")} again={again} />}
    </Panel>
  );
}
