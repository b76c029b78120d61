/* Counted partitions: against an array of what is there, while trees are made, sent away and made
 * again; with threads; within their memory; over a restart, a crash and a failed write. */
#include "base/random.h"
#include "table/local/counted_int.h"
#include "table/local/engine.h"
#include "table/local/model.h"

enum { PARTITIONS = 3, NAMES = 2000 };

struct fixture {
    struct random random;
    struct arena arena; /* of one request */
    struct engine *engine;
    bool present[PARTITIONS][NAMES];
};

static void open_with(struct fixture *f, const struct local_settings *settings) {
    *f = (struct fixture){0};
    arena_init(&f->arena);
    f->engine = engine_open(settings);
    struct table_schema schema = game_schema(&f->arena, "game");
    create_table(f->engine, &f->arena, &schema);
}

static void setup(struct fixture *f) {
    struct local_settings settings = {.store.memory = true, .threads = 1};
    open_with(f, &settings);
    random_seed(&f->random, test_seed());
}

static void teardown(struct fixture *f) {
    engine_close(f->engine);
    arena_release(&f->arena);
}

/* Partitions have names that begin like one another, and keys that escape bytes. */
static struct value partition_name(unsigned partition) {
    static const struct bytes names[PARTITIONS] = {
        {(const uint8_t *)"p", 1}, {(const uint8_t *)"p\0", 2}, {(const uint8_t *)"p\0\1", 3}};
    return value_string(names[partition]);
}

static struct value sort_name(struct arena *arena, unsigned name) {
    return value_string(arena_printf(arena, "%c%04u", name % 3 == 0 ? 1 : 'k', name));
}

static struct item key_of(struct arena *arena, unsigned partition, unsigned name) {
    struct item none = {0};
    struct value pk = partition_name(partition), sk = sort_name(arena, name);
    struct item item = item_with(arena, &none, BYTES("pk"), &pk);
    return item_with(arena, &item, BYTES("sk"), &sk);
}

/* --- writing --- */

static void write_all(struct fixture *f, struct action *actions, size_t count) {
    struct change change = write_of(&f->arena, actions, count);
    change.all_or_nothing = true;
    engine_do(f->engine, &change);
    assert_status(&change, OK);
}

static void set_present(struct fixture *f, struct action *action, unsigned partition, unsigned name,
                        bool present) {
    f->present[partition][name] = present;
    *action = (struct action){.kind = present ? ACTION_PUT : ACTION_DELETE,
                              .table = BYTES("game"),
                              .item = key_of(&f->arena, partition, name)};
}

