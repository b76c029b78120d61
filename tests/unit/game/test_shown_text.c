#include "test.h"

#include "base/buf.h"
#include "base/random.h"
#include "base/utf8.h"
#include "game/shown_text.h"

static void test_cases(void **state) {
    static const struct {
        const char *given, *shown;
    } cases[] = {
        {"Ann", "Ann"},
        {"", ""},
        {"  Ann   Lee ", "Ann Lee"},
        {"\xe2\x80\xaennA", "nnA"},                /* right-to-left override */
        {"A\xe2\x80\x8bnn\xef\xbb\xbf", "Ann"},    /* zero-width spaces */
        {"A\xe2\x81\xa6nn\xe2\x81\xa9", "Ann"},    /* isolates */
        {"A\xe2\x80\x8f\xe2\x80\x8e", "A"},        /* marks */
        {"\xe2\x80\x8b\xe2\x80\x8d \xc2\xa0", ""}, /* nothing is left */
        {"\xe3\x85\xa4", ""},                      /* Hangul filler */
        {"A\xc2\xadnn", "Ann"},                    /* soft hyphen */
        {"\xe2\x80\x8d"
         "Ann\xe2\x80\x8d",
         "Ann"},                                                    /* joiners at the ends */
        {"\xe0\xa4\x95\xe0\xa5\x8d\xe2\x80\x8d\xe0\xa4\xb7", NULL}, /* a Hindi conjunct */
        {"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80", NULL},     /* an astronaut */
        {"\xe2\x9d\xa4\xef\xb8\x8f", NULL},                         /* a red heart */
        {"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d", NULL},                 /* Hebrew by itself */
        {"A\xe3\x80\x80\xe3\x80\x80"
         "B",
         "A B"},                  /* ideographic spaces */
        {"\xff\xfe", "\xff\xfe"}, /* no text at all */
    };
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *shown = cases[i].shown != NULL ? cases[i].shown : cases[i].given;
        assert_bytes_equal(shown_text(bytes_str(cases[i].given), &arena), bytes_str(shown));
    }
    arena_release(&arena);
}

/* Whatever it is given: what comes out is text if it was, no longer, and shown as it is. */
static void test_any(void **state) {
    struct random random;
    struct arena arena;
    (void)state;
    random_seed(&random, test_seed());
    arena_init(&arena);
    for (int i = 0; i < 20000; i++) {
        static const char *const parts[] = {"a",
                                            " ",
                                            "\xe2\x80\x8d",
                                            "\xe2\x80\xae",
                                            "\xc2\xa0",
                                            "\xe0\xa4\x95",
                                            "\xf0\x9f\x91\xa9",
                                            "\xff"};
        struct buf text = {0};
        for (uint64_t n = random_below(&random, 12); n > 0; n--)
            buf_put(&text, bytes_str(parts[random_below(&random, i % 2 == 0 ? 7 : 8)]));
        struct bytes shown = shown_text(buf_bytes(&text), &arena);
        assert_true(shown.size <= text.size);
        assert_true(utf8_valid(shown) == utf8_valid(buf_bytes(&text)));
        assert_bytes_equal(shown_text(shown, &arena), shown);
        buf_release(&text);
        arena_reset(&arena);
    }
    arena_release(&arena);
}

static void test_alike(void **state) {
    (void)state;
    assert_true(shown_text_alike(BYTES("Ann"), BYTES("aNN")));
    assert_false(shown_text_alike(BYTES("Ann"), BYTES("Anna")));
    assert_int_equal(shown_text_length(BYTES("\xe0\xa4\x95x")), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_any),
                                       cmocka_unit_test(test_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
