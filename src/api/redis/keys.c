/* Keys by name: DEL, EXISTS, TYPE, RENAME, COPY, OBJECT, MEMORY. */
#include "api/redis/lines.h"
#include "api/redis/pairs.h"

/* How many of the keys named are there; each is then given to `use`, if there is one. */
static enum status count_keys(struct redis_call *call,
                              enum status (*use)(struct redis_call *, struct zset *)) {
    int64_t count = 0;
    for (size_t i = 1; i < call->count; i++) {
        struct zset *zset;
        uint64_t size = 0;
        enum status status = zset_open(call, call->args[i], &zset);
        if (status == OK)
            status = zset_size(call, zset, &size);
        if (status == OK && size != 0 && use != NULL)
            status = use(call, zset);
        if (status != OK)
            return status;
        count += size != 0;
    }
    resp_int(&call->out, count);
    return OK;
}

static enum status run_del(struct redis_call *call) {
    return count_keys(call, zset_clear);
}

static enum status run_exists(struct redis_call *call) {
    return count_keys(call, NULL);
}

static enum status run_type(struct redis_call *call) {
    struct zset *zset;
    uint64_t size = 0;
    enum status status = zset_open(call, call->args[1], &zset);
    if (status == OK)
        status = zset_size(call, zset, &size);
    if (status == OK)
        resp_simple(&call->out, size != 0 ? BYTES("zset") : BYTES("none"));
    return status;
}

/* ---- RENAME and COPY ---- */

struct pair_of_sets {
    struct zset *from, *to;
    uint64_t from_size, to_size;
    bool same;
};

static enum status open_pair(struct redis_call *call, struct pair_of_sets *out) {
    enum status status = zset_open(call, call->args[1], &out->from);
    if (status == OK)
        status = zset_size(call, out->from, &out->from_size);
    if (status == OK)
        status = zset_open(call, call->args[2], &out->to);
    if (status == OK)
        status = zset_size(call, out->to, &out->to_size);
    out->same = bytes_equal(call->args[1], call->args[2]);
    return status;
}

/* All that `from` has, its time to live as well, becomes what `to` has. */
static enum status copy(struct redis_call *call, const struct pair_of_sets *sets) {
    struct zset_entries all;
    int64_t expires_ms;
    enum status status = zset_all(call, sets->from, &all);
    if (status == OK)
        status = zset_expires(call, sets->from, &expires_ms);
    if (status == OK)
        status = zset_clear(call, sets->to);
    for (size_t i = 0; i < all.count && status == OK; i++)
        status = zset_put(call, sets->to, all.list[i].member, all.list[i].score);
    if (status == OK && expires_ms != 0)
        status = zset_expire(call, sets->to, expires_ms);
    return status;
}

