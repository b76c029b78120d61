/* COMMAND: what the commands are, for clients that ask before they send. */
#include "api/redis/glob.h"
#include "api/redis/lines.h"
#include "api/redis/space.h"

#include <stdio.h>

/* ---- what the table of commands does not say ---- */

/* How a command treats its keys, first those of its first specification, then those of its second;
 * and what a proxy should know. Those that only read and are not here look into their key. */
struct more {
    const char *name;
    const char *first, *second;
    const char *tips;
};

#define SUM_OF_SHARDS "request_policy:multi_shard response_policy:agg_sum"
#define ALL_SHARDS    "request_policy:all_shards"

static const struct more mores[] = {
    {"zadd", "RW update", NULL, ""},
    {"zincrby", "RW access update", NULL, ""},
    {"zrem", "RW delete", NULL, ""},
    {"zremrangebyrank", "RW delete", NULL, ""},
    {"zremrangebyscore", "RW delete", NULL, ""},
    {"zremrangebylex", "RW delete", NULL, ""},
    {"zpopmin", "RW access delete", NULL, ""},
    {"zpopmax", "RW access delete", NULL, ""},
    {"zmpop", "RW access delete", NULL, ""},
    {"bzpopmin", "RW access delete", NULL, ""},
    {"bzpopmax", "RW access delete", NULL, ""},
    {"bzmpop", "RW access delete", NULL, ""},
    {"zrangestore", "OW update", "RO access", ""},
    {"zunionstore", "OW update", "RO access", ""},
    {"zinterstore", "OW update", "RO access", ""},
    {"zdiffstore", "OW update", "RO access", ""},
    {"zcard", "RO", NULL, ""},
    {"zrandmember", "RO access", NULL, "nondeterministic_output"},
    {"zscan", "RO access", NULL, "nondeterministic_output"},
    {"scan", NULL, NULL, "nondeterministic_output request_policy:special"},
    {"del", "RM delete", NULL, SUM_OF_SHARDS},
    {"unlink", "RM delete", NULL, SUM_OF_SHARDS},
    {"exists", "RO", NULL, SUM_OF_SHARDS},
    {"touch", "RO", NULL, SUM_OF_SHARDS},
    {"type", "RO", NULL, ""},
    {"rename", "RW access delete", "OW update", ""},
    {"renamenx", "RW access delete", "OW insert", ""},
    {"copy", "RO access", "OW update", ""},
    {"object|encoding", "RO", NULL, "nondeterministic_output"},
    {"object|freq", "RO", NULL, "nondeterministic_output"},
    {"object|idletime", "RO", NULL, "nondeterministic_output"},
    {"object|refcount", "RO", NULL, "nondeterministic_output"},
    {"memory|usage", "RO", NULL, ""},
    {"keys", NULL, NULL, ALL_SHARDS " nondeterministic_output_order"},
    {"dbsize", NULL, NULL, ALL_SHARDS " response_policy:agg_sum"},
    {"randomkey", NULL, NULL, ALL_SHARDS " nondeterministic_output"},
    {"flushdb", NULL, NULL, ALL_SHARDS " response_policy:all_succeeded"},
    {"flushall", NULL, NULL, ALL_SHARDS " response_policy:all_succeeded"},
    {"expire", "RW update", NULL, ""},
    {"pexpire", "RW update", NULL, ""},
    {"expireat", "RW update", NULL, ""},
    {"pexpireat", "RW update", NULL, ""},
    {"persist", "RW update", NULL, ""},
    {"ttl", "RO access", NULL, "nondeterministic_output"},
    {"pttl", "RO access", NULL, "nondeterministic_output"},
    {"watch", "RO", NULL, ""},
    {"ping", NULL, NULL, ALL_SHARDS " response_policy:all_succeeded"},
    {"client|list", NULL, NULL, "nondeterministic_output"},
    {"client|info", NULL, NULL, "nondeterministic_output"},
    {"info", NULL, NULL, "nondeterministic_output " ALL_SHARDS " response_policy:special"},
    {"config|set", NULL, NULL, "request_policy:all_nodes response_policy:all_succeeded"},
    {"time", NULL, NULL, "nondeterministic_output"},
    {"wait", NULL, NULL, ALL_SHARDS " response_policy:agg_min"},
    {"command", NULL, NULL, "nondeterministic_output_order"},
    {"command|info", NULL, NULL, "nondeterministic_output_order"},
    {"command|docs", NULL, NULL, "nondeterministic_output_order"},
    {"command|list", NULL, NULL, "nondeterministic_output_order"},
};