static void write_some(struct fixture *f, unsigned count) {
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

static void fill(struct fixture *f, unsigned partition, unsigned names) {
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

static uint64_t count_of(struct engine *engine, struct arena *arena,
                         const struct key_condition *condition, bool backward,
                         const struct item *start) {
    struct page_request request = {.table = BYTES("game"),
                                   .keys = condition,
                                   .select = SELECT_COUNT,
                                   .backward = backward,
                                   .start = start};
    struct page_reply reply;
    struct failure failure = {0};
    enum status status = engine_page(engine, &request, arena, &failure, &reply);
    if (status != OK)
        print_message("%.*s\n", BYTES_ARG(failure.text));
    require(status == OK);
    require(!reply.more);
    require(reply.items == NULL);
    require(reply.count == reply.scanned);
    require(reply.count == 0 || reply.usage.table > 0);
    return reply.count;
}

static struct key_condition whole_of(unsigned partition) {
    struct key_condition condition = {.count = 1};
    condition.tests[0] =
        (struct key_test){.name = BYTES("pk"), .op = KEY_EQ, .low = partition_name(partition)};
    return condition;
}

static uint64_t count_whole(struct fixture *f, unsigned partition) {
    struct key_condition condition = whole_of(partition);
    return count_of(f->engine, &f->arena, &condition, false, NULL);
}

static uint64_t model_whole(const struct fixture *f, unsigned partition) {
    uint64_t count = 0;
    for (unsigned name = 0; name < NAMES; name++)
        count += f->present[partition][name];
    return count;
}

/* Any condition, also one that starts after a key. */
static void check_count(struct fixture *f) {
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

/* What an index of groups tells of, by the way of a place; see test_groups. */
static struct engine_figures figures_of(const struct fixture *f) {
    struct engine_figures figures;
    engine_figures(f->engine, &figures);
    return figures;
}

static struct table *table_of(const struct fixture *f) {
    return local_table(local_of(f->engine), BYTES("game"));
}

/* As if the memory had been needed for something else. */
static void send_away(struct fixture *f) {
    struct local *local = local_of(f->engine);
    pthread_rwlock_wrlock(&local->moment);
    counted_forget_table(local, table_of(f));
    pthread_rwlock_unlock(&local->moment);
}

static void test_model(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    uint64_t most = 0;
    for (unsigned round = 0; round < 1500; round++) {
        write_some(&f, 1 + (unsigned)random_below(&f.random, round < 60 ? 100 : 10));
        check_count(&f);
        if (random_below(&f.random, 100) == 0)
            send_away(&f);
        if (figures_of(&f).counted > most)
            most = figures_of(&f).counted;
        arena_reset(&f.arena);
    }
    assert_int_equal(most, PARTITIONS);
    check_engine(f.engine);
    teardown(&f);
}

/* Few are counted one by one: no tree is made for them, nor for a few of many. */
static void test_few(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    fill(&f, 0, COUNTED_FEW);
    assert_int_equal(count_whole(&f, 0), COUNTED_FEW);
    assert_int_equal(figures_of(&f).counted, 0);
    fill(&f, 1, NAMES);
    struct key_condition condition = whole_of(1);
    condition.count = 2;
    condition.tests[1] = (struct key_test){.name = BYTES("sk"),
                                           .op = KEY_LT,
                                           .low = value_string(BYTES("\1"
                                                                     "0030"))};
    assert_int_equal(count_of(f.engine, &f.arena, &condition, false, NULL), 10);
    assert_int_equal(figures_of(&f).counted, 0);
    assert_int_equal(count_whole(&f, 1), NAMES);
    assert_int_equal(figures_of(&f).counted, 1);
    assert_true(figures_of(&f).counted_memory > NAMES * 8);
    teardown(&f);
}

/* Large items, few of them: a megabyte is the end of reading, not of the count. */
static void test_large_items(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct value large = {.type = VALUE_S};
    large.bytes = bytes_of(memset(arena_alloc(&f.arena, 300000), 'x', 300000), 300000);
    for (unsigned name = 0; name < 12; name++) {
        struct item item = key_of(&f.arena, 0, name);
        put_item(f.engine, &f.arena, "game", item_with(&f.arena, &item, BYTES("x"), &large));
    }
    for (unsigned round = 0; round < 2; round++)
        assert_int_equal(count_whole(&f, 0), 12);
    struct key_condition condition = whole_of(0);
    struct page_request request = {
        .table = BYTES("game"), .keys = &condition, .select = SELECT_COUNT, .strict_paging = true};
    struct page_reply reply;
    struct failure failure = {0};
    assert_int_equal(engine_page(f.engine, &request, &f.arena, &failure, &reply), OK);
    assert_int_equal(reply.count, 4); /* as the service pages it */
    assert_true(reply.more);
    teardown(&f);
}

/* Who may not wait is told so, and nothing is made for it. */
static void test_prompt(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    fill(&f, 0, NAMES);
    struct key_condition condition = whole_of(0);
    struct page_request request = {
        .table = BYTES("game"), .keys = &condition, .select = SELECT_COUNT, .prompt = true};
    struct page_reply reply;
    struct failure failure = {0};
    assert_int_equal(engine_page(f.engine, &request, &f.arena, &failure, &reply), OK);
    assert_true(reply.later);
    assert_int_equal(reply.count, 0);
    assert_int_equal(figures_of(&f).counted, 0);
    assert_int_equal(count_whole(&f, 0), NAMES);
    assert_int_equal(engine_page(f.engine, &request, &f.arena, &failure, &reply), OK);
    assert_false(reply.later);
    assert_int_equal(reply.count, NAMES);
    teardown(&f);
}

/* --- memory --- */

static bool has_tree(const struct fixture *f, unsigned partition) {
    struct local *local = local_of(f->engine);
    struct buf prefix = {0};
    struct value name = partition_name(partition);
    keys_put_partition(&prefix, table_of(f), &name);
    struct counted_what what = {.table = table_of(f), .prefix = buf_bytes(&prefix)};
    struct counted_id id = counted_id_of(&what);
    pthread_mutex_lock(&local->counted->lock);
    const struct counted *counted = counted_lookup(local->counted, &id, what.prefix);
    bool has = counted != NULL && counted->whole;
    pthread_mutex_unlock(&local->counted->lock);
    buf_release(&prefix);
    return has;
}

static void test_memory(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct local *local = local_of(f.engine);
    for (unsigned partition = 0; partition < PARTITIONS; partition++)
        fill(&f, partition, NAMES);
    assert_int_equal(count_whole(&f, 0), NAMES);
    size_t one = figures_of(&f).counted_memory, indexes = figures_of(&f).index_memory;
    local->settings.index_memory = indexes + 2 * one + one / 2; /* room for two */
    assert_int_equal(count_whole(&f, 1), NAMES);
    assert_int_equal(count_whole(&f, 0), NAMES); /* so that 1 is the oldest */
    assert_int_equal(count_whole(&f, 2), NAMES);
    assert_true(has_tree(&f, 0) && !has_tree(&f, 1) && has_tree(&f, 2));
    assert_int_equal(figures_of(&f).counted, 2);
    assert_true(figures_of(&f).counted_memory <= 2 * one + one / 2);
    assert_int_equal(count_whole(&f, 1), NAMES);
    assert_true(!has_tree(&f, 0) && has_tree(&f, 1) && has_tree(&f, 2));
    /* None fits: everything is walked, and nothing is tried again at once. */
    local->settings.index_memory = indexes + one / 2;
    for (unsigned round = 0; round < 3; round++)
        assert_int_equal(count_whole(&f, 0), NAMES);
    assert_int_equal(figures_of(&f).counted, 0);
    assert_int_equal(figures_of(&f).counted_memory, 0);
    /* An index needs the room: the next commit sends trees away, and is not refused. */
    local->settings.index_memory = indexes + 2 * one;
    local->counted->again_us = 0;
    memset(local->counted->refused, 0, sizeof(local->counted->refused));
    assert_int_equal(count_whole(&f, 0), NAMES);
    assert_true(has_tree(&f, 0));
    local->settings.index_memory = indexes + one;
    for (unsigned i = 0; i < 20; i++)
        put_item(f.engine, &f.arena, "game",
                 item_of(&f.arena, "pk=S:q", arena_printf(&f.arena, "sk=S:%u%c", i, 0).data,
                         "board=S:b", "score=N:1", NULL));
    assert_false(has_tree(&f, 0));
    assert_int_equal(count_whole(&f, 0), NAMES);
    check_engine(f.engine);
    teardown(&f);
}

static void test_forgotten(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    fill(&f, 0, NAMES);
    assert_int_equal(count_whole(&f, 0), NAMES);
    struct change drop = {.kind = CHANGE_DELETE_TABLE, .arena = &f.arena, .table = BYTES("game")};
    engine_do(f.engine, &drop);
    assert_status(&drop, OK);
    assert_int_equal(figures_of(&f).counted, 0);
    struct table_schema schema = game_schema(&f.arena, "game");
    create_table(f.engine, &f.arena, &schema);
    assert_int_equal(count_whole(&f, 0), 0);
    teardown(&f);
}

/* --- threads --- */

/* Each change takes one item away and puts another: the number in each half of the partition goes
 * up and down, that of the whole never. Trees are sent away meanwhile, so that they are built while
 * writes go on. */
enum { READERS = 2, RACE_ITEMS = 1500, RACE_ROUNDS = 300 };

struct race {
    struct fixture *f;
    atomic_bool stop;
    atomic_uint answers;
};

static void *count_on(void *context) {
    struct race *race = context;
    struct arena arena;
    struct key_condition condition = whole_of(0);
    arena_init(&arena);
    while (!atomic_load(&race->stop)) {
        require(count_of(race->f->engine, &arena, &condition, false, NULL) == RACE_ITEMS);
        atomic_fetch_add(&race->answers, 1);
        arena_reset(&arena);
    }
    arena_release(&arena);
    return NULL;
}

static void swap_one(struct fixture *f) {
    struct action actions[2];
    unsigned out, in;
    do
        out = (unsigned)random_below(&f->random, NAMES);
    while (!f->present[0][out]);
    do
        in = (unsigned)random_below(&f->random, NAMES);
    while (f->present[0][in]);
    set_present(f, &actions[0], 0, out, false);
    set_present(f, &actions[1], 0, in, true);
    write_all(f, actions, 2);
    arena_reset(&f->arena);
}

static void test_threads(void **state) {
    (void)state;
    struct fixture f;
    struct race race = {.f = &f};
    pthread_t threads[READERS];
    setup(&f);
    fill(&f, 0, RACE_ITEMS);
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_on, &race), 0);
    for (unsigned i = 0; i < RACE_ROUNDS || atomic_load(&race.answers) < RACE_ROUNDS; i++) {
        swap_one(&f);
        if (i % 10 == 0)
            send_away(&f);
        if (i % 50 == 0)
            check_count(&f);
    }
    atomic_store(&race.stop, true);
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < 20; i++)
        check_count(&f);
    assert_int_equal(count_whole(&f, 0), model_whole(&f, 0));
    teardown(&f);
}

