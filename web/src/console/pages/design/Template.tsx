import { partsOf } from "../../logic/model";

/** A key template with its variables in another colour. */
export function Template({ text }: { text: string }) {
  return (
    <code class="template">
      {partsOf(text).map((part, i) =>
        part.variable ? (
          <var key={i} title={part.pad ? `padded to ${part.pad} digits` : undefined}>
            {part.variable}
            {part.pad ? <sub>{part.pad}</sub> : null}
          </var>
        ) : (
          part.text
        ),
      )}
      {text === "" && "–"}
    </code>
  );
}
