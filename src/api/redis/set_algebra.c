/* SINTER, SUNION, SDIFF, with STORE and CARD: sets out of several. */
#include "api/redis/key_txn.h"
#include "api/redis/notifications.h"
#include "base/limits.h"
#include "base/map.h"

#include <stdlib.h>

enum operation { UNION, INTERSECTION, DIFFERENCE };
enum {
    CHUNK = 1024,     /* members looked up at once */
    UNITED_SIZE = 96, /* bytes of a member in a union, in the list and in the map */
};

struct source {
    struct redis_key *key;
    uint64_t size;
};

struct algebra {
    enum operation operation;
    bool store, count_only;
    int64_t limit;                 /* of SINTERCARD; 0: none */
    const struct bytes *arguments; /* the keys */
    struct source *sources;
    size_t count;
};

/* Opens all sources: one of another type is an error whatever the others have. */
static enum status open_sources(struct redis_call *call, struct algebra *algebra) {
    enum status status = OK;
    algebra->sources = ARENA_ARRAY(call->arena, struct source, algebra->count);
    for (size_t i = 0; i < algebra->count && status == OK; i++) {
        struct source *source = &algebra->sources[i];
        status = key_open_as(call, algebra->arguments[i], KEY_SET, &source->key);
        if (status == OK)
            status = key_field_count(call, source->key, &source->size);
    }
    return status;
}

/* ---- the operations ---- */

static int by_size(const void *left, const void *right) {
    const struct source *a = left, *b = right;
    return a->size < b->size ? -1 : a->size > b->size;
}

/* A list that grows. */
struct growing {
    struct hash_fields fields;
    size_t room;
};

static void append_member(struct redis_call *call, const struct hash_field *member,
                          struct growing *to) {
    if (to->fields.count == to->room) {
        size_t room = to->room == 0 ? 64 : to->room * 2;
        to->fields.list =
            arena_grow(call->arena, to->fields.list, to->room * sizeof(*to->fields.list),
                       room * sizeof(*to->fields.list));
        to->room = room;
    }
    to->fields.list[to->fields.count++] = *member;
}

static enum status unite_source(struct redis_call *call, const struct source *source,
                                struct map *found, struct growing *out) {
    struct hash_fields all = {0};
    enum status status = key_all_fields(call, source->key, &all);
    if (status == OK)
        status = call_need(call, all.count * UNITED_SIZE);
    for (size_t i = 0; i < all.count && status == OK; i++)
        if (map_put(found, all.list[i].name, found) == NULL)
            append_member(call, &all.list[i], out);
    return status;
}

static enum status unite(struct redis_call *call, const struct algebra *algebra,
                         struct hash_fields *out) {
    struct map found = {0};
    struct growing united = {0};
    enum status status = OK;
    for (size_t i = 0; i < algebra->count && status == OK; i++)
        status = unite_source(call, &algebra->sources[i], &found, &united);
    map_release(&found);
    *out = united.fields;
    return status;
}

/* Leaves those of at most CHUNK members that are in the source too (of a difference: that are not).
 */
static enum status sift(struct redis_call *call, const struct source *source, bool keep,
                        struct hash_fields *members) {
    struct hash_field asked[CHUNK];
    struct call_scratch scratch;
    size_t left = 0;
    for (size_t i = 0; i < members->count; i++)
        asked[i] = (struct hash_field){.name = members->list[i].name};
    call_scratch_begin(call, &scratch);
    enum status status = key_fields(call, source->key, asked, members->count);
    call_scratch_end(call, &scratch);
    for (size_t i = 0; i < members->count && status == OK; i++)
        if (asked[i].found == keep)
            members->list[left++] = members->list[i];
    members->count = left;
    return status;
}

/* The members of the first set that are in all others (of a difference: in none of them). */
static enum status sift_first(struct redis_call *call, const struct algebra *algebra,
                              struct hash_fields *out) {
    bool keep = algebra->operation == INTERSECTION;
    struct hash_fields all;
    enum status status = key_all_fields(call, algebra->sources[0].key, &all);
    if (status != OK)
        return status;
    *out = (struct hash_fields){.list = all.list};
    for (size_t begin = 0; begin < all.count && status == OK; begin += CHUNK) {
        size_t size = all.count - begin < CHUNK ? all.count - begin : CHUNK;
        struct hash_fields chunk = {all.list + begin, size};
        for (size_t i = 1; i < algebra->count && chunk.count != 0 && status == OK; i++)
            status = sift(call, &algebra->sources[i], keep, &chunk);
        memmove(all.list + out->count, chunk.list, chunk.count * sizeof(*chunk.list));
        out->count += chunk.count;
        if (algebra->limit != 0 && out->count >= (uint64_t)algebra->limit)
            break;
    }
    return status;
}

static enum status find_result(struct redis_call *call, struct algebra *algebra,
                               struct hash_fields *out) {
    enum status status = open_sources(call, algebra);
    *out = (struct hash_fields){0};
    if (status != OK)
        return status;
    if (algebra->operation == UNION)
        return unite(call, algebra, out);
    if (algebra->operation == INTERSECTION)
        qsort(algebra->sources, algebra->count, sizeof(*algebra->sources), by_size);
    if (algebra->operation == INTERSECTION && algebra->sources[0].size == 0)
        return OK;
    return sift_first(call, algebra, out);
}

