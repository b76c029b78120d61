/* What the tests of the keeper share: a keeper without its thread. */
#ifndef GT_TEST_KEEPER_H
#define GT_TEST_KEEPER_H

#include "game/keeper_int.h"
#include "game/record.h"
#include "game/world.h"

static inline struct item get(struct world *world, const char *pk, const char *sk) {
    struct item item = {0};
    get_item(world->engine, &world->arena, "gametable",
             game_key(&world->arena, bytes_str(pk), bytes_str(sk)), &item);
    return item;
}

static inline void assert_number(const struct item *item, const char *name, const char *want) {
    char text[NUMBER_MAX_TEXT] = "";
    struct bytes number = item_number(item, bytes_str(name));
    size_t size = number.size != 0 ? number_text(number, text) : 0;
    assert_bytes_equal(bytes_of(text, size), bytes_str(want));
}

static inline void run_once(struct world *world) {
    struct keeper *keeper = keeper_new(world->game);
    keeper_run(keeper);
    assert_int_equal(keeper->figures.failures, 0);
    keeper_free(keeper);
}

#endif
