import { useState } from "preact/hooks";
import { compact } from "../../../shared/numbers";
import { PATTERN_KINDS, type AccessPattern, type Model } from "../../logic/model";
import type { Load } from "../../logic/modelCost";
import { servingText } from "../../logic/modelQueries";
import { Panel } from "../../parts/Panel";
import { PatternEditor } from "./PatternEditor";

interface PatternsProps {
  model: Model;
  set: (model: Model) => void;
  loads: Load[];
}

export function dollars(number: number): string {
  return number < 0.01 && number > 0 ? "< $0.01" : `$${number.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

export function AccessPatterns({ model, set, loads }: PatternsProps) {
  const [open, show] = useState(-1);
  const change = (at: number, pattern: AccessPattern | null) =>
    set({ ...model, patterns: model.patterns.flatMap((old, i) => (i === at ? (pattern ? [pattern] : []) : [old])) });
  const add = () => {
    const entity = model.entities[0]?.name ?? "";
    const fresh: AccessPattern = { name: "New pattern", entity, kind: "get", given: [], from: "", descending: false, items: 1, rate: 1, hottest: 0 };
    set({ ...model, patterns: [...model.patterns, fresh] });
    show(model.patterns.length);
  };
  const unserved = loads.filter(({ serving }) => serving.how === "none").length;
  return (
    <Panel title="What will be asked" actions={<button onClick={add}>Add an access pattern</button>}>
      <p class="quiet">
        {loads.length} access patterns{unserved > 0 ? `, ${unserved} without a query` : ", each with a query"}. Rates are requests a second.
      </p>
      <ol class="patterns">
        {loads.map((load, i) => (
          <li key={i} class={load.serving.how === "none" ? "unserved" : ""}>
            <div class="pattern-head">
              <b class="grow">{load.pattern.name}</b>
              <span class="pill">{PATTERN_KINDS.find(({ value }) => value === load.pattern.kind)?.text}</span>
              <span class="number">{compact(load.pattern.rate)} /s</span>
              <span class="number">{dollars(load.month)} a month</span>
              <button class="small" aria-expanded={open === i} onClick={() => show(open === i ? -1 : i)}>
                Edit<span class="unseen"> {load.pattern.name}</span>
              </button>
            </div>
            <p class="serving">
              {load.serving.how === "none" ? <span class="pill bad">no query</span> : null} <code>{servingText(model, load.serving, load.pattern)}</code>
            </p>
            {open === i && <PatternEditor model={model} pattern={load.pattern} set={(next) => change(i, next)} />}
          </li>
        ))}
      </ol>
    </Panel>
  );
}
