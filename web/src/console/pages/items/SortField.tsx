import { KEY_OPERATORS, type KeyOperator, type SortCondition } from "../../logic/itemQuery";
import type { KeyPart } from "../../logic/tableSchema";

interface SortFieldProps {
  part: KeyPart;
  condition: SortCondition | undefined;
  set: (condition: SortCondition) => void;
}

/** A condition on a sort key; with no value there is none. */
export function SortField({ part, condition = { operator: "begins_with", value: "", second: "" }, set }: SortFieldProps) {
  const operators = KEY_OPERATORS.filter((operator) => part.type !== "N" || operator !== "begins_with");
  const operator = operators.includes(condition.operator) ? condition.operator : "=";
  return (
    <fieldset class="pair">
      <legend>{part.name} (may be left empty)</legend>
      <select
        aria-label={`${part.name}: operator`}
        value={operator}
        onChange={(event) => set({ ...condition, operator: event.currentTarget.value as KeyOperator })}
      >
        {operators.map((word) => (
          <option key={word} value={word}>
            {word.replace("_", " ")}
          </option>
        ))}
      </select>
      <input
        aria-label={`${part.name}: value`}
        value={condition.value}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => set({ ...condition, operator, value: event.currentTarget.value })}
      />
      {operator === "between" && (
        <input
          aria-label={`${part.name}: and`}
          value={condition.second}
          autocomplete="off"
          onInput={(event) => set({ ...condition, second: event.currentTarget.value })}
        />
      )}
    </fieldset>
  );
}
