/* Players: profiles and e-mail addresses. */
#include "base/clock.h"
#include "base/random.h"
#include "game/player/player_test.h"

/* --- profiles --- */

static void test_profiles(void **state) {
    struct world world;
    struct player player;
    (void)state;
    world_open(&world);
    assert_int_equal(
        player_get(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure}, &player),
        NOT_FOUND);
    assert_int_equal(put_player(&world, "ann", "Ann", "Ann@Example.ORG", true), OK);
    assert_int_equal(put_player(&world, "ann", "Ann", "", true), DUPLICATE);
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
    assert_int_equal(put_player(&world, "ann", "Anna", "", false), OK);
    assert_ok(
        player_get(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure}, &player),
        world.failure);
    assert_bytes_equal(player.name, BYTES("Anna"));
    assert_int_equal(player.email.size, 0);
    assert_int_equal(player.created_ms, created_ms);
    assert_true(player.changed_ms > created_ms);
    assert_int_equal(put_player(&world, "bob", "Bob", "", false), OK);
    world_close(&world);
}

static void test_emails(void **state) {
    static const char *bad[] = {"x", "@", "a@", "@b", "a b@c", "a@b\n", "a@\xff"};
    struct world world;
    (void)state;
    world_open(&world);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(put_player(&world, "ann", "", bad[i], false), INVALID);
    assert_int_equal(put_player(&world, "ann", "", "a@b.c", false), OK);
    assert_int_equal(put_player(&world, "bob", "", "A@B.C", false), DUPLICATE);
    assert_int_equal(get_record(&world, "PLAYER#bob", "PROFILE").count, 0);
    assert_bytes_equal(owner_of(&world, "A@b.c"), BYTES("ann"));
    /* Again the same, then another: the old one is free. */
    assert_int_equal(put_player(&world, "ann", "", "a@b.c", false), OK);
    assert_int_equal(put_player(&world, "ann", "", "new@b.c", false), OK);
    assert_int_equal(owner_of(&world, "a@b.c").size, 0);
    assert_int_equal(put_player(&world, "bob", "", "a@b.c", false), OK);
    assert_bytes_equal(owner_of(&world, "a@b.c"), BYTES("bob"));
    /* Refused, it leaves what was. */
    assert_int_equal(put_player(&world, "bob", "Bob", "new@b.c", false), DUPLICATE);
    assert_bytes_equal(owner_of(&world, "a@b.c"), BYTES("bob"));
    assert_bytes_equal(owner_of(&world, "new@b.c"), BYTES("ann"));
    assert_int_equal(put_player(&world, "ann", "", "", false), OK);
    assert_int_equal(get_record(&world, "EMAIL#new@b.c", "OWNER").count, 0);
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
    assert_int_equal(get_record(&world, "EMAIL#d@e.f", "OWNER").count, 0);
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
        enum status status = put_player(&world, id, "n", what < 0 ? "" : email, false);
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
            struct item owner = get_record(
                &world, (char *)arena_printf(&world.arena, "EMAIL#%s%c", email, 0).data, "OWNER");
            assert_bytes_equal(item_string(&owner, BYTES("player")), want);
        }
    }
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_emails),
        cmocka_unit_test(test_conflict),
        cmocka_unit_test(test_email_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