static struct more more_of(struct bytes name) {
    for (size_t i = 0; i < sizeof(mores) / sizeof(mores[0]); i++)
        if (bytes_equal(bytes_str(mores[i].name), name))
            return mores[i];
    return (struct more){.first = "RO access", .tips = ""};
}

/* ---- sets of words ---- */

struct words {
    const char *list[32];
    size_t count;
};

static void put_words(struct resp *out, const struct words *words) {
    resp_set(out, words->count);
    for (size_t i = 0; i < words->count; i++)
        resp_simple(out, bytes_str(words->list[i]));
}

/* Words of a text with one blank between any two. */
static void put_split(struct resp *out, const char *text, bool bulk) {
    struct bytes left = bytes_str(text), word;
    size_t count = left.size != 0;
    for (const char *c = text; *c != '\0'; c++)
        count += *c == ' ';
    resp_set(out, count);
    while (left.size != 0) {
        size_t end = bytes_find(left, BYTES(" "));
        word = bytes_of(left.data, end == SIZE_MAX ? left.size : end);
        left = bytes_skip(left, end == SIZE_MAX ? left.size : end + 1);
        if (bulk)
            resp_bulk(out, word);
        else
            resp_simple(out, word);
    }
}

static struct words flags_of(const struct redis_command *command) {
    static const char *const names[] = {"write",        "readonly",     "denyoom", "admin",
                                        "noscript",     "blocking",     "loading", "stale",
                                        "skip_monitor", "skip_slowlog", "fast",    "no_auth",
                                        "allow_busy",   "movablekeys",  "no_multi"};
    struct words words = {.count = 0};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if ((command->flags & 1U << i) != 0)
            words.list[words.count++] = names[i];
    return words;
}

static struct words categories_of(const struct redis_command *command) {
    unsigned flags = command->flags;
    enum command_group group =
        command->subs != NULL && flags == 0 ? (enum command_group) - 1 : command->group;
    const struct {
        bool has;
        const char *name;
    } all[] = {
        {group == GROUP_GENERIC || (flags & COMMAND_CATEGORY_KEYSPACE) != 0, "@keyspace"},
        {(flags & COMMAND_READ) != 0, "@read"},
        {(flags & COMMAND_WRITE) != 0, "@write"},
        {group == GROUP_SORTED_SET, "@sortedset"},
        {(flags & COMMAND_ADMIN) != 0, "@admin"},
        {(flags & COMMAND_FAST) != 0, "@fast"},
        {(flags & COMMAND_FAST) == 0, "@slow"},
        {(flags & COMMAND_BLOCKING) != 0, "@blocking"},
        {(flags & (COMMAND_ADMIN | COMMAND_CATEGORY_DANGEROUS)) != 0, "@dangerous"},
        {group == GROUP_CONNECTION, "@connection"},
        {group == GROUP_TRANSACTIONS, "@transaction"},
    };
    struct words words = {.count = 0};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].has)
            words.list[words.count++] = all[i].name;
    return words;
}

/* ---- INFO ---- */

static void put_named(struct resp *out, const char *name, int64_t number) {
    resp_bulk(out, bytes_str(name));
    resp_int(out, number);
}

