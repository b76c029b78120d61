import { useState } from "preact/hooks";
import { bytes, grouped } from "../../../shared/numbers";
import { awsCli } from "../../logic/shell";
import type { KeyPart } from "../../logic/tableSchema";
import { createTable } from "../../logic/tableSchema";
import { Change } from "../../parts/Change";
import { Choice, TextField } from "../../parts/Field";
import { Grid, type Column } from "../../parts/Grid";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { When } from "../../parts/When";
import { ddb } from "../../server";
import { useAnswer, useDoing } from "../../useAnswer";
import { KeyField } from "../tables/KeyField";
import { jobClass } from "./Exports";

interface Import {
  ImportArn: string;
  ImportStatus: string;
  TableArn: string;
  StartTime?: number;
  S3BucketSource?: { S3Bucket: string; S3KeyPrefix?: string };
  ProcessedItemCount?: number;
  ImportedItemCount?: number;
  ProcessedSizeBytes?: number;
  ErrorCount?: number;
  FailureMessage?: string;
}

const SHOWN = 25;

async function imports(): Promise<Import[]> {
  const { ImportSummaryList } = await ddb<{ ImportSummaryList: { ImportArn: string }[] }>("ListImports", { PageSize: SHOWN });
  const told = await Promise.all(ImportSummaryList.map(({ ImportArn }) => ddb("DescribeImport", { ImportArn })));
  return told.map(({ ImportTableDescription }) => ImportTableDescription as Import).sort((a, b) => (b.StartTime ?? 0) - (a.StartTime ?? 0));
}

const columns: Column<Import>[] = [
  { title: "Table", show: ({ TableArn }) => TableArn.replace(/^.*table\//, "") },
  { title: "From", mono: true, show: ({ S3BucketSource: from }) => [from?.S3Bucket, from?.S3KeyPrefix].filter(Boolean).join("/") },
  { title: "Began", show: ({ StartTime }) => <When at={StartTime === undefined ? undefined : StartTime * 1000} /> },
  { title: "Read", number: true, show: ({ ProcessedItemCount, ProcessedSizeBytes }) => `${grouped(ProcessedItemCount ?? 0)}, ${bytes(ProcessedSizeBytes ?? 0)}` },
  { title: "Written", number: true, show: ({ ImportedItemCount }) => grouped(ImportedItemCount ?? 0) },
  { title: "Passed over", number: true, show: ({ ErrorCount }) => grouped(ErrorCount ?? 0) },
  {
    title: "State",
    show: ({ ImportStatus, FailureMessage }) => (
      <span class={`pill ${jobClass(ImportStatus)}`} title={FailureMessage}>
        {ImportStatus.toLowerCase().replace("_", " ")}
      </span>
    ),
  },
];

interface Wanted {
  table: string;
  bucket: string;
  prefix: string;
  format: string;
  compression: string;
  partition: KeyPart;
  sort: KeyPart;
}

function importRequest(wanted: Wanted): Record<string, unknown> {
  const table = createTable({
    name: wanted.table,
    partition: wanted.partition,
    sort: wanted.sort.name ? wanted.sort : null,
    indexes: [],
    billing: "PAY_PER_REQUEST",
    reads: 0,
    writes: 0,
    stream: "",
    protected: false,
  });
  return {
    S3BucketSource: { S3Bucket: wanted.bucket, ...(wanted.prefix ? { S3KeyPrefix: wanted.prefix } : {}) },
    InputFormat: wanted.format,
    InputCompressionType: wanted.compression,
    TableCreationParameters: table,
  };
}

export function Imports() {
  const list = useAnswer(imports, [], 2000);
  const [wanted, set] = useState<Wanted>({
    table: "",
    bucket: "exports",
    prefix: "",
    format: "DYNAMODB_JSON",
    compression: "GZIP",
    partition: { name: "PK", type: "S" },
    sort: { name: "SK", type: "S" },
  });
  const doing = useDoing();
  const change = (part: Partial<Wanted>) => set({ ...wanted, ...part });
  const request = importRequest(wanted);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await doing.run(() => ddb("ImportTable", request))) list.again();
  };
  return (
    <>
      <Panel title="Import a table" how={[{ title: "AWS CLI", text: awsCli("ImportTable", request, location.origin) }]}>
        <form onSubmit={submit}>
          <div class="columns">
            <TextField label="As the table" value={wanted.table} set={(table) => change({ table })} required />
            <TextField label="Bucket" value={wanted.bucket} set={(bucket) => change({ bucket })} required />
            <TextField label="Prefix in it" value={wanted.prefix} set={(prefix) => change({ prefix })} />
            <Choice label="Format" value={wanted.format} set={(format) => change({ format })} choices={["DYNAMODB_JSON", "CSV"]} />
            <Choice label="Packed" value={wanted.compression} set={(compression) => change({ compression })} choices={["GZIP", "NONE"]} />
          </div>
          <div class="columns">
            <KeyField label="Partition key" part={wanted.partition} set={(partition) => change({ partition })} required />
            <KeyField label="Sort key (may be left empty)" part={wanted.sort} set={(sort) => change({ sort })} />
          </div>
          {doing.problem && (
            <p class="problem" role="alert">
              {doing.problem}
            </p>
          )}
          <Change submit busy={doing.busy}>
            Import
          </Change>
        </form>
      </Panel>
      <Panel title="Imports" how={[{ title: "AWS CLI", text: awsCli("ListImports", {}, location.origin) }]}>
        {list.value ? <Grid label="Imports" columns={columns} rows={list.value} id={({ ImportArn }) => ImportArn} empty="Nothing was imported yet." /> : <State of={list} />}
      </Panel>
    </>
  );
}
