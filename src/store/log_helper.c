/* The helper thread: makes the next segment's file before it is needed, takes away those that
 * nobody needs, by making spares of them or removing them, the oldest first, and compresses those
 * that only readers need. What it fails at is tried again when there is new work; who needs a file
 * at once makes it himself. Only this thread takes segments from the list. */
#include "store/commit_log_int.h"
#include "store/log_scan.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_EVERY_S = 20 };

/* --- spares --- */

/* Under the lock. */
static struct spare next_spare(struct commit_log *log, uint64_t size) {
    struct spare spare = {.size = size};
    snprintf(spare.name, sizeof(spare.name), "spare-%llu", (unsigned long long)log->spare_number++);
    return spare;
}

/* The first spare that is large enough; spare_count if there is none. Under the lock. */
static size_t find_large(const struct commit_log *log, uint64_t size) {
    size_t at = 0;
    while (at < log->spare_count && log->spares[at].size < size)
        at++;
    return at;
}

static void spares_remove(struct commit_log *log, size_t at) {
    log->spare_count--;
    memmove(log->spares + at, log->spares + at + 1, (log->spare_count - at) * sizeof(*log->spares));
}

int log_helper_take(struct commit_log *log, uint64_t size, struct spare *out) {
    pthread_mutex_lock(&log->lock);
    uint64_t usual = log->spare_size;
    size_t at = find_large(log, size);
    bool found = at < log->spare_count;
    if (found) {
        *out = log->spares[at];
        spares_remove(log, at);
    } else {
        *out = next_spare(log, size > usual ? size : usual);
    }
    pthread_mutex_unlock(&log->lock);
    return found ? 0 : log_spare_make(log, out, false);
}

/* Under the lock, which it lets go of while it works. */
static void make_spare(struct commit_log *log) {
    struct spare spare = next_spare(log, log->spare_size);
    pthread_mutex_unlock(&log->lock);
    bool made = log_spare_make(log, &spare, true) == 0;
    pthread_mutex_lock(&log->lock);
    log->failed = !made;
    if (made)
        log->spares[log->spare_count++] = spare;
}

/* --- segments that nobody needs --- */

/* Whether the oldest one may go. Under the lock. */
static bool is_released(const struct commit_log *log) {
    if (log->count < 2)
        return false;
    const struct segment *oldest = log->segments[0], *next = log->segments[1];
    return oldest != log->tail && oldest->readers == 0 && !next->damaged &&
           next->head.first <= log->needed_number && oldest->head.segment < log->needed_segment;
}

/* Whether the file is worth keeping for a new segment. Under the lock. */
static bool is_worth_keeping(const struct commit_log *log, const struct segment *segment) {
    return !segment->damaged && !segment->cold && segment->head.size == log->spare_size &&
           log->spare_count < LOG_SPARES;
}

/* Makes a spare of the file of a segment that nobody finds any more, or removes it. Under the lock,
 * which it lets go of while it works. */
static void recycle_file(struct commit_log *log, const struct segment *segment) {
    struct spare spare = next_spare(log, segment->head.size);
    bool keep = is_worth_keeping(log, segment);
    char name[LOG_NAME_SIZE];
    log_segment_file(segment, name);
    pthread_mutex_unlock(&log->lock);
    if (keep)
        keep = log_io_rename(&log->io, name, spare.name) == 0;
    else
        log_io_remove(&log->io, name);
    pthread_mutex_lock(&log->lock);
    if (keep)
        log->spares[log->spare_count++] = spare;
}

/* Under the lock. */
static void take_away(struct commit_log *log) {
    struct segment *segment = log->segments[0];
    log->count--;
    memmove(log->segments, log->segments + 1, log->count * sizeof(struct segment *));
    recycle_file(log, segment);
    log_segment_free(segment);
}

void commit_log_release(struct commit_log *log, uint64_t number, uint64_t segment) {
    pthread_mutex_lock(&log->lock);
    if (number > log->needed_number)
        log->needed_number = number;
    log->needed_segment = segment;
    log->failed = false;
    pthread_cond_broadcast(&log->wake);
    pthread_mutex_unlock(&log->lock);
}

/* --- segments that only readers need --- */

/* Whether it may be compressed: left, valid, and of no use for a recovery. Under the lock. */
static bool may_cool(const struct commit_log *log, size_t at) {
    const struct segment *segment = log->segments[at], *next = log->segments[at + 1];
    return !segment->cold && !segment->damaged && !segment->stays && segment != log->tail &&
           !next->damaged && next->head.first <= log->needed_number;
}

