import { useState } from "preact/hooks";
import { announce } from "../../../shared/announce";
import { Command } from "../../../shared/Copy";
import { curl } from "../../logic/shell";
import { Change } from "../../parts/Change";
import { ConfirmName } from "../../parts/ConfirmName";
import { Grid, type Column } from "../../parts/Grid";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { When } from "../../parts/When";
import { currentSession, rest } from "../../server";
import { useAnswer } from "../../useAnswer";
import { KeyDialog, OwnSecret, ownSecret, type Key } from "./KeyDialog";

const columns: Column<Key>[] = [
  {
    title: "Key",
    mono: true,
    show: ({ id }) => (
      <>
        <b>{id}</b> {id === currentSession().key?.id && <span class="pill">yours</span>}
      </>
    ),
  },
  { title: "Name", show: ({ name }) => name ?? "–" },
  { title: "May", show: ({ allow, role }) => `${allow.join(", ")}${role === "client" ? ", as a player" : ""}` },
  { title: "Tables", mono: true, show: ({ tables }) => tables.join(", ") },
  { title: "Partitions", mono: true, show: ({ partitions }) => partitions?.join(", ") || "all" },
  { title: "Last used", show: ({ lastUsed }) => (lastUsed ? <When at={lastUsed} /> : "not since the start") },
];

function Revoke({ id, close }: { id: string; close: () => void }) {
  const [secret, set] = useState("");
  const path = `/keys/${encodeURIComponent(id)}`;
  return (
    <ConfirmName
      title={`Revoke ${id}`}
      about="It is taken no more from now on, and what it has opened ends at once: connections, subscriptions, sessions of the console."
      name={id}
      verb="Revoke it"
      how={[{ title: "curl", text: curl({ method: "DELETE", path: `/v1${path}` }, location.origin, true) }]}
      act={async () => {
        await rest("DELETE", path, undefined, ownSecret(secret));
        announce("Revoked");
      }}
      close={close}
    >
      <OwnSecret value={secret} set={set} />
    </ConfirmName>
  );
}

/** How a server without a key file gets one. */
function WithoutFile({ some }: { some: boolean }) {
  return (
    <>
      <p>
        {some ? "The keys of this server come from its environment" : "This server was started without a key file"}: they cannot be changed here. Make a
        file with a first key, and start the server with it.
      </p>
      <Command title="A first key, for everything" text="gametable keys add --keys keys.json --table '*' --allow all --name operator" />
      <Command title="The server with it" text="gametable serve --keys keys.json" />
    </>
  );
}

/** Who may come in. A secret is shown once, when its key is made. */
export function AccessKeys() {
  const keys = useAnswer(() => rest<{ changeable: boolean; keys: Key[] }>("GET", "/keys"), [], 5000);
  const [editing, edit] = useState<Key | "new" | null>(null);
  const [revoking, revoke] = useState("");
  const changeable = keys.value?.changeable ?? false;
  const renew = (close: () => void) => () => {
    close();
    keys.again();
  };
  const doing: Column<Key> = {
    title: "Change",
    unseenTitle: true,
    show: (key) => (
      <div class="actions">
        <Change label={`Change ${key.id}`} onClick={() => edit(key)}>
          Change
        </Change>
        <Change danger label={`Revoke ${key.id}`} onClick={() => revoke(key.id)}>
          Revoke
        </Change>
      </div>
    ),
  };
  return (
    <Panel
      title="Access keys"
      actions={changeable && <Change onClick={() => edit("new")}>New key</Change>}
      how={[
        { title: "curl", text: curl({ method: "GET", path: "/v1/keys" }, location.origin, true) },
        { title: "In the file itself, on the server's machine", text: "gametable keys add --keys keys.json --table game && kill -HUP $(pidof gametable)" },
      ]}
    >
      {keys.value ? (
        <Grid
          label="Access keys"
          columns={changeable ? [...columns, doing] : columns}
          rows={keys.value.keys}
          id={({ id }) => id}
          empty="This server has no access keys: anybody on this machine may do everything."
        />
      ) : (
        <State of={keys} />
      )}
      {keys.value && !changeable && <WithoutFile some={keys.value.keys.length > 0} />}
      {editing && <KeyDialog key={editing === "new" ? "" : editing.id} old={editing === "new" ? undefined : editing} close={renew(() => edit(null))} />}
      {revoking && <Revoke id={revoking} close={renew(() => revoke(""))} />}
    </Panel>
  );
}
