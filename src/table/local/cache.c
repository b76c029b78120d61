/* The cache of hot items: their stored bytes by their store key, in memory, bounded.
 *
 * Cut into shards by the key's hash; each has a lock that is held for one look-up and one copy.
 * A shard is an open-addressed table of pointers to entries (linear probes, deletion by shifting
 * back). When it is over its share of the memory, slots are looked at by chance: an entry that was
 * used is spared a few times, others are evicted. By chance and not in turn (CLOCK): a hand
 * that goes round leaves the slots behind it empty and those before it full, and where they are all
 * full a probe takes thousands of steps.
 *
 * What makes it safe beside snapshots:
 *   1. The cache is told of each item of a commit before the snapshot of that commit is current,
 *      so an entry is never older than the current snapshot.
 *   2. An entry carries the commit it was last written at, or a later one. A reader whose snapshot
 *      is older does not use it.
 *   3. A reader may add what it read only if its shard saw no write after the reader's snapshot:
 *      then nothing in the shard changed since, and the entry is as old as the shard's last write.
 *
 * Ranges of items (page_range.c) are entries as well, under keys that no item has. They are right
 * for as long as nothing of their partition is written, which is counted here for all partitions
 * with the same slot. Only what was asked for twice between two writes is worth its memory. */
#include "base/mem.h"
#include "table/local/local_int.h"

#include <assert.h>
#include <stdlib.h>

enum {
    SHARDS_MAX = 64,
    SHARD_MEMORY_MIN = 256 * 1024,
    SLOTS_FIRST = 64,
    ENTRY_OVERHEAD = 32,
    LINE = 64,
    PREFETCHED_LINES = 3, /* of an entry: as many as most have */
    SPARED = 3,           /* looks that what was used is not let go at */
    PICKS = 16,
    PARTITION_SLOTS = 16384,
    RANGES_SEEN = 65536,
};

struct entry {
    uint64_t commit;
    uint32_t key_size;
    uint32_t value_size;
    uint32_t room; /* bytes in data */
    uint8_t used;  /* how often it will be spared */
    uint8_t data[];
};

struct slot {
    uint64_t hash;
    struct entry *entry; /* NULL: free */
};

struct shard {
    pthread_mutex_t lock;
    struct slot *slots;
    size_t slot_count; /* a power of two, or 0 */
    /* Copies of `slots` and of its mask for prefetching, which does not take the lock. */
    _Atomic(const struct slot *) hint;
    atomic_size_t hint_mask;
    size_t count;
    size_t memory;
    uint64_t dice;
    uint64_t written; /* the last commit that wrote here */
    uint64_t hits;
    atomic_uint_fast64_t misses; /* the only one that is counted without the lock */
} __attribute__((aligned(64)));

struct cache {
    size_t memory_max;
    size_t shard_max; /* a shard's share */
    size_t shard_count;
    struct shard *shards;
    atomic_uint_fast64_t writes[PARTITION_SLOTS]; /* by the thread that commits */
    atomic_uint ranges_seen[RANGES_SEEN];         /* tags of those that were asked for last */
};

struct cache *cache_new(size_t memory_max) {
    struct cache *cache = mem_zalloc(sizeof *cache);
    cache->memory_max = memory_max;
    cache->shard_count = 1;
    while (cache->shard_count < SHARDS_MAX &&
           memory_max / (cache->shard_count * 2) >= SHARD_MEMORY_MIN)
        cache->shard_count *= 2;
    cache->shard_max = memory_max / cache->shard_count;
    /* Room to start at a line's beginning, so that two shards never share one. */
    cache->shards = aligned_alloc(64, cache->shard_count * sizeof(struct shard));
    assert(cache->shards != NULL);
    memset(cache->shards, 0, cache->shard_count * sizeof(struct shard));
    for (size_t i = 0; i < cache->shard_count; i++)
        pthread_mutex_init(&cache->shards[i].lock, NULL);
    return cache;
}

static void shard_clear(struct shard *shard) {
    for (size_t i = 0; i < shard->slot_count; i++)
        mem_free(shard->slots[i].entry);
    mem_free(shard->slots);
    shard->slots = NULL;
    atomic_store_explicit(&shard->hint_mask, 0, memory_order_relaxed);
    shard->slot_count = shard->count = shard->memory = 0;
}

