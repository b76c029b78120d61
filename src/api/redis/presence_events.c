#include "api/redis/presence_events.h"

#include "api/redis/call_errors.h"
#include "api/redis/key_txn.h"

/* Keys that were not there before the command, until they are told of. */
struct absent_keys {
    size_t count;
    struct bytes names[];
};

/* ---- what a command does with its keys ---- */

static bool is_named(const struct redis_call *call, const char *const *names) {
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(call->command->name, names[i]) == 0)
            return true;
    return false;
}

static bool has_option(const struct redis_call *call, size_t from, const char *word) {
    for (size_t i = from; i < call->count; i++)
        if (call_arg_is(call, i, word))
            return true;
    return false;
}

/* The span among the command's keys whose values it is asked for: a miss of one of these is told.
 * OBJECT and MEMORY look without being seen. */
struct key_span {
    size_t first, end;
};
static struct key_span read_keys(const struct redis_call *call, size_t count) {
    static const char *const unseen[] = {"encoding", "freq", "idletime", "refcount", "usage", NULL};
    static const char *const getting[] = {"getset", "getdel", "getex", NULL};
    const char *name = call->command->name;
    size_t size = strlen(name);
    if ((call->command->flags & COMMAND_READ) != 0)
        return (struct key_span){0, is_named(call, unseen) ? 0 : count};
    if (is_named(call, getting) || (strcmp(name, "set") == 0 && has_option(call, 3, "GET")))
        return (struct key_span){0, count};
    if (strcmp(name, "copy") == 0)
        return (struct key_span){0, 1};
    if (size > 5 && strcmp(name + size - 5, "store") == 0)
        return (struct key_span){1, count};
    return (struct key_span){0, 0};
}

/* Whether the command goes on past a key of that type; else it is its last. */
static bool takes_type(const struct redis_call *call, enum key_type type) {
    const struct command_keys *keys = &call->command->keys;
    switch (call->command->group) {
    case GROUP_STRING: /* MGET and LCS look at all */
        return type == KEY_STRING || keys->last != keys->first;
    case GROUP_HASH:
        return type == KEY_HASH;
    case GROUP_SET:
        return type == KEY_SET;
    case GROUP_SORTED_SET:
        return type == KEY_ZSET || (type == KEY_SET && keys->counted != 0);
    default:
        return true;
    }
}

static bool is_about_keys(const struct redis_call *call) {
    enum command_group group = call->command->group;
    return call->command->keys.first + call->command->keys.counted != 0 &&
           (group == GROUP_GENERIC || group == GROUP_STRING || group == GROUP_HASH ||
            group == GROUP_SET || group == GROUP_SORTED_SET);
}

/* ---- before and after `run` ---- */

static enum status type_of(struct redis_call *call, struct bytes name, enum key_type *out) {
    struct redis_key *key;
    enum status status = key_open(call, name, &key);
    return status == OK ? key_type_of(call, key, out) : status;
}

static void tell_miss(struct redis_call *call, struct bytes key) {
    notify_key(call, NOTIFY_MISS, "keymiss", key);
}

/* Tells of the keys that are missed, and notes which are not there. */
static enum status look(struct redis_call *call, const struct key_positions *keys) {
    struct key_span read = read_keys(call, keys->count);
    struct absent_keys *absent =
        arena_alloc(call->arena, sizeof(*absent) + keys->count * sizeof(*absent->names));
    enum status status = OK;
    bool reads = true;
    absent->count = 0;
    for (size_t i = 0; i < keys->count && status == OK; i++) {
        struct bytes name = call->args[keys->at[i]];
        bool is_read = i >= read.first && i < read.end;
        enum key_type type = KEY_NONE;
        status = type_of(call, name, &type);
        reads = reads && (!is_read || type == KEY_NONE || takes_type(call, type));
        if (status == OK && type == KEY_NONE)
            absent->names[absent->count++] = name;
        if (status == OK && type == KEY_NONE && is_read && reads)
            tell_miss(call, name);
    }
    if (status == OK && notify_wants(call, NOTIFY_NEW) && command_writes(call->command))
        call->absent = absent;
    return status;
}

static bool is_wanted(const struct redis_call *call) {
    enum notify_class class =
        command_writes(call->command) ? NOTIFY_MISS | NOTIFY_NEW : NOTIFY_MISS;
    return notify_wants(call, class) && is_about_keys(call);
}

/* Whether the command has looked at its keys: it is done, or did not like one. LCS and the algebra
 * of sorted sets look before they read their options. */
static bool has_looked(const struct redis_call *call, enum status status) {
    const struct redis_command *command = call->command;
    bool options_last = strcmp(command->name, "lcs") == 0 ||
                        (command->group == GROUP_SORTED_SET && command->keys.counted != 0);
    return status == OK || options_last || bytes_starts(call->error, BYTES("WRONGTYPE"));
}

enum status presence_run(struct redis_call *call) {
    struct redis_request request = {call->command, call->args, call->count};
    struct key_positions keys;
    if (!is_wanted(call) || !redis_command_keys(&request, call->arena, &keys))
        return call_run_function(call, call->command->run);
    struct published before = *call->published;
    if (look(call, &keys) != OK) { /* then `run` fails as well, and tells why */
        call->error = (struct bytes){0};
        call->failure = (struct failure){0};
    }
    enum status status = call_run_function(call, call->command->run);
    if (!has_looked(call, status))
        published_cut(call->published, before);
    call->absent = NULL;
    return status;
}

void presence_note_absent(struct redis_call *call) {
    struct key_span read = read_keys(call, 1);
    if (notify_wants(call, NOTIFY_MISS) && read.end != 0)
        tell_miss(call, call->args[1]);
    if (!notify_wants(call, NOTIFY_NEW))
        return;
    call->absent = arena_alloc(call->arena, sizeof(*call->absent) + sizeof(struct bytes));
    call->absent->count = 1;
    call->absent->names[0] = call->args[1];
}

void presence_tell_first(struct redis_call *call, struct bytes key) {
    struct absent_keys *absent = call->absent;
    bool is_new = false;
    for (size_t i = 0; i < absent->count; i++)
        if (bytes_equal(absent->names[i], key)) {
            absent->names[i--] = absent->names[--absent->count];
            is_new = true;
        }
    if (is_new)
        presence_tell_new(call, call->db, key);
}
