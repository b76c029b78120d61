import { useEffect, useState } from "preact/hooks";
import { ApiError, type BoardPage, type LineStatus } from "../client";
import { api, reasonOf } from "../shared/api";
import { definition, entries, isForAll, type Definition, type Place } from "./board";

export interface BoardView {
  board: Definition | null;
  page: BoardPage | null;
  status: LineStatus;
  problem: string;
}

export const SHOWN = 25;
const AGAIN_MS = 3000;

/** Whether it has places to show there: not between seasons, and only for whom it is. */
function hasPlaces(board: Definition, { scope, period }: Place): boolean {
  return (board.current !== null || period !== "") && (isForAll(board) || scope !== "");
}

/** A board's first places as they change. A server that cannot be reached is asked again, and so is a board whose
 * next season may begin. */
export function useBoard({ id, scope, period }: Place): BoardView {
  const [board, setBoard] = useState<Definition | null>(null);
  const [page, setPage] = useState<BoardPage | null>(null);
  const [status, setStatus] = useState<LineStatus>("connecting");
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let line: { close(): void } | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let gone = false;
    const start = async () => {
      const place = { id, scope, period };
      try {
        const found = await definition(id);
        if (gone) return;
        setBoard(found);
        if (!hasPlaces(found, place)) {
          setProblem("There is nothing to show at present.");
          timer = setTimeout(start, 10 * AGAIN_MS);
          return;
        }
        const places = await entries(place, { limit: SHOWN });
        if (gone) return;
        setProblem("");
        setPage(places);
        line = api().watchBoard(id, { state: setPage, status: setStatus }, { limit: SHOWN, scope, period });
      } catch (error) {
        if (gone) return;
        setProblem(reasonOf(error));
        if (!(error instanceof ApiError) || error.problem.status >= 500) timer = setTimeout(start, AGAIN_MS);
      }
    };
    void start();
    return () => {
      gone = true;
      clearTimeout(timer);
      line?.close();
    };
  }, [id, scope, period]);
  return { board, page, status, problem };
}
