const form = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** A moment in this browser's own time, with the exact one to be seen on it. */
export function When({ at }: { at: string | number | undefined }) {
  if (at === undefined) return <>–</>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()}>
      {form.format(date)}
    </time>
  );
}
