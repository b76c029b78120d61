#include "sim_load.h"

#include "sim_clock.h"

#include "table/change.h"
#include "value/number.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 6, GROUP_SIZE = 3, FILLER_MAX = 300, MARGIN_MS = 120 * 1000, ENDS_MAX_S = 7200 };

static const char filler[FILLER_MAX];

/* --- marks for the model --- */

struct sim_mark {
    char text[512];
    size_t size;
};

static void mark_add(struct sim_mark *mark, const char *word) {
    mark->size += (size_t)snprintf(mark->text + mark->size, sizeof(mark->text) - mark->size, "%s%s",
                                   mark->size != 0 ? "\t" : "", word);
}

static void mark_end(struct sim_load *load, uint64_t id, bool done) {
    char text[64];
    int size =
        snprintf(text, sizeof(text), "%s\t%llu", done ? "done" : "failed", (unsigned long long)id);
    ack_model_mark(load->model, text, (size_t)size);
}

/* --- units --- */

static unsigned unit_size(unsigned unit) {
    return unit >= SIM_SINGLES && unit < SIM_SINGLES + SIM_GROUPS ? GROUP_SIZE : 1;
}

static bool unit_ends(unsigned unit) {
    return unit >= SIM_SINGLES + SIM_GROUPS;
}

static uint64_t mark_begin(struct sim_load *load, unsigned unit, int64_t version) {
    struct sim_mark mark = {0};
    char word[64];
    uint64_t id = ++load->next_id;
    mark_add(&mark, "begin");
    snprintf(word, sizeof(word), "%llu", (unsigned long long)id);
    mark_add(&mark, word);
    snprintf(word, sizeof(word), "%lld", (long long)version);
    mark_add(&mark, word);
    for (unsigned i = 0; i < unit_size(unit); i++) {
        snprintf(word, sizeof(word), "crash/u%u/%u", unit, i);
        mark_add(&mark, word);
    }
    ack_model_mark(load->model, mark.text, mark.size);
    return id;
}

/* --- one write --- */

struct sim_write {
    struct change change;
    struct action actions[GROUP_SIZE];
    struct arena arena;
    unsigned unit;
    int64_t version; /* 0: deletes */
    int64_t ends_ms;
    uint64_t id;
};

static struct value number_value(struct arena *arena, int64_t number) {
    return (struct value){.type = VALUE_N, .bytes = number_from_int(arena, number)};
}

static struct item write_item(struct sim_write *write, unsigned part) {
    struct arena *arena = &write->arena;
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, 6);
    char partition[16];
    uint32_t count = 0;
    int size = snprintf(partition, sizeof(partition), "u%u", write->unit);
    struct bytes name = arena_copy(arena, bytes_of(partition, (size_t)size));
    pairs[count++] = (struct pair){BYTES("pk"), {.type = VALUE_S, .bytes = name}};
    pairs[count++] = (struct pair){BYTES("sk"), number_value(arena, part)};
    if (write->version == 0)
        return (struct item){pairs, value_sort_pairs(pairs, count)};
    struct bytes fill = bytes_of(filler, (size_t)(write->version % FILLER_MAX));
    pairs[count++] = (struct pair){BYTES("version"), number_value(arena, write->version)};
    pairs[count++] = (struct pair){BYTES("filler"), {.type = VALUE_B, .bytes = fill}};
    pairs[count++] = (struct pair){BYTES("board"), {.type = VALUE_S, .bytes = BYTES("all")}};
    if (write->ends_ms != 0)
        pairs[count++] = (struct pair){BYTES("until"), number_value(arena, write->ends_ms / 1000)};
    return (struct item){pairs, value_sort_pairs(pairs, count)};
}

static void post(struct change *change) {
    sem_post(change->user);
}

static int64_t now_ms(const struct sim_load *load) {
    return sim_clock_true_ms() + load->set_ms;
}

static void write_begin(struct sim_load *load, struct sim_write *write, sem_t *done) {
    bool deletes = random_below(load->random, 4) == 0;
    arena_init(&write->arena);
    write->version = deletes ? 0 : ++load->next_version;
    if (unit_ends(write->unit) && !deletes)
        write->ends_ms = now_ms(load) + MARGIN_MS +
                         1000 * (int64_t)(60 + random_below(load->random, ENDS_MAX_S));
    write->id = mark_begin(load, write->unit, write->version);
    unsigned count = unit_size(write->unit);
    for (unsigned i = 0; i < count; i++)
        write->actions[i] = (struct action){.kind = deletes ? ACTION_DELETE : ACTION_PUT,
                                            .table = BYTES("crash"),
                                            .item = write_item(write, i)};
    write->change = (struct change){.kind = CHANGE_WRITE,
                                    .arena = &write->arena,
                                    .actions = write->actions,
                                    .action_count = count,
                                    .all_or_nothing = count > 1,
                                    .done = post,
                                    .user = done};
    engine_submit(load->engine, &write->change);
}

/* After a write that failed the item has the end that it had, or the new one. */
static void note_end(struct sim_load *load, const struct sim_write *write, bool done) {
    struct sim_end *end = &load->ends[write->unit - SIM_SINGLES - SIM_GROUPS];
    if (done)
        *end = (struct sim_end){0};
    if (write->ends_ms == 0)
        return;
    if (end->first_ms == 0 || write->ends_ms < end->first_ms)
        end->first_ms = write->ends_ms;
    if (write->ends_ms > end->last_ms)
        end->last_ms = write->ends_ms;
}

