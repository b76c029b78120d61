/* The table interface: what every engine does and every face asks for.
 *
 * Reads are calls that answer at once. Anything that changes data is a `struct change`: it is
 * submitted, travels to the writer, and comes back through its `done`. Both may come from any
 * thread. Replies live in the arena of the request. Faults carry the text a client is shown.
 *
 * Names of tables and indexes in requests are plain names; a face that accepts other spellings
 * resolves them first. Requests have been checked for what can be seen without the table (types,
 * lengths, expression syntax); what depends on the table is checked here.
 */
#ifndef GT_TABLE_TABLE_H
#define GT_TABLE_TABLE_H

#include "expr/expr.h"
#include "table/backup.h"
#include "table/schema.h"

struct engine;

/* What a request consumed, in the service's units. */
struct index_usage {
    struct bytes name;
    bool local;
    double units;
};

struct usage {
    double table;                /* units of the table itself */
    struct index_usage *indexes; /* those touched */
    uint32_t index_count;
};

/* --- reading items --- */

struct get_request {
    struct bytes table;
    struct item key;
    bool consistent;
    const struct projection *projection; /* NULL: whole */
};

struct get_reply {
    struct item item;
    bool found;
    size_t size; /* of the whole item, for batches that stop at 16 MB */
    double units;
};

/* NO_TABLE, INVALID (key does not match the schema), IO_FAILED, DAMAGED; an absent item is OK
 * with found false. */
enum status engine_get(struct engine *engine, const struct get_request *request,
                       struct arena *arena, struct failure *failure, struct get_reply *out);
/* Several, all of one moment. replies[i] answers requests[i]; the first fault ends it. */
enum status engine_get_many(struct engine *engine, const struct get_request *requests, size_t count,
                            struct arena *arena, struct failure *failure,
                            struct get_reply *replies);

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
    bool keys_legacy; /* the condition came in the older form, whose faults are worded otherwise */
    bool backward;
    bool consistent;
    uint32_t limit;           /* items evaluated; 0: no limit */
    const struct item *start; /* the exclusive start key, or NULL */
    const struct condition *filter;
    bool filter_legacy; /* likewise */
    bool filter_keys;   /* the filter of a query may name its keys, too */
    const struct projection *projection;
    enum select select;
    bool strict_paging; /* page a plain count at 1 MB like any other read */
    bool prompt;        /* rather than wait for something to be made first, say `later` */
    /* Queries of an index only, for what stands between two places or at a rank. All of it, skipped
     * or not, is of one moment; skipping costs one walk, however far. */
    struct bound low, high; /* only what stands between these */
    uint64_t skip;          /* entries to leave out at the end the page begins at, */
    uint64_t skip_end;      /* and at the other */
    bool whole;             /* however much it is, and whatever it costs, which is then not told: no
                               page ends but by `limit` */
    uint32_t segment;       /* of a parallel scan */
    uint32_t segments;      /* 0: not parallel */
};

struct page_reply {
    bool later;         /* nothing was read: ask again without `prompt`, from where one may wait */
    struct item *items; /* NULL for SELECT_COUNT */
    uint64_t count;     /* after the filter */
    uint64_t scanned;   /* before it */
    bool more;
    struct item last_key; /* when more */
    struct usage usage;
};

enum status engine_page(struct engine *engine, const struct page_request *request,
                        struct arena *arena, struct failure *failure, struct page_reply *out);

/* --- where items stand in an index --- */

/* Each costs a few walks of the index's tree. All places of a request are of one moment. */
struct place_request {
    struct bytes table;
    struct bytes index;
    const struct item *keys; /* keys of the table; `as_if`: with the index's keys as well */
    size_t count;
    bool entries_only;    /* only what is there: the counts stay 0, which costs less */
    bool as_if;           /* where such an entry would stand, whether or not it is there */
    unsigned group_parts; /* entries whose first so many sort attributes are equal are a group: */
    bool groups;          /* count them, too. 0: no groups. */
};