/* A build that takes as long as it likes: whatever is written between its view and its end is in
 * the tree. */
static void test_slow_build(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct local *local = local_of(f.engine);
    fill(&f, 0, RACE_ITEMS);
    for (unsigned round = 0; round < 20; round++) {
        struct buf prefix = {0};
        struct value name = partition_name(0);
        keys_put_partition(&prefix, table_of(&f), &name);
        struct counted_what what = {.table = table_of(&f), .prefix = buf_bytes(&prefix)};
        pthread_rwlock_rdlock(&local->moment);
        pthread_mutex_lock(&local->counted->lock);
        struct counted *counted = counted_add(local->counted, &what);
        pthread_mutex_unlock(&local->counted->lock);
        struct view *view = view_hold(local);
        pthread_rwlock_unlock(&local->moment);
        for (unsigned i = 0; i < 20; i++) {
            write_some(&f, 1 + (unsigned)random_below(&f.random, 30));
            assert_null(counted_find(local, &what));
        }
        assert_true(counted_build_items(local, counted, view));
        assert_non_null(counted_find(local, &what));
        assert_int_equal(count_whole(&f, 0), model_whole(&f, 0));
        for (unsigned i = 0; i < 20; i++)
            check_count(&f);
        send_away(&f);
        assert_null(counted_find(local, &what));
        buf_release(&prefix);
        arena_reset(&f.arena);
    }
    teardown(&f);
}

