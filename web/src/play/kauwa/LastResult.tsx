import { change } from "../../shared/numbers";
import { nameOf, type Match, type Verdict } from "./round";

function outcome(verdict: Verdict, flies: boolean): string {
  if (verdict.right && flies) return `Tapped after ${((verdict.afterMs ?? 0) / 1000).toFixed(2)} s`;
  if (verdict.right) return "You kept still";
  return flies ? "You missed it" : "You tapped all the same";
}

/** How the round before went, for us. */
export function LastResult({ match, me }: { match: Match; me: string }) {
  const { last, hindi } = match;
  if (!last) return <p class="last quiet">What flies brings most to the quickest. Wrong taps cost.</p>;
  const mine = last.results[me];
  return (
    <div key={last.n} class={`last ${mine ? (mine.right ? "right" : "wrong") : ""}`}>
      <span class="last-emoji" aria-hidden="true">
        {last.emoji}
      </span>
      <span class="grow">
        <b lang={hindi ? "hi" : "en"}>{nameOf(last, hindi)}</b> {last.flies ? "flies" : "does not fly"}
        {mine && <small>{outcome(mine, last.flies)}</small>}
      </span>
      {mine && <b class="last-points">{change(mine.points)}</b>}
    </div>
  );
}