/* Keys from the argument `index` on: a range of them, or as many as that argument says. */
static void put_key_spec(struct resp *out, const char *flags, int index, bool counted, int last) {
    resp_map(out, 3);
    resp_bulk(out, BYTES("flags"));
    put_split(out, flags, false);
    resp_bulk(out, BYTES("begin_search"));
    resp_map(out, 2);
    resp_bulk(out, BYTES("type"));
    resp_bulk(out, BYTES("index"));
    resp_bulk(out, BYTES("spec"));
    resp_map(out, 1);
    put_named(out, "index", index);
    resp_bulk(out, BYTES("find_keys"));
    resp_map(out, 2);
    resp_bulk(out, BYTES("type"));
    resp_bulk(out, counted ? BYTES("keynum") : BYTES("range"));
    resp_bulk(out, BYTES("spec"));
    resp_map(out, 3);
    put_named(out, counted ? "keynumidx" : "lastkey", counted ? 0 : last);
    if (counted)
        put_named(out, "firstkey", 1);
    put_named(out, "keystep", 1);
    if (!counted)
        put_named(out, "limit", 0);
}

static void put_key_specs(struct resp *out, const struct command_keys *keys,
                          const struct more *more) {
    const char *first = more->first != NULL ? more->first : "RO access";
    bool two = more->second != NULL;
    size_t count = (size_t)(keys->first > 0) + (size_t)(keys->counted > 0);
    resp_set(out, count + (size_t)(two && keys->last == 2));
    if (keys->first > 0)
        put_key_spec(out, first, keys->first, false, keys->last < 0 ? keys->last : 0);
    if (two && keys->last == 2)
        put_key_spec(out, more->second, 2, false, 0);
    if (keys->counted > 0)
        put_key_spec(out, two ? more->second : first, keys->counted, true, 0);
}

static void put_info(struct redis_call *call, const struct redis_command *command) {
    struct resp *out = &call->out;
    struct bytes name = redis_command_name(command, call->arena);
    struct words flags = flags_of(command), categories = categories_of(command);
    struct more more = more_of(name);
    size_t subs = 0;
    while (command->subs != NULL && command->subs[subs].name != NULL)
        subs++;
    resp_array(out, 10);
    resp_bulk(out, name);
    resp_int(out, command->arity);
    put_words(out, &flags);
    resp_int(out, command->keys.first);
    resp_int(out, command->keys.last);
    resp_int(out, command->keys.step);
    put_words(out, &categories);
    put_split(out, more.tips, true);
    put_key_specs(out, &command->keys, &more);
    if (subs == 0)
        resp_set(out, 0);
    else
        resp_array(out, subs);
    for (size_t i = 0; i < subs; i++)
        put_info(call, &command->subs[i]);
}

static size_t count_commands(void) {
    size_t count = 0;
    while (redis_command_next(&count) != NULL)
        ;
    return count;
}

static enum status run_command(struct redis_call *call) {
    const struct redis_command *command;
    size_t at = 0;
    resp_array(&call->out, count_commands());
    while ((command = redis_command_next(&at)) != NULL)
        put_info(call, command);
    return OK;
}

/* "config|get" too. */
static const struct redis_command *find(struct bytes name) {
    size_t bar = bytes_find(name, BYTES("|"));
    if (bar == SIZE_MAX)
        return redis_command_find(name);
    const struct redis_command *command = redis_command_find(bytes_of(name.data, bar));
    if (command == NULL || command->subs == NULL)
        return NULL;
    return redis_subcommand_find(command, bytes_skip(name, bar + 1));
}

static enum status run_info(struct redis_call *call) {
    if (call->count == 2)
        return run_command(call);
    resp_array(&call->out, call->count - 2);
    for (size_t i = 2; i < call->count; i++) {
        const struct redis_command *command = find(call->args[i]);
        if (command != NULL)
            put_info(call, command);
        else
            resp_null(&call->out);
    }
    return OK;
}

static enum status run_count(struct redis_call *call) {
    resp_int(&call->out, (int64_t)count_commands());
    return OK;
}

