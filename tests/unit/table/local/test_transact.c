/* Transactions: all or nothing, reasons in order, tokens that make a repeat harmless, also over a
 * restart and over writes that fail. */
#include "engine.h"

#include "base/clock.h"
#include "base/limits.h"

struct world {
    struct engine *engine;
    struct arena arena;
};

static void world_open(struct world *world, const struct local_settings *settings) {
    arena_init(&world->arena);
    world->engine = settings != NULL ? engine_open(settings) : engine_open_memory();
    struct table_schema schema = game_schema(&world->arena, "game");
    create_table(world->engine, &world->arena, &schema);
    schema = plain_schema(&world->arena, "other");
    create_table(world->engine, &world->arena, &schema);
}

static void world_close(struct world *world) {
    engine_close(world->engine);
    arena_release(&world->arena);
}

static struct item account(struct arena *arena, const char *name, int balance) {
    return item_of(arena, (const char *)arena_printf(arena, "pk=S:%s%c", name, 0).data, "sk=S:0",
                   (const char *)arena_printf(arena, "score=N:%d%c", balance, 0).data, "board=S:b",
                   NULL);
}

static struct item key(struct arena *arena, const char *name) {
    return item_of(arena, (const char *)arena_printf(arena, "pk=S:%s%c", name, 0).data, "sk=S:0",
                   NULL);
}

/* The balance of an account, or -1. */
static int64_t balance(struct world *world, const char *name) {
    struct item got;
    int64_t score;
    if (!get_item(world->engine, &world->arena, "game", key(&world->arena, name), &got))
        return -1;
    assert_true(number_to_int(item_get(&got, BYTES("score"))->bytes, &score));
    return score;
}

/* Moves an amount from one account to another, if there is enough. */
static struct change transfer(struct arena *arena, struct action *actions, const char *from,
                              const char *to, const char *amount) {
    struct item values =
        item_of(arena, (const char *)arena_printf(arena, ":n=N:%s%c", amount, 0).data, NULL);
    actions[0] =
        (struct action){.kind = ACTION_UPDATE, .table = BYTES("game"), .item = key(arena, from)};
    actions[0].condition = condition_of(arena, "score >= :n", &values);
    actions[0].update = update_of(arena, "SET score = score - :n", &values);
    actions[1] =
        (struct action){.kind = ACTION_UPDATE, .table = BYTES("game"), .item = key(arena, to)};
    actions[1].update = update_of(arena, "ADD score :n", &values);
    struct change change = write_of(arena, actions, 2);
    change.all_or_nothing = true;
    return change;
}

static void with_token(struct change *change, const char *token, uint64_t digest) {
    change->token = bytes_str(token);
    change->token_digest[0] = digest;
    change->token_digest[1] = digest * 3;
}

static void test_reasons(void **state) {
    (void)state;
    struct world world;
    world_open(&world, NULL);
    struct arena *arena = &world.arena;
    put_item(world.engine, arena, "game", account(arena, "a", 5));
    struct action actions[4] = {
        {.kind = ACTION_PUT, .table = BYTES("other"), .item = key(arena, "new")},
        {.kind = ACTION_CHECK, .table = BYTES("game"), .item = key(arena, "a")},
        {.kind = ACTION_DELETE, .table = BYTES("game"), .item = key(arena, "none")},
        {.kind = ACTION_UPDATE, .table = BYTES("game"), .item = key(arena, "a2")}};
    actions[1].condition = condition_of(arena, "attribute_not_exists(pk)", NULL);
    actions[3].update = update_of(arena, "SET x = y", NULL);
    struct change change = write_of(arena, actions, 4);
    change.all_or_nothing = true;
    engine_do(world.engine, &change);
    assert_status(&change, CANCELLED);
    assert_int_equal(actions[0].failure.status, OK);
    assert_int_equal(actions[1].failure.status, CONDITION_FAILED);
    assert_true(actions[1].had_old);
    assert_int_equal(actions[2].failure.status, OK);
    assert_int_equal(actions[3].failure.status, INVALID);
    struct item got;
    assert_false(get_item(world.engine, arena, "other", key(arena, "new"), &got));
    /* Without the two that fail it goes through, over both tables. */
    actions[1].condition = condition_of(arena, "attribute_exists(pk)", NULL);
    change.action_count = 3;
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    assert_true(get_item(world.engine, arena, "other", key(arena, "new"), &got));
    check_engine(world.engine);
    world_close(&world);
}

