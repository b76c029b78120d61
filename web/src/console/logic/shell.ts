// Commands for a shell that do what a panel does.

export function quote(text: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1-$2")
    .toLowerCase();
}

function option(name: string, value: unknown): string {
  const flag = `--${kebab(name)}`;
  if (value === true) return flag;
  if (value === false) return `--no-${kebab(name)}`;
  return `${flag} ${quote(typeof value === "object" ? JSON.stringify(value) : String(value))}`;
}

const CONTINUED = " \\\n  ";

/** The AWS CLI's form of an operation. Without keys any credentials will do. */
export function awsCli(operation: string, request: object, endpoint: string, service = "dynamodb"): string {
  const parts = Object.entries(request).map(([name, value]) => option(name, value));
  return [`aws ${service} ${kebab(operation)} --endpoint-url ${quote(endpoint)}`, ...parts].join(CONTINUED);
}

export interface RestRequest {
  method: string;
  path: string;
  body?: unknown;
  csv?: boolean;
}

export function curl(request: RestRequest, origin: string, key = false): string {
  const parts = [`curl ${request.method === "GET" ? "" : `-X ${request.method} `}${quote(origin + request.path)}`];
  if (key) parts.push('-H "Authorization: Bearer $GAMETABLE_KEY"');
  if (request.csv) parts.push("-H 'Content-Type: text/csv' --data-binary @scores.csv");
  else if (request.body !== undefined)
    parts.push("-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(request.body))}`);
  return parts.join(CONTINUED);
}

export function redisCli(words: (string | number)[], host: string, port: number | undefined): string {
  return `redis-cli -h ${quote(host)} -p ${port ?? 6380} ${words.map((word) => quote(String(word))).join(" ")}`;
}
