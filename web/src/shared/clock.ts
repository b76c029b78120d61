// The server's clock, as well as we know it.
import { useEffect, useState } from "preact/hooks";

const SAMPLES = 20;
let samples: number[] = [];
let offset = 0;

/** A message says what time it was when it was written. It can only be late, so of the last few the
 * one that came soonest tells best. */
export function hearClock(now: number): void {
  samples = [...samples.slice(1 - SAMPLES), now - Date.now()];
  offset = Math.max(...samples);
}

export function serverNow(): number {
  return Date.now() + offset;
}

/** Renders again every `everyMs` while `on`. */
export function useTicks(everyMs: number, on = true): number {
  const [now, set] = useState(serverNow());
  useEffect(() => {
    if (!on) return;
    set(serverNow());
    const timer = setInterval(() => set(serverNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, on]);
  return now;
}
