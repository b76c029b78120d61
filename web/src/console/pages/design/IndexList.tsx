import { TABLE, type Model, type ModelIndex } from "../../logic/model";
import { Choice, TextField } from "../../parts/Field";
import { Panel } from "../../parts/Panel";

const TYPES = [
  { value: "S" as const, text: "Text" },
  { value: "N" as const, text: "A number" },
];

export function IndexList({ model, set }: { model: Model; set: (model: Model) => void }) {
  const change = (at: number, part: Partial<ModelIndex>) =>
    set({ ...model, indexes: model.indexes.map((index, i) => (i === at ? { ...index, ...part } : index)) });
  const rename = (at: number, name: string) => {
    const old = model.indexes[at].name;
    if (name === "" || model.indexes.some((index) => index.name === name)) return;
    const entities = model.entities.map((entity) => {
      const { [old]: key, ...others } = entity.keys;
      return key ? { ...entity, keys: { ...others, [name]: key } } : entity;
    });
    set({ ...model, entities, indexes: model.indexes.map((index, i) => (i === at ? { ...index, name } : index)) });
  };
  const add = () => {
    const n = model.indexes.length;
    set({ ...model, indexes: [...model.indexes, { name: `GSI${n}`, pk: `GSI${n}PK`, sk: `GSI${n}SK`, skType: "S" }] });
  };
  const remove = (at: number) => {
    const gone = model.indexes[at].name;
    const entities = model.entities.map((entity) => {
      const { [gone]: _, ...keys } = entity.keys;
      return { ...entity, keys };
    });
    set({ ...model, entities, indexes: model.indexes.filter((_, i) => i !== at) });
  };
  return (
    <Panel title="Key and indexes" actions={<button onClick={add}>Add an index</button>}>
      {model.indexes.map((index, i) => (
        <fieldset class="index-row" key={index.name}>
          <legend>{index.name === TABLE ? "The table's own key" : `Index ${index.name}`}</legend>
          {index.name !== TABLE && (
            <label class="field">
              Name
              <input value={index.name} onChange={(event) => rename(i, event.currentTarget.value)} />
            </label>
          )}
          <TextField label="Partition attribute" value={index.pk} set={(pk) => change(i, { pk })} />
          <TextField label="Sort attribute" value={index.sk} set={(sk) => change(i, { sk })} />
          <Choice label="Sorted as" value={index.skType} set={(skType) => change(i, { skType })} choices={TYPES} />
          {index.name !== TABLE && (
            <button aria-label={`Remove index ${index.name}`} onClick={() => remove(i)}>
              Remove
            </button>
          )}
        </fieldset>
      ))}
    </Panel>
  );
}
