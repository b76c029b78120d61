import { useState } from "preact/hooks";
import { grouped } from "../../../shared/numbers";
import { boardPath } from "../../boards";
import { curl } from "../../logic/shell";
import { Change } from "../../parts/Change";
import { Dialog } from "../../parts/Dialog";
import { How } from "../../parts/How";
import { restText } from "../../server";
import { useDoing } from "../../useAnswer";

interface Loaded {
  lines: number;
  added: number;
  changed: number;
  kept: number;
  refused: number;
  reasons: { line: number; reason: string }[];
}

const LINES = 20000; // a request

/** A file of any size, some thousand lines at a time. */
async function load(instance: string, text: string, tell: (sum: Loaded) => void): Promise<void> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const sum: Loaded = { lines: 0, added: 0, changed: 0, kept: 0, refused: 0, reasons: [] };
  for (let at = 0; at < lines.length; at += LINES) {
    const part = await restText<Loaded>(boardPath(instance, "/entries:load"), "text/csv", lines.slice(at, at + LINES).join("\n"));
    sum.lines += part.lines;
    sum.added += part.added;
    sum.changed += part.changed;
    sum.kept += part.kept;
    sum.refused += part.refused;
    sum.reasons = [...sum.reasons, ...part.reasons.map(({ line, reason }) => ({ line: line + at, reason }))].slice(0, 10);
    tell({ ...sum });
  }
}

export function LoadScores({ instance, done }: { instance: string; done: () => void }) {
  const [open, show] = useState(false);
  const [text, set] = useState("");
  const [sum, tell] = useState<Loaded | null>(null);
  const doing = useDoing();
  const pick = async (event: Event) => {
    const file = (event.currentTarget as HTMLInputElement).files?.[0];
    tell(null);
    set(file ? await file.text() : "");
  };
  const close = () => {
    show(false);
    set("");
    tell(null);
    done();
  };
  const path = `/v1${boardPath(instance, "/entries:load")}`;
  return (
    <>
      <Change onClick={() => show(true)}>Load CSV</Change>
      {open && (
        <Dialog title={`Load scores into ${instance}`} close={close}>
          <p class="quiet">
            Lines of <code>member,score,name</code>; the name may be left out.
          </p>
          <label>
            File
            <input type="file" accept=".csv,.txt" onChange={pick} />
          </label>
          {sum && (
            <p aria-live="polite">
              {grouped(sum.lines)} lines: {grouped(sum.added)} added, {grouped(sum.changed)} changed, {grouped(sum.kept)} kept, {grouped(sum.refused)} refused.
            </p>
          )}
          {sum && sum.reasons.length > 0 && (
            <ul class="problem">
              {sum.reasons.map(({ line, reason }) => (
                <li key={line}>
                  Line {line}: {reason}
                </li>
              ))}
            </ul>
          )}
          {doing.problem && (
            <p class="problem" role="alert">
              {doing.problem}
            </p>
          )}
          <div class="actions">
            <Change main busy={doing.busy} disabled={text === ""} onClick={() => void doing.run(() => load(instance, text, tell))}>
              Load it
            </Change>
          </div>
          <How
            about="Load scores"
            told={[
              { title: "curl", text: curl({ method: "POST", path, csv: true }, location.origin) },
              { title: "gametable", text: `gametable load --url ${location.origin} ${instance} scores.csv` },
            ]}
          />
        </Dialog>
      )}
    </>
  );
}
