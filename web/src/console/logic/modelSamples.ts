// Sample items of a design: a few of everything, which belong together.
import type { Attribute, Item } from "./attribute";
import { itemOf, variablesOf, type Field, type Model, type ModelEntity } from "./model";

const NAMES = ["Asha", "Ravi", "Meena", "Kabir", "Zoya", "Ishaan", "Tara", "Dev"];

/** The same attribute has the same values in all entities, so that what belongs together has one key. */
function valueOf({ name, type }: Field, n: number, ttl: string): Attribute {
  if (name === ttl && ttl !== "") return { N: "4102444800" }; // 2100: a sample is not swept away
  if (type === "N") return { N: String(/score|point|best/i.test(name) ? 100 + ((n * 7919) % 9000) : n + 1) };
  if (type === "BOOL") return { BOOL: n % 2 === 0 };
  if (type === "M") return { M: {} };
  if (type === "L") return { L: [] };
  if (/email/i.test(name)) return { S: `${NAMES[n % NAMES.length].toLowerCase()}${n}@example.org` };
  if (/name$/i.test(name)) return { S: `${NAMES[n % NAMES.length]} ${n + 1}` };
  if (/(at|time|timestamp|date)$/i.test(name)) return { S: new Date(Date.UTC(2026, 0, 1 + n, 12)).toISOString() };
  const word = name.replace(/_?id$/i, "").toLowerCase() || name;
  return { S: `${word}-${n + 1}` };
}

const FEW = 3;

/** Those that others hang on are few; what hangs on several of them is there for every pair. */
export function samples(model: Model, entity: ModelEntity, count = 12): Item[] {
  const key = Object.values(entity.keys)[0];
  const [first = "", ...others] = key ? [...new Set(variablesOf(key.pk + key.sk))] : [];
  const items: Item[] = [];
  const seen = new Set<string>();
  for (let n = 0; n < count; n++) {
    const at = (name: string) => (name === first && others.length > 0 ? n % FEW : Math.floor(others.length > 0 ? n / FEW : n));
    const values = Object.fromEntries(
      entity.fields.map((field) => [field.name, valueOf(field, [first, ...others].includes(field.name) ? at(field.name) : n, model.ttl)]),
    );
    const item = itemOf(model, entity, values);
    const id = JSON.stringify([item[model.indexes[0].pk], item[model.indexes[0].sk]]);
    if (!seen.has(id)) items.push(item);
    seen.add(id);
  }
  return items;
}

export function allSamples(model: Model, count = 12): Item[] {
  return model.entities.flatMap((entity) => samples(model, entity, count));
}