/* A build whose table goes meanwhile comes to nothing. */
static void test_build_of_nothing(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct local *local = local_of(f.engine);
    fill(&f, 0, RACE_ITEMS);
    struct buf prefix = {0};
    struct value name = partition_name(0);
    struct table *table = table_of(&f);
    keys_put_partition(&prefix, table, &name);
    struct counted_what what = {.table = table, .prefix = buf_bytes(&prefix)};
    table_ref(table);
    pthread_mutex_lock(&local->counted->lock);
    struct counted *counted = counted_add(local->counted, &what);
    pthread_mutex_unlock(&local->counted->lock);
    pthread_rwlock_rdlock(&local->moment);
    struct view *view = view_hold(local);
    pthread_rwlock_unlock(&local->moment);
    struct change drop = {.kind = CHANGE_DELETE_TABLE, .arena = &f.arena, .table = BYTES("game")};
    engine_do(f.engine, &drop);
    assert_status(&drop, OK);
    assert_false(counted_build_items(local, counted, view));
    assert_true(counted->gone);
    counted_delete(local->counted, counted);
    assert_int_equal(figures_of(&f).counted_memory, 0);
    assert_false(counted_make(local, &what)); /* nor is it tried */
    table_unref(table);
    buf_release(&prefix);
    teardown(&f);
}

/* --- groups --- */

