// What a room says, in its language. English stands where it is used; Hindi is a file of its own that is loaded
// when a room speaks it.
import { useEffect, useState } from "preact/hooks";

/** The text in the room's language; each {} stands for one of the values. */
export type Say = (text: string, ...values: (string | number)[]) => string;

type Dictionary = Record<string, string>;
let hindi: Dictionary | undefined;

function fill(text: string, values: (string | number)[]): string {
  let at = 0;
  return text.replace(/\{\}/g, () => String(values[at++] ?? ""));
}

export const english: Say = (text, ...values) => fill(text, values);
const inHindi: Say = (text, ...values) => fill(hindi?.[text] ?? text, values);

export function useWords(language: unknown): Say {
  const [loaded, set] = useState(hindi !== undefined);
  useEffect(() => {
    if (language !== "hi" || hindi) return;
    import("./hindi").then(
      (found) => {
        hindi = found.hindi;
        set(true);
      },
      () => {}, // English is better than nothing
    );
  }, [language]);
  return language === "hi" && loaded ? inHindi : english;
}
