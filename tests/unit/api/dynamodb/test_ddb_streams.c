/* Streams by the front end: what time does to iterators and records, and how places are written. */
#include "api/dynamodb/ddb_stream_name.h"
#include "base/clock.h"
#include "test.h"

#include "api/dynamodb/ddb_fixture.h"

#include <unistd.h>

static const char *ask_stream(struct ddb_fixture *asking, const char *operation, const char *body) {
    ddb_fixture_begin(asking, bytes_str(body));
    snprintf(asking->target, sizeof asking->target, "DynamoDBStreams_20120810.%s", operation);
    ddb_fixture_header(asking, "X-Amz-Target", asking->target);
    ddb_fixture_header(asking, "Content-Type", "application/x-amz-json-1.0");
    ddb_fixture_header(asking, "X-Amz-Date", "20260101T000000Z");
    ddb_fixture_header(asking, "Authorization",
                       "AWS4-HMAC-SHA256 Credential=key/20260101/eu-west-1/dynamodb/aws4_request, "
                       "SignedHeaders=host, Signature=00");
    ddb_fixture_send(asking);
    return (const char *)asking->body.data;
}

/* The text of a member in the last answer; the first of that name. */
static char *member(struct ddb_fixture *asking, const char *name) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":\"", name);
    const char *at = strstr((const char *)asking->body.data, quoted);
    assert_non_null(at);
    at += strlen(quoted);
    return strndup(at, (size_t)(strchr(at, '"') - at));
}

static void assert_has(const char *body, const char *part) {
    if (strstr(body, part) == NULL)
        fail_msg("no %s in %s", part, body);
}

static char *make_table(struct ddb_fixture *asking) {
    ask(asking, "CreateTable",
        "{\"TableName\":\"game\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":"
        "[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":"
        "\"pk\",\"KeyType\":\"HASH\"}],\"StreamSpecification\":{\"StreamEnabled\":true,"
        "\"StreamViewType\":\"KEYS_ONLY\"}}");
    assert_int_equal(asking->status, 200);
    return member(asking, "LatestStreamArn");
}

static char *iterator(struct ddb_fixture *asking, const char *arn, const char *shard,
                      const char *more) {
    char body[512];
    snprintf(body, sizeof body, "{\"StreamArn\":\"%s\",\"ShardId\":\"%s\",%s}", arn, shard, more);
    ask_stream(asking, "GetShardIterator", body);
    return asking->status == 200 ? member(asking, "ShardIterator") : NULL;
}

static const char *get_records(struct ddb_fixture *asking, const char *from) {
    char body[512];
    snprintf(body, sizeof body, "{\"ShardIterator\":\"%s\"}", from);
    return ask_stream(asking, "GetRecords", body);
}

static void put(struct ddb_fixture *asking) {
    static int number;
    char body[128];
    snprintf(body, sizeof body, "{\"TableName\":\"game\",\"Item\":{\"pk\":{\"S\":\"%d\"}}}",
             number++);
    ask(asking, "PutItem", body);
    assert_int_equal(asking->status, 200);
}

static void test_time(void **state) {
    (void)state;
    struct ddb_fixture asking;
    char body[256];
    ddb_fixture_open(&asking);
    char *arn = make_table(&asking);
    for (int i = 0; i < 64; i++)
        put(&asking);
    snprintf(body, sizeof body, "{\"StreamArn\":\"%s\"}", arn);
    ask_stream(&asking, "DescribeStream", body);
    char *shard = member(&asking, "ShardId");
    char *from = iterator(&asking, arn, shard, "\"ShardIteratorType\":\"TRIM_HORIZON\"");
    assert_has(get_records(&asking, from), "\"eventName\":\"INSERT\"");
    char *sequence = member(&asking, "SequenceNumber");

    clock_shift_ms(14 * 60 * 1000);
    get_records(&asking, from);
    assert_int_equal(asking.status, 200);
    char *next = member(&asking, "NextShardIterator");
    clock_shift_ms(2 * 60 * 1000);
    assert_has(get_records(&asking, from), "#ExpiredIteratorException");
    assert_int_equal(asking.status, 400);
    get_records(&asking, next); /* made two minutes ago */
    assert_int_equal(asking.status, 200);

    clock_shift_ms(STREAM_KEPT_MS);
    snprintf(body, sizeof body,
             "\"ShardIteratorType\":\"AT_SEQUENCE_NUMBER\",\"SequenceNumber\":\"%s\"", sequence);
    char *old = NULL;
    for (int i = 0; i < 1200; i++) { /* until it has been trimmed */
        free(old);
        old = iterator(&asking, arn, shard, body);
        if (old == NULL)
            break;
        usleep(50 * 1000);
    }
    assert_null(old);
    assert_has((const char *)asking.body.data, "#TrimmedDataAccessException");
    free(from);
    from = iterator(&asking, arn, shard, "\"ShardIteratorType\":\"TRIM_HORIZON\"");
    assert_has(get_records(&asking, from), "{\"Records\":[],\"NextShardIterator\":");
    free(from);
    free(next);
    free(sequence);
    free(shard);
    free(arn);
    ddb_fixture_close(&asking);
}

