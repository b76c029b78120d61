/* Lifetime figures, which housekeeping makes out of the stream: step by step, against a model over
 * crashes, and with several servers. */
#include "game/housekeeping_test.h"

#include "base/random.h"
#include "game/player/play_session.h"
#include "game/player/player.h"

static struct bytes play_once(struct world *world, const char *player, const char *game,
                              const char *score, int64_t lasts_ms) {
    struct change open = {.arena = &world->arena};
    struct play play = {.player = bytes_str(player), .game = bytes_str(game)};
    assert_ok(play_open_prepare(world->game, &play, &open, &world->failure), world->failure);
    assert_ok(game_wait(world->game, &open), open.failure);
    if (score != NULL)
        play.score = number_in(&world->arena, score);
    play.ended_ms = play.started_ms + lasts_ms;
    struct action end = play_end_action(world->game, &play, &world->arena);
    struct change change = write_of(&world->arena, &end, 1);
    assert_ok(game_wait(world->game, &change), change.failure);
    return play.id;
}

static struct item stats_of(struct world *world, const char *player) {
    struct item stats = {0};
    enum status status = player_stats(world->game, bytes_str(player),
                                      (struct scope){&world->arena, &world->failure}, &stats);
    assert_true(status == OK || status == NOT_FOUND);
    return stats;
}

static struct item game_stats(const struct item *stats, const char *game) {
    const struct value *games = item_map(stats, BYTES("games"));
    const struct value *map = games != NULL ? value_get(games, bytes_str(game)) : NULL;
    return map != NULL ? (struct item){map->pairs, map->count} : (struct item){0};
}

static void test_stats(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct housekeeping *housekeeping = housekeeping_new(world.game);
    housekeeping_run(housekeeping);
    assert_int_equal(stats_of(&world, "ann").count, 0);
    play_once(&world, "ann", "tetris", "10", 1000);
    play_once(&world, "ann", "tetris", "-0.00000000000000000001", 500);
    play_once(&world, "ann", "pong", "9007199254740993", 1);
    play_once(&world, "ann", "pong", NULL, 2);
    play_once(&world, "bob", "pong", "1", 7);
    housekeeping_run(housekeeping);
    struct item stats = stats_of(&world, "ann");
    assert_number(&stats, "plays", "4");
    assert_number(&stats, "totalScore", "9007199254741002.99999999999999999999");
    assert_number(&stats, "totalMs", "1503");
    struct item tetris = game_stats(&stats, "tetris"), pong = game_stats(&stats, "pong");
    assert_number(&tetris, "plays", "2");
    assert_number(&tetris, "bestScore", "10");
    assert_number(&tetris, "leastScore", "-0.00000000000000000001");
    assert_number(&tetris, "totalMs", "1500");
    assert_number(&pong, "plays", "2");
    assert_number(&pong, "totalScore", "9007199254740993");
    assert_true(item_int(&stats, BYTES("lastPlayedAt")) ==
                item_int(&tetris, BYTES("lastPlayedAt")));
    /* Nothing twice: by the same server, by another, by a third that starts over. */
    housekeeping_run(housekeeping);
    run_once(&world);
    play_once(&world, "ann", "tetris", "11", 1);
    run_once(&world);
    housekeeping_run(housekeeping);
    stats = stats_of(&world, "ann");
    assert_number(&stats, "plays", "5");
    assert_int_equal(housekeeping->counters.plays, 5);
    assert_int_equal(housekeeping->counters.gaps, 0);
    housekeeping_free(housekeeping);
    world_close(&world);
}

/* What it writes itself does not keep it busy. */
static void test_rests(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct housekeeping *housekeeping = housekeeping_new(world.game);
    play_once(&world, "ann", "tetris", "1", 1);
    housekeeping_run(housekeeping);
    struct engine_figures before, after;
    engine_figures(world.engine, &before);
    for (int i = 0; i < 20; i++)
        housekeeping_run(housekeeping);
    engine_figures(world.engine, &after);
    assert_int_equal(before.commits, after.commits);
    housekeeping_free(housekeeping);
    world_close(&world);
}

