#include "net/request_pool.h"

enum { POOL_MAX = 64 }; /* requests that a loop keeps */

struct request *request_pool_get(struct request_pool *pool, struct loop *loop) {
    struct request *request = pool->first;
    if (request != NULL) {
        pool->first = request->next;
        pool->count--;
        return request;
    }
    request = request_new();
    request->exchange.loop = loop;
    return request;
}

void request_pool_put(struct request_pool *pool, struct request *request) {
    if (pool->count == POOL_MAX) {
        request_free(request);
        return;
    }
    request_end(request);
    request->next = pool->first;
    pool->first = request;
    pool->count++;
}

void request_pool_release(struct request_pool *pool) {
    while (pool->first != NULL) {
        struct request *request = pool->first;
        pool->first = request->next;
        request_free(request);
    }
    pool->count = 0;
}
