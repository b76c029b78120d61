#include "api/redis/call_budget.h"

#include "api/redis/redis_frontend_int.h"
#include "base/limits.h"

enum { CHARGED_AT_ONCE = 1 << 20 }; /* so that the total is seldom touched */

enum status call_spend(struct redis_call *call, uint64_t units) {
    struct call_budget *budget = call->budget;
    if (budget == NULL)
        return OK;
    budget->work += units;
    if (budget->work_max == 0)
        return call_need(call, 0);
    if (budget->work <= budget->work_max)
        return OK;
    return call_refuse_long(&call->failure);
}

enum status call_spend_bytes(struct redis_call *call, uint64_t bytes) {
    return bytes < WORK_BYTES ? OK : call_spend(call, bytes / WORK_BYTES);
}

bool call_is_bounded(const struct redis_call *call) {
    return call->budget != NULL && call->budget->work_max != 0;
}

enum status call_refuse_long(struct failure *out) {
    *out = (struct failure){
        WOULD_BLOCK, BYTES("the command takes long, and its sets are written to all the time")};
    return WOULD_BLOCK;
}

enum status call_spend_all(struct redis_call *call) {
    struct call_budget *budget = call->budget;
    if (budget == NULL || budget->work_max == 0)
        return WOULD_BLOCK;
    return call_spend(call, budget->work_max + 1);
}

/* Charges the total with what the call has by now. False if that is too much. */
static bool charge_total(struct redis_frontend *frontend, struct call_budget *budget, size_t has) {
    if (has < budget->charged + CHARGED_AT_ONCE)
        return true;
    size_t more = has - budget->charged;
    budget->charged = has;
    return atomic_fetch_add(&frontend->calls_memory, more) + more <= LIMIT_CALLS_MEMORY;
}

/* Of a request that was not copied into the arena. */
static size_t taken_size(const struct redis_call *call) {
    return call->taken.in.room +
           (call->taken.args != NULL ? call->count * sizeof(struct bytes) : 0);
}

enum status call_need(struct redis_call *call, uint64_t bytes) {
    struct call_budget *budget = call->budget;
    if (budget == NULL || budget->work_max != 0)
        return OK;
    size_t reply = call->out.to != NULL ? call->out.to->size : 0;
    uint64_t has = budget->elsewhere + taken_size(call) + call->arena->used + reply + bytes;
    budget->exhausted = has > LIMIT_CALL_MEMORY;
    if (budget->exhausted)
        return call_error(call,
                          "OOM the command needs more than %d MB of memory: ask for less at once",
                          LIMIT_CALL_MEMORY >> 20);
    if (charge_total(call->frontend, budget, (size_t)has))
        return OK;
    budget->exhausted = true;
    call->failure = (struct failure){
        BUSY, BYTES("the commands under way need too much memory; try again soon")};
    return BUSY;
}

void call_budget_release(struct redis_frontend *frontend, struct call_budget *budget) {
    if (budget->charged != 0)
        atomic_fetch_sub(&frontend->calls_memory, budget->charged);
    budget->charged = 0;
}

void call_scratch_begin(struct redis_call *call, struct call_scratch *scratch) {
    arena_init(&scratch->arena);
    scratch->own = call->arena;
    call->arena = &scratch->arena;
    if (call->budget != NULL) {
        scratch->elsewhere = call->budget->elsewhere;
        call->budget->elsewhere += scratch->own->used;
    }
}

void call_scratch_end(struct redis_call *call, struct call_scratch *scratch) {
    if (call->budget != NULL)
        call->budget->elsewhere = scratch->elsewhere;
    call->arena = scratch->own;
    call->error = arena_copy(call->arena, call->error);
    call->failure.text = arena_copy(call->arena, call->failure.text);
    arena_release(&scratch->arena);
}
