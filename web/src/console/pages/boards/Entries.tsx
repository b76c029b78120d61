import { useState } from "preact/hooks";
import { Link } from "../../../shared/address";
import { grouped } from "../../../shared/numbers";
import { around, boardPath, entries, type Board, type EntriesPage, type Standing } from "../../boards";
import { curl, redisCli } from "../../logic/shell";
import { addressOf } from "../../pageList";
import { Change } from "../../parts/Change";
import { ConfirmName } from "../../parts/ConfirmName";
import { Grid, type Column } from "../../parts/Grid";
import { Paging } from "../../parts/Paging";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { When } from "../../parts/When";
import { usePages } from "../../parts/usePages";
import { rest } from "../../server";
import { useServerFacts } from "../../serverFacts";
import { useDoing } from "../../useAnswer";
import { LoadScores } from "./LoadScores";

interface EntriesProps {
  instance: string;
  board: Board | undefined;
}

const PAGES_MAX = 200;

/** By id first, which is one walk; else by name, page by page from the top. */
async function search(instance: string, words: string, tell: (looked: number) => void): Promise<EntriesPage> {
  try {
    return await around(instance, words);
  } catch {
    // no such id: look for the name
  }
  const wanted = words.toLowerCase();
  let cursor: string | undefined = "";
  let looked = 0;
  for (let page = 0; cursor !== undefined && page < PAGES_MAX; page++) {
    const found: EntriesPage = await rest("GET", `${boardPath(instance, "/entries")}?limit=1000&numbers=string${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
    const hits = found.entries.filter(({ name, member }) => `${name ?? ""} ${member}`.toLowerCase().includes(wanted));
    if (hits.length > 0) return { ...found, entries: hits.slice(0, 50) };
    tell((looked += found.entries.length));
    cursor = found.next;
  }
  throw new Error(`Nobody like that among ${grouped(looked)} entries.`);
}

export function Entries({ instance }: EntriesProps) {
  const { redisPort } = useServerFacts();
  const pages = usePages((cursor) => entries(instance, { cursor }), [instance]);
  const [words, set] = useState("");
  const [found, show] = useState<EntriesPage | null>(null);
  const [looked, tell] = useState(0);
  const [gone, ask] = useState<Standing | null>(null);
  const searching = useDoing();
  const hiding = useDoing();
  const submit = (event: Event) => {
    event.preventDefault();
    void searching.run(async () => show(words === "" ? null : await search(instance, words, tell)));
  };
  const refresh = () => {
    show(null);
    pages.restart();
  };
  const hide = async (member: string, verb: "hide" | "show") => {
    if (await hiding.run(() => rest("POST", `/players/${encodeURIComponent(member)}/${verb}`))) refresh();
  };
  const columns: Column<Standing>[] = [
    { title: "Rank", number: true, show: ({ rank }) => grouped(rank) },
    {
      title: "Player",
      show: ({ member, name }) => (
        <Link to={addressOf("players", member)}>
          {name || member}
          {name && name !== member ? <span class="quiet">&nbsp;{member}</span> : null}
        </Link>
      ),
    },
    { title: "Score", number: true, show: ({ score, subscore }) => (subscore === undefined ? score : `${score} · ${subscore}`) },
    { title: "Ahead of", number: true, show: ({ percentile }) => `${percentile.toFixed(1)} %` },
    { title: "At", show: ({ at }) => <When at={at} /> },
    {
      title: "Do",
      unseenTitle: true,
      show: (entry) => (
        <span class="actions">
          <Change label={`Hide ${entry.name || entry.member}`} busy={hiding.busy} onClick={() => hide(entry.member, "hide")}>
            Hide
          </Change>
          <Change danger label={`Remove ${entry.name || entry.member}`} onClick={() => ask(entry)}>
            Remove
          </Change>
        </span>
      ),
    },
  ];
  const shown = found ?? pages.value;
  const removal = gone && boardPath(instance, `/entries/${gone.memberEncoded ?? encodeURIComponent(gone.member)}`);
  return (
    <Panel
      title="Entries"
      actions={<LoadScores instance={instance} done={refresh} />}
      how={[
        { title: "curl", text: curl({ method: "GET", path: `/v1${boardPath(instance, "/entries")}?limit=50` }, location.origin) },
        { title: "redis-cli", text: redisCli(["ZREVRANGE", instance, 0, 49, "WITHSCORES"], location.hostname, redisPort) },
      ]}
    >
      <form class="row" onSubmit={submit}>
        <label class="grow">
          A player's id, or part of a name
          <input type="search" value={words} onInput={(event) => set(event.currentTarget.value)} />
        </label>
        <button disabled={searching.busy}>Find</button>
        {found && (
          <button type="button" onClick={() => show(null)}>
            All
          </button>
        )}
      </form>
      {searching.busy && looked > 0 && <p aria-live="polite">{grouped(looked)} entries looked at</p>}
      {(searching.problem || hiding.problem) && (
        <p class="problem" role="alert">
          {searching.problem || hiding.problem}
        </p>
      )}
      {shown ? (
        <>
          <p class="quiet found">
            {grouped(shown.total)} entries of <code>{shown.instance}</code> {shown.sealed && <span class="pill">sealed</span>}
          </p>
          <Grid label="Entries" columns={columns} rows={shown.entries} id={({ member }) => member} empty="There are no entries." />
        </>
      ) : (
        <State of={pages} />
      )}
      {!found && <Paging of={pages} what="entries" />}
      {gone && removal && (
        <ConfirmName
          title={`Take ${gone.name || gone.member} off`}
          about={`The score ${gone.score} is lost. To keep it out of sight only, hide the player.`}
          name={gone.member}
          verb="Take it off"
          how={[
            { title: "curl", text: curl({ method: "DELETE", path: `/v1${removal}` }, location.origin) },
            { title: "redis-cli", text: redisCli(["ZREM", instance, gone.member], location.hostname, redisPort) },
          ]}
          act={async () => {
            await rest("DELETE", removal);
            refresh();
          }}
          close={() => ask(null)}
        />
      )}
    </Panel>
  );
}