/* `byscore` of many items in one partition: a place tells how many other scores there are on
 * either side. */
enum { GROUP_ITEMS = 700, SCORES = 150 };

struct groups {
    struct fixture f;
    int scores[GROUP_ITEMS]; /* -1: absent */
};

static struct item scored(struct arena *arena, unsigned name, int score) {
    struct item item = key_of(arena, 0, name);
    struct value board = value_string(BYTES("b")),
                 number = {.type = VALUE_N, .bytes = number_from_int(arena, score)};
    item = item_with(arena, &item, BYTES("board"), &board);
    return item_with(arena, &item, BYTES("score"), &number);
}

static void write_score(struct groups *g, unsigned name, int score) {
    struct action action = {.kind = score < 0 ? ACTION_DELETE : ACTION_PUT, .table = BYTES("game")};
    action.item = score < 0 ? key_of(&g->f.arena, 0, name) : scored(&g->f.arena, name, score);
    g->scores[name] = score;
    write_all(&g->f, &action, 1);
}

static void check_groups(struct groups *g, unsigned name) {
    struct item key = key_of(&g->f.arena, 0, name);
    struct place_request request = {.table = BYTES("game"),
                                    .index = BYTES("byscore"),
                                    .keys = &key,
                                    .count = 1,
                                    .group_parts = 1,
                                    .groups = true};
    struct place place;
    struct failure failure = {0};
    assert_int_equal(engine_places(g->f.engine, &request, &g->f.arena, &failure, &place), OK);
    bool there[SCORES] = {false};
    uint64_t before = 0, after = 0;
    for (unsigned i = 0; i < GROUP_ITEMS; i++)
        if (g->scores[i] >= 0)
            there[g->scores[i]] = true;
    for (int score = 0; score < SCORES; score++) {
        before += there[score] && score < g->scores[name];
        after += there[score] && score > g->scores[name];
    }
    assert_int_equal(place.found, g->scores[name] >= 0);
    assert_int_equal(place.groups_before, place.found ? before : 0);
    assert_int_equal(place.groups_after, place.found ? after : 0);
}

static void setup_groups(struct groups *g) {
    setup(&g->f);
    for (unsigned i = 0; i < GROUP_ITEMS; i++)
        write_score(g, i, (int)random_below(&g->f.random, SCORES));
}

static void test_groups(void **state) {
    (void)state;
    struct groups g;
    setup_groups(&g);
    for (unsigned round = 0; round < 1500; round++) {
        unsigned name = (unsigned)random_below(&g.f.random, GROUP_ITEMS);
        bool gone = random_below(&g.f.random, 10) == 0;
        write_score(&g, name, gone ? -1 : (int)random_below(&g.f.random, SCORES));
        check_groups(&g, (unsigned)random_below(&g.f.random, GROUP_ITEMS));
        if (random_below(&g.f.random, 200) == 0)
            send_away(&g.f);
        arena_reset(&g.f.arena);
    }
    assert_int_equal(figures_of(&g.f).counted, 1);
    struct change drop = {.kind = CHANGE_UPDATE_TABLE, .arena = &g.f.arena, .table = BYTES("game")};
    struct alteration alteration = {.drop_index = BYTES("byscore")};
    drop.alteration = &alteration;
    engine_do(g.f.engine, &drop);
    assert_status(&drop, OK);
    assert_int_equal(figures_of(&g.f).counted, 0);
    teardown(&g.f);
}

/* No memory for the tree: the groups are counted all the same. */
static void test_groups_without_memory(void **state) {
    (void)state;
    struct groups g;
    setup_groups(&g);
    local_of(g.f.engine)->settings.index_memory = 1;
    for (unsigned i = 0; i < 20; i++)
        check_groups(&g, (unsigned)random_below(&g.f.random, GROUP_ITEMS));
    assert_int_equal(figures_of(&g.f).counted, 0);
    teardown(&g.f);
}

/* One player, whose odd score is a group of its own, goes from place to place between the even
 * ones, which are all there: so its score tells how many groups stand before it. */
