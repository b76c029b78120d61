/* Fields of hashes that expire one by one, as of Redis 7.4: HEXPIRE, HTTL, HPERSIST and their like.
 *
 * A field that has expired is not there for anybody from that moment on, whether or not it is
 * removed yet. */
#include "api/redis/expiry_args.h"
#include "api/redis/field_edit.h"
#include "api/redis/key_txn_int.h"

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

static enum status read_field_names(struct redis_call *call, size_t at, const char *not_positive,
                                    struct field_edit **out) {
    struct expiry_names names = {"FIELDS", "numfields", not_positive};
    size_t first;
    enum status status = expiry_read_names(call, at, names, &first);
    if (status == OK)
        *out = field_edit_new(call, KEY_HASH, (struct field_args){first, 1});
    return status;
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
    enum expiry_condition condition;
};

static const char *decide_hexpire(struct field_edit *edit, size_t index, struct field_state *state,
                                  struct arena *arena) {
    const struct hexpire *hexpire = edit->how;
    int64_t *outcome = &edit->list[index].outcome;
    (void)arena;
    if (!state->has)
        *outcome = EXPIRY_NOT_THERE;
    else if (!expiry_allows(hexpire->condition, hexpire->at_ms, state->expires_ms))
        *outcome = EXPIRY_NOT_DONE;
    else if (hexpire->at_ms <= edit->now_ms) {
        *outcome = EXPIRY_DELETED;
        edit->event = "hdel";
        state->has = false;
        state->written = true;
    } else {
        *outcome = EXPIRY_DONE;
        state->expires_ms = hexpire->at_ms;
        state->written = true;
    }
    return NULL;
}

static enum status read_hexpire(struct redis_call *call, struct field_edit **out) {
    struct hexpire *hexpire = ARENA_NEW(call->arena, struct hexpire);
    struct expiry_unit unit = {in_milliseconds(call) ? 1 : 1000, is_absolute(call)};
    enum status status = expiry_read_end(call, unit, &hexpire->at_ms);
    if (status != OK)
        return status;
    hexpire->condition = expiry_read_condition(call, 3);
    status = read_field_names(call, hexpire->condition == EXPIRY_ALWAYS ? 3 : 4,
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
    edit->list[index].outcome = !state->has              ? EXPIRY_NOT_THERE
                                : state->expires_ms == 0 ? EXPIRY_NO_END
                                                         : EXPIRY_DONE;
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
        return EXPIRY_NOT_THERE;
    if (field->expires_ms == 0)
        return EXPIRY_NO_END;
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
