/* Commands about the connection itself: PING, ECHO, QUIT, SELECT, RESET, AUTH, HELLO. */
#include "api/redis/redis_client.h"
#include "api/redis/redis_frontend_int.h"
#include "game/keyspace/key_name.h"

static enum status run_ping(struct redis_call *call) {
    if (call->count > 2)
        return call_error(call, "ERR wrong number of arguments for 'ping' command");
    if (client_only_listens(call->client)) {
        resp_array(&call->out, 2);
        resp_bulk(&call->out, BYTES("pong"));
        resp_bulk(&call->out, call->count == 2 ? call->args[1] : BYTES(""));
    } else if (call->count == 2)
        resp_bulk(&call->out, call->args[1]);
    else
        resp_simple(&call->out, BYTES("PONG"));
    return OK;
}

static enum status run_echo(struct redis_call *call) {
    resp_bulk(&call->out, call->args[1]);
    return OK;
}

static enum status run_quit(struct redis_call *call) {
    resp_ok(&call->out);
    stream_end(call->client->stream);
    return OK;
}

static enum status run_select(struct redis_call *call) {
    int64_t number;
    enum status status = call_int(call, 1, &number);
    if (status != OK)
        return status;
    if (number < 0 || number >= KEY_DATABASES)
        return call_error(call, "ERR DB index is out of range");
    call->db = (unsigned)number;
    if (!call->nested) /* else EXEC hands it on */
        call->client->db = call->db;
    resp_ok(&call->out);
    return OK;
}

static enum status run_reset(struct redis_call *call) {
    struct redis_client *client = call->client;
    multi_queue_reset(&client->queue);
    pubsub_forget(client);
    client->db = 0;
    client->caller = (struct caller){0};
    atomic_store_explicit(&client->info.key, NULL, memory_order_relaxed);
    client->version = call->out.version = 2;
    client->mode = REPLY_ON;
    client_set_text(client, &client->name, (struct bytes){0});
    resp_simple(&call->out, BYTES("RESET"));
    return OK;
}

/* ---- authentication ---- */

/* Without access keys there is one user, "default", who needs no password: any is right. */
static enum status authenticate(struct redis_call *call, struct bytes user, struct bytes password) {
    bool open = call->frontend->settings.keys == NULL, any = bytes_equal(user, BYTES("default"));
    if (any)
        user = (struct bytes){0};
    if (open ? any : client_identify(call->client, user, password))
        return OK;
    return call_error(call, "WRONGPASS invalid username-password pair or user is disabled.");
}

static enum status run_auth(struct redis_call *call) {
    bool alone = call->count == 2;
    if (call->count > 3)
        return call_error(call, ERROR_SYNTAX);
    if (alone && call->frontend->settings.keys == NULL)
        return call_error(call, "ERR AUTH <password> called without any password configured for "
                                "the default user. Are you sure your configuration is correct?");
    enum status status =
        authenticate(call, alone ? BYTES("default") : call->args[1], call->args[call->count - 1]);
    if (status == OK)
        resp_ok(&call->out);
    return status;
}

bool client_name_fits(struct bytes name) {
    for (size_t i = 0; i < name.size; i++)
        if (name.data[i] < '!' || name.data[i] > '~')
            return false;
    return true;
}

static enum status read_hello(struct redis_call *call, int64_t *version, struct bytes *name,
                              bool *named) {
    if (call->count < 2)
        return OK;
    if (!redis_read_int(call->args[1], version))
        return call_error(call, "ERR Protocol version is not an integer or out of range");
    if (*version < 2 || *version > 3)
        return call_error(call, "NOPROTO unsupported protocol version");
    for (size_t i = 2; i < call->count; i++) {
        size_t more = call->count - 1 - i;
        if (call_arg_is(call, i, "auth") && more >= 2) {
            enum status status = authenticate(call, call->args[i + 1], call->args[i + 2]);
            if (status != OK)
                return status;
            i += 2;
        } else if (call_arg_is(call, i, "setname") && more >= 1) {
            *name = call->args[++i];
            *named = true;
            if (!client_name_fits(*name))
                return call_error(call, "ERR Client names cannot contain spaces, newlines or "
                                        "special characters.");
        } else
            return call_error(call, "ERR Syntax error in HELLO option '%.*s'",
                              BYTES_ARG(call->args[i]));
    }
    return OK;
}

