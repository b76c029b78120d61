import { curl } from "../../logic/shell";
import { Change } from "../../parts/Change";
import { Grid } from "../../parts/Grid";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { rest } from "../../server";
import { useAnswer, useDoing } from "../../useAnswer";
import { requestColumns, requestId, type LoggedRequest } from "./requests";

export function SlowLog() {
  const slow = useAnswer(() => rest<{ thresholdMs: number; requests: LoggedRequest[] }>("GET", "/slow?limit=100"), [], 3000);
  const doing = useDoing();
  const empty = async () => {
    if (await doing.run(() => rest("DELETE", "/slow"))) slow.again();
  };
  return (
    <Panel
      title="Slow requests"
      actions={
        <Change busy={doing.busy} onClick={empty}>
          Empty the log
        </Change>
      }
      how={[{ title: "curl", text: curl({ method: "GET", path: "/v1/slow?limit=100" }, location.origin) }]}
    >
      {doing.problem && <p class="problem">{doing.problem}</p>}
      {slow.value ? (
        <>
          <p class="quiet">Those of {slow.value.thresholdMs} ms and more, the newest first.</p>
          <Grid label="Slow requests" columns={requestColumns} rows={slow.value.requests} id={(request) => requestId(request)} empty="Nothing was slow." />
        </>
      ) : (
        <State of={slow} />
      )}
    </Panel>
  );
}
