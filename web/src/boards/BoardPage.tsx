import { useEffect, useState } from "preact/hooks";
import type { Entry } from "../client";
import { Link } from "../shared/address";
import { ownPlayer } from "../shared/store";
import { grouped } from "../shared/numbers";
import { definition, type Definition, type Place } from "./board";
import { BoardTable } from "./BoardTable";
import { Distribution } from "./Distribution";
import { FindPlayer } from "./FindPlayer";
import { Periods } from "./Periods";
import { Queries } from "./Queries";
import { useBoard, type BoardView } from "./useBoard";

function Facts({ view }: { view: BoardView }) {
  const page = view.page!;
  const live = view.status === "open" && !page.sealed;
  return (
    <p class="facts">
      <span class={live ? "pill good" : "pill"}>{page.sealed ? "final" : live ? "● live" : "connecting…"}</span>
      {page.scope && <span class="pill">{page.scope}</span>}
      {page.period && <span class="pill">{page.period}</span>}
      <span class="quiet">{`${grouped(page.total)} on it`}</span>
      {page.ends && !page.sealed && <span class="quiet">{`until ${new Date(page.ends).toLocaleString()}`}</span>}
    </p>
  );
}

/** Everything about one list. */
function Whole({ view, place, board }: { view: BoardView; place: Place; board: Definition | null }) {
  const [found, setFound] = useState<Entry | null>(null);
  const page = view.page!;
  const me = ownPlayer();
  return (
    <div class="board-page">
      <section class="card" aria-label="Places">
        <Facts view={view} />
        <BoardTable entries={page.entries} me={me} marked={found?.member ?? ""} />
        {page.total === 0 && <p class="quiet">Nobody is on this board yet.</p>}
        {page.total > page.entries.length && <p class="quiet">{`and ${grouped(page.total - page.entries.length)} more`}</p>}
      </section>
      <div>
        <FindPlayer place={place} entries={page.entries} me={me} onFound={setFound} stamp={page} />
        <Distribution place={place} mark={found} stamp={page} />
        <Periods id={place.id} instance={page.instance} />
        <Queries place={place} instance={page.instance} order={board?.order ?? "high"} />
      </div>
    </div>
  );
}

export function BoardPage(place: Place) {
  const [board, setBoard] = useState<Definition | null>(null);
  const view = useBoard(place);
  useEffect(() => {
    definition(place.id).then(setBoard, () => {});
  }, [place.id]);
  const title = board?.title || place.id;
  useEffect(() => {
    document.title = `${title} · gametable`;
  }, [title]);
  return (
    <div class="page">
      <p class="crumb">
        <Link to="/boards">Boards</Link>
      </p>
      <h1>{title}</h1>
      {view.problem && (
        <>
          <p class="quiet">{board && !board.scopes.includes("global") ? "Choose whose board to see." : view.problem}</p>
          <Periods id={place.id} instance="" />
        </>
      )}
      {view.page && <Whole view={view} place={place} board={board} />}
    </div>
  );
}
