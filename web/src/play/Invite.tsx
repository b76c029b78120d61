import { useEffect, useState } from "preact/hooks";
import type { Room } from "../client";
import { Link } from "../shared/address";
import { CopyButton } from "../shared/Copy";
import { Icon } from "../shared/Icon";
import type { Say } from "../shared/words";

const HERE = new Set(["localhost", "127.0.0.1", "[::1]"]);

type QrCode = typeof import("../shared/QrCode").QrCode;

/** Loaded when it is shown: the encoder weighs more than a game, and only lobbies have a code. */
export function LateQrCode({ text }: { text: string }) {
  const [Code, set] = useState<{ Code: QrCode } | null>(null);
  useEffect(() => {
    import("../shared/QrCode").then(
      ({ QrCode }) => set({ Code: QrCode }),
      () => {}, // there is the link
    );
  }, []);
  return <div class="qr-place">{Code && <Code.Code text={text} label={`QR code of ${text.replace(/#.*/, "")}`} />}</div>;
}

/** What brings others into the room. The invitation, where one is needed, stands behind a #: it is not sent, and so
 * in no log. */
export function linkTo({ code, invite }: Room): string {
  return `${location.origin}/play/${code}${invite ? `#i=${invite}` : ""}`;
}

/** How others get here: code, link, QR code. */
export function Invite({ room, say }: { room: Room; say: Say }) {
  const { code } = room;
  const link = linkTo(room);
  return (
    <section class="card invite" aria-labelledby="invite-title">
      <h2 id="invite-title">{say("Bring others in")}</h2>
      <p class="code" role="img" aria-label={say("Room code {}", [...code].join(" "))}>
        {code}
      </p>
      <LateQrCode text={link} />
      <p class="link">
        <span>{link.replace(/#.*/, "")}</span>
        <CopyButton text={link} label={say("Copy the link")} />
        {"share" in navigator && (
          <button class="icon" aria-label={say("Share the link")} onClick={() => navigator.share({ url: link }).catch(() => {})}>
            <Icon name="share" />
          </button>
        )}
      </p>
      <p>
        <Link to={`/play/${code}/tv`} class="button">
          {say("Show it on a TV")}
        </Link>
      </p>
      {HERE.has(location.hostname) && (
        <p class="quiet">
          This page is at an address of this machine only. For phones to get here, open it by the machine's name or address in
          your network.
        </p>
      )}
    </section>
  );
}
