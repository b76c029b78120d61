/* Commands on hashes: HSET, HGET, HDEL, HGETALL and their like. */
#include "api/redis/field_edit.h"
#include "api/redis/field_lookup.h"
#include "api/redis/redis_float.h"

#include <inttypes.h>
#include <math.h>

/* ---- HSET, HMSET, HSETNX ---- */

static const char *decide_hset(struct field_edit *edit, size_t index, struct field_state *state,
                               struct arena *arena) {
    (void)arena;
    edit->list[index].outcome = !state->has;
    *state = (struct field_state){.has = true, .value = edit->list[index].value, .written = true};
    return NULL;
}

static const char *decide_hsetnx(struct field_edit *edit, size_t index, struct field_state *state,
                                 struct arena *arena) {
    if (!state->has)
        return decide_hset(edit, index, state, arena);
    edit->list[index].outcome = 0;
    return NULL;
}

static enum status reply_total(struct redis_call *call) {
    resp_int(&call->out, field_edit_total(call->user));
    return OK;
}

static enum status reply_ok(struct redis_call *call) {
    resp_simple(&call->out, BYTES("OK"));
    return OK;
}

static enum status read_hset(struct redis_call *call, struct field_edit **out) {
    bool says_ok = call->command->name[1] == 'm';
    bool new_only = strcmp(call->command->name, "hsetnx") == 0;
    if (call->count % 2 != 0)
        return call_error(call, "ERR wrong number of arguments for '%s' command",
                          call->command->name);
    *out = field_edit_new(call, KEY_HASH, (struct field_args){2, 2});
    (*out)->decide = new_only ? decide_hsetnx : decide_hset;
    (*out)->reply = says_ok ? reply_ok : reply_total;
    (*out)->event = "hset";
    return OK;
}

static enum status run_hset(struct redis_call *call) {
    struct field_edit *edit;
    enum status status = read_hset(call, &edit);
    return status == OK ? field_edit_run(call, edit) : status;
}

static enum status start_hset(struct redis_call *call) {
    struct field_edit *edit;
    enum status status = read_hset(call, &edit);
    return status == OK ? field_edit_start(call, edit) : status;
}

/* ---- HDEL ---- */

static const char *decide_hdel(struct field_edit *edit, size_t index, struct field_state *state,
                               struct arena *arena) {
    (void)arena;
    edit->list[index].outcome = state->written = state->has;
    state->has = false;
    return NULL;
}

static struct field_edit *hdel_edit(struct redis_call *call) {
    struct field_edit *edit = field_edit_new(call, KEY_HASH, (struct field_args){2, 1});
    edit->decide = decide_hdel;
    edit->event = "hdel";
    edit->reply = reply_total;
    return edit;
}

static enum status run_hdel(struct redis_call *call) {
    return field_edit_run(call, hdel_edit(call));
}

static enum status start_hdel(struct redis_call *call) {
    return field_edit_start(call, hdel_edit(call));
}

/* ---- HINCRBY and HINCRBYFLOAT ---- */

static const char *decide_hincrby(struct field_edit *edit, size_t index, struct field_state *state,
                                  struct arena *arena) {
    const int64_t *delta = edit->how;
    int64_t number = 0;
    if (state->has && !redis_read_int(state->value, &number))
        return "ERR hash value is not an integer";
    if (__builtin_add_overflow(number, *delta, &number))
        return "ERR increment or decrement would overflow";
    edit->list[index].outcome = number;
    state->has = state->written = true;
    state->value = arena_printf(arena, "%" PRId64, number);
    return NULL;
}

static enum status read_hincrby(struct redis_call *call, struct field_edit **out) {
    int64_t *delta = ARENA_NEW(call->arena, int64_t);
    *out = field_edit_new(call, KEY_HASH, (struct field_args){2, 2});
    (*out)->decide = decide_hincrby;
    (*out)->event = "hincrby";
    (*out)->reply = reply_total;
    (*out)->how = delta;
    return call_int(call, 3, delta);
}

static enum status run_hincrby(struct redis_call *call) {
    struct field_edit *edit;
    enum status status = read_hincrby(call, &edit);
    return status == OK ? field_edit_run(call, edit) : status;
}

