/* A connection: a client's socket, the state it is in, and the request it is at. Private to net/.
 * All calls are for its loop's thread, save connection_new().
 *
 * GREETING (only if encrypted)
 *      |
 *      v       first byte          last byte            answer
 *     IDLE ---------------> READING --------> BUSY ----------------> IDLE
 *      ^                       |                \    socket full      |
 *      |                       | refused         +-----> WRITING -----+
 *      |                       v                            |         |
 *      |                    (answer) -----------------------+---> LINGERING, CLOSED
 *
 * BUSY has no deadline: the handler answers when it answers. The others have one each.
 */
#ifndef GT_NET_CONNECTION_H
#define GT_NET_CONNECTION_H

#include "net/shard.h"
#include "net/wire.h"

enum connection_state {
    CONNECTION_GREETING,  /* agreeing on the encryption */
    CONNECTION_IDLE,      /* nothing of a request is here, and no struct request */
    CONNECTION_READING,   /* part of one is */
    CONNECTION_BUSY,      /* the handler has it */
    CONNECTION_WRITING,   /* answered, and the socket takes no more for now */
    CONNECTION_LINGERING, /* all is said; reads away what the client still sends, see finish() */
    CONNECTION_CLOSED,    /* the socket is gone; the handler may still have the exchange */
};

struct connection {
    uv_poll_t poll;
    struct task task; /* carries it to its loop */
    struct shard *shard;
    struct connection *next, *prev;
    struct wire wire;
    struct request *request; /* NULL when IDLE */
    uint64_t deadline_ms;
    enum connection_state state;
    int watched;             /* the events that `poll` waits for */
    bool turned_away;        /* one too many: gets 503 */
    bool in_flight;          /* its exchange is counted as waiting for its answer */
    bool advancing;          /* connection_advance() is on the stack */
    bool eof;                /* the client sends no more; it may well still read */
    bool last;               /* ends after the answer being written */
    bool handle_closed;      /* libuv has let go of `poll` */
    struct bytes head, body; /* what is left to write */
};

/* Any thread. Takes the socket. */
struct connection *connection_new(struct shard *shard, int fd, bool turned_away);
void connection_start(struct connection *connection);
/* Ends it at once. Its exchange stays good if the handler has it. */
void connection_drop(struct connection *connection);
/* Its deadline has passed. */
void connection_expire(struct connection *connection);
/* Ends it if no request is under way. */
void connection_wind_down(struct connection *connection);

#endif
