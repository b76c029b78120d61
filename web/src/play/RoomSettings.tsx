import { useState } from "preact/hooks";
import type { Kind, Room } from "../client";
import { inWords, useKinds } from "../shared/kinds";
import type { Say } from "../shared/words";
import { OptionField, optionsOf } from "./NewRoomForm";
import type { RoomView } from "./useRoom";

function valueText(kind: Kind, name: string, value: unknown, language: unknown): string {
  const option = kind.options.find((each) => each.name === name);
  const choice = option?.choices?.find(({ word }) => word === value);
  return choice ? inWords(choice.labels, language) : String(value);
}

/** As everybody sees them. */
function Shown({ room, kind, language }: { room: Room; kind: Kind; language: unknown }) {
  return (
    <dl class="room-options">
      {kind.options.map(({ name, labels, default: usual }) => (
        <div key={name}>
          <dt>{inWords(labels, language)}</dt>
          <dd>{valueText(kind, name, room.options[name] ?? usual, language)}</dd>
        </div>
      ))}
    </dl>
  );
}

interface RoomSettingsProps {
  view: RoomView;
  room: Room;
  hosts: boolean;
  say: Say;
  onProblem(text: string): void;
}

/** The game and its options: for all to see, for the host to change. */
export function RoomSettings({ view, room, hosts, say, onProblem }: RoomSettingsProps) {
  const kinds = useKinds();
  const kind = kinds.find((each) => each.kind === room.kind);
  const language = room.options["language"];
  const [open, setOpen] = useState(false);
  if (!kind) return null;
  if (!hosts) return <Shown room={room} kind={kind} language={language} />;
  const change = async (what: { kind?: string; options?: Record<string, unknown> }) =>
    onProblem((await view.act({ do: "change", ...what })).reason ?? "");
  return (
    <>
      {!open && <Shown room={room} kind={kind} language={language} />}
      <details class="settings" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{say("Game and options")}</summary>
        <form
          key={room.kind}
          onChange={(event) => {
            const form = event.currentTarget;
            const field = event.target as HTMLSelectElement;
            if (field.name === "kind") void change({ kind: field.value });
            else if (form.reportValidity()) void change({ options: optionsOf(kind, new FormData(form)) });
          }}
          onSubmit={(event) => event.preventDefault()}
        >
          <label>
            {say("Game")}
            <select name="kind">
              {kinds.map((each) => (
                <option key={each.kind} value={each.kind} selected={each.kind === room.kind}>
                  {`${each.emoji} ${inWords(each.titles, language)}`}
                </option>
              ))}
            </select>
          </label>
          <div class="options">
            {kind.options.map((option) => (
              // Anew when this option has changed, and only then: what is being typed stays, whoever comes or goes.
              <OptionField
                key={`${option.name} ${room.options[option.name]}`}
                option={option}
                value={room.options[option.name]}
                language={language}
              />
            ))}
          </div>
        </form>
      </details>
    </>
  );
}
