// The places that are looked at: the first ones are live, others are asked for.
import { useEffect, useRef, useState } from "preact/hooks";
import type { BoardPage, Entry } from "../client";
import { entries, type Place } from "./board";
import { SHOWN } from "./useBoard";

const AGAIN_MS = 2000;

export interface Places {
  entries: Entry[];
  from: number;
  go(from: number): void;
}

export function usePlaces(place: Place, live: BoardPage): Places {
  const [from, go] = useState(1);
  const [later, setLater] = useState<Entry[]>([]);
  const asked = useRef({ at: 0, from: 1 });
  useEffect(() => {
    if (from === 1) return;
    let gone = false;
    const look = () => {
      asked.current = { at: Date.now(), from };
      entries(place, { from, limit: SHOWN }).then((page) => gone || setLater(page.entries), () => {});
    };
    // Another page at once; the same one again when the board has changed, but not too often.
    const wait = asked.current.from === from ? asked.current.at + AGAIN_MS - Date.now() : 0;
    const timer = setTimeout(look, Math.max(0, wait));
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [from, live]);
  return { entries: from === 1 ? live.entries : later, from, go };
}
