// Live lines for tests: a WebSocket that keeps what it heard and can be asked.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';

// Opens a line; rejects with the HTTP answer if it is refused.
export async function openLine(endpoint, path, options = {}) {
  const socket = new WebSocket(endpoint.replace(/^http/, 'ws') + path, { perMessageDeflate: false, ...options });
  const heard = [];
  const waiting = new Set();
  const line = { socket, heard, closed: undefined };
  socket.on('message', (data, binary) => {
    assert.equal(binary, false);
    const message = JSON.parse(data);
    assert.equal(message.v, 1);
    heard.push(message);
    for (const look of waiting) look();
  });
  socket.on('close', (code, reason) => {
    line.closed = { code, reason: String(reason) };
    for (const look of waiting) look();
  });
  // The first message from `from` on that fits, as soon as it is there.
  line.until = (fits, { ms = 60_000, from = 0 } = {}) => new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      waiting.delete(look);
      reject(new Error(`waited in vain for ${fits}; the last: ${JSON.stringify(heard.at(-1))}`));
    }, ms);
    const look = () => {
      const found = heard.slice(from).find(fits);
      if (!found && !line.closed) return;
      clearTimeout(timer);
      waiting.delete(look);
      if (found) resolve(found);
      else reject(new Error(`the line ended (${line.closed.code} ${line.closed.reason}) before ${fits}`));
    };
    waiting.add(look);
    look();
  });
  line.state = (fits, options) => line.until((message) => message.type === 'state' && fits(message), options);
  let last = 0;
  line.ask = (what) => {
    const id = `t${++last}`;
    socket.send(JSON.stringify({ ...what, id }));
    return line.until((message) => message.id === id && ['ok', 'refused'].includes(message.type));
  };
  line.ok = async (what) => assert.deepEqual((await line.ask(what)).reason, undefined);
  line.refused = async (what, reason) => {
    const answer = await line.ask(what);
    assert.equal(answer.type, 'refused', JSON.stringify(what));
    assert.match(answer.reason, reason);
  };
  line.end = async () => {
    if (line.closed) return line.closed;
    socket.close(1000);
    await once(socket, 'close');
    return line.closed;
  };
  line.over = async (ms = 60_000) => {
    if (!line.closed) await once(socket, 'close', { signal: AbortSignal.timeout(ms) });
    return line.closed;
  };
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('unexpected-response', (request, answer) => {
      let text = '';
      answer.on('data', (part) => { text += part; });
      answer.on('end', () => reject(Object.assign(new Error(`${answer.statusCode} ${text}`), { status: answer.statusCode, text })));
    });
  });
  return line;
}

export const roomPath = (code, token) => `/v1/rooms/${code}/live${token ? `?token=${encodeURIComponent(token)}` : ''}`;

// A room with so many players, all with their lines open and ready; the first is the host.
export async function fullRoom(rest, endpoint, kind, count, { options = {}, ready = true, ...more } = {}) {
  const names = ['Ann', 'Bob', 'Cat', 'Dev', 'Eve', 'Fay', 'Gus', 'Hal'].slice(0, count);
  const seats = [await rest.must('POST', '/rooms', { kind, name: names[0], options, ...more })];
  const { code } = seats[0].room;
  for (const name of names.slice(1)) seats.push(await rest.must('POST', `/rooms/${code}/players`, { name }));
  const lines = [];
  for (const seat of seats) lines.push(Object.assign(await openLine(endpoint, roomPath(code, seat.token)), { player: seat.player, token: seat.token }));
  if (ready) for (const line of lines.slice(1)) await line.ok({ do: 'ready', ready: true });
  return { code, seats, lines, host: lines[0] };
}
