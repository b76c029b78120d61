/* Loads: what is known not to be there is never there. Each write adds one to its item, so an item
 * that was overlooked has too little. */
#include "engine.h"

#include "base/random.h"
#include "table/local/load_filter.h"

enum { PARTITIONS = 6, KEYS = 900, LARGE = 10100, TOGETHER = 3, ROUNDS = 120 };

struct world {
    struct engine *engine;
    struct arena arena; /* of all, and */
    struct arena step;  /* of a round */
    int64_t scores[PARTITIONS][KEYS];
};

static void world_open(struct world *world, const char *folder) {
    struct local_settings settings = {.store = {.path = folder, .memory = folder == NULL},
                                      .threads = 1};
    *world = (struct world){.engine = engine_open(&settings)};
    struct table_schema schema = game_schema(&world->arena, "game");
    create_table(world->engine, &world->arena, &schema);
}

static void world_close(struct world *world) {
    check_engine(world->engine);
    engine_close(world->engine);
    arena_release(&world->arena);
    arena_release(&world->step);
}

static struct item key_of(struct arena *arena, unsigned partition, unsigned number) {
    struct bytes pk = arena_printf(arena, "pk=S:p%u%c", partition, 0);
    struct bytes sk = arena_printf(arena, "sk=S:%u%c", number, 0);
    return item_of(arena, (const char *)pk.data, (const char *)sk.data, NULL);
}

static int64_t score_of(const struct item *item) {
    int64_t score = 0;
    const struct value *value = item_get(item, BYTES("score"));
    require(value != NULL && number_to_int(value->bytes, &score));
    return score;
}

/* Adds one. */
static enum status add_one(struct action *action, const struct item *old, struct arena *arena,
                           struct item *new) {
    int64_t score = old->count != 0 ? score_of(old) : 0;
    struct value number = {.type = VALUE_N, .bytes = number_from_int(arena, score + 1)};
    struct value board = value_string(BYTES("b"));
    struct item next = item_with(arena, &action->item, BYTES("score"), &number);
    *new = item_with(arena, &next, BYTES("board"), &board);
    return OK;
}

static enum status take_away(struct action *action, const struct item *old, struct arena *arena,
                             struct item *new) {
    (void)action, (void)old, (void)arena;
    *new = (struct item){0};
    return OK;
}

/* Writes keys from `first` on, each `apart` from the one before. */
static struct change change_of(struct arena *arena, unsigned partition, unsigned first,
                               unsigned count, unsigned apart, action_compute *compute) {
    struct action *actions = ARENA_ARRAY(arena, struct action, count);
    for (unsigned i = 0; i < count; i++)
        actions[i] = (struct action){.kind = ACTION_COMPUTE,
                                     .table = BYTES("game"),
                                     .item = key_of(arena, partition, first + i * apart),
                                     .compute = compute};
    return write_of(arena, actions, count);
}

static void write_keys(struct world *world, unsigned partition, unsigned first, unsigned count) {
    struct change change = change_of(&world->step, partition, first, count, 1, add_one);
    engine_do(world->engine, &change);
    assert_status(&change, OK);
    arena_reset(&world->step);
}

static int64_t score_at(struct world *world, unsigned partition, unsigned number) {
    struct item key = key_of(&world->step, partition, number), item;
    bool there = get_item(world->engine, &world->step, "game", key, &item);
    return there ? score_of(&item) : 0;
}

static size_t noted(struct world *world, unsigned partition) {
    struct local *local = local_of(world->engine);
    struct item key = key_of(&world->step, partition, 0);
    struct buf stored = {0};
    keys_put_partition(&stored, local_table(local, BYTES("game")), &key.pairs[0].value);
    size_t count = load_filter_count(local->writer->load_filter, buf_bytes(&stored));
    buf_release(&stored);
    return count;
}

/* --- the tests --- */

