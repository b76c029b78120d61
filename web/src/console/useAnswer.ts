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

/** Asks when the page is shown and whenever `on` changes; with `everyMs` again and again while it can be seen. A late
 * answer to an earlier question is dropped. */
export function useAnswer<T>(ask: () => Promise<T>, on: unknown[], everyMs = 0): Answered<T> {
  const [state, set] = useState<{ value: T | undefined; error: unknown; busy: boolean }>({
    value: undefined,
    error: undefined,
    busy: true,
  });
  const latest = useRef(ask);
  latest.current = ask;
  const turn = useRef(0);
  const again = useCallback(() => {
    const mine = ++turn.current;
    set((old) => ({ ...old, busy: true }));
    latest.current().then(
      (value) => mine === turn.current && set({ value, error: undefined, busy: false }),
      (error) => mine === turn.current && set((old) => ({ value: old.value, error, busy: false })),
    );
  }, []);
  const key = JSON.stringify(on);
  useEffect(() => {
    set((old) => ({ ...old, value: undefined, error: undefined }));
    again();
    const timer = everyMs > 0 ? setInterval(() => document.visibilityState === "visible" && again(), everyMs) : undefined;
    return () => {
      clearInterval(timer);
      turn.current++;
    };
  }, [key, everyMs]);
  return { ...state, problem: state.error === undefined ? "" : messageOf(state.error), again };
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
