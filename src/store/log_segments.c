/* The commit log's files: finding them, making one, beginning a segment. */
#include "store/commit_log_int.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_DIGITS = 12, ZEROS = 1024 * 1024 };

static const char spare_prefix[] = "spare-", cold_suffix[] = ".cold";

void log_segment_name(uint64_t number, char name[LOG_NAME_SIZE]) {
    snprintf(name, LOG_NAME_SIZE, "%0*llu", NAME_DIGITS, (unsigned long long)number);
}

void log_segment_cold_name(uint64_t number, char name[LOG_NAME_SIZE]) {
    snprintf(name, LOG_NAME_SIZE, "%0*llu%s", NAME_DIGITS, (unsigned long long)number, cold_suffix);
}

void log_segment_file(const struct segment *segment, char name[LOG_NAME_SIZE]) {
    if (segment->cold)
        log_segment_cold_name(segment->head.segment, name);
    else
        log_segment_name(segment->head.segment, name);
}

/* --- the list --- */

static struct segment *segment_new(const struct log_segment_head *head) {
    struct segment *segment = mem_zalloc(sizeof(*segment));
    segment->head = *head;
    segment->stored = head->size;
    segment->file = -1;
    return segment;
}

void log_segment_shut(struct segment *segment) {
    if (segment->file >= 0)
        close(segment->file);
    log_cold_close(segment->open_cold);
    segment->file = -1;
    segment->open_cold = NULL;
}

void log_segment_free(struct segment *segment) {
    log_segment_shut(segment);
    mem_free(segment);
}

/* Under the lock, or before there are threads. */
static struct segment *segments_add(struct commit_log *log, const struct log_segment_head *head) {
    if (log->count == log->room) {
        log->room = log->room == 0 ? 8 : log->room * 2;
        log->segments = mem_realloc(log->segments, log->room * sizeof(*log->segments));
    }
    return log->segments[log->count++] = segment_new(head);
}

void log_segments_release(struct commit_log *log) {
    for (size_t i = 0; i < log->count; i++)
        log_segment_free(log->segments[i]);
    mem_free(log->segments);
    log->segments = NULL;
    log->count = log->room = 0;
}

struct segment *log_segment_find(struct commit_log *log, uint64_t number) {
    size_t low = 0, high = log->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->segments[middle]->head.segment < number)
            low = middle + 1;
        else
            high = middle;
    }
    bool there = low < log->count && log->segments[low]->head.segment == number;
    return there ? log->segments[low] : NULL;
}

/* --- the folder --- */

static bool read_head(struct commit_log *log, const char *name, struct log_segment_head *out) {
    uint8_t block[LOG_BLOCK];
    struct stat info;
    int file = log_io_open(&log->io, name, O_RDONLY);
    if (file < 0)
        return false;
    bool valid = pread(file, block, sizeof(block), 0) == (ssize_t)sizeof(block) &&
                 log_segment_head_take(block, out) && fstat(file, &info) == 0 &&
                 (uint64_t)info.st_size == out->size;
    close(file);
    return valid;
}

struct log_cold *log_segment_open_cold(struct commit_log *log, struct log_segment_head *head) {
    struct log_cold_head found;
    char name[LOG_NAME_SIZE];
    log_segment_cold_name(head->segment, name);
    int file = log_io_open(&log->io, name, O_RDONLY);
    struct log_cold *cold = file >= 0 ? log_cold_open(file, &found) : NULL;
    if (cold == NULL || found.segment != head->segment) {
        log_cold_close(cold);
        return NULL;
    }
    head->first = found.first;
    head->salt = found.salt;
    head->size = found.size;
    return cold;
}

/* Reads what the segment's file says of itself. */
static bool segment_read(struct commit_log *log, const struct segment *segment,
                         struct log_segment_head *out) {
    char name[LOG_NAME_SIZE];
    *out = (struct log_segment_head){.segment = segment->head.segment};
    if (segment->cold) {
        struct log_cold *cold = log_segment_open_cold(log, out);
        log_cold_close(cold);
        return cold != NULL;
    }
    log_segment_file(segment, name);
    return read_head(log, name, out) && out->segment == segment->head.segment;
}

