#include "values.h"

#include "base/limits.h"
#include "value/codec.h"

static struct arena arena;
static struct names *names;

/* Decodes a copy of exactly that size, so that a sanitizer sees every byte read beyond it. */
static enum status decode(struct bytes from, struct item *out) {
    uint8_t *exact = malloc(from.size + (from.size == 0));
    memcpy(exact, from.data, from.size);
    struct item item;
    enum status status = item_decode(bytes_of(exact, from.size), names, &arena, &item);
    if (status == OK)
        *out = item_copy(&arena, &item);
    free(exact);
    return status;
}

static void items_come_back(void **state) {
    (void)state;
    struct random random;
    struct buf encoded = {0}, again = {0};
    random_seed(&random, test_seed());
    for (int round = 0; round < 5000; round++) {
        struct item back;
        arena_reset(&arena);
        struct item item = random_item(&random, &arena);
        buf_clear(&encoded);
        buf_clear(&again);
        item_encode(&item, names, &encoded);
        assert_int_equal(decode(buf_bytes(&encoded), &back), OK);
        assert_true(item_equal(&item, &back));
        item_encode(&back, names, &again);
        assert_bytes_equal(buf_bytes(&encoded), buf_bytes(&again));
    }
    buf_release(&encoded);
    buf_release(&again);
}

/* Encodes the item with the codes of its names, which it looks up. False if one has none. */
static bool encode_coded(const struct item *item, struct buf *to) {
    int *codes = arena_alloc(&arena, (item->count + 1) * sizeof(*codes));
    for (uint32_t i = 0; i < item->count; i++)
        if ((codes[i] = names_intern(names, item->pairs[i].name)) == NAMES_FULL)
            return false;
    item_encode_coded(item, codes, to);
    return true;
}

static void known_codes_make_no_difference(void **state) {
    (void)state;
    struct random random;
    struct buf encoded = {0}, coded = {0};
    random_seed(&random, test_seed());
    for (int round = 0; round < 1000; round++) {
        arena_reset(&arena);
        struct item item = random_item(&random, &arena);
        buf_clear(&encoded);
        buf_clear(&coded);
        item_encode(&item, names, &encoded);
        assert_int_equal(item_encoded_count(buf_bytes(&encoded)), item.count);
        if (encode_coded(&item, &coded))
            assert_bytes_equal(buf_bytes(&coded), buf_bytes(&encoded));
    }
    assert_int_equal(item_encoded_count((struct bytes){0}), 0);
    buf_release(&encoded);
    buf_release(&coded);
}

/* Some of the item's names and some of no item's, in order. */
static unsigned random_names(struct random *random, const struct item *item, struct bytes *out) {
    struct pair wanted[64];
    uint32_t count = 0;
    for (uint32_t i = 0; i < item->count && count < 60; i++)
        if (random_below(random, 2) == 0)
            wanted[count++].name = item->pairs[i].name;
    for (int i = 0; i < 4; i++)
        wanted[count++].name = random_bytes(random, &arena, true);
    count = value_sort_pairs(wanted, count);
    for (uint32_t i = 0; i < count; i++)
        out[i] = wanted[i].name;
    return count;
}

static void finds_some_attributes(void **state) {
    (void)state;
    struct random random;
    struct buf encoded = {0};
    random_seed(&random, test_seed());
    for (int round = 0; round < 2000; round++) {
        struct value found[64];
        struct bytes wanted[64];
        arena_reset(&arena);
        struct item item = random_item(&random, &arena);
        unsigned count = random_names(&random, &item, wanted);
        buf_clear(&encoded);
        item_encode(&item, names, &encoded);
        assert_int_equal(item_decode_some(buf_bytes(&encoded),
                                          &(struct item_wanted){names, wanted, count}, &arena,
                                          found),
                         OK);
        struct value picked[sizeof found / sizeof found[0]];
        struct item_extractor *extractor = ARENA_NEW(&arena, struct item_extractor);
        item_extractor_init(extractor, wanted, count);
        assert_int_equal(item_extract(&(struct item_encoded){buf_bytes(&encoded), names}, extractor,
                                      &arena, picked),
                         OK);
        for (unsigned i = 0; i < count; i++) {
            const struct value *value = item_get(&item, wanted[i]);
            assert_int_equal(found[i].type, value == NULL ? VALUE_NONE : value->type);
            assert_true(value == NULL || value_equal(&found[i], value));
            assert_int_equal(picked[i].type, found[i].type);
            assert_true(value == NULL || value_equal(&picked[i], value));
        }
    }
    buf_release(&encoded);
}

