/* The inside of the write side: the queue, the commit group that is being filled, and what is known
 * of each action.
 *
 * A change travels like this (README.md tells the story):
 *
 *   the submitter       change_admit()          finds tables, checks, makes keys, encodes items
 *                                               to put; then the change goes into the queue
 *   the writer thread   commit_group_add()      reads what was there, tests conditions, plans
 *                                               index edits; later changes see earlier ones
 *   the commit thread   commit_group_commit()   one write to the store, then memory under
 *                                               `state_lock`; then done() of each change
 *
 * Changes of tables are made one at a time, between groups.
 */
#ifndef GT_TABLE_LOCAL_WRITER_H
#define GT_TABLE_LOCAL_WRITER_H

#include "table/local/covering.h"
#include "table/local/local_int.h"
#include "table/local/writer_place.h"

struct backfill;
struct load_filter;

struct action_state;

/* --- what a group will do --- */

/* What will be stored of an item when its group is committed: the last of the group's writes. */
struct pending_write {
    struct pending_write *next;
    uint64_t hash; /* of the key: local_hash() */
    struct bytes key;
    struct bytes value; /* data NULL: deleted */
    bool bulk;          /* one of very many, which should not push others out of the cache */
    bool covered;       /* an index entry says all of it: the cache does not keep it (covering.h) */
    bool keeps_version; /* its partition's version is not raised: subscribers are not woken */
};

/* A group's pending writes by their keys: a hash table with linear probing, through which the
 * writer sees what is decided but not yet stored. The writes are the group's. Zero is empty. */
struct overlay {
    struct pending_write **slots;
    size_t room, count;
};

/* An index entry that goes, comes, or stays and changes its size. */
struct index_edit {
    struct index_edit *next;
    struct index *index;
    struct bytes del, put; /* empty: none */
    bool covers;           /* the entry to put covers its item (covering.h) */
    int64_t size_change;
};

/* How a table's counts change. */
struct tally {
    struct tally *next;
    struct table *table;
    int64_t count, size;
};

/* Ranks that an action asks for (struct action_ranks), and which edits of the group are its own.
 */
struct rank_ask {
    struct rank_ask *next;
    struct action_ranks *ranks;
    struct table *table;
    const struct index *index;
    struct bytes before, after; /* the item's entry in the index; empty: none */
    struct bytes partition;     /* what the entries of its partition begin with; empty: not known */
    size_t first_edit, end_edit; /* its own edits, counted from the group's first */
};

/* The token of a change that the group does. */
struct token_note {
    struct token_note *next;
    struct token token;
};

struct commit_group {
    struct local *local;
    unsigned number;                  /* 0 or 1: which of a table's two tallies it uses */
    const struct commit_group *below; /* the group before it, until that is settled */
    struct failure failure;           /* of its commit */
    struct arena arena;               /* of pending writes, edits, tallies, tokens */
    struct overlay overlay;
    struct pending_write *pending_writes, **pending_writes_end;
    struct index_edit *edits, **edits_end;
    size_t edit_count;
    struct rank_ask *asks, **asks_end; /* in the order of the actions */
    size_t ask_count;
    struct tally *tallies;
    struct token_note *tokens, **tokens_end;
    struct map tokens_seen; /* token.name -> struct token_note */
    uint64_t tokens_keep;   /* those before this number go when it is committed */
    struct stream_bundle *bundles, **bundles_end;
    uint64_t sequence;                     /* the first record's */
    uint64_t record_count;                 /* in all bundles */
    int64_t created_ms;                    /* of the records */
    struct change *changes, **changes_end; /* in the order they came */
    unsigned change_count;
    size_t action_count;       /* of all of them */
    size_t yielded;            /* and of those that yield; */
    size_t large;              /* the bytes of these changes, as far as they were known before */
    unsigned writes;           /* actions that change something */
    size_t size;               /* bytes to be written */
    struct buf before, after;  /* scratch for index entries and records */
    struct store_batch *batch; /* empty but while it is written; NULL: none was made yet */
    size_t arena_most;         /* bytes that one of the last groups used, */
    unsigned arena_uses;       /* and how many groups those are */
};

