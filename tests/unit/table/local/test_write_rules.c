/* Rules of a table's owner: asked about what others write to its partitions, in the same commit. */
#include "compute_test.h"
#include "table/write_rule.h"

/* Scores under 0 are refused, over 100 they become 100; what is sealed cannot be deleted. With each
 * score go two items: one counts the changes that wrote to the partition, one the writes. */
static enum status count_one(struct action *action, const struct item *old, struct arena *arena,
                             struct item *new) {
    *new = with_score(arena, old->count != 0 ? old : &action->item,
                      old->count != 0 ? score_of(old) + 1 : 1);
    return OK;
}

static enum status check(struct write_check *check) {
    struct arena *arena = check->arena;
    unsigned *asked = check->owner;
    ++*asked;
    if (check->new.count == 0)
        return item_get(check->old, BYTES("sealed")) == NULL
                   ? OK
                   : failure_set(check->failure, arena, INVALID, "It is sealed");
    int64_t score = score_of(&check->new);
    if (score < 0)
        return failure_set(check->failure, arena, INVALID, "No scores under 0");
    if (score > 100)
        check->new = with_score(arena, &check->new, 100);
    check->added = ARENA_ARRAY(arena, struct rule_added, 2);
    check->added_count = 2;
    check->added[0].action = (struct action){.kind = ACTION_COMPUTE,
                                             .table = BYTES("game"),
                                             .item = item_of(arena, "pk=S:count", "sk=S:0", NULL),
                                             .compute = count_one};
    check->added[1] = check->added[0];
    check->added[1].action.item = item_of(arena, "pk=S:each", "sk=S:0", NULL);
    check->added[1].each = true;
    return OK;
}

static const struct write_rule rules[] = {{{(const uint8_t *)"own#", 4}, check}};

struct ruled {
    struct world world;
    unsigned asked;
    struct write_rules rules;
};

static void change_rules(struct ruled *ruled, enum change_kind kind) {
    struct change change = {
        .kind = kind, .arena = &ruled->world.arena, .write_rules = &ruled->rules};
    engine_do(ruled->world.engine, &change);
    assert_status(&change, OK);
}

static void ruled_open(struct ruled *ruled) {
    *ruled = (struct ruled){.rules = {.table = BYTES("game"), .rules = rules, .count = 1}};
    ruled->rules.owner = &ruled->asked;
    world_open(&ruled->world);
    change_rules(ruled, CHANGE_ADD_RULES);
}

static struct action put_of(struct ruled *ruled, const char *pk, int64_t score) {
    struct item item = key(&ruled->world.arena, pk);
    item = with_score(&ruled->world.arena, &item, score);
    return (struct action){.kind = ACTION_PUT, .table = BYTES("game"), .item = item};
}

static enum status do_action(struct ruled *ruled, struct action *action) {
    struct change change = write_of(&ruled->world.arena, action, 1);
    engine_do(ruled->world.engine, &change);
    return change.failure.status;
}

static int64_t stored_score(struct ruled *ruled, const char *pk) {
    struct item got;
    bool found = get_item(ruled->world.engine, &ruled->world.arena, "game",
                          key(&ruled->world.arena, pk), &got);
    return found ? score_of(&got) : -1;
}

static void each_kind_of_write_is_asked_about(void **state) {
    (void)state;
    struct ruled ruled;
    ruled_open(&ruled);
    struct action put = put_of(&ruled, "own#a", 500);
    assert_int_equal(do_action(&ruled, &put), OK);
    assert_int_equal(score_of(&put.new), 100);
    assert_int_equal(stored_score(&ruled, "own#a"), 100);
    struct item values = item_of(&ruled.world.arena, ":n=N:-600", NULL);
    struct action update = {.kind = ACTION_UPDATE,
                            .table = BYTES("game"),
                            .item = key(&ruled.world.arena, "own#a"),
                            .update = update_of(&ruled.world.arena, "ADD score :n", &values)};
    assert_int_equal(do_action(&ruled, &update), INVALID);
    assert_text(update.failure.text, "No scores under 0");
    assert_int_equal(stored_score(&ruled, "own#a"), 100);
    values = item_of(&ruled.world.arena, ":n=N:900", ":s=S:yes", NULL);
    update.update = update_of(&ruled.world.arena, "SET score = :n, sealed = :s", &values);
    assert_int_equal(do_action(&ruled, &update), OK);
    assert_int_equal(stored_score(&ruled, "own#a"), 100);
    struct action del = {
        .kind = ACTION_DELETE, .table = BYTES("game"), .item = key(&ruled.world.arena, "own#a")};
    assert_int_equal(do_action(&ruled, &del), INVALID);
    assert_int_equal(ruled.asked, 4);
    assert_int_equal(stored_score(&ruled, "count"), 2);
    del.by_owner = true;
    assert_int_equal(do_action(&ruled, &del), OK);
    assert_int_equal(do_action(&ruled, &del), OK);
    assert_int_equal(ruled.asked, 4);
    world_close(&ruled.world);
}

static void other_partitions_are_not(void **state) {
    (void)state;
    struct ruled ruled;
    ruled_open(&ruled);
    struct action put = put_of(&ruled, "own", -7), own = put_of(&ruled, "own#b", -7);
    assert_int_equal(do_action(&ruled, &put), OK);
    own.by_owner = true;
    assert_int_equal(do_action(&ruled, &own), OK);
    assert_int_equal(ruled.asked, 0);
    own.by_owner = false;
    assert_int_equal(do_action(&ruled, &own), INVALID);
    change_rules(&ruled, CHANGE_DROP_RULES);
    assert_int_equal(do_action(&ruled, &own), OK);
    assert_int_equal(ruled.asked, 1);
    world_close(&ruled.world);
}

/* A transaction is refused as a whole; what rules add to several of its actions is done once, and
 * not at all if it is among them. */
static void a_change_is_one(void **state) {
    (void)state;
    struct ruled ruled;
    ruled_open(&ruled);
    struct action actions[] = {put_of(&ruled, "own#a", 1), put_of(&ruled, "own#b", -1)};
    struct change change = write_of(&ruled.world.arena, actions, 2);
    change.all_or_nothing = true;
    engine_do(ruled.world.engine, &change);
    assert_status(&change, CANCELLED);
    assert_int_equal(actions[1].failure.status, INVALID);
    assert_int_equal(stored_score(&ruled, "own#a"), -1);
    assert_int_equal(stored_score(&ruled, "count"), -1);
    actions[1] = put_of(&ruled, "own#b", 2);
    engine_do(ruled.world.engine, &change);
    assert_status(&change, OK);
    assert_int_equal(stored_score(&ruled, "count"), 1);
    assert_int_equal(stored_score(&ruled, "each"), 2);
    struct action more[] = {put_of(&ruled, "count", 40), put_of(&ruled, "own#c", 2)};
    change = write_of(&ruled.world.arena, more, 2);
    engine_do(ruled.world.engine, &change);
    assert_status(&change, OK);
    assert_int_equal(stored_score(&ruled, "count"), 40);
    assert_int_equal(stored_score(&ruled, "each"), 3);
    assert_int_equal(stored_score(&ruled, "own#c"), 2);
    world_close(&ruled.world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_write_is_asked_about),
        cmocka_unit_test(other_partitions_are_not),
        cmocka_unit_test(a_change_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
