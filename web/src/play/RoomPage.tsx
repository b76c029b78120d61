import { useEffect, useState } from "preact/hooks";
import type { RoomState } from "../client";
import { Link } from "../shared/address";
import { TITLES } from "../shared/api";
import { announce } from "../shared/announce";
import { seats } from "../shared/store";
import { JoinCard } from "./JoinCard";
import { KauwaUdd } from "./kauwa/KauwaUdd";
import { Lobby } from "./Lobby";
import { Results } from "./Results";
import { Snakes } from "./snakes/Snakes";
import { useRoom, type RoomView } from "./useRoom";

/** What a match's end waits for: the last piece has to arrive first. */
const LAST_MOVE_MS: Record<string, number> = { "kauwa-udd": 1200, "snakes-and-ladders": 3200 };

/** Whether to show the results: a moment after a match that we saw end, at once otherwise. */
function useOver(state: RoomState | null): boolean {
  const status = state?.room.status;
  const [over, set] = useState(false);
  const [saw, setSaw] = useState(false);
  useEffect(() => {
    if (status === "playing") setSaw(true);
    if (status !== "over") return set(false);
    const timer = setTimeout(() => set(true), saw ? LAST_MOVE_MS[state!.room.kind] ?? 0 : 0);
    return () => clearTimeout(timer);
  }, [status]);
  return over;
}

function Banner({ view }: { view: RoomView }) {
  const lost = view.status === "lost" || (view.status === "connecting" && view.state !== null);
  useEffect(() => {
    if (view.status === "lost") announce("The connection was lost. Trying again.", true);
    else if (view.status === "open" && view.state !== null) announce("");
  }, [view.status]);
  if (!lost) return null;
  return (
    <p class="banner" role="status">
      <span class="spinner" aria-hidden="true" />
      The connection was lost. Coming back to your seat…
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

function Stage({ view, state }: { view: RoomView; state: RoomState }) {
  const over = useOver(state);
  if (state.room.status === "lobby") return <Lobby view={view} state={state} />;
  if (over) return <Results view={view} state={state} />;
  return state.room.kind === "kauwa-udd" ? <KauwaUdd view={view} state={state} /> : <Snakes view={view} state={state} />;
}

export function RoomPage({ code }: { code: string }) {
  const seated = seats.use()[code] !== undefined;
  const [looksOn, setLooksOn] = useState(false);
  const view = useRoom(code, looksOn);
  const kind = view.state?.room.kind;
  useEffect(() => {
    document.title = kind ? `${TITLES[kind] ?? kind} · ${code}` : `Room ${code}`;
    return () => {
      document.title = "gametable";
    };
  }, [kind, code]);
  if (view.ended) return <Ended code={code} reason={view.ended} />;
  if (!seated && !looksOn) return <JoinCard code={code} onWatch={() => setLooksOn(true)} />;
  return (
    <>
      <Banner view={view} />
      {view.state === null ? <p class="page quiet">Going to room {code}…</p> : <Stage view={view} state={view.state} />}
    </>
  );
}
