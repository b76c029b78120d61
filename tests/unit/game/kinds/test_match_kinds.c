/* The kinds of games describe themselves: each description is whole, and rooms go by it. */
#include "game/rooms.h"

#include "base/random.h"

static void assert_texts(struct match_text text) {
    assert_non_null(text.en);
    assert_non_null(text.hi);
    assert_true(text.en[0] != '\0' && text.hi[0] != '\0');
}

static void assert_option(const struct match_option *option) {
    assert_texts(option->label);
    if (option->choices == NULL) {
        assert_true(option->least <= option->otherwise && option->otherwise <= option->most);
        return;
    }
    assert_non_null(option->choices->word);
    for (const struct match_choice *choice = option->choices; choice->word != NULL; choice++)
        assert_texts(choice->label);
}

/* Of one name all verbs are reactions, or none: a line has to know before the room is loaded. */
static void assert_verb(const struct match_verb *verb) {
    assert_texts(verb->about);
    assert_non_null(verb->fields);
    const struct match_verb *found = match_verb_find(bytes_str(verb->name));
    assert_non_null(found);
    assert_true((found->play == NULL) == (verb->play == NULL));
    for (const struct match_field *field = verb->fields; field->name != NULL; field++)
        assert_true(field->least <= field->most);
}

static void test_described(void **state) {
    const struct match_kind *kind;
    unsigned count = 0;
    (void)state;
    for (size_t at = 0; (kind = match_kind_next(&at)) != NULL; count++) {
        assert_ptr_equal(match_kind_named(bytes_str(kind->name)), kind);
        assert_texts(kind->title);
        assert_texts(kind->about);
        assert_true(kind->page[0] != '\0' && kind->emoji[0] != '\0');
        assert_in_range(kind->players_min, 1, kind->players_max);
        assert_true(kind->players_max < ROOM_SEATS_MAX);
        assert_non_null(kind->verbs[0].name);
        assert_non_null(kind->boards[0].name);
        for (const struct match_verb *verb = kind->verbs; verb->name != NULL; verb++)
            assert_verb(verb);
        for (const struct match_option *option = kind->options; option->name != NULL; option++)
            assert_option(option);
    }
    assert_int_equal(count, 3);
    assert_null(match_kind_named(BYTES("chess")));
    assert_null(match_verb_find(BYTES("castle")));
}

static enum status check(struct world *world, const char *kind, const char *name,
                         struct value value) {
    struct pair pair = {bytes_str(name), value};
    return match_options_check(match_kind_named(bytes_str(kind)), &(struct item){&pair, 1},
                               (struct scope){&world->arena, &world->failure});
}

static void test_options(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct arena *arena = &world.arena;
    assert_int_equal(check(&world, "kauwa-udd", "rounds", value_int(arena, 3)), OK);
    assert_int_equal(check(&world, "kauwa-udd", "rounds", value_int(arena, 50)), OK);
    assert_int_equal(check(&world, "kauwa-udd", "rounds", value_int(arena, 51)), INVALID);
    assert_bytes_equal(world.failure.text, BYTES("rounds is 3 to 50"));
    assert_int_equal(check(&world, "kauwa-udd", "rounds", value_string(BYTES("5"))), INVALID);
    struct value half = value_number(number_in(arena, "3.5"));
    assert_int_equal(check(&world, "kauwa-udd", "rounds", half), INVALID);
    assert_int_equal(check(&world, "kauwa-udd", "language", value_string(BYTES("hi"))), OK);
    assert_int_equal(check(&world, "kauwa-udd", "language", value_string(BYTES("fr"))), INVALID);
    assert_bytes_equal(world.failure.text, BYTES("language is en or hi"));
    assert_int_equal(check(&world, "kauwa-udd", "language", value_int(arena, 1)), INVALID);
    assert_int_equal(check(&world, "snakes-and-ladders", "rounds", value_int(arena, 5)), INVALID);
    assert_bytes_equal(world.failure.text, BYTES("The game has no option rounds"));

    struct room room = {.kind = match_kind_named(BYTES("four-in-a-row"))};
    assert_int_equal(match_option_number(&room, "turnSeconds"), 20);
    struct pair given = {BYTES("turnSeconds"), value_int(arena, 7)};
    room.options = (struct item){&given, 1};
    assert_int_equal(match_option_number(&room, "turnSeconds"), 7);
    world_close(&world);
}

