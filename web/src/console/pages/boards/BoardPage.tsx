import { useState } from "preact/hooks";
import { go, Link } from "../../../shared/address";
import { boardPath, getBoard, listPeriods, type Board } from "../../boards";
import { curl } from "../../logic/shell";
import { fromNow, nextReset } from "../../logic/timeline";
import { addressOf } from "../../pageList";
import { Change } from "../../parts/Change";
import { ConfirmName } from "../../parts/ConfirmName";
import { Facts } from "../../parts/Facts";
import { Page } from "../../parts/Page";
import { Panel } from "../../parts/Panel";
import { When } from "../../parts/When";
import { isMissing, rest } from "../../server";
import { useAnswer } from "../../useAnswer";
import { BoardDialog } from "./BoardDialog";
import { Entries } from "./Entries";
import { Seasons } from "./Seasons";

function Definition({ board, again }: { board: Board; again: () => void }) {
  const [editing, edit] = useState(false);
  const reset = nextReset(board.current, board.seasons ?? [], Date.now());
  return (
    <Panel
      title="Definition"
      actions={<Change onClick={() => edit(true)}>Change it</Change>}
      how={[{ title: "curl", text: curl({ method: "GET", path: `/v1${boardPath(board.id)}` }, location.origin) }]}
    >
      <Facts
        facts={[
          ["Game", board.game ?? "–"],
          ["Timeframe", `${board.timeframe}${board.timeZone ? `, ${board.timeZone}` : ""}`],
          ["Keeps", `${board.keep ?? "best"}, ${board.order ?? "high"} first`],
          ["Ties", `${board.ties ?? "earliest"}, ${board.ranking ?? "ordinal"}`],
          ["Scopes", board.scopes?.join(", ") || "global"],
          ["Scores", `${board.scoreMin ?? "any"} to ${board.scoreMax ?? "any"}${board.subscores ? ", with subscores" : ""}`],
          ["Fair play", board.needsPlay ? `with a play of ${board.playMinMs ?? 0} ms at least` : "no token asked for"],
          ["Next reset", reset ? <>{reset.what} <When at={reset.at} />, {fromNow(Date.parse(reset.at), Date.now())}</> : "never"],
          ["Made", <When at={board.createdAt} />],
        ]}
      />
      {editing && (
        <BoardDialog
          board={board}
          close={() => edit(false)}
          done={() => {
            edit(false);
            again();
          }}
        />
      )}
    </Panel>
  );
}

function Danger({ id, again }: { id: string; again: () => void }) {
  const [asking, ask] = useState<"" | "clear" | "delete">("");
  const path = boardPath(id);
  const act = async () => {
    await rest("DELETE", asking === "clear" ? `${path}/entries` : path);
    if (asking === "delete") go(addressOf("boards"));
    else again();
  };
  return (
    <Panel title="Clear, remove">
      <div class="actions">
        <Change danger onClick={() => ask("clear")}>
          Take all entries off
        </Change>
        <Change danger onClick={() => ask("delete")}>
          Remove the board
        </Change>
      </div>
      {asking && (
        <ConfirmName
          title={asking === "clear" ? `Clear ${id}` : `Remove ${id}`}
          about={asking === "clear" ? "All entries of the present period go; the definition stays." : "The board goes with all its entries, in all periods."}
          name={id}
          verb={asking === "clear" ? "Take all off" : "Remove it"}
          how={[{ title: "curl", text: curl({ method: "DELETE", path: `/v1${asking === "clear" ? `${path}/entries` : path}` }, location.origin) }]}
          act={act}
          close={() => ask("")}
        />
      )}
    </Panel>
  );
}

export function BoardPage({ id }: { id: string }) {
  const [base] = id.split(/[@/]/);
  const board = useAnswer(() => getBoard(base), [base]);
  const periods = useAnswer(() => listPeriods(base), [base]);
  const [instance, choose] = useState(id);
  const [turn, again] = useState(0);
  const plain = isMissing(board.error);
  const renew = () => {
    again(turn + 1);
    periods.again();
  };
  return (
    <Page
      title={board.value?.title || id}
      about={
        <>
          <Link to={addressOf("boards")}>All boards</Link> · <code>{id}</code> {plain && <span class="pill">plain</span>}
        </>
      }
      actions={
        <a class="button" href={`/boards/${encodeURIComponent(id)}`}>
          As players see it
        </a>
      }
    >
      {board.value && <Definition board={board.value} again={board.again} />}
      {board.value && board.value.timeframe !== "all-time" && (
        <Seasons board={board.value} periods={periods.value?.periods ?? []} chosen={instance} choose={choose} again={renew} />
      )}
      <Entries key={`${instance} ${turn}`} instance={instance} board={board.value} />
      <Danger id={id} again={renew} />
    </Page>
  );
}
