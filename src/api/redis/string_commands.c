/* Strings: SET, GET and their variants, of one key and of several. */
#include "api/redis/string_edit.h"

#include "api/redis/notifications.h"
#include "base/clock.h"
#include "base/limits.h"

/* ---- edits ---- */

enum status string_start(struct redis_call *call, string_read *read, redis_run *reply) {
    struct string_edit *edit = ARENA_NEW(call->arena, struct string_edit);
    edit->edit.type = KEY_STRING;
    enum status status = read(call, edit);
    return status == OK ? key_start_edit(call, &edit->edit, reply) : status;
}

enum status string_run(struct redis_call *call, string_read *read, redis_run *reply) {
    struct string_edit *edit = ARENA_NEW(call->arena, struct string_edit);
    edit->edit.type = KEY_STRING;
    enum status status = read(call, edit);
    return status == OK ? key_run_edit(call, &edit->edit, reply) : status;
}

void string_put(struct string_edit *edit, struct key_head *head, struct bytes value) {
    if (value.size > KEY_VALUE_MAX) {
        edit->edit.error = ERROR_STRING_SIZE;
        return;
    }
    *head = (struct key_head){.type = KEY_STRING, .expires_ms = head->expires_ms, .value = value};
    edit->edit.changed = edit->done = true;
}

/* ---- options of SET and GETEX ---- */

enum {
    SET_NEW = 1,
    SET_OLD = 2,
    SET_GET = 4,
    SET_KEEP = 8,
    SET_PERSIST = 16,
    SET_EX = 32,
    SET_PX = 64,
    SET_EXAT = 128,
    SET_PXAT = 256,
    SET_ENDS = SET_EX | SET_PX | SET_EXAT | SET_PXAT,
};

/* The words, which of the two commands takes each, and which others it does not go with. */
static const struct set_option {
    const char *name;
    unsigned flag, not_with;
    bool of_set, of_getex;
} set_options[] = {
    {"nx", SET_NEW, SET_OLD, true, false},
    {"xx", SET_OLD, SET_NEW, true, false},
    {"get", SET_GET, 0, true, false},
    {"keepttl", SET_KEEP, SET_ENDS, true, false},
    {"persist", SET_PERSIST, SET_ENDS, false, true},
    {"ex", SET_EX, SET_KEEP | SET_PERSIST | (SET_ENDS & ~SET_EX), true, true},
    {"px", SET_PX, SET_KEEP | SET_PERSIST | (SET_ENDS & ~SET_PX), true, true},
    {"exat", SET_EXAT, SET_KEEP | SET_PERSIST | (SET_ENDS & ~SET_EXAT), true, true},
    {"pxat", SET_PXAT, SET_KEEP | SET_PERSIST | (SET_ENDS & ~SET_PXAT), true, true},
};

static const struct set_option *option_at(const struct redis_call *call, size_t at, bool getex) {
    for (size_t i = 0; i < sizeof(set_options) / sizeof(set_options[0]); i++)
        if ((getex ? set_options[i].of_getex : set_options[i].of_set) &&
            call_arg_is(call, at, set_options[i].name))
            return &set_options[i];
    return NULL;
}

/* Reads the options from args[from] on; *when is the argument that says when the key expires. */
static enum status read_options(struct redis_call *call, size_t from, unsigned *flags,
                                size_t *when) {
    bool getex = from == 2;
    *when = 0;
    for (size_t i = from; i < call->count; i++) {
        const struct set_option *option = option_at(call, i, getex);
        bool ends = option != NULL && (option->flag & SET_ENDS) != 0;
        if (option == NULL || (*flags & option->not_with) != 0 || (ends && i + 1 == call->count))
            return call_error(call, ERROR_SYNTAX);
        *flags |= option->flag;
        if (ends)
            *when = ++i;
    }
    return OK;
}

/* Reads when the key shall expire, from now on or since 1970, in milliseconds or seconds. */
static enum status read_end(struct redis_call *call, size_t at, unsigned flags, int64_t *out) {
    int64_t number, scale = (flags & (SET_EX | SET_EXAT)) != 0 ? 1000 : 1;
    int64_t from_ms = (flags & (SET_EX | SET_PX)) != 0 ? clock_now_ms() : 0;
    enum status status = call_int(call, at, &number);
    if (status != OK)
        return status;
    if (number <= 0 || __builtin_mul_overflow(number, scale, &number) ||
        __builtin_add_overflow(number, from_ms, &number))
        return call_error(call, "ERR invalid expire time in '%s' command", call->command->name);
    *out = number;
    return OK;
}

