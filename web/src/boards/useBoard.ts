import { useEffect, useState } from "preact/hooks";
import type { BoardPage, LineStatus } from "../client";
import { api } from "../shared/api";
import { first, type Place } from "./board";
import { reasonOf } from "../shared/api";

export interface BoardView {
  page: BoardPage | null;
  status: LineStatus;
  problem: string;
}

const SHOWN = 25;

/** A board's first places as they change. What is wrong with its name is learned by asking once. */
export function useBoard({ id, scope, period }: Place): BoardView {
  const [page, setPage] = useState<BoardPage | null>(null);
  const [status, setStatus] = useState<LineStatus>("connecting");
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let line: { close(): void } | undefined;
    let gone = false;
    first({ id, scope, period }, SHOWN).then(
      (found) => {
        if (gone) return;
        setPage(found);
        line = api().watchBoard(id, { state: setPage, status: setStatus }, { limit: SHOWN, scope, period });
      },
      (error) => setProblem(reasonOf(error)),
    );
    return () => {
      gone = true;
      line?.close();
    };
  }, [id, scope, period]);
  return { page, status, problem };
}
