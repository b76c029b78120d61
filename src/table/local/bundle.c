#include "table/local/bundle.h"

#include <assert.h>

enum { HEAD_MAX = 1 + 10, ENTRY_HEAD_MAX = 10 + 10, ROOM_FIRST = 1024, ROOM_GROWTH = 4 };

/* --- making one --- */

bool bundle_takes(const struct bundle *bundle, size_t size) {
    return bundle->count == 0 || bundle->size + ENTRY_HEAD_MAX + size <= BUNDLE_SIZE_MAX;
}

/* Most commits have a few records, some have very many. */
static void make_room(struct bundle *bundle, struct arena *arena, size_t more) {
    size_t need = bundle->size + more, room = bundle->room == 0 ? ROOM_FIRST : bundle->room;
    if (need <= bundle->room)
        return;
    while (room < need)
        room *= ROOM_GROWTH;
    bundle->data = arena_grow(arena, bundle->data, bundle->room, room);
    bundle->room = room;
}

struct buf bundle_add(struct bundle *bundle, struct arena *arena, uint64_t sequence, size_t size) {
    make_room(bundle, arena, HEAD_MAX + ENTRY_HEAD_MAX + size);
    struct buf head = buf_in(bundle->data + bundle->size, bundle->room - bundle->size);
    if (bundle->count == 0) {
        bundle->last = sequence - 1;
        buf_byte(&head, BUNDLE_MARK);
        buf_varint(&head, bundle->last);
    }
    assert(sequence > bundle->last);
    buf_varint(&head, sequence - bundle->last);
    buf_varint(&head, size);
    if (bundle->count++ == 0)
        bundle->alone_at = head.size;
    bundle->last = sequence;
    bundle->size += head.size + size;
    return buf_in(bundle->data + bundle->size - size, size);
}

struct bytes bundle_bytes(const struct bundle *bundle) {
    size_t from = bundle->count == 1 ? bundle->alone_at : 0;
    return bytes_of(bundle->data + from, bundle->size - from);
}

/* --- reading one --- */

struct bundle_iter bundle_read(struct bytes stored, uint64_t last) {
    struct bundle_iter iter = {.rest = stored, .last = last};
    iter.alone = stored.size == 0 || stored.data[0] != BUNDLE_MARK;
    if (iter.alone)
        return iter;
    iter.rest = bytes_skip(stored, 1);
    iter.damaged =
        !take_varint(&iter.rest, &iter.sequence) || iter.sequence >= last || iter.rest.size == 0;
    return iter;
}

static bool take_record(struct bundle_iter *iter, struct bytes *record) {
    uint64_t step;
    if (!take_varint(&iter->rest, &step) || step == 0 || step > iter->last - iter->sequence ||
        !take_counted(&iter->rest, record))
        return false;
    iter->sequence += step;
    return (iter->rest.size == 0) == (iter->sequence == iter->last);
}

enum status bundle_next(struct bundle_iter *iter, uint64_t *sequence, struct bytes *record) {
    if (iter->damaged)
        return DAMAGED;
    if (iter->alone) {
        iter->alone = false;
        iter->sequence = iter->last;
        *record = iter->rest;
    } else if (iter->sequence == iter->last) {
        return NOT_FOUND;
    } else if (!take_record(iter, record)) {
        iter->damaged = true;
        return DAMAGED;
    }
    *sequence = iter->sequence;
    return OK;
}

enum status bundle_last(struct bytes stored, uint64_t last, struct bytes *record) {
    struct bundle_iter iter = bundle_read(stored, last);
    uint64_t sequence;
    enum status status;
    *record = bytes_of(NULL, 0);
    do
        status = bundle_next(&iter, &sequence, record);
    while (status == OK);
    return status == NOT_FOUND ? OK : status;
}
