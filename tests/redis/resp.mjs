// A bare client: commands out, the raw bytes of each reply back. Nothing is interpreted on the way.
import net from 'node:net';

const lineEnd = (bytes, at) => {
  const end = bytes.indexOf('\r\n', at);
  return end < 0 ? -1 : end + 2;
};

// Where the reply that begins at `at` ends; -1 if more bytes are needed.
export function replyEnd(bytes, at = 0) {
  const end = lineEnd(bytes, at);
  if (end < 0) return -1;
  const kind = String.fromCharCode(bytes[at]);
  const length = Number(bytes.toString('latin1', at + 1, end - 2));
  if ('$=!'.includes(kind)) {
    if (length < 0) return end;
    return bytes.length >= end + length + 2 ? end + length + 2 : -1;
  }
  if ('*~>%|'.includes(kind)) {
    let next = end;
    for (let left = '%|'.includes(kind) ? 2 * length : length; left > 0; left--) {
      next = replyEnd(bytes, next);
      if (next < 0) return -1;
    }
    return next;
  }
  return end;
}

// The reply as a tree: strings for what is a line or a string (with its kind), arrays for the rest.
export function decode(bytes) {
  let at = 0;
  const one = () => {
    const end = lineEnd(bytes, at);
    const kind = String.fromCharCode(bytes[at]);
    const head = bytes.toString('latin1', at + 1, end - 2);
    at = end;
    if ('$=!'.includes(kind)) {
      if (Number(head) < 0) return { kind, text: null };
      const text = bytes.toString('latin1', at, at + Number(head));
      at += Number(head) + 2;
      return { kind, text };
    }
    if (!'*~>%|'.includes(kind)) return { kind, text: head };
    if (Number(head) < 0) return { kind, text: null };
    const list = [];
    for (let left = '%|'.includes(kind) ? 2 * Number(head) : Number(head); left > 0; left--) list.push(one());
    return { kind, list };
  };
  return one();
}

// Plain values out of a reply: numbers for integers, strings, null, arrays; errors as { error }.
export function plain({ kind, text, list }) {
  if (list) return list.map(plain);
  if (text === null || kind === '_') return null;
  if (kind === ':') return Number(text);
  if (kind === '-') return { error: text };
  return text;
}

export function encode(args) {
  const parts = [Buffer.from(`*${args.length}\r\n`)];
  for (const arg of args) {
    const bytes = Buffer.isBuffer(arg) ? arg : Buffer.from(String(arg));
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'));
  }
  return Buffer.concat(parts);
}

export async function connect(port, version = 2) {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let bytes = Buffer.alloc(0);
  let gone;
  const waiting = [];
  socket.on('data', (more) => {
    bytes = bytes.length ? Buffer.concat([bytes, more]) : more;
    let at = 0;
    for (let end; waiting.length && at < bytes.length && (end = replyEnd(bytes, at)) >= 0; at = end)
      waiting.shift().resolve(bytes.subarray(at, end));
    bytes = bytes.subarray(at);
  });
  const end = (error) => {
    gone = error ?? new Error('the server closed the connection');
    for (const { reject } of waiting.splice(0)) reject(gone);
  };
  socket.on('error', end);
  socket.on('close', () => end());
  const client = {
    socket,
    // Sends one command; resolves to its reply's bytes.
    send(...args) {
      return client.write(encode(args));
    },
    write(request) {
      const reply = new Promise((resolve, reject) => {
        if (gone) reject(gone);
        else waiting.push({ resolve, reject });
      });
      reply.catch(() => {});
      if (!gone) socket.write(request);
      return reply;
    },
    async ask(...args) {
      return plain(decode(await client.send(...args)));
    },
    // Many at once.
    pipeline(commands) {
      if (gone) return Promise.reject(gone);
      const replies = commands.map(() => new Promise((resolve, reject) => waiting.push({ resolve, reject })));
      socket.write(Buffer.concat(commands.map(encode)));
      return Promise.all(replies);
    },
    close() {
      socket.destroy();
    },
  };
  if (version === 3) await client.send('HELLO', '3');
  return client;
}
