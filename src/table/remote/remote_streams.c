/* The table's stream: as the endpoint has it, for the projector; and as table_stream.h has it, for
 * housekeeping.
 *
 * The endpoint's shards end and have children. Those that descend from each other are one shard to
 * the engine's callers, numbered in the order of the oldest, and sequence numbers are the
 * endpoint's. One node at a time reads for housekeeping, by a lease: DynamoDB throttles a shard
 * that more than two read. To the others nothing seems to happen. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "table/remote/remote_parts.h"
#include "json/attribute.h"

#include <pthread.h>
#include <stdlib.h>

#define STREAMS_TARGET(name) "DynamoDBStreams_20120810." name

enum { LEASE_MS = 10 * 1000, LEASE_KEPT_MS = 4 * 1000, SEQUENCE_DIGITS = 18 };

static struct bytes text_of(const struct json *object, struct bytes name) {
    const struct json *text = json_get(object, name);
    return text != NULL && text->type == JSON_STRING ? text->text : (struct bytes){0};
}

static double number_of(const struct json *object, struct bytes name) {
    const struct json *number = json_get(object, name);
    char text[40] = "0";
    if (number != NULL && number->type == JSON_NUMBER && number->text.size < sizeof(text)) {
        memcpy(text, number->text.data, number->text.size);
        text[number->text.size] = '\0';
    }
    return strtod(text, NULL);
}

/* --- shards --- */

static enum status find_stream(struct remote *remote, struct scope in, struct bytes *out) {
    struct buf body = {0};
    buf_lit(&body, "{\"TableName\":");
    json_put_string(&body, remote->table);
    buf_byte(&body, '}');
    struct transport_request request = {.target = "DescribeTable", .body = buf_bytes(&body)};
    enum status status = remote_ask(remote, &request, in);
    buf_release(&body);
    if (status != OK)
        return status;
    const struct json *table = json_get(&request.json, BYTES("Table"));
    const struct json *stream = json_get(table, BYTES("StreamSpecification"));
    *out = text_of(table, BYTES("LatestStreamArn"));
    if (out->size != 0 && stream != NULL)
        return OK;
    return failure_set(in.failure, in.arena, NO_RESOURCE, "The table %.*s has no stream",
                       BYTES_ARG(remote->table));
}

static void take_shards(const struct json *list, struct scope in, struct remote_shards *out) {
    uint32_t count = list != NULL && list->type == JSON_ARRAY ? list->count : 0;
    out->shards = arena_grow(in.arena, out->shards, out->count * sizeof(*out->shards),
                             (out->count + count + 1) * sizeof(*out->shards));
    for (uint32_t i = 0; i < count; i++) {
        const struct json *range = json_get(&list->elements[i], BYTES("SequenceNumberRange"));
        out->shards[out->count++] =
            (struct remote_shard){.id = text_of(&list->elements[i], BYTES("ShardId")),
                                  .parent = text_of(&list->elements[i], BYTES("ParentShardId")),
                                  .first = text_of(range, BYTES("StartingSequenceNumber")),
                                  .last = text_of(range, BYTES("EndingSequenceNumber"))};
    }
}

static enum status describe_page(struct remote *remote, struct remote_shards *out,
                                 struct bytes *after, struct scope in) {
    struct buf body = {0};
    buf_lit(&body, "{\"StreamArn\":");
    json_put_string(&body, out->stream);
    if (after->size != 0) {
        buf_lit(&body, ",\"ExclusiveStartShardId\":");
        json_put_string(&body, *after);
    }
    buf_byte(&body, '}');
    struct transport_request request = {.target = STREAMS_TARGET("DescribeStream"),
                                        .body = buf_bytes(&body)};
    enum status status = remote_ask(remote, &request, in);
    buf_release(&body);
    if (status != OK)
        return status == NO_TABLE ? NO_RESOURCE : status;
    const struct json *about = json_get(&request.json, BYTES("StreamDescription"));
    take_shards(json_get(about, BYTES("Shards")), in, out);
    *after = text_of(about, BYTES("LastEvaluatedShardId"));
    return OK;
}

enum status remote_stream_shards(struct remote *remote, struct scope in,
                                 struct remote_shards *out) {
    struct bytes after = {0};
    *out = (struct remote_shards){0};
    enum status status = find_stream(remote, in, &out->stream);
    do {
        if (status == OK)
            status = describe_page(remote, out, &after, in);
    } while (status == OK && after.size != 0);
    for (size_t i = 0; i < out->count; i++) { /* a parent that is gone is none */
        bool there = false;
        for (size_t at = 0; at < out->count && !there; at++)
            there = bytes_equal(out->shards[at].id, out->shards[i].parent);
        if (!there)
            out->shards[i].parent = (struct bytes){0};
    }
    return status;
}

