/* Settings: what each kind of value takes, which source wins, and what is said of a slip. */
#include "cli/settings.h"
#include "cli_fixture.h"

struct fixture {
    struct arena arena;
    struct failure failure;
    struct settings settings;
};

static struct fixture f;

static int setup(void **state) {
    (void)state;
    memset(&f, 0, sizeof(f));
    arena_init(&f.arena);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_release(&f.arena);
    return 0;
}

/* The words are borrowed by the settings. */
static enum status read_words(const char *const *words) {
    static char *argv[33];
    int argc = 0;
    for (; words[argc] != NULL; argc++)
        argv[argc] = (char *)words[argc];
    return settings_read(argc, argv, (struct scope){&f.arena, &f.failure}, &f.settings);
}
#define READ(...) read_words((const char *const[]){__VA_ARGS__, NULL})

#define assert_refused(sentence, ...)                                   \
    do {                                                                \
        assert_int_equal(READ(__VA_ARGS__), INVALID);                   \
        assert_int_equal(f.failure.status, INVALID);                    \
        assert_contains(arena_str(&f.arena, f.failure.text), sentence); \
    } while (0)

static void test_defaults(void **state) {
    (void)state;
    assert_int_equal(READ(NULL), OK);
    const struct settings *s = &f.settings;
    assert_string_equal(s->data, "./gametable-data");
    assert_string_equal(s->http.host, "127.0.0.1");
    assert_int_equal(s->http.port, 8000);
    assert_int_equal(s->redis.port, 6380);
    assert_int_equal(s->durability, STORE_SYNC_COMMIT);
    assert_int_equal(s->cache_memory, 0); /* the engine asks the machine */
    assert_int_equal(s->idle_ms, 60000);
    assert_false(s->memory || s->trust_network || s->test_clock || s->redis_tls);
    assert_string_equal(s->keys, "");
    assert_true(address_is_loopback(&s->http) && address_is_loopback(&s->redis));
}

