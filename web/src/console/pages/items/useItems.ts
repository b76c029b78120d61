// The items that a question found, page by page.
import { useCallback, useState } from "preact/hooks";
import { announce } from "../../../shared/announce";
import type { Item } from "../../logic/attribute";
import { ddb, messageOf } from "../../server";

export interface AskedItems {
  operation: string; // Query, Scan, ExecuteStatement
  request: Record<string, unknown>;
}

export interface Found {
  items: Item[];
  count: number;
  scanned: number;
  units: number;
  ms: number;
  page: number; // from 0
  last: boolean;
}

interface Answer {
  Items?: Item[];
  Count?: number;
  ScannedCount?: number;
  LastEvaluatedKey?: Item;
  NextToken?: string;
  ConsumedCapacity?: { CapacityUnits?: number };
}

/** Where a page begins. */
function startOf({ LastEvaluatedKey, NextToken }: Answer): Record<string, unknown> | undefined {
  if (LastEvaluatedKey) return { ExclusiveStartKey: LastEvaluatedKey };
  return NextToken ? { NextToken } : undefined;
}

export interface Items {
  asked: AskedItems | undefined;
  found: Found | undefined;
  busy: boolean;
  problem: string;
  run: (asked: AskedItems) => Promise<void>;
  turn: (by: 1 | -1) => Promise<void>;
  again: () => Promise<void>;
  refuse: (problem: string) => void;
}

export function useItems(): Items {
  const [asked, setAsked] = useState<AskedItems>();
  const [found, setFound] = useState<Found>();
  const [starts, setStarts] = useState<(Record<string, unknown> | undefined)[]>([undefined]);
  const [state, set] = useState({ busy: false, problem: "" });

  const load = useCallback(async (what: AskedItems, page: number, from: (Record<string, unknown> | undefined)[]) => {
    set({ busy: true, problem: "" });
    const began = performance.now();
    try {
      const mayChange = what.operation === "ExecuteStatement" && !/^\s*select/i.test(String(what.request.Statement));
      const request = { ...what.request, ReturnConsumedCapacity: "TOTAL", ...from[page] };
      const answer = await ddb<Answer>(what.operation, request, mayChange);
      const next = startOf(answer);
      setAsked(what);
      setStarts([...from.slice(0, page + 1), next]);
      setFound({
        items: answer.Items ?? [],
        count: answer.Count ?? answer.Items?.length ?? 0,
        scanned: answer.ScannedCount ?? answer.Items?.length ?? 0,
        units: answer.ConsumedCapacity?.CapacityUnits ?? 0,
        ms: performance.now() - began,
        page,
        last: next === undefined,
      });
      set({ busy: false, problem: "" });
      announce(`${answer.Count ?? answer.Items?.length ?? 0} items`);
    } catch (error) {
      set({ busy: false, problem: messageOf(error) });
    }
  }, []);

  return {
    asked,
    found,
    ...state,
    run: (what) => load(what, 0, [undefined]),
    turn: async (by) => (asked && found ? load(asked, Math.max(0, found.page + by), starts) : undefined),
    again: async () => (asked && found ? load(asked, found.page, starts) : undefined),
    refuse: (problem) => set({ busy: false, problem }),
  };
}

const PAGES_MAX = 10000;

/** Every item of a question, page by page; tells how many came so far. */
export async function allItems(asked: AskedItems, tell: (count: number) => void, most = Infinity): Promise<Item[]> {
  const items: Item[] = [];
  const { Limit: _, ...request } = asked.request;
  let start: Record<string, unknown> | undefined = {};
  for (let page = 0; start && page < PAGES_MAX && items.length < most; page++) {
    const answer: Answer = await ddb<Answer>(asked.operation, { ...request, ...start }, false);
    items.push(...(answer.Items ?? []));
    tell(items.length);
    start = startOf(answer);
  }
  return items;
}
