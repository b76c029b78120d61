/* How streams, shards, places in them and sequence numbers are written:
 *
 *   stream     arn:aws:dynamodb:REGION:ACCOUNT:table/NAME/stream/2026-01-02T03:04:05.678
 *   shard      shardId-<when the stream began, 20 digits>-<8 hex digits, the last says which>
 *   number     21 digits, the first a 1: so it keeps its length where people count with it
 *   iterator   <stream>|1|<shard, position, when it was made, and a check; in hex>
 *
 * An iterator says all that is needed to go on: it outlives a restart. */
#ifndef GT_API_DYNAMODB_DDB_STREAM_NAME_H
#define GT_API_DYNAMODB_DDB_STREAM_NAME_H

#include "api/dynamodb/ddb_call.h"
#include "table/table_stream.h"

/* 2026-01-02T03:04:05.678 */
struct bytes stream_name_label(struct arena *arena, int64_t label_ms);
const char *stream_name_view(enum stream_view view);

/* The ARN, with quotes. */
void stream_name_put_arn(const struct call *call, struct buf *to, struct bytes table,
                         int64_t label_ms);
/* Whosever account and region it names. False if it is no ARN of a stream. */
bool stream_name_read_arn(struct bytes arn, struct bytes *table, int64_t *label_ms);

struct bytes stream_name_shard(struct arena *arena, const struct stream_info *stream,
                               unsigned shard);

/* With quotes. */
void stream_name_put_sequence(struct buf *to, uint64_t sequence);
/* False for what is not a number; one that is too small is 0, one too large UINT64_MAX. */
bool stream_name_read_sequence(struct bytes text, uint64_t *out);

struct stream_place {
    struct bytes table;
    int64_t label_ms;
    unsigned shard;
    uint64_t position;
    int64_t made_ms;
};
/* With quotes. */
void stream_name_put_iterator(const struct call *call, struct buf *to,
                              const struct stream_place *place);
bool stream_name_read_iterator(struct bytes text, struct stream_place *out);

#endif
