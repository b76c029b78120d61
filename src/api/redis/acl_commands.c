/* ACL: the access keys (docs/security.md) as Redis would tell of its users. They are managed by
 * `gametable keys` and not from here; a user is a key, by its id. Without keys there is one user,
 * "default", who may do everything. */
#include "api/redis/command_details.h"
#include "api/redis/redis_frontend_int.h"
#include "base/random.h"

#include <stdio.h>

#define ERROR_MANY "ERR unknown subcommand or wrong number of arguments for '%.*s'. Try ACL HELP."

static const struct keyring *keyring_of(const struct redis_call *call) {
    const struct keys *keys = call->frontend->settings.keys;
    return keys != NULL ? keys_now(keys) : NULL;
}

/* Whether the key has that right to the game's table. */
static bool key_may(const struct redis_call *call, const struct access_key *key, unsigned access) {
    struct caller caller = {.ring = keyring_of(call), .key = key};
    struct touch touch = {
        .what = TOUCHES_SCHEMA, .access = access, .table = call->frontend->game->table};
    return access_decide(&caller, &touch) == DENIAL_NONE;
}

static struct bytes commands_of(struct redis_call *call, const struct access_key *key) {
    bool read = key_may(call, key, ACCESS_READ), write = key_may(call, key, ACCESS_WRITE);
    bool admin = key_may(call, key, ACCESS_ADMIN);
    if (read && write && admin && key->partition_count == 0)
        return BYTES("+@all");
    return arena_printf(call->arena, "-@all%s%s%s +@connection +@transaction +@scripting",
                        read ? " +@read" : "", write ? " +@write" : "", admin ? " +@admin" : "");
}

/* Keys of Redis are told by their own names, other partitions by theirs. */
static struct bytes patterns_of(struct redis_call *call, const struct access_key *key) {
    struct bytes text = BYTES("");
    if (!key_may(call, key, 0) || key->client)
        return text;
    if (key->partition_count == 0)
        return BYTES("~*");
    for (size_t i = 0; i < key->partition_count; i++) {
        struct bytes name = key->partitions[i];
        if (bytes_starts(name, BYTES("BOARD#")))
            name = bytes_skip(name, 6);
        text = arena_printf(call->arena, "%.*s%s~%.*s", BYTES_ARG(text), i != 0 ? " " : "",
                            BYTES_ARG(name));
    }
    return text;
}

static struct bytes channels_of(const struct redis_call *call, const struct access_key *key) {
    bool any = key->partition_count == 0 && !key->client && key_may(call, key, ACCESS_READ);
    return any ? BYTES("&*") : BYTES("");
}

static enum status run_acl_whoami(struct redis_call *call) {
    const struct access_key *key = call->caller.key;
    resp_bulk(&call->out, key != NULL ? key->id : BYTES("default"));
    return OK;
}

static enum status run_acl_users(struct redis_call *call) {
    const struct keyring *ring = keyring_of(call);
    if (ring == NULL) {
        resp_array(&call->out, 1);
        resp_bulk(&call->out, BYTES("default"));
        return OK;
    }
    resp_array(&call->out, ring->count);
    for (size_t i = 0; i < ring->count; i++)
        resp_bulk(&call->out, ring->keys[i]->id);
    return OK;
}

static enum status run_acl_list(struct redis_call *call) {
    const struct keyring *ring = keyring_of(call);
    if (ring == NULL) {
        resp_array(&call->out, 1);
        resp_bulk(&call->out, BYTES("user default on nopass ~* &* +@all"));
        return OK;
    }
    resp_array(&call->out, ring->count);
    for (size_t i = 0; i < ring->count; i++) {
        const struct access_key *key = ring->keys[i];
        struct bytes patterns = patterns_of(call, key), channels = channels_of(call, key);
        resp_bulk(&call->out,
                  arena_printf(call->arena, "user %.*s on %.*s%s%.*s%s%.*s", BYTES_ARG(key->id),
                               BYTES_ARG(patterns), patterns.size != 0 ? " " : "",
                               BYTES_ARG(channels), channels.size != 0 ? " " : "",
                               BYTES_ARG(commands_of(call, key))));
    }
    return OK;
}

