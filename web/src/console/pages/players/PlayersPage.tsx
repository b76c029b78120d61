import { useState } from "preact/hooks";
import { Link } from "../../../shared/address";
import { curl } from "../../logic/shell";
import { addressOf, type PageProps } from "../../pageList";
import { Choice } from "../../parts/Field";
import { Grid, type Column } from "../../parts/Grid";
import { Page } from "../../parts/Page";
import { Paging } from "../../parts/Paging";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { usePages } from "../../parts/usePages";
import { When } from "../../parts/When";
import { queryText, rest } from "../../server";
import { AuditLog } from "./AuditLog";
import { PlayerPage, type Profile } from "./PlayerPage";

const WAYS = [
  { value: "", text: "Id, name or e-mail" },
  { value: "id", text: "Id" },
  { value: "name", text: "A word of the name" },
  { value: "email", text: "E-mail" },
];

const columns: Column<Profile>[] = [
  { title: "Player", show: ({ id }) => <Link to={addressOf("players", id)}>{id}</Link> },
  { title: "Name", show: ({ name }) => name ?? "–" },
  { title: "E-mail", show: ({ email }) => email ?? "–" },
  { title: "Since", show: ({ createdAt }) => <When at={createdAt} /> },
  { title: "State", show: ({ hidden }) => (hidden ? <span class="pill warn">hidden</span> : <span class="pill good">shown</span>) },
];

/** All players with a profile, or those whose id, name or e-mail address begins so. */
function PlayerList() {
  const [by, choose] = useState("");
  const [words, set] = useState("");
  const [asked, ask] = useState({ by: "", words: "" });
  const path = (cursor: string) => `/players${queryText({ q: asked.words, by: asked.by, limit: 25, cursor })}`;
  const players = usePages<{ players: Profile[]; next?: string }>((cursor) => rest("GET", path(cursor)), [asked]);
  const submit = (event: Event) => {
    event.preventDefault();
    ask({ by, words: words.trim() });
  };
  return (
    <Page title="Players">
      <Panel title="Find players" how={[{ title: "curl", text: curl({ method: "GET", path: `/v1${path("")}` }, location.origin) }]}>
        <form class="row wrap" onSubmit={submit}>
          <Choice label="By" value={by} set={choose} choices={WAYS} />
          <label class="grow">
            Begins with
            <input type="search" value={words} autocomplete="off" spellcheck={false} onInput={(event) => set(event.currentTarget.value)} />
          </label>
          <button>Find</button>
        </form>
        {players.value ? (
          <>
            <Grid
              label="Players"
              columns={columns}
              rows={players.value.players}
              id={({ id }) => id}
              empty={asked.words === "" ? "Nobody has a profile yet." : "No player with a profile is like that."}
            />
            <Paging of={players} what="players" />
          </>
        ) : (
          <State of={players} />
        )}
        {asked.words !== "" && (
          <p class="quiet">
            Whoever has scores and no profile is not listed here: <Link to={addressOf("players", asked.words)}>open the id {asked.words}</Link>, or find the name on a board.
          </p>
        )}
      </Panel>
      <AuditLog />
    </Page>
  );
}

export default function PlayersPage({ id }: PageProps) {
  return id ? <PlayerPage id={id} /> : <PlayerList />;
}
