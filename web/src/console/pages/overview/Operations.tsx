import { bytes, compact } from "../../../shared/numbers";
import { FRONT_END_NAMES } from "../../logic/history";
import { curl } from "../../logic/shell";
import { Grid, type Column } from "../../parts/Grid";
import { Panel } from "../../parts/Panel";
import { isMissing, rest } from "../../server";
import { useAnswer } from "../../useAnswer";

interface Operation {
  frontEnd: string;
  operation: string;
  requests: number;
  errors: number;
  bytesIn: number;
  bytesOut: number;
  p50Ms: number;
  p90Ms: number;
  p99Ms: number;
  maxMs: number;
}

interface Refusal {
  frontEnd: string;
  reason: string;
  count: number;
}

const ms = (value: number | undefined) => (value === undefined ? "–" : `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`);

const columns: Column<Operation>[] = [
  { title: "Operation", show: ({ operation }) => operation },
  { title: "Front end", show: ({ frontEnd }) => FRONT_END_NAMES[frontEnd] ?? frontEnd },
  { title: "Requests", number: true, show: ({ requests }) => compact(requests) },
  { title: "Errors", number: true, show: ({ errors }) => (errors > 0 ? <span class="pill bad">{compact(errors)}</span> : "0") },
  { title: "p50", number: true, show: ({ p50Ms }) => ms(p50Ms) },
  { title: "p99", number: true, show: ({ p99Ms }) => ms(p99Ms) },
  { title: "Longest", number: true, show: ({ maxMs }) => ms(maxMs) },
  { title: "In", number: true, show: ({ bytesIn }) => bytes(bytesIn) },
  { title: "Out", number: true, show: ({ bytesOut }) => bytes(bytesOut) },
];

const refusalColumns: Column<Refusal>[] = [
  { title: "Refused because", show: ({ reason }) => reason },
  { title: "Front end", show: ({ frontEnd }) => FRONT_END_NAMES[frontEnd] ?? frontEnd },
  { title: "How often", number: true, show: ({ count }) => compact(count) },
];

/** Every operation since the start, the most frequent first. */
export function Operations() {
  const found = useAnswer(() => rest<{ operations: Operation[]; refusals?: Refusal[] }>("GET", "/operations"), [], 5000);
  if (isMissing(found.error) || !found.value) return null;
  const rows = [...found.value.operations].filter(({ requests }) => requests > 0).sort((a, b) => b.requests - a.requests);
  const refusals = (found.value.refusals ?? []).filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
  return (
    <Panel title="Operations since the start" how={[{ title: "curl", text: curl({ method: "GET", path: "/v1/operations" }, location.origin) }]}>
      <Grid label="Operations" columns={columns} rows={rows.slice(0, 40)} id={({ frontEnd, operation }) => `${frontEnd} ${operation}`} empty="Nothing was asked yet." />
      {refusals.length > 0 && <Grid label="Refusals" columns={refusalColumns} rows={refusals} id={({ frontEnd, reason }) => `${frontEnd} ${reason}`} />}
    </Panel>
  );
}
