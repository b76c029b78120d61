// A room as this browser sees it: its line, its newest state, and whose seat is ours.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Line, LineStatus, RoomState } from "../client";
import { api, isStatus } from "../shared/api";
import { hearClock } from "../shared/clock";
import { forgetSeat, keepInvite, seats } from "../shared/store";

export interface RoomView {
  state: RoomState | null;
  status: LineStatus;
  ended: string; // why there is nothing to come back to
  me: string; // our player; empty: we look on
  sitDown(): void; // to the door, for who looks on
  act(what: Record<string, unknown> & { do: string }): Promise<{ ok: boolean; reason?: string }>;
}

const LOOK_MS = 3000;

/** A refused line looks to a page like a lost one: so while it is lost, one asks after the room. */
function useLookAfter(code: string, me: string, lost: boolean, end: (reason: string) => void): void {
  useEffect(() => {
    if (!lost) return;
    const look = async () => {
      try {
        const { players } = await api(code).room(code);
        if (me && !players.some(({ player }) => player === me)) end("You are not in the room any more.");
      } catch (error) {
        if (isStatus(error, 404)) end("There is no such room.");
      }
    };
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [code, me, lost]);
}

/** `aside`: as one who looks on, even if this browser has a seat there. */
export function useRoom(code: string, looksOn: boolean, sitDown = () => {}, aside = false): RoomView {
  const kept = seats.use()[code];
  const seat = aside ? undefined : kept;
  const [state, setState] = useState<RoomState | null>(null);
  const [status, setStatus] = useState<LineStatus>("connecting");
  const [ended, setEnded] = useState("");
  const line = useRef<Line<RoomState> | null>(null);
  const token = seat?.token;
  const end = (reason: string) => {
    if (!aside) forgetSeat(code);
    setEnded(reason);
  };
  useEffect(() => {
    if (token === undefined && !looksOn) return;
    setEnded("");
    const opened = api(code).watchRoom(
      code,
      {
        state: (next) => {
          hearClock(next.now);
          keepInvite(code, next.room.invite ?? "");
          setState(next);
        },
        status: (next, reason) => {
          setStatus(next);
          if (next === "ended" && reason) end(reason);
        },
      },
      token,
    );
    line.current = opened;
    return () => opened.close();
  }, [code, token, looksOn]);
  useLookAfter(code, seat?.player ?? "", status === "lost", end);
  return {
    state,
    status,
    ended,
    me: seat?.player ?? "",
    sitDown,
    act: (what) => line.current?.do(what) ?? Promise.resolve({ ok: false, reason: "there is no connection" }),
  };
}
