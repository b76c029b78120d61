/* Sorted sets as a call sees them, with what it has written so far, against a sorted array. */
#include "test.h"

#include "api/redis/key_txn_int.h"
#include "base/random.h"
#include "table/engine.h"
#include "table/local/local.h"

#define assert_ok(call, failure)                                                         \
    do {                                                                                 \
        enum status status_ = (call);                                                    \
        if (status_ != OK)                                                               \
            print_message("%s:%d: %s: %.*s\n", __FILE__, __LINE__, status_name(status_), \
                          BYTES_ARG((failure).text));                                    \
        assert_int_equal(status_, OK);                                                   \
    } while (0)

enum { MEMBERS = 40, SCORES = 7 };

struct fixture {
    struct engine *engine;
    struct game *game;
    struct redis_frontend *frontend;
    struct random random;
    struct redis_call call; /* the present one */
    struct arena arena;
    /* the model: scores of members, and whether they are there */
    double scores[MEMBERS];
    bool there[MEMBERS];
};

static struct fixture f;

static int setup(void **state) {
    (void)state;
    memset(&f, 0, sizeof(f));
    struct local_settings local = {.store = {.memory = true}};
    struct game_settings game = {.secret = BYTES("0123456789abcdef0123456789abcdef")};
    struct failure failure = {0};
    arena_init(&f.arena);
    assert_ok(local_open(&local, (struct scope){&f.arena, &failure}, &f.engine), failure);
    assert_ok(game_open(f.engine, &game, (struct scope){&f.arena, &failure}, &f.game), failure);
    f.frontend = redis_frontend_new(f.game, &(struct redis_settings){.loops = 1});
    return 0;
}

static int teardown(void **state) {
    (void)state;
    redis_frontend_stop(f.frontend);
    redis_frontend_free(f.frontend);
    game_close(f.game);
    engine_close(f.engine);
    arena_release(&f.arena);
    return 0;
}

/* ---- calls ---- */

static void begin_call(void) {
    f.call = (struct redis_call){.frontend = f.frontend, .arena = &f.arena};
    f.call.change = (struct change){.kind = CHANGE_WRITE, .arena = &f.arena};
}

/* Commits what the call wrote. */
static void end_call(void) {
    if (f.call.txn != NULL) {
        assert_int_equal(zset_txn_actions(&f.call), OK);
        f.call.change.all_or_nothing = true;
        if (f.call.change.action_count != 0)
            assert_ok(game_wait(f.game, &f.call.change), f.call.change.failure);
        zset_txn_release(f.call.txn);
    }
    arena_reset(&f.arena);
}

static struct zset *open_set(const char *key) {
    struct zset *zset;
    assert_ok(zset_open(&f.call, bytes_str(key), &zset), f.call.failure);
    return zset;
}

static struct bytes member_name(int member) {
    return arena_printf(&f.arena, "m%02d", member);
}

static void write_randomly(struct zset *zset) {
    int member = (int)random_below(&f.random, MEMBERS);
    if (random_below(&f.random, 60) == 0) {
        assert_int_equal(zset_clear(&f.call, zset), OK);
        memset(f.there, 0, sizeof(f.there));
        return;
    }
    if (random_below(&f.random, 3) == 0) {
        assert_int_equal(zset_remove(&f.call, zset, member_name(member)), OK);
        f.there[member] = false;
        return;
    }
    static const double scores[SCORES] = {-1.0 / 0.0, -2.5, 0, 5e-324, 1, 1e300, 1.0 / 0.0};
    double score = scores[random_below(&f.random, SCORES)];
    assert_int_equal(zset_put(&f.call, zset, member_name(member), score), OK);
    f.scores[member] = score;
    f.there[member] = true;
}

/* ---- the model ---- */

static int compare_members(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    if (f.scores[x] != f.scores[y])
        return f.scores[x] < f.scores[y] ? -1 : 1;
    return x - y;
}

static size_t model(int *sorted) {
    size_t count = 0;
    for (int i = 0; i < MEMBERS; i++)
        if (f.there[i])
            sorted[count++] = i;
    qsort(sorted, count, sizeof(*sorted), compare_members);
    return count;
}

static bool in_range(int member, const struct zset_range *range) {
    double score = f.scores[member], low = range->low.score, high = range->high.score;
    return (range->low.exclusive ? score > low : score >= low) &&
           (range->high.exclusive ? score < high : score <= high);
}

