/* The embedded engine alone, without a network: durable puts, conditional updates and gets.
 *
 *   bench_engine [folder] [seconds]
 *
 * One thread keeps 1, 32 or 256 changes in flight, as a loop with that many connections would. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "table/change.h"
#include "table/engine.h"
#include "table/local/local.h"
#include "value/number.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 100000, FLIGHT_MAX = 256 };

struct flight {
    struct change change;
    struct action action;
    struct arena arena;
    struct flight *next;
    int64_t sent_us;
};

/* What has come back, for the thread that sends. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct flight *first;
} back = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL};

static struct engine *engine;
static struct random dice;

/* Processor time of all threads so far: what tells even when the machine is busy with others. */
static double cpu_us(void) {
    struct timespec spent;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (double)spent.tv_sec * 1e6 + (double)spent.tv_nsec / 1e3;
}

static void done(struct change *change) {
    struct flight *flight = change->user;
    pthread_mutex_lock(&back.lock);
    bool wake = back.first == NULL;
    flight->next = back.first;
    back.first = flight;
    pthread_mutex_unlock(&back.lock);
    if (wake)
        pthread_cond_signal(&back.wake);
}

static struct flight *wait_back(void) {
    pthread_mutex_lock(&back.lock);
    while (back.first == NULL)
        pthread_cond_wait(&back.wake, &back.lock);
    struct flight *all = back.first;
    back.first = NULL;
    pthread_mutex_unlock(&back.lock);
    return all;
}

static struct item key_of(struct arena *arena, uint64_t number) {
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, 2);
    pairs[0] = (struct pair){
        BYTES("pk"), value_string(arena_printf(arena, "player#%llu", (unsigned long long)number))};
    pairs[1] = (struct pair){BYTES("sk"), value_string(BYTES("profile"))};
    return (struct item){pairs, 2};
}

/* About 200 bytes. */
static struct item item_of(struct arena *arena, uint64_t number) {
    struct item item = key_of(arena, number);
    struct value score = {.type = VALUE_N,
                          .bytes = number_from_int(arena, (int64_t)random_below(&dice, 1000000))};
    struct value board = value_string(BYTES("board#1"));
    struct value text = value_string(arena_printf(arena, "%0130llu", (unsigned long long)number));
    item = item_with(arena, &item, BYTES("score"), &score);
    item = item_with(arena, &item, BYTES("board"), &board);
    return item_with(arena, &item, BYTES("text"), &text);
}

static void send(struct flight *flight) {
    static uint64_t sent;
    uint64_t number = sent++ < ITEMS ? sent : random_below(&dice, ITEMS);
    arena_reset(&flight->arena);
    flight->action = (struct action){
        .kind = ACTION_PUT, .table = BYTES("bench"), .item = item_of(&flight->arena, number)};
    flight->change = (struct change){.kind = CHANGE_WRITE,
                                     .arena = &flight->arena,
                                     .done = done,
                                     .user = flight,
                                     .actions = &flight->action,
                                     .action_count = 1};
    flight->sent_us = clock_ticks_us();
    engine_submit(engine, &flight->change);
}

/* Until the time is over, and all items are there. */
static void bench_put(struct flight *flights, unsigned count, double seconds) {
    static uint64_t all;
    int64_t start = clock_ticks_us(), end = start + (int64_t)(seconds * 1e6), waited = 0;
    struct engine_figures before, after;
    engine_figures(engine, &before);
    double cpu = cpu_us();
    uint64_t finished = 0;
    unsigned out = count;
    for (unsigned i = 0; i < count; i++)
        send(&flights[i]);
    while (out > 0) {
        for (struct flight *flight = wait_back(), *next; flight != NULL; flight = next) {
            next = flight->next;
            int64_t now = clock_ticks_us();
            waited += now - flight->sent_us;
            finished++;
            if (flight->change.failure.status != OK) {
                fprintf(stderr, "%.*s\n", BYTES_ARG(flight->change.failure.text));
                exit(1);
            }
            if (now < end || all + finished < ITEMS)
                send(flight);
            else
                out--;
        }
    }
    all += finished;
    double took = (double)(clock_ticks_us() - start) / 1e6;
    cpu = cpu_us() - cpu;
    engine_figures(engine, &after);
    printf(
        "put, %3u in flight   %9.0f/s   %7.0f us each   %6.2f us of processor   %5.1f a commit\n",
        count, (double)finished / took, (double)waited / (double)finished, cpu / (double)finished,
        (double)finished / (double)(after.commits - before.commits));
}

