import { useEffect, useState } from "preact/hooks";
import type { Kind, Room } from "../client";
import { Link } from "../shared/address";
import { api } from "../shared/api";
import { useKinds } from "../shared/kinds";

const AGAIN_MS = 3000;

async function openRooms(kinds: Kind[]): Promise<Room[]> {
  const lists = await Promise.all(kinds.map(({ kind }) => api().openRooms(kind)));
  return lists.flatMap((list) => list.rooms).sort((a, b) => b.createdAt - a.createdAt);
}

export function OpenRooms() {
  const [rooms, set] = useState<Room[] | null>(null);
  const kinds = useKinds();
  const kindOf = (room: Room) => kinds.find(({ kind }) => kind === room.kind);
  useEffect(() => {
    if (kinds.length === 0) return;
    const look = () => {
      if (!document.hidden) openRooms(kinds).then(set, () => {});
    };
    look();
    const timer = setInterval(look, AGAIN_MS);
    return () => clearInterval(timer);
  }, [kinds]);
  if (rooms === null) return null;
  if (rooms.length === 0) return <p class="quiet">No room is open at the moment. Make one!</p>;
  return (
    <ul class="rooms" aria-label="Open rooms">
      {rooms.slice(0, 12).map((room) => (
        <li key={room.code}>
          <Link to={`/play/${room.code}`}>
            <span class="emoji" aria-hidden="true">
              {kindOf(room)?.emoji}
            </span>
            <span class="grow">
              <b>
                <bdi>{room.title || kindOf(room)?.title}</bdi>
              </b>
              <small>{room.code}</small>
            </span>
            <span class="pill">
              {room.players} of {room.capacity}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
