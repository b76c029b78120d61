/* What the store costs alone: durable writes beside raw appends, point reads, short walks.
 *
 *   bench_store [FOLDER]     made and removed; default ./bench-store.tmp
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/random.h"
#include "store/store.h"
#include "store/write_buffer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ITEM_SIZE = 300, ROOM = 10, RUN_US = 1000 * 1000 };

static struct arena arena;
static struct failure failure;
static struct random dice;

/* Reads are timed by the thread's own processor time, which a busy machine disturbs less. */
static int64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void check(enum status status) {
    if (status == OK)
        return;
    fprintf(stderr, "bench_store: %s: %.*s\n", status_name(status), BYTES_ARG(failure.text));
    exit(1);
}

static struct store *open_timed(const char *path, enum store_sync sync, const char *what) {
    struct store *store;
    int64_t start = clock_ticks_us();
    check(store_open(&(struct store_settings){.path = path, .sync = sync},
                     (struct scope){&arena, &failure}, &store));
    printf("open, %-28s %10.1f ms\n", what, (double)(clock_ticks_us() - start) / 1000);
    return store;
}

/* A hash of the room, the room, the seat: 24 bytes in an order that has nothing to do with age. */
static struct bytes make_key(uint8_t key[24], uint64_t number) {
    uint64_t room = number / ROOM;
    uint64_t hash = hash_stable(bytes_of(&room, sizeof(room)), 1);
    memcpy(key, &hash, 8);
    snprintf((char *)key + 8, 16, "#%09u#%04u", (unsigned)room % 1000000000,
             (unsigned)(number % ROOM));
    return bytes_of(key, 24);
}

/* Half of it noise, so that it compresses as items do. */
static struct bytes make_value(uint8_t value[ITEM_SIZE]) {
    memset(value, 'v', ITEM_SIZE);
    for (int i = 0; i < ITEM_SIZE / 2; i += 8) {
        uint64_t noise = random_next(&dice);
        memcpy(value + i, &noise, sizeof(noise));
    }
    return bytes_of(value, ITEM_SIZE);
}

static void put(struct store_batch *batch, uint64_t number) {
    uint8_t key[24], value[ITEM_SIZE];
    store_put(batch, STORE_ITEMS, make_key(key, number), make_value(value));
}

static void bench_appends(const char *path, size_t size) {
    char name[512];
    uint8_t *data = mem_zalloc(size);
    snprintf(name, sizeof(name), "%s.raw", path);
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    int64_t start = clock_ticks_us(), took;
    int count = 0;
    do {
        if (write(file, data, size) != (ssize_t)size || fdatasync(file) != 0)
            exit(1);
        count++;
        took = clock_ticks_us() - start;
    } while (took < RUN_US);
    printf("raw append + fdatasync, %5zu bytes   %10.0f /s\n", size,
           (double)count * 1e6 / (double)took);
    close(file);
    unlink(name);
    mem_free(data);
}

static void bench_writes(struct store *store, int in_batch, uint64_t among) {
    struct store_batch *batch = store_batch_new(store);
    int64_t start = clock_ticks_us(), took;
    int count = 0;
    do {
        store_batch_clear(batch);
        for (int i = 0; i < in_batch; i++)
            put(batch, random_below(&dice, among));
        check(store_write(store, batch, (struct scope){&arena, &failure}));
        count += in_batch;
        took = clock_ticks_us() - start;
    } while (took < RUN_US);
    printf("durable writes, batches of %4d      %10.0f items/s\n", in_batch,
           (double)count * 1e6 / (double)took);
    store_batch_free(batch);
}

static void fill(struct store *store, uint64_t from, uint64_t to) {
    struct store_batch *batch = store_batch_new(store);
    int64_t start = clock_ticks_us();
    for (uint64_t i = from; i < to; i++) {
        put(batch, i);
        if (i % 1000 == 999 || i + 1 == to) {
            check(store_write(store, batch, (struct scope){&arena, &failure}));
            store_batch_clear(batch);
        }
    }
    store_batch_free(batch);
    printf("filled with %-8lu                  %10.1f ms\n", (unsigned long)(to - from),
           (double)(clock_ticks_us() - start) / 1000);
}

static void bench_gets(struct store *store, uint64_t items, uint64_t among, const char *what) {
    enum { COUNT = 300000 };
    int64_t start = cpu_ns();
    for (int i = 0; i < COUNT; i++) {
        uint8_t key[24];
        struct bytes value;
        uint64_t number = random_below(&dice, among) * (items / among);
        check(store_get(store, &(struct store_key){STORE_ITEMS, make_key(key, number)}, &arena,
                        &value));
        arena_reset(&arena);
    }
    printf("get, %-8lu items, %-14s %10.0f ns\n", (unsigned long)items, what,
           (double)(cpu_ns() - start) / COUNT);
}

static void bench_misses(struct store *store, uint64_t items) {
    enum { COUNT = 300000 };
    int64_t start = cpu_ns();
    for (int i = 0; i < COUNT; i++) {
        uint8_t key[24];
        struct bytes value;
        struct bytes wanted = make_key(key, random_below(&dice, items));
        key[23] = 'x';
        if (store_get(store, &(struct store_key){STORE_ITEMS, wanted}, &arena, &value) != NOT_FOUND)
            exit(1);
    }
    printf("get, %-8lu items, %-14s %10.0f ns\n", (unsigned long)items, "not there",
           (double)(cpu_ns() - start) / COUNT);
}

