/* Reading streams: the list of them, and a page of one shard at a snapshot. Any thread. */
#include "table/local/local_int.h"

#include "base/limits.h"

enum {
    READ_RECORDS_MAX = LIMIT_STREAM_RECORDS,
    READ_SIZE_MAX = LIMIT_STREAM_SIZE,
    PASSED_MAX = LIMIT_STREAM_PASSED
};

static struct stream_info copy_info(const struct stream_info *info, struct arena *arena) {
    struct stream_info copy = *info;
    copy.table = arena_copy(arena, info->table);
    copy.table_id = arena_copy(arena, info->table_id);
    for (unsigned i = 0; i < key_schema_count(&info->keys); i++)
        copy.keys.parts[i].name = arena_copy(arena, info->keys.parts[i].name);
    return copy;
}

enum status local_streams(struct engine *engine, const struct stream_list_request *request,
                          struct arena *arena, struct stream_list *out) {
    struct local *local = (struct local *)engine;
    bool one = request->table.size != 0;
    struct bytes from = request->after_table;
    int64_t label_ms = request->after_label_ms + 1;
    if (one && bytes_compare(from, request->table) < 0) {
        from = request->table;
        label_ms = 0;
    }
    *out = (struct stream_list){0};
    pthread_rwlock_rdlock(&local->state_lock);
    const struct streams *streams = &local->streams;
    size_t at = streams_seek(streams, from, label_ms), end = at;
    while (end < streams->count &&
           (!one || bytes_equal(streams->at[end]->info.table, request->table)))
        end++;
    size_t count = end - at < request->limit ? end - at : request->limit;
    out->streams = ARENA_ARRAY(arena, struct stream_info, count + 1);
    for (; out->count < count; out->count++)
        out->streams[out->count] = copy_info(&streams->at[at + out->count]->info, arena);
    out->more = end - at > count;
    pthread_rwlock_unlock(&local->state_lock);
    return OK;
}

/* A stream as it is at a snapshot. */
struct found_stream {
    struct stream stream;      /* a copy: only its table's number and `info` are set */
    struct snapshot *snapshot; /* to be dropped by the caller */
    uint64_t next;             /* number of a record that the snapshot does not see */
    bool lacks;                /* it has no record that the request wants */
};

/* `request` may be NULL. */
static enum status find_stream(struct local *local, const struct stream_id *id,
                               const struct stream_read_request *request, struct scope in,
                               struct found_stream *out) {
    pthread_rwlock_rdlock(&local->state_lock);
    const struct stream *stream = streams_find(&local->streams, id->table, id->label_ms);
    if (stream != NULL) {
        out->next = local->streams.next;
        out->lacks = request != NULL && stream->info.enabled && request->from <= out->next &&
                     stream_kinds_lack(&stream->kinds, request->from, request->partitions,
                                       request->partition_count);
        out->stream =
            (struct stream){.table = stream->table, .info = copy_info(&stream->info, in.arena)};
        out->snapshot = snapshot_hold(local);
    }
    pthread_rwlock_unlock(&local->state_lock);
    if (stream == NULL)
        return failure_set(in.failure, in.arena, NO_RESOURCE, "Requested resource not found");
    return OK;
}

enum status local_stream(struct engine *engine, const struct stream_id *id, struct scope in,
                         struct stream_info *out) {
    struct found_stream found;
    enum status status = find_stream((struct local *)engine, id, NULL, in, &found);
    if (status != OK)
        return status;
    snapshot_drop(found.snapshot);
    *out = found.stream.info;
    return OK;
}

struct reading {
    const struct stream_read_request *request;
    struct record_reader records;
    struct arena *arena; /* of the request */
    struct stream_read_reply *reply;
    size_t limit, room, size;
    unsigned passed;  /* records that are not of a partition asked for, or gone */
    bool from_oldest; /* that the stream has */
};

/* Room for more records as they come: most reads are short. */
static struct stream_record *next_record(struct reading *reading) {
    struct stream_read_reply *reply = reading->reply;
    if (reply->count == reading->room) {
        size_t room = reading->room == 0 ? 16 : reading->room * 4;
        reply->records =
            arena_grow(reading->arena, reply->records, reading->room * sizeof(*reply->records),
                       room * sizeof(*reply->records));
        reading->room = room;
    }
    struct stream_record *record = &reply->records[reply->count];
    *record = (struct stream_record){0};
    return record;
}

/* Whether the record is of a partition that is asked for. */
static enum status match_partition(struct reading *reading, struct bytes value, bool *wanted) {
    const struct stream_read_request *request = reading->request;
    struct value partition = {0};
    enum status status = OK;
    *wanted = request->partition_count == 0;
    if (!*wanted)
        status = stream_record_partition(value, &reading->records, &partition);
    for (size_t i = 0; status == OK && i < request->partition_count && !*wanted; i++)
        *wanted =
            partition.type == VALUE_S && bytes_starts(partition.bytes, request->partitions[i]);
    return status;
}