/* --- records --- */

static enum status ask_iterator(struct remote *remote, struct remote_shard_read *read,
                                struct scope in) {
    struct buf body = {0};
    buf_lit(&body, "{\"StreamArn\":");
    json_put_string(&body, read->stream);
    buf_lit(&body, ",\"ShardId\":");
    json_put_string(&body, read->shard);
    if (read->after.size != 0) {
        buf_lit(&body, ",\"ShardIteratorType\":\"AFTER_SEQUENCE_NUMBER\",\"SequenceNumber\":");
        json_put_string(&body, read->after);
    } else
        buf_lit(&body, ",\"ShardIteratorType\":\"TRIM_HORIZON\"");
    buf_byte(&body, '}');
    struct transport_request request = {.target = STREAMS_TARGET("GetShardIterator"),
                                        .body = buf_bytes(&body)};
    enum status status = remote_ask(remote, &request, in);
    buf_release(&body);
    if (status == OK)
        read->iterator = text_of(&request.json, BYTES("ShardIterator"));
    return status == NO_TABLE ? NO_RESOURCE : status;
}

static enum stream_event event_named(struct bytes name) {
    if (bytes_equal(name, BYTES("INSERT")))
        return STREAM_INSERT;
    return bytes_equal(name, BYTES("REMOVE")) ? STREAM_REMOVE : STREAM_MODIFY;
}

static enum status take_image(struct remote *remote, const struct json *json, struct scope in,
                              struct item *item, struct bytes *version) {
    enum status status = attribute_read_item(json, in, item);
    if (status != OK)
        return remote_odd_answer(in);
    struct remote_item received = remote_item_received(remote, item, in.arena);
    *item = received.item;
    *version = remote_version_newest(received.version);
    return OK;
}

static enum status take_record(struct remote *remote, const struct json *json, struct scope in,
                               struct remote_record *out) {
    const struct json *body = json_get(json, BYTES("dynamodb"));
    const struct json *keys = json_get(body, BYTES("Keys"));
    const struct json *old = json_get(body, BYTES("OldImage"));
    const struct json *new = json_get(body, BYTES("NewImage"));
    const struct json *who = json_get(json, BYTES("userIdentity"));
    *out = (struct remote_record){
        .sequence = text_of(body, BYTES("SequenceNumber")),
        .created_ms = (int64_t)(number_of(body, BYTES("ApproximateCreationDateTime")) * 1000),
        .event = event_named(text_of(json, BYTES("eventName"))),
        .expired = who != NULL && who->type == JSON_OBJECT,
        .has_old = old != NULL,
        .has_new = new != NULL};
    if (keys == NULL || out->sequence.size == 0)
        return remote_odd_answer(in);
    enum status status = attribute_read_item(keys, in, &out->keys);
    if (status == OK && old != NULL)
        status = take_image(remote, old, in, &out->old, &out->old_version);
    if (status == OK && new != NULL)
        status = take_image(remote, new, in, &out->new, &out->new_version);
    return status;
}

static enum status read_records(struct remote *remote, struct remote_shard_read *read,
                                struct scope in) {
    struct buf body = {0};
    buf_lit(&body, "{\"ShardIterator\":");
    json_put_string(&body, read->iterator);
    buf_printf(&body, ",\"Limit\":%zu}", read->limit != 0 ? read->limit : 1000);
    struct transport_request request = {.target = STREAMS_TARGET("GetRecords"),
                                        .body = buf_bytes(&body)};
    enum status status = remote_ask(remote, &request, in);
    buf_release(&body);
    if (status != OK)
        return status == NO_TABLE ? NO_RESOURCE : status;
    const struct json *list = json_get(&request.json, BYTES("Records"));
    size_t count = list != NULL && list->type == JSON_ARRAY ? list->count : 0;
    read->records = ARENA_ARRAY(in.arena, struct remote_record, count + 1);
    read->count = count;
    for (size_t i = 0; status == OK && i < count; i++)
        status = take_record(remote, &list->elements[i], in, &read->records[i]);
    read->next = text_of(&request.json, BYTES("NextShardIterator"));
    return status;
}

