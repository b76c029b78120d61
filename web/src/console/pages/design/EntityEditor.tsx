import { TABLE, type Field, type FieldType, type Model, type ModelEntity } from "../../logic/model";
import { TextField } from "../../parts/Field";
import { Panel } from "../../parts/Panel";
import { Template } from "./Template";

interface EditorProps {
  model: Model;
  entity: ModelEntity;
  set: (model: Model) => void;
  choose: (name: string) => void;
}

const TYPES: { value: FieldType; text: string }[] = [
  { value: "S", text: "String" },
  { value: "N", text: "Number" },
  { value: "BOOL", text: "Boolean" },
  { value: "M", text: "Map" },
  { value: "L", text: "List or set" },
];

function Fields({ fields, set }: { fields: Field[]; set: (fields: Field[]) => void }) {
  return (
    <fieldset>
      <legend>Attributes</legend>
      <div class="fields">
        {fields.map((field, i) => (
          <div class="pair" key={i}>
            <input
              aria-label={`Attribute ${i + 1}: name`}
              value={field.name}
              onChange={(event) => set(fields.map((old, j) => (i === j ? { ...old, name: event.currentTarget.value } : old)))}
            />
            <select
              aria-label={`Attribute ${i + 1}: type`}
              value={field.type}
              onChange={(event) => set(fields.map((old, j) => (i === j ? { ...old, type: event.currentTarget.value as FieldType } : old)))}
            >
              {TYPES.map(({ value, text }) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
            <button type="button" class="icon" aria-label={`Remove attribute ${field.name}`} onClick={() => set(fields.filter((_, j) => i !== j))}>
              ✕
            </button>
          </div>
        ))}
      </div>
      <button type="button" onClick={() => set([...fields, { name: `attribute${fields.length + 1}`, type: "S" }])}>
        Add an attribute
      </button>
    </fieldset>
  );
}

export function EntityEditor({ model, entity, set, choose }: EditorProps) {
  const change = (part: Partial<ModelEntity>) => {
    const next = { ...entity, ...part };
    const renamed = model.patterns.map((pattern) => (pattern.entity === entity.name ? { ...pattern, entity: next.name } : pattern));
    set({ ...model, entities: model.entities.map((old) => (old.name === entity.name ? next : old)), patterns: renamed });
    if (part.name !== undefined) choose(part.name);
  };
  const rename = (name: string) => {
    if (name !== "" && !model.entities.some((other) => other.name === name)) change({ name });
  };
  const changeKey = (index: string, part: "pk" | "sk", text: string) => {
    const key = { ...(entity.keys[index] ?? { pk: "", sk: "" }), [part]: text };
    const keys = { ...entity.keys, [index]: key };
    if (index !== TABLE && key.pk === "" && key.sk === "") delete keys[index];
    change({ keys });
  };
  const remove = () => {
    set({
      ...model,
      entities: model.entities.filter(({ name }) => name !== entity.name),
      patterns: model.patterns.filter((pattern) => pattern.entity !== entity.name),
    });
    choose("");
  };
  return (
    <Panel title={`Entity ${entity.name}`} actions={<button onClick={remove}>Take it off the canvas</button>}>
      <div class="columns">
        <label class="field">
          Name of the entity
          <input value={entity.name} onChange={(event) => rename(event.currentTarget.value)} />
        </label>
        <TextField label="How many there will be" type="number" value={String(entity.count)} set={(text) => change({ count: Math.max(0, Number(text)) })} />
        <TextField label="Bytes each" type="number" value={String(entity.bytes)} set={(text) => change({ bytes: Math.max(1, Number(text)) })} />
      </div>
      <p class="quiet">
        In a key <code>{"${playerId}"}</code> stands for an attribute, and <code>{"${score:10}"}</code> for a number padded to ten digits, so that text
        sorts as numbers do.
      </p>
      {model.indexes.map((index) => (
        <fieldset class="columns" key={index.name}>
          <legend>{index.name === TABLE ? "Key of the table" : `In ${index.name} (may be empty)`}</legend>
          <div>
            <TextField label={index.pk} value={entity.keys[index.name]?.pk ?? ""} set={(text) => changeKey(index.name, "pk", text)} />
            <Template text={entity.keys[index.name]?.pk ?? ""} />
          </div>
          {index.sk && (
            <div>
              <TextField
                label={`${index.sk}${index.skType === "N" ? " (a number)" : ""}`}
                value={entity.keys[index.name]?.sk ?? ""}
                set={(text) => changeKey(index.name, "sk", text)}
              />
              <Template text={entity.keys[index.name]?.sk ?? ""} />
            </div>
          )}
        </fieldset>
      ))}
      <Fields fields={entity.fields} set={(fields) => change({ fields })} />
    </Panel>
  );
}
