/* Reading by keys: through the cache and past it, one and many. */
#include "table/local/engine.h"

static void test_one(void **state) {
    (void)state;
    struct arena arena;
    struct item got;
    arena_init(&arena);
    struct engine *engine = engine_open_memory();
    struct table_schema schema = game_schema(&arena, "game");
    create_table(engine, &arena, &schema);
    struct item key = item_of(&arena, "pk=S:p", "sk=S:1", NULL);
    struct item item = item_of(&arena, "pk=S:p", "sk=S:1", "x=N:5", NULL);
    assert_false(get_item(engine, &arena, "game", key, &got));
    put_item(engine, &arena, "game", item);
    assert_true(get_item(engine, &arena, "game", key, &got)); /* written through */
    assert_true(item_equal(&got, &item));
    cache_clear(local_of(engine)->cache);
    for (unsigned i = 0; i < 2; i++) { /* from the store, then from the cache */
        assert_true(get_item(engine, &arena, "game", key, &got));
        assert_true(item_equal(&got, &item));
    }
    struct engine_figures figures;
    engine_figures(engine, &figures);
    assert_int_equal(figures.cache_items, 1);
    struct action action = {.kind = ACTION_DELETE, .table = BYTES("game"), .item = key};
    struct change change = write_of(&arena, &action, 1);
    engine_do(engine, &change);
    assert_status(&change, OK);
    assert_false(get_item(engine, &arena, "game", key, &got));
    engine_close(engine);
    arena_release(&arena);
}

static void test_reply(void **state) {
    (void)state;
    struct arena arena;
    struct failure failure = {0};
    struct get_reply reply;
    arena_init(&arena);
    struct engine *engine = engine_open_memory();
    struct table_schema schema = game_schema(&arena, "game");
    create_table(engine, &arena, &schema);
    struct item item = item_of(&arena, "pk=S:p", "sk=S:1", "x=N:5", NULL);
    struct value large = value_string(bytes_of(memset(arena_alloc(&arena, 5000), 'x', 5000), 5000));
    item = item_with(&arena, &item, BYTES("large"), &large);
    put_item(engine, &arena, "game", item);
    struct bytes name = BYTES("x");
    struct get_request request = {.table = BYTES("game"),
                                  .key = item_of(&arena, "pk=S:p", "sk=S:1", NULL),
                                  .projection = projection_of_names(&name, 1, &arena)};
    assert_int_equal(engine_get(engine, &request, (struct scope){&arena, &failure}, &reply), OK);
    assert_int_equal(reply.item.count, 1);
    assert_int_equal(reply.size, item_size(&item));
    assert_true(reply.units == 1.0); /* two steps of 4 KB, eventually consistent */
    request.consistent = true;
    assert_int_equal(engine_get(engine, &request, (struct scope){&arena, &failure}, &reply), OK);
    assert_true(reply.units == 2.0);
    request.key = item_of(&arena, "pk=S:p", NULL);
    assert_int_equal(engine_get(engine, &request, (struct scope){&arena, &failure}, &reply),
                     INVALID);
    assert_text(failure.text, "The provided key element does not match the schema");
    request.table = BYTES("nothing");
    assert_int_equal(engine_get(engine, &request, (struct scope){&arena, &failure}, &reply),
                     NO_TABLE);
    assert_text(failure.text, "Requested resource not found");
    engine_close(engine);
    arena_release(&arena);
}

/* Very large items are not all copied under the lock; and a request that is to be brief does not
 * read them. */
