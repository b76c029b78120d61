/* HRANDFIELD, SRANDMEMBER and SPOP: fields and members at random, each with the same probability.
 */
#include "api/redis/key_txn.h"
#include "api/redis/notifications.h"
#include "api/redis/random_draw.h"
#include "api/redis/zset_txn.h"
#include "base/limits.h"

enum {
    SPARSE = 16, /* one of so many, and fewer, are looked up by place; more are taken out of all */
    DRAWN_SIZE = 96, /* bytes of a field that is drawn */
};

/* How many are drawn, and out of how many. */
struct draw {
    uint64_t wanted, size;
    bool repeats; /* one may be drawn several times */
};

static uint64_t *draw_numbers(struct redis_call *call, const struct draw *draw) {
    return draw->repeats ? draw_any(call->arena, draw->size, draw->wanted)
                         : draw_different(call->arena, draw->size, draw->wanted);
}

/* Draws out of a list of all. */
static enum status draw_from_all(struct redis_call *call, struct redis_key *key, struct draw draw,
                                 struct hash_fields *out) {
    struct hash_fields all;
    enum status status = key_all_fields(call, key, &all);
    if (status != OK || all.count == 0)
        return status;
    draw.size = all.count;
    if (!draw.repeats && draw.wanted >= draw.size) {
        *out = all;
        return OK;
    }
    uint64_t *drawn = draw_numbers(call, &draw);
    out->list = arena_alloc(call->arena, (size_t)draw.wanted * sizeof(*out->list));
    for (uint64_t i = 0; i < draw.wanted; i++)
        out->list[out->count++] = all.list[drawn[i]];
    return OK;
}

/* Draws places among the fields, and looks up what is there. */
static enum status draw_places(struct redis_call *call, struct redis_key *key,
                               const struct draw *draw, struct hash_fields *out) {
    uint64_t *drawn = draw_numbers(call, draw);
    enum status status = OK;
    out->list = arena_alloc(call->arena, (size_t)draw->wanted * sizeof(*out->list));
    for (uint64_t i = 0; i < draw->wanted && status == OK; i++)
        status = key_field_at(call, key, drawn[i], out);
    return status;
}

/* Draws `count` different fields; or, if it is negative, -count that may repeat. A few of many are
 * looked up by their places; if some of those are gone by then, all is listed after all. */
static enum status draw_fields(struct redis_call *call, struct redis_key *key, int64_t count,
                               struct hash_fields *out) {
    struct draw draw = {.wanted = count < 0 ? (uint64_t)-count : (uint64_t)count,
                        .repeats = count < 0};
    *out = (struct hash_fields){0};
    enum status status = key_field_count(call, key, &draw.size);
    if (status != OK || draw.size == 0 || count == 0)
        return status;
    if (draw.repeats && draw.wanted > LIMIT_RANDOM_MEMBERS)
        return call_error(call, "ERR value is out of range");
    uint64_t most = draw.repeats || draw.wanted < draw.size ? draw.wanted : draw.size;
    status = call_spend(call, WORK_ENTRY * most);
    if (status == OK)
        status = call_need(call, most * DRAWN_SIZE);
    if (status == OK && draw.wanted < draw.size / SPARSE && key_has_ranks(key))
        status = draw_places(call, key, &draw, out);
    if (status != OK || out->count == draw.wanted)
        return status;
    out->count = 0;
    return draw_from_all(call, key, draw, out);
}

/* The count that args[2] says, or 1. */
static enum status read_count(struct redis_call *call, int64_t *out) {
    *out = 1;
    if (call->count < 3)
        return OK;
    if (call_int(call, 2, out) != OK)
        return INVALID;
    if (*out == INT64_MIN)
        return call_error(call, "ERR value is out of range, value must between %lld and %lld",
                          (long long)-INT64_MAX, (long long)INT64_MAX);
    return OK;
}

/* The only one, or a null. */
static enum status reply_one(struct redis_call *call, const struct hash_fields *found) {
    if (found->count == 0)
        resp_null(&call->out);
    else
        resp_bulk(&call->out, found->list[0].name);
    return OK;
}

static enum status reply_names(struct redis_call *call, const struct hash_fields *found) {
    resp_array(&call->out, found->count);
    for (size_t i = 0; i < found->count; i++)
        resp_bulk(&call->out, found->list[i].name);
    return OK;
}

