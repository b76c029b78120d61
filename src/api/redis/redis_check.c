/* What is refused before it runs: unknown commands, wrong arities, and what the caller may not. */
#include "api/redis/redis_call.h"
#include "base/log.h"
#include "game/keyspace/key_name.h"

#include <strings.h>

static bool is_one_of(struct bytes name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == name.size &&
            strncasecmp(names[i], (const char *)name.data, name.size) == 0)
            return true;
    return false;
}

static bool is_function(struct bytes name) {
    static const char *const names[] = {"function", "fcall", "fcall_ro"};
    return is_one_of(name, names, sizeof(names) / sizeof(names[0]));
}

/* Whether it is a command of Redis on a type that is not kept here. */
static bool is_other_type(struct bytes name) {
    static const char *const names[] = {
        "lpush",   "lpushx",    "rpush",       "rpushx",     "lpop",      "rpop",
        "llen",    "lindex",    "linsert",     "lrange",     "lrem",      "lset",
        "ltrim",   "lpos",      "lmove",       "lmpop",      "blmove",    "blmpop",
        "blpop",   "brpop",     "rpoplpush",   "brpoplpush", "xadd",      "xlen",
        "xrange",  "xrevrange", "xread",       "xreadgroup", "xgroup",    "xack",
        "xdel",    "xtrim",     "xinfo",       "xpending",   "xclaim",    "xautoclaim",
        "xsetid",  "pfadd",     "pfcount",     "pfmerge",    "bitcount",  "bitop",
        "bitpos",  "bitfield",  "bitfield_ro", "getbit",     "setbit",    "geoadd",
        "geodist", "geohash",   "geopos",      "georadius",  "geosearch", "geosearchstore"};
    return is_one_of(name, names, sizeof(names) / sizeof(names[0]));
}

static void refuse_unknown(struct redis_call *call) {
    struct bytes name = call->args[0];
    struct buf text = {0};
    if (is_function(name)) {
        resp_error(&call->out,
                   BYTES("ERR there are no functions here: send the script with EVAL, or "
                         "load it with SCRIPT LOAD and run it with EVALSHA"));
        return;
    }
    if (is_other_type(name)) {
        buf_printf(&text,
                   "ERR unknown command '%.*s': there are strings, hashes, sets and sorted sets "
                   "here, and no lists, streams, bitmaps, geospatial indexes or HyperLogLogs",
                   BYTES_ARG(name));
        resp_error(&call->out, buf_bytes(&text));
        buf_release(&text);
        return;
    }
    buf_printf(&text, "ERR unknown command '%.*s', with args beginning with: ",
               (int)(name.size < 128 ? name.size : 128), (const char *)name.data);
    size_t begin = text.size;
    for (size_t i = 1; i < call->count && text.size - begin < 128; i++) {
        size_t room = 128 - (text.size - begin), size = call->args[i].size;
        buf_printf(&text, "'%.*s' ", (int)(size < room ? size : room),
                   (const char *)call->args[i].data);
    }
    resp_error(&call->out, buf_bytes(&text));
    buf_release(&text);
}

/* The words that an HTTP request sent to this port begins its lines with. A web page can have a
 * browser post to loopback, and a body that holds commands must not be run. */
static bool is_http(struct bytes name) {
    return (name.size == 4 && strncasecmp((const char *)name.data, "post", 4) == 0) ||
           (name.size == 5 && strncasecmp((const char *)name.data, "host:", 5) == 0);
}

/* Ends the connection without a reply, as Redis does; what follows in it is not looked at. */
static void end_http(struct redis_client *client) {
    log_warn("a Redis connection was ended: it speaks HTTP, which may be a web page's attempt to "
             "run commands");
    stream_end(client->stream);
}

static void refuse_subcommand(struct redis_call *call, const struct redis_command *command) {
    struct bytes name = call->args[1];
    char upper[32] = "";
    for (size_t i = 0; i + 1 < sizeof(upper) && command->name[i] != '\0'; i++)
        upper[i] = (char)(command->name[i] >= 'a' ? command->name[i] - 32 : command->name[i]);
    call_error(call, "ERR unknown subcommand '%.*s'. Try %s HELP.",
               (int)(name.size < 128 ? name.size : 128), (const char *)name.data, upper);
    resp_error(&call->out, call->error);
}

bool call_find_subcommand(struct redis_call *call) {
    const struct redis_command *command = call->command;
    if (command == NULL) {
        if (is_http(call->args[0]))
            end_http(call->client);
        else
            refuse_unknown(call);
        return false;
    }
    atomic_store_explicit(&call->client->info.last, command, memory_order_relaxed);
    if (command->subs == NULL || call->count < 2)
        return true;
    call->command = redis_subcommand_find(command, call->args[1]);
    if (call->command == NULL)
        refuse_subcommand(call, command);
    return call->command != NULL;
}

/* The right that a command needs, from its flags. WATCH and INFO have none of these flags: WATCH
 * reveals writes to its keys, so it needs to read them; INFO takes any right to the table. */
static unsigned access_needed(const struct redis_command *command) {
    if ((command->flags & COMMAND_ADMIN) != 0)
        return ACCESS_ADMIN;
    if ((command->flags & (COMMAND_WRITE | COMMAND_SENDS)) != 0)
        return ACCESS_WRITE;
    bool reads = (command->flags & (COMMAND_READ | COMMAND_PUBSUB)) != 0 ||
                 command->touches == TOUCHES_PARTITION;
    return reads ? ACCESS_READ : 0;
}

