#include "test.h"

#include "api/access_control.h"

#include <sys/stat.h>
#include <unistd.h>

static struct arena arena;
static struct failure failure;

static bool may(const struct access_key *key, struct touch touch) {
    return access_decide(&(struct caller){.key = key}, &touch) == DENIAL_NONE;
}

static int begin(void **state) {
    (void)state;
    arena_init(&arena);
    return 0;
}

static int end(void **state) {
    (void)state;
    arena_release(&arena);
    return 0;
}

#define SECRET       "\"secret\":\"0123456789abcdef\""
#define KEY(members) "{\"keys\":[{\"id\":\"a\"," SECRET "," members "}]}"
#define WHOLE        "\"tables\":[\"*\"],\"allow\":[\"read\"]"

static void test_faults(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "it is not JSON"},
        {"[]", "expected {\"keys\": [...]}"},
        {"{\"keys\":[],\"more\":1}", "expected {\"keys\": [...]}"},
        {"{\"keys\":[1]}", "key 1: it is not an object"},
        {KEY("\"tables\":[\"*\"]"), "key 1: it allows nothing"},
        {KEY("\"allow\":[\"read\"]"), "key 1: it names no tables"},
        {KEY("\"tables\":[],\"allow\":[\"read\"]"), "are lists of texts, and not empty"},
        {KEY("\"tables\":\"*\",\"allow\":[\"read\"]"), "are lists of texts"},
        {KEY("\"tables\":[\"a b\"],\"allow\":[\"read\"]"), "a table is a name"},
        {KEY("\"tables\":[\"ab\"],\"allow\":[\"read\"]"), "a table is a name"},
        {KEY("\"tables\":[\"*a\"],\"allow\":[\"read\"]"), "a table is a name"},
        {KEY("\"tables\":[\"*\"],\"allow\":[\"fly\"]"), "allow is of read, write, admin"},
        {KEY(WHOLE ",\"partition\":[\"x\"]"), "and nothing else"},
        {KEY(WHOLE ",\"partitions\":[\"\"]"), "a partition is a key"},
        {KEY(WHOLE ",\"partitions\":[]"), "and not empty"},
        {KEY(WHOLE ",\"role\":\"king\""), "role is server or client"},
        {KEY(WHOLE ",\"role\":true"), "role is server or client"},
        {"{\"keys\":[{\"id\":\"a/b\"," SECRET "," WHOLE "}]}", "an id is"},
        {"{\"keys\":[{\"id\":\"a\",\"secret\":\"short\"," WHOLE "}]}", "a secret is"},
        {"{\"keys\":[{\"id\":\"a\"," SECRET "," WHOLE "},{\"id\":\"a\"," SECRET "," WHOLE "}]}",
         "key 2: the id a is there twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct keyring *ring = keyring_new();
        assert_int_equal(
            keyring_read(ring, bytes_str(cases[i][0]), "f", (struct scope){&arena, &failure}),
            INVALID);
        if (bytes_find(failure.text, bytes_str(cases[i][1])) == SIZE_MAX)
            fail_msg("%s: %.*s", cases[i][0], BYTES_ARG(failure.text));
        assert_true(bytes_find(failure.text, BYTES("0123456789abcdef")) == SIZE_MAX);
        assert_true(bytes_find(failure.text, BYTES("short")) == SIZE_MAX);
        keyring_free(ring);
    }
}

