/* The time to live of keys: EXPIRE, TTL, their variants, and PERSIST. */
#include "api/redis/key_txn.h"
#include "api/redis/notifications.h"
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

/* Reads when the key shall expire, in milliseconds since 1970; the argument counts from `from_ms`.
 */
static enum status read_expiry_time(struct redis_call *call, bool seconds, int64_t from_ms,
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

/* Whether the conditions NX, XX, GT and LT hold; `before` is when the key expires now, 0: never. */
static bool conditions_hold(unsigned flags, int64_t at_ms, int64_t before) {
    if ((flags & ONLY_NEW) != 0 && before != 0)
        return false;
    if ((flags & ONLY_OLD) != 0 && before == 0)
        return false;
    if ((flags & ONLY_LATER) != 0 && (before == 0 || at_ms <= before))
        return false;
    return (flags & ONLY_SOONER) == 0 || before == 0 || at_ms < before;
}

/* Opens the call's key; whether there is such a key, and when it expires. */
static enum status read_expiry(struct redis_call *call, struct redis_key **key, bool *exists,
                               int64_t *expires_ms) {
    enum key_type type = KEY_NONE;
    enum status status = key_open(call, call->args[1], key);
    *expires_ms = 0;
    if (status == OK)
        status = key_type_of(call, *key, &type);
    *exists = type != KEY_NONE;
    return status == OK && *exists ? key_expires(call, *key, expires_ms) : status;
}

static void notify_expiry(struct redis_call *call, bool removed) {
    notify_key(call, NOTIFY_GENERIC, removed ? "del" : "expire", call->args[1]);
}

static enum status set_expiry(struct redis_call *call, bool seconds, int64_t from_ms) {
    struct redis_key *key;
    int64_t at_ms = 0, before;
    unsigned flags = 0;
    bool exists;
    enum status status = read_conditions(call, &flags);
    if (status == OK)
        status = read_expiry_time(call, seconds, from_ms, &at_ms);
    if (status == OK)
        status = read_expiry(call, &key, &exists, &before);
    if (status != OK)
        return status;
    if (!exists || !conditions_hold(flags, at_ms, before)) {
        resp_int(&call->out, 0);
        return OK;
    }
    bool removed = at_ms <= clock_now_ms();
    status = removed ? key_remove(call, key) : key_expire(call, key, at_ms);
    if (status != OK)
        return status;
    notify_expiry(call, removed);
    resp_int(&call->out, 1);
    return OK;
}

/* As a `start`, for keys that have a head. */
struct expiry_edit {
    struct key_edit edit; /* first: what apply_expiry() is given is both */
    unsigned flags;
    int64_t at_ms;
    bool done;
};

static enum status apply_expiry(struct key_edit *edit, struct key_head *head, struct arena *arena) {
    struct expiry_edit *expiry = (struct expiry_edit *)edit;
    (void)arena;
    expiry->done =
        head->type != KEY_NONE && conditions_hold(expiry->flags, expiry->at_ms, head->expires_ms);
    edit->changed = expiry->done;
    if (expiry->done && expiry->at_ms <= edit->now_ms)
        *head = (struct key_head){0};
    else if (expiry->done)
        head->expires_ms = expiry->at_ms;
    return OK;
}

static enum status then_expired(struct redis_call *call) {
    const struct expiry_edit *expiry = call->user;
    if (expiry->done)
        notify_expiry(call, expiry->at_ms <= expiry->edit.now_ms);
    resp_int(&call->out, expiry->done);
    return OK;
}

static enum status start_expiry(struct redis_call *call, bool seconds, int64_t from_ms) {
    struct expiry_edit *expiry = ARENA_NEW(call->arena, struct expiry_edit);
    expiry->edit.apply = apply_expiry;
    enum status status = read_conditions(call, &expiry->flags);
    if (status == OK)
        status = read_expiry_time(call, seconds, from_ms, &expiry->at_ms);
    return status == OK ? key_start_edit(call, &expiry->edit, then_expired) : status;
}

static enum status run_expire(struct redis_call *call) {
    return set_expiry(call, true, clock_now_ms());
}

static enum status start_expire(struct redis_call *call) {
    return start_expiry(call, true, clock_now_ms());
}

static enum status run_pexpire(struct redis_call *call) {
    return set_expiry(call, false, clock_now_ms());
}

static enum status start_pexpire(struct redis_call *call) {
    return start_expiry(call, false, clock_now_ms());
}

static enum status run_expireat(struct redis_call *call) {
    return set_expiry(call, true, 0);
}

static enum status start_expireat(struct redis_call *call) {
    return start_expiry(call, true, 0);
}

static enum status run_pexpireat(struct redis_call *call) {
    return set_expiry(call, false, 0);
}

static enum status start_pexpireat(struct redis_call *call) {
    return start_expiry(call, false, 0);
}

static enum status run_persist(struct redis_call *call) {
    struct redis_key *key;
    int64_t before;
    bool exists;
    enum status status = read_expiry(call, &key, &exists, &before);
    if (status == OK && before != 0)
        status = key_expire(call, key, 0);
    if (status != OK)
        return status;
    if (before != 0)
        notify_key(call, NOTIFY_GENERIC, "persist", call->args[1]);
    resp_int(&call->out, before != 0);
    return OK;
}

static enum status reply_ttl(struct redis_call *call, bool seconds, bool absolute) {
    struct redis_key *key;
    int64_t expires_ms;
    bool exists;
    enum status status = read_expiry(call, &key, &exists, &expires_ms);
    if (status != OK)
        return status;
    int64_t told = absolute ? expires_ms : expires_ms - clock_now_ms();
    if (told < 0)
        told = 0;
    if (seconds)
        told = told / 1000 + (told % 1000 >= 500);
    resp_int(&call->out, !exists ? -2 : expires_ms == 0 ? -1 : told);
    return OK;
}

static enum status run_ttl(struct redis_call *call) {
    return reply_ttl(call, true, false);
}

static enum status run_pttl(struct redis_call *call) {
    return reply_ttl(call, false, false);
}

static enum status run_expiretime(struct redis_call *call) {
    return reply_ttl(call, true, true);
}

static enum status run_pexpiretime(struct redis_call *call) {
    return reply_ttl(call, false, true);
}

enum { WRITES = COMMAND_WRITE | COMMAND_FAST, READS = COMMAND_READ | COMMAND_FAST };

const struct redis_command redis_expiry_commands[] = {
    {"expire",
     -3,
     WRITES,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_expire,
     start_expire,
     GROUP_GENERIC,
     "1.0.0",
     "A key ends after so many seconds"},
    {"pexpire",
     -3,
     WRITES,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_pexpire,
     start_pexpire,
     GROUP_GENERIC,
     "2.6.0",
     "A key ends after so many milliseconds"},
    {"expireat",
     -3,
     WRITES,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_expireat,
     start_expireat,
     GROUP_GENERIC,
     "1.2.0",
     "A key ends at a moment, in seconds since 1970"},
    {"pexpireat",
     -3,
     WRITES,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_pexpireat,
     start_pexpireat,
     GROUP_GENERIC,
     "2.6.0",
     "A key ends at a moment, in milliseconds since 1970"},
    {"persist",
     2,
     WRITES,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_persist,
     NULL,
     GROUP_GENERIC,
     "2.2.0",
     "A key stays for good"},
    {"ttl",
     2,
     READS,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_ttl,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "How many seconds a key has left"},
    {"pttl",
     2,
     READS,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_pttl,
     NULL,
     GROUP_GENERIC,
     "2.6.0",
     "How many milliseconds a key has left"},
    {"expiretime",
     2,
     READS,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_expiretime,
     NULL,
     GROUP_GENERIC,
     "7.0.0",
     "When a key ends, in seconds since 1970"},
    {"pexpiretime",
     2,
     READS,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_pexpiretime,
     NULL,
     GROUP_GENERIC,
     "7.0.0",
     "When a key ends, in milliseconds since 1970"},
    {0},
};
