/* A connection: a client's socket and what is common to all kinds of clients: greeting, deadlines,
 * the way out. Private to net/. What is spoken over it is its kind's business (http.c, stream.c),
 * whose own struct begins with this one. All calls are for its loop's thread, save
 * connection_new().
 *
 *     GREETING ---> OPEN <--> MOVING
 *     (encrypted)    | \
 *                    |  +---> LINGERING
 *                    |           |
 *                    +-----------+---> CLOSED
 */
#ifndef GT_NET_CONNECTION_H
#define GT_NET_CONNECTION_H

#include "net/shard.h"
#include "net/wire.h"

enum connection_state {
    CONNECTION_GREETING,  /* agreeing on the encryption */
    CONNECTION_OPEN,      /* its kind knows more */
    CONNECTION_MOVING,    /* on its way to another loop, and in no shard's list */
    CONNECTION_LINGERING, /* all is said; reads away what the client still sends */
    CONNECTION_CLOSED,    /* the socket is gone; somebody may still use what belongs to it */
};

struct connection {
    uv_poll_t poll;
    struct task task; /* carries it to its loop */
    struct shard *shard;
    struct connection *next, *prev;
    struct wire wire;
    uint64_t deadline_ms;
    enum connection_state state;
    int watched;        /* the events that `poll` waits for */
    unsigned placed;    /* by which number of its listener's placement */
    bool turned_away;   /* one too many: it gets to hear so */
    bool handle_closed; /* libuv has let go of `poll` */
};

/* What a kind of connection does. */
struct connection_kind {
    size_t size; /* of a connection of this kind */
    /* What the connections of a shard share; and what the listener owns (listener->own). */
    void *(*shared_new)(struct shard *shard);
    void (*shared_free)(void *shared);
    void (*own_free)(void *own);

    void (*begin)(struct connection *connection);  /* it is OPEN, or turned away */
    void (*misled)(struct connection *connection); /* it speaks plainly on an encrypted port */
    /* OPEN, and its socket is what was watched for: UV_READABLE, UV_WRITABLE or both. */
    void (*ready)(struct connection *connection, int events);
    /* It leaves for another loop, that of its shard now; still on the old one. NULL: nothing is to
     * be done then. */
    void (*leaves)(struct connection *connection);
    /* It has moved to another loop and is OPEN there. NULL: its kind never moves. */
    void (*moved)(struct connection *connection);
    void (*expire)(struct connection *connection); /* OPEN, and its deadline has passed */
    /* OPEN, and the listener ends: connection_drop() it if nothing is under way. */
    void (*wind_down)(struct connection *connection);
    void (*review)(struct connection *connection);       /* OPEN; see listener_review() */
    void (*dropped)(struct connection *connection);      /* the socket has just gone */
    bool (*in_use)(const struct connection *connection); /* somebody still has a part of it */
    void (*over)(struct connection *connection);         /* it is about to be freed */
};

#define CONNECTION_NEVER UINT64_MAX

/* Any thread. Takes the socket. */
struct connection *connection_new(struct shard *shard, int fd, bool turned_away);
void connection_start(struct connection *connection);

/* Waits for UV_READABLE, UV_WRITABLE, both or (0) nothing. */
void connection_watch(struct connection *connection, int events);
/* A deadline that many milliseconds from now; 0: none. */
void connection_wait(struct connection *connection, int wait_ms);

/* Whether its listener wants it to look for its loop anew; a kind that can move asks when nothing
 * of a connection is under way. */
static inline bool connection_is_misplaced(const struct connection *connection) {
    return connection->placed !=
           atomic_load_explicit(&connection->shard->listener->placement.number,
                                memory_order_acquire);
}
/* Places it anew. True: it has left for another loop, where its kind's `moved` is called, and is
 * not to be touched here any more. The kind keeps nothing of it that belongs to the shard. */
bool connection_move(struct connection *connection);

/* Ends it at once. What of it is in use stays good. */
void connection_drop(struct connection *connection);
/* Closing a socket that holds unread bytes makes the client's system throw away the answer it has
 * not read yet. So when the client may still be sending, this says that we are done and listens for
 * it to be done too, for a while. */
void connection_linger(struct connection *connection);
/* Frees it if it is CLOSED and no longer in use. */
void connection_free_if_over(struct connection *connection);

/* For its shard: its deadline has passed; it is to be looked at again; its listener ends. */
void connection_expire(struct connection *connection);
void connection_review(struct connection *connection);
void connection_wind_down(struct connection *connection);

#endif
