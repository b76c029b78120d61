/* A filter that grows: parts of which each is twice as large as the one before. A part is blocks of
 * a cache line, and a key sets a few bits of one block. */
#include "table/local/absent.h"

#include "base/clock.h"
#include "base/mem.h"

enum {
    PARTS_MAX = 8,
    PART_FIRST = 128 * 1024, /* keys; all parts together have room for 32 million */
    KEY_BITS = 12,
    BLOCK_BITS = 512,
    BLOCK_WORDS = BLOCK_BITS / 64,
    PROBES = 6,
    LOADED_MAX = 4,
    SMALL_MAX = 10000,  /* keys that are read when a partition is taken up, */
    READ_PAUSE_US = 20, /* and how long after each no other one is */
    FORGET_US = 30 * 1000 * 1000,
};

struct part {
    uint64_t *words;
    size_t blocks, count, room;
};

/* A partition, if it has one. */
struct loaded {
    struct buf partition; /* what its keys begin with; empty: none */
    bool knows;           /* all of its keys; else there are too many */
    struct part parts[PARTS_MAX];
    unsigned part_count;
    int64_t used_us; /* the last large change */
};

struct absent {
    struct loaded all[LOADED_MAX];
    struct loaded *last;  /* that a large change wrote to */
    int64_t read_from_us; /* no partition is read before */
};

struct absent *absent_new(void) {
    struct absent *absent = mem_zalloc(sizeof(*absent));
    absent->last = &absent->all[0];
    return absent;
}

static void forget(struct loaded *loaded) {
    for (unsigned i = 0; i < loaded->part_count; i++)
        mem_free(loaded->parts[i].words);
    buf_release(&loaded->partition);
    *loaded = (struct loaded){0};
}

void absent_free(struct absent *absent) {
    for (unsigned i = 0; i < LOADED_MAX; i++)
        forget(&absent->all[i]);
    mem_free(absent);
}

/* --- the filter --- */

static uint64_t *block_of(const struct part *part, uint64_t hash) {
    return part->words + ((hash >> 32) * part->blocks >> 32) * BLOCK_WORDS;
}

/* The bits of a key in its block: nine bits of the hash say one. */
static uint64_t bits_of(uint64_t hash) {
    return hash * 0x9e3779b97f4a7c15u;
}

static bool block_has(const uint64_t *block, uint64_t bits) {
    for (unsigned i = 0; i < PROBES; i++, bits >>= 9)
        if ((block[bits >> 6 & (BLOCK_WORDS - 1)] >> (bits & 63) & 1) == 0)
            return false;
    return true;
}

static bool has(const struct loaded *loaded, uint64_t hash) {
    uint64_t bits = bits_of(hash);
    for (unsigned i = loaded->part_count; i-- > 0;)
        if (block_has(block_of(&loaded->parts[i], hash), bits))
            return true;
    return false;
}

/* False: there are too many. */
static bool add_part(struct loaded *loaded) {
    if (loaded->part_count == PARTS_MAX)
        return false;
    size_t room = (size_t)PART_FIRST << loaded->part_count;
    size_t blocks = room * KEY_BITS / BLOCK_BITS;
    loaded->parts[loaded->part_count++] = (struct part){
        .words = mem_zalloc(blocks * BLOCK_WORDS * sizeof(uint64_t)),
        .blocks = blocks,
        .room = room,
    };
    return true;
}

static void add(struct loaded *loaded, uint64_t hash) {
    if (has(loaded, hash))
        return;
    struct part *last = loaded->part_count == 0 ? NULL : &loaded->parts[loaded->part_count - 1];
    if (last == NULL || last->count == last->room) {
        if (!add_part(loaded)) {
            loaded->knows = false;
            return;
        }
        last = &loaded->parts[loaded->part_count - 1];
    }
    uint64_t *block = block_of(last, hash), bits = bits_of(hash);
    for (unsigned i = 0; i < PROBES; i++, bits >>= 9)
        block[bits >> 6 & (BLOCK_WORDS - 1)] |= UINT64_C(1) << (bits & 63);
    last->count++;
}

/* --- asking --- */

