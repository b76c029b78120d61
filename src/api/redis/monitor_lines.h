/* What MONITOR tells of each command. Private to this folder; called on the client's loop. */
#ifndef GT_API_REDIS_MONITOR_LINES_H
#define GT_API_REDIS_MONITOR_LINES_H

#include "api/redis/redis_frontend_int.h"

/* Whether anybody looks on. */
static inline bool monitors_look_on(const struct redis_client *client) {
    return atomic_load_explicit(&client->frontend->pubsub.monitors, memory_order_relaxed) != 0;
}
/* Tells them of the call. Secrets of AUTH and HELLO are not told, nor what administrators do. */
void monitors_tell(const struct redis_client *client, const struct redis_call *call);

#endif
