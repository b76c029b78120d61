/* Streams in the embedded engine (table/stream.h says what they are).
 *
 * In the store:
 *   stream  table:u32 label_ms:u64 shard:u8 sequence:u64  -> records up to that (bundle.h)
 *   meta    'S' table:u32 label_ms:u64                    -> a stream (streams.c)
 *   meta    's'                                           -> the next sequence number
 *
 * Records are put into the batch of the commit they tell of, and the next sequence number with
 * them: neither can be without the other, and after a crash no number is given twice. A stream
 * whose table was deleted, or that was switched off, stays until a day later.
 *
 * Streams are changed by the writer under `moment` held for writing; readers copy what they need
 * under it. */
#ifndef GT_TABLE_LOCAL_STREAMS_H
#define GT_TABLE_LOCAL_STREAMS_H

#include "store/store.h"
#include "table/local/bundle.h"
#include "table/stream.h"
#include "value/names.h"

struct local;
struct table;
struct group;

/* oldest_ms of a shard */
#define STREAM_UNKNOWN INT64_MIN
#define STREAM_EMPTY   INT64_MAX

struct stream {
    uint32_t table;          /* its number */
    struct stream_info info; /* strings are in the arena */
    int64_t ended_ms;        /* when it was switched off */
    struct arena arena;
    /* the writer's: */
    int64_t oldest_ms[STREAM_SHARDS]; /* when the oldest record was made */
    int64_t trim_after_ms;
    struct stream_bundle *open[2][STREAM_SHARDS]; /* of its groups, while it makes them */
};

struct streams {
    struct stream **at; /* by table name, then label */
    size_t count, room;
    uint64_t next;   /* the next record's sequence number */
    size_t trimming; /* the writer's: where trimming goes on */
};

/* --- all of them (streams.c) --- */

enum status streams_load(struct local *local, struct arena *arena, struct failure *failure);
void streams_release(struct streams *streams);
/* The position of the first stream not before that name and label. */
size_t streams_seek(const struct streams *streams, struct bytes table, int64_t label_ms);
struct stream *streams_find(const struct streams *streams, struct bytes table, int64_t label_ms);
/* Forgets and frees it; the caller holds moment for writing. */
void streams_remove(struct streams *streams, struct stream *stream);
/* A label for a stream of a table of that name: now, but never one that there was. */
int64_t streams_label(const struct local *local, struct bytes table);

void stream_put_about(struct store_batch *batch, const struct stream *stream);
void stream_del_about(struct store_batch *batch, const struct stream *stream);
void stream_put_next(struct store_batch *batch, uint64_t next);

/* A stream that ends, and one that begins, with a change of a table; both may be NULL. */
struct stream_turn {
    struct stream *ends, *begins;
    uint64_t last;    /* of the one that ends */
    int64_t ended_ms; /* likewise */
};
/* What a table's step to the schema `next` (NULL: it is deleted) does, put into the batch of that
 * step; then, by how the write went, one of the two others. stream_turn_take() is called with
 * moment held for writing. */
struct stream_turn stream_turn_plan(struct local *local, struct store_batch *batch,
                                    const struct table *table, const struct table_schema *next,
                                    const struct table_description *about);
void stream_turn_take(struct local *local, struct table *table, const struct stream_turn *turn);
void stream_turn_drop(const struct stream_turn *turn);

/* --- one record (stream_record.c) --- */

enum { STREAM_KEY_SIZE = 4 + 8 + 1 + 8 };

struct bytes stream_key(uint32_t table, int64_t label_ms, unsigned shard, uint64_t sequence,
                        uint8_t *room);
/* False if it is not such a key. */
bool stream_key_read(struct bytes key, uint32_t *table, int64_t *label_ms, unsigned *shard,
                     uint64_t *sequence);

/* Stored items as they go into a record; data NULL: not there. */
struct stream_images {
    struct bytes keys; /* only where there is no image */
    struct bytes old, new;
};
/* The bytes that the next call puts. */
size_t stream_record_size(const struct stream_record *record, const struct stream_images *images);
/* What is stored of a record: event, expired and created_ms of `record`, and the images. */
void stream_record_put(struct buf *to, const struct stream_record *record,
                       const struct stream_images *images);
/* Borrows from the bytes, which must outlive *out. `sequence` is left alone. */
enum status stream_record_partition(struct bytes from, const struct key_schema *keys,
                                    const struct names *names, struct arena *arena,
                                    struct value *out);
enum status stream_record_read(struct bytes from, const struct key_schema *keys,
                               const struct names *names, struct arena *arena,
                               struct stream_record *out);
/* When it was made; DAMAGED. */
enum status stream_record_created(struct bytes from, int64_t *out);

/* --- in a group (stream_write.c) --- */

/* Records that wait for their group's commit. */
struct stream_bundle {
    struct stream_bundle *next;
    struct stream *stream;
    uint8_t shard;
    int64_t created_ms; /* the last one's */
    struct bundle bundle;
};

struct action;
/* Tells the table's stream, if it has one, of an action that changes something. What a table is
 * loaded with is no change. */
void stream_add(struct group *group, const struct action *action);
void stream_put_bundles(struct store_batch *batch, const struct group *group);
/* The commit is done; the caller holds moment for writing. */
void stream_take_bundles(struct group *group);
/* The group forgets them: the writer's. */
void stream_close_bundles(const struct group *group);

/* --- the writer's job (stream_trim.c) --- */

/* Removes records that have passed their time, and streams that have. A writer_job. */
int64_t stream_trim(struct local *local);

/* --- reading (stream_read.c) --- */

enum status local_streams(struct engine *engine, const struct stream_list_request *request,
                          struct arena *arena, struct stream_list *out);
enum status local_stream(struct engine *engine, struct bytes table, int64_t label_ms,
                         struct arena *arena, struct failure *failure, struct stream_info *out);
enum status local_stream_read(struct engine *engine, const struct stream_read_request *request,
                              struct arena *arena, struct failure *failure,
                              struct stream_read_reply *out);
uint64_t local_stream_latest(struct engine *engine);

#endif
