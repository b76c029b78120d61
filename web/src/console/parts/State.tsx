import type { Answered } from "../useAnswer";

/** What stands where an answer will: a wait, or why there is none. */
export function State({ of, empty }: { of: Answered<unknown>; empty?: string }) {
  if (of.problem)
    return (
      <p class="problem" role="alert">
        {of.problem}{" "}
        <button type="button" onClick={of.again}>
          Try again
        </button>
      </p>
    );
  if (of.value === undefined)
    return (
      <p class="quiet wait">
        <span class="spinner" /> Loading
      </p>
    );
  return empty ? <p class="quiet">{empty}</p> : null;
}
