// Pieces on their way: the die first, then step by step, then up a ladder or down a snake.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Player } from "../../client";
import { still } from "../../shared/motion";
import { hear } from "../../shared/sound";
import { positionOf, type Move } from "./move";

const ROLL_MS = 650;
const STEP_MS = 170;
const SLIDE_MS = 700;

export interface Pieces {
  at: Record<string, number>;
  rolling: boolean;
  roll: number; // what the die shows
  sliding: string; // which player's piece
  shown: number; // the last move that has been seen to its end
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function placesOf(players: Player[]): Record<string, number> {
  return Object.fromEntries(players.map((player) => [player.player, positionOf(player)]));
}

/** One move, as a row of pictures. */
async function* act(move: Move): AsyncGenerator<(pieces: Pieces) => Pieces> {
  hear("die");
  yield (pieces) => ({ ...pieces, rolling: true });
  await wait(ROLL_MS);
  yield (pieces) => ({ ...pieces, rolling: false, roll: move.roll });
  await wait(200);
  for (let square = move.from + 1; square <= move.landed; square++) {
    hear("step");
    yield (pieces) => ({ ...pieces, at: { ...pieces.at, [move.player]: square } });
    await wait(STEP_MS);
  }
  if (move.to === move.landed) return;
  hear(move.to > move.landed ? "ladder" : "snake");
  yield (pieces) => ({ ...pieces, sliding: move.player, at: { ...pieces.at, [move.player]: move.to } });
  await wait(SLIDE_MS);
  yield (pieces) => ({ ...pieces, sliding: "" });
}

export function usePieces(players: Player[], move: Move | null): Pieces {
  const [pieces, set] = useState<Pieces>(() => ({ at: placesOf(players), rolling: false, roll: move?.roll ?? 0, sliding: "", shown: move?.n ?? 0 }));
  const seen = useRef(move?.n ?? 0);
  const latest = useRef(players);
  latest.current = players;
  const run = useRef(0);
  useEffect(() => {
    const mine = ++run.current;
    const n = move?.n ?? 0;
    const next = move !== null && n === seen.current + 1;
    const restart = () => set({ at: placesOf(latest.current), rolling: false, roll: move?.roll ?? 0, sliding: "", shown: n });
    if (n === seen.current) return;
    const first = seen.current === 0 && move?.from === 0; // the very first move that we see
    seen.current = n;
    if (!(next || first) || still()) return restart(); // some were missed: they are where they are
    void (async () => {
      set((old) => ({ ...old, at: { ...placesOf(latest.current), [move!.player]: move!.from }, sliding: "" }));
      for await (const picture of act(move!)) {
        if (mine !== run.current) return;
        set(picture);
      }
      set((old) => ({ ...old, at: placesOf(latest.current), shown: n }));
    })();
  }, [move?.n]);
  return pieces;
}
