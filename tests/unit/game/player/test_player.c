/* Players: profiles, e-mail addresses, hiding, exporting, erasing. */
#include "game/world.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/random.h"
#include "game/player/play_session.h"
#include "game/player/player.h"
#include "game/record.h"

static enum status put(struct world *world, const char *id, const char *name, const char *email,
                       bool create) {
    struct change change = {.arena = &world->arena};
    struct player player = {
        .id = bytes_str(id), .name = bytes_str(name), .email = bytes_str(email)};
    enum status status = create
                             ? player_create_prepare(world->game, &player, &change, &world->failure)
                             : player_put_prepare(world->game, &player, &change, &world->failure);
    return status == OK ? game_wait(world->game, &change) : status;
}

static struct bytes owner_of(struct world *world, const char *email) {
    struct player player;
    enum status status = player_by_email(world->game, bytes_str(email),
                                         (struct scope){&world->arena, &world->failure}, &player);
    assert_true(status == OK || status == NOT_FOUND);
    return status == OK ? player.id : (struct bytes){0};
}

static struct item get(struct world *world, const char *pk, const char *sk) {
    struct item item = {0};
    get_item(world->engine, &world->arena, "gametable",
             game_key(&world->arena, bytes_str(pk), bytes_str(sk)), &item);
    return item;
}

/* --- profiles --- */

static void test_profiles(void **state) {
    struct world world;
    struct player player;
    (void)state;
    world_open(&world);
    assert_int_equal(
        player_get(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure}, &player),
        NOT_FOUND);
    assert_int_equal(put(&world, "ann", "Ann", "Ann@Example.ORG", true), OK);
    assert_int_equal(put(&world, "ann", "Ann", "", true), DUPLICATE);
    assert_ok(
        player_get(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure}, &player),
        world.failure);
    assert_bytes_equal(player.id, BYTES("ann"));
    assert_bytes_equal(player.name, BYTES("Ann"));
    assert_bytes_equal(player.email, BYTES("ann@example.org"));
    assert_false(player.hidden);
    int64_t created_ms = player.created_ms;
    assert_true(created_ms != 0);
    clock_shift_ms(10);
    assert_int_equal(put(&world, "ann", "Anna", "", false), OK);
    assert_ok(
        player_get(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure}, &player),
        world.failure);
    assert_bytes_equal(player.name, BYTES("Anna"));
    assert_int_equal(player.email.size, 0);
    assert_int_equal(player.created_ms, created_ms);
    assert_true(player.changed_ms > created_ms);
    assert_int_equal(put(&world, "bob", "Bob", "", false), OK);
    world_close(&world);
}

static void test_emails(void **state) {
    static const char *bad[] = {"x", "@", "a@", "@b", "a b@c", "a@b\n", "a@\xff"};
    struct world world;
    (void)state;
    world_open(&world);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(put(&world, "ann", "", bad[i], false), INVALID);
    assert_int_equal(put(&world, "ann", "", "a@b.c", false), OK);
    assert_int_equal(put(&world, "bob", "", "A@B.C", false), DUPLICATE);
    assert_int_equal(get(&world, "PLAYER#bob", "PROFILE").count, 0);
    assert_bytes_equal(owner_of(&world, "A@b.c"), BYTES("ann"));
    /* Again the same, then another: the old one is free. */
    assert_int_equal(put(&world, "ann", "", "a@b.c", false), OK);
    assert_int_equal(put(&world, "ann", "", "new@b.c", false), OK);
    assert_int_equal(owner_of(&world, "a@b.c").size, 0);
    assert_int_equal(put(&world, "bob", "", "a@b.c", false), OK);
    assert_bytes_equal(owner_of(&world, "a@b.c"), BYTES("bob"));
    /* Refused, it leaves what was. */
    assert_int_equal(put(&world, "bob", "Bob", "new@b.c", false), DUPLICATE);
    assert_bytes_equal(owner_of(&world, "a@b.c"), BYTES("bob"));
    assert_bytes_equal(owner_of(&world, "new@b.c"), BYTES("ann"));
    assert_int_equal(put(&world, "ann", "", "", false), OK);
    assert_int_equal(get(&world, "EMAIL#new@b.c", "OWNER").count, 0);
    world_close(&world);
}

