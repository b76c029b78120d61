// How the console asks its server: DynamoDB's operations and REST, as whoever the session is.
import { locked } from "./unlock";

export interface Session {
  session: "open" | "key";
  csrf: string;
  key?: { id: string; name?: string; allow: string[]; tables: string[] };
  expires?: string;
}

/** What the server refused, in its own words. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
  ) {
    super(message);
  }
}

let session: Session = { session: "open", csrf: "" };
let ended: () => void = () => {};

export function currentSession(): Session {
  return session;
}

export function setSession(next: Session): void {
  session = next;
}

/** Called when the server no longer knows the session. */
export function onSessionEnd(listener: () => void): void {
  ended = listener;
}

function headers(): Record<string, string> {
  return { "x-console-token": session.csrf || "open" };
}

// A server without keys takes any signature, but wants one. With keys the session's cookie says who asks.
const ANYBODY = "AWS4-HMAC-SHA256 Credential=console/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0";

async function answerOf(answer: Response): Promise<any> {
  const text = await answer.text();
  let value: any;
  try {
    value = text === "" ? undefined : JSON.parse(text);
  } catch {
    value = { detail: text };
  }
  if (answer.ok) return value;
  const type = String(value?.__type ?? value?.type ?? "").replace(/^.*#/, "");
  const refused = new Refused(answer.status, type, value?.detail ?? value?.message ?? value?.Message ?? (type || answer.statusText));
  if (answer.status === 401 && session.session === "key") ended();
  throw refused;
}

async function send(path: string, init: RequestInit): Promise<any> {
  let answer: Response;
  try {
    answer = await fetch(path, { credentials: "same-origin", cache: "no-store", ...init });
  } catch {
    throw new Refused(0, "unreachable", "The server cannot be reached.");
  }
  return answerOf(answer);
}

const READS = /^(Get|BatchGet|TransactGet|Query|Scan|Describe|List)/;

/** An operation of DynamoDB. What changes something is refused here while changes are locked. */
export async function ddb<T = any>(operation: string, request: object, mayChange = !READS.test(operation)): Promise<T> {
  if (mayChange) refuseIfLocked();
  const streams = /^(ListStreams|DescribeStream|GetShardIterator|GetRecords)$/.test(operation);
  return send("/", {
    method: "POST",
    headers: {
      ...headers(),
      ...(session.session === "open" ? { authorization: ANYBODY, "x-amz-date": "20260101T000000Z" } : {}),
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": `${streams ? "DynamoDBStreams" : "DynamoDB"}_20120810.${operation}`,
    },
    body: JSON.stringify(request),
  });
}

function refuseIfLocked(): void {
  if (locked()) throw new Refused(0, "locked", "Changes are locked: press “Unlock changes” first.");
}

const ASKS = /:query$/; // POST, but it changes nothing

/** A call of REST: `/v1` + path. */
export async function rest<T = any>(method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<T> {
  if (method !== "GET" && !ASKS.test(path) && !path.startsWith("/console/")) refuseIfLocked();
  return send(`/v1${path}`, {
    method,
    headers: { ...headers(), ...(body === undefined ? {} : { "content-type": "application/json" }), ...more },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Text of another kind than JSON: lines of CSV. */
export async function restText<T = any>(path: string, type: string, text: string): Promise<T> {
  refuseIfLocked();
  return send(`/v1${path}`, { method: "POST", headers: { ...headers(), "content-type": type }, body: text });
}

/** Part of a query: names with values, without those that have none. */
export function queryText(values: Record<string, string | number | boolean | undefined>): string {
  const given = Object.entries(values).filter(([, value]) => value !== "" && value !== undefined);
  return given.length ? `?${given.map(([name, value]) => `${name}=${encodeURIComponent(value!)}`).join("&")}` : "";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether the server is one that does not have this yet, or has it switched off. */
export function isMissing(error: unknown): boolean {
  return error instanceof Refused && (error.status === 404 || error.status === 405);
}
