/** A piece. The two differ by colour and by what is stamped on them. */
export function Piece({ piece, class: more = "" }: { piece: string; class?: string }) {
  return (
    <svg class={`four-piece four-piece-${piece} ${more}`} viewBox="0 0 20 20" aria-hidden="true">
      <circle class="four-rim" cx="10" cy="10" r="9.6" />
      <circle class="four-face" cx="10" cy="10" r="7.4" />
      {piece === "1" ? (
        <circle class="four-stamp" cx="10" cy="10" r="3.1" />
      ) : (
        <path class="four-stamp" d="M10 5.6l1.3 2.9 3.1.3-2.3 2.1.7 3.1-2.8-1.6-2.8 1.6.7-3.1-2.3-2.1 3.1-.3z" />
      )}
    </svg>
  );
}
