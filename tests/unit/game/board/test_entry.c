/* Members as keys, and entries written by score alone: all flags against what they say. */
#include "base/random.h"
#include "base/utf8.h"
#include "game/board/entry_int.h"
#include "game/world.h"

#include <math.h>

static void check_key(struct arena *arena, struct bytes member, struct bytes wanted) {
    struct failure failure;
    struct bytes key;
    assert_int_equal(entry_key_of(member, (struct scope){arena, &failure}, &key), OK);
    assert_bytes_equal(key, wanted);
    assert_bytes_equal(entry_member_of(key, arena), member);
}

static void text_is_its_own_key(void **state) {
    (void)state;
    struct arena arena;
    struct failure failure;
    struct bytes key;
    arena_init(&arena);
    check_key(&arena, BYTES("ann"), BYTES("ann"));
    check_key(&arena, BYTES("Zoë \xf0\x9f\x8f\x86"), BYTES("Zoë \xf0\x9f\x8f\x86"));
    check_key(&arena, (struct bytes){0}, BYTES("\0"));
    check_key(&arena, BYTES("\0"), BYTES("\0\0"));
    check_key(&arena, BYTES("\xff"), BYTES("\xf4\x8f\xbf\xbf\x7f\x40"));
    uint8_t *long_one = arena_alloc(&arena, 1001);
    memset(long_one, 'x', 1001);
    check_key(&arena, bytes_of(long_one, 1000), bytes_of(long_one, 1000));
    assert_int_equal(entry_key_of(bytes_of(long_one, 1001), (struct scope){&arena, &failure}, &key),
                     INVALID);
    memset(long_one, 0xee, 1000);
    assert_int_equal(entry_key_of(bytes_of(long_one, 892), (struct scope){&arena, &failure}, &key),
                     OK);
    assert_int_equal(key.size, LIMIT_SORT_KEY_SIZE);
    assert_int_equal(entry_key_of(bytes_of(long_one, 893), (struct scope){&arena, &failure}, &key),
                     INVALID);
    arena_release(&arena);
}

