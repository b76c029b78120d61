/* What is counted and kept of calls: for INFO, for metrics, and in the log of requests. Private to
 * this folder; all functions are called on the client's loop. */
#ifndef GT_API_REDIS_CALL_RECORDS_H
#define GT_API_REDIS_CALL_RECORDS_H

#include "api/redis/redis_frontend_int.h"

/* Counts a call that was answered with an error. */
void call_count_refusal(const struct redis_call *call);
/* Whether the log of requests wants a call that took so long, and puts it there. */
bool call_is_logged(const struct redis_call *call, int64_t us);
void call_log(const struct redis_call *call, int64_t us);
/* Counts a write that has its reply; EXEC with the commands that it ran. */
void call_count(struct redis_call *call);

#endif
