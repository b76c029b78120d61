/* GetShardIterator and GetRecords. */
#include "api/dynamodb/ddb_stream_name.h"
#include "api/dynamodb/operation.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"

static enum status trimmed(struct call *call) {
    return call_refuse(call, "TrimmedDataAccessException",
                       "The data you are trying to access has been trimmed");
}

/* --- GetShardIterator --- */

static bool find_shard(struct call *call, const struct stream_info *stream, unsigned *out) {
    struct bytes id = args_text(&call->args, ARG_SHARD_ID);
    for (*out = 0; *out < stream->shards; ++*out)
        if (bytes_equal(id, stream_name_shard(call->arena, stream, *out)))
            return true;
    return false;
}

/* A number given, or about to be. */
static enum status read_sequence(struct call *call, const struct stream_info *stream,
                                 uint64_t *out) {
    if (!args_has(&call->args, ARG_SEQUENCE_NUMBER))
        return call_invalid(call, "One or more parameter values were invalid: Invalid "
                                  "SequenceNumber");
    if (!stream_name_read_sequence(args_text(&call->args, ARG_SEQUENCE_NUMBER), out) ||
        *out < stream->first || *out > engine_stream_latest(call->engine))
        return call_invalid(call, "Invalid SequenceNumber for the shard");
    return OK;
}

static enum status read_position(struct call *call, const struct stream_info *stream,
                                 unsigned shard, uint64_t *out) {
    struct bytes type = args_text(&call->args, ARG_SHARD_ITERATOR_TYPE);
    bool horizon = bytes_equal(type, BYTES("TRIM_HORIZON"));
    if (!horizon && !bytes_equal(type, BYTES("LATEST"))) {
        enum status status = read_sequence(call, stream, out);
        if (status != OK)
            return status;
        if (bytes_equal(type, BYTES("AFTER_SEQUENCE_NUMBER")))
            ++*out;
        return *out < stream->kept[shard] ? trimmed(call) : OK;
    }
    if (args_has(&call->args, ARG_SEQUENCE_NUMBER))
        return call_invalid(call, "One or more parameter values were invalid: SequenceNumber "
                                  "should not be passed for this iterator type");
    *out = horizon ? stream->kept[shard] : engine_stream_latest(call->engine);
    return OK;
}

enum status op_get_shard_iterator(struct call *call) {
    struct stream_info stream;
    struct stream_place place = {.made_ms = clock_now_ms()};
    struct bytes arn = args_text(&call->args, ARG_STREAM_ARN);
    if (!stream_name_read_arn(arn, &place.table, &place.label_ms))
        return call_invalid(call, "Invalid StreamArn");
    enum status status =
        engine_stream(call->engine, &(struct stream_id){place.table, place.label_ms},
                      (struct scope){call->arena, &call->failure}, &stream);
    if (status == NO_RESOURCE)
        return failure_set(&call->failure, call->arena, NO_RESOURCE,
                           "Requested resource not found: Stream: %.*s not found", BYTES_ARG(arn));
    if (status != OK)
        return status;
    if (!find_shard(call, &stream, &place.shard)) {
        struct bytes id = args_text(&call->args, ARG_SHARD_ID);
        return failure_set(&call->failure, call->arena, NO_RESOURCE,
                           "Requested resource not found: Shard: %.*s in Stream: %.*s not found",
                           BYTES_ARG(id), BYTES_ARG(args_text(&call->args, ARG_STREAM_ARN)));
    }
    status = read_position(call, &stream, place.shard, &place.position);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"ShardIterator\":");
    stream_name_put_iterator(call, call->reply, &place);
    buf_byte(call->reply, '}');
    return OK;
}

/* --- GetRecords --- */

/* What is the same in all records of a reply. */
struct writer {
    struct buf *to;
    struct bytes region;
    const char *view;
    uint64_t stream_hash;
};

static void put_event(const struct writer *w, const struct stream_record *record) {
    static const char *const events[] = {
        [STREAM_INSERT] = "INSERT", [STREAM_MODIFY] = "MODIFY", [STREAM_REMOVE] = "REMOVE"};
    static const char digits[] = "0123456789abcdef";
    uint64_t halves[2] = {w->stream_hash,
                          hash_stable(bytes_of(&record->sequence, 8), w->stream_hash)};
    char id[32];
    for (unsigned i = 0; i < 32; i++)
        id[i] = digits[halves[i / 16] >> (60 - 4 * (i % 16)) & 15];
    buf_lit(w->to, "{\"eventID\":\"");
    buf_append(w->to, id, sizeof id);
    buf_lit(w->to, "\",\"eventName\":\"");
    buf_put(w->to, bytes_str(events[record->event]));
    buf_lit(w->to, "\",\"eventVersion\":\"1.1\",\"eventSource\":\"aws:dynamodb\",\"awsRegion\":");
    buf_put(w->to, w->region);
}

