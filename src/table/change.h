/* Changing things: writes of items with conditions, transactions, and what is done to tables.
 *
 * Anything that changes data is a `struct change`. It is submitted, from any thread, and comes back
 * through its `done`, once, on a thread of the engine's or on the submitter's. An embedded engine
 * only queues it here; where engine_may_block() (engine.h), submitting may take as long as a
 * network does. A write that is reported as done is durable as far as the engine was told to be.
 */
#ifndef GT_TABLE_CHANGE_H
#define GT_TABLE_CHANGE_H

#include "table/items.h"
#include "table/tables.h"

enum action_kind {
    ACTION_PUT,
    ACTION_UPDATE,
    ACTION_DELETE,
    ACTION_CHECK,
    ACTION_COMPUTE, /* the item after is worked out from the item before, by a function */
};

struct action;
struct action_ranks;
/* Works out the item that follows on `old` (count 0: there is none). It must be pure but for
 * action->user, and quick: it runs on the engine's thread, and may run more than once, the last
 * time counts. *new starts as `old`; left so, nothing is written; emptied, the item is deleted.
 * `new` and what it refers to live in the arena. Anything but OK is the action's fault, with the
 * text in action->failure. */
typedef enum status action_compute(struct action *action, const struct item *old,
                                   struct arena *arena, struct item *new);

/* One item's part of a write. */
struct action {
    enum action_kind kind;
    struct bytes table;
    struct item item;                  /* PUT: the item; else the key */
    const struct condition *condition; /* NULL: none */
    const struct update *update;       /* UPDATE; NULL: touch (makes the item if it is absent) */
    action_compute *compute;           /* COMPUTE; `item` is the key, which `new` must keep */
    void *user;                        /* for the submitter's use */
    bool expired;                      /* DELETE: by the engine itself, because it has expired */
    bool keeps_version;                /* the partition's version need not be raised for it */
    /* COMPUTE: if it leaves its item as it is, the rest of the change does not hang on that. An
     * engine that reads first and commits later then need not check in the commit that the item is
     * still as it was, which may save it a transaction; one that evaluates in the commit ignores
     * it. */
    bool unchecked;
    /* COMPUTE: an action on another item of the table that the function may turn out to need, such
     * as a check that there is none. The function sets `wants_also` if it does; then it goes with
     * the change like any other action, and costs nothing else. The submitter's; the change has no
     * action of its own on that item. */
    const struct action *also;
    bool wants_also;
    /* A hint: the item has more than the keys of an index, so that caches are looked at before
     * indexes that might say all of it. */
    bool uncovered;
    bool by_owner; /* the table's owner writes this: its write rules (write_rule.h) are not asked */
    struct action_ranks *ranks; /* where the item stands before and after is asked; or NULL.
                                   The submitter's, who keeps it until `done` (ranking.h) */

    /* filled in by the engine */
    struct failure failure; /* CONDITION_FAILED, INVALID, ...; status OK when it went through */
    bool had_old;           /* whether the item existed before */
    struct item old;        /* the item before; also on CONDITION_FAILED */
    struct item new;        /* the item after (PUT and UPDATE) */
    struct usage usage;     /* of COMPUTE without the indexes */
    struct bytes collection_key; /* the partition attribute's name if the table has local indexes,
                                    else empty */
    uint64_t collection_size;    /* bytes of the items in the item's collection; 0: not counted */
    void *engine_data;           /* for the engine's use */
};

enum change_kind {
    CHANGE_WRITE,        /* one or more actions, in one commit */
    CHANGE_CREATE_TABLE, /* schema */
    CHANGE_DELETE_TABLE, /* table */
    CHANGE_UPDATE_TABLE, /* table, alteration */
    CHANGE_TAGS,         /* table, tags to set, keys to remove */
    CHANGE_LOADED,       /* table: it is whole and may be used from now on */
    CHANGE_EXPIRY,       /* table, expiry, expires */
    CHANGE_ADD_RULES,    /* write_rules: asked from now on (write_rule.h) */
    CHANGE_DROP_RULES,   /* write_rules: not any more */
    CHANGE_EXPIRE,       /* deletes all expired items now; for tests that move the clock */
};

struct change_batch;
struct write_rules; /* write_rule.h */

/* One whose changes are carried out in the order in which they are submitted, such as a client.
 * Zero is one without changes. It is the engine's, and outlives its changes. */
