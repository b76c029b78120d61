/* Requests that may wait run on a pool of threads instead of on their loop: all of them, where the
 * engine's calls may block (engine_may_block()); and single ones, where the embedded engine would
 * take long and says so (WOULD_BLOCK), or the request's body is large.
 *
 * A handler is written once. On a loop it must not wait; off it (offload_may_wait()) it may, and
 * what it submits is waited for (change_submit.h). Its answer finds the way back to the loop by
 * itself. */
#ifndef GT_API_OFFLOAD_H
#define GT_API_OFFLOAD_H

#include "api/background.h"
#include "net/http.h"

struct engine;

/* Whether the calling thread may wait: it is no loop's. */
bool offload_may_wait(void);
/* Whether a request to this engine that came on the calling thread has to go to the pool first. */
bool offload_needed(const struct engine *engine);
/* Likewise of an exchange: also if its body is so large, or packed, that unpacking, parsing and
 * carrying it out would hold up the loop's other clients. */
bool offload_wanted(const struct engine *engine, const struct http_exchange *exchange);

/* Answers an exchange from any thread: now through `send` if this is its loop's thread, else soon
 * on that. The answer is copied where it has to be. The exchange is gone for the caller in any
 * case. */
typedef void offload_send(struct http_exchange *exchange, const struct http_answer *answer);
void offload_answer(struct http_exchange *exchange, const struct http_answer *answer,
                    offload_send *send);

/* What a client is told when the pool takes no more. */
#define OFFLOAD_BUSY "too many requests wait for the database; try again soon"

#endif