static void put_image(struct buf *to, struct bytes name, const struct item *image) {
    buf_put(to, name);
    attribute_write_item(to, image);
}

static void put_record(const struct writer *w, const struct stream_record *record) {
    struct buf *to = w->to;
    put_event(w, record);
    buf_lit(to, ",\"dynamodb\":{\"ApproximateCreationDateTime\":");
    json_put_int(to, record->created_ms / 1000);
    put_image(to, BYTES(",\"Keys\":"), &record->keys);
    if (record->has_new)
        put_image(to, BYTES(",\"NewImage\":"), &record->new);
    if (record->has_old)
        put_image(to, BYTES(",\"OldImage\":"), &record->old);
    buf_lit(to, ",\"SequenceNumber\":");
    stream_name_put_sequence(to, record->sequence);
    buf_lit(to, ",\"SizeBytes\":");
    json_put_int(to, (int64_t)record->size);
    buf_lit(to, ",\"StreamViewType\":\"");
    buf_put(to, bytes_str(w->view));
    buf_lit(to, "\"}");
    if (record->expired)
        buf_lit(to, ",\"userIdentity\":{\"PrincipalId\":\"dynamodb.amazonaws.com\","
                    "\"Type\":\"Service\"}");
    buf_byte(to, '}');
}

static struct bytes quoted(struct arena *arena, struct bytes text) {
    struct buf to = {0};
    json_put_string(&to, text);
    struct bytes copy = arena_copy(arena, buf_bytes(&to));
    buf_release(&to);
    return copy;
}

static void put_records(struct call *call, const struct stream_info *stream,
                        const struct stream_read_reply *read) {
    struct writer w = {.to = call->reply,
                       .region = quoted(call->arena, call_region(call)),
                       .view = stream_name_view(stream->view),
                       .stream_hash = hash_stable(stream->table_id, (uint64_t)stream->label_ms)};
    buf_lit(w.to, "{\"Records\":[");
    for (size_t i = 0; i < read->count; i++) {
        if (i != 0)
            buf_byte(w.to, ',');
        put_record(&w, &read->records[i]);
    }
    buf_byte(w.to, ']');
}

static enum status read_place(struct call *call, struct stream_place *place) {
    int64_t now = clock_now_ms();
    if (!stream_name_read_iterator(args_text(&call->args, ARG_SHARD_ITERATOR), place))
        return call_invalid(call, "Invalid ShardIterator");
    if (now - place->made_ms > LIMIT_ITERATOR_MS)
        return call_refuse(call, "ExpiredIteratorException",
                           "The shard iterator has expired: it was made more than 15 minutes ago");
    return OK;
}

enum status op_get_records(struct call *call) {
    struct stream_place place;
    struct stream_info stream;
    int64_t limit = args_int(&call->args, ARG_LIMIT, LIMIT_STREAM_RECORDS);
    if (limit > LIMIT_STREAM_RECORDS)
        return call_invalid(call, "One or more parameter values were invalid: Limit should be "
                                  "less than or equal to 1000");
    enum status status = read_place(call, &place);
    if (status != OK)
        return status;
    struct stream_read_request request = {.table = place.table,
                                          .label_ms = place.label_ms,
                                          .shard = place.shard,
                                          .from = place.position,
                                          .limit = (size_t)limit};
    struct stream_read_reply read;
    status = engine_stream(call->engine, &(struct stream_id){place.table, place.label_ms},
                           (struct scope){call->arena, &call->failure}, &stream);
    if (status == OK)
        status = engine_stream_read(call->engine, &request,
                                    (struct scope){call->arena, &call->failure}, &read);
    if (status != OK)
        return status;
    if (read.trimmed)
        return trimmed(call);
    put_records(call, &stream, &read);
    if (!read.ended) {
        place.position = read.next;
        place.made_ms = clock_now_ms();
        REPLY_NAME(call->reply, "NextShardIterator");
        stream_name_put_iterator(call, call->reply, &place);
    }
    buf_byte(call->reply, '}');
    return OK;
}
