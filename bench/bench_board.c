/* The embedded engine under the load of a large board: scores that are worked out from what was
 * there, on a table as the game's own (an index that ranks, two that nothing is in, an expiry).
 *
 *   bench_board [-m members] [-s seconds] [-v none|keys|both] [-t think_us] [-k] FOLDER
 * [in-flight...]
 *
 * A folder that is empty is filled first, by changes of 1,000 scores each; then the engine is
 * opened again, which is timed (-k: it is kept, with a warm cache); then writes are kept in flight,
 * each durable, as loops with so many requests would (50 and 800 unless told). Before each one the
 * submitter spends the thinking time, as a client and a socket would. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "table/change.h"
#include "table/engine.h"
#include "table/local/local.h"
#include "value/number.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SUBMITTERS = 1, LOAD_ACTIONS = 1000, LOAD_FLIGHT = 4, TABLE_ATTRIBUTES = 9 };

static struct engine *engine;
static uint64_t members = 1000000;
static int64_t think_ns;
static bool keep;
static const struct bytes table_name = {(const uint8_t *)"gametable", 9};

/* --- changes that come back --- */

struct flight {
    struct change change;
    struct action *actions;
    int64_t *scores;
    struct arena arena;
    struct submitter *from;
    struct flight *next;
    int64_t sent_us;
};

struct submitter {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct flight *back; /* under the lock */
    struct random dice;
    struct flight *flights;
    unsigned count;
    double seconds;
    uint64_t finished;
    int64_t waited_us, slowest_us;
};

static void done(struct change *change) {
    struct flight *flight = change->user;
    struct submitter *from = flight->from;
    pthread_mutex_lock(&from->lock);
    bool wake = from->back == NULL;
    flight->next = from->back;
    from->back = flight;
    pthread_mutex_unlock(&from->lock);
    if (wake)
        pthread_cond_signal(&from->wake);
}

static struct flight *wait_back(struct submitter *from) {
    pthread_mutex_lock(&from->lock);
    while (from->back == NULL)
        pthread_cond_wait(&from->wake, &from->lock);
    struct flight *all = from->back;
    from->back = NULL;
    pthread_mutex_unlock(&from->lock);
    return all;
}

static void submitter_init(struct submitter *from, unsigned flights, unsigned actions) {
    *from = (struct submitter){.count = flights};
    pthread_mutex_init(&from->lock, NULL);
    pthread_cond_init(&from->wake, NULL);
    from->flights = mem_zalloc(flights * sizeof(*from->flights));
    for (unsigned i = 0; i < flights; i++) {
        from->flights[i].from = from;
        from->flights[i].actions = mem_zalloc(actions * sizeof(struct action));
        from->flights[i].scores = mem_zalloc(actions * sizeof(int64_t));
    }
}

static void submitter_release(struct submitter *from) {
    for (unsigned i = 0; i < from->count; i++) {
        arena_release(&from->flights[i].arena);
        mem_free(from->flights[i].actions);
        mem_free(from->flights[i].scores);
    }
    mem_free(from->flights);
}

/* --- scores --- */

static struct value number_of(struct arena *arena, int64_t number) {
    return (struct value){.type = VALUE_N, .bytes = number_from_int(arena, number)};
}

static struct item key_of(struct arena *arena, uint64_t number) {
    struct pair *pairs = arena_alloc(arena, 2 * sizeof(*pairs));
    pairs[0] = (struct pair){BYTES("PK"), value_string(BYTES("BOARD#main"))};
    char *name = arena_alloc(arena, 17);
    memcpy(name, "player:", 7);
    for (int i = 16; i >= 7; i--, number /= 10)
        name[i] = (char)('0' + number % 10);
    pairs[1] = (struct pair){BYTES("SK"), value_string(bytes_of(name, 17))};
    return (struct item){pairs, 2};
}

/* An entry with that score. */
static enum status set_score(struct action *action, const struct item *old, struct arena *arena,
                             struct item *new) {
    (void)old;
    struct pair *pairs = arena_alloc(arena, 5 * sizeof(*pairs));
    struct value zero = number_of(arena, 0);
    pairs[0] = action->item.pairs[0];
    pairs[1] = action->item.pairs[1];
    pairs[2] = (struct pair){BYTES("score"), number_of(arena, *(const int64_t *)action->user)};
    pairs[3] = (struct pair){BYTES("subscore"), zero};
    pairs[4] = (struct pair){BYTES("tie"), zero};
    *new = (struct item){pairs, 5};
    return OK;
}

/* The next `count` members from `first` on, or one at random. */
static void send(struct flight *flight, uint64_t first, unsigned count) {
    struct random *dice = &flight->from->dice;
    arena_reset(&flight->arena);
    for (unsigned i = 0; i < count; i++) {
        flight->scores[i] = (int64_t)random_below(dice, 1000000000);
        flight->actions[i] = (struct action){.kind = ACTION_COMPUTE,
                                             .table = table_name,
                                             .item = key_of(&flight->arena, first + i),
                                             .compute = set_score,
                                             .user = &flight->scores[i]};
    }
    flight->change = (struct change){.kind = CHANGE_WRITE,
                                     .arena = &flight->arena,
                                     .done = done,
                                     .user = flight,
                                     .actions = flight->actions,
                                     .action_count = count};
    flight->sent_us = clock_ticks_us();
    engine_submit(engine, &flight->change);
}

