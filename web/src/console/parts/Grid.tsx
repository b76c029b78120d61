import type { ComponentChildren } from "preact";

export interface Column<T> {
  title: string;
  unseenTitle?: boolean;
  number?: boolean;
  mono?: boolean;
  whole?: boolean; // on one line
  wide?: boolean; // sentences, which are not squeezed into a narrow column
  show: (row: T) => ComponentChildren;
}

interface GridProps<T> {
  label: string;
  columns: Column<T>[];
  rows: T[];
  id: (row: T) => string;
  empty?: string;
  chosen?: string; // the id of the row that is open
}

/** A table that scrolls by itself when it is wider than its place. */
export function Grid<T>({ label, columns, rows, id, empty, chosen }: GridProps<T>) {
  if (rows.length === 0) return <p class="quiet">{empty ?? "Nothing here."}</p>;
  const kind = (column: Column<T>) => [column.number && "number", column.mono && "mono", column.whole && "whole", column.wide && "wide"].filter(Boolean).join(" ");
  return (
    <div class="scroll" role="group" aria-label={label} tabIndex={0}>
      <table class="grid">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={column.number ? "number" : ""}>
                <span class={column.unseenTitle ? "unseen" : ""}>{column.title}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={id(row)} class={chosen === id(row) ? "chosen" : ""}>
              {columns.map((column) => (
                <td key={column.title} class={kind(column)}>
                  {column.show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
