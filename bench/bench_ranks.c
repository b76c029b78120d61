/* Ranks in the embedded engine alone, without a network: what a rank, a score, a count and a top
 * ten cost a reader.
 *
 *   bench_ranks [members] [seconds] [only]
 *
 * The store is in memory; every item is read once before, so that what fits the cache is hot. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "table/change.h"
#include "table/engine.h"
#include "table/local/local.h"
#include "table/ranking.h"
#include "value/number.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 500 };

static struct engine *engine;
static struct random dice;
static uint64_t members;
static const char *only; /* part of the name of what is measured; NULL: all */

static double cpu_us(void) {
    struct timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (double)spent.tv_sec * 1e6 + (double)spent.tv_nsec / 1e3;
}

/* --- the table --- */

static struct table_schema schema_of(struct arena *arena) {
    struct key_part *parts = ARENA_ARRAY(arena, struct key_part, 5);
    parts[0] = (struct key_part){BYTES("PK"), VALUE_S};
    parts[1] = (struct key_part){BYTES("SK"), VALUE_S};
    parts[2] = (struct key_part){BYTES("score"), VALUE_N};
    parts[3] = (struct key_part){BYTES("subscore"), VALUE_N};
    parts[4] = (struct key_part){BYTES("tie"), VALUE_N};
    struct index_schema *index = ARENA_NEW(arena, struct index_schema);
    *index = (struct index_schema){.name = BYTES("ranks"),
                                   .keys = {.parts = {parts[0], parts[2], parts[3], parts[4]},
                                            .partition_count = 1,
                                            .sort_count = 3},
                                   .projected = PROJECTED_KEYS};
    return (struct table_schema){
        .name = BYTES("gametable"),
        .attributes = parts,
        .attribute_count = 5,
        .keys = {.parts = {parts[0], parts[1]}, .partition_count = 1, .sort_count = 1},
        .indexes = index,
        .index_count = 1,
        .billing = BILLING_ON_DEMAND};
}

static struct value number_of(struct arena *arena, int64_t number) {
    return (struct value){.type = VALUE_N, .bytes = number_from_int(arena, number)};
}

static struct item key_of(struct arena *arena, uint64_t member) {
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, 5);
    pairs[0] = (struct pair){BYTES("PK"), value_string(BYTES("BOARD#arcade"))};
    pairs[1] = (struct pair){BYTES("SK"), value_string(arena_printf(arena, "member:%09llu",
                                                                    (unsigned long long)member))};
    return (struct item){pairs, 2};
}

static struct item item_of(struct arena *arena, uint64_t member) {
    struct item item = key_of(arena, member);
    struct pair *pairs = (struct pair *)(uintptr_t)item.pairs;
    int64_t score = (int64_t)random_below(&dice, 1000000000);
    pairs[2] = (struct pair){BYTES("score"), number_of(arena, score)};
    pairs[3] = (struct pair){BYTES("subscore"), number_of(arena, 0)};
    pairs[4] = (struct pair){BYTES("tie"), number_of(arena, 0)};
    return (struct item){pairs, 5};
}

/* --- writing --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;

static void done(struct change *change) {
    pthread_mutex_lock(&lock);
    *(bool *)change->user = true;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
}

static void submit(struct change *change) {
    bool is_done = false;
    change->done = done;
    change->user = &is_done;
    engine_submit(engine, change);
    pthread_mutex_lock(&lock);
    while (!is_done)
        pthread_cond_wait(&wake, &lock);
    pthread_mutex_unlock(&lock);
    if (change->failure.status != OK) {
        fprintf(stderr, "%.*s\n", BYTES_ARG(change->failure.text));
        exit(1);
    }
}

static void fill(struct arena *arena) {
    struct table_schema schema = schema_of(arena);
    struct change create = {.kind = CHANGE_CREATE_TABLE, .arena = arena, .schema = &schema};
    submit(&create);
    for (uint64_t member = 0; member < members;) {
        struct action actions[BATCH];
        size_t count = 0;
        for (; count < BATCH && member < members; member++)
            actions[count++] = (struct action){
                .kind = ACTION_PUT, .table = BYTES("gametable"), .item = item_of(arena, member)};
        struct change change = {
            .kind = CHANGE_WRITE, .arena = arena, .actions = actions, .action_count = count};
        submit(&change);
        arena_reset(arena);
    }
}

/* --- reading --- */

static void check(enum status status, const struct failure *failure) {
    if (status == OK)
        return;
    fprintf(stderr, "%.*s\n", BYTES_ARG(failure->text));
    exit(1);
}

static void read_item(struct arena *arena) {
    struct get_request request = {.table = BYTES("gametable"),
                                  .key = key_of(arena, random_below(&dice, members))};
    struct get_reply reply;
    struct failure failure;
    check(engine_get(engine, &request, (struct scope){arena, &failure}, &reply), &failure);
}

