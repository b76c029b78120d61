import { useState } from "preact/hooks";
import { Link } from "../../../shared/address";
import { grouped } from "../../../shared/numbers";
import { listBoards, listInstances } from "../../boards";
import { addressOf } from "../../pageList";
import { Panel } from "../../parts/Panel";
import { useDoing } from "../../useAnswer";

interface Found {
  id: string;
  about: string;
}

const SHOWN = 50;
const PAGES_MAX = 400;

/** Goes through all boards, defined and plain, for those whose name or title has the words in it. */
async function find(words: string, tell: (looked: number) => void): Promise<Found[]> {
  const wanted = words.toLowerCase();
  const found: Found[] = [];
  let looked = 0;
  let cursor: string | undefined = "";
  for (let page = 0; cursor !== undefined && page < PAGES_MAX && found.length < SHOWN; page++) {
    const { boards, next }: Awaited<ReturnType<typeof listBoards>> = await listBoards(cursor);
    for (const { id, title, game } of boards)
      if (`${id} ${title ?? ""} ${game ?? ""}`.toLowerCase().includes(wanted)) found.push({ id, about: title || "defined" });
    tell((looked += boards.length));
    cursor = next;
  }
  cursor = "";
  for (let page = 0; cursor !== undefined && page < PAGES_MAX && found.length < SHOWN; page++) {
    const { instances, next }: Awaited<ReturnType<typeof listInstances>> = await listInstances(cursor, true, 1000);
    for (const { instance, total } of instances)
      if (instance.toLowerCase().includes(wanted)) found.push({ id: instance, about: `plain, ${grouped(total)} entries` });
    tell((looked += instances.length));
    cursor = next;
  }
  return found.slice(0, SHOWN);
}

export function FindBoard() {
  const [words, set] = useState("");
  const [found, tell] = useState<Found[]>();
  const [looked, count] = useState(0);
  const doing = useDoing();
  const submit = (event: Event) => {
    event.preventDefault();
    tell(undefined);
    void doing.run(async () => tell(await find(words, count)));
  };
  return (
    <Panel title="Find a board">
      <form class="row" onSubmit={submit}>
        <label class="grow">
          Part of its name, title or game
          <input type="search" value={words} onInput={(event) => set(event.currentTarget.value)} required />
        </label>
        <button disabled={doing.busy}>Find</button>
      </form>
      {doing.busy && <p aria-live="polite">{grouped(looked)} boards looked at</p>}
      {doing.problem && (
        <p class="problem" role="alert">
          {doing.problem}
        </p>
      )}
      {found && (
        <ul class="found-list" aria-label="Boards that were found">
          {found.map(({ id, about }) => (
            <li key={id}>
              <Link to={addressOf("boards", id)}>{id}</Link> <span class="quiet">{about}</span>
            </li>
          ))}
          {found.length === 0 && <li class="quiet">None of {grouped(looked)} boards.</li>}
        </ul>
      )}
    </Panel>
  );
}
