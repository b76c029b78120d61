/* Lists of members and scores: as replies, and written to sets. */
#include "api/redis/key_txn.h"
#include "api/redis/notifications.h"
#include "api/redis/zset_txn.h"

#include "base/limits.h"

#include <stdlib.h>

void reply_entries(struct redis_call *call, const struct zset_entries *entries, bool scores) {
    struct resp *out = &call->out;
    bool nested = scores && out->version >= 3;
    resp_array(out, entries->count * (scores && !nested ? 2 : 1));
    for (size_t i = 0; i < entries->count; i++) {
        if (nested)
            resp_array(out, 2);
        resp_bulk(out, entries->list[i].member);
        if (scores)
            resp_double(out, entries->list[i].score);
    }
}

enum status zset_remove_all(struct redis_call *call, struct zset *zset,
                            const struct zset_entries *entries) {
    enum status status = OK;
    for (size_t i = 0; i < entries->count && status == OK; i++)
        status = zset_remove(call, zset, entries->list[i].member);
    return status;
}

enum status zset_notify_removed(struct redis_call *call, struct zset *zset, const char *event,
                                struct bytes key) {
    uint64_t left = 1;
    enum status status = OK;
    if (notify_wants(call, NOTIFY_GENERIC))
        status = zset_size(call, zset, &left);
    if (status != OK)
        return status;
    notify_key(call, NOTIFY_ZSET, event, key);
    if (left == 0)
        notify_key(call, NOTIFY_GENERIC, "del", key);
    return OK;
}

enum status zset_check_stored(struct redis_call *call, uint64_t members) {
    if (members <= LIMIT_CHANGE_ACTIONS)
        return OK;
    return call_error(call, "ERR a sorted set of more than %d members cannot be stored in one step",
                      LIMIT_CHANGE_ACTIONS);
}

enum status zset_store(struct redis_call *call, struct bytes key,
                       const struct zset_entries *entries) {
    struct redis_key *replaced;
    struct zset *zset;
    enum key_type type = KEY_NONE;
    struct zset_entries *kept = ARENA_NEW(call->arena, struct zset_entries);
    enum status status = key_open(call, key, &replaced);
    *kept = *entries;
    if (status == OK)
        status = key_type_of(call, replaced, &type);
    if (status == OK)
        status = key_remove(call, replaced);
    if (status == OK)
        status = key_zset(call, replaced, &zset);
    if (status == OK)
        status = zset_fill(call, zset, kept);
    if (status != OK)
        return status;
    if (entries->count != 0)
        notify_key(call, NOTIFY_ZSET, call->command->name, key);
    else if (type != KEY_NONE)
        notify_key(call, NOTIFY_GENERIC, "del", key);
    resp_int(&call->out, (int64_t)entries->count);
    return OK;
}

int zset_entry_compare(const struct zset_entry *a, const struct zset_entry *b) {
    if (a->score != b->score)
        return a->score < b->score ? -1 : 1;
    return bytes_compare(a->member, b->member);
}

static int compare_entries(const void *left, const void *right) {
    return zset_entry_compare(left, right);
}

void zset_entries_sort(struct zset_entries *entries) {
    if (entries->count > 1)
        qsort(entries->list, entries->count, sizeof(*entries->list), compare_entries);
}
