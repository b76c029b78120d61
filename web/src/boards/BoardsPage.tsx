import { useEffect, useState } from "preact/hooks";
import type { Entry } from "../client";
import { Link } from "../shared/address";
import { EMOJI, reasonOf, TITLES } from "../shared/api";
import { grouped } from "../shared/numbers";
import { addressOf, first, listBoards, nameOf, type Definition } from "./board";

function BoardCard({ board }: { board: Definition }) {
  const [entries, set] = useState<Entry[] | null>(null);
  const [total, setTotal] = useState(0);
  const everybody = board.scopes.includes("global");
  useEffect(() => {
    if (!everybody) return;
    first({ id: board.id, scope: "", period: "" }, 3).then(
      (page) => {
        set(page.entries);
        setTotal(page.total);
      },
      () => set([]), // between seasons
    );
  }, [board.id]);
  return (
    <li class="card board-card">
      <h3>
        <Link to={addressOf(board.id)}>{board.title || board.id}</Link>
      </h3>
      <p class="quiet">{everybody ? `${board.timeframe} · ${grouped(total)} on it` : `one for each ${board.scopes.join(", ")}`}</p>
      <ol class="top-three">
        {entries?.map((entry) => (
          <li key={entry.member}>
            <span class="place">{entry.rank}</span>
            <span class="grow">{nameOf(entry)}</span>
            <b>{grouped(entry.score)}</b>
          </li>
        ))}
      </ol>
    </li>
  );
}

export function BoardsPage() {
  const [boards, set] = useState<Definition[] | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    document.title = "Boards · gametable";
    listBoards().then(
      (list) => set(list.boards),
      (error) => setProblem(reasonOf(error)),
    );
  }, []);
  const games = [...new Set(boards?.map(({ game }) => game ?? ""))];
  return (
    <div class="page">
      <h1>Boards</h1>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {games.map((game) => (
        <section key={game} aria-label={game || "Without a game"}>
          <h2>
            <span aria-hidden="true">{EMOJI[game]} </span>
            {TITLES[game] ?? (game || "Without a game")}
          </h2>
          <ul class="board-cards">
            {boards!
              .filter((board) => (board.game ?? "") === game)
              .map((board) => (
                <BoardCard key={board.id} board={board} />
              ))}
          </ul>
        </section>
      ))}
    </div>
  );
}
