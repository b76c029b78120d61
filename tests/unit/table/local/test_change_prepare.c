/* Changes that decide on the writer's thread: alone, and many at once against a model. */
#include "compute_test.h"

#include "base/random.h"

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
    require(engine_page(engine, &request, (struct scope){arena, &failure}, &reply) == OK);
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
    return (struct decision){
        .change = {.kind = CHANGE_WRITE, .arena = arena, .prepare = pop_lowest}, .engine = engine};
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
        cmocka_unit_test(test_decide),        cmocka_unit_test(test_decide_faults),
        cmocka_unit_test(test_decide_order),  cmocka_unit_test(test_model),
        cmocka_unit_test(test_model_on_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