/* ---- DOCS ---- */

static void put_docs(struct redis_call *call, const struct redis_command *command) {
    static const char *const groups[] = {[GROUP_GENERIC] = "generic",
                                         [GROUP_CONNECTION] = "connection",
                                         [GROUP_SORTED_SET] = "sorted-set",
                                         [GROUP_TRANSACTIONS] = "transactions",
                                         [GROUP_SERVER] = "server"};
    struct resp *out = &call->out;
    size_t subs = 0;
    while (command->subs != NULL && command->subs[subs].name != NULL)
        subs++;
    resp_bulk(out, redis_command_name(command, call->arena));
    resp_map(out, subs == 0 ? 3 : 4);
    resp_bulk(out, BYTES("summary"));
    resp_bulk(out, bytes_str(command->summary));
    resp_bulk(out, BYTES("since"));
    resp_bulk(out, bytes_str(command->since));
    resp_bulk(out, BYTES("group"));
    resp_bulk(out, bytes_str(groups[command->group]));
    if (subs == 0)
        return;
    resp_bulk(out, BYTES("subcommands"));
    resp_map(out, subs);
    for (size_t i = 0; i < subs; i++)
        put_docs(call, &command->subs[i]);
}

static enum status run_docs(struct redis_call *call) {
    const struct redis_command *command;
    size_t at = 0, found = 0;
    if (call->count == 2) {
        resp_map(&call->out, count_commands());
        while ((command = redis_command_next(&at)) != NULL)
            put_docs(call, command);
        return OK;
    }
    for (size_t i = 2; i < call->count; i++)
        found += find(call->args[i]) != NULL;
    resp_map(&call->out, found);
    for (size_t i = 2; i < call->count; i++)
        if ((command = find(call->args[i])) != NULL)
            put_docs(call, command);
    return OK;
}

/* ---- LIST ---- */

struct filter {
    enum { ALL, PATTERN, CATEGORY, NOTHING } by;
    struct bytes text;
};

static bool passes(const struct filter *filter, const struct redis_command *command) {
    struct words categories = categories_of(command);
    if (filter->by == PATTERN)
        return glob_matches(filter->text, bytes_str(command->name), true);
    for (size_t i = 0; filter->by == CATEGORY && i < categories.count; i++)
        if (bytes_equal(filter->text, bytes_str(categories.list[i] + 1)))
            return true;
    return filter->by == ALL;
}

static enum status run_list(struct redis_call *call) {
    struct filter filter = {.by = ALL};
    const struct redis_command *command;
    size_t count = 0, at = 0;
    if (call->count != 2) {
        if (call->count != 5 || !call_arg_is(call, 2, "FILTERBY"))
            return call_error(call, ERROR_SYNTAX);
        if (!call_arg_is(call, 3, "PATTERN") && !call_arg_is(call, 3, "ACLCAT") &&
            !call_arg_is(call, 3, "MODULE"))
            return call_error(call, ERROR_SYNTAX);
        filter.by = call_arg_is(call, 3, "PATTERN")  ? PATTERN
                    : call_arg_is(call, 3, "ACLCAT") ? CATEGORY
                                                     : NOTHING;
        filter.text = call->args[4];
    }
    while ((command = redis_command_next(&at)) != NULL)
        count += passes(&filter, command);
    resp_array(&call->out, count);
    at = 0;
    while ((command = redis_command_next(&at)) != NULL)
        if (passes(&filter, command))
            resp_bulk(&call->out, bytes_str(command->name));
    return OK;
}

/* ---- GETKEYS ---- */

