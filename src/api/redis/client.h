/* A client: a connection, what it said of itself, and its calls that are under way.
 *
 * All of it belongs to the client's loop, save what says otherwise; and to a call that runs alone
 * (COMMAND_ALONE) while it runs. */
#ifndef GT_API_REDIS_CLIENT_H
#define GT_API_REDIS_CLIENT_H

#include "api/keys.h"
#include "api/redis/command.h"
#include "net/stream.h"

#include <stdatomic.h>

struct redis_loop; /* face_int.h */

enum reply_mode { REPLY_ON, REPLY_OFF, REPLY_SKIP_NEXT, REPLY_SKIP };

/* Commands between MULTI and EXEC, as copies that live in the queue's arena. */
struct queued {
    const struct redis_command *command;
    struct bytes *args;
    size_t count;
    /* of EXEC, the last time it ran: */
    bool ran, failed;
    uint64_t usec;
};

struct watched {
    struct bytes key;
    uint64_t touched;   /* what engine_touched() said of the board */
    int64_t expires_ms; /* when it was to end; 0: not */
};

struct queue {
    bool open;   /* since MULTI */
    bool faulty; /* a command was refused: EXEC will be, too */
    struct arena arena;
    struct queued *list;
    size_t count, room, size; /* size: bytes of all arguments */
    struct arena watch_arena;
    struct watched *watched;
    size_t watched_count, watched_room;
};

/* What others are told of a client: any thread may look. */
struct client_shown {
    _Atomic(int64_t) last_ms; /* its last command, */
    _Atomic(const struct redis_command *) last;
    _Atomic(const struct access_key *) key;
    _Atomic(int64_t) queued; /* since MULTI; -1: it is not between that and EXEC */
    atomic_size_t watched;
    atomic_int version;
};

struct redis_client {
    struct redis_face *face;
    struct redis_loop *loop;
    struct stream *stream;
    struct redis_client *next, *prev; /* the face's list, under its mutex */
    struct resp_parser parser;
    int version; /* of RESP */
    enum reply_mode mode;
    struct buf unheard; /* where replies go that nobody wants */

    /* who it is */
    const struct keyring *ring;   /* that was asked, */
    const struct access_key *key; /* and whose key it has; NULL: it has not said */
    uint64_t id;
    int socket;
    int64_t created_ms;
    struct bytes name, library, library_version; /* owned; changed under the face's mutex */
    struct client_shown shown;
    char address[STREAM_ADDRESS_SIZE], our_address[STREAM_ADDRESS_SIZE];

    /* calls under way, oldest first */
    struct redis_call *first, **last_call;
    unsigned pending;
    unsigned deciding; /* of them, those that decide on the engine's thread */
    bool alone;        /* the last of them runs alone */
    bool starving;     /* in the loop's list */
    struct redis_client *next_starved;

    struct queue queue;
};

/* Whether it may do anything yet. Looks again when the keys were replaced. */
bool client_is_known(struct redis_client *client);
/* By a key's id and secret; with an empty id by the secret alone. */
bool client_identify(struct redis_client *client, struct bytes id, struct bytes secret);
/* Frees what `to` has and copies `text`, under the face's mutex. */
void client_set_text(struct redis_client *client, struct bytes *to, struct bytes text);
/* A name has no blanks and nothing that does not print. */
bool client_name_fits(struct bytes name);
/* Has others see it as it is. */
void client_show(struct redis_client *client);
/* The client goes on when the loop's writes are fewer; and: they are. */
void client_starve(struct redis_client *client);
void client_feed(struct redis_loop *loop);
/* Replies to the client's finished calls leave in order, and what waited for them goes on. */
void client_drain(struct redis_client *client);

/* Ends MULTI, if it is open, and forgets what is watched. */
void queue_reset(struct queue *queue);
void queue_unwatch(struct queue *queue);
/* Copies the call's command into the queue; LIMIT_EXCEEDED if there is too much in it. */
enum status queue_add(struct queue *queue, const struct redis_call *call);

#endif
