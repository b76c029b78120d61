// A room for all to see: on a television or a projector, over a room full of phones.
import { useEffect } from "preact/hooks";
import type { RoomState } from "../client";
import { Link } from "../shared/address";
import { inWords, useKind } from "../shared/kinds";
import { useTitle } from "../shared/title";
import { useWords, type Say } from "../shared/words";
import { Avatar } from "./Avatar";
import { useGamePage } from "./gamePage";
import { LateQrCode, linkTo } from "./Invite";
import { Results } from "./Results";
import { useRoom } from "./useRoom";

function JoinCorner({ state, say }: { state: RoomState; say: Say }) {
  const { room } = state;
  return (
    <aside class="tv-join">
      <h2>{say("Join with your phone")}</h2>
      <LateQrCode text={linkTo(room)} />
      <p class="code" role="img" aria-label={say("Room code {}", [...room.code].join(" "))}>
        {room.code}
      </p>
      {!room.invite && <p class="quiet">{say("or open {} and type the code", `${location.host}/play`)}</p>}
    </aside>
  );
}

/** The screen stays on while somebody looks. */
function useAwake(): void {
  useEffect(() => {
    const lock = navigator.wakeLock?.request("screen").catch(() => undefined);
    return () => void lock?.then((held) => held?.release());
  }, []);
}

export function TvPage({ code }: { code: string }) {
  const view = useRoom(code, true, () => {}, true);
  const room = view.state?.room;
  const kind = useKind(room?.kind);
  const game = useGamePage(kind?.page);
  const language = room?.options["language"];
  const say = useWords(language);
  const title = kind ? inWords(kind.titles, language) : `Room ${code}`;
  useTitle(`${title} · TV`);
  useAwake();
  if (view.ended || !view.state)
    return (
      <div class="page narrow centred">
        <h1>{`Room ${code}`}</h1>
        <p class="quiet">{view.ended || "Going there…"}</p>
        {view.ended && (
          <Link to="/play" class="button main">
            Other rooms
          </Link>
        )}
      </div>
    );
  const { status } = view.state.room;
  const Game = typeof game === "object" ? game.default : null;
  return (
    <div class={`tv tv-${status}`} lang={language === "hi" ? "hi" : undefined}>
      <div class="tv-main">
        {status !== "over" && (
          <h1 class={status === "lobby" ? "" : "unseen"}>
            <span aria-hidden="true">{kind?.emoji}</span> {title}
          </h1>
        )}
        {status === "lobby" && (
          <>
            <p class="tv-about">{kind && inWords(kind.about, language)}</p>
            <ul class="tv-people" aria-label={say("Players")}>
              {view.state.players.map((player) => (
                <li key={player.player}>
                  <Avatar player={player} />
                  <bdi>{player.name}</bdi>
                </li>
              ))}
            </ul>
            {view.state.players.length === 0 && <p class="quiet">{say("Waiting for players…")}</p>}
          </>
        )}
        {status === "playing" && Game && <Game view={view} state={view.state} />}
        {status === "over" && <Results view={view} state={view.state} />}
      </div>
      <JoinCorner state={view.state} say={say} />
    </div>
  );
}
