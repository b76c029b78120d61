import { useEffect, useState } from "preact/hooks";
import type { Player, RoomState } from "../../client";
import { announce } from "../../shared/announce";
import { useTicks } from "../../shared/clock";
import { useActKey } from "../../shared/keys";
import { Ring } from "../../shared/Ring";
import { hear, shake } from "../../shared/sound";
import { Avatar } from "../Avatar";
import type { RoomView } from "../useRoom";
import { Board } from "./Board";
import { Die } from "./Die";
import { gameOf, positionOf, tell, type Game } from "./move";
import { usePieces, type Pieces } from "./usePieces";

interface Told {
  n: number;
  text: string;
  colour: string;
}

/** What happened since we came, the newest first. */
function useLog(game: Game, players: Player[], me: string): Told[] {
  const [log, set] = useState<Told[]>([]);
  const move = game.move;
  useEffect(() => {
    if (move === null) return set([]);
    const who = players.find(({ player }) => player === move.player);
    const text = tell(move, move.player === me ? "" : who?.name ?? "Somebody");
    set((old) => [{ n: move.n, text, colour: who?.colour ?? "gray" }, ...old.filter(({ n }) => n !== move.n)].slice(0, 30));
    announce(text);
  }, [move?.n]);
  return log;
}

interface RollProps {
  view: RoomView;
  state: RoomState;
  game: Game;
  pieces: Pieces;
}

function Roll({ view, state, game, pieces }: RollProps) {
  const [asked, setAsked] = useState(0);
  const [problem, setProblem] = useState("");
  const playing = state.room.status === "playing";
  const mine = playing && game.turn === view.me;
  const turn = state.players.find(({ player }) => player === game.turn);
  const leftMs = Math.min(game.turnMs, state.room.dueAt - useTicks(250, playing));
  const left = Math.max(0, Math.ceil(leftMs / 1000));
  const can = mine && asked !== game.turnNumber;
  const roll = async () => {
    if (!can) return;
    setAsked(game.turnNumber);
    setProblem("");
    const answer = await view.act({ do: "roll", turn: game.turnNumber });
    if (!answer.ok) setProblem(answer.reason ?? "");
  };
  useActKey(roll, mine);
  useEffect(() => {
    if (!mine) return;
    hear("turn");
    shake(40);
    announce("Your turn: roll the die", true);
  }, [mine, game.turnNumber]);
  const title = !playing ? "It is done!" : mine ? "Your turn" : `${turn?.name ?? "Somebody"}'s turn`;
  return (
    <div class={`roll ${mine ? "mine" : ""}`}>
      <button class="die-button" disabled={!can} onClick={roll} aria-label={mine ? "Roll the die" : title}>
        {playing && <Ring startsAt={state.room.dueAt - game.turnMs} endsAt={state.room.dueAt} />}
        <Die roll={pieces.roll} rolling={pieces.rolling || (mine && !can)} />
      </button>
      <div class="grow">
        <p class="whose">
          {turn && playing && <Avatar player={turn} />}
          <b>{title}</b>
        </p>
        <p class="quiet">{problem || (mine ? `Tap the die, or press space. ${left} s left` : playing ? `${left} s left` : "")}</p>
      </div>
    </div>
  );
}

function Places({ players, me, turn }: { players: Player[]; me: string; turn: string }) {
  const order = players.filter(({ spectator }) => !spectator);
  const spectators = players.length - order.length;
  return (
    <>
      <ul class="places" aria-label="Players">
        {order.map((player) => (
          <li key={player.player} class={`${player.player === turn ? "turn" : ""} ${player.connected ? "" : "away"}`}>
            <Avatar player={player} />
            <span class="grow">
              {player.name} {player.player === me && <small>you</small>}
              {!player.connected && <small>away</small>}
            </span>
            <b>{positionOf(player)}</b>
          </li>
        ))}
      </ul>
      {spectators > 0 && <p class="quiet">{`${spectators} ${spectators === 1 ? "looks" : "look"} on`}</p>}
    </>
  );
}

export function Snakes({ view, state }: { view: RoomView; state: RoomState }) {
  const game = gameOf(state);
  const pieces = usePieces(state.players, game.move);
  const log = useLog(game, state.players, view.me);
  const playing = state.room.status === "playing";
  return (
    <div class="page snakes">
      <Board board={game.board} squares={game.squares} players={state.players} pieces={pieces} turn={playing ? game.turn : ""} />
      <div class="side">
        <Roll view={view} state={state} game={game} pieces={pieces} />
        <Places players={state.players} me={view.me} turn={playing ? game.turn : ""} />
        <ol class="log" aria-label="Moves" tabIndex={0}>
          {log.map(({ n, text, colour }) => (
            <li key={n}>
              <i class="dot" style={{ background: colour }} />
              {text}
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}
