/* COMMAND: describes the commands, for clients that route by their keys and flags. */
#include "api/redis/command_details.h"
#include "api/redis/glob.h"

/* ---- sets of words ---- */

static void put_words(struct resp *out, const struct command_words *words) {
    resp_set(out, words->count);
    for (size_t i = 0; i < words->count; i++)
        resp_simple(out, bytes_str(words->list[i]));
}

/* Replies with the words of a text that have one blank between any two. */
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

/* ---- INFO ---- */

static void put_named(struct resp *out, const char *name, int64_t number) {
    resp_bulk(out, bytes_str(name));
    resp_int(out, number);
}

/* Keys from the argument `index` on: a range of them, or as many as that argument says. */
struct key_spec {
    const char *flags; /* words with a blank between any two */
    int index;
    bool counted; /* the argument says how many */
    int last;     /* of a range: counted from `index`, or negative, from the end */
};

static void put_key_spec(struct resp *out, const struct key_spec *spec) {
    bool counted = spec->counted;
    resp_map(out, 3);
    resp_bulk(out, BYTES("flags"));
    put_split(out, spec->flags, false);
    resp_bulk(out, BYTES("begin_search"));
    resp_map(out, 2);
    resp_bulk(out, BYTES("type"));
    resp_bulk(out, BYTES("index"));
    resp_bulk(out, BYTES("spec"));
    resp_map(out, 1);
    put_named(out, "index", spec->index);
    resp_bulk(out, BYTES("find_keys"));
    resp_map(out, 2);
    resp_bulk(out, BYTES("type"));
    resp_bulk(out, counted ? BYTES("keynum") : BYTES("range"));
    resp_bulk(out, BYTES("spec"));
    resp_map(out, 3);
    put_named(out, counted ? "keynumidx" : "lastkey", counted ? 0 : spec->last);
    if (counted)
        put_named(out, "firstkey", 1);
    put_named(out, "keystep", 1);
    if (!counted)
        put_named(out, "limit", 0);
}

static void put_key_specs(struct resp *out, const struct command_keys *keys,
                          const struct command_details *details) {
    const char *first = details->first != NULL ? details->first : "RO access";
    bool two = details->second != NULL, split = two && (keys->last == 2 || keys->last < 0);
    size_t count = (size_t)(keys->first > 0) + (size_t)(keys->counted > 0);
    resp_set(out, count + (size_t)split);
    if (keys->first > 0)
        put_key_spec(out, &(struct key_spec){first, keys->first, false,
                                             keys->last < 0 && !split ? keys->last : 0});
    if (split)
        put_key_spec(
            out, &(struct key_spec){details->second, 2, false, keys->last < 0 ? keys->last : 0});
    if (keys->counted > 0)
        put_key_spec(out, &(struct key_spec){.flags = two ? details->second : first,
                                             .index = keys->counted,
                                             .counted = true});
}

