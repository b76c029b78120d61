/* The whole table is cut in two near its middle, as the bytes of keys go, then the larger part, and
 * so on. A table may hold a few small partitions and one of ten million items: where the middle is
 * says nothing about what is on either side, so the store is asked after each cut. */
#include "table/local/scan_split.h"

enum { ROOM = 64, ROOM_A_SPAN = 4 };

struct splitter {
    const struct index_build *build;
    struct store_iter *iter; /* over the table's items */
    struct arena *arena;     /* of the keys */
    struct scan_ranges *ranges;
};

static uint64_t word_after(struct bytes key, size_t from) {
    uint64_t word = 0;
    for (size_t i = 0; i < 8; i++)
        word = word << 8 | (from + i < key.size ? key.data[from + i] : 0);
    return word;
}

/* A key about halfway between two, as numbers go. */
static struct bytes middle_of(const struct scan_range *part, struct arena *arena) {
    size_t shared = 0;
    while (shared < part->first.size && shared < part->last.size &&
           part->first.data[shared] == part->last.data[shared])
        shared++;
    uint64_t low = word_after(part->first, shared), high = word_after(part->last, shared);
    uint64_t middle = low + (high - low) / 2 + 1;
    uint8_t *key = arena_alloc(arena, shared + 8);
    memcpy(key, part->first.data, shared);
    for (size_t i = 0; i < 8; i++)
        key[shared + i] = (uint8_t)(middle >> (56 - 8 * i));
    return bytes_of(key, shared + 8);
}

static void measure(const struct index_build *build, struct scan_range *part) {
    struct store_range range = {
        .family = STORE_ITEMS, .snapshot = build->snapshot, .low = part->first, .high = part->last};
    part->size = store_range_size(build->local->store, &range);
}

/* Cuts the span in two at a key near its middle; false if there is none to cut at. */
static bool split_range(struct store_iter *iter, struct scan_range *part, struct arena *arena,
                        struct scan_range *right) {
    if (bytes_equal(part->first, part->last))
        return false;
    struct bytes middle = middle_of(part, arena);
    if (!store_iter_seek(iter, middle))
        return false;
    *right =
        (struct scan_range){.first = arena_copy(arena, store_iter_key(iter)), .last = part->last};
    if (bytes_compare(right->first, part->last) > 0 ||
        bytes_compare(right->first, part->first) <= 0 || !store_iter_prev(iter))
        return false;
    part->last = arena_copy(arena, store_iter_key(iter));
    right->splits = ++part->splits;
    return true;
}

/* The span to cut next: the largest, or where nothing is known about sizes, the least cut one. NULL
 * if none can be. */
static struct scan_range *find_largest(const struct scan_ranges *ranges) {
    struct scan_range *best = NULL;
    for (struct scan_range *part = ranges->at; part < ranges->at + ranges->count; part++)
        if (!part->whole && (best == NULL || part->size > best->size ||
                             (part->size == best->size && part->splits < best->splits)))
            best = part;
    return best;
}

/* Splits the one range there is into `least` or more. */
static void split_ranges(const struct splitter *splitter, size_t least) {
    struct scan_ranges *ranges = splitter->ranges;
    size_t most = least == 1 ? 1 : ROOM + ROOM_A_SPAN * least;
    uint64_t share = ranges->at[0].size / least;
    while (ranges->count < most) {
        struct scan_range *part = find_largest(ranges), *right = &ranges->at[ranges->count];
        if (part == NULL || (ranges->count >= least && part->size <= share))
            break;
        part->whole = !split_range(splitter->iter, part, splitter->arena, right);
        if (part->whole)
            continue;
        ranges->count++;
        measure(splitter->build, part);
        measure(splitter->build, right);
    }
}

enum status scan_split(const struct index_build *build, size_t least, struct arena *arena,
                       struct scan_ranges *out) {
    struct buf low = {0}, high = {0};
    keys_put_segment(&low, &high, &(struct key_order){.table = build->table},
                     (struct scan_segment){0});
    struct store_range range = {.family = STORE_ITEMS,
                                .snapshot = build->snapshot,
                                .low = buf_bytes(&low),
                                .high = buf_bytes(&high)};
    struct store_iter *iter = store_iter_open(build->local->store, &range);
    *out =
        (struct scan_ranges){ARENA_ARRAY(arena, struct scan_range, ROOM + ROOM_A_SPAN * least), 0};
    if (store_iter_first(iter)) {
        out->at[0] = (struct scan_range){.first = arena_copy(arena, store_iter_key(iter))};
        store_iter_last(iter);
        out->at[0].last = arena_copy(arena, store_iter_key(iter));
        out->count = 1;
        measure(build, &out->at[0]);
        split_ranges(&(struct splitter){build, iter, arena, out}, least);
    }
    enum status status = store_iter_status(iter);
    store_iter_close(iter);
    buf_release(&low);
    buf_release(&high);
    return status;
}
