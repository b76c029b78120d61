/* Events of keys that were not there: `keymiss`, a command has looked for one to read it, and
 * `new`, a command has made one. As of Redis 7.0, and with its order: `keymiss` first, `new` before
 * what else is told of the key.
 *
 * Which keys are there is found out before a command runs, in its own transaction, and only if
 * somebody is to hear of it. Where the command runs. */
#ifndef GT_API_REDIS_PRESENCE_EVENTS_H
#define GT_API_REDIS_PRESENCE_EVENTS_H

#include "api/redis/notifications.h"

/* call_run_function() of the command's `run`, with these events. */
enum status presence_run(struct redis_call *call);

/* For a `then`: the key args[1] was not there when its change was made. */
void presence_note_absent(struct redis_call *call);

/* The call makes the key of the database, in place of whatever had that name: RENAME, COPY, MOVE.
 */
static inline void presence_tell_new(struct redis_call *call, unsigned db, struct bytes key) {
    if (notify_wants(call, NOTIFY_NEW))
        notify_add(call, &(struct key_event){db, "new", key});
}

#endif
