// GET /metrics: Prometheus' text, read strictly; with promtool, if it is installed, read by that as well.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { createClient } from 'redis';
import { program, root, startServer, temporaryFolder } from '../lib/server.mjs';
import { until } from '../lib/until.mjs';

let server;
before(async () => { server = await startServer(); });
after(async () => assert.equal(await server.stop(), 0));

const text = async (from = server, headers = {}) => {
  const answer = await fetch(`${from.endpoint}/metrics`, { headers });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  return answer.text();
};

// Every line is a family's help, its type, or a sample of the family that was announced last; no sample comes twice.
// Returns { families: {name: type}, samples: {'name{labels}': number} }.
function parse(document) {
  const families = {};
  const samples = {};
  let helped, current;
  assert.ok(document.endsWith('\n'));
  for (const line of document.slice(0, -1).split('\n')) {
    const help = /^# HELP ([a-z_]+) (\S.*)$/.exec(line);
    const type = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line);
    const sample = /^([a-z_]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\+Inf|-?[0-9.]+(?:e[+-]?[0-9]+)?)$/.exec(line);
    if (help) {
      assert.equal(families[help[1]], undefined, line);
      helped = help[1];
    } else if (type) {
      assert.equal(type[1], helped, line);
      families[current = helped] = type[2];
      if (type[2] === 'counter') assert.match(current, /_total$/);
      else assert.doesNotMatch(current, /_total$/);
    } else {
      assert.ok(sample, `not a sample: ${line}`);
      const base = families[current] === 'histogram' ? sample[1].replace(/_(bucket|sum|count)$/, '') : sample[1];
      assert.equal(base, current, line);
      const key = sample[1] + (sample[2] ?? '');
      assert.equal(samples[key], undefined, `twice: ${key}`);
      samples[key] = Number(sample[3]);
    }
  }
  return { families, samples };
}

const dynamodb = (operation, body, from = server) => fetch(from.endpoint, {
  method: 'POST', body: JSON.stringify(body),
  headers: {
    'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': `DynamoDB_20120810.${operation}`, 'X-Amz-Date': '20260101T000000Z',
    Authorization: 'AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
  },
});

test('requests of every front end are counted and timed, refusals by their reasons', async () => {
  const redis = createClient({ url: `redis://127.0.0.1:${server.redisPort}` });
  await redis.connect();
  const from = parse(await text()).samples;
  for (let i = 0; i < 5; i++) await redis.zAdd('arcade', { score: i, value: `m${i}` });
  await redis.zScore('arcade', 'm1');
  await assert.rejects(redis.sendCommand(['ZADD', 'arcade', 'no number', 'm']));
  await dynamodb('ListTables', {});
  assert.equal((await dynamodb('GetItem', { TableName: 'missing', Key: { k: { S: 'a' } } })).status, 400);
  await (await fetch(`${server.endpoint}/v1/boards`)).text();
  assert.equal((await fetch(`${server.endpoint}/v1/players/nobody`)).status, 404);
  assert.equal((await fetch(`${server.endpoint}/nothing`)).status, 404);
  await redis.quit();
  // A request is counted when its answer is on its way, by the loop that has sent it.
  let families, samples;
  const rose = (name) => (samples[name] ?? 0) - (from[name] ?? 0);
  const last = ['redis",reason="ERR"', 'dynamodb",reason="ResourceNotFoundException"', 'rest",reason="not-found"', 'other",reason="not-found"'];
  for (const end = Date.now() + 60_000; ;) {
    ({ families, samples } = parse(await text()));
    if (Date.now() > end || last.every((name) => rose(`gametable_refusals_total{frontend="${name}}`) === 1)) break;
  }
  const operation = (frontend, name) => `{frontend="${frontend}",operation="${name}"}`;
  assert.equal(rose(`gametable_requests_total${operation('redis', 'zadd')}`), 6);
  assert.equal(rose(`gametable_request_errors_total${operation('redis', 'zadd')}`), 1);
  assert.equal(rose(`gametable_request_duration_seconds_count${operation('redis', 'zadd')}`), 6);
  assert.equal(rose(`gametable_request_duration_seconds_count${operation('redis', 'zscore')}`), 1);
  assert.equal(rose(`gametable_requests_total${operation('dynamodb', 'ListTables')}`), 1);
  assert.equal(rose(`gametable_request_errors_total${operation('dynamodb', 'GetItem')}`), 1);
  assert.equal(rose(`gametable_requests_total${operation('rest', 'listBoards')}`), 1);
  assert.equal(rose(`gametable_request_errors_total${operation('rest', 'getPlayer')}`), 1);
  assert.ok(rose(`gametable_response_bytes_total${operation('rest', 'listBoards')}`) > 10);
  assert.equal(rose('gametable_refusals_total{frontend="redis",reason="ERR"}'), 1);
  assert.equal(rose('gametable_refusals_total{frontend="dynamodb",reason="ResourceNotFoundException"}'), 1);
  assert.equal(rose('gametable_refusals_total{frontend="rest",reason="not-found"}'), 1);
  assert.equal(rose('gametable_refusals_total{frontend="other",reason="not-found"}'), 1);
  assert.ok(rose('gametable_commits_total') >= 5);
  assert.ok(samples['gametable_commit_write_seconds_count'] >= 5);
  assert.ok(samples['gametable_connections_accepted_total{listener="redis"}'] >= 1);
  assert.ok(rose('gametable_sent_bytes_total{listener="http"}') > 100);
  assert.ok(samples.process_resident_memory_bytes > 1e6);
  assert.equal(families.gametable_request_duration_seconds, 'histogram');
});

