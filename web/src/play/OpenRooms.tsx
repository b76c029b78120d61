import { useEffect, useState } from "preact/hooks";
import type { Room } from "../client";
import { Link } from "../shared/address";
import { api, EMOJI, TITLES } from "../shared/api";

const AGAIN_MS = 3000;

async function openRooms(): Promise<Room[]> {
  const lists = await Promise.all(Object.keys(TITLES).map((kind) => api().rooms(kind)));
  return lists.flatMap((list) => list.rooms).sort((a, b) => b.createdAt - a.createdAt);
}

export function OpenRooms() {
  const [rooms, set] = useState<Room[] | null>(null);
  useEffect(() => {
    const look = () => {
      if (!document.hidden) openRooms().then(set, () => {});
    };
    look();
    const timer = setInterval(look, AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  if (rooms === null) return null;
  if (rooms.length === 0) return <p class="quiet">No room is open at the moment. Make one!</p>;
  return (
    <ul class="rooms" aria-label="Open rooms">
      {rooms.slice(0, 12).map((room) => (
        <li key={room.code}>
          <Link to={`/play/${room.code}`}>
            <span class="emoji" aria-hidden="true">
              {EMOJI[room.kind]}
            </span>
            <span class="grow">
              <b>{room.title || TITLES[room.kind]}</b>
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
