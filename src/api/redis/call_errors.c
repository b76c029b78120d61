/* What went wrong with a call, as an error reply. */
#include "api/redis/call_errors.h"

#include <assert.h>

static const char *code_of(enum status status) {
    bool again = status == BUSY || status == WOULD_BLOCK || status == BEING_BUILT;
    return status == DENIED      ? "NOPERM"
           : again               ? "TRYAGAIN"
           : status == IO_FAILED ? "MISCONF"
                                 : "ERR";
}

/* The engine's failure as an error reply of Redis: a code, then a sentence. */
static void put_failure(struct redis_call *call) {
    const struct failure *failure = &call->failure;
    const char *code = code_of(failure->status);
    struct bytes text = failure->text;
    if (text.size == 0)
        text = bytes_str(status_name(failure->status));
    resp_error(&call->out, arena_printf(call->arena, "%s %.*s", code, BYTES_ARG(text)));
}

void call_put_error(struct redis_call *call, size_t begin, enum status status) {
    call->out.to->size = begin;
    call->failed = true;
    if (call->failure.status == OK)
        call->failure.status = status;
    if (call->error.size != 0)
        resp_error(&call->out, call->error);
    else
        put_failure(call);
}

enum status call_run_function(struct redis_call *call, redis_run *function) {
    size_t begin = call->out.to->size;
    assert(call->allowed);
    enum status status = function(call);
    if (status != OK)
        call_put_error(call, begin, status);
    return status;
}

const char *call_reason(const struct redis_call *call) {
    static const char *const codes[] = {"ERR",       "NOPERM",    "NOAUTH",   "WRONGPASS",
                                        "WRONGTYPE", "EXECABORT", "TRYAGAIN", "NOPROTO",
                                        "UNBLOCKED", NULL};
    if (call->error.size == 0)
        return code_of(call->failure.status);
    size_t size = bytes_find(call->error, BYTES(" "));
    struct bytes code = bytes_of(call->error.data, size == SIZE_MAX ? call->error.size : size);
    for (size_t i = 0; codes[i] != NULL; i++)
        if (bytes_equal(code, bytes_str(codes[i])))
            return codes[i];
    return "other";
}
