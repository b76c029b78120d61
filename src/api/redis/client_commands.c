/* CLIENT: what a client says about itself, and what it asks about other clients. */
#include "api/redis/redis_call.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

#include <stdio.h>

#define ERROR_NAME "ERR Client names cannot contain spaces, newlines or special characters."

/* ---- the client itself ---- */

static enum status run_client_id(struct redis_call *call) {
    resp_int(&call->out, (int64_t)call->client->id);
    return OK;
}

static enum status run_client_getname(struct redis_call *call) {
    if (call->client->name.size == 0)
        resp_null(&call->out);
    else
        resp_bulk(&call->out, call->client->name);
    return OK;
}

static enum status run_client_setname(struct redis_call *call) {
    if (!client_name_fits(call->args[2]))
        return call_error(call, ERROR_NAME);
    client_set_text(call->client, &call->client->name, call->args[2]);
    resp_ok(&call->out);
    return OK;
}

static enum status run_client_setinfo(struct redis_call *call) {
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

/* Nothing is evicted and no idle time is kept, so there is nothing to switch. */
static enum status run_client_no_evict(struct redis_call *call) {
    if (!call_arg_is(call, 2, "on") && !call_arg_is(call, 2, "off"))
        return call_error(call, ERROR_SYNTAX);
    resp_ok(&call->out);
    return OK;
}

static enum status run_client_reply(struct redis_call *call) {
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

/* ---- PAUSE ---- */

static enum status run_client_pause(struct redis_call *call) {
    enum pause_mode mode = PAUSE_ALL;
    int64_t ms;
    if (call->count > 4)
        return call_error(call, ERROR_SYNTAX);
    if (call->count == 4) {
        mode = call_arg_is(call, 3, "write") ? PAUSE_WRITES : PAUSE_ALL;
        if (mode == PAUSE_ALL && !call_arg_is(call, 3, "all"))
            return call_error(call, "ERR CLIENT PAUSE mode must be WRITE or ALL");
    }
    if (!redis_read_int(call->args[2], &ms))
        return call_error(call, "ERR timeout is not an integer or out of range");
    if (ms < 0)
        return call_error(call, "ERR timeout is negative");
    if (ms > LIMIT_PAUSE_MS)
        return call_error(call, "ERR a pause has at most %d ms here", LIMIT_PAUSE_MS);
    if (!pause_begin(call->frontend, mode, ms))
        return call_error(call, "TRYAGAIN too many commands run at present");
    resp_ok(&call->out);
    return OK;
}

static enum status run_client_unpause(struct redis_call *call) {
    pause_end(call->frontend);
    resp_ok(&call->out);
    return OK;
}

/* ---- TRACKING: no client's cache is followed ---- */

static enum status run_client_tracking(struct redis_call *call) {
    if (!call_arg_is(call, 2, "off"))
        return call_error(call, "ERR keys that clients cache are not tracked here");
    resp_ok(&call->out);
    return OK;
}

static enum status run_client_trackinginfo(struct redis_call *call) {
    resp_map(&call->out, 3);
    resp_bulk(&call->out, BYTES("flags"));
    resp_set(&call->out, 1);
    resp_bulk(&call->out, BYTES("off"));
    resp_bulk(&call->out, BYTES("redirect"));
    resp_int(&call->out, -1);
    resp_bulk(&call->out, BYTES("prefixes"));
    resp_array(&call->out, 0);
    return OK;
}

static enum status run_client_getredir(struct redis_call *call) {
    resp_int(&call->out, -1);
    return OK;
}

static enum status run_client_caching(struct redis_call *call) {
    return call_error(call, "ERR CLIENT CACHING can be called only when the client is in tracking "
                            "mode with OPTIN or OPTOUT mode enabled");
}

/* ---- LIST and INFO ---- */

/* Under the front end's mutex. */

/* P: it has subscriptions; x: it is in a transaction. */
static const char *flags_of(const struct redis_client *client, int64_t queued) {
    bool listens = pubsub_count_of(client) != 0;
    if (queued >= 0)
        return listens ? "xP" : "x";
    return listens ? "P" : "N";
}

static void put_client(struct buf *to, const struct redis_client *client, int64_t now_ms) {
    const struct client_info *info = &client->info;
    const struct redis_command *last = atomic_load_explicit(&info->last, memory_order_relaxed);
    const struct access_key *key = atomic_load_explicit(&info->key, memory_order_relaxed);
    int64_t queued = atomic_load_explicit(&info->queued, memory_order_relaxed);
    int64_t idle_ms = now_ms - atomic_load_explicit(&info->last_ms, memory_order_relaxed);
    struct bytes user = key != NULL ? key->id : BYTES("default");
    buf_printf(to, "id=%llu addr=%s laddr=%s fd=%d name=%.*s age=%lld idle=%lld flags=%s db=%u",
               (unsigned long long)client->id, client->address, client->our_address, client->socket,
               BYTES_ARG(client->name),
               (long long)(clock_ticks_us() - client->created_us) / 1000000,
               (long long)(idle_ms < 0 ? 0 : idle_ms) / 1000, flags_of(client, queued),
               atomic_load_explicit(&info->db, memory_order_relaxed));
    const atomic_size_t *topics = client->topics.counts;
    buf_printf(to, " sub=%zu psub=%zu ssub=%zu multi=%lld watch=%zu",
               atomic_load_explicit(&topics[PUBSUB_CHANNEL], memory_order_relaxed),
               atomic_load_explicit(&topics[PUBSUB_PATTERN], memory_order_relaxed),
               atomic_load_explicit(&topics[PUBSUB_SHARD], memory_order_relaxed), (long long)queued,
               atomic_load_explicit(&info->watched, memory_order_relaxed));
    buf_lit(to, " qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0");
    buf_printf(to, " tot-mem=%zu events=r cmd=%s user=%.*s redir=-1 resp=%d", sizeof(*client),
               last != NULL ? last->name : "NULL", BYTES_ARG(user),
               atomic_load_explicit(&info->version, memory_order_relaxed));
    buf_printf(to, " lib-name=%.*s lib-ver=%.*s\n", BYTES_ARG(client->library),
               BYTES_ARG(client->library_version));
}

static enum status run_client_info(struct redis_call *call) {
    struct buf text = {0};
    pthread_mutex_lock(&call->frontend->mutex);
    put_client(&text, call->client, clock_ticks_us() / 1000);
    pthread_mutex_unlock(&call->frontend->mutex);
    resp_verbatim(&call->out, buf_bytes(&text));
    buf_release(&text);
    return OK;
}

/* CLIENT LIST [TYPE normal|master|replica|pubsub] [ID id ...] */
struct list_filter {
    bool none;
    size_t first, count; /* the arguments that are ids; count 0: all clients */
};

static enum status read_list(struct redis_call *call, struct list_filter *out) {
    *out = (struct list_filter){0};
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
        struct int_bounds bounds = {1, INT64_MAX, "ERR Invalid client ID"};
        int64_t id;
        if (call_int_between(call, i, bounds, &id) != OK)
            return INVALID;
    }
    *out = (struct list_filter){.first = 3, .count = call->count - 3};
    return OK;
}

static bool is_listed(const struct redis_call *call, const struct list_filter *listed,
                      uint64_t id) {
    int64_t asked;
    for (size_t i = 0; i < listed->count; i++)
        if (redis_read_int(call->args[listed->first + i], &asked) && (uint64_t)asked == id)
            return true;
    return listed->count == 0;
}

static enum status run_client_list(struct redis_call *call) {
    struct list_filter listed;
    struct buf text = {0};
    enum status status = read_list(call, &listed);
    if (status != OK)
        return status;
    int64_t now_ms = clock_ticks_us() / 1000;
    pthread_mutex_lock(&call->frontend->mutex);
    const struct redis_client *client = call->frontend->clients;
    while (client != NULL && client->next != NULL) /* the oldest is listed first */
        client = client->next;
    for (; client != NULL && !listed.none; client = client->prev)
        if (is_listed(call, &listed, client->id))
            put_client(&text, client, now_ms);
    pthread_mutex_unlock(&call->frontend->mutex);
    resp_verbatim(&call->out, buf_bytes(&text));
    buf_release(&text);
    return OK;
}

/* ---- KILL and UNBLOCK: a message to the other client's loop ---- */

struct message {
    struct task task;
    struct redis_frontend *frontend;
    uint64_t id;
    bool unblock, with_error; /* not `unblock`: the connection is ended */
};

/* Under the front end's mutex. */
static void send_message(const struct redis_client *client, struct message *message) {
    loop_post(atomic_load_explicit(&client->loop->own, memory_order_acquire), &message->task);
}

/* On the loop that the client was on when the message was sent. The client may have gone, or be
 * elsewhere, or on its way: then the message follows it. Frees the message. */
static void run_message(struct task *task) {
    struct message *message = (struct message *)task;
    pthread_mutex_lock(&message->frontend->mutex);
    struct redis_client *client = message->frontend->clients;
    while (client != NULL && client->id != message->id)
        client = client->next;
    bool elsewhere =
        client != NULL && (client->moving || loop_current() != atomic_load(&client->loop->own));
    if (elsewhere)
        send_message(client, message);
    pthread_mutex_unlock(&message->frontend->mutex);
    if (elsewhere)
        return;
    if (client != NULL && !message->unblock)
        stream_drop(client->stream);
    else if (client != NULL && client->first != NULL)
        wait_end(client->first, message->with_error);
    mem_free(message);
}

/* Under the front end's mutex, so that the client is still there. */
static void post_message(struct redis_client *client, bool unblock, bool with_error) {
    struct message *message = mem_zalloc(sizeof(*message));
    *message =
        (struct message){{.run = run_message}, client->frontend, client->id, unblock, with_error};
    send_message(client, message);
}

struct kill_filter {
    uint64_t id; /* 0: any */
    struct bytes address, our_address, user;
    bool skip_me, none;
};

/* The kinds of connections that Redis has; there are only normal ones here. */
static enum status read_kill_type(struct redis_call *call, size_t at, struct kill_filter *out) {
    static const char *const others[] = {"master", "slave", "replica", "pubsub"};
    out->none = true;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (call_arg_is(call, at, others[i]))
            return OK;
    out->none = false;
    if (call_arg_is(call, at, "normal"))
        return OK;
    return call_error(call, "ERR Unknown client type '%.*s'", BYTES_ARG(call->args[at]));
}

static enum status read_kill_user(struct redis_call *call, size_t at, struct kill_filter *out) {
    const struct keys *keys = call->frontend->settings.keys;
    out->user = call->args[at];
    if (bytes_equal(out->user, BYTES("default")) ||
        (keys != NULL && keyring_find(keys_now(keys), out->user) != NULL))
        return OK;
    return call_error(call, "ERR No such user '%.*s'", BYTES_ARG(out->user));
}

static enum status read_filter(struct redis_call *call, size_t at, struct kill_filter *out) {
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
        return read_kill_user(call, at + 1, out);
    else if (call_arg_is(call, at, "type"))
        return read_kill_type(call, at + 1, out);
    else if (call_arg_is(call, at, "skipme")) {
        out->skip_me = call_arg_is(call, at + 1, "yes");
        if (!out->skip_me && !call_arg_is(call, at + 1, "no"))
            return call_error(call, ERROR_SYNTAX);
    } else
        return call_error(call, ERROR_SYNTAX);
    return OK;
}

static bool is_killed(const struct redis_call *call, const struct redis_client *client,
                      const struct kill_filter *by) {
    const struct access_key *key = atomic_load_explicit(&client->info.key, memory_order_relaxed);
    struct bytes user = key != NULL ? key->id : BYTES("default");
    if (by->none || (by->id != 0 && by->id != client->id) ||
        (by->skip_me && client == call->client))
        return false;
    return (by->address.size == 0 || bytes_equal(by->address, bytes_str(client->address))) &&
           (by->our_address.size == 0 ||
            bytes_equal(by->our_address, bytes_str(client->our_address))) &&
           (by->user.size == 0 || bytes_equal(by->user, user));
}

static enum status run_client_kill(struct redis_call *call) {
    bool older = call->count == 3;
    struct kill_filter by = {.skip_me = !older,
                             .address = older ? call->args[2] : (struct bytes){0}};
    int64_t killed = 0;
    if (!older && call->count % 2 != 0)
        return call_error(call, ERROR_SYNTAX);
    for (size_t i = 2; i < call->count && !older; i += 2) {
        enum status status = read_filter(call, i, &by);
        if (status != OK)
            return status;
    }
    pthread_mutex_lock(&call->frontend->mutex);
    for (struct redis_client *c = call->frontend->clients; c != NULL; c = c->next)
        if (is_killed(call, c, &by)) {
            if (c == call->client && !call->nested)
                stream_end(c->stream); /* when it has the reply */
            else
                post_message(c, false, false);
            killed++;
        }
    pthread_mutex_unlock(&call->frontend->mutex);
    if (older && killed == 0)
        return call_error(call, "ERR No such client");
    if (older)
        resp_ok(&call->out);
    else
        resp_int(&call->out, killed);
    return OK;
}

static enum status run_client_unblock(struct redis_call *call) {
    bool with_error = call->count == 4 && call_arg_is(call, 3, "error"), waits = false;
    int64_t id;
    if (call->count > 4 || (call->count == 4 && !with_error && !call_arg_is(call, 3, "timeout")))
        return call_error(call, "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
    enum status status = call_int(call, 2, &id);
    if (status != OK)
        return status;
    pthread_mutex_lock(&call->frontend->mutex);
    for (struct redis_client *c = call->frontend->clients; c != NULL; c = c->next)
        if (c->id == (uint64_t)id && wait_is_waiting(&call->frontend->waiting, c)) {
            post_message(c, true, with_error);
            waits = true;
        }
    pthread_mutex_unlock(&call->frontend->mutex);
    resp_int(&call->out, waits);
    return OK;
}

static enum status run_client_help(struct redis_call *call) {
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
        "PAUSE <milliseconds> [WRITE|ALL]",
        "    Begins no commands, or none that write, for so long.",
        "REPLY (ON|OFF|SKIP)",
        "    Says whether replies are wanted.",
        "SETINFO (LIB-NAME|LIB-VER) <value>",
        "    Says what the client is made of.",
        "SETNAME <name>",
        "    Names this connection.",
        "TRACKING OFF",
        "    Keys that clients cache are not tracked.",
        "UNPAUSE",
        "    Ends a pause.",
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

#define CLIENT_ROW(word, words, flags_, touches_, function, version, text)                   \
    {                                                                                        \
        .name = word, .arity = words, .flags = flags_, .touches = touches_, .run = function, \
        .group = GROUP_CONNECTION, .since = version, .summary = text                         \
    }

static const struct redis_command subs[] = {
    CLIENT_ROW("caching", 3, OWN, TOUCHES_CONNECTION, run_client_caching, "6.0.0",
               "Keys are not tracked"),
    CLIENT_ROW("getredir", 2, OWN, TOUCHES_CONNECTION, run_client_getredir, "6.0.0",
               "Keys are not tracked"),
    CLIENT_ROW("pause", -3, OTHERS, TOUCHES_SERVER, run_client_pause, "2.9.50",
               "Begins no commands for a while"),
    CLIENT_ROW("tracking", -3, OWN, TOUCHES_CONNECTION, run_client_tracking, "6.0.0",
               "Keys are not tracked"),
    CLIENT_ROW("trackinginfo", 2, OWN, TOUCHES_CONNECTION, run_client_trackinginfo, "6.2.0",
               "Keys are not tracked"),
    CLIENT_ROW("unpause", 2, OTHERS, TOUCHES_SERVER, run_client_unpause, "6.2.0", "Ends a pause"),
    {"getname",
     2,
     OWN,
     TOUCHES_CONNECTION,
     {0},
     run_client_getname,
     NULL,
     GROUP_CONNECTION,
     "2.6.9",
     "Tells the name of the connection",
     NULL},
    {"help",
     2,
     COMMAND_LOADING | COMMAND_STALE,
     TOUCHES_CONNECTION,
     {0},
     run_client_help,
     NULL,
     GROUP_CONNECTION,
     "5.0.0",
     "Tells what there is",
     NULL},
    {"id",
     2,
     OWN,
     TOUCHES_CONNECTION,
     {0},
     run_client_id,
     NULL,
     GROUP_CONNECTION,
     "5.0.0",
     "Tells the number of the connection",
     NULL},
    {"info",
     2,
     OWN,
     TOUCHES_CONNECTION,
     {0},
     run_client_info,
     NULL,
     GROUP_CONNECTION,
     "6.2.0",
     "Tells about the connection",
     NULL},
    {"kill",
     -3,
     OTHERS,
     TOUCHES_SERVER,
     {0},
     run_client_kill,
     NULL,
     GROUP_CONNECTION,
     "2.4.0",
     "Ends connections",
     NULL},
    {"list",
     -2,
     OTHERS,
     TOUCHES_SERVER,
     {0},
     run_client_list,
     NULL,
     GROUP_CONNECTION,
     "2.4.0",
     "Tells about connections",
     NULL},
    {"no-evict",
     3,
     OTHERS,
     TOUCHES_SERVER,
     {0},
     run_client_no_evict,
     NULL,
     GROUP_CONNECTION,
     "7.0.0",
     "Is accepted and changes nothing",
     NULL},
    {"no-touch",
     3,
     OWN,
     TOUCHES_CONNECTION,
     {0},
     run_client_no_evict,
     NULL,
     GROUP_CONNECTION,
     "7.2.0",
     "Is accepted and changes nothing",
     NULL},
    {"reply",
     3,
     OWN,
     TOUCHES_CONNECTION,
     {0},
     run_client_reply,
     NULL,
     GROUP_CONNECTION,
     "3.2.0",
     "Says whether replies are wanted",
     NULL},
    {"setinfo",
     4,
     OWN,
     TOUCHES_CONNECTION,
     {0},
     run_client_setinfo,
     NULL,
     GROUP_CONNECTION,
     "7.2.0",
     "Says what the client is made of",
     NULL},
    {"setname",
     3,
     OWN,
     TOUCHES_CONNECTION,
     {0},
     run_client_setname,
     NULL,
     GROUP_CONNECTION,
     "2.6.9",
     "Names the connection",
     NULL},
    {"unblock",
     -3,
     OTHERS,
     TOUCHES_SERVER,
     {0},
     run_client_unblock,
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
     .touches = TOUCHES_CONNECTION,
     .group = GROUP_CONNECTION,
     .since = "2.4.0",
     .summary = "Commands about connections",
     .subs = subs},
    {0},
};
