/* Trimming streams: removes records that are older than a day, a whole range of a shard at once.
 *
 * The end of the range is found by binary search, since records stand in the order they were made
 * in; those of a bundle go together, when the last of them has passed its time. So a step costs
 * some dozens of seeks, however much it removes. (A clock that was set back may make a record go
 * too soon or too late, by as much.) Each range leaves a mark in the store until it is compacted,
 * so a stream is trimmed every few minutes rather than every second.
 *
 * The records themselves stand in the store's log, so the oldest that is kept of any stream says
 * how much of the log is. When a record was committed stands beside its key: no value is read here.
 */
#include "base/clock.h"
#include "table/local/writer.h"

enum { SHARDS_A_STEP = 64, TRIM_EVERY_MS = 5 * 60 * 1000 };

/* One shard, and what is to be removed of it. */
struct trim {
    struct local *local;
    struct stream *stream;
    unsigned shard;
    int64_t cutoff_ms; /* what was made until then goes */
    int64_t oldest_ms; /* when the first record that stays was made, */
    uint64_t segment;  /* and in which of the log's segments it stands */
    uint64_t kept;     /* its sequence number: all before it go */
    struct trim *next;
};

/* A step: what is to be removed in one commit. */
struct step {
    struct local *local;
    struct arena arena;
    int64_t now_ms;
    unsigned looks; /* shards looked at */
    struct trim *trims;
    struct stream *ended; /* gone as a whole, at most one a step */
};

/* --- finding --- */

/* The last record of a bundle. */
struct bundle_end {
    uint64_t sequence;
    int64_t created_ms; /* or when it was committed, at once after that */
    uint64_t segment;   /* of the log; 0: it is not there, and those behind it may be anywhere */
};

/* What cannot be read is as old as can be. */
static int64_t read_created(struct store_iter *iter, uint64_t sequence) {
    struct bytes last;
    int64_t created_ms;
    if (bundle_last(store_iter_value(iter), sequence, &last) != OK ||
        stream_record_created(last, &created_ms) != OK)
        return 0;
    return created_ms;
}

/* Finds the first bundle of the shard that ends at `from` or later. False if there is none. */
static bool seek_bundle(const struct trim *trim, struct store_iter *iter, uint64_t from,
                        struct bundle_end *out) {
    uint8_t key[STREAM_KEY_SIZE];
    struct stream_position position = stream_shard_start(trim->stream, trim->shard);
    struct store_logged logged = {0};
    position.sequence = from;
    if (!store_iter_seek(iter, stream_key(&position, key)) ||
        !stream_key_read(store_iter_key(iter), &position))
        return false;
    out->sequence = position.sequence;
    out->created_ms =
        store_iter_logged(iter, &logged) ? logged.time_ms : read_created(iter, out->sequence);
    out->segment = logged.segment;
    return true;
}

/* Sets what is told of the first record that stays. */
static void find_oldest(struct trim *trim, struct store_iter *iter, struct bundle_end *end) {
    bool some = seek_bundle(trim, iter, trim->kept, end);
    trim->oldest_ms = some ? end->created_ms : STREAM_EMPTY;
    trim->segment = some ? end->segment : UINT64_MAX;
}

/* Sets kept, oldest_ms and segment. */
static void find_kept(struct trim *trim, struct store_iter *iter) {
    uint64_t low = 0, high = trim->local->streams.next;
    struct bundle_end end;
    trim->kept = trim->stream->info.kept[trim->shard];
    find_oldest(trim, iter, &end);
    if (trim->oldest_ms == STREAM_EMPTY)
        return;
    if (end.created_ms > trim->cutoff_ms)
        return;
    low = end.sequence; /* the last known to be too old; `high` and what follows is not */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (seek_bundle(trim, iter, middle, &end) && end.sequence < high &&
            end.created_ms <= trim->cutoff_ms)
            low = end.sequence;
        else
            high = middle;
    }
    trim->kept = high;
    find_oldest(trim, iter, &end);
}

static void look_at_shard(struct step *step, struct stream *stream, unsigned shard) {
    uint8_t low[STREAM_KEY_SIZE], high[STREAM_KEY_SIZE];
    struct stream_position from = stream_shard_start(stream, shard), to = from;
    to.sequence = UINT64_MAX;
    struct store_range range = {
        .family = STORE_STREAM, .low = stream_key(&from, low), .high = stream_key(&to, high)};
    struct trim *trim = ARENA_NEW(&step->arena, struct trim);
    *trim = (struct trim){.local = step->local,
                          .stream = stream,
                          .shard = shard,
                          .cutoff_ms = step->now_ms - STREAM_KEPT_MS};
    struct store_iter *iter = store_iter_open(step->local->store, &range);
    find_kept(trim, iter);
    bool read = store_iter_status(iter) == OK;
    store_iter_close(iter);
    step->looks++;
    if (!read)
        return;
    if (trim->kept == stream->info.kept[shard]) {
        stream->oldest_ms[shard] = trim->oldest_ms;
        stream->oldest_segment[shard] = trim->segment;
        return;
    }
    trim->next = step->trims;
    step->trims = trim;
}