static void values_come_back(void **state) {
    (void)state;
    struct random random;
    struct buf encoded = {0};
    random_seed(&random, test_seed());
    for (int round = 0; round < 2000; round++) {
        struct value back;
        arena_reset(&arena);
        buf_clear(&encoded);
        struct value first = random_value(&random, &arena, 3);
        struct value second = random_value(&random, &arena, 3);
        value_encode(&first, &encoded);
        value_encode(&second, &encoded);
        struct bytes rest = buf_bytes(&encoded);
        assert_int_equal(value_decode(&rest, &arena, &back), OK);
        assert_true(value_equal(&back, &first));
        assert_int_equal(value_decode(&rest, &arena, &back), OK);
        assert_true(value_equal(&back, &second));
        assert_int_equal(rest.size, 0);
        assert_int_equal(value_decode(&rest, &arena, &back), DAMAGED);
    }
    buf_release(&encoded);
}

static void is_compact(void **state) {
    (void)state;
    struct pair pairs[] = {{BYTES("GSI1SK"), value_string(BYTES("abc"))},
                           {BYTES("on"), value_bool(true)}};
    struct item item = {.pairs = pairs, .count = 2};
    struct buf encoded = {0};
    struct names *own = names_new();
    item_encode(&item, own, &encoded);
    assert_bytes_equal(buf_bytes(&encoded), BYTES("\x02\x01\x01\x03"
                                                  "abc\x02\x09\x01"));
    buf_release(&encoded);
    names_free(own);
}

static void spells_names_out_when_full(void **state) {
    (void)state;
    struct pair pair = {BYTES("late"), value_bool(true)};
    struct item item = {.pairs = &pair, .count = 1}, back;
    struct buf encoded = {0};
    struct names *full = names_new();
    struct value found;
    for (int i = 0; i < LIMIT_NAME_CODES; i++)
        names_intern(full, arena_printf(&arena, "%d", i));
    item_encode(&item, full, &encoded);
    assert_int_equal(item_decode(buf_bytes(&encoded), full, &arena, &back), OK);
    assert_true(item_equal(&item, &back));
    assert_int_equal(item_decode_some(buf_bytes(&encoded),
                                      &(struct item_wanted){full, &pair.name, 1}, &arena, &found),
                     OK);
    assert_true(value_equal(&found, &pair.value));
    struct item_extractor *extractor = ARENA_NEW(&arena, struct item_extractor);
    item_extractor_init(extractor, &pair.name, 1);
    assert_int_equal(
        item_extract(&(struct item_encoded){buf_bytes(&encoded), full}, extractor, &arena, &found),
        OK);
    assert_true(value_equal(&found, &pair.value));
    buf_release(&encoded);
    names_free(full);
}