static enum status rename_key(struct redis_call *call, bool only_new) {
    struct pair_of_sets sets;
    enum status status = open_pair(call, &sets);
    if (status != OK)
        return status;
    if (sets.from_size == 0)
        return call_error(call, "ERR no such key");
    bool refused = only_new && (sets.same || sets.to_size != 0);
    if (!sets.same && !refused) {
        status = copy(call, &sets);
        if (status == OK)
            status = zset_clear(call, sets.from);
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

static enum status read_copy(struct redis_call *call, bool *replace) {
    *replace = false;
    for (size_t i = 3; i < call->count; i++) {
        int64_t database = 0;
        if (call_arg_is(call, i, "REPLACE"))
            *replace = true;
        else if (!call_arg_is(call, i, "DB") || i + 1 == call->count)
            return call_error(call, ERROR_SYNTAX);
        else if (call_int_between(call, ++i, INT32_MIN, INT32_MAX, NULL, &database) != OK)
            return INVALID;
        if (database != 0)
            return call_error(call, "ERR DB index is out of range");
    }
    return OK;
}

static enum status run_copy(struct redis_call *call) {
    struct pair_of_sets sets;
    bool replace;
    enum status status = read_copy(call, &replace);
    if (status == OK)
        status = open_pair(call, &sets);
    if (status != OK)
        return status;
    if (sets.same)
        return call_error(call, "ERR source and destination objects are the same");
    bool done = sets.from_size != 0 && (replace || sets.to_size == 0);
    if (done)
        status = copy(call, &sets);
    if (status == OK)
        resp_int(&call->out, done);
    return status;
}

/* ---- OBJECT and MEMORY ---- */

enum {
    COMPACT_ENTRIES = 128, /* what clients expect to be called a list, and not a tree: */
    COMPACT_MEMBER = 64,
    ENTRY_OVERHEAD = 24, /* about what an entry costs besides its bytes, twice: in the index, and */
    SET_OVERHEAD = 96,   /* in the store */
};

/* Opens the set of the subcommand; replies null if there is no such key. */
static enum status open_told(struct redis_call *call, struct zset **zset, uint64_t *size) {
    enum status status = zset_open(call, call->args[2], zset);
    *size = 0;
    if (status == OK)
        status = zset_size(call, *zset, size);
    if (status == OK && *size == 0)
        resp_null(&call->out);
    return status;
}

static enum status run_object_encoding(struct redis_call *call) {
    struct zset *zset;
    struct zset_entries all = {0};
    uint64_t size;
    enum status status = open_told(call, &zset, &size);
    if (status != OK || size == 0)
        return status;
    bool compact = size <= COMPACT_ENTRIES;
    if (compact)
        status = zset_all(call, zset, &all);
    for (size_t i = 0; i < all.count; i++)
        compact &= all.list[i].member.size <= COMPACT_MEMBER;
    if (status == OK)
        resp_bulk(&call->out, compact ? BYTES("listpack") : BYTES("skiplist"));
    return status;
}

static enum status tell_number(struct redis_call *call, int64_t number) {
    struct zset *zset;
    uint64_t size;
    enum status status = open_told(call, &zset, &size);
    if (status == OK && size != 0)
        resp_int(&call->out, number);
    return status;
}

static enum status run_object_refcount(struct redis_call *call) {
    return tell_number(call, 1);
}

/* When a key was last used is not kept. */
static enum status run_object_idletime(struct redis_call *call) {
    return tell_number(call, 0);
}

static enum status run_object_freq(struct redis_call *call) {
    struct zset *zset;
    uint64_t size;
    enum status status = open_told(call, &zset, &size);
    if (status != OK || size == 0)
        return status;
    return call_error(call, "ERR An LFU maxmemory policy is not selected, access frequency not "
                            "tracked. Please note that when switching between policies at runtime "
                            "LRU and LFU data will take some time to adjust.");
}

static enum status run_memory_usage(struct redis_call *call) {
    struct zset_range first = {.by = RANGE_RANK, .stop = 4};
    struct zset_entries some = {0};
    struct zset *zset;
    uint64_t size, bytes = 0;
    int64_t samples;
    for (size_t i = 3; i < call->count; i += 2) {
        if (i + 1 == call->count || !call_arg_is(call, i, "SAMPLES"))
            return call_error(call, ERROR_SYNTAX);
        if (call_int(call, i + 1, &samples) != OK)
            return INVALID;
        if (samples < 0)
            return call_error(call, ERROR_SYNTAX);
        first.stop = samples == 0 ? -1 : samples - 1;
    }
    enum status status = open_told(call, &zset, &size);
    if (status == OK && size != 0)
        status = zset_list(call, zset, &first, &some);
    if (status != OK || size == 0)
        return status;
    for (size_t i = 0; i < some.count; i++)
        bytes += 2 * (some.list[i].member.size + ENTRY_OVERHEAD);
    if (some.count != 0)
        bytes = bytes * size / some.count;
    resp_int(&call->out, (int64_t)(bytes + SET_OVERHEAD + call->args[2].size));
    return OK;
}

static enum status run_object_help(struct redis_call *call) {
    static const char *const lines[] = {
        "OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "ENCODING <key>",
        "    What the key's sorted set is called inside.",
        "FREQ <key>",
        "    An error: no frequencies are kept.",
        "IDLETIME <key>",
        "    0: the time of the last use is not kept.",
        "REFCOUNT <key>",
        "    1.",
        "HELP",
        "    These lines.",
        NULL};
    return reply_lines(call, lines);
}

static enum status run_memory_help(struct redis_call *call) {
    static const char *const lines[] = {
        "MEMORY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "USAGE <key> [SAMPLES <count>]",
        "    About how many bytes the key's sorted set takes.",
        "HELP",
        "    These lines.",
        NULL};
    return reply_lines(call, lines);
}

/* ---- the commands ---- */

enum { HELPS = COMMAND_LOADING | COMMAND_STALE };

static const struct redis_command object_subs[] = {
    {"encoding",
     3,
     COMMAND_READ,
     {2, 2, 1, 0},
     run_object_encoding,
     NULL,
     GROUP_GENERIC,
     "2.2.3",
     "What a key's sorted set is called inside"},
    {"freq",
     3,
     COMMAND_READ,
     {2, 2, 1, 0},
     run_object_freq,
     NULL,
     GROUP_GENERIC,
     "4.0.0",
     "How often a key is used: not kept"},
    {"help", 2, HELPS, {0}, run_object_help, NULL, GROUP_GENERIC, "6.2.0", "What there is"},
    {"idletime",
     3,
     COMMAND_READ,
     {2, 2, 1, 0},
     run_object_idletime,
     NULL,
     GROUP_GENERIC,
     "2.2.3",
     "How long a key was not used: not kept"},
    {"refcount",
     3,
     COMMAND_READ,
     {2, 2, 1, 0},
     run_object_refcount,
     NULL,
     GROUP_GENERIC,
     "2.2.3",
     "How many refer to a key's sorted set: one"},
    {0},
};

static const struct redis_command memory_subs[] = {
    {"help", 2, HELPS, {0}, run_memory_help, NULL, GROUP_SERVER, "4.0.0", "What there is"},
    {"usage",
     -3,
     COMMAND_READ,
     {2, 2, 1, 0},
     run_memory_usage,
     NULL,
     GROUP_SERVER,
     "4.0.0",
     "About how many bytes a key takes"},
    {0},
};

const struct redis_command redis_key_commands[] = {
    {"del",
     -2,
     COMMAND_WRITE,
     {1, -1, 1, 0},
     run_del,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "Removes keys"},
    {"unlink",
     -2,
     COMMAND_WRITE | COMMAND_FAST,
     {1, -1, 1, 0},
     run_del,
     NULL,
     GROUP_GENERIC,
     "4.0.0",
     "Removes keys"},
    {"exists",
     -2,
     COMMAND_READ | COMMAND_FAST,
     {1, -1, 1, 0},
     run_exists,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "How many of the keys are there"},
    {"touch",
     -2,
     COMMAND_READ | COMMAND_FAST,
     {1, -1, 1, 0},
     run_exists,
     NULL,
     GROUP_GENERIC,
     "3.2.1",
     "How many of the keys are there"},
    {"type",
     2,
     COMMAND_READ | COMMAND_FAST,
     {1, 1, 1, 0},
     run_type,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "zset, or none"},
    {"rename",
     3,
     COMMAND_WRITE,
     {1, 2, 1, 0},
     run_rename,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "Gives a key another name"},
    {"renamenx",
     3,
     COMMAND_WRITE | COMMAND_FAST,
     {1, 2, 1, 0},
     run_renamenx,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "Gives a key another name that no other has"},
    {"copy",
     -3,
     COMMAND_WRITE | COMMAND_DENYOOM,
     {1, 2, 1, 0},
     run_copy,
     NULL,
     GROUP_GENERIC,
     "6.2.0",
     "Copies a key"},
    {"object",
     -2,
     0,
     {0},
     NULL,
     NULL,
     GROUP_GENERIC,
     "2.2.3",
     "About a key, from the inside",
     object_subs},
    {"memory", -2, 0, {0}, NULL, NULL, GROUP_SERVER, "4.0.0", "About memory", memory_subs},
    {0},
};
