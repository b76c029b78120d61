/* All that the table has of a player: exported, each item once, and erased; for members of any
 * name. */
#include "base/map.h"
#include "game/player/play_session.h"
#include "game/player/player_test.h"

/* --- all of a player's data --- */

/* Everything the table has, by key. */
static size_t scan(struct world *world, const char *holding, struct map *keys) {
    struct page_request request = {.table = BYTES("gametable"), .consistent = true};
    struct page_reply page = {0};
    size_t count = 0;
    do {
        struct item start = page.last_key;
        request.start = page.more ? &start : NULL;
        assert_ok(engine_page(world->engine, &request,
                              (struct scope){&world->arena, &world->failure}, &page),
                  world->failure);
        for (uint64_t i = 0; i < page.count; i++) {
            struct buf all = {0};
            item_encode(&page.items[i], local_of(world->engine)->names, &all);
            bool holds = bytes_find(buf_bytes(&all), bytes_str(holding)) != SIZE_MAX;
            buf_release(&all);
            if (!holds)
                continue;
            count++;
            struct bytes pk = item_string(&page.items[i], GAME_PK);
            struct bytes sk = item_string(&page.items[i], GAME_SK);
            map_put(keys, arena_printf(&world->arena, "%.*s|%.*s", BYTES_ARG(pk), BYTES_ARG(sk)),
                    &page);
        }
    } while (page.more);
    return count;
}

static void fill(struct world *world, const char *id, const char *email) {
    put_player(world, id, "Some Name", email, false);
    for (int i = 0; i < 300; i++) {
        char board[24];
        snprintf(board, sizeof(board), "board%d", i);
        zadd(world, board, id, i);
        if (i % 3 == 0)
            mark_entry(world, board, id);
    }
    for (int i = 0; i < 450; i++) {
        struct change change = {.arena = &world->arena};
        struct play play = {.player = bytes_str(id), .game = BYTES("tetris")};
        play_open_prepare(world->game, &play, &change, &world->failure);
        assert_ok(game_wait(world->game, &change), change.failure);
    }
    struct item stats = item_of(&world->arena, "plays=N:3", NULL);
    struct value pk = value_string(arena_printf(&world->arena, "PLAYER#%s", id));
    struct value sk = value_string(BYTES("STATS"));
    stats = item_with(&world->arena, &stats, GAME_PK, &pk);
    stats = item_with(&world->arena, &stats, GAME_SK, &sk);
    put_item(world->engine, &world->arena, "gametable", stats);
}

static size_t export_all(struct world *world, const char *id, struct map *keys) {
    struct page_reply page = {0};
    struct item after;
    size_t count = 0;
    do {
        after = page.last_key;
        struct player_export_request request = {bytes_str(id), page.more ? &after : NULL};
        assert_ok(player_export(world->game, &request,
                                (struct scope){&world->arena, &world->failure}, &page),
                  world->failure);
        for (uint64_t i = 0; i < page.count; i++) {
            struct bytes pk = item_string(&page.items[i], GAME_PK);
            struct bytes sk = item_string(&page.items[i], GAME_SK);
            struct bytes key =
                arena_printf(&world->arena, "%.*s|%.*s", BYTES_ARG(pk), BYTES_ARG(sk));
            assert_null(map_get(keys, key)); /* each once */
            map_put(keys, key, world);
            count++;
        }
    } while (page.more);
    return count;
}

static void test_exports_and_erases(void **state) {
    struct world world;
    struct map all = {0}, told = {0}, left = {0};
    uint64_t gone;
    (void)state;
    world_open(&world);
    fill(&world, "zoe-the-player", "zoe-the-player@x.y");
    fill(&world, "max-the-player", "max-the-player@x.y");
    size_t count = scan(&world, "zoe-the-player", &all);
    assert_int_equal(count, 1 + 1 + 1 + 300 + 450);
    assert_int_equal(export_all(&world, "zoe-the-player", &told), count);
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&all, &at)) != NULL;)
        assert_non_null(map_get(&told, slot->key));
    assert_ok(player_erase(world.game, BYTES("zoe-the-player"),
                           (struct scope){&world.arena, &world.failure}, &gone),
              world.failure);
    assert_int_equal(gone, count);
    assert_int_equal(scan(&world, "zoe-the-player", &left), 0);
    assert_int_equal(scan(&world, "max-the-player", &left), count);
    assert_int_equal(total_on(&world, "board3"), 1);
    assert_int_equal(put_player(&world, "another", "", "zoe-the-player@x.y", true), OK);
    assert_ok(player_erase(world.game, BYTES("zoe-the-player"),
                           (struct scope){&world.arena, &world.failure}, &gone),
              world.failure);
    assert_int_equal(gone, 0);
    assert_bytes_equal(owner_of(&world, "zoe-the-player@x.y"), BYTES("another"));
    map_release(&all);
    map_release(&told);
    map_release(&left);
    world_close(&world);
}