bool log_segment_look(struct commit_log *log, struct segment *segment) {
    struct log_segment_head head;
    if (!segment_read(log, segment, &head))
        return false;
    segment->head = head;
    segment->damaged = false;
    return true;
}

static void find_segment(struct commit_log *log, uint64_t number) {
    struct segment *segment = segments_add(log, &(struct log_segment_head){.segment = number});
    segment->damaged = true;
    if (log_segment_look(log, segment))
        segment->stored = segment->head.size;
}

static void find_cold(struct commit_log *log, const char *name, uint64_t number) {
    struct segment *segment = segments_add(log, &(struct log_segment_head){.segment = number});
    struct stat info = {0};
    char *path = files_join(log->path, name);
    if (stat(path, &info) != 0)
        info.st_size = 0;
    mem_free(path);
    segment->cold = segment->damaged = true;
    segment->stored = (uint64_t)info.st_size;
    log_segment_look(log, segment);
}

static void find_spare(struct commit_log *log, const char *name, uint64_t number) {
    struct stat info;
    char *path = files_join(log->path, name);
    bool there = stat(path, &info) == 0;
    mem_free(path);
    if (number >= log->spare_number)
        log->spare_number = number + 1;
    if (!there || log->settings.read_only)
        return;
    if (log->spare_count == LOG_SPARES || info.st_size < 2 * LOG_BLOCK) {
        log_io_remove(&log->io, name);
        return;
    }
    struct spare *spare = &log->spares[log->spare_count++];
    snprintf(spare->name, sizeof(spare->name), "%s%llu", spare_prefix, (unsigned long long)number);
    spare->size = (uint64_t)info.st_size;
}

static void find_named(struct commit_log *log, const char *name) {
    char *end;
    if (strncmp(name, spare_prefix, sizeof(spare_prefix) - 1) == 0) {
        uint64_t number = strtoull(name + sizeof(spare_prefix) - 1, &end, 10);
        if (*end == '\0')
            find_spare(log, name, number);
        return;
    }
    if (strspn(name, "0123456789") != NAME_DIGITS)
        return;
    uint64_t number = strtoull(name, &end, 10);
    if (*end == '\0')
        find_segment(log, number);
    else if (strcmp(end, cold_suffix) == 0)
        find_cold(log, name, number);
}

static int compare_segments(const void *a, const void *b) {
    uint64_t left = (*(struct segment *const *)a)->head.segment;
    uint64_t right = (*(struct segment *const *)b)->head.segment;
    return (left > right) - (left < right);
}

/* A crash may have left a segment and its compressed form: one of them is whole. */
static void drop_twins(struct commit_log *log) {
    size_t kept = 0;
    for (size_t i = 0; i < log->count; i++) {
        struct segment *each = log->segments[i], *last = kept == 0 ? NULL : log->segments[kept - 1];
        if (last == NULL || last->head.segment != each->head.segment) {
            log->segments[kept++] = each;
            continue;
        }
        bool first = (last->cold && !last->damaged) || each->damaged;
        struct segment *goes = first ? each : last;
        char name[LOG_NAME_SIZE];
        log->segments[kept - 1] = first ? last : each;
        log_segment_file(goes, name);
        if (!log->settings.read_only)
            log_io_remove(&log->io, name);
        log_segment_free(goes);
    }
    log->count = kept;
}

enum status log_segments_find(struct commit_log *log, struct scope in) {
    if (!log->settings.read_only && files_make_path(log->path) != 0)
        return failure_set(in.failure, in.arena, IO_FAILED, "Cannot make the folder %s: %s.",
                           log->path, strerror(errno));
    DIR *dir = opendir(log->path);
    if (dir == NULL && (errno != ENOENT || !log->settings.read_only))
        return failure_set(in.failure, in.arena, IO_FAILED, "Cannot read the folder %s: %s.",
                           log->path, strerror(errno));
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        find_named(log, entry->d_name);
    if (dir != NULL)
        closedir(dir);
    if (log->count != 0)
        qsort(log->segments, log->count, sizeof(struct segment *), compare_segments);
    drop_twins(log);
    return OK;
}

/* --- new files --- */

