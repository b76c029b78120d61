/* The stream records of a commit group: made when an action joins it, written with it. */
#include "base/clock.h"
#include "table/local/writer.h"

#include <assert.h>

/* By the hash that places the item (store_keys.c): each shard has an equal range of its first byte.
 * For four shards these are the two high bits, as they always were. */
static uint8_t shard_of(struct bytes item_key, unsigned shards) {
    return (uint8_t)(item_key.data[4] * shards >> 8);
}

/* The images that a stream of this view type has of a change. */
static struct stream_images images_of(struct commit_group *group, const struct action *action,
                                      enum stream_view view) {
    const struct action_state *state = action->engine_data;
    struct stream_images images = {0};
    bool stays = state->stays;
    if (action->had_old && (view == STREAM_OLD || view == STREAM_BOTH))
        images.old = action_stored(group->local, action, &group->arena);
    if (stays && (view == STREAM_NEW || view == STREAM_BOTH))
        images.new = state->value;
    if (images.old.data != NULL || images.new.data != NULL)
        return images;
    struct item keys =
        rules_key_of(state->schema, NULL, stays ? &action->new : &action->old, &group->arena);
    buf_clear(&group->before);
    item_encode(&keys, group->local->names, &group->before);
    images.keys = arena_copy(&group->arena, buf_bytes(&group->before));
    return images;
}

static enum stream_event event_of(const struct action *action) {
    const struct action_state *state = action->engine_data;
    if (!state->stays)
        return STREAM_REMOVE;
    return action->had_old ? STREAM_MODIFY : STREAM_INSERT;
}

/* The group's bundle that takes the record. */
static struct stream_bundle *bundle_for(struct commit_group *group, struct stream *stream,
                                        uint8_t shard, size_t size) {
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

void stream_add(struct commit_group *group, const struct action *action) {
    const struct action_state *state = action->engine_data;
    struct stream *stream = state->table->stream;
    if (stream == NULL || state->table->loading)
        return;
    if (group->record_count == 0) /* all of them are told at the same time */
        group->created_ms = clock_now_ms();
    struct stream_record record = {
        .created_ms = group->created_ms, .event = event_of(action), .expired = action->expired};
    struct stream_images images = images_of(group, action, stream->info.view);
    size_t size = stream_record_size(&record, &images);
    struct stream_bundle *into =
        bundle_for(group, stream, shard_of(state->key, stream->info.shards), size);
    if (group->record_count == 0 && group->below == NULL)
        group->sequence = group->local->streams.next;
    uint64_t sequence = group->sequence + group->record_count++;
    struct buf room = bundle_add(&into->bundle, &group->arena, sequence, size);
    stream_record_put(&room, &record, &images);
    stream_kinds_note(&stream->kinds, state->key, sequence);
    assert(room.borrowed && room.size == size);
    into->created_ms = record.created_ms;
    group->size += STREAM_KEY_SIZE + size;
}

void stream_put_bundles(struct store_batch *batch, const struct commit_group *group) {
    uint8_t key[STREAM_KEY_SIZE];
    if (group->bundles == NULL)
        return;
    for (const struct stream_bundle *each = group->bundles; each != NULL; each = each->next) {
        struct stream_position position = stream_shard_start(each->stream, each->shard);
        position.sequence = each->bundle.last;
        store_put_logged(batch, STORE_STREAM, stream_key(&position, key),
                         bundle_bytes(&each->bundle));
    }
    stream_put_next(batch, group->sequence + group->record_count);
}

void stream_take_bundles(struct commit_group *group) {
    if (group->bundles != NULL)
        group->local->streams.next = group->sequence + group->record_count;
    for (const struct stream_bundle *each = group->bundles; each != NULL; each = each->next) {
        struct stream *stream = each->stream;
        if (stream->oldest_ms[each->shard] != STREAM_EMPTY)
            continue;
        stream->oldest_ms[each->shard] = each->created_ms;
        stream->oldest_segment[each->shard] = group->local->streams.segment;
    }
}

void stream_close_bundles(const struct commit_group *group) {
    for (const struct stream_bundle *each = group->bundles; each != NULL; each = each->next)
        each->stream->open[group->number][each->shard] = NULL;
}
