// A player by name, wherever they stand. Names are people's own, so there is no index of them: the board is
// gone through in large pages, from the top.
import type { Entry } from "../client";
import { entries, nameOf, type Place } from "./board";

const AT_ONCE = 1000;
const ENOUGH = 20;

export interface Search {
  /** Whoever has just that name first, then those whose name has it in it. */
  found: Entry[];
  looked: number;
  total: number;
}

/** Tells after each page how far it is; ends at the first one of just that name, or at the end of the board. */
export async function* findName(place: Place, text: string): AsyncGenerator<Search> {
  const low = text.toLowerCase();
  const like: Entry[] = [];
  let cursor: string | undefined;
  let looked = 0;
  do {
    const page = await entries(place, { limit: AT_ONCE, ...(cursor ? { cursor } : {}) });
    const same = page.entries.find((entry) => nameOf(entry).toLowerCase() === low);
    like.push(...page.entries.filter((entry) => entry !== same && nameOf(entry).toLowerCase().includes(low)));
    looked += page.entries.length;
    cursor = page.next;
    yield { found: [...(same ? [same] : []), ...like].slice(0, ENOUGH), looked, total: page.total };
    if (same) return;
  } while (cursor);
}
