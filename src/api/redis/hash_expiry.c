/* Fields of hashes that expire one by one, as of Redis 7.4: HEXPIRE, HTTL, HPERSIST and their like.
 *
 * A field that has expired is not there for anybody from that moment on, whether or not it is
 * removed yet. */
#include "api/redis/field_edit.h"
#include "api/redis/key_txn_int.h"

/* The latest end that a field may have, as in Redis. */
enum { NO_FIELD = -2, NO_END = -1, NOT_DONE = 0, DONE = 1, DELETED = 2 };
static const int64_t end_max_ms = ((int64_t)1 << 46) - 1;

/* ---- arguments ---- */

/* What the names of the commands say: HP... counts in milliseconds, ...AT and ...TIME since 1970.
 */
static bool in_milliseconds(const struct redis_call *call) {
    return call->command->name[1] == 'p' && strcmp(call->command->name, "hpersist") != 0;
}

static bool is_absolute(const struct redis_call *call) {
    size_t size = strlen(call->command->name);
    return strcmp(call->command->name + size - 2, "at") == 0 ||
           (size > 4 && strcmp(call->command->name + size - 4, "time") == 0);
}

/* Reads "FIELDS numfields field [field ...]" from args[at] on, which is the end of the command. */
static enum status read_field_names(struct redis_call *call, size_t at, const char *not_positive,
                                    struct field_edit **out) {
    int64_t number;
    if (at >= call->count || !call_arg_is(call, at, "FIELDS"))
        return call_error(call,
                          "ERR Mandatory argument FIELDS is missing or not at the right position");
    if (at + 1 >= call->count)
        return call_error(call, "%s", not_positive);
    if (call_int_between(call, at + 1, (struct int_bounds){1, INT64_MAX, not_positive}, &number) !=
        OK)
        return INVALID;
    if ((uint64_t)number != call->count - at - 2)
        return call_error(call, "ERR The `numfields` parameter must match the number of arguments");
    *out = field_edit_new(call, KEY_HASH, (struct field_args){at + 2, 1});
    return OK;
}

static enum status reply_outcomes(struct redis_call *call) {
    const struct field_edit *edit = call->user;
    resp_array(&call->out, edit->count);
    for (size_t i = 0; i < edit->count; i++)
        resp_int(&call->out, edit->list[i].outcome);
    return OK;
}

/* ---- HEXPIRE, HPEXPIRE, HEXPIREAT, HPEXPIREAT ---- */

struct hexpire {
    int64_t at_ms;
    enum { ALWAYS, IF_NONE, IF_ANY, IF_LATER, IF_EARLIER } condition;
};

/* A field without an end of its own is taken to end after all others. */
static bool allows(const struct hexpire *hexpire, int64_t old_ms) {
    switch (hexpire->condition) {
    case IF_NONE:
        return old_ms == 0;
    case IF_ANY:
        return old_ms != 0;
    case IF_LATER:
        return old_ms != 0 && hexpire->at_ms > old_ms;
    case IF_EARLIER:
        return old_ms == 0 || hexpire->at_ms < old_ms;
    default:
        return true;
    }
}

static const char *decide_hexpire(struct field_edit *edit, size_t index, struct field_state *state,
                                  struct arena *arena) {
    const struct hexpire *hexpire = edit->how;
    int64_t *outcome = &edit->list[index].outcome;
    (void)arena;
    if (!state->has)
        *outcome = NO_FIELD;
    else if (!allows(hexpire, state->expires_ms))
        *outcome = NOT_DONE;
    else if (hexpire->at_ms <= edit->now_ms) {
        *outcome = DELETED;
        edit->event = "hdel";
        state->has = false;
        state->written = true;
    } else {
        *outcome = DONE;
        state->expires_ms = hexpire->at_ms;
        state->written = true;
    }
    return NULL;
}

static enum status read_end(struct redis_call *call, int64_t *out_ms) {
    int64_t base = is_absolute(call) ? 0 : zset_txn_now(call);
    if (call_int(call, 2, out_ms) != OK)
        return INVALID;
    if (*out_ms < 0)
        return call_error(call, "ERR invalid expire time, must be >= 0");
    bool fits = in_milliseconds(call) || !__builtin_mul_overflow(*out_ms, 1000, out_ms);
    if (!fits || *out_ms > end_max_ms - base)
        return call_error(call, "ERR invalid expire time in '%s' command", call->command->name);
    *out_ms += base;
    return OK;
}

static enum status read_hexpire(struct redis_call *call, struct field_edit **out) {
    static const char *const conditions[] = {"NX", "XX", "GT", "LT"};
    struct hexpire *hexpire = ARENA_NEW(call->arena, struct hexpire);
    enum status status = read_end(call, &hexpire->at_ms);
    if (status != OK)
        return status;
    for (unsigned i = 0; i < 4; i++)
        if (call_arg_is(call, 3, conditions[i]))
            hexpire->condition = IF_NONE + i;
    status = read_field_names(call, hexpire->condition == ALWAYS ? 3 : 4,
                              "ERR Parameter `numFields` should be greater than 0", out);
    if (status != OK)
        return status;
    (*out)->decide = decide_hexpire;
    (*out)->event = "hexpire";
    (*out)->reply = reply_outcomes;
    (*out)->how = hexpire;
    (*out)->end_ms = hexpire->at_ms;
    return OK;
}

