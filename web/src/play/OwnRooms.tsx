import { useEffect, useState } from "preact/hooks";
import type { RoomState } from "../client";
import { Link } from "../shared/address";
import { api, isStatus } from "../shared/api";
import { useKinds } from "../shared/kinds";
import { forgetSeat, seats } from "../shared/store";

const LOOKED_AT = 5;

/** The rooms that this browser has a seat in, the last one first. What is over is forgotten. */
function useOwnRooms(): RoomState[] {
  const [rooms, set] = useState<RoomState[]>([]);
  useEffect(() => {
    let gone = false;
    const codes = Object.keys(seats.get()).reverse().slice(0, LOOKED_AT);
    const look = async (code: string): Promise<RoomState | null> => {
      const me = seats.get()[code]?.player;
      try {
        const state = await api(code).room(code);
        if (state.room.status !== "closed" && state.players.some(({ player }) => player === me)) return state;
        forgetSeat(code);
      } catch (error) {
        if (isStatus(error, 404)) forgetSeat(code);
      }
      return null;
    };
    void Promise.all(codes.map(look)).then((found) => gone || set(found.filter((state) => state !== null) as RoomState[]));
    return () => {
      gone = true;
    };
  }, []);
  return rooms;
}

const WORDS = { lobby: "Your place is kept", playing: "Your match goes on", over: "The match is over", closed: "" };

/** The way back for who left the page and not the room. */
export function OwnRooms() {
  const kinds = useKinds();
  const rooms = useOwnRooms();
  if (rooms.length === 0) return null;
  return (
    <section class="card own-rooms" aria-labelledby="own-title">
      <h2 id="own-title">Back to your room</h2>
      <ul class="rooms">
        {rooms.map(({ room }) => {
          const kind = kinds.find((each) => each.kind === room.kind);
          return (
            <li key={room.code}>
              <Link to={`/play/${room.code}`}>
                <span class="emoji" aria-hidden="true">
                  {kind?.emoji}
                </span>
                <span class="grow">
                  <b>
                    <bdi>{room.title || kind?.title}</bdi>
                  </b>
                  <small>{room.code}</small>
                </span>
                <span class={room.status === "playing" ? "pill good" : "pill"}>{WORDS[room.status]}</span>
              </Link>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
