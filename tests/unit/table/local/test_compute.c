/* Items worked out by a function. */
#include "compute_test.h"

#include "base/limits.h"
#include "table/table_stream.h"

static enum status refuse(struct action *action, const struct item *old, struct arena *arena,
                          struct item *new) {
    *new = with_score(arena, old->count != 0 ? old : &action->item, 77);
    return failure_set(&action->failure, arena, *(const enum status *)action->user, "No, thanks");
}

static enum status silently_refuse(struct action *action, const struct item *old,
                                   struct arena *arena, struct item *new) {
    (void)action, (void)old, (void)arena, (void)new;
    return CONDITION_FAILED;
}

static enum status become(struct action *action, const struct item *old, struct arena *arena,
                          struct item *new) {
    (void)old, (void)arena;
    *new = *(const struct item *)action->user;
    return OK;
}

/* Does it, but leaves behind what went wrong on the way. */
static enum status add_grumbling(struct action *action, const struct item *old, struct arena *arena,
                                 struct item *new) {
    failure_set(&action->failure, arena, INVALID, "Not at first");
    return add(action, old, arena, new);
}

/* --- alone --- */

static void test_one(void **state) {
    (void)state;
    struct world world;
    struct item got;
    int64_t five = 5, none = 0, back = -5;
    world_open(&world);
    struct action action = do_compute(&world, "a", add, &five, OK);
    assert_false(action.had_old);
    assert_int_equal(score_of(&action.new), 5);
    assert_true(get_item(world.engine, &world.arena, "game", key(&world.arena, "a"), &got));
    assert_true(item_equal(&got, &action.new));
    /* Left as it was: nothing is written, but both are told. */
    uint64_t before = writes(world.engine);
    action = do_compute(&world, "a", add, &none, OK);
    assert_true(action.had_old && item_equal(&action.old, &got) && item_equal(&action.new, &got));
    /* An equal one that was made anew is no change either. */
    struct item same = item_copy(&world.arena, &got);
    action = do_compute(&world, "a", become, &same, OK);
    action = do_compute(&world, "nobody", add, &none, OK);
    assert_true(!action.had_old && action.new.count == 0);
    assert_int_equal(writes(world.engine), before);
    action = do_compute(&world, "a", add, &five, OK);
    assert_int_equal(score_of(&action.old), 5);
    assert_int_equal(score_of(&action.new), 10);
    do_compute(&world, "a", add, &back, OK);
    action = do_compute(&world, "a", add, &back, OK);
    assert_true(action.had_old && action.new.count == 0);
    assert_false(get_item(world.engine, &world.arena, "game", key(&world.arena, "a"), &got));
    /* To delete what is not there is nothing. */
    struct item nothing = {0};
    before = writes(world.engine);
    do_compute(&world, "a", become, &nothing, OK);
    assert_int_equal(writes(world.engine), before);
    world_close(&world);
}

static void test_rules(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    struct arena *arena = &world.arena;
    struct item bad[] = {
        item_of(arena, "pk=S:b", "sk=S:0", NULL),           /* another one */
        item_of(arena, "pk=S:a", "score=N:1", NULL),        /* without its key */
        item_of(arena, "pk=S:a", "sk=N:0", NULL),           /* of another type */
        item_of(arena, "pk=S:a", "sk=S:0", "nick=S:", NULL) /* no key of an index */
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct action action = do_compute(&world, "a", become, &bad[i], INVALID);
        assert_int_equal(action.failure.status, INVALID);
        assert_true(action.failure.text.size > 0);
    }
    struct action action = do_compute(&world, "a", silently_refuse, NULL, CONDITION_FAILED);
    assert_true(action.failure.text.size > 0);
    assert_int_equal(writes(world.engine), 0);
    /* A condition is tested before the function is asked. */
    action = compute_of(arena, "a", become, &bad[0]);
    action.condition = condition_of(arena, "attribute_exists(pk)", NULL);
    struct change change = write_of(arena, &action, 1);
    engine_do(world.engine, &change);
    assert_status(&change, CONDITION_FAILED);
    world_close(&world);
}