void commit_group_init(struct commit_group *group, struct local *local, unsigned number);
void commit_group_release(struct commit_group *group);
/* Forgets everything that was planned, but not the changes. */
void commit_group_clear(struct commit_group *group);
/* `next`, which is empty, will be filled on top of this group's pending writes. */
void commit_group_follow(struct commit_group *group, struct commit_group *next);
static inline bool commit_group_full(const struct commit_group *group) {
    return group->change_count >= LIMIT_GROUP_WRITES || group->size >= LIMIT_GROUP_SIZE;
}
/* Whether the change may join: large ones do not pile up in one group, and one with `prepare` must
 * be the first. */
static inline bool commit_group_takes(const struct commit_group *group,
                                      const struct change *change) {
    return group->change_count == 0 ||
           (!commit_group_full(group) && change->prepare == NULL &&
            group->action_count + change->action_count <= LIMIT_GROUP_ACTIONS);
}
/* Whether one that yields may join: they have `most` actions and LIMIT_GROUP_LARGE bytes of a group
 * at most, or are one. */
static inline bool commit_group_takes_yielding(const struct commit_group *group,
                                               const struct change *change, size_t most) {
    return commit_group_takes(group, change) &&
           (group->yielded == 0 || (group->yielded + change->action_count <= most &&
                                    group->large + change->all_bytes <= LIMIT_GROUP_LARGE));
}
/* Whether there is nothing to write to the store. */
static inline bool commit_group_writes_nothing(const struct commit_group *group) {
    return group->pending_writes == NULL && group->tokens == NULL;
}
/* Whether there is nothing to write, and nobody asks for ranks either. */
static inline bool commit_group_idle(const struct commit_group *group) {
    return commit_group_writes_nothing(group) && group->asks == NULL;
}
/* Executes a CHANGE_WRITE against the store and what the group did before; its outcome is in the
 * change, but nobody may be told before the commit. */
void commit_group_add(struct commit_group *group, struct change *change);
/* The same of one that yields. */
void commit_group_add_yielding(struct commit_group *group, struct change *change);
/* Writes the group to the store, and then makes it visible in memory. If the store refuses, each
 * change has failed and memory is as before. On the commit thread, or on the writer's. */
void commit_group_commit(struct commit_group *group);
/* Called after that by the writer, before it looks at the next group: forgets all but the changes.
 */
void commit_group_settle(struct commit_group *group);
/* Fails each change of the group with that failure. */
void commit_group_fail(struct commit_group *group, const struct failure *failure);
/* The changes of the group, which then has none; linked by `next`. */
struct change *commit_group_take_changes(struct commit_group *group);
/* An item's bytes as this group sees them, in the arena; NOT_FOUND. If an index entry covers the
 * item they are empty, and state->index and state->entry say what it is. */
enum status commit_group_read(struct commit_group *group, struct action_state *state,
                              struct arena *arena, struct bytes *out);

/* --- one action (admit.c, action_evaluate.c, index_edits.c) --- */

/* What the engine keeps with an action: made by action_admit, completed by action_evaluate. */
struct action_state {
    struct table *table;               /* with a reference if it `holds` one: of several actions */
    bool holds;                        /* on a table the first does for all */
    struct table *before;              /* the table it held before it was admitted again, on which
                                          later actions may rely; NULL: none */
    const struct table_schema *schema; /* that it was checked against */
    struct bytes key;                  /* the item's key in the store, */
    uint64_t hash;                     /* and local_hash() of it */
    struct bytes value;                /* what will be stored; of a PUT from the beginning */
    struct bytes stored;               /* what is stored before it; empty if it was covered */
    /* What the covering index of the table says of the item (covering.h): looked up ahead, while
     * the writer's `fills` stood at `looked_at`. */
    uint64_t looked_at;
    struct index *index;      /* the covering index, or NULL */
    struct bytes entry;       /* that covers the item before the action; empty: none */
    struct bytes entry_after; /* that covers the item after it; empty: none, or not made yet */
    size_t old_size, new_size;
    bool changes;             /* the item will be other than it was */
    bool stays;               /* there will be an item */
    bool covered;             /* which an entry of the covering index will cover */
    bool uncovered;           /* action->uncovered */
    bool absent;              /* a filter excludes the item before the action */
    bool same_keys;           /* no key of the table or of an index is other than it was, */
    bool differs;             /* but another attribute is known to be */
    bool refused;             /* by the submitter's own function */
    struct index_edit *edits; /* in the group's arena */
};

