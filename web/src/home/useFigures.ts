import { useEffect, useState } from "preact/hooks";
import { server, type Server } from "../shared/server";

const EVERY_MS = 2000;
const KEPT = 60;

export interface Sample {
  at: number;
  server: Server;
}

/** What the server told of itself in the last two minutes, the oldest first. */
export function useFigures(): { samples: Sample[]; reached: boolean } {
  const [samples, set] = useState<Sample[]>([]);
  const [reached, setReached] = useState(true);
  useEffect(() => {
    const look = async () => {
      if (document.hidden) return;
      try {
        const told = await server();
        set((old) => [...old, { at: performance.now(), server: told }].slice(-KEPT));
        setReached(true);
      } catch {
        setReached(false);
      }
    };
    void look();
    const timer = setInterval(look, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return { samples, reached };
}

type Counter = "commits" | "writes" | "messages";

/** How much a counter rose a second, between samples; a restart begins anew. */
export function rates(samples: Sample[], name: Counter): number[] {
  return samples.slice(1).map((sample, i) => {
    const before = samples[i]!;
    const by = sample.server[name] - before.server[name];
    return Math.max(0, by) / ((sample.at - before.at) / 1000);
  });
}
