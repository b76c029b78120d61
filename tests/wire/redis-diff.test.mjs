// Whatever a client asks is answered byte for byte as Debian's redis-server answers it: cases
// (tests/redis/cases) and random commands. SEED and REDIS_ROUNDS steer the random part; from the same seed it
// is the same.
import assert from 'node:assert/strict';
import test from 'node:test';
import { loadCases, runCase, same } from '../redis/cases.mjs';
import { compare, sequence, shrink, tell } from '../redis/random.mjs';
import { haveRedis, startOurs, startRedis } from '../redis/targets.mjs';

const skip = haveRedis ? false : 'redis-server is not installed';

async function withBoth(run) {
  const targets = await Promise.all([startRedis(), startOurs()]);
  try {
    await run(targets.map(({ port }) => port));
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
}

test('the cases are answered as Redis answers them', { skip }, (t) => withBoth(async (ports) => {
  for (const version of [2, 3]) {
    const files = new Map();
    for (const found of loadCases()) files.set(found.file, [...(files.get(found.file) ?? []), found]);
    for (const [file, cases] of files)
      await t.test(`${file}, RESP${version}`, async () => {
        const wrong = [];
        for (const found of cases) {
          const [theirs, ours] = await Promise.all(ports.map((port) => runCase(port, version, found)));
          found.steps.forEach(({ line, how }, i) => {
            if (same(theirs[i], ours[i], how)) return;
            const [is, was] = [ours[i], theirs[i]].map((reply) => JSON.stringify(reply?.toString('latin1')));
            wrong.push(`${found.title}: ${line}\n    is    ${is}\n    redis ${was}`);
          });
        }
        assert.equal(wrong.length, 0, `${wrong.length} differ:\n${wrong.slice(0, 20).join('\n')}`);
      });
  }
}));

test('random commands are answered as Redis answers them', { skip }, (t) => withBoth(async (ports) => {
  const first = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
  const rounds = Number(process.env.REDIS_ROUNDS ?? 500);
  t.diagnostic(`${rounds} rounds from seed ${first}`);
  for (let seed = first; seed < first + rounds; seed++) {
    const version = 2 + (seed & 1);
    const list = sequence(seed, 60);
    const first = await compare(ports, version, list);
    if (!first) continue;
    const { list: least, found = first } = await shrink(ports, version, list);
    assert.fail(`node tests/redis/random.mjs --seed ${seed}\n${tell(least)}\nstep ${found.step}: ${tell([found.command])}\n` +
      found.told.map((reply) => JSON.stringify(reply.toString('latin1'))).join('\n'));
  }
}));
