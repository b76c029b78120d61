/* Plays: opened, ended once, listed; and their tokens. */
#include "game/world.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/ulid.h"
#include "game/player/play_session.h"
#include "game/player/player.h"

static struct play open_play(struct world *world, const char *player, const char *game,
                             struct bytes *token) {
    struct change change = {.arena = &world->arena};
    struct play play = {.player = bytes_str(player), .game = bytes_str(game)};
    assert_ok(play_open_prepare(world->game, &play, &change, &world->failure), world->failure);
    assert_ok(game_wait(world->game, &change), change.failure);
    *token = play.token;
    return play;
}

static struct action end_action(struct world *world, const struct play *play, const char *score,
                                int64_t now_ms) {
    struct play ended = *play;
    ended.score = number_in(&world->arena, score);
    ended.ended_ms = now_ms;
    return play_end_action(world->game, &ended, &world->arena);
}

static enum status end_with(struct world *world, const struct play *play, const char *score,
                            int64_t now_ms, struct bytes *text) {
    struct action action = end_action(world, play, score, now_ms);
    struct change change = write_of(&world->arena, &action, 1);
    change.all_or_nothing = true;
    enum status status = game_wait(world->game, &change);
    *text = action.failure.text;
    return status == OK ? OK : action.failure.status;
}

static void test_opens_and_ends(void **state) {
    struct world world;
    struct play play, told, found;
    struct bytes token, text;
    (void)state;
    world_open(&world);
    play = open_play(&world, "ann", "tetris", &token);
    assert_true(ulid_valid(play.id));
    assert_int_equal(ulid_time_ms(play.id), play.started_ms);

    assert_ok(
        play_token_read(world.game, token, (struct scope){&world.arena, &world.failure}, &told),
        world.failure);
    assert_bytes_equal(told.id, play.id);
    assert_bytes_equal(told.player, BYTES("ann"));
    assert_bytes_equal(told.game, BYTES("tetris"));
    assert_int_equal(told.started_ms, play.started_ms);

    assert_ok(play_get(world.game, (struct play_key){BYTES("ann"), play.id},
                       (struct scope){&world.arena, &world.failure}, &found),
              world.failure);
    assert_int_equal(found.ended_ms, 0);
    assert_int_equal(found.started_ms, play.started_ms);
    assert_int_equal(found.score.size, 0);

    assert_int_equal(end_with(&world, &told, "12.5", play.started_ms + 3000, &text), OK);
    assert_ok(play_get(world.game, (struct play_key){BYTES("ann"), play.id},
                       (struct scope){&world.arena, &world.failure}, &found),
              world.failure);
    assert_int_equal(found.ended_ms, play.started_ms + 3000);
    assert_bytes_equal(found.score, number_in(&world.arena, "12.5"));

    /* Once. */
    assert_int_equal(end_with(&world, &told, "99", play.started_ms + 4000, &text), DENIED);
    assert_true(bytes_find(text, BYTES("was already used")) != SIZE_MAX);
    assert_ok(play_get(world.game, (struct play_key){BYTES("ann"), play.id},
                       (struct scope){&world.arena, &world.failure}, &found),
              world.failure);
    assert_bytes_equal(found.score, number_in(&world.arena, "12.5"));
    world_close(&world);
}

/* A token used in a change that fails for another reason is not used up. */
static void test_all_or_nothing(void **state) {
    struct world world;
    struct play play, found;
    struct bytes token, text;
    struct action actions[2];
    (void)state;
    world_open(&world);
    play = open_play(&world, "ann", "tetris", &token);
    actions[0] = end_action(&world, &play, "1", clock_now_ms());
    struct play other = play;
    other.player = BYTES("bob");
    actions[1] = end_action(&world, &other, "1", clock_now_ms());
    struct change change = write_of(&world.arena, actions, 2);
    change.all_or_nothing = true;
    assert_int_equal(game_wait(world.game, &change), CANCELLED);
    assert_int_equal(actions[1].failure.status, DENIED);
    assert_ok(play_get(world.game, (struct play_key){BYTES("ann"), play.id},
                       (struct scope){&world.arena, &world.failure}, &found),
              world.failure);
    assert_int_equal(found.ended_ms, 0);
    assert_int_equal(end_with(&world, &play, "7", clock_now_ms(), &text), OK);
    world_close(&world);
}

