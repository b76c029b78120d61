/* Members of sorted sets that go by themselves: ZEXPIRE, ZEXPIREAT, ZPERSIST, ZTTL, ZEXPIRETIME.
 * Redis does not have them; they are to members what HEXPIRE and its like are to fields.
 *
 * The end is the `ttl` of the entry's item, as boards with entryLifeSeconds have it: the table
 * removes the entry in that second, and it is a member, with its rank, until it is removed. So ends
 * are whole seconds. A new score leaves the end as it is, unless the board's rules set it anew; a
 * member that was removed and is added again has none.
 */
#include "api/redis/expiry_args.h"
#include "api/redis/key_txn_int.h"
#include "api/redis/notifications.h"

/* ---- arguments ---- */

static enum status read_members(struct redis_call *call, size_t at, size_t *first) {
    struct expiry_names names = {"MEMBERS", "nummembers",
                                 "ERR Parameter `numMembers` should be greater than 0"};
    return expiry_read_names(call, at, names, first);
}

/* The second that args[2] says; one that is not over yet is rounded up. */
static enum status read_end(struct redis_call *call, int64_t *out_s) {
    struct expiry_unit unit = {1000, strcmp(call->command->name, "zexpireat") == 0};
    int64_t end_ms;
    enum status status = expiry_read_end(call, unit, &end_ms);
    if (status == OK)
        *out_s = (end_ms + (end_ms > zset_txn_now(call) ? 999 : 0)) / 1000;
    return status;
}

/* ---- ZEXPIRE and ZEXPIREAT ---- */

struct zexpire {
    int64_t end_s;
    enum expiry_condition condition;
};

static enum status expire_member(struct redis_call *call, struct zset *zset,
                                 const struct zexpire *zexpire, struct bytes member,
                                 int64_t *outcome) {
    struct zset_entry entry = {.member = member};
    int64_t old_s;
    enum status status = zset_end(call, zset, &entry, &old_s);
    if (status != OK)
        return status;
    bool allowed = expiry_allows(zexpire->condition, zexpire->end_s, old_s);
    *outcome = !entry.found ? EXPIRY_NOT_THERE : !allowed ? EXPIRY_NOT_DONE : EXPIRY_DONE;
    if (*outcome != EXPIRY_DONE)
        return OK;
    if (zexpire->end_s > zset_txn_now(call) / 1000)
        return zset_set_end(call, zset, member, zexpire->end_s);
    *outcome = EXPIRY_DELETED;
    return zset_remove(call, zset, member);
}

static enum status read_zexpire(struct redis_call *call, struct zexpire *zexpire, size_t *first) {
    enum status status = read_end(call, &zexpire->end_s);
    zexpire->condition = expiry_read_condition(call, 3);
    return status != OK ? status
                        : read_members(call, zexpire->condition == EXPIRY_ALWAYS ? 3 : 4, first);
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
        int64_t outcome = EXPIRY_NOT_THERE;
        status = expire_member(call, zset, &zexpire, call->args[i], &outcome);
        ended = ended || outcome == EXPIRY_DONE;
        deleted = deleted || outcome == EXPIRY_DELETED;
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
        resp_int(&call->out, !entry.found ? EXPIRY_NOT_THERE
                             : end_s == 0 ? EXPIRY_NO_END
                                          : EXPIRY_DONE);
    }
    if (status == OK && done)
        notify_key(call, NOTIFY_ZSET, "zpersist", call->args[1]);
    return status;
}

/* ---- ZTTL and ZEXPIRETIME ---- */

static int64_t told_end(struct redis_call *call, const struct zset_entry *entry, int64_t end_s) {
    if (!entry->found)
        return EXPIRY_NOT_THERE;
    if (end_s == 0)
        return EXPIRY_NO_END;
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
