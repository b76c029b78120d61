/* What both engines do with rules: which one is asked, its bound, and computes that become one. */
#include "test.h"

#include "base/limits.h"
#include "table/write_rule.h"

static unsigned asked_first, asked_second;

static enum status first_rule(struct write_check *check) {
    asked_first++;
    assert_ptr_equal(check->owner, &asked_first);
    return OK;
}

static enum status second_rule(struct write_check *check) {
    asked_second++;
    check->added_count = LIMIT_RULE_ACTIONS + 1;
    return OK;
}

static struct action put(struct pair *pair, const char *partition) {
    *pair = (struct pair){BYTES("PK"), value_string(bytes_str(partition))};
    struct item item = {pair, 1};
    return (struct action){.kind = ACTION_PUT, .table = BYTES("game"), .item = item, .new = item};
}

static void which_is_asked(void **state) {
    static const struct write_rule boards[] = {{BYTES("BOARD#"), first_rule}};
    static const struct write_rule all[] = {{BYTES("ROOM#"), second_rule},
                                            {BYTES("BOARD#"), second_rule}};
    struct write_rules one = {
        .table = BYTES("game"), .rules = boards, .count = 1, .owner = &asked_first};
    struct write_rules two = {.table = BYTES("game"), .rules = all, .count = 2};
    struct write_rules *list = NULL;
    struct write_check check;
    struct arena arena;
    struct pair pair;
    (void)state;
    arena_init(&arena);
    struct action action = put(&pair, "BOARD#x");
    assert_null(write_rules_find(list, &action, BYTES("PK")).rule);
    write_rules_append(&list, &one);
    write_rules_append(&list, &two);
    write_rules_append(&list, &one); /* it is there */
    struct rule_found found = write_rules_find(list, &action, BYTES("PK"));
    assert_ptr_equal(found.rule, &boards[0]); /* the first that was added */
    assert_int_equal(write_rule_ask(&found, &action, &arena, &check), OK);
    assert_int_equal(asked_first, 1);
    write_rules_remove(&list, &one);
    write_rules_remove(&list, &one);
    found = write_rules_find(list, &action, BYTES("PK"));
    assert_ptr_equal(found.rule, &all[1]);
    assert_int_equal(write_rule_ask(&found, &action, &arena, &check), INVALID);
    assert_int_equal(asked_second, 1);
    assert_int_equal(write_rule_verdict(&action, &arena, INVALID), INVALID);
    assert_true(bytes_find(action.failure.text, BYTES("more than")) != SIZE_MAX);

    action = put(&pair, "PLAYER#x");
    assert_null(write_rules_find(list, &action, BYTES("PK")).rule);
    action = put(&pair, "ROOM#x");
    assert_non_null(write_rules_find(list, &action, BYTES("PK")).rule);
    action.new.count = 0; /* nothing was there, and nothing is */
    assert_null(write_rules_find(list, &action, BYTES("PK")).rule);
    action = put(&pair, "ROOM#x");
    action.table = BYTES("other");
    assert_null(write_rules_find(list, &action, BYTES("PK")).rule);
    assert_int_equal(write_rule_verdict(&action, &arena, CONFLICT), CONFLICT);
    assert_true(action.failure.text.size != 0);
    arena_release(&arena);
}

/* Appends its letter to what is there; 'x' fails. */
static enum status add_letter(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    const char *letter = action->user;
    if (*letter == 'x')
        return failure_set(&action->failure, arena, INVALID, "no");
    struct bytes before = old->count != 0 ? item_get(old, BYTES("t"))->bytes : (struct bytes){0};
    struct value value = value_string(arena_printf(arena, "%.*s%s", BYTES_ARG(before), letter));
    *new = item_with(arena, old, BYTES("t"), &value);
    return OK;
}

static void computes_in_order(void **state) {
    struct rule_compute *list = NULL;
    struct action whole = {0};
    struct item new = {0};
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (const char *letter = "abc"; *letter != '\0'; letter++)
        rule_computes_append(
            &list,
            &(struct action){.compute = add_letter, .user = arena_str(&arena, bytes_of(letter, 1))},
            &arena);
    assert_int_equal(rule_computes_run(list, &whole, &arena, &new), OK);
    assert_bytes_equal(item_get(&new, BYTES("t"))->bytes, BYTES("abc"));
    rule_computes_append(
        &list, &(struct action){.compute = add_letter, .user = arena_str(&arena, BYTES("x"))},
        &arena);
    assert_int_equal(rule_computes_run(list, &whole, &arena, &new), INVALID);
    assert_bytes_equal(whole.failure.text, BYTES("no"));
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_is_asked),
        cmocka_unit_test(computes_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
