/* Strings that are numbers: INCR, INCRBY, DECR, DECRBY, INCRBYFLOAT. */
#include "api/redis/notifications.h"
#include "api/redis/redis_float.h"
#include "api/redis/string_edit.h"
#include "base/decimal.h"

#include <math.h>

/* ---- integers ---- */

static enum status apply_incr(struct key_edit *edit, struct key_head *head, struct arena *arena) {
    struct string_edit *incr = (struct string_edit *)edit;
    int64_t number = 0;
    if (head->type == KEY_STRING && !redis_read_int(head->value, &number)) {
        edit->error = ERROR_NOT_INTEGER;
        return OK;
    }
    if (__builtin_add_overflow(number, incr->number, &incr->result)) {
        edit->error = "ERR increment or decrement would overflow";
        return OK;
    }
    string_put(incr, head, decimal_text(arena, (struct bytes){0}, incr->result));
    return OK;
}

static enum status read_incr(struct redis_call *call, struct string_edit *incr) {
    bool down = call->command->name[0] == 'd';
    incr->edit.apply = apply_incr;
    incr->number = 1;
    if (call->count > 2 && call_int(call, 2, &incr->number) != OK)
        return INVALID;
    if (down && incr->number == INT64_MIN)
        return call_error(call, "ERR decrement would overflow");
    if (down)
        incr->number = -incr->number;
    return OK;
}

static enum status reply_incr(struct redis_call *call) {
    const struct string_edit *incr = call->user;
    notify_key(call, NOTIFY_STRING, "incrby", call->args[1]);
    resp_int(&call->out, incr->result);
    return OK;
}

static enum status start_incr(struct redis_call *call) {
    return string_start(call, read_incr, reply_incr);
}

static enum status run_incr(struct redis_call *call) {
    return string_run(call, read_incr, reply_incr);
}

/* ---- decimals ---- */

enum { NOT_A_NUMBER = 1 };

static enum status apply_incrbyfloat(struct key_edit *edit, struct key_head *head,
                                     struct arena *arena) {
    struct string_edit *incr = (struct string_edit *)edit;
    long double number = 0;
    if (incr->flags == NOT_A_NUMBER ||
        (head->type == KEY_STRING && !float_read(head->value, &number))) {
        edit->error = ERROR_NOT_FLOAT;
        return OK;
    }
    number += incr->decimal;
    if (isnan(number) || isinf(number)) {
        edit->error = "ERR increment would produce NaN or Infinity";
        return OK;
    }
    incr->after = float_text(number, arena);
    string_put(incr, head, incr->after);
    return OK;
}

/* What the key holds is looked at before the number is. */
static enum status read_incrbyfloat(struct redis_call *call, struct string_edit *incr) {
    incr->edit.apply = apply_incrbyfloat;
    if (!float_read(call->args[2], &incr->decimal))
        incr->flags = NOT_A_NUMBER;
    return OK;
}

static enum status reply_incrbyfloat(struct redis_call *call) {
    const struct string_edit *incr = call->user;
    notify_key(call, NOTIFY_STRING, "incrbyfloat", call->args[1]);
    resp_bulk(&call->out, incr->after);
    return OK;
}

static enum status start_incrbyfloat(struct redis_call *call) {
    return string_start(call, read_incrbyfloat, reply_incrbyfloat);
}

static enum status run_incrbyfloat(struct redis_call *call) {
    return string_run(call, read_incrbyfloat, reply_incrbyfloat);
}

/* ---- the commands ---- */

enum { WRITES = COMMAND_WRITE | COMMAND_DENYOOM | COMMAND_FAST };
#define ONE_KEY \
    { 1, 1, 1, 0 }

const struct redis_command redis_number_commands[] = {
    {"incr", 2, WRITES, TOUCHES_PARTITION, ONE_KEY, run_incr, start_incr, GROUP_STRING, "1.0.0",
     "Adds one to the number of a key", NULL},
    {"incrby", 3, WRITES, TOUCHES_PARTITION, ONE_KEY, run_incr, start_incr, GROUP_STRING, "1.0.0",
     "Adds to the number of a key", NULL},
    {"decr", 2, WRITES, TOUCHES_PARTITION, ONE_KEY, run_incr, start_incr, GROUP_STRING, "1.0.0",
     "Takes one off the number of a key", NULL},
    {"decrby", 3, WRITES, TOUCHES_PARTITION, ONE_KEY, run_incr, start_incr, GROUP_STRING, "1.0.0",
     "Takes off the number of a key", NULL},
    {"incrbyfloat", 3, WRITES, TOUCHES_PARTITION, ONE_KEY, run_incrbyfloat, start_incrbyfloat,
     GROUP_STRING, "2.6.0", "Adds to the decimal number of a key", NULL},
    {0},
};
