// What the nodes of a cluster test stand on.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { startDynamoLocal } from '../lib/backing.mjs';
import { startServer, temporaryFolder } from '../lib/server.mjs';

export { startRedis } from '../lib/backing.mjs';

// The file that signs players' tokens, which all nodes share.
export function temporarySecret() {
  const file = path.join(temporaryFolder(), 'secret');
  writeFileSync(file, 'the same thirty-two bytes or more on all servers');
  return file;
}

// Where their items are: another gametable, or DynamoDB Local if DDB_LOCAL names the folder with its jars.
export function startStore() {
  const jars = process.env.DDB_LOCAL;
  return jars ? startDynamoLocal(jars, { shared: true }) : startServer({ engine: 'local', game: false, redis: 'off' });
}
