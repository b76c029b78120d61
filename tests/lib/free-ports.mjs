// node tests/lib/free-ports.mjs COUNT: the first of so many ports in a row that nobody listens on, below those that the
// system gives to clients.
import { once } from 'node:events';
import { createServer } from 'node:net';

async function areFree(ports) {
  const servers = [];
  try {
    for (const port of ports) {
      const server = createServer().listen(port, '127.0.0.1');
      servers.push(server);
      await once(server, 'listening');
    }
    return true;
  } catch {
    return false;
  } finally {
    for (const server of servers) server.close();
  }
}

const count = Number(process.argv[2]);
let first;
do first = 12_000 + Math.floor(Math.random() * 8000);
while (!(await areFree(Array.from({ length: count }, (_, i) => first + i))));
console.log(first);
