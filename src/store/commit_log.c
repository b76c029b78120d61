/* Opening, appending and closing. */
#include "store/commit_log_int.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    SEGMENT_SIZE = 64 * 1024 * 1024,
    FIRST_SIZE = 1024 * 1024, /* of a new log's first segment; each is twice as large */
    STAGING_KEPT = 4 * 1024 * 1024,
};

/* --- opening and closing --- */

static uint64_t round_up(uint64_t size) {
    return (size + LOG_BLOCK - 1) / LOG_BLOCK * LOG_BLOCK;
}

/* A wall clock that is set back must not make the helper's sleep longer. */
static void wake_init(pthread_cond_t *wake) {
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(wake, &steady);
    pthread_condattr_destroy(&steady);
}

static struct commit_log *log_new(const struct commit_log_settings *settings) {
    struct commit_log *log = mem_zalloc(sizeof(*log));
    log->settings = *settings;
    log->settings.path = NULL; /* the caller's */
    log->path = mem_str(settings->path);
    log->settings.segment_size =
        round_up(settings->segment_size != 0 ? settings->segment_size : SEGMENT_SIZE);
    if (settings->cold_after_ms == 0)
        log->settings.cold_after_ms = LIMIT_LOG_HOT_MS;
    log->io = (struct log_io){log->path, settings->faults};
    log->file = -1;
    atomic_init(&log->end, 1);
    atomic_init(&log->durable, 0);
    atomic_init(&log->broken, false);
    pthread_mutex_init(&log->lock, NULL);
    pthread_mutex_init(&log->sync_lock, NULL);
    wake_init(&log->wake);
    return log;
}

static void log_free(struct commit_log *log) {
    log_helper_stop(log);
    if (log->file >= 0)
        close(log->file);
    log_segments_release(log);
    pthread_cond_destroy(&log->wake);
    pthread_mutex_destroy(&log->sync_lock);
    pthread_mutex_destroy(&log->lock);
    free(log->staging);
    mem_free(log->path);
    mem_free(log);
}

static uint64_t at_most(uint64_t size, uint64_t most) {
    return size < most ? size : most;
}

/* As large as the last one was. */
static uint64_t first_spare_size(const struct commit_log *log) {
    const struct segment *last = log->count != 0 ? log->segments[log->count - 1] : NULL;
    uint64_t size = last != NULL && !last->damaged ? last->head.size : 0;
    return at_most(size > FIRST_SIZE ? size : FIRST_SIZE, log->settings.segment_size);
}

enum status commit_log_open(const struct commit_log_settings *settings, struct scope in,
                            struct commit_log **out) {
    struct commit_log *log = log_new(settings);
    enum status status = log_segments_find(log, in);
    if (status == OK && settings->must_exist && log->count == 0)
        status = failure_set(in.failure, in.arena, DAMAGED, "its log has no files");
    if (status != OK) {
        log_free(log);
        return status;
    }
    log->spare_size = first_spare_size(log);
    if (!settings->read_only)
        log_helper_start(log);
    *out = log;
    return OK;
}

uint64_t commit_log_next(const struct commit_log *log) {
    return atomic_load(&log->end);
}

uint64_t commit_log_usage(struct commit_log *log) {
    uint64_t total = 0;
    pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < log->count; i++)
        total += log->segments[i]->stored;
    for (size_t i = 0; i < log->spare_count; i++)
        total += log->spares[i].size;
    pthread_mutex_unlock(&log->lock);
    return total;
}

uint64_t commit_log_usage_from(struct commit_log *log, uint64_t segment) {
    uint64_t total = 0;
    pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < log->count; i++)
        if (log->segments[i]->head.segment >= segment)
            total += log->segments[i]->stored;
    pthread_mutex_unlock(&log->lock);
    return total;
}

uint64_t commit_log_end(const struct commit_log *log) {
    return atomic_load(&log->end);
}

uint64_t commit_log_segment(struct commit_log *log) {
    pthread_mutex_lock(&log->lock);
    uint64_t last = log->count != 0 ? log->segments[log->count - 1]->head.segment : 1;
    pthread_mutex_unlock(&log->lock);
    return last;
}

/* --- records --- */

