import { Command, CopyButton } from "../shared/Copy";
import { Icon } from "../shared/Icon";
import { QrCode } from "../shared/QrCode";

const HERE = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** How others get here: code, link, QR code, and bots for those who are alone. */
export function Invite({ code }: { code: string }) {
  const link = `${location.origin}/play/${code}`;
  return (
    <section class="card invite" aria-labelledby="invite-title">
      <h2 id="invite-title">Bring others in</h2>
      <p class="code" aria-label={`Room code ${[...code].join(" ")}`}>
        {code}
      </p>
      <QrCode text={link} label={`QR code of ${link}`} />
      <p class="link">
        <span>{link}</span>
        <CopyButton text={link} label="Copy the link" />
        {"share" in navigator && (
          <button class="icon" aria-label="Share the link" onClick={() => navigator.share({ url: link }).catch(() => {})}>
            <Icon name="share" />
          </button>
        )}
      </p>
      {HERE.has(location.hostname) && (
        <p class="quiet">
          This page is at an address of this machine only. For phones to get here, open it by the machine's name or address in
          your network.
        </p>
      )}
      <details>
        <summary>Nobody else here?</summary>
        <Command title="Three bots" text={`gametable play --url ${location.origin} --join ${code} --bots 3`} />
      </details>
    </section>
  );
}
