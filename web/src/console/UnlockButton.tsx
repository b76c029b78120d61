import { announce } from "../shared/announce";
import { setUnlocked, useUnlocked } from "./unlock";

export function UnlockButton() {
  const open = useUnlocked();
  return (
    <button
      class={`unlock ${open ? "on" : ""}`}
      aria-pressed={open}
      onClick={() => {
        setUnlocked(!open);
        announce(open ? "Changes are locked" : "Changes are unlocked");
      }}
    >
      <svg class="drawing" viewBox="0 0 24 24" aria-hidden="true">
        <path d={open ? "M5 11h14v9H5zM8 11V7a4 4 0 0 1 7.500-2" : "M5 11h14v9H5zM8 11V7a4 4 0 0 1 8 0v4"} />
      </svg>
      {open ? "Changes unlocked" : "Unlock changes"}
    </button>
  );
}
