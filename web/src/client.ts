// A small client of gametable's REST and live lines, for pages and for Node. No dependencies.
//
// A line that is lost is opened again, with waits that grow to a few seconds; the server then sends
// the whole state, so there is nothing to catch up on. What was asked on a lost line is refused
// with the reason "the connection was lost": it may or may not have happened.

export interface Problem {
  status: number;
  detail: string;
  member?: string;
}

export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

export type RoomStatus = "lobby" | "playing" | "over" | "closed";

export interface Room {
  code: string;
  kind: string;
  status: RoomStatus;
  host: string;
  title: string;
  listed: boolean;
  capacity: number;
  players: number;
  version: number;
  match: number;
  round: number;
  dueAt: number;
  createdAt: number;
  /** Brings guests in, on a server with keys that lets them. */
  invite?: string;
  options: Record<string, unknown>;
  state: Record<string, unknown>;
}

export interface Player {
  player: string;
  name: string;
  colour: string;
  seat: number;
  spectator: boolean;
  /** Came during a match: looks on until the next one. */
  waiting: boolean;
  ready: boolean;
  connected: boolean;
  /** The server plays for it. */
  bot: boolean;
  points: number;
  streak: number;
  state: Record<string, unknown>;
}

export interface Round {
  n: number;
  status: "open" | "done";
  [name: string]: unknown;
}

export interface RoomState {
  now: number;
  room: Room;
  players: Player[];
  round: Round | null;
}

export interface Seat extends RoomState {
  player: string;
  token: string;
}

export interface Entry {
  member: string;
  rank: number;
  position: number;
  /** Every digit: scores may have more than a double holds. */
  score: string;
  percentile: number;
  name?: string;
  at?: string;
}

/** Scores as text, before they are read as doubles. Within a string the quote would be escaped. */
function withExactScores(text: string): string {
  return text.replace(/"score":(-?[\d.eE+-]+)/g, '"score":"$1"');
}

export interface BoardPage {
  board: string;
  instance: string;
  scope?: string;
  period?: string;
  starts?: string;
  ends?: string;
  sealed: boolean;
  total: number;
  entries: Entry[];
  next?: string;
}

/** A text in the languages there are. */
export interface Texts {
  en: string;
  hi: string;
}

export interface KindOption {
  name: string;
  type: "number" | "choice";
  labels: Texts;
  default: number | string;
  min?: number;
  max?: number;
  choices?: { word: string; labels: Texts }[];
}

export interface KindVerb {
  do: string;
  about: Texts;
  fields: { name: string; min: number; max: number; required: boolean }[];
}

/** A game that rooms can play, as it describes itself. */
export interface Kind {
  kind: string;
  title: string;
  titles: Texts;
  about: Texts;
  emoji: string;
  page: string;
  playersMin: number;
  playersMax: number;
  options: KindOption[];
  verbs: KindVerb[];
  boards: { board: string; title: string; scope: "global" | "room" }[];
}

export type LineStatus = "connecting" | "open" | "lost" | "ended";

export interface LineEvents<T> {
  state?(state: T): void;
  status?(status: LineStatus, reason?: string): void;
}

interface SocketLike {
  readonly readyState: number;
  onopen: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}
type SocketMaker = new (url: string) => SocketLike;

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4000;
const ANSWER_WAIT_MS = 10000;
const ENDED = new Set([4000, 4001]); // there is nothing to come back to

const CONNECTING = 0;

/** Ends a socket. One that is not open yet is ended when it is: browsers report the other way as a failure. */
function hangUp(socket: SocketLike): void {
  socket.onmessage = null;
  if (socket.readyState === CONNECTING) socket.onopen = () => socket.close(1000);
  else socket.close(1000);
}

/** A live line: shows states, and (a room's) takes what its player does. */
export class Line<T> {
  status: LineStatus = "connecting";
  private socket: SocketLike | null = null;
  private wait = FIRST_WAIT_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked = new Map<number, (answer: { ok: boolean; reason?: string }) => void>();
  private lastId = 0;
  private version = -1;

  constructor(
    private readonly url: string,
    private readonly events: LineEvents<T>,
    private readonly make: SocketMaker,
  ) {
    this.open();
    this.watch(globalThis.addEventListener?.bind(globalThis));
  }

