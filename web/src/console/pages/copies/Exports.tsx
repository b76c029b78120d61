import { useState } from "preact/hooks";
import { bytes, grouped } from "../../../shared/numbers";
import { awsCli } from "../../logic/shell";
import { Change } from "../../parts/Change";
import { Choice, TextField } from "../../parts/Field";
import { Grid, type Column } from "../../parts/Grid";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { When } from "../../parts/When";
import { ddb } from "../../server";
import { allTables } from "../../tables";
import { useAnswer, useDoing } from "../../useAnswer";

interface Export {
  ExportArn: string;
  ExportStatus: string;
  TableArn: string;
  S3Bucket: string;
  S3Prefix?: string;
  StartTime?: number;
  ItemCount?: number;
  BilledSizeBytes?: number;
  FailureMessage?: string;
}

const SHOWN = 25;

async function exports(): Promise<Export[]> {
  const { ExportSummaries } = await ddb<{ ExportSummaries: { ExportArn: string }[] }>("ListExports", { MaxResults: SHOWN });
  const told = await Promise.all(ExportSummaries.map(({ ExportArn }) => ddb("DescribeExport", { ExportArn })));
  return told.map(({ ExportDescription }) => ExportDescription as Export).sort((a, b) => (b.StartTime ?? 0) - (a.StartTime ?? 0));
}

export function jobClass(status: string): string {
  return status === "COMPLETED" ? "good" : status === "FAILED" || status === "CANCELLED" ? "bad" : "warn";
}

const columns: Column<Export>[] = [
  { title: "Table", show: ({ TableArn }) => TableArn.replace(/^.*table\//, "") },
  { title: "Into", mono: true, show: ({ S3Bucket, S3Prefix }) => [S3Bucket, S3Prefix].filter(Boolean).join("/") },
  { title: "Began", show: ({ StartTime }) => <When at={StartTime === undefined ? undefined : StartTime * 1000} /> },
  { title: "Items", number: true, show: ({ ItemCount }) => grouped(ItemCount ?? 0) },
  { title: "Size", number: true, show: ({ BilledSizeBytes }) => bytes(BilledSizeBytes ?? 0) },
  {
    title: "State",
    show: ({ ExportStatus, FailureMessage }) => (
      <span class={`pill ${jobClass(ExportStatus)}`} title={FailureMessage}>
        {ExportStatus.toLowerCase().replace("_", " ")}
      </span>
    ),
  },
];

const FORMATS = [
  { value: "DYNAMODB_JSON", text: "DynamoDB JSON" },
  { value: "CSV", text: "CSV" },
];

export function Exports() {
  const tables = useAnswer(allTables, []);
  const list = useAnswer(exports, [], 2000);
  const [table, choose] = useState("");
  const [bucket, set] = useState("exports");
  const [format, form] = useState("DYNAMODB_JSON");
  const doing = useDoing();
  const of = tables.value?.find(({ name }) => name === table) ?? tables.value?.[0];
  const request = { TableArn: of?.arn ?? "", S3Bucket: bucket, ExportFormat: format };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await doing.run(() => ddb("ExportTableToPointInTime", request))) list.again();
  };
  return (
    <>
      <Panel title="Export a table" how={[{ title: "AWS CLI", text: awsCli("ExportTableToPointInTime", request, location.origin) }]}>
        <p class="quiet">A bucket is a folder in the server's export folder.</p>
        <form class="row wrap" onSubmit={submit}>
          <Choice label="Table" value={of?.name ?? ""} set={choose} choices={(tables.value ?? []).map(({ name }) => name)} />
          <TextField label="Bucket" value={bucket} set={set} required />
          <Choice label="Format" value={format} set={form} choices={FORMATS} />
          <Change submit busy={doing.busy}>
            Export
          </Change>
        </form>
        {doing.problem && (
          <p class="problem" role="alert">
            {doing.problem}
          </p>
        )}
      </Panel>
      <Panel title="Exports" how={[{ title: "AWS CLI", text: awsCli("ListExports", {}, location.origin) }]}>
        {list.value ? <Grid label="Exports" columns={columns} rows={list.value} id={({ ExportArn }) => ExportArn} empty="Nothing was exported yet." /> : <State of={list} />}
      </Panel>
    </>
  );
}
