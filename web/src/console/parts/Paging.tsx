interface PagingProps {
  of: { page: number; last: boolean; busy: boolean; turn: (by: 1 | -1) => void };
  what: string;
}

export function Paging({ of, what }: PagingProps) {
  if (of.page === 0 && of.last) return null;
  return (
    <div class="paging" role="group" aria-label={`Pages of ${what}`}>
      <button disabled={of.busy || of.page === 0} onClick={() => of.turn(-1)}>
        Previous page
      </button>
      <span>
        Page {of.page + 1}
        {of.last ? ", the last" : ""}
      </span>
      <button disabled={of.busy || of.last} onClick={() => of.turn(1)}>
        Next page
      </button>
    </div>
  );
}
