/* The list of streams, and their records in the catalogue. A stream's record:
 *
 *   format:byte name (counted) table's id (counted) view:byte
 *   partition parts:byte sort parts:byte (type:byte name (counted))*
 *   enabled:byte first last ended_ms kept* (varints), STREAM_SHARDS_MAX of these; shards:byte
 *
 * Format 1 has no `shards` at its end: such a stream has four.
 *
 * A table whose stream has no record (it was made by an earlier program) has one all the same: what
 * matters of it stands in the table's own. */
#include "base/clock.h"
#include "base/mem.h"
#include "table/local/writer.h"

enum { STREAM_FORMAT = 2, SHARDS_OF_FORMAT_1 = 4, ABOUT_KEY_SIZE = 1 + 4 + 8 };

/* --- in memory --- */

static struct stream *stream_new(uint32_t table, const struct stream_info *info) {
    struct stream *stream = mem_zalloc(sizeof(*stream));
    arena_init(&stream->arena);
    stream->table = table;
    stream->info = *info;
    stream->info.table = arena_copy(&stream->arena, info->table);
    stream->info.table_id = arena_copy(&stream->arena, info->table_id);
    for (unsigned i = 0; i < key_schema_count(&info->keys); i++)
        stream->info.keys.parts[i].name = arena_copy(&stream->arena, info->keys.parts[i].name);
    for (unsigned i = 0; i < STREAM_SHARDS_MAX; i++)
        stream->oldest_ms[i] = STREAM_UNKNOWN;
    return stream;
}

static void stream_free(struct stream *stream) {
    if (stream == NULL)
        return;
    arena_release(&stream->arena);
    mem_free(stream);
}

