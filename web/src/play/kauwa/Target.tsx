// The one big thing to tap, with what was called on it and the clock around it.
import { useEffect, useState } from "preact/hooks";
import { serverNow, useTicks } from "../../shared/clock";
import { isActKey, useActKey } from "../../shared/keys";
import { Ring } from "../../shared/Ring";
import { hear, shake } from "../../shared/sound";
import type { Say } from "../../shared/words";
import type { RoomView } from "../useRoom";
import { nameOf, type Match } from "./round";

type Tap = { n: number; problem: string };

function useTap(view: RoomView, match: Match, plays: boolean) {
  const [tap, set] = useState<Tap>({ n: 0, problem: "" });
  const n = match.round?.n ?? 0;
  const open = plays && match.round?.status === "open" && tap.n !== n;
  const react = async () => {
    if (!open || serverNow() > match.round!.endsAt) return;
    set({ n, problem: "" });
    hear("tap");
    shake(30);
    const answer = await view.act({ do: "react", round: n });
    if (!answer.ok) set({ n, problem: answer.reason ?? "That did not count." });
  };
  useActKey(react, plays);
  return { tapped: n > 0 && tap.n === n, problem: tap.n === n ? tap.problem : "", react };
}

function Countdown({ startsAt, say }: { startsAt: number; say: Say }) {
  const left = Math.max(1, Math.ceil((startsAt - useTicks(100)) / 1000));
  useEffect(() => hear("tick"), [left]);
  return (
    <div class="target waiting" role="timer">
      <Ring startsAt={startsAt - 3000} endsAt={startsAt} />
      <span class="count" key={left}>
        {left}
      </span>
      <span class="hint">{say("Tap if it flies!")}</span>
    </div>
  );
}

interface TargetProps {
  view: RoomView;
  match: Match;
  plays: boolean;
  say: Say;
}

export function Target({ view, match, plays, say }: TargetProps) {
  const { tapped, problem, react } = useTap(view, match, plays);
  const round = match.round;
  if (round === null) return <Countdown startsAt={match.startsAt} say={say} />;
  const hint = problem || (tapped ? say("You say it flies!") : plays ? say("Tap if it flies") : "");
  return (
    <button
      class={`target ${tapped ? "tapped" : ""} ${problem ? "refused" : ""}`}
      aria-disabled={!plays || tapped}
      aria-label={`${nameOf(round, match.hindi)}. ${hint}`}
      onPointerDown={(event) => {
        if (event.button === 0) void react();
      }}
      onKeyDown={(event) => {
        if (!isActKey(event)) return;
        event.preventDefault();
        if (!event.repeat) void react();
      }}
      // The click that follows may come in the next round: only those of assistive tools count.
      onKeyUp={(event) => isActKey(event) && event.preventDefault()}
      onClick={(event) => event.detail === 0 && void react()}
    >
      <Ring startsAt={round.startsAt} endsAt={round.endsAt} />
      <span class="called" key={round.n}>
        <span class="called-emoji" aria-hidden="true">
          {round.emoji}
        </span>
        <span class="called-name" lang={match.hindi ? "hi" : "en"}>
          {nameOf(round, match.hindi)}
        </span>
        {match.hindi && <span class="called-other">{round.en}</span>}
      </span>
      <span class="hint">{hint}</span>
    </button>
  );
}