static void test_same_item(void **state) {
    (void)state;
    struct world world;
    world_open(&world, NULL);
    struct action actions[2] = {
        {.kind = ACTION_PUT, .table = BYTES("game"), .item = account(&world.arena, "a", 1)},
        {.kind = ACTION_CHECK, .table = BYTES("game"), .item = key(&world.arena, "a")}};
    struct change change = write_of(&world.arena, actions, 2);
    change.all_or_nothing = true;
    engine_do(world.engine, &change);
    assert_status(&change, INVALID);
    assert_text(change.failure.text,
                "Transaction request cannot include multiple operations on one item");
    world_close(&world);
}

static void test_token(void **state) {
    (void)state;
    struct world world;
    world_open(&world, NULL);
    struct arena *arena = &world.arena;
    struct action actions[2];
    put_item(world.engine, arena, "game", account(arena, "a", 10));
    struct change change = transfer(arena, actions, "a", "b", "3");
    with_token(&change, "one", 7);
    for (int i = 0; i < 3; i++) {
        engine_do(world.engine, &change);
        assert_status(&change, OK);
        assert_int_equal(change.repeated, i > 0);
        assert_int_equal(balance(&world, "a"), 7);
        assert_int_equal(balance(&world, "b"), 3);
    }
    assert_true(actions[0].usage.table == 1); /* what looking at it costs */
    with_token(&change, "one", 8);
    engine_do(world.engine, &change);
    assert_status(&change, REPEAT_MISMATCH);
    assert_int_equal(balance(&world, "a"), 7);
    with_token(&change, "two", 7);
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    assert_false(change.repeated);
    assert_int_equal(balance(&world, "a"), 4);
    /* One that is refused keeps nothing. */
    change = transfer(arena, actions, "a", "b", "100");
    with_token(&change, "three", 1);
    engine_do(world.engine, &change);
    assert_status(&change, CANCELLED);
    change = transfer(arena, actions, "a", "b", "1");
    with_token(&change, "three", 2);
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    assert_false(change.repeated);
    assert_int_equal(balance(&world, "a"), 3);
    check_engine(world.engine);
    world_close(&world);
}

/* One that only checks writes nothing but its token. */
static void test_token_of_check(void **state) {
    (void)state;
    struct world world;
    world_open(&world, NULL);
    struct action action = {
        .kind = ACTION_CHECK, .table = BYTES("game"), .item = key(&world.arena, "a")};
    action.condition = condition_of(&world.arena, "attribute_not_exists(pk)", NULL);
    struct change change = write_of(&world.arena, &action, 1);
    change.all_or_nothing = true;
    with_token(&change, "check", 1);
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    assert_false(change.repeated);
    put_item(world.engine, &world.arena, "game", account(&world.arena, "a", 1));
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    assert_true(change.repeated);
    world_close(&world);
}

