import { useState } from "preact/hooks";
import { go } from "../../../shared/address";
import type { Model } from "../../logic/model";
import { toCreateTable } from "../../logic/modelExport";
import { allSamples } from "../../logic/modelSamples";
import { awsCli } from "../../logic/shell";
import { addressOf } from "../../pageList";
import { Change } from "../../parts/Change";
import { TextField } from "../../parts/Field";
import { Panel } from "../../parts/Panel";
import { ddb } from "../../server";
import { useDoing } from "../../useAnswer";
import { writeBatches } from "../items/writeBatches";

/** The table, its time to live, and sample items: on this server, now. */
async function create(model: Model, samples: number): Promise<void> {
  await ddb("CreateTable", toCreateTable(model));
  if (model.ttl)
    await ddb("UpdateTimeToLive", { TableName: model.table, TimeToLiveSpecification: { Enabled: true, AttributeName: model.ttl } });
  if (samples === 0) return;
  await writeBatches(
    model.table,
    allSamples(model, samples).map((Item) => ({ PutRequest: { Item } })),
  );
}

export function CreateHere({ model, faults }: { model: Model; faults: string[] }) {
  const [samples, set] = useState("12");
  const doing = useDoing();
  const act = async () => {
    if (await doing.run(() => create(model, Math.max(0, Number(samples))))) go(`${addressOf("items")}?table=${encodeURIComponent(model.table)}`);
  };
  return (
    <Panel title="Make it here" how={[{ title: "AWS CLI", text: awsCli("CreateTable", toCreateTable(model), location.origin) }]}>
      <p>
        Makes the table <code>{model.table}</code> on this server, with sample items of each entity that belong together.
      </p>
      <div class="row">
        <TextField label="Sample items of each entity" type="number" value={samples} set={set} />
        <Change main busy={doing.busy} disabled={faults.length > 0 || model.entities.length === 0} onClick={act}>
          Create the table
        </Change>
      </div>
      {faults.length > 0 && <p class="quiet">First mend what is wrong with the design.</p>}
      {doing.problem && (
        <p class="problem" role="alert">
          {doing.problem}
        </p>
      )}
    </Panel>
  );
}