static void make_staging(struct commit_log *log, size_t size) {
    if (log->staging_room >= size)
        return;
    free(log->staging);
    while (log->staging_room < size)
        log->staging_room = log->staging_room == 0 ? 64 * 1024 : log->staging_room * 2;
    log->staging = aligned_alloc(LOG_BLOCK, log->staging_room);
    if (log->staging == NULL)
        abort();
}

static void trim_staging(struct commit_log *log) {
    if (log->staging_room <= STAGING_KEPT)
        return;
    free(log->staging);
    log->staging = NULL;
    log->staging_room = 0;
}

/* Lays a record out in the staging memory; returns its size with what fills it up. */
static size_t stage_record(struct commit_log *log, struct log_head *head, struct log_parts parts) {
    for (size_t i = 0; i < parts.count; i++)
        head->size += (uint32_t)parts.at[i].size;
    size_t used = LOG_HEAD_SIZE + (size_t)head->size, size = log_padded(head->size, LOG_BLOCK);
    make_staging(log, size);
    uint8_t *at = log->staging + LOG_HEAD_SIZE;
    for (size_t i = 0; i < parts.count; i++) {
        if (parts.at[i].size != 0)
            memcpy(at, parts.at[i].data, parts.at[i].size);
        at += parts.at[i].size;
    }
    memset(at, 0, size - used);
    log_head_put(log->staging, head);
    return size;
}

static struct log_head new_head(const struct commit_log *log, enum log_kind kind, uint64_t salt) {
    uint64_t end = atomic_load(&log->end);
    bool sync = log->settings.sync == COMMIT_LOG_SYNC;
    return (struct log_head){.kind = kind,
                             .salt = salt,
                             .number = end,
                             .durable = sync ? end - 1 : atomic_load(&log->durable),
                             .time_ms = (uint64_t)clock_now_ms()};
}

/* --- the next segment --- */

/* A place for a mark that is not a group. */
struct mark_place {
    const struct segment *segment;
    int file;
    uint64_t offset;
};

static int write_mark(struct commit_log *log, const struct mark_place *place, enum log_kind kind,
                      struct bytes payload) {
    struct log_head head = new_head(log, kind, place->segment->head.salt);
    if (place->offset + LOG_BLOCK > place->segment->head.size)
        return 0; /* none of this program's segments is that full */
    size_t size = stage_record(log, &head, (struct log_parts){&payload, 1});
    if (log_io_write(&log->io, place->file, bytes_of(log->staging, size), place->offset) != 0)
        return -1;
    return log->settings.sync == COMMIT_LOG_LATER ? log_io_sync(&log->io, place->file) : 0;
}

/* The end of the segment that appends went to, or of that where the log was found to end. */
static int end_segment(struct commit_log *log, const struct segment *next) {
    struct mark_place place = {log->current, log->file, log->offset};
    char name[LOG_NAME_SIZE];
    uint8_t number[LOG_END_PAYLOAD];
    struct buf payload = buf_in(number, sizeof(number));
    buf_u64(&payload, next->head.segment);
    if (log->current != NULL)
        return write_mark(log, &place, LOG_END, buf_bytes(&payload));
    log_segment_name(log->tail->head.segment, name);
    place = (struct mark_place){log->tail, log_io_open(&log->io, name, O_RDWR | O_DSYNC),
                                log->tail_offset};
    if (place.file < 0)
        return -1;
    int result = write_mark(log, &place, LOG_END, buf_bytes(&payload));
    int reason = errno;
    close(place.file);
    errno = reason;
    return result;
}

static void enter_segment(struct commit_log *log, struct segment *next, int file) {
    pthread_mutex_lock(&log->lock);
    int old = log->file;
    log->file = file;
    log->current = next;
    log->tail = NULL;
    log->spare_size = at_most(2 * next->head.size, log->settings.segment_size);
    log->failed = false;
    pthread_cond_broadcast(&log->wake);
    pthread_mutex_unlock(&log->lock);
    if (old >= 0)
        close(old);
    log->offset = LOG_BLOCK;
}

