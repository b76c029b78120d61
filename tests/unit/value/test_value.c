#include "values.h"

static struct arena arena;

static struct value number(const char *text) {
    struct value value = {.type = VALUE_N};
    assert_int_equal(number_read(&arena, bytes_str(text), &value.bytes), NUMBER_OK);
    return value;
}

static struct value string(const char *text) {
    return value_string(bytes_str(text));
}

static void names_types(void **state) {
    (void)state;
    const char *names[] = {"S", "N", "B", "SS", "NS", "BS", "M", "L", "BOOL", "NULL"};
    for (int i = 0; i < 10; i++) {
        enum value_type type = (enum value_type)(VALUE_S + i);
        assert_string_equal(value_type_name(type), names[i]);
        assert_int_equal(value_type_named(bytes_str(names[i])), type);
        assert_int_equal(value_is_set(type), names[i][1] == 'S');
    }
    assert_string_equal(value_type_name(VALUE_NONE), "");
    const char *others[] = {"", "s", "X", "MS", "LS", "SN", "XS", "bool", "NULLS", "BOO"};
    for (int i = 0; i < 10; i++)
        assert_int_equal(value_type_named(bytes_str(others[i])), VALUE_NONE);
    assert_int_equal(value_element_type(VALUE_NS), VALUE_N);
}

static void measures_sizes(void **state) {
    (void)state;
    struct value elements[] = {string("ab"), number("12"), value_bool(true)};
    struct pair pairs[] = {{BYTES("k"), string("v")}, {BYTES("long"), {.type = VALUE_NULL}}};
    struct value list = {.type = VALUE_L, .count = 3, .elements = elements};
    struct value map = {.type = VALUE_M, .count = 2, .pairs = pairs};
    struct value set = {.type = VALUE_SS, .count = 1, .elements = elements};
    struct item item = {.pairs = pairs, .count = 2};
    assert_int_equal(value_size(&elements[0]), 2);
    assert_int_equal(value_size(&elements[1]), 2);
    assert_int_equal(value_size(&set), 2);
    assert_int_equal(value_size(&list), 3 + 3 + 2 + 2 + 1);
    assert_int_equal(value_size(&map), 3 + 2 + 1 + 1 + 4 + 1);
    assert_int_equal(item_size(&item), 1 + 1 + 4 + 1);
}

static void measures_depth(void **state) {
    (void)state;
    struct value inner = {.type = VALUE_L}, leaf = string("x");
    struct value elements[] = {leaf, inner, leaf};
    struct value list = {.type = VALUE_L, .count = 3, .elements = elements};
    struct pair pair = {BYTES("a"), list};
    struct value map = {.type = VALUE_M, .count = 1, .pairs = &pair};
    assert_int_equal(value_depth(&leaf), 0);
    assert_int_equal(value_depth(&inner), 1);
    assert_int_equal(value_depth(&list), 2);
    assert_int_equal(value_depth(&map), 3);
}

static void sorts_sets(void **state) {
    (void)state;
    struct value elements[] = {string("b"), string(""), string("ab"), string("a")};
    assert_true(value_sort_elements(elements, 4));
    struct value set = {.type = VALUE_SS, .count = 4, .elements = elements};
    assert_true(value_set_has(&set, BYTES("")));
    assert_true(value_set_has(&set, BYTES("ab")));
    assert_true(value_set_has(&set, BYTES("b")));
    assert_false(value_set_has(&set, BYTES("aa")));
    assert_false(value_set_has(&set, BYTES("c")));
    struct value twice[] = {string("b"), string("a"), string("b")};
    assert_false(value_sort_elements(twice, 3));
    assert_true(value_sort_elements(twice, 0));
}

/* Few names and many pairs, so that most are duplicates: the last given stays. */
static void sorts_pairs_stably(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    for (int round = 0; round < 300; round++) {
        struct pair pairs[300];
        const char *last[100] = {0};
        uint32_t count = (uint32_t)random_below(&random, 300), names = 0;
        uint64_t spread = 1 + random_below(&random, 100);
        arena_reset(&arena);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t name = random_below(&random, spread);
            pairs[i].name = arena_printf(&arena, "%02d", (int)name);
            pairs[i].value = value_string(arena_printf(&arena, "%u", i));
            names += last[name] == NULL;
            last[name] = (const char *)pairs[i].value.bytes.data;
        }
        assert_int_equal(value_sort_pairs(pairs, count), names);
        for (uint32_t i = 0; i < names; i++) {
            if (i > 0)
                assert_true(bytes_compare(pairs[i - 1].name, pairs[i].name) < 0);
            int name = atoi(arena_str(&arena, pairs[i].name));
            assert_ptr_equal(pairs[i].value.bytes.data, last[name]);
        }
    }
}

