// Two players play one game to its end.
import { randomInt } from 'node:crypto';
import { connectPlayer, createGame, getConnections, getGame, getGameWithPlayers, getPlayerById, joinGame, move, startGame } from './game.mjs';
import { connect, createTable } from './table.mjs';

const ddb = connect();
await createTable(ddb);
await createGame(ddb, 'ABC123', 'alice');
for (const [id, color] of [['alice', '#3B82F6'], ['bob', '#EF4444']]) {
  await joinGame(ddb, 'ABC123', { id, name: id, color });
  await connectPlayer(ddb, 'ABC123', id, `socket-of-${id}`);
}
await startGame(ddb, 'ABC123');
console.log(`${(await getConnections(ddb, 'ABC123')).length} connections to tell of each move`);

let moves = 0;
for (let made; !made?.won; moves++) made = await move(ddb, await getGameWithPlayers(ddb, 'ABC123'), randomInt(1, 7));
const { winnerId, status } = await getGame(ddb, 'ABC123');
const { position } = await getPlayerById(ddb, winnerId);
console.log(`${status} after ${moves} moves: ${winnerId} is on ${position}`);
