// Where the programs we compare ourselves with are known to differ from the service, and why we do
// not follow them. Each entry: the target, a test of ({ operation, input, ours, theirs }), the reason.
const both = ({ ours, theirs }) => ours.status === 200 && theirs.status === 200;
const nested = (input) => /[.[]/.test(input?.UpdateExpression ?? '');
const sameCounts = (operation, input, two) => operation === 'Query' && input.IndexName && both(two) &&
  ['Count', 'ScannedCount'].every((name) => two.ours.answer[name] === two.theirs.answer[name]) && two.ours.answer.order === undefined;

const deviations = [
  ...['local', 'dynalite'].map((name) => [name, ({ operation, input, ours, theirs }) => operation === 'UpdateItem' && ours.status === 200 &&
      theirs.status === 200 && input.ReturnValues === 'ALL_NEW' && !ours.answer.Attributes,
  'an update that only takes away from nothing makes an item of its key']),
  ['local', ({ operation, input, ...two }) => operation === 'UpdateItem' && both(two) && /^UPDATED/.test(input.ReturnValues) && nested(input),
    'UPDATED_OLD and UPDATED_NEW give whole attributes, the service the paths that were written'],
  ['local', ({ operation, theirs }) => operation === 'DeleteItem' && theirs.answer?.ConsumedCapacity !== undefined,
    'DeleteItem tells its capacity unasked'],
  ['local', ({ operation, input, ...two }) => sameCounts(operation, input, two), 'in what order equal keys of an index come is nobody\'s promise'],
  ['dynalite', ({ operation, input, ...two }) => sameCounts(operation, input, two), 'the same'],
  ['local', ({ theirs }) => theirs.status === 500, 'a request of the wrong form is an internal failure'],
  ['dynalite', ({ theirs }) => theirs.status === 0, 'it ends'],
  ['dynalite', ({ theirs }) => /Syntax error; Expected /.test(theirs.message), 'syntax errors in the words of its parser generator'],
  ['dynalite', ({ operation, input, ...two }) => operation === 'UpdateItem' && both(two) && !two.ours.answer.Attributes &&
      Object.keys(two.theirs.answer.Attributes ?? {}).length === 0, 'no attributes are told as an empty map, by the service not at all'],
  ['dynalite', ({ ours }) => /^(Attempting to store more than 38|Number overflow|Number underflow)/.test(ours.message),
    'arithmetic knows no limits'],
  ['dynalite', ({ ours }) => /^One or more parameter values are not valid\. A value specified for a secondary index key/.test(ours.message),
    'keys of an index may be empty'],
  ['dynalite', ({ ours }) => /^Key attributes must be scalars/.test(ours.message), 'conditions may look inside keys'],
  ['dynalite', ({ operation, ours, theirs }) => operation === 'CreateTable' && ours.type === theirs.type && theirs.message === '',
    'a table that exists is told without a word'],
];

// The reason why this difference is expected, or undefined.
export function known(target, operation, ours, theirs, input) {
  const found = deviations.find(([name, test]) => name === target && test({ operation, input, ours, theirs }));
  return found?.[2];
}
