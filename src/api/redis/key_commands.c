/* Commands on keys of any type: DEL, EXISTS, TYPE. */
#include "api/redis/key_txn.h"
#include "api/redis/presence_events.h"

/* Replies how many of the named keys exist, and removes them if so asked. */
static enum status count_keys(struct redis_call *call, bool removes) {
    int64_t count = 0;
    for (size_t i = 1; i < call->count; i++) {
        struct redis_key *key;
        enum key_type type = KEY_NONE;
        enum status status = key_open(call, call->args[i], &key);
        if (status == OK)
            status = key_type_of(call, key, &type);
        if (status == OK && type != KEY_NONE && removes)
            status = key_remove(call, key);
        if (status != OK)
            return status;
        if (type != KEY_NONE && removes)
            notify_key(call, NOTIFY_GENERIC, "del", call->args[i]);
        count += type != KEY_NONE;
    }
    resp_int(&call->out, count);
    return OK;
}

static enum status run_del(struct redis_call *call) {
    return count_keys(call, true);
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

static enum status run_exists(struct redis_call *call) {
    return count_keys(call, false);
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
     "Removes keys"},
    {"unlink",
     -2,
     COMMAND_WRITE | COMMAND_FAST,
     TOUCHES_PARTITION,
     {1, -1, 1, 0},
     run_del,
     start_del,
     GROUP_GENERIC,
     "4.0.0",
     "Removes keys"},
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