static enum status run_hexpire(struct redis_call *call) {
    struct field_edit *edit;
    enum status status = read_hexpire(call, &edit);
    return status == OK ? field_edit_run(call, edit) : status;
}

static enum status start_hexpire(struct redis_call *call) {
    struct field_edit *edit;
    enum status status = read_hexpire(call, &edit);
    return status == OK ? field_edit_start(call, edit) : status;
}

/* ---- HPERSIST ---- */

#define ERROR_NUMBER_OF_FIELDS "ERR Number of fields must be a positive integer"

static const char *decide_hpersist(struct field_edit *edit, size_t index, struct field_state *state,
                                   struct arena *arena) {
    (void)arena;
    edit->list[index].outcome = !state->has ? NO_FIELD : state->expires_ms == 0 ? NO_END : DONE;
    state->written = state->has && state->expires_ms != 0;
    state->expires_ms = 0;
    return NULL;
}

static enum status read_hpersist(struct redis_call *call, struct field_edit **out) {
    enum status status = read_field_names(call, 2, ERROR_NUMBER_OF_FIELDS, out);
    if (status != OK)
        return status;
    (*out)->decide = decide_hpersist;
    (*out)->event = "hpersist";
    (*out)->reply = reply_outcomes;
    return OK;
}

static enum status run_hpersist(struct redis_call *call) {
    struct field_edit *edit;
    enum status status = read_hpersist(call, &edit);
    return status == OK ? field_edit_run(call, edit) : status;
}

static enum status start_hpersist(struct redis_call *call) {
    struct field_edit *edit;
    enum status status = read_hpersist(call, &edit);
    return status == OK ? field_edit_start(call, edit) : status;
}

/* ---- HTTL, HPTTL, HEXPIRETIME, HPEXPIRETIME ---- */

/* Seconds are rounded up, as Redis does here. */
static int64_t told_end(struct redis_call *call, const struct hash_field *field) {
    if (!field->found)
        return NO_FIELD;
    if (field->expires_ms == 0)
        return NO_END;
    int64_t left = field->expires_ms - (is_absolute(call) ? 0 : zset_txn_now(call));
    return in_milliseconds(call) ? left : (left + 999) / 1000;
}

static enum status run_httl(struct redis_call *call) {
    struct field_edit *names;
    struct redis_key *key;
    enum status status = read_field_names(call, 2, ERROR_NUMBER_OF_FIELDS, &names);
    if (status == OK)
        status = key_open_as(call, call->args[1], KEY_HASH, &key);
    if (status != OK)
        return status;
    struct hash_field *fields = ARENA_ARRAY(call->arena, struct hash_field, names->count);
    for (size_t i = 0; i < names->count; i++)
        fields[i].name = names->list[i].name;
    status = key_fields(call, key, fields, names->count);
    resp_array(&call->out, names->count);
    for (size_t i = 0; i < names->count && status == OK; i++)
        resp_int(&call->out, told_end(call, &fields[i]));
    return status;
}

/* ---- the table ---- */

enum {
    WRITES = COMMAND_WRITE | COMMAND_DENYOOM | COMMAND_FAST,
    READS = COMMAND_READ | COMMAND_FAST,
};
#define ONE_KEY \
    { 1, 1, 1, 0 }
#define HASH TOUCHES_PARTITION, ONE_KEY

const struct redis_command redis_hash_expiry_commands[] = {
    {"hexpire", -6, WRITES, HASH, run_hexpire, start_hexpire, GROUP_HASH, "7.4.0",
     "Has fields of a hash expire after seconds", NULL},
    {"hpexpire", -6, WRITES, HASH, run_hexpire, start_hexpire, GROUP_HASH, "7.4.0",
     "Has fields of a hash expire after milliseconds", NULL},
    {"hexpireat", -6, WRITES, HASH, run_hexpire, start_hexpire, GROUP_HASH, "7.4.0",
     "Has fields of a hash expire at a time in seconds", NULL},
    {"hpexpireat", -6, WRITES, HASH, run_hexpire, start_hexpire, GROUP_HASH, "7.4.0",
     "Has fields of a hash expire at a time in milliseconds", NULL},
    {"hpersist", -5, COMMAND_WRITE | COMMAND_FAST, HASH, run_hpersist, start_hpersist, GROUP_HASH,
     "7.4.0", "Has fields of a hash expire with the key only", NULL},
    {"httl", -5, READS, HASH, run_httl, NULL, GROUP_HASH, "7.4.0",
     "Tells in how many seconds fields expire", NULL},
    {"hpttl", -5, READS, HASH, run_httl, NULL, GROUP_HASH, "7.4.0",
     "Tells in how many milliseconds fields expire", NULL},
    {"hexpiretime", -5, READS, HASH, run_httl, NULL, GROUP_HASH, "7.4.0",
     "Tells at which second fields expire", NULL},
    {"hpexpiretime", -5, READS, HASH, run_httl, NULL, GROUP_HASH, "7.4.0",
     "Tells at which millisecond fields expire", NULL},
    {0},
};
