#include "test.h"

#include "base/random.h"
#include "base/ulid.h"

static struct bytes of(const char *text) {
    return bytes_of(text, ULID_SIZE);
}

static void test_known(void **state) {
    (void)state;
    /* Worked out by hand from the alphabet. */
    assert_true(ulid_valid(BYTES("01ARYZ6S41TSV4RRFFQ69G5FAV")));
    assert_int_equal(ulid_time_ms(BYTES("01ARYZ6S410000000000000000")), INT64_C(1469918176385));
    assert_int_equal(ulid_time_ms(BYTES("7ZZZZZZZZZ0000000000000000")), (INT64_C(1) << 48) - 1);
    uint8_t raw[ULID_RAW_SIZE];
    ulid_pack(BYTES("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"), raw);
    for (int i = 0; i < ULID_RAW_SIZE; i++)
        assert_int_equal(raw[i], 0xff);
    ulid_pack(BYTES("00000000000000000000000001"), raw);
    assert_int_equal(raw[15], 1);
    assert_int_equal(raw[14], 0);
}

static void test_refuses(void **state) {
    (void)state;
    assert_false(ulid_valid(BYTES("")));
    assert_false(ulid_valid(BYTES("01ARYZ6S41TSV4RRFFQ69G5FA")));
    assert_false(ulid_valid(BYTES("01ARYZ6S41TSV4RRFFQ69G5FAVX")));
    assert_false(ulid_valid(BYTES("81ARYZ6S41TSV4RRFFQ69G5FAV")));
    assert_false(ulid_valid(BYTES("01ARYZ6S41TSV4RRFFQ69G5FAU")));
    assert_false(ulid_valid(BYTES("01aryz6s41tsv4rrffq69g5fav")));
    assert_false(ulid_valid(BYTES("01ARYZ6S41TSV4RRFFQ69G5FA\0")));
}

static void test_packs(void **state) {
    struct random random;
    (void)state;
    random_seed(&random, test_seed());
    for (int i = 0; i < 1000; i++) {
        uint8_t raw[ULID_RAW_SIZE], back[ULID_RAW_SIZE];
        char text[ULID_SIZE];
        for (int j = 0; j < ULID_RAW_SIZE; j++)
            raw[j] = (uint8_t)random_next(&random);
        ulid_unpack(raw, text);
        assert_true(ulid_valid(of(text)));
        ulid_pack(of(text), back);
        assert_memory_equal(raw, back, ULID_RAW_SIZE);
        int64_t ms = 0;
        for (int j = 0; j < 6; j++)
            ms = ms << 8 | raw[j];
        assert_int_equal(ulid_time_ms(of(text)), ms);
    }
}

static void test_rises(void **state) {
    char last[ULID_SIZE], next[ULID_SIZE];
    (void)state;
    ulid_make(1000, last);
    for (int i = 0; i < 10000; i++) {
        int64_t now_ms = 1000 + i / 3000;
        ulid_make(now_ms, next);
        assert_true(ulid_valid(of(next)));
        assert_int_equal(ulid_time_ms(of(next)), now_ms);
        assert_true(memcmp(last, next, ULID_SIZE) < 0);
        memcpy(last, next, ULID_SIZE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_packs),
        cmocka_unit_test(test_rises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
