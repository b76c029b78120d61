/* Request ids: 52 digits to the base 32, as the service has them. */
#include "api/dynamodb/ddb_answer.h"
#include "test.h"

static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";

/* At each place each digit comes, and nothing else: that one of them is missing by chance after
 * 2,000 ids is as likely as guessing an id's first 16 digits. */
static void ids_are_of_all_digits(void **state) {
    (void)state;
    uint32_t seen[REQUEST_ID_SIZE] = {0};
    for (int i = 0; i < 2000; i++) {
        char id[REQUEST_ID_SIZE + 1];
        id[REQUEST_ID_SIZE] = '!';
        answer_request_id(id);
        for (int j = 0; j < REQUEST_ID_SIZE; j++) {
            const char *digit = memchr(digits, id[j], sizeof(digits) - 1);
            assert_non_null(digit);
            seen[j] |= UINT32_C(1) << (digit - digits);
        }
        assert_int_equal(id[REQUEST_ID_SIZE], '!');
    }
    for (int j = 0; j < REQUEST_ID_SIZE; j++)
        assert_int_equal(seen[j], UINT32_MAX);
}

static void ids_differ(void **state) {
    (void)state;
    char one[REQUEST_ID_SIZE], other[REQUEST_ID_SIZE];
    answer_request_id(one);
    answer_request_id(other);
    assert_memory_not_equal(one, other, REQUEST_ID_SIZE);
    assert_memory_not_equal(one, one + 8, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_of_all_digits),
        cmocka_unit_test(ids_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
