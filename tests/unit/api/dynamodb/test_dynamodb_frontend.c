/* Exchanges through the whole front end, on an engine in memory. */
#include "api/dynamodb/content_coding.h"
#include "api/dynamodb/ddb_fixture.h"
#include "test.h"

#include <zlib.h>

#define TABLE                                                                        \
    "{\"TableName\":\"players\",\"BillingMode\":\"PAY_PER_REQUEST\","                \
    "\"AttributeDefinitions\":[{\"AttributeName\":\"id\",\"AttributeType\":\"S\"}]," \
    "\"KeySchema\":[{\"AttributeName\":\"id\",\"KeyType\":\"HASH\"}]}"

static struct ddb_fixture asking;

static int open_asking(void **state) {
    (void)state;
    ddb_fixture_open(&asking);
    return 0;
}

static int close_asking(void **state) {
    (void)state;
    ddb_fixture_close(&asking);
    return 0;
}

#define assert_has(text, part) assert_non_null(strstr((text), (part)))

static const char *lines(void) {
    return (const char *)asking.lines.data;
}

/* --- the wire --- */

static void test_headers_of_answers(void **state) {
    (void)state;
    ask(&asking, "ListTables", "{}");
    assert_int_equal(asking.status, 200);
    assert_string_equal((const char *)asking.body.data, "{\"TableNames\":[]}");
    assert_has(lines(), "Content-Type: application/x-amz-json-1.0");
    const char *id = strstr(lines(), "x-amzn-RequestId: ");
    assert_non_null(id);
    id += strlen("x-amzn-RequestId: ");
    assert_int_equal(strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), 52);
    char crc[40];
    snprintf(crc, sizeof crc, "x-amz-crc32: %lu\r\n",
             crc32(0, asking.body.data, (uInt)asking.body.size));
    assert_has(lines(), crc);
    assert_null(strstr(lines(), "Access-Control"));
}

/* The faults before an operation is known to run, in the service's order. */
static void test_order_of_faults(void **state) {
    (void)state;
    ddb_fixture_begin(&asking, BYTES("hi"));
    ddb_fixture_send(&asking);
    assert_int_equal(asking.status, 404);
    assert_string_equal((const char *)asking.body.data, "<UnknownOperationException/>\n");

    ddb_fixture_begin(&asking, BYTES("hi"));
    ddb_fixture_header(&asking, "content-type", "application/json");
    ddb_fixture_send(&asking);
    assert_int_equal(asking.status, 400);
    assert_string_equal((const char *)asking.body.data,
                        "{\"__type\":\"com.amazon.coral.service#SerializationException\"}");
    assert_has(lines(), "Content-Type: application/json");
    assert_has(lines(), "x-amz-crc32: 3948637019\r\n");

    ddb_fixture_begin(&asking, BYTES("{}"));
    ddb_fixture_header(&asking, "content-type", "application/x-amz-json-1.0");
    ddb_fixture_header(&asking, "x-amz-target", "DynamoDB_20120810.ListTable");
    ddb_fixture_send(&asking);
    assert_string_equal((const char *)asking.body.data,
                        "{\"__type\":\"com.amazon.coral.service#UnknownOperationException\"}");
    assert_has(lines(), "x-amz-crc32: 1368724161\r\n");

    ddb_fixture_begin(&asking, BYTES("{}"));
    ddb_fixture_header(&asking, "content-type", "application/x-amz-json-1.0");
    ddb_fixture_header(&asking, "x-amz-target", "DynamoDB_20120810.ListTables");
    ddb_fixture_send(&asking);
    assert_string_equal(
        (const char *)asking.body.data,
        "{\"__type\":\"com.amazon.coral.service#MissingAuthenticationTokenException\","
        "\"message\":\"Request is missing Authentication Token\"}");
    assert_has(lines(), "x-amz-crc32: 2088342776\r\n");

    ddb_fixture_header(&asking, "authorization", "AWS4-");
    ddb_fixture_send(&asking);
    assert_string_equal(
        (const char *)asking.body.data,
        "{\"__type\":\"com.amazon.coral.service#IncompleteSignatureException\",\"message\":"
        "\"Authorization header requires 'Credential' parameter. Authorization header requires "
        "'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. "
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        "Authorization=AWS4-\"}");
    assert_has(lines(), "x-amz-crc32: 1828866742\r\n");

    ask(&asking, "ListTables", "");
    assert_string_equal((const char *)asking.body.data,
                        "{\"__type\":\"com.amazon.coral.service#SerializationException\"}");
    ask(&asking, "UpdateGlobalTable", "{}");
    assert_has((const char *)asking.body.data, "UnknownOperationException");
    assert_has((const char *)asking.body.data, "UpdateGlobalTable");
}

