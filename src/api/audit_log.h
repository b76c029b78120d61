/* What operators did, kept in the game's table (game/audit_trail.h).
 *
 * Front ends add records on their loops; a thread of its own writes them, all that have come up at
 * once in one commit, usually within milliseconds, and tells who waits for it: so an operator's
 * change is answered when its record is durable. Until then records are in memory and listed all
 * the same. While the table cannot be written nobody is kept waiting: they are tried again, and a
 * process that is killed meanwhile has them in its log only. At most LIMIT_AUDIT_WAITING wait, and
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

/* Who waits until a record is durable: `run` is called once, on the log's thread, when it is or
 * when it could not be written for now. Must not block. */
struct audit_wait {
    void (*run)(struct audit_wait *wait);
};
/* Any thread; never waits for the table itself. `wait` may be NULL. False: `wait` will not be run,
 * since the record was left out or the table cannot be written at the moment. */
bool audit_log_add(struct audit_log *log, const struct request_record *record,
                   struct audit_wait *wait);

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
