/* The replies of calls that are done, on their way to the client. */
#include "api/redis/call_errors.h"
#include "api/redis/call_records.h"
#include "api/redis/free_calls.h"
#include "api/redis/redis_call.h"
#include "api/redis/zset_txn_int.h"

struct buf *call_reply_target(struct redis_call *call) {
    struct redis_client *client = call->client;
    if (!call->muted)
        return &client->stream->out;
    buf_clear(&client->discarded);
    return &client->discarded;
}

/* Appends the reply to what is to be sent; one that is large changes places with an empty buffer
 * instead of being copied. */
static void move_reply(struct redis_call *call, struct buf *to) {
    struct buf empty = *to;
    if (to->size != 0 || call->reply.size <= FREE_CALL_KEEP || call->muted) {
        buf_put(to, buf_bytes(&call->reply));
        return;
    }
    *to = call->reply;
    call->reply = empty;
}

/* Takes over the failure of the change, or of the action that made it fail; false: none failed. */
static bool change_failed(struct redis_call *call) {
    struct change *change = &call->change;
    if (change->failure.status == OK)
        return false;
    call->failure = change->failure;
    if (change->failure.status == CANCELLED)
        for (size_t i = 0; i < change->action_count; i++)
            if (change->actions[i].failure.status != OK)
                call->failure = change->actions[i].failure;
    call->error = (struct bytes){0};
    return true;
}

void call_queue(struct redis_client *client, struct redis_call *call) {
    *client->last_call = call;
    client->last_call = &call->next;
    client->pending++;
    call->queued_args = call->count;
    client->pending_args += call->queued_args;
    stream_hold(client->stream);
}

void call_finish(struct redis_call *call) {
    struct redis_client *client = call->client;
    bool gone = client->stream->gone;
    bool written = call->then != NULL || call->change.prepare != NULL;
    client->preparing -= call->change.prepare != NULL;
    if (client->preparing == 0 && atomic_load_explicit(&client->detour, memory_order_relaxed))
        atomic_store(&client->detour, false);
    struct buf *to = call_reply_target(call);
    if (written && change_failed(call)) {
        call->out.to = to;
        call_put_error(call, to->size, call->failure.status);
    } else {
        move_reply(call, to);
        call->out.to = to;
        if (call->then != NULL)
            call_run_function(call, call->then);
        if (written)
            zset_txn_committed(call);
        published_send(call->frontend, call->published);
    }
    if (gone)
        buf_clear(&client->stream->out);
    if (call->counts)
        call_count(call);
    if (call->command != NULL && command_is_exec(call->command)) {
        client->db = call->db; /* SELECT may have been queued */
        multi_queue_reset(&client->queue);
    }
    call_give_back(call);
    stream_release(client->stream);
}