static void walk(struct store *store, struct bytes low, bool with_snapshot) {
    uint8_t end[24]; /* past all seats of the room */
    memcpy(end, low.data, 24);
    end[18] = '~';
    struct store_snapshot *snapshot = with_snapshot ? store_snapshot_take(store) : NULL;
    struct store_range range = {
        .family = STORE_ITEMS, .snapshot = snapshot, .low = low, .high = bytes_of(end, 19)};
    struct store_iter *iter = store_iter_open(store, &range);
    int count = 0;
    for (bool there = store_iter_seek(iter, low); there && count < ROOM;
         there = store_iter_next(iter)) {
        arena_copy(&arena, store_iter_value(iter));
        count++;
    }
    if (count != ROOM)
        exit(1);
    store_iter_close(iter);
    store_snapshot_release(store, snapshot);
    arena_reset(&arena);
}

static void bench_walks(struct store *store, uint64_t items, uint64_t among, const char *what) {
    enum { COUNT = 50000 };
    for (int with_snapshot = 0; with_snapshot < 2; with_snapshot++) {
        int64_t start = cpu_ns();
        for (int i = 0; i < COUNT; i++) {
            uint8_t key[24];
            uint64_t number = random_below(&dice, among) * (items / among);
            walk(store, make_key(key, number / ROOM * ROOM), with_snapshot != 0);
        }
        double took = (double)(cpu_ns() - start);
        printf("walk, %-8lu items, %-4s%-10s %10.0f ns\n", (unsigned long)items, what,
               with_snapshot ? " snapshot" : "", took / COUNT);
    }
}

static void bench_scan(struct store *store) {
    int64_t start = clock_ticks_us();
    struct store_range range = {.family = STORE_ITEMS, .bulk = true};
    struct store_iter *iter = store_iter_open(store, &range);
    uint64_t count = 0, sum = 0;
    for (bool there = store_iter_first(iter); there; there = store_iter_next(iter)) {
        sum += store_iter_value(iter).size;
        count++;
    }
    check(store_iter_status(iter));
    store_iter_close(iter);
    double took = (double)(clock_ticks_us() - start);
    printf("bulk scan                           %10.2f million items/s (%lu MB)\n",
           (double)count / took, (unsigned long)(sum >> 20));
}

static void print_usage(struct store *store) {
    struct store_usage usage = store_usage(store);
    printf("usage: %.1f MB on disk, %.1f MB in memory\n", (double)usage.disk / 1048576,
           (double)usage.memory / 1048576);
}

/* What a reader of a range may have to do first, and a handover always does. */
static void bench_order(void) {
    enum { KEYS = 160000, AT_ONCE = 4096 };
    struct write_buffer *buffer = write_buffer_new(NULL);
    uint8_t key[24];
    int64_t took = 0;
    for (uint64_t i = 0; i < KEYS; i++) {
        write_buffer_add(buffer, &(struct buffer_write){.sequence = i + 1,
                                                        .family = STORE_ITEMS,
                                                        .key = make_key(key, random_next(&dice)),
                                                        .value = BYTES("a value")});
        if (i % AT_ONCE != AT_ONCE - 1)
            continue;
        int64_t start = cpu_ns();
        write_buffer_order(buffer, STORE_ITEMS);
        took += cpu_ns() - start;
    }
    printf("put in order, %d keys at a time    %10.0f ns each\n", AT_ONCE, (double)took / KEYS);
    write_buffer_drop(buffer);
}

static void bench_reads(struct store *store, uint64_t items) {
    bench_gets(store, items, items, "any");
    bench_gets(store, items, items < 10000 ? items : 10000, "10,000 hot");
    bench_misses(store, items);
    bench_walks(store, items, items, "any");
    bench_walks(store, items, items < 10000 ? items : 10000, "hot");
}

int main(int count, char **arguments) {
    const char *path = count > 1 ? arguments[1] : "bench-store.tmp";
    char command[600];
    snprintf(command, sizeof(command), "rm -rf '%s'", path);
    if (system(command) != 0)
        return 1;
    arena_init(&arena);
    random_seed(&dice, 1);
    setvbuf(stdout, NULL, _IOLBF, 0);

    bench_order();
    struct store *store = open_timed(path, STORE_SYNC_COMMIT, "an empty folder");
    bench_appends(path, 330);
    bench_writes(store, 1, 10000);
    bench_appends(path, 330 * 8);
    bench_writes(store, 8, 10000);
    bench_appends(path, 330 * 32);
    bench_writes(store, 32, 10000);
    fill(store, 0, 10000);
    bench_reads(store, 10000);
    fill(store, 10000, 1000000);
    print_usage(store);
    int64_t start = clock_ticks_us();
    store_close(store);
    printf("close                               %10.1f ms\n",
           (double)(clock_ticks_us() - start) / 1000);
    store = open_timed(path, STORE_SYNC_COMMIT, "1,000,000 items");
    bench_reads(store, 1000000);
    bench_scan(store);
    bench_writes(store, 32, 1000000);
    print_usage(store);
    store_close(store);
    return system(command) == 0 ? 0 : 1;
}
