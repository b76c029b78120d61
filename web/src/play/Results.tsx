import { useEffect, useState } from "preact/hooks";
import type { RoomState } from "../client";
import { Link } from "../shared/address";
import { announce } from "../shared/announce";
import { CopyButton } from "../shared/Copy";
import { inWords, useKind } from "../shared/kinds";
import { signed } from "../shared/numbers";
import { hear, shake } from "../shared/sound";
import { inviteTo, key } from "../shared/store";
import { useWords, type Say } from "../shared/words";
import { Avatar } from "./Avatar";
import { Confetti } from "./Confetti";
import { LeaveButton } from "./Lobby";
import { Scoreboard, standings, type Standing } from "./Scoreboard";
import type { RoomView } from "./useRoom";

const MEDALS = ["🥇", "🥈", "🥉"];
const ORDINALS = ["", "first", "second", "third"];

function headline(list: Standing[], me: string, say: Say): string {
  const mine = list.find(({ player }) => player === me);
  const winners = list.filter(({ place }) => place === 1);
  if (list.length > 1 && winners.length === list.length) return say("A draw!");
  if (mine?.place === 1) return say(winners.length > 1 ? "You share the first place!" : "You won!");
  const names = winners.map(({ name }) => name).join(say(" and "));
  if (!mine) return say("{} won!", names);
  const place = ORDINALS[mine.place];
  return say("You came {}. {} won.", place ? say(place) : say("{}th", mine.place), names);
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
              <b>
                <bdi>{player.name}</bdi>
              </b>
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

/** After a match: the host begins again, with this game or another; others say that they would. */
function Again({ view, state, say, onProblem }: { view: RoomView; state: RoomState; say: Say; onProblem(text: string): void }) {
  const { room, players } = state;
  const me = players.find(({ player }) => player === view.me);
  const act = async () => onProblem((await view.act({ do: "rematch" })).reason ?? "");
  const wanting = players.filter(({ ready, bot, spectator, player }) => ready && !bot && !spectator && player !== room.host);
  if (!me || me.spectator) return null;
  if (view.me !== room.host)
    return me.ready ? (
      <p class="quiet" role="status">
        {say("You want a rematch. The host begins it.")}
      </p>
    ) : (
      <button class="main" onClick={act}>
        {say("I want a rematch")}
      </button>
    );
  return (
    <>
      <button class="main" onClick={act}>
        {say("Rematch")}
      </button>
      <button onClick={act}>{say("Another game")}</button>
      {wanting.length > 0 && <p class="quiet">{say("{} want a rematch.", wanting.map(({ name }) => name).join(", "))}</p>}
    </>
  );
}

export function Results({ view, state }: { view: RoomView; state: RoomState }) {
  const { room, players } = state;
  const [problem, setProblem] = useState("");
  const list = standings(players);
  const language = room.options["language"];
  const say = useWords(language);
  const title = headline(list, view.me, say);
  const won = list.some(({ player, place }) => player === view.me && place === 1);
  const kind = useKind(room.kind);
  const ofRoom = kind?.boards.find(({ scope }) => scope === "room");
  const ofAll = kind?.boards.find(({ scope }) => scope !== "room");
  const board = `/boards/${ofRoom?.board}?scope=room:${room.code}`;
  const guest = key.get() === "" && inviteTo(room.code) !== ""; // boards are not for guests
  useEffect(() => {
    hear("win");
    if (won) shake([40, 60, 40, 60, 120]);
    announce(title, true);
  }, [room.match]);
  return (
    <div class="page results" lang={language === "hi" ? "hi" : undefined}>
      <Confetti much={won ? 160 : 70} />
      <h1>{title}</h1>
      <Podium list={list} />
      <Scoreboard players={players} me={view.me} say={say} />
      <div class="actions">
        <Again view={view} state={state} say={say} onProblem={setProblem} />
        {ofRoom && !guest && (
          <p class="row centred">
            <Link to={board} class="button">
              {say("The board of this room")}
            </Link>
            <CopyButton text={location.origin + board} label={say("Copy the board's link")} />
          </p>
        )}
        {ofAll && !guest && (
          <Link to={`/boards/${ofAll.board}`} class="tall">
            {kind && `${inWords(kind.titles, language)}: ${say("The best {}", say(ofAll.title))}`}
          </Link>
        )}
        <LeaveButton view={view} code={room.code} say={say} />
      </div>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
