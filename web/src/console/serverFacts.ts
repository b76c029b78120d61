// What the server tells of itself, asked for once while the console is open.
import { useEffect, useState } from "preact/hooks";
import { rest } from "./server";

export interface ServerFacts {
  version?: string;
  redisPort?: number;
  table?: string;
}

let known: ServerFacts = {};
let asked: Promise<void> | undefined;

export function useServerFacts(): ServerFacts {
  const [facts, set] = useState(known);
  useEffect(() => {
    asked ??= rest<ServerFacts>("GET", "/server").then(
      (value) => void (known = value),
      () => {},
    );
    void asked.then(() => set(known));
  }, []);
  return facts;
}
