/* The inside of the write side: the queue, the group that is being made, what was prepared.
 *
 * A change travels like this (README.md tells the story):
 *
 *   submitter   change_prepare()   find the tables, check, make keys, encode items to put
 *               post()             into the queue
 *   writer      group_add()        read what was there, decide, plan; later ones see earlier ones
 *   committer   group_commit()     one write to the store, then memory under `moment`
 *               done()
 *
 * Changes of tables are made one at a time, between groups.
 */
#ifndef GT_TABLE_LOCAL_WRITER_H
#define GT_TABLE_LOCAL_WRITER_H

#include "table/local/local_int.h"

struct backfill;
struct absent;

struct prepared;

/* --- what a group will do --- */

/* The last word on an item. */
struct effect {
    struct effect *next;
    uint64_t hash; /* of the key: local_hash() */
    struct bytes key;
    struct bytes value; /* data NULL: deleted */
    bool bulk;          /* one of very many: nobody is known to want it soon */
    bool quiet;         /* does not touch its partition */
};

/* Effects by their keys (overlay.c). Zero is empty. */
struct overlay {
    struct effect **slots;
    size_t room, count;
};
/* NULL if there is none. */
struct effect *overlay_get(const struct overlay *overlay, uint64_t hash, struct bytes key);
/* Adds one whose key is not there. */
void overlay_add(struct overlay *overlay, struct effect *effect);
void overlay_clear(struct overlay *overlay);
void overlay_release(struct overlay *overlay);

/* An index entry that goes, comes, or stays and changes its size. */
struct move {
    struct move *next;
    struct index *index;
    struct bytes del, put; /* empty: none */
    int64_t size_change;
};

/* How a table's counts change. */
struct tally {
    struct tally *next;
    struct table *table;
    int64_t count, size;
};

/* The token of a change that the group does. */
struct token_note {
    struct token_note *next;
    struct token token;
};

struct group {
    struct local *local;
    unsigned number;           /* 0 or 1: which of a table's tallies are its own */
    const struct group *below; /* the one before, until that is settled */
    struct failure failure;    /* of its commit */
    struct arena arena;        /* effects, moves, tallies, tokens */
    struct overlay overlay;
    struct effect *effects, **effects_end;
    struct move *moves, **moves_end;
    size_t move_count;
    struct tally *tallies;
    struct token_note *tokens, **tokens_end;
    struct map tokens_seen; /* token.name -> struct token_note */
    uint64_t tokens_keep;   /* those before this number go when it is committed */
    struct stream_bundle *bundles, **bundles_end;
    uint64_t sequence;                     /* the first record's */
    uint64_t record_count;                 /* in all bundles */
    struct change *changes, **changes_end; /* in the order they came */
    unsigned change_count;
    size_t action_count;      /* of all of them */
    unsigned writes;          /* actions that change something */
    size_t size;              /* bytes to be written */
    struct buf before, after; /* scratch for index entries and records */
};

void group_init(struct group *group, struct local *local, unsigned number);
void group_release(struct group *group);
/* Forgets what it came to, but not its changes. */
void group_clear(struct group *group);
/* `next`, which is empty, will follow on what this one came to. */
void group_follow(struct group *group, struct group *next);
static inline bool group_full(const struct group *group) {
    return group->change_count >= LIMIT_GROUP_WRITES || group->size >= LIMIT_GROUP_SIZE;
}
/* Whether the change may join: large ones do not pile up in one group, and one that decides must be
 * the first. */
static inline bool group_takes(const struct group *group, const struct change *change) {
    return group->change_count == 0 ||
           (!group_full(group) && change->decide == NULL &&
            group->action_count + change->action_count <= LIMIT_GROUP_ACTIONS);
}
/* Whether it came to nothing that has to be written. */
static inline bool group_idle(const struct group *group) {
    return group->effects == NULL && group->tokens == NULL;
}
/* Executes a CHANGE_WRITE against the store and what the group did before; its outcome is in the
 * change, but nobody may be told before the commit. */
