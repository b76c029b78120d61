import { curl } from "../../logic/shell";
import { Grid, type Column } from "../../parts/Grid";
import { Paging } from "../../parts/Paging";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { usePages } from "../../parts/usePages";
import { When } from "../../parts/When";
import { queryText, rest } from "../../server";

interface Play {
  id: string;
  game: string;
  status: string;
  startedAt: string;
  durationMs?: number;
  score?: string;
}

const columns: Column<Play>[] = [
  { title: "Play", mono: true, show: ({ id }) => id },
  { title: "Game", show: ({ game }) => game },
  { title: "Began", show: ({ startedAt }) => <When at={startedAt} /> },
  { title: "Lasted", number: true, show: ({ durationMs }) => (durationMs === undefined ? "–" : `${(durationMs / 1000).toFixed(1)} s`) },
  { title: "Score", number: true, show: ({ score }) => score ?? "–" },
  { title: "State", show: ({ status }) => <span class={`pill ${status === "open" ? "good" : ""}`}>{status}</span> },
];

export function PlayerPlays({ id }: { id: string }) {
  const path = `/players/${encodeURIComponent(id)}/plays`;
  const plays = usePages<{ plays: Play[]; next?: string }>((cursor) => rest("GET", `${path}${queryText({ limit: 25, cursor, numbers: "string" })}`), [id]);
  return (
    <Panel title="Plays" how={[{ title: "curl", text: curl({ method: "GET", path: `/v1${path}` }, location.origin) }]}>
      {plays.value ? <Grid label="Plays" columns={columns} rows={plays.value.plays} id={(play) => play.id} empty="No plays." /> : <State of={plays} />}
      <Paging of={plays} what="plays" />
    </Panel>
  );
}
