import { useState } from "preact/hooks";
import { go } from "../../../shared/address";
import { awsCli } from "../../logic/shell";
import { addressOf } from "../../pageList";
import { Change } from "../../parts/Change";
import { Choice, TextField } from "../../parts/Field";
import { Panel } from "../../parts/Panel";
import { When } from "../../parts/When";
import { ddb } from "../../server";
import { tableNames } from "../../tables";
import { useAnswer, useDoing } from "../../useAnswer";

interface Recovery {
  PointInTimeRecoveryStatus: string;
  EarliestRestorableDateTime?: number;
  LatestRestorableDateTime?: number;
}

async function recovery(table: string): Promise<Recovery | undefined> {
  if (!table) return undefined;
  const { ContinuousBackupsDescription: told } = await ddb("DescribeContinuousBackups", { TableName: table });
  return told.PointInTimeRecoveryDescription;
}

/** Any moment of the last weeks: switched on by table, and restored into another one. */
export function PointInTime() {
  const names = useAnswer(tableNames, []);
  const [chosen, choose] = useState("");
  const table = chosen || names.value?.[0] || "";
  const now = useAnswer(() => recovery(table), [table]);
  const [at, set] = useState("");
  const [target, name] = useState("");
  const doing = useDoing();
  const on = now.value?.PointInTimeRecoveryStatus === "ENABLED";
  const turn = { TableName: table, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: !on } };
  const request = {
    SourceTableName: table,
    TargetTableName: target || `${table}-then`,
    ...(at ? { RestoreDateTime: Date.parse(`${at}Z`) / 1000 } : { UseLatestRestorableTime: true }),
  };
  const restore = async (event: Event) => {
    event.preventDefault();
    if (await doing.run(() => ddb("RestoreTableToPointInTime", request))) go(addressOf("tables", request.TargetTableName));
  };
  const toggle = async () => {
    if (await doing.run(() => ddb("UpdateContinuousBackups", turn))) now.again();
  };
  return (
    <Panel
      title="Any moment of the last weeks"
      actions={<Choice label="Table" value={table} set={choose} choices={names.value ?? []} />}
      how={[{ title: "AWS CLI", text: on ? awsCli("RestoreTableToPointInTime", request, location.origin) : awsCli("UpdateContinuousBackups", turn, location.origin) }]}
    >
      {on ? (
        <>
          <p>
            {table} can be had as it was from <When at={(now.value?.EarliestRestorableDateTime ?? 0) * 1000} /> on.
          </p>
          <form class="row wrap" onSubmit={restore}>
            <label class="field">
              As at (UTC; empty: now)
              <input type="datetime-local" step={1} value={at} onInput={(event) => set(event.currentTarget.value)} />
            </label>
            <TextField label="As the table" value={target || `${table}-then`} set={name} />
            <Change submit busy={doing.busy}>
              Restore
            </Change>
          </form>
        </>
      ) : (
        <p class="quiet">Point-in-time recovery is off for {table}.</p>
      )}
      {doing.problem && (
        <p class="problem" role="alert">
          {doing.problem}
        </p>
      )}
      <Change busy={doing.busy} onClick={toggle}>
        {on ? "Switch it off" : "Switch it on"}
      </Change>
    </Panel>
  );
}