/* Names and values: as pairs in RESP 3, one after the other in RESP 2. */
static enum status reply_pairs(struct redis_call *call, const struct hash_fields *found) {
    bool nested = call->out.version >= 3;
    resp_array(&call->out, found->count * (nested ? 1 : 2));
    for (size_t i = 0; i < found->count; i++) {
        if (nested)
            resp_array(&call->out, 2);
        resp_bulk(&call->out, found->list[i].name);
        resp_bulk(&call->out, found->list[i].value);
    }
    return OK;
}

static enum status run_hrandfield(struct redis_call *call) {
    struct hash_fields found;
    struct redis_key *key;
    int64_t count;
    enum status status = read_count(call, &count);
    if (status != OK)
        return status;
    bool values = call->count == 4 && call_arg_is(call, 3, "WITHVALUES");
    if (call->count > 4 || (call->count == 4 && !values))
        return call_error(call, ERROR_SYNTAX);
    if (values && (count < -INT64_MAX / 2 || count > INT64_MAX / 2))
        return call_error(call, "ERR value is out of range");
    status = key_open_as(call, call->args[1], KEY_HASH, &key);
    if (status == OK)
        status = draw_fields(call, key, count, &found);
    if (status != OK)
        return status;
    return call->count == 2 ? reply_one(call, &found)
           : values         ? reply_pairs(call, &found)
                            : reply_names(call, &found);
}

static enum status run_srandmember(struct redis_call *call) {
    struct hash_fields found;
    struct redis_key *key;
    int64_t count;
    if (call->count > 3)
        return call_error(call, ERROR_SYNTAX);
    enum status status = read_count(call, &count);
    if (status == OK)
        status = key_open_as(call, call->args[1], KEY_SET, &key);
    if (status == OK)
        status = draw_fields(call, key, count, &found);
    if (status != OK)
        return status;
    return call->count == 2 ? reply_one(call, &found) : reply_names(call, &found);
}

/* ---- SPOP ---- */

static enum status remove_drawn(struct redis_call *call, struct redis_key *key,
                                const struct hash_fields *found) {
    uint64_t size;
    enum status status = key_field_count(call, key, &size);
    if (status == OK && found->count == size)
        return key_remove(call, key);
    if (status == OK && found->count > LIMIT_CHANGE_ACTIONS)
        return call_error(call, "ERR at most %d members can be taken in one step",
                          LIMIT_CHANGE_ACTIONS);
    for (size_t i = 0; i < found->count && status == OK; i++)
        status = key_remove_field(call, key, found->list[i].name, NULL);
    return status;
}

static enum status run_spop(struct redis_call *call) {
    struct int_bounds positive = {0, INT64_MAX, ERROR_NOT_POSITIVE};
    struct hash_fields found;
    struct redis_key *key;
    int64_t count = 1;
    if (call->count > 3)
        return call_error(call, ERROR_SYNTAX);
    if (call->count == 3 && call_int_between(call, 2, positive, &count) != OK)
        return INVALID;
    enum status status = key_open_as(call, call->args[1], KEY_SET, &key);
    if (status == OK)
        status = draw_fields(call, key, count, &found);
    if (status == OK && found.count != 0)
        status = remove_drawn(call, key, &found);
    if (status != OK)
        return status;
    if (found.count != 0)
        notify_key(call, NOTIFY_SET, "spop", call->args[1]);
    if (found.count != 0 && !key_is_there(key))
        notify_key(call, NOTIFY_GENERIC, "del", call->args[1]);
    if (call->count == 2)
        return reply_one(call, &found);
    resp_set(&call->out, found.count);
    for (size_t i = 0; i < found.count; i++)
        resp_bulk(&call->out, found.list[i].name);
    return OK;
}

#define ONE_KEY \
    { 1, 1, 1, 0 }

const struct redis_command redis_field_random_commands[] = {
    {"hrandfield", -2, COMMAND_READ, TOUCHES_PARTITION, ONE_KEY, run_hrandfield, NULL, GROUP_HASH,
     "6.2.0", "Fields of a hash by chance", NULL},
    {"srandmember", -2, COMMAND_READ, TOUCHES_PARTITION, ONE_KEY, run_srandmember, NULL, GROUP_SET,
     "1.0.0", "Members of a set by chance", NULL},
    {"spop", -2, COMMAND_WRITE | COMMAND_FAST, TOUCHES_PARTITION, ONE_KEY, run_spop, NULL,
     GROUP_SET, "1.0.0", "Takes members out of a set by chance", NULL},
    {0},
};