static enum status run_hello(struct redis_call *call) {
    struct redis_client *client = call->client;
    int64_t version = client->version;
    struct bytes name;
    bool named = false;
    enum status status = read_hello(call, &version, &name, &named);
    if (status != OK)
        return status;
    if (!client_is_known(client))
        return call_error(call, "NOAUTH HELLO must be called with the client already "
                                "authenticated, otherwise the HELLO <proto> AUTH <user> <pass> "
                                "option can be used to authenticate the client and select the "
                                "RESP protocol version at the same time");
    if (named)
        client_set_text(client, &client->name, name);
    client->version = call->out.version = (int)version;
    struct resp *out = &call->out;
    resp_map(out, 7);
    resp_bulk(out, BYTES("server"));
    resp_bulk(out, BYTES("redis"));
    resp_bulk(out, BYTES("version"));
    resp_bulk(out, BYTES(REDIS_VERSION));
    resp_bulk(out, BYTES("proto"));
    resp_int(out, version);
    resp_bulk(out, BYTES("id"));
    resp_int(out, (int64_t)client->id);
    resp_bulk(out, BYTES("mode"));
    resp_bulk(out, BYTES("standalone"));
    resp_bulk(out, BYTES("role"));
    resp_bulk(out, BYTES("master"));
    resp_bulk(out, BYTES("modules"));
    resp_array(out, 0);
    return OK;
}

#define CONNECTION_FLAGS \
    (COMMAND_NOSCRIPT | COMMAND_LOADING | COMMAND_STALE | COMMAND_FAST | COMMAND_ALLOW_BUSY)

const struct redis_command redis_connection_commands[] = {
    {.name = "ping",
     .arity = -1,
     .flags = COMMAND_FAST | COMMAND_SUBSCRIBER,
     .touches = TOUCHES_CONNECTION,
     .run = run_ping,
     .group = GROUP_CONNECTION,
     .since = "1.0.0",
     .summary = "Says PONG, or what it was told"},
    {.name = "echo",
     .arity = 2,
     .flags = COMMAND_LOADING | COMMAND_STALE | COMMAND_FAST,
     .touches = TOUCHES_CONNECTION,
     .run = run_echo,
     .group = GROUP_CONNECTION,
     .since = "1.0.0",
     .summary = "Says what it was told"},
    {.name = "quit",
     .arity = -1,
     .flags = CONNECTION_FLAGS | COMMAND_NO_AUTH | COMMAND_NOT_QUEUED | COMMAND_SUBSCRIBER,
     .touches = TOUCHES_NOTHING,
     .run = run_quit,
     .group = GROUP_CONNECTION,
     .since = "1.0.0",
     .summary = "Ends the connection"},
    {.name = "select",
     .arity = 2,
     .flags = COMMAND_LOADING | COMMAND_STALE | COMMAND_FAST,
     .touches = TOUCHES_CONNECTION,
     .run = run_select,
     .group = GROUP_CONNECTION,
     .since = "1.0.0",
     .summary = "Chooses the database, 0 to 15"},
    {.name = "reset",
     .arity = 1,
     .flags = CONNECTION_FLAGS | COMMAND_NO_AUTH | COMMAND_NOT_QUEUED | COMMAND_SUBSCRIBER,
     .touches = TOUCHES_NOTHING,
     .run = run_reset,
     .group = GROUP_CONNECTION,
     .since = "6.2.0",
     .summary = "Makes the connection as it was when it began"},
    {.name = "auth",
     .arity = -2,
     .flags = CONNECTION_FLAGS | COMMAND_NO_AUTH,
     .touches = TOUCHES_NOTHING,
     .run = run_auth,
     .group = GROUP_CONNECTION,
     .since = "1.0.0",
     .summary = "Says who the client is, by an access key"},
    {.name = "hello",
     .arity = -1,
     .flags = CONNECTION_FLAGS | COMMAND_NO_AUTH,
     .touches = TOUCHES_NOTHING,
     .run = run_hello,
     .group = GROUP_CONNECTION,
     .since = "6.0.0",
     .summary = "Agrees on the protocol's version; may say who the client is"},
    {0},
};
