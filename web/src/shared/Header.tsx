import { Link, useAddress } from "./address";
import { Icon } from "./Icon";
import { canSpeak, hush } from "./speech";
import { sound, vibration, voice } from "./store";

function Mutes() {
  const on = sound.use();
  const speaks = voice.use();
  const shakes = vibration.use();
  return (
    <div class="mutes">
      <button class="icon" aria-pressed={on} aria-label="Sound" title="Sound" onClick={() => sound.set(!on)}>
        <Icon name={on ? "sound" : "mute"} />
      </button>
      {canSpeak && (
        <button
          class="icon"
          aria-pressed={speaks}
          aria-label="The caller's voice"
          title="The caller's voice"
          onClick={() => {
            voice.set(!speaks);
            hush();
          }}
        >
          <Icon name={speaks ? "voice" : "silent"} />
        </button>
      )}
      {"vibrate" in navigator && (
        <button
          class="icon"
          aria-pressed={shakes}
          aria-label="Vibration"
          title="Vibration"
          onClick={() => vibration.set(!shakes)}
        >
          <Icon name={shakes ? "shake" : "calm"} />
        </button>
      )}
    </div>
  );
}

export function Header() {
  const { path } = useAddress();
  return (
    <header class="top">
      <Link to="/" class="brand" label="gametable">
        <Icon name="crow" />
        <span>gametable</span>
      </Link>
      <nav aria-label="Pages">
        <Link to="/play" current={path.startsWith("/play")}>
          Play
        </Link>
        <Link to="/boards" current={path.startsWith("/boards")}>
          Boards
        </Link>
      </nav>
      {path.startsWith("/play/") && <Mutes />}
    </header>
  );
}
