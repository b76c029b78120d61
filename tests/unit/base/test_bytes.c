/* Bytes: their hash, which data folders rely on. */
#include "test.h"

#include "base/bytes.h"

/* These values are in the order of every store: they never change. */
static void hashes_are_what_they_were(void **state) {
    (void)state;
    static const char text[] = "The quick brown fox jumps over the lazy dog, twice.";
    static const struct {
        size_t size;
        uint64_t hash;
    } expected[] = {{0, 0xab25c823421c18b4},  {1, 0x253f2135ad7e7630},  {2, 0xe92c5c8d23da3056},
                    {3, 0xe9dafa6889b02fe3},  {4, 0xa5ee70c9d8d1cb48},  {5, 0x86910e0b096922d9},
                    {6, 0x2256d8e2278055eb},  {7, 0xdea4497b830475e8},  {8, 0xe33fc53263295b84},
                    {9, 0x2d955865665cdfc6},  {16, 0x4893781d30515639}, {23, 0x8d72b77cf62e2fa2},
                    {30, 0x7b0c7cc51580c5f4}, {37, 0x65469ab0615c8b9d}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        /* in memory of just that size: nothing beyond it is read */
        uint8_t *copy = malloc(expected[i].size + 1);
        memcpy(copy + 1, text, expected[i].size);
        assert_int_equal(bytes_hash(bytes_of(copy + 1, expected[i].size), 7), expected[i].hash);
        free(copy);
    }
}

/* Each byte counts, and so does the seed. */
static void hashes_differ(void **state) {
    (void)state;
    uint8_t text[40] = {0};
    for (size_t size = 1; size <= sizeof(text); size++) {
        uint64_t before = bytes_hash(bytes_of(text, size), 0);
        assert_true(bytes_hash(bytes_of(text, size), 1) != before);
        assert_true(bytes_hash(bytes_of(text, size - 1), 0) != before);
        for (size_t i = 0; i < size; i++) {
            text[i] = 1;
            assert_true(bytes_hash(bytes_of(text, size), 0) != before);
            text[i] = 0;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(hashes_are_what_they_were),
                                       cmocka_unit_test(hashes_differ)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
