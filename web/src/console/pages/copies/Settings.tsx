import { useState } from "preact/hooks";
import { curl } from "../../logic/shell";
import { TextField } from "../../parts/Field";
import { Grid, type Column } from "../../parts/Grid";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { rest } from "../../server";
import { useAnswer } from "../../useAnswer";

interface Setting {
  name: string;
  value?: unknown;
  default?: unknown;
  from?: string;
  about?: string;
}

const text = (value: unknown) => (value === undefined || value === null || value === "" ? "–" : String(value));

const columns: Column<Setting>[] = [
  { title: "Setting", mono: true, whole: true, show: ({ name }) => <b>{name}</b> },
  { title: "In force", mono: true, show: ({ value }) => text(value) },
  { title: "Unless told", mono: true, show: (setting) => text(setting.default) },
  { title: "From", show: ({ from }) => <span class={`pill ${from && from !== "default" ? "warn" : ""}`}>{from ?? "default"}</span> },
  { title: "What it does", wide: true, show: ({ about }) => about ?? "" },
];

export function Settings() {
  const settings = useAnswer(() => rest<{ settings: Setting[] }>("GET", "/settings"), []);
  const [words, set] = useState("");
  const shown = (settings.value?.settings ?? []).filter(({ name, about }) => `${name} ${about ?? ""}`.toLowerCase().includes(words.toLowerCase()));
  return (
    <Panel title="Settings as in force" how={[{ title: "curl", text: curl({ method: "GET", path: "/v1/settings" }, location.origin) }]}>
      <TextField label="Only with these words" value={words} set={set} />
      {settings.value ? <Grid label="Settings" columns={columns} rows={shown} id={({ name }) => name} empty="None like that." /> : <State of={settings} />}
    </Panel>
  );
}