static void *place_on(void *context) {
    struct race *race = context;
    struct arena arena;
    arena_init(&arena);
    while (!atomic_load(&race->stop)) {
        struct item key = key_of(&arena, 0, 0);
        struct place_request request = {.table = BYTES("game"),
                                        .index = BYTES("byscore"),
                                        .keys = &key,
                                        .count = 1,
                                        .group_parts = 1,
                                        .groups = true};
        struct place place;
        struct failure failure = {0};
        int64_t score;
        require(engine_places(race->f->engine, &request, &arena, &failure, &place) == OK);
        require(place.found);
        require(number_to_int(item_get(&place.entry, BYTES("score"))->bytes, &score));
        require(place.groups_before == (uint64_t)(score + 1) / 2);
        require(place.groups_after == SCORES / 2 - place.groups_before);
        atomic_fetch_add(&race->answers, 1);
        arena_reset(&arena);
    }
    arena_release(&arena);
    return NULL;
}

/* Groups are built, in several pieces, while others come and go. */
enum { MANY = 3000 };

static void *ask_groups(void *context) {
    struct fixture *f = context;
    struct arena arena;
    arena_init(&arena);
    struct item key = key_of(&arena, 0, 0);
    struct place_request request = {.table = BYTES("game"),
                                    .index = BYTES("byscore"),
                                    .keys = &key,
                                    .count = 1,
                                    .group_parts = 1,
                                    .groups = true};
    struct place place;
    struct failure failure = {0};
    require(engine_places(f->engine, &request, &arena, &failure, &place) == OK);
    arena_release(&arena);
    return NULL;
}

static uint64_t groups_told(struct fixture *f, const struct item *key, bool after) {
    struct place_request request = {.table = BYTES("game"),
                                    .index = BYTES("byscore"),
                                    .keys = key,
                                    .count = 1,
                                    .group_parts = 1,
                                    .groups = true};
    struct place place;
    struct failure failure = {0};
    assert_int_equal(engine_places(f->engine, &request, &f->arena, &failure, &place), OK);
    return after ? place.groups_after : place.groups_before;
}

static void test_group_builds(void **state) {
    (void)state;
    struct fixture f;
    bool there[MANY] = {false};
    uint64_t count = 0;
    setup(&f);
    for (unsigned i = 0; i < MANY; i++) {
        there[i] = i == 0 || random_below(&f.random, 4) != 0;
        if (there[i])
            put_item(f.engine, &f.arena, "game", scored(&f.arena, i, (int)i * 2));
        count += there[i];
    }
    struct item first = key_of(&f.arena, 0, 0), probe = key_of(&f.arena, 1, 1);
    for (unsigned round = 0; round < 15; round++) {
        pthread_t thread;
        send_away(&f);
        assert_int_equal(pthread_create(&thread, NULL, ask_groups, &f), 0);
        for (unsigned i = 0; i < 60; i++) {
            struct action action = {.table = BYTES("game")};
            unsigned at = 1 + (unsigned)random_below(&f.random, MANY - 1);
            there[at] = !there[at];
            count += there[at] ? 1 : (uint64_t)-1;
            action.kind = there[at] ? ACTION_PUT : ACTION_DELETE;
            action.item = there[at] ? scored(&f.arena, at, (int)at * 2) : key_of(&f.arena, 0, at);
            write_all(&f, &action, 1);
        }
        pthread_join(thread, NULL);
        assert_int_equal(figures_of(&f).counted, 1);
        assert_int_equal(groups_told(&f, &first, true), count - 1);
        /* where a change could have been missed: anywhere */
        for (unsigned i = 0; i < 20; i++) {
            unsigned at = (unsigned)random_below(&f.random, MANY);
            uint64_t before = 0;
            struct item item = scored(&f.arena, 1, (int)at * 2 + 1);
            struct value pk = partition_name(1);
            put_item(f.engine, &f.arena, "game", item_with(&f.arena, &item, BYTES("pk"), &pk));
            for (unsigned j = 0; j <= at; j++)
                before += there[j];
            assert_int_equal(groups_told(&f, &probe, false), before);
        }
        struct action gone = {.kind = ACTION_DELETE, .table = BYTES("game"), .item = probe};
        write_all(&f, &gone, 1);
    }
    teardown(&f);
}