/* What the range should list. */
static size_t model_range(const struct zset_range *range, int *out) {
    int sorted[MEMBERS], picked[MEMBERS];
    size_t count = model(sorted), found = 0, listed = 0;
    if (range->reverse)
        for (size_t i = 0; i < count / 2; i++) {
            int other = sorted[i];
            sorted[i] = sorted[count - 1 - i];
            sorted[count - 1 - i] = other;
        }
    int64_t size = (int64_t)count;
    int64_t start = range->start < 0 ? range->start + size : range->start;
    int64_t stop = range->stop < 0 ? range->stop + size : range->stop;
    for (int64_t i = 0; i < size; i++)
        if (range->by == RANGE_RANK ? i >= start && i <= stop : in_range(sorted[i], range))
            picked[found++] = sorted[i];
    for (size_t i = 0; i < found; i++) {
        if (range->counted && range->by != RANGE_RANK &&
            (range->offset < 0 || (int64_t)i < range->offset ||
             (range->limit >= 0 && (int64_t)i >= range->offset + range->limit)))
            continue;
        out[listed++] = picked[i];
    }
    return listed;
}

static void random_range(struct zset_range *range) {
    static const double ends[] = {-1.0 / 0.0, -3, -2.5, 0, 5e-324, 0.5, 1, 2, 1e300, 1.0 / 0.0};
    memset(range, 0, sizeof(*range));
    range->reverse = random_below(&f.random, 2) == 0;
    range->by = random_below(&f.random, 2) == 0 ? RANGE_RANK : RANGE_SCORE;
    range->start = (int64_t)random_below(&f.random, 3 * MEMBERS) - 3 * MEMBERS / 2;
    range->stop = (int64_t)random_below(&f.random, 3 * MEMBERS) - 3 * MEMBERS / 2;
    range->low.score = ends[random_below(&f.random, 10)];
    range->high.score = ends[random_below(&f.random, 10)];
    range->low.exclusive = random_below(&f.random, 2) == 0;
    range->high.exclusive = random_below(&f.random, 2) == 0;
    range->counted = range->by == RANGE_SCORE && random_below(&f.random, 2) == 0;
    range->offset = (int64_t)random_below(&f.random, 8) - 1;
    range->limit = (int64_t)random_below(&f.random, 8) - 1;
}

/* ---- checks ---- */

static void check_range(struct zset *zset) {
    struct zset_range range;
    struct zset_entries entries;
    int expected[MEMBERS];
    uint64_t count;
    random_range(&range);
    size_t size = model_range(&range, expected);
    assert_ok(zset_list(&f.call, zset, &range, &entries), f.call.failure);
    assert_int_equal(entries.count, size);
    for (size_t i = 0; i < size; i++) {
        assert_bytes_equal(entries.list[i].member, member_name(expected[i]));
        assert_true(entries.list[i].score == f.scores[expected[i]]);
    }
    range.counted = false;
    size = model_range(&range, expected);
    assert_ok(zset_count(&f.call, zset, &range, &count), f.call.failure);
    assert_int_equal(count, size);
}

static void check_member(struct zset *zset) {
    int member = (int)random_below(&f.random, MEMBERS), sorted[MEMBERS];
    size_t size = model(sorted), place = 0;
    uint64_t total;
    bool reverse = random_below(&f.random, 2) == 0;
    struct zset_rank ranks[3];
    struct zset_entry entry = {.member = member_name(member)};
    assert_ok(zset_size(&f.call, zset, &total), f.call.failure);
    assert_int_equal(total, size);
    assert_ok(zset_scores(&f.call, zset, &entry, 1), f.call.failure);
    assert_int_equal(entry.found, f.there[member]);
    for (int i = 0; i < 3; i++) /* others before and after it */
        ranks[i] = (struct zset_rank){.member = member_name((member + i + MEMBERS - 1) % MEMBERS)};
    assert_ok(zset_ranks(&f.call, zset, &(struct zset_ranks){ranks, 3, reverse}), f.call.failure);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ranks[i].found, f.there[(member + i + MEMBERS - 1) % MEMBERS]);
    if (!ranks[1].found)
        return;
    while (sorted[place] != member)
        place++;
    assert_int_equal(ranks[1].rank, reverse ? size - 1 - place : place);
    assert_true(ranks[1].score == f.scores[member] && entry.score == ranks[1].score);
}

