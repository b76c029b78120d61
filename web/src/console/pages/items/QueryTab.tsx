import { useEffect, useState } from "preact/hooks";
import { useAddress } from "../../../shared/address";
import { ask, newQuestion, type Question } from "../../logic/itemQuery";
import type { TableSchema } from "../../logic/tableSchema";
import { Panel } from "../../parts/Panel";
import { messageOf } from "../../server";
import { Code } from "./Code";
import { QueryForm } from "./QueryForm";
import { Results } from "./Results";
import { useItems, type AskedItems } from "./useItems";

/** What the form asks for, or why it cannot be asked yet. */
function tryAsk(table: TableSchema, question: Question): { asked?: AskedItems; problem: string } {
  try {
    return { asked: ask(table, question), problem: "" };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** The address may name a partition to begin with. */
function asTold(query: URLSearchParams): Question {
  const partition = query.get("partition");
  return partition ? { ...newQuestion(), kind: "query", index: query.get("index") ?? "", partition: [partition] } : newQuestion();
}

export function QueryTab({ table }: { table: TableSchema }) {
  const { query } = useAddress();
  const [question, set] = useState<Question>(() => asTold(query));
  const items = useItems();
  const { asked, problem } = tryAsk(table, question);
  const run = () => (asked ? items.run(asked) : Promise.resolve(items.refuse(problem)));
  useEffect(() => void run(), []);
  return (
    <>
      <Panel title="Question">
        <QueryForm table={table} question={question} set={set} run={run} busy={items.busy} />
        {items.problem && (
          <p class="problem" role="alert">
            {items.problem}
          </p>
        )}
      </Panel>
      <Results
        table={table}
        items={items}
        ask={(partition) => {
          const next: Question = { ...newQuestion(), kind: "query", partition: [partition] };
          set(next);
          void items.run(ask(table, next));
        }}
      />
      <Code asked={asked} problem={problem} />
    </>
  );
}