static inline struct rules_context action_rules(struct change *change, struct action *action,
                                                const struct table_schema *schema) {
    return (struct rules_context){
        .schema = schema, .arena = change->arena, .failure = &action->failure};
}
/* An item as it is stored, in the arena. */
struct bytes action_encode(struct local *local, const struct item *item, struct arena *arena);
/* How many bytes an action that was admitted moves, as far as is known (large_items.h). */
size_t action_bytes(const struct local *local, const struct action *action);
/* Checks the action against the table, makes its key and encodes the item of a put. The action's
 * state is there afterwards, whatever came of it. It borrows the table: a caller that gives its own
 * reference away sets `holds` of the state, else somebody else's lasts as long as the change. */
enum status action_admit(struct local *local, struct change *change, struct action *action,
                         struct table *table);
/* Whether the change, which was admitted, is carried out in several commits (change_parts.c). */
bool change_is_divided(const struct change *change);
/* Does that: submits its first part. */
void change_send_parts(struct local *local, struct change *change);
/* Reads the item, tests the condition, makes the new item and plans its index edits. Changes
 * nothing in the group. The fault is in action->failure. On the writer's thread. */
enum status action_evaluate(struct commit_group *group, struct change *change,
                            struct action *action);
/* INVALID if the new item, made by a function, is another than the action's. */
enum status action_check_same_key(struct change *change, struct action *action);
/* Prefetch what action_evaluate() will read: first the slots of the cache and of the load filter,
 * and a little later the cached item. */
void action_prefetch(struct local *local, const struct action *action);
void action_prefetch_item(struct local *local, const struct action *action);
/* Looks up ahead which of these are covered by an index entry; their states are there. At most
 * COVERING_MANY of them. `arenas` are those of their changes. */
struct covering_batch {
    struct action_state *states[COVERING_MANY];
    struct arena *arenas[COVERING_MANY];
    size_t count;
};
void action_look_ahead(struct local *local, const struct covering_batch *batch);
/* The bytes of the item before the action, which there is, as they are stored; in the arena. */
struct bytes action_stored(struct local *local, const struct action *action, struct arena *arena);
/* Plans the edits of the table's index trees that a changed item needs: the state's `edits`. */
enum status action_plan_edits(struct commit_group *group, struct change *change,
                              struct action *action);
/* Reads the item and tells what that costs, for a change that was done before. */
void action_read_again(struct commit_group *group, struct change *change, struct action *action);
/* Gives back what action_admit holds. */
void change_release(struct change *change);
/* INVALID if it has too many actions to be looked at. */
enum status change_check_count(struct change *change);
/* Prepares all actions of a change; if it cannot, change->failure says why. */
enum status change_admit(struct local *local, struct change *change);

/* --- rules of tables' owners (write_rules.c): on the writer's thread --- */

/* An action that a rule, or an action's own function, added to a change: a list from
 * change->engine_data on. */
struct rule_action {
    struct rule_action *next;
    struct action action;
    struct action *cause;      /* the client's write that it goes with */
    struct rule_compute *each; /* what `action` computes, if it may be several */
};
/* Borrows the rules until they are dropped. */
void write_rules_add(struct local *local, struct write_rules *rules);
void write_rules_drop(struct local *local, const struct write_rules *rules);
/* Asks the rule for the action's partition, if there is one: it may refuse, change action->new and
 * what is stored of it, and add actions to the change, for write_rules_finish(). */