/* Two prepared at once: the second sees that the first was there. */
static void test_conflict(void **state) {
    struct world world;
    struct change one = {0}, two = {0};
    struct player player = {.id = BYTES("ann"), .email = BYTES("a@b.c")};
    (void)state;
    world_open(&world);
    one.arena = two.arena = &world.arena;
    assert_int_equal(player_put_prepare(world.game, &player, &one, &world.failure), OK);
    player.email = BYTES("d@e.f");
    assert_int_equal(player_put_prepare(world.game, &player, &two, &world.failure), OK);
    assert_int_equal(game_wait(world.game, &one), OK);
    assert_int_equal(game_wait(world.game, &two), CONFLICT);
    assert_int_equal(get(&world, "EMAIL#d@e.f", "OWNER").count, 0);
    assert_bytes_equal(owner_of(&world, "a@b.c"), BYTES("ann"));
    world_close(&world);
}

/* Random puts against a table of who has what. */
static void test_email_model(void **state) {
    enum { PLAYERS = 6, EMAILS = 5 };
    struct world world;
    struct random random;
    int has[PLAYERS];
    (void)state;
    random_seed(&random, test_seed());
    world_open(&world);
    for (int i = 0; i < PLAYERS; i++)
        has[i] = -1;
    for (int step = 0; step < 400; step++) {
        char id[16], email[24];
        int who = (int)random_below(&random, PLAYERS);
        int what = (int)random_below(&random, EMAILS + 1) - 1;
        bool taken = false;
        snprintf(id, sizeof(id), "p%d", who);
        snprintf(email, sizeof(email), "e%d@x", what);
        for (int i = 0; i < PLAYERS; i++)
            taken = taken || (i != who && what >= 0 && has[i] == what);
        enum status status = put(&world, id, "n", what < 0 ? "" : email, false);
        assert_int_equal(status, taken ? DUPLICATE : OK);
        if (!taken)
            has[who] = what;
        for (int e = 0; e < EMAILS; e++) {
            struct bytes want = {0};
            snprintf(email, sizeof(email), "e%d@x", e);
            for (int i = 0; i < PLAYERS; i++)
                if (has[i] == e)
                    want = arena_printf(&world.arena, "p%d", i);
            assert_bytes_equal(owner_of(&world, email), want);
            struct item owner = get(
                &world, (char *)arena_printf(&world.arena, "EMAIL#%s%c", email, 0).data, "OWNER");
            assert_bytes_equal(item_string(&owner, BYTES("player")), want);
        }
    }
    world_close(&world);
}

/* --- hiding --- */

static void zadd(struct world *world, const char *board, const char *member, double score) {
    world_put(world, board, bytes_str(member),
              (struct entry_write){.points = points_of_double(&world->arena, score)});
}

/* Says whose it is, as a submission does. */
static void mark(struct world *world, const char *board, const char *member) {
    struct item item =
        get(world, (char *)arena_printf(&world->arena, "BOARD#%s%c", board, 0).data, member);
    struct value player = value_string(arena_printf(&world->arena, "PLAYER#%s", member));
    struct value place = *item_get(&item, GAME_PK);
    item = item_with(&world->arena, &item, BYTES("GSI1PK"), &player);
    item = item_with(&world->arena, &item, BYTES("GSI1SK"), &place);
    put_item(world->engine, &world->arena, "gametable", item);
}

static uint64_t total(struct world *world, const char *name) {
    const struct board *board = world_board(world, name);
    uint64_t count;
    assert_ok(
        standings_total(world->game, board, (struct scope){&world->arena, &world->failure}, &count),
        world->failure);
    board_drop(board);
    return count;
}

static void hide(struct world *world, const char *id, bool hidden) {
    assert_ok(player_hide(world->game, bytes_str(id), hidden,
                          (struct scope){&world->arena, &world->failure}),
              world->failure);
}

static void test_hides(void **state) {
    struct world world;
    struct player player;
    (void)state;
    world_open(&world);
    put(&world, "ann", "Ann", "a@b.c", true);
    for (int i = 0; i < 450; i++) {
        char board[16];
        snprintf(board, sizeof(board), "b%d", i);
        zadd(&world, board, "ann", i);
        zadd(&world, board, "bob", 100);
        if (i % 2 == 0)
            mark(&world, board, "ann");
    }
    struct item before = get(&world, "BOARD#b7", "ann");
    hide(&world, "ann", true);
    hide(&world, "ann", true);
    for (int i = 0; i < 450; i++) {
        char board[16];
        snprintf(board, sizeof(board), "b%d", i);
        assert_int_equal(total(&world, board), 1);
    }
    assert_ok(
        player_get(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure}, &player),
        world.failure);
    assert_true(player.hidden);
    /* What is written meanwhile stays hidden, and a profile that is replaced does. */
    put(&world, "ann", "Anna", "a@b.c", false);
    zadd(&world, "b8", "ann", 777);
    assert_int_equal(total(&world, "b8"), 1);
    hide(&world, "ann", false);
    for (int i = 0; i < 450; i += 10) {
        char board[16];
        snprintf(board, sizeof(board), "b%d", i);
        assert_int_equal(total(&world, board), 2);
    }
    struct item after = get(&world, "BOARD#b7", "ann"), changed = get(&world, "BOARD#b8", "ann");
    assert_true(item_equal(&before, &after));
    assert_bytes_equal(item_number(&changed, GAME_SCORE), number_in(&world.arena, "777"));
    assert_ok(
        player_get(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure}, &player),
        world.failure);
    assert_false(player.hidden);
    assert_bytes_equal(player.name, BYTES("Anna"));
    world_close(&world);
}