/* Every truncation is DAMAGED; a flipped bit gives DAMAGED or an item that is well-formed. */
static void survives_damage(void **state) {
    (void)state;
    struct random random;
    struct buf encoded = {0}, again = {0};
    random_seed(&random, test_seed());
    for (int round = 0; round < 400; round++) {
        struct item back;
        struct value found;
        struct bytes last = BYTES("zzzz");
        arena_reset(&arena);
        struct item item = random_item(&random, &arena);
        buf_clear(&encoded);
        item_encode(&item, names, &encoded);
        struct item_extractor *extractor = ARENA_NEW(&arena, struct item_extractor);
        item_extractor_init(extractor, &last, 1);
        for (size_t cut = 0; cut < encoded.size && cut < 600; cut++) {
            assert_int_equal(decode(bytes_of(encoded.data, cut), &back), DAMAGED);
            item_decode_some(bytes_of(encoded.data, cut), &(struct item_wanted){names, &last, 1},
                             &arena, &found);
            assert_int_equal(
                item_extract(&(struct item_encoded){bytes_of(encoded.data, cut), names}, extractor,
                             &arena, &found),
                DAMAGED);
        }
        for (int flip = 0; flip < 100; flip++) {
            size_t at = random_below(&random, encoded.size);
            uint8_t bit = (uint8_t)(1u << random_below(&random, 8));
            encoded.data[at] ^= bit;
            if (decode(buf_bytes(&encoded), &back) == OK) {
                buf_clear(&again);
                item_encode(&back, names, &again);
                assert_int_equal(decode(buf_bytes(&again), &item), OK);
                assert_true(item_equal(&item, &back));
            }
            item_decode_some(buf_bytes(&encoded), &(struct item_wanted){names, &last, 1}, &arena,
                             &found);
            item_extract(&(struct item_encoded){buf_bytes(&encoded), names}, extractor, &arena,
                         &found);
            encoded.data[at] ^= bit;
        }
    }
    buf_release(&encoded);
    buf_release(&again);
}

static void refuses_what_makes_no_sense(void **state) {
    (void)state;
    struct item item;
    static const struct bytes cases[] = {
        {(const uint8_t *)"", 0},      /* no count */
        {(const uint8_t *)"\x00x", 2}, /* more than the item */
        {(const uint8_t *)"\x01\x00\x01"
                          "a\x0b",
         5}, /* no such type */
        {(const uint8_t *)"\x01\x00\x01"
                          "a\x00",
         5},                                      /* the type of nothing */
        {(const uint8_t *)"\x01\xff\x7f\x0a", 4}, /* no such name */
        {(const uint8_t *)"\x01\x00\x01"
                          "a\x09\x02",
         6}, /* neither true nor false */
        {(const uint8_t *)"\x01\x00\x01"
                          "a\x04\x00",
         6}, /* empty set */
        {(const uint8_t *)"\x01\x00\x01"
                          "a\x04\x02\x01x\x01x",
         10}, /* twice the same */
        {(const uint8_t *)"\x01\x00\x01"
                          "a\x04\x02\x01y\x01x",
         10}, /* out of order */
        {(const uint8_t *)"\x01\x00\x01"
                          "a\x02\x01\x7f",
         7}, /* not a number */
        {(const uint8_t *)"\x02\x00\x01"
                          "a\x0a\x00\x01"
                          "a\x0a",
         9}, /* a name twice */
        {(const uint8_t *)"\x02\x00\x01"
                          "b\x0a\x00\x01"
                          "a\x0a",
         9},                                                               /* names out of order */
        {(const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10}, /* too many */
        {(const uint8_t *)"\x01\x00\x01"
                          "a\x08\xff\xff\xff\xff\x0f",
         10}, /* a list too long */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (decode(cases[i], &item) != DAMAGED)
            fail_msg("case %zu", i);
}

static void bounds_depth(void **state) {
    (void)state;
    struct buf encoded = {0};
    struct value value;
    for (int i = 0; i < 100000; i++)
        buf_lit(&encoded, "\x08\x01");
    buf_lit(&encoded, "\x0a");
    struct bytes rest = buf_bytes(&encoded);
    assert_int_equal(value_decode(&rest, &arena, &value), DAMAGED);
    rest = bytes_skip(rest, encoded.size - 1 - 2 * LIMIT_NESTING);
    assert_int_equal(value_decode(&rest, &arena, &value), OK);
    assert_int_equal(value_depth(&value), LIMIT_NESTING);
    buf_release(&encoded);
}

static int set_up(void **state) {
    (void)state;
    arena_init(&arena);
    names = names_new();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_release(&arena);
    names_free(names);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_back),
        cmocka_unit_test(known_codes_make_no_difference),
        cmocka_unit_test(finds_some_attributes),
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(is_compact),
        cmocka_unit_test(spells_names_out_when_full),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(refuses_what_makes_no_sense),
        cmocka_unit_test(bounds_depth),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
