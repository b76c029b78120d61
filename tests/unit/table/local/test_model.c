/* Random writes from several threads against the dumbest model: each thread owns some items and
 * knows what they are. Meanwhile indexes come and go, and all threads add to one shared item. At
 * the end, all that is derived agrees with the items. */
#include "engine.h"

#include "base/random.h"

/* The library's own assertions may only be used on the main thread. */
#undef assert_true
#undef assert_int_equal
#define assert_true(truth)                                                       \
    do {                                                                         \
        if (!(truth)) {                                                          \
            fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #truth); \
            abort();                                                             \
        }                                                                        \
    } while (0)
#define assert_int_equal(a, b) assert_true((long long)(a) == (long long)(b))

enum { THREADS = 3, KEYS = 40, ROUNDS = 400 };

struct known {
    bool there;
    int score; /* -1: no such attribute */
    bool named;
};

struct player {
    struct engine *engine;
    struct random random;
    int number;
    struct known known[KEYS];
    unsigned added; /* to the shared item */
    struct arena arena;
    pthread_t thread;
};

static const char *text(struct player *player, const char *format, int a, int b) {
    char line[64];
    snprintf(line, sizeof(line), format, a, b);
    return arena_str(&player->arena, bytes_str(line));
}

static struct item key_of(struct player *player, int key) {
    return item_of(&player->arena, text(player, "pk=S:p%d-%d", player->number, key / 8),
                   text(player, "sk=S:%d", key % 8, 0), NULL);
}

static struct item item_known(struct player *player, int key, const struct known *known) {
    struct item item = key_of(player, key);
    struct value value;
    if (known->score >= 0) {
        value =
            (struct value){.type = VALUE_N, .bytes = number_from_int(&player->arena, known->score)};
        item = item_with(&player->arena, &item, BYTES("score"), &value);
        value = value_string(BYTES("b"));
        item = item_with(&player->arena, &item, BYTES("board"), &value);
    }
    value = value_string(bytes_str(text(player, "n%d", known->score, 0)));
    if (known->named)
        item = item_with(&player->arena, &item, BYTES("nick"), &value);
    return item;
}

static struct known random_known(struct player *player) {
    struct random *random = &player->random;
    return (struct known){
        .there = true,
        .score = (int)random_below(random, 4) == 0 ? -1 : (int)random_below(random, 100),
        .named = random_below(random, 2) == 0};
}

static void check_old(struct player *player, const struct action *action, int key,
                      const struct known *known) {
    assert_true(action->had_old == known->there);
    if (!known->there)
        return;
    struct item want = item_known(player, key, known);
    assert_true(item_equal(&action->old, &want));
}

/* --- what a player may do --- */

static void do_put(struct player *player, int key, bool only_new) {
    struct known *known = &player->known[key], next = random_known(player);
    struct action action = {
        .kind = ACTION_PUT, .table = BYTES("game"), .item = item_known(player, key, &next)};
    if (only_new)
        action.condition = condition_of(&player->arena, "attribute_not_exists(pk)", NULL);
    struct change change = write_of(&player->arena, &action, 1);
    engine_do(player->engine, &change);
    assert_status(&change, only_new && known->there ? CONDITION_FAILED : OK);
    check_old(player, &action, key, known);
    if (change.failure.status == OK)
        *known = next;
}

static void do_delete(struct player *player, int key, bool only_named) {
    struct known *known = &player->known[key];
    struct action action = {
        .kind = ACTION_DELETE, .table = BYTES("game"), .item = key_of(player, key)};
    if (only_named)
        action.condition = condition_of(&player->arena, "attribute_exists(nick)", NULL);
    struct change change = write_of(&player->arena, &action, 1);
    engine_do(player->engine, &change);
    bool passes = !only_named || (known->there && known->named);
    assert_status(&change, passes ? OK : CONDITION_FAILED);
    check_old(player, &action, key, known);
    if (passes)
        *known = (struct known){.score = -1};
}

