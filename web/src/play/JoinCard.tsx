import { useEffect, useState } from "preact/hooks";
import type { RoomState } from "../client";
import { Link } from "../shared/address";
import { api, isStatus, reasonOf } from "../shared/api";
import { inWords, useKind } from "../shared/kinds";
import { anotherPlayer, keepSeat, ownPlayer, playerName } from "../shared/store";
import { useWords } from "../shared/words";
import { NameField } from "./NameField";

/** Sits down. Somebody who has our player's seat already, and is not us, keeps it: we come as somebody new. */
async function sitDown(code: string, name: string): Promise<void> {
  const client = api(code);
  const seat = await client.joinRoom(code, { name, player: ownPlayer() }).catch((error) => {
    if (!isStatus(error, 403) || !/sits in the room/.test(reasonOf(error))) throw error;
    return client.joinRoom(code, { name, player: anotherPlayer() });
  });
  keepSeat(code, { player: seat.player, token: seat.token });
}

interface JoinCardProps {
  code: string;
  onWatch(): void;
}

/** The door of a room that one came to by its link. */
export function JoinCard({ code, onWatch }: JoinCardProps) {
  const name = playerName.use();
  const [state, set] = useState<RoomState | null>(null);
  const [problem, setProblem] = useState("");
  const [joining, setJoining] = useState(false); // twice would take two seats
  const kind = useKind(state?.room.kind);
  const language = state?.room.options["language"];
  const say = useWords(language);
  useEffect(() => {
    api(code).room(code).then(set, (error) => setProblem(reasonOf(error)));
  }, [code]);
  const join = async (event: Event) => {
    event.preventDefault();
    if (joining) return;
    setJoining(true);
    setProblem("");
    try {
      await sitDown(code, name.trim());
    } catch (error) {
      setProblem(reasonOf(error));
    }
    setJoining(false);
  };
  const host = state?.players.find(({ player }) => player === state.room.host);
  const playing = state?.room.status === "playing";
  return (
    <div class="page narrow">
      <form class="card centred" onSubmit={join} lang={language === "hi" ? "hi" : undefined}>
        {!state && <h1>Room {code}</h1>}
        {state && (
          <>
            <p class="big-emoji" aria-hidden="true">
              {kind?.emoji}
            </p>
            <h1>
              <bdi>{state.room.title || (kind && inWords(kind.titles, language))}</bdi>
            </h1>
            <p>
              {host ? `${say("{} invites you to room", host.name)} ` : "Room "}
              <b class="code-inline">{code}</b>
            </p>
            {playing && <p class="quiet">A match is under way: you look on until it is over.</p>}
            <NameField say={say} />
            <button class="main" disabled={joining || name.trim() === ""}>
              {say(playing ? "Come in" : "Join")}
            </button>
            <button type="button" class="plain" onClick={onWatch}>
              {say("Just watch")}
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
