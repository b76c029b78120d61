/* A listener's part on one loop: its connections there, what they share, and the sweep that
 * looks for those whose time is up. Private to net/; everything in it happens on its loop, save
 * where it says otherwise.
 */
#ifndef GT_NET_SHARD_H
#define GT_NET_SHARD_H

#include "net/answer.h"
#include "net/request.h"

#include <stdatomic.h>
#include <uv.h>

struct connection;

struct shard {
    struct http_listener *listener;
    struct loop *loop;
    struct connection *connections; /* a list, newest first */
    struct connection *cursor;      /* whom a walk over the list visits next */
    struct request *pool;
    unsigned pooled;
    struct answer_date date;
    uv_timer_t sweep;
    bool closing; /* connections end after the exchange that runs */
    struct task start, wind_down, end;
    atomic_uint count; /* connections given to it; any thread */
};

struct http_listener {
    struct http_settings settings; /* defaults filled in; constant from the start */
    struct request_limits limits;
    struct loops *loops;
    int fd, port;
    uv_poll_t accept; /* on the first loop, as is what follows */
    uv_timer_t retry; /* when the process ran out of file descriptors */
    struct task start, stop;

    /* Who still needs the listener: http_close() does, and each connection until its last
     * exchange is answered, which may be after that. The last one frees it. */
    atomic_uint users;
    atomic_uint connections;
    atomic_uint in_flight; /* exchanges that their handler did not answer at once */

    uv_mutex_t mutex;
    uv_cond_t changed;
    unsigned acceptors; /* handles that accept; guarded by mutex */
    unsigned handles;   /* those of shards and connections; guarded by mutex */

    unsigned shard_count;
    struct shard shards[];
};

void shard_init(struct shard *shard, struct http_listener *listener, struct loop *loop);
void shard_release(struct shard *shard);

/* A request of the pool, ready for its first byte; and back. */
struct request *shard_take(struct shard *shard);
void shard_give(struct shard *shard, struct request *request);

void shard_link(struct shard *shard, struct connection *connection);
void shard_unlink(struct shard *shard, struct connection *connection);

/* The milliseconds that deadlines are in; as of when the loop last woke. */
static inline uint64_t shard_now(const struct shard *shard) {
    return uv_now(loop_uv(shard->loop));
}

/* A connection's handle is closed, and: a connection and all of its exchanges are over. */
void listener_handle_closed(struct http_listener *listener);
void listener_connection_over(struct http_listener *listener);

#endif