void cache_free(struct cache *cache) {
    if (cache == NULL)
        return;
    for (size_t i = 0; i < cache->shard_count; i++) {
        shard_clear(&cache->shards[i]);
        pthread_mutex_destroy(&cache->shards[i].lock);
    }
    free(cache->shards);
    mem_free(cache);
}

void cache_clear(struct cache *cache) {
    for (size_t i = 0; i < cache->shard_count; i++) {
        pthread_mutex_lock(&cache->shards[i].lock);
        shard_clear(&cache->shards[i]);
        pthread_mutex_unlock(&cache->shards[i].lock);
    }
}

static struct shard *shard_of(struct cache *cache, uint64_t hash) {
    return &cache->shards[(hash >> 56) & (cache->shard_count - 1)];
}

static struct shard *shard_lock(struct cache *cache, uint64_t hash) {
    struct shard *shard = shard_of(cache, hash);
    pthread_mutex_lock(&shard->lock);
    return shard;
}

static size_t entry_memory(const struct entry *entry) {
    return sizeof *entry + entry->room + ENTRY_OVERHEAD;
}

static struct bytes entry_key(const struct entry *entry) {
    return bytes_of(entry->data, entry->key_size);
}

/* The slot of the key, or the free one where it would go. The table is never full. */
static struct slot *shard_slot(const struct shard *shard, uint64_t hash, struct bytes key) {
    size_t mask = shard->slot_count - 1, at = hash & mask;
    for (;; at = (at + 1) & mask) {
        struct slot *slot = &shard->slots[at];
        if (slot->entry == NULL || (slot->hash == hash && bytes_equal(entry_key(slot->entry), key)))
            return slot;
    }
}

static struct entry *shard_find(const struct shard *shard, uint64_t hash, struct bytes key) {
    return shard->slot_count == 0 ? NULL : shard_slot(shard, hash, key)->entry;
}

/* Frees the entry of a slot and closes the gap its probes would trip over. */
static void shard_remove(struct shard *shard, size_t at) {
    size_t mask = shard->slot_count - 1, gap = at;
    shard->memory -= entry_memory(shard->slots[at].entry);
    shard->count--;
    mem_free(shard->slots[at].entry);
    for (size_t next = (gap + 1) & mask; shard->slots[next].entry != NULL;
         next = (next + 1) & mask) {
        size_t home = shard->slots[next].hash & mask;
        if (((next - home) & mask) >= ((next - gap) & mask)) {
            shard->slots[gap] = shard->slots[next];
            gap = next;
        }
    }
    shard->slots[gap] = (struct slot){0};
}

static void shard_grow(struct shard *shard) {
    struct slot *old = shard->slots;
    size_t old_count = shard->slot_count;
    shard->slot_count = old_count == 0 ? SLOTS_FIRST : old_count * 2;
    shard->slots = mem_zalloc(shard->slot_count * sizeof *shard->slots);
    shard->memory += (shard->slot_count - old_count) * sizeof *shard->slots;
    size_t mask = shard->slot_count - 1;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].entry == NULL)
            continue;
        size_t at = old[i].hash & mask;
        while (shard->slots[at].entry != NULL)
            at = (at + 1) & mask;
        shard->slots[at] = old[i];
    }
    mem_free(old);
    atomic_store_explicit(&shard->hint, shard->slots, memory_order_relaxed);
    atomic_store_explicit(&shard->hint_mask, mask, memory_order_relaxed);
}

/* A slot that holds something, by chance. */
static size_t shard_pick(struct shard *shard) {
    size_t mask = shard->slot_count - 1, at = 0;
    for (int i = 0; i < PICKS; i++) {
        shard->dice = shard->dice * 6364136223846793005u + 1442695040888963407u;
        at = (shard->dice >> 33) & mask;
        if (shard->slots[at].entry != NULL)
            return at;
    }
    while (shard->slots[at].entry == NULL) /* there are few */
        at = (at + 1) & mask;
    return at;
}

