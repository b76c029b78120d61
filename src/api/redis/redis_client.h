/* A client: a connection, what it has said about itself, and its calls under way.
 *
 * A client is used on its loop's thread only, except for the fields that say otherwise. A client
 * that does nothing may change its loop (net/placement.h). It is used as well by a call that runs
 * alone (COMMAND_EXCLUSIVE), on whatever thread that runs. It is freed when its stream has closed.
 */
#ifndef GT_API_REDIS_REDIS_CLIENT_H
#define GT_API_REDIS_REDIS_CLIENT_H

#include "api/caller.h"
#include "api/redis/redis_command.h"
#include "net/stream.h"

#include <stdatomic.h>

struct redis_loop; /* redis_frontend_int.h */

enum reply_mode { REPLY_ON, REPLY_OFF, REPLY_SKIP_NEXT, REPLY_SKIP };

/* Commands between MULTI and EXEC, as copies that live in the queue's arena. */
struct queued_command {
    struct redis_request request;
    unsigned db; /* the database that it will run in */
    /* what EXEC noted when it last ran it: */
    bool ran, failed;
    uint64_t usec;
};

struct watched_key {
    struct bytes key;
    unsigned db;
    uint64_t partition_version; /* what key_version() said */
    int64_t expires_ms;         /* when it was to expire; 0: never */
};

struct multi_queue {
    bool open;   /* since MULTI */
    unsigned db; /* the database of the next command: MULTI's, or of a SELECT among them */
    bool faulty; /* a command was refused, so EXEC will be */
    struct arena arena;
    struct queued_command *list;
    size_t count, room, size; /* size: bytes of all arguments */
    struct arena watch_arena;
    struct watched_key *watched;
    size_t watched_count, watched_room;
};

/* What CLIENT LIST shows of a client: written on its loop, read by any thread. */
struct client_info {
    _Atomic(int64_t) last_ms; /* the time of its last command */
    _Atomic(const struct redis_command *) last;
    _Atomic(const struct access_key *) key;
    _Atomic(int64_t) queued; /* commands since MULTI; -1: not in a transaction */
    atomic_size_t watched;
    atomic_uint db;
    atomic_int version;
};

struct redis_client {
    struct redis_frontend *frontend;
    struct redis_loop *loop; /* changes under the front end's mutex, */
    bool moving;             /* which guards this, too: it is on its way there */
    struct stream *stream;
    struct redis_client *next, *prev; /* the front end's list, under its mutex */
    struct resp_parser parser;
    int version; /* of RESP */
    unsigned db; /* the database that SELECT has chosen */
    enum reply_mode mode;
    struct buf discarded; /* takes the replies that CLIENT REPLY suppresses */

    /* who it is */
    struct caller caller;
    uint64_t id;
    int socket;
    int64_t created_us;                          /* by clock_ticks_us() */
    struct bytes name, library, library_version; /* owned; changed under the front end's mutex */
    struct client_info info;
    char address[STREAM_ADDRESS_SIZE], our_address[STREAM_ADDRESS_SIZE];

    struct change_source order, *source; /* of its changes: the engine's, and where that is */

    /* calls under way, oldest first */
    struct redis_call *first, **last_call;
    unsigned pending;
    size_t pending_args; /* arguments of all of these */
    unsigned preparing;  /* those of them whose `run` runs on the engine's thread */
    atomic_bool detour; /* one of those runs ahead of the writer, and the others wait for it; set on
                           the engine's thread, cleared on the loop when none is left */
    atomic_uint refused; /* calls whose `start` was refused on the engine's thread, and that have
                            not come back to the loop: then they are among those of `preparing` */
    unsigned grouped;    /* those of them that run with others in one commit, or wait to */
    bool alone;          /* the last one is exclusive: no other is started */
    bool is_throttled;   /* it is in the loop's list of throttled clients */
    struct redis_client *next_throttled;
    uint64_t throttled_in; /* the loop's `resumptions` when it was throttled */
    struct task turn;      /* goes on with its requests, after those of others */
    bool yields;           /* that is posted */
    bool gave;             /* a call has taken over what has arrived (call_keep_args) */
    unsigned unbatched;    /* writes that are started by themselves before one is batched again */

    struct multi_queue queue;
    struct client_topics topics; /* what it has subscribed to */
};

/* Whether the client has authenticated, or need not. Access keys that were replaced are looked up
 * again. */
bool client_is_known(struct redis_client *client);
/* Authenticates by the id and secret of an access key; with an empty id by the secret alone. */
bool client_identify(struct redis_client *client, struct bytes id, struct bytes secret);
/* Replaces the text `to`, which is freed, by a copy; takes the front end's mutex. */
void client_set_text(struct redis_client *client, struct bytes *to, struct bytes text);
/* A name has no blanks and nothing that does not print. */
bool client_name_fits(struct bytes name);
/* Updates client->info. */
void client_show(struct redis_client *client);
/* Whether later writes of the client wait, since one before them was refused or takes long. Any
 * thread. */
static inline bool client_takes_detour(struct redis_client *client) {
    return atomic_load(&client->refused) != 0 || atomic_load(&client->detour);
}
/* Whether it has subscriptions and speaks RESP 2, in which nothing else can be asked meanwhile. */
static inline bool client_only_listens(const struct redis_client *client) {
    return client->version == 2 && client->topics.first != NULL;
}
/* Suspends the client while its loop has too many writes under way; and resumes those that were,
 * as far as there is room. */
void client_throttle(struct redis_client *client);
void client_resume_throttled(struct redis_loop *loop);
/* Goes on with the client's requests after those that other clients have sent by now. */
void client_yield(struct redis_client *client);
/* Whether no more writes of the client are started until some of those under way are done: what
 * others write waits behind them. With `half` whether there are more than half as many. */
bool client_has_enough(const struct redis_client *client, bool half);
/* Sends the replies of finished calls, in order, and goes on with requests that waited for them. */
void client_drain(struct redis_client *client);

/* Leaves MULTI and drops the queued commands and the watched keys. */
void multi_queue_reset(struct multi_queue *queue);
/* Drops the watched keys. */
void multi_queue_unwatch(struct multi_queue *queue);
/* Copies the call's command into the queue; LIMIT_EXCEEDED if there is too much in it. */
enum status multi_queue_add(struct multi_queue *queue, const struct redis_call *call);

#endif
