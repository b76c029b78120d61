/* Streams in the embedded engine (table/table_stream.h says what they are).
 *
 * In the store:
 *   stream  table:u32 label_ms:u64 shard:u8 sequence:u64  -> records up to that (bundle.h), which
 *                                                            stay in the store's log
 *   meta    'S' table:u32 label_ms:u64                    -> a stream (streams.c)
 *   meta    's'                                           -> the next sequence number
 *
 * Records are put into the batch of the commit they tell of, and the next sequence number with
 * them: neither can be without the other, and after a crash no number is given twice. A stream
 * whose table was deleted, or that was switched off, stays until a day later.
 *
 * Streams are changed by the writer under `state_lock` held for writing; readers copy what they
 * need under it. */
#ifndef GT_TABLE_LOCAL_STREAMS_H
#define GT_TABLE_LOCAL_STREAMS_H

#include "store/store.h"
#include "table/local/bundle.h"
#include "table/local/stream_kinds.h"
#include "table/table_stream.h"
#include "value/names.h"

struct local;
struct table;
struct commit_group;
struct schema_replacement;

/* Values of a shard's oldest_ms: it has to be looked up, and there are no records. */
#define STREAM_UNKNOWN INT64_MIN
#define STREAM_EMPTY   INT64_MAX

struct stream {
    uint32_t table;          /* the table's number */
    struct stream_info info; /* strings are in the arena */
    int64_t ended_ms;        /* when it was switched off */
    struct arena arena;
    struct stream_kinds kinds;
    /* used by the writer only */
    int64_t oldest_ms[STREAM_SHARDS_MAX];       /* when the oldest record was made, */
    uint64_t oldest_segment[STREAM_SHARDS_MAX]; /* and no record stands in a segment of the log
                                                   before this one */
    int64_t trim_after_ms;
    struct stream_bundle *open[2][STREAM_SHARDS_MAX]; /* what each of the writer's two groups is
                                                         adding records to */
};

struct streams {
    struct stream **at; /* by table name, then label */
    size_t count, room;
    uint64_t next;   /* the next record's sequence number */
    size_t trimming; /* used by the writer only: which stream is trimmed next, */
    /* and the log's segment at the last time that it began with the first stream, and at the time
     * before: what was taken since stands there or later, though it may have been on its way */
    uint64_t last_segment, segment;
};

/* --- all of them (streams.c) --- */

enum status streams_load(struct local *local, struct scope in);
void streams_release(struct streams *streams);
/* The position of the first stream not before that name and label. */
size_t streams_seek(const struct streams *streams, struct bytes table, int64_t label_ms);
struct stream *streams_find(const struct streams *streams, struct bytes table, int64_t label_ms);
/* Forgets and frees it; the caller holds state_lock for writing. */
void streams_remove(struct streams *streams, struct stream *stream);
/* A label for a new stream of a table of that name: now, but later than every label before. */
int64_t streams_label(const struct local *local, struct bytes table);

void stream_put_info(struct store_batch *batch, const struct stream *stream);
void stream_del_info(struct store_batch *batch, const struct stream *stream);
void stream_put_next(struct store_batch *batch, uint64_t next);

/* A stream that ends, and one that begins, with a change of a table; both may be NULL. */
struct stream_switch {
    struct stream *ends, *begins;
    uint64_t last;    /* of the one that ends */
    int64_t ended_ms; /* likewise */
};
/* Puts into the batch what a change of next->table to next->schema (NULL: it is deleted) does to
 * its stream; the other fields but `about` are not looked at. When the batch has been written,
 * stream_switch_commit() is called, with state_lock held for writing; if that failed,
 * stream_switch_cancel(). All three on the writer's thread. */
struct stream_switch stream_switch_plan(struct local *local, struct store_batch *batch,
                                        const struct schema_replacement *next);
void stream_switch_commit(struct local *local, struct table *table,
                          const struct stream_switch *turn);
void stream_switch_cancel(const struct stream_switch *turn);

/* --- one record (stream_record.c) --- */

enum { STREAM_KEY_SIZE = 4 + 8 + 1 + 8 };

/* What a key in the store's stream family says. */
struct stream_position {
    uint32_t table;
    int64_t label_ms;
    unsigned shard;
    uint64_t sequence;
};
/* The first position of a stream's shard. */
static inline struct stream_position stream_shard_start(const struct stream *stream,
                                                        unsigned shard) {
    return (struct stream_position){stream->table, stream->info.label_ms, shard, 0};
}
/* The key, in `room`, which has STREAM_KEY_SIZE bytes. */
struct bytes stream_key(const struct stream_position *position, uint8_t *room);
/* False if it is not such a key. */
bool stream_key_read(struct bytes key, struct stream_position *out);

/* Stored items as they go into a record; data NULL: not there. */
struct stream_images {
    struct bytes keys; /* only where there is no image */
    struct bytes old, new;
};
/* How many bytes stream_record_put() will append. */
size_t stream_record_size(const struct stream_record *record, const struct stream_images *images);
/* What is stored of a record: event, expired and created_ms of `record`, and the images. */
void stream_record_put(struct buf *to, const struct stream_record *record,
                       const struct stream_images *images);
/* What is needed to read a stream's records. */
struct record_reader {
    const struct key_schema *keys; /* of the stream's table */
    const struct names *names;
    struct arena *arena; /* of what is decoded */
};
/* Both borrow from the bytes, which must outlive *out. DAMAGED. */
/* The value of the item's partition attribute, without decoding the rest. */
enum status stream_record_partition(struct bytes from, const struct record_reader *reader,
                                    struct value *out);
/* The whole record but its sequence number, which its bytes do not hold. */
enum status stream_record_read(struct bytes from, const struct record_reader *reader,
                               struct stream_record *out);
/* When the record was made. DAMAGED. */
enum status stream_record_created(struct bytes from, int64_t *out);

/* --- the records of a commit group (stream_write.c) --- */

/* Records that wait for their group's commit. */
struct stream_bundle {
    struct stream_bundle *next;
    struct stream *stream;
    uint8_t shard;
    int64_t created_ms; /* the last one's */
    struct bundle bundle;
};

struct action;
/* Adds a record of an action that changes something to the table's stream, if it has one. Loading a
 * table adds none. On the writer's thread. */
void stream_add(struct commit_group *group, const struct action *action);
void stream_put_bundles(struct store_batch *batch, const struct commit_group *group);
/* Called when the store has the group; the caller holds state_lock for writing. */
void stream_take_bundles(struct commit_group *group);
/* Called by the writer when the group is emptied: its streams let go of its bundles. */
void stream_close_bundles(const struct commit_group *group);

/* --- the writer's job (stream_trim.c) --- */

/* Removes records that have passed their time, and streams that have. A writer_job. */
int64_t stream_trim(struct local *local);

/* --- reading (stream_read.c) --- */

enum status local_streams(struct engine *engine, const struct stream_list_request *request,
                          struct arena *arena, struct stream_list *out);
enum status local_stream(struct engine *engine, const struct stream_id *id, struct scope in,
                         struct stream_info *out);
enum status local_stream_read(struct engine *engine, const struct stream_read_request *request,
                              struct scope in, struct stream_read_reply *out);
uint64_t local_stream_latest(struct engine *engine);

#endif
