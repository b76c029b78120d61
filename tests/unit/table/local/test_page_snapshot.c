/* Pages that are read while others write: each is of one snapshot. */
#include "base/random.h"
#include "table/local/engine.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PAIRS = 40 };

struct moving {
    struct engine *engine;
    atomic_bool stop;
};

/* Scores move up in twos, by transactions: in every snapshot the two of a pair are equal. */
static void *move_pairs(void *context) {
    struct moving *moving = context;
    struct arena arena;
    struct random random;
    arena_init(&arena);
    random_seed(&random, 5);
    for (unsigned step = 0; !atomic_load(&moving->stop); step++) {
        unsigned pair = (unsigned)random_below(&random, PAIRS);
        struct action actions[2] = {{.kind = ACTION_PUT, .table = BYTES("game")},
                                    {.kind = ACTION_PUT, .table = BYTES("game")}};
        for (unsigned i = 0; i < 2; i++) {
            struct item item =
                item_of(&arena, i == 0 ? "sk=S:left" : "sk=S:right", "board=S:b", NULL);
            struct value pk = value_string(arena_printf(&arena, "%u", pair));
            struct value score = {.type = VALUE_N};
            score.bytes = number_from_int(&arena, (int64_t)step);
            item = item_with(&arena, &item, BYTES("pk"), &pk);
            actions[i].item = item_with(&arena, &item, BYTES("score"), &score);
        }
        struct change change = write_of(&arena, actions, 2);
        change.all_or_nothing = true;
        assert_int_equal(engine_do(moving->engine, &change), OK);
        arena_reset(&arena);
    }
    arena_release(&arena);
    return NULL;
}

static void check_snapshot(const struct page_reply *reply) {
    assert_int_equal(reply->count % 2, 0);
    for (uint64_t i = 0; i < reply->count; i++) {
        unsigned twins = 0;
        for (uint64_t j = 0; j < reply->count; j++)
            twins += value_equal(item_get(&reply->items[i], BYTES("pk")),
                                 item_get(&reply->items[j], BYTES("pk"))) &&
                     value_equal(item_get(&reply->items[i], BYTES("score")),
                                 item_get(&reply->items[j], BYTES("score")));
        assert_int_equal(twins, 2);
    }
}

static void test_one_snapshot(void **state) {
    (void)state;
    struct arena arena;
    struct failure failure = {0};
    struct page_reply reply;
    pthread_t writer;
    arena_init(&arena);
    struct local_settings settings = {.store.memory = true, .cache_memory = 16 << 10, .threads = 1};
    struct moving moving = {.engine = engine_open(&settings)};
    struct table_schema schema = game_schema(&arena, "game");
    create_table(moving.engine, &arena, &schema);
    pthread_create(&writer, NULL, move_pairs, &moving);
    uint64_t most = 0;
    /* On a busy machine the writer may come late: go on until it was seen at work. */
    for (unsigned i = 0; i < 2000 || (most <= 2 && i < 2000000); i++) {
        struct page_request request = {.table = BYTES("game"),
                                       .index = i % 2 == 0 ? BYTES("byscore") : BYTES("")};
        assert_int_equal(
            engine_page(moving.engine, &request, (struct scope){&arena, &failure}, &reply), OK);
        check_snapshot(&reply);
        most = reply.count > most ? reply.count : most;
        arena_reset(&arena);
    }
    assert_true(most > 2);
    atomic_store(&moving.stop, true);
    pthread_join(writer, NULL);
    check_engine(moving.engine);
    engine_close(moving.engine);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_snapshot)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
