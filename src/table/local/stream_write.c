/* Records of a group: put into bundles when an action is taken up, written with the group. */
#include "base/clock.h"
#include "table/local/writer.h"

#include <assert.h>

/* The same hash that places the item: its two high bits (keys.c). */
static uint8_t shard_of(struct bytes item_key) {
    return item_key.data[4] >> 6;
}
_Static_assert(STREAM_SHARDS == 4, "shard_of() takes two bits");

/* What the stream's view shows of a change. */
static struct stream_images images_of(struct group *group, const struct action *action,
                                      enum stream_view view) {
    const struct prepared *prepared = action->engine_data;
    struct stream_images images = {0};
    bool stays = prepared->stays;
    if (action->had_old && (view == STREAM_OLD || view == STREAM_BOTH))
        images.old = prepared->stored;
    if (stays && (view == STREAM_NEW || view == STREAM_BOTH))
        images.new = prepared->value;
    if (images.old.data != NULL || images.new.data != NULL)
        return images;
    struct item keys =
        rules_key_of(prepared->schema, NULL, stays ? &action->new : &action->old, &group->arena);
    buf_clear(&group->before);
    item_encode(&keys, group->local->names, &group->before);
    images.keys = arena_copy(&group->arena, buf_bytes(&group->before));
    return images;
}

static enum stream_event event_of(const struct action *action) {
    const struct prepared *prepared = action->engine_data;
    if (!prepared->stays)
        return STREAM_REMOVE;
    return action->had_old ? STREAM_MODIFY : STREAM_INSERT;
}

/* The group's bundle that takes the record. */
static struct stream_bundle *bundle_for(struct group *group, struct stream *stream, uint8_t shard,
                                        size_t size) {
    struct stream_bundle **open = &stream->open[group->number][shard];
    if (*open != NULL && bundle_takes(&(*open)->bundle, size))
        return *open;
    struct stream_bundle *next = ARENA_NEW(&group->arena, struct stream_bundle);
    next->stream = stream;
    next->shard = shard;
    *group->bundles_end = next;
    group->bundles_end = &next->next;
    return *open = next;
}

void stream_add(struct group *group, const struct action *action) {
    const struct prepared *prepared = action->engine_data;
    struct stream *stream = prepared->table->stream;
    if (stream == NULL || prepared->table->loading)
        return;
    struct stream_record record = {
        .created_ms = clock_now_ms(), .event = event_of(action), .expired = action->expired};
    struct stream_images images = images_of(group, action, stream->info.view);
    size_t size = stream_record_size(&record, &images);
    struct stream_bundle *into = bundle_for(group, stream, shard_of(prepared->key), size);
    if (group->record_count == 0 && group->below == NULL)
        group->sequence = group->local->streams.next;
    uint64_t sequence = group->sequence + group->record_count++;
    struct buf room = bundle_add(&into->bundle, &group->arena, sequence, size);
    stream_record_put(&room, &record, &images);
    assert(room.borrowed && room.size == size);
    into->created_ms = record.created_ms;
    group->size += STREAM_KEY_SIZE + size;
}

void stream_put_bundles(struct store_batch *batch, const struct group *group) {
    uint8_t key[STREAM_KEY_SIZE];
    if (group->bundles == NULL)
        return;
    for (const struct stream_bundle *each = group->bundles; each != NULL; each = each->next)
        store_put(batch, STORE_STREAM,
                  stream_key(each->stream->table, each->stream->info.label_ms, each->shard,
                             each->bundle.last, key),
                  bundle_bytes(&each->bundle));
    stream_put_next(batch, group->sequence + group->record_count);
}

void stream_take_bundles(struct group *group) {
    if (group->bundles != NULL)
        group->local->streams.next = group->sequence + group->record_count;
    for (const struct stream_bundle *each = group->bundles; each != NULL; each = each->next) {
        int64_t *oldest = &each->stream->oldest_ms[each->shard];
        if (*oldest == STREAM_EMPTY)
            *oldest = each->created_ms;
    }
}

void stream_close_bundles(const struct group *group) {
    for (const struct stream_bundle *each = group->bundles; each != NULL; each = each->next)
        each->stream->open[group->number][each->shard] = NULL;
}