static bool disk_refused(enum status status) {
    return status == IO_FAILED || status == BUSY || status == STOPPING;
}

static void failed_otherwise(const char *what, const struct failure *failure) {
    fprintf(stderr, "    %s: %s: %.*s\n", what, status_name(failure->status),
            BYTES_ARG(failure->text));
    exit(1);
}

static bool write_end(struct sim_load *load, struct sim_write *write) {
    const struct failure *failure = &write->change.failure;
    bool done = failure->status == OK;
    if (!done && !disk_refused(failure->status))
        failed_otherwise("a write", failure);
    mark_end(load, write->id, done);
    if (unit_ends(write->unit))
        note_end(load, write, done);
    arena_release(&write->arena);
    return done;
}

bool sim_load_write(struct sim_load *load) {
    struct sim_write writes[AT_ONCE] = {0};
    unsigned count = 1 + (unsigned)random_below(load->random, AT_ONCE), done = 0;
    unsigned first = (unsigned)random_below(load->random, SIM_UNITS);
    sem_t all;
    sem_init(&all, 0, 0);
    for (unsigned i = 0; i < count; i++) {
        writes[i].unit = (first + i * 3) % SIM_UNITS; /* 19 units: no one twice */
        write_begin(load, &writes[i], &all);
    }
    for (unsigned i = 0; i < count; i++)
        while (sem_wait(&all) != 0)
            ;
    for (unsigned i = 0; i < count; i++)
        done += write_end(load, &writes[i]);
    sem_destroy(&all);
    return done == count;
}

/* --- what ends --- */

/* Items that have ended, or are about to, may be deleted by the engine at any time. */
static void may_have_ended(struct sim_load *load) {
    for (unsigned i = 0; i < SIM_ENDING; i++)
        if (load->ends[i].first_ms != 0 && load->ends[i].first_ms <= now_ms(load) + MARGIN_MS / 2)
            mark_end(load, mark_begin(load, SIM_SINGLES + SIM_GROUPS + i, 0), false);
}

static void have_ended(struct sim_load *load, int64_t asked_ms) {
    for (unsigned i = 0; i < SIM_ENDING; i++)
        if (load->ends[i].last_ms != 0 && load->ends[i].last_ms + 1000 < asked_ms) {
            mark_end(load, mark_begin(load, SIM_SINGLES + SIM_GROUPS + i, 0), true);
            load->ends[i] = (struct sim_end){0};
        }
}

bool sim_load_expire(struct sim_load *load) {
    struct arena arena;
    arena_init(&arena);
    int64_t asked_ms = now_ms(load);
    struct change change = {.kind = CHANGE_EXPIRE, .arena = &arena};
    enum status status = engine_submit_wait(load->engine, &change);
    if (status != OK && !disk_refused(status))
        failed_otherwise("expiry", &change.failure);
    if (status == OK)
        have_ended(load, asked_ms);
    arena_release(&arena);
    return status == OK;
}

/* The engine's own thread may remove what has ended after the items were read and before their
 * stream is: then the two do not agree. What is wrong is so however often it is read. */
bool sim_load_check(struct sim_load *load) {
    bool right = false;
    for (unsigned tries = 0; tries < 3 && !right; tries++) {
        may_have_ended(load);
        right = ack_model_check_engine(load->model, load->engine);
    }
    return right;
}

/* --- the table --- */

static enum status table_create(struct sim_load *load, struct arena *arena) {
    struct key_part parts[] = {{BYTES("pk"), VALUE_S},
                               {BYTES("sk"), VALUE_N},
                               {BYTES("board"), VALUE_S},
                               {BYTES("version"), VALUE_N}};
    struct index_schema index = {
        .name = BYTES("byversion"),
        .keys = {.parts = {parts[2], parts[3]}, .partition_count = 1, .sort_count = 1},
        .projected = PROJECTED_ALL};
    struct table_schema schema = {
        .name = BYTES("crash"),
        .attributes = parts,
        .attribute_count = 4,
        .keys = {.parts = {parts[0], parts[1]}, .partition_count = 1, .sort_count = 1},
        .indexes = &index,
        .index_count = 1,
        .billing = BILLING_ON_DEMAND,
        .stream = STREAM_BOTH,
        .expiry = BYTES("until")};
    struct change change = {.kind = CHANGE_CREATE_TABLE, .arena = arena, .schema = &schema};
    enum status status = engine_submit_wait(load->engine, &change);
    /* An earlier try that was refused may have happened: it is seen when the engine has recovered.
     */
    if (status != OK && status != TABLE_IN_USE && !disk_refused(status))
        failed_otherwise("the table", &change.failure);
    return status;
}

bool sim_load_table(struct sim_load *load) {
    struct arena arena;
    struct failure failure = {0};
    struct table_description description;
    arena_init(&arena);
    struct scope in = {&arena, &failure};
    enum status status = engine_describe(load->engine, BYTES("crash"), in, &description);
    if (status == NO_TABLE && load->has_table)
        failed_otherwise("the table was acknowledged", &failure);
    if (status == NO_TABLE)
        status = table_create(load, &arena);
    load->has_table = load->has_table || status == OK;
    arena_release(&arena);
    return status == OK;
}
