#include "values.h"

#include "value/key.h"

enum { PARTS = 3 };

static struct arena arena;

/* Few different bytes, among them those that are escaped, so that keys share long prefixes. */
static struct value random_part(struct random *random, enum value_type type) {
    static const uint8_t bytes[] = {0x00, 0x01, 0x02, 0x03, 0xff, 0xfe, 'a'};
    if (type == VALUE_N)
        return (struct value){.type = type, .bytes = random_number(random, &arena)};
    size_t size = random_below(random, random_below(random, 4) == 0 ? 40 : 4);
    uint8_t *data = arena_alloc(&arena, size + 1);
    uint64_t spread = 1 + random_below(random, sizeof(bytes));
    for (size_t i = 0; i < size; i++)
        data[i] = bytes[random_below(random, spread)];
    return (struct value){.type = type, .bytes = bytes_of(data, size)};
}

static int sign(int order) {
    return (order > 0) - (order < 0);
}

static void orders_as_the_values_do(void **state) {
    (void)state;
    struct random random;
    struct buf left = {0}, right = {0};
    random_seed(&random, test_seed());
    for (int round = 0; round < 50000; round++) {
        int order = 0;
        arena_reset(&arena);
        buf_clear(&left);
        buf_clear(&right);
        for (int i = 0; i < PARTS; i++) {
            enum value_type type = (enum value_type)(VALUE_S + random_below(&random, 3));
            struct value a = random_part(&random, type), b = random_part(&random, type);
            if (random_below(&random, 2) == 0)
                b = a;
            key_put(&left, &a);
            key_put(&right, &b);
            if (order == 0)
                order = sign(value_compare(&a, &b));
        }
        assert_int_equal(sign(bytes_compare(buf_bytes(&left), buf_bytes(&right))), order);
    }
    buf_release(&left);
    buf_release(&right);
}

static void parts_come_back(void **state) {
    (void)state;
    struct random random;
    struct buf key = {0};
    random_seed(&random, test_seed());
    for (int round = 0; round < 20000; round++) {
        struct value parts[PARTS], back;
        arena_reset(&arena);
        buf_clear(&key);
        for (int i = 0; i < PARTS; i++) {
            parts[i] = random_part(&random, (enum value_type)(VALUE_S + random_below(&random, 3)));
            size_t before = key.size;
            key_put(&key, &parts[i]);
            assert_int_equal(key_span(bytes_skip(buf_bytes(&key), before), parts[i].type),
                             key.size - before);
        }
        struct bytes rest = buf_bytes(&key);
        for (int i = 0; i < PARTS; i++) {
            assert_int_equal(key_take(&rest, parts[i].type, &arena, &back), OK);
            assert_true(value_equal(&back, &parts[i]));
        }
        assert_int_equal(rest.size, 0);
    }
    buf_release(&key);
}

static void survives_damage(void **state) {
    (void)state;
    struct random random;
    struct buf key = {0}, again = {0};
    random_seed(&random, test_seed());
    for (int round = 0; round < 20000; round++) {
        enum value_type type = (enum value_type)(VALUE_S + random_below(&random, 3));
        struct value part, back;
        arena_reset(&arena);
        buf_clear(&key);
        part = random_part(&random, type);
        key_put(&key, &part);
        struct bytes cut = bytes_of(key.data, random_below(&random, key.size));
        assert_int_equal(key_take(&cut, type, &arena, &back), DAMAGED);
        key.data[random_below(&random, key.size)] ^= (uint8_t)(1u << random_below(&random, 8));
        struct bytes rest = buf_bytes(&key);
        if (key_take(&rest, type, &arena, &back) == OK) {
            buf_clear(&again);
            key_put(&again, &back);
            assert_bytes_equal(buf_bytes(&again), bytes_of(key.data, key.size - rest.size));
        }
    }
    struct bytes cases[] = {BYTES(""), BYTES("a"), BYTES("\x01\x00"), BYTES("\x01\x03\x00"),
                            BYTES("a\x01\x00")};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct value back;
        assert_int_equal(key_take(&cases[i], VALUE_S, &arena, &back), DAMAGED);
    }
    buf_release(&key);
    buf_release(&again);
}

/* What begins with a prefix lies between the prefix and the key after it; nothing else does. */
static void bounds_prefixes(void **state) {
    (void)state;
    struct random random;
    struct buf low = {0}, high = {0}, key = {0};
    random_seed(&random, test_seed());
    for (int round = 0; round < 20000; round++) {
        arena_reset(&arena);
        buf_clear(&low);
        buf_clear(&high);
        buf_clear(&key);
        struct value prefix = random_part(&random, VALUE_B), whole = random_part(&random, VALUE_B);
        if (round % 2 == 0) {
            struct buf joined = {0};
            buf_put(&joined, prefix.bytes);
            buf_put(&joined, whole.bytes);
            whole.bytes = arena_copy(&arena, buf_bytes(&joined));
            buf_release(&joined);
        }
        key_put_prefix(&low, &prefix);
        key_put_prefix(&high, &prefix);
        key_put(&key, &whole);
        bool bounded = key_after_prefix(&high, 0);
        bool between = bytes_compare(buf_bytes(&low), buf_bytes(&key)) <= 0 &&
                       (!bounded || bytes_compare(buf_bytes(&key), buf_bytes(&high)) < 0);
        assert_int_equal(between, bytes_starts(whole.bytes, prefix.bytes));
    }
    buf_release(&low);
    buf_release(&high);
    buf_release(&key);
}

static void steps_past_a_prefix(void **state) {
    (void)state;
    struct buf key = {0};
    buf_lit(&key, "keep\xff\xff");
    assert_true(key_after_prefix(&key, 0));
    assert_bytes_equal(buf_bytes(&key), BYTES("keeq"));
    buf_clear(&key);
    buf_lit(&key, "keep\xff\xff");
    assert_false(key_after_prefix(&key, 4));
    assert_bytes_equal(buf_bytes(&key), BYTES("keep\xff\xff"));
    buf_clear(&key);
    assert_false(key_after_prefix(&key, 0));
    buf_release(&key);
}

static void escapes_as_documented(void **state) {
    (void)state;
    struct buf key = {0};
    struct value part = {.type = VALUE_B, .bytes = BYTES("a\x00\x01\x02\xff")};
    key_put(&key, &part);
    assert_bytes_equal(buf_bytes(&key), BYTES("a\x01\x01\x01\x02\x02\xff\x00"));
    buf_release(&key);
}

static int set_up(void **state) {
    (void)state;
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_as_the_values_do), cmocka_unit_test(parts_come_back),
        cmocka_unit_test(survives_damage),         cmocka_unit_test(bounds_prefixes),
        cmocka_unit_test(steps_past_a_prefix),     cmocka_unit_test(escapes_as_documented),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
