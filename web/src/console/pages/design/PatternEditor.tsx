import { PATTERN_KINDS, type AccessPattern, type Model } from "../../logic/model";
import { Check, Choice, TextField } from "../../parts/Field";

interface PatternEditorProps {
  model: Model;
  pattern: AccessPattern;
  set: (pattern: AccessPattern | null) => void;
}

export function PatternEditor({ model, pattern, set }: PatternEditorProps) {
  const change = (part: Partial<AccessPattern>) => set({ ...pattern, ...part });
  const fields = model.entities.find(({ name }) => name === pattern.entity)?.fields.map(({ name }) => name) ?? [];
  const number = (text: string) => Math.max(0, Number(text));
  const lists = pattern.kind === "query" || pattern.kind === "count";
  const give = (name: string, on: boolean) => change({ given: on ? [...pattern.given, name] : pattern.given.filter((other) => other !== name) });
  return (
    <div class="nested">
      <div class="columns">
        <TextField label="What it is called" value={pattern.name} set={(name) => change({ name })} />
        <Choice label="What it does" value={pattern.kind} set={(kind) => change({ kind })} choices={PATTERN_KINDS} />
        <Choice label="To which entity" value={pattern.entity} set={(entity) => change({ entity, given: [], from: "" })} choices={model.entities.map(({ name }) => name)} />
      </div>
      <fieldset>
        <legend>What is known when it is asked</legend>
        <div class="checks">
          {fields.map((name) => (
            <Check key={name} label={<code>{name}</code>} value={pattern.given.includes(name)} set={(on) => give(name, on)} />
          ))}
        </div>
      </fieldset>
      <div class="columns">
        {lists && (
          <>
            <Choice
              label={pattern.kind === "count" ? "Counted past" : "In the order of"}
              value={pattern.from}
              set={(from) => change({ from })}
              choices={[{ value: "", text: "as it comes" }, ...fields.map((name) => ({ value: name, text: name }))]}
            />
            <TextField label="Items it reads" type="number" value={String(pattern.items)} set={(text) => change({ items: number(text) })} />
          </>
        )}
        <TextField label="Requests a second" type="number" value={String(pattern.rate)} set={(text) => change({ rate: number(text) })} />
        <TextField
          label="Percent that go to the busiest partition"
          type="number"
          value={String(pattern.hottest)}
          set={(text) => change({ hottest: Math.min(100, number(text)) })}
        />
      </div>
      <div class="actions">
        {lists && <Check label="Last first" value={pattern.descending} set={(descending) => change({ descending })} />}
        <button onClick={() => set(null)}>Remove this pattern</button>
      </div>
    </div>
  );
}
