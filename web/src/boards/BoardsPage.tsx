import { Component, type ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { BoardPage } from "../client";
import { Link } from "../shared/address";
import { reasonOf } from "../shared/api";
import { useKinds } from "../shared/kinds";
import { exact, grouped } from "../shared/numbers";
import { useTitle } from "../shared/title";
import { addressOf, entries, isForAll, listBoards, listPlainBoards, nameOf, type Definition, type PlainBoard } from "./board";
import { betweenSeasons } from "./season";
import { useList } from "./useList";

/** Whether the element has been in sight, or nearly. */
function useInSight<T extends Element>() {
  const ref = useRef<T>(null);
  const [seen, set] = useState(false);
  useEffect(() => {
    const watcher = new IntersectionObserver(
      (changes) => {
        if (!changes.some(({ isIntersecting }) => isIntersecting)) return;
        set(true);
        watcher.disconnect();
      },
      { rootMargin: "200px" },
    );
    if (ref.current) watcher.observe(ref.current);
    return () => watcher.disconnect();
  }, []);
  return { ref, seen };
}

/** What stands under a board's name: how much is on it, or why nothing can be. */
function about(board: Definition, page: BoardPage | null, problem: string): string {
  if (!isForAll(board)) return `one for each ${board.scopes!.filter((scope) => scope !== "global").join(", ")}`;
  const between = betweenSeasons(board);
  if (between) return between;
  if (problem) return problem;
  if (page === null) return board.timeframe;
  return page.total === 0 ? `${board.timeframe} · nobody yet` : `${board.timeframe} · ${grouped(page.total)} on it`;
}

function BoardCard({ board }: { board: Definition }) {
  const { ref, seen } = useInSight<HTMLLIElement>();
  const [page, set] = useState<BoardPage | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (!seen || !isForAll(board) || board.current === null) return;
    entries({ id: board.id, scope: "", period: "" }, { limit: 3 }).then(set, (error) => setProblem(reasonOf(error)));
  }, [board.id, seen]);
  return (
    <li class="card board-card" ref={ref}>
      <h3>
        <Link to={addressOf(board.id)}>{board.title || board.id}</Link>
      </h3>
      <p class="quiet">{about(board, page, problem)}</p>
      <ol class="top-three">
        {page?.entries.map((entry) => (
          <li key={entry.member}>
            <span class="place">{grouped(entry.rank)}</span>
            <span class="grow">
              <bdi>{nameOf(entry)}</bdi>
            </span>
            <b>{exact(entry.score)}</b>
          </li>
        ))}
      </ol>
    </li>
  );
}

/** One board that cannot be drawn does not take the others along. */
class Guarded extends Component<{ id: string; children: ComponentChildren }, { broken: boolean }> {
  static getDerivedStateFromError() {
    return { broken: true };
  }
  render() {
    if (!this.state.broken) return this.props.children;
    return (
      <li class="card board-card">
        <h3>
          <Link to={addressOf(this.props.id)}>{this.props.id}</Link>
        </h3>
        <p class="quiet">It cannot be shown here.</p>
      </li>
    );
  }
}

function More({ on, what, onClick }: { on: boolean; what: string; onClick(): void }) {
  if (!on) return null;
  return (
    <p class="centred">
      <button onClick={onClick}>{what}</button>
    </p>
  );
}

/** Names and sizes only: there may be many. */
function PlainBoards() {
  const list = useList<PlainBoard>(async (cursor) => {
    const { instances, next } = await listPlainBoards(cursor);
    return { items: instances, next };
  });
  if (!list.items?.length) return null;
  return (
    <section aria-label="Without a definition">
      <h2>Without a definition</h2>
      <ul class="card plain-boards">
        {list.items.map(({ instance, total }) => (
          <li key={instance}>
            <Link to={addressOf(instance)}>{instance}</Link> <span class="quiet">{grouped(total)} on it</span>
          </li>
        ))}
      </ul>
      <More on={list.more} what="More without a definition" onClick={list.load} />
    </section>
  );
}

export function BoardsPage() {
  useTitle("Boards");
  const list = useList<Definition>(async (cursor) => {
    const { boards, next } = await listBoards(cursor);
    return { items: boards, next };
  });
  const kinds = useKinds();
  const kindOf = (game: string) => kinds.find(({ kind }) => kind === game);
  const games = [...new Set(list.items?.map(({ game }) => game ?? ""))];
  return (
    <div class="page boards">
      <h1>Boards</h1>
      {list.problem && (
        <p class="problem" role="alert">
          {list.problem} Trying again…
        </p>
      )}
      {list.items === null && !list.problem && <p class="quiet">Asking which boards there are…</p>}
      {games.map((game) => (
        <section key={game} aria-label={game || "Without a game"}>
          <h2>
            <span aria-hidden="true">{kindOf(game)?.emoji} </span>
            {kindOf(game)?.title ?? (game || "Without a game")}
          </h2>
          <ul class="board-cards">
            {list
              .items!.filter((board) => (board.game ?? "") === game)
              .map((board) => (
                <Guarded key={board.id} id={board.id}>
                  <BoardCard board={board} />
                </Guarded>
              ))}
          </ul>
        </section>
      ))}
      <More on={list.more} what="More boards" onClick={list.load} />
      <PlainBoards />
    </div>
  );
}
