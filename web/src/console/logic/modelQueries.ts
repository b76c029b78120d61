// Which query serves an access pattern: found by looking at the templates, not guessed.
import { indexOf, partsOf, TABLE, variablesOf, type AccessPattern, type Model, type ModelEntity } from "./model";

export type Serving =
  | { how: "GetItem" | "PutItem" | "UpdateItem" | "DeleteItem"; index: typeof TABLE; pk: string; sk: string; note: string }
  | { how: "Query"; index: string; pk: string; condition: string; exact: boolean; sorted: boolean; others: string[]; note: string }
  | { how: "none"; note: string };

interface Prefix {
  text: string; // the template up to what is not known
  whole: boolean; // nothing is unknown
  next: string; // the variable that stopped it
}

/** How much of a sort key is known. */
function prefixOf(template: string, given: string[]): Prefix {
  let text = "";
  for (const { text: plain, variable, pad } of partsOf(template)) {
    if (variable === undefined) text += plain;
    else if (given.includes(variable)) text += `\${${variable}${pad ? `:${pad}` : ""}}`;
    else return { text, whole: false, next: variable };
  }
  return { text, whole: true, next: "" };
}

function known(template: string, given: string[]): boolean {
  return variablesOf(template).every((name) => given.includes(name));
}

/** Entities that lie in the same partition of an index and would be read too, unless the sort key tells them apart. */
function neighbours(model: Model, entity: ModelEntity, index: string, prefix: string): string[] {
  const mine = entity.keys[index];
  const shape = (template: string) => template.replace(/\$\{[^}]*\}/g, "*");
  return model.entities
    .filter((other) => other.name !== entity.name && other.keys[index] && shape(other.keys[index].pk) === shape(mine.pk))
    .filter((other) => shape(other.keys[index].sk).startsWith(shape(prefix).replace(/\*.*$/, "")))
    .map(({ name }) => name);
}

interface Candidate {
  serving: Extract<Serving, { how: "Query" }>;
  score: number;
}

function candidate(model: Model, entity: ModelEntity, pattern: AccessPattern, name: string): Candidate | null {
  const template = entity.keys[name];
  if (!template || !known(template.pk, pattern.given)) return null;
  const index = indexOf(model, name);
  const prefix = prefixOf(template.sk, pattern.given);
  const ranged = pattern.from !== "" && prefix.next === pattern.from;
  if (pattern.from !== "" && !ranged) return null; // it would come in another order
  const padded = index.skType === "N" || new RegExp(`\\$\\{${pattern.from}:\\d+\\}`).test(template.sk);
  const field = entity.fields.find(({ name: other }) => other === pattern.from);
  const misordered = ranged && field?.type === "N" && !padded;
  if (misordered) return null; // "95" would stand after "100"
  const condition =
    template.sk === "" || index.sk === ""
      ? ""
      : ranged && pattern.kind === "count"
        ? `${index.sk} ${pattern.descending ? ">" : "<"} ${prefix.text}\${${pattern.from}}`
        : prefix.whole
          ? `${index.sk} = ${prefix.text}`
          : prefix.text
            ? `begins_with(${index.sk}, ${prefix.text})`
            : "";
  const others = prefix.whole && template.sk !== "" ? [] : neighbours(model, entity, name, prefix.text);
  return {
    serving: { how: "Query", index: name, pk: template.pk, condition, exact: prefix.whole, sorted: ranged, others, note: "" },
    score: (name === TABLE ? 1 : 0) + prefix.text.length * 4 - others.length * 10,
  };
}

function wholeKey(entity: ModelEntity, given: string[]): boolean {
  const key = entity.keys[TABLE];
  return key !== undefined && known(key.pk, given) && known(key.sk, given);
}

const WRITES = { put: "PutItem", update: "UpdateItem", delete: "DeleteItem" } as const;

/** What a write needs beyond its key: a key that carries the changed attribute means another item. */
function writeNote(entity: ModelEntity, pattern: AccessPattern): string {
  const key = entity.keys[TABLE];
  if (pattern.kind !== "update") return "";
  const moving = variablesOf(`${key.pk}${key.sk}`).filter((name) => !pattern.given.includes(name) || name === pattern.from);
  return moving.length > 0
    ? `${moving.join(" and ")} is part of the key: a change is a delete and a put, in one transaction`
    : "";
}

function none(entity: ModelEntity, pattern: AccessPattern): Serving {
  const wanted = pattern.given.length > 0 ? pattern.given.map((name) => `\${${name}}`).join("#") : `${entity.name.toUpperCase()}S`;
  const order = pattern.from ? ` and ${pattern.from} in its sort key` : "";
  return {
    how: "none",
    note: `No key begins with what is known${pattern.given.length ? ` (${pattern.given.join(", ")})` : ""}: only a scan would find it. An index with ${wanted} as its partition key${order} would serve it.`,
  };
}

export function serve(model: Model, pattern: AccessPattern): Serving {
  const entity = model.entities.find(({ name }) => name === pattern.entity);
  if (!entity || !entity.keys[TABLE]) return { how: "none", note: "Its entity is not there, or has no key." };
  const key = entity.keys[TABLE];
  if (pattern.kind === "get" && wholeKey(entity, pattern.given))
    return { how: "GetItem", index: TABLE, pk: key.pk, sk: key.sk, note: "" };
  if (pattern.kind === "put" || pattern.kind === "update" || pattern.kind === "delete") {
    const note = writeNote(entity, pattern);
    if (pattern.kind === "put" || note || wholeKey(entity, pattern.given))
      return { how: WRITES[pattern.kind], index: TABLE, pk: key.pk, sk: key.sk, note };
    return { how: "none", note: `The whole key is needed: ${variablesOf(key.pk + key.sk).join(", ")}` };
  }
  const found = model.indexes
    .map(({ name }) => candidate(model, entity, pattern, name))
    .filter((one): one is Candidate => one !== null)
    .sort((a, b) => b.score - a.score);
  return found[0]?.serving ?? none(entity, pattern);
}

/** One line for a person. */
export function servingText(model: Model, serving: Serving, pattern: AccessPattern): string {
  if (serving.how === "none") return serving.note;
  const index = indexOf(model, serving.index);
  if (serving.how !== "Query")
    return `${serving.how} ${index.pk} = ${serving.pk}${index.sk && serving.sk ? `, ${index.sk} = ${serving.sk}` : ""}${serving.note ? `. ${serving.note}` : ""}`;
  const order = pattern.descending && pattern.kind !== "count" ? ", last first" : "";
  const count = pattern.kind === "count" ? ", Select=COUNT" : "";
  const where = serving.index === TABLE ? "" : ` ${serving.index}`;
  const also = serving.others.length ? ` (reads ${serving.others.join(" and ")} too)` : "";
  return `Query${where} ${index.pk} = ${serving.pk}${serving.condition ? ` AND ${serving.condition}` : ""}${order}${count}${also}`;
}
