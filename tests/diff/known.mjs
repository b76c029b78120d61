// Where the programs we compare ourselves with are known to differ from the service, and why we do
// not follow them. Each entry: the target, a test of (operation, ours, theirs), and the reason.
const deviations = [];

// The reason why this difference is expected, or undefined.
export function known(target, operation, ours, theirs) {
  const found = deviations.find(([name, test]) => name === target && test(operation, ours, theirs));
  return found?.[2];
}