static void think(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    int64_t until = now.tv_sec * 1000000000 + now.tv_nsec + think_ns;
    while (now.tv_sec * 1000000000 + now.tv_nsec < until)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
}

static void check(const struct change *change) {
    if (change->failure.status == OK)
        return;
    fprintf(stderr, "%.*s\n", BYTES_ARG(change->failure.text));
    exit(1);
}

/* --- what it cost --- */

static double cpu_us(void) {
    struct timespec spent;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (double)spent.tv_sec * 1e6 + (double)spent.tv_nsec / 1e3;
}

/* Of this process: all, and what is its own (not files that are mapped). */
static void resident(double *all, double *own) {
    long pages = 0, resident_pages = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld %ld", &pages, &resident_pages, &shared) != 3)
        resident_pages = shared = 0;
    if (file != NULL)
        fclose(file);
    double page = (double)sysconf(_SC_PAGESIZE);
    *all = (double)resident_pages * page;
    *own = (double)(resident_pages - shared) * page;
}

static void print_memory(const char *when) {
    struct engine_figures figures;
    double all, own, each = (double)members;
    engine_figures(engine, &figures);
    resident(&all, &own);
    printf("memory %-8s trees %5.1f   store %5.1f   cache %5.1f   process %6.1f   with mapped "
           "files %6.1f   bytes a member\n",
           when, (double)figures.index_memory / each, (double)figures.store_memory / each,
           (double)figures.cache_memory / each, own / each, all / each);
}

/* --- filling --- */

static void load(void) {
    struct submitter from;
    uint64_t sent = 0, finished = 0;
    submitter_init(&from, LOAD_FLIGHT, LOAD_ACTIONS);
    random_seed(&from.dice, 1);
    int64_t start = clock_ticks_us(), told = start;
    double cpu = cpu_us();
    struct flight *free_ones = NULL;
    for (unsigned i = 0; i < LOAD_FLIGHT; i++) {
        from.flights[i].next = free_ones;
        free_ones = &from.flights[i];
    }
    while (finished < members) {
        for (struct flight *flight = free_ones, *next; flight != NULL; flight = next) {
            next = flight->next;
            if (sent >= members)
                continue;
            unsigned count =
                members - sent < LOAD_ACTIONS ? (unsigned)(members - sent) : LOAD_ACTIONS;
            send(flight, sent, count);
            sent += count;
        }
        free_ones = wait_back(&from);
        for (struct flight *flight = free_ones; flight != NULL; flight = flight->next) {
            check(&flight->change);
            finished += flight->change.action_count;
        }
        if (clock_ticks_us() - told > 5000000) {
            told = clock_ticks_us();
            printf("  %llu in %.1f s\n", (unsigned long long)finished,
                   (double)(told - start) / 1e6);
            fflush(stdout);
        }
    }
    double took = (double)(clock_ticks_us() - start) / 1e6;
    printf("load %llu members   %9.0f/s   %6.2f us of processor each\n",
           (unsigned long long)members, (double)members / took, (cpu_us() - cpu) / (double)members);
    submitter_release(&from);
}

/* --- single writes --- */

static void *keep_writing(void *argument) {
    struct submitter *from = argument;
    int64_t end = clock_ticks_us() + (int64_t)(from->seconds * 1e6);
    unsigned out = from->count;
    for (unsigned i = 0; i < from->count; i++)
        send(&from->flights[i], random_below(&from->dice, members), 1);
    while (out > 0) {
        for (struct flight *flight = wait_back(from), *next; flight != NULL; flight = next) {
            next = flight->next;
            int64_t now = clock_ticks_us(), took = now - flight->sent_us;
            check(&flight->change);
            from->waited_us += took;
            if (took > from->slowest_us)
                from->slowest_us = took;
            from->finished++;
            if (think_ns != 0)
                think();
            if (now < end)
                send(flight, random_below(&from->dice, members), 1);
            else
                out--;
        }
    }
    return NULL;
}

static void write_on(unsigned flights, double seconds) {
    struct submitter from[SUBMITTERS];
    struct engine_figures before, after;
    uint64_t finished = 0;
    int64_t waited = 0, slowest = 0;
    engine_figures(engine, &before);
    double cpu = cpu_us();
    int64_t start = clock_ticks_us();
    for (int i = 0; i < SUBMITTERS; i++) {
        submitter_init(&from[i], flights / SUBMITTERS, 1);
        random_seed(&from[i].dice, (uint64_t)start + (uint64_t)i);
        from[i].seconds = seconds;
        pthread_create(&from[i].thread, NULL, keep_writing, &from[i]);
    }
    for (int i = 0; i < SUBMITTERS; i++) {
        pthread_join(from[i].thread, NULL);
        finished += from[i].finished;
        waited += from[i].waited_us;
        if (from[i].slowest_us > slowest)
            slowest = from[i].slowest_us;
        submitter_release(&from[i]);
    }
    double took = (double)(clock_ticks_us() - start) / 1e6;
    cpu = cpu_us() - cpu;
    engine_figures(engine, &after);
    printf("write, %3u in flight %9.0f/s %7.0f us each, at most %6lld   %6.2f us of processor   "
           "%6.1f a commit\n",
           flights, (double)finished / took, (double)waited / (double)finished, (long long)slowest,
           cpu / (double)finished, (double)finished / (double)(after.commits - before.commits));
}

