/* The replies of calls that are done, on their way to the client. */
#include "api/redis/call_errors.h"
#include "api/redis/call_records.h"
#include "api/redis/free_calls.h"
#include "api/redis/redis_call.h"
#include "api/redis/write_batch.h"
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
    call->failure = call->writes.count != 0 && change->failure.status == OK
                        ? change->actions[call->turn].failure
                        : change->failure;
    if (call->failure.status == OK)
        return false;
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

/* Makes the reply in `to`; false if it is the error of a change that has failed. */
static bool put_reply(struct redis_call *call, struct buf *to) {
    bool written = call->then != NULL || call->change.prepare != NULL;
    call->out.to = to;
    if (written && change_failed(call)) {
        call_put_error(call, to->size, call->failure.status);
        return false;
    }
    move_reply(call, to);
    if (call->then != NULL)
        call_run_function(call, call->then);
    return true;
}

/* Of a batch of writes: replies to each request, and counts it; false if the change has failed. */
static bool put_replies(struct redis_call *call, struct buf *to) {
    for (size_t i = 0; i < call->writes.count; i++) {
        write_batch_show(call, i);
        put_reply(call, to);
        call_count(call);
    }
    return call->change.failure.status == OK;
}

void call_finish(struct redis_call *call) {
    struct redis_client *client = call->client;
    bool gone = client->stream->gone;
    bool written = call->then != NULL || call->change.prepare != NULL;
    client->preparing -= call->change.prepare != NULL;
    if (client->preparing == 0 && atomic_load_explicit(&client->detour, memory_order_relaxed))
        atomic_store(&client->detour, false);
    struct buf *to = call_reply_target(call);
    bool good = call->writes.count == 0 ? put_reply(call, to) : put_replies(call, to);
    if (good) {
        if (written)
            zset_txn_committed(call);
        published_send(call->frontend, call->published);
    }
    if (gone)
        buf_clear(&client->stream->out);
    if (call->counts && call->writes.count == 0)
        call_count(call);
    if (call->command != NULL && command_is_exec(call->command)) {
        client->db = call->db; /* SELECT may have been queued */
        multi_queue_reset(&client->queue);
    }
    call_give_back(call);
    stream_release(client->stream);
}