struct change_source {
    unsigned behind; /* of its changes, that others may go before */
    bool heavy;      /* the last of its changes with `prepare` had many bytes: so may the next */
};

struct change;
/* Of an engine that is read-only (engine.h): fills in the failure. */
enum status change_refuse_read_only(struct change *change);

struct change {
    enum change_kind kind;
    struct arena *arena; /* the engine's to use until done; replies live in it */
    /* Called once, on the engine's thread or on the submitter's before engine_submit() returns.
     * It must be quick: usually it posts to a loop. */
    void (*done)(struct change *change);
    void *user;

    /* CHANGE_WRITE */
    struct action *actions;
    size_t action_count;
    /* If set, called on the engine's thread before anything is written: what it reads of the engine
     * then is exactly what the change's writes will follow on, so reading and writing are one step.
     * It fills in the actions (in change->arena), or fails with the text in change->failure; none
     * are fine. A token that was used before is seen first: then it is not called, and there are no
     * actions. Such changes cost a commit each: for what touches more than single items. */
    enum status (*prepare)(struct change *change);
    /* What `prepare` reads of ranks (ranking.h) does not change any more, or need not be exactly
     * what the writes follow on: for an engine whose ranking is apart from its items. */
    bool ranks_settled;
    /* The actions may be carried out in several commits, in their order; a fault ends it, and what
     * was committed before stays. For an engine that has a bound on what one commit may do, or
     * does not want others to wait for so many bytes. */
    bool divisible;
    /* One of many that follow on one another, as the parts of a load do: others that wait may go
     * first, and few such go with one commit, whoever submits them. Only without `prepare` and
     * without sources. */
    bool yields;
    /* Others that wait may go before a change of many bytes (LIMIT_CHANGE_LARGE), and few such go
     * with one commit, if its submitter relies on its place among no others, or only among those of
     * its source. */
    bool unordered;
    struct change_source *const *sources; /* all of one source stay in order, a change of several */
    size_t source_count;                  /* in that of each; 0: see `unordered` */
    size_t bytes;        /* that it is known to have, besides the items of its puts */
    bool all_or_nothing; /* a transaction: any fault leaves all undone (CANCELLED) */
    /* The actions have nothing to do with each other, but for the one commit that they share: a
     * fault of one, which is in its `failure`, leaves the others as they are. With CONFLICT a
     * function (COMPUTE) refuses all of the change nevertheless. For an embedded engine. */
    bool apart;
    /* A token makes the write harmless to repeat for ten minutes, over restarts too: the same token
     * with the same digest does nothing and sets `repeated`; with another one it is
     * REPEAT_MISMATCH. Kept in the same commit as the write. Empty: none. */
    struct bytes token;
    uint64_t token_digest[2]; /* of what the request asks for */
    bool repeated;            /* filled in */

    /* CHANGE_CREATE_TABLE with `loading` makes a table that is there by name only (PART_CREATING)
     * until CHANGE_LOADED: nobody reads it, and only changes that say `loading` too may write or
     * delete it. If the engine stops before that, it is gone: all or nothing. */
    bool loading;

    /* tables */
    struct bytes table;
    const struct table_schema *schema;
    const struct alteration *alteration;
    const struct tag *tags;
    size_t tag_count;
    const struct bytes *untag;
    size_t untag_count;
    struct bytes expiry;             /* the attribute that holds an item's last second, */
    bool expires;                    /* and whether items are to go by it from now on */
    struct write_rules *write_rules; /* borrowed until they are dropped */
    uint64_t expired;                /* filled in by CHANGE_EXPIRE: how many went */
    /* Filled in, in the arena: the table after (before, on delete). */
    struct table_description *description;

    struct change_batch *batch; /* where it may wait for others (inprocess.h); NULL: at once */

    struct failure failure; /* status OK, or why nothing happened; single actions: their fault */

    struct change *next; /* for the engine's use, while the change is queued */
    size_t all_bytes;
    void *engine_data;
};

void engine_submit(struct engine *engine, struct change *change);
/* Submits the change, at once, and waits until it is done. Takes `done`, `user` and `batch`.
 * Returns the change's status. Never on a loop's or the engine's own thread. */
enum status engine_submit_wait(struct engine *engine, struct change *change);

struct change_ops {
    void (*submit)(struct engine *, struct change *);
};

#endif