enum status remote_shard_read(struct remote *remote, struct remote_shard_read *read,
                              struct scope in) {
    bool fresh = read->iterator.size == 0;
    enum status status = fresh ? ask_iterator(remote, read, in) : OK;
    if (status == OK)
        status = read_records(remote, read, in);
    if (status == CONDITION_FAILED && !fresh) { /* the iterator has expired */
        status = ask_iterator(remote, read, in);
        if (status == OK)
            status = read_records(remote, read, in);
    }
    return status;
}

/* --- the lease of housekeeping's reader --- */

struct lease_try {
    struct remote *remote;
    bool taken;
};

static struct value number_value(int64_t number, struct arena *arena) {
    struct json text = {.type = JSON_STRING,
                        .text = arena_printf(arena, "%lld", (long long)number)};
    struct json_member member = {BYTES("N"), text};
    struct json typed = {.type = JSON_OBJECT, .count = 1, .members = &member};
    struct failure failure = {0};
    struct value value = {0};
    attribute_read(&typed, (struct scope){arena, &failure}, &value);
    return value;
}

static int64_t number_in(const struct item *item, struct bytes name) {
    const struct value *value = item_get(item, name);
    uint64_t ms = 0;
    return value != NULL && rules_time_of(value, &ms) ? (int64_t)(ms / 1000) : 0;
}

/* An action_compute: takes the lease if it is ours, nobody's, or has ended. */
static enum status take_lease(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    struct lease_try *attempt = action->user;
    int64_t now_s = clock_believed().wall_ms / 1000;
    const struct value *holder = item_get(old, BYTES("node"));
    struct bytes self = bytes_str(attempt->remote->node);
    bool ours = holder != NULL && bytes_equal(holder->bytes, self);
    attempt->taken = ours || number_in(old, BYTES("until")) <= now_s;
    if (!attempt->taken)
        return OK;
    struct value until = number_value(now_s + LEASE_MS / 1000, arena), node = value_string(self);
    *new = item_with(arena, &action->item, BYTES("until"), &until);
    *new = item_with(arena, new, BYTES("node"), &node);
    return OK;
}

/* Where housekeeping's reader is in one line of shards, so that the next reading goes on without
 * asking for shards and iterators. */
struct line_reader {
    struct arena arena; /* of the texts below */
    bool used;
    int64_t label_ms;
    uint64_t from;
    struct bytes stream, shard, iterator;
    struct bytes last; /* the sequence number of the last record read; empty: none */
};

/* Housekeeping's reader: one a process. */
struct remote_stream_reader {
    pthread_mutex_t lock; /* guards all of it */
    bool leased;          /* this node is the one that reads, */
    int64_t looked_us;    /* as of then; 0: never looked */
    struct line_reader lines[STREAM_SHARDS_MAX];
};

struct remote_stream_reader *remote_stream_reader_new(void) {
    struct remote_stream_reader *reader = mem_zalloc(sizeof(*reader));
    pthread_mutex_init(&reader->lock, NULL);
    return reader;
}

void remote_stream_reader_free(struct remote_stream_reader *reader) {
    for (unsigned i = 0; i < STREAM_SHARDS_MAX; i++)
        if (reader->lines[i].arena.first != NULL)
            arena_release(&reader->lines[i].arena);
    pthread_mutex_destroy(&reader->lock);
    mem_free(reader);
}

static bool try_lease(struct remote *remote) {
    struct lease_try attempt = {.remote = remote};
    struct arena arena;
    arena_init(&arena);
    struct pair key[] = {{BYTES("PK"), value_string(BYTES("KEEPER"))},
                         {BYTES("SK"), value_string(BYTES("READER"))}};
    struct action action = {.kind = ACTION_COMPUTE,
                            .table = remote->table,
                            .item = {key, 2},
                            .compute = take_lease,
                            .user = &attempt,
                            .keeps_version = true};
    struct change change = {
        .kind = CHANGE_WRITE, .arena = &arena, .actions = &action, .action_count = 1};
    enum status status = engine_submit_wait(&remote->engine, &change);
    arena_release(&arena);
    return status == OK && attempt.taken;
}

/* Whether this node is the one that reads for housekeeping. Under the reader's lock. */
static bool holds_lease(struct remote *remote) {
    struct remote_stream_reader *reader = remote->reader;
    int64_t now_us = clock_ticks_us();
    if (reader->looked_us == 0 || now_us - reader->looked_us > LEASE_KEPT_MS * INT64_C(1000)) {
        reader->leased = try_lease(remote);
        reader->looked_us = clock_ticks_us();
    }
    return reader->leased;
}

/* --- as table_stream.h has it --- */