/* What is written by score alone is hidden from the start, on a board that the player was not on;
 * and after a restart. */
static void test_hides_new(void **state) {
    struct world world;
    uint64_t count;
    (void)state;
    world_open(&world);
    put(&world, "ann", "Ann", "a@b.c", true);
    zadd(&world, "one", "bob", 1);
    hide(&world, "ann", true);
    hide(&world, "eve", true);
    zadd(&world, "one", "ann", 5);
    zadd(&world, "two", "ann", 6);
    zadd(&world, "two", "eve", 7);
    zadd(&world, "two", "bob", 8);
    assert_int_equal(total(&world, "one"), 1);
    assert_int_equal(total(&world, "two"), 1);
    game_close(world.game);
    world_open_game(&world);
    zadd(&world, "three", "ann", 9);
    zadd(&world, "three", "bob", 9);
    assert_int_equal(total(&world, "three"), 1);
    hide(&world, "ann", false);
    assert_int_equal(total(&world, "one"), 2);
    assert_int_equal(total(&world, "two"), 2);
    assert_int_equal(total(&world, "three"), 2);
    zadd(&world, "four", "ann", 1);
    zadd(&world, "four", "eve", 1);
    assert_int_equal(total(&world, "four"), 1);
    /* Who is erased is forgotten. */
    hide(&world, "ann", true);
    assert_ok(player_erase(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure},
                           &count),
              world.failure);
    assert_int_equal(get(&world, "HIDDEN", "ann").count, 0);
    zadd(&world, "five", "ann", 1);
    assert_int_equal(total(&world, "five"), 1);
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
    assert_int_equal(total(world, "plain") + total(world, "kept"), entries);
    assert_ok(player_hide(world->game, id, true, (struct scope){&world->arena, &world->failure}),
              world->failure);
    assert_int_equal(total(world, "plain") + total(world, "kept"), 0);
    world_put(world, "late", id,
              (struct entry_write){.points = points_of_double(&world->arena, 1)});
    assert_int_equal(total(world, "late"), 0);
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
    assert_int_equal(total(world, "plain") + total(world, "kept") + total(world, "late"),
                     entries + 1);
    assert_ok(player_hide(world->game, id, true, (struct scope){&world->arena, &world->failure}),
              world->failure);
    assert_ok(player_erase(world->game, id, (struct scope){&world->arena, &world->failure}, &count),
              world->failure);
    assert_int_equal(count, entries + 3);
    assert_int_equal(exported(world, id), 0);
    world_put(world, "plain", id,
              (struct entry_write){.points = points_of_double(&world->arena, 1)});
    assert_int_equal(total(world, "plain"), 1);
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

/* One without a profile can be hidden; made later, it is still hidden. */
static void test_hides_nobody(void **state) {
    struct world world;
    struct player player;
    (void)state;
    world_open(&world);
    zadd(&world, "b", "eve", 5);
    hide(&world, "eve", true);
    assert_int_equal(total(&world, "b"), 0);
    assert_int_equal(put(&world, "eve", "Eve", "", true), OK);
    assert_ok(
        player_get(world.game, BYTES("eve"), (struct scope){&world.arena, &world.failure}, &player),
        world.failure);
    assert_true(player.hidden);
    hide(&world, "eve", false);
    assert_int_equal(total(&world, "b"), 1);
    hide(&world, "dan", true);
    hide(&world, "dan", false);
    assert_int_equal(get(&world, "PLAYER#dan", "PROFILE").count, 0);
    world_close(&world);
}

