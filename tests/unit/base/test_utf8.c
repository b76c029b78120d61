#include "test.h"

#include "base/utf8.h"

static struct arena arena;

static void assert_lower(const char *text, const char *lower) {
    assert_bytes_equal(utf8_lower(bytes_str(text), &arena), bytes_str(lower));
}

static void test_lower(void **state) {
    (void)state;
    arena_init(&arena);
    assert_lower("", "");
    assert_lower("Ann SMITH 42 []{}@`", "ann smith 42 []{}@`");
    assert_lower("ÄÖÜ ÉÈ Ñ", "äöü éè ñ");
    assert_lower("ИВАН ΣΟΦΙΑ", "иван σοφια");
    assert_lower("अन्ना 安娜 😀", "अन्ना 安娜 😀"); /* scripts without cases */
    assert_lower("Ⱥ", "ⱥ");                     /* two bytes, and three */
    assert_lower("\xff\xfe"
                 "A\xc3",
                 "\xff\xfe"
                 "a\xc3");
    arena_release(&arena);
}

static void test_valid(void **state) {
    (void)state;
    assert_true(utf8_valid(BYTES("")));
    assert_true(utf8_valid(BYTES("plain, and Ä😀")));
    assert_false(utf8_valid(BYTES("\xc3")));
    assert_false(utf8_valid(BYTES("\xed\xa0\x80"))); /* a surrogate */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lower), cmocka_unit_test(test_valid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
