import { useEffect, useRef, useState } from "preact/hooks";
import { grouped } from "../../../shared/numbers";
import { TextField } from "../../parts/Field";
import { Grid } from "../../parts/Grid";
import { Panel } from "../../parts/Panel";
import { requestColumns, requestId, type LoggedRequest } from "./requests";

const KEPT = 500;
const SHOWN = 100;

interface Batch {
  dropped: number;
  requests: LoggedRequest[];
}

function matches(request: LoggedRequest, words: string): boolean {
  return words === "" || `${request.frontEnd} ${request.operation} ${request.subject ?? ""} ${request.who ?? ""}`.toLowerCase().includes(words.toLowerCase());
}

/** Requests as they are answered, over all front ends. The console's own are among them: /v1/... of this page. */
export function Tail() {
  const [requests, set] = useState<LoggedRequest[]>([]);
  const [running, run] = useState(true);
  const [dropped, drop] = useState(0);
  const [words, filter] = useState("");
  const [lost, lose] = useState(false);
  const numbers = useRef(new WeakMap<LoggedRequest, number>());
  const next = useRef(0);
  useEffect(() => {
    if (!running) return;
    const events = new EventSource("/v1/tail");
    const hear = (event: MessageEvent) => {
      const batch = JSON.parse(String(event.data)) as Batch;
      for (const request of batch.requests) numbers.current.set(request, next.current++);
      drop((old) => old + (batch.dropped ?? 0));
      set((old) => [...batch.requests.slice().reverse(), ...old].slice(0, KEPT));
    };
    events.onmessage = hear;
    events.onopen = () => lose(false);
    events.onerror = () => lose(true);
    return () => events.close();
  }, [running]);
  const shown = requests.filter((request) => matches(request, words)).slice(0, SHOWN);
  return (
    <Panel
      title="Requests as they come"
      actions={
        <button aria-pressed={!running} onClick={() => run(!running)}>
          {running ? "Hold" : "Go on"}
        </button>
      }
      how={[{ title: "curl", text: `curl -N ${location.origin}/v1/tail` }]}
    >
      <TextField label="Only with these words" value={words} set={filter} placeholder="PutItem, scores, redis" />
      {lost && running && <p class="note">The line is lost; it is opened again by itself.</p>}
      {dropped > 0 && <p class="quiet">{grouped(dropped)} were passed over: too many to show.</p>}
      <Grid label="Requests" columns={requestColumns} rows={shown} id={(request) => requestId(request, numbers.current.get(request))} empty={running ? "Waiting for requests." : "Held."} />
    </Panel>
  );
}
