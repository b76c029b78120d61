import { useEffect, useState } from "preact/hooks";
import type { Entry } from "../client";
import { isStatus, reasonOf } from "../shared/api";
import { grouped } from "../shared/numbers";
import { around, entry, nameOf, rankOf, type Place } from "./board";
import { BoardTable } from "./BoardTable";

interface FindPlayerProps {
  place: Place;
  entries: Entry[];
  me: string;
  onFound(entry: Entry | null): void;
  stamp: unknown; // changes when the board does
}

/** Names are people's own and need not be one person's: those in sight are looked through, else it is
 * taken for a member. */
function memberOf(text: string, entries: Entry[]): string {
  const low = text.toLowerCase();
  return entries.find((entry) => nameOf(entry).toLowerCase() === low)?.member ?? text;
}

function useAround(place: Place, member: string, stamp: unknown, onFound: (entry: Entry | null) => void) {
  const [near, setNear] = useState<Entry[]>([]);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (!member) return;
    Promise.all([entry(place, member), around(place, member)]).then(
      ([one, page]) => {
        setProblem("");
        setNear(page.entries);
        onFound(one.entry);
      },
      (error) => {
        setNear([]);
        onFound(null);
        setProblem(isStatus(error, 404) ? "Not on this board." : reasonOf(error));
      },
    );
  }, [member, stamp]);
  return { near, problem };
}

function Standing({ found }: { found: Entry }) {
  return (
    <p class="standing">
      <b>{nameOf(found)}</b> is at <b>{grouped(found.rank)}</b> with {grouped(found.score)}: as good as or better than{" "}
      <b>{found.percentile.toFixed(found.percentile === 100 ? 0 : 1)}%</b> of the others.
    </p>
  );
}

function RankOfScore({ place }: { place: Place }) {
  const [told, tell] = useState("");
  const ask = async (score: string) => {
    if (score.trim() === "") return tell("");
    try {
      const { rank, total } = await rankOf(place, score);
      tell(`${score} would be at ${grouped(rank)} of ${grouped(total + 1)}.`);
    } catch (error) {
      tell(reasonOf(error));
    }
  };
  return (
    <label>
      Which rank would a score have?
      <input inputMode="decimal" onInput={(event) => void ask(event.currentTarget.value)} placeholder="1000" />
      <span class="quiet" aria-live="polite">
        {told}
      </span>
    </label>
  );
}

export function FindPlayer({ place, entries, me, onFound, stamp }: FindPlayerProps) {
  const [member, setMember] = useState("");
  const { near, problem } = useAround(place, member, stamp, onFound);
  const found = near.find((one) => one.member === member);
  return (
    <section class="card" aria-labelledby="find-title">
      <h2 id="find-title">Find a player</h2>
      <form
        class="row"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          setMember(memberOf(String(new FormData(event.currentTarget).get("who")).trim(), entries));
        }}
      >
        <label class="grow">
          Name in sight, or id
          <input name="who" autocomplete="off" spellcheck={false} required />
        </label>
        <button>Find</button>
        <button type="button" onClick={() => setMember(me)}>
          Around me
        </button>
      </form>
      <div aria-live="polite">
        {problem && <p class="quiet">{problem}</p>}
        {found && <Standing found={found} />}
      </div>
      {near.length > 0 && <BoardTable entries={near} me={me} marked={member} />}
      <RankOfScore place={place} />
    </section>
  );
}
