/* Base64: both alphabets, one spelling for each run of bytes. */
#include "base/base64.h"

#include "base/random.h"
#include "test.h"

static struct arena arena;

static void base64_comes_back(void **state) {
    (void)state;
    const char *cases[][2] = {{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
                              {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe\xfd", "//79"}};
    struct buf out = {0};
    struct bytes back;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        buf_clear(&out);
        base64_put(&out, bytes_str(cases[i][0]));
        assert_bytes_equal(buf_bytes(&out), bytes_str(cases[i][1]));
        assert_true(base64_read(bytes_str(cases[i][1]), &arena, &back));
        assert_bytes_equal(back, bytes_str(cases[i][0]));
    }
    const char *bad[] = {"Z",    "Zg",   "Zg=",  "=",    "====",   "Z===", "=+/=",      "+/+=",
                         "Zh==", "Zg=a", "Z=g=", "Zg= ", "Zm9v\n", "Zm-_", "\xc3\xa9zz"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(base64_valid(bytes_str(bad[i])));
        assert_false(base64_read(bytes_str(bad[i]), &arena, &back));
    }
    struct random random;
    random_seed(&random, test_seed());
    for (int round = 0; round < 2000; round++) {
        uint8_t data[40];
        size_t size = random_below(&random, sizeof(data) + 1);
        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t)random_next(&random);
        buf_clear(&out);
        base64_put(&out, bytes_of(data, size));
        assert_true(base64_valid(buf_bytes(&out)));
        assert_true(base64_read(buf_bytes(&out), &arena, &back));
        assert_bytes_equal(back, bytes_of(data, size));
    }
    buf_release(&out);
}

static void base64url_comes_back(void **state) {
    (void)state;
    const char *cases[][2] = {{"", ""},        {"f", "Zg"},        {"fo", "Zm8"},
                              {"foo", "Zm9v"}, {"foob", "Zm9vYg"}, {"\xff\xfe\xfd", "__79"}};
    struct buf out = {0};
    struct bytes back;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        buf_clear(&out);
        base64url_put(&out, bytes_str(cases[i][0]));
        assert_bytes_equal(buf_bytes(&out), bytes_str(cases[i][1]));
        assert_true(base64url_read(bytes_str(cases[i][1]), &arena, &back));
        assert_bytes_equal(back, bytes_str(cases[i][0]));
    }
    const char *bad[] = {"Z", "Zg==", "Zg=", "Zh", "Zm9", "Zm9vY", "//79", "Zm+_", "Zg ", "Zm9v\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(base64url_read(bytes_str(bad[i]), &arena, &back));
    buf_release(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(base64_comes_back),
                                       cmocka_unit_test(base64url_comes_back)};
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
