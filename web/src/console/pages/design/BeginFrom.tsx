import { useState } from "preact/hooks";
import { announce } from "../../../shared/announce";
import type { Model } from "../../logic/model";
import { inferModel } from "../../logic/modelInfer";
import { empty, SEEDS } from "../../logic/modelSeeds";
import { Choice, TextField } from "../../parts/Field";
import { Panel } from "../../parts/Panel";
import { describeTable, tableNames } from "../../tables";
import { useAnswer, useDoing } from "../../useAnswer";
import { allItems } from "../items/useItems";

interface BeginProps {
  model: Model;
  begin: (model: Model) => void;
  set: (model: Model) => void;
}

const LOOKED_AT = 5000;

async function readFrom(name: string): Promise<Model> {
  const table = await describeTable(name);
  return inferModel(table, await allItems({ operation: "Scan", request: { TableName: name } }, () => {}, LOOKED_AT));
}

export function BeginFrom({ model, begin, set }: BeginProps) {
  const names = useAnswer(tableNames, []);
  const [seed, chooseSeed] = useState(SEEDS[0].name);
  const [table, chooseTable] = useState("");
  const doing = useDoing();
  const source = table || names.value?.[0] || "";
  const start = () => {
    begin(structuredClone([...SEEDS, empty].find(({ name }) => name === seed) ?? empty));
    announce(`Started from ${seed}`);
  };
  const infer = () =>
    doing.run(async () => {
      begin(await readFrom(source));
      announce(`Read from ${source}`);
    });
  return (
    <Panel title="Begin">
      <div class="columns">
        <div class="row">
          <Choice label="Start from" value={seed} set={chooseSeed} choices={[...SEEDS, empty].map(({ name }) => name)} />
          <button onClick={start}>Start from it</button>
        </div>
        {source && (
          <div class="row">
            <Choice label="Read from a table that is here" value={source} set={chooseTable} choices={names.value ?? []} />
            <button disabled={doing.busy} onClick={infer}>
              Read the design
            </button>
          </div>
        )}
      </div>
      {doing.problem && (
        <p class="problem" role="alert">
          {doing.problem}
        </p>
      )}
      <div class="columns">
        <TextField label="Name of the design" value={model.name} set={(name) => set({ ...model, name })} />
        <TextField label="Name of the table" value={model.table} set={(name) => set({ ...model, table: name })} />
        <TextField label="Time to live in (may be empty)" value={model.ttl} set={(ttl) => set({ ...model, ttl })} />
      </div>
    </Panel>
  );
}
