import { useEffect, useRef, useState } from "preact/hooks";
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

/** What happened since we came, the newest first: each when it has been seen on the board, or when the next move
 * comes before that. */
function useLog(game: Game, players: Player[], me: string, shown: number): Told[] {
  const [log, set] = useState<Told[]>([]);
  const waiting = useRef<Told | null>(null);
  const move = game.move;
  const tellNow = () => {
    const told = waiting.current;
    waiting.current = null;
    if (told === null) return;
    set((old) => [told, ...old.filter(({ n }) => n !== told.n)].slice(0, 30));
    announce(told.text);
  };
  useEffect(() => {
    if (move === null) {
      waiting.current = null;
      return set([]);
    }
    tellNow();
    const who = players.find(({ player }) => player === move.player);
    const text = tell(move, move.player === me ? "" : who?.name ?? "Somebody");
    waiting.current = { n: move.n, text, colour: who?.colour ?? "gray" };
  }, [move?.n]);
  useEffect(() => {
    if (waiting.current !== null && shown >= waiting.current.n) tellNow();
  }, [move?.n, shown]);
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
  const waits = game.move !== null && pieces.shown < game.move.n; // the move before is still to be seen
  const wholeMs = state.room.dueAt - game.turnAt;
  const leftMs = Math.min(wholeMs, state.room.dueAt - useTicks(250, playing));
  const left = Math.max(0, Math.ceil(leftMs / 1000));
  const can = mine && !waits && asked !== game.turnNumber;
  const roll = async () => {
    if (!can) return;
    setAsked(game.turnNumber);
    setProblem("");
    const answer = await view.act({ do: "roll", turn: game.turnNumber });
    if (answer.ok) return;
    setAsked(0); // it may be tried again
    setProblem(answer.reason ?? "");
  };
  useActKey(roll, mine);
  useEffect(() => {
    if (!mine || waits) return;
    hear("turn");
    shake(40);
    announce("Your turn: roll the die", true);
  }, [mine, waits, game.turnNumber]);
  const mover = state.players.find(({ player }) => player === game.move?.player);
  const moves = mover?.player === view.me ? "You move" : `${mover?.name ?? "Somebody"} moves`;
  const next = mine ? "Your turn" : `${turn?.name ?? "Somebody"}'s turn`;
  const title = waits ? moves : playing ? next : "It is done!";
  const who = waits ? mover : turn;
  return (
    <div class={`roll ${mine && !waits ? "mine" : ""}`}>
      <button class="die-button" disabled={!can} onClick={roll} aria-label={can ? "Roll the die" : title}>
        {playing && !waits && <Ring startsAt={game.turnAt} endsAt={state.room.dueAt} />}
        <Die roll={pieces.roll} rolling={pieces.rolling || (mine && !waits && !can)} />
      </button>
      <div class="grow">
        <p class="whose">
          {who && playing && <Avatar player={who} />}
          <b>
            <bdi>{title}</bdi>
          </b>
        </p>
        <p class="quiet">{problem || (!playing || waits ? "" : mine ? `Tap the die, or press space. ${left} s left` : `${left} s left`)}</p>
      </div>
    </div>
  );
}

interface PlacesProps {
  players: Player[];
  me: string;
  turn: string;
  at: Record<string, number>;
}

/** Where each stands, as the pieces on the board do. */
function Places({ players, me, turn, at }: PlacesProps) {
  const order = players.filter(({ spectator }) => !spectator);
  const spectators = players.length - order.length;
  return (
    <>
      <ul class="places" aria-label="Players">
        {order.map((player) => (
          <li key={player.player} class={`${player.player === turn ? "turn" : ""} ${player.connected ? "" : "away"}`}>
            <Avatar player={player} />
            <span class="grow">
              <bdi>{player.name}</bdi> {player.player === me && <small>you</small>}
              {!player.connected && <small>away</small>}
            </span>
            <b>{at[player.player] ?? positionOf(player)}</b>
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
  const log = useLog(game, state.players, view.me, pieces.shown);
  const playing = state.room.status === "playing";
  return (
    <div class="page snakes">
      <Board board={game.board} squares={game.squares} players={state.players} pieces={pieces} turn={playing ? game.turn : ""} />
      <div class="side">
        <Roll view={view} state={state} game={game} pieces={pieces} />
        <Places players={state.players} me={view.me} turn={playing ? game.turn : ""} at={pieces.at} />
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
