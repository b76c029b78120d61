/* Keys against what they stand for: order, ranges, segments, and the way back. */
#include "base/random.h"
#include "table/local/local_int.h"
#include "table/local/model.h"
#include "test.h"
#include "values.h"

struct fixture {
    struct random random;
    struct arena arena;
    struct table table;
    struct table_schema schema;
    struct index_schema index_schema;
    struct index index;
};

static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

static struct key_part random_part(struct fixture *f, unsigned name) {
    return (struct key_part){bytes_str(names[name]),
                             (enum value_type)(VALUE_S + random_below(&f->random, 3))};
}

/* A table with keys a and perhaps b, an index on some of a .. h. */
static void make_schema(struct fixture *f) {
    struct key_part parts[8];
    for (unsigned i = 0; i < 8; i++)
        parts[i] = random_part(f, i);
    f->table.id = 1 + (uint32_t)random_below(&f->random, 1000);
    f->schema = (struct table_schema){.keys = {.parts = {parts[0], parts[1]},
                                               .partition_count = 1,
                                               .sort_count = (uint8_t)random_below(&f->random, 2)}};
    struct key_schema keys = {.partition_count = (uint8_t)(1 + random_below(&f->random, 4)),
                              .sort_count = (uint8_t)random_below(&f->random, 5)};
    for (unsigned i = 0; i < 8; i++) { /* a shuffle */
        unsigned j = (unsigned)random_below(&f->random, i + 1);
        struct key_part kept = parts[i];
        parts[i] = parts[j];
        parts[j] = kept;
    }
    memcpy(keys.parts, parts, sizeof parts);
    f->index_schema = (struct index_schema){.name = BYTES("index"), .keys = keys};
    f->index = (struct index){.schema = &f->index_schema};
    keys_prepare_index(&f->index, &f->schema);
}

static enum value_type type_of(struct fixture *f, unsigned name) {
    for (unsigned i = 0; i < 8; i++)
        if (bytes_equal(f->index_schema.keys.parts[i].name, bytes_str(names[name])))
            return f->index_schema.keys.parts[i].type;
    return VALUE_S;
}

static struct value key_value(struct fixture *f, enum value_type type) {
    struct value value = {.type = type};
    do
        value.bytes = random_scalar(&f->random, &f->arena, type);
    while (value.bytes.size == 0);
    return value;
}

static struct item make_item(struct fixture *f) {
    struct pair *pairs = ARENA_ARRAY(&f->arena, struct pair, 8);
    for (unsigned i = 0; i < 8; i++)
        pairs[i] = (struct pair){bytes_str(names[i]), key_value(f, type_of(f, i))};
    return (struct item){pairs, 8};
}

static int compare_by(const struct key_schema *keys, const struct item *a, const struct item *b) {
    for (unsigned i = 0; i < key_schema_count(keys); i++) {
        int order =
            value_compare(item_get(a, keys->parts[i].name), item_get(b, keys->parts[i].name));
        if (order != 0)
            return order < 0 ? -1 : 1;
    }
    return 0;
}

static bool same_partition(const struct key_schema *keys, const struct item *a,
                           const struct item *b) {
    struct key_schema partition = *keys;
    partition.sort_count = 0;
    return compare_by(&partition, a, b) == 0;
}

static void setup(struct fixture *f) {
    *f = (struct fixture){0};
    random_seed(&f->random, test_seed());
    arena_init(&f->arena);
}

