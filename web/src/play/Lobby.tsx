import { useState } from "preact/hooks";
import type { Player, RoomState } from "../client";
import { go } from "../shared/address";
import { EMOJI, TITLES } from "../shared/api";
import { Icon } from "../shared/Icon";
import { forgetSeat } from "../shared/store";
import { Avatar } from "./Avatar";
import { Invite } from "./Invite";
import type { RoomView } from "./useRoom";

const RULES: Record<string, string> = {
  "kauwa-udd": "Somebody calls a thing. Tap if it flies. Keep still if it does not. The faster the better.",
  "snakes-and-ladders": "Roll the die in turn. Up the ladders, down the snakes. 100 exactly wins.",
};
const LEAST: Record<string, number> = { "kauwa-udd": 1, "snakes-and-ladders": 2 };

interface SeatRowProps {
  player: Player;
  host: boolean;
  me: boolean;
  onKick?: () => void;
}

function SeatRow({ player, host, me, onKick }: SeatRowProps) {
  const status = player.spectator ? "looks on" : host ? "host" : player.ready ? "ready" : "not ready";
  return (
    <li class={player.connected ? "" : "away"}>
      <Avatar player={player} />
      <span class="grow">
        <b>{player.name}</b> {me && <small>you</small>}
        {!player.connected && <small>away</small>}
      </span>
      {host && <Icon name="crown" />}
      <span class={player.ready || host ? "pill good" : "pill"}>{status}</span>
      {onKick && (
        <button class="icon" aria-label={`Take ${player.name} out of the room`} title="Take out" onClick={onKick}>
          <Icon name="cross" />
        </button>
      )}
    </li>
  );
}

/** Why it cannot start yet; empty if it can. */
function waitsFor(state: RoomState): string {
  const players = state.players.filter(({ spectator }) => !spectator);
  const least = LEAST[state.room.kind] ?? 1;
  if (players.length < least) return `It takes ${least} players at least.`;
  const late = players.filter(({ ready, player }) => !ready && player !== state.room.host);
  if (late.length > 0) return `Waiting for ${late.map(({ name }) => name).join(", ")}.`;
  return "";
}

function HostButtons({ view, state, onProblem }: { view: RoomView; state: RoomState; onProblem(text: string): void }) {
  const waits = waitsFor(state);
  const start = async () => onProblem((await view.act({ do: "start" })).reason ?? "");
  return (
    <>
      <button class="main" disabled={waits !== ""} onClick={start} aria-describedby="waits">
        Start
      </button>
      <p id="waits" class="quiet" aria-live="polite">
        {waits}
      </p>
      <button class="plain" onClick={() => view.act({ do: "close" })}>
        Close the room
      </button>
    </>
  );
}

function GuestButtons({ view, me }: { view: RoomView; me: Player | undefined }) {
  return (
    <>
      {me && !me.spectator && (
        <button class={me.ready ? "" : "main"} aria-pressed={me.ready} onClick={() => view.act({ do: "ready", ready: !me.ready })}>
          {me.ready ? "Ready. Take it back" : "I am ready"}
        </button>
      )}
      <p class="quiet">{me ? "The host starts the match." : "You look on."}</p>
    </>
  );
}

export function LeaveButton({ view, code }: { view: RoomView; code: string }) {
  const leave = async () => {
    if (view.me) await view.act({ do: "leave" });
    forgetSeat(code);
    go("/play");
  };
  return (
    <button class="plain" onClick={leave}>
      Leave
    </button>
  );
}

export function Lobby({ view, state }: { view: RoomView; state: RoomState }) {
  const { room, players } = state;
  const [problem, setProblem] = useState("");
  const hosts = view.me === room.host;
  const me = players.find(({ player }) => player === view.me);
  return (
    <div class="page lobby">
      <section class="card" aria-labelledby="room-title">
        <h1 id="room-title">
          <span aria-hidden="true">{EMOJI[room.kind]}</span> {room.title || TITLES[room.kind]}
        </h1>
        <p>{RULES[room.kind]}</p>
        <h2>
          Players <small>{`${room.players} of ${room.capacity}`}</small>
        </h2>
        <ul class="seats">
          {players.map((player) => (
            <SeatRow
              key={player.player}
              player={player}
              host={player.player === room.host}
              me={player.player === view.me}
              onKick={hosts && player.player !== room.host ? () => view.act({ do: "kick", player: player.player }) : undefined}
            />
          ))}
        </ul>
        <div class="actions">
          {hosts ? <HostButtons view={view} state={state} onProblem={setProblem} /> : <GuestButtons view={view} me={me} />}
          <LeaveButton view={view} code={room.code} />
        </div>
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
      </section>
      <Invite code={room.code} />
    </div>
  );
}
