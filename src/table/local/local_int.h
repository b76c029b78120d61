/* The inside of the embedded engine: who owns what, and under which lock.
 *
 * One copy of each item, in the store. In memory, derived from it: the catalogue, an index tree
 * for each secondary index, counts, and a cache of hot items. Invariants:
 *
 *   1. Only the writer thread changes the store. It changes what is in memory under `moment`
 *      held for writing, after the store has committed, and only then are replies sent.
 *   2. A reader holds `moment` for reading while it looks at the catalogue, a table's indexes or
 *      trees, and takes the current view there; it holds no lock while it reads the store.
 *   3. A view is one moment: the store's snapshot and the commit number that the trees stood at.
 *      A cached item may be used at a view if it was last written at or before the view's commit.
 *   4. A table's schema is never changed in place: a new one replaces the pointer, the old one
 *      stays until the table is freed, and so does the `struct index` of a dropped index (without
 *      its tree). Tables are counted by reference.
 *   5. A reader that holds a view waits for nothing: a recovery holds `moment` until all views are
 *      dropped.
 */
#ifndef GT_TABLE_LOCAL_INT_H
#define GT_TABLE_LOCAL_INT_H

#include "base/map.h"
#include "rank/tree.h"
#include "store/store.h"
#include "table/local/finder.h"
#include "table/local/local.h"
#include "table/local/streams.h"
#include "table/local/tokens.h"
#include "table/rules.h"
#include "value/codec.h"
#include "value/key.h"
#include "value/names.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- tables and indexes in memory --- */

/* A change of one index entry that happened while the index was being built. */
struct index_note {
    struct index_note *next;
    bool put; /* else del */
    int64_t size_change;
    size_t key_size;
    uint8_t key[];
};

/* What an index entry is made of: the index's own key parts, then those of the table's that are not
 * among them. */
enum { ENTRY_PARTS_MAX = KEY_PARTS_MAX + 2 };
struct entry_shape {
    unsigned count, own_count, partition_count;
    struct key_part parts[ENTRY_PARTS_MAX];
    struct bytes sorted[ENTRY_PARTS_MAX]; /* their names, sorted, */
    unsigned slots[ENTRY_PARTS_MAX];      /* and where each is among them */
};

struct index {
    const struct index_schema *schema; /* as it was made, in the table's arena; its capacity is
                                          to be read from the table's schema. NULL: the tree of
                                          times, */
    struct bytes expiry;               /* that this attribute tells */
    struct tree *tree;                 /* NULL while it is being built */
    struct finder *finder;             /* from items to entries; NULL unless `finds` */
    uint64_t size;                     /* bytes of what it shows of its items */
    enum part_status status;
    bool backfilling;
    struct entry_shape shape; /* its names are the schemas' */
    bool finds; /* it orders the table's own partitions anew and shows nothing but keys: a ranking,
                   whose items are asked for by their keys */
    struct index_note *notes, **notes_end; /* kept by the writer from the build's snapshot on */
    struct index *retired;                 /* the next of the table's dropped ones */
};

enum {
    INDEXES_MAX = LIMIT_GLOBAL_INDEXES + LIMIT_LOCAL_INDEXES,
    TREES_MAX = INDEXES_MAX + 1, /* with that of times */
};

struct table {
    uint32_t id; /* never used twice in a data folder */
    atomic_uint refs;
    atomic_bool gone;   /* deleted: what was prepared for it is refused */
    struct arena arena; /* schemas; changed only by the writer */
    const struct table_schema *_Atomic schema;
    struct table_description about; /* schema, item_count, size and indexes unused */
    uint64_t item_count, size;
    struct index *indexes[INDEXES_MAX]; /* in the schema's order */
    unsigned index_count;
    struct index *expiry;   /* items by when they end; NULL: they do not */
    struct index *retired;  /* dropped indexes, until the table is freed */
    struct tally *tally[2]; /* of the writer's groups, while it makes them */
    bool loading;           /* not yet whole: nobody but its loader may use it; under moment */
    struct stream *stream;  /* the writer's: the present one, or NULL */
};