/* ---- SET ---- */

/* Notes the old string for the reply; WRONGTYPE if it is something else. */
static bool note_old(struct string_edit *edit, const struct key_head *head, struct arena *arena) {
    if (edit->edit.is_zset || (head->type != KEY_NONE && head->type != KEY_STRING)) {
        edit->edit.error = ERROR_WRONG_TYPE;
        return false;
    }
    edit->old = arena_copy(arena, head->value);
    return true;
}

static enum status apply_set(struct key_edit *edit, struct key_head *head, struct arena *arena) {
    struct string_edit *set = (struct string_edit *)edit;
    set->had = head->type != KEY_NONE || edit->is_zset;
    set->done = false;
    if ((set->flags & SET_GET) != 0 && !note_old(set, head, arena))
        return OK;
    if (((set->flags & SET_NEW) != 0 && set->had) || ((set->flags & SET_OLD) != 0 && !set->had))
        return OK;
    if ((set->flags & SET_KEEP) == 0)
        head->expires_ms = set->expires_ms;
    string_put(set, head, set->value);
    if (head->expires_ms != 0 && head->expires_ms <= edit->now_ms)
        *head = (struct key_head){0}; /* EXAT, PXAT: it has expired already */
    return OK;
}

static enum status read_set(struct redis_call *call, struct string_edit *set) {
    size_t when;
    set->edit.type = KEY_NONE;
    set->edit.apply = apply_set;
    set->value = call->args[2];
    enum status status = read_options(call, 3, &set->flags, &when);
    if (status == OK && when != 0)
        status = read_end(call, when, set->flags, &set->expires_ms);
    return status;
}

static void reply_old(struct redis_call *call, const struct string_edit *edit) {
    if (edit->had)
        resp_bulk(&call->out, edit->old);
    else
        resp_null(&call->out);
}

static void notify_set(struct redis_call *call, const struct string_edit *set) {
    if (!set->done)
        return;
    notify_key(call, NOTIFY_STRING, "set", call->args[1]);
    if (set->expires_ms != 0)
        notify_key(call, NOTIFY_GENERIC, "expire", call->args[1]);
}

static enum status reply_set(struct redis_call *call) {
    const struct string_edit *set = call->user;
    notify_set(call, set);
    if ((set->flags & SET_GET) != 0)
        reply_old(call, set);
    else if (set->done)
        resp_ok(&call->out);
    else
        resp_null(&call->out);
    return OK;
}

static enum status start_set(struct redis_call *call) {
    return string_start(call, read_set, reply_set);
}

static enum status run_set(struct redis_call *call) {
    return string_run(call, read_set, reply_set);
}

/* SETEX and PSETEX: the time comes before the value. */
static enum status read_setex(struct redis_call *call, struct string_edit *set) {
    bool seconds = call->command->name[0] == 's';
    set->edit.type = KEY_NONE;
    set->edit.apply = apply_set;
    set->value = call->args[3];
    return read_end(call, 2, seconds ? SET_EX : SET_PX, &set->expires_ms);
}

static enum status start_setex(struct redis_call *call) {
    return string_start(call, read_setex, reply_set);
}

static enum status run_setex(struct redis_call *call) {
    return string_run(call, read_setex, reply_set);
}

static enum status read_setnx(struct redis_call *call, struct string_edit *set) {
    set->edit.type = KEY_NONE;
    set->edit.apply = apply_set;
    set->flags = SET_NEW;
    set->value = call->args[2];
    return OK;
}

static enum status reply_done(struct redis_call *call) {
    const struct string_edit *set = call->user;
    notify_set(call, set);
    resp_int(&call->out, set->done);
    return OK;
}

static enum status start_setnx(struct redis_call *call) {
    return string_start(call, read_setnx, reply_done);
}

static enum status run_setnx(struct redis_call *call) {
    return string_run(call, read_setnx, reply_done);
}

static enum status read_getset(struct redis_call *call, struct string_edit *set) {
    set->edit.type = KEY_STRING;
    set->edit.apply = apply_set;
    set->flags = SET_GET;
    set->value = call->args[2];
    return OK;
}

static enum status start_getset(struct redis_call *call) {
    return string_start(call, read_getset, reply_set);
}

static enum status run_getset(struct redis_call *call) {
    return string_run(call, read_getset, reply_set);
}

/* ---- GETDEL and GETEX ---- */

/* Of GETEX: what became of the key. */
enum { ENDS_LATER = 1, ENDS_NEVER, ENDED };

