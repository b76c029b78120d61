import { Link } from "../../../shared/address";
import { curl } from "../../logic/shell";
import { addressOf } from "../../pageList";
import { Grid, type Column } from "../../parts/Grid";
import { Paging } from "../../parts/Paging";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { usePages } from "../../parts/usePages";
import { When } from "../../parts/When";
import { queryText, rest } from "../../server";
import type { Room } from "../../../client";

interface SeatIn {
  room: Room;
  seat: { seat: number; spectator: boolean; joinedAt?: string };
}

const columns: Column<SeatIn>[] = [
  { title: "Room", show: ({ room }) => <Link to={addressOf("rooms", room.code)}>{room.code}</Link> },
  { title: "Game", show: ({ room }) => room.kind },
  { title: "State", show: ({ room }) => room.status },
  { title: "Seat", number: true, show: ({ seat }) => (seat.spectator ? "looks on" : seat.seat) },
  { title: "Since", show: ({ seat }) => <When at={seat.joinedAt} /> },
];

export function PlayerRooms({ id }: { id: string }) {
  const path = `/players/${encodeURIComponent(id)}/rooms`;
  const rooms = usePages<{ rooms: SeatIn[]; next?: string }>((cursor) => rest("GET", `${path}${queryText({ limit: 25, cursor })}`), [id]);
  return (
    <Panel title="Rooms" how={[{ title: "curl", text: curl({ method: "GET", path: `/v1${path}` }, location.origin) }]}>
      {rooms.value ? <Grid label="Rooms" columns={columns} rows={rooms.value.rooms} id={({ room }) => room.code} empty="In no room." /> : <State of={rooms} />}
      <Paging of={rooms} what="rooms" />
    </Panel>
  );
}
