/* Covered items: those that an index entry says all about.
 *
 * An item that has no attributes but those that an index entry is made of (the keys of the index
 * and of the table) is *covered* by that entry: as most scores on a board are. It is made from the
 * entry when somebody reads it, so the item cache does not keep it as well, and the writer neither
 * copies nor decodes it. The first index of a table that has an entry hash is its covering index.
 *
 * Invariants:
 *   1. An entry whose bit in the entry hash says that it covers its item does so at the commit that
 *      the trees stand at. An item that is covered after a commit is not in the cache after it.
 *   2. Whoever looks holds state_lock, and may use what it finds at the snapshot of that moment
 * only. The writer's thread, too: another thread may be committing. What that one changes is in the
 *      overlay of its group, where the writer looks first, so what the writer finds here is good
 *      until it settles that group, even when it has let go of the lock.
 *   3. Not found means nothing: the item may be there without being covered.
 */
#ifndef GT_TABLE_LOCAL_COVERING_H
#define GT_TABLE_LOCAL_COVERING_H

#include "table/local/local_int.h"

/* --- the entry of an item, by the item's key (index_entries.c) --- */

/* A search of an index's entry hash for the entry of one item. */
struct entry_search {
    const struct index *index;
    struct bytes head, tail; /* of the entry, */
    uint64_t hash;           /* and theirs */
    struct entry_hash_walk walk;
};
/* The head that was hashed last: neighbours often share it. Zero is none. */
struct head_hash {
    struct bytes head;
    uint64_t hash;
};
/* Begins the search for the item with that key in the store, which stays the caller's, and
 * prefetches; entry_search_seek() goes on a little later. False if the key does not fit. */
bool entry_search_begin(struct entry_search *search, const struct index *index, struct bytes key,
                        struct head_hash *last);
void entry_search_seek(struct entry_search *search);
/* The next entry that may be the item's, in the arena; empty if there is none. It is the item's if
 * it is in the tree. False if the entry hash cannot tell. */
bool entry_search_next(struct entry_search *search, struct arena *arena, struct bytes *out);

/* --- covered items (covering.c) --- */

/* The table's covering index if it has one that can be read, else NULL. Under state_lock, or by the
 * writer, who alone changes which there are. */
struct index *covering_index(const struct table *table);
/* Whether an item that is in the index is covered by its entry. */
static inline bool covering_covers(const struct index *index, const struct item *item) {
    return index->has_entry_hash && item->count == index->shape.count;
}
/* An item that is looked for. */
struct covering_lookup {
    const struct index *index; /* a covering index */
    struct bytes key;          /* in the store */
    struct arena *arena;       /* for the entry */
    struct bytes entry;        /* filled in: the entry that covers the item; empty: not found */
};
/* Looks for several at once, which hides cache misses. Under state_lock. */
enum { COVERING_MANY = 16 };
void covering_find(struct covering_lookup *lookups, size_t count);
/* Appends the entry of an item that it covers. False, appending nothing, if the item is not
 * covered, or is not the one with that key in the store, or breaks a rule that rules_check_item()
 * knows: then that has to be asked. */
bool covering_put_entry(struct buf *to, const struct index *index, struct bytes key,
                        const struct item *item);
/* Appends a covered item as it is stored. On the writer's thread. */
void covering_encode(struct local *local, struct index *index, const struct item *item,
                     struct buf *to);
/* The item that an entry of its covering index says all about. Its names are copied into the arena,
 * its strings are borrowed from the entry. DAMAGED if the bytes are no entry. */
enum status covering_item(const struct index *index, struct bytes entry, struct arena *arena,
                          struct item *out);

#endif