static enum status reply_got(struct redis_call *call) {
    static const char *const events[] = {NULL, "expire", "persist", "del"};
    const struct string_edit *get = call->user;
    if (get->result != 0)
        notify_key(call, NOTIFY_GENERIC, events[get->result], call->args[1]);
    reply_old(call, get);
    return OK;
}

static enum status apply_getdel(struct key_edit *edit, struct key_head *head, struct arena *arena) {
    struct string_edit *get = (struct string_edit *)edit;
    get->had = edit->changed = head->type == KEY_STRING;
    get->result = get->had ? ENDED : 0;
    get->old = arena_copy(arena, head->value);
    *head = (struct key_head){0};
    return OK;
}

static enum status read_getdel(struct redis_call *call, struct string_edit *get) {
    (void)call;
    get->edit.apply = apply_getdel;
    return OK;
}

static enum status start_getdel(struct redis_call *call) {
    return string_start(call, read_getdel, reply_got);
}

static enum status run_getdel(struct redis_call *call) {
    return string_run(call, read_getdel, reply_got);
}

static enum status apply_getex(struct key_edit *edit, struct key_head *head, struct arena *arena) {
    struct string_edit *get = (struct string_edit *)edit;
    get->had = head->type == KEY_STRING;
    get->result = 0;
    get->old = arena_copy(arena, head->value);
    if (!get->had || (get->flags & (SET_ENDS | SET_PERSIST)) == 0)
        return OK;
    edit->changed = true;
    if (get->expires_ms != 0)
        get->result = ENDS_LATER;
    else if (head->expires_ms != 0)
        get->result = ENDS_NEVER;
    head->expires_ms = get->expires_ms;
    if ((get->flags & (SET_EXAT | SET_PXAT)) != 0 && get->expires_ms <= edit->now_ms) {
        *head = (struct key_head){0};
        get->result = ENDED;
    }
    return OK;
}

static enum status read_getex(struct redis_call *call, struct string_edit *get) {
    size_t when;
    get->edit.apply = apply_getex;
    enum status status = read_options(call, 2, &get->flags, &when);
    if (status == OK && when != 0)
        status = read_end(call, when, get->flags, &get->expires_ms);
    return status;
}

/* The time is looked at only if the key is there, so one that is wrong may be no error. */
static enum status start_getex(struct redis_call *call) {
    struct string_edit unused = {0};
    if (read_getex(call, &unused) != OK)
        return call_fall_back(call);
    return string_start(call, read_getex, reply_got);
}

static enum status run_getex(struct redis_call *call) {
    struct redis_key *key;
    unsigned flags = 0;
    size_t when;
    enum status status = read_options(call, 2, &flags, &when);
    if (status == OK)
        status = key_open_as(call, call->args[1], KEY_STRING, &key);
    if (status != OK)
        return status;
    if (!key_is_there(key)) {
        resp_null(&call->out);
        return OK;
    }
    return string_run(call, read_getex, reply_got);
}

/* ---- GET, MGET ---- */

/* The heads of the keys: as the transaction sees them, or in one read. */
static enum status read_strings(struct redis_call *call, size_t from, struct key_head *heads) {
    size_t count = call->count - from;
    enum status status = OK;
    if (!call->nested)
        return key_read_heads(call, call->args + from, count, heads);
    for (size_t i = 0; i < count && status == OK; i++) {
        struct redis_key *key;
        status = key_open(call, call->args[from + i], &key);
        if (status == OK)
            status = key_type_of(call, key, &heads[i].type);
        if (status == OK)
            heads[i].value = key_string(key);
    }
    return status;
}

/* In a batch (COMMAND_BATCHED_KEYS) there are several keys. */
static enum status run_get(struct redis_call *call) {
    size_t count = call->count - 1;
    struct key_head *heads = ARENA_ARRAY(call->arena, struct key_head, count);
    enum status status = read_strings(call, 1, heads);
    for (size_t i = 0; i < count && status == OK; i++)
        if (heads[i].type == KEY_STRING)
            resp_bulk(&call->out, heads[i].value);
        else if (heads[i].type == KEY_NONE)
            resp_null(&call->out);
        else
            status = call_error(call, ERROR_WRONG_TYPE);
    return status;
}

static enum status run_mget(struct redis_call *call) {
    size_t count = call->count - 1;
    struct key_head *heads = ARENA_ARRAY(call->arena, struct key_head, count);
    enum status status = read_strings(call, 1, heads);
    if (status != OK)
        return status;
    resp_array(&call->out, count);
    for (size_t i = 0; i < count; i++)
        if (heads[i].type == KEY_STRING)
            resp_bulk(&call->out, heads[i].value);
        else
            resp_null(&call->out);
    return OK;
}