/* The oldest that has cooled down, by its age or because many follow; NULL. Under the lock. */
static struct segment *find_cool(const struct commit_log *log, const struct segment **next) {
    uint64_t now_ms = (uint64_t)clock_now_ms();
    size_t hot = 0;
    for (size_t at = 0; at + 1 < log->count; at++)
        hot += may_cool(log, at);
    for (size_t at = 0; at + 1 < log->count; at++) {
        uint64_t left_ms = log->segments[at + 1]->head.time_ms;
        *next = log->segments[at + 1];
        if (may_cool(log, at) &&
            (hot > LIMIT_LOG_HOT || now_ms >= left_ms + (uint64_t)log->settings.cold_after_ms))
            return log->segments[at];
    }
    return NULL;
}

/* How far the segment's groups go, if all of them are valid; else 0. */
static uint64_t groups_end(const struct segment *segment, const struct segment *next, int file) {
    struct log_scan scan;
    struct log_record record;
    log_scan_init(&scan, (struct log_source){file, NULL}, &segment->head);
    while (scan.number < next->head.first && log_scan_next(&scan, &record) == LOG_FOUND_GROUP)
        ;
    log_scan_release(&scan);
    return scan.number == next->head.first ? scan.offset : 0;
}

/* Writes the compressed file. Its size, or 0. */
static uint64_t compress(struct commit_log *log, const struct segment *segment,
                         const struct segment *next) {
    char name[LOG_NAME_SIZE], draft[LOG_NAME_SIZE], cold[LOG_NAME_SIZE];
    struct log_cold_head head = {segment->head.segment, segment->head.first, 0, segment->head.salt};
    uint64_t size = 0;
    log_segment_name(segment->head.segment, name);
    log_segment_cold_name(segment->head.segment, cold);
    snprintf(draft, sizeof(draft), "draft");
    int file = log_io_open(&log->io, name, O_RDONLY);
    if (file < 0)
        return 0;
    head.size = groups_end(segment, next, file);
    if (head.size != 0)
        size = log_cold_make(&log->io, draft, file, &head);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
    return size != 0 && log_io_rename(&log->io, draft, cold) == 0 ? size : 0;
}

/* From now on it is read from the compressed file. Under the lock. */
static void become_cold(struct commit_log *log, struct segment *segment, uint64_t stored) {
    segment->awaited = true;
    while (segment->readers != 0)
        pthread_cond_wait(&log->wake, &log->lock);
    segment->awaited = false;
    struct segment hot = *segment;
    log_segment_shut(segment);
    segment->cold = true;
    segment->stored = stored;
    recycle_file(log, &hot);
}

/* Under the lock, which it lets go of while it works: only this thread could remove the two. */
static void cool_down(struct commit_log *log, struct segment *segment, const struct segment *next) {
    pthread_mutex_unlock(&log->lock);
    uint64_t stored = compress(log, segment, next);
    pthread_mutex_lock(&log->lock);
    segment->stays = stored == 0;
    if (stored != 0)
        become_cold(log, segment, stored);
}

/* --- the thread --- */

static bool wants_spare(const struct commit_log *log) {
    return !log->failed && log->spare_count < LOG_SPARES &&
           find_large(log, log->spare_size) == log->spare_count;
}

/* Segments cool down with time. Under the lock. */
static void helper_sleep(struct commit_log *log) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LOOK_EVERY_S;
    pthread_cond_timedwait(&log->wake, &log->lock, &until);
}

static void *helper_run(void *argument) {
    struct commit_log *log = argument;
    struct segment *cool;
    const struct segment *next;
    pthread_mutex_lock(&log->lock);
    while (!log->stop) {
        if (is_released(log))
            take_away(log);
        else if (wants_spare(log))
            make_spare(log);
        else if ((cool = find_cool(log, &next)) != NULL)
            cool_down(log, cool, next);
        else
            helper_sleep(log);
    }
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

void log_helper_start(struct commit_log *log) {
    log->running = thread_start(&log->thread, helper_run, log) == 0;
}

void log_helper_stop(struct commit_log *log) {
    if (!log->running)
        return;
    pthread_mutex_lock(&log->lock);
    log->stop = true;
    pthread_cond_broadcast(&log->wake);
    pthread_mutex_unlock(&log->lock);
    pthread_join(log->thread, NULL);
    log->running = false;
}
