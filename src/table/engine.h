/* An engine: what stands behind the table interface, and what it can.
 *
 * The interface is in parts, each a header with its cost and who may call it from where: items.h,
 * change.h, tables.h, table_stream.h, ranking.h, backup.h, and inprocess.h for what only an engine
 * of one process can do. Who only uses an engine includes the parts it calls; this header is for
 * those who build one, own one, or ask what it can.
 */
#ifndef GT_TABLE_ENGINE_H
#define GT_TABLE_ENGINE_H

#include "base/durations.h"
#include "base/limits.h"
#include "base/status.h"

struct engine;
struct item_ops;
struct change_ops;
struct table_ops;
struct stream_ops;
struct ranking_ops;
struct copy_ops;
struct inprocess_ops;
struct hot_keys;

/* What not every engine can. */
enum engine_ability {
    ENGINE_RANKING = 1,   /* ranking.h, and pages by rank */
    ENGINE_STREAMS = 2,   /* table_stream.h */
    ENGINE_COPIES = 4,    /* backup.h */
    ENGINE_PREPARE = 8,   /* `prepare` of a change */
    ENGINE_VERSIONS = 16, /* partition versions */
    ENGINE_LOADING = 32,  /* tables that are `loading` */
    ENGINE_RANKED = 64,   /* `ranks` of an action: ranks as of its commit */
    ENGINE_ALL = 127,
};

/* Figures for an operator: sums over all tables, bytes of memory, counts since the start. */
struct engine_figures {
    uint64_t tables, items, item_bytes;
    uint64_t index_entries, index_memory, index_memory_max;
    uint64_t count_index,
        count_index_memory; /* count indexes; their memory is part of index_memory_max, too */
    uint64_t cache_items, cache_memory, cache_memory_max, cache_hits, cache_misses;
    uint64_t commits, writes, disk, store_memory;
    bool refusing_writes;
    bool read_only;                                /* engine_read_only() */
    uint64_t changes_waiting, changes_waiting_max; /* submitted and not yet committed */
    uint64_t index_builds;                         /* that run now */
    uint64_t expired;                              /* items that the clock has removed */
    uint64_t store_files, store_newest_files;      /* tables on disk; those not merged yet */
    uint64_t store_compacting, store_flushing, store_compaction_waits; /* jobs now; bytes to do */
    bool store_stalled;                  /* the store waits for its own compaction */
    struct durations_sums commit_writes; /* how long the store took to write each commit, with its
                                            fsync if it has one */
};
void engine_figures(struct engine *engine, struct engine_figures *out);

struct engine_ops {
    void (*figures)(struct engine *, struct engine_figures *);
    void (*read_only)(struct engine *, bool on);
    void (*end_soon)(struct engine *, unsigned grace_ms); /* NULL: nothing here waits long */
    void (*close)(struct engine *);
};

/* The first member of whatever an engine is. A part that it has not is NULL, and so is not among
 * its abilities. All of it is constant while the engine is open. */
struct engine {
    const struct engine_ops *ops;
    const struct item_ops *items;
    const struct change_ops *changes;
    const struct table_ops *tables;
    const struct stream_ops *streams;      /* ENGINE_STREAMS */
    const struct ranking_ops *ranking;     /* ENGINE_RANKING */
    const struct copy_ops *copies;         /* ENGINE_COPIES */
    const struct inprocess_ops *inprocess; /* ENGINE_VERSIONS, ENGINE_PREPARE */
    unsigned abilities;
    bool may_block;
    size_t actions_max;   /* of one commit; 0: LIMIT_CHANGE_ACTIONS. Changes that are `divisible`
                             (change.h) may have more */
    struct hot_keys *hot; /* is told what is asked (hot_keys.h); NULL: nobody is. Set by who owns
                             the engine, before others use it */
};

/* Whether it can all of these (ENGINE_RANKING | ...). Who could do with less asks first; who needs
 * it just calls: what the engine has not is UNSUPPORTED with a sentence, a change that needs it
 * fails with that, and partition versions rise at every look. */
static inline bool engine_can(const struct engine *engine, unsigned abilities) {
    return (engine->abilities & abilities) == abilities;
}

/* Whether a call to it may wait for something beyond this process, such as a network: then it is
 * for threads that may wait, and not for a loop. */
static inline bool engine_may_block(const struct engine *engine) {
    return engine->may_block;
}

/* How many items one commit may write and check at most. */
static inline size_t engine_actions_max(const struct engine *engine) {
    return engine->actions_max != 0 ? engine->actions_max : LIMIT_CHANGE_ACTIONS;
}

/* From now on changes are refused (IO_FAILED with a sentence), and items do not expire, until it is
 * switched off. Those that were submitted before are carried out: when figures say that no change
 * waits, nothing is written any more. Any thread, does not wait. */
void engine_read_only(struct engine *engine, bool on);
/* The process is about to end. What is under way, and waits for something beyond this process, has
 * so many milliseconds left to succeed and fails then; later calls fail at once unless that
 * something answers. Any thread, does not wait. */
void engine_end_soon(struct engine *engine, unsigned grace_ms);
/* Finishes what was submitted, syncs, closes, frees. Nothing may be in use. */
void engine_close(struct engine *engine);

#endif
