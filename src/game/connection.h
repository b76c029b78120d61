/* clang-format off */
/* Who is there: connections of players to rooms, and the servers that hold them.
 *
 *   connection   PK CONNECTION#<id>   SK META   GSI1 ROOM#<code> / CONNECTION#<id>
 *                                               GSI2 HELD#<server> / CONNECTION#<id>
 *   server       PK SERVER#<id>       SK META   GSI2 SERVERS / <until>#<id>, until it was cleared
 *
 * A server is a process, by an id of its own. It holds a lease while it holds connections, and makes
 * it longer every SERVER_RENEW_MS. When a lease has lapsed the others (and who comes after it) take
 * its connections away, each room in one commit with the condition that the lease is still lapsed;
 * that commit marks the lease `cleared`. A server that was only slow finds the mark when it renews,
 * and has what it holds written again.
 */
/* clang-format on */
#ifndef GT_GAME_CONNECTION_H
#define GT_GAME_CONNECTION_H

#include "game/room.h"

enum {
    SERVER_LEASE_MS = 6000, /* how long players are shown who went with their server, at most */
    SERVER_RENEW_MS = 2000,
};

struct connection {
    struct bytes server; /* who holds it; empty: nobody will clear it away */
    struct bytes id, player;
};

/* On a loaded room, to be saved: the connection's item, and the seat's flag. The first connection
 * of a server makes its lease. */
enum status connection_open(struct room *room, const struct connection *connection,
                            struct failure *failure);
/* The seat stays connected if the player has another connection. */
enum status connection_close(struct room *room, const struct connection *connection,
                             struct failure *failure);

/* Makes the lease longer, and waits for it. *cleared: others have taken (some of) its connections
 * away; they are to be opened again. */
enum status server_renew(struct game *game, struct bytes server, struct arena *arena,
                         struct failure *failure, bool *cleared);
/* Gives the lease up, unless connections are left: then it lapses, and they are cleared. */
enum status server_leave(struct game *game, struct bytes server, struct arena *arena,
                         struct failure *failure);

/* --- clearing away --- */

struct lapsed {
    struct bytes server, code; /* without a code: it has no connections any more */
};
struct lapsed_list {
    struct lapsed *entries;
    size_t count;
};
/* Servers other than `own` whose lease has lapsed, and rooms with connections of theirs; at most
 * `limit` entries, others when these are done. */
enum status lapsed_find(struct game *game, struct bytes own, size_t limit, struct arena *arena,
                        struct failure *failure, struct lapsed_list *out);
/* Loads the room and fills in the change that clears it of the server's connections. CONFLICT (as
 * of room_saved) if the server has renewed its lease meanwhile, or the room has changed. */
enum status lapsed_prepare(struct game *game, const struct lapsed *lapsed, struct arena *arena,
                           struct failure *failure, struct room *room, struct change *change);

#endif