static enum status start_hincrby(struct redis_call *call) {
    struct field_edit *edit;
    enum status status = read_hincrby(call, &edit);
    return status == OK ? field_edit_start(call, edit) : status;
}

static const char *decide_hincrbyfloat(struct field_edit *edit, size_t index,
                                       struct field_state *state, struct arena *arena) {
    const long double *delta = edit->how;
    long double number = 0;
    if (state->has && !float_read(state->value, &number))
        return "ERR hash value is not a float";
    number += *delta;
    if (isnan(number) || isinf(number))
        return "ERR increment would produce NaN or Infinity";
    edit->list[index].sum = number;
    state->has = state->written = true;
    state->value = float_text(number, arena);
    return NULL;
}

static enum status reply_sum(struct redis_call *call) {
    const struct field_edit *edit = call->user;
    resp_bulk(&call->out, float_text(edit->list[0].sum, call->arena));
    return OK;
}

static enum status read_hincrbyfloat(struct redis_call *call, struct field_edit **out) {
    long double *delta = ARENA_NEW(call->arena, long double);
    *out = field_edit_new(call, KEY_HASH, (struct field_args){2, 2});
    (*out)->decide = decide_hincrbyfloat;
    (*out)->event = "hincrbyfloat";
    (*out)->reply = reply_sum;
    (*out)->how = delta;
    if (!float_read(call->args[3], delta))
        return call_error(call, ERROR_NOT_FLOAT);
    return isinf(*delta) ? call_error(call, "ERR value is NaN or Infinity") : OK;
}

static enum status run_hincrbyfloat(struct redis_call *call) {
    struct field_edit *edit;
    enum status status = read_hincrbyfloat(call, &edit);
    return status == OK ? field_edit_run(call, edit) : status;
}

static enum status start_hincrbyfloat(struct redis_call *call) {
    struct field_edit *edit;
    enum status status = read_hincrbyfloat(call, &edit);
    return status == OK ? field_edit_start(call, edit) : status;
}

/* ---- reading single fields ---- */

/* In a batch (COMMAND_BATCHED_PAIRS) these have several keys, with a field of each. */
static enum status run_hget(struct redis_call *call) {
    struct field_lookups fields;
    enum status status = field_lookup(call, KEY_HASH, &fields);
    for (size_t i = 0; i < fields.count && status == OK; i++)
        if (fields.list[i].found)
            resp_bulk(&call->out, fields.list[i].value);
        else
            resp_null(&call->out);
    return status;
}

static enum status run_hexists(struct redis_call *call) {
    struct field_lookups fields;
    enum status status = field_lookup(call, KEY_HASH, &fields);
    for (size_t i = 0; i < fields.count && status == OK; i++)
        resp_int(&call->out, fields.list[i].found);
    return status;
}

static enum status run_hstrlen(struct redis_call *call) {
    struct field_lookups fields;
    enum status status = field_lookup(call, KEY_HASH, &fields);
    for (size_t i = 0; i < fields.count && status == OK; i++)
        resp_int(&call->out, fields.list[i].found ? (int64_t)fields.list[i].value.size : 0);
    return status;
}

static enum status run_hmget(struct redis_call *call) {
    size_t count = call->count - 2;
    struct hash_field *fields = ARENA_ARRAY(call->arena, struct hash_field, count);
    struct redis_key *key;
    for (size_t i = 0; i < count; i++)
        fields[i].name = call->args[2 + i];
    enum status status = key_open_as(call, call->args[1], KEY_HASH, &key);
    if (status == OK)
        status = key_fields(call, key, fields, count);
    resp_array(&call->out, count);
    for (size_t i = 0; i < count && status == OK; i++)
        if (fields[i].found)
            resp_bulk(&call->out, fields[i].value);
        else
            resp_null(&call->out);
    return status;
}

/* ---- reading all ---- */

static enum status run_hlen(struct redis_call *call) {
    struct redis_key *key;
    uint64_t count;
    enum status status = key_open_as(call, call->args[1], KEY_HASH, &key);
    if (status == OK)
        status = key_field_count(call, key, &count);
    if (status == OK)
        resp_int(&call->out, (int64_t)count);
    return status;
}

