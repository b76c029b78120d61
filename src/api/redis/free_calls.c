/* The calls that a loop keeps for reuse. */
#include "api/redis/free_calls.h"

#include "api/redis/call_parts.h"
#include "api/redis/redis_call.h"
#include "api/redis/set_staging.h"
#include "api/redis/slow_calls.h"
#include "api/redis/zset_txn_int.h"
#include "base/mem.h"

enum { FREE_CALLS_MAX = 1024 }; /* finished calls that a loop keeps for reuse */

struct redis_call *call_take_free(struct redis_client *client) {
    struct redis_loop *loop = client->loop;
    struct redis_call *call = loop->pool;
    if (call != NULL) {
        loop->pool = call->next;
        loop->pooled--;
    } else {
        call = mem_zalloc(sizeof(*call));
        arena_init(&call->own_arena);
    }
    call->frontend = client->frontend;
    call->client = client;
    call->arena = &call->own_arena;
    call->next = NULL;
    call->txn = NULL;
    call->absent = NULL;
    call->waiter = NULL;
    call->error = (struct bytes){0};
    call->failure = (struct failure){0};
    call->done = call->nested = call->waits = call->repaired = call->batched = false;
    call->refused = call->switches = false;
    call->outer = NULL;
    call->db = client->queue.open ? client->queue.db : client->db;
    call->denied = 0;
    call->allowed = false;
    call->then = NULL;
    call->writes.count = 0;
    call->change.prepare = NULL;
    call->again = call->counts = call->failed = call->told = false;
    call->usec = 0;
    call->ahead = (struct ahead){0};
    call->budget = &call->own_budget;
    call->published = &call->own_published;
    published_begin(call->published, call->arena);
    slow_set_loop_budget(call);
    return call;
}

void call_free(struct redis_call *call) {
    arena_release(&call->own_arena);
    call_drop_taken(call);
    buf_release(&call->reply);
    mem_free(call);
}

void call_give_back(struct redis_call *call) {
    struct redis_loop *loop = call->client->loop;
    if (call->txn != NULL)
        zset_txn_release(call->txn);
    if (call->taken.in.data != NULL)
        call_drop_taken(call);
    staging_forget(call);
    parts_forget(call);
    call_budget_release(call->frontend, &call->own_budget);
    if (call->own_arena.used > FREE_CALL_KEEP) {
        slow_release_arena(call->frontend, &call->own_arena);
        arena_init(&call->own_arena);
    } else
        arena_recycle(&call->own_arena);
    if (loop->pooled == FREE_CALLS_MAX) {
        call_free(call);
        return;
    }
    buf_clear(&call->reply);
    if (call->reply.room > FREE_CALL_KEEP)
        buf_release(&call->reply);
    call->next = loop->pool;
    loop->pool = call;
    loop->pooled++;
}
