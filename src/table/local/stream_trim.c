/* Trimming: what has passed its time goes, a whole range of a shard at once.
 *
 * The end of the range is found by halving, since records stand in the order they were made in;
 * those of a bundle go together, when the last of them has passed its time. So a step costs some
 * dozens of seeks, however much it removes. (A clock that was set back may make a record go too
 * soon or too late, by as much.) Each range leaves a mark in the store until it is compacted, so a
 * stream is trimmed every few minutes rather than every second. */
#include "base/clock.h"
#include "table/local/writer.h"

enum { LOOKS_MAX = 64, TRIM_EVERY_MS = 5 * 60 * 1000 };

/* One shard, and what to make of it. */
struct trim {
    struct local *local;
    struct stream *stream;
    unsigned shard;
    int64_t cutoff_ms;
    uint64_t kept;     /* found */
    int64_t oldest_ms; /* of what stays */
    struct trim *next;
};

/* A step: what is to be removed in one commit. */
struct step {
    struct local *local;
    struct arena arena;
    int64_t now_ms;
    unsigned looks;
    struct trim *trims;
    struct stream *ended; /* gone as a whole, at most one a step */
};

/* --- finding --- */

/* The last of the records that the iterator is at. */
static bool look(struct store_iter *iter, bool there, uint64_t *sequence, int64_t *created_ms) {
    uint32_t table;
    int64_t label_ms;
    unsigned shard;
    struct bytes last;
    if (!there || !stream_key_read(store_iter_key(iter), &table, &label_ms, &shard, sequence))
        return false;
    /* What cannot be read is as old as can be. */
    if (bundle_last(store_iter_value(iter), *sequence, &last) != OK ||
        stream_record_created(last, created_ms) != OK)
        *created_ms = 0;
    return true;
}

static bool look_from(const struct trim *trim, struct store_iter *iter, uint64_t from,
                      uint64_t *sequence, int64_t *created_ms) {
    uint8_t key[STREAM_KEY_SIZE];
    const struct stream *stream = trim->stream;
    bool there = store_iter_seek(
        iter, stream_key(stream->table, stream->info.label_ms, trim->shard, from, key));
    return look(iter, there, sequence, created_ms);
}

/* Sets kept and oldest_ms. */
static void find_kept(struct trim *trim, struct store_iter *iter) {
    uint64_t sequence, low = 0, high = trim->local->streams.next;
    int64_t created_ms;
    trim->kept = trim->stream->info.kept[trim->shard];
    trim->oldest_ms = STREAM_EMPTY;
    if (!look_from(trim, iter, trim->kept, &sequence, &created_ms))
        return;
    trim->oldest_ms = created_ms;
    if (created_ms > trim->cutoff_ms)
        return;
    low = sequence; /* the last known to be too old; `high` and what follows is not */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (look_from(trim, iter, middle, &sequence, &created_ms) && sequence < high &&
            created_ms <= trim->cutoff_ms)
            low = sequence;
        else
            high = middle;
    }
    trim->kept = high;
    if (!look_from(trim, iter, high, &sequence, &trim->oldest_ms))
        trim->oldest_ms = STREAM_EMPTY;
}

static void look_at_shard(struct step *step, struct stream *stream, unsigned shard) {
    uint8_t low[STREAM_KEY_SIZE], high[STREAM_KEY_SIZE];
    struct store_range range = {
        .family = STORE_STREAM,
        .low = stream_key(stream->table, stream->info.label_ms, shard, 0, low),
        .high = stream_key(stream->table, stream->info.label_ms, shard, UINT64_MAX, high)};
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
    for (unsigned shard = 0; shard < STREAM_SHARDS; shard++)
        if (stream->oldest_ms[shard] <= cutoff_ms)
            look_at_shard(step, stream, shard);
}

/* --- removing --- */

static void remove_range(struct store_batch *batch, const struct trim *trim) {
    uint8_t low[STREAM_KEY_SIZE], high[STREAM_KEY_SIZE];
    const struct stream *stream = trim->stream;
    int64_t label_ms = stream->info.label_ms;
    store_del_range(batch, STORE_STREAM, stream_key(stream->table, label_ms, trim->shard, 0, low),
                    stream_key(stream->table, label_ms, trim->shard, trim->kept, high));
}

static void remove_stream(struct store_batch *batch, const struct stream *stream) {
    uint8_t low[STREAM_KEY_SIZE], high[STREAM_KEY_SIZE];
    store_del_range(batch, STORE_STREAM,
                    stream_key(stream->table, stream->info.label_ms, 0, 0, low),
                    stream_key(stream->table, stream->info.label_ms + 1, 0, 0, high));
    stream_del_about(batch, stream);
}

/* The stream's record as it will be, after all of its trims in the step. */
static void put_trimmed(struct store_batch *batch, const struct step *step,
                        const struct stream *stream) {
    struct stream next = *stream;
    for (const struct trim *trim = step->trims; trim != NULL; trim = trim->next)
        if (trim->stream == stream)
            next.info.kept[trim->shard] = trim->kept;
    stream_put_about(batch, &next);
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
    enum status status = store_write(step->local->store, batch, &step->arena, &failure);
    store_batch_free(batch);
    return status;
}

static void take_step(struct step *step) {
    struct local *local = step->local;
    pthread_rwlock_wrlock(&local->moment);
    for (const struct trim *trim = step->trims; trim != NULL; trim = trim->next) {
        trim->stream->info.kept[trim->shard] = trim->kept;
        trim->stream->oldest_ms[trim->shard] = trim->oldest_ms;
        trim->stream->trim_after_ms = step->now_ms + TRIM_EVERY_MS;
    }
    if (step->ended != NULL)
        streams_remove(&local->streams, step->ended);
    view_advance(local);
    pthread_rwlock_unlock(&local->moment);
    atomic_fetch_add_explicit(&local->commits, 1, memory_order_relaxed);
}

int64_t stream_trim(struct local *local) {
    struct streams *streams = &local->streams;
    struct step step = {.local = local, .now_ms = clock_now_ms()};
    arena_init(&step.arena);
    while (streams->trimming < streams->count && step.looks < LOOKS_MAX && step.ended == NULL)
        look_at_stream(&step, streams->at[streams->trimming++]);
    bool more = streams->trimming < streams->count;
    if (!more)
        streams->trimming = 0;
    if ((step.trims != NULL || step.ended != NULL) && write_step(&step) == OK)
        take_step(&step);
    arena_release(&step.arena);
    return more ? 0 : TICK_MAX_US;
}
