#include "store/write_buffer.h"

#include "base/hash.h"
#include "base/mem.h"
#include "store/buffer_order.h"

#include <assert.h>

enum {
    PART_BITS = 8,
    PARTS = 1 << PART_BITS,
    SLOTS_MIN = 4096, /* of all parts */
    SLOTS_FIRST_MAX = 1024 * 1024,
    ALIGNMENT = 8,
};

/* Open addressing; at most five eighths full. It grows by a larger one that replaces it, and those
 * who still look at the old one miss only what came later than their snapshot. */
struct slots {
    struct slots *smaller; /* kept for those who look at it; NULL: the first */
    size_t mask;
    _Atomic(struct buffer_entry *) *at;
};

/* The hash table is many small ones, so that none who writes waits long while one grows. The first
 * bits of an entry's hash say which, those behind them where in it. */
struct slots_part {
    _Atomic(struct slots *) slots;
    size_t count; /* entries; the writer's */
};

struct family_buffer {
    _Atomic(const struct buffer_range *) ranges;
    struct buffer_order order;
};

struct write_buffer {
    atomic_uint refs;
    struct slots_part parts[PARTS];
    struct slots first[PARTS];                /* what they begin with, */
    _Atomic(struct buffer_entry *) *first_at; /* which is one piece of memory, */
    size_t first_size;                        /* of so many bytes */
    size_t count;                             /* entries of all families; the writer's */
    struct buffer_memory *memory;             /* or NULL */
    struct buffer_chunk *chunks; /* memory is handed out from the front of the newest */
    uint8_t *at, *end;
    struct random random;
    atomic_size_t size;
    atomic_uint range_count;
    struct family_buffer families[STORE_FAMILIES];
};

/* --- memory --- */

static void add_chunk(struct write_buffer *buffer, size_t size) {
    struct buffer_chunk *chunk = buffer_memory_take(buffer->memory, size);
    chunk->older = buffer->chunks;
    buffer->chunks = chunk;
    buffer->at = (uint8_t *)(chunk + 1);
    buffer->end = (uint8_t *)chunk + chunk->size;
}

static void *take_memory(struct write_buffer *buffer, size_t size) {
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if ((size_t)(buffer->end - buffer->at) < size)
        add_chunk(buffer, size);
    void *piece = buffer->at;
    buffer->at += size;
    atomic_fetch_add_explicit(&buffer->size, size, memory_order_relaxed);
    return piece;
}

static struct bytes take_copy(struct write_buffer *buffer, struct bytes bytes) {
    uint8_t *copy = take_memory(buffer, bytes.size);
    if (bytes.size != 0)
        memcpy(copy, bytes.data, bytes.size);
    return bytes_of(copy, bytes.size);
}

static struct slots *slots_new(struct slots *smaller, size_t count) {
    struct slots *slots = mem_alloc(sizeof(*slots));
    slots->smaller = smaller;
    slots->mask = count - 1;
    slots->at = mem_zalloc(count * sizeof(slots->at[0]));
    return slots;
}

/* Those that came after the first. */
static void slots_free(struct slots *slots) {
    for (struct slots *smaller; slots->smaller != NULL; slots = smaller) {
        smaller = slots->smaller;
        mem_free(slots->at);
        mem_free(slots);
    }
}

/* Enough for an eighth more entries than the last buffer had, so that few parts grow. */
static size_t slots_first(struct buffer_memory *memory) {
    size_t expected = memory == NULL ? 0 : buffer_memory_expected(memory), count = SLOTS_MIN;
    while (count / 8 * 5 < expected + expected / 8 && count < SLOTS_FIRST_MAX)
        count *= 2;
    return count;
}

