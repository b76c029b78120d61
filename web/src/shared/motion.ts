const query = matchMedia("(prefers-reduced-motion: reduce)");

/** Whether somebody would rather have things not move. */
export function still(): boolean {
  return query.matches;
}
