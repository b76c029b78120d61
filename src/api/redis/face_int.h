/* The face from the inside. Private to this folder. */
#ifndef GT_API_REDIS_FACE_INT_H
#define GT_API_REDIS_FACE_INT_H

#include "api/redis/clearer.h"
#include "api/redis/client.h"
#include "api/redis/counts.h"
#include "api/redis/cursors.h"
#include "api/redis/face.h"
#include "api/redis/gather.h"
#include "api/redis/wait.h"

#include <pthread.h>
#include <stdatomic.h>

/* The version whose commands and replies these are: clients choose by it what to ask for. */
#define REDIS_VERSION "7.0.15"

/* What each loop has for itself. The counts are written by its thread alone and read by any. */
struct redis_loop {
    struct redis_call *pool;
    unsigned pooled;
    /* Writes that the engine has at the moment, and clients that wait until it has fewer, the
     * oldest first: its queue is for all, and who finds it full is refused. */
    unsigned under_way, under_way_max;
    struct redis_client *starved, **last_starved;
    struct gather gather; /* of the client whose bytes are being read */
    _Atomic(uint64_t) clients_ever, commands, bytes_in, hits, misses;
    struct command_counts counts;
    const struct redis_command *timed; /* whose time runs since then; NULL: nobody's */
    int64_t timed_us;
};

struct redis_counts {
    uint64_t clients, commands, bytes_in, hits, misses;
};

struct redis_face {
    struct game *game;
    struct redis_settings settings;
    struct redis_loop *loops;
    atomic_int port; /* for INFO; known once it listens */
    int64_t started_ms;
    char run_id[41]; /* of this process, for INFO */

    pthread_mutex_t mutex;        /* guards what follows, and the names of clients */
    struct redis_client *clients; /* a list, newest first; each is changed on its own loop only */
    unsigned client_count;
    uint64_t last_id;
    struct redis_counts counted_from;    /* what INFO does not count any more, */
    struct command_counts commands_from; /* nor of each command */

    struct waiting waiting; /* clients that wait for entries */
    struct cursors cursors; /* where scans go on */
    struct clearer clearer; /* empties large sets */
};

/* Adds to one of a loop's own counts, on its thread. */
static inline void redis_count(_Atomic(uint64_t) *count, uint64_t more) {
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

/* Counts of INFO begin again. */
void redis_reset_counts(struct redis_face *face);

#endif