static void compares_structure(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    for (int round = 0; round < 3000; round++) {
        arena_reset(&arena);
        struct value value = random_value(&random, &arena, 3);
        struct value other = random_value(&random, &arena, 3);
        struct value copy = value_copy(&arena, &value);
        assert_true(value_equal(&value, &copy));
        assert_int_equal(value_size(&value), value_size(&copy));
        assert_int_equal(value_equal(&value, &other), value_equal(&other, &value));
        if (value.type != other.type)
            assert_false(value_equal(&value, &other));
        if (value.type <= VALUE_B && value.bytes.size > 0)
            assert_ptr_not_equal(value.bytes.data, copy.bytes.data);
        struct item item = random_item(&random, &arena), twin = item_copy(&arena, &item);
        assert_true(item_equal(&item, &twin));
        for (uint32_t i = 0; i < item.count; i++)
            assert_true(value_equal(item_get(&twin, item.pairs[i].name), &item.pairs[i].value));
    }
    struct value truth = value_bool(true), lie = value_bool(false);
    assert_false(value_equal(&truth, &lie));
    assert_null(value_get(&truth, BYTES("a")));
}

/* However many there are, each name is found and no other. */
static void finds_among_any_number(void **state) {
    (void)state;
    for (uint32_t count = 0; count <= 40; count++) {
        arena_reset(&arena);
        struct pair *pairs = ARENA_ARRAY(&arena, struct pair, count + 1);
        for (uint32_t i = 0; i < count; i++)
            pairs[i] = (struct pair){.name = arena_printf(&arena, "n%02u", 2 * i + 1),
                                     .value = string("v")};
        struct item item = {pairs, count};
        for (uint32_t i = 0; i <= 2 * count; i++) {
            const struct value *found = item_get(&item, arena_printf(&arena, "n%02u", i));
            assert_ptr_equal(found, i % 2 == 1 ? &pairs[i / 2].value : NULL);
        }
        assert_null(item_get(&item, BYTES("")));
        assert_null(item_get(&item, BYTES("n")));
    }
}

static void changes_one_attribute(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    struct value value = string("new");
    for (int round = 0; round < 1000; round++) {
        arena_reset(&arena);
        struct item item = random_item(&random, &arena);
        struct bytes name = random_bytes(&random, &arena, true);
        if (item.count > 0 && round % 2 == 0)
            name = item.pairs[random_below(&random, item.count)].name;
        bool there = item_get(&item, name) != NULL;

        struct item with = item_with(&arena, &item, name, &value);
        assert_int_equal(with.count, item.count + !there);
        assert_true(value_equal(item_get(&with, name), &value));
        struct item without = item_with(&arena, &with, name, NULL);
        assert_int_equal(without.count, item.count - there);
        assert_null(item_get(&without, name));
        for (uint32_t i = 0; i < item.count; i++)
            if (!bytes_equal(item.pairs[i].name, name)) {
                assert_true(value_equal(item_get(&with, item.pairs[i].name), &item.pairs[i].value));
                assert_non_null(item_get(&without, item.pairs[i].name));
            }
        for (uint32_t i = 1; i < with.count; i++)
            assert_true(bytes_compare(with.pairs[i - 1].name, with.pairs[i].name) < 0);
    }
    struct item none = {0}, same = item_with(&arena, &none, BYTES("x"), NULL);
    assert_int_equal(same.count, 0);
}

static void finds_several(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    for (int round = 0; round < 1000; round++) {
        arena_reset(&arena);
        struct item item = random_item(&random, &arena), other = random_item(&random, &arena);
        /* Every second of the item's own names, and now and then one that may not be there. */
        struct pair *asked = ARENA_ARRAY(&arena, struct pair, item.count + 1);
        struct bytes *names = ARENA_ARRAY(&arena, struct bytes, item.count + 1);
        const struct value **out = ARENA_ARRAY(&arena, const struct value *, item.count + 1);
        uint32_t count = 0;
        bool all = true;
        for (uint32_t i = 0; i < item.count; i++)
            if (random_below(&random, 2) == 0)
                asked[count++] = item.pairs[i];
        if (other.count > 0 && round % 3 == 0)
            asked[count++] = other.pairs[random_below(&random, other.count)];
        count = value_sort_pairs(asked, count);
        for (uint32_t i = 0; i < count; i++) {
            names[i] = asked[i].name;
            all &= item_get(&item, names[i]) != NULL;
        }
        assert_int_equal(item_get_all(&item, names, count, out), all);
        for (uint32_t i = 0; all && i < count; i++)
            assert_ptr_equal(out[i], item_get(&item, names[i]));
    }
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
        cmocka_unit_test(names_types),           cmocka_unit_test(measures_sizes),
        cmocka_unit_test(measures_depth),        cmocka_unit_test(sorts_sets),
        cmocka_unit_test(sorts_pairs_stably),    cmocka_unit_test(compares_structure),
        cmocka_unit_test(changes_one_attribute), cmocka_unit_test(finds_among_any_number),
        cmocka_unit_test(finds_several),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
