/* Requests that a loop keeps for reuse: the one that was given back last is taken first, so that
 * the same hot memory serves all connections of the loop. Used on the loop's thread only, so
 * nothing is locked. Zero is an empty pool. */
#ifndef GT_NET_REQUEST_POOL_H
#define GT_NET_REQUEST_POOL_H

#include "net/request.h"

struct request_pool {
    struct request *first;
    unsigned count;
};

/* A request of the pool, or a new one if there is none, for a connection of `loop`, which is the
 * same at each call. It is the caller's until request_pool_put(); request_begin() is still to be
 * called. */
struct request *request_pool_get(struct request_pool *pool, struct loop *loop);
/* Takes the request back; frees it if the pool is full. */
void request_pool_put(struct request_pool *pool, struct request *request);
/* Frees the requests in the pool. */
void request_pool_release(struct request_pool *pool);

#endif
