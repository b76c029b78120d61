import type { KeyPart, KeyType } from "../../logic/tableSchema";

const TYPES: { value: KeyType; text: string }[] = [
  { value: "S", text: "String" },
  { value: "N", text: "Number" },
  { value: "B", text: "Binary" },
];

interface KeyFieldProps {
  label: string;
  part: KeyPart;
  set: (part: KeyPart) => void;
  required?: boolean;
}

/** An attribute's name and its type. */
export function KeyField({ label, part, set, required }: KeyFieldProps) {
  return (
    <fieldset class="pair">
      <legend>{label}</legend>
      <input
        aria-label={`${label}: name`}
        value={part.name}
        required={required}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => set({ ...part, name: event.currentTarget.value })}
      />
      <select aria-label={`${label}: type`} value={part.type} onChange={(event) => set({ ...part, type: event.currentTarget.value as KeyType })}>
        {TYPES.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </fieldset>
  );
}
