/* The inside of the embedded engine: who owns what, and under which lock.
 *
 * One copy of each item, in the store. In memory, derived from it: the catalogue, an index tree
 * for each secondary index, counts, and a cache of hot items, but for those that an index entry
 * says all about (covering.h). Invariants:
 *
 *   1. Only the writer changes the store: one of its two threads at a time (writer.h). It changes
 *      what is in memory under `state_lock` held for writing, after the store has committed, and
 *      only then are replies sent.
 *   2. A reader holds `state_lock` for reading while it looks at the catalogue, a table's indexes
 *      or trees, and takes the current snapshot there; it holds no lock while it reads the store.
 *      Who needs no more than a table by its name, as each write does, holds `tables_lock` instead,
 *      which no commit takes.
 *   3. A snapshot is the store's snapshot after a commit and the number of that commit, which is
 *      what the trees stood at when it was taken. A cached item may be used at a snapshot if it was
 *      last written at or before the snapshot's commit.
 *   4. A table's schema is never changed in place: a new one replaces the pointer, the old one
 *      stays until the table is freed, and so does the `struct index` of a dropped index (without
 *      its tree). Tables are counted by reference.
 *   5. A reader that holds a snapshot waits for nothing: a recovery holds `state_lock` until all
 *      snapshots are dropped.
 */
#ifndef GT_TABLE_LOCAL_LOCAL_INT_H
#define GT_TABLE_LOCAL_LOCAL_INT_H

#include "base/hash.h"
#include "base/map.h"
#include "rank/tree.h"
#include "store/store.h"
#include "table/change.h"
#include "table/engine.h"
#include "table/local/entry_hash.h"
#include "table/local/large_items.h"
#include "table/local/local.h"
#include "table/local/partition_filter.h"
#include "table/local/reclaimer.h"
#include "table/local/streams.h"
#include "table/local/tokens.h"
#include "table/ranking.h"
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
    bool put;    /* else del */
    bool covers; /* of a put: the entry covers its item (covering.h) */
    int64_t size_change;
    size_t key_size;
    uint8_t key[];
};

/* What an index entry is made of: the index's own key parts (partition attributes first), then
 * those of the table's that are not among them. */
enum { ENTRY_PARTS_MAX = KEY_PARTS_MAX + 2 };
struct entry_shape {
    unsigned count, own_count, partition_count;
    struct key_part parts[ENTRY_PARTS_MAX];
    struct bytes sorted[ENTRY_PARTS_MAX]; /* the parts' names, in byte order */
    unsigned slots[ENTRY_PARTS_MAX];      /* sorted[slots[i]] is the name of parts[i] */
    unsigned table_parts[2]; /* which of the parts are the table's partition and sort keys */
};

struct index {
    const struct index_schema *schema; /* as it was made, in the table's arena; its capacity is
                                          to be read from the table's schema. NULL: this is an
                                          expiry tree, */
    struct bytes expiry;               /* which is by the time that this attribute tells */
    struct tree *tree;                 /* NULL while it is being built */
    struct entry_hash *entry_hash;     /* from items to entries; NULL unless `has_entry_hash` */
    uint64_t size;                     /* bytes of what it shows of its items */
    enum part_status status;
    bool backfilling;
    struct entry_shape shape; /* its names are the schemas' */
    bool has_entry_hash; /* it orders the table's own partitions anew and shows nothing but keys: a
                   ranking, whose items are asked for by their keys */
    int codes[ENTRY_PARTS_MAX];            /* the writer's: of the names in shape.sorted, */
    bool coded;                            /* once they were looked up */
    struct index_note *notes, **notes_end; /* kept by the writer from the build's snapshot on */
    struct index_walk *walks; /* under way (index_walk.h); changed under state_lock held for reading
                                 and walks_lock */
    struct index *retired;    /* the next of the table's dropped ones */
};

enum {
    INDEXES_MAX = LIMIT_GLOBAL_INDEXES + LIMIT_LOCAL_INDEXES,
    TREES_MAX = INDEXES_MAX + 1, /* with the expiry tree */
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
    bool loading;           /* not yet whole: nobody but its loader may use it; as local->tables */
    struct stream *stream;  /* the writer's: the present one, or NULL */
    struct partition_filter partition_filter;
    struct reclaimer *reclaimer; /* who frees it; NULL: the last who holds it */
};

/* A table with one reference and a copy of the schema, its indexes without trees. (table_state.c)
 */
