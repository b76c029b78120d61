import { Link } from "../../../shared/address";
import { grouped } from "../../../shared/numbers";
import { curl } from "../../logic/shell";
import { addressOf } from "../../pageList";
import { Grid, type Column } from "../../parts/Grid";
import { Paging } from "../../parts/Paging";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { usePages } from "../../parts/usePages";
import { queryText, rest } from "../../server";

interface OnBoard {
  board: string;
  instance: string;
  sealed: boolean;
  total: number;
  entry: { rank?: number; score: string; hidden?: boolean };
}

const columns: Column<OnBoard>[] = [
  { title: "Board", show: ({ instance }) => <Link to={addressOf("boards", instance)}>{instance}</Link> },
  { title: "Rank", number: true, show: ({ entry, total }) => (entry.rank === undefined ? "hidden" : `${grouped(entry.rank)} of ${grouped(total)}`) },
  { title: "Score", number: true, show: ({ entry }) => entry.score },
  { title: "State", show: ({ sealed }) => (sealed ? <span class="pill">sealed</span> : <span class="pill good">open</span>) },
];

export function PlayerBoards({ id }: { id: string }) {
  const path = `/players/${encodeURIComponent(id)}/boards`;
  const boards = usePages<{ boards: OnBoard[]; next?: string }>((cursor) => rest("GET", `${path}${queryText({ limit: 50, cursor, numbers: "string" })}`), [id]);
  return (
    <Panel title="Boards" how={[{ title: "curl", text: curl({ method: "GET", path: `/v1${path}` }, location.origin) }]}>
      {boards.value ? <Grid label="Boards" columns={columns} rows={boards.value.boards} id={({ instance }) => instance} empty="On no board." /> : <State of={boards} />}
      <Paging of={boards} what="boards" />
    </Panel>
  );
}
