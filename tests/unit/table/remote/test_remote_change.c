/* What one commit at an endpoint may have: a change that can be divided goes in transactions of at
 * most 100 items and 4 MB, one that cannot is refused in a sentence before anything is sent. */
#include "test.h"

#include "base/limits.h"
#include "http_stub.h"
#include "table/change.h"
#include "table/engine.h"
#include "table/remote/remote.h"

/* An endpoint without items, which counts what it is sent. */
struct endpoint {
    struct http_stub stub;
    atomic_bool opened;
    unsigned transactions, puts, items; /* since it was opened */
    unsigned most_items;                /* of one transaction */
    size_t most_bytes;                  /* of one, as it was sent */
};

static bool asks(struct bytes request, const char *part) {
    return bytes_find(request, bytes_str(part)) != SIZE_MAX;
}

static unsigned count_puts(struct bytes request) {
    unsigned count = 0;
    for (size_t at; (at = bytes_find(request, BYTES("{\"Put\":"))) != SIZE_MAX; count++)
        request = bytes_skip(request, at + 1);
    return count;
}

static void note_transaction(struct endpoint *endpoint, struct bytes request) {
    unsigned items = count_puts(request);
    endpoint->transactions++;
    endpoint->items += items;
    endpoint->most_items = items > endpoint->most_items ? items : endpoint->most_items;
    endpoint->most_bytes =
        request.size > endpoint->most_bytes ? request.size : endpoint->most_bytes;
}

static int answer(struct http_stub *stub, unsigned number, struct bytes request, struct buf *body) {
    struct endpoint *endpoint = (struct endpoint *)stub;
    (void)number;
    if (asks(request, ".DescribeTable"))
        buf_lit(body, "{\"Table\":{\"TableName\":\"game\",\"AttributeDefinitions\":["
                      "{\"AttributeName\":\"PK\",\"AttributeType\":\"S\"},"
                      "{\"AttributeName\":\"SK\",\"AttributeType\":\"S\"}],\"KeySchema\":["
                      "{\"AttributeName\":\"PK\",\"KeyType\":\"HASH\"},"
                      "{\"AttributeName\":\"SK\",\"KeyType\":\"RANGE\"}]}}");
    else if (asks(request, ".TransactWriteItems") && !atomic_load(&endpoint->opened)) {
        /* remote_open() tries whether there are transactions */
        buf_lit(body, "{\"__type\":\"x#ResourceNotFoundException\",\"message\":\"none\"}");
        return 400;
    } else {
        if (asks(request, ".TransactWriteItems"))
            note_transaction(endpoint, request);
        endpoint->puts += asks(request, ".PutItem");
        buf_lit(body, "{}");
    }
    return 200;
}

struct committing {
    struct endpoint endpoint;
    struct arena arena;
    struct failure failure;
    struct engine *engine;
};

static void open_engine(struct committing *on) {
    *on = (struct committing){.endpoint = {.stub = {.answer = answer}}};
    arena_init(&on->arena);
    stub_start(&on->endpoint.stub);
    struct remote_settings settings = {.endpoint = on->endpoint.stub.url,
                                       .region = "us-east-1",
                                       .key = "a:b",
                                       .table = "game",
                                       .without_ranking = true};
    assert_int_equal(remote_open(&settings, (struct scope){&on->arena, &on->failure}, &on->engine),
                     OK);
    atomic_store(&on->endpoint.opened, true);
}

static void close_engine(struct committing *on) {
    engine_close(on->engine);
    stub_stop(&on->endpoint.stub);
    arena_release(&on->arena);
}

/* Puts `count` items with `size` bytes of text each. */
static struct change put_items(struct committing *on, size_t count, size_t size, bool divisible) {
    char *text = arena_alloc(&on->arena, size);
    memset(text, 'x', size);
    struct action *actions = ARENA_ARRAY(&on->arena, struct action, count);
    for (size_t i = 0; i < count; i++) {
        struct pair *pairs = ARENA_ARRAY(&on->arena, struct pair, 3);
        pairs[0] = (struct pair){BYTES("PK"), value_string(BYTES("p"))};
        pairs[1] = (struct pair){BYTES("SK"), value_string(arena_printf(&on->arena, "%zu", i))};
        pairs[2] = (struct pair){BYTES("text"), value_string(bytes_of(text, size))};
        actions[i] = (struct action){
            .kind = ACTION_PUT, .by_owner = true, .table = BYTES("game"), .item = {pairs, 3}};
    }
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = &on->arena,
                            .actions = actions,
                            .action_count = count,
                            .divisible = divisible};
    engine_submit_wait(on->engine, &change);
    return change;
}

static void test_number_of_items(void **state) {
    struct committing on;
    (void)state;
    open_engine(&on);
    struct change change = put_items(&on, 250, 10, true);
    assert_int_equal(change.failure.status, OK);
    assert_int_equal(on.endpoint.transactions, 3);
    assert_int_equal(on.endpoint.items, 250);
    assert_int_equal(on.endpoint.most_items, LIMIT_TRANSACT_ITEMS);
    close_engine(&on);
}

static void test_size_of_items(void **state) {
    struct committing on;
    (void)state;
    open_engine(&on);
    struct change change = put_items(&on, 60, 100 * 1000, true);
    assert_int_equal(change.failure.status, OK);
    assert_int_equal(on.endpoint.transactions, 2);
    assert_int_equal(on.endpoint.items, 60);
    assert_true(on.endpoint.most_bytes < LIMIT_TRANSACT_SIZE);
    assert_true(on.endpoint.most_items > 35); /* and not one by one */
    close_engine(&on);
}

/* One item that is left over is put by itself, without a transaction. */
static void test_one_left_over(void **state) {
    struct committing on;
    (void)state;
    open_engine(&on);
    struct change change = put_items(&on, LIMIT_TRANSACT_ITEMS + 1, 10, true);
    assert_int_equal(change.failure.status, OK);
    assert_int_equal(on.endpoint.transactions, 1);
    assert_int_equal(on.endpoint.items, LIMIT_TRANSACT_ITEMS);
    assert_int_equal(on.endpoint.puts, 1);
    close_engine(&on);
}

static void test_what_cannot_be_divided(void **state) {
    struct committing on;
    (void)state;
    open_engine(&on);
    struct change change = put_items(&on, LIMIT_TRANSACT_ITEMS, 10, false);
    assert_int_equal(change.failure.status, OK);
    assert_int_equal(on.endpoint.transactions, 1);
    change = put_items(&on, LIMIT_TRANSACT_ITEMS + 1, 10, false);
    assert_int_equal(change.failure.status, LIMIT_EXCEEDED);
    assert_true(bytes_find(change.failure.text, BYTES("101 items at once")) != SIZE_MAX);
    assert_int_equal(on.endpoint.transactions, 1);
    assert_int_equal(on.endpoint.puts, 0);
    close_engine(&on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number_of_items),
        cmocka_unit_test(test_size_of_items),
        cmocka_unit_test(test_one_left_over),
        cmocka_unit_test(test_what_cannot_be_divided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
