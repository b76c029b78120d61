import { useState } from "preact/hooks";
import { announce } from "../../../shared/announce";
import { Command } from "../../../shared/Copy";
import { curl } from "../../logic/shell";
import { Change } from "../../parts/Change";
import { Dialog } from "../../parts/Dialog";
import { About, Check, Choice, TextField } from "../../parts/Field";
import { How } from "../../parts/How";
import { currentSession, rest } from "../../server";
import { useDoing } from "../../useAnswer";

export interface Key {
  id: string;
  name?: string;
  role: string;
  allow: string[];
  tables: string[];
  partitions?: string[];
  lastUsed?: string;
}

type Made = Key & { secret: string };

/** A session that somebody got hold of must not make keys: its key's secret is asked for once more. */
export function ownSecret(secret: string): Record<string, string> {
  return currentSession().session === "key" ? { "x-key-secret": secret } : {};
}

export function OwnSecret({ value, set }: { value: string; set: (value: string) => void }) {
  const { session, key } = currentSession();
  if (session !== "key") return null;
  return (
    <label class="field">
      <span>
        Secret of your own key, <code>{key?.id}</code>
      </span>
      <input type="password" autocomplete="current-password" required value={value} onInput={(event) => set(event.currentTarget.value)} />
    </label>
  );
}

const RIGHTS: [string, string][] = [
  ["read", "Read items and boards"],
  ["write", "Write them"],
  ["admin", "Make, change and delete tables; with all tables, the console and this page"],
];
const ROLES = [
  { value: "server", text: "a server" },
  { value: "client", text: "players: what they may do, no table" },
];

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

function MadeKey({ made, close }: { made: Made; close: () => void }) {
  return (
    <Dialog title="The new key" close={close}>
      <p>
        <b>The secret is shown this once.</b> It is in the server's key file, and cannot be read here again.
      </p>
      <Command title="Access key id" text={made.id} />
      <Command title="Secret access key" text={made.secret} />
      <div class="actions">
        <button type="button" onClick={close}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

/** Makes a key, or changes what one may. */
export function KeyDialog({ old, close }: { old?: Key; close: () => void }) {
  const [name, setName] = useState(old?.name ?? "");
  const [role, setRole] = useState(old?.role ?? "server");
  const [allow, setAllow] = useState(old?.allow ?? ["read", "write"]);
  const [tables, setTables] = useState(old?.tables.join(" ") ?? "");
  const [partitions, setPartitions] = useState(old?.partitions?.join("\n") ?? "");
  const [secret, setSecret] = useState("");
  const [made, give] = useState<Made | null>(null);
  const doing = useDoing();
  const body = {
    name: name || null,
    ...(old ? {} : { role }),
    allow,
    tables: words(tables),
    partitions: lines(partitions).length ? lines(partitions) : null,
  };
  const path = old ? `/keys/${encodeURIComponent(old.id)}` : "/keys";
  const method = old ? "PATCH" : "POST";
  const submit = async (event: Event) => {
    event.preventDefault();
    const asked = async () => {
      const key = await rest<Made>(method, path, body, ownSecret(secret));
      if (!old) give(key);
    };
    if (!(await doing.run(asked))) return;
    announce(old ? "Changed" : "Made");
    if (old) close();
  };
  const turn = (right: string) => (on: boolean) => setAllow(RIGHTS.map(([one]) => one).filter((one) => (one === right ? on : allow.includes(one))));
  if (made) return <MadeKey made={made} close={close} />;
  return (
    <Dialog title={old ? `Change ${old.id}` : "A new key"} close={close} wide>
      <form onSubmit={submit}>
        {old && <p class="quiet">What it has opened ends when its rights become others.</p>}
        <div class="columns">
          <TextField label="Name" value={name} set={setName} placeholder="who it is for" />
          {!old && <Choice label="In the hands of" value={role} set={setRole} choices={ROLES} />}
        </div>
        <fieldset>
          <legend>It may</legend>
          {RIGHTS.map(([right, about]) => (
            <Check key={right} label={`${right}: ${about}`} value={allow.includes(right)} set={turn(right)} />
          ))}
        </fieldset>
        <TextField label="Tables" value={tables} set={setTables} required about="Names, or beginnings with a *; several with blanks between them. * alone is all." />
        <label class="field">
          <span>Partitions</span>
          <textarea rows={1} spellcheck={false} value={partitions} aria-describedby="key-partitions" onInput={(event) => setPartitions(event.currentTarget.value)} />
        </label>
        <About id="key-partitions">Only items of these, one on a line, such as USER#42 or ROOM#*; empty: all.</About>
        <OwnSecret value={secret} set={setSecret} />
        {doing.problem && (
          <p class="problem" role="alert">
            {doing.problem}
          </p>
        )}
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <Change main submit busy={doing.busy} disabled={allow.length === 0}>
            {old ? "Change the key" : "Make the key"}
          </Change>
        </div>
        <How about={old ? "Change a key" : "Make a key"} told={[{ title: "curl", text: curl({ method, path: `/v1${path}`, body }, location.origin, true) }]} />
      </form>
    </Dialog>
  );
}