struct place {
    bool found;                         /* the item is there and in the index; as_if: just so */
    struct item entry;                  /* its keys: the index's and the table's */
    uint64_t before, after;             /* entries of its partition on either side */
    uint64_t group_before, group_after; /* those outside of its group */
    uint64_t groups_before, groups_after;
};

/* places[i] answers keys[i]. An item that is not there, or not in the index, is OK with found false
 * and counts of 0 (as_if: with the counts). NO_TABLE, INVALID, IO_FAILED, DAMAGED. */
enum status engine_places(struct engine *engine, const struct place_request *request,
                          struct arena *arena, struct failure *failure, struct place *places);

/* A number that rises whenever something in the partition changes, and may rise without reason: who
 * finds it as it was knows that the partition is as it was. For caches and optimistic work: ask for
 * the number, then read; while the number is the same, what was read is what is there. It has risen
 * before the change's `done` is called. Good while the engine is open. 0 if nothing changed since
 * then. */
uint64_t engine_touched(struct engine *engine, struct bytes table, const struct value *partition);
/* The same for who asks again and again: *where is filled in with where that number is kept, and
 * asking there costs a few nanoseconds and no lock. If the table has become another since, what is
 * told there is greater than before, too: one that is as it was says that all is. */
uint64_t engine_touched_where(struct engine *engine, struct bytes table,
                              const struct value *partition, uint32_t *where);
uint64_t engine_touched_at(struct engine *engine, uint32_t where);

/* --- changing things --- */

enum action_kind {
    ACTION_PUT,
    ACTION_UPDATE,
    ACTION_DELETE,
    ACTION_CHECK,
    ACTION_COMPUTE, /* the item after is worked out from the item before, by a function */
};

struct action;
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
    void *user;                        /* the submitter's */
    bool expired;                      /* DELETE: the engine's own, because its time has come */
    bool quiet;                        /* engine_touched() need not tell of it */

    /* filled in by the engine */
    struct failure failure; /* CONDITION_FAILED, INVALID, ...; status OK when it went through */
    bool had_old;           /* whether the item existed before */
    struct item old;        /* the item before; also on CONDITION_FAILED */
    struct item new;        /* the item after (PUT and UPDATE) */
    struct usage usage;     /* of COMPUTE without the indexes */
    struct bytes collection_key; /* the partition attribute's name if the table has local indexes,
                                    else empty */
    uint64_t collection_size;    /* bytes of the items in the item's collection; 0: not counted */
    void *engine_data;           /* the engine's own */
};

enum change_kind {
    CHANGE_WRITE,        /* one or more actions, in one commit */
    CHANGE_CREATE_TABLE, /* schema */
    CHANGE_DELETE_TABLE, /* table */
    CHANGE_UPDATE_TABLE, /* table, alteration */
    CHANGE_TAGS,         /* table, tags to set, keys to remove */
    CHANGE_LOADED,       /* table: it is whole and may be used from now on */
    CHANGE_EXPIRY,       /* table, expiry, expires */
    CHANGE_EXPIRE,       /* all items whose time has come go now; for tests, with a moved clock */
};

/* Changes to a table's settings; each pointer NULL means "leave it". */
struct alteration {
    const enum billing *billing;
    const struct capacity_settings *capacity;
    const enum stream_view *stream;
    const bool *deletion_protection;
    const struct bytes *table_class;
    const bool *encrypted;
    struct bytes encryption_key;
    const struct key_part *attributes; /* definitions given with the request */
    uint32_t attribute_count;
    const struct index_schema *add_index; /* at most one a request */
    struct bytes drop_index;              /* empty: none */
    struct {
        struct bytes name;
        struct capacity_settings capacity;
    } * update_indexes;
    uint32_t update_index_count;
};

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
    enum status (*decide)(struct change *change);
    bool all_or_nothing; /* a transaction: any fault leaves all undone (CANCELLED) */
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
    struct bytes expiry;                  /* the attribute that holds an item's last second, */
    bool expires;                         /* and whether items are to go by it from now on */
    uint64_t expired;                     /* filled in by CHANGE_EXPIRE: how many went */
    struct table_description description; /* filled in: the table after (before, on delete) */

    struct failure failure; /* status OK, or why nothing happened; single actions: their fault */

    struct change *next; /* the engine's own, while queued */
    void *engine_data;
};

