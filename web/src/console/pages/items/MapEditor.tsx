import { useState } from "preact/hooks";
import { emptyOf, type Item } from "../../logic/attribute";
import { AttributeEditor } from "./AttributeEditor";

interface MapEditorProps {
  value: Item;
  set: (value: Item) => void;
  fixed?: string[]; // names that cannot be taken away
  label: string;
}

/** The attributes of an item, or of a map in it. */
export function MapEditor({ value, set, fixed = [], label }: MapEditorProps) {
  const [name, type] = useState("");
  const without = (gone: string) => Object.fromEntries(Object.entries(value).filter(([other]) => other !== gone));
  const add = () => {
    if (name === "" || name in value) return;
    set({ ...value, [name]: emptyOf("S") });
    type("");
  };
  return (
    <div class="attributes" role="group" aria-label={label}>
      {Object.entries(value).map(([member, attribute]) => (
        <AttributeEditor
          key={member}
          name={member}
          value={attribute}
          set={(next) => set({ ...value, [member]: next })}
          {...(fixed.includes(member) ? {} : { remove: () => set(without(member)) })}
        />
      ))}
      <div class="row">
        <label class="grow">
          New attribute
          <input
            value={name}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => type(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault();
              add();
            }}
          />
        </label>
        <button type="button" onClick={add} disabled={name === "" || name in value}>
          Add
        </button>
      </div>
    </div>
  );
}