/* A table with one reference and a copy of the schema, its indexes without trees. (table.c) */
struct table *table_new(uint32_t id, const struct table_schema *schema);
void table_ref(struct table *table);
void table_unref(struct table *table);
/* An index for table->indexes, in no state yet. */
struct index *index_new(const struct table_schema *schema, const struct index_schema *of);
/* The same for table->expiry. */
struct index *index_new_expiry(struct bytes attribute);
/* Gives back the tree and the notes. */
void index_empty(struct index *index);
/* --- the entries of an index (entries.c); its tree is there but for the first --- */

/* Gives it a tree without entries, and a finder with room for so many if it is to have one. */
void index_begin(struct index *index, uint64_t expected);
void index_put(struct index *index, struct bytes entry);
void index_del(struct index *index, struct bytes entry);
/* The same in two steps: what the finder will be told of an entry, for which the memory is asked;
 * and a little later the change. The entry must stay good in between. */
struct index_found {
    uint64_t hash;
    struct bytes middle; /* empty: nothing */
};
struct index_found index_soon(const struct index *index, struct bytes entry);
void index_put_found(struct index *index, struct bytes entry, const struct index_found *found);
void index_del_found(struct index *index, struct bytes entry, const struct index_found *found);
/* The same for many entries, which stay good until index_filled(). They are put a pile at a time:
 * those of a pile are near one another in the finder, so that its memory is come upon warm. The
 * index has its finder, made for so many. */
struct index_filler {
    struct index *index;
    struct bytes head; /* of the entry before */
    uint64_t head_hash;
    unsigned pile_bits; /* of the hash say which pile */
    uint32_t *counts;   /* of each pile */
    struct index_found *found;
};
void index_filler_begin(struct index_filler *filler, struct index *index, uint64_t expected);
void index_fill(struct index_filler *filler, struct bytes entry);
void index_filled(struct index_filler *filler);
/* Bytes of both. */
size_t index_memory(const struct index *index);

/* All that has a tree: the indexes, then that of times. Returns how many. */
unsigned table_trees(const struct table *table, struct index **out);
void table_describe(const struct table *table, struct arena *arena, struct table_description *out);

/* --- a moment --- */

enum { VIEW_ITERATORS = 8 };

struct view {
    atomic_uint refs;
    uint64_t commit;
    struct store_snapshot *snapshot;
    struct local *local;
    /* Iterators over the items that nobody uses at present: to open one costs more than to read
     * a small page with it. They go with the view. */
    struct store_iter *_Atomic idle[VIEW_ITERATORS];
};

/* An iterator over a range of the items at the view; neither bound is empty, and both live until
 * it is given back. Any thread that holds the view. */
struct store_iter *view_iterate(struct view *view, struct bytes low, struct bytes high);
void view_iterated(struct view *view, struct store_iter *iter);

/* --- when partitions changed (touched.c) ---
 *
 * A number for each of some thousand groups of partitions: that of the commit that last changed one
 * of them. It is set before that commit's view is current, under the same hold of `moment`; so
 * whoever asks for the number, then reads, and later finds the number as it was, knows that what
 * was read is what is there. To find it again takes no lock: a commit that is being made current
 * may be seen or not, one whose changes are done was made so before. */
enum { TOUCHED_SLOTS = 65536 };
struct touched {
    atomic_uint_fast64_t slots[TOUCHED_SLOTS + 1]; /* the last: of tables that are not there */
    atomic_uint_fast64_t tables; /* the last commit after which any partition may be another */
};

struct backups;
struct cache;
struct counted_set;
struct writer;

struct local {
    struct engine engine; /* first: the interface's handle */
    struct local_settings settings;
    struct store *store;
    struct names *names;
    struct cache *cache;
    struct counted_set *counted; /* partitions that are counted (counted.h) */
    struct writer *writer;
    struct backups *backups; /* NULL in memory */

    pthread_rwlock_t moment;           /* prefers writers */
    struct map tables;                 /* by name -> struct table; under moment */
    struct streams streams;            /* under moment */
    struct view *view;                 /* under moment */
    atomic_uint views;                 /* not yet freed */
    atomic_uint_fast64_t index_memory; /* sum of tree_memory() */
    uint32_t next_table_id;            /* the writer's */
    int names_stored;                  /* the writer's: codes the store has */
    struct tokens *tokens;             /* the writer's: of transactions that were done */
    struct touched touched;
    atomic_uint_fast64_t commits, writes;
};

