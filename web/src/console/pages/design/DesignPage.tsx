import { useState } from "preact/hooks";
import { Kept } from "../../../shared/store";
import { faultsOf, type Model } from "../../logic/model";
import { billOf, heats, loadOf } from "../../logic/modelCost";
import { leaderboard } from "../../logic/modelSeeds";
import { Page } from "../../parts/Page";
import "../../styles/design.css";
import { AccessPatterns } from "./AccessPatterns";
import { BeginFrom } from "./BeginFrom";
import { Canvas } from "./Canvas";
import { CreateHere } from "./CreateHere";
import { EntityEditor } from "./EntityEditor";
import { Exports } from "./Exports";
import { HeatAndCost } from "./HeatAndCost";
import { IndexList } from "./IndexList";

// Kept in this browser only: a design is nobody else's until its table is made.
const kept = new Kept<Model>("console.design", leaderboard);

export default function DesignPage() {
  const model = kept.use();
  const [chosen, choose] = useState("");
  const set = (next: Model) => kept.set(next);
  const entity = model.entities.find(({ name }) => name === chosen);
  const loads = model.patterns.map((pattern) => loadOf(model, pattern));
  const faults = faultsOf(model);
  return (
    <Page title="Design" wide about="One table for all entities: lay them out, write down what will be asked, and see which query answers it, which partition gets hot, and what it costs.">
      <BeginFrom
        model={model}
        begin={(next) => {
          choose("");
          set(next);
        }}
        set={set}
      />
      <Canvas model={model} set={set} chosen={chosen} choose={choose} />
      {faults.length > 0 && (
        <ul class="problem faults" aria-label="What is wrong with this design">
          {faults.map((fault) => (
            <li key={fault}>{fault}</li>
          ))}
        </ul>
      )}
      {entity && <EntityEditor key={chosen} model={model} entity={entity} set={set} choose={choose} />}
      <IndexList model={model} set={set} />
      <AccessPatterns model={model} set={set} loads={loads} />
      <HeatAndCost model={model} heats={heats(model, loads)} bill={billOf(model, loads)} set={set} />
      <Exports model={model} />
      <CreateHere model={model} faults={faults} />
    </Page>
  );
}
