import { plainItemText } from "../../logic/attribute";
import { itemDiff } from "../../logic/itemDiff";
import { When } from "../../parts/When";
import type { StreamRecord } from "./useStream";

const WORDS = { INSERT: ["new", "good"], MODIFY: ["changed", "warn"], REMOVE: ["gone", "bad"] } as const;

export function Difference({ record }: { record: StreamRecord }) {
  const { OldImage, NewImage, Keys, ApproximateCreationDateTime } = record.dynamodb;
  const [word, kind] = WORDS[record.eventName];
  const differences = itemDiff(OldImage, NewImage).filter(({ name }) => !(name in Keys));
  return (
    <li class="record">
      <div class="pattern-head">
        <span class={`pill ${kind}`}>{word}</span>
        <code class="grow">{plainItemText(Keys)}</code>
        {record.userIdentity && <span class="pill">expired</span>}
        <span class="quiet">
          <When at={ApproximateCreationDateTime * 1000} />
        </span>
      </div>
      {differences.length > 0 && (
        <table class="difference">
          <thead>
            <tr>
              <th scope="col">Attribute</th>
              <th scope="col">Old</th>
              <th scope="col">New</th>
            </tr>
          </thead>
          <tbody>
            {differences.map(({ name, old, new: next, state }) => (
              <tr key={name} class={state}>
                <th scope="row">{name}</th>
                <td>{old}</td>
                <td>{next}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </li>
  );
}