/* By the writer, holding moment for writing: the item with that store key changes with `commit`;
 * all items of all tables may have. */
void touch_item(struct local *local, struct bytes key, uint64_t commit);
void touch_tables(struct local *local, uint64_t commit);

/* The current view, with a reference; the caller holds moment. */
struct view *view_hold(struct local *local);
void view_drop(struct view *view);
/* Makes the view that follows a commit current; the caller holds moment for writing. */
void view_advance(struct local *local);
/* Lets the store be reopened: nobody else has the view, and the caller holds moment for writing
 * over both calls. */
void view_suspend(struct local *local);
void view_resume(struct local *local);

/* The table of that name if it may be used, or NULL; the caller holds moment or is the writer. */
static inline struct table *local_table(const struct local *local, struct bytes name) {
    struct table *table = map_get(&local->tables, name);
    return table != NULL && !table->loading ? table : NULL;
}
/* The table of that name with a reference, or NULL and NO_TABLE in *failure. Takes moment. With
 * `view` also the view of the same moment. */
struct table *local_find(struct local *local, struct bytes name, struct arena *arena,
                         struct failure *failure, struct view **view);

/* --- keys (keys.c) ---
 *
 *   item   table:u32 hash:u32 partition sort?          in the store's items
 *   index  hash:u32 partition+ sort* tablekeys*        in the index's tree
 *   time   ms:u64 hash:u32 partition sort?             in the tree of times
 *
 * `hash` is the high half of bytes_hash(encoded partition parts, 0): it spreads partitions evenly,
 * so that a segment of a parallel scan is a range of keys. */
/* Sets the shape of an index whose schema is set, and whether it has a finder. */
void keys_prepare_index(struct index *index, const struct table_schema *schema);
void keys_put_item(struct buf *to, const struct table *table, const struct table_schema *schema,
                   const struct item *item_or_key);
/* What the keys of all items of a partition begin with. */
void keys_put_partition(struct buf *to, const struct table *table, const struct value *partition);
/* How many bytes of an item's key that is. */
size_t keys_partition_span(const struct table_schema *schema, struct bytes key);
/* False, appending nothing, if the item is not in the index. */
bool keys_put_entry(struct buf *to, const struct table_schema *schema, const struct index *index,
                    const struct item *item);
/* Bytes of what the index shows of an item that is in it; of what the tree of times does, none. */
size_t keys_shown_size(const struct table_schema *schema, const struct index *index,
                       const struct item *item, struct arena *arena);
/* The entry of an item as it is stored, which is quicker than decoding all of it. NOT_FOUND if it
 * is not in the index, DAMAGED. */
enum status keys_put_stored(struct buf *to, const struct index *index, struct bytes stored,
                            const struct names *names, struct arena *arena);
/* The same of an item whose key in the store is `key`, of which `span` bytes are its partition, and
 * whose attributes are at hand: in the order of the index's shape, or the one of the tree of times;
 * of no type if absent. False, appending nothing, if it is not in the index. */
bool keys_put_picked(struct buf *to, const struct index *index, const struct value *const *values,
                     struct bytes key, size_t span);
/* The table key (as an item key for the store) that an index entry points at. DAMAGED if not. */
enum status keys_entry_to_item(struct buf *to, const struct table *table,
                               const struct table_schema *schema, const struct index *index,
                               struct bytes entry);
/* How many bytes of an entry are its partition and so many sort attributes. 0: it is no entry. */
size_t keys_entry_span(const struct index *index, struct bytes entry, unsigned sort_parts);
/* What an entry says by itself: the keys of the index and of the table. The names are copied into
 * the arena, once for all entries; strings are borrowed from the entry. */
void keys_shape(struct entry_shape *out, const struct index *index, struct arena *arena);
enum status keys_entry_decode(const struct entry_shape *shape, struct bytes entry,
                              struct arena *arena, struct item *out);
/* Of an entry of the tree of times: when, and the key of the item, which borrows from it. */
bool keys_time_of(struct bytes entry, uint64_t *ms);
enum status keys_time_decode(const struct table_schema *schema, struct bytes entry,
                             struct arena *arena, struct item *out);