struct told_user {
    struct bytes commands, keys, channels;
    bool no_password;
};

static void put_user(struct resp *out, const struct told_user *user) {
    resp_map(out, 6);
    resp_bulk(out, BYTES("flags"));
    resp_set(out, user->no_password ? 2 : 1);
    resp_bulk(out, BYTES("on"));
    if (user->no_password)
        resp_bulk(out, BYTES("nopass"));
    resp_bulk(out, BYTES("passwords")); /* secrets are told to nobody, nor are their hashes */
    resp_array(out, 0);
    resp_bulk(out, BYTES("commands"));
    resp_bulk(out, user->commands);
    resp_bulk(out, BYTES("keys"));
    resp_bulk(out, user->keys);
    resp_bulk(out, BYTES("channels"));
    resp_bulk(out, user->channels);
    resp_bulk(out, BYTES("selectors"));
    resp_array(out, 0);
}

static enum status run_acl_getuser(struct redis_call *call) {
    const struct keyring *ring = keyring_of(call);
    struct told_user user = {BYTES("+@all"), BYTES("~*"), BYTES("&*"), true};
    const struct access_key *key = ring != NULL ? keyring_find(ring, call->args[2]) : NULL;
    if (key == NULL && (ring != NULL || !bytes_equal(call->args[2], BYTES("default")))) {
        resp_null(&call->out);
        return OK;
    }
    if (key != NULL)
        user = (struct told_user){commands_of(call, key), patterns_of(call, key),
                                  channels_of(call, key), false};
    put_user(&call->out, &user);
    return OK;
}

/* ---- CAT ---- */

static const char *const categories[] = {
    "keyspace", "read", "write", "set",      "sortedset", "hash",       "string",      "pubsub",
    "admin",    "fast", "slow",  "blocking", "dangerous", "connection", "transaction", "scripting"};
enum { CATEGORIES = sizeof(categories) / sizeof(categories[0]) };

static size_t put_commands_in(struct redis_call *call, struct resp *out, const char *category) {
    const struct redis_command *command;
    size_t count = 0, at = 0;
    while ((command = redis_command_next(&at)) != NULL) {
        if (command->subs == NULL && command_has_category(command, bytes_str(category))) {
            resp_bulk(out, bytes_str(command->name));
            count++;
        }
        for (const struct redis_command *sub = command->subs; sub != NULL && sub->name != NULL;
             sub++)
            if (command_has_category(sub, bytes_str(category))) {
                resp_bulk(out, redis_command_name(sub, call->arena));
                count++;
            }
    }
    return count;
}

static enum status run_acl_cat(struct redis_call *call) {
    struct buf list = {0};
    struct resp to = {&list, call->out.version};
    if (call->count > 3)
        return call_error(call, ERROR_MANY, BYTES_ARG(call->args[1]));
    if (call->count == 2) {
        resp_array(&call->out, CATEGORIES);
        for (size_t i = 0; i < CATEGORIES; i++)
            resp_bulk(&call->out, bytes_str(categories[i]));
        return OK;
    }
    for (size_t i = 0; i < CATEGORIES; i++)
        if (call_arg_is(call, 2, categories[i])) {
            resp_array(&call->out, put_commands_in(call, &to, categories[i]));
            buf_put(call->out.to, buf_bytes(&list));
            buf_release(&list);
            return OK;
        }
    return call_error(call, "ERR Unknown category '%.*s'", BYTES_ARG(call->args[2]));
}

