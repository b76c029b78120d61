/* The write buffer: what was written since it was last handed over to the tables, newest first.
 *
 * A hash table leads from family and key to an entry, an entry to its versions, from the newest to
 * the oldest; each carries the sequence number of its write, so that a snapshot is a number: it
 * sees of each key the newest version that is not above it. A deletion is a version too. A deleted
 * range is one record in a short list.
 *
 * One thread writes. Any number read at the same time and take no lock: nothing is ever changed or
 * freed but the links, which are atomic, and all memory goes at once when the buffer does. So all
 * versions stay until then; an old one that a snapshot may still see costs no more than the bound
 * of the buffer, and nobody has to find out which those are.
 *
 * The order of the keys is made when somebody asks for it: entries that are new stand in a list,
 * and write_buffer_order() puts them into a skip list (buffer_order.h). A key that is only written
 * and looked up never pays for it before the buffer is handed over.
 */
#ifndef GT_STORE_WRITE_BUFFER_H
#define GT_STORE_WRITE_BUFFER_H

#include "store/buffer_memory.h"
#include "store/store.h"

#include <stdatomic.h>

/* The last is BUFFER_PUT of a value that stays in the log; only batches have it. The buffer gets a
 * reference (log_value.h) for it. */
enum buffer_kind { BUFFER_PUT, BUFFER_DELETE, BUFFER_DELETE_RANGE, BUFFER_PUT_LOGGED };

/* One write, of a key of at most BUFFER_KEY_MAX bytes. Of a deleted range `key` is the first key
 * and `value` the one behind its last. */
struct buffer_write {
    uint64_t sequence;
    enum store_family family;
    enum buffer_kind kind;
    struct bytes key, value;
};

/* A state of a key. Never changes. */
struct buffer_version {
    uint64_t sequence;
    const struct buffer_version *older; /* or NULL */
    uint32_t size : 31, deleted : 1;
    uint8_t value[]; /* `size` bytes */
};

/* A key. Its bytes stand behind the links of the skip list. There are many, so it is kept small. */
struct buffer_entry {
    _Atomic(const struct buffer_version *) newest;
    uint32_t hash;
    uint16_t key_size;
    uint8_t family, height;
    /* next[0] of an entry that is not in order yet: another that is not, or NULL. */
    _Atomic(struct buffer_entry *) next[];
};
enum { BUFFER_KEY_MAX = UINT16_MAX };

/* Deleted keys: low <= key < high. Never changes. */
struct buffer_range {
    const struct buffer_range *older;
    uint64_t sequence;
    struct bytes low, high;
};

struct write_buffer;
/* Held once, by the caller; freed by the last who drops it. Any thread. `memory` lasts longer;
 * NULL: nothing is kept for the next buffer. */
struct write_buffer *write_buffer_new(struct buffer_memory *memory);
/* Prepares memory that the next buffers will take. For a thread that nobody waits for. */
void write_buffer_prepare(struct buffer_memory *memory);
struct write_buffer *write_buffer_hold(struct write_buffer *buffer);
void write_buffer_drop(struct write_buffer *buffer);

/* --- writing: one thread; sequences rise --- */

void write_buffer_add(struct write_buffer *buffer, const struct buffer_write *write);
/* Likewise in steps, so that the cache misses of several writes overlap. `hash` is buffer_hash() of
 * the write's family and key. The first prefetches the slot of the hash table, the second, some
 * writes later, the entry that the slot leads to, the third adds the write. */
void write_buffer_prefetch(const struct write_buffer *buffer, uint64_t hash);
void write_buffer_prefetch_entry(const struct write_buffer *buffer, uint64_t hash);
void write_buffer_add_hashed(struct write_buffer *buffer, const struct buffer_write *write,
                             uint64_t hash);
/* Bytes it holds in memory; how many ranges were deleted. Any thread. */
size_t write_buffer_size(const struct write_buffer *buffer);
unsigned write_buffer_ranges(const struct write_buffer *buffer);
/* Keys of the family that are not in order yet. Any thread. */
size_t write_buffer_pending(const struct write_buffer *buffer, enum store_family family);
/* Keys of the family. Any thread. */
size_t write_buffer_keys(const struct write_buffer *buffer, enum store_family family);
/* Whether nothing was written to the family. Any thread. */
bool write_buffer_is_empty(const struct write_buffer *buffer, enum store_family family);

/* --- reading: any thread; what was written up to a sequence that the caller has seen committed ---
 */

struct buffer_key {
    enum store_family family;
    struct bytes key;
    uint64_t hash;     /* of both, by buffer_hash() */
    uint64_t sequence; /* of the snapshot */
};

uint64_t buffer_hash(enum store_family family, struct bytes key);
/* What the snapshot sees of the key; NULL if the buffer does not know it. Ranges are not looked at.
 */
const struct buffer_version *write_buffer_find(const struct write_buffer *buffer,
                                               const struct buffer_key *key);
/* The newest deleted range that the key is in and the snapshot sees, or NULL. */
const struct buffer_range *write_buffer_find_range(const struct write_buffer *buffer,
                                                   enum store_family family, struct bytes key,
                                                   uint64_t sequence);
/* All deleted ranges of the family, newest first. */
const struct buffer_range *write_buffer_newest_range(const struct write_buffer *buffer,
                                                     enum store_family family);

static inline struct bytes buffer_entry_key(const struct buffer_entry *entry) {
    return bytes_of(&entry->next[entry->height], entry->key_size);
}
/* What a snapshot sees of it, or NULL. */
const struct buffer_version *buffer_entry_at(const struct buffer_entry *entry, uint64_t sequence);

/* --- in order: any thread --- */

/* Puts into order what was written so far. Waits for somebody who is at it. */
void write_buffer_order(struct write_buffer *buffer, enum store_family family);
/* The first entry that is not before the key (an empty one: the first of all), the last that is
 * before it, and the one that follows. NULL: none. They find what is in order. */
const struct buffer_entry *write_buffer_seek(const struct write_buffer *buffer,
                                             enum store_family family, struct bytes key);
const struct buffer_entry *write_buffer_before(const struct write_buffer *buffer,
                                               enum store_family family, struct bytes key);
const struct buffer_entry *write_buffer_last(const struct write_buffer *buffer,
                                             enum store_family family);
const struct buffer_entry *buffer_entry_next(const struct buffer_entry *entry);

#endif
