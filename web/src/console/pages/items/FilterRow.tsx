import { TYPE_NAMES, type Type } from "../../logic/attribute";
import { FILTER_OPERATORS, operands, type Filter, type FilterOperator } from "../../logic/itemQuery";

interface FilterRowProps {
  n: number;
  filter: Filter;
  set: (filter: Filter | null) => void;
}

const SCALARS: Type[] = ["S", "N", "B", "BOOL", "NULL"];

function ofType({ operator }: Filter): boolean {
  return operands(operator) > 0 && operator !== "is of type" && !operator.startsWith("size");
}

export function FilterRow({ n, filter, set }: FilterRowProps) {
  const change = (part: Partial<Filter>) => set({ ...filter, ...part });
  return (
    <fieldset class="filter">
      <legend>Filter {n}</legend>
      <input
        aria-label={`Filter ${n}: attribute`}
        placeholder="attribute, or path.to[0]"
        value={filter.name}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => change({ name: event.currentTarget.value })}
      />
      <select
        aria-label={`Filter ${n}: operator`}
        value={filter.operator}
        onChange={(event) => change({ operator: event.currentTarget.value as FilterOperator })}
      >
        {FILTER_OPERATORS.map((word) => (
          <option key={word} value={word}>
            {word.replace("_", " ")}
          </option>
        ))}
      </select>
      {ofType(filter) && (
        <select aria-label={`Filter ${n}: type`} value={filter.type} onChange={(event) => change({ type: event.currentTarget.value as Type })}>
          {SCALARS.map((type) => (
            <option key={type} value={type}>
              {TYPE_NAMES[type]}
            </option>
          ))}
        </select>
      )}
      {operands(filter.operator) > 0 && (
        <input
          aria-label={`Filter ${n}: value`}
          placeholder={filter.operator === "in" ? "values, by commas" : filter.operator === "is of type" ? "S, N, M, ..." : "value"}
          value={filter.value}
          autocomplete="off"
          onInput={(event) => change({ value: event.currentTarget.value })}
        />
      )}
      {operands(filter.operator) === 2 && (
        <input aria-label={`Filter ${n}: and`} placeholder="and" value={filter.second} autocomplete="off" onInput={(event) => change({ second: event.currentTarget.value })} />
      )}
      <button type="button" aria-label={`Remove filter ${n}`} onClick={() => set(null)}>
        ✕
      </button>
    </fieldset>
  );
}
