/* Sending commands to where their key is, through all that a topology does. */
#include "table/remote/rank_redis.h"

#include "base/clock.h"
#include "base/mem.h"
#include "table/remote/rank_redis_int.h"

#include <stdio.h>
#include <unistd.h>

enum { PAUSE_FIRST_US = 5000, PAUSE_MAX_US = 100000, LOOK_EVERY_US = 100000, AGAIN_AT_ONCE = 4 };

enum status rank_redis_open(const struct rank_redis_settings *settings, struct scope in,
                            struct rank_redis **out) {
    struct rank_redis *client = mem_zalloc(sizeof(*client));
    pthread_condattr_t attributes;
    uint64_t seed;
    client->settings = *settings;
    if (client->settings.timeout_ms == 0)
        client->settings.timeout_ms = LIMIT_REDIS_WAIT_MS;
    random_secure(&seed, sizeof(seed));
    random_seed(&client->random, seed);
    pthread_mutex_init(&client->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&client->returned, &attributes);
    pthread_condattr_destroy(&attributes);
    enum status status = redis_topology_read(client, in);
    if (status == OK)
        status =
            redis_topology_look(client, clock_ticks_us() + (int64_t)LIMIT_REDIS_OPEN_MS * 1000, in);
    if (status == OK)
        *out = client;
    else
        rank_redis_close(client);
    return status;
}

void rank_redis_close(struct rank_redis *client) {
    if (client == NULL)
        return;
    redis_servers_release(client);
    pthread_cond_destroy(&client->returned);
    pthread_mutex_destroy(&client->lock);
    mem_free(client->master_name);
    mem_free(client);
}

/* --- one attempt --- */

struct attempt {
    struct rank_redis *client;
    const struct redis_request *request;
    struct scope in;
    struct redis_reply *replies;
    int64_t deadline_us;
    unsigned pause_us;
    unsigned again;             /* attempts that followed at once */
    struct redis_address asked; /* by an ASK: the next attempt goes there, once */
    bool asking;
};

static struct redis_server *server_of(struct attempt *attempt) {
    struct rank_redis *client = attempt->client;
    struct redis_server *server = NULL;
    pthread_mutex_lock(&client->lock);
    if (attempt->asking)
        server = redis_server_at(client, &attempt->asked);
    else if (attempt->request->key.size != 0) {
        uint16_t index = client->slots[redis_slot(attempt->request->key)];
        server = index != 0 ? client->servers[index - 1] : NULL;
    } else {
        for (size_t i = 0; i < client->server_count && server == NULL; i++)
            if (client->servers[i]->master && client->servers[i]->away_until_us == 0)
                server = client->servers[i];
        for (size_t i = 0; i < client->server_count && server == NULL; i++)
            if (client->servers[i]->master)
                server = client->servers[i];
    }
    pthread_mutex_unlock(&client->lock);
    return server;
}

/* Whether the commands lie in memory one after the other, so that they need not be put together.
 */
static bool in_one_piece(const struct redis_request *request, struct bytes *all) {
    *all = request->commands[0];
    for (size_t i = 1; i < request->count; i++) {
        if (request->commands[i].data != all->data + all->size)
            return false;
        all->size += request->commands[i].size;
    }
    return true;
}

static enum status send_commands(struct attempt *attempt, struct redis_connection *connection) {
    const struct redis_request *request = attempt->request;
    struct bytes piece;
    if (!attempt->asking && in_one_piece(request, &piece))
        return redis_send(connection, piece, attempt->deadline_us);
    struct buf all = {0};
    for (size_t i = 0; i < request->count; i++) {
        if (attempt->asking)
            redis_command_words(&all, BYTES("ASKING"));
        buf_put(&all, request->commands[i]);
    }
    enum status status = redis_send(connection, buf_bytes(&all), attempt->deadline_us);
    buf_release(&all);
    return status;
}

static enum status exchange(struct attempt *attempt, struct redis_connection *connection) {
    const struct redis_request *request = attempt->request;
    struct redis_reply ignored;
    enum status status = send_commands(attempt, connection);
    for (size_t i = 0; i < request->count && status == OK; i++) {
        if (attempt->asking)
            status = redis_receive(connection, attempt->deadline_us, attempt->in.arena, &ignored);
        if (status == OK)
            status = redis_receive(connection, attempt->deadline_us, attempt->in.arena,
                                   &attempt->replies[i]);
    }
    return status;
}

/* --- what a topology says --- */

