/* What a request costs between its bytes and its item, and back: an item of about 200 bytes and 8
 * attributes, and the body of a request that puts it.
 *
 *   bench_value [rounds]     default 300000; prints the median of 7 runs in processor time
 */
#include "value/codec.h"
#include "value/key.h"
#include "value/number.h"
#include "json/attribute.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char body_text[] =
    "{\"TableName\":\"game\",\"Item\":{\"PK\":{\"S\":\"ROOM#01HZX3V8Q2\"},"
    "\"SK\":{\"S\":\"PLAYER#01HZX4A7M9KD\"},\"name\":{\"S\":\"Ada Lovelace\"},"
    "\"score\":{\"N\":\"184320\"},\"joined\":{\"N\":\"1731700000123\"},"
    "\"ready\":{\"BOOL\":true},\"avatar\":{\"S\":\"https://cdn.example.com/avatars/fox.png\"},"
    "\"bio\":{\"S\":\"Plays every Friday; likes rounds that end in a draw.\"}},"
    "\"ConditionExpression\":\"attribute_not_exists(PK)\",\"ReturnValues\":\"NONE\"}";

static struct arena arena;
static struct names *names;
static struct buf stored, out;
static struct json body;
static struct item item;

static void parse_body(void) {
    size_t at;
    enum status status = json_parse(bytes_of(body_text, sizeof(body_text) - 1), &arena, &body, &at);
    assert(status == OK);
}

static void read_item(void) {
    struct failure failure;
    enum status status = attribute_read_item(json_get(&body, BYTES("Item")),
                                             (struct scope){&arena, &failure}, &item);
    assert(status == OK);
}

static void check_types(void) {
    struct failure failure;
    enum status status =
        attribute_check_item(json_get(&body, BYTES("Item")), "", (struct scope){&arena, &failure});
    assert(status == OK);
}

static void encode_item(void) {
    buf_clear(&stored);
    item_encode(&item, names, &stored);
}

static void decode_item(void) {
    enum status status = item_decode(buf_bytes(&stored), names, &arena, &item);
    assert(status == OK);
}

static void decode_one(void) {
    struct value value;
    struct bytes name = BYTES("score");
    enum status status = item_decode_some(buf_bytes(&stored),
                                          &(struct item_wanted){names, &name, 1}, &arena, &value);
    assert(status == OK);
}

static void write_item(void) {
    buf_clear(&out);
    attribute_write_item(&out, &item);
}

static void put_key(void) {
    buf_clear(&out);
    key_put(&out, item_get(&item, BYTES("PK")));
    key_put(&out, item_get(&item, BYTES("SK")));
}

static void put(void) {
    parse_body();
    read_item();
    encode_item();
}

static void get(void) {
    decode_item();
    write_item();
}

/* A score that goes up: what an update adds. */
static void add(void) {
    struct bytes sum, one = number_from_int(&arena, 25);
    number_add(&arena, item_get(&item, BYTES("score"))->bytes, one, &sum);
}

/* The arena starts over as a request does, but what the step before it made must stay. */
static double run_ns(void (*step)(void), long rounds) {
    struct arena mark;
    clock_t start = clock();
    for (long i = 0; i < rounds; i++) {
        mark = arena;
        step();
        arena.at = mark.at;
        arena.used = mark.used;
        assert(arena.current == mark.current);
    }
    return (double)(clock() - start) * (1e9 / CLOCKS_PER_SEC) / (double)rounds;
}

static int ascending(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void measure(const char *name, void (*step)(void), long rounds) {
    double runs[7];
    for (int i = 0; i < 7; i++)
        runs[i] = run_ns(step, rounds / 7);
    qsort(runs, 7, sizeof(runs[0]), ascending);
    printf("%-44s %8.0f ns\n", name, runs[3]);
}

int main(int argc, char **argv) {
    long rounds = argc > 1 ? atol(argv[1]) : 300000;
    arena_init(&arena);
    arena_alloc(&arena, 1);
    names = names_new();
    put();
    write_item();
    printf("body %zu bytes, item %zu, stored %zu, as JSON %zu\n", sizeof(body_text) - 1,
           item_size(&item), stored.size, out.size);
    measure("parse the body", parse_body, rounds);
    parse_body();
    measure("check its types", check_types, rounds);
    measure("read the item from it", read_item, rounds);
    read_item();
    measure("encode the item", encode_item, rounds);
    measure("put: parse, read, encode", put, rounds);
    put();
    measure("decode the item", decode_item, rounds);
    measure("decode one attribute", decode_one, rounds);
    measure("write it as JSON", write_item, rounds);
    measure("get: decode, write", get, rounds);
    measure("its key", put_key, rounds);
    measure("add to a number", add, rounds);
    buf_release(&stored);
    buf_release(&out);
    names_free(names);
    arena_release(&arena);
    return 0;
}
