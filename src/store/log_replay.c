/* Replaying and verifying: what the log's segments hold, from a group on, up to its end. */
#include "store/commit_log_int.h"
#include "store/log_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* --- clauses --- */

static enum status log_damaged(const struct segment *segment, uint64_t offset, struct scope in) {
    char name[LOG_NAME_SIZE];
    log_segment_file(segment, name);
    return failure_set(in.failure, in.arena, DAMAGED, "its log's file log/%s is wrong at byte %llu",
                       name, (unsigned long long)offset);
}

static enum status log_missing(uint64_t number, struct scope in) {
    char name[LOG_NAME_SIZE];
    log_segment_name(number, name);
    return failure_set(in.failure, in.arena, DAMAGED, "its log's file log/%s is missing", name);
}

static enum status log_unreadable(const struct segment *segment, int error, struct scope in) {
    char name[LOG_NAME_SIZE];
    log_segment_file(segment, name);
    return failure_set(in.failure, in.arena, IO_FAILED, "Cannot read the log's file log/%s: %s.",
                       name, strerror(error));
}

/* --- one segment --- */

struct walk {
    struct commit_log *log;
    uint64_t from; /* groups before are passed over, */
    const struct log_replay *replay;
    struct scope in;
    uint64_t groups; /* seen */
    /* where it ended */
    uint64_t offset, number;
};

/* Opens a segment for a scan of what is really on the disk: what was written and not synced is
 * brought there first, and what the system has in memory is forgotten. */
static int open_synced(struct commit_log *log, const struct segment *segment) {
    char name[LOG_NAME_SIZE];
    log_segment_name(segment->head.segment, name);
    int file = log_io_open(&log->io, name, O_RDONLY);
    if (file < 0 || log->settings.read_only)
        return file;
    if (log_io_sync(&log->io, file) != 0) {
        int reason = errno;
        close(file);
        errno = reason;
        return -1;
    }
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    return file;
}

static enum status give_group(struct walk *walk, const struct segment *segment,
                              const struct log_record *record) {
    struct log_group group = {.number = record->head.number,
                              .time_ms = record->head.time_ms,
                              .segment = segment->head.segment,
                              .salt = (uint32_t)segment->head.salt,
                              .offset = (uint32_t)(record->offset + LOG_HEAD_SIZE)};
    walk->groups++;
    if (walk->replay == NULL || group.number < walk->from)
        return OK;
    return walk->replay->group(walk->replay->user, &group, record->payload);
}

/* What a segment's last record, or the lack of one, means. `next` NULL: there is no successor. */
static enum status judge_end(struct walk *walk, struct log_scan *scan,
                             const struct segment *segment, const struct segment *next) {
    struct log_record record;
    enum log_found found = log_scan_next(scan, &record);
    if (scan->unreadable && errno != ENODATA)
        return log_unreadable(segment, errno, walk->in);
    if (next != NULL)
        return scan->number == next->head.first ? OK : log_damaged(segment, scan->offset, walk->in);
    if (found == LOG_FOUND_END)
        return log_missing(record.successor, walk->in);
    if (found == LOG_FOUND_NOTHING && log_scan_is_damaged(scan))
        return log_damaged(segment, scan->offset, walk->in);
    return OK;
}

/* The next group. What a recovery does not need may be damaged: those who read it are told. */
static bool next_group(const struct walk *walk, struct log_scan *scan, struct log_record *record) {
    enum log_found found = log_scan_next(scan, record);
    if (found != LOG_FOUND_NOTHING || scan->number >= walk->from)
        return found == LOG_FOUND_GROUP;
    struct log_scan at = *scan;
    if (log_scan_skip(scan) && scan->number <= walk->from)
        return log_scan_next(scan, record) == LOG_FOUND_GROUP;
    scan->offset = at.offset;
    scan->number = at.number;
    return false;
}

static enum status scan_segment(struct walk *walk, struct log_scan *scan,
                                const struct segment *segment, const struct segment *next) {
    struct log_record record;
    enum status status = OK;
    while (status == OK && (next == NULL || scan->number < next->head.first) &&
           next_group(walk, scan, &record))
        status = give_group(walk, segment, &record);
    if (status == OK)
        status = judge_end(walk, scan, segment, next);
    walk->offset = scan->offset;
    walk->number = scan->number;
    return status;
}

static enum status walk_source(struct walk *walk, struct log_source from,
                               const struct segment *segment, const struct segment *next) {
    struct log_scan scan;
    log_scan_init(&scan, from, &segment->head);
    enum status status = scan_segment(walk, &scan, segment, next);
    log_scan_release(&scan);
    return status;
}