/* Items of one partition stand in the order of their sort keys; an entry leads back. */
static void test_order_and_back(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    for (unsigned round = 0; round < 3000; round++) {
        arena_reset(&f.arena);
        make_schema(&f);
        struct item a = make_item(&f), b = make_item(&f);
        struct pair *of_b = (struct pair *)(uintptr_t)b.pairs;
        for (unsigned i = 0; i < f.index_schema.keys.partition_count; i++)
            for (unsigned j = 0; j < 8; j++)
                if (bytes_equal(of_b[j].name, f.index_schema.keys.parts[i].name))
                    of_b[j].value = a.pairs[j].value;
        struct buf x = {0}, y = {0}, back = {0}, key = {0};
        assert_true(keys_put_entry(&x, &f.schema, &f.index, &a));
        assert_true(keys_put_entry(&y, &f.schema, &f.index, &b));
        int want = compare_by(&f.index_schema.keys, &a, &b);
        int is = bytes_compare(buf_bytes(&x), buf_bytes(&y));
        if (want != 0)
            assert_int_equal(is < 0 ? -1 : is > 0, want);
        keys_put_item(&key, &f.table, &f.schema, &a);
        struct key_order order = {&f.table, &f.schema, &f.index};
        assert_int_equal(keys_entry_to_item(&back, &order, buf_bytes(&x)), OK);
        assert_bytes_equal(buf_bytes(&back), buf_bytes(&key));
        struct item decoded;
        struct entry_shape shape;
        keys_shape(&shape, &f.index, &f.arena);
        assert_int_equal(keys_entry_decode(&shape, buf_bytes(&x), &f.arena, &decoded), OK);
        struct item expected = rules_key_of(&f.schema, &f.index_schema, &a, &f.arena);
        assert_true(item_equal(&decoded, &expected));
        assert_int_equal(keys_entry_to_item(&back, &order, bytes_of(x.data, x.size - 1)), DAMAGED);
        buf_release(&x), buf_release(&y), buf_release(&back), buf_release(&key);
    }
    arena_release(&f.arena);
}

static bool in_model(const struct key_schema *keys, const struct key_range *range,
                     const struct item *pivot, const struct item *item) {
    if (!same_partition(keys, pivot, item))
        return false;
    const struct key_part *sort = keys->parts + keys->partition_count;
    for (unsigned i = 0; i < range->equal_count; i++)
        if (!value_equal(item_get(item, sort[i].name), &range->equal[i]))
            return false;
    if (!range->ranged)
        return true;
    const struct value *value = item_get(item, sort[range->equal_count].name);
    return model_holds(range->op, value, &range->low, &range->high);
}

static struct key_range random_range(struct fixture *f, const struct key_schema *keys,
                                     const struct item *pivot) {
    struct key_range range = {0};
    for (unsigned i = 0; i < keys->partition_count; i++)
        range.partition[i] = *item_get(pivot, keys->parts[i].name);
    const struct key_part *sort = keys->parts + keys->partition_count;
    range.equal_count = (unsigned)random_below(&f->random, keys->sort_count + 1u);
    for (unsigned i = 0; i < range.equal_count; i++)
        range.equal[i] = *item_get(pivot, sort[i].name);
    if (range.equal_count == keys->sort_count || random_below(&f->random, 4) == 0)
        return range;
    enum value_type type = sort[range.equal_count].type;
    range.ranged = true;
    range.op =
        (enum key_op)random_below(&f->random, type == VALUE_N ? KEY_BETWEEN + 1 : KEY_BEGINS + 1);
    range.low = random_below(&f->random, 2) == 0 ? *item_get(pivot, sort[range.equal_count].name)
                                                 : key_value(f, type);
    range.high = key_value(f, type);
    if (value_compare(&range.low, &range.high) > 0) {
        struct value kept = range.low;
        range.low = range.high;
        range.high = kept;
    }
    if (range.op == KEY_BEGINS)
        range.low.bytes.size = 1 + random_below(&f->random, range.low.bytes.size);
    return range;
}

