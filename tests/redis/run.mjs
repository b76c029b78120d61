// Sends the cases to both programs and tells where they differ.
//
//   node tests/redis/run.mjs [--only FILE] [--case TEXT]
import { parseArgs } from 'node:util';
import { loadCases, runCase, same } from './cases.mjs';
import { startOurs, startRedis } from './targets.mjs';

const { values } = parseArgs({ options: { only: { type: 'string' }, case: { type: 'string' } } });
const targets = await Promise.all([startRedis(), startOurs()]);
let [total, different] = [0, 0];
try {
  for (const found of loadCases(values.only)) {
    if (values.case && !found.title.includes(values.case)) continue;
    for (const version of [2, 3]) {
      const [theirs, ours] = await Promise.all(targets.map(({ port }) => runCase(port, version, found)));
      found.steps.forEach((step, i) => {
        total++;
        if (same(theirs[i], ours[i], step.how)) return;
        different++;
        console.log(`${found.file}: ${found.title} (RESP${version})\n  ${step.line}`);
        console.log(`  redis ${JSON.stringify(theirs[i]?.toString('latin1'))}\n  ours  ${JSON.stringify(ours[i]?.toString('latin1'))}`);
      });
    }
  }
  console.log(`${total} replies, ${different} differ`);
} finally {
  await Promise.all(targets.map((target) => target.close()));
}
