import { useState } from "preact/hooks";
import type { Player, RoomState } from "../client";
import { go } from "../shared/address";
import { Confirm } from "../shared/Confirm";
import { Icon } from "../shared/Icon";
import { inWords, useKind } from "../shared/kinds";
import { forgetSeat } from "../shared/store";
import { useWords, type Say } from "../shared/words";
import { Avatar } from "./Avatar";
import { Invite } from "./Invite";
import { RoomSettings } from "./RoomSettings";
import type { RoomView } from "./useRoom";

interface SeatRowProps {
  player: Player;
  host: boolean;
  me: boolean;
  say: Say;
  onKick?: (() => void) | undefined;
}

function statusOf(player: Player, host: boolean): string {
  if (player.waiting) return "plays next";
  if (player.spectator) return "looks on";
  if (host) return "host";
  return player.ready ? "ready" : "not ready";
}

function SeatRow({ player, host, me, say, onKick }: SeatRowProps) {
  return (
    <li class={player.connected ? "" : "away"}>
      <Avatar player={player} />
      <span class="grow">
        <b>
          <bdi>{player.name}</bdi>
        </b>{" "}
        {me && <small>{say("you")}</small>}
        {player.bot && <small>{say("bot")}</small>}
        {!player.connected && <small>{say("away")}</small>}
      </span>
      {host && <Icon name="crown" />}
      <span class={player.ready || host ? "pill good" : "pill"}>{say(statusOf(player, host))}</span>
      {onKick && (
        <button class="icon" aria-label={say("Take {} out of the room", player.name)} title={say("Take out")} onClick={onKick}>
          <Icon name="cross" />
        </button>
      )}
    </li>
  );
}

/** Why it cannot start yet; empty if it can. */
function waitsFor(state: RoomState, least: number, say: Say): string {
  const players = state.players.filter(({ spectator }) => !spectator);
  if (players.length < least) return say("It takes {} players at least.", least);
  const late = players.filter(({ ready, player }) => !ready && player !== state.room.host);
  if (late.length > 0) return say("Waiting for {}.", late.map(({ name }) => name).join(", "));
  return "";
}

interface ButtonsProps {
  view: RoomView;
  state: RoomState;
  say: Say;
  onProblem(text: string): void;
}

function HostButtons({ view, state, say, onProblem }: ButtonsProps) {
  const [closing, setClosing] = useState(false);
  const { room } = state;
  const kind = useKind(room.kind);
  const waits = kind ? waitsFor(state, kind.playersMin, say) : "";
  const act = async (what: { do: string }) => onProblem((await view.act(what)).reason ?? "");
  return (
    <>
      <button class="main" disabled={!kind || waits !== ""} onClick={() => act({ do: "start" })} aria-describedby="waits">
        {say("Start")}
      </button>
      <p id="waits" class="quiet" aria-live="polite">
        {waits}
      </p>
      {room.players < room.capacity && <button onClick={() => act({ do: "bot" })}>{`🤖 ${say("Add a bot")}`}</button>}
      <button class="plain" onClick={() => setClosing(true)}>
        {say("Close the room")}
      </button>
      {closing && (
        <Confirm
          title={say("Close the room for everybody?")}
          choices={[{ label: say("Close the room"), act: () => void act({ do: "close" }) }]}
          cancel={say("Cancel")}
          onDone={() => setClosing(false)}
        >
          <p>{say("All are sent out, and the code is worth nothing any more.")}</p>
        </Confirm>
      )}
    </>
  );
}

/** From looking on to playing: who has a seat changes over, who has none sits down first. */
export function PlayTooButton({ view, me, say, onProblem }: Omit<ButtonsProps, "state"> & { me: Player | undefined }) {
  if (me && (!me.spectator || me.waiting)) return null;
  const play = async () => {
    if (me) onProblem((await view.act({ do: "play" })).reason ?? "");
    else view.sitDown();
  };
  return <button onClick={play}>{say("Play too")}</button>;
}

function GuestButtons({ view, state, say, onProblem }: ButtonsProps) {
  const me = state.players.find(({ player }) => player === view.me);
  const turn = async (ready: boolean) => onProblem((await view.act({ do: "ready", ready })).reason ?? "");
  return (
    <>
      {me && !me.spectator && (
        <button class={me.ready ? "" : "main"} aria-pressed={me.ready} onClick={() => turn(!me.ready)}>
          {say(me.ready ? "Ready. Take it back" : "I am ready")}
        </button>
      )}
      <p class="quiet">{say(me && !me.spectator ? "The host starts the match." : "You look on.")}</p>
      <PlayTooButton view={view} me={me} say={say} onProblem={onProblem} />
    </>
  );
}

export function LeaveButton({ view, code, say }: { view: RoomView; code: string; say: Say }) {
  const leave = async () => {
    if (view.me) await view.act({ do: "leave" });
    forgetSeat(code);
    go("/play");
  };
  return (
    <button class="plain" onClick={leave}>
      {say("Leave")}
    </button>
  );
}

function Seats({ view, state, say, onProblem }: ButtonsProps) {
  const { room, players } = state;
  const [kicked, setKicked] = useState<Player | null>(null);
  const hosts = view.me === room.host;
  const kick = async (ban: boolean) => onProblem((await view.act({ do: "kick", player: kicked!.player, ban })).reason ?? "");
  return (
    <>
      <ul class="seats">
        {players.map((player) => (
          <SeatRow
            key={player.player}
            player={player}
            host={player.player === room.host}
            me={player.player === view.me}
            say={say}
            onKick={hosts && player.player !== room.host ? () => setKicked(player) : undefined}
          />
        ))}
      </ul>
      {kicked && (
        <Confirm
          title={say("Take {} out of the room?", kicked.name)}
          choices={[
            { label: say("Take out"), act: () => void kick(false) },
            ...(kicked.bot ? [] : [{ label: say("Take out for good"), act: () => void kick(true) }]),
          ]}
          cancel={say("Cancel")}
          onDone={() => setKicked(null)}
        >
          {!kicked.bot && <p>{say("Who is out for good cannot come in again.")}</p>}
        </Confirm>
      )}
    </>
  );
}

export function Lobby({ view, state }: { view: RoomView; state: RoomState }) {
  const { room } = state;
  const [problem, setProblem] = useState("");
  const kind = useKind(room.kind);
  const language = room.options["language"];
  const say = useWords(language);
  const hosts = view.me === room.host;
  const buttons = { view, state, say, onProblem: setProblem };
  return (
    <div class="page lobby" lang={language === "hi" ? "hi" : undefined}>
      <section class="card" aria-labelledby="room-title">
        <h1 id="room-title">
          <span aria-hidden="true">{kind?.emoji}</span> <bdi>{room.title || (kind && inWords(kind.titles, language))}</bdi>
        </h1>
        {kind && <p>{inWords(kind.about, language)}</p>}
        <RoomSettings view={view} room={room} hosts={hosts} say={say} onProblem={setProblem} />
        <h2>
          {say("Players")} <small>{say("{} of {}", room.players, room.capacity)}</small>
        </h2>
        <Seats {...buttons} />
        <div class="actions">
          {hosts ? <HostButtons {...buttons} /> : <GuestButtons {...buttons} />}
          <LeaveButton view={view} code={room.code} say={say} />
        </div>
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
      </section>
      <Invite room={room} say={say} />
    </div>
  );
}
