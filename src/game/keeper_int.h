/* The keeper's parts; private to this folder. */
#ifndef GT_GAME_KEEPER_INT_H
#define GT_GAME_KEEPER_INT_H

#include "game/board.h"
#include "game/keeper.h"
#include "table/stream.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- what is due when (keeper_due.c): a heap, the earliest first --- */

struct due {
    int64_t at_ms;
    struct bytes instance; /* on the heap */
};

struct dues {
    struct due *at;
    size_t count, room;
};

/* Copies the name. The same one may stand there several times. */
void dues_add(struct dues *dues, int64_t at_ms, struct bytes instance);
/* Takes the earliest that is due by then; its name goes to the arena. False: there is none. */
bool dues_take(struct dues *dues, int64_t now_ms, struct arena *arena, struct bytes *instance);
/* INT64_MAX: nothing is. */
int64_t dues_next(const struct dues *dues);
void dues_release(struct dues *dues);

/* --- the keeper --- */

/* How far the stream was read, by shard. */
struct stats_position {
    bool stored; /* there is an item of it */
    int64_t label_ms;
    uint64_t at[STREAM_SHARDS];
};

struct keeper_reader {
    struct stats_position stored; /* as the table has it: what is counted begins there */
    bool loaded;
    bool ended;                 /* that stream was read to its end */
    uint64_t at[STREAM_SHARDS]; /* how far it was read here; not before `stored` */
    uint64_t gaps;              /* not stored yet */
    int64_t stored_us;          /* when it was last written, by clock_ticks_us() */
};

/* A board that is being cleared, and when that was last seen to move. */
struct clearing_note {
    struct bytes instance; /* on the heap */
    uint64_t touched;
    int64_t since_us;
};
enum { CLEARING_NOTES = 50 };

struct keeper {
    struct game *game;
    pthread_t thread;
    pthread_mutex_t lock; /* of `wake` */
    pthread_cond_t wake;
    atomic_bool stopping;
    pthread_mutex_t work; /* held by whoever does what is due; guards all below */
    struct dues dues;
    bool walk; /* all instances are to be looked at again */
    struct keeper_reader reader;
    bool looked; /* for clearing, at least once */
    struct clearing_note clearing[CLEARING_NOTES];
    size_t clearing_count;
    struct arena arena;
    struct keeper_figures figures;
};

static inline bool keeper_stopping(struct keeper *keeper) {
    return atomic_load_explicit(&keeper->stopping, memory_order_relaxed);
}

/* Without its thread: keeper_run() does all, in tests step by step. */
struct keeper *keeper_new(struct game *game);
void keeper_free(struct keeper *keeper);

/* Notes when the instance of this item next needs something, if it ever does. */
void keeper_watch(struct keeper *keeper, const struct item *state);

/* --- periods, lives, clearing (keeper_boards.c) --- */

/* Looks at all instances of a board (empty: of all). */
enum status keeper_walk(struct keeper *keeper, struct bytes board);
/* Does what is due of boards by now. */
void keeper_boards(struct keeper *keeper);

/* States in the second index's partition, those before `before` (empty: all); in keeper->arena. */
enum status keeper_by_index(struct keeper *keeper, struct bytes partition, struct bytes before,
                            uint32_t limit, struct page_reply *out);
enum status keeper_clear(struct keeper *keeper, const struct board *board, struct failure *failure);
/* Takes away an instance whose time is up, if it still is as it was found. */
enum status keeper_end(struct keeper *keeper, const struct board *board, struct failure *failure);
/* Goes on with clearing that nobody is at (keeper_clearing.c). */
enum status keeper_clearing(struct keeper *keeper);
void keeper_forget_clearing(struct keeper *keeper);

/* --- the final standings in an instance's item (keeper_final.c) --- */

enum { FINAL_ROWS = 10 };
/* Seals the instance if nobody has: OK also then. Waits for the commit. *sealed: it was us. */
enum status keeper_seal(struct game *game, const struct board *board, struct arena *arena,
                        struct failure *failure, bool *sealed);
/* Whether the instance's item names the member among its first. */
bool keeper_final_has(const struct item *state, struct bytes member);
/* The action that takes its name out of them. The rank and the score stay. */
void keeper_final_forget(struct game *game, const struct item *state, struct bytes member,
                         struct arena *arena, struct action *out);

/* --- the stream (keeper_stream.c), and what it adds to stats (keeper_stats.c) --- */

/* Reads what is new. */
void keeper_read(struct keeper *keeper);

/* Fills in the actions that add the plays among the records to their players' stats. Returns how
 * many plays there are. Records before `from` have been counted. */
struct stats_batch {
    struct action *actions;
    size_t action_count;
    size_t plays;
};
void stats_prepare(struct game *game, const struct stream_record *records, size_t count,
                   uint64_t from, struct arena *arena, struct stats_batch *out);

#endif