/* Lets entries go until the shard is within its share. `keep` was just used. */
static void shard_shrink(struct shard *shard, size_t memory_max, const struct entry *keep) {
    while (shard->memory > memory_max && shard->count > 1) {
        size_t at = shard_pick(shard);
        struct entry *entry = shard->slots[at].entry;
        if (entry == keep)
            continue;
        if (entry->used != 0)
            entry->used--;
        else
            shard_remove(shard, at);
    }
}

/* The slots may have been freed since: the address is prefetched, never read. */
void cache_prefetch(struct cache *cache, uint64_t hash) {
    const struct shard *shard = shard_of(cache, hash);
    const struct slot *slots = atomic_load_explicit(&shard->hint, memory_order_relaxed);
    size_t mask = atomic_load_explicit(&shard->hint_mask, memory_order_relaxed);
    __builtin_prefetch((const void *)((uintptr_t)slots + (hash & mask) * sizeof(*slots)));
}

void cache_prefetch_entry(struct cache *cache, uint64_t hash) {
    struct shard *shard = shard_of(cache, hash);
    if (pthread_mutex_trylock(&shard->lock) != 0)
        return;
    const struct entry *entry =
        shard->slot_count == 0 ? NULL : shard->slots[hash & (shard->slot_count - 1)].entry;
    pthread_mutex_unlock(&shard->lock);
    for (unsigned i = 0; i < PREFETCHED_LINES; i++)
        __builtin_prefetch((const void *)((uintptr_t)entry + i * LINE));
}

struct bytes cache_get(struct cache *cache, struct hashed_key key, uint64_t commit,
                       struct arena *arena) {
    struct shard *shard = shard_lock(cache, key.hash);
    struct entry *entry = shard_find(shard, key.hash, key.bytes);
    struct bytes value = {0};
    if (entry != NULL && entry->commit <= commit) {
        if (entry->used != SPARED) /* else its line stays clean */
            entry->used = SPARED;
        shard->hits++;
        value = arena_copy(arena, bytes_of(entry->data + entry->key_size, entry->value_size));
    }
    pthread_mutex_unlock(&shard->lock);
    return value;
}

void cache_missed(struct cache *cache, uint64_t hash) {
    atomic_fetch_add_explicit(&shard_of(cache, hash)->misses, 1, memory_order_relaxed);
}

static size_t room_for(struct bytes key, struct bytes value) {
    return (key.size + value.size + 15) & ~(size_t)15;
}

static struct entry *entry_new(struct bytes key, struct bytes value) {
    size_t room = room_for(key, value);
    struct entry *entry = mem_alloc(sizeof *entry + room);
    entry->key_size = (uint32_t)key.size;
    entry->room = (uint32_t)room;
    entry->used = 0;
    memcpy(entry->data, key.data, key.size);
    return entry;
}

/* Whether one more entry leaves too few slots free. */
static bool shard_must_grow(const struct shard *shard) {
    return shard->count + shard->count / 3 >= shard->slot_count;
}

/* Whether the item can be added without another having to go. */
static bool shard_has_room(const struct cache *cache, const struct shard *shard, struct bytes key,
                           struct bytes value) {
    size_t size = sizeof(struct entry) + room_for(key, value) + ENTRY_OVERHEAD;
    if (shard_must_grow(shard))
        size += (shard->slot_count == 0 ? SLOTS_FIRST : shard->slot_count) * sizeof(struct slot);
    return shard->memory + size <= cache->shard_max;
}

/* Sets the entry's value, in place if it fits well. */
static void shard_set(struct cache *cache, struct shard *shard, struct hashed_key hashed,
                      struct bytes value) {
    struct bytes key = hashed.bytes;
    if (shard_must_grow(shard))
        shard_grow(shard);
    struct slot *slot = shard_slot(shard, hashed.hash, key);
    struct entry *entry = slot->entry;
    size_t size = key.size + value.size;
    if (entry == NULL || size > entry->room || size < entry->room / 2) {
        struct entry *fresh = entry_new(key, value);
        if (entry != NULL) {
            fresh->used = entry->used;
            shard->memory -= entry_memory(entry);
            mem_free(entry);
        } else
            shard->count++;
        *slot = (struct slot){hashed.hash, entry = fresh};
        shard->memory += entry_memory(entry);
    }
    entry->value_size = (uint32_t)value.size;
    if (value.size != 0)
        memcpy(entry->data + key.size, value.data, value.size);
    entry->commit = shard->written;
    shard_shrink(shard, cache->shard_max, entry);
}

