/* Walking over groups that are in the log while others append to it: one segment at a time, which
 * is held meanwhile. Groups before the end that was asked for are whole; so unlike a replay, which
 * has to find the end, a walk takes everything that is not valid for damage. */
#include "store/commit_log_int.h"
#include "store/log_scan.h"

#include <errno.h>

/* The segment that has the group, held, and in *end the number of the next one's first group. */
static enum status hold_group(struct commit_log *log, uint64_t number, struct segment **out,
                              uint64_t *end) {
    enum status status = NOT_FOUND;
    *end = UINT64_MAX;
    pthread_mutex_lock(&log->lock);
    for (size_t at = log->count; at != 0 && status == NOT_FOUND; at--) {
        struct segment *segment = log->segments[at - 1];
        if (segment->damaged)
            log_segment_look(log, segment); /* it may be of later groups */
        if (segment->damaged || segment->head.first <= number) {
            *out = segment;
            status = log_segment_hold(log, segment);
        } else
            *end = segment->head.first;
    }
    pthread_mutex_unlock(&log->lock);
    return status;
}

/* The segment's head as it was written: of a compressed one only a part is known otherwise. */
static enum status read_head(const struct segment *segment, struct log_segment_head *head) {
    uint8_t block[LOG_BLOCK];
    *head = segment->head;
    if (segment->open_cold == NULL)
        return OK;
    enum status status = log_cold_read(segment->open_cold, 0, block, LOG_BLOCK);
    if (status == OK && !log_segment_head_take(block, head))
        status = DAMAGED;
    head->size = log_cold_size(segment->open_cold);
    return status;
}

static enum status give(struct log_walk *walk, const struct segment *segment,
                        const struct log_record *record) {
    struct log_group group = {.number = record->head.number,
                              .time_ms = record->head.time_ms,
                              .segment = segment->head.segment,
                              .salt = (uint32_t)segment->head.salt,
                              .offset = (uint32_t)(record->offset + LOG_HEAD_SIZE)};
    if (group.number != walk->from)
        return group.number < walk->from ? OK : DAMAGED; /* none is passed over */
    enum status status = walk->each.group(walk->each.user, &group, record->payload);
    if (status == OK)
        walk->from = group.number + 1;
    return status;
}

static enum status walk_held(struct log_walk *walk, const struct segment *segment, uint64_t end) {
    struct log_source from = {segment->file, segment->open_cold};
    struct log_segment_head head;
    struct log_record record;
    struct log_scan scan;
    enum status status = read_head(segment, &head);
    if (status != OK)
        return status;
    log_scan_init(&scan, from, &head);
    while (status == OK && scan.number < end)
        if (log_scan_next(&scan, &record) == LOG_FOUND_GROUP)
            status = give(walk, segment, &record);
        else
            status = scan.unreadable && errno != ENODATA ? IO_FAILED : DAMAGED;
    log_scan_release(&scan);
    return status;
}

enum status commit_log_walk(struct commit_log *log, struct log_walk *walk) {
    struct segment *segment;
    uint64_t end;
    if (walk->from >= walk->until)
        return OK;
    enum status status = hold_group(log, walk->from, &segment, &end);
    if (status != OK)
        return status;
    status = walk_held(walk, segment, end < walk->until ? end : walk->until);
    log_segment_drop(log, segment);
    return status;
}