/* Reads and writes mixed in calls of any length; after each the table has what the call saw. */
static void test_model(void **state) {
    (void)state;
    random_seed(&f.random, test_seed());
    for (int round = 0; round < 150; round++) {
        begin_call();
        struct zset *zset = open_set("model");
        for (uint64_t steps = random_below(&f.random, 60); steps > 0; steps--) {
            if (random_below(&f.random, 3) == 0)
                write_randomly(zset);
            else if (random_below(&f.random, 2) == 0)
                check_range(zset);
            else
                check_member(zset);
        }
        end_call();
    }
}

/* ---- by member ---- */

static void expect_members(struct zset *zset, struct zset_range range, const char *expected) {
    struct zset_entries entries;
    struct buf text = {0};
    uint64_t count;
    range.by = RANGE_MEMBER;
    assert_ok(zset_list(&f.call, zset, &range, &entries), f.call.failure);
    for (size_t i = 0; i < entries.count; i++)
        buf_printf(&text, "%.*s ", BYTES_ARG(entries.list[i].member));
    assert_bytes_equal(buf_bytes(&text), bytes_str(expected));
    buf_release(&text);
    if (range.counted)
        return;
    assert_ok(zset_count(&f.call, zset, &range, &count), f.call.failure);
    assert_int_equal(count, entries.count);
}

static void check_by_member(struct zset *zset) {
    struct range_end all_low = {.infinite = -1}, all_high = {.infinite = 1};
    struct range_end b = {.member = BYTES("b")},
                     after_b = {.member = BYTES("b"), .exclusive = true};
    /* What people write for "all that begin with b". */
    struct range_end b_last = {.member = BYTES("b\xff")};
    expect_members(zset, (struct zset_range){.low = all_low, .high = all_high}, "a b bb c ");
    expect_members(zset, (struct zset_range){.low = all_high, .high = all_low}, "");
    expect_members(zset, (struct zset_range){.low = b, .high = all_high}, "b bb c ");
    expect_members(zset, (struct zset_range){.low = after_b, .high = all_high}, "bb c ");
    expect_members(zset, (struct zset_range){.low = all_low, .high = b}, "a b ");
    expect_members(zset, (struct zset_range){.low = all_low, .high = after_b}, "a ");
    expect_members(zset, (struct zset_range){.low = b, .high = b_last}, "b bb ");
    expect_members(zset, (struct zset_range){.low = b, .high = b_last, .reverse = true}, "bb b ");
    expect_members(zset,
                   (struct zset_range){
                       .low = all_low, .high = all_high, .counted = true, .offset = 1, .limit = 2},
                   "b bb ");
}

static void test_members(void **state) {
    (void)state;
    static const char *const names[] = {"c", "bb", "a", "b"};
    begin_call();
    struct zset *zset = open_set("names");
    for (int i = 0; i < 4; i++)
        assert_ok(zset_put(&f.call, zset, bytes_str(names[i]), 5), f.call.failure);
    check_by_member(zset); /* as written, */
    end_call();
    begin_call();
    check_by_member(open_set("names")); /* and as committed */
    end_call();
}

/* Bytes that are no text are ordered among the others when a range asks by name. */
static void test_members_of_bytes(void **state) {
    (void)state;
    struct range_end low = {.member = BYTES("a")}, high = {.member = BYTES("c\xff\xff")};
    begin_call();
    struct zset *zset = open_set("bytes");
    assert_ok(zset_put(&f.call, zset, BYTES("b\xfe"), 1), f.call.failure);
    assert_ok(zset_put(&f.call, zset, BYTES("c"), 1), f.call.failure);
    assert_ok(zset_put(&f.call, zset, BYTES("d"), 1), f.call.failure);
    end_call();
    begin_call();
    expect_members(open_set("bytes"), (struct zset_range){.low = low, .high = high}, "b\xfe c ");
    end_call();
}

/* ---- keys among arguments ---- */

