import { useEffect, useState } from "preact/hooks";
import type { RoomState } from "../client";
import { Link } from "../shared/address";
import { announce } from "../shared/announce";
import { inWords, useKind } from "../shared/kinds";
import { seats } from "../shared/store";
import { useTitle } from "../shared/title";
import { useWords, type Say } from "../shared/words";
import { useGamePage, type GamePage } from "./gamePage";
import { JoinCard } from "./JoinCard";
import { Lobby, PlayTooButton } from "./Lobby";
import { Results } from "./Results";
import { useRoom, type RoomView } from "./useRoom";

/** Whether to show the results: a moment after a match that we saw end, at once otherwise. */
function useOver(state: RoomState | null, lastMoveMs: number): boolean {
  const status = state?.room.status;
  const [over, set] = useState(false);
  const [saw, setSaw] = useState(false);
  useEffect(() => {
    if (status === "playing") setSaw(true);
    if (status !== "over") return set(false);
    const timer = setTimeout(() => set(true), saw ? lastMoveMs : 0);
    return () => clearTimeout(timer);
  }, [status]);
  return over;
}

function Banner({ view, say }: { view: RoomView; say: Say }) {
  const lost = view.status === "lost" || (view.status === "connecting" && view.state !== null);
  useEffect(() => {
    if (view.status === "lost") announce("The connection was lost. Trying again.", true);
    else if (view.status === "open" && view.state !== null) announce("");
  }, [view.status]);
  if (!lost) return null;
  return (
    <p class="banner" role="status">
      <span class="spinner" aria-hidden="true" />
      {say("The connection was lost. Coming back to your seat…")}
    </p>
  );
}

function Ended({ code, reason }: { code: string; reason: string }) {
  return (
    <div class="page narrow">
      <section class="card centred">
        <h1>Room {code}</h1>
        <p role="alert">{reason.charAt(0).toUpperCase() + reason.slice(1)}</p>
        <Link to="/play" class="button main">
          Other rooms
        </Link>
      </section>
    </div>
  );
}

interface StageProps {
  view: RoomView;
  state: RoomState;
  game: GamePage | "none" | undefined;
  title: string;
}

function Waiting({ title, text }: { title: string; text: string }) {
  return (
    <div class="page">
      <h1>{title}</h1>
      <p class="quiet">{text}</p>
    </div>
  );
}

/** During a match: who looks on can ask for a place in the next one. */
function SpectatorLine({ view, state }: { view: RoomView; state: RoomState }) {
  const say = useWords(state.room.options["language"]);
  const [problem, setProblem] = useState("");
  const me = state.players.find(({ player }) => player === view.me);
  if (me && !me.spectator) return null;
  return (
    <div class="page spectator-line">
      {me?.waiting ? <span class="pill">{say("plays next")}</span> : <PlayTooButton view={view} me={me} say={say} onProblem={setProblem} />}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** The page begins at its top whenever it shows something else: the lobby, the match, the results. */
function useTopOn(what: string): void {
  useEffect(() => scrollTo(0, 0), [what]);
}

function Stage({ view, state, game, title }: StageProps) {
  const over = useOver(state, typeof game === "object" ? game.lastMoveMs : 0);
  useTopOn(over ? "results" : state.room.status);
  if (state.room.status === "lobby") return <Lobby view={view} state={state} />;
  if (over) return <Results view={view} state={state} />;
  if (game === undefined) return <Waiting title={title} text="Setting up the game…" />;
  if (game === "none")
    return (
      <div class="page">
        <h1>{title}</h1>
        <p class="problem" role="alert">
          The game's page could not be loaded. <a href="">Try again</a>
        </p>
      </div>
    );
  const Game = game.default;
  return (
    <>
      <h1 class="unseen">{title}</h1>
      <Game view={view} state={state} />
      <SpectatorLine view={view} state={state} />
    </>
  );
}

export function RoomPage({ code }: { code: string }) {
  const seated = seats.use()[code] !== undefined;
  const [looksOn, setLooksOn] = useState(false);
  const view = useRoom(code, looksOn, () => setLooksOn(false));
  const room = view.state?.room;
  const kind = useKind(room?.kind);
  const game = useGamePage(kind?.page);
  const language = room?.options["language"];
  const title = kind ? inWords(kind.titles, language) : `Room ${code}`;
  const say = useWords(language);
  useTitle(kind ? `${title} · ${code}` : title);
  if (view.ended) return <Ended code={code} reason={view.ended} />;
  if (!seated && !looksOn) return <JoinCard code={code} onWatch={() => setLooksOn(true)} />;
  return (
    <>
      <Banner view={view} say={say} />
      {view.state === null ? (
        <Waiting title={`Room ${code}`} text="Going there…" />
      ) : (
        <Stage view={view} state={view.state} game={game} title={title} />
      )}
    </>
  );
}