size_t streams_seek(const struct streams *streams, struct bytes table, int64_t label_ms) {
    size_t low = 0, high = streams->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct stream_info *info = &streams->at[middle]->info;
        int order = bytes_compare(info->table, table);
        if (order < 0 || (order == 0 && info->label_ms < label_ms))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct stream *streams_find(const struct streams *streams, struct bytes table, int64_t label_ms) {
    size_t at = streams_seek(streams, table, label_ms);
    if (at == streams->count || streams->at[at]->info.label_ms != label_ms ||
        !bytes_equal(streams->at[at]->info.table, table))
        return NULL;
    return streams->at[at];
}

static void streams_add(struct streams *streams, struct stream *stream) {
    if (streams->count == streams->room) {
        streams->room = streams->room == 0 ? 8 : streams->room * 2;
        streams->at = mem_realloc(streams->at, streams->room * sizeof(*streams->at));
    }
    stream->kinds.since = streams->next;
    size_t at = streams_seek(streams, stream->info.table, stream->info.label_ms);
    memmove(streams->at + at + 1, streams->at + at, (streams->count - at) * sizeof(*streams->at));
    streams->at[at] = stream;
    streams->count++;
}

void streams_remove(struct streams *streams, struct stream *stream) {
    size_t at = streams_seek(streams, stream->info.table, stream->info.label_ms);
    streams->count--;
    memmove(streams->at + at, streams->at + at + 1, (streams->count - at) * sizeof(*streams->at));
    stream_free(stream);
}

void streams_release(struct streams *streams) {
    for (size_t i = 0; i < streams->count; i++)
        stream_free(streams->at[i]);
    mem_free(streams->at);
    *streams = (struct streams){0};
}

int64_t streams_label(const struct local *local, struct bytes table) {
    int64_t now = clock_now_ms();
    const struct streams *streams = &local->streams;
    size_t after = streams_seek(streams, table, INT64_MAX);
    if (after == 0 || !bytes_equal(streams->at[after - 1]->info.table, table))
        return now;
    int64_t last = streams->at[after - 1]->info.label_ms;
    return now > last ? now : last + 1;
}

/* --- in the store --- */

static struct bytes about_key(const struct stream *stream, uint8_t *room) {
    uint8_t key[STREAM_KEY_SIZE];
    struct stream_position start = stream_shard_start(stream, 0);
    stream_key(&start, key);
    room[0] = 'S';
    memcpy(room + 1, key, ABOUT_KEY_SIZE - 1);
    return bytes_of(room, ABOUT_KEY_SIZE);
}

void stream_put_info(struct store_batch *batch, const struct stream *stream) {
    const struct stream_info *info = &stream->info;
    struct buf record = {0};
    uint8_t key[ABOUT_KEY_SIZE];
    buf_byte(&record, STREAM_FORMAT);
    buf_counted(&record, info->table);
    buf_counted(&record, info->table_id);
    buf_byte(&record, (uint8_t)info->view);
    buf_byte(&record, info->keys.partition_count);
    buf_byte(&record, info->keys.sort_count);
    for (unsigned i = 0; i < key_schema_count(&info->keys); i++) {
        buf_byte(&record, (uint8_t)info->keys.parts[i].type);
        buf_counted(&record, info->keys.parts[i].name);
    }
    buf_byte(&record, info->enabled);
    buf_varint(&record, info->first);
    buf_varint(&record, info->last);
    buf_varint(&record, (uint64_t)stream->ended_ms);
    for (unsigned i = 0; i < STREAM_SHARDS_MAX; i++)
        buf_varint(&record, info->kept[i]);
    buf_byte(&record, (uint8_t)info->shards);
    store_put(batch, STORE_META, about_key(stream, key), buf_bytes(&record));
    buf_release(&record);
}

void stream_del_info(struct store_batch *batch, const struct stream *stream) {
    uint8_t key[ABOUT_KEY_SIZE];
    store_del(batch, STORE_META, about_key(stream, key));
}

void stream_put_next(struct store_batch *batch, uint64_t next) {
    struct buf value = {0};
    buf_varint(&value, next);
    store_put(batch, STORE_META, BYTES("s"), buf_bytes(&value));
    buf_release(&value);
}

static bool take_keys(struct bytes *in, struct key_schema *keys) {
    if (!take_u8(in, &keys->partition_count) || !take_u8(in, &keys->sort_count) ||
        keys->partition_count != 1 || keys->sort_count > 1)
        return false;
    for (unsigned i = 0; i < key_schema_count(keys); i++) {
        uint8_t type;
        if (!take_u8(in, &type) || type < VALUE_S || type > VALUE_B ||
            !take_counted(in, &keys->parts[i].name))
            return false;
        keys->parts[i].type = (enum value_type)type;
    }
    return true;
}

static bool take_about(struct bytes *in, struct stream_info *info, int64_t *ended_ms) {
    uint8_t format, view, enabled;
    uint64_t ended;
    uint8_t shards = SHARDS_OF_FORMAT_1;
    if (!take_u8(in, &format) || format == 0 || format > STREAM_FORMAT ||
        !take_counted(in, &info->table) || !take_counted(in, &info->table_id) ||
        !take_u8(in, &view) || view == STREAM_OFF || view > STREAM_BOTH ||
        !take_keys(in, &info->keys) || !take_u8(in, &enabled) || enabled > 1 ||
        !take_varint(in, &info->first) || !take_varint(in, &info->last) || !take_varint(in, &ended))
        return false;
    for (unsigned i = 0; i < STREAM_SHARDS_MAX; i++)
        if (!take_varint(in, &info->kept[i]))
            return false;
    if (format > 1 && !take_u8(in, &shards))
        return false;
    info->shards = shards;
    info->view = (enum stream_view)view;
    info->enabled = enabled == 1;
    *ended_ms = (int64_t)ended;
    return in->size == 0 && shards >= 1 && shards <= STREAM_SHARDS_MAX;
}

/* --- loading --- */

static bool load_stream(struct local *local, struct bytes key, struct bytes value) {
    struct stream_info info = {0};
    uint32_t table;
    uint64_t label;
    int64_t ended_ms;
    key = bytes_skip(key, 1);
    if (!take_u32(&key, &table) || !take_u64(&key, &label) || !take_about(&value, &info, &ended_ms))
        return false;
    info.label_ms = (int64_t)label;
    if (streams_find(&local->streams, info.table, info.label_ms) != NULL)
        return false;
    struct stream *stream = stream_new(table, &info);
    stream->ended_ms = ended_ms;
    streams_add(&local->streams, stream);
    return true;
}

static struct stream_info info_of(const struct table_schema *schema,
                                  const struct table_description *about, uint64_t first,
                                  unsigned shards) {
    struct stream_info info = {.table = schema->name,
                               .table_id = about->id,
                               .label_ms = about->stream_since_ms,
                               .view = schema->stream,
                               .keys = schema->keys,
                               .shards = shards,
                               .enabled = true,
                               .first = first};
    for (unsigned i = 0; i < STREAM_SHARDS_MAX; i++)
        info.kept[i] = first;
    return info;
}

/* Gives each table with a stream the one it has. */
static void join_tables(struct local *local) {
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;) {
        struct table *table = slot->value;
        const struct table_schema *schema = table->schema;
        if (schema->stream == STREAM_OFF)
            continue;
        int64_t label_ms = table->about.stream_since_ms;
        table->stream = streams_find(&local->streams, schema->name, label_ms);
        if (table->stream == NULL) {
            struct stream_info info = info_of(schema, &table->about, 1, SHARDS_OF_FORMAT_1);
            table->stream = stream_new(table->id, &info);
            streams_add(&local->streams, table->stream);
        }
    }
}