static int write_zeros(struct commit_log *log, int file, struct bytes zeros, uint64_t size) {
    int result = 0;
    for (uint64_t at = 0; result == 0 && at < size; at += zeros.size) {
        size_t left = size - at < zeros.size ? (size_t)(size - at) : zeros.size;
        result = log_io_write(&log->io, file, bytes_of(zeros.data, left), at);
    }
    return result;
}

/* Past the page cache if the file system takes it, so that no zero is copied. */
static int fill_with_zeros(struct commit_log *log, int file, uint64_t size) {
    uint8_t *zeros = aligned_alloc(LOG_BLOCK, ZEROS);
    if (zeros == NULL)
        abort();
    memset(zeros, 0, ZEROS);
    int flags = fcntl(file, F_GETFL);
    bool direct = flags >= 0 && fcntl(file, F_SETFL, flags | O_DIRECT) == 0;
    int result = write_zeros(log, file, bytes_of(zeros, ZEROS), size);
    if (result != 0 && direct && errno == EINVAL && fcntl(file, F_SETFL, flags) == 0)
        result = write_zeros(log, file, bytes_of(zeros, ZEROS), size);
    free(zeros);
    if (result == 0)
        result = log_io_sync(&log->io, file);
    if (result == 0)
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    return result;
}

int log_spare_make(struct commit_log *log, struct spare *spare, bool zeroed) {
    int file = log_io_open(&log->io, spare->name, O_RDWR | O_CREAT | O_TRUNC);
    if (file < 0)
        return -1;
    int result = log_io_allocate(&log->io, file, spare->size);
    if (result == 0)
        result = zeroed ? fill_with_zeros(log, file, spare->size) : log_io_sync(&log->io, file);
    int reason = errno;
    close(file);
    if (result != 0)
        log_io_remove(&log->io, spare->name);
    errno = reason;
    return result;
}

/* --- beginning a segment --- */

/* Writes the head through a descriptor of those flags, and leaves it open; -1. The sync is for the
 * file's size, which must be the head's after a power cut: a durable write promises only what is
 * needed to read its own bytes, and a spare may have been made larger without a sync. */
static int open_with_head(struct commit_log *log, const struct spare *spare, const uint8_t *block,
                          int flags) {
    int file = log_io_open(&log->io, spare->name, O_RDWR | flags);
    if (file < 0)
        return -1;
    if (log_io_write(&log->io, file, bytes_of(block, LOG_BLOCK), 0) == 0 &&
        log_io_sync(&log->io, file) == 0)
        return file;
    int reason = errno;
    close(file);
    errno = reason;
    return -1;
}

/* File systems refuse O_DIRECT when the file is opened, or when it is first written to. */
static int open_for_appends(struct commit_log *log, const struct spare *spare,
                            const struct log_segment_head *head) {
    uint8_t *block = aligned_alloc(LOG_BLOCK, LOG_BLOCK);
    log_segment_head_put(block, head);
    bool later = log->settings.sync == COMMIT_LOG_LATER;
    int file = open_with_head(log, spare, block, later ? 0 : O_DSYNC | O_DIRECT);
    if (file < 0 && !later && errno == EINVAL)
        file = open_with_head(log, spare, block, O_DSYNC);
    free(block);
    return file;
}

struct segment *log_segment_begin(struct commit_log *log, const struct spare *spare,
                                  const struct segment *before, int *file) {
    struct log_segment_head head = {.align = LOG_BLOCK,
                                    .segment = before == NULL ? 1 : before->head.segment + 1,
                                    .first = atomic_load(&log->end),
                                    .size = spare->size,
                                    .time_ms = (uint64_t)clock_now_ms()};
    char name[LOG_NAME_SIZE];
    random_secure(&head.salt, sizeof(head.salt));
    log_segment_name(head.segment, name);
    *file = open_for_appends(log, spare, &head);
    if (*file < 0)
        return NULL;
    if (log_io_rename(&log->io, spare->name, name) != 0) {
        int reason = errno;
        close(*file);
        errno = reason;
        return NULL;
    }
    pthread_mutex_lock(&log->lock);
    struct segment *segment = segments_add(log, &head);
    pthread_mutex_unlock(&log->lock);
    return segment;
}
