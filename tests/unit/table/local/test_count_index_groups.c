/* Counted groups of an index's partition: against an array of scores, without memory for them,
 * while they are built, and with threads. */
#include "table/local/count_index_test.h"

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

/* How many groups there are on either side of an item. */
static struct rank_request groups_of(const struct item *key) {
    return (struct rank_request){.table = BYTES("game"),
                                 .index = BYTES("byscore"),
                                 .keys = key,
                                 .count = 1,
                                 .group_parts = 1,
                                 .groups = true};
}

static void write_score(struct groups *g, unsigned name, int score) {
    struct action action = {.kind = score < 0 ? ACTION_DELETE : ACTION_PUT, .table = BYTES("game")};
    action.item = score < 0 ? key_of(&g->f.arena, 0, name) : scored(&g->f.arena, name, score);
    g->scores[name] = score;
    write_all(&g->f, &action, 1);
}

static void check_groups(struct groups *g, unsigned name) {
    struct item key = key_of(&g->f.arena, 0, name);
    struct rank_request request = groups_of(&key);
    struct rank_reply rank_reply;
    struct failure failure = {0};
    assert_int_equal(engine_rank_lookup(g->f.engine, &request,
                                        (struct scope){&g->f.arena, &failure}, &rank_reply),
                     OK);
    bool there[SCORES] = {false};
    uint64_t before = 0, after = 0;
    for (unsigned i = 0; i < GROUP_ITEMS; i++)
        if (g->scores[i] >= 0)
            there[g->scores[i]] = true;
    for (int score = 0; score < SCORES; score++) {
        before += there[score] && score < g->scores[name];
        after += there[score] && score > g->scores[name];
    }
    assert_int_equal(rank_reply.found, g->scores[name] >= 0);
    assert_int_equal(rank_reply.groups_before, rank_reply.found ? before : 0);
    assert_int_equal(rank_reply.groups_after, rank_reply.found ? after : 0);
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
    assert_int_equal(figures_of(&g.f).count_index, 1);
    struct change drop = {.kind = CHANGE_UPDATE_TABLE, .arena = &g.f.arena, .table = BYTES("game")};
    struct alteration alteration = {.drop_index = BYTES("byscore")};
    drop.alteration = &alteration;
    engine_do(g.f.engine, &drop);
    assert_status(&drop, OK);
    assert_int_equal(figures_of(&g.f).count_index, 0);
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
    assert_int_equal(figures_of(&g.f).count_index, 0);
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
        struct rank_request request = groups_of(&key);
        struct rank_reply rank_reply;
        struct failure failure = {0};
        int64_t score;
        require(engine_rank_lookup(race->f->engine, &request, (struct scope){&arena, &failure},
                                   &rank_reply) == OK);
        require(rank_reply.found);
        require(number_to_int(item_get(&rank_reply.entry, BYTES("score"))->bytes, &score));
        require(rank_reply.groups_before == (uint64_t)(score + 1) / 2);
        require(rank_reply.groups_after == SCORES / 2 - rank_reply.groups_before);
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
    struct rank_request request = groups_of(&key);
    struct rank_reply rank_reply;
    struct failure failure = {0};
    require(engine_rank_lookup(f->engine, &request, (struct scope){&arena, &failure},
                               &rank_reply) == OK);
    arena_release(&arena);
    return NULL;
}

static uint64_t groups_told(struct fixture *f, const struct item *key, bool after) {
    struct rank_request request = groups_of(key);
    struct rank_reply rank_reply;
    struct failure failure = {0};
    assert_int_equal(
        engine_rank_lookup(f->engine, &request, (struct scope){&f->arena, &failure}, &rank_reply),
        OK);
    return after ? rank_reply.groups_after : rank_reply.groups_before;
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
        assert_int_equal(figures_of(&f).count_index, 1);
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

/* Who may not wait is told so, nothing is made for it; once it is counted, it is answered. */
static void test_group_nonblocking(void **state) {
    (void)state;
    struct groups g;
    struct rank_reply reply;
    struct failure failure = {0};
    setup_groups(&g);
    struct item key = key_of(&g.f.arena, 0, 0);
    struct rank_request request = groups_of(&key);
    request.nonblocking = true;
    assert_int_equal(
        engine_rank_lookup(g.f.engine, &request, (struct scope){&g.f.arena, &failure}, &reply),
        WOULD_BLOCK);
    assert_int_equal(figures_of(&g.f).count_index, 0);
    check_groups(&g, 0);
    assert_int_equal(
        engine_rank_lookup(g.f.engine, &request, (struct scope){&g.f.arena, &failure}, &reply), OK);
    teardown(&g.f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_group_builds),
        cmocka_unit_test(test_groups_without_memory),
        cmocka_unit_test(test_group_threads),
        cmocka_unit_test(test_group_nonblocking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