struct table *table_new(uint32_t id, const struct table_schema *schema);
void table_ref(struct table *table);
void table_unref(struct table *table);
/* An index for table->indexes, in no state yet. */
struct index *index_new(const struct table_schema *schema, const struct index_schema *of);
/* A new expiry tree, for table->expiry. */
struct index *index_new_expiry(struct bytes attribute);
/* Frees the tree, the entry hash and the notes. */
void index_empty(struct index *index);
/* Takes them out of the index, under state_lock held for writing if readers see it, and has the
 * reclaimer free them. */
void index_retire(struct index *index, struct reclaimer *reclaimer);
/* --- the entries of an index (index_entries.c) ---
 *
 * For the writer, under state_lock held for writing, or for who builds an index that nobody else
 * sees yet. All but index_begin() need the tree. `covers` says whether the entry covers its item
 * (covering.h). */

/* Gives the index a tree without entries, and, if it is to have one, an entry hash with room for
 * `expected` entries. */
void index_begin(struct index *index, uint64_t expected);
void index_put(struct index *index, struct bytes entry, bool covers);
void index_del(struct index *index, struct bytes entry);
/* Likewise in three steps, so that the cache misses of several entries overlap: index_prefetch()
 * works out what the entry hash will be told and prefetches what leads to its slot,
 * index_prefetch_slot() a little later the slot, and the others make the change. The entry's bytes
 * must stay as they are in between. `last` is what the call before found, and at
 * first zero: entries of one partition mostly come one after the other, and its hash is then made
 * once. */
struct index_prefetched {
    uint64_t hash;
    struct entry_middle middle; /* empty: the index has no entry hash */
};
struct index_head {
    const struct index *index;
    struct bytes head; /* the entry's partition, in the bytes of an entry */
    uint64_t hash;     /* of the head */
};
struct index_prefetched index_prefetch(const struct index *index, struct bytes entry, bool covers,
                                       struct index_head *last);
void index_prefetch_slot(const struct index *index, const struct index_prefetched *found);
void index_put_prefetched(struct index *index, struct bytes entry,
                          const struct index_prefetched *found);
void index_del_prefetched(struct index *index, struct bytes entry,
                          const struct index_prefetched *found);
/* Both at once, for two entries of the same hash in an entry hash, if they are close to each other
 * in the tree: an item that moves a little, as most do whose score is raised. False: nothing was
 * done. */
struct entry_found {
    struct bytes entry;
    const struct index_prefetched *found;
};
bool index_move_prefetched(struct index *index, struct entry_found from, struct entry_found to);
/* Fills the entry hash of an index with very many entries, whose bytes stay as they are until
 * index_filler_finish(). The entries are dealt into piles by the leading bits of their hashes, and
 * put a pile at a time: those of one pile fall into the same part of the table, which then is in
 * the processor's cache. index_begin() has made the entry hash for `expected`. Several threads may
 * fill one, each with a filler of its own and all with the same locks, which are made for that
 * index and freed when all are done. */
enum { INDEX_PILE_BITS = 8 };
struct index_fill_locks {
    pthread_mutex_t piles[1 << INDEX_PILE_BITS];
};
struct index_fill_locks *index_fill_locks_new(void);
void index_fill_locks_free(struct index_fill_locks *locks);
struct index_filler {
    struct index *index;
    struct index_fill_locks *locks;
    struct entry_hash_sums sums;    /* what this one has put */
    struct index_head last;         /* of the entry that was added last */
    unsigned pile_bits;             /* so many leading bits of a hash say which pile */
    uint32_t *counts;               /* how many entries each pile has */
    struct index_prefetched *found; /* the piles */
};
void index_filler_begin(struct index_filler *filler, struct index *index,
                        struct index_fill_locks *locks, uint64_t expected);
void index_filler_add(struct index_filler *filler, struct bytes entry, bool covers);
void index_filler_finish(struct index_filler *filler);
/* Bytes of memory that the tree and the entry hash take. */
size_t index_memory(const struct index *index);

/* Everything of the table that has a tree: the indexes, then the expiry tree. `out` has room for
 * TREES_MAX. Returns how many. */
unsigned table_trees(const struct table *table, struct index **out);
void table_describe(const struct table *table, struct arena *arena, struct table_description *out);

/* --- snapshots (local.c) --- */

enum { SNAPSHOT_ITERATORS = 8 };