test('a histogram\'s buckets rise to its count', async () => {
  const { samples } = parse(await text());
  const labels = 'frontend="redis",operation="zadd"';
  const buckets = Object.entries(samples)
    .filter(([name]) => name.startsWith(`gametable_request_duration_seconds_bucket{${labels},le=`))
    .map(([name, count]) => [name.includes('+Inf') ? Infinity : Number(/le="([^"]+)"/.exec(name)[1]), count]);
  assert.ok(buckets.length > 10);
  for (let i = 1; i < buckets.length; i++) {
    assert.ok(buckets[i - 1][0] < buckets[i][0]);
    assert.ok(buckets[i - 1][1] <= buckets[i][1]);
  }
  assert.deepEqual(buckets.at(-1), [Infinity, samples[`gametable_request_duration_seconds_count{${labels}}`]]);
});

test('what loops spend in looking for requests is told, and is nothing with --busy-poll 0', async () => {
  const looked = async (from) => parse(await text(from)).samples.gametable_busy_poll_seconds_total;
  const quiet = await startServer({ args: ['--busy-poll', '0'] });
  for (let i = 0; i < 100; i++) assert.equal(await looked(quiet), 0);
  assert.equal(await quiet.stop(), 0);
  // It is off as well where there is nobody to be spared by it.
  const limit = '/sys/fs/cgroup/cpu.max';
  const rationed = existsSync(limit) && !readFileSync(limit, 'utf8').startsWith('max');
  if (os.cpus().length > 1 && !rationed) await until(() => looked(server), (seconds) => assert.ok(seconds > 0));
  assert.match(spawnSync(program, ['serve', '--memory', '--busy-poll', '5000'], { encoding: 'utf8' }).stderr, /--busy-poll is 0 to 1000 microseconds/);
});

test('with keys it takes one that may read all tables, unless it is open', async () => {
  const file = path.join(temporaryFolder(), 'keys.json');
  const secret = '0123456789abcdef';
  const key = (id, tables, allow) => ({ id, secret: secret + id, tables, allow });
  writeFileSync(file, JSON.stringify({ keys: [key('all', ['*'], ['read']), key('one', ['game'], ['all']), key('writer', ['*'], ['write'])] }), { mode: 0o600 });
  for (const open of [false, true]) {
    const closed = await startServer({ args: ['--keys', file, ...(open ? ['--metrics-open'] : [])] });
    const ask = async (authorization) => (await fetch(`${closed.endpoint}/metrics`, { headers: authorization ? { Authorization: authorization } : {} })).status;
    assert.equal(await ask(), open ? 200 : 401);
    assert.equal(await ask('Bearer all:wrong'), open ? 200 : 401);
    assert.equal(await ask(`Bearer one:${secret}one`), open ? 200 : 403);
    assert.equal(await ask(`Bearer writer:${secret}writer`), open ? 200 : 403);
    assert.equal(await ask(`Bearer all:${secret}all`), 200);
    assert.equal(await ask(`Basic ${Buffer.from(`all:${secret}all`).toString('base64')}`), 200);
    assert.equal(await closed.stop(), 0);
  }
});

test('a page of another origin gets nothing on a server without keys', async () => {
  const answer = await fetch(`${server.endpoint}/metrics`, { headers: { Origin: 'https://elsewhere.example' } });
  assert.equal(answer.status, 403);
  assert.equal(answer.headers.get('access-control-allow-origin'), null);
  assert.equal((await fetch(`${server.endpoint}/metrics`, { method: 'POST' })).status, 405);
});

test('the dashboard and the alerts ask only for what there is', async () => {
  const { families } = parse(await text());
  const known = (expression) => {
    for (const [, name] of expression.matchAll(/\b((?:gametable|process)_[a-z_]+)/g))
      assert.ok(families[name] ?? families[name.replace(/_(bucket|sum|count)$/, '')], `${name} is not told`);
  };
  const dashboard = JSON.parse(readFileSync(path.join(root, 'tools/grafana-dashboard.json')));
  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  assert.ok(expressions.length > 10);
  expressions.forEach(known);
  const alerts = readFileSync(path.join(root, 'tools/prometheus-alerts.yml'), 'utf8');
  const rules = [...alerts.matchAll(/^\s+expr: (.+)$/gm)].map(([, expression]) => expression);
  assert.ok(rules.length > 4);
  rules.forEach(known);
});

const promtool = process.env.PROMTOOL ?? 'promtool';
const installed = spawnSync(promtool, ['--version']).status === 0;
test('promtool finds nothing to say against it', { skip: !installed && 'promtool is not installed' }, async () => {
  const metrics = spawnSync(promtool, ['check', 'metrics'], { input: await text(), encoding: 'utf8' });
  assert.equal(metrics.status, 0, metrics.stderr + metrics.stdout);
  const rules = spawnSync(promtool, ['check', 'rules', path.join(root, 'tools/prometheus-alerts.yml')], { encoding: 'utf8' });
  assert.equal(rules.status, 0, rules.stderr + rules.stdout);
});
