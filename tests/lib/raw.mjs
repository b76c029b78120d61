// A bare client: one JSON request over a keep-alive connection, no SDK in between.
import http from 'node:http';

const authorization =
  'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, ' +
  'SignedHeaders=host;x-amz-date, Signature=00';

export function rawClient(endpoint, { connections = 64 } = {}) {
  const { hostname, port } = new URL(endpoint);
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  // Sends bytes as they are; resolves to status, headers and the body's bytes.
  const send = (body, headers = {}, method = 'POST', path = '/') =>
    new Promise((resolve, reject) => {
      const request = http.request({ hostname, port, agent, method, path, headers }, (answer) => {
        const parts = [];
        answer.on('data', (part) => parts.push(part));
        answer.on('end', () =>
          resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
        answer.on('error', reject);
      });
      request.on('error', reject);
      request.end(body);
    });
  // Calls an operation; resolves to { status, headers, body, json }.
  const call = async (operation, input, headers = {}) => {
    const answer = await send(JSON.stringify(input), {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': `DynamoDB_20120810.${operation}`,
      'X-Amz-Date': '20260101T000000Z',
      Authorization: authorization,
      ...headers,
    });
    const text = answer.body.toString();
    return { ...answer, json: text ? JSON.parse(text) : undefined };
  };
  // The same, but a refusal is thrown.
  const must = async (operation, input) => {
    const { status, json } = await call(operation, input);
    if (status !== 200) throw new Error(`${operation}: ${json.__type} ${json.message}`);
    return json;
  };
  return { send, call, must, close: () => agent.destroy() };
}
