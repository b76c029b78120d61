/* What keys are like inside: OBJECT, MEMORY. */
#include "api/redis/key_txn.h"
#include "api/redis/memory_reports.h"
#include "api/redis/zset_txn.h"

enum {
    /* Redis keeps a sorted set, hash or set of up to so many members, and each of up to this
     * length, in a compact form. */
    COMPACT_ENTRIES = 128,
    COMPACT_SET = 512,
    COMPACT_MEMBER = 64,
    EMBEDDED_STRING = 44,
    LONG_TEXT = 20,
    /* Roughly what an entry and a key cost besides their bytes. */
    ENTRY_OVERHEAD = 24,
    KEY_OVERHEAD = 96,
};

/* Opens the key of the subcommand; replies null if there is no such key. */
static enum status open_subject(struct redis_call *call, struct redis_key **key,
                                enum key_type *type) {
    enum status status = key_open(call, call->args[2], key);
    *type = KEY_NONE;
    if (status == OK)
        status = key_type_of(call, *key, type);
    if (status == OK && *type == KEY_NONE)
        resp_null(&call->out);
    return status;
}

static enum status zset_encoding(struct redis_call *call, struct redis_key *key, const char **out) {
    struct zset *zset;
    struct zset_entries all = {0};
    uint64_t size = 0;
    enum status status = key_zset(call, key, &zset);
    if (status == OK)
        status = zset_size(call, zset, &size);
    bool compact = size <= COMPACT_ENTRIES;
    if (status == OK && compact)
        status = zset_all(call, zset, &all);
    for (size_t i = 0; i < all.count; i++)
        compact &= all.list[i].member.size <= COMPACT_MEMBER;
    *out = compact ? "listpack" : "skiplist";
    return status;
}

static enum status fields_encoding(struct redis_call *call, struct redis_key *key,
                                   enum key_type type, const char **out) {
    struct hash_fields all = {0};
    uint64_t count = 0;
    int64_t number;
    enum status status = key_field_count(call, key, &count);
    bool compact = type == KEY_HASH && count <= COMPACT_ENTRIES;
    bool numbers = type == KEY_SET && count <= COMPACT_SET;
    if (status == OK && (compact || numbers))
        status = key_all_fields(call, key, &all);
    for (size_t i = 0; i < all.count; i++) {
        const struct hash_field *field = &all.list[i];
        compact &= field->name.size <= COMPACT_MEMBER && field->value.size <= COMPACT_MEMBER;
        numbers = numbers && redis_read_int(field->name, &number);
    }
    *out = compact ? "listpack" : numbers ? "intset" : "hashtable";
    return status;
}

static const char *string_encoding(struct bytes value) {
    int64_t number;
    if (value.size <= LONG_TEXT && redis_read_int(value, &number))
        return "int";
    return value.size <= EMBEDDED_STRING ? "embstr" : "raw";
}

static enum status run_object_encoding(struct redis_call *call) {
    struct redis_key *key;
    enum key_type type;
    const char *name = NULL;
    enum status status = open_subject(call, &key, &type);
    if (status != OK || type == KEY_NONE)
        return status;
    if (type == KEY_STRING)
        name = string_encoding(key_string(key));
    else if (type == KEY_ZSET)
        status = zset_encoding(call, key, &name);
    else
        status = fields_encoding(call, key, type, &name);
    if (status == OK)
        resp_bulk(&call->out, bytes_str(name));
    return status;
}

static enum status reply_if_exists(struct redis_call *call, int64_t number) {
    struct redis_key *key;
    enum key_type type;
    enum status status = open_subject(call, &key, &type);
    if (status == OK && type != KEY_NONE)
        resp_int(&call->out, number);
    return status;
}

static enum status run_object_refcount(struct redis_call *call) {
    return reply_if_exists(call, 1);
}

/* Always 0: when a key was last used is not kept. */
static enum status run_object_idletime(struct redis_call *call) {
    return reply_if_exists(call, 0);
}

static enum status run_object_freq(struct redis_call *call) {
    struct redis_key *key;
    enum key_type type;
    enum status status = open_subject(call, &key, &type);
    if (status != OK || type == KEY_NONE)
        return status;
    return call_error(call, "ERR An LFU maxmemory policy is not selected, access frequency not "
                            "tracked. Please note that when switching between policies at runtime "
                            "LRU and LFU data will take some time to adjust.");
}

/* The size of some entries, for an estimate of all. */
struct sample {
    size_t count;   /* 0: all */
    uint64_t bytes; /* of those that were looked at, */
    uint64_t seen;  /* which were so many, */
    uint64_t total; /* of so many */
};

static enum status sample_zset(struct redis_call *call, struct redis_key *key,
                               struct sample *sample) {
    struct zset_range first = {.by = RANGE_RANK, .stop = (int64_t)sample->count - 1};
    struct zset_entries some = {0};
    struct zset *zset;
    enum status status = key_zset(call, key, &zset);
    if (status == OK)
        status = zset_size(call, zset, &sample->total);
    if (status == OK)
        status = zset_list(call, zset, &first, &some);
    for (size_t i = 0; i < some.count; i++)
        sample->bytes += 2 * (some.list[i].member.size + ENTRY_OVERHEAD);
    sample->seen = some.count;
    return status;
}

static enum status sample_fields(struct redis_call *call, struct redis_key *key,
                                 struct sample *sample) {
    struct field_page page = {.limit = sample->count == 0 ? SIZE_MAX : sample->count};
    enum status status = key_field_count(call, key, &sample->total);
    if (status == OK)
        status = sample->count == 0 ? key_all_fields(call, key, &page.fields)
                                    : key_page_fields(call, key, &page);
    for (size_t i = 0; i < page.fields.count; i++)
        sample->bytes +=
            page.fields.list[i].name.size + page.fields.list[i].value.size + ENTRY_OVERHEAD;
    sample->seen = page.fields.count;
    return status;
}