static void test_large(void **state) {
    (void)state;
    enum { COUNT = 5, SIZE = LIMIT_BATCH_BRIEF / 2 };
    static const char *const places[COUNT] = {"sk=S:1", "sk=S:2", "sk=S:3", "sk=S:4", "sk=S:5"};
    struct arena arena;
    struct failure failure = {0};
    struct get_request requests[COUNT + 1] = {0};
    struct get_reply replies[COUNT + 1];
    arena_init(&arena);
    struct engine *engine = engine_open_memory();
    struct table_schema schema = game_schema(&arena, "game");
    create_table(engine, &arena, &schema);
    struct value value = value_string(bytes_of(memset(arena_alloc(&arena, SIZE), 'x', SIZE), SIZE));
    for (unsigned i = 0; i <= COUNT; i++) { /* there is no last one */
        requests[i].table = BYTES("game");
        requests[i].key = item_of(&arena, "pk=S:p", i < COUNT ? places[i] : "sk=S:6", NULL);
        if (i < COUNT)
            put_item(engine, &arena, "game",
                     item_with(&arena, &requests[i].key, BYTES("large"), &value));
    }
    struct scope in = {&arena, &failure};
    assert_int_equal(engine_get_many(engine, requests, COUNT + 1, in, replies), OK);
    for (unsigned i = 0; i <= COUNT; i++)
        assert_int_equal(replies[i].found, i < COUNT);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(item_get(&replies[i].item, BYTES("large"))->bytes.size, SIZE);
    requests[0].brief = true;
    assert_int_equal(engine_get_many(engine, requests, COUNT + 1, in, replies), WOULD_BLOCK);
    failure = (struct failure){0};
    assert_int_equal(engine_get_many(engine, requests, 1, in, replies), OK);
    engine_close(engine);
    arena_release(&arena);
}

static void test_many(void **state) {
    (void)state;
    struct arena arena;
    struct failure failure = {0};
    arena_init(&arena);
    struct engine *engine = engine_open_memory();
    struct table_schema game = game_schema(&arena, "game"), plain = plain_schema(&arena, "plain");
    create_table(engine, &arena, &game);
    create_table(engine, &arena, &plain);
    enum { MANY = LIMIT_WALK_SLICE + 150 }; /* more than are looked up together, and at once */
    struct get_request *requests = ARENA_ARRAY(&arena, struct get_request, MANY);
    struct get_reply *replies = ARENA_ARRAY(&arena, struct get_reply, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        struct item item = item_of(&arena, "pk=S:p", NULL);
        struct value sk = value_string(arena_printf(&arena, "%u", i));
        struct value number = {.type = VALUE_N};
        number.bytes = number_from_int(&arena, i);
        item = item_with(&arena, &item, BYTES("sk"), &sk);
        requests[i] = (struct get_request){.table = i % 3 == 0 ? BYTES("plain") : BYTES("game"),
                                           .key = item,
                                           .takes_stored = i % 7 == 0};
        item = item_with(&arena, &item, BYTES("x"), &number);
        if (i % 5 != 0)
            put_item(engine, &arena, i % 3 == 0 ? "plain" : "game", item);
        if (i == 70 || i == LIMIT_WALK_SLICE + 70)
            cache_clear(local_of(engine)->cache);
    }
    assert_int_equal(
        engine_get_many(engine, requests, MANY, (struct scope){&arena, &failure}, replies), OK);
    for (unsigned i = 0; i < MANY; i++) {
        int64_t number = -1;
        assert_int_equal(replies[i].found, i % 5 != 0);
        if (!replies[i].found)
            continue;
        const struct item_encoded *stored = &replies[i].stored;
        assert_int_equal(stored->bytes.data != NULL, i % 7 == 0);
        if (stored->bytes.data != NULL)
            assert_int_equal(item_decode(stored->bytes, stored->names, &arena, &replies[i].item),
                             OK);
        assert_true(number_to_int(item_get(&replies[i].item, BYTES("x"))->bytes, &number));
        assert_int_equal(number, i);
    }
    for (unsigned i = 7; i < MANY; i += MANY - 14) {
        struct bytes table = requests[i].table;
        requests[i].table = BYTES("nothing");
        assert_int_equal(
            engine_get_many(engine, requests, MANY, (struct scope){&arena, &failure}, replies),
            NO_TABLE);
        requests[i].table = table;
    }
    assert_int_equal(
        engine_get_many(engine, requests, 0, (struct scope){&arena, &failure}, replies), OK);
    engine_close(engine);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_reply),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
