/* What a write does to an entry, decided without a table: scores as sorted sets take them, and as a
 * board keeps them. */
#include "game/board/entry_rules.h"
#include "test.h"

#include <math.h>

static struct points points_from(struct arena *arena, const char *score, const char *subscore) {
    struct points points;
    assert_int_equal(number_read(arena, bytes_str(score), &points.score), NUMBER_OK);
    assert_int_equal(number_read(arena, bytes_str(subscore), &points.subscore), NUMBER_OK);
    return points;
}

/* An entry of (10, 6) whose tie is 5, at time 100. */
static struct entry_write write_to(const struct board *board, struct arena *arena, unsigned flags,
                                   double score) {
    return (struct entry_write){.board = board,
                                .flags = flags,
                                .delta = score,
                                .points = points_of_double(arena, score),
                                .now_ms = 100,
                                .had_old = true,
                                .before = points_from(arena, "10", "6"),
                                .tie_before = number_from_int(arena, 5)};
}

static void check_untouched(const struct entry_write *write, struct arena *arena) {
    struct points as_it_was = points_from(arena, "10", "6");
    assert_int_equal(points_compare(&write->after, &as_it_was), 0);
    assert_bytes_equal(write->tie, number_from_int(arena, 5));
}

static void an_equal_score_changes_nothing(void **state) {
    (void)state;
    static const struct {
        unsigned flags;
        double score;
        enum entry_outcome outcome;
    } cases[] = {{0, 10, ENTRY_SAME},
                 {ENTRY_OLD_ONLY, 10, ENTRY_SAME},
                 {ENTRY_ADD, 0, ENTRY_SAME},
                 {ENTRY_GREATER_ONLY, 10, ENTRY_NOT_DONE},
                 {ENTRY_LESS_ONLY, 10, ENTRY_NOT_DONE},
                 {ENTRY_ADD | ENTRY_GREATER_ONLY, 0, ENTRY_NOT_DONE},
                 {ENTRY_NEW_ONLY, 11, ENTRY_NOT_DONE}};
    struct board board = {.rules = {.subscores = true, .decimals = -1}};
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct entry_write write = write_to(&board, &arena, cases[i].flags, cases[i].score);
        entry_decide_by_flags(&write, &arena);
        assert_int_equal(write.outcome, cases[i].outcome);
        check_untouched(&write, &arena);
    }
    arena_release(&arena);
}

static void another_score_has_no_subscore_and_a_new_tie(void **state) {
    (void)state;
    struct board board = {.rules = {.subscores = true, .decimals = -1}};
    struct arena arena;
    arena_init(&arena);
    struct entry_write write = write_to(&board, &arena, ENTRY_ADD, 5);
    entry_decide_by_flags(&write, &arena);
    struct points sum = points_from(&arena, "15", "0");
    assert_int_equal(write.outcome, ENTRY_CHANGED);
    assert_int_equal(points_compare(&write.after, &sum), 0);
    assert_bytes_equal(write.tie, number_from_int(&arena, -100)); /* the highest is first */
    arena_release(&arena);
}

/* A double that is as near as can be to the decimal there is the same score, unless exact ones are
 * asked for. */
static void doubles_are_compared_as_doubles(void **state) {
    (void)state;
    struct board board = {.rules = {.plain = true, .tie = TIE_MEMBER, .decimals = -1}};
    struct arena arena;
    arena_init(&arena);
    struct entry_write write = write_to(&board, &arena, 0, 9007199254740992.0);
    write.before = points_from(&arena, "9007199254740993", "0");
    struct entry_write exact = write;
    exact.flags = ENTRY_EXACT;
    entry_decide_by_flags(&write, &arena);
    entry_decide_by_flags(&exact, &arena);
    assert_int_equal(write.outcome, ENTRY_SAME);
    assert_int_equal(points_compare(&write.after, &write.before), 0);
    assert_int_equal(exact.outcome, ENTRY_CHANGED);
    arena_release(&arena);
}

static void limits_hold_for_sums_too(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct board board = {
        .rules = {.keep = KEEP_SUM, .decimals = 0, .score_max = number_from_int(&arena, 12)}};
    struct entry_write write = write_to(&board, &arena, ENTRY_ADD, 3);
    entry_decide_by_flags(&write, &arena);
    assert_int_equal(write.outcome, ENTRY_OUT_OF_RANGE);
    check_untouched(&write, &arena);
    write = write_to(&board, &arena, 0, 3);
    entry_decide_by_rules(&write, &arena);
    assert_int_equal(write.outcome, ENTRY_OUT_OF_RANGE);
    check_untouched(&write, &arena);
    write = write_to(&board, &arena, 0, 2);
    entry_decide_by_rules(&write, &arena);
    assert_int_equal(write.outcome, ENTRY_CHANGED);
    assert_bytes_equal(write.after.score, number_from_int(&arena, 12));
    arena_release(&arena);
}

static void boards_keep_what_they_say(void **state) {
    (void)state;
    static const struct {
        enum keep keep;
        enum order order;
        double score;
        enum entry_outcome outcome;
    } cases[] = {
        {KEEP_BEST, ORDER_HIGH, 11, ENTRY_CHANGED},   {KEEP_BEST, ORDER_HIGH, 9, ENTRY_NOT_DONE},
        {KEEP_BEST, ORDER_LOW, 9, ENTRY_CHANGED},     {KEEP_BEST, ORDER_HIGH, 10, ENTRY_NOT_DONE},
        {KEEP_FIRST, ORDER_HIGH, 11, ENTRY_NOT_DONE}, {KEEP_LATEST, ORDER_HIGH, 9, ENTRY_CHANGED}};
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct board board = {
            .rules = {.keep = cases[i].keep, .order = cases[i].order, .decimals = -1}};
        struct entry_write write = write_to(&board, &arena, 0, cases[i].score);
        entry_decide_by_rules(&write, &arena);
        assert_int_equal(write.outcome, cases[i].outcome);
        if (cases[i].outcome == ENTRY_NOT_DONE)
            check_untouched(&write, &arena);
    }
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_equal_score_changes_nothing),
        cmocka_unit_test(another_score_has_no_subscore_and_a_new_tie),
        cmocka_unit_test(doubles_are_compared_as_doubles),
        cmocka_unit_test(limits_hold_for_sums_too),
        cmocka_unit_test(boards_keep_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