/* The address at the end of "MOVED 3999 127.0.0.1:6381". An empty host is the one asked. */
static bool read_redirection(struct bytes text, const struct redis_address *from,
                             struct redis_address *out) {
    const uint8_t *space = text.size != 0 ? memrchr(text.data, ' ', text.size) : NULL;
    if (space == NULL)
        return false;
    struct bytes address = bytes_skip(text, (size_t)(space - text.data) + 1);
    if (address.size != 0 && address.data[0] == ':') {
        char full[REDIS_HOST_MAX + 16];
        int size = snprintf(full, sizeof(full), "%s%.*s", from->host, BYTES_ARG(address));
        return size > 0 && (size_t)size < sizeof(full) &&
               redis_address_read(bytes_of(full, (size_t)size), out);
    }
    /* An IPv6 address has more colons and no brackets here; the last one is before the port. */
    return redis_address_read(address, out);
}

static void follow_moved(struct rank_redis *client, unsigned slot, const struct redis_address *to) {
    pthread_mutex_lock(&client->lock);
    struct redis_server *server = redis_server_at(client, to);
    for (size_t i = 0; i < client->server_count; i++)
        if (client->servers[i] == server) {
            client->slots[slot] = (uint16_t)(i + 1);
            server->master = true;
        }
    client->epoch++;
    pthread_mutex_unlock(&client->lock);
}

enum verdict { VERDICT_DONE, VERDICT_AGAIN, VERDICT_WAIT, VERDICT_LOOK };

static bool is_any(const struct redis_reply *reply, const struct bytes *codes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (redis_reply_is_error(reply, codes[i]))
            return true;
    return false;
}

static enum verdict judge(struct attempt *attempt, const struct redis_server *server,
                          const struct redis_reply *reply) {
    const struct bytes waits[] = {BYTES("LOADING"), BYTES("TRYAGAIN"), BYTES("BUSY")};
    const struct bytes looks[] = {BYTES("READONLY"), BYTES("CLUSTERDOWN"), BYTES("MASTERDOWN")};
    struct redis_address to;
    if (reply->type != REDIS_ERROR)
        return VERDICT_DONE;
    if (redis_reply_is_error(reply, BYTES("MOVED")) &&
        read_redirection(reply->text, &server->address, &to)) {
        follow_moved(attempt->client, redis_slot(attempt->request->key), &to);
        return VERDICT_AGAIN;
    }
    if (redis_reply_is_error(reply, BYTES("ASK")) &&
        read_redirection(reply->text, &server->address, &attempt->asked)) {
        attempt->asking = true;
        return VERDICT_AGAIN;
    }
    if (is_any(reply, waits, 3))
        return VERDICT_WAIT;
    return is_any(reply, looks, 3) ? VERDICT_LOOK : VERDICT_DONE;
}

/* The first reply that is not an answer decides. */
static enum verdict judge_all(struct attempt *attempt, const struct redis_server *server) {
    attempt->asking = false;
    for (size_t i = 0; i < attempt->request->count; i++) {
        enum verdict verdict = judge(attempt, server, &attempt->replies[i]);
        if (verdict != VERDICT_DONE)
            return verdict;
    }
    return VERDICT_DONE;
}

/* --- attempts --- */

/* Sleeps a little longer each time; half of it is left to chance. False: there is no time for it.
 */
static bool pause_once(struct attempt *attempt) {
    struct rank_redis *client = attempt->client;
    unsigned most = attempt->pause_us < PAUSE_MAX_US ? attempt->pause_us : PAUSE_MAX_US;
    pthread_mutex_lock(&client->lock);
    unsigned pause = most / 2 + (unsigned)random_below(&client->random, most / 2 + 1);
    pthread_mutex_unlock(&client->lock);
    attempt->pause_us = most * 2;
    if (clock_ticks_us() + pause >= attempt->deadline_us)
        return false;
    usleep(pause);
    return true;
}

/* Asks for the topology again, unless that was just done or there is none. */
static void look_again(struct attempt *attempt) {
    struct rank_redis *client = attempt->client;
    pthread_mutex_lock(&client->lock);
    bool due =
        client->topology != REDIS_SINGLE && clock_ticks_us() - client->looked_us > LOOK_EVERY_US;
    pthread_mutex_unlock(&client->lock);
    if (due)
        redis_topology_look(client, attempt->deadline_us, attempt->in);
}

