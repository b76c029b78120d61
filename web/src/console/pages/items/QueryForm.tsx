import { newFilter, type Filter, type Question } from "../../logic/itemQuery";
import { keysFor, type TableSchema } from "../../logic/tableSchema";
import { Check, Choice, TextField } from "../../parts/Field";
import { FilterRow } from "./FilterRow";
import { SortField } from "./SortField";

interface QueryFormProps {
  table: TableSchema;
  question: Question;
  set: (question: Question) => void;
  run: () => void;
  busy: boolean;
}

const KINDS = [
  { value: "scan" as const, text: "Scan: look at everything" },
  { value: "query" as const, text: "Query: one partition" },
];
const JOINS = [
  { value: "AND" as const, text: "all of them hold" },
  { value: "OR" as const, text: "one of them holds" },
];

export function QueryForm({ table, question, set, run, busy }: QueryFormProps) {
  const change = (part: Partial<Question>) => set({ ...question, ...part });
  const keys = keysFor(table, question.index);
  const indexes = [{ value: "", text: `Table ${table.name}` }, ...table.indexes.map(({ name }) => ({ value: name, text: `Index ${name}` }))];
  const changeFilter = (at: number, filter: Filter | null) =>
    change({ filters: question.filters.flatMap((old, i) => (i === at ? (filter ? [filter] : []) : [old])) });
  const submit = (event: Event) => {
    event.preventDefault();
    run();
  };
  return (
    <form onSubmit={submit} class="question">
      <div class="columns">
        <Choice label="How" value={question.kind} set={(kind) => change({ kind })} choices={KINDS} />
        <Choice
          label="Of"
          value={question.index}
          set={(index) => change({ index, partition: keysFor(table, index).partition.map(() => ""), sort: [] })}
          choices={indexes}
        />
      </div>
      {question.kind === "query" && (
        <div class="columns">
          {keys.partition.map((part, i) => (
            <TextField
              key={part.name}
              label={`${part.name} =`}
              value={question.partition[i] ?? ""}
              set={(value) => change({ partition: keys.partition.map((_, j) => (i === j ? value : (question.partition[j] ?? ""))) })}
            />
          ))}
          {keys.sort.map((part, i) => (
            <SortField
              key={part.name}
              part={part}
              condition={question.sort[i]}
              set={(condition) => change({ sort: keys.sort.map((_, j) => (i === j ? condition : question.sort[j])) })}
            />
          ))}
        </div>
      )}
      {question.filters.map((filter, i) => (
        <FilterRow key={i} n={i + 1} filter={filter} set={(next) => changeFilter(i, next)} />
      ))}
      {question.filters.length > 1 && (
        <Choice label="Shown if" value={question.join} set={(join) => change({ join })} choices={JOINS} />
      )}
      <details class="more">
        <summary>More: attributes, order, counting</summary>
        <div class="columns">
          <TextField
            label="Only these attributes, by commas"
            value={question.projection.join(", ")}
            set={(text) => change({ projection: text.split(",").map((name) => name.trim()).filter(Boolean) })}
          />
          <TextField label="Items a page" type="number" value={String(question.limit)} set={(text) => change({ limit: Math.max(0, Number(text)) })} />
        </div>
        {question.kind === "query" && (
          <Check label="Last first" value={question.descending} set={(descending) => change({ descending })} />
        )}
        <Check label="Only count" value={question.count} set={(count) => change({ count })} />
        <Check label="Consistent read" value={question.consistent} set={(consistent) => change({ consistent })} />
      </details>
      <div class="actions">
        <button type="button" onClick={() => change({ filters: [...question.filters, newFilter()] })}>
          Add a filter
        </button>
        <button class="main" disabled={busy}>
          {question.kind === "query" ? "Query" : "Scan"}
        </button>
      </div>
    </form>
  );
}