void group_add(struct group *group, struct change *change);
/* Writes what the group came to and makes it visible. If the store refuses, each change has failed
 * and memory is as before. */
void group_commit(struct group *group);
/* After that, by the writer, and before it looks at the next group: forgets all but the changes. */
void group_settle(struct group *group);
/* Each change fails like that. */
void group_fail(struct group *group, const struct failure *failure);
/* The changes of the group, which then has none; linked by `next`. */
struct change *group_take(struct group *group);
/* An item's bytes as this group sees them, in the arena; NOT_FOUND. */
enum status group_read(struct group *group, const struct prepared *prepared, struct arena *arena,
                       struct bytes *out);

/* --- one action (prepare.c, action.c, plan.c) --- */

/* What the engine keeps with an action: made by action_prepare, completed by action_decide. */
struct prepared {
    struct table *table;               /* with a reference if it `holds` one: of several actions */
    bool holds;                        /* on a table the first does for all */
    struct table *before;              /* held for others since before it was prepared anew */
    const struct table_schema *schema; /* that it was checked against */
    struct bytes key;                  /* in the store, */
    uint64_t hash;                     /* and local_hash() of it */
    struct bytes value;                /* what will be stored; of a PUT from the beginning */
    struct bytes stored;               /* what was */
    size_t old_size, new_size;
    bool changes;       /* the item will be other than it was */
    bool stays;         /* there will be an item */
    bool refused;       /* by the submitter's own function */
    struct move *moves; /* in the group's arena */
};

static inline struct rules_context action_rules(struct change *change, struct action *action,
                                                const struct table_schema *schema) {
    return (struct rules_context){
        .schema = schema, .arena = change->arena, .failure = &action->failure};
}
/* An item as it is stored, in the arena. */
struct bytes action_encode(struct local *local, const struct item *item, struct arena *arena);
/* Checks the action against the table and encodes what can be. `holds`: the reference is given
 * away; else somebody else's lasts as long as the change. */
enum status action_prepare(struct local *local, struct change *change, struct action *action,
                           struct table *table, bool holds);
/* Reads the item, tests the condition, makes the new item and plans what it moves. Changes nothing
 * in the group. The fault is in action->failure. */
enum status action_decide(struct group *group, struct change *change, struct action *action);
/* Asks the memory for what action_decide will need: first for the place, then, a little later, for
 * what is there. */
void action_soon(struct local *local, const struct action *action);
static inline void action_sooner(struct local *local, const struct action *action) {
    cache_sooner(local->cache, ((const struct prepared *)action->engine_data)->hash);
}
/* Plans what a changed item moves in the table's trees: prepared->moves. */
enum status action_plan(struct group *group, struct change *change, struct action *action);
/* Reads the item and tells what that costs, for a change that was done before. */
void action_look(struct group *group, struct change *change, struct action *action);
/* Gives back what action_prepare holds. */
void change_release(struct change *change);
/* INVALID if it has too many actions to be looked at. */
enum status change_check_count(struct change *change);
/* Prepares all actions of a change; if it cannot, change->failure says why. */
enum status change_prepare(struct local *local, struct change *change);

/* --- tables (tables.c, alter.c): the writer's --- */

/* Executes and commits one change of a table; the outcome is in the change. */
void tables_execute(struct local *local, struct change *change);
/* The table the change names, or NULL and NO_TABLE in change->failure. */
struct table *tables_find(struct local *local, struct change *change);
/* Writes the batch; on failure change->failure is set and memory must stay as it is. */
enum status tables_write(struct local *local, struct change *change, struct store_batch *batch);

/* What takes the place of a table's schema and dates. */
struct replacement {
    struct table *table;
    const struct table_schema *schema; /* borrowed: the table keeps a copy */
    const struct table_description *about;
    int dropped; /* which index goes, or -1 */
    bool adds;   /* the last index of the schema is new: it will be built in the background */
};
/* Commits a new schema, makes it the table's and describes the table in the change. */
enum status tables_replace(struct local *local, struct change *change,
                           const struct replacement *with);
