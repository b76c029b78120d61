import { bytes, compact } from "../../../shared/numbers";
import { TABLE, variablesOf, type Model } from "../../logic/model";
import { PARTITION_READS, PARTITION_WRITES, tableBytes, type Bill, type Heat } from "../../logic/modelCost";
import { Facts } from "../../parts/Facts";
import { TextField } from "../../parts/Field";
import { Panel } from "../../parts/Panel";
import { dollars } from "./AccessPatterns";
import { Template } from "./Template";

interface HeatProps {
  model: Model;
  heats: Heat[];
  bill: Bill;
  set: (model: Model) => void;
}

function word(heat: number): { text: string; kind: string } {
  if (heat >= 1) return { text: "hot", kind: "bad" };
  return heat >= 0.5 ? { text: "warm", kind: "warn" } : { text: "cool", kind: "good" };
}

function HeatRow({ heat }: { heat: Heat }) {
  const { text, kind } = word(heat.heat);
  return (
    <li class={`heat ${kind}`}>
      <div class="pattern-head">
        <span class={`pill ${kind}`}>{text}</span>
        <span class="grow">
          <Template text={heat.partition} /> {heat.index !== TABLE && <span class="quiet">in {heat.index}</span>}
        </span>
        <span class="number quiet">
          {compact(heat.reads)} of {compact(PARTITION_READS)} reads · {compact(heat.writes)} of {compact(PARTITION_WRITES)} writes a second
        </span>
      </div>
      <div class="heat-bar">
        <span style={{ width: `${Math.min(100, heat.heat * 100)}%` }} />
      </div>
      {heat.advice && <p class="advice">{heat.advice}</p>}
    </li>
  );
}

function Values({ model, set }: { model: Model; set: (model: Model) => void }) {
  const names = [...new Set(model.entities.flatMap(({ keys }) => Object.values(keys).flatMap(({ pk }) => variablesOf(pk))))];
  return (
    <details class="more">
      <summary>How many different values there are</summary>
      <div class="columns">
        {names.map((name) => (
          <TextField
            key={name}
            label={name}
            type="number"
            value={String(model.values[name] ?? 1)}
            set={(text) => set({ ...model, values: { ...model.values, [name]: Math.max(1, Number(text)) } })}
          />
        ))}
      </div>
    </details>
  );
}

export function HeatAndCost({ model, heats, bill, set }: HeatProps) {
  return (
    <div class="panels">
      <Panel title="Busiest partitions">
        <ul class="heats">
          {heats.slice(0, 8).map((heat) => (
            <HeatRow key={heat.index + heat.partition} heat={heat} />
          ))}
        </ul>
        {heats.length === 0 && <p class="quiet">Nothing is asked yet.</p>}
        <Values model={model} set={set} />
      </Panel>
      <Panel title="A month on DynamoDB">
        <p class="price">{dollars(bill.total)}</p>
        <Facts
          facts={[
            ["Requests", dollars(bill.requests)],
            ["Storage", dollars(bill.storage)],
            ["Stored, with indexes", bytes(tableBytes(model))],
          ]}
        />
        <p class="quiet">
          On demand, us-east-1, at these rates day and night: $0.625 for a million writes, $0.125 for a million reads, $0.25 a GB. Here it costs the
          machine that this program runs on.
        </p>
      </Panel>
    </div>
  );
}
