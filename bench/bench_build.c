/* How long a start takes: opening a folder and building one global index from its items.
 *
 *   bench_build [ITEMS [FOLDER [KIND]]]     made and removed; default 1000000 ./bench-build.tmp
 *
 * Items are scores of about 250 bytes, each of its own partition (kind 0) or all of one (1); or
 * just what ranks a member of a board (2), which also has a finder. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "table/local/local_int.h"
#include "value/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct arena arena;
static struct failure failure;

static void check(enum status status) {
    if (status == OK)
        return;
    fprintf(stderr, "bench_build: %s: %.*s\n", status_name(status), BYTES_ARG(failure.text));
    exit(1);
}

enum kind { SPREAD, TOGETHER, RANKING, KINDS };

static struct table_schema make_ranking(void) {
    static struct key_part parts[5];
    static struct index_schema index;
    parts[0] = (struct key_part){BYTES("PK"), VALUE_S};
    parts[1] = (struct key_part){BYTES("SK"), VALUE_S};
    parts[2] = (struct key_part){BYTES("score"), VALUE_N};
    parts[3] = (struct key_part){BYTES("subscore"), VALUE_N};
    parts[4] = (struct key_part){BYTES("tie"), VALUE_N};
    index = (struct index_schema){.name = BYTES("ranks"),
                                  .projected = PROJECTED_KEYS,
                                  .keys = {.parts = {parts[0], parts[2], parts[3], parts[4]},
                                           .partition_count = 1,
                                           .sort_count = 3}};
    return (struct table_schema){
        .name = BYTES("game"),
        .attributes = parts,
        .attribute_count = 5,
        .keys = {.parts = {parts[0], parts[1]}, .partition_count = 1, .sort_count = 1},
        .indexes = &index,
        .index_count = 1};
}

static struct table_schema make_schema(enum kind kind) {
    if (kind == RANKING)
        return make_ranking();
    static struct key_part parts[4];
    static struct index_schema index;
    parts[0] = (struct key_part){BYTES("PK"), VALUE_S};
    parts[1] = (struct key_part){BYTES("SK"), VALUE_S};
    parts[2] = (struct key_part){BYTES("GSI1PK"), VALUE_S};
    parts[3] = (struct key_part){BYTES("GSI1SK"), VALUE_N};
    index = (struct index_schema){
        .name = BYTES("GSI1"),
        .keys = {.parts = {parts[2], parts[3]}, .partition_count = 1, .sort_count = 1}};
    return (struct table_schema){
        .name = BYTES("game"),
        .attributes = parts,
        .attribute_count = 4,
        .keys = {.parts = {parts[0], parts[1]}, .partition_count = 1, .sort_count = 1},
        .indexes = &index,
        .index_count = 1};
}

static struct item make_member(struct arena *to, struct random *random, unsigned number) {
    struct pair *pairs = ARENA_ARRAY(to, struct pair, 5);
    struct value score = {.type = VALUE_N,
                          .bytes = number_from_int(to, (int64_t)random_below(random, 10000000))};
    struct value zero = {.type = VALUE_N, .bytes = number_from_int(to, 0)};
    pairs[0] = (struct pair){BYTES("PK"), value_string(BYTES("BOARD#weekly"))};
    pairs[1] = (struct pair){BYTES("SK"), value_string(arena_printf(to, "player:%012u", number))};
    pairs[2] = (struct pair){BYTES("score"), score};
    pairs[3] = (struct pair){BYTES("subscore"), zero};
    pairs[4] = (struct pair){BYTES("tie"), zero};
    return (struct item){pairs, 5};
}

static struct item make_item(struct arena *to, struct random *random, unsigned number,
                             enum kind kind) {
    if (kind == RANKING)
        return make_member(to, random, number);
    struct pair *pairs = ARENA_ARRAY(to, struct pair, 9);
    static const char filler[] = "a player's words about this score, as players have them........";
    uint32_t count = 0;
    unsigned spread = number * 2654435761u;
    struct bytes pk =
        kind == TOGETHER ? BYTES("BOARD#weekly#2026-31") : arena_printf(to, "PLAYER#%010u", spread);
    struct value score = {.type = VALUE_N,
                          .bytes = number_from_int(to, (int64_t)random_below(random, 10000000))};
    struct value when = {.type = VALUE_N,
                         .bytes = number_from_int(to, 1750000000000 + (int64_t)number)};
    pairs[count++] = (struct pair){BYTES("PK"), value_string(pk)};
    pairs[count++] =
        (struct pair){BYTES("SK"), value_string(arena_printf(to, "SCORE#%010u", spread))};
    pairs[count++] = (struct pair){BYTES("GSI1PK"), value_string(BYTES("BOARD#weekly#2026-31"))};
    pairs[count++] = (struct pair){BYTES("GSI1SK"), score};
    pairs[count++] =
        (struct pair){BYTES("name"), value_string(arena_printf(to, "Player %u", number))};
    pairs[count++] = (struct pair){BYTES("updatedAt"), when};
    pairs[count++] = (struct pair){BYTES("country"), value_string(BYTES("NL"))};
    pairs[count++] = (struct pair){BYTES("motto"), value_string(bytes_str(filler))};
    pairs[count++] = (struct pair){BYTES("verified"), value_bool(true)};
    return (struct item){pairs, value_sort_pairs(pairs, count)};
}

/* Writes a folder as the engine would have left it. */
static void fill(const char *path, unsigned count, enum kind kind) {
    struct local local = {.names = names_new()};
    struct store_settings settings = {.path = path, .sync = STORE_SYNC_NONE};
    struct table_schema schema = make_schema(kind);
    struct random random;
    struct arena scratch;
    struct buf key = {0}, value = {0};
    uint64_t size = 0;
    arena_init(&scratch);
    random_seed(&random, 1);
    check(store_open(&settings, (struct scope){&arena, &failure}, &local.store));
    struct table *table = table_new(1, &schema);
    struct store_batch *batch = store_batch_new(local.store);
    for (unsigned i = 0; i < count; i++) {
        struct item item = make_item(&scratch, &random, i, kind);
        buf_clear(&key);
        buf_clear(&value);
        keys_put_item(&key, table, &schema, &item);
        item_encode(&item, local.names, &value);
        store_put(batch, STORE_ITEMS, buf_bytes(&key), buf_bytes(&value));
        size += item_size(&item);
        arena_reset(&scratch);
        if (i % 10000 != 9999 && i + 1 != count)
            continue;
        check(store_write(local.store, batch, (struct scope){&arena, &failure}));
        store_batch_clear(batch);
    }
    struct table_description about = {.id = BYTES("00000000-0000-0000-0000-000000000000")};
    catalogue_put_names(batch, &local, names_count(local.names));
    catalogue_put_table(batch, table, &schema, &about);
    catalogue_put_counts(batch, table, count, size);
    catalogue_put_next_id(batch, 2);
    check(store_write(local.store, batch, (struct scope){&arena, &failure}));
    printf("  %u items of %llu bytes", count, (unsigned long long)(size / count));
    store_batch_free(batch);
    store_close(local.store);
    table_unref(table);
    names_free(local.names);
    arena_release(&scratch);
    buf_release(&key);
    buf_release(&value);
}