static void test_group_threads(void **state) {
    (void)state;
    struct groups g;
    struct race race = {.f = &g.f};
    pthread_t threads[READERS];
    setup(&g.f);
    for (unsigned i = 1; i < GROUP_ITEMS; i++)
        write_score(&g, i, (int)(i % (SCORES / 2)) * 2); /* the even ones */
    write_score(&g, 0, 1);
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, place_on, &race), 0);
    for (unsigned i = 0; i < RACE_ROUNDS || atomic_load(&race.answers) < RACE_ROUNDS; i++) {
        write_score(&g, 0, (int)random_below(&g.f.random, SCORES / 2 - 1) * 2 + 1);
        if (i % 10 == 0)
            send_away(&g.f);
        arena_reset(&g.f.arena);
    }
    atomic_store(&race.stop, true);
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    teardown(&g.f);
}

/* --- restarts --- */

static void wait_counted(const struct fixture *f, uint64_t want) {
    for (unsigned i = 0; i < 2000 && figures_of(f).counted != want; i++)
        usleep(1000);
    assert_int_equal(figures_of(f).counted, want);
}

/* Until the store knows which partitions are counted. */
static void wait_saved(const struct fixture *f) {
    struct counted_set *set = local_of(f->engine)->counted;
    bool unsaved = true;
    pthread_mutex_lock(&set->lock);
    set->save_every_us = 0;
    pthread_mutex_unlock(&set->lock);
    for (unsigned i = 0; i < 10000 && unsaved; i++) {
        usleep(1000);
        pthread_mutex_lock(&set->lock);
        unsaved = set->unsaved;
        pthread_mutex_unlock(&set->lock);
    }
    assert_false(unsaved);
}

static void reopen(struct fixture *f, const struct local_settings *settings) {
    engine_close(f->engine);
    f->engine = engine_open(settings);
}

static void test_restart(void **state) {
    (void)state;
    struct fixture f;
    char *path = folder_make();
    struct local_settings settings = {.store = {.path = path, .sync = STORE_SYNC_NONE},
                                      .threads = 1};
    open_with(&f, &settings);
    random_seed(&f.random, test_seed());
    fill(&f, 0, NAMES);
    fill(&f, 1, NAMES);
    fill(&f, 2, 10);
    assert_int_equal(count_whole(&f, 0), NAMES);
    assert_int_equal(count_whole(&f, 2), 10);
    reopen(&f, &settings);
    wait_counted(&f, 1);
    assert_true(has_tree(&f, 0));
    for (unsigned i = 0; i < 30; i++) {
        write_some(&f, 10);
        check_count(&f);
    }
    /* What was sent away is not made again, whether or not it was written down before. */
    assert_int_equal(count_whole(&f, 1), model_whole(&f, 1));
    wait_saved(&f);
    send_away(&f);
    reopen(&f, &settings);
    assert_int_equal(local_of(f.engine)->counted->wanted_count, 0);
    assert_int_equal(count_whole(&f, 0), model_whole(&f, 0));
    send_away(&f);
    assert_int_equal(count_whole(&f, 1), model_whole(&f, 1));
    reopen(&f, &settings);
    wait_counted(&f, 1);
    assert_true(has_tree(&f, 1) && !has_tree(&f, 0));
    /* Nor is that of a table that went. */
    struct change drop = {.kind = CHANGE_DELETE_TABLE, .arena = &f.arena, .table = BYTES("game")};
    engine_do(f.engine, &drop);
    assert_status(&drop, OK);
    reopen(&f, &settings);
    assert_int_equal(figures_of(&f).counted, 0);
    assert_int_equal(local_of(f.engine)->counted->wanted_count, 0);
    teardown(&f);
    folder_remove(path);
}

