// The catalogue of requests (tests/diff/cases) is answered word for word as recorded
// (tests/diff/golden), and random requests as dynalite answers them, where that is right.
//
// After a change of behaviour that is wanted: node tests/diff/run.mjs --record, and read the diff.
// DIFF_SEED and DIFF_ROUNDS steer the random part; from the same seed it is the same, however fast the machine.
import assert from 'node:assert/strict';
import test from 'node:test';
import { loadFiles, readGolden, runFile, stepsOf } from '../diff/catalogue.mjs';
import { round } from '../diff/random.mjs';
import { startDynalite, startOurs } from '../diff/targets.mjs';

test('the catalogue is answered as recorded', async (t) => {
  const ours = await startOurs();
  try {
    for (const file of await loadFiles())
      await t.test(file.name, async () => {
        const golden = readGolden(file.name);
        const answers = await runFile(ours, file);
        assert.deepEqual(Object.keys(answers), Object.keys(golden), 'cases and recorded answers are of the same names');
        const wrong = Object.keys(answers).flatMap((name) => answers[name].flatMap((answer, step) => {
          const [is, was] = [answer, golden[name][step]].map((told) => JSON.stringify(told).slice(0, 2000));
          return is === was ? [] : [`${name}: ${stepsOf(file.cases[name])[step][0]}\n    is  ${is}\n    was ${was}`];
        }));
        assert.equal(wrong.length, 0, `${wrong.length} differ:\n${wrong.slice(0, 20).join('\n')}`);
      });
  } finally {
    await ours.close();
  }
});

test('random requests are answered as dynalite answers them', async (t) => {
  const first = Number(process.env.DIFF_SEED ?? 1);
  const rounds = Number(process.env.DIFF_ROUNDS ?? 50);
  t.diagnostic(`${rounds} rounds from seed ${first}`);
  const targets = [await startOurs(), await startDynalite()];
  try {
    for (let seed = first; seed < first + rounds; seed++) {
      const { table, found } = await round(targets, seed, 100);
      assert.deepEqual(found, [], `node tests/diff/random.mjs --seed ${seed} --rounds 1: ${JSON.stringify(table)}`);
    }
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
});
