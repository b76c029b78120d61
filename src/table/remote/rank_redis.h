/* A client of Redis or Valkey: one server, a cluster, or a master that sentinels watch over.
 *
 * Commands are sent to the server that has the slot of a key, several at a time, and their replies
 * are waited for. What the topology does meanwhile is not seen by the caller: a moved slot, a new
 * master, a connection that has ended are followed and the commands sent again, so all commands
 * given here must be harmless to repeat. A server that is away is left alone for a while (longer
 * each time, up to LIMIT_REDIS_AWAY_MS), in which calls fail at once.
 *
 * Any thread that may wait, as many as like: connections are kept in a pool for each server, at
 * most LIMIT_REDIS_CONNECTIONS.
 */
#ifndef GT_TABLE_REMOTE_RANK_REDIS_H
#define GT_TABLE_REMOTE_RANK_REDIS_H

#include "table/remote/redis_connection.h"

struct rank_redis;

struct rank_redis_settings {
    /* "HOST:PORT" or "unix:PATH"; several separated by commas, of which one that answers is enough;
     * or "sentinel:NAME@HOST:PORT,...". Whether it is a cluster the server says. */
    const char *address;
    struct redis_login login; /* strings are borrowed while the client is open */
    unsigned timeout_ms;      /* of a call, with all that is tried again; 0: LIMIT_REDIS_WAIT_MS */
};

/* Connects to find out what is there. INVALID, DENIED or IO_FAILED with a sentence that says what
 * to do. */
enum status rank_redis_open(const struct rank_redis_settings *settings, struct scope in,
                            struct rank_redis **out);
/* Nobody may be in a call. NULL is fine. */
void rank_redis_close(struct rank_redis *client);

/* Commands for the server of one key, each written by redis_command(). */
struct redis_request {
    struct bytes key; /* empty: any master */
    const struct bytes *commands;
    size_t count;
    unsigned timeout_ms;            /* 0: as the settings say */
    const struct redis_address *at; /* of redis_ask_at() only */
};
/* replies[i] answers commands[i]; errors of the server are replies, too. IO_FAILED: nobody answered
 * in time; nothing is known of what was done. */
enum status redis_ask(struct rank_redis *client, const struct redis_request *request,
                      struct scope in, struct redis_reply *replies);

/* A number that rises whenever a connection was lost or a slot went elsewhere: what was done before
 * may be missing since. Does not wait. */
uint64_t rank_redis_epoch(struct rank_redis *client);
/* Whether the last call to each server was answered. Does not wait. */
bool rank_redis_healthy(struct rank_redis *client);

/* The addresses of all masters as known now, in the arena. */
struct redis_masters {
    struct redis_address *list;
    size_t count;
};
struct redis_masters rank_redis_masters(struct rank_redis *client, struct arena *arena);
/* The same commands to the server at the request's address, whatever its slots are. */
enum status redis_ask_at(struct rank_redis *client, const struct redis_request *request,
                         struct redis_reply *replies, struct scope in);
/* A connection of the caller's own to any master, for subscribing. */
enum status rank_redis_connect(struct rank_redis *client, struct scope in,
                               struct redis_connection **out);

/* The slot of a key: CRC16 of what is between its first '{' and the next '}', if anything is, else
 * of all of it. */
enum { REDIS_SLOTS = 16384 };
unsigned redis_slot(struct bytes key);

#endif
