/* The servers that a Redis client knows, and the pool of connections to each. */
#include "base/clock.h"
#include "base/mem.h"
#include "table/remote/rank_redis_int.h"

#include <time.h>

struct redis_server *redis_server_at(struct rank_redis *client,
                                     const struct redis_address *address) {
    for (size_t i = 0; i < client->server_count; i++)
        if (redis_address_equal(&client->servers[i]->address, address))
            return client->servers[i];
    if (client->server_count == LIMIT_REDIS_SERVERS)
        return NULL;
    struct redis_server *server = mem_zalloc(sizeof(*server));
    server->address = *address;
    client->servers[client->server_count++] = server;
    return server;
}

/* --- servers that are away --- */

/* The wait doubles with each failure in a row, and half of it is left to chance, so that nodes do
 * not come back all at once. */
static void set_away(struct rank_redis *client, struct redis_server *server) {
    int64_t wait_ms = LIMIT_REDIS_AWAY_FIRST_MS << (server->failures < 8 ? server->failures : 8);
    if (wait_ms > LIMIT_REDIS_AWAY_MS)
        wait_ms = LIMIT_REDIS_AWAY_MS;
    wait_ms = wait_ms / 2 + (int64_t)random_below(&client->random, (uint64_t)wait_ms / 2 + 1);
    server->failures++;
    server->away_until_us = clock_ticks_us() + wait_ms * 1000;
}

static void close_idle(struct redis_server *server) {
    server->open -= server->idle_count;
    while (server->idle_count != 0)
        redis_disconnect(server->idle[--server->idle_count]);
}

/* --- taking and giving back --- */

/* Waits until a connection comes back or the time is over. */
static bool wait_for_return(struct rank_redis *client, int64_t deadline_us) {
    int64_t left_us = deadline_us - clock_ticks_us();
    struct timespec until;
    if (left_us <= 0)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += left_us / 1000000;
    until.tv_nsec += left_us % 1000000 * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&client->returned, &client->lock, &until);
    return true;
}

/* An idle one that is still good, or NULL. Under the lock. */
static struct redis_connection *take_idle(struct rank_redis *client, struct redis_server *server) {
    while (server->idle_count != 0) {
        struct redis_connection *connection = server->idle[--server->idle_count];
        if (!redis_is_stale(connection))
            return connection;
        redis_disconnect(connection);
        server->open--;
        client->epoch++;
    }
    return NULL;
}

/* Decides under the lock: an idle connection, or that the caller may make one. */
static enum status admit(struct rank_redis *client, struct redis_server *server,
                         int64_t deadline_us, struct redis_connection **out) {
    for (;;) {
        if (server->away_until_us > clock_ticks_us())
            return IO_FAILED;
        *out = take_idle(client, server);
        if (*out != NULL)
            return OK;
        if (server->open < LIMIT_REDIS_CONNECTIONS) {
            server->open++;
            return OK;
        }
        if (!wait_for_return(client, deadline_us))
            return BUSY;
    }
}

enum status redis_server_take(struct rank_redis *client, struct redis_lent *lent,
                              int64_t deadline_us, struct scope in) {
    struct redis_server *server = lent->server;
    pthread_mutex_lock(&client->lock);
    enum status status = admit(client, server, deadline_us, &lent->connection);
    pthread_mutex_unlock(&client->lock);
    if (status != OK)
        return failure_set(in.failure, in.arena, status, "Redis at %s:%u %s", server->address.host,
                           server->address.port, status == BUSY ? "has too much to do" : "is away");
    if (lent->connection != NULL)
        return OK;
    lent->fresh = true;
    status =
        redis_connect(&(struct redis_peer){&server->address, &client->settings.login, deadline_us},
                      in, &lent->connection);
    if (status != OK)
        redis_server_give(client, lent, false);
    return status;
}

void redis_server_give(struct rank_redis *client, struct redis_lent *lent, bool good) {
    struct redis_server *server = lent->server;
    pthread_mutex_lock(&client->lock);
    if (good) {
        server->failures = 0;
        server->away_until_us = 0;
        server->idle[server->idle_count++] = lent->connection;
    } else {
        server->open--;
        client->epoch++;
        close_idle(server); /* what broke one has probably broken all */
        if (lent->fresh)
            set_away(client, server);
    }
    pthread_cond_broadcast(&client->returned); /* who wakes first may wait for another server */
    pthread_mutex_unlock(&client->lock);
    if (!good)
        redis_disconnect(lent->connection);
    lent->connection = NULL;
}

void redis_servers_release(struct rank_redis *client) {
    for (size_t i = 0; i < client->server_count; i++) {
        close_idle(client->servers[i]);
        mem_free(client->servers[i]);
    }
    client->server_count = 0;
}
