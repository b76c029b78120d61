/* CLIENT: what a client says of itself, and what it asks of others. */
#include "api/redis/call.h"
#include "base/clock.h"
#include "base/mem.h"

#include <stdio.h>

#define ERROR_NAME "ERR Client names cannot contain spaces, newlines or special characters."

/* ---- itself ---- */

static enum status run_id(struct redis_call *call) {
    resp_int(&call->out, (int64_t)call->client->id);
    return OK;
}

static enum status run_getname(struct redis_call *call) {
    if (call->client->name.size == 0)
        resp_null(&call->out);
    else
        resp_bulk(&call->out, call->client->name);
    return OK;
}

static enum status run_setname(struct redis_call *call) {
    if (!client_name_fits(call->args[2]))
        return call_error(call, ERROR_NAME);
    client_set_text(call->client, &call->client->name, call->args[2]);
    resp_ok(&call->out);
    return OK;
}

static enum status run_setinfo(struct redis_call *call) {
    struct redis_client *client = call->client;
    bool library = call_arg_is(call, 2, "lib-name");
    const char *what = library ? "lib-name" : "lib-ver";
    if (!library && !call_arg_is(call, 2, "lib-ver"))
        return call_error(call, "ERR Unrecognized option '%.*s'", BYTES_ARG(call->args[2]));
    if (!client_name_fits(call->args[3]))
        return call_error(call, "ERR %s cannot contain spaces, newlines or special characters.",
                          what);
    client_set_text(client, library ? &client->library : &client->library_version, call->args[3]);
    resp_ok(&call->out);
    return OK;
}

/* Evicting and idle times are no matter here: both are as they are. */
static enum status run_no_evict(struct redis_call *call) {
    if (!call_arg_is(call, 2, "on") && !call_arg_is(call, 2, "off"))
        return call_error(call, ERROR_SYNTAX);
    resp_ok(&call->out);
    return OK;
}

static enum status run_reply(struct redis_call *call) {
    struct redis_client *client = call->client;
    if (call_arg_is(call, 2, "on")) {
        client->mode = REPLY_ON;
        call->muted = false;
        call->out.to = call->nested ? call->out.to : &client->stream->out;
        resp_ok(&call->out);
    } else if (call_arg_is(call, 2, "off"))
        client->mode = REPLY_OFF;
    else if (!call_arg_is(call, 2, "skip"))
        return call_error(call, ERROR_SYNTAX);
    else if (client->mode != REPLY_OFF)
        client->mode = REPLY_SKIP_NEXT;
    return OK;
}

/* ---- telling about clients; under the face's mutex ---- */

static void put_client(struct buf *to, const struct redis_client *client, int64_t now_ms) {
    const struct client_shown *shown = &client->shown;
    const struct redis_command *last = atomic_load_explicit(&shown->last, memory_order_relaxed);
    const struct access_key *key = atomic_load_explicit(&shown->key, memory_order_relaxed);
    int64_t queued = atomic_load_explicit(&shown->queued, memory_order_relaxed);
    int64_t idle_ms = now_ms - atomic_load_explicit(&shown->last_ms, memory_order_relaxed);
    struct bytes user = key != NULL ? key->id : BYTES("default");
    buf_printf(to, "id=%llu addr=%s laddr=%s fd=%d name=%.*s age=%lld idle=%lld flags=%s db=0",
               (unsigned long long)client->id, client->address, client->our_address, client->socket,
               BYTES_ARG(client->name), (long long)(clock_now_ms() - client->created_ms) / 1000,
               (long long)(idle_ms < 0 ? 0 : idle_ms) / 1000, queued >= 0 ? "x" : "N");
    buf_printf(to, " sub=0 psub=0 ssub=0 multi=%lld watch=%zu", (long long)queued,
               atomic_load_explicit(&shown->watched, memory_order_relaxed));
    buf_lit(to, " qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0");
    buf_printf(to, " tot-mem=%zu events=r cmd=%s user=%.*s redir=-1 resp=%d", sizeof(*client),
               last != NULL ? last->name : "NULL", BYTES_ARG(user),
               atomic_load_explicit(&shown->version, memory_order_relaxed));
    buf_printf(to, " lib-name=%.*s lib-ver=%.*s\n", BYTES_ARG(client->library),
               BYTES_ARG(client->library_version));
}