enum status write_rules_apply(struct commit_group *group, struct change *change,
                              struct action *action);
/* Adds action->also to the change, likewise. */
enum status write_rules_add_also(struct commit_group *group, struct change *change,
                                 struct action *action);
/* Evaluates what rules added to a change, once all its own actions are. False if one is refused:
 * then the action that it went with says why. */
bool write_rules_finish(struct commit_group *group, struct change *change);
/* Whether the action is of a kind that rules are asked about. */
static inline bool write_rules_concern(const struct commit_group *group,
                                       const struct change *change, const struct action *action) {
    return group->local->write_rules != NULL && action->kind <= ACTION_DELETE &&
           !action->by_owner && !action->expired && !change->loading;
}

/* --- ranks as of the commit (commit_ranks.c) --- */

/* Notes what an action that was evaluated asks for. On the writer's thread, while the group is
 * filled. */
struct rank_ask *rank_ask_add(struct commit_group *group, const struct action *action);
/* Fills in where the item stands before or after the action, by the trees as they are now. The
 * caller holds state_lock. */
void rank_ask_count(struct commit_group *group, const struct rank_ask *ask, bool after);
/* Counts what stands on either side of an entry, in the index as it is now; the caller holds
 * state_lock. False if it cannot be told without waiting. (rank_lookup.c) */
bool rank_lookup_entry(struct commit_group *group, const struct rank_ask *ask, struct bytes entry,
                       struct rank_reply *out);
/* How many entries of the index begin with the prefix. The caller holds state_lock. */
uint64_t rank_lookup_total(const struct index *index, struct bytes prefix);

/* --- tables (table_ddl.c, table_alter.c): on the writer's thread --- */

/* Executes and commits one change of a table; the outcome is in the change. */
void table_ddl_execute(struct local *local, struct change *change);
/* The table the change names, or NULL and NO_TABLE in change->failure. */
struct table *table_ddl_find(struct local *local, struct change *change);
/* Writes the batch; on failure change->failure is set and memory must stay as it is. */
enum status table_ddl_write(struct local *local, struct change *change, struct store_batch *batch);

/* A new schema and description for a table. */
struct schema_replacement {
    struct table *table;
    const struct table_schema *schema; /* borrowed: the table keeps a copy */
    const struct table_description *about;
    int dropped; /* which index goes, or -1 */
    bool adds;   /* the last index of the schema is new: it will be built in the background */
};
/* Commits a new schema, makes it the table's and describes the table in the change. */
enum status table_ddl_replace(struct local *local, struct change *change,
                              const struct schema_replacement *with);
enum status alter_table(struct local *local, struct change *change);

/* --- adding an index while work goes on (index_backfill.c) --- */

/* Starts a thread that builds the index from a snapshot of the store taken now. These are called on
 * the writer's thread, or when it has ended. */
void backfill_start(struct local *local, struct table *table, struct index *index);
/* Tells the build of this index to end; its result will be thrown away. */
void backfill_cancel(struct local *local, const struct index *index);
/* Whether one of the table's indexes is being built; the expiry tree is left out. */
bool backfill_runs(const struct local *local, const struct table *table);
/* Ends all builds, waits for them and forgets them. */
void backfill_stop_all(struct local *local);
/* Makes each finished build part of its table. */
void backfill_finish(struct local *local);

/* --- after a failed write (recover.c) --- */

/* Reopens the store and rebuilds memory from it, if it is time to try. IO_FAILED if not. */
enum status writer_recover(struct local *local);

/* --- items whose time has come (item_expiry.c) --- */

/* A writer_job: deletes a batch of expired items. */
int64_t expiry_run(struct local *local);
/* Deletes all that have expired, for CHANGE_EXPIRE. */
enum status expiry_run_all(struct local *local, struct change *change);

