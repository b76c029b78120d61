#include "api/redis/expired_events.h"

#include "api/redis/notifications.h"
#include "base/clock.h"
#include "base/thread.h"
#include "game/board/board_generation.h"
#include "game/board/entry.h"
#include "game/keyspace/key_head.h"
#include "game/record.h"
#include "table/engine.h"
#include "table/table_stream.h"

#include <time.h>

enum {
    POLL_MS = 100,         /* between two looks at the stream; */
    POLL_REMOTE_MS = 1000, /* where each is a request */
    PAGE = 500,
};

/* Where the thread is in the table's stream. */
struct expired_reader {
    struct expired_events *events;
    struct arena arena;
    struct published published;
    bool begun;
    struct stream_info stream;
    uint64_t at[STREAM_SHARDS_MAX];
};

static unsigned classes_wanted(struct expired_events *events) {
    unsigned on = atomic_load(&events->frontend->notify);
    bool told = (on & (NOTIFY_KEYSPACE | NOTIFY_KEYEVENT)) != 0;
    return told ? on & (NOTIFY_EXPIRED | NOTIFY_HASH | NOTIFY_ZSET) : 0;
}

/* ---- what a record tells ---- */

static void tell(struct expired_reader *reader, enum notify_class class,
                 const struct key_event *event) {
    if ((classes_wanted(reader->events) & class) != 0)
        notify_put(reader->events->frontend, &reader->published, event);
}

/* Whether what the record replaces or removes had ended by then: it had an end, which has passed
 * and is not there any more. */
static bool has_ended(const struct stream_record *record, struct bytes attribute) {
    int64_t end_ms = item_int(&record->old, attribute);
    bool stays = record->has_new && item_int(&record->new, attribute) == end_ms &&
                 item_get(&record->new, BYTES("clearing")) == NULL;
    return end_ms != 0 && end_ms <= record->created_ms && !stays;
}

/* Whether fields of the hash have gone by their own time. */
static bool lost_fields(const struct stream_record *record) {
    const struct value *before = item_map(&record->old, BYTES("fieldEnds"));
    const struct value *after = record->has_new ? item_map(&record->new, BYTES("fieldEnds")) : NULL;
    int64_t end_ms = item_int(&record->old, BYTES("fieldsEndAt"));
    if (end_ms != 0 && end_ms <= record->created_ms) /* a large one */
        return !record->has_new ||
               item_int(&record->new, BYTES("count")) < item_int(&record->old, BYTES("count"));
    struct item ends =
        before != NULL ? (struct item){before->pairs, before->count} : (struct item){0};
    struct item left = after != NULL ? (struct item){after->pairs, after->count} : (struct item){0};
    for (uint32_t i = 0; i < ends.count; i++) {
        struct bytes name = ends.pairs[i].name;
        int64_t field_ms = item_int(&ends, name);
        if (field_ms != 0 && field_ms <= record->created_ms && item_int(&left, name) != field_ms)
            return true;
    }
    return false;
}

static void tell_of_head(struct expired_reader *reader, const struct stream_record *record) {
    struct key_address address;
    if (!key_address_of_head(&record->old, &address))
        return;
    struct key_event event = {address.db, "expired", entry_member_of(address.name, &reader->arena)};
    if (record->expired || has_ended(record, BYTES("expiresAt"))) {
        tell(reader, NOTIFY_EXPIRED, &event);
        return;
    }
    if (!lost_fields(record))
        return;
    event.name = "hexpired";
    tell(reader, NOTIFY_HASH, &event);
}

static struct key_event event_of_board(struct expired_reader *reader, struct bytes key,
                                       const char *name) {
    struct bytes board = entry_member_of(key, &reader->arena);
    struct key_of_board of = key_of_board(board);
    return (struct key_event){of.db, name, of.name};
}

/* A set that is cleared bit by bit has a mark first, and has ended then. */
static void tell_of_instance(struct expired_reader *reader, const struct stream_record *record) {
    struct key_event event =
        event_of_board(reader, item_string(&record->old, BYTES("GSI1SK")), "expired");
    if (item_get(&record->old, BYTES("clearing")) == NULL && has_ended(record, BYTES("expiresAt")))
        tell(reader, NOTIFY_EXPIRED, &event);
}

static void tell_of_entry(struct expired_reader *reader, const struct stream_record *record,
                          struct bytes key) {
    struct key_event event = event_of_board(reader, key, "zexpired");
    if (record->expired)
        tell(reader, NOTIFY_ZSET, &event);
}

static void tell_of_record(struct expired_reader *reader, const struct stream_record *record) {
    struct bytes pk = item_string(&record->keys, GAME_PK);
    struct bytes board = board_partition_key(pk);
    if (!record->has_old)
        return;
    if (board.size != 0)
        tell_of_entry(reader, record, board);
    else if (bytes_starts(pk, BYTES("INSTANCE#")))
        tell_of_instance(reader, record);
    else if (bytes_starts(pk, BYTES("KEY")))
        tell_of_head(reader, record);
}

