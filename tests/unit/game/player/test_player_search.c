/* Players found by the beginning of an id, a name or an e-mail address. */
#include "game/housekeeping_test.h"

#include "base/clock.h"
#include "game/player/player_finders.h"
#include "game/player/player_search.h"
#include "table/inprocess.h"

static void put(struct world *world, const char *id, const char *name, const char *email) {
    struct change change = {.arena = &world->arena};
    struct player player = {
        .id = bytes_str(id), .name = bytes_str(name), .email = bytes_str(email)};
    assert_ok(player_put_prepare(world->game, &player, &change, &world->failure), world->failure);
    assert_ok(game_wait(world->game, &change), change.failure);
}

static struct player_list page_of(struct world *world,
                                  const struct player_search_request *request) {
    struct player_list found;
    assert_ok(
        player_search(world->game, request, (struct scope){&world->arena, &world->failure}, &found),
        world->failure);
    return found;
}

/* The ids of all pages of `limit`, joined by blanks. */
static const char *ids_of(struct world *world, const char *text, enum player_search_by by,
                          size_t limit) {
    struct player_search_request request = {.text = bytes_str(text), .by = by, .limit = limit};
    struct buf ids = {0};
    do {
        struct player_list page = page_of(world, &request);
        assert_true(page.count <= limit);
        for (size_t i = 0; i < page.count; i++)
            buf_printf(&ids, "%s%.*s", ids.size == 0 ? "" : " ", BYTES_ARG(page.players[i].id));
        request.after = page.next;
    } while (request.after.size != 0);
    const char *text_of = arena_str(&world->arena, buf_bytes(&ids));
    buf_release(&ids);
    return text_of;
}

static void fill_world(struct world *world) {
    world_open(world);
    put(world, "ann", "Ann Smith", "ann@example.org");
    put(world, "Anton", "Bob", "");
    put(world, "bob", "Ärger van den Berg", "zed@example.org");
    put(world, "carl", "Anna-Ann Annsdottir", "anders@example.org");
    put(world, "dora", "", "");
    run_once(world);
}

static void test_finds(void **state) {
    struct world world;
    (void)state;
    fill_world(&world);
    for (size_t limit = 1; limit < 8; limit++) {
        /* By id, then by name, then by e-mail; whoever matches twice is told once. */
        assert_string_equal(ids_of(&world, "an", SEARCH_BY_ANY, limit), "ann Anton carl");
        assert_string_equal(ids_of(&world, "AN", SEARCH_BY_ID, limit), "ann Anton");
        assert_string_equal(ids_of(&world, "ann", SEARCH_BY_NAME, limit), "ann carl");
        assert_string_equal(ids_of(&world, "an", SEARCH_BY_EMAIL, limit), "carl ann");
        assert_string_equal(ids_of(&world, "", SEARCH_BY_ANY, limit), "ann Anton bob carl dora");
    }
    assert_string_equal(ids_of(&world, "smith", SEARCH_BY_ANY, 9), "ann");
    assert_string_equal(ids_of(&world, "ÄRGER", SEARCH_BY_ANY, 9), "bob");
    assert_string_equal(ids_of(&world, "den b", SEARCH_BY_ANY, 9), "bob");
    assert_string_equal(ids_of(&world, "mith", SEARCH_BY_ANY, 9), "");
    assert_string_equal(ids_of(&world, "example", SEARCH_BY_ANY, 9), "");
    world_close(&world);
}

static void test_follows(void **state) {
    struct world world;
    uint64_t erased;
    (void)state;
    fill_world(&world);
    put(&world, "ann", "Zoe", "");
    run_once(&world);
    assert_string_equal(ids_of(&world, "zoe", SEARCH_BY_ANY, 9), "ann");
    assert_string_equal(ids_of(&world, "smith", SEARCH_BY_ANY, 9), "");
    assert_string_equal(ids_of(&world, "ann@", SEARCH_BY_ANY, 9), "");
    assert_ok(player_erase(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure},
                           &erased),
              world.failure);
    run_once(&world);
    assert_string_equal(ids_of(&world, "", SEARCH_BY_ANY, 9), "Anton bob carl dora");
    assert_int_equal(get(&world, "PLAYER#ann", "FIND#ID").count, 0);
    assert_int_equal(get(&world, "PLAYER#ann", "FIND#NAME#0").count, 0);
    /* What only says that somebody is hidden is no profile. */
    assert_ok(
        player_hide(world.game, BYTES("eve"), true, (struct scope){&world.arena, &world.failure}),
        world.failure);
    run_once(&world);
    assert_string_equal(ids_of(&world, "eve", SEARCH_BY_ANY, 9), "");
    put(&world, "eve", "", "");
    run_once(&world);
    assert_string_equal(ids_of(&world, "eve", SEARCH_BY_ANY, 9), "eve");
    world_close(&world);
}