/* --- the writer ---
 *
 * Group commit with two threads. The writer thread evaluates: it fills a group with the changes
 * that wait. The commit thread brings a large group to the disk and makes it visible; a small one
 * the writer commits itself, since waking a thread costs more. While a group is being committed the
 * writer fills the next one on top of its pending writes (`below`), and if the commit fails, all of
 * the next group fails too. There are never more than these two groups.
 *
 * Changes that yield (change.h) have a queue of their own, and large ones that give way are put
 * there when their turn comes, with all that their source has submitted after them. Each group
 * begins with few of them, so that they get on however much others write, and others wait for no
 * more than those few.
 *
 * Everything else (changes of tables, changes with `prepare`, periodic jobs, recovery) is done by
 * the writer while nothing is being committed. So a group, and what is said to be the writer's, is
 * used by one thread at a time: by the commit thread from the time the group is handed over until
 * it is COMMIT_DONE, by the writer otherwise. */

enum commit_state { COMMIT_NONE, COMMIT_HANDED, COMMIT_DONE };

struct writer {
    pthread_t thread, commit_thread;
    pthread_mutex_t lock;
    pthread_cond_t wake; /* what the writer thread waits for */
    pthread_cond_t work; /* what the commit thread waits for */
    /* under lock */
    struct change *first, **last;
    struct change *yielding_first, **yielding_last; /* those that yield are apart */
    struct submissions submitted; /* since the writer looked last (writer_place.h) */
    size_t queued;                /* how many the others are, */
    size_t wake_at;               /* and how many are worth waking the writer for; 0: it is awake */
    bool finished;                /* the build of an index has finished */
    atomic_bool read_only;        /* changes are refused, and nothing expires */
    bool stopping, ending;        /* the writer thread is to end; the commit thread is */
    enum commit_state commit;     /* of `committing` */
    atomic_uint waiting;          /* changes submitted and not yet done, */
    atomic_size_t waiting_actions; /* and their actions */

    /* used by the writer thread only */
    struct commit_group groups[2];
    struct commit_group *filling;
    struct commit_group *committing; /* handed over and not yet settled, or NULL */
    struct change *taken, **taken_end;
    struct change *yielding, **yielding_end; /* taken, too, but of those that yield */
    bool yields_next;  /* one that yields goes before the next change that goes alone */
    int64_t others_us; /* when one that does not yield was taken the last time */
    bool behind;       /* the store is: those that yield wait, so that others need not */
    bool others_went;  /* since the last change that yields and goes alone */
    struct load_filter *load_filter; /* (load_filter.h) */
    uint64_t fills;                  /* how often a group was added to; from 1 on */
    struct backfill *builds;         /* running or finished, not yet forgotten */
    bool syncs;                      /* a commit waits for the disk */
    unsigned commit_thread_from;     /* changes or actions that are worth the commit thread */
    int64_t retry_at_us;             /* no recovery before */
    int64_t jobs_at_us;              /* no job before */
    uint32_t expired_table;          /* whose items went last: others come first */
    struct writer_place place;
    bool stale; /* memory may disagree with the store: a recovery was not finished */
};

/* Queues a part of a change that was queued (change_parts.c). Any thread. */
void queue_send_part(struct writer *writer, struct change *part);
/* Calls the change's done(). On either thread. */
void writer_finish(struct writer *writer, struct change *change);
/* The same for a list of them. */
void writer_finish_all(struct writer *writer, struct change *changes);

/* Called on the thread of an index build that has finished: wakes the writer. */
void writer_post_finished(struct writer *writer);

/* --- periodic jobs (`jobs` in writer.c) ---
 *
 * A job runs on the writer's thread between groups, never while the store is broken. It does a
 * bounded step and returns after how many microseconds it wants to run again: 0 is at once, after
 * what waits; at most JOB_WAIT_MAX_US. */
enum { JOB_WAIT_MAX_US = 1000 * 1000 };
typedef int64_t writer_job(struct local *local);

#endif
