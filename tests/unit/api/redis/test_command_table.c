/* The table of commands: what must hold of each line, so that a new one is not half filled in. */
#include "test.h"

#include "api/redis/redis_command.h"

#include <ctype.h>

struct fixture {
    struct arena arena;
};

static struct fixture f;

static int setup(void **state) {
    (void)state;
    arena_init(&f.arena);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_release(&f.arena);
    return 0;
}

/* Calls `look` with each command and each subcommand. */
static void each(void (*look)(const struct redis_command *command, const char *name)) {
    const struct redis_command *command;
    for (size_t at = 0; (command = redis_command_next(&at)) != NULL;) {
        look(command, command->name);
        for (const struct redis_command *sub = command->subs; sub != NULL && sub->name != NULL;
             sub++)
            look(sub, arena_str(&f.arena, redis_command_name(sub, &f.arena)));
    }
}

#define expect(condition)                               \
    do {                                                \
        if (!(condition))                               \
            fail_msg("%s: expected " #condition, name); \
    } while (0)

static void look_filled_in(const struct redis_command *command, const char *name) {
    unsigned version[3];
    for (const char *c = command->name; *c != '\0'; c++)
        expect(islower((unsigned char)*c) || *c == '-' || *c == '_' || isdigit((unsigned char)*c));
    expect(command->run != NULL || command->subs != NULL);
    expect(command->arity != 0);
    expect(command->summary != NULL && isupper((unsigned char)command->summary[0]));
    expect(command->summary[strlen(command->summary) - 1] != '.');
    expect(command->since != NULL &&
           sscanf(command->since, "%u.%u.%u", &version[0], &version[1], &version[2]) == 3);
}

static void test_filled_in(void **state) {
    (void)state;
    each(look_filled_in);
}

static void look_flags(const struct redis_command *command, const char *name) {
    unsigned flags = command->flags;
    bool writes = (flags & COMMAND_WRITE) != 0, reads = (flags & COMMAND_READ) != 0;
    expect(!(writes && reads));
    expect((flags & COMMAND_DENYOOM) == 0 || writes);
    expect((flags & COMMAND_BLOCKING) == 0 || (flags & COMMAND_NOSCRIPT) != 0 || writes);
    expect((flags & COMMAND_EXCLUSIVE) == 0 || writes || command->group == GROUP_TRANSACTIONS);
    int differs = (flags & COMMAND_BATCHED_PAIRS) != 0 ? 2 : 1;
    bool member_writes = writes && command->start != NULL && differs == 2;
    expect((flags & COMMAND_BATCHED) == 0 ||
           ((reads || member_writes) && abs(command->arity) == 2 + differs));
    expect(command->start == NULL || writes || command->group == GROUP_TRANSACTIONS);
    /* Who is not known yet may not reach data. */
    expect((flags & COMMAND_NO_AUTH) == 0 || !(writes || reads || (flags & COMMAND_ADMIN) != 0));
}

static void test_flags(void **state) {
    (void)state;
    each(look_flags);
}

/* Keys that stand at fixed places are within the fewest arguments that the arity allows, and access
 * by partition can be decided of every command that touches data by its keys. */
static void look_keys(const struct redis_command *command, const char *name) {
    const struct command_keys *keys = &command->keys;
    unsigned flags = command->flags;
    int fewest = command->arity < 0 ? -command->arity : command->arity;
    bool any = keys->first > 0 || keys->counted > 0;
    expect(keys->first >= 0 && keys->counted >= 0);
    expect(keys->first == 0 || (keys->step > 0 && keys->first < fewest));
    expect(keys->last < fewest &&
           (keys->first == 0 || keys->last < 0 || keys->last >= keys->first));
    expect(keys->counted < fewest);
    expect((keys->counted > 0) == ((command->flags & COMMAND_MOVABLE_KEYS) != 0));
    expect(command->group != GROUP_SORTED_SET || any);
    expect(!any || (flags & (COMMAND_WRITE | COMMAND_READ)) != 0 ||
           (flags & COMMAND_COMMITS) != 0 || command->group == GROUP_TRANSACTIONS);
}

static void test_keys(void **state) {
    (void)state;
    each(look_keys);
}

static void look_found(const struct redis_command *command, const char *name) {
    char upper[64] = "";
    for (size_t i = 0; command->name[i] != '\0'; i++)
        upper[i] = (char)toupper((unsigned char)command->name[i]);
    const char *bar = strchr(name, '|');
    if (bar == NULL) {
        expect(redis_command_find(bytes_str(upper)) == command);
        return;
    }
    const struct redis_command *outer = redis_command_find(bytes_of(name, (size_t)(bar - name)));
    expect(outer != NULL && redis_subcommand_find(outer, bytes_str(upper)) == command);
    expect(redis_command_find(bytes_str(name)) == NULL);
}

static void test_found(void **state) {
    (void)state;
    each(look_found);
    assert_null(redis_command_find(BYTES("")));
    assert_null(redis_command_find(BYTES("zadd\0")));
    const struct redis_command *client = redis_command_find(BYTES("client"));
    assert_null(redis_subcommand_find(client, BYTES("")));
    assert_null(redis_subcommand_find(client, BYTES("i")));
    assert_null(redis_subcommand_find(client, BYTES("idx")));
}

static void test_arity(void **state) {
    (void)state;
    const struct redis_command exact = {.arity = 3}, least = {.arity = -3};
    assert_true(redis_arity_fits(&exact, 3) && redis_arity_fits(&least, 3));
    assert_false(redis_arity_fits(&exact, 2) || redis_arity_fits(&least, 2));
    assert_true(redis_arity_fits(&least, 1000000) && !redis_arity_fits(&exact, 4));
}

static bool find_keys(const struct redis_command *command, const struct bytes *args, size_t count,
                      struct key_positions *out) {
    return redis_command_keys(&(struct redis_request){command, args, count}, &f.arena, out);
}

/* How the keys of a line come out, for lines that no command has yet. */
static void test_positions(void **state) {
    static const struct bytes args[] = {BYTES("x"), BYTES("a"), BYTES("2"), BYTES("b"), BYTES("c")};
    struct key_positions at;
    (void)state;
    struct redis_command pairs = {.arity = -2, .keys = {1, -1, 2, 0}};
    assert_true(find_keys(&pairs, args, 5, &at));
    assert_int_equal(at.count, 2);
    assert_int_equal(at.at[1], 3);
    struct redis_command counted = {.arity = -3, .keys = {1, 1, 1, 2}};
    assert_true(find_keys(&counted, args, 5, &at));
    assert_int_equal(at.count, 3);
    assert_int_equal(at.at[2], 4);
    assert_false(find_keys(&counted, args, 4, &at)); /* it says two, one is there */
    assert_false(find_keys(&counted, args, 2, &at)); /* the arity is wrong */
    struct redis_command none = {.arity = -1};
    assert_true(find_keys(&none, args, 5, &at));
    assert_int_equal(at.count, 0);
}

static void test_counts_that_cannot_be(void **state) {
    static const char *const wrong[] = {
        "0", "-1", "x", "", "9223372036854775807", "18446744073709551617"};
    struct bytes args[] = {BYTES("zunion"), BYTES(""), BYTES("a")};
    struct key_positions at;
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        args[1] = bytes_str(wrong[i]);
        assert_false(find_keys(redis_command_find(args[0]), args, 3, &at));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_filled_in, setup, teardown),
        cmocka_unit_test_setup_teardown(test_flags, setup, teardown),
        cmocka_unit_test_setup_teardown(test_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(test_found, setup, teardown),
        cmocka_unit_test(test_arity),
        cmocka_unit_test_setup_teardown(test_positions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counts_that_cannot_be, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
