import { playerName } from "../shared/store";

export function NameField() {
  const name = playerName.use();
  return (
    <label class="name">
      Your name
      <input
        id="name"
        value={name}
        maxLength={24}
        autocomplete="nickname"
        placeholder="As the others will see it"
        onInput={(event) => playerName.set(event.currentTarget.value)}
      />
    </label>
  );
}