/* Deletes what makes a player findable, as if an earlier version had written the profile. */
static void forget(struct world *world, const char *pk) {
    struct finder finders[FINDERS_MAX];
    struct action actions[FINDERS_MAX];
    struct item none = {0};
    player_finders(&none, &world->arena, finders);
    for (size_t i = 0; i < FINDERS_MAX; i++)
        actions[i] = (struct action){.kind = ACTION_DELETE,
                                     .table = BYTES("gametable"),
                                     .item = game_key(&world->arena, bytes_str(pk), finders[i].sk)};
    struct change change = write_of(&world->arena, actions, FINDERS_MAX);
    assert_ok(game_wait(world->game, &change), change.failure);
}

static void test_fills(void **state) {
    struct world world;
    bool done;
    (void)state;
    fill_world(&world);
    struct scope in = {&world.arena, &world.failure};
    forget(&world, "PLAYER#ann");
    forget(&world, "PLAYER#bob");
    assert_string_equal(ids_of(&world, "", SEARCH_BY_ANY, 9), "Anton carl dora");
    /* It was done once, so it is not done again; */
    assert_ok(player_finders_fill(world.game, 1, in, &done), world.failure);
    assert_true(done);
    assert_string_equal(ids_of(&world, "", SEARCH_BY_ANY, 9), "Anton carl dora");
    /* but it is where it never was. */
    assert_ok(player_finders_refill(world.game, in), world.failure);
    assert_ok(player_finders_fill(world.game, 1, in, &done), world.failure);
    assert_true(done);
    assert_string_equal(ids_of(&world, "", SEARCH_BY_ANY, 9), "ann Anton bob carl dora");
    assert_string_equal(ids_of(&world, "smith", SEARCH_BY_ANY, 9), "ann");
    world_close(&world);
}

/* While one server is at it others leave it alone, until it has stopped for long. */
static void test_fills_once(void **state) {
    struct world world;
    bool done;
    (void)state;
    fill_world(&world);
    struct scope in = {&world.arena, &world.failure};
    struct value by = value_int(&world.arena, 7),
                 until = value_int(&world.arena, clock_now_ms() + 20000);
    struct item key = game_key(&world.arena, BYTES("KEEPER"), BYTES("FINDERS"));
    struct item taken = item_with(&world.arena, &key, BYTES("by"), &by);
    taken = item_with(&world.arena, &taken, BYTES("until"), &until);
    put_item(world.engine, &world.arena, "gametable", taken);
    forget(&world, "PLAYER#ann");
    assert_ok(player_finders_fill(world.game, 8, in, &done), world.failure);
    assert_false(done);
    assert_string_equal(ids_of(&world, "ann", SEARCH_BY_ID, 9), "");
    clock_shift_ms(60000);
    assert_ok(player_finders_fill(world.game, 8, in, &done), world.failure);
    assert_true(done);
    assert_string_equal(ids_of(&world, "ann", SEARCH_BY_ID, 9), "ann");
    world_close(&world);
}

static void test_cursors(void **state) {
    struct world world;
    struct player_list found;
    (void)state;
    fill_world(&world);
    struct scope in = {&world.arena, &world.failure};
    struct player_search_request first = {.text = BYTES("an"), .by = SEARCH_BY_ID, .limit = 1};
    struct bytes next = page_of(&world, &first).next;
    assert_true(next.size != 0);
    struct player_search_request other = {
        .text = BYTES("an"), .by = SEARCH_BY_NAME, .limit = 1, .after = next};
    assert_int_equal(player_search(world.game, &other, in, &found), INVALID);
    first.after = BYTES("nonsense");
    assert_int_equal(player_search(world.game, &first, in, &found), INVALID);
    for (size_t size = 1; size < next.size; size++) {
        first.after = bytes_of(next.data, size);
        assert_int_equal(player_search(world.game, &first, in, &found), INVALID);
    }
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds),   cmocka_unit_test(test_follows),
        cmocka_unit_test(test_fills),   cmocka_unit_test(test_fills_once),
        cmocka_unit_test(test_cursors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
