import type { KeyPart, NewIndex } from "../../logic/tableSchema";
import { Check, Choice, TextField } from "../../parts/Field";
import { KeyField } from "./KeyField";

const PROJECTIONS = [
  { value: "ALL", text: "All attributes" },
  { value: "KEYS_ONLY", text: "Keys only" },
  { value: "INCLUDE", text: "Keys and some" },
];

export function newIndex(n: number): NewIndex {
  return {
    name: `GSI${n}`,
    local: false,
    partition: [{ name: `GSI${n}PK`, type: "S" }],
    sort: [{ name: `GSI${n}SK`, type: "S" }],
    projection: "ALL",
    included: [],
  };
}

interface IndexFieldsProps {
  index: NewIndex;
  set: (index: NewIndex | null) => void;
  tablePartition: KeyPart;
  local: boolean; // whether it may be a local one: only with a new table
}

const none: KeyPart = { name: "", type: "S" };

export function IndexFields({ index, set, tablePartition, local }: IndexFieldsProps) {
  const change = (part: Partial<NewIndex>) => set({ ...index, ...part });
  const makeLocal = (on: boolean) => change({ local: on, partition: on ? [tablePartition] : index.partition });
  return (
    <fieldset class="nested">
      <legend>Index {index.name}</legend>
      <TextField label="Name of the index" value={index.name} set={(name) => change({ name })} required />
      <div class="columns">
        {!index.local && (
          <KeyField label="Partition key" part={index.partition[0]} set={(part) => change({ partition: [part] })} required />
        )}
        <KeyField label="Sort key" part={index.sort[0] ?? none} set={(part) => change({ sort: part.name ? [part] : [] })} />
      </div>
      <div class="columns">
        <Choice label="Projection" value={index.projection} set={(projection) => change({ projection })} choices={PROJECTIONS} />
        {index.projection === "INCLUDE" && (
          <TextField
            label="Attributes, by commas"
            value={index.included.join(", ")}
            set={(text) => change({ included: text.split(",").map((name) => name.trim()).filter(Boolean) })}
          />
        )}
      </div>
      <div class="actions">
        {local && <Check label="Local: same partition key as the table" value={index.local} set={makeLocal} />}
        <button type="button" onClick={() => set(null)}>
          Leave it out
        </button>
      </div>
    </fieldset>
  );
}
