import { useState } from "preact/hooks";
import type { Kind, KindOption } from "../client";
import { inWords, useKinds } from "../shared/kinds";

export interface RoomWish {
  kind: string;
  title: string;
  listed: boolean;
  options: Record<string, unknown>;
}

interface OptionFieldProps {
  option: KindOption;
  value?: unknown; // the default, if none
  language?: unknown;
}

/** A field for what may be chosen, as the kind describes it. */
export function OptionField({ option, value = option.default, language }: OptionFieldProps) {
  const { name, labels, choices, min, max } = option;
  return (
    <label>
      {inWords(labels, language)}
      {choices ? (
        <select name={name} defaultValue={String(value)}>
          {choices.map(({ word, labels: label }) => (
            <option key={word} value={word} selected={word === value}>
              {inWords(label, language)}
            </option>
          ))}
        </select>
      ) : (
        <input type="number" inputMode="numeric" name={name} defaultValue={String(value)} min={min} max={max} required />
      )}
    </label>
  );
}

export function optionsOf({ options }: Kind, form: FormData): Record<string, unknown> {
  return Object.fromEntries(options.map(({ name, type }) => [name, type === "number" ? Number(form.get(name)) : form.get(name)]));
}

function wishOf(kind: Kind, form: FormData): RoomWish {
  return { kind: kind.kind, options: optionsOf(kind, form), title: String(form.get("title") ?? "").trim(), listed: form.has("listed") };
}

export function NewRoomForm({ onMake }: { onMake(wish: RoomWish): void }) {
  const kinds = useKinds();
  const [name, setName] = useState("");
  const chosen = kinds.find(({ kind }) => kind === name) ?? kinds[0];
  if (chosen === undefined) return <p class="quiet">Asking which games there are…</p>;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onMake(wishOf(chosen, new FormData(event.currentTarget)));
      }}
    >
      <fieldset class="kinds">
        <legend>Game</legend>
        {kinds.map(({ kind, title, emoji }) => (
          <label key={kind} class="kind">
            <input type="radio" name="kind" value={kind} checked={kind === chosen.kind} onChange={() => setName(kind)} />
            <span aria-hidden="true">{emoji}</span>
            {title}
          </label>
        ))}
      </fieldset>
      <div class="options" key={chosen.kind}>
        {chosen.options.map((option) => (
          <OptionField key={option.name} option={option} />
        ))}
      </div>
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
