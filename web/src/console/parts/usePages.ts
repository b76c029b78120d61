// Lists that come by cursor: the pages seen so far are kept, so that one can go back.
import { useEffect, useState } from "preact/hooks";
import { useAnswer, type Answered } from "../useAnswer";

export interface Pages<T> extends Answered<T> {
  page: number;
  last: boolean;
  turn: (by: 1 | -1) => void;
  restart: () => void; // from the first page
}

export function usePages<T extends { next?: string }>(ask: (cursor: string) => Promise<T>, on: unknown[]): Pages<T> {
  const key = JSON.stringify(on);
  const [state, set] = useState({ key, cursors: [""], page: 0 });
  const now = state.key === key ? state : { key, cursors: [""], page: 0 };
  useEffect(() => set({ key, cursors: [""], page: 0 }), [key]);
  const answered = useAnswer(() => ask(now.cursors[now.page]), [key, now.page]);
  const next = answered.value?.next;
  return {
    ...answered,
    page: now.page,
    last: next === undefined,
    restart: () => {
      if (now.page === 0) answered.again();
      else set({ key, cursors: [""], page: 0 });
    },
    turn: (by) => {
      if (by === 1 && next === undefined) return;
      const page = Math.max(0, now.page + by);
      set({ key, cursors: by === 1 ? [...now.cursors.slice(0, now.page + 1), next!] : now.cursors, page });
    },
  };
}
