/* Items worked out by a function, and changes that decide on the writer's thread: alone, and many
 * at once against a model. */
#include "engine.h"

#include "base/limits.h"
#include "base/random.h"
#include "table/stream.h"

struct world {
    struct engine *engine;
    struct arena arena;
};

static void world_open_in(struct world *world, const char *folder) {
    struct local_settings settings = {.store = {.path = folder, .memory = folder == NULL},
                                      .threads = 1,
                                      .apart_from = folder == NULL ? 0 : 2};
    arena_init(&world->arena);
    world->engine = engine_open(&settings);
    struct table_schema schema = game_schema(&world->arena, "game");
    schema.stream = STREAM_BOTH;
    schema.expiry = BYTES("ends");
    create_table(world->engine, &world->arena, &schema);
}

static void world_open(struct world *world) {
    world_open_in(world, NULL);
}

static void world_close(struct world *world) {
    check_engine(world->engine);
    engine_close(world->engine);
    arena_release(&world->arena);
}

static struct item key(struct arena *arena, const char *name) {
    return item_of(arena, arena_printf(arena, "pk=S:%s%c", name, 0).data, "sk=S:0", NULL);
}

static int64_t score_of(const struct item *item) {
    int64_t score = 0;
    const struct value *value = item_get(item, BYTES("score"));
    require(value != NULL && number_to_int(value->bytes, &score));
    return score;
}

static struct item with_score(struct arena *arena, const struct item *item, int64_t score) {
    struct value number = {.type = VALUE_N, .bytes = number_from_int(arena, score)};
    struct value board = value_string(BYTES("b"));
    struct item next = item_with(arena, item, BYTES("score"), &number);
    return item_with(arena, &next, BYTES("board"), &board);
}

/* --- functions --- */

/* Adds *user; what comes to 0 goes. */
static enum status add(struct action *action, const struct item *old, struct arena *arena,
                       struct item *new) {
    int64_t more = *(const int64_t *)action->user;
    int64_t score = old->count != 0 ? score_of(old) : 0;
    if (more == 0)
        return OK;
    if (score + more == 0)
        *new = (struct item){0};
    else
        *new = with_score(arena, old->count != 0 ? old : &action->item, score + more);
    return OK;
}

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

static struct action compute_of(struct arena *arena, const char *name, action_compute *compute,
                                void *user) {
    return (struct action){.kind = ACTION_COMPUTE,
                           .table = BYTES("game"),
                           .item = key(arena, name),
                           .compute = compute,
                           .user = user};
}

static struct action do_compute(struct world *world, const char *name, action_compute *compute,
                                void *user, enum status want) {
    struct action action = compute_of(&world->arena, name, compute, user);
    struct change change = write_of(&world->arena, &action, 1);
    engine_do(world->engine, &change);
    assert_status(&change, want);
    return action;
}

