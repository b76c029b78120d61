/* Descriptions of tables at an endpoint, as the engine reads them. */
#include "test.h"

#include "http_stub.h"
#include "table/engine.h"
#include "table/remote/remote.h"
#include "table/tables.h"

static const char game[] =
    "{\"Table\":{\"TableName\":\"game\",\"TableId\":\"an-id\",\"TableStatus\":\"UPDATING\","
    "\"AttributeDefinitions\":[{\"AttributeName\":\"SK\",\"AttributeType\":\"S\"},"
    "{\"AttributeName\":\"PK\",\"AttributeType\":\"S\"},"
    "{\"AttributeName\":\"when\",\"AttributeType\":\"N\"}],"
    "\"KeySchema\":[{\"AttributeName\":\"PK\",\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"SK\",\"KeyType\":\"RANGE\"}],"
    "\"LocalSecondaryIndexes\":[{\"IndexName\":\"old\",\"KeySchema\":["
    "{\"AttributeName\":\"PK\",\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"when\",\"KeyType\":\"RANGE\"}],"
    "\"Projection\":{\"ProjectionType\":\"INCLUDE\",\"NonKeyAttributes\":[\"a\",\"b\"]},"
    "\"ItemCount\":7}],"
    "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"young\",\"IndexStatus\":\"CREATING\","
    "\"Backfilling\":true,\"IndexSizeBytes\":1234567890123,\"KeySchema\":["
    "{\"AttributeName\":\"when\",\"KeyType\":\"HASH\"}],"
    "\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}],"
    "\"BillingModeSummary\":{\"BillingMode\":\"PAY_PER_REQUEST\"},"
    "\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"NEW_AND_OLD_IMAGES\"},"
    "\"LatestStreamLabel\":\"2026-11-17T01:58:53.123\",\"DeletionProtectionEnabled\":true,"
    "\"CreationDateTime\":1.7949e9,\"ItemCount\":42,\"TableSizeBytes\":4096}}";
static const char plain[] =
    "{\"Table\":{\"TableName\":\"plain\",\"TableStatus\":\"ACTIVE\","
    "\"AttributeDefinitions\":[{\"AttributeName\":\"id\",\"AttributeType\":\"B\"}],"
    "\"KeySchema\":[{\"AttributeName\":\"id\",\"KeyType\":\"HASH\"}],"
    "\"StreamSpecification\":{\"StreamEnabled\":false}}}";

static bool asks(struct bytes request, const char *part) {
    return bytes_find(request, bytes_str(part)) != SIZE_MAX;
}

static int answer(struct http_stub *stub, unsigned number, struct bytes request, struct buf *body) {
    (void)stub;
    (void)number;
    bool of_game = asks(request, "{\"TableName\":\"game\"}");
    if (asks(request, ".DescribeTimeToLive"))
        buf_put(body, bytes_str(of_game ? "{\"TimeToLiveDescription\":{\"TimeToLiveStatus\":"
                                          "\"ENABLED\",\"AttributeName\":\"ends\"}}"
                                        : "{\"TimeToLiveDescription\":{\"TimeToLiveStatus\":"
                                          "\"DISABLED\"}}"));
    else if (asks(request, ".DescribeTable") && asks(request, "{\"TableName\":\"odd\"}"))
        buf_lit(body, "{\"Tables\":[]}");
    else if (asks(request, ".DescribeTable") &&
             (of_game || asks(request, "{\"TableName\":\"plain\"}")))
        buf_put(body, bytes_str(of_game ? game : plain));
    else {
        buf_lit(body, "{\"__type\":\"x#ResourceNotFoundException\",\"message\":\"none\"}");
        return 400;
    }
    return 200;
}

struct describing {
    struct http_stub stub;
    struct arena arena;
    struct failure failure;
    struct engine *engine;
};

