/* The arguments of commands that give an end to single fields or members. */
#include "api/redis/expiry_args.h"

#include "api/redis/key_txn_int.h"

/* The latest end that a field may have, as in Redis. */
static const int64_t end_max_ms = ((int64_t)1 << 46) - 1;

enum expiry_condition expiry_read_condition(const struct redis_call *call, size_t at) {
    static const char *const words[] = {"NX", "XX", "GT", "LT"};
    for (unsigned i = 0; i < 4; i++)
        if (call_arg_is(call, at, words[i]))
            return EXPIRY_NX + i;
    return EXPIRY_ALWAYS;
}

bool expiry_allows(enum expiry_condition condition, int64_t end, int64_t old) {
    switch (condition) {
    case EXPIRY_NX:
        return old == 0;
    case EXPIRY_XX:
        return old != 0;
    case EXPIRY_GT:
        return old != 0 && end > old;
    case EXPIRY_LT:
        return old == 0 || end < old;
    default:
        return true;
    }
}

enum status expiry_read_end(struct redis_call *call, struct expiry_unit unit, int64_t *out_ms) {
    int64_t base = unit.absolute ? 0 : zset_txn_now(call);
    if (call_int(call, 2, out_ms) != OK)
        return INVALID;
    if (*out_ms < 0)
        return call_error(call, "ERR invalid expire time, must be >= 0");
    if (__builtin_mul_overflow(*out_ms, unit.ms, out_ms) || *out_ms > end_max_ms - base)
        return call_error(call, "ERR invalid expire time in '%s' command", call->command->name);
    *out_ms += base;
    return OK;
}

enum status expiry_read_names(struct redis_call *call, size_t at, struct expiry_names names,
                              size_t *first) {
    struct int_bounds bounds = {1, INT64_MAX, names.not_positive};
    int64_t number;
    if (at >= call->count || !call_arg_is(call, at, names.word))
        return call_error(call, "ERR Mandatory argument %s is missing or not at the right position",
                          names.word);
    if (at + 1 >= call->count)
        return call_error(call, "%s", names.not_positive);
    if (call_int_between(call, at + 1, bounds, &number) != OK)
        return INVALID;
    if ((uint64_t)number != call->count - at - 2)
        return call_error(call, "ERR The `%s` parameter must match the number of arguments",
                          names.number);
    *first = at + 2;
    return OK;
}