static void test_command_keys(void **state) {
    (void)state;
    static const struct {
        const char *words[8];
        const char *at;
    } cases[] = {{{"zadd", "k", "1", "a"}, "1 "},
                 {{"ZUNION", "2", "a", "b", "WITHSCORES"}, "2 3 "},
                 {{"zunionstore", "to", "2", "a", "b"}, "1 3 4 "},
                 {{"bzpopmin", "a", "b", "0"}, "1 2 "},
                 {{"del", "a", "b", "c"}, "1 2 3 "},
                 {{"zunion", "3", "a", "b"}, "wrong"},
                 {{"zunion", "x", "a", "b"}, "wrong"},
                 {{"ping"}, ""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bytes args[8];
        size_t count = 0;
        struct key_positions keys;
        struct buf text = {0};
        for (; count < 8 && cases[i].words[count] != NULL; count++)
            args[count] = bytes_str(cases[i].words[count]);
        const struct redis_command *command = redis_command_find(args[0]);
        assert_non_null(command);
        struct redis_request request = {command, args, count};
        if (!redis_command_keys(&request, &f.arena, &keys))
            buf_lit(&text, "wrong");
        else
            for (size_t j = 0; j < keys.count; j++)
                buf_printf(&text, "%zu ", keys.at[j]);
        assert_bytes_equal(buf_bytes(&text), bytes_str(cases[i].at));
        buf_release(&text);
    }
    assert_null(redis_command_find(BYTES("nothing")));
    assert_null(redis_command_find(BYTES("a-name-that-is-longer-than-any-command-has")));
}

static void test_numbers(void **state) {
    (void)state;
    int64_t number;
    double real;
    static const char *const wrong[] = {
        "",  "-", "+1", "01", " 1", "1 ", "1.0", "9223372036854775808", "-9223372036854775809",
        "a", "-0"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(redis_read_int(bytes_str(wrong[i]), &number));
    assert_true(redis_read_int(BYTES("9223372036854775807"), &number) && number == INT64_MAX);
    assert_true(redis_read_int(BYTES("-9223372036854775808"), &number) && number == INT64_MIN);
    assert_true(redis_read_int(BYTES("0"), &number) && number == 0);
    static const char *const no_reals[] = {"", " 1", "1 ", "nan", "1e400", "1x", "--1", "1e-400"};
    for (size_t i = 0; i < sizeof(no_reals) / sizeof(no_reals[0]); i++)
        assert_false(redis_read_double(bytes_str(no_reals[i]), &real));
    assert_true(redis_read_double(BYTES("-inf"), &real) && real == -1.0 / 0.0);
    assert_true(redis_read_double(BYTES("+1.5e3"), &real) && real == 1500);
    assert_true(redis_read_double(BYTES("123456789012345"), &real) && real == 123456789012345.0);
    assert_true(redis_read_double(BYTES("0x10"), &real) && real == 16);
}

/* A call that was worked out ahead keeps what it writes, and forgets what it has only read. */
static void test_forget_read(void **state) {
    (void)state;
    enum { READ = 40 }; /* more than are found without a map */
    static const struct redis_command command = {.name = "test", .flags = COMMAND_WRITE};
    struct seen_versions all = {0}, written = {0};
    uint64_t size;
    begin_call();
    f.call.command = &command;
    f.call.own_budget.ahead = true;
    f.call.budget = &f.call.own_budget;
    for (int i = 0; i < READ; i++) {
        struct redis_key *key;
        enum key_type type;
        assert_ok(key_open(&f.call, arena_printf(&f.arena, "read%d", i), &key), f.call.failure);
        assert_ok(key_type_of(&f.call, key, &type), f.call.failure);
        assert_int_equal(type, KEY_NONE);
    }
    assert_ok(zset_put(&f.call, open_set("written"), BYTES("m"), 1), f.call.failure);
    zset_txn_seen(&f.call, true, &all);
    zset_txn_seen(&f.call, false, &written);
    assert_true(all.count > READ && written.count <= BOARD_VERSIONS + 1);
    zset_txn_forget_read(f.call.txn);
    assert_int_equal(f.call.txn->count, 1);
    assert_int_equal(f.call.txn->key_count, 0);
    assert_null(f.call.txn->keys);
    end_call();
    begin_call();
    assert_ok(zset_size(&f.call, open_set("written"), &size), f.call.failure);
    assert_int_equal(size, 1);
    end_call();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_model, setup, teardown),
        cmocka_unit_test_setup_teardown(test_members, setup, teardown),
        cmocka_unit_test_setup_teardown(test_members_of_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_forget_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_command_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
