#include "api/audit_log.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/thread.h"
#include "game/audit_trail.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { MINUTE_US = 60 * 1000 * 1000, RETRY_S = 1 };

/* A record with its id. */
struct audit_entry {
    char id[ULID_SIZE];
    struct request_record record;
    struct audit_wait *wait; /* NULL: nobody waits for it, or not any more */
};

struct audit_log {
    struct game *game;
    pthread_t thread;
    bool running;
    pthread_mutex_t mutex; /* over all that follows */
    pthread_cond_t wake;
    bool stopping;
    bool failing;                /* the table could not be written the last time */
    struct audit_entry *waiting; /* the oldest first; they stay until they are durable */
    size_t waiting_count;
    int64_t minute_us;       /* when the present minute began, by clock_ticks_us() */
    uint64_t added, skipped; /* in it */
};

/* --- adding --- */

/* Under the mutex. */
static bool append_entry(struct audit_log *log, const struct request_record *record,
                         struct audit_wait *wait) {
    if (log->waiting_count == LIMIT_AUDIT_WAITING) {
        log->skipped++;
        return false;
    }
    struct audit_entry *entry = &log->waiting[log->waiting_count++];
    entry->record = *record;
    entry->wait = wait;
    ulid_make(record->at_ms, entry->id);
    return true;
}

/* Under the mutex: begins another minute if the last one is over, and tells what it left out. */
static void begin_minute(struct audit_log *log, int64_t now_us) {
    char text[64];
    if (now_us - log->minute_us < MINUTE_US)
        return;
    uint64_t skipped = log->skipped;
    log->minute_us = now_us;
    log->added = log->skipped = 0;
    if (skipped == 0)
        return;
    struct request_record record = {.at_ms = clock_now_ms(), .front = METRICS_OTHER};
    int size = snprintf(text, sizeof text, "%llu more, in the server's log only",
                        (unsigned long long)skipped);
    request_record_set(&record, &(struct request_texts){.operation = BYTES("audit"),
                                                        .subject = bytes_of(text, (size_t)size)});
    append_entry(log, &record, NULL);
}

bool audit_log_add(struct audit_log *log, const struct request_record *record,
                   struct audit_wait *wait) {
    bool waits = false;
    pthread_mutex_lock(&log->mutex);
    begin_minute(log, clock_ticks_us());
    if (++log->added > LIMIT_AUDIT_A_MINUTE)
        log->skipped++;
    else if (!log->stopping && log->running)
        waits = append_entry(log, record, log->failing ? NULL : wait) && !log->failing;
    pthread_cond_signal(&log->wake);
    pthread_mutex_unlock(&log->mutex);
    return waits;
}

/* --- writing --- */

static struct audit_event event_of(const struct audit_entry *entry) {
    const struct request_record *record = &entry->record;
    return (struct audit_event){.id = bytes_of(entry->id, ULID_SIZE),
                                .front_end = bytes_str(metrics_front_name(record->front)),
                                .operation = bytes_str(record->operation),
                                .subject = bytes_str(record->subject),
                                .reason = bytes_str(record->reason),
                                .who = bytes_str(record->who),
                                .status = record->status,
                                .us = (int64_t)record->us,
                                .bytes_in = (int64_t)record->bytes_in,
                                .bytes_out = (int64_t)record->bytes_out};
}

/* Writes the first `count` that wait; on the thread. The mutex is not held meanwhile: others only
 * add behind them. */
static enum status write_waiting(struct audit_log *log, size_t count) {
    struct arena arena;
    struct failure failure = {0};
    arena_init(&arena);
    struct audit_event *events = ARENA_ARRAY(&arena, struct audit_event, count);
    for (size_t i = 0; i < count; i++)
        events[i] = event_of(&log->waiting[i]);
    enum status status =
        audit_trail_put(log->game, events, count, (struct scope){&arena, &failure});
    arena_release(&arena);
    return status;
}

/* Tells who waits for the first `count`. Under the mutex: who lists copies the entries. */
static void tell_waiting(struct audit_log *log, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct audit_wait *wait = log->waiting[i].wait;
        log->waiting[i].wait = NULL;
        if (wait != NULL)
            wait->run(wait);
    }
}

/* Under the mutex, which is given up while it writes. False if the table could not be written. */
static bool flush_waiting(struct audit_log *log) {
    size_t count = log->waiting_count;
    if (count == 0)
        return true;
    pthread_mutex_unlock(&log->mutex);
    enum status status = write_waiting(log, count);
    pthread_mutex_lock(&log->mutex);
    tell_waiting(log, count);
    log->failing = status != OK;
    if (log->failing)
        return false;
    log->waiting_count -= count;
    memmove(log->waiting, log->waiting + count, log->waiting_count * sizeof *log->waiting);
    return true;
}

/* Under the mutex: until there is something to do, or for a while after a failure. */
static void wait_for_entries(struct audit_log *log, bool failed) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += RETRY_S;
    int waited = 0;
    while (!log->stopping && waited == 0 && (failed || log->waiting_count == 0)) {
        if (failed)
            waited = pthread_cond_timedwait(&log->wake, &log->mutex, &until);
        else
            pthread_cond_wait(&log->wake, &log->mutex);
    }
}