/* The same token twice and a third time with another request, all in one group. */
static void test_token_in_group(void **state) {
    (void)state;
    struct world world;
    world_open(&world, NULL);
    struct arena *arena = &world.arena, arenas[3] = {0};
    put_item(world.engine, arena, "game", account(arena, "a", 10));
    struct action actions[3][2];
    struct change changes[3];
    sem_t done[3];
    struct stall stall;
    stall_start(&stall, world.engine);
    for (int i = 0; i < 3; i++) {
        arena_init(&arenas[i]);
        changes[i] = transfer(&arenas[i], actions[i], "a", "b", "3");
        with_token(&changes[i], "same", i < 2 ? 7 : 8);
        sem_init(&done[i], 0, 0);
        changes[i].done = engine_done;
        changes[i].user = &done[i];
        engine_submit(world.engine, &changes[i]);
    }
    stall_end(&stall);
    for (int i = 0; i < 3; i++)
        sem_wait(&done[i]);
    assert_status(&changes[0], OK);
    assert_false(changes[0].repeated);
    assert_status(&changes[1], OK);
    assert_true(changes[1].repeated);
    assert_status(&changes[2], REPEAT_MISMATCH);
    assert_int_equal(balance(&world, "a"), 7);
    for (int i = 0; i < 3; i++) {
        arena_release(&arenas[i]);
        sem_destroy(&done[i]);
    }
    world_close(&world);
}

/* Kept over a restart, for ten minutes and not longer. */
static void test_restart(void **state) {
    (void)state;
    struct world world;
    char *folder = folder_make();
    struct local_settings settings = {.store.path = folder, .threads = 1};
    world_open(&world, &settings);
    struct arena *arena = &world.arena;
    struct action actions[2];
    put_item(world.engine, arena, "game", account(arena, "a", 10));
    struct change change = transfer(arena, actions, "a", "b", "3");
    with_token(&change, "kept", 7);
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    for (int i = 0; i < 2; i++) {
        engine_close(world.engine);
        world.engine = engine_open(&settings);
        engine_do(world.engine, &change);
        assert_status(&change, OK);
        assert_true(change.repeated);
        assert_int_equal(balance(&world, "a"), 7);
    }
    clock_shift_ms(LIMIT_TOKEN_MS + 1000);
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    assert_false(change.repeated);
    assert_int_equal(balance(&world, "a"), 4);
    world_close(&world);
    folder_remove(folder);
}

/* A client that asks again until it is told that it was done: whatever fails, it is done once. */
static void retry_until_done(struct world *world, int number) {
    struct action actions[2];
    for (int tries = 0; tries < 3000; tries++) {
        struct change change = transfer(&world->arena, actions, "a", "b", "1");
        char token[16];
        snprintf(token, sizeof(token), "t%d", number);
        with_token(&change, token, (uint64_t)number);
        if (engine_do(world->engine, &change) == OK)
            return;
        assert_status(&change, IO_FAILED);
        usleep(20 * 1000);
    }
    fail_msg("no recovery");
}

static void run_faults(int write_in, int sync_in) {
    enum { STEPS = 8 };
    struct world world;
    struct store_faults faults = {0};
    char *folder = folder_make();
    struct local_settings settings = {.store = {.path = folder, .faults = &faults}, .threads = 1};
    world_open(&world, &settings);
    put_item(world.engine, &world.arena, "game", account(&world.arena, "a", 100));
    __atomic_store_n(&faults.write_in, write_in, __ATOMIC_SEQ_CST);
    __atomic_store_n(&faults.sync_in, sync_in, __ATOMIC_SEQ_CST);
    for (int i = 0; i < STEPS; i++) {
        retry_until_done(&world, i);
        assert_int_equal(balance(&world, "a"), 99 - i);
        assert_int_equal(balance(&world, "b"), i + 1);
    }
    check_engine(world.engine);
    engine_close(world.engine);
    world.engine = engine_open(&settings);
    for (int i = 0; i < STEPS; i++)
        retry_until_done(&world, i); /* all of them repeats */
    assert_int_equal(balance(&world, "a"), 100 - STEPS);
    world_close(&world);
    folder_remove(folder);
}

static void test_faults(void **state) {
    (void)state;
    for (int n = 1; n <= 4; n++) {
        run_faults(n, 0);
        run_faults(0, n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),        cmocka_unit_test(test_same_item),
        cmocka_unit_test(test_token),          cmocka_unit_test(test_token_of_check),
        cmocka_unit_test(test_token_in_group), cmocka_unit_test(test_restart),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