struct snapshot {
    atomic_uint refs;
    uint64_t commit;
    struct store_snapshot *stored;
    struct local *local;
    /* Iterators over the items that nobody uses at present, kept because opening one costs more
     * than reading a small page with it. They are closed with the snapshot. */
    struct store_iter *_Atomic idle[SNAPSHOT_ITERATORS];
};

/* An iterator over a range of the items at the snapshot. Neither bound is empty, and both stay as
 * they are until the iterator is given back. Any thread that holds the snapshot. */
struct store_iter *snapshot_iter_get(struct snapshot *snapshot, struct bytes low,
                                     struct bytes high);
void snapshot_iter_put(struct snapshot *snapshot, struct store_iter *iter);

/* --- partition versions (partition_version.c) ---
 *
 * Partitions are hashed to slots; a slot holds the number of the commit that last changed one of
 * its partitions. It is set before that commit's snapshot is current, under the same hold of
 * `state_lock`; so whoever asks for the number, then reads, and later finds the number as it was,
 * knows that what was read is what is there. Reading a slot again takes no lock: a commit that is
 * being made visible may be seen or not, one whose changes are done is.
 *
 * Who has seen very many partitions shares a slot with nearly all that others write. So a slot also
 * lists which of its partitions changed last, and when: a line of the processor's cache. */
enum { PARTITION_VERSION_SLOTS = 65536, PARTITIONS_LISTED = 6 };
struct version_slot {
    atomic_uint_fast64_t last;                      /* commit, of any of its partitions */
    atomic_uint_fast64_t unlisted;                  /* the last one of those that are not listed */
    atomic_uint_fast64_t listed[PARTITIONS_LISTED]; /* the partition's mark, and the commit; or 0 */
};
struct partition_versions {
    struct version_slot *slots;  /* NULL: nobody asks, as of a folder that is only looked at */
    atomic_uint_fast64_t tables; /* the last commit that may have changed any partition */
};
void partition_versions_init(struct local *local);
void partition_versions_release(struct local *local);

struct backups;
struct recovery;
struct cache;
struct count_index_set;
struct writer;

struct local {
    struct engine engine; /* first: the interface's handle */
    struct local_settings settings;
    struct store *store;
    struct names *names;
    struct cache *cache;
    struct large_items large_items;
    struct count_index_set *count_index; /* (count_index.h) */
    struct writer *writer;
    struct backups *backups;     /* NULL in memory */
    struct recovery *recovery;   /* NULL in memory (recovery.h) */
    struct reclaimer *reclaimer; /* NULL: things are freed where they are let go of */

    pthread_rwlock_t state_lock;       /* prefers writers */
    pthread_mutex_t walks_lock;        /* among readers that begin or end an index_walk */
    pthread_rwlock_t tables_lock;      /* taken after state_lock if both are; prefers writers */
    struct map tables;                 /* by name -> struct table; read under state_lock or
                                          tables_lock, changed under both */
    struct streams streams;            /* under state_lock */
    struct snapshot *snapshot;         /* under state_lock */
    atomic_uint snapshots;             /* not yet freed */
    atomic_uint_fast64_t index_memory; /* sum of tree_memory() */
    uint32_t next_table_id;            /* the writer's */
    int names_stored;                  /* the writer's: codes the store has */
    struct tokens *tokens;             /* the writer's: of transactions that were done */
    struct partition_versions partition_versions;
    struct write_rules *write_rules; /* the writer's: asked about what others write */
    atomic_uint_fast64_t commits, writes, expired;
    struct durations commit_writes; /* by the thread that commits */
};

/* By the thread that commits, holding state_lock for writing: raises the version of the partition
 * of the item with that store key, or those of all partitions, to `commit`. */
void partition_version_raise(struct local *local, struct bytes key, uint64_t commit);
void partition_version_raise_all(struct local *local, uint64_t commit);

/* The current snapshot, with a reference; the caller holds state_lock. Any thread drops it. */
struct snapshot *snapshot_hold(struct local *local);
void snapshot_drop(struct snapshot *snapshot);
/* Takes the snapshot that follows a commit and makes it current; the caller holds state_lock for
 * writing. */
void snapshot_advance(struct local *local);
/* For a recovery, which reopens the store between the two: gives back what the current snapshot
 * holds of the store, and takes it anew. Nobody else holds the snapshot, and the caller holds
 * state_lock for writing over both calls. */
void snapshot_suspend(struct local *local);
void snapshot_resume(struct local *local);

/* The table of that name if it may be used, or NULL; the caller holds state_lock or tables_lock, or
 * is the writer. */