  /** Does something; resolves with whether it was done, and if not why. */
  do(what: Record<string, unknown> & { do: string }): Promise<{ ok: boolean; reason?: string }> {
    const socket = this.socket;
    if (socket === null || this.status !== "open")
      return Promise.resolve({ ok: false, reason: "there is no connection" });
    const id = ++this.lastId;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.asked.delete(id);
        resolve({ ok: false, reason: "there was no answer" });
      }, ANSWER_WAIT_MS);
      this.asked.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      socket.send(JSON.stringify({ ...what, id }));
    });
  }

  close(): void {
    this.tell("ended");
    clearTimeout(this.timer);
    this.watch(globalThis.removeEventListener?.bind(globalThis));
    if (this.socket) hangUp(this.socket);
    this.forget();
  }

  /** Opens a line that may be dead anew, now: a network that goes away takes a minute to be noticed. */
  renew = (): void => {
    if (this.status === "ended") return;
    const socket = this.socket;
    this.forget();
    if (socket) hangUp(socket);
    clearTimeout(this.timer);
    this.wait = FIRST_WAIT_MS;
    this.tell("lost");
    this.open();
  };

  /** Pages hear of their network. */
  private watch(register: ((type: string, listener: () => void) => void) | undefined): void {
    register?.("offline", this.renew);
    register?.("online", this.renew);
    register?.("pageshow", this.back);
  }

  /** A page that comes out of the browser's store has lost its lines. */
  private back = (): void => {
    if (this.status === "lost") this.renew();
  };

  private open(): void {
    const socket = new this.make(this.url);
    this.socket = socket;
    socket.onopen = () => {
      this.wait = FIRST_WAIT_MS;
      this.version = -1;
      this.tell("open");
    };
    socket.onmessage = (event) => this.hear(JSON.parse(withExactScores(String(event.data))));
    socket.onerror = () => {};
    socket.onclose = (event) => {
      if (this.socket === socket) this.lost(event.code as number, event.reason as string);
    };
  }

  private hear(message: any): void {
    if (message.type === "ok" || message.type === "refused") {
      this.asked.get(message.id)?.({ ok: message.type === "ok", reason: message.reason });
      this.asked.delete(message.id);
    } else if (message.type === "state") {
      if (message.room.version < this.version) return;
      this.version = message.room.version;
      this.events.state?.(message as T);
    } else if (message.type === "board") this.events.state?.(message as T);
  }

  private lost(code: number, reason: string): void {
    this.forget();
    if (this.status === "ended") return;
    if (ENDED.has(code)) {
      this.tell("ended", reason);
      return;
    }
    this.tell("lost", reason);
    this.timer = setTimeout(() => this.open(), this.wait * (0.5 + Math.random()));
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT_MS);
  }

  private forget(): void {
    for (const answer of this.asked.values())
      answer({ ok: false, reason: "the connection was lost" });
    this.asked.clear();
    this.socket = null;
  }

  private tell(status: LineStatus, reason?: string): void {
    if (status === this.status) return;
    this.status = status;
    this.events.status?.(status, reason);
  }
}

export interface NewRoom {
  kind: string;
  name: string;
  player?: string;
  title?: string;
  capacity?: number;
  listed?: boolean;
  options?: Record<string, unknown>;
}

export interface ClientOptions {
  /** "https://host:port"; in a page its own origin. */
  url?: string;
  /** "ID:SECRET" of an access key, where the server asks for one. */
  key?: string;
  /** A room's invitation: for that room alone, where the server lets guests in. */
  invite?: string;
  WebSocket?: SocketMaker;
}

export class Client {
  private readonly url: string;
  private readonly socket: SocketMaker;

  constructor(private readonly options: ClientOptions = {}) {
    this.url = (options.url ?? globalThis.location?.origin ?? "http://127.0.0.1:8000").replace(/\/$/, "");
    this.socket = options.WebSocket ?? (globalThis as any).WebSocket;
  }

  createRoom(room: NewRoom): Promise<Seat> {
    return this.ask("POST", "/v1/rooms", room);
  }

  /** `token`: of the seat that the player has there already, to come back to it. */
  joinRoom(code: string, who: { name: string; player?: string; spectator?: boolean; token?: string }): Promise<Seat> {
    return this.ask("POST", `/v1/rooms/${encodeURIComponent(code)}/players`, who);
  }

  room(code: string): Promise<RoomState> {
    return this.ask("GET", `/v1/rooms/${encodeURIComponent(code)}`);
  }

  rooms(kind: string, status: RoomStatus = "lobby"): Promise<{ rooms: Room[]; next?: string }> {
    return this.ask("GET", `/v1/rooms?kind=${encodeURIComponent(kind)}&status=${status}`);
  }

  /** Those that one can join now: there is room, and somebody is there. */
  openRooms(kind: string): Promise<{ rooms: Room[]; next?: string }> {
    return this.ask("GET", `/v1/rooms?kind=${encodeURIComponent(kind)}&open=true`);
  }

  kinds(): Promise<{ kinds: Kind[] }> {
    return this.ask("GET", "/v1/kinds");
  }

  /** Any other call of the REST API; throws ApiError with the server's reason. */
  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = {};
    if (body !== undefined) headers["content-type"] = "application/json";
    if (this.options.key) headers.authorization = `Bearer ${this.options.key}`;
    if (this.options.invite) headers["x-room-invite"] = this.options.invite;
    const answer = await fetch(this.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const value = text === "" ? undefined : JSON.parse(text);
    if (!answer.ok)
      throw new ApiError({ status: answer.status, detail: value?.detail ?? answer.statusText, member: value?.member });
    return value as T;
  }

  /** A room's line; with a seat's token its player may act. */
  watchRoom(code: string, events: LineEvents<RoomState>, token?: string): Line<RoomState> {
    return this.line(`/v1/rooms/${encodeURIComponent(code)}/live`, token === undefined ? {} : { token }, events);
  }

  watchBoard(
    id: string,
    events: LineEvents<BoardPage>,
    what: { limit?: number; scope?: string; period?: string } = {},
  ): Line<BoardPage> {
    return this.line(`/v1/boards/${encodeURIComponent(id)}/live`, what, events);
  }

  private line<T>(path: string, query: Record<string, unknown>, events: LineEvents<T>): Line<T> {
    const { key, invite } = this.options;
    const given = { ...query, ...(key ? { key } : {}), ...(invite ? { invite } : {}) };
    const text = Object.entries(given)
      .filter(([, value]) => value !== undefined && value !== "")
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
      .join("&");
    return new Line(this.url.replace(/^http/, "ws") + path + (text ? `?${text}` : ""), events, this.socket);
  }
}
