import { useState } from "preact/hooks";
import { awsCli } from "../../logic/shell";
import type { TableSchema } from "../../logic/tableSchema";
import { Choice } from "../../parts/Field";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { allTables } from "../../tables";
import { useAnswer } from "../../useAnswer";
import { Difference } from "./Difference";
import { useStream } from "./useStream";

function Records({ table, from }: { table: TableSchema; from: "LATEST" | "TRIM_HORIZON" }) {
  const { records, problem } = useStream(table.streamArn, from);
  if (problem)
    return (
      <p class="problem" role="alert">
        {problem}
      </p>
    );
  if (records.length === 0) return <p class="quiet">Waiting for changes to {table.name}.</p>;
  return (
    <ol class="records">
      {records.map((record) => (
        <Difference key={record.dynamodb.SequenceNumber} record={record} />
      ))}
    </ol>
  );
}

const FROM = [
  { value: "LATEST" as const, text: "From now on" },
  { value: "TRIM_HORIZON" as const, text: "All of a day" },
];

/** Changes of a table as they happen, old and new side by side. */
export function Streams() {
  const tables = useAnswer(allTables, []);
  const [chosen, choose] = useState("");
  const [from, set] = useState<"LATEST" | "TRIM_HORIZON">("TRIM_HORIZON");
  const streaming = (tables.value ?? []).filter(({ stream, streamArn }) => stream && streamArn);
  const table = streaming.find(({ name }) => name === chosen) ?? streaming[0];
  return (
    <Panel
      title="Stream"
      actions={
        table && (
          <>
            <Choice label="Table" value={table.name} set={choose} choices={streaming.map(({ name }) => name)} />
            <Choice label="Records" value={from} set={set} choices={FROM} />
          </>
        )
      }
      {...(table ? { how: [{ title: "AWS CLI", text: awsCli("DescribeStream", { StreamArn: table.streamArn }, location.origin, "dynamodbstreams") }] } : {})}
    >
      {!tables.value && <State of={tables} />}
      {tables.value && !table && <p class="quiet">No table has a stream: switch one on in the table's settings.</p>}
      {table && <Records key={`${table.name} ${from}`} table={table} from={from} />}
    </Panel>
  );
}
