// Single-table keys, read back: "ROOM#AB12" and "PLAYER#p7" are a room's player. Words in capitals are the pattern,
// what stands between them are its values.
import type { Item } from "./attribute";
import type { KeySchema } from "./tableSchema";

export interface KeyPattern {
  text: string; // "ROOM#<1>"
  words: string[]; // ["ROOM"]
  values: string[]; // ["AB12"]
}

const WORD = /^[A-Z][A-Z_]*$/;
const SEPARATORS = ["#", "|", "::", ":"];

function separatorOf(text: string): string {
  return SEPARATORS.find((separator) => text.includes(separator)) ?? "#";
}

/** Whether a part is of the pattern and not a value: a word in capitals, unless it is the one value of a word before it
 * ("ROOM#ABC": a code of a room), which a word with nothing behind it is not ("ROOM#x#META"). */
function isWord(parts: string[], at: number, wordBefore: boolean): boolean {
  if (!WORD.test(parts[at]) || parts[at].length < 2) return false;
  return at === 0 || parts[at - 1] === "" || !wordBefore;
}

/** A key's value taken apart. */
export function readKey(text: string): KeyPattern {
  const separator = separatorOf(text);
  const split = text.split(separator);
  const words: string[] = [];
  const values: string[] = [];
  let wordBefore = false;
  const parts = split.map((part, at) => {
    if (part === "") return "";
    wordBefore = isWord(split, at, wordBefore);
    (wordBefore ? words : values).push(part);
    return wordBefore ? part : `<${values.length}>`;
  });
  return { text: parts.join(separator), words, values };
}

// Sort keys that say "this is the thing itself".
const ITSELF = new Set(["META", "METADATA", "PROFILE", "DETAILS", "INFO", "ROOT", "SELF"]);

export interface Entity {
  name: string; // "ROOM", "ROOM › PLAYER"
  partition: string;
  sort: string;
  values: string[];
}

function keyText(item: Item, name: string | undefined): string {
  const value = name === undefined ? undefined : item[name];
  if (value === undefined) return "";
  return "S" in value ? value.S : "N" in value ? value.N : "";
}

/** What an item is, by its key. */
export function entityOf(keys: KeySchema, item: Item): Entity {
  const partition = readKey(keyText(item, keys.partition[0]?.name));
  const sortPart = keys.sort[0];
  const sort = readKey(sortPart?.type === "N" ? "" : keyText(item, sortPart?.name));
  const outer = partition.words[0] ?? "";
  const inner = sort.words[0] ?? "";
  const name = [outer, ITSELF.has(inner) || inner === outer ? "" : inner].filter(Boolean).join(" › ");
  return {
    name: name || "item",
    partition: partition.text,
    sort: sortPart?.type === "N" ? "<number>" : sort.text,
    values: [...partition.values, ...sort.values],
  };
}

export interface EntityGroup {
  name: string;
  partition: string;
  sort: string;
  count: number;
  bytes: number;
  attributes: string[];
  sample: Item;
  partitions: number; // distinct partitions seen
  largest: { partition: string; count: number };
}

/** The kinds of items among those seen, the most frequent first. */
export function entityMap(keys: KeySchema, items: Item[], sizeOf: (item: Item) => number): EntityGroup[] {
  const groups = new Map<string, EntityGroup & { seen: Map<string, number> }>();
  for (const item of items) {
    const entity = entityOf(keys, item);
    const id = `${entity.name} ${entity.partition} ${entity.sort}`;
    const group = groups.get(id) ?? {
      name: entity.name,
      partition: entity.partition,
      sort: entity.sort,
      count: 0,
      bytes: 0,
      attributes: [],
      sample: item,
      partitions: 0,
      largest: { partition: "", count: 0 },
      seen: new Map<string, number>(),
    };
    groups.set(id, group);
    const partition = keyText(item, keys.partition[0]?.name);
    const count = (group.seen.get(partition) ?? 0) + 1;
    group.seen.set(partition, count);
    if (count > group.largest.count) group.largest = { partition, count };
    group.partitions = group.seen.size;
    group.count++;
    group.bytes += sizeOf(item);
    for (const name of Object.keys(item)) if (!group.attributes.includes(name)) group.attributes.push(name);
  }
  return [...groups.values()]
    .map(({ seen: _, ...group }) => group)
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}
