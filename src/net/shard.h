/* A listener's part on one loop: its connections there, what they share, and the sweep that
 * looks for those whose time is up, some at a time. Private to net/; everything in it happens on
 * its loop, save where it says otherwise.
 */
#ifndef GT_NET_SHARD_H
#define GT_NET_SHARD_H

#include "net/listener.h"
#include "net/loop.h"
#include "net/placement.h"
#include "net/tls.h"

#include <stdatomic.h>
#include <time.h>
#include <uv.h>

struct connection;
struct connection_kind;

/* Counts since the start, for listener_figures(): written by the shard's loop alone, read by any
 * thread. */
struct shard_counts {
    _Atomic(uint64_t) accepted, turned_away; /* connections */
    _Atomic(uint64_t) bytes_in, bytes_out;
    _Atomic(uint64_t) refused;  /* requests that could not be read, or were too many */
    _Atomic(uint64_t) deferred; /* requests that were not answered at once */
};

struct shard {
    struct listener *listener;
    struct loop *loop;
    struct connection *connections; /* a list, newest first */
    struct connection *cursor;      /* whom a walk over the list visits next */
    void *shared;                   /* what its connections share: their kind's own */
    uv_timer_t sweep;
    uint64_t sweep_ms;        /* that a sweep takes, with the wait after it */
    unsigned sweep_step;      /* connections that each step of this sweep looks at */
    struct connection *swept; /* the next one; NULL: all were looked at */
    bool closing;             /* connections end after what they are at */
    struct task start, wind_down, end;
    struct task review;
    atomic_bool review_posted; /* and has not begun yet */
    atomic_uint count;         /* connections given to it; any thread */
    struct shard_counts counts;
    unsigned dealt; /* connections that were placed anew when they were to be spread */
    /* The processor time of its loop's thread; set once, then read by any thread. */
    clockid_t processor_clock;
    atomic_bool has_processor_clock;
};

/* Adds to one of a shard's counts; on its loop. */
static inline void shard_count(_Atomic(uint64_t) *count, uint64_t more) {
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

struct listener_settings {
    const char *host;
    int port;        /* 0 picks a free one */
    struct tls *tls; /* encrypts; NULL: plain */
    unsigned connections_max;
    int request_ms;  /* for the greeting */
    int shortest_ms; /* of all deadlines that its connections have */
    bool gather;     /* see placement.h; else connections are always spread */
    const struct connection_kind *kind;
    void *own; /* the kind's; taken, and freed with the listener */
};

struct listener {
    struct listener_settings settings; /* constant from the start */
    const struct connection_kind *kind;
    void *own;
    struct loops *loops;
    int fd, port;
    uv_poll_t accept; /* on the first loop, as is what follows */
    uv_timer_t retry; /* when the process ran out of file descriptors */
    struct placement placement;
    struct task start, stop;

    /* Who still needs the listener: listener_close() does, and each connection until nothing of it
     * is in use, which may be after that. The last one frees it. */
    atomic_uint users;
    atomic_uint connections;

    uv_mutex_t mutex;
    uv_cond_t changed;
    unsigned acceptors; /* handles that accept; guarded by mutex */
    unsigned handles;   /* those of shards and connections; guarded by mutex */

    unsigned shard_count;
    struct shard shards[];
};

enum status listener_open(struct loops *loops, const struct listener_settings *settings,
                          struct scope in, struct listener **out);

void shard_init(struct shard *shard, struct listener *listener, struct loop *loop);
void shard_release(struct shard *shard);

/* Any thread. See listener_review(). */
void shard_review(struct shard *shard);

void shard_link(struct shard *shard, struct connection *connection);
void shard_unlink(struct shard *shard, struct connection *connection);

/* The milliseconds that deadlines are in; as of when the loop last woke. */
static inline uint64_t shard_now(const struct shard *shard) {
    return uv_now(loop_uv(shard->loop));
}

/* A connection's handle is closed, and: nothing of a connection is in use any more. */
void listener_handle_closed(struct listener *listener);
void listener_connection_over(struct listener *listener);

#endif
