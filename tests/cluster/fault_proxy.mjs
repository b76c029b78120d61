// Stands before the endpoint and has bad days on demand: `mode` is one of
//   ok        passes on
//   refuse    ends every connection
//   throttle  refuses every second request as DynamoDB does when it has too much to do
//   slow      passes on after 150 ms
//   fail      passes on, and answers 500 in place of what was answered, two times in three
// It counts requests by operation; with `units` it has each of them told what it costs, and sums that up.
import { once } from 'node:events';
import http from 'node:http';

// Capacity units of an answer, of all tables and their indexes.
function unitsOf(answer) {
  const { ConsumedCapacity: told } = JSON.parse(answer);
  return [told ?? []].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
}

export async function startFaultProxy(target, { latency = 0, units = false } = {}) {
  const { hostname, port } = new URL(target);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
  const proxy = { mode: 'ok', latency, counts: new Map(), units: new Map(), seen: 0 };
  const operationOf = (from) => String(from.headers['x-amz-target'] ?? '').split('.')[1] ?? 'none';
  const answer = (to, status, type, message) => {
    if (to.destroyed) return;
    to.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' });
    to.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message }));
  };
  const pass = (from, to, body, failing) => {
    const headers = { ...from.headers, host: `${hostname}:${port}`, 'content-length': body.length };
    const operation = operationOf(from);
    const request = http.request({ hostname, port, agent, method: from.method, path: from.url, headers }, (reply) => {
      const parts = [];
      reply.on('data', (part) => parts.push(part));
      reply.on('end', () => {
        if (proxy.mode === 'refuse') return to.destroy();
        if (failing) return answer(to, 500, 'InternalServerError', 'It was done, but that is not told.');
        const answered = Buffer.concat(parts);
        if (units && reply.statusCode === 200) proxy.units.set(operation, (proxy.units.get(operation) ?? 0) + unitsOf(answered));
        to.writeHead(reply.statusCode, reply.headers);
        to.end(answered);
      });
    });
    request.on('error', () => to.destroy());
    request.end(body);
  };
  const server = http.createServer((from, to) => {
    const operation = operationOf(from);
    const number = proxy.seen++;
    proxy.counts.set(operation, (proxy.counts.get(operation) ?? 0) + 1);
    const parts = [];
    from.on('data', (part) => parts.push(part));
    from.on('end', () => {
      let body = Buffer.concat(parts);
      if (units && /Item|Query|Scan/.test(operation)) body = Buffer.from(JSON.stringify({ ...JSON.parse(body), ReturnConsumedCapacity: 'TOTAL' }));
      if (proxy.mode === 'refuse') return to.destroy();
      if (proxy.mode === 'throttle' && number % 2) return answer(to, 400, 'ProvisionedThroughputExceededException', 'Too much.');
      const failing = proxy.mode === 'fail' && number % 3 !== 0;
      const delay = proxy.latency + (proxy.mode === 'slow' ? 150 : 0);
      if (delay) setTimeout(pass, delay, from, to, body, failing);
      else pass(from, to, body, failing);
    });
    from.on('error', () => to.destroy());
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => {
    socket.setNoDelay(true);
    if (proxy.mode === 'refuse') socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy.endpoint = `http://127.0.0.1:${server.address().port}`;
  proxy.stop = () => {
    server.closeAllConnections();
    server.close();
    agent.destroy();
  };
  return proxy;
}
