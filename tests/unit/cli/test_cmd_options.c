/* Options of commands: values, switches, what is left, and what is said of a slip. */
#include "cli/cmd_options.h"
#include "cli_fixture.h"

struct fixture {
    const char *data, *id;
    bool json, append;
    char *argv[16];
    char err[4096];
};

static struct fixture f;

static int read_words(const char *const *words) {
    static struct cli_capture err;
    const struct option_spec specs[] = {{"data", &f.data, NULL},
                                        {"id", &f.id, NULL},
                                        {"json", NULL, &f.json},
                                        {"append", NULL, &f.append},
                                        {NULL, NULL, NULL}};
    int argc = 0;
    memset(&f, 0, sizeof(f));
    for (; words[argc] != NULL; argc++)
        f.argv[argc] = (char *)words[argc];
    cli_capture(&err, stderr);
    int rest = options_read("export", argc, f.argv, specs);
    snprintf(f.err, sizeof(f.err), "%.4000s", cli_captured(&err));
    return rest;
}
#define READ(...) read_words((const char *const[]){__VA_ARGS__, NULL})

static void test_nothing(void **state) {
    (void)state;
    assert_int_equal(READ(NULL), 0);
    assert_null(f.data);
    assert_false(f.json);
    assert_string_equal(f.err, "");
}

static void test_values_and_rest(void **state) {
    (void)state;
    assert_int_equal(READ("table", "--data", "here", "--json", "folder", "--id=7=8"), 2);
    assert_string_equal(f.argv[0], "table");
    assert_string_equal(f.argv[1], "folder");
    assert_string_equal(f.data, "here");
    assert_string_equal(f.id, "7=8");
    assert_true(f.json);
    assert_false(f.append);
    assert_int_equal(READ("--data=", "--id", "--json"), 0); /* a value may look like an option */
    assert_string_equal(f.data, "");
    assert_string_equal(f.id, "--json");
    assert_false(f.json);
    assert_int_equal(READ("--data", "one", "--data", "two"), 0);
    assert_string_equal(f.data, "two");
}

/* Behind "--" nothing is an option; one dash never is. */
static void test_plain_words(void **state) {
    (void)state;
    assert_int_equal(READ("--json", "--", "--data", "--", "-x"), 3);
    assert_string_equal(f.argv[0], "--data");
    assert_string_equal(f.argv[1], "--");
    assert_string_equal(f.argv[2], "-x");
    assert_null(f.data);
    assert_int_equal(READ("-n", "-"), 2);
}

static void test_slips(void **state) {
    (void)state;
    assert_int_equal(READ("x", "--datum", "y"), -1);
    assert_string_equal(f.err, "gametable export: there is no option --datum; see gametable help "
                               "export\n");
    assert_int_equal(READ("--dat", "y"), -1);
    assert_int_equal(READ("--=x"), -1);
    assert_int_equal(READ("table", "--data"), -1);
    assert_string_equal(f.err, "gametable export: --data wants a value\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_values_and_rest),
        cmocka_unit_test(test_plain_words),
        cmocka_unit_test(test_slips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
