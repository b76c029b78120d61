import { useState } from "preact/hooks";
import type { TableSchema } from "../../logic/tableSchema";
import { useUnlocked } from "../../unlock";
import { Panel } from "../../parts/Panel";
import { Code } from "./Code";
import { Results } from "./Results";
import { useItems, type AskedItems } from "./useItems";

export function PartiQl({ table }: { table: TableSchema }) {
  const [statement, set] = useState(`SELECT * FROM "${table.name}" WHERE "${table.partition[0]?.name}" = ''`);
  const items = useItems();
  const open = useUnlocked();
  const reads = /^\s*select/i.test(statement);
  const asked: AskedItems = { operation: "ExecuteStatement", request: { Statement: statement, ...(reads ? { Limit: 50 } : {}) } };
  const submit = (event: Event) => {
    event.preventDefault();
    void items.run(asked);
  };
  return (
    <>
      <Panel title="Statement">
        <form onSubmit={submit}>
          <label>
            SELECT, INSERT, UPDATE or DELETE
            <textarea
              class="mono"
              rows={4}
              value={statement}
              spellcheck={false}
              onInput={(event) => set(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
              }}
            />
          </label>
          {items.problem && (
            <p class="problem" role="alert">
              {items.problem}
            </p>
          )}
          <div class="actions">
            {!reads && !open && <span class="quiet">This changes something: unlock changes first.</span>}
            <button class="main" disabled={items.busy || (!reads && !open)}>
              Run
            </button>
          </div>
        </form>
      </Panel>
      <Results table={table} items={items} />
      <Code asked={asked} problem="" />
    </>
  );
}