static enum status end_alone(struct world *world, const char *player, struct bytes id,
                             const struct value *meta) {
    struct change change = {.arena = &world->arena};
    struct play ended = {.player = bytes_str(player),
                         .id = id,
                         .score = number_in(&world->arena, "-3"),
                         .meta = meta};
    enum status status = play_end_prepare(world->game, &ended, &change, &world->failure);
    return status == OK ? game_wait(world->game, &change) : status;
}

static void test_ends_alone(void **state) {
    struct world world;
    struct play play, found;
    struct bytes token;
    struct pair pair = {BYTES("level"), value_string(BYTES("9"))};
    struct value meta = {.type = VALUE_M, .count = 1, .pairs = &pair};
    (void)state;
    world_open(&world);
    play = open_play(&world, "ann", "tetris", &token);
    assert_int_equal(end_alone(&world, "bob", play.id, NULL), NOT_FOUND);
    assert_int_equal(end_alone(&world, "ann", BYTES("nonsense"), NULL), NOT_FOUND);
    assert_int_equal(end_alone(&world, "", play.id, NULL), INVALID);
    assert_int_equal(end_alone(&world, "ann", play.id, &meta), OK);
    assert_int_equal(end_alone(&world, "ann", play.id, NULL), DUPLICATE);
    assert_ok(play_get(world.game, (struct play_key){BYTES("ann"), play.id},
                       (struct scope){&world.arena, &world.failure}, &found),
              world.failure);
    assert_bytes_equal(found.score, number_in(&world.arena, "-3"));
    assert_true(found.meta != NULL && value_equal(found.meta, &meta));
    assert_int_equal(play_get(world.game, (struct play_key){BYTES("bob"), play.id},
                              (struct scope){&world.arena, &world.failure}, &found),
                     NOT_FOUND);
    world_close(&world);
}

/* Pages of a list, each compared with what was opened, newest first. */
static void check_list(struct world *world, bool of_player, const char *of, const struct play *all,
                       const bool *wanted, size_t count, size_t limit) {
    struct bytes before = {0};
    size_t at = count;
    struct play_list list;
    do {
        struct play_list_request request = {bytes_str(of), before, limit};
        struct scope in = {&world->arena, &world->failure};
        enum status status = of_player ? play_list_player(world->game, &request, in, &list)
                                       : play_list_game(world->game, &request, in, &list);
        assert_ok(status, world->failure);
        assert_true(list.count <= limit && (list.count == limit || !list.more));
        for (size_t i = 0; i < list.count; i++) {
            do
                assert_true(at-- > 0);
            while (!wanted[at]);
            assert_bytes_equal(list.plays[i].id, all[at].id);
            assert_bytes_equal(list.plays[i].player, all[at].player);
            assert_bytes_equal(list.plays[i].game, all[at].game);
        }
        if (list.more)
            before = list.plays[list.count - 1].id;
    } while (list.more);
    while (at > 0)
        assert_false(wanted[--at]);
}