static enum status run_info(struct redis_call *call) {
    struct buf text = {0};
    pthread_mutex_lock(&call->face->mutex);
    put_client(&text, call->client, clock_ticks_us() / 1000);
    pthread_mutex_unlock(&call->face->mutex);
    resp_verbatim(&call->out, buf_bytes(&text));
    buf_release(&text);
    return OK;
}

/* CLIENT LIST [TYPE normal|master|replica|pubsub] [ID id ...] */
struct listed {
    bool none;
    size_t first, count; /* arguments that are ids */
};

static enum status read_list(struct redis_call *call, struct listed *out) {
    *out = (struct listed){0};
    if (call->count == 2)
        return OK;
    if (call->count == 4 && call_arg_is(call, 2, "type")) {
        out->none = !call_arg_is(call, 3, "normal");
        if (!out->none || call_arg_is(call, 3, "master") || call_arg_is(call, 3, "replica") ||
            call_arg_is(call, 3, "slave") || call_arg_is(call, 3, "pubsub"))
            return OK;
        return call_error(call, "ERR Unknown client type '%.*s'", BYTES_ARG(call->args[3]));
    }
    if (call->count < 4 || !call_arg_is(call, 2, "id"))
        return call_error(call, ERROR_SYNTAX);
    for (size_t i = 3; i < call->count; i++) {
        int64_t id;
        if (call_int_between(call, i, 1, INT64_MAX, "ERR Invalid client ID", &id) != OK)
            return INVALID;
    }
    *out = (struct listed){.first = 3, .count = call->count - 3};
    return OK;
}

static bool is_listed(const struct redis_call *call, const struct listed *listed, uint64_t id) {
    int64_t asked;
    for (size_t i = 0; i < listed->count; i++)
        if (redis_read_int(call->args[listed->first + i], &asked) && (uint64_t)asked == id)
            return true;
    return listed->count == 0;
}

static enum status run_list(struct redis_call *call) {
    struct listed listed;
    struct buf text = {0};
    enum status status = read_list(call, &listed);
    if (status != OK)
        return status;
    int64_t now_ms = clock_ticks_us() / 1000;
    pthread_mutex_lock(&call->face->mutex);
    const struct redis_client *client = call->face->clients;
    while (client != NULL && client->next != NULL) /* the oldest is told first */
        client = client->next;
    for (; client != NULL && !listed.none; client = client->prev)
        if (is_listed(call, &listed, client->id))
            put_client(&text, client, now_ms);
    pthread_mutex_unlock(&call->face->mutex);
    resp_verbatim(&call->out, buf_bytes(&text));
    buf_release(&text);
    return OK;
}

/* ---- other clients: a message to their loop ---- */

struct message {
    struct task task;
    struct redis_face *face;
    uint64_t id;
    bool unblock, with_error; /* else: end */
};

/* On the client's loop; it may have gone. */
static void run_message(struct task *task) {
    struct message *message = (struct message *)task;
    pthread_mutex_lock(&message->face->mutex);
    struct redis_client *client = message->face->clients;
    while (client != NULL && client->id != message->id)
        client = client->next;
    pthread_mutex_unlock(&message->face->mutex);
    if (client != NULL && !message->unblock)
        stream_end(client->stream);
    else if (client != NULL && client->first != NULL)
        wait_end(client->first, message->with_error);
    mem_free(message);
}

/* Under the face's mutex. */
static void send(struct redis_client *client, bool unblock, bool with_error) {
    struct message *message = mem_zalloc(sizeof(*message));
    *message =
        (struct message){{.run = run_message}, client->face, client->id, unblock, with_error};
    loop_post(client->stream->loop, &message->task);
}