static enum status list_fields(struct redis_call *call, struct hash_fields *out) {
    struct redis_key *key;
    enum status status = key_open_as(call, call->args[1], KEY_HASH, &key);
    return status == OK ? key_all_fields(call, key, out) : status;
}

static enum status run_hgetall(struct redis_call *call) {
    struct hash_fields all = {0};
    enum status status = list_fields(call, &all);
    if (status != OK)
        return status;
    resp_map(&call->out, all.count);
    for (size_t i = 0; i < all.count; i++) {
        resp_bulk(&call->out, all.list[i].name);
        resp_bulk(&call->out, all.list[i].value);
    }
    return OK;
}

static enum status run_hkeys(struct redis_call *call) {
    struct hash_fields all = {0};
    enum status status = list_fields(call, &all);
    if (status != OK)
        return status;
    resp_array(&call->out, all.count);
    for (size_t i = 0; i < all.count; i++)
        resp_bulk(&call->out, all.list[i].name);
    return OK;
}

static enum status run_hvals(struct redis_call *call) {
    struct hash_fields all = {0};
    enum status status = list_fields(call, &all);
    if (status != OK)
        return status;
    resp_array(&call->out, all.count);
    for (size_t i = 0; i < all.count; i++)
        resp_bulk(&call->out, all.list[i].value);
    return OK;
}

/* ---- the table ---- */

enum {
    WRITES = COMMAND_WRITE | COMMAND_DENYOOM | COMMAND_FAST,
    READS = COMMAND_READ | COMMAND_FAST,
    READS_FIELD = READS | COMMAND_BATCHED_PAIRS,
};
#define ONE_KEY \
    { 1, 1, 1, 0 }
#define HASH TOUCHES_PARTITION, ONE_KEY

const struct redis_command redis_hash_commands[] = {
    {"hset", -4, WRITES, HASH, run_hset, start_hset, GROUP_HASH, "2.0.0", "Sets fields of a hash",
     NULL, &field_pair_parts},
    {"hmset", -4, WRITES, HASH, run_hset, start_hset, GROUP_HASH, "2.0.0", "Sets fields of a hash",
     NULL, &field_pair_parts},
    {"hsetnx", 4, WRITES, HASH, run_hset, start_hset, GROUP_HASH, "2.0.0",
     "Sets a field of a hash unless it is there", NULL},
    {"hdel", -3, COMMAND_WRITE | COMMAND_FAST, HASH, run_hdel, start_hdel, GROUP_HASH, "2.0.0",
     "Removes fields of a hash", NULL, &field_parts},
    {"hincrby", 4, WRITES, HASH, run_hincrby, start_hincrby, GROUP_HASH, "2.0.0",
     "Adds an integer to a field of a hash", NULL},
    {"hincrbyfloat", 4, WRITES, HASH, run_hincrbyfloat, start_hincrbyfloat, GROUP_HASH, "2.6.0",
     "Adds a number to a field of a hash", NULL},
    {"hget", 3, READS_FIELD, HASH, run_hget, NULL, GROUP_HASH, "2.0.0",
     "Tells the value of a field", NULL},
    {"hmget", -3, READS, HASH, run_hmget, NULL, GROUP_HASH, "2.0.0",
     "Tells the values of several fields", NULL},
    {"hexists", 3, READS_FIELD, HASH, run_hexists, NULL, GROUP_HASH, "2.0.0",
     "Tells whether a hash has a field", NULL},
    {"hstrlen", 3, READS_FIELD, HASH, run_hstrlen, NULL, GROUP_HASH, "3.2.0",
     "Tells the length of a field's value", NULL},
    {"hlen", 2, READS, HASH, run_hlen, NULL, GROUP_HASH, "2.0.0", "Tells how many fields there are",
     NULL},
    {"hgetall", 2, COMMAND_READ, HASH, run_hgetall, NULL, GROUP_HASH, "2.0.0",
     "All fields and their values", NULL},
    {"hkeys", 2, COMMAND_READ, HASH, run_hkeys, NULL, GROUP_HASH, "2.0.0",
     "The names of all fields", NULL},
    {"hvals", 2, COMMAND_READ, HASH, run_hvals, NULL, GROUP_HASH, "2.0.0",
     "The values of all fields", NULL},
    {0},
};
