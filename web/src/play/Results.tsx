import { useEffect, useState } from "preact/hooks";
import type { RoomState } from "../client";
import { Link } from "../shared/address";
import { announce } from "../shared/announce";
import { TITLES } from "../shared/api";
import { CopyButton } from "../shared/Copy";
import { signed } from "../shared/numbers";
import { hear, shake } from "../shared/sound";
import { Avatar } from "./Avatar";
import { Confetti } from "./Confetti";
import { LeaveButton } from "./Lobby";
import { Scoreboard, standings, type Standing } from "./Scoreboard";
import type { RoomView } from "./useRoom";

const MEDALS = ["🥇", "🥈", "🥉"];
const ORDINALS = ["", "first", "second", "third"];

function headline(list: Standing[], me: string): string {
  const mine = list.find(({ player }) => player === me);
  const winners = list.filter(({ place }) => place === 1);
  if (mine?.place === 1) return winners.length > 1 ? "You share the first place!" : "You won!";
  const names = winners.map(({ name }) => name).join(" and ");
  if (!mine) return `${names} won!`;
  return `You came ${ORDINALS[mine.place] ?? `${mine.place}th`}. ${names} won.`;
}

/** The first three: second, first, third, as they stand. */
function Podium({ list }: { list: Standing[] }) {
  const three = [list[1], list[0], list[2]];
  return (
    <div class="podium" aria-hidden="true">
      {three.map(
        (player) =>
          player && (
            <div key={player.player} class={`step place-${Math.min(3, player.place)}`}>
              <Avatar player={player} />
              <b>{player.name}</b>
              <span class="block">
                {MEDALS[player.place - 1]}
                <span>{signed(player.points)}</span>
              </span>
            </div>
          ),
      )}
    </div>
  );
}

export function Results({ view, state }: { view: RoomView; state: RoomState }) {
  const { room, players } = state;
  const [problem, setProblem] = useState("");
  const list = standings(players);
  const title = headline(list, view.me);
  const won = list.some(({ player, place }) => player === view.me && place === 1);
  const board = `/boards/${room.kind}:room?scope=room:${room.code}`;
  const seated = players.some(({ player, spectator }) => player === view.me && !spectator);
  useEffect(() => {
    hear("win");
    if (won) shake([40, 60, 40, 60, 120]);
    announce(title, true);
  }, [room.match]);
  return (
    <div class="page results">
      <Confetti much={won ? 160 : 70} />
      <h1>{title}</h1>
      <Podium list={list} />
      <Scoreboard players={players} me={view.me} />
      <div class="actions">
        {seated && (
          <button class="main" onClick={async () => setProblem((await view.act({ do: "rematch" })).reason ?? "")}>
            Rematch
          </button>
        )}
        <p class="row centred">
          <Link to={board} class="button">
            The board of this room
          </Link>
          <CopyButton text={location.origin + board} label="Copy the board's link" />
        </p>
        <Link to={`/boards/${room.kind}:daily`}>{TITLES[room.kind]}: today's best</Link>
        <LeaveButton view={view} code={room.code} />
      </div>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