/* ---- the stream ---- */

/* Finds the stream that the table has now, and begins at its end. */
static bool begin_reading(struct expired_reader *reader) {
    struct engine *engine = reader->events->frontend->game->engine;
    struct stream_list_request request = {.table = reader->events->frontend->game->table,
                                          .limit = 100};
    struct stream_list list = {0};
    if (engine_streams(engine, &request, &reader->arena, &list) != OK || list.count == 0)
        return false;
    reader->stream = list.streams[list.count - 1];
    reader->stream.table = request.table;
    for (unsigned i = 0; i < STREAM_SHARDS_MAX; i++)
        reader->at[i] = engine_stream_latest(engine);
    return true;
}

/* Reads a page of a shard, and sends what it tells. False if there was nothing, or it failed: then
 * it is begun anew. */
static bool read_page(struct expired_reader *reader, unsigned shard) {
    static const struct bytes partitions[] = {{(const uint8_t *)"KEY", 3},
                                              {(const uint8_t *)"INSTANCE#", 9},
                                              {(const uint8_t *)"BOARD", 5}};
    struct redis_frontend *frontend = reader->events->frontend;
    bool entries = (classes_wanted(reader->events) & NOTIFY_ZSET) != 0;
    struct stream_read_request request = {.table = reader->stream.table,
                                          .label_ms = reader->stream.label_ms,
                                          .shard = shard,
                                          .from = reader->at[shard],
                                          .limit = PAGE,
                                          .partitions = partitions,
                                          .partition_count = entries ? 3 : 2};
    struct stream_read_reply page = {0};
    struct failure failure = {0};
    enum status status = engine_stream_read(frontend->game->engine, &request,
                                            (struct scope){&reader->arena, &failure}, &page);
    if (status != OK || page.trimmed || page.ended) {
        reader->begun = false;
        return false;
    }
    reader->at[shard] = page.next;
    published_begin(&reader->published, &reader->arena);
    for (size_t i = 0; i < page.count; i++)
        tell_of_record(reader, &page.records[i]);
    published_send(frontend, &reader->published);
    return !page.caught_up;
}

static void read_all(struct expired_reader *reader) {
    for (unsigned shard = 0; shard < reader->stream.shards && reader->begun; shard++)
        while (read_page(reader, shard))
            arena_reset(&reader->arena);
    arena_reset(&reader->arena);
}

/* ---- the thread ---- */

/* Sleeps until it is time for the next look, or until something changes. False: it has to stop. */
static bool wait_for_next(struct expired_events *events) {
    struct timespec until;
    int64_t ms = events->frontend->blocks ? POLL_REMOTE_MS : POLL_MS;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + ms * 1000 * 1000;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_mutex_lock(&events->mutex);
    if (!events->stopping && classes_wanted(events) != 0)
        pthread_cond_timedwait(&events->changed, &events->mutex, &until);
    while (!events->stopping && classes_wanted(events) == 0)
        pthread_cond_wait(&events->changed, &events->mutex);
    bool going = !events->stopping;
    pthread_mutex_unlock(&events->mutex);
    return going;
}

static void *expired_main(void *argument) {
    struct expired_reader reader = {.events = argument};
    arena_init(&reader.arena);
    pthread_setname_np(pthread_self(), "expired");
    do {
        bool wanted = classes_wanted(reader.events) != 0;
        if (!wanted)
            reader.begun = false;
        else if (!reader.begun)
            reader.begun = begin_reading(&reader);
        if (reader.begun)
            read_all(&reader);
        arena_reset(&reader.arena);
    } while (wait_for_next(reader.events));
    arena_release(&reader.arena);
    return NULL;
}

void expired_events_init(struct expired_events *events, struct redis_frontend *frontend) {
    pthread_condattr_t monotonic;
    *events = (struct expired_events){.frontend = frontend};
    pthread_mutex_init(&events->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&events->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void expired_events_stop(struct expired_events *events) {
    pthread_mutex_lock(&events->mutex);
    bool running = events->running;
    events->stopping = true;
    events->running = false;
    pthread_cond_signal(&events->changed);
    pthread_mutex_unlock(&events->mutex);
    if (running)
        pthread_join(events->thread, NULL);
}

void expired_events_release(struct expired_events *events) {
    expired_events_stop(events);
    pthread_cond_destroy(&events->changed);
    pthread_mutex_destroy(&events->mutex);
}

void expired_events_wake(struct expired_events *events) {
    bool can = engine_can(events->frontend->game->engine, ENGINE_STREAMS);
    pthread_mutex_lock(&events->mutex);
    if (!events->running && !events->stopping && can && classes_wanted(events) != 0)
        events->running = thread_start(&events->thread, expired_main, events) == 0;
    pthread_cond_signal(&events->changed);
    pthread_mutex_unlock(&events->mutex);
}
