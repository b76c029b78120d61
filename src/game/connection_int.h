/* Attributes and keys of connections and servers; private to this folder. */
#ifndef GT_GAME_CONNECTION_INT_H
#define GT_GAME_CONNECTION_INT_H

#include "game/connection.h"
#include "game/room_int.h"

#define SERVERS           BYTES("SERVERS")
#define SERVER_CLEARED    BYTES("cleared")
#define CONNECTION_SERVER BYTES("server")

struct bytes server_pk(struct arena *arena, struct bytes server);

/* Connections to the room; those that a server holds, the first of them. */
enum status connections_in(struct game *game, struct bytes code, struct arena *arena,
                           struct failure *failure, struct page_reply *out);
enum status connections_held(struct game *game, struct bytes server, uint32_t limit,
                             struct arena *arena, struct failure *failure, struct page_reply *out);

#endif
