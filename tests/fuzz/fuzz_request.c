/* A request's body to one of the operations, on an engine in memory.
 *
 * The first byte picks the operation, the rest is the body. Two tables stand there all the time
 * (or are made again when a request has deleted them), so that requests get as far as the engine.
 * Checked: each is answered once, with 200 or 400, and the body is JSON. */
#include "../unit/api/dynamodb/ddb_fixture.h"

#include "api/dynamodb/operation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)  \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

static const char *const tables[] = {
    "{\"TableName\":\"abc\",\"BillingMode\":\"PAY_PER_REQUEST\","
    "\"AttributeDefinitions\":[{\"AttributeName\":\"a\",\"AttributeType\":\"S\"}],"
    "\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}]}",
    "{\"TableName\":\"abd\",\"BillingMode\":\"PAY_PER_REQUEST\","
    "\"AttributeDefinitions\":[{\"AttributeName\":\"a\",\"AttributeType\":\"S\"},"
    "{\"AttributeName\":\"b\",\"AttributeType\":\"N\"},"
    "{\"AttributeName\":\"c\",\"AttributeType\":\"B\"}],"
    "\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"b\",\"KeyType\":\"RANGE\"}],"
    "\"LocalSecondaryIndexes\":[{\"IndexName\":\"loc\",\"KeySchema\":["
    "{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"c\",\"KeyType\":\"RANGE\"}"
    "],\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}],"
    "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"glo\",\"KeySchema\":["
    "{\"AttributeName\":\"c\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"b\",\"KeyType\":\"RANGE\"}"
    "],\"Projection\":{\"ProjectionType\":\"ALL\"}}]}",
};

static struct ddb_fixture asking;
static const struct operation *done[64];
static unsigned done_count;

static void make_tables(void) {
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        ask(&asking, "CreateTable", tables[i]);
        CHECK(asking.status == 200 || asking.status == 400);
    }
}

static void finish(void) {
    ddb_fixture_close(&asking);
}

static void start(void) {
    ddb_fixture_open(&asking);
    atexit(finish);
    for (size_t i = 0; operation_at(i) != NULL; i++)
        if (operation_at(i)->run != NULL)
            done[done_count++] = operation_at(i);
    make_tables();
}

static bool is(const struct operation *operation, struct bytes name) {
    return bytes_equal(operation->name, name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (done_count == 0)
        start();
    if (size == 0)
        return 0;
    const struct operation *operation = done[data[0] % done_count];
    char name[64];
    snprintf(name, sizeof name, "%.*s", BYTES_ARG(operation->name));
    ask_bytes(&asking, name, bytes_of(data + 1, size - 1));
    CHECK(asking.status == 200 || asking.status == 400);
    struct arena arena;
    struct json answer;
    size_t at;
    arena_init(&arena);
    CHECK(asking.body.size == 0 || json_parse(buf_bytes(&asking.body), &arena, &answer, &at) == OK);
    arena_release(&arena);
    if (asking.status == 200 &&
        (is(operation, BYTES("DeleteTable")) || is(operation, BYTES("UpdateTable"))))
        make_tables();
    return 0;
}