/* Many slots are in memory that was prepared, in large pages: they are filled at random. */
static void parts_begin(struct write_buffer *buffer, size_t slots) {
    size_t size = buffer->first_size = slots * sizeof(buffer->first_at[0]);
    buffer->first_at =
        size < MEM_LARGE ? mem_zalloc(size) : buffer_memory_take_table(buffer->memory, size);
    for (size_t i = 0; i < PARTS; i++) {
        buffer->first[i] =
            (struct slots){.mask = slots / PARTS - 1, .at = buffer->first_at + i * (slots / PARTS)};
        atomic_init(&buffer->parts[i].slots, &buffer->first[i]);
    }
}

static void parts_release(struct write_buffer *buffer) {
    for (size_t i = 0; i < PARTS; i++)
        slots_free(atomic_load(&buffer->parts[i].slots));
    if (buffer->first_size < MEM_LARGE)
        mem_free(buffer->first_at);
    else
        mem_large(buffer->first_at, buffer->first_size, 0);
}

void write_buffer_prepare(struct buffer_memory *memory) {
    size_t size = slots_first(memory) * sizeof(_Atomic(struct buffer_entry *));
    buffer_memory_prepare(memory, size < MEM_LARGE ? 0 : size);
}

struct write_buffer *write_buffer_new(struct buffer_memory *memory) {
    struct write_buffer *buffer = mem_zalloc(sizeof(*buffer));
    atomic_init(&buffer->refs, 1);
    buffer->memory = memory;
    parts_begin(buffer, slots_first(memory));
    random_seed(&buffer->random, 1); /* heights of towers; keys are not known to it */
    for (int i = 0; i < STORE_FAMILIES; i++)
        buffer_order_init(&buffer->families[i].order);
    return buffer;
}

struct write_buffer *write_buffer_hold(struct write_buffer *buffer) {
    atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
    return buffer;
}

void write_buffer_drop(struct write_buffer *buffer) {
    if (buffer == NULL || atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) != 1)
        return;
    parts_release(buffer);
    buffer_memory_give(buffer->memory, buffer->chunks, buffer->count);
    for (int i = 0; i < STORE_FAMILIES; i++)
        buffer_order_release(&buffer->families[i].order);
    mem_free(buffer);
}

/* --- the hash table --- */

uint64_t buffer_hash(enum store_family family, struct bytes key) {
    return hash_keyed(key, (uint64_t)family);
}

/* What an entry keeps of its hash: the first bits are its part's number. */
static uint32_t kept_hash(uint64_t hash) {
    return (uint32_t)(hash >> 32);
}

static const struct slots_part *part_of(const struct write_buffer *buffer, uint64_t hash) {
    return &buffer->parts[hash >> (64 - PART_BITS)];
}

static bool is_entry(const struct buffer_entry *entry, const struct buffer_key *key) {
    return entry->hash == kept_hash(key->hash) && entry->family == key->family &&
           bytes_equal(buffer_entry_key(entry), key->key);
}

/* The entry of the key, or NULL; *slot: where it is or would be. */
static struct buffer_entry *find_slot(const struct slots *slots, const struct buffer_key *key,
                                      size_t *slot) {
    for (size_t at = kept_hash(key->hash) & slots->mask;; at = (at + 1) & slots->mask) {
        struct buffer_entry *entry = atomic_load_explicit(&slots->at[at], memory_order_acquire);
        *slot = at;
        if (entry == NULL || is_entry(entry, key))
            return entry;
    }
}

static void part_grow(struct slots_part *part, struct slots *old) {
    struct slots *larger = slots_new(old, 4 * (old->mask + 1));
    for (size_t i = 0; i <= old->mask; i++) {
        struct buffer_entry *entry = atomic_load_explicit(&old->at[i], memory_order_relaxed);
        if (entry == NULL)
            continue;
        size_t at = entry->hash & larger->mask;
        while (atomic_load_explicit(&larger->at[at], memory_order_relaxed) != NULL)
            at = (at + 1) & larger->mask;
        atomic_store_explicit(&larger->at[at], entry, memory_order_relaxed);
    }
    atomic_store_explicit(&part->slots, larger, memory_order_release);
}

