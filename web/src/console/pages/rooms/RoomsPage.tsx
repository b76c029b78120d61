import { useState } from "preact/hooks";
import { go, Link } from "../../../shared/address";
import { grouped } from "../../../shared/numbers";
import type { Room, RoomStatus } from "../../../client";
import { curl } from "../../logic/shell";
import { addressOf, type PageProps } from "../../pageList";
import { Choice } from "../../parts/Field";
import { Grid, type Column } from "../../parts/Grid";
import { Page } from "../../parts/Page";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { When } from "../../parts/When";
import { queryText, rest } from "../../server";
import { useAnswer } from "../../useAnswer";
import { RoomPage } from "./RoomPage";

const STATES: RoomStatus[] = ["lobby", "playing", "over"];

export function stateClass(status: string): string {
  return status === "playing" ? "good" : status === "lobby" ? "warn" : "";
}

interface Which {
  kind: string; // "": all
  status: string; // "": all
  pages: number;
}

async function kinds(): Promise<string[]> {
  return (await rest<{ kinds: { kind: string }[] }>("GET", "/kinds")).kinds.map(({ kind }) => kind);
}

/** Rooms are kept by kind and state; all of them are asked for side by side, page by page. */
async function roomsOf(which: Which): Promise<{ rooms: Room[]; more: boolean }> {
  const wanted = which.kind ? [which.kind] : await kinds();
  const states = which.status ? [which.status] : STATES;
  const lists = await Promise.all(wanted.flatMap((kind) => states.map((status) => some(kind, status, which.pages))));
  return { rooms: lists.flatMap(({ rooms }) => rooms).sort((a, b) => b.createdAt - a.createdAt), more: lists.some(({ more }) => more) };
}

async function some(kind: string, status: string, pages: number): Promise<{ rooms: Room[]; more: boolean }> {
  const rooms: Room[] = [];
  let cursor: string | undefined = "";
  for (let page = 0; cursor !== undefined && page < pages; page++) {
    const answer: { rooms: Room[]; next?: string } = await rest("GET", `/rooms${queryText({ kind, status, limit: 100, cursor })}`);
    rooms.push(...answer.rooms);
    cursor = answer.next;
  }
  return { rooms, more: cursor !== undefined };
}

const columns: Column<Room>[] = [
  { title: "Room", mono: true, show: ({ code }) => <Link to={addressOf("rooms", code)}>{code}</Link> },
  { title: "Game", show: ({ kind }) => kind },
  { title: "Title", show: ({ title }) => title || "–" },
  { title: "State", show: ({ status }) => <span class={`pill ${stateClass(status)}`}>{status}</span> },
  { title: "Players", number: true, show: ({ players, capacity }) => `${players} of ${capacity}` },
  { title: "Match", number: true, show: ({ match }) => match },
  { title: "Round", number: true, show: ({ round }) => round },
  { title: "Host", show: ({ host }) => <Link to={addressOf("players", host)}>{host}</Link> },
  { title: "Made", show: ({ createdAt }) => <When at={createdAt} /> },
];

function RoomList() {
  const known = useAnswer(kinds, []);
  const [which, set] = useState<Which>({ kind: "", status: "", pages: 1 });
  const [code, type] = useState("");
  const rooms = useAnswer(() => roomsOf(which), [which], 4000);
  const choices = [{ value: "", text: "All games" }, ...(known.value ?? []).map((kind) => ({ value: kind, text: kind }))];
  const states = [{ value: "", text: "All states" }, ...STATES.map((state) => ({ value: state as string, text: state }))];
  return (
    <Page title="Rooms" about={rooms.value && `${grouped(rooms.value.rooms.length)}${rooms.value.more ? " and more" : ""} rooms`}>
      <Panel
        title="All rooms"
        how={[{ title: "curl", text: curl({ method: "GET", path: `/v1/rooms?kind=${which.kind || known.value?.[0] || "kauwa-udd"}&status=${which.status || "lobby"}` }, location.origin) }]}
      >
        <form
          class="row wrap"
          onSubmit={(event) => {
            event.preventDefault();
            if (code) go(addressOf("rooms", code.toUpperCase()));
          }}
        >
          <Choice label="Game" value={which.kind} set={(kind) => set({ ...which, kind })} choices={choices} />
          <Choice label="State" value={which.status} set={(status) => set({ ...which, status })} choices={states} />
          <label class="grow">
            Code
            <input value={code} autocomplete="off" onInput={(event) => type(event.currentTarget.value)} />
          </label>
          <button disabled={code === ""}>Open</button>
        </form>
        {rooms.value ? <Grid label="Rooms" columns={columns} rows={rooms.value.rooms} id={(room) => room.code} empty="There are no such rooms." /> : <State of={rooms} />}
        {rooms.value?.more && (
          <p>
            <button onClick={() => set({ ...which, pages: which.pages + 4 })}>Show more</button>
          </p>
        )}
      </Panel>
    </Page>
  );
}

export default function RoomsPage({ id }: PageProps) {
  return id ? <RoomPage key={id} code={id} /> : <RoomList />;
}