static enum status find_keys(struct redis_call *call, const struct redis_command **command,
                             struct key_positions *out) {
    *command = redis_command_find(call->args[2]);
    if (*command != NULL && (*command)->subs != NULL && call->count > 3)
        *command = redis_subcommand_find(*command, call->args[3]);
    if (*command == NULL)
        return call_error(call, "ERR Invalid command specified");
    if ((*command)->keys.first == 0 && (*command)->keys.counted == 0)
        return call_error(call, "ERR The command has no key arguments");
    if (!redis_arity_fits(*command, call->count - 2))
        return call_error(call, "ERR Invalid number of arguments specified for command");
    if (!redis_command_keys(*command, call->args + 2, call->count - 2, call->arena, out))
        return call_error(call, "ERR Invalid arguments specified for command");
    return OK;
}

static enum status run_getkeys(struct redis_call *call) {
    const struct redis_command *command;
    struct key_positions keys;
    enum status status = find_keys(call, &command, &keys);
    if (status != OK)
        return status;
    resp_array(&call->out, keys.count);
    for (size_t i = 0; i < keys.count; i++)
        resp_bulk(&call->out, call->args[2 + keys.at[i]]);
    return OK;
}

static enum status run_getkeysandflags(struct redis_call *call) {
    const struct redis_command *command;
    struct key_positions keys;
    enum status status = find_keys(call, &command, &keys);
    if (status != OK)
        return status;
    struct more more = more_of(redis_command_name(command, call->arena));
    resp_array(&call->out, keys.count);
    for (size_t i = 0; i < keys.count; i++) {
        resp_array(&call->out, 2);
        resp_bulk(&call->out, call->args[2 + keys.at[i]]);
        put_split(&call->out, i > 0 && more.second != NULL ? more.second : more.first, false);
    }
    return OK;
}

static enum status run_help(struct redis_call *call) {
    static const char *const lines[] = {
        "COMMAND <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "(no subcommand)",
        "    All commands, in detail.",
        "COUNT",
        "    How many there are.",
        "LIST [FILTERBY <PATTERN pattern|ACLCAT category|MODULE name>]",
        "    Their names.",
        "INFO [<command> ...]",
        "    Some of them, in detail.",
        "DOCS [<command> ...]",
        "    Some of them, in a sentence.",
        "GETKEYS <command> <arg> [<arg> ...]",
        "    The keys among a command's arguments.",
        "GETKEYSANDFLAGS <command> <arg> [<arg> ...]",
        "    The same, and what is done with each.",
        "HELP",
        "    These lines.",
        NULL};
    return reply_lines(call, lines);
}

enum { FLAGS = COMMAND_LOADING | COMMAND_STALE };

static const struct redis_command subs[] = {
    {"count",
     2,
     FLAGS,
     {0},
     run_count,
     NULL,
     GROUP_CONNECTION,
     "2.8.13",
     "How many commands there are",
     NULL},
    {"docs",
     -2,
     FLAGS,
     {0},
     run_docs,
     NULL,
     GROUP_CONNECTION,
     "7.0.0",
     "Commands in a sentence",
     NULL},
    {"getkeys",
     -4,
     FLAGS,
     {0},
     run_getkeys,
     NULL,
     GROUP_CONNECTION,
     "2.8.13",
     "The keys among a command's arguments",
     NULL},
    {"getkeysandflags",
     -4,
     FLAGS,
     {0},
     run_getkeysandflags,
     NULL,
     GROUP_CONNECTION,
     "7.0.0",
     "The keys among a command's arguments, and what is done with each",
     NULL},
    {"help", 2, FLAGS, {0}, run_help, NULL, GROUP_CONNECTION, "5.0.0", "What there is", NULL},
    {"info",
     -2,
     FLAGS,
     {0},
     run_info,
     NULL,
     GROUP_CONNECTION,
     "2.8.13",
     "Commands in detail",
     NULL},
    {"list", -2, FLAGS, {0}, run_list, NULL, GROUP_CONNECTION, "7.0.0", "Names of commands", NULL},
    {0},
};

const struct redis_command redis_command_commands[] = {
    {"command",
     -1,
     FLAGS,
     {0},
     run_command,
     NULL,
     GROUP_CONNECTION,
     "2.8.13",
     "All commands, in detail",
     subs},
    {0},
};
