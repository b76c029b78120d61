// Answers in a form in which equal means the same: times, ids and places are blanked, sets and what
// has no order are sorted, and a fault is told by its name and its words.

const times = new Set(['CreationDateTime', 'LastIncreaseDateTime', 'LastDecreaseDateTime',
  'LastUpdateToPayPerRequestDateTime', 'InaccessibleEncryptionDateTime', 'LastUpdateDateTime']);
const sorters = {
  SS: String, NS: String, BS: String,
  GlobalSecondaryIndexes: (index) => index.IndexName,
  LocalSecondaryIndexes: (index) => index.IndexName,
  AttributeDefinitions: (definition) => definition.AttributeName,
  NonKeyAttributes: String,
  Tags: (tag) => tag.Key,
};

const places = (text) =>
  text.replace(/arn:aws:dynamodb:[^:]*:[^:]*:/g, 'arn:aws:dynamodb:REGION:ACCOUNT:')
    .replace(/\/stream\/[0-9T:.Z-]+/g, '/stream/TIME');

export function normalValue(value, name) {
  if (typeof value === 'string') return places(value);
  if (Array.isArray(value)) {
    const list = value.map((element) => normalValue(element));
    const by = sorters[name];
    if (by) list.sort((a, b) => (by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : 0));
    return list;
  }
  if (value === null || typeof value !== 'object') return value;
  const sorted = {};
  for (const key of Object.keys(value).sort()) {
    if (times.has(key)) sorted[key] = 'TIME';
    else if (key === 'TableId' || key === 'LatestStreamLabel') sorted[key] = 'ID';
    else sorted[key] = normalValue(value[key], key);
  }
  return sorted;
}

const byText = (a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

// A scan tells its items, and a batch its own, in no order that anybody may rely on.
function withoutOrder(operation, json) {
  if (operation === 'Scan' && json.Items) json.Items.sort(byText);
  if (operation === 'BatchGetItem') Object.values(json.Responses ?? {}).forEach((items) => items.sort(byText));
  return json;
}

// { status, answer } or { status, type, message, Item?, CancellationReasons? }
export function normalAnswer(operation, { status, json }) {
  if (status === 200) return { status, answer: json && withoutOrder(operation, normalValue(json)) };
  const { __type, message, Message, ...rest } = json ?? {};
  return { status, type: __type, message: places(message ?? Message ?? ''), ...normalValue(rest) };
}

const shortType = (type) => type && type.replace(/^.*#/, '');

// What only some tell of a table, and what depends on how fast it is made.
const loose = new Set(['WarmThroughput', 'TableId', 'TableStatus', 'IndexStatus', 'LastIncreaseDateTime',
  'LastDecreaseDateTime', 'LastUpdateToPayPerRequestDateTime', 'TableThroughputModeSummary', 'TableArn', 'IndexArn',
  'LatestStreamArn', 'DeletionProtectionEnabled', 'Backfilling']);

const decimal = (text) => {
  const found = /^([-+]?)(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/.exec(text);
  if (!found || !(found[2] + found[3])) return text;
  const digits = (found[2] + found[3]).replace(/^0+/, '');
  if (digits === '') return '0';
  const short = digits.replace(/0+$/, '');
  const exponent = Number(found[4] ?? 0) - found[3].length + digits.length - short.length;
  return `${found[1] === '-' ? '-' : ''}${short}e${exponent}`;
};

function loosen(value, name) {
  if (typeof value === 'string') return name === 'N' || name === 'NS' ? decimal(value) : value;
  if (Array.isArray(value)) return name === 'NS' ? value.map((n) => loosen(n, name)).sort() : value.map((v) => loosen(v));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !loose.has(key)).map(([key, v]) => [key, loosen(v, key)]));
}

// What two programs must agree on, as text. How a number is written and where a type's name stands
// is each one's own business.
export function comparable(answer) {
  return JSON.stringify(loosen({ ...answer, type: shortType(answer.type) }));
}
