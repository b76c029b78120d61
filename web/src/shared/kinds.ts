// The games there are, as the server tells: asked for once, and kept while the page is open.
import { useEffect, useState } from "preact/hooks";
import type { Kind, Texts } from "../client";
import { api } from "./api";

const AGAIN_MS = 3000;
let known: Kind[] = [];
let asked: Promise<Kind[]> | undefined;

function ask(): Promise<Kind[]> {
  asked ??= api()
    .kinds()
    .then(
      ({ kinds }) => (known = kinds),
      (error) => {
        asked = undefined;
        throw error;
      },
    );
  return asked;
}

/** All of them, in the server's order; none until it has told. */
export function useKinds(): Kind[] {
  const [kinds, set] = useState(known);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      ask().then(set, () => {
        timer = setTimeout(look, AGAIN_MS);
      });
    };
    if (kinds.length === 0) look();
    return () => clearTimeout(timer);
  }, []);
  return kinds;
}

export function useKind(name: string | undefined): Kind | undefined {
  return useKinds().find(({ kind }) => kind === name);
}

/** In the language that was chosen for a room, else in that of the page. */
export function inWords(texts: Texts, language: unknown = document.documentElement.lang): string {
  return language === "hi" ? texts.hi : texts.en;
}