static void test_lists(void **state) {
    enum { COUNT = 60 };
    static const char *players[] = {"ann", "bob", "c#d"}, *games[] = {"tetris", "pong"};
    struct world world;
    struct play plays[COUNT];
    bool wanted[COUNT];
    struct bytes token;
    struct random random;
    (void)state;
    random_seed(&random, test_seed());
    world_open(&world);
    for (size_t i = 0; i < COUNT; i++)
        plays[i] = open_play(&world, players[random_below(&random, 3)],
                             games[random_below(&random, 2)], &token);
    for (size_t limit = 1; limit < 70; limit += 11) {
        for (int p = 0; p < 3; p++) {
            for (size_t i = 0; i < COUNT; i++)
                wanted[i] = bytes_equal(plays[i].player, bytes_str(players[p]));
            check_list(&world, true, players[p], plays, wanted, COUNT, limit);
        }
        for (int g = 0; g < 2; g++) {
            for (size_t i = 0; i < COUNT; i++)
                wanted[i] = bytes_equal(plays[i].game, bytes_str(games[g]));
            check_list(&world, false, games[g], plays, wanted, COUNT, limit);
        }
    }
    struct play_list list;
    struct play_list_request no_id = {BYTES("ann"), BYTES("x"), 5};
    struct play_list_request no_game = {BYTES("no game"), (struct bytes){0}, 5};
    assert_int_equal(
        play_list_player(world.game, &no_id, (struct scope){&world.arena, &world.failure}, &list),
        INVALID);
    assert_int_equal(
        play_list_game(world.game, &no_game, (struct scope){&world.arena, &world.failure}, &list),
        INVALID);
    world_close(&world);
}

static void test_refuses(void **state) {
    struct world world;
    struct play play;
    struct bytes token, id, long_id;
    struct buf player = {0};
    char name[PLAYER_ID_MAX + 2];
    (void)state;
    world_open(&world);
    struct change change = {.arena = &world.arena};
    memset(name, 'x', sizeof(name));
    name[PLAYER_ID_MAX + 1] = 0;
    long_id = bytes_str(name);
    struct bytes bad[] = {BYTES(""), BYTES("a\n"), BYTES("\xff"),
                          BYTES("\xf4\x8f\xbf\xbf"
                                "a"),
                          long_id};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        play = (struct play){.player = bad[i], .game = BYTES("g")};
        assert_int_equal(play_open_prepare(world.game, &play, &change, &world.failure), INVALID);
    }
    play = (struct play){.player = BYTES("p"), .game = BYTES("a/b")};
    assert_int_equal(play_open_prepare(world.game, &play, &change, &world.failure), INVALID);
    /* The longest player and game fit into a token. */
    name[PLAYER_ID_MAX] = 0;
    open_play(&world, name, name, &token);
    assert_ok(
        play_token_read(world.game, token, (struct scope){&world.arena, &world.failure}, &play),
        world.failure);
    assert_bytes_equal(play.player, bytes_str(name));
    /* One kind of token is not the other. */
    player_token(world.game, BYTES("ann"), INT64_MAX, &player);
    assert_int_equal(play_token_read(world.game, buf_bytes(&player),
                                     (struct scope){&world.arena, &world.failure}, &play),
                     DENIED);
    struct player_token_request request = {.token = token};
    assert_int_equal(
        player_token_read(world.game, &request, (struct scope){&world.arena, &world.failure}, &id),
        DENIED);
    buf_release(&player);
    world_close(&world);
}

static void test_player_token(void **state) {
    struct world world;
    struct buf token = {0};
    struct bytes id;
    (void)state;
    world_open(&world);
    player_token(world.game, BYTES("ann \xc3\xa9"), 5000, &token);
    struct player_token_request request = {buf_bytes(&token), 4999};
    assert_ok(
        player_token_read(world.game, &request, (struct scope){&world.arena, &world.failure}, &id),
        world.failure);
    assert_bytes_equal(id, BYTES("ann \xc3\xa9"));
    request.now_ms = 5000;
    assert_int_equal(
        player_token_read(world.game, &request, (struct scope){&world.arena, &world.failure}, &id),
        DENIED);
    assert_true(world.failure.text.size != 0);
    buf_release(&token);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opens_and_ends), cmocka_unit_test(test_all_or_nothing),
        cmocka_unit_test(test_ends_alone),     cmocka_unit_test(test_lists),
        cmocka_unit_test(test_refuses),        cmocka_unit_test(test_player_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
