/* What the tests of housekeeping share: one without its thread. */
#ifndef GT_TEST_HOUSEKEEPING_H
#define GT_TEST_HOUSEKEEPING_H

#include "game/housekeeping_int.h"
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
    struct housekeeping *housekeeping = housekeeping_new(world->game);
    housekeeping_run(housekeeping);
    assert_int_equal(housekeeping->counters.failures, 0);
    housekeeping_free(housekeeping);
}

#endif
