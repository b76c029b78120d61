/* Patterns: by hand, and against the dumbest matcher there is. */
#include "test.h"

#include "api/redis/glob.h"
#include "base/random.h"

static bool matches(const char *pattern, const char *text) {
    return glob_matches(bytes_str(pattern), bytes_str(text), false);
}

static void test_by_hand(void **state) {
    (void)state;
    assert_true(matches("*", ""));
    assert_true(matches("", ""));
    assert_false(matches("", "a"));
    assert_true(matches("h?llo", "hello"));
    assert_false(matches("h?llo", "hllo"));
    assert_true(matches("h*llo", "heeeello"));
    assert_true(matches("h[ae]llo", "hallo"));
    assert_false(matches("h[^e]llo", "hello"));
    assert_true(matches("h[c-a]llo", "hbllo"));
    assert_true(matches("a\\*b", "a*b"));
    assert_false(matches("a\\*b", "axb"));
    assert_true(matches("[[]x]", "[x]"));
    assert_true(matches("[a\\]]", "]"));
    assert_true(matches("hello\\", "hello\\"));
    assert_true(matches("[h", "h"));
    assert_false(matches("[h", "x"));
    assert_true(matches("**a**", "bab"));
    assert_true(glob_matches(BYTES("HE*"), BYTES("hello"), true));
    assert_true(glob_matches(BYTES("[A-Z]*"), BYTES("hello"), true));
    assert_true(glob_matches(BYTES("a?c"), BYTES("a\0c"), false));
}

/* Without classes: element by element, trying every length of every star. */
static bool naive(const char *pattern, const char *text) {
    if (*pattern == '\0')
        return *text == '\0';
    if (*pattern == '*')
        return naive(pattern + 1, text) || (*text != '\0' && naive(pattern, text + 1));
    if (*text == '\0')
        return false;
    if (*pattern == '\\' && pattern[1] != '\0')
        return pattern[1] == *text && naive(pattern + 2, text + 1);
    return (*pattern == '?' || *pattern == *text) && naive(pattern + 1, text + 1);
}

static void test_against_naive(void **state) {
    static const char in_patterns[] = "ab*?\\", in_texts[] = "ab*";
    struct random random;
    (void)state;
    random_seed(&random, test_seed());
    for (int i = 0; i < 200000; i++) {
        char pattern[9] = "", text[9] = "";
        for (uint64_t n = random_below(&random, sizeof(pattern)), j = 0; j < n; j++)
            pattern[j] = in_patterns[random_below(&random, sizeof(in_patterns) - 1)];
        for (uint64_t n = random_below(&random, sizeof(text)), j = 0; j < n; j++)
            text[j] = in_texts[random_below(&random, sizeof(in_texts) - 1)];
        if (matches(pattern, text) != naive(pattern, text))
            fail_msg("pattern %s, text %s", pattern, text);
    }
}

/* What would take a naive one longer than the universe. */
static void test_many_stars(void **state) {
    char pattern[401], text[2001];
    (void)state;
    for (size_t i = 0; i < 400; i++)
        pattern[i] = i % 2 == 0 ? '*' : 'a';
    pattern[400] = '\0';
    memset(text, 'a', 2000);
    text[1999] = 'b';
    text[2000] = '\0';
    assert_false(matches(pattern, text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_against_naive),
        cmocka_unit_test(test_many_stars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
