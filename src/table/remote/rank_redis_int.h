/* Private to the Redis client: its servers and their connections.
 *
 * `lock` guards everything but the settings; it is never held while a socket is waited for. Servers
 * are added and never removed while the client is open, so a pointer to one stays good.
 */
#ifndef GT_TABLE_REMOTE_RANK_REDIS_INT_H
#define GT_TABLE_REMOTE_RANK_REDIS_INT_H

#include "base/limits.h"
#include "base/random.h"
#include "table/remote/rank_redis.h"

#include <pthread.h>

struct redis_server {
    struct redis_address address;
    struct redis_connection *idle[LIMIT_REDIS_CONNECTIONS];
    unsigned idle_count;
    unsigned open;         /* connections, idle or lent */
    unsigned failures;     /* in a row */
    int64_t away_until_us; /* it is left alone until then; 0: it is not away */
    bool master;           /* as last told */
};

enum redis_topology { REDIS_SINGLE, REDIS_CLUSTER, REDIS_SENTINEL };

struct rank_redis {
    struct rank_redis_settings settings;
    struct redis_address seeds[LIMIT_REDIS_SEEDS]; /* servers, or sentinels */
    size_t seed_count;
    char *master_name;                     /* that sentinels know it by */
    _Atomic(enum redis_topology) topology; /* changed under the lock */

    pthread_mutex_t lock;
    pthread_cond_t returned; /* a connection came back */
    struct redis_server *servers[LIMIT_REDIS_SERVERS];
    size_t server_count;
    uint16_t slots[REDIS_SLOTS]; /* index of the server + 1; 0: nobody's */
    int64_t looked_us;           /* when the topology was last asked for */
    uint64_t epoch;
    struct random random;
};

/* The server of that address, made if it is new; NULL if there are too many. Under the lock. */
struct redis_server *redis_server_at(struct rank_redis *client,
                                     const struct redis_address *address);
/* Takes a connection to lent->server, waiting for one to come back if there are too many. BUSY or
 * IO_FAILED. `fresh`: it was made just now. */
struct redis_lent {
    struct redis_server *server;
    struct redis_connection *connection;
    bool fresh;
};
enum status redis_server_take(struct rank_redis *client, struct redis_lent *lent,
                              int64_t deadline_us, struct scope in);
/* Gives it back; not `good`: it is closed, and if it was fresh the server is away. */
void redis_server_give(struct rank_redis *client, struct redis_lent *lent, bool good);
/* Closes all connections and frees the servers. */
void redis_servers_release(struct rank_redis *client);

/* Asks who has which slot, or who the master is: the servers known, then the seeds. IO_FAILED or
 * DENIED with the last sentence. */
enum status redis_topology_look(struct rank_redis *client, int64_t deadline_us, struct scope in);
/* Reads the address given by the settings. INVALID. */
enum status redis_topology_read(struct rank_redis *client, struct scope in);

#endif
