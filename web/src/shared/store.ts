// What this browser remembers: who plays, the seats it has, what is muted.
import { useEffect, useState } from "preact/hooks";

function load<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`gametable.${name}`);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise; // storage is off, or somebody else's
  }
}

function save(name: string, value: unknown): void {
  try {
    localStorage.setItem(`gametable.${name}`, JSON.stringify(value));
  } catch {
    // Without storage everything still works until the page is closed.
  }
}

/** A remembered value that every component sees change. */
export class Kept<T> {
  private value: T;
  private readonly listeners = new Set<(value: T) => void>();

  constructor(
    private readonly name: string,
    otherwise: T,
  ) {
    this.value = load(name, otherwise);
  }

  get(): T {
    return this.value;
  }

  set(value: T): void {
    this.value = value;
    save(this.name, value);
    for (const listener of this.listeners) listener(value);
  }

  use(): T {
    const [value, set] = useState(this.value);
    useEffect(() => {
      this.listeners.add(set);
      set(this.value);
      return () => void this.listeners.delete(set);
    }, []);
    return value;
  }
}

export interface KeptSeat {
  player: string;
  token: string;
}

function newPlayer(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  return `web-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export const playerName = new Kept("name", "");
export const sound = new Kept("sound", true);
export const voice = new Kept("voice", true);
export const vibration = new Kept("vibration", true);
export const key = new Kept("key", "");
export const seats = new Kept<Record<string, KeptSeat>>("seats", {});
const SEATS_KEPT = 20;
const ownId = new Kept("player", "");
/** Invitations that links and QR codes carried, by room: they let guests in where keys are asked for. */
const invites = new Kept<Record<string, string>>("invites", {});

export function inviteTo(code: string): string {
  return invites.get()[code] ?? "";
}

export function keepInvite(code: string, invite: string): void {
  const others = Object.entries(invites.get()).filter(([other]) => other !== code);
  if (invite && inviteTo(code) !== invite) invites.set(Object.fromEntries([...others.slice(-SEATS_KEPT), [code, invite]]));
}

/** Another one: somebody sits in a room as ours, and we cannot prove that it is us. */
export function anotherPlayer(): string {
  ownId.set(newPlayer());
  return ownId.get();
}

/** This browser's player, so that its scores on boards are one player's. */
export function ownPlayer(): string {
  if (ownId.get() === "") ownId.set(newPlayer());
  return ownId.get();
}

export function keepSeat(code: string, seat: KeptSeat): void {
  const others = Object.entries(seats.get()).filter(([other]) => other !== code);
  seats.set(Object.fromEntries([...others.slice(-SEATS_KEPT), [code, seat]]));
}

export function forgetSeat(code: string): void {
  seats.set(Object.fromEntries(Object.entries(seats.get()).filter(([other]) => other !== code)));
}
