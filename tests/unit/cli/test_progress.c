/* The progress bar: silent where nobody watches, drawn seldom, and right at its ends. */
#include "base/clock.h"
#include "cli/progress.h"
#include "cli_fixture.h"

static struct cli_capture err;

static void test_silent_elsewhere(void **state) {
    struct progress progress;
    (void)state;
    cli_capture(&err, stderr); /* a file is no terminal */
    progress_start(&progress, "copying", "files");
    progress_show(&progress, 1, 2);
    progress_end(&progress, 2);
    assert_string_equal(cli_captured(&err), "");
}

/* Draws on a "terminal" whose last drawing is long ago. */
static const char *drawn(uint64_t done, uint64_t total) {
    struct progress progress;
    cli_capture(&err, stderr);
    progress_start(&progress, "copying", "files");
    progress.shown = true;
    progress.started_us -= 1000000;
    progress_show(&progress, done, total);
    return cli_captured(&err);
}

static void test_parts(void **state) {
    (void)state;
    assert_contains(drawn(0, 10), "\rcopying [..............................]   0% 0 files");
    assert_contains(drawn(5, 10), "\rcopying [###############...............]  50% 5 files");
    assert_contains(drawn(5, 10), " s left ");
    assert_contains(drawn(10, 10), "\rcopying [##############################] 100% 10 files");
    assert_null(strstr(drawn(10, 10), "left"));
    /* more than was foretold, and nothing foretold */
    assert_contains(drawn(20, 10), "\rcopying [##############################] 100% 20 files");
    assert_contains(drawn(7, 0), "\rcopying [..............................]   0% 7 files");
    assert_null(strstr(drawn(7, 0), "left"));
    assert_contains(drawn(UINT64_MAX, UINT64_MAX), "100% 18446744073709551615 files");
}

static void test_drawn_seldom(void **state) {
    struct progress progress;
    (void)state;
    cli_capture(&err, stderr);
    progress_start(&progress, "copying", "files");
    progress.shown = true;
    progress.drawn_us =
        clock_ticks_us() + 3600 * (int64_t)1000000; /* an hour to go until the next */
    for (uint64_t i = 0; i < 1000; i++)
        progress_show(&progress, i, 1000);
    assert_string_equal(cli_captured(&err), "");
}

static void test_end(void **state) {
    static const uint64_t ends[] = {0, 3};
    struct progress progress;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        cli_capture(&err, stderr);
        progress_start(&progress, "copying", "files");
        progress.shown = true;
        progress_end(&progress, ends[i]);
        const char *text = cli_captured(&err);
        assert_int_equal(text[strlen(text) - 1], '\n');
        assert_contains(text, ends[i] == 0 ? "  0% 0 files" : "100% 3 files");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silent_elsewhere),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_drawn_seldom),
        cmocka_unit_test(test_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
