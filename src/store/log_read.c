/* Reading pieces of payloads back, from any thread. A segment's file is opened when it is first
 * read; those that were not read for longest are closed when there are many. */
#include "store/commit_log_int.h"
#include "store/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Under the lock. */
static void close_oldest(struct commit_log *log) {
    struct segment *oldest = NULL;
    size_t open = 0;
    for (size_t i = 0; i < log->count; i++) {
        struct segment *each = log->segments[i];
        bool is_open = each->file >= 0 || each->open_cold != NULL;
        open += is_open;
        if (is_open && each->readers == 0 && (oldest == NULL || each->used < oldest->used))
            oldest = each;
    }
    if (open >= LOG_FILES_OPEN && oldest != NULL)
        log_segment_shut(oldest);
}

/* Under the lock. */
static enum status open_segment(struct commit_log *log, struct segment *segment) {
    char name[LOG_NAME_SIZE];
    if (segment->file >= 0 || segment->open_cold != NULL)
        return OK;
    close_oldest(log);
    if (segment->cold) {
        struct log_segment_head head = {.segment = segment->head.segment};
        segment->open_cold = log_segment_open_cold(log, &head);
        return segment->open_cold != NULL ? OK : DAMAGED;
    }
    log_segment_name(segment->head.segment, name);
    segment->file = log_io_open(&log->io, name, O_RDONLY);
    return segment->file >= 0 ? OK : IO_FAILED;
}

/* What kept its head from being read when the log was opened may have been the disk, once. Under
 * the lock. */
static bool is_damaged(struct commit_log *log, struct segment *segment) {
    return segment->damaged && !log_segment_look(log, segment);
}

enum status log_segment_hold(struct commit_log *log, struct segment *segment) {
    enum status status = is_damaged(log, segment) ? DAMAGED : open_segment(log, segment);
    if (status == OK) {
        segment->readers++;
        segment->used = log->reads++;
    }
    return status;
}

/* The segment, held and open. */
static enum status hold_segment(struct commit_log *log, const struct log_place *place,
                                struct segment **out) {
    pthread_mutex_lock(&log->lock);
    struct segment *segment = log_segment_find(log, place->segment);
    enum status status = OK;
    if (segment == NULL)
        status = NOT_FOUND;
    else if (is_damaged(log, segment))
        status = DAMAGED;
    else if ((uint32_t)segment->head.salt != place->salt)
        status = NOT_FOUND;
    else
        status = log_segment_hold(log, segment);
    pthread_mutex_unlock(&log->lock);
    *out = segment;
    return status;
}

void log_segment_drop(struct commit_log *log, struct segment *segment) {
    pthread_mutex_lock(&log->lock);
    segment->readers--;
    bool released = segment->head.segment < log->needed_segment;
    if (segment->readers == 0 && (segment->awaited || released))
        pthread_cond_broadcast(&log->wake);
    pthread_mutex_unlock(&log->lock);
}

/* The segment is held, so that neither changes. */
static enum status read_bytes(const struct segment *segment, const struct log_place *place,
                              uint8_t *to) {
    if (segment->open_cold != NULL)
        return log_cold_read(segment->open_cold, place->offset, to, place->size);
    for (size_t done = 0; done < place->size;) {
        ssize_t got =
            pread(segment->file, to + done, place->size - done, (off_t)(place->offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? DAMAGED : IO_FAILED;
        done += (size_t)got;
    }
    return OK;
}

static enum status read_piece(const struct segment *segment, const struct log_place *place,
                              uint8_t *to) {
    enum status status = read_bytes(segment, place, to);
    if (status == OK && crc32c(0, bytes_of(to, place->size)) != place->crc)
        return DAMAGED;
    return status;
}

enum status commit_log_read(struct commit_log *log, const struct log_place *place,
                            struct arena *arena, struct bytes *out) {
    struct segment *segment;
    enum status status = hold_segment(log, place, &segment);
    if (status != OK)
        return status;
    if (place->offset < LOG_BLOCK || place->offset > segment->head.size ||
        place->size > segment->head.size - place->offset)
        status = DAMAGED;
    uint8_t *to = status == OK ? arena_alloc(arena, place->size) : NULL;
    if (status == OK)
        status = read_piece(segment, place, to);
    log_segment_drop(log, segment);
    if (status == OK)
        *out = bytes_of(to, place->size);
    return status;
}
