import type { Player } from "../client";
import { useFlip } from "../shared/flip";
import { change as signedChange, signed } from "../shared/numbers";
import { english, type Say } from "../shared/words";
import { Avatar } from "./Avatar";

export interface Standing extends Player {
  place: number;
}

/** Players by points, the best first; equals share a place. */
export function standings(players: Player[]): Standing[] {
  const order = players.filter(({ spectator }) => !spectator).sort((a, b) => b.points - a.points || a.seat - b.seat);
  let place = 0;
  return order.map((player, i) => {
    if (i === 0 || player.points !== order[i - 1]!.points) place = i + 1;
    return { ...player, place };
  });
}

interface ScoreboardProps {
  players: Player[];
  me: string;
  say?: Say;
  change?: (player: string) => number | undefined; // of the round before
  right?: (player: string) => boolean | undefined; // whether it was
}

/** Who was right in the round before, and who was not. */
function Sign({ right, say }: { right: boolean; say: Say }) {
  return (
    <span class={right ? "sign good" : "sign bad"} role="img" aria-label={say(right ? "right" : "wrong")}>
      {right ? "✓" : "✗"}
    </span>
  );
}

export function Scoreboard({ players, me, change, right, say = english }: ScoreboardProps) {
  const list = standings(players);
  const ref = useFlip<HTMLOListElement>(list.map(({ player }) => player).join());
  return (
    <ol class="scores" ref={ref} aria-label={say("Scores")}>
      {list.map((player) => {
        const by = change?.(player.player);
        const was = right?.(player.player);
        return (
          <li key={player.player} data-flip={player.player} class={`${player.player === me ? "me" : ""} ${player.connected ? "" : "away"}`}>
            <span class="place">{player.place}</span>
            <Avatar player={player} />
            <span class="grow">
              <bdi>{player.name}</bdi>
              {!player.connected && <small>{say("away")}</small>}
            </span>
            {player.streak > 1 && (
              <span class="streak" title={say("{} right in a row", player.streak)}>
                🔥{player.streak}
              </span>
            )}
            {was !== undefined && <Sign right={was} say={say} />}
            {by !== undefined && <span class={by >= 0 ? "by good" : "by bad"}>{signedChange(by)}</span>}
            <b class="points">{signed(player.points)}</b>
          </li>
        );
      })}
    </ol>
  );
}