static bool is_of(const struct loaded *loaded, struct bytes key) {
    return loaded->partition.size != 0 && bytes_starts(key, buf_bytes(&loaded->partition));
}

/* The partition of the key, or NULL. */
static struct loaded *find(struct absent *absent, struct bytes key) {
    if (is_of(absent->last, key))
        return absent->last;
    for (unsigned i = 0; i < LOADED_MAX; i++)
        if (is_of(&absent->all[i], key))
            return &absent->all[i];
    return NULL;
}

bool absent_is(struct absent *absent, struct bytes key, uint64_t hash) {
    const struct loaded *loaded = find(absent, key);
    return loaded != NULL && loaded->knows && !has(loaded, hash);
}

void absent_soon(const struct absent *absent, uint64_t hash) {
    const struct loaded *loaded = absent->last;
    for (unsigned i = 0; loaded->knows && i < loaded->part_count; i++)
        __builtin_prefetch(block_of(&loaded->parts[i], hash));
}

void absent_note(struct absent *absent, struct bytes key, uint64_t hash) {
    struct loaded *loaded = find(absent, key);
    if (loaded != NULL && loaded->knows)
        add(loaded, hash);
}

size_t absent_count(struct absent *absent, struct bytes key) {
    const struct loaded *loaded = find(absent, key);
    size_t count = 0;
    for (unsigned i = 0; loaded != NULL && loaded->knows && i < loaded->part_count; i++)
        count += loaded->parts[i].count;
    return count;
}

/* --- taking up a partition --- */

/* What the store has of it: `knows` unless that is too much. Returns how many were read. */
static size_t read_keys(struct loaded *loaded, struct local *local) {
    struct bytes partition = buf_bytes(&loaded->partition);
    struct store_range range = {.family = STORE_ITEMS, .low = partition};
    struct store_iter *iter = store_iter_open(local->store, &range);
    size_t count = 0;
    bool there = store_iter_first(iter);
    for (; there && count <= SMALL_MAX && bytes_starts(store_iter_key(iter), partition); count++) {
        add(loaded, local_hash(store_iter_key(iter)));
        there = store_iter_next(iter);
    }
    loaded->knows = store_iter_status(iter) == OK && count <= SMALL_MAX;
    store_iter_close(iter);
    return count;
}

/* What is on its way there. */
static void note_group(struct absent *absent, const struct group *group) {
    for (const struct effect *effect = group->effects; effect != NULL; effect = effect->next)
        absent_note(absent, effect->key, effect->hash);
}

static struct loaded *longest_unused(struct absent *absent) {
    struct loaded *found = &absent->all[0];
    for (unsigned i = 1; i < LOADED_MAX; i++)
        if (absent->all[i].used_us < found->used_us)
            found = &absent->all[i];
    return found;
}

static void take_up(struct absent *absent, struct group *group, struct bytes partition,
                    int64_t now) {
    struct loaded *loaded = absent->last = longest_unused(absent);
    forget(loaded);
    loaded->used_us = now;
    buf_append(&loaded->partition, partition.data, partition.size);
    absent->read_from_us = now + (int64_t)read_keys(loaded, group->local) * READ_PAUSE_US;
    if (group->below != NULL)
        note_group(absent, group->below);
    note_group(absent, group);
}

void absent_begin(struct group *group, const struct change *change) {
    struct absent *absent = group->local->writer->absent;
    const struct prepared *last = change->actions[change->action_count - 1].engine_data;
    struct loaded *loaded = find(absent, last->key);
    int64_t now = clock_ticks_us();
    if (loaded != NULL) {
        loaded->used_us = now;
        absent->last = loaded;
    } else if (last->schema->keys.sort_count != 0 && now >= absent->read_from_us) {
        size_t span = keys_partition_span(last->schema, last->key);
        take_up(absent, group, bytes_of(last->key.data, span), now);
    }
}

int64_t absent_run(struct local *local) {
    struct absent *absent = local->writer->absent;
    int64_t now = clock_ticks_us();
    for (unsigned i = 0; i < LOADED_MAX; i++)
        if (absent->all[i].partition.size != 0 && now - absent->all[i].used_us > FORGET_US)
            forget(&absent->all[i]);
    return TICK_MAX_US;
}
