/* ListStreams and DescribeStream. */
#include "api/dynamodb/ddb_stream_name.h"
#include "api/dynamodb/operation.h"
#include "base/limits.h"

/* --- ListStreams --- */

static enum status read_start(struct call *call, struct stream_list_request *request) {
    if (!args_has(&call->args, ARG_EXCLUSIVE_START_STREAM_ARN))
        return OK;
    if (!stream_name_read_arn(args_text(&call->args, ARG_EXCLUSIVE_START_STREAM_ARN),
                              &request->after_table, &request->after_label_ms))
        return call_invalid(call, "Invalid StreamArn");
    return OK;
}

static void put_stream(struct call *call, const struct stream_info *stream) {
    struct buf *to = call->reply;
    buf_lit(to, "{\"StreamArn\":");
    stream_name_put_arn(call, to, stream->table, stream->label_ms);
    buf_lit(to, ",\"TableName\":");
    json_put_string(to, stream->table);
    buf_lit(to, ",\"StreamLabel\":");
    json_put_string(to, stream_name_label(call->arena, stream->label_ms));
    buf_byte(to, '}');
}

enum status op_list_streams(struct call *call) {
    struct stream_list_request request = {
        .table = call->table,
        .limit = (size_t)args_int(&call->args, ARG_LIMIT, LIMIT_STREAMS_LISTED)};
    struct stream_list list;
    if (request.limit > LIMIT_STREAMS_LISTED)
        return call_invalid(call, "One or more parameter values were invalid: Limit cannot be "
                                  "greater than the maximum allowed size: 100");
    enum status status = read_start(call, &request);
    if (status != OK)
        return status;
    status = engine_streams(call->engine, &request, call->arena, &list);
    if (status != OK) {
        call->failure.status = status;
        return status;
    }
    buf_lit(call->reply, "{\"Streams\":[");
    for (size_t i = 0; i < list.count; i++) {
        if (i != 0)
            buf_byte(call->reply, ',');
        put_stream(call, &list.streams[i]);
    }
    buf_byte(call->reply, ']');
    if (list.more && list.count != 0) {
        const struct stream_info *last = &list.streams[list.count - 1];
        REPLY_NAME(call->reply, "LastEvaluatedStreamArn");
        stream_name_put_arn(call, call->reply, last->table, last->label_ms);
    }
    buf_byte(call->reply, '}');
    return OK;
}

/* --- DescribeStream --- */

static void put_keys(struct buf *to, const struct key_schema *keys) {
    REPLY_NAME(to, "KeySchema");
    buf_byte(to, '[');
    for (unsigned i = 0; i < key_schema_count(keys); i++) {
        buf_put(to, i == 0 ? BYTES("{\"AttributeName\":") : BYTES(",{\"AttributeName\":"));
        json_put_string(to, keys->parts[i].name);
        buf_put(to, i < keys->partition_count ? BYTES(",\"KeyType\":\"HASH\"}")
                                              : BYTES(",\"KeyType\":\"RANGE\"}"));
    }
    buf_byte(to, ']');
}

static void put_shard(struct buf *to, const struct stream_info *stream, unsigned shard,
                      struct bytes id) {
    uint64_t first = stream->kept[shard];
    buf_lit(to, "{\"ShardId\":");
    json_put_string(to, id);
    buf_lit(to, ",\"SequenceNumberRange\":{\"StartingSequenceNumber\":");
    stream_name_put_sequence(to, first);
    if (!stream->enabled) {
        buf_lit(to, ",\"EndingSequenceNumber\":");
        stream_name_put_sequence(to, stream->last > first ? stream->last : first);
    }
    buf_lit(to, "}}");
}

/* Shards do not split here: none has children. */
static void put_shards(struct call *call, const struct stream_info *stream, size_t limit) {
    struct buf *to = call->reply;
    struct bytes after = args_text(&call->args, ARG_EXCLUSIVE_START_SHARD_ID), last = {0};
    bool none = args_has(&call->args, ARG_SHARD_FILTER), more = false;
    size_t count = 0;
    REPLY_NAME(to, "Shards");
    buf_byte(to, '[');
    for (unsigned shard = 0; shard < stream->shards && !none && !more; shard++) {
        struct bytes id = stream_name_shard(call->arena, stream, shard);
        if (after.size != 0 && bytes_compare(id, after) <= 0)
            continue;
        more = count == limit;
        if (more)
            break;
        if (count++ != 0)
            buf_byte(to, ',');
        put_shard(to, stream, shard, id);
        last = id;
    }
    buf_byte(to, ']');
    if (more) {
        REPLY_NAME(to, "LastEvaluatedShardId");
        json_put_string(to, last);
    }
}

static enum status no_stream(struct call *call) {
    struct bytes arn = args_text(&call->args, ARG_STREAM_ARN);
    return failure_set(&call->failure, call->arena, NO_RESOURCE,
                       "Requested resource not found: Stream: %.*s not found", BYTES_ARG(arn));
}

enum status op_describe_stream(struct call *call) {
    struct stream_info stream;
    struct bytes table;
    int64_t label_ms, limit = args_int(&call->args, ARG_LIMIT, LIMIT_STREAMS_LISTED);
    if (limit > LIMIT_STREAMS_LISTED)
        return call_invalid(call, "One or more parameter values were invalid: Limit cannot be "
                                  "greater than the maximum: 100");
    if (!stream_name_read_arn(args_text(&call->args, ARG_STREAM_ARN), &table, &label_ms))
        return call_invalid(call, "Invalid StreamArn");
    enum status status = engine_stream(call->engine, &(struct stream_id){table, label_ms},
                                       (struct scope){call->arena, &call->failure}, &stream);
    if (status != OK)
        return status == NO_RESOURCE ? no_stream(call) : status;
    struct buf *to = call->reply;
    buf_lit(to, "{\"StreamDescription\":{\"StreamArn\":");
    stream_name_put_arn(call, to, stream.table, stream.label_ms);
    REPLY_NAME(to, "StreamLabel");
    json_put_string(to, stream_name_label(call->arena, stream.label_ms));
    buf_put(to, stream.enabled ? BYTES(",\"StreamStatus\":\"ENABLED\"")
                               : BYTES(",\"StreamStatus\":\"DISABLED\""));
    buf_printf(to, ",\"StreamViewType\":\"%s\"", stream_name_view(stream.view));
    buf_printf(to, ",\"CreationRequestDateTime\":%lld.%03d", (long long)(stream.label_ms / 1000),
               (int)(stream.label_ms % 1000));
    REPLY_NAME(to, "TableName");
    json_put_string(to, stream.table);
    put_keys(to, &stream.keys);
    put_shards(call, &stream, (size_t)limit);
    buf_lit(to, "}}");
    return OK;
}
