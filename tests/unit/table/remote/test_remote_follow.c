/* Following a table's stream from outside, over a stub of an endpoint: parents before children,
 * what is older than asked passed over, and nothing lost by a failure. */
#include "test.h"

#include "http_stub.h"
#include "table/engine.h"
#include "table/remote/remote.h"

#include <stdatomic.h>

/* An endpoint with the shards a (closed) and b, its child. */
struct endpoint {
    struct http_stub stub;
    atomic_bool fail_next; /* the next GetRecords is refused for good */
    atomic_uint late;      /* records that b has got since */
};

static bool asks(struct bytes request, const char *part) {
    return bytes_find(request, bytes_str(part)) != SIZE_MAX;
}

static void put_record(struct buf *body, unsigned number, unsigned created_s, const char *item) {
    buf_printf(body,
               "%s{\"eventName\":\"%s\",\"dynamodb\":{\"SequenceNumber\":\"%u\","
               "\"ApproximateCreationDateTime\":%u,\"Keys\":{\"PK\":{\"S\":\"p\"},"
               "\"SK\":{\"S\":\"%u\"}}%s%s%s}}",
               body->data[body->size - 1] == '[' ? "" : ",", item != NULL ? "MODIFY" : "REMOVE",
               number, created_s, number % 10, item != NULL ? ",\"NewImage\":" : "",
               item != NULL ? item : "", "");
}

static void put_records(struct endpoint *endpoint, struct bytes request, struct buf *body) {
    static const char item[] =
        "{\"PK\":{\"S\":\"p\"},\"SK\":{\"S\":\"x\"},\"v\":{\"S\":\"0000000000000009-0badcafe\"}}";
    buf_lit(body, "{\"Records\":[");
    if (asks(request, "\"a-0\"")) { /* two pages: one old and one young record, then the end */
        put_record(body, 101, 50, item);
        put_record(body, 102, 200, item);
        buf_lit(body, "],\"NextShardIterator\":\"a-1\"}");
    } else if (asks(request, "\"a-1\"")) {
        put_record(body, 103, 201, NULL);
        buf_lit(body, "]}");
    } else { /* b, which is open */
        unsigned late = atomic_load(&endpoint->late);
        if (asks(request, "\"b-0\"") && late > 0)
            put_record(body, 204, 300, item);
        buf_printf(body, "],\"NextShardIterator\":\"b-%u\"}", late > 0 ? 1U : 0U);
    }
}

static int answer(struct http_stub *stub, unsigned number, struct bytes request, struct buf *body) {
    struct endpoint *endpoint = (struct endpoint *)stub;
    (void)number;
    if (asks(request, ".TransactWriteItems")) {
        buf_lit(body, "{\"__type\":\"x#ResourceNotFoundException\",\"message\":\"none\"}");
        return 400;
    }
    if (asks(request, ".DescribeTable"))
        buf_lit(body, "{\"Table\":{\"TableName\":\"game\",\"LatestStreamArn\":\"arn\","
                      "\"StreamSpecification\":{\"StreamEnabled\":true}}}");
    else if (asks(request, ".DescribeStream"))
        buf_lit(body,
                "{\"StreamDescription\":{\"Shards\":[{\"ShardId\":\"b\",\"ParentShardId\":\"a\","
                "\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"200\"}},"
                "{\"ShardId\":\"a\",\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"100\","
                "\"EndingSequenceNumber\":\"199\"}}]}}");
    else if (asks(request, ".GetShardIterator")) {
        bool again = asks(request, "AFTER_SEQUENCE_NUMBER");
        buf_printf(body, "{\"ShardIterator\":\"%s\"}",
                   asks(request, "\"ShardId\":\"a\"") ? again ? "a-1" : "a-0" : "b-0");
    } else if (asks(request, ".GetRecords")) {
        if (atomic_exchange(&endpoint->fail_next, false)) {
            buf_lit(body, "{\"__type\":\"x#AccessDeniedException\",\"message\":\"not now\"}");
            return 400;
        }
        put_records(endpoint, request, body);
    } else
        return 404;
    return 200;
}

struct following {
    struct endpoint endpoint;
    struct arena arena;
    struct failure failure;
    struct engine *engine;
    struct remote_follower *follower;
    struct remote_followed read;
};

static enum status read_on(struct following *on) {
    on->failure = (struct failure){0};
    return remote_follower_read(on->follower, (struct scope){&on->arena, &on->failure}, &on->read);
}

/* One change, of the item with that number. */
static void expect_one(struct following *on, const char *sort, bool removed) {
    assert_int_equal(on->read.count, 1);
    assert_bytes_equal(item_get(&on->read.changes[0].key, BYTES("SK"))->bytes, bytes_str(sort));
    assert_int_equal(on->read.changes[0].item.count, removed ? 0 : 2); /* without `v` */
}

static void in_order(void **state) {
    struct following on = {.endpoint = {.stub = {.answer = answer}}};
    (void)state;
    arena_init(&on.arena);
    stub_start(&on.endpoint.stub);
    struct remote_settings settings = {.endpoint = on.endpoint.stub.url,
                                       .region = "us-east-1",
                                       .key = "a:b",
                                       .table = "game",
                                       .without_ranking = true};
    assert_int_equal(remote_open(&settings, (struct scope){&on.arena, &on.failure}, &on.engine),
                     OK);
    on.follower = remote_follower_new(on.engine, 100 * 1000);

    assert_int_equal(read_on(&on), OK); /* the old record is passed over; b waits for its parent */
    expect_one(&on, "2", false);
    assert_false(on.read.caught_up);
    atomic_store(&on.endpoint.fail_next, true);
    assert_int_equal(read_on(&on), IO_FAILED);
    assert_true(bytes_find(on.failure.text, BYTES("not now")) != SIZE_MAX);
    assert_int_equal(read_on(&on), OK); /* and goes on where it was */
    expect_one(&on, "3", true);
    assert_false(on.read.caught_up);
    assert_int_equal(read_on(&on), OK);
    assert_int_equal(on.read.count, 0);
    assert_true(on.read.caught_up);
    atomic_store(&on.endpoint.late, 1);
    assert_int_equal(read_on(&on), OK);
    expect_one(&on, "4", false);
    assert_false(on.read.caught_up);
    assert_int_equal(read_on(&on), OK);
    assert_int_equal(on.read.count, 0);
    assert_true(on.read.caught_up);

    remote_follower_free(on.follower);
    engine_close(on.engine);
    stub_stop(&on.endpoint.stub);
    arena_release(&on.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