static void test_file(void **state) {
    (void)state;
    char folder[] = "/tmp/gametable-keys-XXXXXX", path[64];
    struct stat about;
    bool exposed;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/keys", folder);
    struct keyring *ring = keyring_new(), *again = keyring_new();
    assert_int_equal(keyring_load(ring, path, (struct scope){&arena, &failure}, &exposed),
                     NOT_FOUND);
    assert_int_equal(
        keyring_read(ring,
                     BYTES("{\"keys\":[{\"id\":\"a\",\"name\":\"\\\"quoted\\\"\"," SECRET
                           ",\"tables\":[\"game\",\"s-*\"],\"allow\":[\"read\","
                           "\"admin\"],\"partitions\":[\"USER#\\u00e9*\"]}]}"),
                     "f", (struct scope){&arena, &failure}),
        OK);
    assert_int_equal(keyring_save(ring, path, (struct scope){&arena, &failure}), OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(keyring_load(again, path, (struct scope){&arena, &failure}, &exposed), OK);
    assert_false(exposed);
    struct buf one = {0}, two = {0};
    keyring_write(ring, &one);
    keyring_write(again, &two);
    assert_bytes_equal(buf_bytes(&one), buf_bytes(&two));
    buf_release(&one);
    buf_release(&two);
    const struct access_key *key = keyring_find(again, BYTES("a"));
    assert_non_null(key);
    assert_int_equal(key->allow, ACCESS_READ | ACCESS_ADMIN);
    struct bytes mine = BYTES("USER#\xc3\xa9"
                              "1");
    assert_true(
        may(key, (struct touch){TOUCHES_PARTITION, ACCESS_READ, BYTES("s-1"), .partition = mine}));
    assert_false(may(
        key, (struct touch){TOUCHES_PARTITION, ACCESS_READ, BYTES("games"), .partition = mine}));
    assert_false(may(key, (struct touch){TOUCHES_PARTITION, ACCESS_READ | ACCESS_WRITE,
                                         BYTES("game"), .partition = mine}));
    assert_false(may(key, (struct touch){TOUCHES_PARTITION, ACCESS_READ, BYTES("s-1"),
                                         .partition = BYTES("USER#e")}));
    assert_false(may(key, (struct touch){TOUCHES_PARTITION, ACCESS_READ, BYTES("s-1")}));
    assert_true(keyring_remove(again, BYTES("a")));
    assert_false(keyring_remove(again, BYTES("a")));
    assert_null(keyring_find(again, BYTES("a")));
    chmod(path, 0644);
    struct keyring *third = keyring_new();
    assert_int_equal(keyring_load(third, path, (struct scope){&arena, &failure}, &exposed), OK);
    assert_true(exposed);
    keyring_free(third);
    unlink(path);
    rmdir(folder);
    keyring_free(ring);
    keyring_free(again);
}

/* A client's key is good for no table, and stays a client's in the file. */
static void test_roles(void **state) {
    (void)state;
    struct keyring *ring = keyring_new(), *again = keyring_new();
    struct buf text = {0};
    assert_int_equal(
        keyring_read(ring, BYTES(KEY("\"tables\":[\"*\"],\"allow\":[\"all\"],\"role\":\"client\"")),
                     "f", (struct scope){&arena, &failure}),
        OK);
    keyring_write(ring, &text);
    assert_int_equal(keyring_read(again, buf_bytes(&text), "f", (struct scope){&arena, &failure}),
                     OK);
    const struct access_key *key = keyring_find(again, BYTES("a"));
    assert_true(key->client);
    assert_false(may(key, (struct touch){TOUCHES_TABLE, ACCESS_READ, BYTES("game")}));
    assert_false(may(key, (struct touch){TOUCHES_PARTITION, ACCESS_READ, BYTES("game"),
                                         .partition = BYTES("BOARD#x")}));
    assert_false(may(key, (struct touch){TOUCHES_SCHEMA, 0, BYTES("game")}));
    assert_false(may(key, (struct touch){TOUCHES_SCHEMA, 0, BYTES("*")}));
    assert_false(may(key, (struct touch){TOUCHES_TABLE, ACCESS_ALL, BYTES("*")}));
    assert_true(may(key, (struct touch){TOUCHES_GAME, ACCESS_READ | ACCESS_WRITE, BYTES("game")}));
    buf_release(&text);
    keyring_free(ring);
    keyring_free(again);
}

static void test_replacing(void **state) {
    (void)state;
    struct keyring *first = keyring_new(), *second = keyring_new();
    struct bytes text = BYTES(KEY(WHOLE));
    assert_int_equal(keyring_read(first, text, "f", (struct scope){&arena, &failure}), OK);
    struct keys *keys = keys_new(first);
    const struct access_key *held = keyring_find(keys_now(keys), BYTES("a"));
    keys_replace(keys, second);
    assert_null(keyring_find(keys_now(keys), BYTES("a")));
    assert_bytes_equal(held->id, BYTES("a")); /* a request that runs still has it */
    keys_free(keys);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

/* A key is what it was only while its secret and every one of its rights are. */
static void test_unchanged(void **state) {
    static const char first[] = "{\"keys\":[{\"id\":\"a\",\"secret\":\"0123456789abcdef\","
                                "\"tables\":[\"game\"],\"allow\":[\"read\"],"
                                "\"partitions\":[\"USER#*\"]}]}";
    static const struct {
        const char *was, *is; /* replaced in the text */
        bool unchanged;
    } cases[] = {
        {"game", "game", true},
        {"\"id\":\"a\"", "\"id\":\"a\",\"name\":\"another name\"", true},
        {"\"id\":\"a\"", "\"id\":\"b\"", false},
        {"0123456789abcdef", "0123456789abcdeF", false},
        {"[\"game\"]", "[\"game\",\"more\"]", false},
        {"game", "gamf", false},
        {"[\"read\"]", "[\"read\",\"write\"]", false},
        {"[\"USER#*\"]", "[\"USER#*\",\"ROOM#*\"]", false},
        {"USER#*", "USER#a", false},
        {"\"id\":\"a\"", "\"id\":\"a\",\"role\":\"client\"", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf text = {0};
        const char *at = strstr(first, cases[i].was);
        buf_put(&text, bytes_of(first, (size_t)(at - first)));
        buf_put(&text, bytes_str(cases[i].is));
        buf_put(&text, bytes_str(at + strlen(cases[i].was)));
        struct keyring *old = keyring_new(), *new = keyring_new();
        struct scope in = {&arena, &failure};
        assert_int_equal(keyring_read(old, bytes_str(first), "old", in), OK);
        assert_int_equal(keyring_read(new, buf_bytes(&text), "new", in), OK);
        struct keys *keys = keys_new(old);
        const struct access_key *key = keyring_find(old, BYTES("a"));
        assert_true(keys_has_unchanged(keys, key));
        keys_replace(keys, new);
        assert_int_equal(keys_has_unchanged(keys, key), cases[i].unchanged);
        keys_free(keys);
        buf_release(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_faults), TEST(test_file), TEST(test_roles),
                                       TEST(test_replacing), TEST(test_unchanged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