/* An improvement of a score, if it is less than a limit. */
static void do_update(struct player *player, int key) {
    struct known *known = &player->known[key];
    int limit = (int)random_below(&player->random, 120);
    struct item values =
        item_of(&player->arena, text(player, ":m=N:%d", limit, 0), ":n=N:3", ":b=S:b", NULL);
    struct action action = {
        .kind = ACTION_UPDATE, .table = BYTES("game"), .item = key_of(player, key)};
    action.condition =
        condition_of(&player->arena, "attribute_not_exists(score) OR score < :m", &values);
    action.update = update_of(&player->arena, "SET board = :b ADD score :n", &values);
    struct change change = write_of(&player->arena, &action, 1);
    engine_do(player->engine, &change);
    bool passes = known->score < limit;
    assert_status(&change, passes || known->score < 0 ? OK : CONDITION_FAILED);
    check_old(player, &action, key, known);
    if (change.failure.status != OK)
        return;
    struct known next = {true, known->score < 0 ? 3 : known->score + 3, false};
    *known = next;
    /* The name, if there was one, still has the old number: take it away to keep the model small.
     */
    struct action strip = {
        .kind = ACTION_PUT, .table = BYTES("game"), .item = item_known(player, key, &next)};
    struct change again = write_of(&player->arena, &strip, 1);
    engine_do(player->engine, &again);
    assert_status(&again, OK);
}

/* Two items at once, and a check of a third that may refuse both. */
static void do_transaction(struct player *player, int key) {
    int second = (key + 1) % KEYS, third = (key + 2) % KEYS;
    struct known next = random_known(player), none = {.score = -1};
    struct action actions[3] = {
        {.kind = ACTION_PUT, .table = BYTES("game"), .item = item_known(player, key, &next)},
        {.kind = ACTION_DELETE, .table = BYTES("game"), .item = key_of(player, second)},
        {.kind = ACTION_CHECK, .table = BYTES("game"), .item = key_of(player, third)}};
    actions[2].condition = condition_of(&player->arena, "attribute_exists(pk)", NULL);
    struct change change = write_of(&player->arena, actions, 3);
    change.all_or_nothing = true;
    engine_do(player->engine, &change);
    assert_status(&change, player->known[third].there ? OK : CANCELLED);
    if (change.failure.status != OK)
        return;
    player->known[key] = next;
    player->known[second] = none;
}

static void do_share(struct player *player) {
    struct item values = item_of(&player->arena, ":n=N:1", ":b=S:shared", NULL);
    struct action action = {.kind = ACTION_UPDATE,
                            .table = BYTES("game"),
                            .item = item_of(&player->arena, "pk=S:shared", "sk=S:0", NULL)};
    action.update = update_of(&player->arena, "SET board = :b ADD score :n", &values);
    struct change change = write_of(&player->arena, &action, 1);
    engine_do(player->engine, &change);
    assert_status(&change, OK);
    player->added++;
}

static void check_key(struct player *player, int key) {
    struct item got;
    bool found = get_item(player->engine, &player->arena, "game", key_of(player, key), &got);
    assert_true(found == player->known[key].there);
    if (!found)
        return;
    struct item want = item_known(player, key, &player->known[key]);
    assert_true(item_equal(&got, &want));
}

static void *play(void *argument) {
    struct player *player = argument;
    for (int round = 0; round < ROUNDS; round++) {
        int key = (int)random_below(&player->random, KEYS);
        arena_reset(&player->arena);
        switch (random_below(&player->random, 8)) {
        case 0:
        case 1:
            do_put(player, key, false);
            break;
        case 2:
            do_put(player, key, true);
            break;
        case 3:
            do_delete(player, key, random_below(&player->random, 2) == 0);
            break;
        case 4:
            do_transaction(player, key);
            break;
        case 5:
            do_share(player);
            break;
        default:
            do_update(player, key);
        }
        check_key(player, key);
        check_key(player, (int)random_below(&player->random, KEYS));
    }
    return NULL;
}

/* --- meanwhile --- */

struct meddler {
    struct engine *engine;
    atomic_bool stop;
    pthread_t thread;
};

