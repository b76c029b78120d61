/* Commands that give a key another place: RENAME, COPY, MOVE. */
#include "api/redis/key_txn.h"
#include "api/redis/presence_events.h"
#include "api/redis/zset_txn.h"

struct pair_of_keys {
    unsigned to_db;
    struct bytes to_name;
    struct redis_key *from, *to;
    enum key_type from_type, to_type;
    bool same;
};

/* Opens args[1] and the key that is to take its place. */
static enum status open_pair(struct redis_call *call, struct pair_of_keys *pair) {
    enum status status = key_open(call, call->args[1], &pair->from);
    if (status == OK)
        status = key_type_of(call, pair->from, &pair->from_type);
    if (status == OK)
        status = key_open_in(call, pair->to_db, pair->to_name, &pair->to);
    if (status == OK)
        status = key_type_of(call, pair->to, &pair->to_type);
    pair->same = status == OK && pair->from == pair->to;
    return status;
}

/* Tells of one key, or none if the name is NULL, and of the one that has taken its place: Redis
 * removes that first, so it is new whatever there was. */
static void notify_pair(struct redis_call *call, const struct pair_of_keys *pair, const char *from,
                        const char *to) {
    presence_tell_new(call, pair->to_db, pair->to_name);
    if (from != NULL)
        notify_key(call, NOTIFY_GENERIC, from, call->args[1]);
    if (notify_wants(call, NOTIFY_GENERIC))
        notify_add(call, &(struct key_event){pair->to_db, to, pair->to_name});
}

static enum status rename_key(struct redis_call *call, bool only_new) {
    struct pair_of_keys keys = {.to_db = call->db, .to_name = call->args[2]};
    enum status status = open_pair(call, &keys);
    if (status != OK)
        return status;
    if (keys.from_type == KEY_NONE)
        return call_error(call, "ERR no such key");
    bool refused = only_new && (keys.same || keys.to_type != KEY_NONE);
    if (!keys.same && !refused) {
        status = key_copy(call, keys.from, keys.to);
        if (status == OK)
            status = key_remove(call, keys.from);
        if (status == OK)
            notify_pair(call, &keys, "rename_from", "rename_to");
    }
    if (status == OK && only_new)
        resp_int(&call->out, !refused);
    else if (status == OK)
        resp_ok(&call->out);
    return status;
}

static enum status run_rename(struct redis_call *call) {
    return rename_key(call, false);
}

static enum status run_renamenx(struct redis_call *call) {
    return rename_key(call, true);
}

static const struct int_bounds any_database = {INT32_MIN, INT32_MAX, NULL};

/* Whether there is a database of that number; else the error is set. */
static enum status check_database(struct redis_call *call, int64_t number) {
    return number >= 0 && number < KEY_DATABASES ? OK
                                                 : call_error(call, "ERR DB index is out of range");
}

static enum status read_copy(struct redis_call *call, bool *replace, unsigned *db) {
    *replace = false;
    for (size_t i = 3; i < call->count; i++) {
        int64_t number = 0;
        if (call_arg_is(call, i, "REPLACE")) {
            *replace = true;
            continue;
        }
        if (!call_arg_is(call, i, "DB") || i + 1 == call->count)
            return call_error(call, ERROR_SYNTAX);
        if (call_int_between(call, ++i, any_database, &number) != OK ||
            check_database(call, number) != OK)
            return INVALID;
        *db = (unsigned)number;
    }
    return OK;
}

static enum status run_copy(struct redis_call *call) {
    struct pair_of_keys keys = {.to_db = call->db, .to_name = call->args[2]};
    bool replace;
    enum status status = read_copy(call, &replace, &keys.to_db);
    if (status == OK)
        status = open_pair(call, &keys);
    if (status != OK)
        return status;
    if (keys.same)
        return call_error(call, "ERR source and destination objects are the same");
    bool done = keys.from_type != KEY_NONE && (replace || keys.to_type == KEY_NONE);
    if (done)
        status = key_copy(call, keys.from, keys.to);
    if (status == OK && done)
        notify_pair(call, &keys, NULL, "copy_to");
    if (status == OK)
        resp_int(&call->out, done);
    return status;
}

static enum status run_move(struct redis_call *call) {
    struct pair_of_keys keys = {.to_name = call->args[1]};
    int64_t number;
    if (!redis_read_int(call->args[2], &number) || number < INT32_MIN || number > INT32_MAX)
        return call_error(call, "ERR value is not an integer or out of range");
    enum status status = check_database(call, number);
    if (status != OK)
        return status;
    keys.to_db = (unsigned)number;
    status = open_pair(call, &keys);
    if (status == OK && keys.same)
        return call_error(call, "ERR source and destination objects are the same");
    bool done = keys.from_type != KEY_NONE && keys.to_type == KEY_NONE;
    if (status == OK && done)
        status = key_copy(call, keys.from, keys.to);
    if (status == OK && done)
        status = key_remove(call, keys.from);
    if (status == OK && done)
        notify_pair(call, &keys, "move_from", "move_to");
    if (status == OK)
        resp_int(&call->out, done);
    return status;
}

const struct redis_command redis_rename_commands[] = {
    {"rename",
     3,
     COMMAND_WRITE,
     TOUCHES_PARTITION,
     {1, 2, 1, 0},
     run_rename,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "Gives a key another name"},
    {"renamenx",
     3,
     COMMAND_WRITE | COMMAND_FAST,
     TOUCHES_PARTITION,
     {1, 2, 1, 0},
     run_renamenx,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "Gives a key another name that no other has"},
    {"copy",
     -3,
     COMMAND_WRITE | COMMAND_DENYOOM,
     TOUCHES_PARTITION,
     {1, 2, 1, 0},
     run_copy,
     NULL,
     GROUP_GENERIC,
     "6.2.0",
     "Copies a key"},
    {"move",
     3,
     COMMAND_WRITE | COMMAND_FAST,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_move,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "Moves a key to another database"},
    {0},
};
