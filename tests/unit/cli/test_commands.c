/* The table of commands: every one is found and explained, slips are told apart from failures. */
#include "cli/commands.h"
#include "cli_fixture.h"

static struct cli_call call;

#define RUN(...) CLI_CALL(&call, commands_run, "gametable", __VA_ARGS__)

static void test_version(void **state) {
    static const char *const words[] = {"version", "--version", "-V"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        RUN(words[i]);
        assert_int_equal(call.result, 0);
        assert_string_equal(call.out.text, "gametable " GAMETABLE_VERSION "\n");
    }
}

static void test_help(void **state) {
    static const char *const words[] = {"help", "--help", "-h"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        RUN(words[i]);
        assert_int_equal(call.result, 0);
        assert_contains(call.out.text, "usage: gametable COMMAND [OPTION...]");
        assert_contains(call.out.text,
                        "\n  serve [OPTION...]                        run the server\n");
    }
    RUN(NULL); /* without a command the same, but it is wrong usage */
    assert_int_equal(call.result, 2);
    assert_contains(call.out.text, "usage: gametable COMMAND [OPTION...]");
}

/* Asking a command for help explains and runs nothing. */
static void test_help_of_commands(void **state) {
    static const char *const copies[] = {"backup", "restore", "export", "import"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        char usage[64];
        snprintf(usage, sizeof(usage), "usage: gametable %s [--data DIR]", copies[i]);
        RUN(copies[i], "--help");
        assert_int_equal(call.result, 0);
        assert_contains(call.out.text, usage);
        RUN("help", copies[i]);
        assert_contains(call.out.text, usage);
    }
    RUN("serve", "-h");
    assert_int_equal(call.result, 0);
    assert_contains(call.out.text, "usage: gametable serve [OPTION...]");
    assert_contains(call.out.text, "--config FILE");
    RUN("help", "no-such-thing");
    assert_int_equal(call.result, 2);
    assert_contains(call.err.text, "there is no command 'no-such-thing'");
}

/* The names of all commands, as the help lists them; returns how many. */
static size_t list_commands(char names[64][32]) {
    size_t count = 0;
    RUN("help");
    for (const char *at = call.out.text; (at = strstr(at, "\n  ")) != NULL; at++)
        if (count < 64 && sscanf(at, "%31s", names[count]) == 1)
            count++;
    assert_true(count >= 20 && count < 64);
    return count;
}

/* `help COMMAND` and `COMMAND --help` say the same of each, and it begins with its usage. */
static void test_help_of_every_command(void **state) {
    char names[64][32], usage[64];
    static char said[sizeof(call.out.text)];
    (void)state;
    size_t count = list_commands(names);
    for (size_t i = 0; i < count; i++) {
        snprintf(usage, sizeof(usage), "usage: gametable %s", names[i]);
        RUN("help", names[i]);
        assert_int_equal(call.result, 0);
        assert_memory_equal(call.out.text, usage, strlen(usage));
        memcpy(said, call.out.text, sizeof(said));
        RUN(names[i], "--help");
        assert_int_equal(call.result, 0);
        assert_string_equal(call.out.text, said);
    }
}

/* Each option that the help of a command begins a line with is one that the command takes: only
 * the one behind it is refused. Those that have a way of their own to read words are left out. */
static void test_options_are_known(void **state) {
    char names[64][32], option[64];
    static char said[sizeof(call.out.text)];
    size_t found = 0;
    (void)state;
    size_t count = list_commands(names);
    for (size_t i = 0; i < count; i++) {
        if (strstr("serve keys verify move version help", names[i]) != NULL)
            continue;
        RUN("help", names[i]);
        memcpy(said, call.out.text, sizeof(said));
        for (const char *at = said; (at = strstr(at, "\n  --")) != NULL; at++) {
            assert_int_equal(sscanf(at, "%56s", option), 1);
            strcat(option, "=1");
            RUN(names[i], option, "--no-such-option");
            assert_contains(call.err.text, "there is no option --no-such-option");
            found++;
        }
    }
    assert_true(found > 70);
}