/* A copy of the folder as it is at some moment is what a crash leaves. */
static void test_crash(void **state) {
    (void)state;
    struct fixture f;
    char *path = folder_make(), copy[160], command[512];
    struct local_settings settings = {.store = {.path = path, .sync = STORE_SYNC_NONE},
                                      .threads = 1};
    snprintf(copy, sizeof(copy), "%s.copy", path);
    open_with(&f, &settings);
    random_seed(&f.random, test_seed());
    fill(&f, 0, NAMES);
    assert_int_equal(count_whole(&f, 0), NAMES);
    wait_saved(&f);
    write_some(&f, 50);
    snprintf(command, sizeof(command), "cp -r %s %s", path, copy);
    assert_int_equal(system(command), 0);
    engine_close(f.engine);
    settings.store.path = copy;
    f.engine = engine_open(&settings);
    wait_counted(&f, 1);
    for (unsigned i = 0; i < 30; i++) {
        check_count(&f);
        write_some(&f, 5);
    }
    teardown(&f);
    folder_remove(strdup(copy));
    folder_remove(path);
}

/* A record that makes no sense is taken away. */
static void test_strange_record(void **state) {
    (void)state;
    struct fixture f;
    char *path = folder_make();
    struct local_settings settings = {.store = {.path = path, .sync = STORE_SYNC_NONE},
                                      .threads = 1};
    open_with(&f, &settings);
    engine_close(f.engine);
    struct store *store;
    struct failure failure = {0};
    static const struct bytes keys[] = {BYTES("r"), BYTES("r\0\0\0\1"),
                                        BYTES("r\0\0\0\1hashno end"), BYTES("r\0\0\0\x7fhashp\0")};
    assert_int_equal(store_open(&settings.store, &f.arena, &failure, &store), OK);
    struct store_batch *batch = store_batch_new(store);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        store_put(batch, STORE_META, keys[i], (struct bytes){0});
    assert_int_equal(store_write(store, batch, &f.arena, &failure), OK);
    store_batch_free(batch);
    store_close(store);
    f.engine = engine_open(&settings);
    assert_int_equal(local_of(f.engine)->counted->wanted_count, 4);
    while (local_of(f.engine)->counted->started && figures_of(&f).counted == 0 &&
           pthread_tryjoin_np(local_of(f.engine)->counted->thread, NULL) != 0)
        usleep(1000);
    local_of(f.engine)->counted->started = false;
    reopen(&f, &settings);
    assert_int_equal(local_of(f.engine)->counted->wanted_count, 0);
    assert_int_equal(count_whole(&f, 0), 0);
    teardown(&f);
    folder_remove(path);
}

/* After a write that failed all is made anew, and counts are right. */
static void test_recovery(void **state) {
    (void)state;
    struct fixture f;
    struct store_faults faults = {0};
    char *path = folder_make();
    struct local_settings settings = {
        .store = {.path = path, .sync = STORE_SYNC_COMMIT, .faults = &faults}, .threads = 1};
    open_with(&f, &settings);
    fill(&f, 0, 1000);
    assert_int_equal(count_whole(&f, 0), 1000);
    for (unsigned round = 0; round < 3; round++) {
        __atomic_store_n(&faults.write_in, 1, __ATOMIC_SEQ_CST);
        struct action action = {
            .kind = ACTION_PUT, .table = BYTES("game"), .item = key_of(&f.arena, 0, 1500)};
        struct change change = write_of(&f.arena, &action, 1);
        assert_int_equal(engine_do(f.engine, &change), IO_FAILED);
        assert_int_equal(count_whole(&f, 0), 1000 + round);
        action.item = key_of(&f.arena, 0, 1000 + round);
        for (unsigned i = 0; i < 100; i++) {
            change = write_of(&f.arena, &action, 1);
            if (engine_do(f.engine, &change) == OK)
                break;
            usleep(20 * 1000);
        }
        assert_status(&change, OK);
        assert_int_equal(figures_of(&f).counted, 0);
        assert_int_equal(count_whole(&f, 0), 1001 + round);
        assert_int_equal(figures_of(&f).counted, 1);
    }
    check_engine(f.engine);
    teardown(&f);
    folder_remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_large_items),
        cmocka_unit_test(test_prompt),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_forgotten),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_slow_build),
        cmocka_unit_test(test_build_of_nothing),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_group_builds),
        cmocka_unit_test(test_groups_without_memory),
        cmocka_unit_test(test_group_threads),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_crash),
        cmocka_unit_test(test_strange_record),
        cmocka_unit_test(test_recovery),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
