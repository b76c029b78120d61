#include "api/dynamodb/ddb_background.h"

#include "api/offload.h"

#include <stdlib.h>

struct background_step {
    enum status (*work)(struct call *call);
    enum status (*next)(struct call *call);
    enum status status;
};

static void background_main(void *argument) {
    struct call *call = argument;
    struct background_step *work = call->state;
    work->status = work->work(call);
    call_wake(call);
}

static void background_submit(struct call *call) {
    struct background_step *work = call->state;
    if (offload_may_wait()) {
        work->status = work->work(call);
        call_resume(call);
        return;
    }
    if (background_run(transfer_background(call->frontend->settings.transfer), background_main,
                       call))
        return;
    work->status =
        failure_set(&call->failure, call->arena, LIMIT_EXCEEDED,
                    "Too many operations that take their time are under way: there is a limit of "
                    "%d",
                    LIMIT_BACKGROUND);
    call_wake(call);
}

static enum status background_done(struct call *call) {
    struct background_step *work = call->state;
    call->submit = NULL;
    return work->status == OK ? work->next(call) : work->status;
}

enum status call_background(struct call *call, enum status (*work)(struct call *call),
                            enum status (*next)(struct call *call)) {
    if (call->frontend->settings.transfer == NULL)
        return call_invalid(call, "This server makes no copies of tables");
    struct background_step *state = ARENA_NEW(call->arena, struct background_step);
    *state = (struct background_step){.work = work, .next = next};
    call->state = state;
    call->submit = background_submit;
    return call_then(call, background_done);
}

/* --- ARNs --- */

void call_put_sub_arn(const struct call *call, struct buf *to, struct sub_arn arn) {
    buf_byte(to, '"');
    call_put_arn(call, to, arn.table);
    buf_printf(to, "/%s/%.*s\"", arn.kind, BYTES_ARG(arn.id));
}

bool call_read_sub_arn(struct bytes arn, const char *kind, struct bytes *table, struct bytes *id) {
    if (!bytes_starts(arn, BYTES("arn:")))
        return false;
    size_t at = bytes_find(arn, BYTES(":table/"));
    if (at == SIZE_MAX)
        return false;
    struct bytes rest = bytes_skip(arn, at + 7);
    size_t end = bytes_find(rest, BYTES("/"));
    if (end == SIZE_MAX)
        return false;
    *table = bytes_of(rest.data, end);
    rest = bytes_skip(rest, end + 1);
    struct bytes word = bytes_str(kind);
    if (!bytes_starts(rest, word) || rest.size <= word.size + 1 || rest.data[word.size] != '/')
        return false;
    *id = bytes_skip(rest, word.size + 1);
    return true;
}

/* --- times and texts --- */

int64_t call_time_ms(const struct call *call, enum arg arg) {
    char digits[40];
    struct bytes text = args_text(&call->args, arg);
    if (text.size == 0 || text.size >= sizeof(digits))
        return 0;
    memcpy(digits, text.data, text.size);
    digits[text.size] = '\0';
    double seconds = strtod(digits, NULL);
    return seconds > 0 && seconds < 1e12 ? (int64_t)(seconds * 1000 + 0.5) : 0;
}

void reply_time(struct buf *to, struct bytes name, int64_t ms) {
    if (ms == 0)
        return;
    reply_name(to, name);
    json_put_double(to, (double)ms / 1000.0);
}

void reply_text(struct buf *to, struct bytes name, struct bytes text) {
    if (text.size == 0)
        return;
    reply_name(to, name);
    json_put_string(to, text);
}
