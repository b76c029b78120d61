/* The inside of the front end. Private to this folder. */
#ifndef GT_API_REDIS_REDIS_FRONTEND_INT_H
#define GT_API_REDIS_REDIS_FRONTEND_INT_H

#include "api/redis/call_groups.h"
#include "api/redis/client_pause.h"
#include "api/redis/command_stats.h"
#include "api/redis/expired_events.h"
#include "api/redis/key_holds.h"
#include "api/redis/lazyfree.h"
#include "api/redis/redis_client.h"
#include "api/redis/redis_frontend.h"
#include "api/redis/redis_wait.h"
#include "api/redis/request_batch.h"
#include "api/redis/scan_cursors.h"
#include "api/redis/script_store.h"
#include "api/redis/slowlog.h"

#include <pthread.h>
#include <stdatomic.h>

/* The version of Redis that we answer like; clients choose their commands by it. */
#define REDIS_VERSION        "7.0.15"
#define REDIS_VERSION_NUMBER 0x07000f

/* What each event loop has for itself. The counts are written by its thread alone, and may be read
 * by any. */
struct redis_loop {
    struct redis_call *pool; /* free list of finished calls, for reuse */
    unsigned pooled;
    /* This loop's writes that the engine has not committed yet, and the clients that wait until
     * there are fewer, oldest first. The engine's queue is shared and refuses when it is full, so
     * that each loop uses only its part of it. */
    unsigned under_way, under_way_max;
    struct redis_client *throttled, **last_throttled;
    uint64_t resumptions;       /* how often they were asked to go on */
    uint64_t turn_work;         /* done in this turn of the client whose bytes are being parsed */
    struct request_batch batch; /* of the client whose bytes are being parsed */
    struct call_groups groups;
    _Atomic(struct loop *) own; /* the loop itself; NULL until it has had a client */
    struct task resume;         /* lets clients go on after CLIENT PAUSE, */
    atomic_bool resuming;       /* and that is posted */
    struct map subscribers;     /* its clients that have subscriptions, by their numbers */
    _Atomic(uint64_t) clients_ever, commands, bytes_in, hits, misses;
    struct command_stats counts;
    const struct redis_command *timed; /* the command that time is counted for; NULL: none */
    int64_t timed_us;                  /* since then */
    uint64_t timed_reads;              /* reads of it that have run since then */
    int64_t turn_us;                   /* when the first command of this turn began */
    int64_t drain_us;                  /* when the replies that are being sent were ready */
};

struct redis_stats {
    uint64_t clients, commands, bytes_in, hits, misses;
};

/* How many keys are remembered: keys whose hash falls into the same slot take it in turn. */
enum { NOTED_KEY_SLOTS = 8192 };

struct redis_frontend {
    struct game *game;
    struct redis_settings settings;
    bool blocks; /* the engine may block: commands run on the pool, one of a client at a time */
    struct redis_loop *loops;
    struct background *slow;    /* runs what takes long (slow_calls.h) */
    atomic_size_t calls_memory; /* bytes of the calls that run there */
    atomic_int port;            /* for INFO; 0 until it listens */
    int64_t started_us;         /* by clock_ticks_us() */
    char run_id[41];            /* of this process, for INFO */
    atomic_bool stopping;       /* redis_frontend_stop() was called: what takes long ends */
    atomic_uint notify;         /* enum notify_class: events of keys that are told of */
    /* Of writes to keys (key_start.c): whether the engine knows of most partitions that they are
     * empty; and hashes of keys that were found to be large, or maybe boards, where that was not
     * expected. */
    atomic_bool knows_absent;
    atomic_uint_fast64_t noted_keys[NOTED_KEY_SLOTS];

    pthread_mutex_t mutex;        /* guards what follows, and the names of clients */
    struct redis_client *clients; /* a list, newest first; each is changed on its own loop only */
    unsigned client_count;
    uint64_t last_id;
    /* the counts at the last CONFIG RESETSTAT, which INFO subtracts */
    struct redis_stats stats_from;
    struct command_stats command_stats_from;

    /* these have a mutex of their own */
    struct waiting waiting;        /* calls that wait for entries */
    struct scan_cursors cursors;   /* where scans go on */
    struct lazyfree lazyfree;      /* empties large sets */
    struct slowlog slowlog;        /* calls that took long */
    struct client_pause pause;     /* CLIENT PAUSE */
    struct key_holds holds;        /* keys whose writers wait */
    struct pubsub pubsub;          /* channels and who has subscribed */
    struct expired_events expired; /* tells of what has ended by its time */
    struct scripts scripts;        /* what EVALSHA knows, and Lua states */
};

/* Adds to one of a loop's counts; on its thread, which is the only writer. */
static inline void redis_count(_Atomic(uint64_t) *count, uint64_t more) {
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

/* Asks the engine anew whether it knows of partitions that they are empty. Any thread. */
void redis_frontend_ask_engine(struct redis_frontend *frontend);
/* CONFIG RESETSTAT: the counts of INFO begin at 0 again. Any thread. */
void redis_reset_stats(struct redis_frontend *frontend);

#endif