static void test_erased(void **state) {
    struct world world;
    uint64_t gone;
    (void)state;
    world_open(&world);
    play_once(&world, "ann", "tetris", "1", 1);
    play_once(&world, "bob", "tetris", "1", 1);
    assert_ok(
        player_erase(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure}, &gone),
        world.failure);
    run_once(&world);
    assert_int_equal(stats_of(&world, "ann").count, 0);
    assert_int_equal(get(&world, "PLAYER#ann", "STATS").count, 0);
    assert_true(stats_of(&world, "bob").count != 0);
    world_close(&world);
}

/* Sums that need more digits than there are, and more games than an item can hold. */
static void test_bounds(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    play_once(&world, "ann", "g", "1e100", 1);
    play_once(&world, "ann", "g", "1", 1);
    for (int i = 0; i < 520; i++) {
        char game[24];
        snprintf(game, sizeof(game), "game-%d", i);
        play_once(&world, "bob", game, "2", 1);
    }
    run_once(&world);
    struct item ann = stats_of(&world, "ann"), bob = stats_of(&world, "bob");
    assert_number(&ann, "plays", "2");
    assert_number(&ann, "unsummed", "1");
    assert_bytes_equal(item_number(&ann, BYTES("totalScore")), number_in(&world.arena, "1e100"));
    assert_number(&bob, "plays", "520");
    assert_number(&bob, "totalScore", "1040");
    assert_int_equal(item_map(&bob, BYTES("games"))->count, 500);
    world_close(&world);
}

/* Records that are gone are told of, and those that are left are counted. */
static void test_gap(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    run_once(&world);
    play_once(&world, "ann", "tetris", "1", 1);
    run_once(&world);
    struct item position = get(&world, "KEEPER", "STATS");
    struct value zeros[STREAM_SHARDS_MAX];
    for (unsigned i = 0; i < STREAM_SHARDS_MAX; i++)
        zeros[i] = value_int(&world.arena, 0);
    struct value at = {.type = VALUE_L, .count = STREAM_SHARDS_MAX, .elements = zeros};
    /* As if everything up to here had passed its day. */
    struct stream_list_request request = {.table = BYTES("gametable"), .limit = 1};
    struct stream_list list;
    engine_streams(world.engine, &request, &world.arena, &list);
    position = item_with(&world.arena, &position, BYTES("at"), &at);
    put_item(world.engine, &world.arena, "gametable", position);
    struct stream *stream = streams_find(&local_of(world.engine)->streams, BYTES("gametable"),
                                         list.streams[0].label_ms);
    pthread_rwlock_wrlock(&local_of(world.engine)->state_lock);
    for (unsigned i = 0; i < STREAM_SHARDS_MAX; i++)
        stream->info.kept[i] = local_of(world.engine)->streams.next;
    pthread_rwlock_unlock(&local_of(world.engine)->state_lock);
    play_once(&world, "ann", "tetris", "1", 1);
    struct housekeeping *housekeeping = housekeeping_new(world.game);
    housekeeping_run(housekeeping);
    assert_int_equal(housekeeping->counters.gaps, STREAM_SHARDS_MAX);
    struct item stats = stats_of(&world, "ann");
    assert_number(&stats, "plays", "2");
    position = get(&world, "KEEPER", "STATS");
    assert_number(&position, "gaps", "4");
    housekeeping_free(housekeeping);
    world_close(&world);
}

static void set_stream(struct world *world, enum stream_view view) {
    struct alteration alteration = {.stream = &view};
    struct change change = {.kind = CHANGE_UPDATE_TABLE,
                            .arena = &world->arena,
                            .table = BYTES("gametable"),
                            .alteration = &alteration};
    assert_ok(game_wait(world->game, &change), change.failure);
}

/* A stream that was switched off is read to its end, then the next one. */
static void test_streams(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct housekeeping *housekeeping = housekeeping_new(world.game);
    play_once(&world, "ann", "tetris", "1", 1);
    housekeeping_run(housekeeping);
    play_once(&world, "ann", "tetris", "1", 1);
    set_stream(&world, STREAM_OFF);
    housekeeping_run(housekeeping);
    set_stream(&world, STREAM_BOTH);
    play_once(&world, "ann", "tetris", "1", 1);
    housekeeping_run(housekeeping);
    play_once(&world, "ann", "tetris", "1", 1);
    set_stream(&world, STREAM_OFF);
    set_stream(&world, STREAM_NEW);
    play_once(&world, "ann", "tetris", "1", 1);
    run_once(&world);
    housekeeping_run(housekeeping);
    struct item stats = stats_of(&world, "ann");
    assert_number(&stats, "plays", "5");
    assert_int_equal(housekeeping->counters.gaps, 0);
    housekeeping_free(housekeeping);
    world_close(&world);
}

