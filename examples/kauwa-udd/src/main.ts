// Plays one match and prints the boards. Started again, it plays another one in the same table.
import { ResourceInUseException } from '@aws-sdk/client-dynamodb';
import { bucket, period, rank, scope, top } from './boards.js';
import { addThings, click, createRoom, finish, join, lobby, settleRound, startRound } from './game.js';
import { connect, createTable } from './table.js';

const game = connect();
await createTable(game).catch((error) => {
  if (!(error instanceof ResourceInUseException)) throw error; // it is there
});
const things = [
  { id: 'crow', name: 'Kauwa', flies: true },
  { id: 'cow', name: 'Gaay', flies: false },
  { id: 'kite', name: 'Patang', flies: true },
];
await addThings(game, things);

let code = 'K4UWA';
for (let n = 2; !(await createRoom(game, code, 'asha')); n++) code = `K4UW${n}`;
for (const name of ['asha', 'bilal', 'chen']) await join(game, code, name, name);

const clicks = { asha: [300, 900, 600], bilal: [900, undefined, 450], chen: [1500, undefined, undefined] };
for (const [i, thing] of things.entries()) {
  await startRound(game, code, i + 1, thing.id);
  for (const [player, times] of Object.entries(clicks)) {
    const atMs = times[i];
    if (atMs !== undefined) await click(game, code, i + 1, player, atMs);
  }
  await settleRound(game, code, i + 1, thing);
}

const state = await lobby(game, code);
console.log(`room ${code}: ${state?.players.length} players, ${state?.rounds.length} rounds`);
await finish(game, code);
for (const board of [bucket(period.daily(new Date()), scope.global), bucket(period.all(), scope.room(code))]) {
  console.log(board);
  for (const entry of await top(game, board, 3))
    console.log(`  ${await rank(game, board, entry.score)}. ${entry.name.padEnd(8)}${entry.score}`);
}