/* --- writing --- */

static const struct buffer_version *new_version(struct write_buffer *buffer,
                                                const struct buffer_write *write,
                                                const struct buffer_version *older) {
    size_t size = write->kind == BUFFER_PUT ? write->value.size : 0;
    struct buffer_version *version =
        take_memory(buffer, offsetof(struct buffer_version, value) + size);
    version->sequence = write->sequence;
    version->older = older;
    version->size = (uint32_t)size & INT32_MAX;
    version->deleted = write->kind == BUFFER_DELETE;
    if (size != 0)
        memcpy(version->value, write->value.data, size);
    return version;
}

static struct buffer_entry *new_entry(struct write_buffer *buffer, const struct buffer_write *write,
                                      uint64_t hash) {
    uint8_t height = buffer_order_height(&buffer->random);
    assert(write->key.size <= BUFFER_KEY_MAX);
    struct buffer_entry *entry =
        take_memory(buffer, sizeof(*entry) + height * sizeof(entry->next[0]) + write->key.size);
    entry->hash = kept_hash(hash);
    entry->key_size = (uint16_t)write->key.size;
    entry->family = (uint8_t)write->family;
    entry->height = height;
    for (uint8_t i = 0; i < height; i++)
        atomic_init(&entry->next[i], NULL);
    if (write->key.size != 0)
        memcpy(&entry->next[height], write->key.data, write->key.size);
    atomic_init(&entry->newest, new_version(buffer, write, NULL));
    return entry;
}

static void add_entry(struct write_buffer *buffer, const struct buffer_write *write,
                      const struct buffer_key *key) {
    struct slots_part *part = &buffer->parts[key->hash >> (64 - PART_BITS)];
    struct slots *slots = atomic_load_explicit(&part->slots, memory_order_relaxed);
    buffer->count++;
    if (++part->count > slots->mask / 8 * 5) {
        part_grow(part, slots);
        slots = atomic_load_explicit(&part->slots, memory_order_relaxed);
    }
    size_t slot;
    find_slot(slots, key, &slot);
    struct buffer_entry *entry = new_entry(buffer, write, key->hash);
    atomic_store_explicit(&slots->at[slot], entry, memory_order_release);
    buffer_order_push(&buffer->families[write->family].order, entry);
}

static void add_range(struct write_buffer *buffer, const struct buffer_write *write) {
    struct family_buffer *family = &buffer->families[write->family];
    struct buffer_range *range = take_memory(buffer, sizeof(*range));
    range->sequence = write->sequence;
    range->low = take_copy(buffer, write->key);
    range->high = take_copy(buffer, write->value);
    range->older = atomic_load_explicit(&family->ranges, memory_order_relaxed);
    atomic_store_explicit(&family->ranges, range, memory_order_release);
    atomic_fetch_add_explicit(&buffer->range_count, 1, memory_order_relaxed);
}

void write_buffer_prefetch(const struct write_buffer *buffer, uint64_t hash) {
    const struct slots *slots =
        atomic_load_explicit(&part_of(buffer, hash)->slots, memory_order_relaxed);
    __builtin_prefetch(&slots->at[kept_hash(hash) & slots->mask], 1);
}

void write_buffer_prefetch_entry(const struct write_buffer *buffer, uint64_t hash) {
    const struct slots *slots =
        atomic_load_explicit(&part_of(buffer, hash)->slots, memory_order_relaxed);
    const struct buffer_entry *entry =
        atomic_load_explicit(&slots->at[kept_hash(hash) & slots->mask], memory_order_relaxed);
    __builtin_prefetch(entry, 1);
}

void write_buffer_add(struct write_buffer *buffer, const struct buffer_write *write) {
    write_buffer_add_hashed(buffer, write, buffer_hash(write->family, write->key));
}

