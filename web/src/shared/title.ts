import { useEffect } from "preact/hooks";

/** The page's name in tabs, history and for screen readers. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · gametable` : "gametable";
  }, [title]);
}