/* What is not a verb of the kind, or lacks a field, does not reach the kind. */
static void test_verbs(void **state) {
    struct world world;
    const struct match_verb *verb;
    (void)state;
    world_open(&world);
    struct room room = {.kind = match_kind_named(BYTES("four-in-a-row")), .arena = &world.arena};
    struct pair pairs[] = {{BYTES("column"), value_int(&world.arena, 8)},
                           {BYTES("do"), value_string(BYTES("drop"))}};
    struct item given = {pairs, 2};
    assert_int_equal(match_verb_check(&room, &given, &world.failure, &verb), INVALID);
    assert_bytes_equal(world.failure.text, BYTES("column is 1 to 7"));
    pairs[0].value = value_string(BYTES("3"));
    assert_int_equal(match_verb_check(&room, &given, &world.failure, &verb), INVALID);
    pairs[0].value = value_int(&world.arena, 7);
    assert_int_equal(match_verb_check(&room, &given, &world.failure, &verb), OK);
    assert_string_equal(verb->name, "drop");
    assert_int_equal(match_verb_check(&room, &(struct item){pairs + 1, 1}, &world.failure, &verb),
                     INVALID);
    pairs[1].value = value_string(BYTES("roll"));
    assert_int_equal(match_verb_check(&room, &given, &world.failure, &verb), INVALID);
    assert_bytes_equal(world.failure.text, BYTES("In Four in a row one can drop"));
    room.kind = match_kind_named(BYTES("kauwa-udd")); /* a reaction goes another way */
    pairs[1].value = value_string(BYTES("react"));
    assert_int_equal(match_verb_check(&room, &given, &world.failure, &verb), INVALID);
    world_close(&world);
}

/* Contents and boards of all kinds are there afterwards, however often it is done. */
static void test_prepare(void **state) {
    struct world world;
    const struct match_kind *kind;
    (void)state;
    world_open(&world);
    for (int i = 0; i < 2; i++)
        assert_ok(match_kinds_prepare(world.game, (struct scope){&world.arena, &world.failure}),
                  world.failure);
    for (size_t at = 0; (kind = match_kind_next(&at)) != NULL;)
        for (const struct match_board *board = kind->boards; board->name != NULL; board++) {
            struct board_rules rules;
            struct bytes id = arena_printf(&world.arena, "%s:%s", kind->name, board->name);
            assert_ok(board_rules_get(world.game, id, (struct scope){&world.arena, &world.failure},
                                      &rules),
                      world.failure);
            assert_int_equal(rules.keep, board->keep);
        }
    struct bytes code = made(&world, "kauwa-udd", 4);
    assert_int_equal(start(&world, code), OK); /* there are things to call out */
    world_close(&world);
}

/* The bots of a kind, alone in a room of two, see their match to its end. */
static void play_to_the_end(struct world *world, const char *kind) {
    struct random random;
    struct bytes code = made(world, kind, 2);
    random_seed(&random, 1);
    assert_int_equal(join(world, code, "bob"), OK);
    assert_int_equal(ready(world, code, "bob"), OK);
    assert_int_equal(start(world, code), OK);
    for (struct room *room = loaded(world, code); room->status == ROOM_PLAYING;
         room = loaded(world, code)) {
        struct bytes turn = item_string(&room->state, BYTES("turn"));
        struct match_view view = {.player = turn,
                                  .state = room->state,
                                  .random = &random,
                                  .arena = &world->arena,
                                  .error_percent = 20,
                                  .slow_ms = 10};
        struct match_reply reply = {0};
        room->kind->bot(&view, &reply);
        assert_int_equal(reply.about, item_int(&room->state, BYTES("turnNumber")));
        assert_ok(room_input(room, turn, &reply.message, &world->failure), world->failure);
        assert_int_equal(saved(world, room), OK);
    }
    assert_int_equal(loaded(world, code)->status, ROOM_OVER);
}

static void test_bots(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    assert_ok(match_kinds_prepare(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    play_to_the_end(&world, "snakes-and-ladders");
    play_to_the_end(&world, "four-in-a-row");
    world_close(&world);
}

/* A bot that is never wrong taps what flies and nothing else, within the round. */
static void test_tapping_bot(void **state) {
    struct world world;
    struct random random;
    (void)state;
    world_open(&world);
    random_seed(&random, 1);
    struct match_view view = {
        .player = BYTES("ann"), .random = &random, .arena = &world.arena, .slow_ms = 60000};
    struct pair pairs[] = {{BYTES("endsAt"), value_int(&world.arena, 4000)},
                           {BYTES("n"), value_int(&world.arena, 5)},
                           {BYTES("object"), value_string(BYTES("crow"))},
                           {BYTES("startsAt"), value_int(&world.arena, 1000)},
                           {BYTES("status"), value_string(BYTES("open"))}};
    view.round = (struct item){pairs, 5};
    const struct match_kind *kind = match_kind_named(BYTES("kauwa-udd"));
    for (int i = 0; i < 100; i++) {
        struct match_reply reply = {0};
        kind->bot(&view, &reply);
        assert_int_equal(reply.about, 5);
        assert_bytes_equal(item_string(&reply.message, BYTES("do")), BYTES("react"));
        assert_int_equal(item_int(&reply.message, BYTES("round")), 5);
        assert_true(reply.after_ms < 3000);
    }
    struct match_reply reply = {0};
    pairs[2].value = value_string(BYTES("samosa"));
    kind->bot(&view, &reply);
    assert_int_equal(reply.about, 5); /* it has looked at it, */
    assert_int_equal(reply.message.count, 0);
    reply = (struct match_reply){0};
    pairs[4].value = value_string(BYTES("done"));
    kind->bot(&view, &reply);
    assert_int_equal(reply.about, 0); /* and here there is nothing to look at */
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_described), cmocka_unit_test(test_options),
        cmocka_unit_test(test_verbs),     cmocka_unit_test(test_prepare),
        cmocka_unit_test(test_bots),      cmocka_unit_test(test_tapping_bot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
