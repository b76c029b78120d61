import { useState } from "preact/hooks";
import { go, Link } from "../../../shared/address";
import type { Player, RoomState } from "../../../client";
import { curl } from "../../logic/shell";
import { addressOf } from "../../pageList";
import { Change } from "../../parts/Change";
import { ConfirmName } from "../../parts/ConfirmName";
import { Facts } from "../../parts/Facts";
import { Grid, type Column } from "../../parts/Grid";
import { Page } from "../../parts/Page";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { When } from "../../parts/When";
import { rest } from "../../server";
import { useAnswer } from "../../useAnswer";
import { Matches } from "./Matches";
import { Rounds } from "./Rounds";
import { stateClass } from "./RoomsPage";

interface Asking {
  what: "kick" | "close";
  player: string;
  name: string;
}

export function RoomPage({ code }: { code: string }) {
  const path = `/rooms/${encodeURIComponent(code)}`;
  const room = useAnswer(() => rest<RoomState>("GET", path), [code], 1500);
  const [asking, ask] = useState<Asking | null>(null);
  const { value } = room;
  const seats: Column<Player>[] = [
    { title: "Seat", number: true, show: ({ seat, spectator }) => (spectator ? "looks on" : seat) },
    {
      title: "Player",
      show: ({ player, name, colour }) => (
        <Link to={addressOf("players", player)}>
          <svg class="swatch" viewBox="0 0 12 12" aria-hidden="true">
            <circle cx="6" cy="6" r="6" fill={colour} />
          </svg>
          {name}
        </Link>
      ),
    },
    { title: "Points", number: true, show: ({ points }) => points },
    { title: "State", show: ({ connected, ready }) => <span class={`pill ${connected ? "good" : ""}`}>{connected ? (ready ? "ready" : "here") : "away"}</span> },
    {
      title: "Do",
      unseenTitle: true,
      show: ({ player, name }) => (
        <Change danger label={`Kick ${name}`} onClick={() => ask({ what: "kick", player, name })}>
          Kick
        </Change>
      ),
    },
  ];
  const target = asking?.what === "kick" ? `${path}/players/${encodeURIComponent(asking.player)}` : path;
  return (
    <Page
      title={`Room ${code}`}
      about={<Link to={addressOf("rooms")}>All rooms</Link>}
      actions={
        <>
          <a class="button" href={`/play/${encodeURIComponent(code)}`}>
            Watch
          </a>
          <Change danger onClick={() => ask({ what: "close", player: "", name: code })}>
            Close the room
          </Change>
        </>
      }
    >
      {!value ? (
        <State of={room} />
      ) : (
        <>
          <Panel title="Room" how={[{ title: "curl", text: curl({ method: "GET", path: `/v1${path}` }, location.origin) }, { title: "curl: as it changes", text: `curl -N ${location.origin}/v1${path}/live` }]}>
            <Facts
              facts={[
                ["Game", value.room.kind],
                ["State", <span class={`pill ${stateClass(value.room.status)}`}>{value.room.status}</span>],
                ["Players", `${value.room.players} of ${value.room.capacity}`],
                ["Match", `${value.room.match}, round ${value.room.round}`],
                ["Host", <Link to={addressOf("players", value.room.host)}>{value.room.host}</Link>],
                ["Listed", value.room.listed ? "yes" : "no"],
                ["Made", <When at={value.room.createdAt} />],
                ["Options", <code>{JSON.stringify(value.room.options)}</code>],
              ]}
            />
          </Panel>
          <Panel title="Seats">
            <Grid label="Seats" columns={seats} rows={value.players} id={({ player }) => player} empty="Nobody sits here." />
          </Panel>
          <Rounds code={code} state={value} />
          <Matches code={code} match={value.room.match} />
        </>
      )}
      {asking && (
        <ConfirmName
          title={asking.what === "kick" ? `Kick ${asking.name}` : `Close room ${code}`}
          about={asking.what === "kick" ? "The seat is free for somebody else at once." : "Everybody in it is sent away, and its match ends."}
          name={asking.name}
          verb={asking.what === "kick" ? "Kick" : "Close the room"}
          how={[{ title: "curl", text: curl({ method: "DELETE", path: `/v1${target}` }, location.origin) }]}
          act={async () => {
            await rest("DELETE", target);
            if (asking.what === "close") go(addressOf("rooms"));
            else room.again();
          }}
          close={() => ask(null)}
        />
      )}
    </Page>
  );
}
