// Two players play one game to its end. Started again, two others play in the same table.
import { randomInt } from 'node:crypto';
import { ResourceInUseException } from '@aws-sdk/client-dynamodb';
import { connectPlayer, createGame, getConnections, getGame, getGameWithPlayers, getPlayerById, joinGame, move, startGame } from './game.mjs';
import { connect, createTable } from './table.mjs';

const ddb = connect();
await createTable(ddb).catch((error) => {
  if (!(error instanceof ResourceInUseException)) throw error; // it is there
});
let number = '', code = 'ABC123';
while (!(await createGame(ddb, code, `alice${number}`))) {
  number = Number(number || 1) + 1;
  code = `ABC12${number + 2}`;
}
for (const [name, color] of [['alice', '#3B82F6'], ['bob', '#EF4444']]) {
  const id = `${name}${number}`;
  await joinGame(ddb, code, { id, name, color });
  await connectPlayer(ddb, code, id, `socket-of-${id}`);
}
await startGame(ddb, code);
console.log(`${(await getConnections(ddb, code)).length} connections to tell of each move`);

let moves = 0;
for (let made; !made?.won; moves++) made = await move(ddb, await getGameWithPlayers(ddb, code), randomInt(1, 7));
const { winnerId, status } = await getGame(ddb, code);
const { position } = await getPlayerById(ddb, winnerId);
console.log(`${status} after ${moves} moves: ${winnerId} is on ${position}`);
