/* CRC-32C: known values, and the processor's instruction against the tables. */
#include "base/random.h"
#include "store/crc32c.h"
#include "test.h"

static void test_known(void **state) {
    (void)state;
    uint8_t zeros[32] = {0};
    assert_int_equal(crc32c(0, bytes_of(NULL, 0)), 0);
    assert_int_equal(crc32c(0, BYTES("123456789")), 0xe3069283);
    assert_int_equal(crc32c(0, bytes_of(zeros, sizeof(zeros))), 0x8a9136aa);
    assert_int_equal(crc32c(crc32c(0, BYTES("1234")), BYTES("56789")), 0xe3069283);
}

static void test_both_ways(void **state) {
    (void)state;
    uint8_t data[300];
    struct random random;
    random_seed(&random, test_seed());
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)random_next(&random);
    for (int i = 0; i < 1000; i++) {
        size_t from = random_below(&random, sizeof(data));
        struct bytes some = bytes_of(data + from, random_below(&random, sizeof(data) - from + 1));
        uint32_t crc = (uint32_t)random_next(&random);
        assert_int_equal(crc32c(crc, some), crc32c_by_table(crc, some));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
