/* Commands on the members of sets: SADD, SREM, SISMEMBER, SMEMBERS and their like. */
#include "api/redis/field_edit.h"
#include "api/redis/field_lookup.h"
#include "api/redis/notifications.h"

/* ---- SADD and SREM ---- */

static const char *decide_sadd(struct field_edit *edit, size_t index, struct field_state *state,
                               struct arena *arena) {
    (void)arena;
    edit->list[index].outcome = state->written = !state->has;
    state->has = true;
    return NULL;
}

static const char *decide_srem(struct field_edit *edit, size_t index, struct field_state *state,
                               struct arena *arena) {
    (void)arena;
    edit->list[index].outcome = state->written = state->has;
    state->has = false;
    return NULL;
}

static enum status reply_total(struct redis_call *call) {
    resp_int(&call->out, field_edit_total(call->user));
    return OK;
}

static struct field_edit *members_edit(struct redis_call *call) {
    struct field_edit *edit = field_edit_new(call, KEY_SET, (struct field_args){2, 1});
    edit->decide = call->command->name[1] == 'a' ? decide_sadd : decide_srem;
    edit->event = call->command->name;
    edit->reply = reply_total;
    return edit;
}

static enum status run_members_edit(struct redis_call *call) {
    return field_edit_run(call, members_edit(call));
}

static enum status start_members_edit(struct redis_call *call) {
    return field_edit_start(call, members_edit(call));
}

/* ---- SMOVE ---- */

/* Moves the member, which is in `from`. */
static enum status move_member(struct redis_call *call, struct redis_key *from,
                               struct redis_key *to) {
    struct hash_field member = {.name = call->args[3]};
    bool added = false;
    enum status status = key_remove_field(call, from, member.name, NULL);
    if (status == OK)
        status = key_put_field(call, to, &member, &added);
    if (status != OK)
        return status;
    notify_key(call, NOTIFY_SET, "srem", call->args[1]);
    if (!key_is_there(from))
        notify_key(call, NOTIFY_GENERIC, "del", call->args[1]);
    if (added)
        notify_key(call, NOTIFY_SET, "sadd", call->args[2]);
    resp_int(&call->out, 1);
    return OK;
}

/* If there is nothing to move from, Redis does not look at what it would be moved to. */
static enum status run_smove(struct redis_call *call) {
    struct hash_field member = {.name = call->args[3]};
    struct redis_key *from, *to;
    enum status status = key_open_as(call, call->args[1], KEY_SET, &from);
    if (status == OK && !key_is_there(from)) {
        resp_int(&call->out, 0);
        return OK;
    }
    if (status == OK)
        status = key_open_as(call, call->args[2], KEY_SET, &to);
    if (status == OK)
        status = key_fields(call, from, &member, 1);
    if (status != OK)
        return status;
    if (member.found && from != to)
        return move_member(call, from, to);
    resp_int(&call->out, member.found);
    return OK;
}

/* ---- reading ---- */

/* In a batch (COMMAND_BATCHED_PAIRS) there are several keys, with a member of each. */
static enum status run_sismember(struct redis_call *call) {
    struct field_lookups members;
    enum status status = field_lookup(call, KEY_SET, &members);
    for (size_t i = 0; i < members.count && status == OK; i++)
        resp_int(&call->out, members.list[i].found);
    return status;
}

static enum status run_smismember(struct redis_call *call) {
    size_t count = call->count - 2;
    struct hash_field *members = ARENA_ARRAY(call->arena, struct hash_field, count);
    struct redis_key *key;
    for (size_t i = 0; i < count; i++)
        members[i].name = call->args[2 + i];
    enum status status = key_open_as(call, call->args[1], KEY_SET, &key);
    if (status == OK)
        status = key_fields(call, key, members, count);
    resp_array(&call->out, count);
    for (size_t i = 0; i < count && status == OK; i++)
        resp_int(&call->out, members[i].found);
    return status;
}

static enum status run_scard(struct redis_call *call) {
    struct redis_key *key;
    uint64_t count;
    enum status status = key_open_as(call, call->args[1], KEY_SET, &key);
    if (status == OK)
        status = key_field_count(call, key, &count);
    if (status == OK)
        resp_int(&call->out, (int64_t)count);
    return status;
}

static enum status run_smembers(struct redis_call *call) {
    struct hash_fields all = {0};
    struct redis_key *key;
    enum status status = key_open_as(call, call->args[1], KEY_SET, &key);
    if (status == OK)
        status = key_all_fields(call, key, &all);
    if (status != OK)
        return status;
    resp_set(&call->out, all.count);
    for (size_t i = 0; i < all.count; i++)
        resp_bulk(&call->out, all.list[i].name);
    return OK;
}

/* ---- the table ---- */

enum {
    WRITES = COMMAND_WRITE | COMMAND_DENYOOM | COMMAND_FAST,
    REMOVES = COMMAND_WRITE | COMMAND_FAST,
    READS = COMMAND_READ | COMMAND_FAST,
    READS_MEMBER = READS | COMMAND_BATCHED_PAIRS,
};
#define ONE_KEY \
    { 1, 1, 1, 0 }
#define SET TOUCHES_PARTITION, ONE_KEY

const struct redis_command redis_set_commands[] = {
    {"sadd", -3, WRITES, SET, run_members_edit, start_members_edit, GROUP_SET, "1.0.0",
     "Adds members to a set", NULL, &field_parts},
    {"srem", -3, REMOVES, SET, run_members_edit, start_members_edit, GROUP_SET, "1.0.0",
     "Removes members from a set", NULL, &field_parts},
    {"smove",
     4,
     REMOVES,
     TOUCHES_PARTITION,
     {1, 2, 1, 0},
     run_smove,
     NULL,
     GROUP_SET,
     "1.0.0",
     "Moves a member to another set",
     NULL},
    {"sismember", 3, READS_MEMBER, SET, run_sismember, NULL, GROUP_SET, "1.0.0",
     "Tells whether a set has a member", NULL},
    {"smismember", -3, READS, SET, run_smismember, NULL, GROUP_SET, "6.2.0",
     "Tells which of several members a set has", NULL},
    {"scard", 2, READS, SET, run_scard, NULL, GROUP_SET, "1.0.0",
     "Tells how many members there are", NULL},
    {"smembers", 2, COMMAND_READ, SET, run_smembers, NULL, GROUP_SET, "1.0.0",
     "All members of a set", NULL},
    {0},
};
