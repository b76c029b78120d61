#include "api/redis/write_batch.h"

#include "api/redis/free_calls.h"
#include "api/redis/monitor_lines.h"
#include "api/redis/slow_calls.h"
#include "api/redis/write_calls.h"

bool write_batch_may_begin(struct redis_client *client, const struct redis_command *command) {
    const struct redis_frontend *frontend = client->frontend;
    if (command == NULL || command->start == NULL || (command->flags & COMMAND_BATCHED) == 0)
        return false;
    if (client->unbatched != 0) {
        client->unbatched--;
        return false;
    }
    return !client->queue.open && client->mode == REPLY_ON && !frontend->blocks &&
           atomic_load_explicit(&frontend->notify, memory_order_relaxed) == 0 &&
           !monitors_look_on(client);
}

/* Fills in the change; false if it is not one action of each request. */
static bool fill_change(struct redis_call *call, size_t count) {
    call->batched = true;
    call->count = call->writes.shared + call->writes.differs * count;
    call_keep_args(call);
    call_prepare_change(call);
    bool good = call->command->start(call) == OK && call->then != NULL &&
                call->change.prepare == NULL && call->change.action_count == count &&
                !slow_is_over(call);
    call->client->loop->turn_work += call->own_budget.work;
    call->change.apart = true;
    return good;
}

bool write_batch_start(struct redis_call *call, const struct request_batch *batch, size_t count) {
    struct redis_client *client = call->client;
    call->out.to = &call->reply;
    call->writes.shared = batch->shared;
    call->writes.differs = batch->differs;
    if (!fill_change(call, count))
        return false;
    call->writes.count = count;
    call->writes.args = call->args;
    call->counts = true;
    call->begun_us = client->loop->turn_us;
    call_queue(client, call);
    call_submit_started(client, call, OK);
    return true;
}

void write_batch_show(struct redis_call *call, size_t index) {
    size_t shared = call->writes.shared, differs = call->writes.differs;
    struct bytes *args = arena_alloc(call->arena, (shared + differs) * sizeof(*args));
    memcpy(args, call->writes.args, shared * sizeof(*args));
    memcpy(args + shared, call->writes.args + shared + differs * index, differs * sizeof(*args));
    call->args = args;
    call->count = shared + differs;
    call->turn = index;
    call->failed = false;
    call->error = (struct bytes){0};
    call->failure = (struct failure){0};
}

/* A call of the request that `batch` shows, behind the call `before` of the client's queue. */
static struct redis_call *call_of_request(const struct redis_call *batch,
                                          struct redis_call *before) {
    struct redis_client *client = batch->client;
    struct redis_call *behind = before->next, **last = client->last_call;
    struct redis_call *call = call_take_free(client);
    call->command = batch->command;
    call->args = batch->args;
    call->count = batch->count;
    call->caller = batch->caller;
    call->allowed = batch->allowed;
    call->denied = batch->denied;
    call->db = batch->db;
    call->muted = batch->muted;
    call->out = (struct resp){&call->reply, batch->out.version};
    call->counts = batch->counts;
    call->begun_us = batch->begun_us;
    call_keep_args(call);
    client->last_call = &before->next;
    call_queue(client, call);
    call->next = behind;
    if (behind != NULL)
        client->last_call = last;
    return call;
}

void write_batch_split(struct redis_call *call) {
    struct redis_call *before = call;
    for (size_t i = 1; i < call->writes.count; i++) {
        write_batch_show(call, i);
        before = call_of_request(call, before);
    }
    write_batch_show(call, 0);
    call->writes.count = 0;
    call->batched = false;
}