/* The bounds [low, high) of a key range in the items (index NULL) or an index's tree. */
void keys_put_bounds(struct buf *low, struct buf *high, const struct table *table,
                     const struct table_schema *schema, const struct index *index,
                     const struct key_range *range);
/* A place in an index's tree. False, appending nothing, if it does not fit the index's keys. */
bool keys_put_bound(struct buf *to, const struct index *index, const struct bound *bound);
/* The bounds of a segment of a scan; segments >= 1. An index's last segment has an empty `high`:
 * no bound. */
void keys_put_segment(struct buf *low, struct buf *high, const struct table *table,
                      const struct index *index, uint32_t segment, uint32_t segments);

/* --- the cache (cache.c): any thread --- */

struct cache *cache_new(size_t memory_max);
void cache_free(struct cache *cache);
/* Of an item's key in the store: for those who need it more than once. */
static inline uint64_t local_hash(struct bytes key) {
    return bytes_hash(key, 1);
}
/* Copies the item's bytes into the arena if it is there and was last written at or before
 * `commit` (UINT64_MAX: whatever it is now). */
bool cache_get_hashed(struct cache *cache, struct bytes key, uint64_t hash, uint64_t commit,
                      struct arena *arena, struct bytes *out);
static inline bool cache_get(struct cache *cache, struct bytes key, uint64_t commit,
                             struct arena *arena, struct bytes *out) {
    return cache_get_hashed(cache, key, local_hash(key), commit, arena, out);
}
/* By a reader, after reading the store at a view: kept only if nothing near it was written
 * since. */
void cache_fill_hashed(struct cache *cache, struct bytes key, uint64_t hash, struct bytes value,
                       uint64_t commit);
static inline void cache_fill(struct cache *cache, struct bytes key, struct bytes value,
                              uint64_t commit) {
    cache_fill_hashed(cache, key, local_hash(key), value, commit);
}
/* By the writer, for each item of a commit; value.data NULL: deleted. Without `add` an item that is
 * not there is left out. */
void cache_write(struct cache *cache, struct bytes key, uint64_t hash, struct bytes value, bool add,
                 uint64_t commit);
/* Asks the memory for what a look-up will need: first for the place, then, a little later, for what
 * is there. */
void cache_soon(struct cache *cache, uint64_t hash);
void cache_sooner(struct cache *cache, uint64_t hash);
void cache_clear(struct cache *cache);
void cache_figures(struct cache *cache, struct engine_figures *out);
/* How many slots a look-up may have to pass over. For tests, at rest. */
size_t cache_longest_run(struct cache *cache);

/* An item's stored bytes at a view (NULL: now, from the writer thread), through the cache.
 * NOT_FOUND, IO_FAILED, DAMAGED. */
enum status local_read_hashed(struct local *local, const struct view *view, struct bytes key,
                              uint64_t hash, struct arena *arena, struct bytes *out);
static inline enum status local_read(struct local *local, const struct view *view, struct bytes key,
                                     struct arena *arena, struct bytes *out) {
    return local_read_hashed(local, view, key, local_hash(key), arena, out);
}

/* An index of the table that can be read, or INVALID with the text. The caller holds moment. */
enum status local_index(const struct table *table, struct bytes name, struct arena *arena,
                        struct failure *failure, const struct index **out);
/* Words for a read that failed with IO_FAILED or DAMAGED. Returns the status. */
enum status local_fault(enum status status, struct arena *arena, struct failure *failure);

/* --- building indexes (build.c) --- */

/* Reads all items of a table at a snapshot and makes the trees of `indexes` (their tree and size
 * are set; entries are sorted and loaded, on several threads). Also counts the items, and, if asked
 * to, measures them, which takes longer: then all of each has to be looked at. MEMORY_FULL
 * if the trees pass the limit; *stop set by another thread ends it with STOPPING. Takes no lock:
 * nobody else may be looking at these indexes. The start, a backfill and a recovery all come here.
 */
struct build {
    struct local *local;
    const struct table *table;
    const struct table_schema *schema;
    const struct store_snapshot *snapshot;
    struct index **indexes;
    unsigned index_count;
    unsigned threads;
    atomic_bool *stop;   /* may be NULL */
    bool measure;        /* the items, too */
    uint64_t item_count; /* filled in; before, a guess at it */
    uint64_t size;       /* filled in if measured */
};
enum status build_run(struct build *build, struct arena *arena, struct failure *failure);