static inline struct table *local_table(const struct local *local, struct bytes name) {
    struct table *table = map_get(&local->tables, name);
    return table != NULL && !table->loading ? table : NULL;
}
/* The table of that name with a reference, or NULL and NO_TABLE in *failure. Takes tables_lock, so
 * that it never waits for a commit. */
struct table *local_find(struct local *local, struct bytes name, struct scope in);

/* --- keys (store_keys.c) ---
 *
 *   item   table:u32 hash:u32 partition sort?          in the store's items
 *   index  hash:u32 partition+ sort* tablekeys*        in the index's tree
 *   expiry ms:u64 hash:u32 partition sort?             in the table's expiry tree
 *
 * `hash` is the high half of hash_stable(encoded partition parts, 0): it spreads partitions evenly,
 * so that a segment of a parallel scan is a range of keys. */
/* The table's number, which a key in the store begins with and an entry does not. */
enum { KEYS_TABLE_SIZE = 4, KEYS_HASH_SIZE = 4 };
/* Sets the shape of an index whose schema is set, and whether it has an entry hash. */
void keys_prepare_index(struct index *index, const struct table_schema *schema);
void keys_put_item(struct buf *to, const struct table *table, const struct table_schema *schema,
                   const struct item *item_or_key);
/* What the keys of all items of a partition begin with. */
void keys_put_partition(struct buf *to, const struct table *table, const struct value *partition);
/* Appends what the entries of a partition begin with that is one string, of which `begin` and
 * `rest` are the encoding (value/key.h). */
void keys_put_entry_partition(struct buf *to, struct bytes begin, struct bytes rest);
/* How many bytes of an item's key that is. */
size_t keys_partition_span(const struct table_schema *schema, struct bytes key);
/* False, appending nothing, if the item is not in the index. */
bool keys_put_entry(struct buf *to, const struct table_schema *schema, const struct index *index,
                    const struct item *item);
/* Whether the item is in the index, which is no expiry tree. */
bool keys_has_entry(const struct index *index, const struct item *item);
/* Bytes of what the index projects of an item that is in it; 0 for an expiry tree. */
size_t keys_shown_size(const struct table_schema *schema, const struct index *index,
                       const struct item *item, struct arena *arena);
/* Appends the entry of an item of which only some attributes were decoded: values[i] is that of
 * index->shape.sorted[i], of type VALUE_NONE if the item has none. False, appending nothing, if the
 * item is not in the index. */
bool keys_put_sorted(struct buf *to, const struct index *index, const struct value *values);
/* What a build has of an item. */
struct key_source {
    struct bytes key; /* in the store, */
    size_t span;      /* of which so many bytes are its partition */
    /* Its attributes in the order of the index's parts, or the one that the expiry tree is by; of
     * type VALUE_NONE if the item has none. */
    const struct value *const *values;
};
/* Likewise from these, copying from the key what the entry has in common with it. */
bool keys_put_extracted(struct buf *to, const struct index *index, const struct key_source *from);
/* An order that keys stand in: the table's own in the store, or that of an index's tree. */
struct key_order {
    const struct table *table;
    const struct table_schema *schema; /* the table's */
    const struct index *index;         /* NULL: the table's own order */
};
/* Appends the key in the store of the item that an index entry points at. DAMAGED if the bytes are
 * no entry of the index. */
enum status keys_entry_to_item(struct buf *to, const struct key_order *order, struct bytes entry);
/* How many bytes of an entry are its partition and so many sort attributes. 0: it is no entry. */
size_t keys_entry_span(const struct index *index, struct bytes entry, unsigned sort_parts);
/* What an entry says by itself: the keys of the index and of the table. The names are copied into
 * the arena, once for all entries; strings are borrowed from the entry. */
void keys_shape(struct entry_shape *out, const struct index *index, struct arena *arena);
enum status keys_entry_decode(const struct entry_shape *shape, struct bytes entry,
                              struct arena *arena, struct item *out);
/* What an entry of an expiry tree says: the time, and the key of the item, which borrows from the
 * entry. */
bool keys_time_of(struct bytes entry, uint64_t *ms);
enum status keys_time_decode(const struct table_schema *schema, struct bytes entry,
                             struct arena *arena, struct item *out);
/* The bounds [low, high) of a key range. */
void keys_put_bounds(struct buf *low, struct buf *high, const struct key_order *order,
                     const struct key_range *range);
