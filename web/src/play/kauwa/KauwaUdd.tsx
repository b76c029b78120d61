import { useEffect } from "preact/hooks";
import type { RoomState } from "../../client";
import { announce } from "../../shared/announce";
import { signed } from "../../shared/numbers";
import { hear, shake } from "../../shared/sound";
import { Scoreboard } from "../Scoreboard";
import type { RoomView } from "../useRoom";
import { LastResult } from "./LastResult";
import { Target } from "./Target";
import { matchOf, nameOf, type Match } from "./round";

/** Sound, motor and voice for what came of the round before and for what is called now. */
function useCaller(match: Match, me: string, playing: boolean): void {
  const last = match.last;
  const mine = last?.results[me];
  useEffect(() => {
    if (!mine) return;
    hear(mine.right ? "right" : "wrong");
    if (!mine.right) shake([60, 40, 60]);
  }, [last?.n]);
  useEffect(() => {
    if (!playing || match.round?.status !== "open") return;
    if (!mine) hear("call");
    const verdict = mine ? `${mine.right ? "Right" : "Wrong"}, ${mine.points} points. ` : "";
    announce(`${verdict}${nameOf(match.round, match.hindi)}!`, true);
  }, [match.round?.n]);
}

export function KauwaUdd({ view, state }: { view: RoomView; state: RoomState }) {
  const match = matchOf(state);
  const me = state.players.find(({ player }) => player === view.me);
  const playing = state.room.status === "playing";
  useCaller(match, view.me, playing);
  const done = match.round ? match.round.n - match.first + 1 : 0;
  return (
    <div class="page kauwa">
      <div class="status-line">
        <span>{done === 0 ? "Get ready" : `Round ${done} of ${match.rounds}`}</span>
        {me && !me.spectator ? (
          <span>
            {me.streak > 1 && <span class="streak">🔥 {me.streak} in a row </span>}
            <b>{signed(me.points)}</b> points
          </span>
        ) : (
          <span class="pill">you look on</span>
        )}
      </div>
      <Target view={view} match={match} plays={me !== undefined && !me.spectator && playing} />
      <LastResult match={match} me={view.me} />
      <Scoreboard players={state.players} me={view.me} change={(player) => match.last?.results[player]?.points} />
    </div>
  );
}
