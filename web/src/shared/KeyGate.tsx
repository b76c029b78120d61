// A server with access keys answers nobody it does not know: then, and only then, one is asked for.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, isStatus, reasonOf } from "./api";
import { useAddress } from "./address";
import { inviteTo, key, keepInvite, seats } from "./store";

/** Who was invited to this room, or sits in it, needs no key there. */
function useInvited(): boolean {
  const { path } = useAddress();
  const [, code] = /^\/play\/(\w{5})(?:\/tv)?\/?$/i.exec(path) ?? [];
  const room = code?.toUpperCase() ?? "";
  const [, invite] = /[#&]i=([\w.-]+)/.exec(location.hash) ?? [];
  if (room && invite) keepInvite(room, invite);
  return room !== "" && (inviteTo(room) !== "" || seats.get()[room] !== undefined);
}

interface KeyGateProps {
  children: ComponentChildren;
  guests: ComponentChildren; // shown to who has no key: the way back for guests
}

export function KeyGate({ children, guests }: KeyGateProps) {
  const given = key.use();
  const [locked, lock] = useState("");
  const invited = useInvited();
  useEffect(() => {
    if (invited) return;
    let gone = false; // what was said to the key before does not count
    const told = (reason: string) => {
      if (!gone) lock(reason);
    };
    api()
      .ask("GET", "/v1/server")
      .then(() => told(""))
      .catch((error) => told(isStatus(error, 401) || isStatus(error, 403) ? reasonOf(error) : ""));
    return () => {
      gone = true;
    };
  }, [given, invited]);
  if (!locked || invited) return <>{children}</>;
  return (
    <div class="page narrow">
      {guests}
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          key.set(String(new FormData(event.currentTarget).get("key")));
        }}
      >
        <h1>This server asks who you are</h1>
        <p>
          With an access key, or by the link or QR code of a room: whoever is in the room can show it to you.
        </p>
        {given && <p role="alert">{locked}</p>}
        <label>
          Access key
          <input name="key" placeholder="ID:SECRET" autocomplete="off" required />
        </label>
        <button class="main">Come in</button>
      </form>
    </div>
  );
}