/* Indexes follow whatever of the item changes: only what no index is by, one key, the expiry. The
 * hint that no index says all of it changes nothing but where it is looked for. */
static void test_changes(void **state) {
    (void)state;
    struct world world;
    struct item got;
    world_open(&world);
    struct arena *arena = &world.arena;
    struct item steps[] = {
        item_of(arena, "pk=S:a", "sk=S:0", "nick=S:n", "text=S:one", NULL),
        item_of(arena, "pk=S:a", "sk=S:0", "nick=S:n", "text=S:longer", NULL),
        item_of(arena, "pk=S:a", "sk=S:0", "nick=S:n", NULL),
        item_of(arena, "pk=S:a", "sk=S:0", "nick=S:m", NULL),
        item_of(arena, "pk=S:a", "sk=S:0", "nick=S:m", "other=N:1", NULL),
        item_of(arena, "pk=S:a", "sk=S:0", "nick=S:m", "ends=N:4000000000", "other=N:1", NULL),
        item_of(arena, "pk=S:a", "sk=S:0", "nick=S:m", "ends=N:4000000001", "other=N:1", NULL),
        item_of(arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:1", NULL),
        item_of(arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:2", NULL),
        item_of(arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:2", "text=S:x", NULL),
        item_of(arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:2", NULL),
        item_of(arena, "pk=S:a", "sk=S:0", NULL)};
    for (unsigned round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
            struct action action = compute_of(arena, "a", become, &steps[i]);
            action.uncovered = round == 1;
            struct change change = write_of(arena, &action, 1);
            engine_do(world.engine, &change);
            assert_status(&change, OK);
            assert_true(get_item(world.engine, arena, "game", key(arena, "a"), &got));
            assert_true(item_equal(&got, &steps[i]));
            check_engine(world.engine);
        }
    uint8_t *much = memset(arena_alloc(arena, LIMIT_ITEM_SIZE), 'x', LIMIT_ITEM_SIZE);
    struct value text = value_string(bytes_of(much, LIMIT_ITEM_SIZE));
    struct item large = item_with(arena, &got, BYTES("text"), &text);
    do_compute(&world, "a", become, &large, INVALID);
    world_close(&world);
}

static void test_together(void **state) {
    (void)state;
    struct world world;
    struct item got;
    int64_t five = 5;
    world_open(&world);
    /* Whatever status the function refuses with, a transaction is cancelled and says why. */
    enum status faults[] = {INVALID, CONDITION_FAILED, LIMIT_EXCEEDED, DENIED};
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        struct action actions[3] = {compute_of(&world.arena, "a", add, &five),
                                    compute_of(&world.arena, "b", refuse, &faults[i]),
                                    compute_of(&world.arena, "c", add, &five)};
        struct change change = write_of(&world.arena, actions, 3);
        change.all_or_nothing = true;
        engine_do(world.engine, &change);
        assert_status(&change, CANCELLED);
        assert_int_equal(actions[0].failure.status, OK);
        assert_int_equal(actions[1].failure.status, faults[i]);
        assert_text(actions[1].failure.text, "No, thanks");
        assert_int_equal(actions[2].failure.status, OK);
        /* Without, the fault itself is the change's. */
        change.all_or_nothing = false;
        engine_do(world.engine, &change);
        assert_status(&change, faults[i]);
    }
    assert_false(get_item(world.engine, &world.arena, "game", key(&world.arena, "a"), &got));
    /* In one group each sees what the one before it did. */
    struct stall stall;
    struct action actions[12];
    struct change changes[12];
    sem_t done;
    sem_init(&done, 0, 0);
    stall_start(&stall, world.engine);
    for (int i = 0; i < 8; i++) {
        actions[i] = compute_of(&world.arena, "a", add, &five);
        changes[i] = write_of(ARENA_NEW(&world.arena, struct arena), &actions[i], 1);
        changes[i].done = engine_done;
        changes[i].user = &done;
        engine_submit(world.engine, &changes[i]);
    }
    stall_end(&stall);
    for (int i = 0; i < 8; i++)
        sem_wait(&done);
    for (int i = 0; i < 8; i++) {
        assert_status(&changes[i], OK);
        assert_int_equal(score_of(&actions[i].new), 5 * (i + 1));
        arena_release(changes[i].arena);
    }
    sem_destroy(&done);
    world_close(&world);
}

/* Streams tell of it as of any write, and what it made expires. */
static void test_told(void **state) {
    (void)state;
    struct world world;
    struct failure failure;
    int64_t five = 5, back = -5;
    world_open(&world);
    do_compute(&world, "a", add, &five, OK);
    do_compute(&world, "a", add, &five, OK);
    do_compute(&world, "a", add, &back, OK);
    do_compute(&world, "a", add, &back, OK);
    struct item ends = item_of(&world.arena, "pk=S:a", "sk=S:0", "ends=N:1", NULL);
    do_compute(&world, "a", become, &ends, OK); /* too long ago to be taken away */
    struct stream_list_request list = {.table = BYTES("game"), .limit = 1};
    struct stream_list streams;
    assert_int_equal(engine_streams(world.engine, &list, &world.arena, &streams), OK);
    enum stream_event want[] = {STREAM_INSERT, STREAM_MODIFY, STREAM_MODIFY, STREAM_REMOVE,
                                STREAM_INSERT};
    size_t seen = 0;
    for (unsigned shard = 0; shard < STREAM_SHARDS_MAX; shard++) {
        struct stream_read_request request = {.table = BYTES("game"),
                                              .label_ms = streams.streams[0].label_ms,
                                              .shard = shard,
                                              .from = streams.streams[0].kept[shard],
                                              .limit = 100};
        struct stream_read_reply reply;
        assert_int_equal(engine_stream_read(world.engine, &request,
                                            (struct scope){&world.arena, &failure}, &reply),
                         OK);
        for (size_t i = 0; i < reply.count; i++, seen++) {
            assert_int_equal(reply.records[i].event, want[seen]);
            assert_int_equal(reply.records[i].has_old, want[seen] != STREAM_INSERT);
            assert_int_equal(reply.records[i].has_new, want[seen] != STREAM_REMOVE);
        }
    }
    assert_int_equal(seen, 5);
    world_close(&world);
}

static void test_token(void **state) {
    (void)state;
    struct world world;
    int64_t five = 5;
    world_open(&world);
    for (int i = 0; i < 3; i++) {
        struct action action = compute_of(&world.arena, "a", add, &five);
        struct change change = write_of(&world.arena, &action, 1);
        change.token = BYTES("once");
        engine_do(world.engine, &change);
        assert_status(&change, OK);
        assert_int_equal(change.repeated, i > 0);
        assert_int_equal(action.had_old, i > 0);
    }
    assert_int_equal(writes(world.engine), 1);
    world_close(&world);
}

/* --- large changes --- */

static void test_large(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    static char names[LIMIT_CHANGE_ACTIONS + 1][12];
    struct action *actions = mem_zalloc((LIMIT_CHANGE_ACTIONS + 1) * sizeof(*actions));
    int64_t one = 1;
    for (int i = 0; i <= LIMIT_CHANGE_ACTIONS; i++) {
        snprintf(names[i], sizeof(names[i]), "%d", i);
        actions[i] = compute_of(&world.arena, names[i], add, &one);
    }
    struct change change = write_of(&world.arena, actions, LIMIT_CHANGE_ACTIONS + 1);
    engine_do(world.engine, &change);
    assert_status(&change, INVALID);
    change.action_count--;
    struct item last = actions[LIMIT_CHANGE_ACTIONS - 1].item;
    actions[LIMIT_CHANGE_ACTIONS - 1].item = actions[17].item;
    engine_do(world.engine, &change);
    assert_status(&change, INVALID);
    assert_text(change.failure.text, "Provided list of item keys contains duplicates");
    assert_int_equal(writes(world.engine), 0);
    actions[LIMIT_CHANGE_ACTIONS - 1].item = last;
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    assert_int_equal(writes(world.engine), LIMIT_CHANGE_ACTIONS);
    mem_free(actions);
    world_close(&world);
}

/* More than may wait is turned away, and leaves nothing behind that would keep others out. */
static void test_busy(void **state) {
    (void)state;
    enum { CHANGES = LIMIT_ACTIONS_WAITING / LIMIT_CHANGE_ACTIONS + 2 };
    struct world world;
    int64_t none = 0, busy = 0;
    world_open(&world);
    static struct action actions[CHANGES][LIMIT_CHANGE_ACTIONS];
    struct change changes[CHANGES];
    struct arena arenas[CHANGES];
    struct item *keys = ARENA_ARRAY(&world.arena, struct item, LIMIT_CHANGE_ACTIONS);
    static char names[LIMIT_CHANGE_ACTIONS][12];
    for (int i = 0; i < LIMIT_CHANGE_ACTIONS; i++) {
        snprintf(names[i], sizeof(names[i]), "%d", i);
        keys[i] = key(&world.arena, names[i]);
    }
    for (int round = 0; round < 2; round++) {
        struct stall stall;
        sem_t done;
        sem_init(&done, 0, 0);
        busy = 0;
        stall_start(&stall, world.engine);
        for (int i = 0; i < CHANGES; i++) {
            arena_init(&arenas[i]);
            for (int j = 0; j < LIMIT_CHANGE_ACTIONS; j++)
                actions[i][j] = (struct action){.kind = ACTION_COMPUTE,
                                                .table = BYTES("game"),
                                                .item = keys[j],
                                                .compute = add,
                                                .user = &none};
            changes[i] = write_of(&arenas[i], actions[i], LIMIT_CHANGE_ACTIONS);
            changes[i].done = engine_done;
            changes[i].user = &done;
            engine_submit(world.engine, &changes[i]);
        }
        stall_end(&stall);
        for (int i = 0; i < CHANGES; i++)
            sem_wait(&done);
        for (int i = 0; i < CHANGES; i++) {
            busy += changes[i].failure.status == BUSY;
            arena_release(&arenas[i]);
        }
        assert_int_equal(busy, 2);
        sem_destroy(&done);
    }
    world_close(&world);
}

/* Makes an item that is not there, if another is not there either. */
static enum status make_alone(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    action->wants_also = old->count == 0;
    *new = with_score(arena, old->count != 0 ? old : &action->item,
                      old->count != 0 ? score_of(old) + 1 : 1);
    return OK;
}

static enum status is_absent(struct action *action, const struct item *old, struct arena *arena,
                             struct item *new) {
    (void)new;
    ++*(unsigned *)action->user;
    return old->count == 0 ? OK
                           : failure_set(&action->failure, arena, CONFLICT, "the other is there");
}

/* An action that the function asks for sees what came before it in the same group, and is left out
 * otherwise. */
static void test_also(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    struct arena *arena = &world.arena;
    unsigned asked = 0;
    int64_t one = 1;
    struct item found;
    struct action other = compute_of(arena, "other", is_absent, &asked);
    struct action actions[] = {
        compute_of(arena, "a", make_alone, NULL), compute_of(arena, "a", make_alone, NULL),
        compute_of(arena, "other", add, &one), compute_of(arena, "b", make_alone, NULL),
        compute_of(arena, "a", make_alone, NULL)};
    enum { COUNT = sizeof(actions) / sizeof(actions[0]) };
    struct change changes[COUNT];
    struct arena arenas[COUNT] = {0};
    struct stall stall;
    sem_t done;
    sem_init(&done, 0, 0);
    stall_start(&stall, world.engine); /* so that all are of one group */
    for (size_t i = 0; i < COUNT; i++) {
        if (actions[i].compute == make_alone)
            actions[i].also = &other;
        changes[i] = write_of(&arenas[i], &actions[i], 1);
        changes[i].done = engine_done;
        changes[i].user = &done;
        engine_submit(world.engine, &changes[i]);
    }
    stall_end(&stall);
    for (size_t i = 0; i < COUNT; i++)
        while (sem_wait(&done) != 0)
            ;
    for (size_t i = 0; i < COUNT; i++) {
        assert_status(&changes[i], i == 3 ? CONFLICT : OK);
        arena_release(&arenas[i]);
    }
    assert_int_equal(asked, 2);
    assert_true(get_item(world.engine, arena, "game", key(arena, "a"), &found));
    assert_int_equal(score_of(&found), 3);
    assert_false(get_item(world.engine, arena, "game", key(arena, "b"), &found));
    sem_destroy(&done);
    world_close(&world);
}

/* Of a change whose actions are `apart` each succeeds or fails by itself. */
static void test_apart(void **state) {
    (void)state;
    struct world world;
    struct item got;
    int64_t five = 5, none = 0;
    enum status invalid = INVALID, conflict = CONFLICT;
    world_open(&world);
    struct arena *arena = &world.arena;
    struct item bad = item_of(arena, "pk=S:other", "sk=S:0", NULL);
    struct action actions[5] = {
        compute_of(arena, "a", add, &five), compute_of(arena, "b", refuse, &invalid),
        compute_of(arena, "c", add_grumbling, &five), compute_of(arena, "d", become, &bad),
        compute_of(arena, "e", add, &none)};
    struct change change = write_of(arena, actions, 5);
    change.apart = true;
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(actions[i].failure.status, i == 1 || i == 3 ? INVALID : OK);
    assert_text(actions[1].failure.text, "No, thanks");
    assert_true(get_item(world.engine, arena, "game", key(arena, "a"), &got));
    assert_false(get_item(world.engine, arena, "game", key(arena, "b"), &got));
    assert_true(get_item(world.engine, arena, "game", key(arena, "c"), &got));
    assert_int_equal(score_of(&got), 5);
    assert_false(get_item(world.engine, arena, "game", key(arena, "d"), &got));
    assert_int_equal(writes(world.engine), 2);
    check_engine(world.engine);
    struct action alone = do_compute(&world, "alone", add_grumbling, &five, OK);
    assert_true(get_item(world.engine, arena, "game", key(arena, "alone"), &got));
    assert_int_equal(score_of(&alone.new), 5);
    /* All are at fault. */
    change = write_of(arena, &actions[1], 1);
    change.apart = true;
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    assert_int_equal(actions[1].failure.status, INVALID);
    /* One refuses them all. */
    actions[3] = compute_of(arena, "d", refuse, &conflict);
    change = write_of(arena, actions, 5);
    change.apart = true;
    engine_do(world.engine, &change);
    assert_true(change.failure.status != OK);
    assert_int_equal(actions[3].failure.status, CONFLICT);
    assert_true(get_item(world.engine, arena, "game", key(arena, "a"), &got));
    assert_int_equal(score_of(&got), 5);
    assert_int_equal(writes(world.engine), 3);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),     cmocka_unit_test(test_rules),
        cmocka_unit_test(test_changes), cmocka_unit_test(test_together),
        cmocka_unit_test(test_told),    cmocka_unit_test(test_token),
        cmocka_unit_test(test_large),   cmocka_unit_test(test_busy),
        cmocka_unit_test(test_also),    cmocka_unit_test(test_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
