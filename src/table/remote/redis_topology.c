/* Who is there: the seeds of the settings, CLUSTER SLOTS, and what sentinels say. */
#include "base/clock.h"
#include "base/mem.h"
#include "table/remote/rank_redis_int.h"

/* --- the settings --- */

static enum status bad_address(struct rank_redis *client, struct scope in) {
    return failure_set(in.failure, in.arena, INVALID,
                       "\"%s\" is no address of Redis: it is HOST:PORT, several of these separated "
                       "by commas, unix:PATH, or sentinel:NAME@HOST:PORT,...",
                       client->settings.address);
}

static struct bytes take_until(struct bytes *from, uint8_t end) {
    const uint8_t *at = from->size != 0 ? memchr(from->data, end, from->size) : NULL;
    struct bytes part = at != NULL ? bytes_of(from->data, (size_t)(at - from->data)) : *from;
    *from = bytes_skip(*from, part.size + (at != NULL));
    return part;
}

enum status redis_topology_read(struct rank_redis *client, struct scope in) {
    struct bytes rest = bytes_str(client->settings.address);
    if (bytes_starts(rest, BYTES("sentinel:"))) {
        rest = bytes_skip(rest, 9);
        struct bytes name = take_until(&rest, '@');
        if (name.size == 0 || rest.size == 0)
            return bad_address(client, in);
        client->topology = REDIS_SENTINEL;
        client->master_name = mem_str(arena_str(in.arena, name));
    }
    while (rest.size != 0) {
        struct bytes one = take_until(&rest, ',');
        if (client->seed_count == LIMIT_REDIS_SEEDS ||
            !redis_address_read(one, &client->seeds[client->seed_count]))
            return bad_address(client, in);
        client->seed_count++;
    }
    return client->seed_count != 0 ? OK : bad_address(client, in);
}

/* --- one question to one server --- */

static enum status ask_peer(const struct redis_peer *peer, struct bytes command, struct scope in,
                            struct redis_reply *out) {
    struct redis_connection *connection = NULL;
    enum status status = redis_connect(peer, in, &connection);
    if (status != OK)
        return status;
    status = redis_send(connection, command, peer->deadline_us);
    if (status == OK)
        status = redis_receive(connection, peer->deadline_us, in.arena, out);
    redis_disconnect(connection);
    if (status != OK)
        return redis_no_answer(peer, in);
    if (redis_reply_is_error(out, BYTES("NOAUTH")))
        return failure_set(in.failure, in.arena, DENIED,
                           "Redis at %s:%u wants a password: give it by --rank-redis-password",
                           peer->address->host, peer->address->port);
    return OK;
}

/* --- clusters --- */

static void forget_masters(struct rank_redis *client) {
    memset(client->slots, 0, sizeof(client->slots));
    for (size_t i = 0; i < client->server_count; i++)
        client->servers[i]->master = false;
}

static uint16_t index_of(const struct rank_redis *client, const struct redis_server *server) {
    for (size_t i = 0; i < client->server_count; i++)
        if (client->servers[i] == server)
            return (uint16_t)(i + 1);
    return 0;
}

/* The address in a line of CLUSTER SLOTS. A host that is not told is the one that was asked. */
static bool read_node(const struct redis_reply *node, const struct redis_address *asked,
                      struct redis_address *out) {
    if (node->type != REDIS_ARRAY || node->count < 2)
        return false;
    struct bytes host = node->elements[0].text;
    int64_t port = redis_reply_number(&node->elements[1]);
    *out = *asked;
    out->port = (uint16_t)port;
    if (host.size > REDIS_HOST_MAX || port < 1 || port > UINT16_MAX)
        return false;
    if (host.size != 0 && !bytes_equal(host, BYTES("?"))) {
        memcpy(out->host, host.data, host.size);
        out->host[host.size] = '\0';
    }
    return true;
}

static void take_slots(struct rank_redis *client, const struct redis_address *asked,
                       const struct redis_reply *line) {
    struct redis_address address;
    if (line->type != REDIS_ARRAY || line->count < 3 ||
        !read_node(&line->elements[2], asked, &address))
        return;
    int64_t first = redis_reply_number(&line->elements[0]);
    int64_t last = redis_reply_number(&line->elements[1]);
    struct redis_server *server = redis_server_at(client, &address);
    if (server == NULL || first < 0 || last >= REDIS_SLOTS)
        return;
    server->master = true;
    for (int64_t slot = first; slot <= last; slot++)
        client->slots[slot] = index_of(client, server);
}