static enum status load_all(struct local *local) {
    struct store_range range = {.family = STORE_META, .low = BYTES("S"), .high = BYTES("T")};
    struct store_iter *iter = store_iter_open(local->store, &range);
    bool whole = true;
    for (bool on = store_iter_first(iter); on && whole; on = store_iter_next(iter))
        whole = load_stream(local, store_iter_key(iter), store_iter_value(iter));
    enum status status = store_iter_status(iter);
    store_iter_close(iter);
    return whole ? status : DAMAGED;
}

static enum status load_next(struct local *local, struct arena *arena) {
    struct bytes value;
    enum status status =
        store_get(local->store, &(struct store_key){STORE_META, BYTES("s")}, arena, &value);
    local->streams.next = 1;
    if (status == OK && !take_varint(&value, &local->streams.next))
        status = DAMAGED;
    return status == NOT_FOUND ? OK : status;
}

enum status streams_load(struct local *local, struct scope in) {
    enum status status = load_next(local, in.arena);
    if (status == OK)
        status = load_all(local);
    if (status == DAMAGED)
        return failure_set(in.failure, in.arena, DAMAGED,
                           "The catalogue is damaged (a stream cannot be read). Restore the data "
                           "folder from a backup.");
    if (status != OK)
        return failure_set(in.failure, in.arena, status, "The catalogue cannot be read.");
    join_tables(local);
    return OK;
}

/* --- beginning and ending --- */

struct stream_switch stream_switch_plan(struct local *local, struct store_batch *batch,
                                        const struct schema_replacement *next) {
    struct stream_switch turn = {0};
    const struct table *table = next->table;
    bool on = next->schema != NULL && next->schema->stream != STREAM_OFF;
    if (table->stream != NULL && !on) {
        turn.ends = table->stream;
        struct stream ended = *turn.ends;
        ended.info.enabled = false;
        ended.info.last = local->streams.next - 1;
        if (ended.info.last < ended.info.first)
            ended.info.last = ended.info.first;
        ended.ended_ms = clock_now_ms();
        stream_put_info(batch, &ended);
        turn.last = ended.info.last;
        turn.ended_ms = ended.ended_ms;
    }
    if (table->stream == NULL && on) {
        struct stream_info info =
            info_of(next->schema, next->about, local->streams.next, local->settings.stream_shards);
        turn.begins = stream_new(table->id, &info);
        for (unsigned i = 0; i < STREAM_SHARDS_MAX; i++)
            turn.begins->oldest_ms[i] = STREAM_EMPTY;
        stream_put_info(batch, turn.begins);
    }
    return turn;
}

void stream_switch_commit(struct local *local, struct table *table,
                          const struct stream_switch *turn) {
    if (turn->ends != NULL) {
        turn->ends->info.enabled = false;
        turn->ends->info.last = turn->last;
        turn->ends->ended_ms = turn->ended_ms;
        table->stream = NULL;
    }
    if (turn->begins != NULL) {
        streams_add(&local->streams, turn->begins);
        table->stream = turn->begins;
    }
}

void stream_switch_cancel(const struct stream_switch *turn) {
    stream_free(turn->begins);
}
