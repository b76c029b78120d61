// Where the programs we compare ourselves with are known to differ from the service, and why we do
// not follow them. Each entry: the target, a test of ({ operation, input, ours, theirs }), the reason.
const both = ({ ours, theirs }) => ours.status === 200 && theirs.status === 200;
const nested = (input) => /[.[]/.test(input?.UpdateExpression ?? '');

const deviations = [
  ['local', ({ operation, input, ...two }) => operation === 'UpdateItem' && both(two) && /^UPDATED/.test(input.ReturnValues) && nested(input),
    'UPDATED_OLD and UPDATED_NEW give whole attributes, the service the paths that were written'],
  ['local', ({ operation, theirs }) => operation === 'DeleteItem' && theirs.answer?.ConsumedCapacity !== undefined,
    'DeleteItem tells its capacity unasked'],
  ['local', ({ theirs }) => theirs.status === 500, 'a request of the wrong form is an internal failure'],
  ['dynalite', ({ theirs }) => theirs.status === 0, 'it ends'],
  ['dynalite', ({ theirs }) => /Syntax error; Expected /.test(theirs.message), 'syntax errors in the words of its parser generator'],
  ['dynalite', ({ operation, ours, theirs }) => operation === 'CreateTable' && ours.type === theirs.type && theirs.message === '',
    'a table that exists is told without a word'],
];

// The reason why this difference is expected, or undefined.
export function known(target, operation, ours, theirs, input) {
  const found = deviations.find(([name, test]) => name === target && test({ operation, input, ours, theirs }));
  return found?.[2];
}