void engine_submit(struct engine *engine, struct change *change);

/* Of a thread that does many things in turn and then waits, such as a loop. After engine_gather()
 * what it submits may be kept back until it calls engine_hand_over(), which it does before it waits
 * for anything: so changes come to the writer together, and it is woken once for them. */
void engine_gather(void);
void engine_hand_over(void);

/* --- looking at tables --- */

enum status engine_describe(struct engine *engine, struct bytes table, struct arena *arena,
                            struct failure *failure, struct table_description *out);
/* Names in byte order after `after` (empty: from the start), at most `limit`; *more if some are
 * left. */
struct name_list {
    struct bytes *names;
    size_t count;
    bool more;
};
enum status engine_list(struct engine *engine, struct bytes after, size_t limit,
                        struct arena *arena, struct name_list *out);

/* What an operator wants to see. */
struct engine_figures {
    uint64_t tables, items, item_bytes;
    uint64_t index_entries, index_memory, index_memory_max;
    uint64_t counted, counted_memory; /* partitions kept counted, within index_memory_max, too */
    uint64_t cache_items, cache_memory, cache_memory_max, cache_hits, cache_misses;
    uint64_t commits, writes, disk, store_memory;
    bool refusing_writes;
};
void engine_figures(struct engine *engine, struct engine_figures *out);

/* Finishes what was submitted, syncs, closes, frees. Nothing may be in use. */
void engine_close(struct engine *engine);

/* --- for those who build an engine --- */

struct stream_list_request;
struct stream_list;
struct stream_info;
struct stream_read_request;
struct stream_read_reply;

struct engine_ops {
    enum status (*get_many)(struct engine *, const struct get_request *, size_t, struct arena *,
                            struct failure *, struct get_reply *);
    enum status (*page)(struct engine *, const struct page_request *, struct arena *,
                        struct failure *, struct page_reply *);
    enum status (*places)(struct engine *, const struct place_request *, struct arena *,
                          struct failure *, struct place *);
    uint64_t (*touched)(struct engine *, struct bytes, const struct value *, uint32_t *);
    uint64_t (*touched_at)(struct engine *, uint32_t);
    void (*submit)(struct engine *, struct change *);
    void (*hand_over)(struct engine *); /* what engine_keeps() let it keep */
    enum status (*describe)(struct engine *, struct bytes, struct arena *, struct failure *,
                            struct table_description *);
    enum status (*list)(struct engine *, struct bytes, size_t, struct arena *, struct name_list *);
    enum status (*streams)(struct engine *, const struct stream_list_request *, struct arena *,
                           struct stream_list *);
    enum status (*stream)(struct engine *, struct bytes, int64_t, struct arena *, struct failure *,
                          struct stream_info *);
    enum status (*stream_read)(struct engine *, const struct stream_read_request *, struct arena *,
                               struct failure *, struct stream_read_reply *);
    uint64_t (*stream_latest)(struct engine *);
    void (*figures)(struct engine *, struct engine_figures *);
    enum status (*backup_create)(struct engine *, const struct backup_request *, struct arena *,
                                 struct failure *, struct backup_description *);
    enum status (*backup_describe)(struct engine *, struct bytes, struct arena *, struct failure *,
                                   struct backup_description *);
    enum status (*backup_delete)(struct engine *, struct bytes, struct arena *, struct failure *,
                                 struct backup_description *);
    enum status (*backup_list)(struct engine *, const struct backup_filter *, struct arena *,
                               struct failure *, struct backup_list *);
    enum status (*read_table)(struct engine *, const struct reader_request *, struct arena *,
                              struct failure *, struct table_reader **);
    void (*close)(struct engine *);
};

struct engine {
    const struct engine_ops *ops;
};

/* Whether this thread gathers: then the engine's `hand_over` is called on it soon. */
bool engine_keeps(struct engine *engine);

#endif