struct taken {
    double clock, cpu;
    double memory; /* bytes of its own that the process holds then */
};

static double own_memory(void) {
    unsigned long long size, resident, shared;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    int got = fscanf(file, "%llu %llu %llu", &size, &resident, &shared);
    fclose(file);
    return got == 3 ? (double)(resident - shared) * (double)sysconf(_SC_PAGESIZE) : 0;
}

static struct taken start_once(const char *path, unsigned threads, struct engine_figures *figures) {
    struct local_settings settings = {.store = {.path = path, .must_exist = true},
                                      .threads = threads};
    struct engine *engine;
    int64_t before = clock_ticks_us();
    clock_t cpu_before = clock();
    check(local_open(&settings, (struct scope){&arena, &failure}, &engine));
    struct taken taken = {(double)(clock_ticks_us() - before) / 1e6,
                          (double)(clock() - cpu_before) / CLOCKS_PER_SEC, own_memory()};
    engine_figures(engine, figures);
    engine_close(engine);
    return taken;
}

/* The best of a few: the store may still be tidying up after the filling. */
static void start(const char *path, unsigned count, unsigned threads) {
    struct engine_figures figures;
    struct taken best = {1e9, 1e9, 0};
    for (unsigned i = 0; i < 3; i++) {
        struct taken taken = start_once(path, threads, &figures);
        best.clock = taken.clock < best.clock ? taken.clock : best.clock;
        best.cpu = taken.cpu < best.cpu ? taken.cpu : best.cpu;
        best.memory = taken.memory;
    }
    printf("; %u thread%s %.3f s (%.3f s of processors)", threads, threads == 1 ? "" : "s",
           best.clock, best.cpu);
    if (figures.index_entries != count)
        printf(" (%llu entries!)", (unsigned long long)figures.index_entries);
    if (threads != 1)
        printf("; index %.1f bytes an item, the process %.1f", (double)figures.index_memory / count,
               best.memory / count);
}

static void clean(const char *path) {
    char *command = arena_str(&arena, arena_printf(&arena, "rm -rf '%s'", path));
    if (system(command) != 0)
        fprintf(stderr, "bench_build: %s is left\n", path);
}

int main(int argc, char **argv) {
    unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000000;
    const char *path = argc > 2 ? argv[2] : "./bench-build.tmp";
    int only = argc > 3 ? atoi(argv[3]) : -1;
    static const char *const names[KINDS] = {"a partition each", "one partition", "a ranking"};
    arena_init(&arena);
    printf("start with one global index\n");
    for (int kind = SPREAD; kind < KINDS; kind++) {
        if (only >= 0 && kind != only)
            continue;
        fill(path, count, (enum kind)kind);
        printf(", %s", names[kind]);
        fflush(stdout);
        start(path, count, 1);
        start(path, count, 2);
        printf("\n");
        clean(path);
    }
    arena_release(&arena);
    return 0;
}