/* An entry that would push out most of its shard is not worth having. */
static bool too_large(const struct cache *cache, struct bytes key, struct bytes value) {
    return key.size + value.size > cache->shard_max / 4;
}

void cache_fill(struct cache *cache, struct hashed_key key, struct bytes value, uint64_t commit) {
    if (too_large(cache, key.bytes, value))
        return;
    struct shard *shard = shard_lock(cache, key.hash);
    if (shard->written <= commit && shard_find(shard, key.hash, key.bytes) == NULL)
        shard_set(cache, shard, key, value);
    pthread_mutex_unlock(&shard->lock);
}

void cache_put_range(struct cache *cache, struct hashed_key key, struct bytes range) {
    if (too_large(cache, key.bytes, range))
        return;
    struct shard *shard = shard_lock(cache, key.hash);
    shard_set(cache, shard, key, range);
    pthread_mutex_unlock(&shard->lock);
}

/* An item's key begins with table:u32 hash:u32 (store_keys.c). */
static size_t partition_slot(struct bytes key) {
    return (size_t)(bytes_word(key, 0) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % PARTITION_SLOTS;
}

uint64_t cache_partition_writes(struct cache *cache, struct bytes key) {
    return atomic_load_explicit(&cache->writes[partition_slot(key)], memory_order_relaxed);
}

/* There is one who writes, so that this need not be one step. */
static void count_write(struct cache *cache, struct bytes key) {
    atomic_uint_fast64_t *writes = &cache->writes[partition_slot(key)];
    uint64_t count = atomic_load_explicit(writes, memory_order_relaxed);
    atomic_store_explicit(writes, count + 1, memory_order_relaxed);
}

bool cache_range_returns(struct cache *cache, uint64_t hash, uint64_t writes) {
    uint64_t word = hash ^ (writes * UINT64_C(0x9e3779b97f4a7c15));
    unsigned tag = (unsigned)(word >> 32) | 1; /* 0: nothing was seen yet */
    atomic_uint *seen = &cache->ranges_seen[hash % RANGES_SEEN];
    if (atomic_load_explicit(seen, memory_order_relaxed) == tag)
        return true;
    atomic_store_explicit(seen, tag, memory_order_relaxed);
    return false;
}

void cache_write(struct cache *cache, struct hashed_key key, const struct cache_update *update) {
    count_write(cache, key.bytes);
    struct shard *shard = shard_lock(cache, key.hash);
    bool there = shard_find(shard, key.hash, key.bytes) != NULL;
    shard->written = update->commit;
    if (update->value.data != NULL && !too_large(cache, key.bytes, update->value) &&
        (there || !update->only_if_room || shard_has_room(cache, shard, key.bytes, update->value)))
        shard_set(cache, shard, key, update->value);
    else if (there)
        shard_remove(shard, (size_t)(shard_slot(shard, key.hash, key.bytes) - shard->slots));
    pthread_mutex_unlock(&shard->lock);
}

size_t cache_longest_run(struct cache *cache) {
    size_t longest = 0;
    for (size_t i = 0; i < cache->shard_count; i++) {
        const struct shard *shard = &cache->shards[i];
        for (size_t at = 0, run = 0; at < shard->slot_count; at++) {
            run = shard->slots[at].entry != NULL ? run + 1 : 0;
            if (run > longest)
                longest = run;
        }
    }
    return longest;
}

void cache_figures(struct cache *cache, struct engine_figures *out) {
    out->cache_items = out->cache_memory = out->cache_hits = out->cache_misses = 0;
    out->cache_memory_max = cache->memory_max;
    for (size_t i = 0; i < cache->shard_count; i++) {
        struct shard *shard = &cache->shards[i];
        pthread_mutex_lock(&shard->lock);
        out->cache_items += shard->count;
        out->cache_memory += shard->memory;
        out->cache_hits += shard->hits;
        out->cache_misses += atomic_load_explicit(&shard->misses, memory_order_relaxed);
        pthread_mutex_unlock(&shard->lock);
    }
}
