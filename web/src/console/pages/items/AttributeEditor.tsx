import { emptyOf, TYPE_NAMES, TYPES, typeOf, valueOf, type Attribute, type Item, type Type } from "../../logic/attribute";
import { MapEditor } from "./MapEditor";

interface AttributeProps {
  name: string;
  value: Attribute;
  set: (value: Attribute) => void;
  remove?: () => void;
}

/** Keeps what was typed where the new type can hold it. */
function retyped(value: Attribute, type: Type): Attribute {
  const old = valueOf(value);
  if (type === "S" && typeof old === "string") return { S: old };
  if (type === "N" && typeof old === "string" && old.trim() !== "" && !Number.isNaN(Number(old))) return { N: old };
  return emptyOf(type);
}

function SetEditor({ name, type, members, set }: { name: string; type: "SS" | "NS" | "BS"; members: string[]; set: (value: Attribute) => void }) {
  return (
    <textarea
      aria-label={`${name}, a line each`}
      rows={Math.min(6, members.length + 1)}
      value={members.join("\n")}
      onInput={(event) => set({ [type]: event.currentTarget.value.split("\n").filter((line, i, all) => line !== "" || i < all.length - 1) } as Attribute)}
    />
  );
}

function ListEditor({ name, list, set }: { name: string; list: Attribute[]; set: (value: Attribute) => void }) {
  return (
    <div class="attributes" role="group" aria-label={name}>
      {list.map((member, i) => (
        <AttributeEditor
          key={i}
          name={`${name}[${i}]`}
          value={member}
          set={(next) => set({ L: list.map((old, j) => (i === j ? next : old)) })}
          remove={() => set({ L: list.filter((_, j) => i !== j) })}
        />
      ))}
      <button type="button" onClick={() => set({ L: [...list, { S: "" }] })}>
        Add to {name}
      </button>
    </div>
  );
}

function Value({ name, value, set }: AttributeProps) {
  const type = typeOf(value);
  if (type === "M") return <MapEditor value={(value as { M: Item }).M} set={(M) => set({ M })} label={name} />;
  if (type === "L") return <ListEditor name={name} list={(value as { L: Attribute[] }).L} set={set} />;
  if (type === "SS" || type === "NS" || type === "BS")
    return <SetEditor name={name} type={type} members={valueOf(value) as string[]} set={set} />;
  if (type === "NULL") return <span class="quiet">null</span>;
  if (type === "BOOL")
    return (
      <select aria-label={name} value={String(valueOf(value))} onChange={(event) => set({ BOOL: event.currentTarget.value === "true" })}>
        <option value="true">true</option>
        <option value="false">false</option>
      </select>
    );
  const text = valueOf(value) as string;
  return (
    <textarea
      aria-label={name}
      class="mono"
      rows={Math.min(8, 1 + Math.floor(text.length / 60))}
      value={text}
      spellcheck={false}
      onInput={(event) => set({ [type]: event.currentTarget.value } as Attribute)}
    />
  );
}

export function AttributeEditor({ name, value, set, remove }: AttributeProps) {
  const nested = "M" in value || "L" in value;
  return (
    <div class={`attribute ${nested ? "nested" : ""}`}>
      <code class="attribute-name">{name}</code>
      <select aria-label={`Type of ${name}`} value={typeOf(value)} onChange={(event) => set(retyped(value, event.currentTarget.value as Type))}>
        {TYPES.map((type) => (
          <option key={type} value={type}>
            {TYPE_NAMES[type]}
          </option>
        ))}
      </select>
      <div class="attribute-value">
        <Value name={name} value={value} set={set} />
      </div>
      {remove ? (
        <button type="button" class="icon" aria-label={`Remove ${name}`} onClick={remove}>
          ✕
        </button>
      ) : (
        <span class="pill">key</span>
      )}
    </div>
  );
}
