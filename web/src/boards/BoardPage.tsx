import { useState } from "preact/hooks";
import type { Entry } from "../client";
import { Link } from "../shared/address";
import { ownPlayer } from "../shared/store";
import { grouped } from "../shared/numbers";
import { useTitle } from "../shared/title";
import { addressOf, isForAll, type Definition, type Place } from "./board";
import { BoardTable } from "./BoardTable";
import { Distribution } from "./Distribution";
import { FindPlayer } from "./FindPlayer";
import { Pager } from "./Pager";
import { Periods } from "./Periods";
import { Queries } from "./Queries";
import { betweenSeasons, lastSeason, when } from "./season";
import { useBoard, type BoardView } from "./useBoard";
import { usePlaces } from "./usePlaces";

function Facts({ view }: { view: BoardView }) {
  const page = view.page!;
  const live = view.status === "open" && !page.sealed;
  return (
    <p class="facts">
      <span class={live ? "pill good" : "pill"}>{page.sealed ? "final" : live ? "● live" : "connecting…"}</span>
      {page.scope && <span class="pill">{page.scope}</span>}
      {page.period && <span class="pill">{page.period}</span>}
      <span class="quiet">{`${grouped(page.total)} on it`}</span>
      {page.ends && <span class="quiet">{`${page.sealed ? "ended" : "until"} ${when(page.ends)}`}</span>}
    </p>
  );
}

/** What a board that has ended, or has nobody on it, is, and what comes next. */
function Stands({ view, place, board }: { view: BoardView; place: Place; board: Definition | null }) {
  const page = view.page!;
  if (page.sealed)
    return (
      <p class="quiet">
        This period is over, its places are final.{" "}
        {board?.current !== null && <Link to={addressOf(place.id, place.scope)}>The present one</Link>}
      </p>
    );
  if (page.total > 0) return null;
  return (
    <p class="quiet">
      Nobody is on this board yet: the first score will be at the top.
      {page.ends && ` It begins anew ${when(page.ends)}.`}
    </p>
  );
}

/** Everything about one list. */
function Whole({ view, place, board }: { view: BoardView; place: Place; board: Definition | null }) {
  const [found, setFound] = useState<Entry | null>(null);
  const page = view.page!;
  const places = usePlaces(place, page);
  const me = ownPlayer();
  return (
    <div class="board-page">
      <section class="card" aria-label="Places">
        <Facts view={view} />
        <Stands view={view} place={place} board={board} />
        {page.total > 0 && <BoardTable entries={places.entries} me={me} marked={found?.member ?? ""} />}
        <Pager places={places} total={page.total} />
      </section>
      <div>
        <FindPlayer place={place} me={me} onFound={setFound} stamp={page} onGo={places.go} />
        <Distribution place={place} mark={found} stamp={page} />
        <Periods id={place.id} instance={page.instance} />
        <Queries place={place} instance={page.instance} order={board?.order ?? "high"} />
      </div>
    </div>
  );
}

/** Why there are no places to show, and where there are some. */
function Nothing({ place, board, problem }: { place: Place; board: Definition | null; problem: string }) {
  const between = board && betweenSeasons(board);
  const last = board && between && lastSeason(board);
  return (
    <>
      <p class="quiet" role="status">
        {board && !isForAll(board) && !place.scope ? "Choose whose board to see." : between || problem}
      </p>
      {last && (
        <p>
          <Link to={addressOf(place.id, place.scope, last)} class="button">
            {`The places of ${last}`}
          </Link>
        </p>
      )}
      {!board && (
        <p>
          <Link to="/boards" class="button">
            All boards
          </Link>
        </p>
      )}
      {board && <Periods id={place.id} instance="" />}
    </>
  );
}

export function BoardPage(place: Place) {
  const view = useBoard(place);
  const { board } = view;
  const title = board?.title || place.id;
  useTitle(title);
  return (
    <div class="page">
      <p class="crumb">
        <Link to="/boards">Boards</Link>
      </p>
      <h1>{title}</h1>
      {view.page ? (
        <Whole view={view} place={place} board={board} />
      ) : view.problem ? (
        <Nothing place={place} board={board} problem={view.problem} />
      ) : (
        <p class="quiet">Asking for the board…</p>
      )}
    </div>
  );
}
