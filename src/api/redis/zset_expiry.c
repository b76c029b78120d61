/* Members of sorted sets that go by themselves: ZEXPIRE, ZEXPIREAT, ZPERSIST, ZTTL, ZEXPIRETIME.
 * Redis does not have them; they are to members what HEXPIRE and its like are to fields.
 *
 * The end is the `ttl` of the entry's item, as boards with entryLifeSeconds have it: the table
 * removes the entry in that second, and it is a member, with its rank, until it is removed. So ends
 * are whole seconds. A new score leaves the end as it is, unless the board's rules set it anew; a
 * member that was removed and is added again has none.
 */
#include "api/redis/key_txn_int.h"
#include "api/redis/notifications.h"

enum { NO_MEMBER = -2, NO_END = -1, NOT_DONE = 0, DONE = 1, DELETED = 2 };
static const int64_t end_max_s = ((int64_t)1 << 46) / 1000;

/* ---- arguments ---- */

/* Reads "MEMBERS nummembers member [member ...]" from args[at] on, which is the end of the command;
 * *first is the first member's place. */
static enum status read_members(struct redis_call *call, size_t at, size_t *first) {
    static const char not_positive[] = "ERR Parameter `numMembers` should be greater than 0";
    int64_t number;
    if (at >= call->count || !call_arg_is(call, at, "MEMBERS"))
        return call_error(call,
                          "ERR Mandatory argument MEMBERS is missing or not at the right position");
    if (at + 1 >= call->count)
        return call_error(call, "%s", not_positive);
    if (call_int_between(call, at + 1, (struct int_bounds){1, INT64_MAX, not_positive}, &number) !=
        OK)
        return INVALID;
    if ((uint64_t)number != call->count - at - 2)
        return call_error(call,
                          "ERR The `nummembers` parameter must match the number of arguments");
    *first = at + 2;
    return OK;
}

/* The second that args[2] says: from now on, or since 1970. */
static enum status read_end(struct redis_call *call, int64_t *out_s) {
    bool absolute = strcmp(call->command->name, "zexpireat") == 0;
    int64_t now_ms = zset_txn_now(call);
    if (call_int(call, 2, out_s) != OK)
        return INVALID;
    if (*out_s < 0)
        return call_error(call, "ERR invalid expire time, must be >= 0");
    if (*out_s > end_max_s - now_ms / 1000)
        return call_error(call, "ERR invalid expire time in '%s' command", call->command->name);
    if (!absolute && *out_s != 0)
        *out_s = (*out_s * 1000 + now_ms + 999) / 1000;
    else if (!absolute)
        *out_s = now_ms / 1000;
    return OK;
}

/* ---- ZEXPIRE and ZEXPIREAT ---- */

struct zexpire {
    int64_t end_s;
    enum { ALWAYS, IF_NONE, IF_ANY, IF_LATER, IF_EARLIER } condition;
};

/* A member without an end is taken to end after all others. */
static bool allows(const struct zexpire *zexpire, int64_t old_s) {
    switch (zexpire->condition) {
    case IF_NONE:
        return old_s == 0;
    case IF_ANY:
        return old_s != 0;
    case IF_LATER:
        return old_s != 0 && zexpire->end_s > old_s;
    case IF_EARLIER:
        return old_s == 0 || zexpire->end_s < old_s;
    default:
        return true;
    }
}

static enum status expire_member(struct redis_call *call, struct zset *zset,
                                 const struct zexpire *zexpire, struct bytes member,
                                 int64_t *outcome) {
    struct zset_entry entry = {.member = member};
    int64_t old_s;
    enum status status = zset_end(call, zset, &entry, &old_s);
    if (status != OK)
        return status;
    *outcome = !entry.found ? NO_MEMBER : !allows(zexpire, old_s) ? NOT_DONE : DONE;
    if (*outcome != DONE)
        return OK;
    if (zexpire->end_s > zset_txn_now(call) / 1000)
        return zset_set_end(call, zset, member, zexpire->end_s);
    *outcome = DELETED;
    return zset_remove(call, zset, member);
}

static enum status read_zexpire(struct redis_call *call, struct zexpire *zexpire, size_t *first) {
    static const char *const conditions[] = {"NX", "XX", "GT", "LT"};
    enum status status = read_end(call, &zexpire->end_s);
    if (status != OK)
        return status;
    for (unsigned i = 0; i < 4; i++)
        if (call_arg_is(call, 3, conditions[i]))
            zexpire->condition = IF_NONE + i;
    return read_members(call, zexpire->condition == ALWAYS ? 3 : 4, first);
}

