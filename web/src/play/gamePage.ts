// The pages of the games: a folder each, named by the kind (`page` of /v1/kinds), with a page.tsx. Each is
// a file of its own in the program and loaded when a room of its kind is opened, so that a new game
// makes no other page heavier.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { RoomState } from "../client";
import type { RoomView } from "./useRoom";

export interface GamePage {
  default(props: { view: RoomView; state: RoomState }): JSX.Element;
  /** How long the last move of a match takes to be seen, before the results are shown. */
  lastMoveMs: number;
}

const folders = import.meta.glob<GamePage>("./*/page.tsx");
const loaded = new Map<string, GamePage>();

/** The page, as soon as it is there; "none": it cannot be had. */
export function useGamePage(folder: string | undefined): GamePage | "none" | undefined {
  const [page, set] = useState<GamePage | "none" | undefined>(loaded.get(folder ?? ""));
  useEffect(() => {
    if (folder === undefined || loaded.has(folder)) return set(loaded.get(folder ?? ""));
    const load = folders[`./${folder}/page.tsx`];
    if (!load) return set("none");
    load().then(
      (found) => {
        loaded.set(folder, found);
        set(found);
      },
      () => set("none"),
    );
  }, [folder]);
  return page;
}
