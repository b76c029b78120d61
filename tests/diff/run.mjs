// Sends the catalogue to several programs and tells where they differ.
//
//   node tests/diff/run.mjs [--only FILE] [--case TEXT] [--record] [--all]
//
// --record writes what our program answers to golden/; look at the difference before committing it.
// Told is where we stand alone: each of the others has faults of its own that one of them shares
// with the service only by chance. --all tells every difference, known ones (known.mjs) too.
import { parseArgs } from 'node:util';
import { loadFiles, readGolden, runFile, stepsOf, writeGolden } from './catalogue.mjs';
import { known } from './known.mjs';
import { comparable } from './normal.mjs';
import { startTargets } from './targets.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' }, case: { type: 'string' },
    record: { type: 'boolean' }, all: { type: 'boolean' },
  },
});

const short = (answer) => {
  const { status, type, message, ...rest } = answer;
  const more = Object.keys(rest).length ? ` ${JSON.stringify(rest)}` : '';
  const text = status === 200 ? JSON.stringify(answer.answer)
    : `${status} ${type?.replace(/^.*#/, '')}: ${message}${more}`;
  return text.length > 1500 ? `${text.slice(0, 1500)}...` : text;
};

function tell(file, name, step, input, answers) {
  const text = typeof input[1] === 'string' ? input[1] : JSON.stringify(input[1]);
  console.log(`\n${file.name}: ${name}${step ? ` (step ${step + 1})` : ''}`);
  console.log(`  ${input[0]} ${text.length > 400 ? `...${text.slice(-400)}` : text}`);
  for (const [target, answer] of answers) console.log(`  ${target.padEnd(9)}${short(answer)}`);
}

const targets = await startTargets(options.record ? ['ours'] : ['ours', 'dynalite', 'local']);
let different = 0;
let total = 0;
try {
  for (const file of await loadFiles(options.only)) {
    const results = await Promise.all(targets.map((target) => runFile(target, file)));
    if (options.record) writeGolden(file.name, results[0]);
    for (const [name, found] of Object.entries(file.cases)) {
      if (options.case && !name.includes(options.case)) continue;
      stepsOf(found).forEach((input, step) => {
        total++;
        const answers = targets.map((target, i) => [target.name, results[i][name][step]]);
        const ours = comparable(answers[0][1]);
        const others = answers.slice(1).filter(([target, answer]) => comparable(answer) !== ours &&
          (options.all || !known(target, input[0], answers[0][1], answer, input[1])));
        if (!others.length) return;
        if (!options.all && others.length < targets.length - 1) return;
        different++;
        tell(file, name, step, input, answers);
      });
    }
  }
  console.log(`\n${total} requests, ${different} answered differently`);
} finally {
  await Promise.all(targets.map((target) => target.close()));
}