static void open_engine(struct describing *on) {
    *on = (struct describing){.stub = {.answer = answer}};
    arena_init(&on->arena);
    stub_start(&on->stub);
    struct remote_settings settings = {.endpoint = on->stub.url,
                                       .region = "us-east-1",
                                       .key = "a:b",
                                       .table = "game",
                                       .without_ranking = true};
    assert_int_equal(remote_open(&settings, (struct scope){&on->arena, &on->failure}, &on->engine),
                     OK);
}

static void close_engine(struct describing *on) {
    engine_close(on->engine);
    stub_stop(&on->stub);
    arena_release(&on->arena);
}

static enum status describe(struct describing *on, struct bytes name,
                            struct table_description *out) {
    on->failure = (struct failure){0};
    return engine_describe(on->engine, name, (struct scope){&on->arena, &on->failure}, out);
}

/* All that a description says, and `ranks`, which the endpoint does not have. */
static void test_game_table(void **state) {
    struct describing on;
    struct table_description about;
    (void)state;
    open_engine(&on);
    assert_int_equal(describe(&on, BYTES("game"), &about), OK);
    const struct table_schema *schema = &about.schema;
    assert_bytes_equal(about.id, BYTES("an-id"));
    assert_int_equal(about.status, PART_UPDATING);
    assert_int_equal(about.item_count, 42);
    assert_int_equal(about.size, 4096);
    assert_int_equal(about.created_ms, INT64_C(1794900000000));
    assert_int_equal(about.stream_since_ms, INT64_C(1794880733123));
    assert_int_equal(schema->stream, STREAM_BOTH);
    assert_int_equal(schema->billing, BILLING_ON_DEMAND);
    assert_true(schema->deletion_protection);
    assert_bytes_equal(schema->expiry, BYTES("ends"));
    assert_bytes_equal(schema->keys.parts[0].name, BYTES("PK"));
    assert_int_equal(schema->keys.parts[1].type, VALUE_S);
    assert_int_equal(schema->index_count, 3);

    const struct index_schema *old = &schema->indexes[0], *young = &schema->indexes[1];
    assert_true(old->local);
    assert_int_equal(old->projected, PROJECTED_INCLUDED);
    assert_int_equal(old->included_count, 2);
    assert_bytes_equal(old->included[1], BYTES("b"));
    assert_int_equal(old->keys.parts[1].type, VALUE_N);
    assert_int_equal(about.indexes[0].item_count, 7);
    assert_false(young->local);
    assert_int_equal(young->projected, PROJECTED_KEYS);
    assert_int_equal(young->keys.sort_count, 0);
    assert_int_equal(about.indexes[1].status, PART_CREATING);
    assert_true(about.indexes[1].backfilling);
    assert_int_equal(about.indexes[1].size, INT64_C(1234567890123));

    const struct index_schema *ranks = &schema->indexes[2];
    assert_bytes_equal(ranks->name, BYTES("ranks"));
    assert_int_equal(ranks->keys.partition_count, 1);
    assert_int_equal(ranks->keys.sort_count, 3);
    assert_bytes_equal(ranks->keys.parts[1].name, BYTES("score"));
    assert_int_equal(schema->attribute_count, 6); /* and what `ranks` is made of */
    close_engine(&on);
}

static void test_other_tables(void **state) {
    struct describing on;
    struct table_description about;
    (void)state;
    open_engine(&on);
    assert_int_equal(describe(&on, BYTES("plain"), &about), OK);
    assert_int_equal(about.schema.index_count, 0);
    assert_int_equal(about.schema.stream, STREAM_OFF);
    assert_int_equal(about.schema.billing, BILLING_PROVISIONED);
    assert_int_equal(about.schema.expiry.size, 0);
    assert_int_equal(about.schema.keys.parts[0].type, VALUE_B);
    assert_int_equal(describe(&on, BYTES("gone"), &about), NO_TABLE);
    assert_int_equal(describe(&on, BYTES("odd"), &about), IO_FAILED);
    assert_true(bytes_find(on.failure.text, BYTES("none of DynamoDB's")) != SIZE_MAX);
    close_engine(&on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_game_table),
        cmocka_unit_test(test_other_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
