#include "store/log_scan.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <unistd.h>

enum { WINDOW = 1024 * 1024 };

void log_scan_init(struct log_scan *scan, struct log_source from,
                   const struct log_segment_head *head) {
    *scan = (struct log_scan){.from = from,
                              .size = head->size,
                              .salt = head->salt,
                              .align = head->align,
                              .offset = LOG_BLOCK,
                              .number = head->first};
}

void log_scan_release(struct log_scan *scan) {
    mem_free(scan->window);
    scan->window = NULL;
}

/* --- the window --- */

static bool read_cold(struct log_scan *scan, uint64_t offset, size_t size) {
    enum status status = log_cold_read(scan->from.cold, offset, scan->window, size);
    errno = status == IO_FAILED ? EIO : ENODATA;
    scan->unreadable = status != OK;
    scan->window_size = status == OK ? size : 0;
    return status == OK;
}

static bool read_window(struct log_scan *scan, uint64_t offset, size_t size) {
    scan->window_at = offset;
    scan->window_size = 0;
    if (scan->from.file < 0)
        return read_cold(scan, offset, size);
    while (scan->window_size < size) {
        ssize_t got = pread(scan->from.file, scan->window + scan->window_size,
                            size - scan->window_size, (off_t)(offset + scan->window_size));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got == 0 ? ENODATA : errno;
            scan->unreadable = true;
            return false;
        }
        scan->window_size += (size_t)got;
    }
    return true;
}

/* Bytes of the file, which must be within it; NULL if they cannot be read. */
static const uint8_t *scan_bytes(struct log_scan *scan, uint64_t offset, size_t size) {
    if (offset >= scan->window_at && offset + size <= scan->window_at + scan->window_size)
        return scan->window + (offset - scan->window_at);
    size_t want = size > WINDOW ? size : WINDOW;
    if (want > scan->size - offset)
        want = (size_t)(scan->size - offset);
    if (want > scan->window_room) {
        mem_free(scan->window);
        scan->window = mem_alloc(want);
        scan->window_room = want;
    }
    return read_window(scan, offset, want) ? scan->window : NULL;
}

/* --- records --- */

/* A valid record of this segment at the offset; its bytes, or NULL. */
static const uint8_t *scan_record(struct log_scan *scan, uint64_t offset, struct log_head *head) {
    if (offset + LOG_HEAD_SIZE > scan->size)
        return NULL;
    const uint8_t *at = scan_bytes(scan, offset, LOG_HEAD_SIZE);
    if (at == NULL || !log_head_take(at, scan->salt, head) ||
        head->size > scan->size - offset - LOG_HEAD_SIZE)
        return NULL;
    at = scan_bytes(scan, offset, LOG_HEAD_SIZE + (size_t)head->size);
    return at != NULL && log_head_check(at, head) ? at : NULL;
}

enum log_found log_scan_next(struct log_scan *scan, struct log_record *out) {
    const uint8_t *at = scan_record(scan, scan->offset, &out->head);
    if (at == NULL || out->head.number != scan->number)
        return LOG_FOUND_NOTHING;
    out->offset = scan->offset;
    out->payload = bytes_of(at + LOG_HEAD_SIZE, out->head.size);
    if (out->head.kind == LOG_STOP)
        return LOG_FOUND_STOP;
    if (out->head.kind == LOG_END) {
        struct bytes from = out->payload;
        take_u64(&from, &out->successor);
        return LOG_FOUND_END;
    }
    scan->offset += log_padded(out->head.size, scan->align);
    scan->number++;
    return LOG_FOUND_GROUP;
}

bool log_scan_skip(struct log_scan *scan) {
    struct log_head head;
    for (uint64_t offset = scan->offset + scan->align;
         offset + LOG_HEAD_SIZE <= scan->size && !scan->unreadable; offset += scan->align)
        if (scan_record(scan, offset, &head) != NULL && head.number > scan->number) {
            scan->offset = offset;
            scan->number = head.number;
            return true;
        }
    return false;
}

bool log_scan_is_damaged(struct log_scan *scan) {
    struct log_head head;
    for (uint64_t offset = scan->offset; offset + LOG_HEAD_SIZE <= scan->size && !scan->unreadable;
         offset += scan->align)
        if (scan_record(scan, offset, &head) != NULL && head.durable >= scan->number)
            return true;
    return scan->unreadable;
}