/* A cursor of somebody else's export tells nothing. */
static void test_export_cursor(void **state) {
    struct world world;
    struct page_reply page;
    (void)state;
    world_open(&world);
    put_player(&world, "ann", "", "", true);
    struct item other = item_of(&world.arena, "GSI1PK=S:PLAYER#bob", NULL);
    struct player_export_request request = {BYTES("ann"), &other};
    assert_int_equal(
        player_export(world.game, &request, (struct scope){&world.arena, &world.failure}, &page),
        INVALID);
    other = item_of(&world.arena, "PK=S:PLAYER#bob", "SK=S:PROFILE", NULL);
    assert_int_equal(
        player_export(world.game, &request, (struct scope){&world.arena, &world.failure}, &page),
        INVALID);
    other = item_of(&world.arena, "PK=N:1", NULL);
    assert_int_equal(
        player_export(world.game, &request, (struct scope){&world.arena, &world.failure}, &page),
        INVALID);
    world_close(&world);
}

/* --- members of any name --- */

static uint64_t exported(struct world *world, struct bytes id) {
    struct page_reply page = {0};
    struct item after = {0};
    uint64_t count = 0;
    do {
        struct player_export_request request = {id, after.count != 0 ? &after : NULL};
        assert_ok(player_export(world->game, &request,
                                (struct scope){&world->arena, &world->failure}, &page),
                  world->failure);
        count += page.count;
        after = page.last_key;
    } while (page.more);
    return count;
}

/* On two boards, one of them by a submission, which says whose it is. */
static void check_member(struct world *world, struct bytes id) {
    struct submission submission = {
        .board = BYTES("kept"), .player = id, .score = number_in(&world->arena, "5")};
    struct submit submit;
    struct player_boards boards;
    struct player player;
    uint64_t count;
    world_put(world, "plain", id,
              (struct entry_write){.points = points_of_double(&world->arena, 1)});
    if (id.size != 0) {
        assert_ok(world_submit(world, &submission, &submit), world->failure);
        submit_release(&submit);
    }
    uint64_t entries = id.size != 0 ? 2 : 1;
    assert_int_equal(exported(world, id), entries);
    assert_int_equal(total_on(world, "plain") + total_on(world, "kept"), entries);
    assert_ok(player_hide(world->game, id, true, (struct scope){&world->arena, &world->failure}),
              world->failure);
    assert_int_equal(total_on(world, "plain") + total_on(world, "kept"), 0);
    world_put(world, "late", id,
              (struct entry_write){.points = points_of_double(&world->arena, 1)});
    assert_int_equal(total_on(world, "late"), 0);
    assert_int_equal(exported(world, id), entries + 2); /* and what says that it is hidden */
    assert_ok(player_get(world->game, id, (struct scope){&world->arena, &world->failure}, &player),
              world->failure);
    assert_true(player.hidden);
    assert_bytes_equal(player.id, id);
    struct player_boards_request request = {.id = id, .limit = 10};
    assert_ok(player_boards(world->game, &request, (struct scope){&world->arena, &world->failure},
                            &boards),
              world->failure);
    player_boards_release(&boards);
    assert_ok(player_hide(world->game, id, false, (struct scope){&world->arena, &world->failure}),
              world->failure);
    assert_int_equal(total_on(world, "plain") + total_on(world, "kept") + total_on(world, "late"),
                     entries + 1);
    assert_ok(player_hide(world->game, id, true, (struct scope){&world->arena, &world->failure}),
              world->failure);
    assert_ok(player_erase(world->game, id, (struct scope){&world->arena, &world->failure}, &count),
              world->failure);
    assert_int_equal(count, entries + 3);
    assert_int_equal(exported(world, id), 0);
    world_put(world, "plain", id,
              (struct entry_write){.points = points_of_double(&world->arena, 1)});
    assert_int_equal(total_on(world, "plain"), 1);
    assert_ok(player_erase(world->game, id, (struct scope){&world->arena, &world->failure}, &count),
              world->failure);
}

static void test_any_member(void **state) {
    struct world world;
    char text[1001], bits[892];
    uint64_t count;
    (void)state;
    world_open(&world);
    world_define(&world,
                 &(struct board_rules){.id = BYTES("kept"), .game = BYTES("g"), .decimals = -1});
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < sizeof(bits); i++)
        bits[i] = (char)(i * 37 | 0x80);
    check_member(&world, bytes_of(text, 1000));
    check_member(&world, bytes_of(text, 129));
    check_member(&world, bytes_of(bits, sizeof(bits)));
    check_member(&world, BYTES("line\nline"));
    check_member(&world, bytes_of("\0zero", 5));
    check_member(&world, (struct bytes){0});
    assert_int_equal(player_hide(world.game, bytes_of(text, 1001), true,
                                 (struct scope){&world.arena, &world.failure}),
                     INVALID);
    assert_int_equal(player_erase(world.game, bytes_of(text, 1001),
                                  (struct scope){&world.arena, &world.failure}, &count),
                     INVALID);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exports_and_erases),
        cmocka_unit_test(test_export_cursor),
        cmocka_unit_test(test_any_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