/* ---- the commands ---- */

/* Replaces the key, whatever it holds, by the result. */
static enum status store_result(struct redis_call *call, const struct hash_fields *result) {
    struct redis_key *key;
    enum key_type replaced = KEY_NONE;
    enum status status = key_open(call, call->args[1], &key);
    if (status == OK)
        status = key_type_of(call, key, &replaced);
    if (status == OK)
        status = key_remove(call, key);
    if (status == OK && result->count != 0)
        status = key_open_as(call, call->args[1], KEY_SET, &key);
    if (status == OK && result->count != 0)
        status = key_fill_fields(call, key, result);
    if (status != OK)
        return status;
    if (result->count != 0)
        notify_key(call, NOTIFY_SET, call->command->name, call->args[1]);
    else if (replaced != KEY_NONE)
        notify_key(call, NOTIFY_GENERIC, "del", call->args[1]);
    resp_int(&call->out, (int64_t)result->count);
    return OK;
}

static enum status run_algebra(struct redis_call *call, struct algebra *algebra) {
    struct hash_fields *found = ARENA_NEW(call->arena, struct hash_fields), result;
    enum status status = find_result(call, algebra, found);
    result = *found;
    if (status != OK)
        return status;
    if (algebra->store)
        return store_result(call, found);
    if (algebra->count_only) {
        uint64_t limit = algebra->limit == 0 ? UINT64_MAX : (uint64_t)algebra->limit;
        resp_int(&call->out, (int64_t)(result.count < limit ? result.count : limit));
        return OK;
    }
    resp_set(&call->out, result.count);
    for (size_t i = 0; i < result.count; i++)
        resp_bulk(&call->out, result.list[i].name);
    return OK;
}

/* The operation by the command's name: SINTER, SINTERSTORE, SUNION, ... */
static struct algebra algebra_of(struct redis_call *call) {
    const char *name = call->command->name;
    bool store = strstr(name, "store") != NULL;
    size_t first = store ? 2 : 1;
    return (struct algebra){.operation = name[1] == 'u'   ? UNION
                                         : name[1] == 'i' ? INTERSECTION
                                                          : DIFFERENCE,
                            .store = store,
                            .arguments = call->args + first,
                            .count = call->count - first};
}

static enum status run_set_algebra(struct redis_call *call) {
    struct algebra algebra = algebra_of(call);
    return run_algebra(call, &algebra);
}

/* SINTERCARD numkeys key [key ...] [LIMIT limit] */
static enum status run_sintercard(struct redis_call *call) {
    struct algebra algebra = {.operation = INTERSECTION, .count_only = true};
    int64_t number;
    if (call_int_between(call, 1,
                         (struct int_bounds){1, INT64_MAX, "ERR numkeys should be greater than 0"},
                         &number) != OK)
        return INVALID;
    if ((uint64_t)number > call->count - 2)
        return call_error(call, "ERR Number of keys can't be greater than number of args");
    algebra.arguments = call->args + 2;
    algebra.count = (size_t)number;
    for (size_t i = 2 + algebra.count; i < call->count; i += 2) {
        if (i + 1 == call->count || !call_arg_is(call, i, "LIMIT"))
            return call_error(call, ERROR_SYNTAX);
        if (call_int_between(call, i + 1,
                             (struct int_bounds){0, INT64_MAX, "ERR LIMIT can't be negative"},
                             &algebra.limit) != OK)
            return INVALID;
    }
    return run_algebra(call, &algebra);
}

enum { STORES = COMMAND_WRITE | COMMAND_DENYOOM };
#define ALL_KEYS \
    { 1, -1, 1, 0 }
#define SETS TOUCHES_PARTITION, ALL_KEYS, run_set_algebra, NULL, GROUP_SET

const struct redis_command redis_set_algebra_commands[] = {
    {"sinter", -2, COMMAND_READ, SETS, "1.0.0", "What is in all of several sets", NULL},
    {"sunion", -2, COMMAND_READ, SETS, "1.0.0", "What is in any of several sets", NULL},
    {"sdiff", -2, COMMAND_READ, SETS, "1.0.0", "What is in the first of several sets only", NULL},
    {"sinterstore", -3, STORES, SETS, "1.0.0", "Keeps what is in all of several sets", NULL},
    {"sunionstore", -3, STORES, SETS, "1.0.0", "Keeps what is in any of several sets", NULL},
    {"sdiffstore", -3, STORES, SETS, "1.0.0", "Keeps what is in the first of several sets only",
     NULL},
    {"sintercard",
     -3,
     COMMAND_READ | COMMAND_MOVABLE_KEYS,
     TOUCHES_PARTITION,
     {0, 0, 0, 1},
     run_sintercard,
     NULL,
     GROUP_SET,
     "7.0.0",
     "How much is in all of several sets",
     NULL},
    {0},
};