/* --- the writer (writer.c, group.c, action.c, alter.c) --- */

enum status writer_start(struct local *local, struct arena *arena, struct failure *failure);
/* Finishes what is queued, then ends the thread. */
void writer_stop(struct local *local);
void local_submit(struct engine *engine, struct change *change);
void local_hand_over(struct engine *engine);

/* --- places (places.c, touched.c) --- */

enum status local_places(struct engine *engine, const struct place_request *request,
                         struct arena *arena, struct failure *failure, struct place *places);
uint64_t local_touched(struct engine *engine, struct bytes table, const struct value *partition,
                       uint32_t *where);
uint64_t local_touched_at(struct engine *engine, uint32_t where);

/* --- the catalogue (catalogue.c) ---
 *
 * In the store's meta family:
 *   'n' code:u16          -> name                     the dictionary
 *   't' id:u32            -> table record             schema, id, dates
 *   'c' id:u32            -> item count, size         written with each commit that changes them
 *   'i'                   -> next table id
 *   'l' id:u32            -> nothing                  the table is being loaded
 *   'k' number:u64        -> token                    of a transaction (tokens.h)
 *   'r' key               -> nothing                  a partition that is counted (counted.h)
 *   'S', 's'              -> streams                  (streams.h)
 *
 * Whether an index is whole is not written down: after a start or a recovery each one is. */
enum status catalogue_load(struct local *local, struct arena *arena, struct failure *failure);
/* Only names, tables and counts: enough to read items. */
enum status catalogue_load_tables(struct local *local, struct arena *arena,
                                  struct failure *failure);
/* Removes the tables that were being loaded when the engine stopped. Before anybody else looks. */
enum status catalogue_drop_loading(struct local *local, struct arena *arena,
                                   struct failure *failure);
void catalogue_put_loading(struct store_batch *batch, const struct table *table, bool loading);
void catalogue_put_table(struct store_batch *batch, const struct table *table,
                         const struct table_schema *schema, const struct table_description *about);
void catalogue_del_table(struct store_batch *batch, const struct table *table);
void catalogue_put_counts(struct store_batch *batch, const struct table *table, uint64_t count,
                          uint64_t size);
void catalogue_put_next_id(struct store_batch *batch, uint32_t next);
/* Names from local->names_stored on. */
void catalogue_put_names(struct store_batch *batch, const struct local *local, int count);
/* Frees all tables and forgets them; those who still hold one find it gone. */
void catalogue_clear(struct local *local);
/* Builds the indexes of every table at the current view. (local.c) */
enum status local_build_all(struct local *local, struct arena *arena, struct failure *failure);
/* Sets index_memory from the trees there are. The writer's. */
void local_sum_memory(struct local *local);

/* --- copies (backup.c, reader.c) --- */

/* NULL in memory. Removes what an interrupted backup left. */
struct backups *backups_new(struct local *local);
void backups_free(struct backups *backups);
enum status local_backup_create(struct engine *engine, const struct backup_request *request,
                                struct arena *arena, struct failure *failure,
                                struct backup_description *out);
enum status local_backup_describe(struct engine *engine, struct bytes id, struct arena *arena,
                                  struct failure *failure, struct backup_description *out);
enum status local_backup_delete(struct engine *engine, struct bytes id, struct arena *arena,
                                struct failure *failure, struct backup_description *out);
enum status local_backup_list(struct engine *engine, const struct backup_filter *filter,
                              struct arena *arena, struct failure *failure,
                              struct backup_list *out);
enum status local_read_table(struct engine *engine, const struct reader_request *request,
                             struct arena *arena, struct failure *failure,
                             struct table_reader **out);

/* --- reading (get.c, page.c) --- */

enum status local_get_many(struct engine *engine, const struct get_request *requests, size_t count,
                           struct arena *arena, struct failure *failure, struct get_reply *replies);
enum status local_page(struct engine *engine, const struct page_request *request,
                       struct arena *arena, struct failure *failure, struct page_reply *out);

#endif
