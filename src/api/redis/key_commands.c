/* Commands on keys of any type: DEL, EXISTS, TYPE. */
#include "api/redis/key_txn.h"
#include "api/redis/presence_events.h"
#include "api/redis/zset_txn_int.h"
#include "base/limits.h"

/* All are names that a key can have. */
static size_t divides_del(struct redis_call *call) {
    struct key_address address;
    struct scope in = {call->arena, &call->failure};
    for (size_t i = 1; i < call->count; i++)
        if (key_address_of(call->db, call->args[i], in, &address) != OK)
            return 0;
    return 1;
}

static const struct command_parts parts_del = {1, divides_del};

static enum status run_del(struct redis_call *call) {
    int64_t count = 0;
    for (size_t i = 1; i < call->count; i++) {
        struct redis_key *key;
        enum key_type type = KEY_NONE;
        enum status status = key_open(call, call->args[i], &key);
        if (status == OK)
            status = key_type_of(call, key, &type);
        if (status == OK && type != KEY_NONE)
            status = key_remove(call, key);
        if (status != OK)
            return status;
        if (type != KEY_NONE)
            notify_key(call, NOTIFY_GENERIC, "del", call->args[i]);
        count += type != KEY_NONE;
    }
    resp_int(&call->out, count);
    return OK;
}

/* As a `start`: one key that has a head. */
static enum status apply_del(struct key_edit *edit, struct key_head *head, struct arena *arena) {
    (void)arena;
    edit->changed = head->type != KEY_NONE;
    *head = (struct key_head){0};
    return OK;
}

static enum status then_deleted(struct redis_call *call) {
    const struct key_edit *edit = call->user;
    if (edit->changed)
        notify_key(call, NOTIFY_GENERIC, "del", call->args[1]);
    resp_int(&call->out, edit->changed);
    return OK;
}

static enum status start_del(struct redis_call *call) {
    if (call->count != 2)
        return call_fall_back(call);
    struct key_edit *edit = ARENA_NEW(call->arena, struct key_edit);
    edit->apply = apply_del;
    return key_start_edit(call, edit, then_deleted);
}

/* The keys that EXISTS asks about, some at a time. */
struct some_keys {
    size_t at, end; /* among the arguments */
    int64_t found;  /* of all so far */
};

static enum status count_some(struct redis_call *call, struct some_keys *some) {
    enum status status = OK;
    for (; some->at < some->end && status == OK; some->at++) {
        struct redis_key *key;
        enum key_type type = KEY_NONE;
        status = key_open(call, call->args[some->at], &key);
        if (status == OK)
            status = key_type_of(call, key, &type);
        some->found += type != KEY_NONE;
    }
    return status;
}

/* Forgets the keys afterwards, so that a million of them take no more memory than some. */
static enum status count_and_forget(struct redis_call *call, struct some_keys *some) {
    struct call_scratch scratch;
    struct zset_txn *kept = call->txn;
    call_scratch_begin(call, &scratch);
    call->txn = NULL;
    enum status status = count_some(call, some);
    if (call->txn != NULL)
        zset_txn_release(call->txn);
    call->txn = kept;
    call_scratch_end(call, &scratch);
    return status;
}

static enum status run_exists(struct redis_call *call) {
    struct some_keys some = {.at = 1};
    enum status status = OK;
    while (some.at < call->count && status == OK) {
        size_t left = call->count - some.at;
        some.end = some.at + (left < LIMIT_KEYS_AT_ONCE ? left : LIMIT_KEYS_AT_ONCE);
        status = key_is_only_read(call) ? count_and_forget(call, &some) : count_some(call, &some);
    }
    if (status == OK)
        resp_int(&call->out, some.found);
    return status;
}

static enum status run_type(struct redis_call *call) {
    struct redis_key *key;
    enum key_type type;
    enum status status = key_open(call, call->args[1], &key);
    if (status == OK)
        status = key_type_of(call, key, &type);
    if (status == OK)
        resp_simple(&call->out, key_type_name(type));
    return status;
}

const struct redis_command redis_key_commands[] = {
    {"del",
     -2,
     COMMAND_WRITE,
     TOUCHES_PARTITION,
     {1, -1, 1, 0},
     run_del,
     start_del,
     GROUP_GENERIC,
     "1.0.0",
     "Removes keys",
     NULL,
     &parts_del},
    {"unlink",
     -2,
     COMMAND_WRITE | COMMAND_FAST,
     TOUCHES_PARTITION,
     {1, -1, 1, 0},
     run_del,
     start_del,
     GROUP_GENERIC,
     "4.0.0",
     "Removes keys",
     NULL,
     &parts_del},
    {"exists",
     -2,
     COMMAND_READ | COMMAND_FAST,
     TOUCHES_PARTITION,
     {1, -1, 1, 0},
     run_exists,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "How many of the keys are there"},
    {"touch",
     -2,
     COMMAND_READ | COMMAND_FAST,
     TOUCHES_PARTITION,
     {1, -1, 1, 0},
     run_exists,
     NULL,
     GROUP_GENERIC,
     "3.2.1",
     "How many of the keys are there"},
    {"type",
     2,
     COMMAND_READ | COMMAND_FAST,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_type,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "Tells what a key holds: string, hash, set, zset, or none"},
    {0},
};
