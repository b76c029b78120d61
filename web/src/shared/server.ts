// What the server tells of itself.
import { useEffect, useState } from "preact/hooks";
import { api } from "./api";

export interface Server {
  version: string;
  uptimeSeconds: number;
  redisPort?: number; // not there: Redis is off, or on a port that was chosen at its start
  table: string;
  tables: number;
  items: number;
  itemBytes: number;
  indexEntries: number;
  indexMemory: number;
  cacheHits: number;
  cacheMisses: number;
  commits: number;
  writes: number;
  disk: number;
  refusingWrites: boolean;
  lines: number;
  topics: number;
  messages: number;
}

export function server(): Promise<Server> {
  return api().ask("GET", "/v1/server");
}

/** Once. */
export function useServer(): Server | null {
  const [found, set] = useState<Server | null>(null);
  useEffect(() => {
    server().then(set, () => {});
  }, []);
  return found;
}
