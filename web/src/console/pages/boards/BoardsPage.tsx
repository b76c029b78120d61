import { useState } from "preact/hooks";
import { go, Link } from "../../../shared/address";
import { grouped } from "../../../shared/numbers";
import { listBoards, listInstances, type Board, type Instance } from "../../boards";
import { fromNow, nextReset } from "../../logic/timeline";
import { curl } from "../../logic/shell";
import { addressOf, type PageProps } from "../../pageList";
import { Change } from "../../parts/Change";
import { Grid, type Column } from "../../parts/Grid";
import { Page } from "../../parts/Page";
import { Paging } from "../../parts/Paging";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { usePages } from "../../parts/usePages";
import { BoardDialog } from "./BoardDialog";
import { BoardPage } from "./BoardPage";
import { FindBoard } from "./FindBoard";

const boardColumns: Column<Board>[] = [
  {
    title: "Board",
    whole: true,
    show: ({ id, title }) => (
      <>
        <Link to={addressOf("boards", id)}>{id}</Link>
        {title && <span class="quiet under">{title}</span>}
      </>
    ),
  },
  { title: "Game", show: ({ game }) => game ?? "–" },
  { title: "Timeframe", show: ({ timeframe }) => timeframe },
  { title: "Keeps", show: ({ keep, order }) => `${keep ?? "best"}, ${order ?? "high"} first` },
  {
    title: "Now",
    show: ({ current, timeframe }) => current?.name ?? (timeframe === "all-time" ? "all time" : <span class="pill">between seasons</span>),
  },
  {
    title: "Next reset",
    show: ({ current, seasons }) => {
      const next = nextReset(current, seasons ?? [], Date.now());
      return next ? `${next.what} ${fromNow(Date.parse(next.at), Date.now())}` : "never";
    },
  },
];

const plainColumns: Column<Instance>[] = [
  { title: "Board", mono: true, show: ({ instance }) => <Link to={addressOf("boards", instance)}>{instance}</Link> },
  { title: "Entries", number: true, show: ({ total }) => grouped(total) },
];

function BoardList() {
  const [making, make] = useState(false);
  const defined = usePages((cursor) => listBoards(cursor), ["boards"]);
  const plain = usePages((cursor) => listInstances(cursor, true), ["plain"]);
  const origin = location.origin;
  return (
    <Page
      title="Boards and seasons"
      actions={
        <Change main onClick={() => make(true)}>
          Define a board
        </Change>
      }
    >
      <FindBoard />
      <Panel title="Defined boards" how={[{ title: "curl", text: curl({ method: "GET", path: "/v1/boards?limit=100" }, origin) }, { title: "gametable", text: `gametable boards --url ${origin}` }]}>
        {defined.value ? <Grid label="Defined boards" columns={boardColumns} rows={defined.value.boards} id={({ id }) => id} empty="No board is defined yet." /> : <State of={defined} />}
        <Paging of={defined} what="defined boards" />
      </Panel>
      <Panel title="Plain boards" how={[{ title: "curl", text: curl({ method: "GET", path: "/v1/instances?plain=true" }, origin) }]}>
        <p class="quiet">Nobody defined these: their first entry made them, by Redis, DynamoDB or REST.</p>
        {plain.value ? <Grid label="Plain boards" columns={plainColumns} rows={plain.value.instances} id={({ instance }) => instance} empty="There are none on this page." /> : <State of={plain} />}
        <Paging of={plain} what="plain boards" />
      </Panel>
      {making && (
        <BoardDialog
          close={() => make(false)}
          done={(id) => {
            make(false);
            go(addressOf("boards", id));
          }}
        />
      )}
    </Page>
  );
}

export default function BoardsPage({ id }: PageProps) {
  return id ? <BoardPage id={id} /> : <BoardList />;
}