static void read_rank(struct arena *arena) {
    struct item key = key_of(arena, random_below(&dice, members));
    struct rank_request request = {
        .table = BYTES("gametable"), .index = BYTES("ranks"), .keys = &key, .count = 1};
    struct rank_reply rank_reply;
    struct failure failure;
    check(engine_rank_lookup(engine, &request, (struct scope){arena, &failure}, &rank_reply),
          &failure);
    if (!rank_reply.found || rank_reply.before + rank_reply.after + 1 != members)
        abort();
}

static struct page_request page_of(struct key_condition *condition) {
    *condition = (struct key_condition){.count = 1};
    condition->tests[0] = (struct key_test){
        .name = BYTES("PK"), .op = KEY_EQ, .low = value_string(BYTES("BOARD#arcade"))};
    return (struct page_request){
        .table = BYTES("gametable"), .index = BYTES("ranks"), .keys = condition};
}

static struct item bound_of(struct arena *arena, int64_t score) {
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, 2);
    pairs[0] = (struct pair){BYTES("PK"), value_string(BYTES("BOARD#arcade"))};
    pairs[1] = (struct pair){BYTES("score"), number_of(arena, score)};
    return (struct item){pairs, 2};
}

static void read_count(struct arena *arena) {
    struct key_condition condition;
    struct page_request request = page_of(&condition);
    struct page_reply reply;
    struct failure failure;
    int64_t low = (int64_t)random_below(&dice, 500000000);
    request.select = SELECT_COUNT;
    request.low = (struct bound){bound_of(arena, low), false};
    request.high = (struct bound){bound_of(arena, low + 400000000), true};
    check(engine_page(engine, &request, (struct scope){arena, &failure}, &reply), &failure);
}

/* The same over the table's own keys. */
static void read_own_count(struct arena *arena) {
    struct key_condition condition;
    struct page_request request = page_of(&condition);
    struct page_reply reply;
    struct failure failure;
    uint64_t member = random_below(&dice, members);
    request.index = (struct bytes){0};
    request.select = SELECT_COUNT;
    condition.count = 2;
    condition.tests[1] = (struct key_test){
        .name = BYTES("SK"), .op = KEY_GT, .low = key_of(arena, member).pairs[1].value};
    check(engine_page(engine, &request, (struct scope){arena, &failure}, &reply), &failure);
    if (reply.count != members - 1 - member)
        abort();
}

static void read_top(struct arena *arena) {
    struct key_condition condition;
    struct page_request request = page_of(&condition);
    struct page_reply reply;
    struct failure failure;
    request.limit = 10;
    request.backward = true;
    request.whole = true;
    check(engine_page(engine, &request, (struct scope){arena, &failure}, &reply), &failure);
    if (reply.count != 10)
        abort();
}

static void read_middle(struct arena *arena) {
    struct key_condition condition;
    struct page_request request = page_of(&condition);
    struct page_reply reply;
    struct failure failure;
    request.limit = 10;
    request.backward = true;
    request.whole = true;
    request.skip = random_below(&dice, members - 10);
    check(engine_page(engine, &request, (struct scope){arena, &failure}, &reply), &failure);
    if (reply.count != 10)
        abort();
}

static void measure(const char *what, void (*read)(struct arena *), double seconds) {
    if (only != NULL && strstr(what, only) == NULL)
        return;
    struct arena arena;
    uint64_t count = 0;
    arena_init(&arena);
    double start = cpu_us(), spent;
    do {
        for (unsigned i = 0; i < 100; i++) {
            read(&arena);
            arena_reset(&arena);
        }
        count += 100;
        spent = cpu_us() - start;
    } while (spent < seconds * 1e6);
    printf("%-28s %8.0f ns\n", what, spent * 1e3 / (double)count);
    arena_release(&arena);
}

int main(int count, char **args) {
    struct local_settings settings = {.store.memory = true, .threads = 1};
    struct arena arena;
    struct failure failure = {0};
    members = count > 1 ? strtoull(args[1], NULL, 10) : 1000000;
    double seconds = count > 2 ? atof(args[2]) : 1;
    only = count > 3 ? args[3] : NULL;
    arena_init(&arena);
    random_seed(&dice, 1);
    check(local_open(&settings, (struct scope){&arena, &failure}, &engine), &failure);
    fill(&arena);
    printf("%llu members\n", (unsigned long long)members);
    measure("an item by its key", read_item, seconds);
    measure("the rank of a member", read_rank, seconds);
    measure("a count between two scores", read_count, seconds);
    double start = cpu_us();
    read_own_count(&arena);
    printf("%-28s %8.0f ms\n", "the first count of own keys", (cpu_us() - start) / 1e3);
    measure("a count of own keys", read_own_count, seconds);
    measure("the top ten", read_top, seconds);
    measure("ten from the middle", read_middle, seconds);
    struct engine_figures figures;
    engine_figures(engine, &figures);
    printf("%-28s %8.1f bytes\n", "index memory a member",
           (double)figures.index_memory / (double)members);
    printf("%-28s %8.1f bytes\n", "memory of own keys, a member",
           (double)figures.count_index_memory / (double)members);
    engine_close(engine);
    arena_release(&arena);
}