/* Whatever is between the bounds is what the condition says, and nothing else. */
static void test_bounds(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    for (unsigned round = 0; round < 6000; round++) {
        arena_reset(&f.arena);
        make_schema(&f);
        bool through_index = random_below(&f.random, 2) == 0;
        const struct index *index = through_index ? &f.index : NULL;
        const struct key_schema *keys = through_index ? &f.index_schema.keys : &f.schema.keys;
        struct item pivot = make_item(&f);
        struct key_range range = random_range(&f, keys, &pivot);
        struct buf low = {0}, high = {0}, key = {0};
        struct key_order order = {&f.table, &f.schema, index};
        keys_put_bounds(&low, &high, &order, &range);
        for (unsigned i = 0; i < 8; i++) {
            struct item item = make_item(&f);
            struct pair *pairs = (struct pair *)(uintptr_t)item.pairs;
            for (unsigned j = 0; j < 8; j++) /* near the pivot, more often than not */
                if (random_below(&f.random, 4) != 0)
                    pairs[j].value = pivot.pairs[j].value;
            buf_clear(&key);
            if (through_index)
                keys_put_entry(&key, &f.schema, index, &item);
            else
                keys_put_item(&key, &f.table, &f.schema, &item);
            bool inside = bytes_compare(buf_bytes(&key), buf_bytes(&low)) >= 0 &&
                          bytes_compare(buf_bytes(&key), buf_bytes(&high)) < 0;
            assert_int_equal(inside, in_model(keys, &range, &pivot, &item));
        }
        buf_release(&low), buf_release(&high), buf_release(&key);
    }
    arena_release(&f.arena);
}

static void test_segments(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    for (unsigned round = 0; round < 500; round++) {
        arena_reset(&f.arena);
        make_schema(&f);
        const struct index *index = random_below(&f.random, 2) == 0 ? &f.index : NULL;
        uint32_t segments = 1 + (uint32_t)random_below(&f.random, 20);
        struct item item = make_item(&f);
        struct buf key = {0};
        if (index != NULL)
            keys_put_entry(&key, &f.schema, index, &item);
        else
            keys_put_item(&key, &f.table, &f.schema, &item);
        unsigned times = 0;
        for (uint32_t i = 0; i < segments; i++) {
            struct buf low = {0}, high = {0};
            struct key_order order = {.table = &f.table, .index = index};
            keys_put_segment(&low, &high, &order, (struct scan_segment){i, segments});
            times += bytes_compare(buf_bytes(&key), buf_bytes(&low)) >= 0 &&
                     (high.size == 0 || bytes_compare(buf_bytes(&key), buf_bytes(&high)) < 0);
            buf_release(&low), buf_release(&high);
        }
        assert_int_equal(times, 1);
        buf_release(&key);
    }
    arena_release(&f.arena);
}

static void test_sparse(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct buf entry = {0};
    for (unsigned round = 0; round < 200; round++) {
        arena_reset(&f.arena);
        make_schema(&f);
        struct item item = make_item(&f);
        struct bytes name = f.index_schema.keys.parts[0].name;
        struct item without = item_with(&f.arena, &item, name, NULL);
        struct value truth = value_bool(true), empty = {.type = VALUE_S};
        struct item other = item_with(&f.arena, &item, name, &truth);
        struct item blank = item_with(&f.arena, &item, name, &empty);
        empty.bytes = bytes_of(arena_zalloc(&f.arena, 100000), 100000);
        struct item large = item_with(&f.arena, &item, name, &empty);
        assert_true(keys_put_entry(&entry, &f.schema, &f.index, &item));
        buf_clear(&entry);
        assert_false(keys_put_entry(&entry, &f.schema, &f.index, &without));
        assert_false(keys_put_entry(&entry, &f.schema, &f.index, &other));
        assert_false(keys_put_entry(&entry, &f.schema, &f.index, &blank));
        assert_false(keys_put_entry(&entry, &f.schema, &f.index, &large));
        assert_true(rules_indexed(&f.index_schema, &item));
        assert_false(rules_indexed(&f.index_schema, &without));
        assert_false(rules_indexed(&f.index_schema, &large));
        assert_int_equal(entry.size, 0);
    }
    buf_release(&entry);
    arena_release(&f.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_back),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_sparse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
