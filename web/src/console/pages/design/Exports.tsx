import { useState } from "preact/hooks";
import { Command } from "../../../shared/Copy";
import type { Model } from "../../logic/model";
import { toCreateTable, toElectroDb, toWorkbench } from "../../logic/modelExport";
import { allSamples } from "../../logic/modelSamples";
import { awsCli } from "../../logic/shell";
import { messageOf } from "../../server";
import { save } from "../../parts/files";
import { Panel } from "../../parts/Panel";
import { Tabs } from "../../parts/Tabs";

const FORMS = ["CreateTable", "AWS CLI", "ElectroDB", "NoSQL Workbench"] as const;
type Form = (typeof FORMS)[number];

function text(model: Model, form: Form): string {
  try {
    if (form === "CreateTable") return JSON.stringify(toCreateTable(model), null, 2);
    if (form === "AWS CLI") return awsCli("CreateTable", toCreateTable(model), location.origin);
    if (form === "ElectroDB") return toElectroDb(model, location.origin);
    return JSON.stringify(toWorkbench(model, allSamples(model, 4), new Date().toISOString().slice(0, 10)), null, 2);
  } catch (error) {
    return messageOf(error);
  }
}

const FILES: Record<Form, [string, string]> = {
  CreateTable: ["create-table.json", "application/json"],
  "AWS CLI": ["create-table.sh", "text/x-shellscript"],
  ElectroDB: ["entities.mjs", "text/javascript"],
  "NoSQL Workbench": ["workbench.json", "application/json"],
};

export function Exports({ model }: { model: Model }) {
  const [form, choose] = useState<Form>("CreateTable");
  const [name, type] = FILES[form];
  const shown = text(model, form);
  return (
    <Panel title="Take it along" actions={<button onClick={() => save(`${model.table}-${name}`, type, shown)}>Save as a file</button>}>
      <Tabs label="Form" tabs={FORMS} chosen={form} choose={choose} />
      <div class="tall" tabIndex={0} role="group" aria-label={`${form}, to be copied`}>
        <Command title={form} text={shown} />
      </div>
    </Panel>
  );
}
