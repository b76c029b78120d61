import { useState } from "preact/hooks";
import { EMOJI, TITLES } from "../shared/api";

export interface RoomWish {
  kind: string;
  title: string;
  listed: boolean;
  options: Record<string, unknown>;
}

interface NumberProps {
  label: string;
  name: string;
  value: number;
  least: number;
  most: number;
}

function NumberField({ label, name, value, least, most }: NumberProps) {
  return (
    <label>
      {label}
      <input type="number" inputMode="numeric" name={name} defaultValue={String(value)} min={least} max={most} required />
    </label>
  );
}

function KauwaOptions() {
  return (
    <div class="options">
      <NumberField label="Rounds" name="rounds" value={20} least={3} most={50} />
      <NumberField label="Seconds a round" name="seconds" value={3} least={1} most={10} />
      <label>
        The caller speaks
        <select name="language">
          <option value="en">English</option>
          <option value="hi">हिन्दी (Hindi)</option>
        </select>
      </label>
    </div>
  );
}

function SnakesOptions() {
  return (
    <div class="options">
      <NumberField label="Seconds a turn" name="turnSeconds" value={15} least={3} most={60} />
    </div>
  );
}

function wishOf(kind: string, form: FormData): RoomWish {
  const options: Record<string, unknown> = {};
  for (const name of ["rounds", "seconds", "turnSeconds"]) if (form.has(name)) options[name] = Number(form.get(name));
  if (form.has("language")) options["language"] = form.get("language");
  return { kind, options, title: String(form.get("title") ?? "").trim(), listed: form.has("listed") };
}

export function NewRoomForm({ onMake }: { onMake(wish: RoomWish): void }) {
  const [kind, setKind] = useState("kauwa-udd");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onMake(wishOf(kind, new FormData(event.currentTarget)));
      }}
    >
      <fieldset class="kinds">
        <legend>Game</legend>
        {Object.entries(TITLES).map(([value, title]) => (
          <label key={value} class="kind">
            <input type="radio" name="kind" value={value} checked={kind === value} onChange={() => setKind(value)} />
            <span aria-hidden="true">{EMOJI[value]}</span>
            {title}
          </label>
        ))}
      </fieldset>
      {kind === "kauwa-udd" ? <KauwaOptions /> : <SnakesOptions />}
      <label>
        Title (if you like)
        <input name="title" maxLength={60} autocomplete="off" />
      </label>
      <label class="check">
        <input type="checkbox" name="listed" defaultChecked />
        Show it in the list of open rooms
      </label>
      <button class="main">Make the room</button>
    </form>
  );
}