struct killing {
    uint64_t id; /* 0: any */
    struct bytes address, our_address, user;
    bool skip_me, none;
};

static enum status read_filter(struct redis_call *call, size_t at, struct killing *out) {
    struct bytes value = call->args[at + 1];
    int64_t id;
    if (call_arg_is(call, at, "id")) {
        if (!redis_read_int(value, &id) || id < 1)
            return call_error(call, "ERR client-id should be greater than 0");
        out->id = (uint64_t)id;
    } else if (call_arg_is(call, at, "addr"))
        out->address = value;
    else if (call_arg_is(call, at, "laddr"))
        out->our_address = value;
    else if (call_arg_is(call, at, "user"))
        out->user = value;
    else if (call_arg_is(call, at, "type"))
        out->none = !call_arg_is(call, at + 1, "normal");
    else if (call_arg_is(call, at, "skipme")) {
        out->skip_me = call_arg_is(call, at + 1, "yes");
        if (!out->skip_me && !call_arg_is(call, at + 1, "no"))
            return call_error(call, ERROR_SYNTAX);
    } else
        return call_error(call, ERROR_SYNTAX);
    return OK;
}

static bool is_killed(const struct redis_call *call, const struct redis_client *client,
                      const struct killing *by) {
    const struct access_key *key = atomic_load_explicit(&client->shown.key, memory_order_relaxed);
    struct bytes user = key != NULL ? key->id : BYTES("default");
    if (by->none || (by->id != 0 && by->id != client->id) ||
        (by->skip_me && client == call->client))
        return false;
    return (by->address.size == 0 || bytes_equal(by->address, bytes_str(client->address))) &&
           (by->our_address.size == 0 ||
            bytes_equal(by->our_address, bytes_str(client->our_address))) &&
           (by->user.size == 0 || bytes_equal(by->user, user));
}

static enum status run_kill(struct redis_call *call) {
    bool older = call->count == 3;
    struct killing by = {.skip_me = !older, .address = older ? call->args[2] : (struct bytes){0}};
    int64_t killed = 0;
    if (!older && call->count % 2 != 0)
        return call_error(call, ERROR_SYNTAX);
    for (size_t i = 2; i < call->count && !older; i += 2) {
        enum status status = read_filter(call, i, &by);
        if (status != OK)
            return status;
    }
    pthread_mutex_lock(&call->face->mutex);
    for (struct redis_client *c = call->face->clients; c != NULL; c = c->next)
        if (is_killed(call, c, &by)) {
            send(c, false, false);
            killed++;
        }
    pthread_mutex_unlock(&call->face->mutex);
    if (older && killed == 0)
        return call_error(call, "ERR No such client");
    if (older)
        resp_ok(&call->out);
    else
        resp_int(&call->out, killed);
    return OK;
}

