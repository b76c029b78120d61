import { grouped } from "../shared/numbers";
import { SHOWN } from "./useBoard";
import type { Places } from "./usePlaces";

/** From the first place to the last. */
export function Pager({ places, total }: { places: Places; total: number }) {
  if (total <= SHOWN) return null;
  const { from, go } = places;
  const last = Math.floor((total - 1) / SHOWN) * SHOWN + 1;
  const step = (name: string, to: number, on: boolean) => (
    <button disabled={!on} onClick={() => go(to)}>
      {name}
    </button>
  );
  return (
    <nav class="pager" aria-label="Pages of the board">
      {step("First", 1, from > 1)}
      {step("Back", Math.max(1, from - SHOWN), from > 1)}
      <span class="quiet" role="status">{`${grouped(from)} to ${grouped(Math.min(total, from + SHOWN - 1))} of ${grouped(total)}`}</span>
      {step("Next", from + SHOWN, from + SHOWN <= total)}
      {step("Last", last, from < last)}
    </nav>
  );
}
