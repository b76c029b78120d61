/* Schemas survive being bytes, and damaged bytes are refused without harm. */
#include "base/buf.h"
#include "base/random.h"
#include "table/schema.h"
#include "test.h"

static struct bytes random_name(struct random *random, struct arena *arena) {
    return arena_printf(arena, "name-%llu", (unsigned long long)random_below(random, 1000));
}

static struct key_schema random_keys(struct random *random, struct arena *arena) {
    struct key_schema keys = {.partition_count = (uint8_t)(1 + random_below(random, 4)),
                              .sort_count = (uint8_t)random_below(random, 5)};
    for (unsigned i = 0; i < key_schema_count(&keys); i++)
        keys.parts[i] = (struct key_part){random_name(random, arena),
                                          (enum value_type)(VALUE_S + random_below(random, 3))};
    return keys;
}

static struct capacity_settings random_capacity(struct random *random) {
    return (struct capacity_settings){
        .provisioned = {(int64_t)random_below(random, 100), (int64_t)random_below(random, 100)},
        .on_demand_max = {-1, (int64_t)random_below(random, 100)},
        .warm = {(int64_t)random_below(random, 100), 0}};
}

static struct index_schema random_index(struct random *random, struct arena *arena) {
    struct index_schema index = {.name = random_name(random, arena),
                                 .local = random_below(random, 2) == 0,
                                 .keys = random_keys(random, arena),
                                 .projected = (enum projected)random_below(random, 3),
                                 .capacity = random_capacity(random)};
    index.included_count = (uint32_t)random_below(random, 4);
    struct bytes *included = ARENA_ARRAY(arena, struct bytes, index.included_count);
    for (uint32_t i = 0; i < index.included_count; i++)
        included[i] = random_name(random, arena);
    index.included = included;
    return index;
}

static struct table_schema random_schema(struct random *random, struct arena *arena) {
    struct table_schema schema = {.name = random_name(random, arena),
                                  .attribute_count = (uint32_t)random_below(random, 6),
                                  .keys = random_keys(random, arena),
                                  .index_count = (uint32_t)random_below(random, 6),
                                  .billing = (enum billing)random_below(random, 2),
                                  .capacity = random_capacity(random),
                                  .stream = (enum stream_view)random_below(random, 5),
                                  .deletion_protection = random_below(random, 2) == 0,
                                  .table_class = BYTES("STANDARD"),
                                  .encrypted = random_below(random, 2) == 0,
                                  .encryption_key = BYTES("key"),
                                  .expiry = random_name(random, arena),
                                  .tag_count = (uint32_t)random_below(random, 4)};
    schema.attributes = ARENA_ARRAY(arena, struct key_part, schema.attribute_count);
    for (uint32_t i = 0; i < schema.attribute_count; i++)
        schema.attributes[i] = (struct key_part){random_name(random, arena), VALUE_B};
    schema.indexes = ARENA_ARRAY(arena, struct index_schema, schema.index_count);
    for (uint32_t i = 0; i < schema.index_count; i++)
        schema.indexes[i] = random_index(random, arena);
    schema.tags = ARENA_ARRAY(arena, struct tag, schema.tag_count);
    for (uint32_t i = 0; i < schema.tag_count; i++)
        schema.tags[i] = (struct tag){random_name(random, arena), random_name(random, arena)};
    return schema;
}

/* Encoding again gives the same bytes, so nothing was lost: each field is in them. */
static void test_round_trip(void **state) {
    (void)state;
    struct random random;
    struct arena arena;
    random_seed(&random, test_seed());
    arena_init(&arena);
    for (unsigned round = 0; round < 500; round++) {
        struct table_schema schema = random_schema(&random, &arena), copy, decoded;
        struct buf first = {0}, second = {0};
        table_schema_encode(&schema, &first);
        assert_int_equal(table_schema_decode(buf_bytes(&first), &arena, &decoded), OK);
        assert_bytes_equal(decoded.name, schema.name);
        assert_int_equal(decoded.index_count, schema.index_count);
        assert_int_equal(decoded.capacity.on_demand_max.read, -1);
        copy = table_schema_copy(&arena, &decoded);
        memset(first.data, 0, 1); /* a copy borrows nothing */
        table_schema_encode(&copy, &second);
        memcpy(first.data, second.data, 1);
        assert_bytes_equal(buf_bytes(&first), buf_bytes(&second));
        buf_release(&first);
        buf_release(&second);
        arena_reset(&arena);
    }
    arena_release(&arena);
}

/* What was written before tables could expire: all but the expiry, which stands before the tags. */
static void test_older_format(void **state) {
    (void)state;
    struct arena arena;
    struct buf bytes = {0};
    struct table_schema schema = {.name = BYTES("old"),
                                  .keys = {.parts = {{BYTES("a"), VALUE_S}}, .partition_count = 1},
                                  .encryption_key = BYTES("key")},
                        out;
    arena_init(&arena);
    table_schema_encode(&schema, &bytes);
    assert_int_equal(bytes.data[bytes.size - 1], 0); /* no tags */
    assert_int_equal(bytes.data[bytes.size - 2], 0); /* no expiry */
    bytes.data[0] = 1;
    bytes.size--;
    assert_int_equal(table_schema_decode(buf_bytes(&bytes), &arena, &out), OK);
    assert_bytes_equal(out.encryption_key, BYTES("key"));
    assert_int_equal(out.expiry.size, 0);
    bytes.data[0] = 3;
    assert_int_equal(table_schema_decode(buf_bytes(&bytes), &arena, &out), DAMAGED);
    buf_release(&bytes);
    arena_release(&arena);
}

static void test_damage(void **state) {
    (void)state;
    struct random random;
    struct arena arena;
    random_seed(&random, test_seed());
    arena_init(&arena);
    for (unsigned round = 0; round < 300; round++) {
        struct table_schema schema = random_schema(&random, &arena), out;
        struct buf bytes = {0};
        table_schema_encode(&schema, &bytes);
        for (size_t size = 0; size < bytes.size; size += 1 + random_below(&random, 5)) {
            uint8_t *exact = malloc(size + 1);
            memcpy(exact, bytes.data, size);
            assert_int_equal(table_schema_decode(bytes_of(exact, size), &arena, &out), DAMAGED);
            free(exact);
        }
        for (unsigned i = 0; i < 50; i++) { /* must not crash; may go unnoticed */
            bytes.data[random_below(&random, bytes.size)] ^=
                (uint8_t)(1 << random_below(&random, 8));
            (void)table_schema_decode(buf_bytes(&bytes), &arena, &out);
        }
        buf_release(&bytes);
        arena_reset(&arena);
    }
    arena_release(&arena);
}

static void test_look_up(void **state) {
    (void)state;
    struct index_schema indexes[2] = {{.name = BYTES("one")}, {.name = BYTES("two")}};
    struct table_schema schema = {.indexes = indexes, .index_count = 2};
    assert_ptr_equal(table_schema_index(&schema, BYTES("two")), &indexes[1]);
    assert_null(table_schema_index(&schema, BYTES("three")));
    struct key_schema keys = {.parts = {{BYTES("a"), VALUE_S}, {BYTES("b"), VALUE_S}},
                              .partition_count = 1};
    assert_true(key_schema_has(&keys, BYTES("a")));
    assert_false(key_schema_has(&keys, BYTES("b"))); /* beyond the counts */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_older_format),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_look_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