static enum status run_unblock(struct redis_call *call) {
    bool with_error = call->count == 4 && call_arg_is(call, 3, "error"), waits = false;
    int64_t id;
    if (call->count > 4 || (call->count == 4 && !with_error && !call_arg_is(call, 3, "timeout")))
        return call_error(call, "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
    enum status status = call_int(call, 2, &id);
    if (status != OK)
        return status;
    pthread_mutex_lock(&call->face->mutex);
    for (struct redis_client *c = call->face->clients; c != NULL; c = c->next)
        if (c->id == (uint64_t)id && wait_is_waiting(&call->face->waiting, c)) {
            send(c, true, with_error);
            waits = true;
        }
    pthread_mutex_unlock(&call->face->mutex);
    resp_int(&call->out, waits);
    return OK;
}

static enum status run_help(struct redis_call *call) {
    static const char *const lines[] = {
        "CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "GETNAME",
        "    Tells the name of this connection.",
        "ID",
        "    Tells the number of this connection.",
        "INFO",
        "    Tells about this connection.",
        "KILL <ip:port>|<option> <value> ...",
        "    Ends connections by ADDR, LADDR, ID, USER, TYPE, SKIPME.",
        "LIST [TYPE <type>|ID <id> ...]",
        "    Tells about connections.",
        "NO-EVICT (ON|OFF)",
        "    Is accepted and changes nothing.",
        "NO-TOUCH (ON|OFF)",
        "    Is accepted and changes nothing.",
        "REPLY (ON|OFF|SKIP)",
        "    Says whether replies are wanted.",
        "SETINFO (LIB-NAME|LIB-VER) <value>",
        "    Says what the client is made of.",
        "SETNAME <name>",
        "    Names this connection.",
        "UNBLOCK <id> [TIMEOUT|ERROR]",
        "    Ends the wait of a connection.",
        "HELP",
        "    These lines."};
    size_t count = sizeof(lines) / sizeof(lines[0]);
    resp_array(&call->out, count);
    for (size_t i = 0; i < count; i++)
        resp_simple(&call->out, bytes_str(lines[i]));
    return OK;
}

enum {
    OWN = COMMAND_NOSCRIPT | COMMAND_LOADING | COMMAND_STALE,
    OTHERS = OWN | COMMAND_ADMIN,
};

static const struct redis_command subs[] = {
    {"getname",
     2,
     OWN,
     {0},
     run_getname,
     NULL,
     GROUP_CONNECTION,
     "2.6.9",
     "Tells the name of the connection",
     NULL},
    {"help",
     2,
     COMMAND_LOADING | COMMAND_STALE,
     {0},
     run_help,
     NULL,
     GROUP_CONNECTION,
     "5.0.0",
     "Tells what there is",
     NULL},
    {"id",
     2,
     OWN,
     {0},
     run_id,
     NULL,
     GROUP_CONNECTION,
     "5.0.0",
     "Tells the number of the connection",
     NULL},
    {"info",
     2,
     OWN,
     {0},
     run_info,
     NULL,
     GROUP_CONNECTION,
     "6.2.0",
     "Tells about the connection",
     NULL},
    {"kill", -3, OTHERS, {0}, run_kill, NULL, GROUP_CONNECTION, "2.4.0", "Ends connections", NULL},
    {"list",
     -2,
     OTHERS,
     {0},
     run_list,
     NULL,
     GROUP_CONNECTION,
     "2.4.0",
     "Tells about connections",
     NULL},
    {"no-evict",
     3,
     OTHERS,
     {0},
     run_no_evict,
     NULL,
     GROUP_CONNECTION,
     "7.0.0",
     "Is accepted and changes nothing",
     NULL},
    {"no-touch",
     3,
     OWN,
     {0},
     run_no_evict,
     NULL,
     GROUP_CONNECTION,
     "7.2.0",
     "Is accepted and changes nothing",
     NULL},
    {"reply",
     3,
     OWN,
     {0},
     run_reply,
     NULL,
     GROUP_CONNECTION,
     "3.2.0",
     "Says whether replies are wanted",
     NULL},
    {"setinfo",
     4,
     OWN,
     {0},
     run_setinfo,
     NULL,
     GROUP_CONNECTION,
     "7.2.0",
     "Says what the client is made of",
     NULL},
    {"setname",
     3,
     OWN,
     {0},
     run_setname,
     NULL,
     GROUP_CONNECTION,
     "2.6.9",
     "Names the connection",
     NULL},
    {"unblock",
     -3,
     OTHERS,
     {0},
     run_unblock,
     NULL,
     GROUP_CONNECTION,
     "5.0.0",
     "Ends the wait of a connection",
     NULL},
    {0},
};

const struct redis_command redis_client_commands[] = {
    {.name = "client",
     .arity = -2,
     .group = GROUP_CONNECTION,
     .since = "2.4.0",
     .summary = "Commands about connections",
     .subs = subs},
    {0},
};