/* --- the table --- */

static enum stream_view view_named(const char *name) {
    if (strcmp(name, "keys") == 0)
        return STREAM_KEYS;
    return strcmp(name, "both") == 0 ? STREAM_BOTH : STREAM_OFF;
}

static struct index_schema index_of(struct bytes name, const struct key_part *parts,
                                    unsigned sort_count, enum projected projected) {
    struct index_schema index = {.name = name, .projected = projected};
    for (unsigned i = 0; i <= sort_count; i++)
        index.keys.parts[i] = parts[i];
    index.keys.partition_count = 1;
    index.keys.sort_count = (uint8_t)sort_count;
    return index;
}

static void create(const char *stream) {
    struct key_part parts[TABLE_ATTRIBUTES] = {
        {BYTES("PK"), VALUE_S},     {BYTES("score"), VALUE_N},  {BYTES("subscore"), VALUE_N},
        {BYTES("tie"), VALUE_N},    {BYTES("SK"), VALUE_S},     {BYTES("GSI1PK"), VALUE_S},
        {BYTES("GSI1SK"), VALUE_S}, {BYTES("GSI2PK"), VALUE_S}, {BYTES("GSI2SK"), VALUE_S}};
    struct index_schema indexes[] = {index_of(BYTES("ranks"), parts, 3, PROJECTED_KEYS),
                                     index_of(BYTES("GSI1"), parts + 5, 1, PROJECTED_ALL),
                                     index_of(BYTES("GSI2"), parts + 7, 1, PROJECTED_ALL)};
    struct table_schema schema = {
        .name = table_name,
        .attributes = parts,
        .attribute_count = TABLE_ATTRIBUTES,
        .keys = {.parts = {parts[0], parts[4]}, .partition_count = 1, .sort_count = 1},
        .indexes = indexes,
        .index_count = 3,
        .billing = BILLING_ON_DEMAND,
        .stream = view_named(stream),
        .expiry = BYTES("ttl")};
    struct submitter from;
    submitter_init(&from, 1, 1);
    from.flights[0].change = (struct change){.kind = CHANGE_CREATE_TABLE,
                                             .arena = &from.flights[0].arena,
                                             .done = done,
                                             .user = &from.flights[0],
                                             .schema = &schema};
    engine_submit(engine, &from.flights[0].change);
    wait_back(&from);
    check(&from.flights[0].change);
    submitter_release(&from);
}

static void open_engine(const char *folder) {
    struct local_settings settings = {.store.path = folder};
    struct arena arena;
    struct failure failure;
    arena_init(&arena);
    int64_t start = clock_ticks_us();
    double cpu = cpu_us();
    if (local_open(&settings, (struct scope){&arena, &failure}, &engine) != OK) {
        fprintf(stderr, "%.*s\n", BYTES_ARG(failure.text));
        exit(1);
    }
    arena_release(&arena);
    double took = (double)(clock_ticks_us() - start) / 1e6;
    printf("open %.3f s, %.3f s of processor\n", took, (cpu_us() - cpu) / 1e6);
}

static void fill(const char *folder, const char *stream) {
    create(stream);
    load();
    print_memory("loaded");
    if (keep)
        return;
    int64_t start = clock_ticks_us();
    engine_close(engine);
    printf("close %.3f s\n", (double)(clock_ticks_us() - start) / 1e6);
    malloc_trim(0);
    open_engine(folder);
}

int main(int argc, char **argv) {
    double seconds = 3;
    const char *stream = "none";
    struct engine_figures figures;
    for (int option; (option = getopt(argc, argv, "m:s:v:t:k")) != -1;) {
        if (option == 'm')
            members = strtoull(optarg, NULL, 10);
        else if (option == 's')
            seconds = atof(optarg);
        else if (option == 'v')
            stream = optarg;
        else if (option == 't')
            think_ns = (int64_t)(atof(optarg) * 1000);
        else if (option == 'k')
            keep = true;
        else
            return 2;
    }
    if (optind == argc)
        return 2;
    const char *folder = argv[optind++];
    open_engine(folder);
    engine_figures(engine, &figures);
    if (figures.tables == 0)
        fill(folder, stream);
    print_memory("opened");
    for (int i = optind; i < argc; i++)
        write_on((unsigned)atoi(argv[i]), seconds);
    if (optind == argc && seconds > 0) {
        write_on(50, seconds);
        write_on(800, seconds);
    }
    print_memory("written");
    engine_close(engine);
    return 0;
}