/* Keys that a small change wrote before the load began, and while it runs. */
static void test_load(void **state) {
    (void)state;
    struct world world;
    world_open(&world, NULL);
    write_keys(&world, 1, 0, 50);
    assert_int_equal(noted(&world, 1), 0);
    write_keys(&world, 1, 0, 300);
    assert_true(noted(&world, 1) > 280 && noted(&world, 1) <= 300);
    write_keys(&world, 1, 300, 10);
    write_keys(&world, 1, 200, 200);
    for (unsigned i = 0; i < 400; i++)
        assert_int_equal(score_at(&world, 1, i), 1 + (i < 50) + (i >= 200 && i < 310));
    assert_true(noted(&world, 1) > 380);
    world_close(&world);
}

/* A partition that was large before is not read as a whole. */
static void test_large(void **state) {
    (void)state;
    struct world world;
    world_open(&world, NULL);
    for (unsigned i = 0; i < LARGE; i += 100)
        write_keys(&world, 1, i, 100);
    write_keys(&world, 1, 0, 200);
    assert_int_equal(noted(&world, 1), 0);
    assert_int_equal(score_at(&world, 1, 0), 2);
    assert_int_equal(score_at(&world, 1, 199), 2);
    assert_int_equal(score_at(&world, 1, 200), 1);
    world_close(&world);
}

/* More than one part of the filter. */
static void test_growth(void **state) {
    (void)state;
    enum { MANY = 300000, STEP = 50000 };
    struct world world;
    world_open(&world, NULL);
    for (unsigned i = 0; i < MANY; i += STEP)
        write_keys(&world, 1, i, STEP);
    assert_true(noted(&world, 1) > MANY / 100 * 95);
    write_keys(&world, 1, 0, 1000);
    write_keys(&world, 1, MANY - 1000, 1000);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(score_at(&world, 1, i), 2);
        assert_int_equal(score_at(&world, 1, MANY - 1 - i), 2);
        arena_reset(&world.step);
    }
    world_close(&world);
}

/* A change of a round, and what it does to the model. */
static struct change random_change(struct world *world, struct random *random,
                                   struct arena *arena) {
    unsigned partition = (unsigned)random_below(random, PARTITIONS);
    unsigned kind = (unsigned)random_below(random, 4);
    unsigned count = kind < 2 ? 150 + (unsigned)random_below(random, 300) : 40;
    unsigned apart = 1 + (unsigned)random_below(random, KEYS / count);
    unsigned first = (unsigned)random_below(random, KEYS - (count - 1) * apart);
    for (unsigned i = 0; i < count; i++) {
        int64_t *score = &world->scores[partition][first + i * apart];
        *score = kind == 3 ? 0 : *score + 1;
    }
    return change_of(arena, partition, first, count, apart, kind == 3 ? take_away : add_one);
}

static void run_round(struct world *world, struct random *random) {
    struct change changes[TOGETHER];
    struct arena arenas[TOGETHER] = {0};
    sem_t done;
    sem_init(&done, 0, 0);
    for (unsigned i = 0; i < TOGETHER; i++) {
        changes[i] = random_change(world, random, &arenas[i]);
        changes[i].done = engine_done;
        changes[i].user = &done;
        engine_submit(world->engine, &changes[i]);
    }
    for (unsigned i = 0; i < TOGETHER; i++)
        while (sem_wait(&done) != 0)
            ;
    for (unsigned i = 0; i < TOGETHER; i++) {
        assert_status(&changes[i], OK);
        arena_release(&arenas[i]);
    }
    sem_destroy(&done);
}

/* More partitions than are known at a time, several changes under way, on a disk. */
static void test_model(void **state) {
    (void)state;
    struct world world;
    struct random random;
    char *folder = folder_make();
    random_seed(&random, 7);
    world_open(&world, folder);
    for (unsigned i = 0; i < ROUNDS; i++)
        run_round(&world, &random);
    for (unsigned i = 0; i < PARTITIONS; i++)
        for (unsigned k = 0; k < KEYS; k++)
            assert_int_equal(score_at(&world, i, k), world.scores[i][k]);
    world_close(&world);
    folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_load), cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_growth), cmocka_unit_test(test_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
