import { useState } from "preact/hooks";
import { go } from "../../../shared/address";
import { bytes } from "../../../shared/numbers";
import { awsCli } from "../../logic/shell";
import { addressOf } from "../../pageList";
import { Change } from "../../parts/Change";
import { ConfirmName } from "../../parts/ConfirmName";
import { Dialog } from "../../parts/Dialog";
import { Choice, TextField } from "../../parts/Field";
import { Grid, type Column } from "../../parts/Grid";
import { How } from "../../parts/How";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { When } from "../../parts/When";
import { ddb } from "../../server";
import { tableNames } from "../../tables";
import { useAnswer, useDoing } from "../../useAnswer";
import { PointInTime } from "./PointInTime";

interface Backup {
  TableName: string;
  BackupArn: string;
  BackupName: string;
  BackupStatus: string;
  BackupCreationDateTime: number;
  BackupSizeBytes?: number;
}

async function backups(): Promise<Backup[]> {
  const list: Backup[] = [];
  let start: string | undefined;
  do {
    const page: { BackupSummaries: Backup[]; LastEvaluatedBackupArn?: string } = await ddb("ListBackups", { Limit: 100, ...(start ? { ExclusiveStartBackupArn: start } : {}) });
    list.push(...page.BackupSummaries);
    start = page.LastEvaluatedBackupArn;
  } while (start);
  return list.sort((a, b) => b.BackupCreationDateTime - a.BackupCreationDateTime);
}

function stamp(): string {
  return new Date().toISOString().slice(0, 16).replace(/[:T]/g, "-");
}

function MakeBackup({ done }: { done: () => void }) {
  const names = useAnswer(tableNames, []);
  const [table, choose] = useState("");
  const [name, set] = useState(() => `backup-${stamp()}`);
  const doing = useDoing();
  const of = table || names.value?.[0] || "";
  const request = { TableName: of, BackupName: name };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await doing.run(() => ddb("CreateBackup", request))) done();
  };
  return (
    <Panel title="Make a backup" how={[{ title: "AWS CLI", text: awsCli("CreateBackup", request, location.origin) }]}>
      <form class="row wrap" onSubmit={submit}>
        <Choice label="Table" value={of} set={choose} choices={names.value ?? []} />
        <TextField label="Name" value={name} set={set} required />
        <Change submit busy={doing.busy}>
          Make it
        </Change>
      </form>
      {doing.problem && (
        <p class="problem" role="alert">
          {doing.problem}
        </p>
      )}
    </Panel>
  );
}

function Restore({ backup, close }: { backup: Backup; close: () => void }) {
  const [name, set] = useState(`${backup.TableName}-restored`);
  const doing = useDoing();
  const request = { TargetTableName: name, BackupArn: backup.BackupArn };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await doing.run(() => ddb("RestoreTableFromBackup", request))) go(addressOf("tables", name));
  };
  return (
    <Dialog title={`Restore ${backup.BackupName}`} close={close}>
      <form onSubmit={submit}>
        <TextField label="As the table" value={name} set={set} required />
        {doing.problem && (
          <p class="problem" role="alert">
            {doing.problem}
          </p>
        )}
        <div class="actions">
          <Change main submit busy={doing.busy}>
            Restore
          </Change>
        </div>
        <How about="Restore" told={[{ title: "AWS CLI", text: awsCli("RestoreTableFromBackup", request, location.origin) }]} />
      </form>
    </Dialog>
  );
}

export function Backups() {
  const list = useAnswer(backups, [], 4000);
  const [restoring, restore] = useState<Backup | null>(null);
  const [gone, remove] = useState<Backup | null>(null);
  const columns: Column<Backup>[] = [
    { title: "Backup", show: ({ BackupName }) => <b>{BackupName}</b> },
    { title: "Of table", show: ({ TableName }) => TableName },
    { title: "Made", show: ({ BackupCreationDateTime }) => <When at={BackupCreationDateTime * 1000} /> },
    { title: "Size", number: true, show: ({ BackupSizeBytes }) => bytes(BackupSizeBytes ?? 0) },
    { title: "State", show: ({ BackupStatus }) => <span class={`pill ${BackupStatus === "AVAILABLE" ? "good" : "warn"}`}>{BackupStatus.toLowerCase()}</span> },
    {
      title: "Do",
      unseenTitle: true,
      show: (backup) => (
        <span class="actions">
          <Change label={`Restore ${backup.BackupName}`} onClick={() => restore(backup)}>
            Restore
          </Change>
          <Change danger label={`Delete ${backup.BackupName}`} onClick={() => remove(backup)}>
            Delete
          </Change>
        </span>
      ),
    },
  ];
  return (
    <>
      <MakeBackup done={list.again} />
      <Panel title="Backups" how={[{ title: "AWS CLI", text: awsCli("ListBackups", {}, location.origin) }]}>
        {list.value ? <Grid label="Backups" columns={columns} rows={list.value} id={({ BackupArn }) => BackupArn} empty="There are no backups." /> : <State of={list} />}
      </Panel>
      <PointInTime />
      {restoring && <Restore backup={restoring} close={() => restore(null)} />}
      {gone && (
        <ConfirmName
          title={`Delete ${gone.BackupName}`}
          about={`The backup of ${gone.TableName} is gone for good.`}
          name={gone.BackupName}
          verb="Delete the backup"
          how={[{ title: "AWS CLI", text: awsCli("DeleteBackup", { BackupArn: gone.BackupArn }, location.origin) }]}
          act={async () => {
            await ddb("DeleteBackup", { BackupArn: gone.BackupArn });
            list.again();
          }}
          close={() => remove(null)}
        />
      )}
    </>
  );
}
