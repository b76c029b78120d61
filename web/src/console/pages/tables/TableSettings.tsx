import { useState } from "preact/hooks";
import { awsCli } from "../../logic/shell";
import type { TableSchema } from "../../logic/tableSchema";
import { Change } from "../../parts/Change";
import { Check, Choice, TextField } from "../../parts/Field";
import type { Told } from "../../parts/How";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { ddb } from "../../server";
import { timeToLive } from "../../tables";
import { useAnswer, useDoing, type Doing } from "../../useAnswer";
import { STREAMS } from "./NewTableForm";

interface SettingsProps {
  table: TableSchema;
  again: () => void;
}

/** The one UpdateTable that leads from how the table is to how it should be; the service takes one kind at a time. */
function updates(table: TableSchema, wanted: Wanted): Record<string, unknown>[] {
  const TableName = table.name;
  const list: Record<string, unknown>[] = [];
  const throughput = { ReadCapacityUnits: wanted.reads, WriteCapacityUnits: wanted.writes };
  if (wanted.billing !== table.billing)
    list.push({ TableName, BillingMode: wanted.billing, ...(wanted.billing === "PROVISIONED" ? { ProvisionedThroughput: throughput } : {}) });
  else if (wanted.billing === "PROVISIONED" && (wanted.reads !== table.reads || wanted.writes !== table.writes))
    list.push({ TableName, ProvisionedThroughput: throughput });
  if (wanted.stream !== table.stream) {
    if (table.stream) list.push({ TableName, StreamSpecification: { StreamEnabled: false } });
    if (wanted.stream) list.push({ TableName, StreamSpecification: { StreamEnabled: true, StreamViewType: wanted.stream } });
  }
  if (wanted.protected !== table.protected) list.push({ TableName, DeletionProtectionEnabled: wanted.protected });
  return list;
}

interface Wanted {
  billing: string;
  reads: number;
  writes: number;
  stream: string;
  protected: boolean;
}

function Problem({ doing }: { doing: Doing }) {
  return doing.problem ? (
    <p class="problem" role="alert">
      {doing.problem}
    </p>
  ) : null;
}

function TimeToLiveForm({ table }: { table: TableSchema }) {
  const now = useAnswer(() => timeToLive(table.name), [table.name]);
  const [attribute, set] = useState<string | null>(null);
  const doing = useDoing();
  const on = now.value?.on ?? false;
  const name = attribute ?? (now.value?.attribute || "ttl");
  const request = { TableName: table.name, TimeToLiveSpecification: { Enabled: !on, AttributeName: name } };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await doing.run(() => ddb("UpdateTimeToLive", request))) now.again();
  };
  if (now.value === undefined)
    return (
      <Panel title="Time to live">
        <State of={now} />
      </Panel>
    );
  return (
    <Panel title="Time to live" how={[{ title: "AWS CLI", text: awsCli("UpdateTimeToLive", request, location.origin) }]}>
      <form onSubmit={submit}>
        <p>
          {on ? (
            <>
              Items end at the time in <code>{now.value.attribute}</code> (seconds since 1970), within a second.
            </>
          ) : (
            "Items of this table do not end by themselves."
          )}
        </p>
        {!on && <TextField label="Attribute with the time" value={name} set={set} />}
        <Problem doing={doing} />
        <Change submit busy={doing.busy}>
          {on ? "Switch off" : "Switch on"}
        </Change>
      </form>
    </Panel>
  );
}

export function TableSettings({ table, again }: SettingsProps) {
  const [wanted, set] = useState<Wanted>({
    billing: table.billing,
    reads: table.reads || 5,
    writes: table.writes || 5,
    stream: table.stream,
    protected: table.protected,
  });
  const doing = useDoing();
  const change = (part: Partial<Wanted>) => set({ ...wanted, ...part });
  const list = updates(table, wanted);
  const told: Told[] = list.map((request, i) => ({
    title: list.length > 1 ? `AWS CLI, ${i + 1}.` : "AWS CLI",
    text: awsCli("UpdateTable", request, location.origin),
  }));
  const submit = async (event: Event) => {
    event.preventDefault();
    const done = await doing.run(async () => {
      for (const request of list) await ddb("UpdateTable", request);
    });
    if (done) again();
  };
  const billing = [
    { value: "PAY_PER_REQUEST", text: "On demand" },
    { value: "PROVISIONED", text: "Provisioned" },
  ];
  return (
    <>
      <Panel title="Settings" {...(told.length ? { how: told } : {})}>
        <form onSubmit={submit}>
          <div class="columns">
            <Choice label="Capacity" value={wanted.billing} set={(value) => change({ billing: value })} choices={billing} />
            <Choice label="Stream" value={wanted.stream} set={(value) => change({ stream: value })} choices={STREAMS} />
          </div>
          {wanted.billing === "PROVISIONED" && (
            <div class="columns">
              <TextField label="Reads a second" type="number" value={String(wanted.reads)} set={(text) => change({ reads: Number(text) })} />
              <TextField label="Writes a second" type="number" value={String(wanted.writes)} set={(text) => change({ writes: Number(text) })} />
            </div>
          )}
          <Check label="Protect it from deletion" value={wanted.protected} set={(value) => change({ protected: value })} />
          <Problem doing={doing} />
          <Change submit busy={doing.busy} disabled={list.length === 0}>
            Change the table
          </Change>
        </form>
      </Panel>
      <TimeToLiveForm table={table} />
    </>
  );
}