static enum status read_samples(struct redis_call *call, size_t *out) {
    int64_t samples = 5;
    for (size_t i = 3; i < call->count; i += 2) {
        if (i + 1 == call->count || !call_arg_is(call, i, "SAMPLES"))
            return call_error(call, ERROR_SYNTAX);
        if (call_int(call, i + 1, &samples) != OK)
            return INVALID;
        if (samples < 0)
            return call_error(call, ERROR_SYNTAX);
    }
    *out = (size_t)samples;
    return OK;
}

static enum status run_memory_usage(struct redis_call *call) {
    struct sample sample = {0};
    struct redis_key *key;
    enum key_type type = KEY_NONE;
    enum status status = read_samples(call, &sample.count);
    if (status == OK)
        status = open_subject(call, &key, &type);
    if (status != OK || type == KEY_NONE)
        return status;
    if (type == KEY_STRING)
        sample.bytes = key_string(key).size;
    else
        status =
            type == KEY_ZSET ? sample_zset(call, key, &sample) : sample_fields(call, key, &sample);
    if (status != OK)
        return status;
    if (sample.seen != 0)
        sample.bytes = sample.bytes * sample.total / sample.seen;
    resp_int(&call->out, (int64_t)(sample.bytes + KEY_OVERHEAD + call->args[2].size));
    return OK;
}

static enum status run_object_help(struct redis_call *call) {
    static const char *const lines[] = {
        "OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "ENCODING <key>",
        "    What the key's value is called inside.",
        "FREQ <key>",
        "    An error: no frequencies are kept.",
        "IDLETIME <key>",
        "    0: the time of the last use is not kept.",
        "REFCOUNT <key>",
        "    1.",
        "HELP",
        "    These lines.",
        NULL};
    return reply_help(call, lines);
}

static enum status run_memory_help(struct redis_call *call) {
    static const char *const lines[] = {
        "MEMORY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "DOCTOR, MALLOC-STATS, PURGE, STATS",
        "    What memory is used for.",
        "USAGE <key> [SAMPLES <count>]",
        "    About how many bytes the key takes.",
        "HELP",
        "    These lines.",
        NULL};
    return reply_help(call, lines);
}

/* ---- the commands ---- */

enum { HELPS = COMMAND_LOADING | COMMAND_STALE };

static const struct redis_command object_subs[] = {
    {"encoding",
     3,
     COMMAND_READ,
     TOUCHES_PARTITION,
     {2, 2, 1, 0},
     run_object_encoding,
     NULL,
     GROUP_GENERIC,
     "2.2.3",
     "What a key's value is called inside"},
    {"freq",
     3,
     COMMAND_READ,
     TOUCHES_PARTITION,
     {2, 2, 1, 0},
     run_object_freq,
     NULL,
     GROUP_GENERIC,
     "4.0.0",
     "How often a key is used: not kept"},
    {"help",
     2,
     HELPS,
     TOUCHES_CONNECTION,
     {0},
     run_object_help,
     NULL,
     GROUP_GENERIC,
     "6.2.0",
     "What there is"},
    {"idletime",
     3,
     COMMAND_READ,
     TOUCHES_PARTITION,
     {2, 2, 1, 0},
     run_object_idletime,
     NULL,
     GROUP_GENERIC,
     "2.2.3",
     "How long a key was not used: not kept"},
    {"refcount",
     3,
     COMMAND_READ,
     TOUCHES_PARTITION,
     {2, 2, 1, 0},
     run_object_refcount,
     NULL,
     GROUP_GENERIC,
     "2.2.3",
     "How many refer to a key's value: one"},
    {0},
};

static const struct redis_command memory_subs[] = {
    {"doctor",
     2,
     0,
     TOUCHES_SERVER,
     {0},
     run_memory_doctor,
     NULL,
     GROUP_SERVER,
     "4.0.0",
     "How it is doing"},
    {"malloc-stats",
     2,
     0,
     TOUCHES_SERVER,
     {0},
     run_memory_malloc_stats,
     NULL,
     GROUP_SERVER,
     "4.0.0",
     "What the allocator has"},
    {"purge",
     2,
     0,
     TOUCHES_SERVER,
     {0},
     run_memory_purge,
     NULL,
     GROUP_SERVER,
     "4.0.0",
     "Freed memory goes back to the system by itself"},
    {"stats",
     2,
     0,
     TOUCHES_SERVER,
     {0},
     run_memory_stats,
     NULL,
     GROUP_SERVER,
     "4.0.0",
     "What memory is used for"},
    {"help",
     2,
     HELPS,
     TOUCHES_CONNECTION,
     {0},
     run_memory_help,
     NULL,
     GROUP_SERVER,
     "4.0.0",
     "What there is"},
    {"usage",
     -3,
     COMMAND_READ,
     TOUCHES_PARTITION,
     {2, 2, 1, 0},
     run_memory_usage,
     NULL,
     GROUP_SERVER,
     "4.0.0",
     "About how many bytes a key takes"},
    {0},
};

const struct redis_command redis_object_commands[] = {
    {"object",
     -2,
     0,
     TOUCHES_CONNECTION,
     {0},
     NULL,
     NULL,
     GROUP_GENERIC,
     "2.2.3",
     "About a key, from the inside",
     object_subs},
    {"memory",
     -2,
     0,
     TOUCHES_CONNECTION,
     {0},
     NULL,
     NULL,
     GROUP_SERVER,
     "4.0.0",
     "About memory",
     memory_subs},
    {0},
};
