/* Encoded items become the JSON that their decoded form is written as, and what is no item for the
 * decoder is none here. */
#include "values.h"

#include "value/codec.h"
#include "json/attribute.h"

static struct arena arena;
static struct names *names;

/* Reads a copy of exactly that size, so that a sanitizer sees every byte read beyond it; both ways
 * must agree. */
static bool check_same(struct attribute_transcoder *by, struct bytes encoded) {
    struct buf out = {0}, want = {0};
    struct item item;
    size_t size = 0;
    uint8_t *exact = malloc(encoded.size + (encoded.size == 0));
    memcpy(exact, encoded.data, encoded.size);
    struct bytes from = bytes_of(exact, encoded.size);
    bool good = item_decode(from, names, &arena, &item) == OK;
    assert_int_equal(attribute_transcode(by, from, &out, &size), good);
    if (good) {
        attribute_write_item(&want, &item);
        assert_bytes_equal(buf_bytes(&out), buf_bytes(&want));
        assert_int_equal(size, item_size(&item));
    }
    free(exact);
    buf_release(&out);
    buf_release(&want);
    return good;
}

static void agrees_with_the_decoder(void **state) {
    (void)state;
    struct random random;
    struct buf encoded = {0};
    struct attribute_transcoder by = {.names = names, .arena = &arena};
    random_seed(&random, test_seed());
    for (int round = 0; round < 5000; round++) {
        arena_reset(&arena);
        struct item item = random_item(&random, &arena);
        buf_clear(&encoded);
        item_encode(&item, names, &encoded);
        assert_true(check_same(&by, buf_bytes(&encoded)));
    }
    buf_release(&encoded);
}

/* The thread's own, with dictionaries in turn whose codes mean different names. */
static void a_thread_has_one(void **state) {
    (void)state;
    struct buf encoded = {0};
    for (int round = 0; round < 20; round++) {
        struct names *other = names_new();
        struct pair pairs[3];
        arena_reset(&arena);
        for (int i = 0; i < 3; i++)
            pairs[i] = (struct pair){arena_printf(&arena, "%c%d", 'a' + i, round),
                                     value_string(BYTES("text"))};
        struct item item = {pairs, 3};
        for (int again = 0; again < 2; again++) {
            struct buf json = {0}, want = {0};
            size_t size;
            buf_clear(&encoded);
            item_encode(&item, other, &encoded);
            struct attribute_transcoder *by = attribute_transcoder_of_thread(other, &arena);
            assert_ptr_equal(by, attribute_transcoder_of_thread(other, &arena));
            assert_true(attribute_transcode(by, buf_bytes(&encoded), &json, &size));
            attribute_write_item(&want, &item);
            assert_bytes_equal(buf_bytes(&json), buf_bytes(&want));
            buf_release(&json);
            buf_release(&want);
        }
        names_free(other); /* the next one may be at the same address */
    }
    buf_release(&encoded);
}

/* More names than slots, of every length, with and without something to escape, in turns. */
static void knows_many_names(void **state) {
    (void)state;
    enum { COUNT = 100 };
    struct attribute_transcoder by = {.names = names, .arena = &arena};
    struct buf encoded = {0};
    arena_reset(&arena);
    for (int round = 0; round < 4; round++) {
        struct pair pairs[COUNT];
        for (size_t i = 0; i < COUNT; i++) {
            char *name = arena_alloc(&arena, COUNT + 1);
            memset(name, 'n', COUNT + 1);
            name[i / 2] = i % 2 == 0 ? '"' : 'm';
            pairs[i].name = bytes_of(name, i + 1);
            pairs[i].value = value_string(pairs[i].name);
            if ((i + (size_t)round) % 3 == 0)
                pairs[i].value =
                    (struct value){.type = VALUE_N, .bytes = number_from_int(&arena, (int64_t)i)};
            else if ((i + (size_t)round) % 3 == 1)
                pairs[i].value = value_bool(true);
        }
        struct item item = {pairs, value_sort_pairs(pairs, COUNT)};
        buf_clear(&encoded);
        item_encode(&item, names, &encoded);
        assert_true(check_same(&by, buf_bytes(&encoded)));
    }
    buf_release(&encoded);
}

static void refuses_what_the_decoder_refuses(void **state) {
    (void)state;
    struct random random;
    struct buf encoded = {0};
    struct attribute_transcoder by = {.names = names, .arena = &arena};
    unsigned refused = 0;
    random_seed(&random, test_seed());
    for (int round = 0; round < 300; round++) {
        arena_reset(&arena);
        struct item item = random_item(&random, &arena);
        buf_clear(&encoded);
        item_encode(&item, names, &encoded);
        for (int i = 0; i < 20 && encoded.size != 0; i++) {
            size_t at = random_below(&random, encoded.size);
            uint8_t bit = (uint8_t)(1 << random_below(&random, 8));
            refused += !check_same(&by, bytes_of(encoded.data, at));
            encoded.data[at] ^= bit;
            refused += !check_same(&by, buf_bytes(&encoded));
            encoded.data[at] ^= bit;
        }
    }
    assert_true(refused > 0);
    buf_release(&encoded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_decoder),
        cmocka_unit_test(knows_many_names),
        cmocka_unit_test(a_thread_has_one),
        cmocka_unit_test(refuses_what_the_decoder_refuses),
    };
    arena_init(&arena);
    names = names_new();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    names_free(names);
    arena_release(&arena);
    return failed;
}
