#include "api/redis/pairs.h"

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

enum status zset_store(struct redis_call *call, struct bytes key,
                       const struct zset_entries *entries) {
    struct zset *zset;
    enum status status = zset_open(call, key, &zset);
    if (status == OK)
        status = zset_clear(call, zset);
    for (size_t i = 0; i < entries->count && status == OK; i++)
        status = zset_put(call, zset, entries->list[i].member, entries->list[i].score);
    if (status == OK)
        resp_int(&call->out, (int64_t)entries->count);
    return status;
}

static int compare(const void *left, const void *right) {
    const struct zset_entry *a = left, *b = right;
    if (a->score != b->score)
        return a->score < b->score ? -1 : 1;
    return bytes_compare(a->member, b->member);
}

void entries_sort(struct zset_entries *entries) {
    if (entries->count > 1)
        qsort(entries->list, entries->count, sizeof(*entries->list), compare);
}
