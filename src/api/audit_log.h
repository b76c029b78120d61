/* What operators did, kept in the game's table (game/audit_trail.h).
 *
 * Front ends add records on their loops; a thread of its own writes them, all that have come up at
 * once in one commit, usually within milliseconds. Until they are durable they wait in memory, are
 * listed all the same, and are tried again while the table cannot be written; a process that is
 * killed meanwhile loses them here and has them in its log. At most LIMIT_AUDIT_WAITING wait, and
 * at most LIMIT_AUDIT_A_MINUTE a minute are kept: one entry then says how many more there were.
 */
#ifndef GT_API_AUDIT_LOG_H
#define GT_API_AUDIT_LOG_H

#include "api/metrics/request_log.h"
#include "base/ulid.h"
#include "game/game.h"

struct audit_log;
/* Starts the thread. Borrows the game until audit_log_stop(). */
struct audit_log *audit_log_new(struct game *game);
/* Writes what waits, and ends the thread. Before the engine is closed; blocks. What is added
 * afterwards is dropped. */
void audit_log_stop(struct audit_log *log);
void audit_log_free(struct audit_log *log);

/* Any thread; never waits for the table. */
void audit_log_add(struct audit_log *log, const struct request_record *record);

struct audit_log_request {
    struct bytes before; /* only records before that id; empty: from the newest */
    size_t limit;
};
struct audit_log_page {
    struct request_record *records; /* the newest first */
    size_t count;
    struct bytes next; /* `before` of the next page; empty: that was all */
};
/* In the arena. INVALID if `before` is no id. Any thread that may wait as the engine does. */
enum status audit_log_list(struct audit_log *log, const struct audit_log_request *request,
                           struct scope in, struct audit_log_page *out);

#endif
