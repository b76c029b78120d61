/* What the tests of counted partitions share: three partitions of a table beside an array of what
 * is in them, and ways to count. */
#ifndef GT_TEST_COUNTED_H
#define GT_TEST_COUNTED_H

#include "base/random.h"
#include "table/local/count_index_int.h"
#include "table/local/engine.h"
#include "table/local/model.h"

enum { PARTITIONS = 3, NAMES = 2000 };

struct fixture {
    struct random random;
    struct arena arena; /* of one request */
    struct engine *engine;
    bool present[PARTITIONS][NAMES];
};

static inline void open_with(struct fixture *f, const struct local_settings *settings) {
    *f = (struct fixture){0};
    arena_init(&f->arena);
    f->engine = engine_open(settings);
    struct table_schema schema = game_schema(&f->arena, "game");
    create_table(f->engine, &f->arena, &schema);
}

static inline void setup(struct fixture *f) {
    struct local_settings settings = {.store.memory = true, .threads = 1};
    open_with(f, &settings);
    random_seed(&f->random, test_seed());
}

static inline void teardown(struct fixture *f) {
    engine_close(f->engine);
    arena_release(&f->arena);
}

/* Partitions have names that begin like one another, and keys that escape bytes. */
static inline struct value partition_name(unsigned partition) {
    static const struct bytes names[PARTITIONS] = {
        {(const uint8_t *)"p", 1}, {(const uint8_t *)"p\0", 2}, {(const uint8_t *)"p\0\1", 3}};
    return value_string(names[partition]);
}

static inline struct value sort_name(struct arena *arena, unsigned name) {
    return value_string(arena_printf(arena, "%c%04u", name % 3 == 0 ? 1 : 'k', name));
}

static inline struct item key_of(struct arena *arena, unsigned partition, unsigned name) {
    struct item none = {0};
    struct value pk = partition_name(partition), sk = sort_name(arena, name);
    struct item item = item_with(arena, &none, BYTES("pk"), &pk);
    return item_with(arena, &item, BYTES("sk"), &sk);
}

/* --- writing --- */

static inline void write_all(struct fixture *f, struct action *actions, size_t count) {
    struct change change = write_of(&f->arena, actions, count);
    change.all_or_nothing = true;
    engine_do(f->engine, &change);
    assert_status(&change, OK);
}

static inline void set_present(struct fixture *f, struct action *action, unsigned partition,
                               unsigned name, bool present) {
    f->present[partition][name] = present;
    *action = (struct action){.kind = present ? ACTION_PUT : ACTION_DELETE,
                              .table = BYTES("game"),
                              .item = key_of(&f->arena, partition, name)};
}

static inline void write_some(struct fixture *f, unsigned count) {
    struct action actions[100];
    bool taken[PARTITIONS][NAMES] = {{false}};
    for (unsigned i = 0; i < count;) {
        unsigned partition = (unsigned)random_below(&f->random, PARTITIONS);
        unsigned name = (unsigned)random_below(&f->random, NAMES);
        if (taken[partition][name])
            continue;
        taken[partition][name] = true;
        set_present(f, &actions[i++], partition, name, random_below(&f->random, 3) != 0);
    }
    write_all(f, actions, count);
}

static inline void fill(struct fixture *f, unsigned partition, unsigned names) {
    struct action actions[100];
    for (unsigned name = 0; name < names;) {
        unsigned count = 0;
        for (; count < 100 && name < names; name++)
            set_present(f, &actions[count++], partition, name, true);
        write_all(f, actions, count);
        arena_reset(&f->arena);
    }
}

/* --- counting --- */

static inline uint64_t count_of(struct engine *engine, struct arena *arena,
                                const struct key_condition *condition, bool backward,
                                const struct item *start) {
    struct page_request request = {.table = BYTES("game"),
                                   .keys = condition,
                                   .select = SELECT_COUNT,
                                   .backward = backward,
                                   .start = start};
    struct page_reply reply;
    struct failure failure = {0};
    enum status status = engine_page(engine, &request, (struct scope){arena, &failure}, &reply);
    if (status != OK)
        print_message("%.*s\n", BYTES_ARG(failure.text));
    require(status == OK);
    require(!reply.more);
    require(reply.items == NULL);
    require(reply.count == reply.scanned);
    require(reply.count == 0 || reply.usage.table > 0);
    return reply.count;
}

