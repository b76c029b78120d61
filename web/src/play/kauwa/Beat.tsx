// Between two rounds: what it was, and what we made of it. The standings beside it tell who was right.
import { change } from "../../shared/numbers";
import type { Say } from "../../shared/words";
import { nameOf, type LastRound, type Verdict } from "./round";

interface BeatProps {
  last: LastRound;
  me: string;
  hindi: boolean;
  say: Say;
}

function mineOf(verdict: Verdict | undefined, flies: boolean, say: Say): string {
  if (!verdict) return "";
  if (verdict.away) return say("You were away: it costs nothing");
  if (verdict.right && flies) return say("Tapped after {} s", ((verdict.afterMs ?? 0) / 1000).toFixed(2));
  if (verdict.right) return say("You kept still");
  return say(flies ? "You missed it" : "You tapped all the same");
}

export function Beat({ last, me, hindi, say }: BeatProps) {
  const mine = last.results[me];
  return (
    <section class={`beat ${mine && !mine.away ? (mine.right ? "right" : "wrong") : ""}`} role="status">
      <p class="beat-what">
        <span class="beat-emoji" aria-hidden="true">
          {last.emoji}
        </span>
        <b>{say(last.flies ? "{} flies!" : "{} does not fly", nameOf(last, hindi))}</b>
      </p>
      {last.void ? (
        <p>{say("There was an outage: nobody wins or loses points.")}</p>
      ) : (
        <p class="beat-mine">
          {mineOf(mine, last.flies, say)} {mine && !mine.away && <b class="beat-points">{change(mine.points)}</b>}
        </p>
      )}
    </section>
  );
}