static enum status take_record(struct reading *reading, uint64_t sequence, struct bytes value) {
    struct stream_record *record = next_record(reading);
    record->sequence = sequence;
    reading->size += value.size;
    enum status status =
        stream_record_read(arena_copy(reading->arena, value), &reading->records, record);
    if (status == OK)
        reading->reply->count++;
    return status;
}

/* Whether what follows is for the next page. */
static bool is_full(const struct reading *reading) {
    return reading->reply->count == reading->limit || reading->passed == PASSED_MAX;
}

/* Takes one, if it is wanted; *full if there is no room for it. */
static enum status read_record(struct reading *reading, uint64_t sequence, struct bytes value,
                               bool *full) {
    struct stream_read_reply *reply = reading->reply;
    bool wanted;
    *full = is_full(reading);
    if (*full)
        return OK;
    if (match_partition(reading, value, &wanted) != OK)
        return DAMAGED;
    *full = wanted && reply->count != 0 && reading->size + value.size > READ_SIZE_MAX;
    if (*full)
        return OK;
    reading->passed += !wanted;
    reply->next = sequence + 1;
    return wanted ? take_record(reading, sequence, value) : OK;
}

/* The records of one stored value, from the one asked for on. */
static enum status read_bundle(struct reading *reading, struct bundle_iter *from, bool *full) {
    uint64_t sequence;
    struct bytes value;
    enum status status = OK;
    *full = false;
    while (status == OK && !*full && (status = bundle_next(from, &sequence, &value)) == OK)
        if (sequence >= reading->request->from)
            status = read_record(reading, sequence, value, full);
    return status == NOT_FOUND ? OK : status;
}

/* Reads the records that the iterator stands on. Those of a folder that is a copy may no longer be
 * in the log: whoever begins with the oldest passes over them, for others they were trimmed. */
static enum status read_stored(struct reading *reading, struct store_iter *iter, bool *full) {
    struct stream_position last;
    struct bytes value;
    *full = false;
    if (!stream_key_read(store_iter_key(iter), &last))
        return DAMAGED;
    enum status status = store_iter_load(iter, &value);
    if (status == NOT_FOUND) {
        *full = reading->reply->trimmed = !reading->from_oldest;
        reading->passed++;
        return OK;
    }
    if (status != OK)
        return status;
    struct bundle_iter from = bundle_read(value, last.sequence);
    return read_bundle(reading, &from, full);
}

static enum status read_all(struct reading *reading, struct store_iter *iter) {
    bool full = false, there = store_iter_first(iter);
    while (there && !is_full(reading)) {
        enum status status = read_stored(reading, iter, &full);
        if (status != OK)
            return status;
        if (full)
            break;
        there = store_iter_next(iter);
    }
    reading->reply->caught_up = !there;
    return store_iter_status(iter);
}

enum status local_stream_read(struct engine *engine, const struct stream_read_request *request,
                              struct scope in, struct stream_read_reply *out) {
    struct local *local = (struct local *)engine;
    struct stream_id id = {request->table, request->label_ms};
    struct found_stream found;
    *out = (struct stream_read_reply){.next = request->from};
    enum status status = find_stream(local, &id, request, in, &found);
    if (status != OK)
        return status;
    const struct stream_info *info = &found.stream.info;
    struct stream_position from = stream_shard_start(&found.stream, request->shard);
    struct stream_position to = stream_shard_start(&found.stream, request->shard + 1);
    from.sequence = request->from;
    uint8_t low[STREAM_KEY_SIZE], high[STREAM_KEY_SIZE];
    struct store_range range = {.family = STORE_STREAM,
                                .snapshot = found.snapshot->stored,
                                .low = stream_key(&from, low),
                                .high = stream_key(&to, high)};
    struct reading reading = {.request = request,
                              .records = {&info->keys, local->names, in.arena},
                              .arena = in.arena,
                              .reply = out,
                              .limit = request->limit};
    if (reading.limit > READ_RECORDS_MAX)
        reading.limit = READ_RECORDS_MAX;
    out->trimmed = request->from < info->kept[request->shard];
    reading.from_oldest = request->from == info->kept[request->shard];
    if (!out->trimmed && found.lacks) {
        out->next = found.next;
        out->caught_up = true;
    } else if (!out->trimmed) {
        struct store_iter *iter = store_iter_open(local->store, &range);
        status = read_all(&reading, iter);
        store_iter_close(iter);
        out->ended = out->caught_up && !info->enabled;
    }
    snapshot_drop(found.snapshot);
    return status == OK ? OK : local_fault(status, in);
}

uint64_t local_stream_latest(struct engine *engine) {
    struct local *local = (struct local *)engine;
    pthread_rwlock_rdlock(&local->state_lock);
    uint64_t next = local->streams.next;
    pthread_rwlock_unlock(&local->state_lock);
    return next;
}
