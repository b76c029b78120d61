/* clang-format off */
/* Connections of players to rooms, and the servers that hold them.
 *
 *   connection   PK CONNECTION#<id>   SK META   GSI1 ROOM#<code> / CONNECTION#<id>
 *                                               GSI2 HELD#<server> / CONNECTION#<id>
 *   server       PK SERVER#<id>       SK META   GSI2 SERVERS / <until>#<id>, until it was cleared
 *
 * A server is a process with a random id. While it holds connections it has a lease, which it renews
 * every SERVER_RENEW_MS. When the lease has lapsed, other servers delete its connections, room by
 * room, each in one commit on condition that the lease is still lapsed; that commit also marks the
 * lease `cleared`. A server that was only slow sees the mark when it renews the lease, and writes its
 * connections again.
 */
/* clang-format on */
#ifndef GT_GAME_ROOM_ROOM_CONNECTION_H
#define GT_GAME_ROOM_ROOM_CONNECTION_H

#include "game/room/room.h"

enum {
    SERVER_LEASE_MS =
        6000, /* how long players of a crashed server are shown as connected, at most */
    SERVER_RENEW_MS = 2000,
};

struct room_connection {
    struct bytes server; /* which server holds it; empty: none, so it is never cleared */
    struct bytes id, player;
    int64_t heard_ms; /* of one that ends: when it was last heard from; 0: just now */
};

/* Adds the connection to a loaded room, to be saved: its item, and the seat's flag. The first
 * connection of a server also makes the server's lease. */
enum status room_connection_open(struct room *room, const struct room_connection *room_connection,
                                 struct failure *failure);
/* Removes it from a loaded room. The seat stays connected if the player has another connection. */
enum status room_connection_close(struct room *room, const struct room_connection *room_connection,
                                  struct failure *failure);

/* Renews the server's lease and waits for the commit. *cleared: other servers have deleted
 * connections of this one, which have to be opened again. Blocks. */
enum status server_lease_renew(struct game *game, struct bytes server, struct scope in,
                               bool *cleared);
/* Deletes the lease, unless the server has connections left: then it lapses, and others clear them.
 * Blocks. */
enum status server_lease_release(struct game *game, struct bytes server, struct scope in);

/* --- clearing connections of servers that are gone --- */

/* A server whose lease has lapsed, and a room to which it held connections. */
struct lapsed_lease {
    struct bytes server;
    struct bytes code; /* empty: the server has no connections any more */
};
struct lapsed_lease_list {
    struct bytes own;             /* the caller's id, whose lease is left out */
    size_t limit;                 /* entries wanted at most; others come when these are cleared */
    struct lapsed_lease *entries; /* by lapsed_lease_find(), in its arena */
    size_t count;
};
/* Finds servers whose lease has lapsed. The caller has filled in `own` and `limit`. */
enum status lapsed_lease_find(struct game *game, struct scope in, struct lapsed_lease_list *list);

struct lapsed_lease_clearing {
    struct game *game;
    const struct lapsed_lease *lapsed;
    struct room *room;     /* gets the room, if there is one; room_release() when all is done */
    struct change *change; /* to be submitted */
};
/* Loads the room and fills in the change that clears it of the server's connections. CONFLICT (as
 * of room_save_result) if the server has renewed its lease meanwhile, or the room has changed. */
enum status lapsed_lease_clear_prepare(const struct lapsed_lease_clearing *clearing,
                                       struct scope in);

#endif
