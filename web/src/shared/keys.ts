import { useLayoutEffect, useRef } from "preact/hooks";

const OWN = new Set(["INPUT", "SELECT", "TEXTAREA", "BUTTON", "A", "SUMMARY"]);

export function isActKey({ key }: KeyboardEvent): boolean {
  return key === " " || key === "Enter";
}

/** Space and enter do it, wherever the focus is, unless it is on something that takes keys itself. From the moment on which
 * it is shown: an effect after the painting would miss who is quick. */
export function useActKey(act: () => void, on: boolean): void {
  const latest = useRef(act);
  latest.current = act;
  useLayoutEffect(() => {
    if (!on) return;
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (!isActKey(event) || event.repeat || OWN.has(target.tagName)) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [on]);
}