/* What the caller is denied of one key; a denial that is not about partitions is in *denial. */
static unsigned denied_of_key(struct redis_call *call, struct touch *touch, struct bytes name,
                              enum denial *denial) {
    const struct caller *caller = &call->caller;
    unsigned denied = DENIED_DATABASES;
    const struct {
        struct bytes partition;
        unsigned flag;
    } parts[] = {
        {key_partition(call->db, name, call->arena), DENIED_KEYS},
        {board_entries_partition(key_board_name(call->db, name, call->arena), call->arena),
         DENIED_BOARDS},
    };
    for (size_t i = 0; i < 2; i++) {
        touch->partition = parts[i].partition;
        enum denial found = access_decide(caller, touch);
        denied |= found != DENIAL_NONE ? parts[i].flag : 0;
        if (found != DENIAL_NONE && found != DENIAL_PARTITION)
            *denial = found;
    }
    return denied;
}

/* What a command must reach of each key, by its group: its own type's partition; a command on keys
 * of any type one of the two. */
static bool reaches_enough(const struct redis_command *command, unsigned denied) {
    switch (command->group) {
    case GROUP_STRING:
    case GROUP_HASH:
    case GROUP_SET:
        return (denied & DENIED_KEYS) == 0;
    case GROUP_SORTED_SET:
        return (denied & DENIED_BOARDS) == 0;
    default:
        return (denied & DENIED_KEYS) == 0 || (denied & DENIED_BOARDS) == 0;
    }
}

/* Whether the caller reaches the partitions of all keys. A command whose keys cannot be told is for
 * callers who reach all partitions. */
static enum denial decide_keys(struct redis_call *call, struct touch *touch) {
    enum denial denial = DENIAL_NONE;
    struct redis_request request = {call->command, call->args, call->count};
    struct key_positions at;
    call->denied = 0;
    if (!access_is_partitioned(&call->caller) || !redis_command_keys(&request, call->arena, &at) ||
        at.count == 0)
        return access_decide(&call->caller, touch);
    for (size_t i = 0; i < at.count; i++)
        call->denied |= denied_of_key(call, touch, call->args[at.at[i]], &denial);
    if (denial == DENIAL_NONE && !reaches_enough(call->command, call->denied))
        denial = DENIAL_PARTITION;
    return denial;
}

static enum denial decide_command(struct redis_call *call) {
    struct touch touch = {.what = call->command->touches,
                          .access = access_needed(call->command),
                          .table = call->frontend->game->table};
    if (touch.what == TOUCHES_PARTITION)
        return decide_keys(call, &touch);
    return access_decide(&call->caller, &touch);
}

static enum denial decide_request(const struct redis_call *outer,
                                  const struct redis_request *request, unsigned db) {
    struct redis_call call = {.frontend = outer->frontend,
                              .client = outer->client,
                              .caller = outer->caller,
                              .db = db,
                              .command = request->command,
                              .args = request->args,
                              .count = request->count,
                              .arena = outer->arena};
    return decide_command(&call);
}

enum denial call_decide_nested(const struct redis_call *outer,
                               const struct redis_request *request) {
    return decide_request(outer, request, outer->db);
}

unsigned call_denied_partitions(struct redis_call *call) {
    if (call->command->touches != TOUCHES_PARTITION || !access_is_partitioned(&call->caller))
        return 0;
    decide_command(call);
    return call->denied;
}

/* EXEC checks the queued commands again, since access keys may have been replaced since MULTI. */
static enum denial decide_queued(struct redis_call *call) {
    const struct multi_queue *queue = &call->client->queue;
    enum denial denial = DENIAL_NONE;
    if (!command_is_exec(call->command))
        return DENIAL_NONE;
    for (size_t i = 0; i < queue->count && denial == DENIAL_NONE; i++)
        denial = decide_request(call, &queue->list[i].request, queue->list[i].db);
    return denial;
}

static enum status check_allowed(struct redis_call *call) {
    caller_refresh(call->frontend->settings.keys, &call->client->caller);
    call->caller = call->client->caller;
    enum denial denial = decide_command(call);
    if (denial == DENIAL_NONE)
        denial = decide_queued(call);
    call->allowed = denial == DENIAL_NONE;
    if (call->allowed)
        return OK;
    if (denial == DENIAL_UNKNOWN)
        return call_error(call, "NOAUTH Authentication required.");
    if (denial == DENIAL_PARTITION && call->command->touches != TOUCHES_SERVER)
        return call_error(call, "NOPERM this user has no permissions to access one of the keys "
                                "used as arguments");
    struct bytes name = redis_command_name(call->command, call->arena);
    return call_error(call, "NOPERM this user has no permissions to run the '%.*s' command",
                      BYTES_ARG(name));
}

enum status call_check(struct redis_call *call) {
    struct redis_client *client = call->client;
    const struct redis_command *command = call->command;
    if (!redis_arity_fits(command, call->count)) {
        struct bytes name = redis_command_name(command, call->arena);
        return call_error(call, "ERR wrong number of arguments for '%.*s' command",
                          BYTES_ARG(name));
    }
    enum status status = check_allowed(call);
    if (status != OK)
        return status;
    if (client_only_listens(client) && (command->flags & COMMAND_SUBSCRIBER) == 0)
        return call_error(call,
                          "ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / "
                          "QUIT / RESET are allowed in this context",
                          redis_command_find(call->args[0]) != NULL
                              ? redis_command_find(call->args[0])->name
                              : command->name);
    if (client->queue.open && (command->flags & COMMAND_NO_MULTI) != 0)
        return call_error(call, "ERR Command not allowed inside a transaction");
    return OK;
}
