/* How long keys live: EXPIRE and its kin, TTL and its kin, PERSIST. */
#include "api/redis/space.h"
#include "base/clock.h"

enum { ONLY_NEW = 1, ONLY_OLD = 2, ONLY_LATER = 4, ONLY_SOONER = 8 };

static enum status read_conditions(struct redis_call *call, unsigned *out) {
    static const char *const words[] = {"NX", "XX", "GT", "LT"};
    unsigned flags = 0;
    for (size_t i = 3; i < call->count; i++) {
        unsigned w = 0;
        while (w < 4 && !call_arg_is(call, i, words[w]))
            w++;
        if (w == 4)
            return call_error(call, "ERR Unsupported option %.*s", BYTES_ARG(call->args[i]));
        flags |= 1U << w;
    }
    if ((flags & ONLY_NEW) != 0 && flags != ONLY_NEW)
        return call_error(call, "ERR NX and XX, GT or LT options at the same time are not "
                                "compatible");
    if ((flags & ONLY_LATER) != 0 && (flags & ONLY_SOONER) != 0)
        return call_error(call, "ERR GT and LT options at the same time are not compatible");
    *out = flags;
    return OK;
}

/* The moment meant, in milliseconds since 1970. */
static enum status read_moment(struct redis_call *call, bool seconds, int64_t from_ms,
                               int64_t *out) {
    int64_t number, scale = seconds ? 1000 : 1;
    enum status status = call_int(call, 2, &number);
    if (status != OK)
        return status;
    if (__builtin_mul_overflow(number, scale, &number) ||
        __builtin_add_overflow(number, from_ms, &number))
        return call_error(call, "ERR invalid expire time in '%s' command", call->command->name);
    *out = number;
    return OK;
}

/* `before`: when it ends as things are; 0: never. */
static bool allowed(unsigned flags, int64_t at_ms, int64_t before) {
    if ((flags & ONLY_NEW) != 0 && before != 0)
        return false;
    if ((flags & ONLY_OLD) != 0 && before == 0)
        return false;
    if ((flags & ONLY_LATER) != 0 && (before == 0 || at_ms <= before))
        return false;
    return (flags & ONLY_SOONER) == 0 || before == 0 || at_ms < before;
}

/* The set, if there is such a key, and when it ends. */
static enum status look(struct redis_call *call, struct zset **zset, bool *exists,
                        int64_t *expires_ms) {
    uint64_t size = 0;
    enum status status = zset_open(call, call->args[1], zset);
    *expires_ms = 0;
    if (status == OK)
        status = zset_size(call, *zset, &size);
    *exists = size != 0;
    return status == OK && *exists ? zset_expires(call, *zset, expires_ms) : status;
}

static enum status expire(struct redis_call *call, bool seconds, int64_t from_ms) {
    struct zset *zset;
    int64_t at_ms = 0, before;
    unsigned flags = 0;
    bool exists;
    enum status status = read_conditions(call, &flags);
    if (status == OK)
        status = read_moment(call, seconds, from_ms, &at_ms);
    if (status == OK)
        status = look(call, &zset, &exists, &before);
    if (status != OK)
        return status;
    if (!exists || !allowed(flags, at_ms, before)) {
        resp_int(&call->out, 0);
        return OK;
    }
    status = at_ms <= clock_now_ms() ? zset_clear(call, zset) : zset_expire(call, zset, at_ms);
    if (status == OK)
        resp_int(&call->out, 1);
    return status;
}

static enum status run_expire(struct redis_call *call) {
    return expire(call, true, clock_now_ms());
}

static enum status run_pexpire(struct redis_call *call) {
    return expire(call, false, clock_now_ms());
}

static enum status run_expireat(struct redis_call *call) {
    return expire(call, true, 0);
}

static enum status run_pexpireat(struct redis_call *call) {
    return expire(call, false, 0);
}

static enum status run_persist(struct redis_call *call) {
    struct zset *zset;
    int64_t before;
    bool exists;
    enum status status = look(call, &zset, &exists, &before);
    if (status == OK && before != 0)
        status = zset_expire(call, zset, 0);
    if (status == OK)
        resp_int(&call->out, before != 0);
    return status;
}

static enum status tell(struct redis_call *call, bool seconds, bool moment) {
    struct zset *zset;
    int64_t expires_ms;
    bool exists;
    enum status status = look(call, &zset, &exists, &expires_ms);
    if (status != OK)
        return status;
    int64_t told = moment ? expires_ms : expires_ms - clock_now_ms();
    if (told < 0)
        told = 0;
    if (seconds)
        told = told / 1000 + (told % 1000 >= 500);
    resp_int(&call->out, !exists ? -2 : expires_ms == 0 ? -1 : told);
    return OK;
}

static enum status run_ttl(struct redis_call *call) {
    return tell(call, true, false);
}

static enum status run_pttl(struct redis_call *call) {
    return tell(call, false, false);
}

static enum status run_expiretime(struct redis_call *call) {
    return tell(call, true, true);
}

static enum status run_pexpiretime(struct redis_call *call) {
    return tell(call, false, true);
}

enum { WRITES = COMMAND_WRITE | COMMAND_FAST, READS = COMMAND_READ | COMMAND_FAST };

const struct redis_command redis_expiry_commands[] = {
    {"expire",
     -3,
     WRITES,
     {1, 1, 1, 0},
     run_expire,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "A key ends after so many seconds"},
    {"pexpire",
     -3,
     WRITES,
     {1, 1, 1, 0},
     run_pexpire,
     NULL,
     GROUP_GENERIC,
     "2.6.0",
     "A key ends after so many milliseconds"},
    {"expireat",
     -3,
     WRITES,
     {1, 1, 1, 0},
     run_expireat,
     NULL,
     GROUP_GENERIC,
     "1.2.0",
     "A key ends at a moment, in seconds since 1970"},
    {"pexpireat",
     -3,
     WRITES,
     {1, 1, 1, 0},
     run_pexpireat,
     NULL,
     GROUP_GENERIC,
     "2.6.0",
     "A key ends at a moment, in milliseconds since 1970"},
    {"persist",
     2,
     WRITES,
     {1, 1, 1, 0},
     run_persist,
     NULL,
     GROUP_GENERIC,
     "2.2.0",
     "A key stays for good"},
    {"ttl",
     2,
     READS,
     {1, 1, 1, 0},
     run_ttl,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "How many seconds a key has left"},
    {"pttl",
     2,
     READS,
     {1, 1, 1, 0},
     run_pttl,
     NULL,
     GROUP_GENERIC,
     "2.6.0",
     "How many milliseconds a key has left"},
    {"expiretime",
     2,
     READS,
     {1, 1, 1, 0},
     run_expiretime,
     NULL,
     GROUP_GENERIC,
     "7.0.0",
     "When a key ends, in seconds since 1970"},
    {"pexpiretime",
     2,
     READS,
     {1, 1, 1, 0},
     run_pexpiretime,
     NULL,
     GROUP_GENERIC,
     "7.0.0",
     "When a key ends, in milliseconds since 1970"},
    {0},
};
