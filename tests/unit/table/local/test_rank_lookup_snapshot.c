/* Places and ranks while scores move: each answer belongs to one moment. */
#include "table/local/rank_lookup_test.h"

/* A writer moves scores round in a ring, all in one change: at each moment member m's rank is its
 * score, every rank is somebody's, and all ranks tell how far the ring has turned. */
enum { RING = 8, TURNS = 300, READERS = 3 };

struct race {
    struct fixture *f;
    atomic_bool stop;
    atomic_uint answers;
};

static void turn(struct fixture *f, unsigned by) {
    struct action actions[RING];
    for (unsigned m = 0; m < RING; m++) {
        struct entry entry = {.member = m, .score = {(int)((m + by) % RING)}};
        actions[m] = (struct action){.kind = ACTION_PUT,
                                     .table = BYTES("game"),
                                     .item = item_for(&f->arena, &entry, NULL, PARTS, true)};
    }
    struct change change = write_of(&f->arena, actions, RING);
    change.all_or_nothing = true;
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    arena_reset(&f->arena);
}

static uint64_t score_of(const struct item *item) {
    int64_t score;
    require(number_to_int(item_get(item, BYTES("score"))->bytes, &score));
    return (uint64_t)score;
}

static void read_places(struct fixture *f, struct arena *arena) {
    struct item keys[RING];
    struct rank_reply places[RING];
    struct failure failure = {0};
    struct rank_request request = {
        .table = BYTES("game"), .index = BYTES("ranks"), .keys = keys, .count = RING};
    for (unsigned m = 0; m < RING; m++) {
        struct entry entry = {.member = m};
        keys[m] = key_for(arena, &entry);
    }
    require(engine_rank_lookup(f->engine, &request, (struct scope){arena, &failure}, places) == OK);
    for (unsigned m = 0; m < RING; m++) {
        require(places[m].found);
        require(places[m].before == (places[0].before + m) % RING);
        require(places[m].after == RING - 1 - places[m].before);
        require(score_of(&places[m].entry) == places[m].before);
    }
}

static void read_ranks(struct fixture *f, struct arena *arena) {
    struct entry first = {0};
    struct key_condition condition = {.count = 1};
    struct page_reply reply;
    struct failure failure = {0};
    struct page_request request = {.table = BYTES("game"),
                                   .index = BYTES("ranks"),
                                   .keys = &condition,
                                   .skip = 2,
                                   .skip_end = 1,
                                   .whole = true};
    condition.tests[0] =
        (struct key_test){.name = BYTES("PK"), .op = KEY_EQ, .low = board_name(arena, first.board)};
    require(engine_page(f->engine, &request, (struct scope){arena, &failure}, &reply) == OK);
    require(reply.count == RING - 3);
    for (size_t i = 0; i < reply.count; i++)
        require(score_of(&reply.items[i]) == i + 2);
}

static void *read_all(void *context) {
    struct race *race = context;
    struct arena arena;
    arena_init(&arena);
    while (!atomic_load(&race->stop)) {
        read_places(race->f, &arena);
        read_ranks(race->f, &arena);
        atomic_fetch_add(&race->answers, 1);
        arena_reset(&arena);
    }
    arena_release(&arena);
    return NULL;
}

static void run_race(size_t cache_memory) {
    struct fixture f;
    struct race race = {.f = &f};
    pthread_t threads[READERS];
    open_with(&f, cache_memory);
    turn(&f, 0);
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &race), 0);
    for (unsigned i = 1; i <= TURNS || atomic_load(&race.answers) < TURNS; i++)
        turn(&f, i);
    atomic_store(&race.stop, true);
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    teardown(&f);
}

static void test_one_moment(void **state) {
    (void)state;
    run_race(0);
}

static void test_one_moment_cold(void **state) {
    (void)state;
    run_race(1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_moment),
        cmocka_unit_test(test_one_moment_cold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
