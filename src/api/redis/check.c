/* What is refused before it runs. */
#include "api/redis/call.h"

static void refuse_unknown(struct redis_call *call) {
    struct bytes name = call->args[0];
    struct buf text = {0};
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

static void refuse_subcommand(struct redis_call *call, const struct redis_command *command) {
    struct bytes name = call->args[1];
    char upper[32] = "";
    for (size_t i = 0; i + 1 < sizeof(upper) && command->name[i] != '\0'; i++)
        upper[i] = (char)(command->name[i] >= 'a' ? command->name[i] - 32 : command->name[i]);
    call_error(call, "ERR unknown subcommand '%.*s'. Try %s HELP.",
               (int)(name.size < 128 ? name.size : 128), (const char *)name.data, upper);
    resp_error(&call->out, call->error);
}

bool call_meant(struct redis_call *call) {
    const struct redis_command *command = call->command;
    if (command == NULL) {
        refuse_unknown(call);
        return false;
    }
    atomic_store_explicit(&call->client->shown.last, command, memory_order_relaxed);
    if (command->subs == NULL || call->count < 2)
        return true;
    call->command = redis_subcommand_find(command, call->args[1]);
    if (call->command == NULL)
        refuse_subcommand(call, command);
    return call->command != NULL;
}

static unsigned access_needed(const struct redis_command *command) {
    if ((command->flags & COMMAND_ADMIN) != 0)
        return ACCESS_ADMIN;
    if ((command->flags & COMMAND_WRITE) != 0)
        return ACCESS_WRITE;
    return (command->flags & COMMAND_READ) != 0 ? ACCESS_READ : 0;
}

/* Whether the client's key reaches all partitions that the call names; one that names none, or
 * nobody knows which, is for keys that reach all. */
static bool keys_allowed(struct redis_call *call, const struct access_key *key) {
    struct key_positions at;
    if (key->partition_count == 0 || access_needed(call->command) == 0)
        return true;
    if (!redis_command_keys(call->command, call->args, call->count, call->arena, &at) ||
        at.count == 0)
        return false;
    for (size_t i = 0; i < at.count; i++) {
        struct bytes name = call->args[at.at[i]];
        struct bytes pk = arena_printf(call->arena, "BOARD#%.*s", BYTES_ARG(name));
        if (!access_key_reaches(key, pk))
            return false;
    }
    return true;
}

static enum status check_allowed(struct redis_call *call) {
    struct redis_client *client = call->client;
    const struct redis_command *command = call->command;
    if ((command->flags & COMMAND_NO_AUTH) != 0 || client->face->settings.keys == NULL)
        return OK;
    if (!client_is_known(client))
        return call_error(call, "NOAUTH Authentication required.");
    unsigned needed = access_needed(command);
    if (needed != 0 && !access_key_allows(client->key, needed, call->face->game->table)) {
        struct bytes name = redis_command_name(command, call->arena);
        return call_error(call, "NOPERM this user has no permissions to run the '%.*s' command",
                          BYTES_ARG(name));
    }
    if (!keys_allowed(call, client->key))
        return call_error(call, "NOPERM this user has no permissions to access one of the keys "
                                "used as arguments");
    return OK;
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
    if (client->queue.open && (command->flags & COMMAND_NO_MULTI) != 0)
        return call_error(call, "ERR Command not allowed inside a transaction");
    return OK;
}