/* The head that the segment had is in its first block. */
static enum status walk_cold(struct walk *walk, const struct segment *segment,
                             const struct segment *next) {
    struct segment was = {.head = segment->head, .cold = true};
    struct log_source from = {-1, log_segment_open_cold(walk->log, &was.head)};
    uint8_t block[LOG_BLOCK];
    enum status status =
        from.cold == NULL ? DAMAGED : log_cold_read(from.cold, 0, block, LOG_BLOCK);
    uint64_t size = was.head.size;
    if (status == OK && !log_segment_head_take(block, &was.head))
        status = DAMAGED;
    was.head.size = size;
    status = status == OK ? walk_source(walk, from, &was, next) : log_damaged(segment, 0, walk->in);
    log_cold_close(from.cold);
    return status;
}

static enum status walk_segment(struct walk *walk, const struct segment *segment,
                                const struct segment *next) {
    struct log_source from = {-1, NULL};
    if (segment->damaged)
        return log_damaged(segment, 0, walk->in);
    if (next != NULL && next->head.segment != segment->head.segment + 1)
        return log_missing(segment->head.segment + 1, walk->in);
    if (next != NULL && next->damaged)
        return log_damaged(next, 0, walk->in);
    if (segment->cold)
        return walk_cold(walk, segment, next);
    from.file = open_synced(walk->log, segment);
    if (from.file < 0)
        return log_unreadable(segment, errno, walk->in);
    enum status status = walk_source(walk, from, segment, next);
    close(from.file);
    return status;
}

/* --- all of them --- */

/* The segment that has the group, or would have it, or one after it that is damaged; count if none
 * goes back that far. */
static size_t find_start(const struct commit_log *log, uint64_t from) {
    if (from == 0)
        return 0;
    for (size_t at = log->count; at != 0; at--) {
        const struct segment *segment = log->segments[at - 1];
        if (segment->damaged || segment->head.first <= from)
            return at - 1;
    }
    return log->count;
}

static enum status walk_from(struct walk *walk, size_t at) {
    const struct commit_log *log = walk->log;
    enum status status = OK;
    for (; status == OK && at < log->count; at++)
        status = walk_segment(walk, log->segments[at],
                              at + 1 < log->count ? log->segments[at + 1] : NULL);
    return status;
}

static void set_end(struct commit_log *log, const struct walk *walk) {
    uint64_t end = walk->number;
    if (end < walk->from)
        end = walk->from;
    atomic_store(&log->end, end == 0 ? 1 : end);
    atomic_store(&log->durable, atomic_load(&log->end) - 1);
    pthread_mutex_lock(&log->lock);
    log->tail = log->count != 0 ? log->segments[log->count - 1] : NULL;
    log->tail_offset = walk->offset;
    pthread_mutex_unlock(&log->lock);
    log->replayed = true;
}

/* The list of segments does not change before the first append: nothing was released yet. */
enum status commit_log_replay(struct commit_log *log, uint64_t from,
                              const struct log_replay *replay, struct scope in) {
    struct walk walk = {.log = log, .from = from, .replay = replay, .in = in};
    size_t at = find_start(log, from);
    if (at == log->count && log->count != 0)
        return failure_set(in.failure, in.arena, DAMAGED,
                           "its log begins with commit %llu, but commit %llu is needed",
                           (unsigned long long)log->segments[0]->head.first,
                           (unsigned long long)from);
    enum status status = walk_from(&walk, at);
    if (status == OK)
        set_end(log, &walk);
    return status;
}

/* --- verifying --- */

static void report(struct log_verify *verify, const struct failure *failure, struct arena *arena) {
    struct bytes text = failure->text;
    verify->fault(verify->user,
                  failure->status == DAMAGED
                      ? arena_printf(arena, "The folder is damaged: %.*s.", BYTES_ARG(text))
                      : text);
}

enum status commit_log_verify(struct commit_log *log, struct log_verify *verify, struct scope in) {
    struct failure failure = {0};
    struct walk walk = {.log = log, .in = {in.arena, &failure}};
    enum status worst = OK;
    for (size_t at = 0; at < log->count; at++) {
        enum status status = walk_segment(&walk, log->segments[at],
                                          at + 1 < log->count ? log->segments[at + 1] : NULL);
        if (status != OK)
            report(verify, &failure, in.arena);
        if (status != OK)
            worst = status;
    }
    verify->segments = log->count;
    verify->groups = walk.groups;
    return worst;
}