/* Goes on in a segment that has room for `size` bytes. */
static int next_segment(struct commit_log *log, size_t size) {
    struct spare spare;
    int file;
    struct segment *before = log->current != NULL ? log->current : log->tail;
    if (commit_log_sync(log) != OK || log_helper_take(log, size + 2 * LOG_BLOCK, &spare) != 0)
        return -1;
    struct segment *next = log_segment_begin(log, &spare, before, &file);
    if (next == NULL)
        return -1;
    if (before != NULL && end_segment(log, next) != 0) {
        int reason = errno;
        close(file);
        errno = reason;
        return -1;
    }
    enter_segment(log, next, file);
    return 0;
}

/* --- appending --- */

static enum status append_failed(struct commit_log *log, struct scope in) {
    int reason = errno;
    atomic_store(&log->broken, true);
    return failure_set(in.failure, in.arena, IO_FAILED, "The log %s cannot be written: %s.",
                       log->path, strerror(reason));
}

static uint64_t parts_size(struct log_parts parts) {
    uint64_t size = 0;
    for (size_t i = 0; i < parts.count; i++)
        size += parts.at[i].size;
    return size;
}

static bool has_room(const struct commit_log *log, uint64_t size) {
    return log->current != NULL && log->offset + size + LOG_BLOCK <= log->current->head.size;
}

static int append_record(struct commit_log *log, struct log_parts parts, struct log_group *out) {
    uint64_t room = log_padded(parts_size(parts), LOG_BLOCK);
    if (!has_room(log, room) && next_segment(log, (size_t)room) != 0)
        return -1;
    struct log_head head = new_head(log, LOG_GROUP, log->current->head.salt);
    size_t size = stage_record(log, &head, parts);
    if (log_io_write(&log->io, log->file, bytes_of(log->staging, size), log->offset) != 0)
        return -1;
    *out = (struct log_group){.number = head.number,
                              .time_ms = head.time_ms,
                              .segment = log->current->head.segment,
                              .salt = (uint32_t)log->current->head.salt,
                              .offset = (uint32_t)(log->offset + LOG_HEAD_SIZE)};
    log->offset += size;
    return 0;
}

enum status commit_log_append(struct commit_log *log, struct log_parts parts, struct scope in,
                              struct log_group *out) {
    if (atomic_load(&log->broken) || !log->replayed || log->settings.read_only)
        return failure_set(in.failure, in.arena, IO_FAILED,
                           "The log %s takes no writes at present.", log->path);
    if (parts_size(parts) > LIMIT_LOG_GROUP)
        return failure_set(in.failure, in.arena, LIMIT_EXCEEDED, "A commit has more than %d bytes.",
                           LIMIT_LOG_GROUP);
    if (append_record(log, parts, out) != 0)
        return append_failed(log, in);
    log->appended = true;
    atomic_store(&log->end, out->number + 1);
    if (log->settings.sync == COMMIT_LOG_SYNC)
        atomic_store(&log->durable, out->number);
    trim_staging(log);
    return OK;
}

/* --- syncing --- */

/* Segments before the current one were synced when they were left. */
static int sync_current(struct commit_log *log) {
    pthread_mutex_lock(&log->lock);
    int file = log->file >= 0 ? fcntl(log->file, F_DUPFD_CLOEXEC, 0) : -1;
    bool none = log->file < 0;
    pthread_mutex_unlock(&log->lock);
    if (file < 0)
        return none ? 0 : -1;
    int result = log_io_sync(&log->io, file);
    int reason = errno;
    close(file);
    errno = reason;
    return result;
}

enum status commit_log_sync(struct commit_log *log) {
    if (atomic_load(&log->broken))
        return IO_FAILED;
    pthread_mutex_lock(&log->sync_lock);
    uint64_t last = atomic_load(&log->end) - 1;
    enum status status = OK;
    if (last > atomic_load(&log->durable) && sync_current(log) != 0) {
        atomic_store(&log->broken, true);
        status = IO_FAILED;
    } else if (last > atomic_load(&log->durable)) {
        atomic_store(&log->durable, last);
    }
    pthread_mutex_unlock(&log->sync_lock);
    return status;
}

/* --- closing --- */

void commit_log_close(struct commit_log *log) {
    if (log == NULL)
        return;
    log_helper_stop(log);
    if (log->appended && commit_log_sync(log) == OK)
        write_mark(log, &(struct mark_place){log->current, log->file, log->offset}, LOG_STOP,
                   bytes_of(NULL, 0));
    log_free(log);
}
