/* Keyspace notifications: who has subscribed to `__keyspace@<db>__:<key>` hears what happens to the
 * key, who has to `__keyevent@<db>__:<event>` hears which keys it happens to.
 *
 * A command that has changed a key says so by notify_key(), with the event's name and class as
 * Redis has them. The messages are kept with the call and sent after its commit (struct published
 * in pubsub.h), so who hears of a change can read it; if the change fails, nobody hears of it.
 * Those of one client are in the order of its commands.
 *
 * Off unless CONFIG SET notify-keyspace-events names classes, and one of K and E; then each call
 * costs a load and a branch. Nothing tells of what other front ends write. What has expired is told
 * of by expired_events.h. */
#ifndef GT_API_REDIS_NOTIFICATIONS_H
#define GT_API_REDIS_NOTIFICATIONS_H

#include "api/redis/redis_frontend_int.h"

enum notify_class {
    NOTIFY_KEYSPACE = 1 << 0, /* K: messages by key, */
    NOTIFY_KEYEVENT = 1 << 1, /* E: by event */
    NOTIFY_GENERIC = 1 << 2,  /* g: del, expire, rename_from, ... */
    NOTIFY_STRING = 1 << 3,   /* $ */
    NOTIFY_LIST = 1 << 4,     /* l: known as the following are, but nothing here tells of it */
    NOTIFY_SET = 1 << 5,      /* s */
    NOTIFY_HASH = 1 << 6,     /* h */
    NOTIFY_ZSET = 1 << 7,     /* z */
    NOTIFY_EXPIRED = 1 << 8,  /* x: expired */
    NOTIFY_EVICTED = 1 << 9,  /* e: nothing is evicted */
    NOTIFY_STREAM = 1 << 10,  /* t: likewise */
    NOTIFY_MODULE = 1 << 11,  /* d: likewise */
    NOTIFY_MISS = 1 << 12,    /* m: keymiss (presence_events.h) */
    NOTIFY_NEW = 1 << 13,     /* n: new */
    /* A: all but the first two and the last two */
    NOTIFY_ALL = NOTIFY_GENERIC | NOTIFY_STRING | NOTIFY_LIST | NOTIFY_SET | NOTIFY_HASH |
                 NOTIFY_ZSET | NOTIFY_EXPIRED | NOTIFY_EVICTED | NOTIFY_STREAM | NOTIFY_MODULE,
};
#define NOTIFY_LETTERS "Ag$lshzxeKEtmdn"

/* Reads letters such as "KEA" into a set of enum notify_class; false: there is another letter. */
bool notify_read(struct bytes letters, unsigned *out);
/* The letters of a set as Redis writes them; `to` has room for sizeof(NOTIFY_LETTERS). */
const char *notify_write(unsigned classes, char *to);

/* Whether anybody is to hear of events of the class. Any thread. */
static inline bool notify_wants(const struct redis_call *call, enum notify_class class) {
    return (atomic_load_explicit(&call->frontend->notify, memory_order_relaxed) & class) != 0;
}

/* An event of a key in the database `db`. */
struct key_event {
    unsigned db;
    const char *name;
    struct bytes key;
};
/* Puts the messages of the event into the call. Past LIMIT_CALL_NOTIFICATIONS of one call there are
 * no more. */
void notify_add(struct redis_call *call, const struct key_event *event);
/* The same for what is no call's; whoever calls it sends `published`. */
void notify_put(struct redis_frontend *frontend, struct published *published,
                const struct key_event *event);

/* Tells that the key is new, if it was not there before the call; the call has noted such keys.
 * (presence_events.c) */
void presence_tell_first(struct redis_call *call, struct bytes key);

/* The call has changed the key of its database; where `run` or `then` runs, when nothing can fail
 * any more. `event` lives on. */
static inline void notify_key(struct redis_call *call, enum notify_class class, const char *event,
                              struct bytes key) {
    if (call->absent != NULL)
        presence_tell_first(call, key);
    if (notify_wants(call, class) && !(call->told && class != NOTIFY_GENERIC))
        notify_add(call, &(struct key_event){call->db, event, key});
}

#endif