static void test_sizes(void **state) {
    static const struct {
        const char *text;
        int64_t size;
    } good[] = {{"0", 0},
                {"17", 17},
                {"17B", 17},
                {"4k", 4096},
                {"4KB", 4096},
                {"64M", 64 << 20},
                {"2g", (int64_t)2 << 30},
                {"8589934591G", (int64_t)8589934591 << 30}};
    static const char *const bad[] = {"",    "-1",  "M",    "1T",          "1 M",
                                      "1.5", "0x1", "1MiB", "8589934592G", "99999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(READ("--cache-memory", good[i].text), OK);
        assert_int_equal(f.settings.cache_memory, good[i].size);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_refused("is not a value for cache-memory: expected a size such as 64M",
                       "--cache-memory", bad[i]);
}

static void test_times(void **state) {
    (void)state;
    assert_int_equal(READ("--idle-timeout", "1500ms", "--request-timeout=2m"), OK);
    assert_int_equal(f.settings.idle_ms, 1500);
    assert_int_equal(f.settings.request_ms, 120000);
    assert_int_equal(READ("--idle-timeout", "596h"), OK);
    assert_refused("expected a time", "--idle-timeout", "597h"); /* more than 31 bits of ms */
    assert_refused("expected a time", "--idle-timeout", "5");    /* of what? */
    assert_refused("expected a time", "--idle-timeout", "1d");
}

static void test_counts(void **state) {
    (void)state;
    assert_int_equal(READ("--threads", "3", "--max-connections", "1000000"), OK);
    assert_int_equal(f.settings.threads, 3);
    assert_int_equal(f.settings.connections_max, 1000000);
    assert_refused("expected a number", "--max-connections", "1000001");
    assert_refused("expected a number", "--threads", "-1");
    assert_refused("expected a number", "--threads", "2K");
}

static void test_switches(void **state) {
    static const char *const on[] = {"yes", "TRUE", "1", "On"};
    static const char *const off[] = {"no", "False", "0", "OFF"};
    (void)state;
    assert_int_equal(READ("--memory", "--log-json"), OK); /* a switch does not take the next word */
    assert_true(f.settings.memory && f.settings.log.json);
    for (int i = 0; i < 4; i++) {
        char flag[32];
        snprintf(flag, sizeof(flag), "--memory=%s", on[i]);
        assert_int_equal(READ(flag), OK);
        assert_true(f.settings.memory);
        snprintf(flag, sizeof(flag), "--memory=%s", off[i]);
        assert_int_equal(READ(flag), OK);
        assert_false(f.settings.memory);
    }
    assert_refused("expected yes or no", "--memory=");
    assert_refused("expected yes or no", "--memory=maybe");
}

static void test_addresses(void **state) {
    char longest[300];
    (void)state;
    assert_int_equal(READ("--http", "[::1]:0", "--redis", "off"), OK);
    assert_string_equal(f.settings.http.host, "::1");
    assert_int_equal(f.settings.http.port, 0);
    assert_string_equal(f.settings.redis.host, "");
    assert_int_equal(READ("--http", "example.com:65535"), OK);
    assert_int_equal(f.settings.http.port, 65535);
    static const char *const bad[] = {
        "",        "8000",       ":8000", "host:",    "host:x",   "host:-1",
        "host:+1", "host:65536", "[]:1",  "host: 80", "host:80 ", "off"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_refused("expected HOST:PORT such as 127.0.0.1:8000", "--http", bad[i]);
    memset(longest, 'h', 256);
    memcpy(longest + 256, ":1", 3);
    assert_refused("expected HOST:PORT", "--http", longest);
    assert_int_equal(READ("--http", longest + 1), OK);
}

static void test_choices(void **state) {
    (void)state;
    assert_int_equal(READ("--durability", "none", "--log-level", "warn"), OK);
    assert_int_equal(f.settings.durability, STORE_SYNC_NONE);
    assert_int_equal(f.settings.log.level, LOG_WARN);
    assert_refused("expected commit|interval|none", "--durability", "Commit");
    assert_refused("expected debug|info|warn|error", "--log-level", "");
}

static void test_wrong_words(void **state) {
    (void)state;
    assert_refused("there is no option --colour; see gametable help serve", "--colour", "red");
    assert_refused("there is no option --;", "--");
    assert_refused("there is no option --mem;", "--mem"); /* no abbreviations */
    assert_refused("'serve' is not an option", "serve");
    assert_refused("'-h' is not an option", "-h");
    assert_refused("--data needs a value", "--memory", "--data");
    assert_refused("--config needs a value", "--config");
}

/* A flag wins over the environment, the environment over the file. */
static void test_who_wins(void **state) {
    const char *folder = cli_folder();
    char path[300];
    (void)state;
    snprintf(path, sizeof(path), "%s/config", folder);
    cli_write(path, "# a comment\n\n  region =  from-file \nthreads=4\r\nmax-in-flight = 7\n"
                    "origins = http://a = b\n");
    setenv("GAMETABLE_REGION", "from-environment", 1);
    setenv("GAMETABLE_THREADS", "5", 1);
    assert_int_equal(READ("--threads", "6", "--config", path), OK);
    assert_int_equal(f.settings.threads, 6);
    assert_string_equal(f.settings.region, "from-environment");
    assert_int_equal(f.settings.in_flight_max, 7);
    assert_string_equal(f.settings.origins, "http://a = b");
    unsetenv("GAMETABLE_REGION");
    unsetenv("GAMETABLE_THREADS");
    setenv("GAMETABLE_CONFIG", path, 1);
    assert_int_equal(READ(NULL), OK);
    assert_string_equal(f.settings.region, "from-file");
    assert_int_equal(f.settings.threads, 4);
    unsetenv("GAMETABLE_CONFIG");
    unlink(path);
    rmdir(folder);
}

/* A fault names where it came from. */
static void test_sources_of_faults(void **state) {
    const char *folder = cli_folder();
    char path[300], expected[400];
    (void)state;
    setenv("GAMETABLE_MAX_IN_FLIGHT", "many", 1);
    assert_refused("GAMETABLE_MAX_IN_FLIGHT: 'many' is not a value for max-in-flight", NULL);
    unsetenv("GAMETABLE_MAX_IN_FLIGHT");
    assert_refused("command line: 'x' is not a value for threads", "--threads", "x");
    snprintf(path, sizeof(path), "%s/config", folder);
    cli_write(path, "threads = 1\nno value here\n");
    snprintf(expected, sizeof(expected), "%s line 2: expected name = value", path);
    assert_refused(expected, "--config", path);
    cli_write(path, "colour = red\n");
    snprintf(expected, sizeof(expected), "%s line 1: there is no setting colour", path);
    assert_refused(expected, "--config", path);
    cli_write(path, "\nthreads = 9z\n");
    snprintf(expected, sizeof(expected), "%s line 2: '9z' is not a value for threads", path);
    assert_refused(expected, "--config", path);
    unlink(path);
    assert_refused("cannot read the config file", "--config", path);
    assert_refused("cannot read the config file", "--config", folder);
    rmdir(folder);
}

/* A line that does not fit is not read as two. */
static void test_long_line(void **state) {
    const char *folder = cli_folder();
    char path[300], *text = malloc(6000);
    (void)state;
    snprintf(path, sizeof(path), "%s/config", folder);
    memset(text, ' ', 6000);
    memcpy(text, "region = x", 10);
    memcpy(text + 4095, "memory = yes\n", 14);
    cli_write(path, text);
    assert_refused("line 1: a line has at most 4094 characters", "--config", path);
    free(text);
    unlink(path);
    rmdir(folder);
}

static void test_loopback(void **state) {
    static const char *const ours[] = {"127.0.0.1", "127.1.2.3", "localhost", "::1"};
    static const char *const others[] = {
        "0.0.0.0", "10.0.0.1",  "127.example.com", "::",        "0x7f.1", "localhost.evil.org",
        "",        "128.0.0.1", "::ffff:1",        "1127.0.0.1"};
    struct address address = {.port = 1};
    (void)state;
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        snprintf(address.host, sizeof(address.host), "%s", ours[i]);
        assert_true(address_is_loopback(&address));
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        snprintf(address.host, sizeof(address.host), "%s", others[i]);
        assert_false(address_is_loopback(&address));
    }
}

static size_t count_of(const char *text, const char *part) {
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

/* The three forms tell of the same settings. */
static void test_descriptions(void **state) {
    struct buf help = {0}, man = {0}, markdown = {0};
    (void)state;
    settings_describe(&help, SETTINGS_HELP);
    settings_describe(&man, SETTINGS_MAN);
    settings_describe(&markdown, SETTINGS_MARKDOWN);
    buf_byte(&help, 0), buf_byte(&man, 0), buf_byte(&markdown, 0);
    size_t settings = count_of((const char *)help.data, "\n");
    assert_true(settings > 20);
    assert_int_equal(count_of((const char *)man.data, ".TP\n"), settings);
    assert_int_equal(count_of((const char *)markdown.data, "| `--"), settings);
    assert_contains((const char *)help.data, "  --idle-timeout TIME                how long");
    assert_contains((const char *)help.data, "between requests [60s]\n");
    assert_contains((const char *)man.data, ".B \\-\\-idle-timeout \\fITIME\\fR\n");
    assert_contains(
        (const char *)markdown.data,
        "| `--durability commit\\|interval\\|none` | `GAMETABLE_DURABILITY` | commit |");
    buf_release(&help);
    buf_release(&man);
    buf_release(&markdown);
}

/* docs/settings.md is made from the table (make docs/settings.md) and must not fall behind. */
static void test_document(void **state) {
    struct buf markdown = {0};
    static char text[65536];
    (void)state;
    FILE *file = fopen("docs/settings.md", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    settings_describe(&markdown, SETTINGS_MARKDOWN);
    buf_byte(&markdown, 0);
    assert_contains(text, (const char *)markdown.data);
    buf_release(&markdown);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_defaults, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_switches, setup, teardown),
        cmocka_unit_test_setup_teardown(test_addresses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_choices, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_words, setup, teardown),
        cmocka_unit_test_setup_teardown(test_who_wins, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sources_of_faults, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_line, setup, teardown),
        cmocka_unit_test(test_loopback),
        cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
