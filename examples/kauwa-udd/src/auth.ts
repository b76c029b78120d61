// Sign-in by a link in a mail, sessions in the game's table, through Auth.js and its own adapter.
import { webcrypto } from 'node:crypto';
import { Auth, type AuthConfig } from '@auth/core';
import { DynamoDBAdapter } from '@auth/dynamodb-adapter';
import type { Game } from './table.js';

// Node 18 has it, but not by this name.
globalThis.crypto ??= webcrypto as Crypto;

export const adapter = ({ ddb, table }: Game) =>
  DynamoDBAdapter(ddb, {
    tableName: table,
    partitionKey: 'PK',
    sortKey: 'SK',
    indexName: 'GSI1',
    indexPartitionKey: 'GSI1PK',
    indexSortKey: 'GSI1SK',
  });

export type SendLink = (to: string, url: string) => void;

// Answers the requests under /auth; `sendLink` is where a real game would send a mail.
export function authHandler(game: Game, secret: string, sendLink: SendLink): (request: Request) => Promise<Response> {
  const config: AuthConfig = {
    adapter: adapter(game),
    basePath: '/auth',
    secret,
    session: { strategy: 'database' },
    trustHost: true,
    providers: [{
      id: 'email', name: 'Email', type: 'email', from: 'game@example.com', maxAge: 600, options: {},
      sendVerificationRequest: async ({ identifier, url }) => sendLink(identifier, url),
    }],
    callbacks: { session: ({ session, user }) => ({ ...session, userId: user.id }) },
  };
  return (request) => Auth(request, config);
}
