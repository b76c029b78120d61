import { useEffect, useState } from "preact/hooks";
import type { RoomState } from "../client";
import { Link } from "../shared/address";
import { api, EMOJI, reasonOf, TITLES } from "../shared/api";
import { keepSeat, ownPlayer, playerName } from "../shared/store";
import { NameField } from "./NameField";

/** The door of a room that one came to by its link. */
export function JoinCard({ code, onWatch }: { code: string; onWatch(): void }) {
  const name = playerName.use();
  const [state, set] = useState<RoomState | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    api().room(code).then(set, (error) => setProblem(reasonOf(error)));
  }, [code]);
  const join = async (event: Event) => {
    event.preventDefault();
    try {
      const seat = await api().joinRoom(code, { name: name.trim(), player: ownPlayer() });
      keepSeat(code, { player: seat.player, token: seat.token });
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  const host = state?.players.find(({ player }) => player === state.room.host);
  const playing = state?.room.status === "playing";
  return (
    <div class="page narrow">
      <form class="card centred" onSubmit={join}>
        {state && (
          <>
            <p class="big-emoji" aria-hidden="true">
              {EMOJI[state.room.kind]}
            </p>
            <h1>{state.room.title || TITLES[state.room.kind]}</h1>
            <p>
              {host ? `${host.name} invites you to room ` : "Room "}
              <b class="code-inline">{code}</b>
            </p>
            {playing && <p class="quiet">A match is under way: you look on until it is over.</p>}
            <NameField />
            <button class="main" disabled={name.trim() === ""}>
              {playing ? "Come in" : "Join"}
            </button>
            <button type="button" class="plain" onClick={onWatch}>
              Just watch
            </button>
          </>
        )}
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        {problem && !state && (
          <Link to="/play" class="button main">
            Other rooms
          </Link>
        )}
      </form>
    </div>
  );
}