static uint64_t writes(struct engine *engine) {
    struct engine_figures figures;
    engine_figures(engine, &figures);
    return figures.writes;
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
    for (unsigned shard = 0; shard < STREAM_SHARDS; shard++) {
        struct stream_read_request request = {.table = BYTES("game"),
                                              .label_ms = streams.streams[0].label_ms,
                                              .shard = shard,
                                              .from = streams.streams[0].kept[shard],
                                              .limit = 100};
        struct stream_read_reply reply;
        assert_int_equal(engine_stream_read(world.engine, &request, &world.arena, &failure, &reply),
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

/* --- deciding --- */

struct decision {
    struct change change;
    struct engine *engine;
    unsigned asked;
    struct item found; /* the lowest score, */
    struct action action;
    enum status fault; /* what it is to fail with */
    bool nothing;      /* or to do */
};

static struct decision *decision_of(struct change *change) {
    return (struct decision *)change;
}

/* The item with the lowest score of board b, as the index has it. */
static bool lowest(struct engine *engine, struct arena *arena, struct item *out) {
    struct key_test *test = ARENA_NEW(arena, struct key_test);
    *test =
        (struct key_test){.name = BYTES("board"), .op = KEY_EQ, .low = value_string(BYTES("b"))};
    struct key_condition keys = {.tests = {*test}, .count = 1};
    struct page_request request = {
        .table = BYTES("game"), .index = BYTES("byscore"), .keys = &keys, .limit = 1};
    struct page_reply reply;
    struct failure failure;
    require(engine_page(engine, &request, arena, &failure, &reply) == OK);
    if (reply.count != 0)
        *out = reply.items[0];
    return reply.count != 0;
}

/* What was read is what the action finds: nothing came between. */
static enum status take_exactly(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    (void)arena;
    require(item_equal(old, action->user));
    *new = (struct item){0};
    return OK;
}

static enum status pop_lowest(struct change *change) {
    struct decision *decision = decision_of(change);
    decision->asked++;
    if (decision->fault != OK)
        return failure_set(&change->failure, change->arena, decision->fault, "Not today");
    if (decision->nothing || !lowest(decision->engine, change->arena, &decision->found))
        return OK;
    struct pair *pairs = ARENA_ARRAY(change->arena, struct pair, 2);
    pairs[0] = (struct pair){BYTES("pk"), *item_get(&decision->found, BYTES("pk"))};
    pairs[1] = (struct pair){BYTES("sk"), *item_get(&decision->found, BYTES("sk"))};
    decision->action = (struct action){.kind = ACTION_COMPUTE,
                                       .table = BYTES("game"),
                                       .item = {pairs, 2},
                                       .compute = take_exactly,
                                       .user = &decision->found};
    change->actions = &decision->action;
    change->action_count = 1;
    return OK;
}

static struct decision decision_new(struct engine *engine, struct arena *arena) {
    return (struct decision){.change = {.kind = CHANGE_WRITE, .arena = arena, .decide = pop_lowest},
                             .engine = engine};
}

static void test_decide(void **state) {
    (void)state;
    struct world world;
    int64_t scores[] = {7, 3, 5};
    world_open(&world);
    for (int i = 0; i < 3; i++)
        do_compute(&world, i == 0 ? "a" : i == 1 ? "b" : "c", add, &scores[i], OK);
    for (int64_t want = 3; want <= 9; want += 2) {
        struct decision decision = decision_new(world.engine, &world.arena);
        engine_do(world.engine, &decision.change);
        assert_status(&decision.change, OK);
        assert_int_equal(decision.change.action_count, want <= 7);
        if (want <= 7)
            assert_int_equal(score_of(&decision.action.old), want);
    }
    world_close(&world);
}

static void test_decide_faults(void **state) {
    (void)state;
    struct world world;
    int64_t five = 5;
    world_open(&world);
    do_compute(&world, "a", add, &five, OK);
    struct decision decision = decision_new(world.engine, &world.arena);
    decision.fault = CONDITION_FAILED;
    engine_do(world.engine, &decision.change);
    assert_status(&decision.change, CONDITION_FAILED);
    assert_text(decision.change.failure.text, "Not today");
    decision = decision_new(world.engine, &world.arena);
    decision.nothing = true;
    engine_do(world.engine, &decision.change);
    assert_status(&decision.change, OK);
    assert_int_equal(writes(world.engine), 1);
    /* What was done under a token is not even asked again. */
    for (int i = 0; i < 2; i++) {
        decision = decision_new(world.engine, &world.arena);
        decision.change.token = BYTES("pop");
        engine_do(world.engine, &decision.change);
        assert_status(&decision.change, OK);
        assert_int_equal(decision.change.repeated, i > 0);
        assert_int_equal(decision.asked, i == 0);
    }
    assert_int_equal(writes(world.engine), 2);
    world_close(&world);
}

/* Between others of a queue it sees what those before it did, and those behind see what it did. */
static void test_decide_order(void **state) {
    (void)state;
    enum { EACH = 5 };
    struct world world;
    struct stall stall;
    struct arena arenas[2 * EACH] = {0};
    struct action adds[EACH];
    struct change changes[EACH];
    struct decision decisions[EACH];
    int64_t scores[EACH];
    sem_t done;
    world_open(&world);
    sem_init(&done, 0, 0);
    stall_start(&stall, world.engine);
    for (int i = 0; i < EACH; i++) {
        scores[i] = 10 - i;
        adds[i] = compute_of(&world.arena, "a", add, &scores[i]);
        changes[i] = write_of(&arenas[i], &adds[i], 1);
        decisions[i] = decision_new(world.engine, &arenas[EACH + i]);
        decisions[i].change.done = changes[i].done = engine_done;
        decisions[i].change.user = changes[i].user = &done;
        engine_submit(world.engine, &changes[i]);
        engine_submit(world.engine, &decisions[i].change);
    }
    stall_end(&stall);
    for (int i = 0; i < 2 * EACH; i++)
        sem_wait(&done);
    for (int i = 0; i < EACH; i++) {
        assert_status(&changes[i], OK);
        assert_status(&decisions[i].change, OK);
        assert_false(adds[i].had_old);
        assert_int_equal(score_of(&decisions[i].action.old), scores[i]);
    }
    for (int i = 0; i < 2 * EACH; i++)
        arena_release(&arenas[i]);
    sem_destroy(&done);
    world_close(&world);
}

/* --- many at once --- */

enum { THREADS = 4, ROUNDS = 300, NAMES = 12 };

struct player {
    struct engine *engine;
    struct random random;
    struct arena arena;
    pthread_t thread;
    int64_t added, popped;
};

static void play_add(struct player *player) {
    char name[12];
    int64_t more = (int64_t)random_below(&player->random, 7) - 2;
    snprintf(name, sizeof(name), "%d", (int)random_below(&player->random, NAMES));
    struct action action = compute_of(&player->arena, name, add, &more);
    struct change change = write_of(&player->arena, &action, 1);
    require(engine_do(player->engine, &change) == OK);
    int64_t before = action.had_old ? score_of(&action.old) : 0;
    int64_t after = action.new.count != 0 ? score_of(&action.new) : 0;
    require(after == before + more);
    player->added += more;
}

/* From one to another, unless the first would not have enough. */
static enum status take_away(struct action *action, const struct item *old, struct arena *arena,
                             struct item *new) {
    int64_t less = -*(const int64_t *)action->user;
    if (old->count == 0 || score_of(old) <= less)
        return failure_set(&action->failure, arena, CONDITION_FAILED, "Too little");
    *new = with_score(arena, old, score_of(old) - less);
    return OK;
}

static void play_transfer(struct player *player) {
    char names[2][12];
    int64_t more = 1 + (int64_t)random_below(&player->random, 5), less = -more;
    int from = (int)random_below(&player->random, NAMES);
    snprintf(names[0], sizeof(names[0]), "%d", from);
    snprintf(names[1], sizeof(names[1]), "%d", (from + 1) % NAMES);
    struct action actions[2] = {compute_of(&player->arena, names[0], take_away, &less),
                                compute_of(&player->arena, names[1], add, &more)};
    struct change change = write_of(&player->arena, actions, 2);
    change.all_or_nothing = true;
    enum status status = engine_do(player->engine, &change);
    require(status == (actions[0].failure.status == OK ? OK : CANCELLED));
}

static void play_pop(struct player *player) {
    struct decision decision = decision_new(player->engine, &player->arena);
    require(engine_do(player->engine, &decision.change) == OK);
    if (decision.change.action_count != 0)
        player->popped += score_of(&decision.action.old);
}

static void *play(void *argument) {
    struct player *player = argument;
    for (int i = 0; i < ROUNDS; i++) {
        arena_reset(&player->arena);
        uint64_t dice = random_below(&player->random, 8);
        if (dice < 4)
            play_add(player);
        else if (dice < 7)
            play_transfer(player);
        else
            play_pop(player);
    }
    return NULL;
}

static void run_model(uint64_t seed, const char *folder) {
    struct world world;
    struct player players[THREADS] = {0};
    struct item item;
    int64_t sum = 0;
    world_open_in(&world, folder);
    for (int i = 0; i < THREADS; i++) {
        players[i].engine = world.engine;
        random_seed(&players[i].random, seed + (uint64_t)i);
        pthread_create(&players[i].thread, NULL, play, &players[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(players[i].thread, NULL);
        sum += players[i].added - players[i].popped;
        arena_release(&players[i].arena);
    }
    for (int i = 0; i < NAMES; i++) {
        char name[12];
        snprintf(name, sizeof(name), "%d", i);
        if (get_item(world.engine, &world.arena, "game", key(&world.arena, name), &item))
            sum -= score_of(&item);
    }
    assert_int_equal(sum, 0);
    world_close(&world);
}

static void test_model(void **state) {
    (void)state;
    run_model(test_seed(), NULL);
}

/* Where a commit takes its time, groups are filled while others are committed. */
static void test_model_on_disk(void **state) {
    (void)state;
    char *folder = folder_make();
    run_model(test_seed(), folder);
    folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),           cmocka_unit_test(test_rules),
        cmocka_unit_test(test_together),      cmocka_unit_test(test_told),
        cmocka_unit_test(test_token),         cmocka_unit_test(test_large),
        cmocka_unit_test(test_busy),          cmocka_unit_test(test_decide),
        cmocka_unit_test(test_decide_faults), cmocka_unit_test(test_decide_order),
        cmocka_unit_test(test_model),         cmocka_unit_test(test_model_on_disk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