/* One master has all the slots. */
static void take_single(struct rank_redis *client, const struct redis_address *address) {
    forget_masters(client);
    struct redis_server *server = redis_server_at(client, address);
    if (server == NULL)
        return;
    server->master = true;
    for (size_t slot = 0; slot < REDIS_SLOTS; slot++)
        client->slots[slot] = index_of(client, server);
}

static enum status look_at_seed(struct rank_redis *client, const struct redis_peer *peer,
                                struct scope in) {
    struct buf command = {0};
    struct redis_reply reply = {0};
    redis_command_words(&command, BYTES("CLUSTER"), BYTES("SLOTS"));
    enum status status = ask_peer(peer, buf_bytes(&command), in, &reply);
    buf_release(&command);
    if (status != OK)
        return status;
    pthread_mutex_lock(&client->lock);
    if (reply.type == REDIS_ARRAY && reply.count != 0) {
        client->topology = REDIS_CLUSTER;
        forget_masters(client);
        for (size_t i = 0; i < reply.count; i++)
            take_slots(client, peer->address, &reply.elements[i]);
    } else if (client->topology != REDIS_CLUSTER)
        take_single(client, peer->address); /* "cluster support disabled" */
    else
        status = IO_FAILED;
    pthread_mutex_unlock(&client->lock);
    return status;
}

/* --- sentinels --- */

static enum status look_at_sentinel(struct rank_redis *client, const struct redis_peer *peer,
                                    struct scope in) {
    struct buf command = {0};
    struct redis_reply reply = {0};
    struct redis_address address;
    /* Sentinels have users of their own, and mostly none. */
    struct redis_login login = {.tls = peer->login->tls, .ca = peer->login->ca};
    redis_command_words(&command, BYTES("SENTINEL"), BYTES("get-master-addr-by-name"),
                        bytes_str(client->master_name));
    enum status status = ask_peer(&(struct redis_peer){peer->address, &login, peer->deadline_us},
                                  buf_bytes(&command), in, &reply);
    buf_release(&command);
    if (status != OK)
        return status;
    if (!read_node(&reply, peer->address, &address))
        return failure_set(in.failure, in.arena, IO_FAILED,
                           "The sentinel at %s:%u knows no master named \"%s\"",
                           peer->address->host, peer->address->port, client->master_name);
    pthread_mutex_lock(&client->lock);
    take_single(client, &address);
    pthread_mutex_unlock(&client->lock);
    return OK;
}

/* --- looking --- */

/* Servers of a cluster that are known besides the seeds. */
static size_t known_addresses(struct rank_redis *client, struct redis_address *to) {
    size_t count = 0;
    pthread_mutex_lock(&client->lock);
    client->looked_us = clock_ticks_us();
    client->epoch++;
    for (size_t i = 0; i < client->server_count && client->topology == REDIS_CLUSTER; i++)
        if (client->servers[i]->master)
            to[count++] = client->servers[i]->address;
    pthread_mutex_unlock(&client->lock);
    for (size_t i = 0; i < client->seed_count; i++)
        to[count++] = client->seeds[i];
    return count;
}

enum status redis_topology_look(struct rank_redis *client, int64_t deadline_us, struct scope in) {
    enum { KNOWN_MAX = LIMIT_REDIS_SERVERS + LIMIT_REDIS_SEEDS };
    struct redis_address *known = ARENA_ARRAY(in.arena, struct redis_address, KNOWN_MAX);
    size_t count = known_addresses(client, known);
    enum status status = IO_FAILED;
    for (size_t i = 0; i < count && status != OK && status != INVALID; i++) {
        /* Each gets a part of the time, so that one that hangs does not keep the next from it. */
        int64_t now = clock_ticks_us(), part = (deadline_us - now) / (int64_t)(count - i);
        struct redis_peer peer = {&known[i], &client->settings.login, now + part};
        status = client->topology == REDIS_SENTINEL ? look_at_sentinel(client, &peer, in)
                                                    : look_at_seed(client, &peer, in);
    }
    return status;
}