/* --- stats against a model, over crashes and with several servers --- */

enum { PLAYERS = 7, SERVERS = 3 };

struct model {
    int64_t plays[PLAYERS], score[PLAYERS], time[PLAYERS], best[PLAYERS];
};

static void check_model(struct world *world, const struct model *model) {
    for (int i = 0; i < PLAYERS; i++) {
        char id[16], want[32];
        snprintf(id, sizeof(id), "p%d", i);
        struct item stats = stats_of(world, id), game = game_stats(&stats, "g");
        assert_int_equal(item_int(&stats, BYTES("plays")), model->plays[i]);
        assert_int_equal(item_int(&stats, BYTES("totalScore")), model->score[i]);
        assert_int_equal(item_int(&stats, BYTES("totalMs")), model->time[i]);
        if (model->plays[i] == 0)
            continue;
        snprintf(want, sizeof(want), "%lld", (long long)model->best[i]);
        assert_number(&game, "bestScore", want);
    }
}

static void model_play(struct world *world, struct random *random, struct model *model) {
    int who = (int)random_below(random, PLAYERS), score = (int)random_below(random, 100) - 50;
    int lasts = (int)random_below(random, 1000);
    char id[16], text[16];
    snprintf(id, sizeof(id), "p%d", who);
    snprintf(text, sizeof(text), "%d", score);
    play_once(world, id, "g", text, lasts);
    if (model->plays[who]++ == 0 || score > model->best[who])
        model->best[who] = score;
    model->score[who] += score;
    model->time[who] += lasts;
}

static void test_model(void **state) {
    struct world world = {0};
    struct random random;
    struct model model = {0};
    struct housekeeping *servers[SERVERS] = {0};
    char *folder = folder_make();
    struct local_settings settings = {.store.path = folder, .threads = 1};
    (void)state;
    random_seed(&random, test_seed());
    arena_init(&world.arena);
    for (int life = 0; life < 6; life++) {
        world.engine = engine_open(&settings);
        world_open_game(&world);
        for (int i = 0; i < SERVERS; i++)
            servers[i] = housekeeping_new(world.game);
        for (int step = 0; step < 60; step++) {
            if (random_below(&random, 3) != 0)
                model_play(&world, &random, &model);
            else
                housekeeping_run(servers[random_below(&random, SERVERS)]);
        }
        if (life == 5) {
            housekeeping_run(servers[random_below(&random, SERVERS)]);
            check_model(&world, &model);
        }
        /* Between any two steps it may end: what was counted is with where it has come to. */
        for (int i = 0; i < SERVERS; i++)
            housekeeping_free(servers[i]);
        game_close(world.game);
        engine_close(world.engine);
        arena_reset(&world.arena);
    }
    arena_release(&world.arena);
    folder_remove(folder);
}

/* Two servers with their housekeeping threads, and somebody who plays. */
static void test_threads(void **state) {
    struct world world;
    struct random random;
    struct model model = {0};
    (void)state;
    random_seed(&random, test_seed());
    world_open(&world);
    struct housekeeping *one = housekeeping_start(world.game),
                        *two = housekeeping_start(world.game);
    for (int i = 0; i < 300; i++) {
        model_play(&world, &random, &model);
        if (i % 20 == 0)
            housekeeping_run(i % 40 == 0 ? one : two);
    }
    housekeeping_run(one);
    check_model(&world, &model);
    uint64_t plays = 0;
    for (int i = 0; i < 60000 && plays != 300; i++) { /* each notes what it did after it is done */
        struct housekeeping_counters counters, others;
        housekeeping_counters(one, &counters);
        housekeeping_counters(two, &others);
        plays = counters.plays + others.plays;
        usleep(1000);
    }
    assert_int_equal(plays, 300);
    housekeeping_stop(two);
    housekeeping_stop(one);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stats),  cmocka_unit_test(test_rests),
        cmocka_unit_test(test_erased), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_gap),    cmocka_unit_test(test_streams),
        cmocka_unit_test(test_model),  cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