static struct bytes any_member(struct random *random, struct arena *arena) {
    static const uint8_t likely[] = {0, 1, 'a', 0x7f, 0x80, 0xbf, 0xf4, 0x8f, 0xff};
    size_t size = random_below(random, 12);
    uint8_t *bytes = arena_alloc(arena, size + 1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = likely[random_below(random, sizeof(likely))];
    return bytes_of(bytes, size);
}

static int sign(int number) {
    return (number > 0) - (number < 0);
}

/* What begins with the last character of all stands with what is not text. */
static bool is_plain(struct bytes member) {
    return utf8_valid(member) && !bytes_starts(member, BYTES("\xf4\x8f\xbf\xbf"));
}

static void keys_order_as_members(void **state) {
    (void)state;
    struct arena arena;
    struct random random;
    struct failure failure;
    random_seed(&random, test_seed());
    arena_init(&arena);
    for (unsigned i = 0; i < 50000; i++) {
        struct bytes a = any_member(&random, &arena), b = any_member(&random, &arena), one, two;
        assert_int_equal(entry_key_of(a, (struct scope){&arena, &failure}, &one), OK);
        assert_int_equal(entry_key_of(b, (struct scope){&arena, &failure}, &two), OK);
        assert_true(utf8_valid(one));
        assert_bytes_equal(entry_member_of(one, &arena), a);
        int order = sign(bytes_compare(a, b));
        if (is_plain(a) != is_plain(b))
            order = is_plain(a) ? -1 : 1;
        assert_int_equal(sign(bytes_compare(one, two)), order);
        arena_reset(&arena);
    }
    arena_release(&arena);
}

/* --- writing --- */

static bool read_back(struct world *world, const char *name, struct bytes member,
                      struct entry *out) {
    const struct board *board = world_board(world, name);
    struct get_request request = {.table = world->game->table,
                                  .key = game_key(&world->arena, board->pk, member),
                                  .consistent = true};
    struct get_reply reply;
    assert_ok(
        engine_get(world->engine, &request, (struct scope){&world->arena, &world->failure}, &reply),
        world->failure);
    if (reply.found)
        assert_int_equal(entry_read(&reply.item, &world->arena, out), OK);
    board_drop(board);
    return reply.found;
}

/* What the flags say of doubles. */
static enum entry_outcome expected(unsigned flags, bool had, double old, double given,
                                   double *after) {
    double new = flags &ENTRY_ADD ? (had ? old : 0) + given : given;
    *after = old;
    if ((had && (flags & ENTRY_NEW_ONLY)) || (!had && (flags & ENTRY_OLD_ONLY)))
        return ENTRY_NOT_DONE;
    if (isnan(new))
        return ENTRY_NAN;
    if (had && (((flags & ENTRY_GREATER_ONLY) && !(new > old)) ||
                ((flags & ENTRY_LESS_ONLY) && !(new < old))))
        return ENTRY_NOT_DONE;
    *after = new;
    return !had ? ENTRY_ADDED : new == old ? ENTRY_SAME : ENTRY_CHANGED;
}

static void flags_do_what_they_say(void **state) {
    (void)state;
    static const double scores[] = {0, 1, -1, 2.5, 1e300, -1e300, INFINITY, -INFINITY, 1e-200};
    static const unsigned sets[] = {0,
                                    ENTRY_NEW_ONLY,
                                    ENTRY_OLD_ONLY,
                                    ENTRY_GREATER_ONLY,
                                    ENTRY_LESS_ONLY,
                                    ENTRY_ADD,
                                    ENTRY_ADD | ENTRY_NEW_ONLY,
                                    ENTRY_ADD | ENTRY_OLD_ONLY,
                                    ENTRY_ADD | ENTRY_GREATER_ONLY,
                                    ENTRY_ADD | ENTRY_LESS_ONLY,
                                    ENTRY_OLD_ONLY | ENTRY_GREATER_ONLY};
    struct world world;
    struct random random;
    bool had[4] = {false};
    double now[4] = {0};
    random_seed(&random, test_seed());
    world_open(&world);
    for (unsigned i = 0; i < 1500; i++) {
        unsigned who = (unsigned)random_below(&random, 4);
        struct bytes member = arena_printf(&world.arena, "m%u", who);
        double given = scores[random_below(&random, 9)], after;
        struct entry_write write = {.flags = sets[random_below(&random, 11)], .delta = given};
        write.points = points_of_double(&world.arena, given);
        enum entry_outcome wanted = expected(write.flags, had[who], now[who], given, &after);
        assert_int_equal(world_put(&world, "plain", member, write), wanted);
        had[who] |= wanted == ENTRY_ADDED;
        now[who] = after;
        struct entry entry;
        assert_int_equal(read_back(&world, "plain", member, &entry), had[who]);
        if (had[who])
            assert_true(points_to_double(&entry.points) == after);
        arena_reset(&world.arena);
    }
    world_close(&world);
}

/* An item that others wrote something else into keeps that, shown or hidden. */
static void the_rest_of_an_item_stays(void **state) {
    (void)state;
    struct world world;
    struct entry entry;
    world_open(&world);
    struct item item =
        item_of(&world.arena, "PK=S:BOARD#plain", "SK=S:ann", "name=S:Ann", "zz=S:mine", NULL);
    put_item(world.engine, &world.arena, "gametable", item);
    struct entry_write write = {.points = points_of_double(&world.arena, 7)};
    assert_int_equal(world_put(&world, "plain", BYTES("ann"), write), ENTRY_ADDED);
    assert_true(read_back(&world, "plain", BYTES("ann"), &entry));
    assert_bytes_equal(entry.name, BYTES("Ann"));
    assert_true(points_to_double(&entry.points) == 7);
    struct value numbers[] = {{.type = VALUE_N, .bytes = number_in(&world.arena, "3")},
                              {.type = VALUE_N, .bytes = number_in(&world.arena, "0")},
                              {.type = VALUE_N, .bytes = number_in(&world.arena, "0")}};
    struct value hidden = {.type = VALUE_L, .count = 3, .elements = numbers};
    item = item_of(&world.arena, "PK=S:BOARD#plain", "SK=S:bob", NULL);
    item = item_with(&world.arena, &item, ENTRY_HIDDEN, &hidden);
    put_item(world.engine, &world.arena, "gametable", item);
    assert_int_equal(world_put(&world, "plain", BYTES("bob"), write), ENTRY_CHANGED);
    assert_true(read_back(&world, "plain", BYTES("bob"), &entry));
    assert_true(entry.hidden);
    assert_true(points_to_double(&entry.points) == 7);
    const struct board *board = world_board(&world, "plain");
    uint64_t total;
    assert_ok(
        standings_total(world.game, board, (struct scope){&world.arena, &world.failure}, &total),
        world.failure);
    assert_int_equal(total, 1);
    board_drop(board);
    world_close(&world);
}

/* Of random members those and only those are in one of the ranges that begin with the text. */
static void keys_that_begin_so_are_two_ranges(void **state) {
    (void)state;
    static const char *const texts[] = {"#", "#3#", "#12#", "abcdefg", "abcdef/", "id@"};
    struct random random;
    struct arena arena;
    arena_init(&arena);
    random_seed(&random, test_seed());
    for (unsigned round = 0; round < 20000; round++) {
        struct bytes text = bytes_str(texts[random_below(&random, 6)]), key;
        struct entry_key_range ranges[ENTRY_KEY_RANGES];
        struct failure failure;
        struct bytes begin = bytes_str(texts[random_below(&random, 6)]);
        uint8_t member[12];
        size_t kept = random_below(&random, begin.size + 1), inside = 0;
        size_t size = kept + random_below(&random, 5);
        memcpy(member, begin.data, kept);
        for (size_t i = kept; i < size; i++)
            member[i] = (uint8_t)random_below(&random, kept % 2 == 0 ? 128 : 256);
        struct bytes name = bytes_of(member, size);
        assert_int_equal(entry_key_of(name, (struct scope){&arena, &failure}, &key), OK);
        entry_keys_beginning(text, &arena, ranges);
        for (unsigned i = 0; i < ENTRY_KEY_RANGES; i++)
            inside +=
                bytes_compare(ranges[i].low, key) <= 0 && bytes_compare(key, ranges[i].high) < 0;
        assert_int_equal(inside, bytes_starts(name, text));
        arena_reset(&arena);
    }
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_its_own_key),
        cmocka_unit_test(keys_that_begin_so_are_two_ranges),
        cmocka_unit_test(keys_order_as_members),
        cmocka_unit_test(flags_do_what_they_say),
        cmocka_unit_test(the_rest_of_an_item_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
