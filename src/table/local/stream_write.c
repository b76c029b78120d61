/* Records of a group: made when an action is taken up, written with the group. */
#include "base/clock.h"
#include "table/local/writer.h"

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

void stream_add(struct group *group, const struct action *action) {
    const struct prepared *prepared = action->engine_data;
    struct stream *stream = prepared->table->stream;
    if (stream == NULL || prepared->table->loading)
        return;
    struct stream_record record = {
        .created_ms = clock_now_ms(), .event = event_of(action), .expired = action->expired};
    struct stream_images images = images_of(group, action, stream->info.view);
    buf_clear(&group->after);
    stream_record_put(&group->after, &record, &images);
    struct stream_entry *entry = ARENA_NEW(&group->arena, struct stream_entry);
    entry->stream = stream;
    entry->created_ms = record.created_ms;
    entry->shard = shard_of(prepared->key);
    entry->value = arena_copy(&group->arena, buf_bytes(&group->after));
    if (group->entry_count == 0 && group->below == NULL)
        group->sequence = group->local->streams.next;
    stream_key(stream->table, stream->info.label_ms, entry->shard,
               group->sequence + group->entry_count++, entry->key);
    *group->entries_end = entry;
    group->entries_end = &entry->next;
    group->size += STREAM_KEY_SIZE + entry->value.size;
}

void stream_put_entries(struct store_batch *batch, const struct group *group) {
    if (group->entries == NULL)
        return;
    for (const struct stream_entry *entry = group->entries; entry != NULL; entry = entry->next)
        store_put(batch, STORE_STREAM, bytes_of(entry->key, STREAM_KEY_SIZE), entry->value);
    stream_put_next(batch, group->sequence + group->entry_count);
}

void stream_take_entries(struct group *group) {
    if (group->entries != NULL)
        group->local->streams.next = group->sequence + group->entry_count;
    for (const struct stream_entry *entry = group->entries; entry != NULL; entry = entry->next) {
        int64_t *oldest = &entry->stream->oldest_ms[entry->shard];
        if (*oldest == STREAM_EMPTY)
            *oldest = entry->created_ms;
    }
}
