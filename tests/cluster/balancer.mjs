// Stands before the nodes, as a load balancer does: each connection goes to the next node that takes it.
import { once } from 'node:events';
import net from 'node:net';

export async function startBalancer(ports) {
  let next = 0;
  const open = new Set();
  const pass = (client, tried) => {
    if (tried === ports.length) return client.destroy();
    const server = net.connect({ port: ports[next++ % ports.length], host: '127.0.0.1' });
    let connected = false;
    server.on('connect', () => {
      connected = true;
      client.pipe(server).pipe(client);
    });
    server.on('error', () => (connected ? client.destroy() : pass(client, tried + 1)));
    server.on('close', () => connected && client.destroy());
    client.on('close', () => server.destroy());
  };
  const listener = net.createServer((client) => {
    open.add(client);
    client.on('close', () => open.delete(client));
    client.on('error', () => client.destroy());
    pass(client, 0);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    endpoint: `http://127.0.0.1:${listener.address().port}`,
    stop: () => {
      for (const client of open) client.destroy();
      listener.close();
    },
  };
}