static void *meddle(void *argument) {
    struct meddler *meddler = argument;
    struct arena arena;
    arena_init(&arena);
    struct key_part part = {BYTES("nick"), VALUE_S};
    struct index_schema index = {.name = BYTES("extra"),
                                 .keys = {.parts = {part}, .partition_count = 1},
                                 .projected = PROJECTED_ALL};
    struct alteration add = {.attributes = &part, .attribute_count = 1, .add_index = &index};
    struct alteration drop = {.drop_index = BYTES("extra")};
    for (int i = 0; !atomic_load(&meddler->stop); i++) {
        arena_reset(&arena);
        struct change change = {.kind = CHANGE_UPDATE_TABLE,
                                .arena = &arena,
                                .table = BYTES("game"),
                                .alteration = i % 2 == 0 ? &add : &drop};
        engine_do(meddler->engine, &change);
        assert_status(&change, OK);
        usleep(i % 3 == 0 ? 100 : 5000);
    }
    arena_release(&arena);
    return NULL;
}

static void wait_active(struct engine *engine) {
    struct arena arena;
    struct failure failure;
    arena_init(&arena);
    for (bool active = false; !active; usleep(1000)) {
        struct table_description about;
        engine_describe(engine, BYTES("game"), (struct scope){&arena, &failure}, &about);
        active = true;
        for (uint32_t i = 0; i < about.schema.index_count; i++)
            active &= about.indexes[i].status == PART_ACTIVE;
    }
    arena_release(&arena);
}

static uint64_t scan_count(struct engine *engine, const char *index) {
    struct arena arena;
    struct failure failure;
    struct page_reply reply;
    uint64_t count = 0;
    arena_init(&arena);
    struct page_request request = {.table = BYTES("game"), .index = bytes_str(index), .limit = 7};
    struct item last;
    do {
        assert_int_equal(engine_page(engine, &request, (struct scope){&arena, &failure}, &reply),
                         OK);
        count += reply.count;
        last = reply.last_key;
        request.start = &last;
    } while (reply.more);
    arena_release(&arena);
    return count;
}

static void check_end(struct engine *engine, const struct player *players) {
    uint64_t there = 1, scored = 1, added = 0;
    struct arena arena;
    struct item got;
    arena_init(&arena);
    for (int i = 0; i < THREADS; i++) {
        added += players[i].added;
        for (int key = 0; key < KEYS; key++) {
            there += players[i].known[key].there;
            scored += players[i].known[key].there && players[i].known[key].score >= 0;
        }
    }
    assert_true(
        get_item(engine, &arena, "game", item_of(&arena, "pk=S:shared", "sk=S:0", NULL), &got));
    int64_t score = 0;
    number_to_int(item_get(&got, BYTES("score"))->bytes, &score);
    assert_int_equal(score, added);
    assert_int_equal(scan_count(engine, ""), there);
    assert_int_equal(scan_count(engine, "byscore"), scored);
    arena_release(&arena);
}

static void run_model(uint64_t seed, const char *folder) {
    struct local_settings settings = {.store = {.path = folder, .memory = folder == NULL},
                                      .threads = 1,
                                      .commit_thread_from = folder == NULL ? 0 : 2};
    struct engine *engine = engine_open(&settings);
    struct player players[THREADS] = {0};
    struct meddler meddler = {.engine = engine};
    struct arena arena;
    arena_init(&arena);
    struct table_schema schema = game_schema(&arena, "game");
    create_table(engine, &arena, &schema);
    for (int i = 0; i < THREADS; i++) {
        players[i] = (struct player){.engine = engine, .number = i};
        random_seed(&players[i].random, seed + (uint64_t)i);
        for (int key = 0; key < KEYS; key++)
            players[i].known[key].score = -1;
        do_share(&players[i]);
        pthread_create(&players[i].thread, NULL, play, &players[i]);
    }
    pthread_create(&meddler.thread, NULL, meddle, &meddler);
    for (int i = 0; i < THREADS; i++)
        pthread_join(players[i].thread, NULL);
    atomic_store(&meddler.stop, true);
    pthread_join(meddler.thread, NULL);
    wait_active(engine);
    check_engine(engine);
    check_end(engine, players);
    engine_close(engine);
    for (int i = 0; i < THREADS; i++)
        arena_release(&players[i].arena);
    arena_release(&arena);
}

static void test_model(void **state) {
    (void)state;
    run_model(test_seed(), NULL);
}

static void test_model_on_disk(void **state) {
    (void)state;
    char *folder = folder_make();
    run_model(test_seed(), folder);
    folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_model),
                                       cmocka_unit_test(test_model_on_disk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
