/* Reading items of a table: single ones by key, and pages of a query or a scan.
 *
 * Every engine answers these. They are calls that answer before they return, for any thread, unless
 * engine_may_block() (engine.h): then they may take as long as a network does, and not for a loop.
 * In the embedded engine a get costs a look-up, a page a walk of a tree or of the store plus what
 * it reads; none waits for the writer. What is read together is of one snapshot. Replies live in
 * the arena of the request. Faults carry the text a client is shown.
 *
 * Names of tables and indexes in requests are plain names; a front end that accepts other spellings
 * resolves them first. Requests have been checked for what can be seen without the table (types,
 * lengths, expression syntax); what depends on the table is checked by the engine, by rules.h.
 *
 * Writing is in change.h.
 */
#ifndef GT_TABLE_ITEMS_H
#define GT_TABLE_ITEMS_H

#include "expr/expr.h"
#include "table/schema.h"
#include "value/codec.h"

struct engine;

/* What a request consumed, in DynamoDB's capacity units. */
struct index_usage {
    struct bytes name;
    bool local;
    double units;
};

struct usage {
    double table;                /* units of the table itself */
    struct index_usage *indexes; /* those that were read or written */
    uint32_t index_count;
};

/* What a client is told of an item whose stored bytes are wrong. */
#define ITEM_DAMAGED "A stored item is damaged: `gametable verify` says in which file."

struct get_request {
    struct bytes table;
    struct item key;
    bool consistent;
    const struct projection *projection; /* NULL: whole */
    bool takes_stored;                   /* the reply may be the encoded item; without projection */
    bool brief; /* of the first of several: rather than read more than LIMIT_BATCH_BRIEF bytes be
                   WOULD_BLOCK. For callers whom others wait for. */
};

struct get_reply {
    struct item item;
    bool found;
    size_t size; /* of the whole item, for batches that stop at 16 MB */
    double units;
    /* If the request takes it and the engine has it: the item as value/codec.h encodes it, in the
     * arena. Nothing of it was looked at, so `item`, `size` and `units` are not set. Else its
     * `data` is NULL. */
    struct item_encoded stored;
};

/* NO_TABLE, INVALID (key does not match the schema), IO_FAILED, DAMAGED; an absent item is OK
 * with found false. */
enum status engine_get(struct engine *engine, const struct get_request *request, struct scope in,
                       struct get_reply *out);
/* Several, all at one snapshot. replies[i] answers requests[i]; the first fault ends it. */
enum status engine_get_many(struct engine *engine, const struct get_request *requests, size_t count,
                            struct scope in, struct get_reply *replies);

enum select { SELECT_DEFAULT, SELECT_ALL, SELECT_PROJECTED, SELECT_SPECIFIC, SELECT_COUNT };

/* A place among the entries of one partition: before all entries that begin with `at`, or after all
 * of them. `at` has the partition's attributes and as many leading sort attributes as matter; only
 * with all of those may it have the rest of the table's key too. count 0: no bound. */
struct bound {
    struct item at;
    bool after;
};

/* A page of a query (keys set) or of a scan (keys NULL). */
struct page_request {
    struct bytes table;
    struct bytes index; /* empty: the table itself */
    const struct key_condition *keys;
    bool backward;
    bool consistent;
    uint32_t limit;           /* items evaluated; 0: no limit */
    const struct item *start; /* the exclusive start key, or NULL */
    const struct condition *filter;
    bool filter_legacy; /* it came as a QueryFilter, which the sentences about it then name */
    bool filter_keys;   /* the filter of a query may name its keys, too */
    const struct projection *projection;
    enum select select;
    bool strict_paging; /* page a plain count at 1 MB like any other read */
    bool nonblocking;   /* rather than wait for something to be made first, be WOULD_BLOCK */
    bool brief;         /* likewise rather than look at more than LIMIT_PAGE_BRIEF items, or after
                           LIMIT_BATCH_BRIEF bytes of them go on; some may have been visited then. For
                           callers whom others wait for. */
    /* Queries of an index only, for what stands between two places or at a rank. All of it, skipped
     * or not, is of one snapshot; skipping costs one walk, however far. */
    struct bound low, high; /* only what stands between these */
    uint64_t skip;          /* entries to leave out at the end the page begins at, */
    uint64_t skip_end;      /* and at the other. A query of the table itself takes `skip` alone, and
                               not backward; the first that skips many has them counted first */
    bool whole;             /* however much it is, and whatever it costs, which is then not told: no
                               page ends but by `limit` */
    /* Called with each item instead of keeping it in the reply, whose `items` stays NULL; the item
     * is gone when it returns. For pages that are too large to be kept. */
    void (*visit)(void *user, const struct item *item);
    /* Besides `visit`, or NULL: an engine that has an item in the encoded form of value/codec.h,
     * and would show it as it is, may call this with it in place of `visit`. Returns the item's
     * size, or 0 if the bytes are damaged, which ends the page. */
    size_t (*visit_stored)(void *user, const struct names *names, struct bytes stored);
    /* Besides `visit`, or NULL, for a `whole` query of an index that shows nothing but keys: an
     * engine may call this in place of `visit` with the bytes of an entry's keys, those of the
     * index after its partition's and then those of the table that it does not have. They are gone
     * when it returns, and no `last_key` is told. */
    void (*visit_keys)(void *user, const struct bytes *keys);
    void *user;
    uint32_t segment;  /* of a parallel scan */
    uint32_t segments; /* 0: not parallel */
};

struct page_reply {
    struct item *items; /* NULL for SELECT_COUNT */
    uint64_t count;     /* after the filter */
    uint64_t scanned;   /* before it */
    bool more;
    struct item last_key; /* when more */
    struct usage usage;
};

/* As engine_get(); WOULD_BLOCK only if `nonblocking` or `brief`: ask again from where one may wait.
 */
enum status engine_page(struct engine *engine, const struct page_request *request, struct scope in,
                        struct page_reply *out);

/* What an engine fills in. */
struct item_ops {
    enum status (*get_many)(struct engine *, const struct get_request *, size_t, struct scope,
                            struct get_reply *);
    enum status (*page)(struct engine *, const struct page_request *, struct scope,
                        struct page_reply *);
};

#endif