static enum status run_acl_genpass(struct redis_call *call) {
    int64_t bits = 256;
    uint8_t bytes[512];
    char text[sizeof(bytes) * 2 + 1];
    if (call->count > 3)
        return call_error(call, ERROR_MANY, BYTES_ARG(call->args[1]));
    if (call->count == 3) {
        struct int_bounds bounds = {1, 4096,
                                    "ERR ACL GENPASS argument must be the number of bits for the "
                                    "output password, a positive number up to 4096"};
        if (call_int(call, 2, &bits) != OK || call_int_between(call, 2, bounds, &bits) != OK)
            return INVALID;
    }
    random_secure(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(&text[2 * i], 3, "%02x", bytes[i]);
    resp_bulk(&call->out, bytes_of(text, (size_t)(bits + 3) / 4));
    return OK;
}

static enum status run_acl_elsewhere(struct redis_call *call) {
    return call_error(call, "ERR users are access keys, which are managed by `gametable keys` and "
                            "not from here");
}

static enum status run_acl_help(struct redis_call *call) {
    static const char *const lines[] = {
        "ACL <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "CAT [<category>]",
        "    Categories, or the commands of one.",
        "GENPASS [<bits>]",
        "    A secret made by chance.",
        "GETUSER <id>",
        "    What an access key may do.",
        "LIST",
        "    All access keys and what they may do.",
        "USERS",
        "    The ids of all access keys.",
        "WHOAMI",
        "    The id of this connection's key.",
        "HELP",
        "    These lines.",
        NULL};
    return reply_help(call, lines);
}

enum {
    OWN = COMMAND_NOSCRIPT | COMMAND_LOADING | COMMAND_STALE,
    ADMIN = OWN | COMMAND_ADMIN,
};

#define ACL_ROW(word, words, flags_, touches_, function, text)                               \
    {                                                                                        \
        .name = word, .arity = words, .flags = flags_, .touches = touches_, .run = function, \
        .group = GROUP_SERVER, .since = "6.0.0", .summary = text                             \
    }

static const struct redis_command subs[] = {
    ACL_ROW("cat", -2, OWN, TOUCHES_CONNECTION, run_acl_cat, "Categories, or the commands of one"),
    ACL_ROW("deluser", -3, ADMIN, TOUCHES_SERVER, run_acl_elsewhere, "Keys are managed elsewhere"),
    ACL_ROW("dryrun", -4, ADMIN, TOUCHES_SERVER, run_acl_elsewhere, "Keys are managed elsewhere"),
    ACL_ROW("genpass", -2, OWN, TOUCHES_CONNECTION, run_acl_genpass, "A secret made by chance"),
    ACL_ROW("getuser", 3, ADMIN, TOUCHES_SERVER, run_acl_getuser, "What an access key may do"),
    ACL_ROW("help", 2, COMMAND_LOADING | COMMAND_STALE, TOUCHES_CONNECTION, run_acl_help,
            "What there is"),
    ACL_ROW("list", 2, ADMIN, TOUCHES_SERVER, run_acl_list, "All access keys"),
    ACL_ROW("load", 2, ADMIN, TOUCHES_SERVER, run_acl_elsewhere, "Keys are managed elsewhere"),
    ACL_ROW("log", -2, ADMIN, TOUCHES_SERVER, run_acl_elsewhere, "Keys are managed elsewhere"),
    ACL_ROW("save", 2, ADMIN, TOUCHES_SERVER, run_acl_elsewhere, "Keys are managed elsewhere"),
    ACL_ROW("setuser", -3, ADMIN, TOUCHES_SERVER, run_acl_elsewhere, "Keys are managed elsewhere"),
    ACL_ROW("users", 2, ADMIN, TOUCHES_SERVER, run_acl_users, "The ids of all access keys"),
    ACL_ROW("whoami", 2, OWN, TOUCHES_CONNECTION, run_acl_whoami, "The id of the connection's key"),
    {0},
};

const struct redis_command redis_acl_commands[] = {
    {.name = "acl",
     .arity = -2,
     .touches = TOUCHES_CONNECTION,
     .group = GROUP_SERVER,
     .since = "6.0.0",
     .summary = "Access keys",
     .subs = subs},
    {0},
};
