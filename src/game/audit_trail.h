/* What operators did, as items of the game's table: it outlives the process, every server of a
 * cluster writes to the same one, and each entry goes by itself after LIMIT_AUDIT_DAYS.
 *
 *   PK AUDIT#<year-month>  SK <ULID>   frontEnd, operation, subject, reason, who S; status, us,
 *                                      bytesIn, bytesOut N; ttl
 *
 * Clients cannot write there (board/client_writes.h).
 */
#ifndef GT_GAME_AUDIT_TRAIL_H
#define GT_GAME_AUDIT_TRAIL_H

#include "game/game.h"

#define AUDIT_PREFIX "AUDIT#"

struct audit_event {
    struct bytes id; /* a ULID: when it was, and which */
    struct bytes front_end, operation, subject, reason, who;
    int64_t status, us, bytes_in, bytes_out;
};

/* Writes them, and waits until they are durable. Writing one again changes nothing. */
enum status audit_trail_put(struct game *game, const struct audit_event *events, size_t count,
                            struct scope in);

struct audit_trail_request {
    struct bytes before; /* only events before that ULID; empty: from the newest */
    size_t limit;
};
struct audit_trail_page {
    struct audit_event *events; /* the newest first */
    size_t count;
    bool more;
};
/* A query for each month that may have any. */
enum status audit_trail_list(struct game *game, const struct audit_trail_request *request,
                             struct scope in, struct audit_trail_page *out);

#endif