static enum status run_zexpire(struct redis_call *call) {
    struct zexpire zexpire = {0};
    struct zset *zset;
    size_t first;
    bool ended = false, deleted = false;
    enum status status = read_zexpire(call, &zexpire, &first);
    if (status == OK)
        status = zset_open(call, call->args[1], &zset);
    if (status != OK)
        return status;
    resp_array(&call->out, call->count - first);
    for (size_t i = first; i < call->count && status == OK; i++) {
        int64_t outcome = NO_MEMBER;
        status = expire_member(call, zset, &zexpire, call->args[i], &outcome);
        ended = ended || outcome == DONE;
        deleted = deleted || outcome == DELETED;
        resp_int(&call->out, outcome);
    }
    if (status == OK && ended)
        notify_key(call, NOTIFY_ZSET, "zexpire", call->args[1]);
    if (status == OK && deleted)
        status = zset_notify_removed(call, zset, "zrem", call->args[1]);
    return status;
}

/* ---- ZPERSIST ---- */

static enum status run_zpersist(struct redis_call *call) {
    struct zset *zset;
    size_t first;
    bool done = false;
    enum status status = read_members(call, 2, &first);
    if (status == OK)
        status = zset_open(call, call->args[1], &zset);
    if (status != OK)
        return status;
    resp_array(&call->out, call->count - first);
    for (size_t i = first; i < call->count && status == OK; i++) {
        struct zset_entry entry = {.member = call->args[i]};
        int64_t end_s;
        status = zset_end(call, zset, &entry, &end_s);
        if (status != OK)
            return status;
        if (entry.found && end_s != 0) {
            status = zset_set_end(call, zset, entry.member, 0);
            done = true;
        }
        resp_int(&call->out, !entry.found ? NO_MEMBER : end_s == 0 ? NO_END : DONE);
    }
    if (status == OK && done)
        notify_key(call, NOTIFY_ZSET, "zpersist", call->args[1]);
    return status;
}

/* ---- ZTTL and ZEXPIRETIME ---- */

static int64_t told_end(struct redis_call *call, const struct zset_entry *entry, int64_t end_s) {
    if (!entry->found)
        return NO_MEMBER;
    if (end_s == 0)
        return NO_END;
    if (strcmp(call->command->name, "zexpiretime") == 0)
        return end_s;
    int64_t left_s = (end_s * 1000 - zset_txn_now(call)) / 1000;
    return left_s > 0 ? left_s : 0; /* it is about to be removed */
}

static enum status run_zttl(struct redis_call *call) {
    struct zset *zset;
    size_t first;
    enum status status = read_members(call, 2, &first);
    if (status == OK)
        status = zset_open(call, call->args[1], &zset);
    if (status != OK)
        return status;
    resp_array(&call->out, call->count - first);
    for (size_t i = first; i < call->count && status == OK; i++) {
        struct zset_entry entry = {.member = call->args[i]};
        int64_t end_s;
        status = zset_end(call, zset, &entry, &end_s);
        resp_int(&call->out, told_end(call, &entry, end_s));
    }
    return status;
}

/* ---- the commands ---- */

enum {
    WRITES = COMMAND_WRITE | COMMAND_DENYOOM | COMMAND_FAST,
    READS = COMMAND_READ | COMMAND_FAST,
};
#define ONE_KEY \
    { 1, 1, 1, 0 }
#define ZSET TOUCHES_PARTITION, ONE_KEY

const struct redis_command redis_zset_expiry_commands[] = {
    {"zexpire", -6, WRITES, ZSET, run_zexpire, NULL, GROUP_SORTED_SET, "7.0.0",
     "Has members of a sorted set go after seconds", NULL},
    {"zexpireat", -6, WRITES, ZSET, run_zexpire, NULL, GROUP_SORTED_SET, "7.0.0",
     "Has members of a sorted set go at a time in seconds", NULL},
    {"zpersist", -5, COMMAND_WRITE | COMMAND_FAST, ZSET, run_zpersist, NULL, GROUP_SORTED_SET,
     "7.0.0", "Has members of a sorted set stay", NULL},
    {"zttl", -5, READS, ZSET, run_zttl, NULL, GROUP_SORTED_SET, "7.0.0",
     "Tells in how many seconds members go", NULL},
    {"zexpiretime", -5, READS, ZSET, run_zttl, NULL, GROUP_SORTED_SET, "7.0.0",
     "Tells in which second members go", NULL},
    {0},
};
