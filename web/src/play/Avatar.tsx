import type { Player } from "../client";

export function Avatar({ player }: { player: Player }) {
  return (
    <span class="avatar" style={{ background: player.colour }} aria-hidden="true">
      {[...player.name.trim()][0]?.toUpperCase() ?? "?"}
    </span>
  );
}
