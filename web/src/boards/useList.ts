// A list that comes in pages; what cannot be had now is asked for again.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../client";
import { reasonOf } from "../shared/api";

const AGAIN_MS = 3000;

export interface Listed<T> {
  items: T[] | null; // null: nothing has come yet
  more: boolean;
  problem: string;
  load(): void; // the next page
}

export function useList<T>(ask: (cursor: string) => Promise<{ items: T[]; next?: string | undefined }>): Listed<T> {
  const [items, set] = useState<T[] | null>(null);
  const [next, setNext] = useState<string | undefined>("");
  const [problem, setProblem] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const gone = useRef(false);
  const busy = useRef(false); // a page that is on its way is not asked for twice
  const load = async (cursor: string) => {
    if (busy.current) return;
    busy.current = true;
    try {
      const page = await ask(cursor);
      if (gone.current) return;
      set((old) => [...(cursor ? old ?? [] : []), ...page.items]);
      setNext(page.next);
      setProblem("");
    } catch (error) {
      if (gone.current) return;
      const refused = error instanceof ApiError && error.problem.status < 500; // it will be the next time
      if (!refused) setProblem(reasonOf(error));
      if (refused) set((old) => old ?? []);
      else timer.current = setTimeout(() => load(cursor), AGAIN_MS);
    } finally {
      busy.current = false;
    }
  };
  useEffect(() => {
    gone.current = false;
    void load("");
    return () => {
      gone.current = true;
      clearTimeout(timer.current);
    };
  }, []);
  return { items, more: items !== null && next !== undefined && next !== "", problem, load: () => void load(next ?? "") };
}