/* ---- MSET, MSETNX ---- */

static enum status check_pairs(struct redis_call *call) {
    if (call->count % 2 != 0)
        return OK;
    return call_error(call, "ERR wrong number of arguments for '%s' command", call->command->name);
}

static enum status set_pairs(struct redis_call *call) {
    enum status status = OK;
    for (size_t i = 1; i < call->count && status == OK; i += 2) {
        struct redis_key *key;
        status = key_open(call, call->args[i], &key);
        if (status == OK)
            status = key_overwrite(call, key, call->args[i + 1]);
    }
    for (size_t i = 1; i < call->count && status == OK; i += 2)
        notify_key(call, NOTIFY_STRING, "set", call->args[i]);
    return status;
}

static enum status run_mset(struct redis_call *call) {
    enum status status = check_pairs(call);
    if (status == OK)
        status = set_pairs(call);
    if (status == OK)
        resp_ok(&call->out);
    return status;
}

static enum status run_msetnx(struct redis_call *call) {
    bool found = false;
    enum status status = check_pairs(call);
    for (size_t i = 1; i < call->count && status == OK && !found; i += 2) {
        struct redis_key *key;
        enum key_type type = KEY_NONE;
        status = key_open(call, call->args[i], &key);
        if (status == OK)
            status = key_type_of(call, key, &type);
        found = type != KEY_NONE;
    }
    if (status == OK && !found)
        status = set_pairs(call);
    if (status == OK)
        resp_int(&call->out, !found);
    return status;
}

/* ---- the commands ---- */

enum {
    WRITES = COMMAND_WRITE | COMMAND_DENYOOM,
    FAST_WRITES = WRITES | COMMAND_FAST,
};
#define ONE_KEY \
    { 1, 1, 1, 0 }

const struct redis_command redis_string_commands[] = {
    {"set", -3, WRITES, TOUCHES_PARTITION, ONE_KEY, run_set, start_set, GROUP_STRING, "1.0.0",
     "Sets the string of a key, whatever it held", NULL},
    {"get", 2, COMMAND_READ | COMMAND_FAST | COMMAND_BATCHED_KEYS, TOUCHES_PARTITION, ONE_KEY,
     run_get, NULL, GROUP_STRING, "1.0.0", "Tells the string of a key", NULL},
    {"getex", -2, COMMAND_WRITE | COMMAND_FAST, TOUCHES_PARTITION, ONE_KEY, run_getex, start_getex,
     GROUP_STRING, "6.2.0", "Tells the string of a key, and sets when it expires", NULL},
    {"getdel", 2, COMMAND_WRITE | COMMAND_FAST, TOUCHES_PARTITION, ONE_KEY, run_getdel,
     start_getdel, GROUP_STRING, "6.2.0", "Tells the string of a key, and removes the key", NULL},
    {"getset", 3, FAST_WRITES, TOUCHES_PARTITION, ONE_KEY, run_getset, start_getset, GROUP_STRING,
     "1.0.0", "Tells the string of a key, and sets another", NULL},
    {"setnx", 3, FAST_WRITES, TOUCHES_PARTITION, ONE_KEY, run_setnx, start_setnx, GROUP_STRING,
     "1.0.0", "Sets the string of a key that is not there", NULL},
    {"setex", 4, WRITES, TOUCHES_PARTITION, ONE_KEY, run_setex, start_setex, GROUP_STRING, "2.0.0",
     "Sets a string that expires after so many seconds", NULL},
    {"psetex", 4, WRITES, TOUCHES_PARTITION, ONE_KEY, run_setex, start_setex, GROUP_STRING, "2.6.0",
     "Sets a string that expires after so many milliseconds", NULL},
    {"mget",
     -2,
     COMMAND_READ | COMMAND_FAST,
     TOUCHES_PARTITION,
     {1, -1, 1, 0},
     run_mget,
     NULL,
     GROUP_STRING,
     "1.0.0",
     "Tells the strings of several keys",
     NULL},
    {"mset",
     -3,
     WRITES,
     TOUCHES_PARTITION,
     {1, -1, 2, 0},
     run_mset,
     NULL,
     GROUP_STRING,
     "1.0.1",
     "Sets the strings of several keys in one step",
     NULL},
    {"msetnx",
     -3,
     WRITES,
     TOUCHES_PARTITION,
     {1, -1, 2, 0},
     run_msetnx,
     NULL,
     GROUP_STRING,
     "1.0.1",
     "Sets the strings of several keys if none of them is there",
     NULL},
    {0},
};
