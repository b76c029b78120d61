// A worker that measures how long others wait: it sends PING, ZADD to a set of its own and ZADD to the large set,
// one after the other on a connection each, and tells the longest wait of each since it was last asked.
import net from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const { port, threads, large } = workerData;

export const encode = (...words) =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`).join('')}`;

const worst = {};
const underWay = new Map(); // since when each connection waits, and for what
let running = true;
function note(name, wait) {
  if (!(wait <= worst[name])) worst[name] = wait;
}
// Sends one request at a time; every reply is one line.
function probe(name, request) {
  let number = 0, sent;
  const key = {};
  const socket = net.connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  const send = () => {
    sent = performance.now();
    underWay.set(key, { name, sent });
    socket.write(request(number++));
  };
  socket.on('connect', send);
  socket.on('data', () => {
    note(name, performance.now() - sent);
    underWay.delete(key);
    if (running) setTimeout(send, 0.2);
    else socket.end();
  });
}
// As many connections as it takes to be on every loop.
for (let i = 0; i < threads; i++) {
  probe('PING', () => encode('PING'));
  probe('ZADD', (n) => encode('ZADD', `probe${i}`, n, `m${n % 100}`));
  probe('ZADD large', (n) => encode('ZADD', large, n % 1000, `probe${i}`));
}
parentPort.on('message', (message) => {
  if (message === 'stop') running = false;
  for (const { name, sent } of underWay.values()) note(name, performance.now() - sent);
  parentPort.postMessage({ ...worst });
  for (const name of Object.keys(worst)) worst[name] = 0;
});
