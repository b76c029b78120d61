/* Sets of any size that take the place of a key: written before the commit that makes them visible.
 *
 * A STORE command, RENAME, COPY or MOVE whose result has more than LIMIT_STORED_AT_ONCE members is
 * run ahead of the writer (slow_calls.h). There the result is a list; its items are written under a
 * new generation (game/board/board_generation.h, game/keyspace/key_fields.h), so many in each
 * commit that nobody waits long behind one, and belong to no key yet. The call's own commit then
 * names the generation: it is short, however large the set is, and readers see the old key or the
 * new one.
 *
 * A note (game/keyspace/key_garbage.h) is written first and deleted by the call's commit. If that
 * never comes, after a crash or because others have written to the key meanwhile, housekeeping
 * deletes the items.
 */
#ifndef GT_API_REDIS_SET_STAGING_H
#define GT_API_REDIS_SET_STAGING_H

#include "api/redis/key_txn.h"

struct zset_entries;

/* Whether so many members are to be written in this way. */
bool staging_wants(const struct redis_call *call, size_t members);
/* Within EXEC or a script later commands have to see them, and may change them: they are writes of
 * the transaction as others are, and are listed in the end. */
static inline bool staging_is_later(const struct redis_call *call) {
    return call->nested;
}
/* Has the call leave the loop or the writer's thread, unless it has: WOULD_BLOCK. */
enum status staging_check_ahead(struct redis_call *call);

/* Whether a call that has run ahead has listed something; lists what is to be listed in the end. */
bool staging_is_needed(struct redis_call *call);
/* Of a call that has run ahead, on its thread: writes what the call has listed. Blocks for as many
 * commits as that takes. */
enum status staging_write(struct redis_call *call);
/* A try that was in vain, because others have written to the keys meanwhile, leaves its entries
 * behind: the next one writes only what is different. Takes over the arena that the list is in;
 * false if there is nothing to keep. On the loop, before the try's transaction is released. */
bool staging_keep(struct redis_call *call, const struct arena *arena);
/* Whether there will be: one sorted set is listed. */
bool staging_can_keep(const struct redis_call *call);
/* How much memory that takes, and frees it. */
size_t staging_kept_size(const struct redis_call *call);
void staging_forget(struct redis_call *call);
/* In the call's commit: whether players were hidden or shown since. What was written does not show
 * that. */
bool staging_is_current(struct redis_call *call);

#endif
