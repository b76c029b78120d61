// Loaded before a library's own tests (--require): what they connect to on Redis's usual port, or on the one that they have
// started a redis-server on, is the server that is tested. The tests themselves are as they were published.
const net = require('node:net');

const usual = new Set(['6379', '18543']);
const { SUITE_PORT } = process.env;
const connect = net.connect;
net.connect = net.createConnection = (options, ...rest) => {
  if (typeof options === 'object' && usual.has(String(options.port ?? 6379)))
    options = { ...options, port: Number(SUITE_PORT), host: '127.0.0.1', family: 4 };
  return connect(options, ...rest);
};
