import { useEffect, useState } from "preact/hooks";
import type { RoomState } from "../../client";
import { announce } from "../../shared/announce";
import { useTicks } from "../../shared/clock";
import { Ring } from "../../shared/Ring";
import { hear, shake } from "../../shared/sound";
import type { RoomView } from "../useRoom";
import { Board } from "./Board";
import { freeIn, gameOf, type Game, type Side } from "./game";
import { Piece } from "./Piece";
import { wordsOf, type Words } from "./words";

/** Sound and voice for what was dropped, and for whose turn it is. */
function useTold(game: Game, words: Words, me: string, mine: boolean): void {
  const { move } = game;
  useEffect(() => {
    if (move === null) return;
    const name = game.sides.find(({ player }) => player?.player === move.player)?.player?.name ?? words.gone;
    hear("step");
    announce(words.dropped(move.player === me ? "" : name, move.column, move.byClock));
  }, [move?.n]);
  useEffect(() => {
    if (!mine) return;
    hear("turn");
    shake(40);
    announce(words.yourTurn, true);
  }, [mine, game.turnNumber]);
}

interface SideCardProps {
  side: Side;
  game: Game;
  dueAt: number;
  me: string;
  words: Words;
}

function SideCard({ side: { player, piece }, game, dueAt, me, words }: SideCardProps) {
  const turn = player !== undefined && game.turn === player.player;
  return (
    <li class={`four-side ${turn ? "turn" : ""} ${player?.connected === false ? "away" : ""}`} aria-current={turn}>
      <span class="four-token">
        {turn && <Ring startsAt={dueAt - game.turnMs} endsAt={dueAt} />}
        <Piece piece={piece} />
      </span>
      <span class="grow">
        <b>{player?.name ?? words.gone}</b>
        {player && player.player === me && <small>{words.you}</small>}
        {player?.connected === false && <small>{words.away}</small>}
      </span>
    </li>
  );
}

/** What there is to say: whose turn it is, how long, or how it ended. */
function Saying({ game, words, state, me }: { game: Game; words: Words; state: RoomState; me: string }) {
  const playing = state.room.status === "playing";
  const left = Math.max(0, Math.ceil(Math.min(game.turnMs, state.room.dueAt - useTicks(250, playing)) / 1000));
  const name = (id: string) => state.players.find(({ player }) => player === id)?.name ?? words.gone;
  const ended = game.line.size > 0 ? (game.winner === me ? words.youWon : words.won(name(game.winner))) : game.winner ? words.done : words.draw;
  const mine = game.turn === me;
  return (
    <div class="four-saying">
      <p class="four-whose">{playing ? (mine ? words.yourTurn : words.turnOf(name(game.turn))) : ended}</p>
      {playing && (
        <p class="quiet">
          {mine && (
            <>
              {words.hint} <span class="four-keys">{words.keys}</span>{" "}
            </>
          )}
          {words.left(left)}
        </p>
      )}
    </div>
  );
}

export function Four({ view, state }: { view: RoomView; state: RoomState }) {
  const game = gameOf(state);
  const words = wordsOf(game.hindi);
  const [asked, setAsked] = useState(0);
  const [problem, setProblem] = useState("");
  const playing = state.room.status === "playing";
  const mine = playing && view.me !== "" && game.turn === view.me;
  const piece = game.sides.find(({ player }) => player?.player === view.me)?.piece ?? "";
  const spectators = state.players.filter(({ spectator }) => spectator).length;
  useTold(game, words, view.me, mine);
  const drop = async (column: number) => {
    if (!mine || asked === game.turnNumber || freeIn(game, column) === 0) return;
    setAsked(game.turnNumber);
    setProblem("");
    const answer = await view.act({ do: "drop", column, turn: game.turnNumber });
    if (answer.ok) return;
    setAsked(0);
    setProblem(answer.reason ?? "");
  };
  return (
    <div class="page four" lang={game.hindi ? "hi" : "en"}>
      <ul class="four-sides" aria-label="Players">
        {game.sides.map((side) => (
          <SideCard key={side.piece} side={side} game={game} dueAt={state.room.dueAt} me={view.me} words={words} />
        ))}
      </ul>
      <Board game={game} words={words} mine={mine && asked !== game.turnNumber ? piece : ""} onDrop={drop} />
      <div class="four-below">
        <Saying game={game} words={words} state={state} me={view.me} />
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        {spectators > 0 && <p class="quiet">{words.looksOn(spectators)}</p>}
      </div>
    </div>
  );
}
