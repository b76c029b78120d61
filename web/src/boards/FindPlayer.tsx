import { useEffect, useRef, useState } from "preact/hooks";
import type { Entry } from "../client";
import { reasonOf } from "../shared/api";
import { exact, grouped } from "../shared/numbers";
import { around, entry, nameOf, rankOf, type Place } from "./board";
import { BoardTable } from "./BoardTable";
import { findName, type Search } from "./findName";
import { SHOWN } from "./useBoard";

interface FindPlayerProps {
  place: Place;
  me: string;
  onFound(entry: Entry | null): void;
  onGo(from: number): void;
  stamp: unknown; // changes when the board does
}

function useAround(place: Place, member: string, stamp: unknown, onFound: (entry: Entry | null) => void) {
  const [near, setNear] = useState<Entry[]>([]);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (!member) return;
    let gone = false; // a late answer about somebody else is not told
    const look = async () => {
      try {
        const one = await entry(place, member);
        const page = one && (await around(place, member));
        if (gone) return;
        setProblem(one ? "" : "Not on this board.");
        setNear(page?.entries ?? []);
        onFound(one);
      } catch (error) {
        if (!gone) setProblem(reasonOf(error));
      }
    };
    void look();
    return () => {
      gone = true;
    };
  }, [member, stamp]);
  return { near: member ? near : [], problem: member ? problem : "" };
}

function Standing({ found }: { found: Entry }) {
  return (
    <p class="standing">
      <b>
        <bdi>{nameOf(found)}</bdi>
      </b>{" "}
      is at <b>{grouped(found.rank)}</b> with {exact(found.score)}: as good as or better than{" "}
      <b>{found.percentile.toFixed(found.percentile === 100 ? 0 : 1)}%</b> of the others.
    </p>
  );
}

function RankOfScore({ place }: { place: Place }) {
  const [told, set] = useState("");
  const run = useRef(0);
  const ask = async (score: string) => {
    const mine = ++run.current;
    const tell = (text: string) => {
      if (mine === run.current) set(text); // else it was about what stood there before
    };
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

/** Those whose name was asked for, or is like it. */
function Matches({ search, onChoose }: { search: Search; onChoose(member: string): void }) {
  return (
    <ul class="matches" aria-label="Players of that name">
      {search.found.map((one) => (
        <li key={one.member}>
          <button type="button" class="plain" onClick={() => onChoose(one.member)}>
            <bdi>{nameOf(one)}</bdi>
          </button>
          <span class="quiet">{`at ${grouped(one.rank)}`}</span>
        </li>
      ))}
    </ul>
  );
}

export function FindPlayer({ place, me, onFound, onGo, stamp }: FindPlayerProps) {
  const [member, setMember] = useState("");
  const [search, setSearch] = useState<Search | null>(null);
  const [told, tell] = useState("");
  const run = useRef(0);
  const { near, problem } = useAround(place, member, stamp, onFound);
  const found = near.find((one) => one.member === member);
  const choose = (who: string) => {
    run.current++;
    tell("");
    setSearch(null);
    setMember(who);
  };
  const byName = async (text: string, mine: number) => {
    let last: Search | null = null;
    for await (const now of findName(place, text)) {
      if (mine !== run.current) return;
      setSearch((last = now));
      tell(`Looked at ${grouped(now.looked)} of ${grouped(now.total)}…`);
    }
    const same = last?.found.filter((one) => nameOf(one).toLowerCase() === text.toLowerCase()) ?? [];
    if (same.length === 1) return choose(same[0]!.member);
    tell(last?.found.length ? "Nobody is called just that. These are like it:" : "Not on this board.");
  };
  // An id is found at once; else it is a name.
  const find = async (text: string) => {
    const mine = ++run.current;
    setMember("");
    setSearch(null);
    tell("Looking…");
    try {
      const one = await entry(place, text);
      if (mine !== run.current) return;
      if (one) choose(text);
      else await byName(text, mine);
    } catch (error) {
      if (mine === run.current) tell(reasonOf(error));
    }
  };
  return (
    <section class="card" aria-labelledby="find-title">
      <h2 id="find-title">Find a player</h2>
      <form
        class="row"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          void find(String(new FormData(event.currentTarget).get("who")).trim());
        }}
      >
        <label class="grow">
          Name or id
          <input name="who" autocomplete="off" spellcheck={false} required />
        </label>
        <button>Find</button>
        <button type="button" onClick={() => choose(me)}>
          Around me
        </button>
      </form>
      <div aria-live="polite">
        {(told || problem) && <p class="quiet">{told || problem}</p>}
        {found && <Standing found={found} />}
      </div>
      {search && <Matches search={search} onChoose={choose} />}
      {near.length > 0 && <BoardTable entries={near} me={me} marked={member} />}
      {found && (
        <p>
          <button onClick={() => onGo(Math.floor((found.position - 1) / SHOWN) * SHOWN + 1)}>Show there</button>
        </p>
      )}
      <RankOfScore place={place} />
    </section>
  );
}
