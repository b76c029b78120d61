/* What the parts of housekeeping share; private to game. Unless a function says otherwise it is
 * called on the thread that holds housekeeping->work. */
#ifndef GT_GAME_HOUSEKEEPING_INT_H
#define GT_GAME_HOUSEKEEPING_INT_H

#include "game/board/board.h"
#include "game/housekeeping.h"
#include "table/table_stream.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- due times of instances (board/due_heap.c): a binary heap, the earliest first --- */

struct due_entry {
    int64_t at_ms;
    struct bytes instance; /* its name; owned by the heap */
};

struct due_heap {
    struct due_entry *at;
    size_t count, room; /* entries in use, and allocated */
};

/* Copies the name. An instance may be in the heap several times. */
void due_heap_push(struct due_heap *dues, int64_t at_ms, struct bytes instance);
/* Removes the earliest entry that is due by now_ms and copies its name to the arena. False if there
 * is none. */
bool due_heap_pop(struct due_heap *dues, int64_t now_ms, struct arena *arena,
                  struct bytes *instance);
/* When the earliest entry is due; INT64_MAX if there is none. */
int64_t due_heap_next_ms(const struct due_heap *dues);
void due_heap_release(struct due_heap *dues);

/* --- the state of housekeeping --- */

/* A position in the table's stream. */
struct housekeeping_position {
    bool stored; /* the table has an item with it */
    int64_t
        label_ms; /* which stream: a table gets a new one when its stream is switched on again */
    uint64_t at[STREAM_SHARDS_MAX]; /* the next sequence number of each shard */
};

struct housekeeping_reader {
    struct housekeeping_position
        stored;                     /* as the table has it: plays before it have been counted */
    bool loaded;                    /* `stored` has been read */
    bool ended;                     /* that stream was read to its end */
    uint64_t at[STREAM_SHARDS_MAX]; /* how far this process has read; not before `stored` */
    uint64_t gaps;                  /* not stored yet */
    int64_t stored_us;              /* when the position was last written, by clock_ticks_us() */
};

/* A board that is being cleared, and since when its partition has not changed: if that is long ago,
 * whoever began has stopped, and housekeeping goes on with it. */
struct clearing_note {
    struct bytes instance; /* its name, allocated */
    uint64_t partition_version;
    int64_t since_us; /* by clock_ticks_us() */
};
enum { CLEARING_NOTES = 50 };

struct housekeeping {
    struct game *game;
    pthread_t thread;
    pthread_mutex_t lock; /* goes with `wake` */
    pthread_cond_t wake;
    atomic_bool stopping;
    pthread_mutex_t work; /* held during housekeeping_run(); guards everything below */
    struct due_heap dues;
    bool has_garbage; /* there is more of it (keyspace/key_garbage.h) than it took away in its time
                       */
    bool rescan;      /* the due times of all instances have to be read again */
    struct housekeeping_reader reader;
    bool clearing_checked; /* interrupted clearing was looked for at least once */
    struct clearing_note clearing[CLEARING_NOTES];
    size_t clearing_count;
    int64_t number;      /* random: tells this server from others that share the table */
    bool finders_filled; /* players of earlier versions can be found (player_finders.h) */
    struct arena arena;
    struct housekeeping_counters counters;
};

static inline bool housekeeping_is_stopping(struct housekeeping *housekeeping) {
    return atomic_load_explicit(&housekeeping->stopping, memory_order_relaxed);
}

/* Makes one without a thread, for tests that call housekeeping_run() step by step. */
struct housekeeping *housekeeping_new(struct game *game);
void housekeeping_free(struct housekeeping *housekeeping);

/* Puts the instance into the heap of due times, if it is ever to be sealed or removed. `state` is
 * its item. */
void housekeeping_schedule(struct housekeeping *housekeeping, const struct item *state);

/* --- sealing, removing, clearing boards (board/housekeeping_boards.c) --- */

/* Schedules all instances of a board; of all boards if the name is empty. */
enum status housekeeping_scan_boards(struct housekeeping *housekeeping, struct bytes board);
/* Seals, removes and clears the boards that are due by now. */
void housekeeping_run_boards(struct housekeeping *housekeeping);

enum status housekeeping_clear_board(struct housekeeping *housekeeping, const struct board *board,
                                     struct failure *failure);
/* Removes an instance whose lifetime has ended, if it has not been changed since it was read. */
enum status housekeeping_remove_board(struct housekeeping *housekeeping, const struct board *board,
                                      struct failure *failure);
/* Resumes clearing that was begun and that nobody goes on with. */
enum status housekeeping_resume_clearing(struct housekeeping *housekeeping);
void housekeeping_free_clearing(struct housekeeping *housekeeping);

/* --- the final standings in an instance's item (board/board_seal.c) --- */

enum { FINAL_ROWS = 10 };
/* Whether the final standings in the instance's item name the member. */
bool board_final_has(const struct item *state, struct bytes member);
/* The action that takes the member out of them, until they are computed anew. */
struct action board_final_forget_action(struct game *game, const struct item *state,
                                        struct bytes member, struct arena *arena);

/* Sealed boards whose entries were hidden, shown, renamed or erased: their final standings are
 * computed anew, so that these agree with the entries. Used on one thread, which may block. */
struct board_finals {
    struct game *game;
    struct arena *arena;
    struct failure *failure;
    const struct board **boards; /* filled in by board_finals_open(): those that are sealed */
    size_t count;
};
/* Finds the sealed ones among boards by their partitions (BOARD#<instance>). Whatever it answers,
 * board_finals_close() follows. */
enum status board_finals_open(struct board_finals *finals, const struct bytes *partitions,
                              size_t count);
bool board_finals_has(const struct board_finals *finals, struct bytes partition);
/* Writes the total and the first ten as they are now, where that differs from what is there; all in
 * one commit that reads and writes in one step. Waits for it. */
enum status board_finals_refresh(struct board_finals *finals);
void board_finals_close(struct board_finals *finals);

/* --- the stream (housekeeping_stream.c), and stats (player/player_stats.c) --- */

/* Reads and handles the stream's new records. */
void housekeeping_read_stream(struct housekeeping *housekeeping);

/* Records of the stream, and what they add to stats. The caller fills in the first three. */
struct player_stats_batch {
    const struct stream_record *records; /* borrowed until the change is done */
    size_t record_count;
    uint64_t from;          /* records before this sequence number have been counted */
    struct action *actions; /* by player_stats_prepare(), in its arena */
    size_t action_count;
    size_t plays; /* how many the actions count */
};
/* Makes the actions that add the plays among the records to their players' stats. */
void player_stats_prepare(struct game *game, struct player_stats_batch *batch, struct arena *arena);

/* When the position in the stream is stored although there were no plays: so many records were
 * passed, but not more often than in so long, or after so long. Its item is far from those of a
 * board in the order of keys: one in each of the tables that a load writes makes each of them cross
 * all others, so that none can stay as it is when they are merged. */
#define HOUSEKEEPING_STORE_RECORDS  UINT64_C(500000)
#define HOUSEKEEPING_STORE_APART_US (INT64_C(30) * 1000 * 1000)
#define HOUSEKEEPING_STORE_AFTER_US (INT64_C(60) * 60 * 1000 * 1000)
bool housekeeping_position_is_late(uint64_t passed, int64_t since_us);

#endif
