/* gametable keys: what it writes to the key file, what it prints, and what it refuses. */
#include "api/access_keys.h"
#include "cli/commands.h"
#include "cli_fixture.h"

#include <sys/stat.h>

struct fixture {
    const char *folder;
    char file[300];
    struct cli_call call;
    struct keyring *ring;
    struct arena arena;
};

static struct fixture f;

static int setup(void **state) {
    (void)state;
    memset(&f, 0, sizeof(f));
    unsetenv("GAMETABLE_KEYS");
    f.folder = cli_folder();
    snprintf(f.file, sizeof(f.file), "%s/keys.json", f.folder);
    f.ring = keyring_new();
    arena_init(&f.arena);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    keyring_free(f.ring);
    arena_release(&f.arena);
    unlink(f.file);
    assert_int_equal(rmdir(f.folder), 0); /* nothing else was left there */
    return 0;
}

#define KEYS(...) CLI_CALL(&f.call, command_keys, __VA_ARGS__)

/* What is in the file now, in place of what was known of it. */
static void load(void) {
    struct failure failure = {0};
    bool exposed = false;
    keyring_free(f.ring);
    f.ring = keyring_new();
    assert_int_equal(keyring_load(f.ring, f.file, (struct scope){&f.arena, &failure}, &exposed),
                     OK);
    assert_false(exposed);
}

/* The word that follows a label of what was printed. */
static void printed_word(const char *label, char out[64]) {
    const char *at = strstr(f.call.out.text, label);
    assert_non_null(at);
    assert_int_equal(sscanf(at + strlen(label), "%63s", out), 1);
}

static void test_add(void **state) {
    char id[64], secret[64];
    struct stat about;
    (void)state;
    KEYS("add", "--keys", f.file, "--table", "game", "--name", "the server");
    assert_int_equal(f.call.result, 0);
    printed_word("access key id", id);
    printed_word("secret access key", secret);
    assert_int_equal(strlen(id), 20);
    assert_memory_equal(id, "GT", 2);
    assert_int_equal(strlen(secret), 40);
    assert_int_equal(stat(f.file, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    load();
    const struct access_key *key = keyring_find(f.ring, bytes_str(id));
    assert_non_null(key);
    assert_bytes_equal(key->secret, bytes_str(secret));
    assert_bytes_equal(key->name, BYTES("the server"));
    assert_int_equal(key->allow, ACCESS_READ | ACCESS_WRITE); /* admin has to be asked for */
    assert_int_equal(key->table_count, 1);
    assert_int_equal(key->partition_count, 0);
    assert_false(key->client);
}

static void test_add_scoped(void **state) {
    (void)state;
    KEYS("add", "--keys", f.file, "--table", "a-*", "--table", "b-table", "--partition", "USER#1",
         "--allow", "read");
    assert_int_equal(f.call.result, 0);
    KEYS("add", "--keys", f.file, "--table", "*", "--allow", "read,admin,write");
    KEYS("add", "--keys", f.file, "--role", "client");
    load();
    assert_int_equal(f.ring->count, 3);
    const struct access_key *scoped = f.ring->keys[0], *all = f.ring->keys[1],
                            *client = f.ring->keys[2];
    assert_int_equal(scoped->table_count, 2);
    assert_bytes_equal(scoped->partitions[0], BYTES("USER#1"));
    assert_int_equal(scoped->allow, ACCESS_READ);
    assert_int_equal(all->allow, ACCESS_ALL);
    assert_true(client->client);
    assert_bytes_equal(client->tables[0], BYTES("*")); /* a client's key need not name one */
}

static void test_list_and_remove(void **state) {
    char first[64], second[64];
    (void)state;
    KEYS("add", "--keys", f.file, "--table", "game", "--partition", "A", "--partition", "B*",
         "--name", "me");
    printed_word("access key id", first);
    KEYS("add", "--keys", f.file, "--role", "client");
    printed_word("access key id", second);
    KEYS("list", "--keys", f.file);
    assert_int_equal(f.call.result, 0);
    char expected[256];
    snprintf(expected, sizeof(expected),
             "%s  read, write on game, partitions A, B*  (me)\n%s  read, write as a client on *\n",
             first, second);
    assert_string_equal(f.call.out.text, expected);
    KEYS("remove", first, "--keys", f.file);
    assert_int_equal(f.call.result, 0);
    load();
    assert_int_equal(f.ring->count, 1);
    assert_null(keyring_find(f.ring, bytes_str(first)));
    KEYS("remove", first, "--keys", f.file);
    assert_int_equal(f.call.result, 1);
    assert_contains(f.call.err.text, "there is no key GT");
}

/* Two keys are never alike, whoever makes them. */
static void test_ids_differ(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++)
        KEYS("add", "--keys", f.file, "--table", "game");
    load();
    assert_int_equal(f.ring->count, 20);
    for (size_t i = 0; i < 20; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(bytes_equal(f.ring->keys[i]->secret, f.ring->keys[j]->secret));
}

static void test_file_by_environment(void **state) {
    (void)state;
    setenv("GAMETABLE_KEYS", f.file, 1);
    KEYS("add", "--table", "game");
    assert_int_equal(f.call.result, 0);
    load();
    assert_int_equal(f.ring->count, 1);
    unsetenv("GAMETABLE_KEYS");
}

/* Wrong usage prints how it goes, returns 2 and touches nothing. */
static void test_wrong_usage(void **state) {
    static const char *const wrong[][8] = {
        {NULL},
        {"ad", "--table", "t"},
        {"add"},
        {"add", "--table"},
        {"add", "--table", "t", "word"},
        {"add", "--table", "t", "--allow", "everything"},
        {"add", "--table", "t", "--allow", ""},
        {"add", "--table", "t", "--role", "king"},
        {"add", "--table", "t", "--colour", "red"},
        {"list", "--table", "t"},
        {"list", "word"},
        {"remove"},
        {"remove", "one", "two"},
    };
    (void)state;
    setenv("GAMETABLE_KEYS", f.file, 1);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cli_call(&f.call, command_keys, wrong[i]);
        assert_int_equal(f.call.result, 2);
        assert_contains(f.call.err.text, "usage: gametable keys add --table NAME");
        assert_string_equal(f.call.out.text, "");
    }
    unsetenv("GAMETABLE_KEYS");
    assert_int_equal(access(f.file, F_OK), -1);
}

static void test_bad_values(void **state) {
    (void)state;
    KEYS("add", "--keys", f.file, "--table", "no such name");
    assert_int_equal(f.call.result, 2);
    KEYS("list", "--keys", f.file); /* it is not there */
    assert_int_not_equal(f.call.result, 0);
    cli_write(f.file, "{\"keys\": 1}");
    chmod(f.file, 0600);
    KEYS("add", "--keys", f.file, "--table", "game");
    assert_int_equal(f.call.result, 2); /* what cannot be read is not overwritten */
    char text[32] = "";
    FILE *file = fopen(f.file, "r");
    assert_non_null(fgets(text, sizeof(text), file));
    fclose(file);
    assert_string_equal(text, "{\"keys\": 1}");
}

static void test_exposed_file(void **state) {
    (void)state;
    KEYS("add", "--keys", f.file, "--table", "game");
    chmod(f.file, 0644);
    KEYS("list", "--keys", f.file);
    assert_int_equal(f.call.result, 0);
    assert_contains(f.call.err.text, "may be read by others on this machine: chmod 600 it");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_add, setup, teardown),
        cmocka_unit_test_setup_teardown(test_add_scoped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list_and_remove, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ids_differ, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_by_environment, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_usage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_exposed_file, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
