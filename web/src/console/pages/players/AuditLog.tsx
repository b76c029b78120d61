import { curl } from "../../logic/shell";
import { Grid, type Column } from "../../parts/Grid";
import { Paging } from "../../parts/Paging";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { usePages } from "../../parts/usePages";
import { When } from "../../parts/When";
import { isMissing, queryText, rest } from "../../server";

interface AuditEntry {
  at: string;
  frontEnd: string;
  operation: string;
  subject?: string;
  status?: number;
  reason?: string;
  who?: string;
}

const columns: Column<AuditEntry>[] = [
  { title: "When", show: ({ at }) => <When at={at} /> },
  { title: "Who", show: ({ who }) => who ?? "–" },
  { title: "Did", show: ({ operation }) => <b>{operation}</b> },
  { title: "To", mono: true, show: ({ subject }) => subject ?? "" },
  { title: "Answer", show: ({ status, reason }) => <span class={`pill ${reason || (status ?? 0) >= 400 ? "bad" : "good"}`}>{reason ?? status ?? "ok"}</span> },
];

/** What operators changed in the last ninety days, the newest first. */
export function AuditLog() {
  const log = usePages<{ entries: AuditEntry[]; next?: string }>((cursor) => rest("GET", `/audit${queryText({ limit: 25, cursor })}`), []);
  if (isMissing(log.error)) return null;
  return (
    <Panel title="What operators did" actions={<button onClick={log.restart}>Look again</button>} how={[{ title: "curl", text: curl({ method: "GET", path: "/v1/audit" }, location.origin) }]}>
      {log.value ? (
        <>
          <Grid
            label="What operators did"
            columns={columns}
            rows={log.value.entries}
            id={({ at, subject, operation }) => `${at}${operation}${subject ?? ""}`}
            empty="Nothing in the last ninety days."
          />
          <Paging of={log} what="what operators did" />
        </>
      ) : (
        <State of={log} />
      )}
    </Panel>
  );
}
