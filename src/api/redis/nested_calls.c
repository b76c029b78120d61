/* Commands that run as a part of another: those between MULTI and EXEC, and those of scripts. */
#include "api/redis/call_errors.h"
#include "api/redis/presence_events.h"
#include "api/redis/redis_call.h"
#include "api/redis/zset_txn_int.h"

#include <assert.h>

enum status call_run_nested(struct redis_call *outer, const struct redis_request *request) {
    struct redis_call call = {.frontend = outer->frontend,
                              .client = outer->client,
                              .command = request->command,
                              .args = request->args,
                              .count = request->count,
                              .out = outer->out,
                              .arena = outer->arena,
                              .txn = zset_txn_of(outer),
                              .db = outer->db,
                              .budget = outer->budget,
                              .allowed = outer->allowed,
                              .caller = outer->caller,
                              .published = outer->published,
                              .nested = true};
    struct call_scratch scratch;
    call.denied = call_denied_partitions(&call);
    bool reads =
        !command_writes(request->command); /* what it needs is not needed any more after it */
    if (reads)
        call_scratch_begin(&call, &scratch);
    enum status status = presence_run(&call);
    if (reads)
        call_scratch_end(&call, &scratch);
    outer->out.version = call.out.version; /* HELLO may have changed it, and SELECT this: */
    outer->db = call.db;
    return status;
}

bool call_start_nested(struct redis_call *outer, const struct redis_request *request,
                       struct redis_call *out) {
    size_t begin = outer->reply.size;
    *out = (struct redis_call){.frontend = outer->frontend,
                               .client = outer->client,
                               .command = request->command,
                               .args = request->args,
                               .count = request->count,
                               .out = {&outer->reply, outer->out.version},
                               .arena = outer->arena,
                               .txn = zset_txn_of(outer),
                               .db = outer->db,
                               .outer = outer,
                               .change = {.kind = CHANGE_WRITE, .arena = outer->arena},
                               .budget = outer->budget,
                               .allowed = outer->allowed,
                               .caller = outer->caller,
                               .published = outer->published,
                               .nested = true};
    assert(out->allowed);
    out->denied = call_denied_partitions(out);
    enum status status = request->command->start(out);
    outer->reply.size = begin;
    if (status != OK && out->failure.status == OK)
        out->failure.status = status;
    return status == OK && (out->then != NULL || out->change.prepare != NULL);
}

void call_then_nested(struct redis_call *outer, struct redis_call *inner) {
    inner->out = outer->out;
    if (inner->then != NULL)
        call_run_function(inner, inner->then);
    else
        call_put_error(inner, inner->out.to->size, inner->failure.status);
}