static void put_info(struct redis_call *call, const struct redis_command *command) {
    struct resp *out = &call->out;
    struct bytes name = redis_command_name(command, call->arena);
    struct command_words flags = command_flag_words(command),
                         categories = command_categories(command);
    struct command_details details = command_details_of(name);
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
    put_split(out, details.tips, true);
    put_key_specs(out, &command->keys, &details);
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

/* Also finds subcommands, such as "config|get". */
static const struct redis_command *find_named(struct bytes name) {
    size_t bar = bytes_find(name, BYTES("|"));
    if (bar == SIZE_MAX)
        return redis_command_find(name);
    const struct redis_command *command = redis_command_find(bytes_of(name.data, bar));
    if (command == NULL || command->subs == NULL)
        return NULL;
    return redis_subcommand_find(command, bytes_skip(name, bar + 1));
}

static enum status run_command_info(struct redis_call *call) {
    if (call->count == 2)
        return run_command(call);
    resp_array(&call->out, call->count - 2);
    for (size_t i = 2; i < call->count; i++) {
        const struct redis_command *command = find_named(call->args[i]);
        if (command != NULL)
            put_info(call, command);
        else
            resp_null(&call->out);
    }
    return OK;
}

static enum status run_command_count(struct redis_call *call) {
    resp_int(&call->out, (int64_t)count_commands());
    return OK;
}

/* ---- DOCS ---- */

static void put_docs(struct redis_call *call, const struct redis_command *command) {
    static const char *const groups[] = {[GROUP_GENERIC] = "generic",
                                         [GROUP_STRING] = "string",
                                         [GROUP_HASH] = "hash",
                                         [GROUP_SET] = "set",
                                         [GROUP_CONNECTION] = "connection",
                                         [GROUP_SORTED_SET] = "sorted-set",
                                         [GROUP_TRANSACTIONS] = "transactions",
                                         [GROUP_SERVER] = "server",
                                         [GROUP_SCRIPTING] = "scripting",
                                         [GROUP_PUBSUB] = "pubsub"};
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

static enum status run_command_docs(struct redis_call *call) {
    const struct redis_command *command;
    size_t at = 0, found = 0;
    if (call->count == 2) {
        resp_map(&call->out, count_commands());
        while ((command = redis_command_next(&at)) != NULL)
            put_docs(call, command);
        return OK;
    }
    for (size_t i = 2; i < call->count; i++)
        found += find_named(call->args[i]) != NULL;
    resp_map(&call->out, found);
    for (size_t i = 2; i < call->count; i++)
        if ((command = find_named(call->args[i])) != NULL)
            put_docs(call, command);
    return OK;
}

/* ---- LIST ---- */

struct filter {
    enum { ALL, PATTERN, CATEGORY, NOTHING } by;
    struct bytes text;
};

static bool passes_filter(const struct filter *filter, const struct redis_command *command) {
    if (filter->by == PATTERN)
        return glob_matches(filter->text, bytes_str(command->name), true);
    if (filter->by == CATEGORY)
        return command_has_category(command, filter->text);
    return filter->by == ALL;
}

static enum status run_command_list(struct redis_call *call) {
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
        count += passes_filter(&filter, command);
    resp_array(&call->out, count);
    at = 0;
    while ((command = redis_command_next(&at)) != NULL)
        if (passes_filter(&filter, command))
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
    struct redis_request request = {*command, call->args + 2, call->count - 2};
    if (!redis_command_keys(&request, call->arena, out))
        return call_error(call, "ERR Invalid arguments specified for command");
    return OK;
}

static enum status run_command_getkeys(struct redis_call *call) {
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

static enum status run_command_getkeysandflags(struct redis_call *call) {
    const struct redis_command *command;
    struct key_positions keys;
    enum status status = find_keys(call, &command, &keys);
    if (status != OK)
        return status;
    struct command_details details = command_details_of(redis_command_name(command, call->arena));
    resp_array(&call->out, keys.count);
    for (size_t i = 0; i < keys.count; i++) {
        resp_array(&call->out, 2);
        resp_bulk(&call->out, call->args[2 + keys.at[i]]);
        put_split(&call->out, i > 0 && details.second != NULL ? details.second : details.first,
                  false);
    }
    return OK;
}

static enum status run_command_help(struct redis_call *call) {
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
    return reply_help(call, lines);
}

enum { FLAGS = COMMAND_LOADING | COMMAND_STALE };

static const struct redis_command subs[] = {
    {"count",
     2,
     FLAGS,
     TOUCHES_CONNECTION,
     {0},
     run_command_count,
     NULL,
     GROUP_CONNECTION,
     "2.8.13",
     "How many commands there are",
     NULL},
    {"docs",
     -2,
     FLAGS,
     TOUCHES_CONNECTION,
     {0},
     run_command_docs,
     NULL,
     GROUP_CONNECTION,
     "7.0.0",
     "Commands in a sentence",
     NULL},
    {"getkeys",
     -4,
     FLAGS,
     TOUCHES_CONNECTION,
     {0},
     run_command_getkeys,
     NULL,
     GROUP_CONNECTION,
     "2.8.13",
     "The keys among a command's arguments",
     NULL},
    {"getkeysandflags",
     -4,
     FLAGS,
     TOUCHES_CONNECTION,
     {0},
     run_command_getkeysandflags,
     NULL,
     GROUP_CONNECTION,
     "7.0.0",
     "The keys among a command's arguments, and what is done with each",
     NULL},
    {"help",
     2,
     FLAGS,
     TOUCHES_CONNECTION,
     {0},
     run_command_help,
     NULL,
     GROUP_CONNECTION,
     "5.0.0",
     "What there is",
     NULL},
    {"info",
     -2,
     FLAGS,
     TOUCHES_CONNECTION,
     {0},
     run_command_info,
     NULL,
     GROUP_CONNECTION,
     "2.8.13",
     "Commands in detail",
     NULL},
    {"list",
     -2,
     FLAGS,
     TOUCHES_CONNECTION,
     {0},
     run_command_list,
     NULL,
     GROUP_CONNECTION,
     "7.0.0",
     "Names of commands",
     NULL},
    {0},
};

const struct redis_command redis_command_commands[] = {
    {"command",
     -1,
     FLAGS,
     TOUCHES_CONNECTION,
     {0},
     run_command,
     NULL,
     GROUP_CONNECTION,
     "2.8.13",
     "All commands, in detail",
     subs},
    {0},
};
