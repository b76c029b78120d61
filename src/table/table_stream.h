/* Streams: what changed in a table, in order, for a day.
 *
 * A record is written in the same commit as the change it tells of. A stream keeps the number
 * of shards it began with: one, as DynamoDB has it for small tables, unless the engine was opened
 * for more. An item's partition decides its shard, so the records of one item are in one shard, in
 * order, and readers of different shards can work side by side. A stream that was switched off
 * stays readable until its records have passed their time.
 *
 * Only of an engine that says ENGINE_STREAMS (engine.h). Calls answer before they return, for any
 * thread, unless engine_may_block(); reading costs a walk of the store over what is read.
 */
#ifndef GT_TABLE_TABLE_STREAM_H
#define GT_TABLE_TABLE_STREAM_H

#include "table/schema.h"

struct engine;

enum { STREAM_SHARDS_MAX = 4, STREAM_KEPT_MS = 24 * 60 * 60 * 1000 };

/* One stream of a table: the table has had one for each time it was switched on. */
struct stream_info {
    struct bytes table;
    struct bytes table_id; /* the table's UUID: a deleted table's stream is not its namesake's */
    int64_t label_ms;      /* when it was switched on: with the table it names the stream */
    enum stream_view view;
    struct key_schema keys;
    unsigned shards;      /* 1 to STREAM_SHARDS_MAX; to read another one finds nothing */
    bool enabled;         /* records are still being added */
    uint64_t first, last; /* sequence numbers: first possible, and of the end if not enabled */
    uint64_t kept[STREAM_SHARDS_MAX]; /* what was before it in the shard has been trimmed */
};

struct stream_list {
    struct stream_info *streams;
    size_t count;
    bool more;
};
/* Streams that can still be read, of all tables or of one (`table` not empty), ordered by table
 * name and label; those after `after_table`/`after_label_ms`, at most `limit`. */
struct stream_list_request {
    struct bytes table;
    struct bytes after_table;
    int64_t after_label_ms;
    size_t limit;
};
enum status engine_streams(struct engine *engine, const struct stream_list_request *request,
                           struct arena *arena, struct stream_list *out);
/* What names a stream: its table, and when it was switched on. */
struct stream_id {
    struct bytes table;
    int64_t label_ms;
};
/* NO_RESOURCE if there is no such stream (any more). */
enum status engine_stream(struct engine *engine, const struct stream_id *id, struct scope in,
                          struct stream_info *out);

enum stream_event { STREAM_INSERT, STREAM_MODIFY, STREAM_REMOVE };

struct stream_record {
    uint64_t sequence; /* rises with each record of the data folder; never used twice */
    int64_t created_ms;
    enum stream_event event;
    bool expired; /* removed by the engine itself because its time had come */
    struct item keys;
    bool has_old, has_new; /* as the stream's view says */
    struct item old, new;
    uint64_t size; /* bytes of keys and images, as DynamoDB counts them */
};

struct stream_read_request {
    struct bytes table;
    int64_t label_ms;
    unsigned shard;
    uint64_t from; /* records with a sequence number >= from */
    size_t limit;  /* at most 1,000 */
    /* Only records of partitions whose name (text) begins with one of these; none: all. Others are
     * passed over, which is cheaper than reading them. */
    const struct bytes *partitions;
    size_t partition_count;
};
struct stream_read_reply {
    struct stream_record *records;
    size_t count;
    uint64_t next;  /* where to go on */
    bool caught_up; /* there was nothing after these, nor after those passed over */
    bool ended;     /* the stream is off and there is nothing after these */
    bool trimmed;   /* records between `from` and those kept are gone; nothing is read */
};
/* At most 1 MB of records. NO_RESOURCE if there is no such stream. */
enum status engine_stream_read(struct engine *engine, const struct stream_read_request *request,
                               struct scope in, struct stream_read_reply *out);
/* The sequence number that the next record will have at least: where "latest" begins. */
uint64_t engine_stream_latest(struct engine *engine);

struct stream_ops {
    enum status (*streams)(struct engine *, const struct stream_list_request *, struct arena *,
                           struct stream_list *);
    enum status (*stream)(struct engine *, const struct stream_id *, struct scope,
                          struct stream_info *);
    enum status (*stream_read)(struct engine *, const struct stream_read_request *, struct scope,
                               struct stream_read_reply *);
    uint64_t (*stream_latest)(struct engine *);
};

#endif
