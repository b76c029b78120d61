// What a change did to an item, attribute by attribute.
import { brief, type Item } from "./attribute";

export interface Difference {
  name: string;
  old: string;
  new: string;
  state: "same" | "added" | "removed" | "changed";
}

export function itemDiff(before: Item | undefined, after: Item | undefined): Difference[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .map((name): Difference => {
      const old = before?.[name];
      const next = after?.[name];
      const state = old === undefined ? "added" : next === undefined ? "removed" : JSON.stringify(old) === JSON.stringify(next) ? "same" : "changed";
      return { name, old: brief(old, 200), new: brief(next, 200), state };
    })
    .sort((a, b) => Number(a.state === "same") - Number(b.state === "same"));
}
