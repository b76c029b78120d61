/* What an append to the commit log costs, beside raw writes to a file that exists: past the page
 * cache with O_DSYNC, and through it with fdatasync().
 *
 *   bench_log [FOLDER]     made and removed; default ./bench-log.tmp
 */
#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "store/commit_log.h"
#include "store/log_format.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { RUN_US = 2000 * 1000, FILE_SIZE = 64 * 1024 * 1024, TIMES_MAX = 1000 * 1000 };

static struct arena arena;
static struct failure failure;
static uint32_t times[TIMES_MAX];

static void check(bool truth, const char *what) {
    if (truth)
        return;
    fprintf(stderr, "bench_log: %s: %.*s\n", what, BYTES_ARG(failure.text));
    exit(1);
}

static int64_t cpu_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int compare(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* One write, durable when it returns. */
struct subject {
    const char *name;
    int file;               /* raw: written to, in a circle */
    bool sync;              /* raw: with fdatasync() */
    struct commit_log *log; /* NULL: raw */
    uint8_t *bytes;
    size_t size;
    uint64_t offset;
};

static void write_raw(struct subject *subject) {
    size_t size = (size_t)log_padded(subject->size, LOG_BLOCK);
    if (subject->offset + size > FILE_SIZE)
        subject->offset = 0;
    check(pwrite(subject->file, subject->bytes, size, (off_t)subject->offset) == (ssize_t)size,
          "pwrite");
    check(!subject->sync || fdatasync(subject->file) == 0, "fdatasync");
    subject->offset += size;
}

static void write_log(struct subject *subject) {
    struct log_group group = {0};
    struct bytes part = bytes_of(subject->bytes, subject->size);
    check(commit_log_append(subject->log, (struct log_parts){&part, 1},
                            (struct scope){&arena, &failure}, &group) == OK,
          "append");
    if (group.number % 1000 == 0)
        commit_log_release(subject->log, group.number, UINT64_MAX);
}

static void run(struct subject *subject, size_t size) {
    size_t count = 0;
    subject->size = size;
    int64_t start = clock_ticks_us(), cpu = cpu_us(), now = start;
    while (now - start < RUN_US && count < TIMES_MAX) {
        subject->log != NULL ? write_log(subject) : write_raw(subject);
        int64_t then = clock_ticks_us();
        times[count++] = (uint32_t)(then - now);
        now = then;
    }
    double each = (double)(cpu_us() - cpu) / (double)count;
    qsort(times, count, sizeof(*times), compare);
    printf("%-28s %7zu bytes  median %6u us  p99 %6u us  worst %7u us  processor %5.1f us\n",
           subject->name, size, times[count / 2], times[count * 99 / 100], times[count - 1], each);
}

static int open_filled(const char *folder, int flags) {
    char *path = files_join(folder, "raw");
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    check(file >= 0, path);
    uint8_t *zeros = mem_zalloc(FILE_SIZE);
    check(files_write(file, bytes_of(zeros, FILE_SIZE)) == 0 && fsync(file) == 0, "write");
    mem_free(zeros);
    close(file);
    file = open(path, O_RDWR | flags);
    mem_free(path);
    return file;
}

static struct commit_log *open_log(const char *folder) {
    struct commit_log *log;
    char *path = files_join(folder, "log");
    struct commit_log_settings settings = {.path = path};
    check(commit_log_open(&settings, (struct scope){&arena, &failure}, &log) == OK, "open");
    check(commit_log_replay(log, 1, NULL, (struct scope){&arena, &failure}) == OK, "replay");
    mem_free(path);
    return log;
}

int main(int count, char **arguments) {
    static const size_t sizes[] = {300, 3000, 30000, 300000};
    const char *folder = count > 1 ? arguments[1] : "bench-log.tmp";
    arena_init(&arena);
    check(files_remove(folder) == 0 && files_make_path(folder) == 0, folder);
    uint8_t *bytes = aligned_alloc(LOG_BLOCK, 1024 * 1024);
    memset(bytes, 7, 1024 * 1024);
    struct subject direct = {.name = "O_DIRECT|O_DSYNC", .bytes = bytes};
    struct subject synced = {.name = "pwrite and fdatasync", .bytes = bytes, .sync = true};
    struct subject log = {.name = "commit log", .bytes = bytes, .log = open_log(folder)};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        direct.file = open_filled(folder, O_DIRECT | O_DSYNC);
        if (direct.file >= 0)
            run(&direct, sizes[i]);
        synced.file = open_filled(folder, 0);
        run(&synced, sizes[i]);
        run(&log, sizes[i]);
        close(direct.file);
        close(synced.file);
    }
    commit_log_close(log.log);
    free(bytes);
    files_remove(folder);
    return 0;
}
