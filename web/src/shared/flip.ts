// Rows that change places glide there: first and last place measured, the way between played.
import { useLayoutEffect, useRef } from "preact/hooks";
import { still } from "./motion";

const LASTS_MS = 450;

/** For a list whose children have data-flip; `order` tells when to look. */
export function useFlip<T extends HTMLElement>(order: string) {
  const ref = useRef<T>(null);
  const tops = useRef(new Map<string, number>());
  useLayoutEffect(() => {
    const list = ref.current;
    if (list === null) return;
    const now = new Map<string, number>();
    const from = list.getBoundingClientRect().top;
    for (const row of list.querySelectorAll<HTMLElement>("[data-flip]")) {
      const top = row.getBoundingClientRect().top - from;
      const before = tops.current.get(row.dataset["flip"]!);
      now.set(row.dataset["flip"]!, top);
      if (before === undefined || before === top || still()) continue;
      row.animate([{ transform: `translateY(${before - top}px)` }, { transform: "none" }], {
        duration: LASTS_MS,
        easing: "cubic-bezier(.2,.8,.2,1)",
      });
    }
    tops.current = now;
  }, [order]);
  return ref;
}
