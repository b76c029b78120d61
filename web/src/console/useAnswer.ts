// What was asked of the server, and what became of it.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "./server";

export interface Answered<T> {
  value: T | undefined;
  problem: string;
  error: unknown;
  busy: boolean;
  again: () => void;
}

interface Came<T> {
  value: T | undefined;
  error: unknown;
  busy: boolean;
}

/** Asks when the page is shown and whenever `on` changes; with `everyMs` again and again while it can be seen, but not
 * while an answer is still to come: a slow server would never be heard. A late answer to an earlier question is dropped,
 * and one to another question is never shown as the answer to this one. */
export function useAnswer<T>(ask: () => Promise<T>, on: unknown[], everyMs = 0): Answered<T> {
  const key = JSON.stringify(on);
  const [state, set] = useState<Came<T> & { key: string }>({ key, value: undefined, error: undefined, busy: true });
  const latest = useRef({ ask, key });
  latest.current = { ask, key };
  const turn = useRef(0);
  const waiting = useRef(false);
  const again = useCallback(() => {
    const mine = ++turn.current;
    const { ask: asked, key: of } = latest.current;
    const come = (next: (old: T | undefined) => Came<T>) => {
      if (mine !== turn.current) return;
      waiting.current = false;
      set((old) => ({ key: of, ...next(old.key === of ? old.value : undefined) }));
    };
    waiting.current = true;
    set((old) => ({ ...old, busy: true }));
    asked().then(
      (value) => come(() => ({ value, error: undefined, busy: false })),
      (error) => come((value) => ({ value, error, busy: false })),
    );
  }, []);
  useEffect(() => {
    set({ key, value: undefined, error: undefined, busy: true });
    again();
    const look = () => document.visibilityState === "visible" && !waiting.current && again();
    const timer = everyMs > 0 ? setInterval(look, everyMs) : undefined;
    return () => {
      clearInterval(timer);
      turn.current++;
    };
  }, [key, everyMs]);
  const { value, error, busy } = state.key === key ? state : { value: undefined, error: undefined, busy: true };
  return { value, error, busy, problem: error === undefined ? "" : messageOf(error), again };
}

export interface Doing {
  busy: boolean;
  problem: string;
  run: (what: () => Promise<unknown>) => Promise<boolean>;
  clear: () => void;
}

/** Something a person does: one at a time, with the reason when it fails. */
export function useDoing(): Doing {
  const [state, set] = useState({ busy: false, problem: "" });
  const run = useCallback(async (what: () => Promise<unknown>) => {
    set({ busy: true, problem: "" });
    try {
      await what();
      set({ busy: false, problem: "" });
      return true;
    } catch (error) {
      set({ busy: false, problem: messageOf(error) });
      return false;
    }
  }, []);
  const clear = useCallback(() => set({ busy: false, problem: "" }), []);
  return { ...state, run, clear };
}
