/* A page that is to be brief does not look at very many items: whoever asked asks again from where
 * nobody waits. */
#include "base/limits.h"
#include "table/local/engine.h"

static void put_many(struct engine *engine, unsigned first, unsigned count) {
    struct arena arena;
    arena_init(&arena);
    for (unsigned at = first; at < first + count;) {
        struct action actions[100];
        char sk[100][32], score[100][32]; /* the items refer to them */
        size_t put = 0;
        for (; put < 100 && at < first + count; put++, at++) {
            snprintf(sk[put], sizeof(sk[put]), "sk=S:%06u", at);
            snprintf(score[put], sizeof(score[put]), "score=N:%u", at);
            actions[put] = (struct action){.kind = ACTION_PUT,
                                           .table = BYTES("game"),
                                           .item = item_of(&arena, "pk=S:p", sk[put], "board=S:b",
                                                           score[put], "nick=S:n", NULL)};
        }
        struct change change = write_of(&arena, actions, put);
        assert_int_equal(engine_do(engine, &change), OK);
        arena_reset(&arena);
    }
    arena_release(&arena);
}

/* Asks for all of it, from the table and from an index. */
static void check_all(struct engine *engine, bool brief, uint32_t limit, enum status expected,
                      uint64_t count) {
    static const char *const indexes[] = {"", "byscore"};
    for (unsigned i = 0; i < 2; i++) {
        struct arena arena;
        struct failure failure = {0};
        struct page_reply reply;
        struct page_request request = {
            .table = BYTES("game"), .index = bytes_str(indexes[i]), .brief = brief, .limit = limit};
        arena_init(&arena);
        enum status status =
            engine_page(engine, &request, (struct scope){&arena, &failure}, &reply);
        assert_int_equal(status, expected);
        assert_int_equal(failure.status, expected);
        if (status == OK)
            assert_int_equal(reply.count, count);
        arena_release(&arena);
    }
}

static void test_brief(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct engine *engine = engine_open_memory();
    struct table_schema schema = game_schema(&arena, "game");
    create_table(engine, &arena, &schema);
    put_many(engine, 0, LIMIT_PAGE_BRIEF);
    check_all(engine, true, 0, OK, LIMIT_PAGE_BRIEF);
    put_many(engine, LIMIT_PAGE_BRIEF, 1);
    check_all(engine, true, 0, WOULD_BLOCK, 0);
    check_all(engine, true, LIMIT_PAGE_BRIEF, OK, LIMIT_PAGE_BRIEF);
    check_all(engine, false, 0, OK, LIMIT_PAGE_BRIEF + 1);
    engine_close(engine);
    arena_release(&arena);
}

/* Nor does it go on after very many bytes; what it has by then is enough if that is all. */
static void test_bytes(void **state) {
    (void)state;
    enum { SIZE = LIMIT_BATCH_BRIEF / 2 };
    static const char *const places[] = {"sk=S:000001", "sk=S:000002", "sk=S:000003"};
    struct arena arena;
    arena_init(&arena);
    struct engine *engine = engine_open_memory();
    struct table_schema schema = game_schema(&arena, "game");
    create_table(engine, &arena, &schema);
    struct value value = value_string(bytes_of(memset(arena_alloc(&arena, SIZE), 'x', SIZE), SIZE));
    for (unsigned i = 0; i < 3; i++) {
        struct item item = item_of(&arena, "pk=S:p", places[i], "board=S:b", "score=N:1", NULL);
        put_item(engine, &arena, "game", item_with(&arena, &item, BYTES("large"), &value));
    }
    check_all(engine, true, 0, WOULD_BLOCK, 0);
    check_all(engine, true, 2, OK, 2);
    check_all(engine, false, 0, OK, 3);
    engine_close(engine);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_brief), cmocka_unit_test(test_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
