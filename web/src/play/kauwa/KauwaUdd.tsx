import { useEffect } from "preact/hooks";
import type { RoomState } from "../../client";
import { announce } from "../../shared/announce";
import { signed } from "../../shared/numbers";
import { hear, shake } from "../../shared/sound";
import { hush, speak } from "../../shared/speech";
import { useWords, type Say } from "../../shared/words";
import { Scoreboard } from "../Scoreboard";
import type { RoomView } from "../useRoom";
import { Beat } from "./Beat";
import { Target } from "./Target";
import { matchOf, nameOf, type Match } from "./round";

/** Sound, motor and voice for what is called, and for what came of it. */
function useCaller(match: Match, me: string, playing: boolean, say: Say): void {
  const last = match.last;
  const mine = last?.results[me];
  useEffect(() => {
    if (!mine || mine.away) return;
    hear(mine.right ? "right" : "wrong");
    if (!mine.right) shake([60, 40, 60]);
    announce(`${say(mine.right ? "Right" : "Wrong")}, ${say("{} points", mine.points)}`, true);
  }, [last?.n]);
  useEffect(() => {
    if (!playing || match.round?.status !== "open") return;
    hear("call");
    speak(nameOf(match.round, match.hindi), match.hindi);
    announce(`${nameOf(match.round, match.hindi)}!`, true);
  }, [match.round?.n]);
  useEffect(() => hush, []);
}

function StatusLine({ match, state, me, say }: { match: Match; state: RoomState; me: string; say: Say }) {
  const mine = state.players.find(({ player }) => player === me);
  const done = match.round ? match.round.n - match.first + 1 : 0;
  return (
    <div class="status-line">
      <span>{done === 0 ? say("Get ready") : say("Round {} of {}", done, match.rounds)}</span>
      {mine && !mine.spectator ? (
        <span>
          {mine.streak > 1 && <span class="streak">🔥 {say("{} in a row", mine.streak)} </span>}
          <b>{signed(mine.points)}</b> {say("points")}
        </span>
      ) : (
        <span class="pill">{say("you look on")}</span>
      )}
    </div>
  );
}

export function KauwaUdd({ view, state }: { view: RoomView; state: RoomState }) {
  const match = matchOf(state);
  const say = useWords(match.hindi ? "hi" : "en");
  const me = state.players.find(({ player }) => player === view.me);
  const playing = state.room.status === "playing";
  useCaller(match, view.me, playing, say);
  const resultOf = (player: string) => {
    const result = match.last?.results[player];
    return result?.away ? undefined : result;
  };
  const beat = match.last !== undefined && match.round?.status === "done";
  return (
    <div class="page kauwa" lang={match.hindi ? "hi" : undefined}>
      <StatusLine match={match} state={state} me={view.me} say={say} />
      {beat ? (
        <Beat last={match.last!} me={view.me} hindi={match.hindi} say={say} />
      ) : (
        <Target view={view} match={match} plays={me !== undefined && !me.spectator && playing} say={say} />
      )}
      <div class="kauwa-side">
        {match.last === undefined && (
          <p class="last quiet">{say("What flies brings most to the quickest. Wrong taps cost.")}</p>
        )}
        <Scoreboard
          players={state.players}
          me={view.me}
          say={say}
          change={(player) => resultOf(player)?.points}
          right={(player) => (beat ? resultOf(player)?.right : undefined)}
        />
      </div>
    </div>
  );
}