static void *audit_main(void *context) {
    struct audit_log *log = context;
    pthread_mutex_lock(&log->mutex);
    bool failed = false;
    while (!log->stopping) {
        wait_for_entries(log, failed);
        failed = !flush_waiting(log);
    }
    flush_waiting(log);
    pthread_mutex_unlock(&log->mutex);
    return NULL;
}

struct audit_log *audit_log_new(struct game *game) {
    struct audit_log *log = mem_zalloc(sizeof *log);
    pthread_condattr_t monotonic;
    log->game = game;
    log->waiting = mem_alloc(LIMIT_AUDIT_WAITING * sizeof *log->waiting);
    log->minute_us = clock_ticks_us();
    pthread_mutex_init(&log->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&log->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_lock(&log->mutex);
    log->running = thread_start(&log->thread, audit_main, log) == 0;
    pthread_mutex_unlock(&log->mutex);
    return log;
}

void audit_log_stop(struct audit_log *log) {
    pthread_mutex_lock(&log->mutex);
    log->stopping = true;
    pthread_cond_signal(&log->wake);
    pthread_mutex_unlock(&log->mutex);
    if (log->running)
        pthread_join(log->thread, NULL);
    log->running = false;
}

void audit_log_free(struct audit_log *log) {
    pthread_cond_destroy(&log->wake);
    pthread_mutex_destroy(&log->mutex);
    mem_free(log->waiting);
    mem_free(log);
}

/* --- listing --- */

/* The newest that wait, before the id, the newest first. */
static size_t copy_waiting(struct audit_log *log, const struct audit_log_request *request,
                           struct audit_entry *out) {
    size_t count = 0;
    pthread_mutex_lock(&log->mutex);
    for (size_t i = log->waiting_count; i-- > 0 && count < request->limit;)
        if (request->before.size == 0 ||
            bytes_compare(bytes_of(log->waiting[i].id, ULID_SIZE), request->before) < 0)
            out[count++] = log->waiting[i];
    pthread_mutex_unlock(&log->mutex);
    return count;
}

static enum metrics_front front_named(struct bytes name) {
    for (int front = 0; front < METRICS_FRONTS; front++)
        if (bytes_equal(name, bytes_str(metrics_front_name((enum metrics_front)front))))
            return (enum metrics_front)front;
    return METRICS_OTHER;
}

static struct request_record record_of_event(const struct audit_event *event) {
    struct request_record record = {.at_ms = ulid_time_ms(event->id),
                                    .us = (uint64_t)event->us,
                                    .bytes_in = (uint64_t)event->bytes_in,
                                    .bytes_out = (uint64_t)event->bytes_out,
                                    .front = front_named(event->front_end),
                                    .status = (int)event->status};
    request_record_set(&record, &(struct request_texts){.operation = event->operation,
                                                        .reason = event->reason,
                                                        .subject = event->subject,
                                                        .who = event->who});
    return record;
}

/* The two lists as one, the newest first. What became durable in between is in both, and told once.
 */
static void merge_lists(const struct audit_entry *waiting, size_t waiting_count,
                        const struct audit_trail_page *kept, size_t limit,
                        struct audit_log_page *out) {
    size_t at = 0, of = 0;
    while (out->count < limit && (at < waiting_count || of < kept->count)) {
        struct bytes mine =
            at < waiting_count ? bytes_of(waiting[at].id, ULID_SIZE) : (struct bytes){0};
        struct bytes theirs = of < kept->count ? kept->events[of].id : (struct bytes){0};
        int order = bytes_compare(mine, theirs);
        out->next = order >= 0 ? mine : theirs;
        out->records[out->count++] =
            order >= 0 ? waiting[at].record : record_of_event(&kept->events[of]);
        at += order >= 0;
        of += order <= 0;
    }
    if (at == waiting_count && of == kept->count && !kept->more)
        out->next = (struct bytes){0};
}

enum status audit_log_list(struct audit_log *log, const struct audit_log_request *request,
                           struct scope in, struct audit_log_page *out) {
    struct audit_entry *waiting = ARENA_ARRAY(in.arena, struct audit_entry, request->limit);
    struct audit_trail_request older = {request->before, request->limit};
    struct audit_trail_page kept;
    if (request->before.size != 0 && !ulid_valid(request->before))
        return failure_set(in.failure, in.arena, INVALID, "the cursor is not one of ours");
    /* These first: what is written meanwhile is then in both lists, and not in neither. */
    size_t count = copy_waiting(log, request, waiting);
    enum status status = audit_trail_list(log->game, &older, in, &kept);
    if (status != OK)
        return status;
    *out = (struct audit_log_page){
        .records = ARENA_ARRAY(in.arena, struct request_record, request->limit + 1)};
    merge_lists(waiting, count, &kept, request->limit, out);
    return OK;
}