enum status alter_table(struct local *local, struct change *change);

/* --- adding an index while work goes on (backfill.c) --- */

/* Starts building table->indexes[last] from the store as it stands. The writer's. */
void backfill_start(struct local *local, struct table *table, struct index *index);
/* Tells the build of this index to end; its result will be thrown away. */
void backfill_cancel(struct local *local, const struct index *index);
/* Whether one of the table's indexes is being built; the tree of times does not count. */
bool backfill_runs(const struct local *local, const struct table *table);
/* Ends all builds, waits for them and forgets them. */
void backfill_stop_all(struct local *local);
/* Makes each finished build part of its table. */
void backfill_finish(struct local *local);

/* --- after a failed write (recover.c) --- */

/* Reopens the store and rebuilds memory from it, if it is time to try. IO_FAILED if not. */
enum status writer_recover(struct local *local);

/* --- items whose time has come (expiry.c) --- */

/* A writer_job: takes away a batch of them. */
int64_t expiry_run(struct local *local);
/* All of them, for CHANGE_EXPIRE. */
enum status expiry_run_all(struct local *local, struct change *change);

/* --- the writer ---
 *
 * Two threads. The writer decides: it fills a group with what waits. The committer commits: it
 * brings a large group to the disk and makes it visible (small ones the writer commits itself: to
 * wake a thread costs more). While it does, the writer fills the next group,
 * which follows on what the one before came to (`below`), committed or not. If that one fails, so
 * do all of the next. There are never more than these two.
 *
 * All else (tables, decisions, what goes by the clock, recovery) is done by the writer while
 * nothing is being committed. So what "the writer's" things are is told by who holds the group: the
 * committer from the time it is handed over until it is done, then the writer again. */

enum commit_state { COMMIT_NONE, COMMIT_HANDED, COMMIT_DONE };

struct writer {
    pthread_t thread, committer;
    pthread_mutex_t lock;
    pthread_cond_t wake; /* the writer, */
    pthread_cond_t work; /* and the committer */
    /* under lock */
    struct change *first, **last;
    size_t queued;            /* how many these are, */
    size_t wake_at;           /* and how many are worth waking the writer for; 0: it is awake */
    bool finished;            /* a build is */
    bool stopping, ending;    /* the writer is to end; the committer is */
    enum commit_state commit; /* of `committing` */
    atomic_uint waiting;      /* changes submitted and not yet done, */
    atomic_size_t waiting_actions; /* and their actions */

    /* the thread's own */
    struct group groups[2];
    struct group *filling;
    struct group *committing; /* handed over and not yet settled, or NULL */
    struct change *taken, **taken_end;
    struct absent *absent;   /* what is known not to be there (absent.h) */
    struct backfill *builds; /* running or finished, not yet forgotten */
    bool syncs;              /* a commit waits for the disk */
    unsigned last_count;     /* changes in the last group */
    int64_t retry_at_us;     /* no recovery before */
    int64_t tick_at_us;      /* no job before */
    uint32_t expired_table;  /* whose items went last: others come first */
    bool stale;              /* memory may disagree with the store: a recovery was not finished */
};

/* Tells the submitter. Either thread. */
void writer_finish(struct writer *writer, struct change *change);

/* The committer's (committer.c). Ended by writer->ending. */
bool committer_start(struct local *local);
void committer_end(struct writer *writer);

/* From a build's thread: it is finished. */
void writer_post_finished(struct writer *writer);

/* --- what the writer does by the clock (tick.c) ---
 *
 * A job runs on the writer's thread between groups, never while the store is broken. It does a
 * bounded step and returns after how many microseconds it wants to run again: 0 is at once, after
 * what waits; at most TICK_MAX_US. */
enum { TICK_MAX_US = 1000 * 1000 };
typedef int64_t writer_job(struct local *local);

/* Runs the jobs that are due. */
void writer_tick(struct local *local);

#endif
