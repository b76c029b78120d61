import { playerName } from "../shared/store";
import { english, type Say } from "../shared/words";

export function NameField({ say = english }: { say?: Say }) {
  const name = playerName.use();
  return (
    <label class="name">
      {say("Your name")}
      <input
        id="name"
        value={name}
        maxLength={24}
        autocomplete="nickname"
        placeholder={say("As the others will see it")}
        onInput={(event) => playerName.set(event.currentTarget.value)}
      />
    </label>
  );
}