/* A place in an index's tree. False, appending nothing, if it does not fit the index's keys. */
bool keys_put_bound(struct buf *to, const struct index *index, const struct bound *bound);
/* One of the segments that a parallel scan cuts a table or an index into; zero is all of it. */
struct scan_segment {
    uint32_t at;    /* less than `count` */
    uint32_t count; /* 0: one */
};
/* The bounds of a segment; order->schema may be NULL. An index's last segment has an empty `high`,
 * which is no bound. */
void keys_put_segment(struct buf *low, struct buf *high, const struct key_order *order,
                      struct scan_segment segment);

/* --- the item cache (cache.c): any thread; it has locks of its own --- */

struct cache *cache_new(size_t memory_max);
void cache_free(struct cache *cache);
/* The hash that an item's key in the store is known by in memory. */
static inline uint64_t local_hash(struct bytes key) {
    return hash_keyed(key, 1);
}
/* An item's key in the store with its hash, which is computed once for all who look the item up. */
struct hashed_key {
    struct bytes bytes;
    uint64_t hash; /* local_hash() of the bytes */
};
static inline struct hashed_key hashed_key_of(struct bytes key) {
    return (struct hashed_key){key, local_hash(key)};
}
/* A copy of the item's bytes in the arena if the cache has them and they were last written at or
 * before `commit` (UINT64_MAX: whenever that was); else `data` is NULL. */
struct bytes cache_get(struct cache *cache, struct hashed_key key, uint64_t commit,
                       struct arena *arena);
/* Counts an item that has to be read from the store. */
void cache_missed(struct cache *cache, uint64_t hash);
/* Adds what a reader has read from the store at the snapshot of `commit`. It is left out if
 * anything in the same shard of the cache was written since, for it may be out of date. */
void cache_fill(struct cache *cache, struct hashed_key key, struct bytes value, uint64_t commit);
/* What a commit does to an item. */
struct cache_update {
    struct bytes value; /* data NULL: the item was deleted, or is covered (covering.h) */
    bool only_if_room;  /* an item that the cache does not have pushes no other out */
    uint64_t commit;
};
/* Called by the thread that commits, for each item of the commit. */
void cache_write(struct cache *cache, struct hashed_key key, const struct cache_update *update);
/* How often items of the key's partition, or of another in the same slot, were written. Holding
 * state_lock: while the number stays, so does what is in the partition. */
uint64_t cache_partition_writes(struct cache *cache, struct bytes key);
/* Whether the range of that hash was asked for before, since the partition was last written. */
bool cache_range_returns(struct cache *cache, uint64_t hash, uint64_t writes);
/* Adds a range of items (page_range.c), or replaces it. cache_get() finds it, at any commit. */
void cache_put_range(struct cache *cache, struct hashed_key key, struct bytes range);
/* Prefetch what a look-up of the hash will read: first its slot, and a little later, when that has
 * arrived, the entry that the slot points at. */
void cache_prefetch(struct cache *cache, uint64_t hash);
void cache_prefetch_entry(struct cache *cache, uint64_t hash);
void cache_clear(struct cache *cache);
void cache_figures(struct cache *cache, struct engine_figures *out);
/* How many slots a look-up may have to pass over. For tests, at rest. */
size_t cache_longest_run(struct cache *cache);

/* An item's stored bytes in the arena, from the cache or else from the store: as they are at the
 * snapshot, or, for the writer's thread only, as they are now. NOT_FOUND, IO_FAILED, DAMAGED. */
enum status snapshot_read(const struct snapshot *snapshot, struct hashed_key key,
                          struct arena *arena, struct bytes *out);
enum status local_read_now(struct local *local, struct hashed_key key, struct arena *arena,
                           struct bytes *out);

/* An index of the table that can be read, or INVALID with the text. The caller holds state_lock. */
enum status local_index(const struct table *table, struct bytes name, struct scope in,
                        const struct index **out);
/* Words for a read that failed with IO_FAILED or DAMAGED. Returns the status. */
enum status local_fault(enum status status, struct scope in);

/* --- building indexes (index_build.c) --- */

/* Reads all items of a table at a snapshot and makes the trees of `indexes` (their tree and size
 * are set; entries are sorted and loaded, on several threads). Also counts the items, and, if asked
 * to, measures them, which takes longer: then all of each has to be looked at. MEMORY_FULL
 * if the trees pass the limit; *stop set by another thread ends it with STOPPING. Takes no lock:
 * nobody else may be looking at these indexes. The start, a backfill and a recovery all come here.
 */
