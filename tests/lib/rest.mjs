// A client of /v1 that holds every answer against the server's own OpenAPI document.
import assert from 'node:assert/strict';
import http from 'node:http';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

// Answers may not have members that the document does not tell of, either.
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  if (copy.type === 'object' && copy.properties && copy.additionalProperties === undefined) copy.additionalProperties = false;
  return copy;
}

function matcher(template) {
  const pattern = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+');
  return { template, pattern: new RegExp(`^${pattern}$`), literal: template.replace(/\{[^}]+\}/g, '').length };
}

export async function restClient(endpoint, { headers: own = {} } = {}) {
  const { hostname, port } = new URL(endpoint);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const document = await (await fetch(new URL('/v1/openapi.json', endpoint))).json();
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  ajv.addSchema({ $id: 'doc', components: closed(document.components) });
  const paths = Object.keys(document.paths).map(matcher).sort((a, b) => b.literal - a.literal);
  const seen = new Set();

  const send = (method, path, { body, headers = {}, type = 'application/json' } = {}) => new Promise((resolve, reject) => {
    const text = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const request = http.request({
      hostname, port, agent, method, path: `/v1${path}`,
      headers: { ...(text !== undefined && { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) }), ...own, ...headers },
    }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text: Buffer.concat(parts).toString() }));
      answer.on('error', reject);
    });
    request.on('error', reject);
    request.end(text);
  });

  // What the document says of an answer is so.
  function check(method, path, answer) {
    const plain = `/v1${path}`.split('?')[0];
    const found = paths.find(({ template, pattern }) => pattern.test(plain) && document.paths[template][method.toLowerCase()]);
    assert.ok(answer.headers['x-request-id'], 'every answer has an id');
    assert.equal(answer.headers['cache-control'], 'no-cache');
    let response = document.components.schemas.Problem && { content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } };
    if (found) {
      const operation = document.paths[found.template][method.toLowerCase()];
      seen.add(operation.operationId);
      response = operation.responses[answer.status] ?? operation.responses.default;
      if (answer.status < 300) assert.ok(operation.responses[answer.status], `${method} ${plain} may answer ${answer.status}`);
    } else {
      assert.ok(answer.status >= 400, `${method} ${plain} is not in the document`);
    }
    if (!response.content) {
      assert.equal(answer.text, '');
      return;
    }
    const [[type, { schema }]] = Object.entries(response.content);
    assert.equal(answer.headers['content-type'], type);
    const valid = ajv.getSchema(`doc${schema.$ref}`);
    assert.ok(valid(answer.json), `${method} ${plain}: ${ajv.errorsText(valid.errors)}\n${answer.text}`);
    if (answer.status >= 400) assert.equal(answer.json.status, answer.status);
  }

  const call = async (method, path, options = {}) => {
    const answer = await send(method, path, options);
    answer.json = answer.text ? JSON.parse(answer.text) : undefined;
    if (!['HEAD', 'OPTIONS'].includes(method) && plainPath(path) !== '/openapi.json') check(method, path, answer);
    return answer;
  };
  // Resolves to the JSON of an answer that must be good.
  const must = async (method, path, body, options = {}) => {
    const answer = await call(method, path, { body, ...options });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
  // Resolves to the problem of an answer that must be a refusal with that status.
  const refused = async (status, method, path, body, options = {}) => {
    const answer = await call(method, path, { body, ...options });
    assert.equal(answer.status, status, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
  const plainPath = (path) => path.split('?')[0];
  return { document, seen, send, call, must, refused, close: () => agent.destroy() };
}