static void test_presigned_and_cors(void **state) {
    (void)state;
    ddb_fixture_begin(&asking, BYTES("{}"));
    ddb_fixture_header(&asking, "content-type", "application/x-amz-json-1.0");
    ddb_fixture_header(&asking, "x-amz-target", "DynamoDB_20120810.ListTables");
    ddb_fixture_header(&asking, "origin", "http://a.example");
    asking.exchange.query = BYTES("X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Date=c"
                                  "&X-Amz-SignedHeaders=d");
    ddb_fixture_send(&asking);
    assert_has((const char *)asking.body.data,
               "AWS query-string parameters must include 'X-Amz-Signature'. Re-examine the "
               "query-string parameters.");
    assert_has(lines(), "Access-Control-Allow-Origin: *\r\n");
    asking.exchange.query = BYTES("X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Date=c"
                                  "&X-Amz-SignedHeaders=d&X-Amz-Signature=e");
    ddb_fixture_send(&asking);
    assert_int_equal(asking.status, 200);
}

/* A request that comes compressed, and an answer that is large enough to be. */
static void test_compression(void **state) {
    (void)state;
    char body[8192];
    int size = snprintf(body, sizeof body, "{\"TableName\":\"%0*d\"}", 6000, 0);
    struct bytes packed = coding_pack(CODING_GZIP, bytes_of(body, (size_t)size));
    uint8_t copy[8192];
    memcpy(copy, packed.data, packed.size);
    ddb_fixture_begin(&asking, bytes_of(copy, packed.size));
    ddb_fixture_header(&asking, "content-encoding", "gzip");
    ddb_fixture_header(&asking, "content-type", "application/x-amz-json-1.0");
    ddb_fixture_header(&asking, "x-amz-target", "DynamoDB_20120810.DescribeTable");
    ddb_fixture_header(&asking, "date", "today");
    ddb_fixture_header(&asking, "authorization",
                       "AWS4-x Credential=a, SignedHeaders=b, Signature=c");
    ddb_fixture_send(&asking);
    assert_has((const char *)asking.body.data, "Member must have length less than or equal to 255");

    copy[packed.size / 2] ^= 0x55;
    ddb_fixture_send(&asking);
    assert_int_equal(asking.status, 500);
    assert_has((const char *)asking.body.data, "InternalFailure");

    for (int i = 0; i < 40; i++) {
        snprintf(body, sizeof body,
                 "{\"TableName\":\"table.%0*d\",\"BillingMode\":\"PAY_PER_REQUEST\","
                 "\"AttributeDefinitions\":[{\"AttributeName\":\"id\",\"AttributeType\":\"S\"}],"
                 "\"KeySchema\":[{\"AttributeName\":\"id\",\"KeyType\":\"HASH\"}]}",
                 200, i);
        ask(&asking, "CreateTable", body);
        assert_int_equal(asking.status, 200);
    }
    ask(&asking, "ListTables", "{}");
    struct buf plain = {0};
    buf_put(&plain, buf_bytes(&asking.body));
    assert_true(plain.size > 4096);
    ddb_fixture_header(&asking, "accept-encoding", "deflate, gzip");
    ddb_fixture_send(&asking);
    assert_has(lines(), "Content-Encoding: gzip\r\n");
    assert_true(asking.body.size < plain.size);
    struct bytes back;
    assert_int_equal(
        coding_unpack(&(struct coding_packed){CODING_GZIP, buf_bytes(&asking.body), 1 << 20},
                      &asking.exchange.arena, &back),
        OK);
    assert_bytes_equal(back, buf_bytes(&plain));
    assert_int_equal(
        coding_unpack(&(struct coding_packed){CODING_GZIP, buf_bytes(&asking.body), 100},
                      &asking.exchange.arena, &back),
        LIMIT_EXCEEDED);
    assert_int_equal(
        coding_unpack(&(struct coding_packed){CODING_GZIP,
                                              bytes_of(asking.body.data, asking.body.size - 9),
                                              1 << 20},
                      &asking.exchange.arena, &back),
        PARSE_FAILED);
    buf_release(&plain);
}

/* --- tables --- */

static void test_life_of_a_table(void **state) {
    (void)state;
    assert_has(ask(&asking, "CreateTable", TABLE), "\"TableStatus\":\"CREATING\"");
    assert_int_equal(asking.status, 200);
    assert_has(ask(&asking, "CreateTable", TABLE), "#ResourceInUseException");
    const char *told = ask(&asking, "DescribeTable", "{\"TableName\":\"players\"}");
    assert_has(told, "{\"Table\":{");
    assert_has(told, "\"TableStatus\":\"ACTIVE\"");
    assert_has(told, "\"TableArn\":\"arn:aws:dynamodb:eu-west-1:000000000000:table/players\"");
    assert_has(told, "\"BillingModeSummary\":{\"BillingMode\":\"PAY_PER_REQUEST\"");
    told = ask(&asking, "UpdateTable",
               "{\"TableName\":\"players\",\"DeletionProtectionEnabled\":true}");
    assert_has(told, "\"TableStatus\":\"UPDATING\"");
    assert_has(ask(&asking, "DeleteTable", "{\"TableName\":\"players\"}"),
               "protected against deletion");
    ask(&asking, "UpdateTable", "{\"TableName\":\"players\",\"DeletionProtectionEnabled\":false}");
    told = ask(&asking, "DeleteTable",
               "{\"TableName\":\"arn:aws:dynamodb:us-east-1:000000000000:table/players\"}");
    assert_has(told, "\"TableStatus\":\"DELETING\"");
    told = ask(&asking, "DescribeTable", "{\"TableName\":\"players\"}");
    assert_string_equal(told,
                        "{\"__type\":\"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException\""
                        ",\"message\":\"Requested resource not found: Table: players not found\"}");
}

