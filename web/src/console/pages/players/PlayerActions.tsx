import { useState } from "preact/hooks";
import { go } from "../../../shared/address";
import { announce } from "../../../shared/announce";
import { Command } from "../../../shared/Copy";
import { curl } from "../../logic/shell";
import { addressOf } from "../../pageList";
import { Change } from "../../parts/Change";
import { ConfirmName } from "../../parts/ConfirmName";
import { save } from "../../parts/files";
import { Panel } from "../../parts/Panel";
import { When } from "../../parts/When";
import { queryText, rest } from "../../server";
import { useDoing } from "../../useAnswer";

interface ActionsProps {
  id: string;
  known: boolean; // whether it is hidden, is known
  hidden: boolean | undefined;
  again: () => void;
}

interface Token {
  token: string;
  expires: string;
}

async function exportAll(id: string): Promise<unknown[]> {
  const items: unknown[] = [];
  let cursor: string | undefined = "";
  while (cursor !== undefined) {
    const page: { items: unknown[]; next?: string } = await rest("GET", `/players/${encodeURIComponent(id)}/export${queryText({ cursor, numbers: "string" })}`);
    items.push(...page.items);
    cursor = page.next;
  }
  return items;
}

export function PlayerActions({ id, known, hidden, again }: ActionsProps) {
  const [erasing, ask] = useState(false);
  const [token, give] = useState<Token | null>(null);
  const doing = useDoing();
  const path = `/players/${encodeURIComponent(id)}`;
  const verb = hidden ? "show" : "hide";
  const turn = async () => {
    if (!(await doing.run(() => rest("POST", `${path}/${verb}`)))) return;
    announce(hidden ? "Shown again" : "Hidden");
    again();
  };
  const download = () =>
    doing.run(async () => save(`player-${id}.json`, "application/json", JSON.stringify(await exportAll(id), null, 2)));
  const { origin } = location;
  return (
    <Panel
      title="What can be done"
      how={[
        { title: "curl: hide", text: curl({ method: "POST", path: `/v1${path}/${verb}` }, origin) },
        { title: "curl: export", text: curl({ method: "GET", path: `/v1${path}/export` }, origin) },
        { title: "curl: a token", text: curl({ method: "POST", path: `/v1${path}/tokens`, body: {} }, origin) },
        { title: "curl: erase", text: curl({ method: "DELETE", path: `/v1${path}` }, origin) },
      ]}
    >
      <div class="actions">
        <button disabled={doing.busy} onClick={download}>
          Save all that is kept
        </button>
        <Change busy={doing.busy || !known} onClick={turn}>
          {hidden ? "Show again" : "Hide from all rankings"}
        </Change>
        <Change busy={doing.busy} onClick={() => void doing.run(async () => give(await rest("POST", `${path}/tokens`, {})))}>
          Make a token
        </Change>
        <Change danger onClick={() => ask(true)}>
          Erase
        </Change>
      </div>
      {doing.problem && (
        <p class="problem" role="alert">
          {doing.problem}
        </p>
      )}
      {token && (
        <>
          <Command title="Token of this player, shown once" text={token.token} />
          <p class="quiet">
            Good until <When at={token.expires} />.
          </p>
        </>
      )}
      {erasing && (
        <ConfirmName
          title={`Erase ${id}`}
          about="Profile, scores, plays and seats go, on all boards and in all periods. It cannot be undone."
          name={id}
          verb="Erase the player"
          how={[{ title: "curl", text: curl({ method: "DELETE", path: `/v1${path}` }, origin) }]}
          act={async () => {
            await rest("DELETE", path);
            go(addressOf("players"));
          }}
          close={() => ask(false)}
        />
      )}
    </Panel>
  );
}