/* The last eighteen digits: Amazon's sequence numbers have up to forty, of which the first tell
 * shards apart and these count. */
static uint64_t sequence_of(struct bytes digits) {
    uint64_t number = 0;
    if (digits.size > SEQUENCE_DIGITS)
        digits = bytes_skip(digits, digits.size - SEQUENCE_DIGITS);
    for (size_t i = 0; i < digits.size; i++)
        number = number * 10 + (uint64_t)(digits.data[i] - '0') % 10;
    return number;
}

/* The whole number again, in a shard that begins with `first`. */
static struct bytes sequence_text(struct bytes first, uint64_t number, struct arena *arena) {
    size_t more = first.size > SEQUENCE_DIGITS ? first.size - SEQUENCE_DIGITS : 0;
    return arena_printf(arena, "%.*s%018llu", (int)more, (const char *)first.data,
                        (unsigned long long)number);
}

/* The number of the line of descent that a shard belongs to. */
static unsigned line_of(const struct remote_shards *shards, size_t at) {
    while (shards->shards[at].parent.size != 0) {
        size_t parent = 0;
        while (!bytes_equal(shards->shards[parent].id, shards->shards[at].parent))
            parent++;
        at = parent;
    }
    unsigned line = 0;
    for (size_t i = 0; i < at; i++)
        line += shards->shards[i].parent.size == 0;
    return line;
}

static enum status read_info(struct remote *remote, struct scope in, struct stream_info *out) {
    struct remote_shards shards;
    const struct table_schema *schema;
    enum status status = remote_schema(remote, remote->table, in, &schema);
    if (status == OK)
        status = remote_stream_shards(remote, in, &shards);
    if (status != OK)
        return status;
    struct table_description about;
    status = engine_describe(&remote->engine, remote->table, in, &about);
    if (status != OK)
        return status;
    *out = (struct stream_info){.table = remote->table,
                                .table_id = about.id,
                                .label_ms = about.stream_since_ms,
                                .view = schema->stream,
                                .keys = schema->keys,
                                .shards = 1,
                                .enabled = about.schema.stream != STREAM_OFF};
    for (size_t i = 0; i < shards.count; i++) {
        unsigned line = line_of(&shards, i);
        if (line < STREAM_SHARDS_MAX && line + 1 > out->shards)
            out->shards = line + 1;
    }
    return OK;
}

static enum status streams(struct engine *engine, const struct stream_list_request *request,
                           struct arena *arena, struct stream_list *out) {
    struct failure failure = {0};
    struct remote *remote = remote_of(engine);
    *out = (struct stream_list){.streams = ARENA_NEW(arena, struct stream_info)};
    enum status status = read_info(remote, (struct scope){arena, &failure}, &out->streams[0]);
    if (status == NO_RESOURCE)
        return OK;
    bool wanted =
        status == OK && (request->table.size == 0 || remote_is_game(remote, request->table)) &&
        (request->after_table.size == 0 || bytes_compare(request->after_table, remote->table) < 0 ||
         (bytes_equal(request->after_table, remote->table) &&
          request->after_label_ms < out->streams[0].label_ms));
    out->count = wanted;
    return status;
}

static enum status stream(struct engine *engine, const struct stream_id *id, struct scope in,
                          struct stream_info *out) {
    enum status status = read_info(remote_of(engine), in, out);
    if (status == OK &&
        (!remote_is_game(remote_of(engine), id->table) || id->label_ms != out->label_ms))
        status = failure_set(in.failure, in.arena, NO_RESOURCE, "There is no such stream");
    return status;
}

/* The first shard of the line that has records from that number on, or may get some. */
static const struct remote_shard *shard_at(const struct remote_shards *shards, unsigned line,
                                           uint64_t from) {
    const struct remote_shard *best = NULL;
    for (size_t i = 0; i < shards->count; i++) {
        const struct remote_shard *shard = &shards->shards[i];
        bool over = shard->last.size != 0 && sequence_of(shard->last) < from;
        if (line_of(shards, i) != line || over)
            continue;
        if (best == NULL || sequence_of(shard->first) < sequence_of(best->first))
            best = shard;
    }
    return best;
}

static bool is_wanted(const struct stream_read_request *request, const struct item *keys) {
    const struct value *partition = item_get(keys, BYTES("PK"));
    bool wanted = request->partition_count == 0;
    for (size_t i = 0; i < request->partition_count && !wanted && partition != NULL; i++)
        wanted = bytes_starts(partition->bytes, request->partitions[i]);
    return wanted;
}