/* The flag as a change sees it, before and after. */
static void test_hidden_action(void **state) {
    struct world world;
    struct action action;
    (void)state;
    world_open(&world);
    for (int round = 0; round < 2; round++) {
        bool hidden = round == 0;
        action = player_hidden_action(world.game, BYTES("ann"), &hidden, &world.arena);
        struct change change = write_of(&world.arena, &action, 1);
        assert_int_equal(game_wait(world.game, &change), OK);
        assert_int_equal(hidden, round == 1);
        hide(&world, "ann", true);
    }
    world_close(&world);
}

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
    put(world, id, "Some Name", email, false);
    for (int i = 0; i < 300; i++) {
        char board[24];
        snprintf(board, sizeof(board), "board%d", i);
        zadd(world, board, id, i);
        if (i % 3 == 0)
            mark(world, board, id);
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
    assert_int_equal(total(&world, "board3"), 1);
    assert_int_equal(put(&world, "another", "", "zoe-the-player@x.y", true), OK);
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
    put(&world, "ann", "", "", true);
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

/* --- boards --- */

static void test_boards(void **state) {
    struct world world;
    struct player_boards boards;
    struct bytes after = {0};
    int at = 0;
    (void)state;
    world_open(&world);
    for (int i = 0; i < 25; i++) {
        char board[16];
        snprintf(board, sizeof(board), "b%02d", i);
        zadd(&world, board, "ann", i);
        zadd(&world, board, "bob", 10.5);
        mark(&world, board, "ann");
    }
    do {
        struct player_boards_request request = {BYTES("ann"), after, 7};
        assert_ok(player_boards(world.game, &request, (struct scope){&world.arena, &world.failure},
                                &boards),
                  world.failure);
        for (size_t i = 0; i < boards.count; i++, at++) {
            char name[16];
            snprintf(name, sizeof(name), "b%02d", at);
            assert_bytes_equal(boards.boards[i]->instance, bytes_str(name));
            assert_int_equal(boards.standings[i].rank, at > 10 ? 1 : 2);
            assert_int_equal(boards.totals[i], 2);
        }
        bool more = boards.more;
        assert_true(!more || boards.count == 7);
        after = boards.next;
        player_boards_release(&boards);
        if (!more)
            break;
    } while (true);
    assert_int_equal(at, 25);
    hide(&world, "ann", true);
    struct player_boards_request all = {.id = BYTES("ann"), .limit = 100};
    assert_ok(
        player_boards(world.game, &all, (struct scope){&world.arena, &world.failure}, &boards),
        world.failure);
    assert_int_equal(boards.count, 25);
    assert_false(boards.standings[3].found);
    assert_bytes_equal(boards.standings[3].entry.points.score, number_in(&world.arena, "3"));
    assert_int_equal(boards.totals[3], 1);
    player_boards_release(&boards);
    world_close(&world);
}

/* Entries by score alone do not say whose they are. */
static void test_boards_by_score(void **state) {
    struct world world;
    struct player_boards boards;
    struct bytes after = {0};
    unsigned found = 0, pages = 0;
    (void)state;
    world_open(&world);
    for (int i = 0; i < 1250; i++) {
        char board[16];
        snprintf(board, sizeof(board), "b%04d", i);
        zadd(&world, board, i % 50 == 0 ? "ann" : "bob", i);
        if (i % 100 == 0)
            mark(&world, board, "ann");
    }
    do {
        struct player_boards_request request = {BYTES("ann"), after, 3};
        assert_ok(player_boards(world.game, &request, (struct scope){&world.arena, &world.failure},
                                &boards),
                  world.failure);
        for (size_t i = 0; i < boards.count; i++, found++) {
            char name[16]; /* first those that are marked */
            snprintf(name, sizeof(name), "b%04u", found < 13 ? found * 100 : found * 100 - 1250);
            assert_bytes_equal(boards.boards[i]->instance, bytes_str(name));
            assert_int_equal(boards.standings[i].rank, 1);
        }
        after = boards.next;
        assert_int_equal(boards.more, after.size != 0);
        player_boards_release(&boards);
    } while (after.size != 0 && pages++ < 100);
    assert_int_equal(found, 25);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profiles),        cmocka_unit_test(test_emails),
        cmocka_unit_test(test_conflict),        cmocka_unit_test(test_email_model),
        cmocka_unit_test(test_hides),           cmocka_unit_test(test_hides_new),
        cmocka_unit_test(test_any_member),      cmocka_unit_test(test_hides_nobody),
        cmocka_unit_test(test_hidden_action),   cmocka_unit_test(test_exports_and_erases),
        cmocka_unit_test(test_export_cursor),   cmocka_unit_test(test_boards),
        cmocka_unit_test(test_boards_by_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