static enum status try_once(struct attempt *attempt, struct redis_server *server,
                            enum verdict *verdict) {
    struct redis_lent lent = {.server = server};
    enum status status =
        redis_server_take(attempt->client, &lent, attempt->deadline_us, attempt->in);
    *verdict = VERDICT_DONE;
    if (status != OK)
        return status;
    status = exchange(attempt, lent.connection);
    bool used = !lent.fresh;
    redis_server_give(attempt->client, &lent, status == OK);
    if (status == OK)
        *verdict = judge_all(attempt, server);
    else if (used && status == IO_FAILED)
        *verdict = VERDICT_AGAIN; /* it may have been closed while it was idle */
    return status;
}

static enum status unanswered(struct attempt *attempt, const struct redis_server *server) {
    return failure_set(attempt->in.failure, attempt->in.arena, IO_FAILED,
                       "Redis at %s:%u does not answer in time",
                       server != NULL ? server->address.host : "unknown",
                       server != NULL ? server->address.port : 0);
}

static enum status ask_until(struct attempt *attempt, struct redis_server *only) {
    for (;;) {
        enum verdict verdict = VERDICT_LOOK;
        struct redis_server *server = only != NULL ? only : server_of(attempt);
        enum status status = server != NULL ? try_once(attempt, server, &verdict) : IO_FAILED;
        if (status == OK && verdict == VERDICT_DONE)
            return OK;
        if (clock_ticks_us() >= attempt->deadline_us)
            return unanswered(attempt, server);
        if (verdict == VERDICT_AGAIN && ++attempt->again % AGAIN_AT_ONCE != 0)
            continue;
        if (only != NULL || (status != OK && attempt->client->topology == REDIS_SINGLE))
            return status != OK ? status : unanswered(attempt, server);
        if (status != OK || verdict == VERDICT_LOOK)
            look_again(attempt);
        if (!pause_once(attempt))
            return unanswered(attempt, server);
    }
}

static struct attempt attempt_of(struct rank_redis *client, const struct redis_request *request,
                                 struct redis_reply *replies, struct scope in) {
    unsigned ms = request->timeout_ms != 0 ? request->timeout_ms : client->settings.timeout_ms;
    return (struct attempt){.client = client,
                            .request = request,
                            .in = in,
                            .replies = replies,
                            .pause_us = PAUSE_FIRST_US,
                            .deadline_us = clock_ticks_us() + (int64_t)ms * 1000};
}

enum status redis_ask(struct rank_redis *client, const struct redis_request *request,
                      struct scope in, struct redis_reply *replies) {
    struct attempt attempt = attempt_of(client, request, replies, in);
    return ask_until(&attempt, NULL);
}

enum status redis_ask_at(struct rank_redis *client, const struct redis_request *request,
                         struct redis_reply *replies, struct scope in) {
    struct attempt attempt = attempt_of(client, request, replies, in);
    pthread_mutex_lock(&client->lock);
    struct redis_server *server = redis_server_at(client, request->at);
    pthread_mutex_unlock(&client->lock);
    return server != NULL ? ask_until(&attempt, server) : unanswered(&attempt, NULL);
}

/* --- what is known --- */

uint64_t rank_redis_epoch(struct rank_redis *client) {
    pthread_mutex_lock(&client->lock);
    uint64_t epoch = client->epoch;
    pthread_mutex_unlock(&client->lock);
    return epoch;
}

bool rank_redis_healthy(struct rank_redis *client) {
    bool healthy = true;
    pthread_mutex_lock(&client->lock);
    for (size_t i = 0; i < client->server_count; i++)
        if (client->servers[i]->master && client->servers[i]->failures != 0)
            healthy = false;
    pthread_mutex_unlock(&client->lock);
    return healthy;
}

struct redis_masters rank_redis_masters(struct rank_redis *client, struct arena *arena) {
    struct redis_masters masters = {0};
    pthread_mutex_lock(&client->lock);
    masters.list = ARENA_ARRAY(arena, struct redis_address, client->server_count + 1);
    for (size_t i = 0; i < client->server_count; i++)
        if (client->servers[i]->master)
            masters.list[masters.count++] = client->servers[i]->address;
    pthread_mutex_unlock(&client->lock);
    return masters;
}

enum status rank_redis_connect(struct rank_redis *client, struct scope in,
                               struct redis_connection **out) {
    struct redis_masters masters = rank_redis_masters(client, in.arena);
    int64_t deadline_us = clock_ticks_us() + (int64_t)client->settings.timeout_ms * 1000;
    enum status status = IO_FAILED;
    for (size_t i = 0; i < masters.count && status != OK; i++)
        status = redis_connect(
            &(struct redis_peer){&masters.list[i], &client->settings.login, deadline_us}, in, out);
    return status;
}