static void take_page(const struct remote_shard_read *read,
                      const struct stream_read_request *request, struct arena *arena,
                      struct stream_read_reply *out) {
    out->records = ARENA_ARRAY(arena, struct stream_record, read->count + 1);
    for (size_t i = 0; i < read->count; i++) {
        const struct remote_record *from = &read->records[i];
        uint64_t sequence = sequence_of(from->sequence);
        if (sequence < request->from)
            continue;
        out->next = sequence + 1;
        if (!is_wanted(request, &from->keys))
            continue;
        out->records[out->count++] = (struct stream_record){.sequence = sequence,
                                                            .created_ms = from->created_ms,
                                                            .event = from->event,
                                                            .expired = from->expired,
                                                            .keys = from->keys,
                                                            .has_old = from->has_old,
                                                            .has_new = from->has_new,
                                                            .old = from->old,
                                                            .new = from->new};
    }
}

/* Finds the shard to read from, unless it is known from the reading before. */
static enum status find_shard(struct remote *remote, const struct stream_read_request *request,
                              struct line_reader *reader, struct scope in,
                              struct remote_shard_read *read) {
    struct remote_shards shards;
    if (reader->used && reader->label_ms == request->label_ms && reader->from == request->from) {
        read->stream = reader->stream;
        read->shard = reader->shard;
        read->iterator = reader->iterator;
        read->after = reader->last;
        return OK;
    }
    enum status status = remote_stream_shards(remote, in, &shards);
    if (status != OK)
        return status;
    const struct remote_shard *shard = shard_at(&shards, request->shard, request->from);
    if (shard == NULL)
        return NOT_FOUND;
    read->stream = shards.stream;
    read->shard = shard->id;
    if (request->from > sequence_of(shard->first))
        read->after = sequence_text(shard->first, request->from - 1, in.arena);
    return OK;
}

static void remember_reader(struct line_reader *reader, const struct stream_read_request *request,
                            const struct remote_shard_read *read, uint64_t next) {
    struct arena arena;
    arena_init(&arena); /* what is copied may be in the old one */
    struct line_reader now = {
        .used = read->next.size != 0,
        .label_ms = request->label_ms,
        .from = next,
        .stream = arena_copy(&arena, read->stream),
        .shard = arena_copy(&arena, read->shard),
        .iterator = arena_copy(&arena, read->next),
        .last = arena_copy(&arena, read->count != 0 ? read->records[read->count - 1].sequence
                                                    : read->after)};
    if (reader->arena.first != NULL)
        arena_release(&reader->arena);
    *reader = now;
    reader->arena = arena;
}

static enum status read_line(struct remote *remote, const struct stream_read_request *request,
                             struct scope in, struct stream_read_reply *out) {
    struct line_reader *reader = &remote->reader->lines[request->shard];
    struct remote_shard_read read = {.limit = request->limit};
    enum status status = find_shard(remote, request, reader, in, &read);
    if (status == NOT_FOUND) { /* no such line, or all of it was read: children may come */
        out->caught_up = true;
        return OK;
    }
    if (status == OK)
        status = remote_shard_read(remote, &read, in);
    if (status == INVALID) { /* no such number in this shard: what was read before is passed over */
        read.after = read.iterator = (struct bytes){0};
        status = remote_shard_read(remote, &read, in);
    }
    if (status == NOT_FOUND) {
        out->trimmed = true;
        return OK;
    }
    if (status != OK)
        return status;
    take_page(&read, request, in.arena, out);
    out->caught_up = read.count == 0;
    remember_reader(reader, request, &read, out->next);
    return OK;
}

static enum status stream_read(struct engine *engine, const struct stream_read_request *request,
                               struct scope in, struct stream_read_reply *out) {
    struct remote *remote = remote_of(engine);
    enum status status = OK;
    *out = (struct stream_read_reply){.next = request->from};
    if (request->shard >= STREAM_SHARDS_MAX) {
        out->caught_up = true;
        return OK;
    }
    pthread_mutex_lock(&remote->reader->lock);
    if (holds_lease(remote))
        status = read_line(remote, request, in, out);
    else
        out->caught_up = true;
    if (status != OK)
        remote->reader->lines[request->shard].used = false;
    pthread_mutex_unlock(&remote->reader->lock);
    return status;
}

static uint64_t stream_latest(struct engine *engine) {
    (void)engine;
    return 0;
}

const struct stream_ops remote_stream_ops = {.streams = streams,
                                             .stream = stream,
                                             .stream_read = stream_read,
                                             .stream_latest = stream_latest};