void write_buffer_add_hashed(struct write_buffer *buffer, const struct buffer_write *write,
                             uint64_t hash) {
    struct buffer_key key = {.family = write->family, .key = write->key, .hash = hash};
    size_t slot;
    if (write->kind == BUFFER_DELETE_RANGE) {
        add_range(buffer, write);
        return;
    }
    struct slots *slots = atomic_load_explicit(&part_of(buffer, hash)->slots, memory_order_relaxed);
    struct buffer_entry *entry = find_slot(slots, &key, &slot);
    if (entry == NULL) {
        add_entry(buffer, write, &key);
        return;
    }
    const struct buffer_version *older = atomic_load_explicit(&entry->newest, memory_order_relaxed);
    atomic_store_explicit(&entry->newest, new_version(buffer, write, older), memory_order_release);
}

/* --- reading --- */

size_t write_buffer_size(const struct write_buffer *buffer) {
    return atomic_load_explicit(&buffer->size, memory_order_relaxed);
}

unsigned write_buffer_ranges(const struct write_buffer *buffer) {
    return atomic_load_explicit(&buffer->range_count, memory_order_relaxed);
}

size_t write_buffer_pending(const struct write_buffer *buffer, enum store_family family) {
    return buffer_order_pending(&buffer->families[family].order);
}

size_t write_buffer_keys(const struct write_buffer *buffer, enum store_family family) {
    return buffer_order_count(&buffer->families[family].order);
}

const struct buffer_range *write_buffer_newest_range(const struct write_buffer *buffer,
                                                     enum store_family family) {
    return atomic_load_explicit(&buffer->families[family].ranges, memory_order_acquire);
}

bool write_buffer_is_empty(const struct write_buffer *buffer, enum store_family family) {
    return write_buffer_keys(buffer, family) == 0 &&
           write_buffer_newest_range(buffer, family) == NULL;
}

const struct buffer_version *buffer_entry_at(const struct buffer_entry *entry, uint64_t sequence) {
    const struct buffer_version *version =
        atomic_load_explicit(&entry->newest, memory_order_acquire);
    while (version != NULL && version->sequence > sequence)
        version = version->older;
    return version;
}

const struct buffer_version *write_buffer_find(const struct write_buffer *buffer,
                                               const struct buffer_key *key) {
    size_t slot;
    const struct slots *slots =
        atomic_load_explicit(&part_of(buffer, key->hash)->slots, memory_order_acquire);
    const struct buffer_entry *entry = find_slot(slots, key, &slot);
    return entry == NULL ? NULL : buffer_entry_at(entry, key->sequence);
}

const struct buffer_range *write_buffer_find_range(const struct write_buffer *buffer,
                                                   enum store_family family, struct bytes key,
                                                   uint64_t sequence) {
    const struct buffer_range *range = write_buffer_newest_range(buffer, family);
    while (range != NULL && (range->sequence > sequence || bytes_compare(key, range->low) < 0 ||
                             bytes_compare(key, range->high) >= 0))
        range = range->older;
    return range;
}

/* --- in order --- */

void write_buffer_order(struct write_buffer *buffer, enum store_family family) {
    buffer_order_make(&buffer->families[family].order);
}

const struct buffer_entry *write_buffer_seek(const struct write_buffer *buffer,
                                             enum store_family family, struct bytes key) {
    return buffer_order_seek(&buffer->families[family].order, key);
}

const struct buffer_entry *write_buffer_before(const struct write_buffer *buffer,
                                               enum store_family family, struct bytes key) {
    return buffer_order_before(&buffer->families[family].order, key);
}

const struct buffer_entry *write_buffer_last(const struct write_buffer *buffer,
                                             enum store_family family) {
    return buffer_order_last(&buffer->families[family].order);
}

const struct buffer_entry *buffer_entry_next(const struct buffer_entry *entry) {
    return atomic_load_explicit(&entry->next[0], memory_order_acquire);
}
