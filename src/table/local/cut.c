/* The whole table is cut in two near its middle, as the bytes of keys go, then the larger part, and
 * so on. A table may hold a few small partitions and one of ten million items: where the middle is
 * says nothing about what is on either side, so the store is asked after each cut. */
#include "table/local/cut.h"

enum { ROOM = 64, ROOM_A_SPAN = 4 };

static uint64_t word_after(struct bytes key, size_t from) {
    uint64_t word = 0;
    for (size_t i = 0; i < 8; i++)
        word = word << 8 | (from + i < key.size ? key.data[from + i] : 0);
    return word;
}

/* A key about halfway between two, as numbers go. */
static struct bytes middle_of(const struct key_span *span, struct arena *arena) {
    size_t shared = 0;
    while (shared < span->first.size && shared < span->last.size &&
           span->first.data[shared] == span->last.data[shared])
        shared++;
    uint64_t low = word_after(span->first, shared), high = word_after(span->last, shared);
    uint64_t middle = low + (high - low) / 2 + 1;
    uint8_t *key = arena_alloc(arena, shared + 8);
    memcpy(key, span->first.data, shared);
    for (size_t i = 0; i < 8; i++)
        key[shared + i] = (uint8_t)(middle >> (56 - 8 * i));
    return bytes_of(key, shared + 8);
}

static void measure(const struct build *build, struct key_span *span) {
    struct store_range range = {
        .family = STORE_ITEMS, .snapshot = build->snapshot, .low = span->first, .high = span->last};
    span->size = store_range_size(build->local->store, &range);
}

/* Cuts the span in two at a key near its middle; false if there is none to cut at. */
static bool cut_span(struct store_iter *iter, struct key_span *span, struct arena *arena,
                     struct key_span *right) {
    if (bytes_equal(span->first, span->last))
        return false;
    struct bytes middle = middle_of(span, arena);
    if (!store_iter_seek(iter, middle))
        return false;
    *right =
        (struct key_span){.first = arena_copy(arena, store_iter_key(iter)), .last = span->last};
    if (bytes_compare(right->first, span->last) > 0 ||
        bytes_compare(right->first, span->first) <= 0 || !store_iter_prev(iter))
        return false;
    span->last = arena_copy(arena, store_iter_key(iter));
    right->cuts = ++span->cuts;
    return true;
}

/* The span to cut next: the largest, or where nothing is known about sizes, the least cut one. NULL
 * if none can be. */
static struct key_span *find_largest(const struct spans *spans) {
    struct key_span *best = NULL;
    for (struct key_span *span = spans->at; span < spans->at + spans->count; span++)
        if (!span->whole && (best == NULL || span->size > best->size ||
                             (span->size == best->size && span->cuts < best->cuts)))
            best = span;
    return best;
}

static void cut_spans(const struct build *build, struct store_iter *iter, size_t least,
                      struct arena *arena, struct spans *spans) {
    size_t most = least == 1 ? 1 : ROOM + ROOM_A_SPAN * least;
    uint64_t share = spans->at[0].size / least;
    while (spans->count < most) {
        struct key_span *span = find_largest(spans), *right = &spans->at[spans->count];
        if (span == NULL || (spans->count >= least && span->size <= share))
            break;
        span->whole = !cut_span(iter, span, arena, right);
        if (span->whole)
            continue;
        spans->count++;
        measure(build, span);
        measure(build, right);
    }
}

enum status cut_table(const struct build *build, size_t least, struct arena *arena,
                      struct spans *out) {
    struct buf low = {0}, high = {0};
    keys_put_segment(&low, &high, build->table, NULL, 0, 1);
    struct store_range range = {.family = STORE_ITEMS,
                                .snapshot = build->snapshot,
                                .low = buf_bytes(&low),
                                .high = buf_bytes(&high)};
    struct store_iter *iter = store_iter_open(build->local->store, &range);
    *out = (struct spans){ARENA_ARRAY(arena, struct key_span, ROOM + ROOM_A_SPAN * least), 0};
    if (store_iter_first(iter)) {
        out->at[0] = (struct key_span){.first = arena_copy(arena, store_iter_key(iter))};
        store_iter_last(iter);
        out->at[0].last = arena_copy(arena, store_iter_key(iter));
        out->count = 1;
        measure(build, &out->at[0]);
        cut_spans(build, iter, least, arena, out);
    }
    enum status status = store_iter_status(iter);
    store_iter_close(iter);
    buf_release(&low);
    buf_release(&high);
    return status;
}