static void look_at_stream(struct step *step, struct stream *stream) {
    int64_t cutoff_ms = step->now_ms - STREAM_KEPT_MS;
    if (!stream->info.enabled && stream->ended_ms <= cutoff_ms) {
        step->ended = stream;
        return;
    }
    if (step->now_ms < stream->trim_after_ms)
        return;
    for (unsigned shard = 0; shard < STREAM_SHARDS_MAX; shard++)
        if (stream->oldest_ms[shard] <= cutoff_ms)
            look_at_shard(step, stream, shard);
}

/* --- removing --- */

static void remove_range(struct store_batch *batch, const struct trim *trim) {
    uint8_t low[STREAM_KEY_SIZE], high[STREAM_KEY_SIZE];
    struct stream_position from = stream_shard_start(trim->stream, trim->shard), to = from;
    to.sequence = trim->kept;
    store_del_range(batch, STORE_STREAM, stream_key(&from, low), stream_key(&to, high));
}

static void remove_stream(struct store_batch *batch, const struct stream *stream) {
    uint8_t low[STREAM_KEY_SIZE], high[STREAM_KEY_SIZE];
    struct stream_position from = stream_shard_start(stream, 0), to = from;
    to.label_ms++;
    store_del_range(batch, STORE_STREAM, stream_key(&from, low), stream_key(&to, high));
    stream_del_info(batch, stream);
}

/* The stream's record as it will be, after all of its trims in the step. */
static void put_trimmed(struct store_batch *batch, const struct step *step,
                        const struct stream *stream) {
    struct stream next = *stream;
    for (const struct trim *trim = step->trims; trim != NULL; trim = trim->next)
        if (trim->stream == stream)
            next.info.kept[trim->shard] = trim->kept;
    stream_put_info(batch, &next);
}

static enum status write_step(struct step *step) {
    struct failure failure;
    struct store_batch *batch = store_batch_new(step->local->store);
    const struct stream *last = NULL;
    for (const struct trim *trim = step->trims; trim != NULL; trim = trim->next) {
        remove_range(batch, trim);
        if (trim->stream != last)
            put_trimmed(batch, step, trim->stream);
        last = trim->stream;
    }
    if (step->ended != NULL)
        remove_stream(batch, step->ended);
    enum status status =
        store_write(step->local->store, batch, (struct scope){&step->arena, &failure});
    store_batch_free(batch);
    return status;
}

static void take_step(struct step *step) {
    struct local *local = step->local;
    pthread_rwlock_wrlock(&local->state_lock);
    for (const struct trim *trim = step->trims; trim != NULL; trim = trim->next) {
        trim->stream->info.kept[trim->shard] = trim->kept;
        trim->stream->oldest_ms[trim->shard] = trim->oldest_ms;
        trim->stream->oldest_segment[trim->shard] = trim->segment;
        trim->stream->trim_after_ms = step->now_ms + TRIM_EVERY_MS;
    }
    if (step->ended != NULL)
        streams_remove(&local->streams, step->ended);
    snapshot_advance(local);
    pthread_rwlock_unlock(&local->state_lock);
    atomic_fetch_add_explicit(&local->commits, 1, memory_order_relaxed);
}

/* --- the log --- */

static uint64_t oldest_segment(const struct stream *stream) {
    uint64_t oldest = UINT64_MAX;
    for (unsigned shard = 0; shard < STREAM_SHARDS_MAX; shard++)
        if (stream->oldest_ms[shard] != STREAM_EMPTY && stream->oldest_segment[shard] < oldest)
            oldest = stream->oldest_segment[shard];
    return oldest;
}

/* All streams were looked at: what none of them has in the log may go. */
static void release_log(struct local *local) {
    struct streams *streams = &local->streams;
    uint64_t kept = streams->segment;
    for (size_t i = 0; i < streams->count; i++) {
        uint64_t oldest = oldest_segment(streams->at[i]);
        if (oldest < kept)
            kept = oldest;
    }
    store_keep_log(local->store, kept);
    streams->segment = streams->last_segment;
    streams->last_segment = store_log_position(local->store);
}

int64_t stream_trim(struct local *local) {
    struct streams *streams = &local->streams;
    struct step step = {.local = local, .now_ms = clock_now_ms()};
    arena_init(&step.arena);
    while (streams->trimming < streams->count && step.looks < SHARDS_A_STEP && step.ended == NULL)
        look_at_stream(&step, streams->at[streams->trimming++]);
    bool more = streams->trimming < streams->count;
    if (!more)
        streams->trimming = 0;
    if ((step.trims != NULL || step.ended != NULL) && write_step(&step) == OK)
        take_step(&step);
    if (!more)
        release_log(local);
    arena_release(&step.arena);
    return more ? 0 : JOB_WAIT_MAX_US;
}