static inline struct key_condition whole_of(unsigned partition) {
    struct key_condition condition = {.count = 1};
    condition.tests[0] =
        (struct key_test){.name = BYTES("pk"), .op = KEY_EQ, .low = partition_name(partition)};
    return condition;
}

static inline uint64_t count_whole(struct fixture *f, unsigned partition) {
    struct key_condition condition = whole_of(partition);
    return count_of(f->engine, &f->arena, &condition, false, NULL);
}

static inline uint64_t model_whole(const struct fixture *f, unsigned partition) {
    uint64_t count = 0;
    for (unsigned name = 0; name < NAMES; name++)
        count += f->present[partition][name];
    return count;
}

/* Any condition, also one that starts after a key. */
static inline void check_count(struct fixture *f) {
    unsigned partition = (unsigned)random_below(&f->random, PARTITIONS);
    struct key_condition condition = whole_of(partition);
    struct key_test *test = &condition.tests[1];
    bool backward = random_below(&f->random, 2) == 0, starts = random_below(&f->random, 3) == 0;
    unsigned low = (unsigned)random_below(&f->random, NAMES);
    unsigned high = (unsigned)random_below(&f->random, NAMES);
    if (random_below(&f->random, 4) != 0) {
        condition.count = 2;
        *test = (struct key_test){.name = BYTES("sk"),
                                  .op = (enum key_op)random_below(&f->random, KEY_BEGINS + 1),
                                  .low = sort_name(&f->arena, low),
                                  .high = sort_name(&f->arena, high)};
        if (test->op == KEY_BEGINS)
            test->low.bytes.size = 1 + random_below(&f->random, 4);
    }
    unsigned after = (unsigned)random_below(&f->random, NAMES);
    struct value at = sort_name(&f->arena, after);
    if (condition.count == 2 && !model_holds(test->op, &at, &test->low, &test->high))
        starts = false;
    uint64_t want = 0;
    for (unsigned name = 0; name < NAMES; name++) {
        struct value sk = sort_name(&f->arena, name);
        int order = value_compare(&sk, &at);
        want += f->present[partition][name] &&
                (condition.count == 1 || model_holds(test->op, &sk, &test->low, &test->high)) &&
                (!starts || (backward ? order < 0 : order > 0));
    }
    struct item start = key_of(&f->arena, partition, after);
    assert_int_equal(count_of(f->engine, &f->arena, &condition, backward, starts ? &start : NULL),
                     want);
}

static inline struct engine_figures figures_of(const struct fixture *f) {
    struct engine_figures figures;
    engine_figures(f->engine, &figures);
    return figures;
}

static inline struct table *table_of(const struct fixture *f) {
    return local_table(local_of(f->engine), BYTES("game"));
}

/* As if the memory had been needed for something else. */
static inline void send_away(struct fixture *f) {
    struct local *local = local_of(f->engine);
    pthread_rwlock_wrlock(&local->state_lock);
    count_index_forget_table(local, table_of(f));
    pthread_rwlock_unlock(&local->state_lock);
}

static inline bool has_tree(const struct fixture *f, unsigned partition) {
    struct local *local = local_of(f->engine);
    struct buf prefix = {0};
    struct value name = partition_name(partition);
    keys_put_partition(&prefix, table_of(f), &name);
    struct count_index_target what = {.table = table_of(f), .prefix = buf_bytes(&prefix)};
    struct count_index_id id = count_index_id_of(&what);
    pthread_mutex_lock(&local->count_index->lock);
    const struct count_index *count_index =
        count_index_lookup(local->count_index, &id, what.prefix);
    bool has = count_index != NULL && count_index->whole;
    pthread_mutex_unlock(&local->count_index->lock);
    buf_release(&prefix);
    return has;
}

/* Readers who ask on while writes go on. */
enum { READERS = 2, RACE_ROUNDS = 300 };

struct race {
    struct fixture *f;
    atomic_bool stop;
    atomic_uint answers;
};

#endif