struct index_build {
    struct local *local;
    const struct table *table;
    const struct table_schema *schema;
    const struct store_snapshot *snapshot;
    struct index **indexes;
    unsigned index_count;
    unsigned threads;
    atomic_bool *stop;               /* may be NULL */
    bool measure;                    /* the items, too */
    struct partition_filter *filter; /* gets all partitions; NULL: none does. Nobody uses it yet */
    bool past_limit;     /* the trees may take more than the memory for indexes: a start and a
                            recovery bring back what is there, and writes that add to it are
                            refused afterwards */
    uint64_t item_count; /* filled in; before, a guess at it */
    uint64_t size;       /* filled in if measured */
};
enum status index_build_run(struct index_build *build, struct scope in);

/* --- the writer (write_queue.c, writer.c; writer.h is its inside) --- */

enum status writer_start(struct local *local, struct scope in);
/* Finishes what is queued, then ends both threads and waits for them. */
void writer_stop(struct local *local);
/* Whether this is the writer's thread, which alone changes what state_lock guards, or has it
 * changed: it looks at tables without the lock. */
bool writer_is_current(const struct local *local);
void local_read_only(struct engine *engine, bool on);
void local_submit(struct engine *engine, struct change *change);
void local_batch_flush(struct engine *engine, struct change_batch *batch);

/* --- ranks and partitions (rank_lookup.c, partition_names.c, partition_version.c, get.c): any
 * thread --- */

enum status local_partitions_count(struct engine *engine, const struct partition_names *which,
                                   struct scope in, struct name_span *spans, size_t count);
enum status local_partitions_list(struct engine *engine, const struct partition_names *which,
                                  const struct name_span *span, size_t limit, struct scope in,
                                  struct partition_list *out);
enum status local_rank_lookup(struct engine *engine, const struct rank_request *request,
                              struct scope in, struct rank_reply *replies);
uint64_t local_partition_version(struct engine *engine, struct bytes table,
                                 const struct value *partition, uint32_t *where);
uint64_t local_partition_version_at(struct engine *engine, uint32_t where);
bool local_partition_changed(struct engine *engine, uint32_t where, uint64_t version);
bool local_partitions_absent(struct engine *engine, struct bytes table,
                             const struct value *partitions, size_t count);

/* --- the catalogue (catalogue.c) ---
 *
 * In the store's meta family:
 *   'n' code:u16          -> name                     the dictionary
 *   't' id:u32            -> table record             schema, id, dates
 *   'c' id:u32            -> item count, size         written with each commit that changes them
 *   'i'                   -> next table id
 *   'l' id:u32            -> nothing                  the table is being loaded
 *   'k' number:u64        -> token                    of a transaction (tokens.h)
 *   'r' key               -> nothing                  a partition with a count index
 *   'S', 's'              -> streams                  (streams.h)
 *
 * Whether an index is whole is not written down: after a start or a recovery each one is. */
enum status catalogue_load(struct local *local, struct scope in);
/* Only names, tables and counts: enough to read items. */
enum status catalogue_load_tables(struct local *local, struct scope in);
/* Removes the tables that were being loaded when the engine stopped. Before anybody else looks. */
enum status catalogue_drop_loading(struct local *local, struct scope in);
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
/* Builds the indexes of every table at the current snapshot. (local.c) */
enum status local_build_all(struct local *local, struct scope in);
/* Sets index_memory from the trees there are. The writer's. */
void local_sum_memory(struct local *local);

/* --- copies (backup.c, table_reader.c) --- */

/* NULL in memory. Removes what an interrupted backup left. */
struct backups *backups_new(struct local *local);
void backups_free(struct backups *backups);
enum status local_backup_create(struct engine *engine, const struct backup_request *request,
                                struct scope in, struct backup_description *out);
enum status local_backup_describe(struct engine *engine, struct bytes id, struct scope in,
                                  struct backup_description *out);
enum status local_backup_delete(struct engine *engine, struct bytes id, struct scope in,
                                struct backup_description *out);
enum status local_backup_list(struct engine *engine, const struct backup_filter *filter,
                              struct scope in, struct backup_list *out);
enum status local_read_table(struct engine *engine, const struct reader_request *request,
                             struct scope in, struct table_reader **out);

/* --- reading (get.c, page.c) --- */

enum status local_get_many(struct engine *engine, const struct get_request *requests, size_t count,
                           struct scope in, struct get_reply *replies);
enum status local_page(struct engine *engine, const struct page_request *request, struct scope in,
                       struct page_reply *out);

#endif
