#include "test.h"

#include "api/keys.h"

#include <sys/stat.h>
#include <unistd.h>

static struct arena arena;
static struct failure failure;

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
        assert_int_equal(keyring_read(ring, bytes_str(cases[i][0]), "f", &arena, &failure),
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
    assert_int_equal(keyring_load(ring, path, &arena, &failure, &exposed), NOT_FOUND);
    assert_int_equal(
        keyring_read(ring,
                     BYTES("{\"keys\":[{\"id\":\"a\",\"name\":\"\\\"quoted\\\"\"," SECRET
                           ",\"tables\":[\"game\",\"s-*\"],\"allow\":[\"read\","
                           "\"admin\"],\"partitions\":[\"USER#\\u00e9*\"]}]}"),
                     "f", &arena, &failure),
        OK);
    assert_int_equal(keyring_save(ring, path, &arena, &failure), OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(keyring_load(again, path, &arena, &failure, &exposed), OK);
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
    assert_true(access_key_allows(key, ACCESS_READ, BYTES("s-1")));
    assert_false(access_key_allows(key, ACCESS_READ, BYTES("games")));
    assert_false(access_key_allows(key, ACCESS_READ | ACCESS_WRITE, BYTES("game")));
    assert_true(access_key_reaches(key, BYTES("USER#\xc3\xa9"
                                              "1")));
    assert_false(access_key_reaches(key, BYTES("USER#e")));
    assert_true(keyring_remove(again, BYTES("a")));
    assert_false(keyring_remove(again, BYTES("a")));
    assert_null(keyring_find(again, BYTES("a")));
    chmod(path, 0644);
    struct keyring *third = keyring_new();
    assert_int_equal(keyring_load(third, path, &arena, &failure, &exposed), OK);
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
                     "f", &arena, &failure),
        OK);
    keyring_write(ring, &text);
    assert_int_equal(keyring_read(again, buf_bytes(&text), "f", &arena, &failure), OK);
    const struct access_key *key = keyring_find(again, BYTES("a"));
    assert_true(key->client);
    assert_false(access_key_allows(key, ACCESS_READ, BYTES("game")));
    assert_false(access_key_allows(key, 0, BYTES("game")));
    assert_false(access_key_spans(key));
    assert_false(access_key_is_free(key));
    assert_true(access_key_serves(key, ACCESS_READ | ACCESS_WRITE, BYTES("game")));
    buf_release(&text);
    keyring_free(ring);
    keyring_free(again);
}

static void test_replacing(void **state) {
    (void)state;
    struct keyring *first = keyring_new(), *second = keyring_new();
    struct bytes text = BYTES(KEY(WHOLE));
    assert_int_equal(keyring_read(first, text, "f", &arena, &failure), OK);
    struct keys *keys = keys_new(first);
    const struct access_key *held = keyring_find(keys_now(keys), BYTES("a"));
    keys_replace(keys, second);
    assert_null(keyring_find(keys_now(keys), BYTES("a")));
    assert_bytes_equal(held->id, BYTES("a")); /* a request that runs still has it */
    keys_free(keys);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_faults), TEST(test_file), TEST(test_roles),
                                       TEST(test_replacing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