/* The other way round: what commands take is explained. */
static void test_options_are_explained(void **state) {
    static const char *const options[][14] = {
        {"keys", "table", "allow", "partition", "role", "name", "keys"},
        {"verify", "data"},
        {"backup", "data", "id"},
        {"restore", "data", "at"},
        {"export", "data", "id", "format"},
        {"import", "data", "format", "keys", "delimiter", "append"},
        {"move", "data", "game-table", "dynamodb-endpoint", "dynamodb-region", "config"},
        {"boards", "game", "plain", "url", "key", "cacert", "timeout", "json"},
        {"top", "from", "period", "scope", "url", "key", "cacert", "timeout", "json"},
        {"rank", "period", "scope", "url", "key", "cacert", "timeout", "json"},
        {"around", "each", "period", "scope", "url", "key", "cacert", "timeout", "json"},
        {"submit", "game", "name", "url", "key", "cacert", "timeout", "json"},
        {"load", "format", "period", "scope", "at-once", "url", "key", "cacert", "timeout", "json"},
        {"play", "bots", "rooms", "join", "game", "options", "rounds", "seconds", "matches",
         "limit", "errors", "slow", "eager", "spread"},
        {"play", "url", "key", "cacert", "timeout"},
        {"clock", "forward", "url", "key", "cacert", "timeout"},
        {"expire", "url", "key", "cacert", "timeout"},
        {"health", "url", "key", "cacert", "timeout"},
    };
    char line[64];
    (void)state;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        RUN("help", options[i][0]);
        for (size_t j = 1; j < 14 && options[i][j] != NULL; j++) {
            snprintf(line, sizeof(line), "\n  --%s ", options[i][j]);
            assert_contains(call.out.text, line);
        }
    }
    RUN("help", "top");
    assert_contains(call.out.text, "\n  -n, --limit N ");
}

/* The man page has an entry for each line of the help, and no line that roff would obey by chance.
 */
static void test_man_page(void **state) {
    (void)state;
    RUN("help");
    size_t commands = 0;
    for (const char *at = call.out.text; (at = strstr(at, "\n  ")) != NULL; at++)
        commands++;
    assert_true(commands >= 19);
    RUN("help", "--man");
    const char *begin = strstr(call.out.text, ".SH COMMANDS\n"),
               *end = strstr(call.out.text, ".SH OPTIONS OF SERVE\n");
    assert_non_null(begin);
    assert_non_null(end);
    size_t entries = 0;
    for (const char *at = begin; (at = strstr(at, ".TP\n")) != NULL && at < end; at++)
        entries++;
    assert_int_equal(entries, commands);
    entries = 0; /* and the usage of each but serve */
    for (const char *at = end; (at = strstr(at, "\n.SS ")) != NULL; at++)
        entries++;
    assert_int_equal(entries, commands - 1);
    assert_contains(end, "\n.SS top\n.nf\nusage: gametable top BOARD [\\-n 10]");
    assert_contains(end, "\n  \\-\\-cacert FILE");
    for (const char *at = call.out.text; (at = strstr(at, "\n'")) != NULL; at++)
        fail_msg("a line begins with a quote: %.40s", at + 1);
}

static void test_unknown(void **state) {
    static const char *const words[] = {"", "Serve", "serv", "--serve", "serve "};
    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        RUN(words[i]);
        assert_int_equal(call.result, 2);
        assert_string_equal(call.out.text, "");
        assert_contains(call.err.text, "gametable: there is no command '");
    }
}

/* A release has a section in the changelog: the first one is this program's. */
static void test_changelog(void **state) {
    char line[256] = "", expected[64];
    (void)state;
    FILE *file = fopen("CHANGELOG.md", "r");
    assert_non_null(file);
    while (strncmp(line, "## ", 3) != 0)
        assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    snprintf(expected, sizeof(expected), "## %s\n", GAMETABLE_VERSION);
    assert_string_equal(line, expected);
}

/* Every command that the help names refuses an option that does not exist, with 2, before it does
 * anything; those that tell about the program take whatever follows. */
static void test_unknown_options(void **state) {
    char names[64][32];
    (void)state;
    size_t count = list_commands(names);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], "version") == 0)
            continue;
        RUN(names[i], "--no-such-option", "x");
        if (call.result != 2)
            fail_msg("gametable %s --no-such-option x: %d", names[i], call.result);
        assert_string_not_equal(call.err.text, "");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version),           cmocka_unit_test(test_help),
        cmocka_unit_test(test_help_of_commands),  cmocka_unit_test(test_man_page),
        cmocka_unit_test(test_unknown),           cmocka_unit_test(test_changelog),
        cmocka_unit_test(test_unknown_options),   cmocka_unit_test(test_help_of_every_command),
        cmocka_unit_test(test_options_are_known), cmocka_unit_test(test_options_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