static void test_sequences(void **state) {
    (void)state;
    const uint64_t numbers[] = {0, 1, 9, 10, 12345678901234567890u, UINT64_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct buf text = {0};
        uint64_t read = 7;
        stream_name_put_sequence(&text, numbers[i]);
        assert_int_equal(text.size, 23); /* 21 digits and quotes */
        assert_int_equal(text.data[1], '1');
        assert_true(stream_name_read_sequence(bytes_of(text.data + 1, 21), &read));
        assert_int_equal(read, numbers[i]);
        buf_release(&text);
    }
    uint64_t read;
    assert_true(stream_name_read_sequence(BYTES("000000000000000000005"), &read));
    assert_int_equal(read, 0);
    assert_true(stream_name_read_sequence(BYTES("200000000000000000005"), &read));
    assert_true(read == UINT64_MAX);
    assert_true(stream_name_read_sequence(BYTES("199999999999999999999"), &read));
    assert_true(read == UINT64_MAX);
    assert_true(stream_name_read_sequence(BYTES("0000100000000000000000005"), &read));
    assert_int_equal(read, 5);
    assert_false(stream_name_read_sequence(BYTES("10000000000000000000x"), &read));
}

static void test_arns(void **state) {
    (void)state;
    struct bytes table;
    int64_t label_ms;
    assert_true(stream_name_read_arn(
        BYTES("arn:aws:dynamodb:eu-west-1:000000000000:table/a.b/stream/2026-01-02T03:04:05.678"),
        &table, &label_ms));
    assert_bytes_equal(table, BYTES("a.b"));
    assert_true(label_ms == 1767323045678);
    struct arena arena;
    arena_init(&arena);
    assert_bytes_equal(stream_name_label(&arena, label_ms), BYTES("2026-01-02T03:04:05.678"));
    arena_release(&arena);
    static const char *const wrong[] = {
        "",
        "arn:",
        "arn:aws:dynamodb:eu-west-1:000000000000:table/a.b",
        "arn:aws:dynamodb:eu-west-1:000000000000:table/a.b/stream/",
        "arn:aws:dynamodb:eu-west-1:000000000000:table//stream/2026-01-02T03:04:05.678",
        "arn:aws:dynamodb:eu-west-1:000000000000:table/a.b/stream/2026-01-02T03:04:05.6789",
        "arn:aws:dynamodb:eu-west-1:000000000000:table/a.b/stream/2026-01-02 03:04:05.678",
        "arn:aws:dynamodb:table/a.b/stream/2026-01-02T03:04:05.678",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(stream_name_read_arn(bytes_str(wrong[i]), &table, &label_ms));
}

/* Any byte of an iterator that is changed or cut makes it none. */
static void test_iterators(void **state) {
    (void)state;
    struct ddb_fixture asking;
    char body[256];
    ddb_fixture_open(&asking);
    char *arn = make_table(&asking);
    snprintf(body, sizeof body, "{\"StreamArn\":\"%s\"}", arn);
    ask_stream(&asking, "DescribeStream", body);
    char *shard = member(&asking, "ShardId");
    char *from = iterator(&asking, arn, shard, "\"ShardIteratorType\":\"LATEST\"");
    struct stream_place place;
    size_t size = strlen(from), arn_size = strlen(arn), name = (size_t)(strstr(arn, "game") - arn);
    assert_true(stream_name_read_iterator(bytes_str(from), &place));
    for (size_t i = 0; i < size; i++)
        assert_false(stream_name_read_iterator(bytes_of(from, i), &place));
    for (size_t i = name; i < size; i++) {
        if (i >= name + 4 && i < arn_size + 3 && i != arn_size - 1)
            continue; /* the ARN's own marks are tested above */
        char was = from[i];
        from[i] = was == '1' ? '2' : '1';
        assert_false(stream_name_read_iterator(bytes_str(from), &place));
        from[i] = was;
    }
    free(from);
    free(shard);
    free(arn);
    ddb_fixture_close(&asking);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_arns),
        cmocka_unit_test(test_iterators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