static void bench_get(double seconds) {
    int64_t start = clock_ticks_us(), end = start + (int64_t)(seconds * 1e6);
    struct arena arena;
    struct failure failure;
    uint64_t finished = 0, found = 0;
    arena_init(&arena);
    while (clock_ticks_us() < end)
        for (int i = 0; i < 100; i++, finished++) {
            struct get_reply reply;
            arena_reset(&arena);
            struct get_request request = {.table = BYTES("bench"),
                                          .key = key_of(&arena, random_below(&dice, ITEMS))};
            if (engine_get(engine, &request, (struct scope){&arena, &failure}, &reply) == OK)
                found += reply.found;
        }
    double took = (double)(clock_ticks_us() - start) / 1e6;
    printf("get, one thread     %10.0f/s   %7.2f us each   (%.0f%% found)\n",
           (double)finished / took, took * 1e6 / (double)finished,
           100.0 * (double)found / (double)finished);
    arena_release(&arena);
}

static void create(struct flight *flight) {
    struct key_part parts[] = {{BYTES("pk"), VALUE_S},
                               {BYTES("sk"), VALUE_S},
                               {BYTES("board"), VALUE_S},
                               {BYTES("score"), VALUE_N}};
    struct index_schema index = {
        .name = BYTES("byscore"),
        .keys = {.parts = {parts[2], parts[3]}, .partition_count = 1, .sort_count = 1}};
    struct table_schema schema = {
        .name = BYTES("bench"),
        .attributes = parts,
        .attribute_count = 4,
        .keys = {.parts = {parts[0], parts[1]}, .partition_count = 1, .sort_count = 1},
        .indexes = &index,
        .index_count = 1,
        .billing = BILLING_ON_DEMAND};
    flight->change = (struct change){.kind = CHANGE_CREATE_TABLE,
                                     .arena = &flight->arena,
                                     .done = done,
                                     .user = flight,
                                     .schema = &schema};
    engine_submit(engine, &flight->change);
    wait_back();
    if (flight->change.failure.status != OK)
        fprintf(stderr, "%.*s\n", BYTES_ARG(flight->change.failure.text));
}

int main(int argc, char **argv) {
    struct local_settings settings = {0};
    struct arena arena;
    struct failure failure;
    double seconds = argc > 2 ? atof(argv[2]) : 2;
    settings.store.path = argc > 1 ? argv[1] : NULL;
    settings.store.memory = argc <= 1;
    arena_init(&arena);
    random_seed(&dice, 1);
    if (local_open(&settings, (struct scope){&arena, &failure}, &engine) != OK) {
        fprintf(stderr, "%.*s\n", BYTES_ARG(failure.text));
        return 1;
    }
    struct flight *flights = mem_zalloc(FLIGHT_MAX * sizeof(*flights));
    create(&flights[0]);
    printf("%s, one index\n", argc > 1 ? "durable" : "in memory");
    bench_put(flights, FLIGHT_MAX, seconds);
    bench_put(flights, 32, seconds);
    bench_put(flights, 1, seconds);
    bench_get(seconds);
    engine_close(engine);
    for (int i = 0; i < FLIGHT_MAX; i++)
        arena_release(&flights[i].arena);
    mem_free(flights);
    arena_release(&arena);
    return 0;
}