static void test_tags(void **state) {
    (void)state;
#define ARN "\"ResourceArn\":\"arn:aws:dynamodb:eu-west-1:000000000000:table/players\""
    ask(&asking, "CreateTable", TABLE);
    assert_string_equal(
        ask(&asking, "TagResource", "{" ARN ",\"Tags\":[{\"Key\":\"a\",\"Value\":\"b\"}]}"), "");
    assert_int_equal(asking.status, 200);
    assert_string_equal(ask(&asking, "ListTagsOfResource", "{" ARN "}"),
                        "{\"Tags\":[{\"Key\":\"a\",\"Value\":\"b\"}]}");
    assert_string_equal(ask(&asking, "UntagResource", "{" ARN ",\"TagKeys\":[\"a\"]}"), "");
    assert_string_equal(ask(&asking, "ListTagsOfResource", "{" ARN "}"), "{\"Tags\":[]}");
    assert_has(ask(&asking, "ListTagsOfResource", "{\"ResourceArn\":\"x\"}"),
               "ValidationException");
    assert_has(ask(&asking, "ListTagsOfResource",
                   "{\"ResourceArn\":\"arn:aws:dynamodb:eu-west-1:000000000000:table/none\"}"),
               "com.amazon.coral.service#AccessDeniedException\",\"Message\":\"User: ");
    assert_has(ask(&asking, "TagResource", "{" ARN "}"),
               "1 validation error detected: Value null at 'tags' failed to satisfy constraint: "
               "Member must not be null");
    ask(&asking, "DeleteTable", "{\"TableName\":\"players\"}");
}

/* A wrong type wins over a wrong value, even deep inside an item. */
static void test_types_first(void **state) {
    (void)state;
    assert_string_equal(
        ask(&asking, "PutItem", "{\"TableName\":\"x\",\"Item\":{\"a\":{\"L\":[{\"N\":1}]}}}"),
        "{\"__type\":\"com.amazon.coral.service#SerializationException\",\"Message\":"
        "\"NUMBER_VALUE cannot be converted to String\"}");
    assert_has(ask(&asking, "PutItem", "{\"TableName\":\"x;\",\"Item\":{\"a\":{\"L\":[]}}}"),
               "1 validation error detected: Value 'x;' at 'tableName'");
}

/* A fault that would repeat megabytes is cut, and names cannot smuggle quotes into answers. */
static void test_hostile_values(void **state) {
    (void)state;
    struct buf body = {0};
    buf_lit(&body, "{\"TableName\":\"");
    for (int i = 0; i < 300000; i++)
        buf_lit(&body, ";;;;;");
    buf_lit(&body, "\",\"Key\":{}}");
    ask_bytes(&asking, "GetItem", buf_bytes(&body));
    assert_int_equal(asking.status, 400);
    assert_true(asking.body.size < 200000);
    buf_release(&body);
    body = (struct buf){0};
    buf_lit(&body, "{\"TableName\":\"abc\",\"Key\":{},\"ProjectionExpression\":\"#0\","
                   "\"ExpressionAttributeNames\":{\"#0\":\"a\"");
    for (int i = 1; i < 100000; i++)
        buf_printf(&body, ",\"#%d\":\"a\"", i);
    buf_lit(&body, "}}");
    assert_has(ask_bytes(&asking, "GetItem", buf_bytes(&body)),
               "Value provided in ExpressionAttributeNames unused in expressions: keys: {#0, #1, ");
    assert_true(asking.exchange.arena.used < 64 << 20);
    buf_release(&body);
    assert_has(ask(&asking, "BatchGetItem",
                   "{\"RequestItems\":{\"arn:aws:dynamodb:\\\":1:table/abc\":{\"Keys\":[{\"id\":{"
                   "\"S\":\"x\"}}]}}}"),
               "Invalid TableArn");
}

/* The same fault, told by a put and by a batch. */
static void test_batch_words(void **state) {
    (void)state;
    ask(&asking, "CreateTable", TABLE);
    assert_has(ask(&asking, "PutItem", "{\"TableName\":\"players\",\"Item\":{}}"),
               "Missing the key id in the item");
    assert_has(ask(&asking, "BatchWriteItem",
                   "{\"RequestItems\":{\"players\":[{\"PutRequest\":{\"Item\":{}}}]}}"),
               "The provided key element does not match the schema");
    ask(&asking, "DeleteTable", "{\"TableName\":\"players\"}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers_of_answers),
        cmocka_unit_test(test_order_of_faults),
        cmocka_unit_test(test_presigned_and_cors),
        cmocka_unit_test(test_life_of_a_table),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_types_first),
        cmocka_unit_test(test_hostile_values),
        cmocka_unit_test(test_batch_words),
        cmocka_unit_test(test_compression),
    };
    return cmocka_run_group_tests(tests, open_asking, close_asking);
}
