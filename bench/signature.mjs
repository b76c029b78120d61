// What verifying signatures costs GetItem: two servers with the same item, one with keys and one
// without, get the same signed requests in turn.
//   node bench/signature.mjs [--rounds 9] [--seconds 2]
import { execFileSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rawClient } from '../tests/lib/raw.mjs';
import { root, startServer, temporaryFolder } from '../tests/lib/server.mjs';

const { values: options } = parseArgs({ options: {
  rounds: { type: 'string', default: '9' }, seconds: { type: 'string', default: '2' }, connections: { type: 'string', default: '32' },
} });
const folder = temporaryFolder();
const id = 'bench', secret = 'a-secret-of-forty-characters-as-is-usual';
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const hmac = (key, text) => createHmac('sha256', key).update(text).digest();
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

// As the SDK for JavaScript sends them.
function sign(host, operation, body) {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/us-east-1/dynamodb/aws4_request`;
  const headers = {
    'amz-sdk-invocation-id': '3a6d9f0e-7c41-4f7a-9b58-2f1f6c1d7e90',
    'amz-sdk-request': 'attempt=1; max=3',
    'content-length': String(body.length),
    'content-type': 'application/x-amz-json-1.0',
    host,
    'x-amz-content-sha256': sha256(body),
    'x-amz-date': time,
    'x-amz-target': `DynamoDB_20120810.${operation}`,
    'x-amz-user-agent': 'aws-sdk-js/3.899.0',
  };
  const names = Object.keys(headers).join(';');
  const canonical = ['POST', '/', '', ...Object.entries(headers).map((pair) => pair.join(':')), '', names, sha256(body)].join('\n');
  const key = ['us-east-1', 'dynamodb', 'aws4_request'].reduce(hmac, hmac(`AWS4${secret}`, time.slice(0, 8)));
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex');
  return { ...headers, authorization: `AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=${names}, Signature=${signature}` };
}

function requests(server, name) {
  const { host } = new URL(server.endpoint);
  const text = Array.from({ length: 500 }, (_, i) => {
    const body = JSON.stringify({ TableName: 'game', Key: { PK: { S: 'LB#daily' }, SK: { S: `USER#${String(i).padStart(8, '0')}` } } });
    const head = Object.entries(sign(host, 'GetItem', body)).map((pair) => pair.join(': ')).join('\r\n');
    const request = `POST / HTTP/1.1\r\n${head}\r\n\r\n${body}`;
    return `${request.length}\n${request}\n`;
  }).join('');
  writeFileSync(path.join(folder, name), text);
}

function wrk(server, name, seconds = options.seconds) {
  requests(server, name); // signed anew: signatures last a quarter of an hour
  const printed = execFileSync('wrk', ['-t1', `-c${options.connections}`, `-d${seconds}s`, '-s',
    path.join(root, 'bench/signed.lua'), `${server.endpoint}/`, '--', path.join(folder, name)], { encoding: 'utf8' });
  const [, rate, , , errors] = /RESULT (\S+) (\d+) (\d+) (\d+)/.exec(printed);
  if (Number(errors) > 0) throw new Error(`${errors} errors\n${printed}`);
  return Number(rate);
}

async function fill(server) {
  const client = rawClient(server.endpoint);
  const { host } = new URL(server.endpoint);
  const call = async (operation, input) => {
    const body = JSON.stringify(input);
    const { status, body: text } = await client.send(body, sign(host, operation, body));
    if (status !== 200) throw new Error(text);
  };
  const keys = ['PK', 'SK'];
  await call('CreateTable', { TableName: 'game', BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: keys.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: keys.map((AttributeName, i) => ({ AttributeName, KeyType: i ? 'RANGE' : 'HASH' })) });
  for (let i = 0; i < 500; i++)
    await call('PutItem', { TableName: 'game', Item: { PK: { S: 'LB#daily' }, SK: { S: `USER#${String(i).padStart(8, '0')}` },
      GSI1PK: { S: 'LB#daily#1000' }, GSI1SK: { N: String(i * 7) }, name: { S: `player ${i}` }, level: { N: '7' }, updated: { S: '2026-01-01T00:00:00Z' } } });
  client.close();
}

const env = { GAMETABLE_ACCESS_KEY_ID: id, GAMETABLE_SECRET_ACCESS_KEY: secret };
const scoped = { GAMETABLE_KEYS_JSON: JSON.stringify({ keys: [{ id, secret, tables: ['game'], allow: ['all'] }] }) };
const args = ['--log-level', 'error'];
const open = await startServer({ args });
const kinds = [['verified', env], ['verified, a key for one table', scoped]];
await fill(open);
for (const [name, keys] of kinds) {
  const server = await startServer({ args, env: keys });
  await fill(server);
  wrk(open, 'open', 1);
  wrk(server, 'keys', 1);
  const ratios = [], rates = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    const without = wrk(open, 'open'), one = wrk(server, 'keys');
    ratios.push(one / without);
    rates.push([without, one]);
  }
  const ratio = median(ratios);
  console.log(`${ratio >= 0.75 ? 'ok  ' : 'MISS'} GetItem, signature ${name}: ${ratio.toFixed(2)} of the rate without ` +
    `(${Math.round(median(rates.map(([, one]) => one)))}/s and ${Math.round(median(rates.map(([without]) => without)))}/s; wanted 0.75)`);
  await server.stop();
}
await open.stop();
process.exit(0);
